/* fit.c - constants of accelerators and stacks, fitted to measured steps.
 *
 *     make fit                        errors and constants, nothing is written
 *     make fit FIT="--write"          and into presets/clusters and presets/stacks
 *     make fit FIT="--rows"           and every run's log(predicted / measured)
 *     make fit FIT="--leave-out NAME" without a source (file name), and how it is met
 *     make fit FIT="--each"           each source in turn left out, and how it is met
 *
 * Least squares and then coordinate descent on the mean over sources of |log(predicted
 * / measured)|, capped so that odd runs don't steer, with half of the same inside each
 * contest of layouts, and a weak pull towards the value that the presets hold. Memory
 * plays no part.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "tests/validation/fit.h"

const double fit_cap = 0.3;
const double fit_pull = 0.0015;
/* A source counts whole from so many runs on: one run alone fits anything. */
const double fit_enough_runs = 10;

bool fit_scores(const struct fit *f, int i)
{
	return f->set.run[i].scores_time && f->set.run[i].readable;
}

void fit_predict(struct fit *f, int i)
{
	struct score_run row;

	run_predict(&f->set.run[i], &f->estimate, &row);
	f->error[i] =
		row.predicted ? log(row.predicted_seconds / row.measured_seconds) : NAN;
}

static double capped(double error)
{
	return fmin(fabs(error), fit_cap) + 0.05 * fmin(fabs(error), 1);
}

double fit_objective(const struct fit *f)
{
	static double sum[MAX_CONTESTS];
	static int n[MAX_CONTESTS];
	double total = 0, sources = 0;

	memset(sum, 0, sizeof sum);
	memset(n, 0, sizeof n);
	for (int i = 0; i < f->set.count; i++) {
		if (!fit_scores(f, i) || isnan(f->error[i]))
			continue;
		sum[f->contest[i] % MAX_CONTESTS] += f->error[i];
		n[f->contest[i] % MAX_CONTESTS]++;
	}
	for (int s = 0; s < f->set.sources; s++) {
		double loss = 0, runs = 0;

		for (int i = 0; !f->left_out[s] && i < f->set.count; i++) {
			int c = f->contest[i] % MAX_CONTESTS;

			if (f->set.run[i].source != s || !fit_scores(f, i) ||
			    isnan(f->error[i]))
				continue;
			loss += capped(f->error[i]);
			if (n[c] > 3)
				loss += 0.5 * capped(f->error[i] - sum[c] / n[c]);
			runs++;
		}
		if (runs > 0) {
			double weight = fmin(1, runs / fit_enough_runs);

			total += weight * loss / runs;
			sources += weight;
		}
	}
	return sources > 0 ? total / sources : 0;
}

double fit_tether(const struct constant *c)
{
	double off = log((c->value + 1e-9) / (c->start + 1e-9));

	return fit_pull * fmin(off * off, 9);
}

void fit_apply(struct fit *f, const struct constant *c)
{
	for (int i = 0; i < f->set.count; i++)
		if (fit_scores(f, i) && constant_touches(c, &f->set.run[i].scenario)) {
			constant_set(c, &f->set.run[i].scenario, c->value);
			fit_predict(f, i);
		}
}

/* Try a value; keep it if the objective falls. */
static bool try_value(struct fit *f, struct constant *c, double value, double *best)
{
	double old = c->value, now;

	if (value < c->low || value > c->high || value == old)
		return false;
	c->value = value;
	fit_apply(f, c);
	now = fit_objective(f) + fit_tether(c);
	if (now < *best - 1e-7) {
		*best = now;
		return true;
	}
	c->value = old;
	return false;
}

static void descend(struct fit *f, struct constant *c, double step)
{
	double best = fit_objective(f) + fit_tether(c), before = c->value;
	double up = c->share ? fmin(c->high, c->value + step * 0.5)
			     : fmax(c->value, c->low + 1e-9) * (1 + step);
	double down =
		c->share ? fmax(c->low, c->value - step * 0.5) : c->value / (1 + step);

	if (!try_value(f, c, up, &best))
		try_value(f, c, down, &best);
	if (c->value == before)
		fit_apply(f, c); /* back to what it was */
}

static void run_fit(struct fit *f, int rounds)
{
	double step = 0.25;

	for (int i = 0; i < f->set.count; i++)
		if (fit_scores(f, i))
			fit_predict(f, i);
	if (!fit_solve(f, 60))
		exit(2);
	for (int r = 0; r < rounds; r++) {
		double before = fit_objective(f);

		for (int k = 0; k < constant_count; k++)
			if (!constants[k].fixed)
				descend(f, &constants[k], step);
		if (before - fit_objective(f) < 1e-4)
			step *= 0.6;
		if (step < 0.01)
			break;
	}
}

/* The preset's value, as the first run that it touches holds it. */
static void start(struct fit *f)
{
	for (int k = 0; k < constant_count; k++) {
		struct constant *c = &constants[k];

		c->found = false;
		for (int i = 0; i < f->set.count && !c->found; i++)
			if (fit_scores(f, i) &&
			    constant_touches(c, &f->set.run[i].scenario)) {
				c->start = c->value =
					constant_get(c, &f->set.run[i].scenario);
				c->found = true;
			}
	}
}

static void restore(struct fit *f)
{
	for (int k = 0; k < constant_count; k++) {
		constants[k].fixed = false;
		constants[k].value = constants[k].start;
		fit_apply(f, &constants[k]);
	}
}

/* Constants of a stack that only the left-out source runs take no part; constants of
 * silicon that only it has stay as they are. */
