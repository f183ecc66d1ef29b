/* export.c - a scenario and its estimate in another form, and `calibrate`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "presets/cluster_file.h"
#include "presets/folder.h"
#include "presets/formats.h"
#include "tui/command.h"
#include "tui/explorer/export.h"

struct asked {
	const struct export_format *format;
	const char *baseline; /* of a report, by name or file */
	const char *folder;   /* of a format of several files */
	double measured;
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
	asked->format = export_find(text);
	if (asked->format && asked->format->write_folder)
		asked->arguments->operands++;
	if (asked->format)
		return true;
	for (int i = 0; i < export_count(); i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
			 i ? ", " : "", export_table[i].name);
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
	{ "stages", "N", "trace: the first N stages alone", take_stages },
	{ "micro-batches", "N", "trace: the first N micro-batches alone",
	  take_micro_batches },
	{ NULL, NULL, NULL, NULL },
};

/* Room for a scenario and what it is compared with. */
struct both {
	struct scenario baseline;
	struct estimate estimate, before;
};

/* Viewers grow slow well before they give up. */
static void warn_of_size(const struct asked *asked, const char *text)
{
	double megabytes = (double)strlen(text) / 1e6;

	if (megabytes > 20 && strcmp(asked->format->name, "trace") == 0)
		fprintf(stderr,
			"shardscope: a trace of %.0f MB; --stages N and "
			"--micro-batches N cut it\n",
			megabytes);
}

/* Files in a folder; how many is said where nothing else is written. */
static int export_folder(const struct asked *asked,
			 const struct export_request *request, struct error *error)
{
	int files;

	if (!asked->folder)
		error_set(error, NULL, 0,
			  "export %s needs a folder: export %s DIR [SCENARIO]",
			  asked->format->name, asked->format->name);
	if (!asked->folder ||
	    !asked->format->write_folder(request, asked->folder, &files))
		return command_fail(error);
	printf("%d files in %.400s\n", files, asked->folder);
	return command_finish(STATUS_GOOD);
}

static int export_scenario(const struct asked *asked, const struct scenario *scenario,
			   const struct import_report *kept)
{
	struct both *both = malloc(sizeof *both);
	struct export_request request = { .scenario = scenario, .kept = kept };
	struct error error = { "" };
	char *text = NULL, assumed[512];

	if (!export_suits(asked->format, scenario, &error)) {
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
	start_text(&asked->start, scenario, assumed, sizeof assumed);
	request.assumed = assumed;
	request.error = &error;
	request.cut = asked->cut;
	if (asked->format->write_folder) {
		free(both);
		return export_folder(asked, &request, &error);
	}
	text = asked->format->write(&request);
	free(both);
	if (!text) {
		command_fail(&error);
		return error.text[0] ? STATUS_NO : STATUS_USAGE;
	}
	fputs(text, stdout);
	warn_of_size(asked, text);
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

static bool take_measured(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	char *end;

	asked->measured = strtod(value, &end);
	if (*end == '\0' && isfinite(asked->measured) && asked->measured > 0)
		return true;
	return error_set(error, NULL, 0,
			 "--measured-step %.40s: expected seconds above 0", value);
}

const struct own_option calibrate_options[] = {
	{ "measured-step", "SECONDS", "seconds that a step really took",
	  take_measured },
	{ NULL, NULL, NULL, NULL },
};

/* The cluster with its scale, kept in the user's folder under its own name. */
static bool save_cluster(const struct cluster *cluster, char *path, size_t size,
			 struct error *error)
{
	char rest[MAX_NAME + 32], *text = NULL;
	size_t length = 0;
	FILE *stream;
	bool good;

	snprintf(rest, sizeof rest, "clusters/%s.yaml", cluster->name);
	if (!folder_config(path, size, rest))
		return error_set(error, NULL, 0, "there is no home folder");
	if (!folder_make(path, error))
		return false;
	stream = open_memstream(&text, &length);
	if (!stream)
		return false;
	fprintf(stream, "# calibrated by one measured step: every time is scaled\n");
	cluster_write(cluster, stream);
	fputc('\n', stream);
	good = fclose(stream) == 0 && file_save(path, text, length, error);
	free(text);
	return good;
}

/* Whether a step of this plan can have taken that long: a slip in the plan or in the
 * unit would spoil every later estimate. */
static bool is_plausible(const struct estimate *e, double measured, struct error *error)
{
	const struct knob *knob = knob_find("scale");
	double scale = measured / e->step_seconds;

	if (scale < knob->min || scale > knob->max)
		return error_set(error, NULL, 0,
				 "--measured-step %g is %.3g times the predicted "
				 "%.4g s, beyond %g to %g: of this plan, in seconds?",
				 measured, scale, e->step_seconds, knob->min,
				 knob->max);
	if (e->mfu > scale)
		return error_set(
			error, NULL, 0,
			"--measured-step %g would be %.0f %% of the peak, more "
			"than there is: of this plan, in seconds?",
			measured, 100 * e->mfu / scale);
	return true;
}

int command_calibrate(int argc, char **argv)
{
	struct asked asked = { 0 };
	struct arguments arguments = {
		.context = &asked,
	};
	struct error error = { "" };
	struct scenario scenario;
	struct estimate *e;
	double predicted;
	char path[512];
	int status;

	if (!options_read(command_find("calibrate"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	if (!(asked.measured > 0)) {
		error_set(&error, NULL, 0, "calibrate needs --measured-step SECONDS");
		return command_fail(&error);
	}
	e = malloc(sizeof *e);
	if (!e)
		return command_fail(&error);
	scenario.cluster.scale = 1;
	scenario_estimate(&scenario, e);
	predicted = e->legal ? e->step_seconds : 0;
	bool good = !(predicted > 0) || is_plausible(e, asked.measured, &error);
	free(e);
	if (!good)
		return command_fail(&error);
	if (!(predicted > 0)) {
		fprintf(stderr, "shardscope: this plan can't run, so it was not "
				"measured; shardscope check says why\n");
		return STATUS_NO;
	}
	scenario.cluster.scale = asked.measured / predicted;
	if (!save_cluster(&scenario.cluster, path, sizeof path, &error))
		return command_fail(&error);
	printf("predicted %.4g s, measured %.4g s: scale %.4g\n%s is used for '%s' "
	       "from "
	       "now on; remove the file to undo\n",
	       predicted, asked.measured, scenario.cluster.scale, path,
	       scenario.cluster.name);
	return command_finish(STATUS_GOOD);
}
