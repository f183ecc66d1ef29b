/* schema.c - what the JSON of a command looks like, as a JSON Schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/schema.h"
#include "tui/command.h"

int command_schema(int argc, char **argv)
{
	struct error error = { "" };
	char names[160] = "", *text;
	bool help = argc == 2 &&
		    (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);

	if (help)
		return command_help(command_find("schema"));
	text = argc < 3 ? schema_write(argc == 2 ? argv[1] : "eval") : NULL;
	if (text) {
		fputs(text, stdout);
		free(text);
		return command_finish(STATUS_GOOD);
	}
	for (int i = 0; schema_name(i); i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
			 i ? ", " : "", schema_name(i));
	error_set(&error, NULL, 0, "no schema of '%.40s'; expected one of %s",
		  argc > 1 ? argv[argc - 1] : "", names);
	return command_fail(&error);
}
