/* share.c - a scenario as one line. */
#include <stdio.h>
#include <stdlib.h>

#include "presets/share.h"
#include "tui/command.h"

int command_share(int argc, char **argv)
{
	struct arguments arguments = { .operands = 0 };
	struct scenario scenario;
	struct error error = { "" };
	char *line;
	int status;

	if (!options_read(command_find("share"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	line = share_write(&scenario, &error);
	if (!line)
		return command_fail(&error);
	puts(line);
	free(line);
	return command_finish(STATUS_GOOD);
}