static void forget(struct fit *f, int source)
{
	for (int k = 0; k < constant_count; k++) {
		struct constant *c = &constants[k];
		bool elsewhere = !c->stack;

		for (int i = 0; i < f->set.count && !elsewhere; i++)
			elsewhere = fit_scores(f, i) &&
				    f->set.run[i].source != source &&
				    constant_touches(c, &f->set.run[i].scenario);
		c->fixed = !elsewhere;
	}
}

/* An unknown stack is the middle of those that are known. */
static void guess(struct fit *f)
{
	for (int k = 0; k < constant_count; k++)
		if (constants[k].fixed) {
			constants[k].value = constants_middle(&constants[k]);
			fit_apply(f, &constants[k]);
		}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_source(const struct fit *f, int s)
{
	static double errors[65536];
	double bias = 0;
	int n = 0;

	for (int i = 0; i < f->set.count && n < 65536; i++)
		if (f->set.run[i].source == s && fit_scores(f, i) &&
		    !isnan(f->error[i])) {
			errors[n++] = fabs(expm1(f->error[i]));
			bias += f->error[i];
		}
	if (n == 0)
		return;
	qsort(errors, (size_t)n, sizeof *errors, compare);
	printf("%-22s %5d  median %5.1f %%  p90 %5.1f %%  bias %+5.1f %%%s\n",
	       f->set.source[s], n, 100 * errors[n / 2], 100 * errors[n * 9 / 10],
	       100 * bias / n, f->left_out[s] ? "  left out" : "");
}

static bool load(struct fit *f, int argc, char **argv)
{
	struct error error;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--leave-out") == 0) {
			i++;
			continue;
		}
		if (argv[i][0] == '-')
			continue;
		if (!runs_read(&f->set, argv[i], &error)) {
			fprintf(stderr, "fit: %s\n", error.text);
			return false;
		}
	}
	f->error = calloc((size_t)f->set.count + 1, sizeof *f->error);
	f->contest = calloc((size_t)f->set.count + 1, sizeof *f->contest);
	return f->error && f->contest && f->set.sources > 0 && f->set.sources < 64;
}

static void number_contests(struct fit *f)
{
	struct run_scores scores = { 0 };

	if (!runs_score(&f->set, &scores))
		exit(2);
	for (int i = 0; i < f->set.count; i++)
		f->contest[i] = scores.rows[i].ranking < 0 ? 0 : scores.rows[i].ranking;
	run_scores_free(&scores);
}

/* Between which factors the truth lay for 80 % of the runs of left-out sources. */
static void print_range(const char *what, double *errors, int n)
{
	if (n < 10)
		return;
	qsort(errors, (size_t)n, sizeof *errors, compare);
	printf("%-22s %5d  80 %% of measured / predicted in %.3f .. %.3f\n", what, n,
	       exp(-errors[n * 9 / 10]), exp(-errors[n / 10]));
}

static void keep_errors(const struct fit *f, int s, bool experts, double *errors,
			int *n)
{
	for (int i = 0; i < f->set.count && *n < 65536; i++)
		if (f->set.run[i].source == s && fit_scores(f, i) &&
		    !isnan(f->error[i]) &&
		    (f->set.run[i].scenario.model.moe.experts > 0) == experts)
			errors[(*n)++] = f->error[i];
}

static void each(struct fit *f, int rounds, bool rows)
{
	static double dense[65536], experts[65536];
	int denses = 0, mixtures = 0;

	for (int s = 0; s < f->set.sources; s++) {
		restore(f);
		f->left_out[s] = true;
		forget(f, s);
		run_fit(f, rounds);
		guess(f);
		print_source(f, s);
		fflush(stdout);
		keep_errors(f, s, false, dense, &denses);
		keep_errors(f, s, true, experts, &mixtures);
		for (int i = 0; rows && i < f->set.count; i++)
			if (f->set.run[i].source == s && fit_scores(f, i))
				printf("row %s %.4f\n", f->set.run[i].id, f->error[i]);
		f->left_out[s] = false;
	}
	print_range("dense", dense, denses);
	print_range("mixture of experts", experts, mixtures);
}

int main(int argc, char **argv)
{
	static struct fit f;
	bool write = false, one_by_one = false, rows = false;
	int rounds = 200;

	if (!load(&f, argc, argv))
		return 2;
	for (int i = 1; i < argc; i++) {
		write |= strcmp(argv[i], "--write") == 0;
		rows |= strcmp(argv[i], "--rows") == 0;
		one_by_one |= strcmp(argv[i], "--each") == 0;
		if (strcmp(argv[i], "--leave-out") == 0 && i + 1 < argc)
			for (int s = 0; s < f.set.sources; s++)
				f.left_out[s] |=
					strcmp(f.set.source[s], argv[i + 1]) == 0;
	}
	number_contests(&f);
	start(&f);
	if (one_by_one) {
		each(&f, rounds, rows);
		return 0;
	}
	run_fit(&f, rounds);
	for (int s = 0; s < f.set.sources; s++)
		print_source(&f, s);
	printf("objective %.4f\n", fit_objective(&f));
	for (int k = 0; k < constant_count; k++)
		if (constants[k].found)
			printf("%-20s %-34s %10.4g  was %.4g\n", constants[k].owner,
			       constants[k].key, constants[k].value / constants[k].unit,
			       constants[k].start / constants[k].unit);
	for (int i = 0; rows && i < f.set.count; i++)
		if (fit_scores(&f, i))
			printf("row %s %.4f\n", f.set.run[i].id, f.error[i]);
	return write && !constants_write() ? 2 : 0;
}
