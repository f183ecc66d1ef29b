/* fit_serving.c - constants of serving kernels and servers, fitted to measured runs.
 *
 *     make fit-serving                           errors and constants
 *     make fit-serving FIT="--write"             and into presets/clusters and stacks
 *     make fit-serving FIT="--leave-out NAME"    without a stack or a model, and how
 *                                                that is met
 *     make fit-serving FIT="--ranges"            without each of them in turn: the
 *                                                factors that hold four of five;
 *                                                --left-out FILE: errors by source
 *
 * Coordinate descent on the capped |log(predicted / measured)| of TPOT, TTFT and
 * throughput: means of each stack, accelerator, model, precision and figure, weighted
 * by the root of their number. A weak pull holds each constant near what
 * micro-benchmarks say, and its bounds are what is physical. It goes along straight
 * lines in the logarithms of constants and predictions, which are drawn anew six times.
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/release.h"
#include "tests/validation/fit_serving.h"

const char *const serving_figures[RANGE_FIGURES] = { "TPOT", "TTFT", "rate", "loaded" };

static void predict(struct serving_fit *fit, int i)
{
	struct score_run row;

	for (int f = 0; f < RANGE_FIGURES; f++)
		fit->error[i][f] = NAN;
	if (!fit->set.run[i].readable)
		return;
	run_predict(&fit->set.run[i], &fit->estimate, &row);
	for (int f = 0; f < RANGE_FIGURES; f++)
		if (row.predicted && row.serving[f].scores &&
		    row.serving[f].measured > 0)
			fit->error[i][f] =
				log(row.serving[f].predicted / row.serving[f].measured);
}

static void find_groups(struct serving_fit *fit)
{
	for (int i = 0; i < fit->set.count; i++) {
		const struct scenario *a = &fit->set.run[i].scenario;

		fit->group[i] = i;
		for (int k = 0; k < i; k++) {
			const struct scenario *b = &fit->set.run[k].scenario;

			if (strcmp(a->model.name, b->model.name) == 0 &&
			    release_same_stack(a->stack.name, b->stack.name) &&
			    strcmp(a->cluster.name, b->cluster.name) == 0 &&
			    a->plan.precision == b->plan.precision) {
				fit->group[i] = fit->group[k];
				break;
			}
		}
	}
}

double serving_fit_objective(const struct serving_fit *fit)
{
	int cells = fit->set.count * FIT_FIGURES;
	double *sum = calloc((size_t)cells + 1, sizeof *sum);
	int *n = calloc((size_t)cells + 1, sizeof *n);
	double total = 0, weights = 0;

	if (!sum || !n)
		exit(2);
	for (int i = 0; i < fit->set.count; i++)
		for (int f = 0; f < FIT_FIGURES; f++) {
			double e = fabs(fit->error[i][f]);
			int at = fit->group[i] * FIT_FIGURES + f;

			if (isnan(e) || fit->left_out[i])
				continue;
			sum[at] += fmin(e, 0.35) + 0.05 * fmin(e, 1);
			n[at]++;
		}
	for (int i = 0; i < cells; i++)
		if (n[i] > 0) {
			total += sum[i] / n[i] * sqrt(n[i]);
			weights += sqrt(n[i]);
		}
	free(sum);
	free(n);
	return weights > 0 ? total / weights : 0;
}

static double tether(const struct serving_constant *c)
{
	double off = log((c->value + 0.02) / (c->prior + 0.02));

	return 0.0012 * fmin(off * off, 9);
}

static double tethers(void)
{
	double sum = 0;

	for (int k = 0; k < serving_constant_count; k++)
		sum += tether(&serving_constants[k]);
	return sum;
}

static bool touches(const struct serving_fit *fit, int k, int i)
{
	const struct measured_run *run = &fit->set.run[i];

	return run->readable &&
	       serving_constant_touches(&serving_constants[k], &run->scenario);
}

/* Predicts with the constants as they are; what is left out only at the end. */
static void predict_all(struct serving_fit *fit, bool left_out)
{
	for (int i = 0; i < fit->set.count; i++) {
		for (int k = 0; k < serving_constant_count; k++)
			if (touches(fit, k, i))
				serving_constant_set(&serving_constants[k],
						     &fit->set.run[i].scenario);
		if (!fit->left_out[i] || left_out)
			predict(fit, i);
	}
}

