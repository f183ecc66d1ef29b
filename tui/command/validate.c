/* validate.c - predicted against measured runs, per source and in total. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/report.h"
#include "presets/runs/left_out.h"
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
	       f->fits_fits + f->fits_out + f->out_fits + f->out_out + f->fits_unsure +
			       f->out_unsure >
		       0;
}

static void print_kind(const struct score_errors *e, const struct left_out *left)
{
	if (e->n == 0)
		printf(" | %4s %5s %5s", "-", "-", "-");
	else
		printf(" | %4d %5.1f %5.1f", e->n, 100 * e->median, 100 * e->p90);
	if (left)
		printf(" %5.1f %5.1f", 100 * left->median, 100 * left->p90);
	else
		printf(" %5s %5s", "-", "-");
}

static void print_kinds(const struct score *s, const char *source,
			const struct left_outs *left)
{
	for (int e = 0; e < 2; e++) {
		struct left_out total;
		const struct left_out *one = NULL;

		if (source)
			one = left_outs_find(left, source, e);
		else if (left_outs_total(left, e, &total))
			one = &total;
		print_kind(&s->of_kind[e], one);
	}
}

static void print_ranking(const struct score_ranking *ranking)
{
	if (ranking->groups > 0)
		printf(" | %3d %5.2f %5.1f %5.1f\n", ranking->groups, ranking->tau,
		       100 * ranking->top1_regret, 100 * ranking->top3_regret);
	else
		printf(" | %3s %5s %5s %5s\n", "-", "-", "-", "-");
}

static void print_times(const struct run_set *set, const struct run_scores *scores,
			const struct left_outs *left)
{
	printf("%-22s %5s | %-33s | %-28s | %-28s | %s\n", "", "",
	       "step time, error in %", "dense            left out",
	       "experts          left out", "ranking of layouts");
	printf("%-22s %5s | %5s %6s %6s %6s %6s", "source", "runs", "n", "median",
	       "mean", "p90", "bias");
	for (int e = 0; e < 2; e++)
		printf(" | %4s %5s %5s %5s %5s", "n", "med", "p90", "med", "p90");
	printf(" | %3s %5s %5s %5s\n", "n", "tau", "top1%", "top3%");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;

		if (k < set->sources && !has_training(s))
			continue;
		printf("%-22.22s %5d |", k < set->sources ? set->source[k] : "total",
		       s->runs);
		print_errors(&s->time);
		print_kinds(s, k < set->sources ? set->source[k] : NULL, left);
		print_ranking(&s->ranking);
	}
}

/* Median errors without and with so many measured runs of the machine. */
static void print_calibrated(const struct run_set *set, const struct run_scores *scores)
{
	printf("\n%-22s | %s\n%-22s", "",
	       "median error of step time in %, without > with calibration by so many "
	       "runs",
	       "source");
	for (int e = 0; e < 2; e++)
		for (int c = 0; c < SCORE_CALIBRATIONS; c++)
			printf(" | %s %d%*s", e ? "experts" : "dense",
			       score_calibrating[c], e ? 4 : 6, "");
	puts("");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;

		if (k < set->sources && !has_training(s))
			continue;
		printf("%-22.22s", k < set->sources ? set->source[k] : "total");
		for (int e = 0; e < 2; e++)
			for (int c = 0; c < SCORE_CALIBRATIONS; c++) {
				const struct score_calibrated *one =
					&s->calibrated[e][c];

				if (one->before.n > 0)
					printf(" | %5.1f > %5.1f",
					       100 * one->before.median,
					       100 * one->after.median);
				else
					printf(" | %5s   %5s", "-", "-");
			}
		puts("");
	}
}

