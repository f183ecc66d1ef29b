/* share.c - a scenario as one line. */
#include <stdio.h>
#include <stdlib.h>

#include "presets/share.h"
#include "tui/command.h"

int command_share(int argc, char **argv)
{
	struct import_report *report = calloc(1, sizeof *report);
	struct arguments arguments = { .report = report };
	struct scenario scenario;
	struct error error = { "" };
	char *line;
	int status;

	if (!report)
		return command_fail(&error);
	if (!options_read(command_find("share"), &arguments, argc, argv, &scenario,
			  &status)) {
		free(report);
		return status;
	}
	line = share_write(&scenario, report, &error);
	free(report);
	if (!line)
		return command_fail(&error);
	puts(line);
	free(line);
	return command_finish(STATUS_GOOD);
}
