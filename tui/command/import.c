/* import.c - another tool's file as a scenario: YAML on standard output, what was
 * understood on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/formats.h"
#include "presets/kept.h"
#include "tui/command.h"

struct asked {
	const struct format *reader;
	const char *path;
	struct import_report *report;
};

static bool take_operand(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;
	char names[256] = "";

	if (asked->reader) {
		asked->path = text;
		return true;
	}
	asked->reader = format_find(text);
	if (asked->reader)
		return true;
	for (int i = 0; i < format_count(); i++)
		if (format_table[i].in.read)
			snprintf(names + strlen(names), sizeof names - strlen(names),
				 "%s%s", names[0] ? ", " : "", format_table[i].name);
	return error_set(error, NULL, 0, "can't import '%.40s'; expected one of %s",
			 text, names);
}

static bool read_base(void *context, const char *model, struct scenario *out,
		      struct error *error)
{
	struct asked *asked = context;

	if (!asked->path)
		return error_set(error, NULL, 0,
				 "import needs a format and a "
				 "file: import megatron train.sh");
	snprintf(asked->report->model, sizeof asked->report->model, "%s",
		 model ? model : "");
	return format_read(asked->reader, asked->path, out, asked->report, error);
}

int command_import(int argc, char **argv)
{
	struct asked asked = { .report = calloc(1, sizeof *asked.report) };
	struct arguments arguments = { .context = &asked,
				       .operands = 2,
				       .operand = take_operand,
				       .takes_rest = true,
				       .report = asked.report,
				       .base = read_base };
	struct error error = { "" };
	struct scenario scenario;
	char *text = NULL;
	int status = STATUS_USAGE;

	if (!asked.report)
		return command_fail(&error);
	if (options_read(command_find("import"), &arguments, argc, argv, &scenario,
			 &status)) {
		text = kept_write(&scenario, asked.report);
		if (text) {
			import_print(asked.report, stderr, "");
			fputs(text, stdout);
			status = command_finish(STATUS_GOOD);
		} else {
			status = command_fail(&error);
		}
	}
	free(text);
	free(asked.report);
	return status;
}
