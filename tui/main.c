/* main.c - picks the command; see command.h. */
#include <stdio.h>

int main(void)
{
	fputs("shardscope: no command is built in yet\n", stderr);
	return 2;
}
