/* solve.c - all constants at once: see fit.h.
 *
 * The objective is a sum of absolute errors. As least squares with weights 1 / |error|
 * it has the same slope, and its normal equations know how constants trade against each
 * other, which one constant after the other doesn't. Damping as Levenberg and
 * Marquardt.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/validation/fit.h"

enum { MOST = 256 }; /* constants */

struct solver {
	double *slope; /* [run][constant]: d log(predicted) / d position */
	double *mean;  /* [contest][constant] of the slopes */
	double *error; /* [contest]: mean error */
	int *runs;     /* [contest] */
	double normal[MOST][MOST], right[MOST], step[MOST];
};

/* A share moves as it is, another constant by its logarithm. */
static double position(const struct constant *c)
{
	return c->share ? c->value : log(fmax(c->value, 0.5 * c->low + 1e-12));
}

static double value_at(const struct constant *c, double at)
{
	return fmin(c->high, fmax(c->low, c->share ? at : exp(at)));
}

static void slopes_of(struct fit *f, struct solver *v, int k)
{
	struct constant *c = &constants[k];
	double at = position(c), value = c->value;

	c->value = value_at(c, at + 0.03);
	if (c->value == value)
		c->value = value_at(c, at - 0.03);
	double step = position(c) - at, other = c->value;

	c->value = value;
	for (int i = 0; i < f->set.count; i++) {
		double before = f->error[i];

		if (!fit_takes(f, i) || isnan(before) || step == 0 ||
		    !constant_touches(c, &f->set.run[i].scenario))
			continue;
		constant_set(c, &f->set.run[i].scenario, other);
		fit_predict(f, i);
		v->slope[(size_t)i * MOST + (size_t)k] = (f->error[i] - before) / step;
		constant_set(c, &f->set.run[i].scenario, value);
		f->error[i] = before;
	}
}

static bool counts(const struct fit *f, int i)
{
	return fit_takes(f, i) && !isnan(f->error[i]);
}

static void contest_means(const struct fit *f, struct solver *v)
{
	memset(v->mean, 0, sizeof *v->mean * MAX_CONTESTS * MOST);
	memset(v->error, 0, sizeof *v->error * MAX_CONTESTS);
	memset(v->runs, 0, sizeof *v->runs * MAX_CONTESTS);
	for (int i = 0; i < f->set.count; i++) {
		int c = f->contest[i] % MAX_CONTESTS;

		if (!counts(f, i))
			continue;
		v->runs[c]++;
		v->error[c] += f->error[i];
		for (int k = 0; k < constant_count; k++)
			v->mean[c * MOST + k] += v->slope[(size_t)i * MOST + (size_t)k];
	}
	for (int c = 0; c < MAX_CONTESTS; c++) {
		double n = fmax(1, v->runs[c]);

		v->error[c] /= n;
		for (int k = 0; k < constant_count; k++)
			v->mean[c * MOST + k] /= n;
	}
}

/* One residual and its slopes less those of `mean` into the normal equations. */
static void add_residual(struct solver *v, double weight, double error,
			 const double *slope, const double *mean)
{
	double row[MOST];

	weight /= fmax(fabs(error), 0.01);
	for (int k = 0; k < constant_count; k++)
		row[k] = slope[k] - (mean ? mean[k] : 0);
	for (int k = 0; k < constant_count; k++) {
		if (row[k] == 0)
			continue;
		v->right[k] -= weight * row[k] * error;
		for (int j = 0; j <= k; j++)
			v->normal[k][j] += weight * row[k] * row[j];
	}
}

