/* validate.c - predicted against measured runs, per source and in total. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/runs/runs.h"
#include "tui/command.h"

static const char *const shipped[] = { "tests/validation/*.yaml",
				       "tests/validation/inference/*.yaml" };

static void print_errors(const struct score_errors *e)
{
	if (e->n == 0)
		printf(" %5s %6s %6s %6s %6s", "-", "-", "-", "-", "-");
	else
		printf(" %5d %6.1f %6.1f %6.1f %+6.1f", e->n, 100 * e->median,
		       100 * e->mean, 100 * e->p90, 100 * e->bias);
}

/* Whether a source holds training runs: those of servers have tables of their own. */
static bool has_training(const struct score *s)
{
	const struct score_fit *f = &s->fit;

	return s->time.n > 0 || s->memory.n > 0 ||
	       f->fits_fits + f->fits_out + f->out_fits + f->out_out > 0;
}

static void print_times(const struct run_set *set, const struct run_scores *scores)
{
	printf("%-22s %5s | %-33s | %-13s | %s\n", "", "", "step time, error in %",
	       "calibrated", "ranking of layouts");
	printf("%-22s %5s | %5s %6s %6s %6s %6s | %6s %6s | %3s %5s %5s %5s\n",
	       "source", "runs", "n", "median", "mean", "p90", "bias", "median", "p90",
	       "n", "tau", "top1%", "top3%");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;

		if (k < set->sources && !has_training(s))
			continue;
		printf("%-22.22s %5d |", k < set->sources ? set->source[k] : "total",
		       s->runs);
		print_errors(&s->time);
		if (s->calibrated.n > 0)
			printf(" | %6.1f %6.1f |", 100 * s->calibrated.median,
			       100 * s->calibrated.p90);
		else
			printf(" | %6s %6s |", "-", "-");
		if (s->ranking.groups > 0)
			printf(" %3d %5.2f %5.1f %5.1f\n", s->ranking.groups,
			       s->ranking.tau, 100 * s->ranking.top1_regret,
			       100 * s->ranking.top3_regret);
		else
			printf(" %3s %5s %5s %5s\n", "-", "-", "-", "-");
	}
}

static void print_memory(const struct run_set *set, const struct run_scores *scores)
{
	printf("\n%-22s | %-33s | %s\n", "", "peak memory, error in %",
	       "fits or not (measured-predicted)");
	printf("%-22s | %5s %6s %6s %6s %6s | %5s %5s %5s %5s %6s %5s %4s\n", "source",
	       "n", "median", "mean", "p90", "bias", "in-in", "in-no", "no-in", "no-no",
	       "bal. %", "least", "ref.");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;
		const struct score_fit *f = &s->fit;

		if (k < set->sources && !has_training(s))
			continue;
		printf("%-22.22s |", k < set->sources ? set->source[k] : "total");
		print_errors(&s->memory);
		printf(" | %5d %5d %5d %5d %6.1f ", f->fits_fits, f->fits_out,
		       f->out_fits, f->out_out, 100 * f->balanced_accuracy);
		if (f->least_load_out > 0)
			printf("%5.2f", f->least_load_out);
		else
			printf("%5s", "-");
		printf(" %4d\n", s->refused);
	}
	puts("\nin-in, in-no: runs that fitted, predicted to fit and not; no-in, "
	     "no-no: "
	     "runs that did not;\nleast: smallest predicted share of the memory of a "
	     "run "
	     "that ran out; ref.: refused, not predicted;\nthe total of errors is the "
	     "median over "
	     "the sources, of the other columns over all runs");
}

static bool serves(const struct score *s)
{
	for (int f = 0; f < SCORE_FIGURES; f++)
		if (s->serving[f].n > 0)
			return true;
	return false;
}

static void print_serving(const struct run_set *set, const struct run_scores *scores)
{
	printf("%-22s %5s | %-33s\n", "", "", "error in %");
	printf("%-22s %5s | %5s %6s %6s %6s %6s | %s\n", "source", "runs", "n",
	       "median", "mean", "p90", "bias", "of");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;

		for (int f = 0; f < SCORE_FIGURES; f++) {
			if (s->serving[f].n == 0)
				continue;
			printf("%-22.22s %5d |",
			       k < set->sources ? set->source[k] : "total", s->runs);
			print_errors(&s->serving[f]);
			printf(" | %s\n", score_words[f].label);
		}
	}
}

/* Training and serving have a table of their own; a source is of one of them. */
static void print_tables(const struct run_set *set, const struct run_scores *scores)
{
	bool trains = false;

	for (int i = 0; i < set->count && !trains; i++)
		trains = set->run[i].scenario.plan.mode == MODE_TRAINING;
	if (trains) {
		print_times(set, scores);
		print_memory(set, scores);
	}
	if (!serves(&scores->total))
		return;
	if (trains)
		puts("");
	print_serving(set, scores);
}

const struct own_option validate_options[] = {
	{ "json", NULL, "one JSON object", NULL },
	{ NULL, NULL, NULL, NULL },
};

/* The files named, or the shipped ones below the current folder. */
static bool read_files(struct run_set *set, int argc, char **argv, bool *json)
{
	struct error error;
	bool named = false, any = false;
	glob_t found = { 0 };

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			*json = true;
			continue;
		}
		named = true;
		if (runs_read(set, argv[i], &error))
			any = true;
		else
			command_fail(&error);
	}
	for (size_t i = 0; !named && i < sizeof shipped / sizeof shipped[0]; i++)
		glob(shipped[i], i > 0 ? GLOB_APPEND : 0, NULL, &found);
	if (!named)
		for (size_t i = 0; i < found.gl_pathc; i++)
			any |= runs_read(set, found.gl_pathv[i], &error) ||
			       command_fail(&error) == STATUS_GOOD;
	if (!named && found.gl_pathc == 0) {
		error_set(&error, NULL, 0, "no runs in %s; name a file of runs",
			  shipped[0]);
		command_fail(&error);
	}
	globfree(&found);
	return any;
}

static int show(const struct run_set *set, bool json)
{
	struct run_scores scores = { 0 };
	struct error error;
	bool refused = false;
	char *text;

	if (!runs_score(set, &scores)) {
		error_set(&error, NULL, 0, "out of memory");
		return command_fail(&error);
	}
	if (json) {
		text = runs_json(set, &scores);
		puts(text ? text : "null");
		free(text);
	} else {
		print_tables(set, &scores);
	}
	for (int i = 0; i < set->count; i++)
		refused |= !scores.rows[i].predicted;
	run_scores_free(&scores);
	return command_finish(refused ? STATUS_NO : STATUS_GOOD);
}

int command_validate(int argc, char **argv)
{
	struct run_set set = { 0 };
	bool json = false, any;
	int status = STATUS_USAGE;

	for (int i = 1; i < argc; i++) {
		struct error error;

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return command_help(command_find("validate"));
		if (argv[i][0] == '-' && argv[i][1] == '-' &&
		    strcmp(argv[i], "--json") != 0) {
			error_set(&error, NULL, 0,
				  "validate has no option %.60s; it has --json",
				  argv[i]);
			return command_fail(&error);
		}
	}
	any = read_files(&set, argc, argv, &json);
	for (int i = 0; i < set.faults; i++)
		fprintf(stderr, "shardscope: %s\n", set.fault[i].text);
	if (any && set.count > 0)
		status = show(&set, json);
	runs_free(&set);
	return status;
}