static float *slopes(struct serving_fit *fit, int k, int i)
{
	return fit->slope[(size_t)k * (size_t)fit->set.count + (size_t)i];
}

static const double nudge = 1.05;

/* By how much each logarithm of a prediction moves with each of a constant, which is
 * smooth enough for a move of some tens of percent. */
static void find_slopes(struct serving_fit *fit, int k)
{
	struct serving_constant c = serving_constants[k];

	for (int i = 0; i < fit->set.count; i++) {
		double before[RANGE_FIGURES];

		memset(slopes(fit, k, i), 0, sizeof *fit->slope);
		if (fit->left_out[i] || !touches(fit, k, i))
			continue;
		memcpy(before, fit->error[i], sizeof before);
		c.value = serving_constants[k].value * nudge;
		serving_constant_set(&c, &fit->set.run[i].scenario);
		predict(fit, i);
		for (int f = 0; f < FIT_FIGURES; f++)
			if (!isnan(before[f]) && !isnan(fit->error[i][f]))
				slopes(fit, k, i)[f] =
					(float)((fit->error[i][f] - before[f]) /
						log(nudge));
		serving_constant_set(&serving_constants[k], &fit->set.run[i].scenario);
		memcpy(fit->error[i], before, sizeof before);
	}
}

/* Moves a constant, and what is predicted along its slopes. */
static void move(struct serving_fit *fit, int k, double value)
{
	double by = log(value / serving_constants[k].value);

	for (int i = 0; i < fit->set.count; i++)
		for (int f = 0; f < FIT_FIGURES; f++)
			fit->error[i][f] += slopes(fit, k, i)[f] * by;
	serving_constants[k].value = value;
}

static bool try_value(struct serving_fit *fit, int k, double value, double *best)
{
	struct serving_constant *c = &serving_constants[k];
	double old = c->value, now;

	value = fmin(fmax(value, fmax(c->low, fit->from[k] / fit->reach)),
		     fmin(c->high, fit->from[k] * fit->reach));
	if (!(value > 0) || value == old)
		return false;
	move(fit, k, value);
	now = serving_fit_objective(fit) + tether(c);
	if (now < *best - 1e-6) {
		*best = now;
		return true;
	}
	move(fit, k, old);
	return false;
}

static void descend(struct serving_fit *fit, int k, double step)
{
	struct serving_constant *c = &serving_constants[k];
	double best = serving_fit_objective(fit) + tether(c);

	if (!try_value(fit, k, c->value * (1 + step), &best))
		try_value(fit, k, c->value / (1 + step), &best);
}

/* Coordinate by coordinate on the slopes; twice, as what was stuck behind another
 * constant moves on. */
static void descend_slopes(struct serving_fit *fit)
{
	for (int k = 0; k < serving_constant_count; k++) {
		fit->from[k] = serving_constants[k].value;
		find_slopes(fit, k);
	}
	for (int round = 0; round < 2; round++)
		for (double step = 0.3; step > 0.01; step *= 0.7)
			for (int k = 0; k < serving_constant_count; k++)
				descend(fit, k, step);
}

void serving_fit_search(struct serving_fit *fit)
{
	enum { ROUNDS = 6 };
	double best, now;

	/* from the priors, so that the answer does not hang on what the presets hold */
	for (int k = 0; k < serving_constant_count; k++)
		serving_constants[k].value = serving_constants[k].prior;
	predict_all(fit, false);
	best = serving_fit_objective(fit) + tethers();
	fit->reach = 2;
	for (int round = 0; round < ROUNDS; round++) {
		descend_slopes(fit);
		predict_all(fit, false);
		now = serving_fit_objective(fit) + tethers();
		if (now < best) {
			best = now;
			continue;
		}
		/* too far for straight lines: back, and by smaller moves */
		for (int k = 0; k < serving_constant_count; k++)
			serving_constants[k].value = fit->from[k];
		predict_all(fit, false);
		fit->reach = sqrt(fit->reach);
	}
	predict_all(fit, true);
}