static void print_memory(const struct run_set *set, const struct run_scores *scores)
{
	printf("\n%-22s | %-33s | %s\n", "", "peak memory, error in %",
	       "fits or not (measured-predicted)");
	printf("%-22s | %5s %6s %6s %6s %6s | %5s %5s %5s %5s %5s %5s %6s %5s %4s\n",
	       "source", "n", "median", "mean", "p90", "bias", "in-in", "in-no", "in-?",
	       "no-in", "no-no", "no-?", "bal. %", "least", "ref.");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;
		const struct score_fit *f = &s->fit;

		if (k < set->sources && !has_training(s))
			continue;
		printf("%-22.22s |", k < set->sources ? set->source[k] : "total");
		print_errors(&s->memory);
		printf(" | %5d %5d %5d %5d %5d %5d %6.1f ", f->fits_fits, f->fits_out,
		       f->fits_unsure, f->out_fits, f->out_out, f->out_unsure,
		       100 * f->balanced_accuracy);
		if (f->least_load_out > 0)
			printf("%5.2f", f->least_load_out);
		else
			printf("%5s", "-");
		printf(" %4d\n", s->refused);
	}
	puts("\nin-in, in-no, in-?: runs that fitted, predicted to fit, not to, "
	     "and unsure (an accelerator that nobody measured); no-in, no-no, "
	     "no-?: runs that did not;\nleast: smallest predicted share of the "
	     "memory of a run that ran out; ref.: refused, not predicted;\nthe "
	     "total of errors is the median over the sources, of the other columns "
	     "over all runs");
}

static bool serves(const struct score *s)
{
	for (int f = 0; f < SCORE_FIGURES; f++)
		if (s->serving[f].n > 0)
			return true;
	return false;
}

/* Errors of a figure where stacks and models were left out of the fit. */
static void print_left_out(const struct left_outs *left, const char *source, int figure)
{
	const struct left_out *one = NULL;
	struct left_out total;

	if (source)
		one = left_outs_find(left, source, LEFT_SERVING + figure);
	else if (left_outs_total(left, LEFT_SERVING + figure, &total))
		one = &total;
	if (one)
		printf(" | %6.1f %6.1f", 100 * one->median, 100 * one->p90);
	else
		printf(" | %6s %6s", "-", "-");
}

/* Of all sources. */
static void print_server_kind(const struct run_scores *scores,
			      const struct left_outs *left, int kind)
{
	for (int f = 0; f < SCORE_FIGURES; f++) {
		const struct score_errors *e = &scores->total.serving_of[kind][f];

		if (e->n == 0)
			continue;
		printf("%-22.22s %5d |", score_kinds[kind], e->n);
		print_errors(e);
		print_left_out(left, NULL, SCORE_FIGURES * (1 + kind) + f);
		printf(" | %s\n", score_words[f].label);
	}
}

static void print_serving(const struct run_set *set, const struct run_scores *scores,
			  const struct left_outs *left)
{
	printf("%-22s %5s | %-34s | %-13s |\n", "", "", "error in %", "left out");
	printf("%-22s %5s | %5s %6s %6s %6s %6s | %6s %6s | %s\n", "source", "runs",
	       "n", "median", "mean", "p90", "bias", "median", "p90", "of");
	for (int k = 0; k <= set->sources; k++) {
		const struct score *s =
			k < set->sources ? &scores->source[k] : &scores->total;

		for (int f = 0; f < SCORE_FIGURES; f++) {
			if (s->serving[f].n == 0)
				continue;
			printf("%-22.22s %5d |",
			       k < set->sources ? set->source[k] : "total", s->runs);
			print_errors(&s->serving[f]);
			print_left_out(left, k < set->sources ? set->source[k] : NULL,
				       f);
			printf(" | %s\n", score_words[f].label);
		}
	}
	for (int k = 0; k < SCORE_KINDS; k++)
		print_server_kind(scores, left, k);
	puts("\npipelines, speculation, pools: the same runs once more, of servers that have "
	     "them; the\ntotal and these are medians over the sources");
}

