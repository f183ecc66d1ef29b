/* test_ranges.c - the ranges that predictions carry: as learned, and as they ship. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "presets/accuracy_file.h"
#include "presets/runs/left_out.h"
#include "tests/support/close.h"
#include "tests/support/measured.h"
#include "tests/validation/left_runs.h"
#include "tests/validation/ranges.h"

enum { STEPS = 21, END = (STEPS - 1) / 2 };

/* Errors from -0.1 to 0.1 in each of so many sources, the last of them shifted. */
static void spread_evenly(struct left_out_runs *runs, int parts, double shift)
{
	assert_true(ranges_room(runs, parts * STEPS));
	for (int p = 0; p < parts; p++)
		for (int i = 0; i < STEPS; i++)
			ranges_add(runs, p,
				   (i - END) / 100.0 + (p == parts - 1 ? shift : 0));
}

/* Every error is there once for each source. Of 84 runs a tenth of further ones lies
 * beyond the 8.5th from an end, half way from 0.09 to 0.08; of 63 beyond the 6.4th.
 * Student's t with three and two degrees of freedom, by the expansion, is 1.6272 and
 * 1.8476 where the normal quantile is 1.2816; a further source scatters by sqrt(5/4)
 * and sqrt(4/3) more. */
static void test_few_sources_widen_a_range(void **state)
{
	struct left_out_runs runs;
	struct learned range;

	(void)state;
	spread_evenly(&runs, 4, 0);
	assert_true(ranges_learn(&runs, -1, &range));
	assert_int_equal(range.parts, 4);
	assert_close(range.high, 0.085 * 1.6272 / 1.2816 * sqrt(5.0 / 4), 1e-4);
	assert_close(range.low, -range.high, 1e-12);
	assert_true(ranges_learn(&runs, 0, &range));
	assert_int_equal(range.parts, 3);
	assert_close(range.high, 0.086 * 1.8476 / 1.2816 * sqrt(4.0 / 3), 1e-4);
	ranges_free(&runs);
	spread_evenly(&runs, 2, 0);
	assert_false(ranges_learn(&runs, -1, &range));
	ranges_free(&runs);
}

/* Equal sources hold one another; one that is far off is not held by the others, which
 * are held by a range that knows it. */
static void test_what_ranges_of_the_others_hold(void **state)
{
	struct left_out_runs runs;

	(void)state;
	spread_evenly(&runs, 4, 0);
	assert_close(ranges_held(&runs), 1, 1e-12);
	ranges_free(&runs);
	spread_evenly(&runs, 4, 1);
	assert_close(ranges_held(&runs), 0.75, 1e-12);
	ranges_free(&runs);
}

/* What nobody measured is less sure than what somebody did. */
static void test_shipped_ranges_widen_with_what_is_unknown(void **state)
{
	const struct accuracy *known = accuracy_shipped();

	(void)state;
	for (int k = 0; k < RUN_KINDS; k++) {
		assert_true(known->time[k].low < 1 && known->time[k].high > 1);
		assert_true(known->memory[k].low < 1 && known->memory[k].high > 1);
	}
	assert_true(known->time[RUN_EXPERTS].low < known->time[RUN_DENSE].low);
	assert_true(known->time[RUN_UNMEASURED].low < known->time[RUN_DENSE].low);
	assert_true(known->time[RUN_UNMEASURED].high > known->time[RUN_DENSE].high);
	assert_true(known->time[RUN_TORUS].high > known->time[RUN_DENSE].high);
}

static struct left_runs left;

static int read_runs(void **state)
{
	(void)state;
	if (!left_runs_read(&left, "tests/validation/left_out_runs.csv"))
		return -1;
	return measured_read("tests/validation/*.yaml");
}

static int free_runs(void **state)
{
	left_runs_free(&left);
	return measured_forget(state);
}

