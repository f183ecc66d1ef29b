/* calibrate.c - measured steps of a machine set the scales of its cluster. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/predict/predict.h"
#include "engine/score/calibrate.h"
#include "presets/cluster_file.h"
#include "presets/folder.h"
#include "presets/library.h"
#include "presets/mlperf/log.h"
#include "presets/runs/runs.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"
#include "tui/command.h"

enum { MAX_REMEMBERED = 4 << 20 }; /* bytes of a file of runs */
/* A slip in the plan or in the unit, not a slow machine. */
static const double least_ratio = 0.1, most_ratio = 10;

struct asked {
	double measured;
	const char *log;
};

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

static bool take_log(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct asked *)context)->log = value;
	return true;
}

const struct own_option calibrate_options[] = {
	{ "measured-step", "SECONDS", "seconds that a step really took",
	  take_measured },
	{ "mllog", "FILE", "the log of an MLPerf run of this plan instead", take_log },
	{ NULL, NULL, NULL, NULL },
};

/* The run of the log must be that of the plan. */
static bool measure(struct asked *asked, const struct scenario *s, struct error *error)
{
	struct mlperf_log log;

	if (!asked->log && !(asked->measured > 0))
		return error_set(error, NULL, 0,
				 "calibrate needs --measured-step SECONDS or --mllog "
				 "FILE");
	if (!asked->log)
		return true;
	if (asked->measured > 0)
		return error_set(error, NULL, 0,
				 "--measured-step and --mllog both say how long a step "
				 "took; one of them is enough");
	if (!mlperf_log_read(asked->log, &log, error))
		return false;
	if (log.global_batch != s->plan.global_batch)
		return error_set(error, asked->log, log.global_batch_line,
				 "global_batch_size is %lld, but this plan's is %lld; "
				 "give the plan that ran, or --gbs %lld",
				 (long long)log.global_batch,
				 (long long)s->plan.global_batch,
				 (long long)log.global_batch);
	if (log.sequence > 0 && log.sequence != s->plan.seq_len)
		return error_set(
			error, asked->log, log.sequence_line,
			"max_sequence_length is %lld, but this plan's is %lld; "
			"give the plan that ran, or --seq %lld",
			(long long)log.sequence, (long long)s->plan.seq_len,
			(long long)log.sequence);
	asked->measured = log.step_seconds;
	printf("%d block%s of %.200s: a step takes %.4g s\n", log.blocks,
	       log.blocks == 1 ? "" : "s", asked->log, log.step_seconds);
	return true;
}

/* Without what earlier calibrations set: runs are compared with the shipped constants.
 */
static void uncalibrate(struct cluster *cluster)
{
	struct calibration *c = &cluster->accelerator.calibration;

	cluster->scale = c->compute_scale = c->network_scale = c->host_scale = 1;
}

/* Whether a step of this plan can have taken that long: a slip in the plan or in the
 * unit would spoil every later estimate. */
static bool is_plausible(const struct estimate *e, double measured, struct error *error)
{
	double ratio = measured / e->step_seconds;

	if (ratio < least_ratio || ratio > most_ratio)
		return error_set(error, NULL, 0,
				 "--measured-step %g is %.3g times the predicted "
				 "%.4g s, beyond %g to %g: of this plan, in seconds?",
				 measured, ratio, e->step_seconds, least_ratio,
				 most_ratio);
	if (e->mfu > ratio)
		return error_set(
			error, NULL, 0,
			"--measured-step %g would be %.0f %% of the peak, more "
			"than there is: of this plan, in seconds?",
			measured, 100 * e->mfu / ratio);
	return true;
}

/* What is remembered of a machine: for each run a line "--- SECONDS" and its plan as a
 * scenario. */
struct remembered {
	char path[512];
	char *text;
	int count; /* of runs that could be read */
	bool experts;
	bool illegal; /* the plan that is said to have been measured */
	struct calibration_run run[CALIBRATION_RUNS];
	struct scenario scenario, scratch;
	struct estimate estimate;
};