static void report(const struct serving_fit *fit, bool left_out)
{
	double *values = malloc(sizeof *values * ((size_t)fit->set.count + 1));

	if (!values)
		exit(2);
	for (int f = 0; f < RANGE_FIGURES; f++) {
		int n = 0;

		for (int i = 0; i < fit->set.count; i++)
			if (!isnan(fit->error[i][f]) && fit->left_out[i] == left_out)
				values[n++] = fabs(expm1(fit->error[i][f]));
		if (n > 0)
			printf("  %-12s n %4d  median %5.1f %%  p90 %5.1f %%%s\n",
			       serving_figures[f], n,
			       100 * score_quantile(values, n, 0.5),
			       100 * score_quantile(values, n, 0.9),
			       left_out ? "  left out" : "");
	}
	free(values);
}

static bool load(struct serving_fit *fit)
{
	struct error fault;
	glob_t found;
	size_t room;

	if (glob("tests/validation/inference/*.yaml", 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!runs_read(&fit->set, found.gl_pathv[i], &fault))
			fprintf(stderr, "%s\n", fault.text);
	globfree(&found);
	/* no figure of bursts is fitted, and each takes a simulation */
	for (int i = 0; i < fit->set.count; i++)
		fit->set.run[i].requests = 0;
	room = (size_t)fit->set.count + 1;
	fit->error = calloc(room, sizeof *fit->error);
	fit->group = calloc(room, sizeof *fit->group);
	fit->left_out = calloc(room, sizeof *fit->left_out);
	fit->slope = calloc(room * (size_t)serving_constant_count, sizeof *fit->slope);
	fit->from = calloc((size_t)serving_constant_count, sizeof *fit->from);
	if (!fit->error || !fit->group || !fit->left_out || !fit->slope || !fit->from)
		return false;
	find_groups(fit);
	return true;
}

static void leave_out(struct serving_fit *fit, const char *name)
{
	for (int i = 0; i < fit->set.count; i++) {
		const struct scenario *s = &fit->set.run[i].scenario;

		fit->left_out[i] = strstr(s->model.name, name) ||
				   release_same_stack(s->stack.name, name);
	}
}

static void print_constants(void)
{
	for (int k = 0; k < serving_constant_count; k++) {
		const struct serving_constant *c = &serving_constants[k];

		printf("%-14s %s%s%s %.4g (prior %.4g)\n", c->owner,
		       c->map ? c->map : "", c->map ? "." : "", c->key, c->value,
		       c->prior);
	}
}

int main(int argc, char **argv)
{
	static struct serving_fit fit;
	bool write = false, ranges = false, good = true;
	const char *table = NULL;

	if (!load(&fit))
		return 2;
	for (int i = 1; i < argc; i++) {
		write |= strcmp(argv[i], "--write") == 0;
		ranges |= strcmp(argv[i], "--ranges") == 0;
		if (strcmp(argv[i], "--leave-out") == 0 && i + 1 < argc)
			leave_out(&fit, argv[++i]);
		else if (strcmp(argv[i], "--left-out") == 0 && i + 1 < argc)
			table = argv[++i];
	}
	if (ranges) {
		good = serving_fit_ranges(&fit, table);
	} else {
		serving_fit_search(&fit);
		printf("objective %.4f\n", serving_fit_objective(&fit));
		report(&fit, false);
		report(&fit, true);
		print_constants();
		good = !write || serving_constants_write();
	}
	runs_free(&fit.set);
	free(fit.error);
	free(fit.group);
	free(fit.left_out);
	free(fit.slope);
	free(fit.from);
	return good ? 0 : 2;
}