static void fill(const struct fit *f, struct solver *v)
{
	int runs[64] = { 0 };

	memset(v->normal, 0, sizeof v->normal);
	memset(v->right, 0, sizeof v->right);
	for (int i = 0; i < f->set.count; i++)
		runs[f->set.run[i].source] += counts(f, i);
	for (int i = 0; i < f->set.count; i++) {
		const double *slope = &v->slope[(size_t)i * MOST];
		int c = f->contest[i] % MAX_CONTESTS;
		double weight;

		if (!counts(f, i))
			continue;
		weight = 1.0 / fmax(runs[f->set.run[i].source], fit_enough_runs);
		add_residual(v, weight, f->error[i], slope, NULL);
		if (v->runs[c] > 3)
			add_residual(v, weight / 2, f->error[i] - v->error[c], slope,
				     &v->mean[c * MOST]);
	}
	for (int k = 0; k < constant_count; k++) {
		const struct constant *c = &constants[k];
		double off = log((c->value + 1e-9) / (c->start + 1e-9));
		double each = c->share ? 1 / fmax(c->value, 0.05) : 1;

		if (c->fixed)
			off = 0;
		v->normal[k][k] += 20 * fit_pull * each * each;
		v->right[k] -= 20 * fit_pull * off * each;
	}
}

/* Cholesky on a copy with a longer diagonal. */
static void solve(struct solver *v, double damping)
{
	static double low[MOST][MOST];
	int n = constant_count;

	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++) {
			double sum = v->normal[i][j];

			if (i == j)
				sum += damping * sum + 1e-9;
			for (int k = 0; k < j; k++)
				sum -= low[i][k] * low[j][k];
			low[i][j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / low[j][j];
		}
	for (int i = 0; i < n; i++) {
		v->step[i] = v->right[i];
		for (int k = 0; k < i; k++)
			v->step[i] -= low[i][k] * v->step[k];
		v->step[i] /= low[i][i];
	}
	for (int i = n - 1; i >= 0; i--) {
		for (int k = i + 1; k < n; k++)
			v->step[i] -= low[k][i] * v->step[k];
		v->step[i] /= low[i][i];
	}
}

static double total(const struct fit *f)
{
	double sum = fit_objective(f);

	for (int k = 0; k < constant_count; k++)
		if (constants[k].found)
			sum += constants[k].fixed ? 0 : fit_tether(&constants[k]);
	return sum;
}

static void move_to(struct fit *f, const double *values)
{
	for (int k = 0; k < constant_count; k++)
		if (constants[k].found) {
			constants[k].value = values[k];
			for (int i = 0; i < f->set.count; i++)
				if (fit_scores(f, i) &&
				    constant_touches(&constants[k],
						     &f->set.run[i].scenario))
					constant_set(&constants[k],
						     &f->set.run[i].scenario,
						     values[k]);
		}
	for (int i = 0; i < f->set.count; i++)
		if (fit_scores(f, i))
			fit_predict(f, i);
}

/* Take the step that the damping allows; false if the objective doesn't fall. */
static bool try_step(struct fit *f, struct solver *v, double damping, double *best)
{
	double old[MOST], new[MOST] = { 0 }, now;

	solve(v, damping);
	for (int k = 0; k < constant_count; k++) {
		const struct constant *c = &constants[k];
		double most = c->share ? 0.2 : 0.3;

		old[k] = c->value;
		new[k] = value_at(c, position(c) + fmax(-most, fmin(most, v->step[k])));
	}
	move_to(f, new);
	now = total(f);
	if (now < *best - 1e-6) {
		*best = now;
		return true;
	}
	move_to(f, old);
	return false;
}

bool fit_solve(struct fit *f, int rounds)
{
	struct solver *v = calloc(1, sizeof *v);
	double damping = 0.1, best = total(f);
	bool good;

	if (!v)
		return false;
	v->slope = calloc((size_t)f->set.count * MOST, sizeof *v->slope);
	v->mean = calloc(MAX_CONTESTS * MOST, sizeof *v->mean);
	v->error = calloc(MAX_CONTESTS, sizeof *v->error);
	v->runs = calloc(MAX_CONTESTS, sizeof *v->runs);
	good = v->slope && v->mean && v->error && v->runs && constant_count <= MOST;
	for (int r = 0; good && r < rounds && damping < 1e4; r++) {
		bool fell = false;

		for (int k = 0; k < constant_count; k++)
			if (constants[k].found && !constants[k].fixed)
				slopes_of(f, v, k);
		contest_means(f, v);
		fill(f, v);
		while (!fell && damping < 1e4) {
			fell = try_step(f, v, damping, &best);
			damping *= fell ? 0.4 : 4;
		}
	}
	free(v->slope);
	free(v->mean);
	free(v->error);
	free(v->runs);
	free(v);
	return good;
}
