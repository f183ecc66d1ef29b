/* Scores of tiny sets of runs, worked out by hand. */
#include <math.h>
#include <string.h>

#include "engine/score/score.h"
#include "tests/support/close.h"

static struct score_run timed(double measured, double predicted)
{
	return (struct score_run){
		.predicted = true,
		.scores_time = true,
		.measured_seconds = measured,
		.predicted_seconds = predicted,
		.low_seconds = 0.9 * predicted,
		.high_seconds = 1.1 * predicted,
	};
}

static struct score_run fitted(bool measured, bool predicted, double load)
{
	return (struct score_run){
		.predicted = true,
		.scores_fit = true,
		.measured_fits = measured,
		.predicted_fits = predicted,
		.load = load,
		.fit_probability = predicted,
	};
}

static void quantiles_lie_between_neighbours(void **state)
{
	double values[] = { 4, 1, 3, 2 };
	double one[] = { 7 };

	(void)state;
	assert_close(score_quantile(values, 4, 0.5), 2.5, 1e-12);
	assert_close(score_quantile(values, 4, 0), 1, 1e-12);
	assert_close(score_quantile(values, 4, 1), 4, 1e-12);
	assert_close(score_quantile(values, 4, 0.9), 3.7, 1e-12);
	assert_close(score_quantile(one, 1, 0.3), 7, 1e-12);
	assert_true(score_quantile(one, 0, 0.5) == 0);
}

static void tau_counts_pairs(void **state)
{
	const double up[] = { 1, 2, 3, 4 }, down[] = { 4, 3, 2, 1 };
	const double swapped[] = { 1, 3, 2, 4 }, flat[] = { 2, 2, 2, 2 };
	const double tied[] = { 1, 1, 3, 4 };

	(void)state;
	assert_close(score_tau(up, up, 4), 1, 1e-12);
	assert_close(score_tau(up, down, 4), -1, 1e-12);
	assert_close(score_tau(up, swapped, 4), 4.0 / 6, 1e-12);
	assert_true(score_tau(up, flat, 4) == 0);
	/* tau-b: 5 agreeing pairs over sqrt(6 * 5) */
	assert_close(score_tau(up, tied, 4), 5 / sqrt(30), 1e-12);
}

static void errors_are_relative_to_the_measured_value(void **state)
{
	struct score_run runs[] = { timed(1, 1.1), timed(2, 1.9), timed(4, 5) };
	struct score score;

	(void)state;
	assert_true(score_runs(runs, 3, -1, &score));
	assert_int_equal(score.time.n, 3);
	assert_close(score.time.median, 0.1, 1e-9);
	assert_close(score.time.mean, (0.1 + 0.05 + 0.25) / 3, 1e-9);
	assert_close(score.time.p90, 0.1 + 0.8 * 0.15, 1e-9);
	assert_close(score.time.worst, 0.25, 1e-9);
	assert_close(score.time.bias, 0.1, 1e-9);
	/* the ranges are 0.99-1.21, 1.71-2.09 and 4.5-5.5 */
	assert_close(score.time.in_range, 2.0 / 3, 1e-9);
	assert_int_equal(score.memory.n, 0);
	assert_int_equal(score.refused, 0);
}

static void runs_without_prediction_are_only_counted(void **state)
{
	struct score_run runs[] = { timed(1, 1.1), timed(2, 0) };
	struct score score;

	(void)state;
	runs[1].predicted = false;
	assert_true(score_runs(runs, 2, -1, &score));
	assert_int_equal(score.runs, 2);
	assert_int_equal(score.refused, 1);
	assert_int_equal(score.time.n, 1);
	assert_true(score_runs(runs, 0, -1, &score));
	assert_int_equal(score.runs, 0);
}

/* Twenty runs of one machine that take as much longer, and one that is right: eight of
 * them tell, one does not. */
static void runs_calibrate_their_machine(void **state)
{
	const struct calibration_prior prior = { .compute = 0.1,
						 .network = 0.1,
						 .host = 0.1,
						 .noise = 0.05,
						 .expert_noise = 0.05,
						 .noise_runs = 1 };
	struct score_run runs[21];
	struct score score;

	(void)state;
	for (int i = 0; i < 21; i++) {
		runs[i] = timed(1, i < 20 ? 0.8 : 1);
		runs[i].share[SCALE_COMPUTE] = 1;
	}
	assert_true(score_runs(runs, 21, 0, &score));
	assert_true(score_calibration(runs, 21, 0, &prior, &score));
	for (int c = 0; c < SCORE_CALIBRATIONS; c++) {
		const struct score_calibrated *one = &score.calibrated[0][c];

		assert_int_equal(one->before.n, 16 * (21 - score_calibrating[c]));
		assert_close(one->before.median, 0.2, 1e-9);
		assert_int_equal(score.calibrated[1][c].before.n, 0);
	}
	assert_close(score.calibrated[0][0].after.median, 0.2, 1e-9);
	assert_true(score.calibrated[0][1].after.median < 0.2);
	assert_true(score.calibrated[0][2].after.median < 0.08);
}

static void fit_is_a_confusion_matrix(void **state)
{
	struct score_run runs[] = {
		fitted(true, true, 0.5),   fitted(true, true, 0.6),
		fitted(true, true, 0.9),   fitted(true, false, 1.1),
		fitted(false, false, 1.2), fitted(false, true, 0.8)
	};
	struct score score;

	(void)state;
	assert_true(score_runs(runs, 6, -1, &score));
	assert_int_equal(score.fit.fits_fits, 3);
	assert_int_equal(score.fit.fits_out, 1);
	assert_int_equal(score.fit.out_fits, 1);
	assert_int_equal(score.fit.out_out, 1);
	assert_close(score.fit.balanced_accuracy, (0.75 + 0.5) / 2, 1e-9);
	assert_close(score.fit.least_load_out, 0.8, 1e-9);
	assert_close(score.fit.brier, 2.0 / 6, 1e-9);
	/* one class only: its hit rate */
	assert_true(score_runs(runs, 4, -1, &score));
	assert_close(score.fit.balanced_accuracy, 0.75, 1e-9);
	assert_true(score.fit.least_load_out == 0);
}

