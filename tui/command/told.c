/* told.c - what every command says of itself: what it assumed, an error, and whether
 * what it printed is out. */
#include <stdio.h>

#include "presets/report.h"
#include "tui/command.h"

static void print_start(FILE *stream, const char *who, const struct start *start,
			const struct scenario *s)
{
	char text[512];

	if (start_text(start, s, text, sizeof text) > 0)
		fprintf(stream, "%sassumed: %s\n", who, text);
}

void command_print_start(const struct start *start, const struct scenario *s)
{
	print_start(stdout, "", start, s);
}

void command_say_start(const struct start *start, const struct scenario *s)
{
	print_start(stderr, "shardscope: ", start, s);
}

int command_fail(const struct error *error)
{
	fprintf(stderr, "shardscope: %s\n",
		error->text[0] ? error->text : "out of memory");
	return STATUS_USAGE;
}

int command_finish(int status)
{
	if (report_is_short()) {
		fputs("shardscope: out of memory\n", stderr);
		return STATUS_USAGE;
	}
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "shardscope: the output can't be written\n");
	return STATUS_USAGE;
}
