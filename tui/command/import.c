/* import.c - another tool's file as a scenario: YAML on standard output, what was
 * understood on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/formats.h"
#include "presets/kept.h"
#include "tui/command.h"

struct asked {
	const struct format *reader; /* NULL: by what the file holds */
	const char *path;
	struct import_report *report;
};

/* A word that names no file and no kind. */
static bool refuse_kind(const char *text, struct error *error)
{
	char names[256] = "";

	for (int i = 0; i < format_count(); i++)
		if (format_table[i].in.read)
			snprintf(names + strlen(names), sizeof names - strlen(names),
				 "%s%s", names[0] ? ", " : "", format_table[i].name);
	return error_set(
		error, NULL, 0,
		"can't import '%.40s'; expected a file, or one of %s and a file", text,
		names);
}

static bool take_operand(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;

	/* what stands where the kind does, and is none, is the file */
	if (asked->path && access(asked->path, F_OK) == 0)
		return error_set(
			error, asked->path, 0,
			"arguments of a script need its kind before it: import "
			"megatron %.40s %.40s",
			asked->path, text);
	if (asked->path)
		return refuse_kind(asked->path, error);
	if (!asked->reader)
		asked->reader = format_find(text);
	else
		asked->path = text;
	if (!asked->reader)
		asked->path = text;
	return true;
}

/* A file of whatever kind it is by its keys. */
static bool read_any(struct asked *asked, struct scenario *out, struct error *error)
{
	if (access(asked->path, F_OK) != 0 && strcmp(asked->path, "-") != 0 &&
	    !strpbrk(asked->path, "./"))
		return refuse_kind(asked->path, error);
	if (!format_open(asked->path, out, asked->report, error))
		return false;
	return asked->report->format[0] != '\0' ||
	       error_set(error, asked->path, 0,
			 "a scenario already; shardscope export yaml writes it anew");
}

static bool read_base(void *context, const char *model, struct scenario *out,
		      struct error *error)
{
	struct asked *asked = context;

	if (!asked->path)
		return error_set(error, NULL, 0,
				 "import needs a file, and its kind where that "
				 "is not seen: import megatron train.sh");
	snprintf(asked->report->model, sizeof asked->report->model, "%s",
		 model ? model : "");
	return asked->reader ? format_read(asked->reader, asked->path, out,
					   asked->report, error)
			     : read_any(asked, out, error);
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
