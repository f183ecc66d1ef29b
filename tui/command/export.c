/* export.c - a scenario and its estimate in another form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "presets/formats.h"
#include "tui/command.h"

struct asked {
	const struct format *format;
	const char *baseline; /* of a report, by name or file */
	const char *folder;   /* of a format of several files */
	struct trace_cut cut;
	struct arguments *arguments;
	struct start start; /* what was assumed */
};

static bool take_format(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;
	char names[192] = "";

	if (asked->format) {
		asked->folder = text;
		return true;
	}
	asked->format = format_find_written(text);
	if (asked->format && asked->format->out.write_folder)
		asked->arguments->operands++;
	if (asked->format)
		return true;
	for (int i = 0; i < format_count(); i++)
		if (format_is_written(&format_table[i]))
			snprintf(names + strlen(names), sizeof names - strlen(names),
				 "%s%s", names[0] ? ", " : "", format_table[i].name);
	return error_set(error, NULL, 0, "no export '%.40s'; expected one of %s", text,
			 names);
}

static bool take_baseline(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct asked *)context)->baseline = value;
	return true;
}

static bool take_count(const char *name, const char *value, int *out,
		       struct error *error)
{
	char *end;
	long count = strtol(value, &end, 10);

	if (*end != '\0' || end == value || count < 1 || count > 1 << 20)
		return error_set(error, NULL, 0, "--%s %.40s: expected a count above 0",
				 name, value);
	*out = (int)count;
	return true;
}

static bool take_stages(void *context, const char *value, struct error *error)
{
	return take_count("stages", value, &((struct asked *)context)->cut.stages,
			  error);
}

static bool take_micro_batches(void *context, const char *value, struct error *error)
{
	return take_count("micro-batches", value,
			  &((struct asked *)context)->cut.micro_batches, error);
}

const struct own_option export_options[] = {
	{ "baseline", "SCENARIO", "markdown: a plan's name or a file to compare with",
	  take_baseline },
	{ "stages", "N", "trace, chakra: only the first N stages", take_stages },
	{ "micro-batches", "N", "trace, chakra: only the first N micro-batches",
	  take_micro_batches },
	{ NULL, NULL, NULL, NULL },
};

/* Room for a scenario and what it is compared with. */
struct both {
	struct scenario baseline;
	struct estimate estimate, before;
};

static bool takes_a_cut(const struct format *format)
{
	return strcmp(format->name, "trace") == 0 ||
	       strcmp(format->name, "chakra") == 0;
}

/* Viewers and simulators grow slow well before they give up. */
static void warn_of_size(const struct asked *asked, double bytes)
{
	if (bytes > 20e6 && takes_a_cut(asked->format))
		fprintf(stderr,
			"shardscope: a trace of %.0f MB; --stages N and "
			"--micro-batches N cut it\n",
			bytes / 1e6);
}

/* Files in a folder; how many is said where nothing else is written. */
static int export_folder(const struct asked *asked,
			 const struct format_request *request, struct error *error)
{
	struct chakra_files files;

	if (!asked->folder)
		error_set(error, NULL, 0,
			  "export %s needs a folder: export %s DIR [SCENARIO]",
			  asked->format->name, asked->format->name);
	if (!asked->folder ||
	    !asked->format->out.write_folder(request, asked->folder, &files))
		return command_fail(error);
	printf("%d files in %.400s\n", files.count, asked->folder);
	warn_of_size(asked, files.bytes);
	return command_finish(STATUS_GOOD);
}

/* An option that the format has no use for would be a promise not kept. */
static bool takes_options(const struct asked *asked, struct error *error)
{
	bool traced = takes_a_cut(asked->format);
	const struct {
		bool given, taken;
		const char *option, *formats;
	} uses[] = {
		{ asked->cut.stages > 0, traced, "stages", "trace and chakra" },
		{ asked->cut.micro_batches > 0, traced, "micro-batches",
		  "trace and chakra" },
		{ asked->baseline != NULL, strcmp(asked->format->name, "markdown") == 0,
		  "baseline", "markdown" },
	};

	for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
		if (uses[i].given && !uses[i].taken)
			return error_set(error, NULL, 0,
					 "--%s is of export %s; export %s does not "
					 "take it",
					 uses[i].option, uses[i].formats,
					 asked->format->name);
	return true;
}

static int export_scenario(const struct asked *asked, const struct scenario *scenario,
			   const struct import_report *kept)
{
	struct both *both = malloc(sizeof *both);
	struct format_request request = { .scenario = scenario, .kept = kept };
	struct error error = { "" };
	char *text = NULL, assumed[512];

	if (!takes_options(asked, &error) ||
	    !format_suits(asked->format, scenario, &error)) {
		free(both);
		return command_fail(&error);
	}
	if (!both)
		return command_fail(&error);
	scenario_estimate(scenario, &both->estimate);
	request.estimate = &both->estimate;
	if (asked->baseline &&
	    !format_open(asked->baseline, &both->baseline, NULL, &error)) {
		free(both);
		return command_fail(&error);
	}
	if (asked->baseline) {
		scenario_estimate(&both->baseline, &both->before);
		request.baseline = &both->baseline;
		request.before = &both->before;
	}
	start_whole_text(&asked->start, scenario, assumed, sizeof assumed);
	request.assumed = assumed;
	request.start = &asked->start;
	request.error = &error;
	request.cut = asked->cut;
	if (asked->format->out.write_folder) {
		free(both);
		return export_folder(asked, &request, &error);
	}
	text = asked->format->out.write(&request);
	free(both);
	if (!text) {
		command_fail(&error);
		return error.text[0] && !strstr(error.text, "memory") ? STATUS_NO
								      : STATUS_USAGE;
	}
	fputs(text, stdout);
	warn_of_size(asked, (double)strlen(text));
	free(text);
	return command_finish(STATUS_GOOD);
}

int command_export(int argc, char **argv)
{
	struct asked asked = { 0 };
	struct import_report *kept = calloc(1, sizeof *kept);
	struct arguments arguments = {
		.context = &asked, .operands = 1, .operand = take_format, .report = kept
	};
	struct error error = { "" };
	struct scenario scenario;
	int status = STATUS_USAGE;

	asked.arguments = &arguments;
	arguments.start = &asked.start;
	if (!kept)
		return command_fail(&error);
	if (options_read(command_find("export"), &arguments, argc, argv, &scenario,
			 &status)) {
		if (!asked.format)
			error_set(&error, NULL, 0,
				  "export needs a format; --help lists them");
		command_say_start(&asked.start, &scenario);
		status = asked.format ? export_scenario(&asked, &scenario, kept)
				      : command_fail(&error);
	}
	free(kept);
	return status;
}
