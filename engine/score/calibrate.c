/* calibrate.c - see calibrate.h. */
#include "engine/score/calibrate.h"

#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/score/score.h"

enum { ROUNDS = 8 };  /* of weighing anew */
enum { VOUCHED = 6 }; /* runs from which on leaving out each tells what chance does */
/* What scales have to bring the median run nearer by that they have not seen. */
static const double worth = 0.1;
/* Of Student's t: with four, a run at five times the noise counts a fifth. */
static const double freedom = 4;
/* Of one side's 5 % of a normal distribution; deviation of a median over that of a mean
 * (pi / 2, square root); deviation over the median of absolute ones. */
static const double normal_95 = 1.645, median_loss = 1.2533, from_median = 1.4826;

static double noise_of(const struct calibration_prior *prior, bool experts)
{
	return experts ? prior->expert_noise : prior->noise;
}

/* Gauss and Jordan; the prior keeps the matrix from being singular. */
static void solve_scales(double m[SCALE_COUNT][SCALE_COUNT + 1], double *out)
{
	for (int i = 0; i < SCALE_COUNT; i++)
		for (int k = 0; k < SCALE_COUNT; k++) {
			double times = m[k][i] / m[i][i];

			for (int j = i; k != i && j <= SCALE_COUNT; j++)
				m[k][j] -= times * m[i][j];
		}
	for (int i = 0; i < SCALE_COUNT; i++)
		out[i] = m[i][SCALE_COUNT] / m[i][i];
}

static double sum_of(const struct calibration_run *run, const double *logs)
{
	double sum = 0;

	for (int j = 0; j < SCALE_COUNT; j++)
		sum += run->share[j] * logs[j];
	return sum;
}

/* One least squares with the weights that the answer before gives; the first time all
 * count alike. */
static void weigh_runs(const struct calibration_run *runs, int count, double noise,
		       const double *widths, bool first, double *logs)
{
	double m[SCALE_COUNT][SCALE_COUNT + 1] = { { 0 } };

	for (int j = 0; j < SCALE_COUNT; j++)
		m[j][j] = 1 / fmax(widths[j] * widths[j], 1e-12);
	for (int i = 0; i < count; i++) {
		const struct calibration_run *run = &runs[i];
		double off = (run->residual - sum_of(run, logs)) / noise;
		double heavy = (freedom + 1) / (freedom + off * off);
		double weight = (first ? 1 : heavy) / (noise * noise);

		for (int j = 0; j < SCALE_COUNT; j++) {
			for (int k = 0; k < SCALE_COUNT; k++)
				m[j][k] += weight * run->share[j] * run->share[k];
			m[j][SCALE_COUNT] += weight * run->share[j] * run->residual;
		}
	}
	solve_scales(m, logs);
}

/* Deviation of runs around what was found, with that of the prior as so many runs of
 * theirs; two runs say nothing of it. */
static double measure_scatter(const struct calibration_run *runs, int count,
			      double noise, double noise_runs, const double *logs)
{
	double off[CALIBRATION_RUNS], found;

	if (count < 3)
		return noise;
	for (int i = 0; i < count; i++)
		off[i] = fabs(runs[i].residual - sum_of(&runs[i], logs));
	found = from_median * score_quantile(off, count, 0.5);
	return sqrt((noise_runs * noise * noise + count * found * found) /
		    (noise_runs + count));
}

static double middle_of(const struct calibration_run *runs, int count)
{
	double residual[CALIBRATION_RUNS];

	for (int i = 0; i < count; i++)
		residual[i] = runs[i].residual;
	return fabs(score_quantile(residual, count, 0.5));
}

/* The share of the answer that chance does not explain; of runs that vouch for each
 * other half of that is drawn off. */
static double keep(double middle, int count, double noise, double noise_runs)
{
	double chance = score_student(normal_95, larger(1, noise_runs + count - 1)) *
			median_loss * noise / sqrt(count);

	if (count >= VOUCHED)
		chance /= 2;
	return middle > chance ? 1 - chance / middle : 0;
}

