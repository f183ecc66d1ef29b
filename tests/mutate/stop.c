/* stop.c - loaded before cmocka: the first assertion that fails ends the program, for
 * nobody waits for the others once a mistake is caught. */
#include <unistd.h>

void _fail(const char *file, int line);

void _fail(const char *file, int line)
{
	(void)file;
	(void)line;
	_exit(1);
}