static const char head[] = "--- ";

/* Where the next run begins behind `at`, or the end. */
static char *next_run(char *at)
{
	char *next = strstr(at, "\n---");

	return next ? next + 1 : at + strlen(at);
}

static void take_run(struct remembered *r, char *text, size_t length)
{
	struct calibration_run *run = &r->run[r->count];
	struct error ignored;
	char *plan;
	double measured = strtod(text + strlen(head), &plan);

	if (r->count >= CALIBRATION_RUNS || !(measured > 0) ||
	    !scenario_parse(&r->scenario, r->path, plan, length - (size_t)(plan - text),
			    NULL, &ignored))
		return;
	uncalibrate(&r->scenario.cluster);
	scenario_estimate(&r->scenario, &r->estimate);
	if (!r->estimate.legal)
		return;
	run->residual = log(measured / r->estimate.step_seconds);
	run_scale_shares(&r->scenario, &r->scratch, &r->estimate, run->share);
	r->experts |= r->scenario.model.moe.experts > 0;
	r->count++;
}

/* The runs of the file, less one of the same plan. */
static void keep_others(char *before, const char *plan, FILE *stream)
{
	for (char *run = before, *next; *run; run = next) {
		const char *of = strchr(run, '\n');

		next = next_run(run);
		if (of && strncmp(run, head, strlen(head)) == 0 &&
		    ((size_t)(next - of - 1) != strlen(plan) ||
		     strncmp(of + 1, plan, strlen(plan)) != 0))
			fprintf(stream, "%.*s", (int)(next - run), run);
	}
}

/* This run in front of those that are kept, into r->text and the file. */
static bool remember(struct remembered *r, const char *plan, double measured,
		     struct error *error)
{
	struct error none;
	size_t length = 0, size;
	FILE *stream = open_memstream(&r->text, &size);
	char *before = stream_read_file(r->path, MAX_REMEMBERED, &length, &none);

	if (stream) {
		fprintf(stream, "%s%.9g\n%s", head, measured, plan);
		if (before)
			keep_others(before, plan, stream);
	}
	free(before);
	r->text = stream_end(stream, &r->text);
	if (!r->text)
		return error_set(error, NULL, 0, "out of memory");
	return folder_make(r->path, error) &&
	       file_save(r->path, r->text, strlen(r->text), error);
}

static bool read_runs(struct remembered *r, struct error *error)
{
	for (char *run = r->text, *next; *run; run = next) {
		next = next_run(run);
		take_run(r, run, (size_t)(next - run));
	}
	return r->count > 0 || error_set(error, r->path, 1,
					 "its runs can't be read any more; remove it");
}

/* The cluster with its scales, kept in the user's folder under its own name. */
static bool save_cluster(const struct cluster *cluster, int runs, const char *path,
			 struct error *error)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream;
	bool good;

	if (!folder_make(path, error))
		return false;
	stream = open_memstream(&text, &length);
	if (!stream)
		return false;
	fprintf(stream, "# calibrated by %d measured run%s\n", runs,
		runs == 1 ? "" : "s");
	cluster_write(cluster, stream);
	fputc('\n', stream);
	good = stream_end(stream, &text) && file_save(path, text, length, error);
	free(text);
	return good;
}

static void say(const struct remembered *r, const struct scales *scales,
		const char *path, const struct cluster *cluster)
{
	printf("%d run%s of '%s': ", r->count, r->count == 1 ? "" : "s", cluster->name);
	if (scales->kept > 0)
		printf("kernels x %.3f, links x %.3f, hosts x %.3f (%.0f %% of what "
		       "they say; the rest may be chance)\n",
		       scales->scale[SCALE_COMPUTE], scales->scale[SCALE_NETWORK],
		       scales->scale[SCALE_HOST], 100 * scales->kept);
	else
		printf("nothing moves, for single runs scatter as much; more runs of "
		       "other plans tell more\n");
	if (scales->before > 0)
		printf("each predicted from the others: median error %.1f %%, %.1f %% "
		       "without calibration\n",
		       100 * scales->left_out, 100 * scales->before);
	if (path[0] == '\0')
		printf("remembered in %s; remove it to forget\n", r->path);
	else
		printf("%s is used for '%s' from now on; remove it and %s to undo\n",
		       path, cluster->name, r->path);
}