static void as_shipped(int kind, const double *moved, double within)
{
	const struct spread *ships = &accuracy_shipped()->time[kind];
	struct learned range;
	double held;

	assert_true(left_runs_learn(&left, kind, moved, &range, &held));
	if (fabs(exp(range.low) - ships->low) > within ||
	    fabs(exp(range.high) - ships->high) > within)
		fail_msg(
			"%s: %.4f .. %.4f are learned, %.3f .. %.3f ship; make left-out",
			accuracy_kind_word((enum run_kind)kind), exp(range.low),
			exp(range.high), ships->low, ships->high);
}

static void test_shipped_ranges_are_learned_from_the_runs(void **state)
{
	(void)state;
	as_shipped(RUN_DENSE, NULL, 0.00051);
	as_shipped(RUN_EXPERTS, NULL, 0.00051);
}

/* |predicted / measured - 1| of a source's runs, of mixtures or of the others. */
static int errors_of(const struct left_out *row, double *errors)
{
	int n = 0;

	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];
		int k = 0;

		if ((run->scenario.model.moe.experts > 0) !=
			    (row->kind == LEFT_EXPERTS) ||
		    strcmp(measured_set.source[run->source], row->source) != 0)
			continue;
		while (k < left.count && strcmp(left.run[k].id, run->id) != 0)
			k++;
		if (k < left.count)
			errors[n++] = fabs(expm1(left.run[k].error));
	}
	return n;
}

static void test_the_table_sums_up_the_runs(void **state)
{
	static struct left_outs table;
	double *errors = malloc(sizeof *errors * (size_t)measured_set.count);
	struct error error;
	int runs = 0;

	(void)state;
	assert_true(left_outs_read(&table, "tests/validation/left_out.csv", &error));
	for (int i = 0; i < table.count; i++) {
		const struct left_out *row = &table.row[i];
		int n = errors_of(row, errors);

		assert_int_equal(n, row->runs);
		assert_true(fabs(score_quantile(errors, n, 0.5) - row->median) < 6e-5);
		assert_true(fabs(score_quantile(errors, n, 0.9) - row->p90) < 6e-5);
		runs += n;
	}
	assert_int_equal(runs, left.count);
	free(errors);
}

/* Every run that is timed was left out once, and as the kind that it is. */
static void test_all_timed_runs_were_left_out(void **state)
{
	int timed = 0;

	(void)state;
	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];
		int found = 0;

		if (!run->scores_time || !measured_scores.rows[i].predicted)
			continue;
		for (int k = 0; k < left.count; k++)
			if (strcmp(left.run[k].id, run->id) == 0) {
				found++;
				assert_int_equal(left.run[k].kind,
						 scenario_run_kind(&run->scenario));
			}
		if (found != 1)
			fail_msg("%s was left out %d times; make left-out", run->id,
				 found);
		timed++;
	}
	assert_int_equal(timed, left.count);
}

/* What formulas and constants moved since of a run's prediction, they move of the one
 * that its source had no say in, nearly: then ranges of that day are not today's. */
static void test_ranges_are_of_today_s_formulas(void **state)
{
	double *moved = calloc((size_t)left.count, sizeof *moved);

	(void)state;
	for (int k = 0; k < left.count; k++)
		for (int i = 0; i < measured_set.count; i++) {
			const struct score_run *row = &measured_scores.rows[i];

			if (strcmp(measured_set.run[i].id, left.run[k].id) == 0)
				moved[k] = log(row->predicted_seconds /
					       row->measured_seconds) -
					   left.run[k].shipped;
		}
	as_shipped(RUN_DENSE, moved, 0.003);
	as_shipped(RUN_EXPERTS, moved, 0.003);
	free(moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_sources_widen_a_range),
		cmocka_unit_test(test_what_ranges_of_the_others_hold),
		cmocka_unit_test(test_shipped_ranges_widen_with_what_is_unknown),
		cmocka_unit_test(test_shipped_ranges_are_learned_from_the_runs),
		cmocka_unit_test(test_the_table_sums_up_the_runs),
		cmocka_unit_test(test_all_timed_runs_were_left_out),
		cmocka_unit_test(test_ranges_are_of_today_s_formulas),
	};

	return cmocka_run_group_tests(tests, read_runs, free_runs);
}