static void regret_is_the_price_of_the_choice(void **state)
{
	struct score_run runs[] = { timed(10, 5), timed(11, 4), timed(12, 6),
				    timed(20, 9), timed(1, 1) };
	struct score score;

	(void)state;
	runs[4].ranking = 1; /* alone: no group */
	assert_true(score_runs(runs, 5, -1, &score));
	assert_int_equal(score.ranking.groups, 1);
	assert_int_equal(score.ranking.runs, 4);
	assert_close(score.ranking.tau, 4.0 / 6, 1e-9);
	assert_close(score.ranking.top1_regret, 0.1, 1e-9);
	assert_true(fabs(score.ranking.top3_regret) < 1e-12);
	/* equal predictions can't choose: the slower one counts */
	runs[0].predicted_seconds = 4;
	runs[1].measured_seconds = 15;
	assert_true(score_runs(runs, 5, -1, &score));
	assert_close(score.ranking.top1_regret, 0.5, 1e-9);
}

/* Repeats of one plan are one layout with the median of what they measured: nothing
 * that is told can choose between them, and alone they are no contest. */
static void repeats_of_a_layout_are_one(void **state)
{
	struct score_run runs[] = { timed(30, 5), timed(10, 5), timed(11, 5),
				    timed(12, 6), timed(20, 9), timed(40, 10) };
	struct score score;

	(void)state;
	for (int i = 0; i < 3; i++)
		runs[i].layout = 1;
	assert_true(score_runs(runs, 6, -1, &score));
	assert_int_equal(score.ranking.groups, 1);
	assert_int_equal(score.ranking.runs, 4);
	assert_close(score.ranking.tau, 1, 1e-9);
	assert_true(fabs(score.ranking.top1_regret) < 1e-12);
	/* what was not measured is not among them */
	runs[1].scores_time = false;
	assert_true(score_runs(runs, 6, -1, &score));
	assert_close(score.ranking.tau, 2.0 / 6, 1e-9);
	for (int i = 0; i < 6; i++)
		runs[i].layout = 1;
	assert_true(score_runs(runs, 6, -1, &score));
	assert_int_equal(score.ranking.groups, 0);
}

static void total_is_the_median_of_the_sources(void **state)
{
	struct score_run runs[] = {
		timed(1, 1.1), timed(1, 1.1), timed(1, 1.1),
		timed(1, 1.2), timed(1, 1.6), fitted(true, true, 1)
	};
	struct score source[4], total;

	(void)state;
	runs[3].source = 1;
	runs[4].source = 2;
	runs[5].source = 3;
	for (int i = 0; i < 4; i++)
		assert_true(score_runs(runs, 6, i, &source[i]));
	assert_true(score_total(runs, 6, source, 4, &total));
	assert_int_equal(total.time.n, 5);
	assert_close(total.time.median, 0.2, 1e-9);
	assert_close(total.time.mean, 0.2, 1e-9);
	assert_int_equal(total.fit.fits_fits, 1);
	assert_int_equal(total.runs, 6);
}

/* Servers of a kind count among all, and for themselves: here one of stages and one of
 * both kinds. */
static void servers_of_a_kind_are_scored_apart(void **state)
{
	struct score_run runs[3] = { { .predicted = true },
				     { .predicted = true },
				     { .predicted = true } };
	const double predicted[] = { 1.1, 1.3, 2 };
	struct score score, total;

	(void)state;
	for (int i = 0; i < 3; i++)
		runs[i].serving[SCORE_TPOT] =
			(struct score_serving){ true, 1, predicted[i], 0, 0 };
	runs[1].kind[SCORE_PIPELINED] = true;
	runs[2].kind[SCORE_PIPELINED] = runs[2].kind[SCORE_DRAFTING] = true;
	assert_true(score_runs(runs, 3, 0, &score));
	assert_int_equal(score.serving[SCORE_TPOT].n, 3);
	assert_int_equal(score.serving_of[SCORE_PIPELINED][SCORE_TPOT].n, 2);
	assert_close(score.serving_of[SCORE_PIPELINED][SCORE_TPOT].median, 0.65, 1e-9);
	assert_close(score.serving_of[SCORE_DRAFTING][SCORE_TPOT].bias, 1, 1e-9);
	assert_int_equal(score.serving_of[SCORE_DRAFTING][SCORE_RATE].n, 0);
	assert_int_equal(score.serving_of[SCORE_POOLED][SCORE_TPOT].n, 0);
	assert_true(score_total(runs, 3, &score, 1, &total));
	assert_close(total.serving_of[SCORE_PIPELINED][SCORE_TPOT].median, 0.65, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_lie_between_neighbours),
		cmocka_unit_test(tau_counts_pairs),
		cmocka_unit_test(errors_are_relative_to_the_measured_value),
		cmocka_unit_test(runs_without_prediction_are_only_counted),
		cmocka_unit_test(runs_calibrate_their_machine),
		cmocka_unit_test(fit_is_a_confusion_matrix),
		cmocka_unit_test(regret_is_the_price_of_the_choice),
		cmocka_unit_test(repeats_of_a_layout_are_one),
		cmocka_unit_test(total_is_the_median_of_the_sources),
		cmocka_unit_test(servers_of_a_kind_are_scored_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