/* Training and serving have a table of their own; a source is of one of them. */
static void print_tables(const struct run_set *set, const struct run_scores *scores,
			 const struct left_outs *left)
{
	bool trains = false;

	for (int i = 0; i < set->count && !trains; i++)
		trains = set->run[i].scenario.plan.mode == MODE_TRAINING;
	if (trains) {
		print_times(set, scores, left);
		print_calibrated(set, scores);
		print_memory(set, scores);
	}
	if (!serves(&scores->total))
		return;
	if (trains)
		puts("");
	print_serving(set, scores, left);
}

const struct own_option validate_options[] = {
	{ "json", NULL, "one JSON object", NULL },
	{ "left-out", "FILE", "also show the errors of sources left out of the fit",
	  NULL },
	{ NULL, NULL, NULL, NULL },
};

struct asked {
	bool json, named;
	struct left_outs left_out;
};

/* Options; false after a message, with the status to leave with. */
static bool read_options(struct asked *asked, int argc, char **argv, int *status)
{
	struct error error;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			*status = command_help(command_find("validate"));
			return false;
		}
		if (strcmp(argv[i], "--json") == 0) {
			asked->json = true;
		} else if (strncmp(argv[i], "--", 2) != 0) {
			asked->named = true;
		} else if (strcmp(argv[i], "--left-out") != 0) {
			error_set(&error, NULL, 0,
				  "validate has no option %.60s; it has --json and "
				  "--left-out FILE",
				  argv[i]);
			*status = command_fail(&error);
			return false;
		} else if (++i >= argc ||
			   !left_outs_read(&asked->left_out, argv[i], &error)) {
			if (i >= argc)
				error_set(&error, NULL, 0, "--left-out needs a FILE");
			*status = command_fail(&error);
			return false;
		}
	}
	return true;
}

/* The files named, or the shipped ones below the current folder. */
static bool read_files(struct run_set *set, const struct asked *asked, int argc,
		       char **argv)
{
	struct error error;
	bool any = false;
	glob_t found = { 0 };

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--left-out") == 0)
			i++;
		else if (strcmp(argv[i], "--json") == 0)
			continue;
		else if (runs_read(set, argv[i], &error))
			any = true;
		else
			command_fail(&error);
	}
	if (asked->named)
		return any;
	for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)
		glob(shipped[i], i > 0 ? GLOB_APPEND : 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		any |= runs_read(set, found.gl_pathv[i], &error) ||
		       command_fail(&error) == STATUS_GOOD;
	if (found.gl_pathc == 0) {
		error_set(&error, NULL, 0, "no runs in %s; name a file of runs",
			  shipped[0]);
		command_fail(&error);
	}
	globfree(&found);
	return any;
}

static int show(const struct run_set *set, const struct asked *asked)
{
	struct run_scores scores = { 0 };
	struct error error;
	bool refused = false;
	char *text;

	if (!runs_score(set, &scores)) {
		error_set(&error, NULL, 0, "out of memory");
		return command_fail(&error);
	}
	if (asked->json) {
		text = runs_json(set, &scores);
		if (!text)
			report_falls_short();
		puts(text ? text : "null");
		free(text);
	} else {
		print_tables(set, &scores, &asked->left_out);
	}
	for (int i = 0; i < set->count; i++)
		refused |= !scores.rows[i].predicted;
	run_scores_free(&scores);
	return command_finish(refused ? STATUS_NO : STATUS_GOOD);
}

int command_validate(int argc, char **argv)
{
	struct run_set set = { 0 };
	struct asked *asked = calloc(1, sizeof *asked);
	int status = STATUS_USAGE;
	bool any;

	if (!asked)
		return command_fail(&(struct error){ "out of memory" });
	if (!read_options(asked, argc, argv, &status)) {
		free(asked);
		return status;
	}
	any = read_files(&set, asked, argc, argv);
	for (int i = 0; i < set.faults; i++)
		fprintf(stderr, "shardscope: %s\n", set.fault[i].text);
	if (any && set.count > 0)
		status = show(&set, asked);
	runs_free(&set);
	free(asked);
	return status;
}
