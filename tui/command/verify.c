/* verify.c - does a file of `search --certificate` prove what it says? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/verify/verify.h"
#include "presets/certificate_read.h"
#include "presets/stream.h"
#include "tui/clock.h"
#include "tui/command.h"

enum { MOST_BYTES = 1 << 30 };

static int say(const char *name, int line, const struct verified *found, double seconds)
{
	if (!found->good) {
		printf("%s:%d: no proof: %s\n", stream_name(name),
		       line + found->line - 1, found->why);
		return command_finish(STATUS_NO);
	}
	printf("proven: of %.0f plans none ", found->candidates);
	if (isinf(found->answer))
		printf("fits");
	else
		printf("has a better %s than %.9g", objective_word(found->objective),
		       found->answer);
	printf(" (%.0f boxes, %.0f ms)\n", found->boxes, seconds * 1e3);
	return command_finish(STATUS_GOOD);
}

static int check(const char *name, const char *text, struct scenario *scenario)
{
	struct verified found;
	struct error error;
	double begun = clock_seconds();
	int line;

	text = certificate_read(stream_name(name), text, scenario, &line, &error);
	if (!text)
		return command_fail(&error);
	if (!certificate_verify(scenario, text, &found)) {
		error_set(&error, NULL, 0, "out of memory");
		return command_fail(&error);
	}
	return say(name, line, &found, clock_seconds() - begun);
}

int command_verify(int argc, char **argv)
{
	struct scenario *scenario = malloc(sizeof *scenario);
	struct error error = { "out of memory" };
	char *text = NULL;
	size_t length;
	int status;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		free(scenario);
		return command_help(command_find("verify"));
	}
	if (argc == 2 && scenario)
		text = stream_read_file(argv[1], MOST_BYTES, &length, &error);
	else if (scenario)
		error_set(&error, NULL, 0,
			  "verify: expected a file that search "
			  "--certificate wrote, or '-'");
	status = text ? check(argv[1], text, scenario) : command_fail(&error);
	free(text);
	free(scenario);
	return status;
}