/* How much wider the machine's own prior is than that of all machines (empirical Bayes,
 * Morris 1983): runs that are all far off tell of a machine that is, one alone doesn't.
 */
static double widen_prior(const struct calibration_run *runs, int count, double noise,
			  const double *widths)
{
	double middle = middle_of(runs, count), variance = 0;
	double found = middle * middle - noise * noise / count;

	for (int j = 0; j < SCALE_COUNT; j++) {
		double share = 0;

		for (int i = 0; i < count; i++)
			share += runs[i].share[j] / count;
		variance += share * share * widths[j] * widths[j];
	}
	return count > 1 && found > variance && variance > 0 ? sqrt(found / variance)
							     : 1;
}

static double fit_scales(const struct calibration_run *runs, int count, bool experts,
			 const struct calibration_prior *prior, double *logs)
{
	double widths[SCALE_COUNT] = { prior->compute, prior->network, prior->host };
	double noise = noise_of(prior, experts), kept;
	double wider = widen_prior(runs, count, noise, widths);

	memset(logs, 0, SCALE_COUNT * sizeof *logs);
	for (int j = 0; j < SCALE_COUNT; j++)
		widths[j] *= wider;
	for (int i = 0; i < ROUNDS; i++)
		weigh_runs(runs, count, noise, widths, i == 0, logs);
	kept = keep(middle_of(runs, count), count,
		    measure_scatter(runs, count, noise, prior->noise_runs, logs),
		    prior->noise_runs);
	for (int j = 0; j < SCALE_COUNT; j++)
		logs[j] *= kept;
	return kept;
}

/* Each run by the scales of all others; what they bring runs nearer by in the mean,
 * less one standard error of that from three runs on (Breiman et al. 1984,
 * Classification and Regression Trees, section 3.4.3). */
static double leave_out(const struct calibration_run *runs, int count, bool experts,
			const struct calibration_prior *prior, struct scales *out)
{
	struct calibration_run others[CALIBRATION_RUNS];
	double before[CALIBRATION_RUNS], after[CALIBRATION_RUNS], logs[SCALE_COUNT];
	double gain = 0, spread = 0;

	if (count < 2)
		return 0;
	for (int i = 0; i < count; i++) {
		int n = 0;

		for (int k = 0; k < count; k++)
			if (k != i)
				others[n++] = runs[k];
		fit_scales(others, n, experts, prior, logs);
		before[i] = fabs(expm1(-runs[i].residual));
		after[i] = fabs(expm1(sum_of(&runs[i], logs) - runs[i].residual));
	}
	for (int i = 0; i < count; i++)
		gain += (before[i] - after[i]) / count;
	for (int i = 0; i < count; i++)
		spread += pow(before[i] - after[i] - gain, 2) / (count - 1);
	if (count > 2)
		gain -= sqrt(spread / count);
	out->before = score_quantile(before, count, 0.5);
	out->left_out = score_quantile(after, count, 0.5);
	return gain;
}

void calibrate_scales(const struct calibration_run *runs, int count, bool experts,
		      const struct calibration_prior *prior, struct scales *out)
{
	double logs[SCALE_COUNT] = { 0 }, gain;

	*out = (struct scales){ .scale = { 1, 1, 1 } };
	if (count < 1 || !(noise_of(prior, experts) > 0))
		return;
	count = count < CALIBRATION_RUNS ? count : CALIBRATION_RUNS;
	out->kept = fit_scales(runs, count, experts, prior, logs);
	gain = leave_out(runs, count, experts, prior, out);
	/* scales that do not bring the runs nearer that they have not seen are none */
	if ((count > 1 && gain <= 0) ||
	    (count > 2 && out->left_out > (1 - worth) * out->before))
		out->kept = 0;
	for (int j = 0; j < SCALE_COUNT; j++)
		out->scale[j] = out->kept > 0 ? exp(logs[j]) : 1;
}

double calibrate_shift(const struct calibration_run *run, const struct scales *scales)
{
	double logs[SCALE_COUNT];

	for (int j = 0; j < SCALE_COUNT; j++)
		logs[j] = log(scales->scale[j]);
	return sum_of(run, logs);
}