/* Predicted beside measured; false with error where the plan can't be it. */
static bool compare_run(struct remembered *r, const struct scenario *s, double measured,
			struct error *error)
{
	scenario_estimate(s, &r->estimate);
	r->illegal = !r->estimate.legal;
	if (r->illegal)
		return error_set(error, NULL, 0,
				 "this plan can't run, so it was not measured; "
				 "shardscope check says why");
	if (!is_plausible(&r->estimate, measured, error))
		return false;
	printf("predicted %.4g s, measured %.4g s: %+.1f %%\n",
	       r->estimate.step_seconds, measured,
	       100 * (measured / r->estimate.step_seconds - 1));
	return true;
}

static bool calibrate(struct remembered *r, struct scenario *s, double measured,
		      struct error *error)
{
	struct calibration *c = &s->cluster.accelerator.calibration;
	/* beside the user's own cluster, so that it tells nothing of its scales */
	char rest[MAX_NAME + 32], path[512], *plan = scenario_write(s);
	struct scales scales;
	bool good;

	uncalibrate(&s->cluster);
	snprintf(rest, sizeof rest, "clusters/%s.runs", s->cluster.name);
	good = plan && compare_run(r, s, measured, error);
	if (good && !folder_config(r->path, sizeof r->path, rest))
		good = error_set(error, NULL, 0, "there is no home folder");
	good = good && remember(r, plan, measured, error) && read_runs(r, error);
	free(plan);
	free(r->text);
	if (!good)
		return false;
	calibrate_scales(r->run, r->count, r->experts, &s->cluster.accuracy.prior,
			 &scales);
	c->compute_scale = scales.scale[SCALE_COMPUTE];
	c->network_scale = scales.scale[SCALE_NETWORK];
	c->host_scale = scales.scale[SCALE_HOST];
	/* what the job took of it is the plan's, and remembered there */
	if (library_cluster(&r->scratch.cluster, s->cluster.name, NULL))
		s->cluster.gpus = r->scratch.cluster.gpus;
	snprintf(rest, sizeof rest, "clusters/%s.yaml", s->cluster.name);
	if (!folder_config(path, sizeof path, rest))
		return error_set(error, NULL, 0, "there is no home folder");
	/* nothing to say, and nothing said before */
	if (!(scales.kept > 0) && access(path, F_OK) != 0)
		path[0] = '\0';
	if (path[0] && !save_cluster(&s->cluster, r->count, path, error))
		return false;
	say(r, &scales, path, &s->cluster);
	return true;
}

int command_calibrate(int argc, char **argv)
{
	struct asked asked = { 0 };
	struct arguments arguments = { .context = &asked };
	struct remembered *remembered;
	struct error error = { "" };
	struct scenario scenario;
	int status;

	if (!options_read(command_find("calibrate"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	if (scenario.plan.mode != MODE_TRAINING) {
		error_set(&error, NULL, 0,
			  "calibrate takes steps of training; this plan serves");
		return command_fail(&error);
	}
	remembered = calloc(1, sizeof *remembered);
	if (!remembered)
		return command_fail(&error);
	status = STATUS_GOOD;
	if (!measure(&asked, &scenario, &error) ||
	    !calibrate(remembered, &scenario, asked.measured, &error)) {
		command_fail(&error);
		status = remembered->illegal ? STATUS_NO : STATUS_USAGE;
	}
	free(remembered);
	return status == STATUS_GOOD ? command_finish(status) : status;
}
