/* test_ranges.c - the ranges that predictions carry: as learned, and as they ship. */
#include <math.h>

#include "presets/accuracy_file.h"
#include "tests/support/close.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_sources_widen_a_range),
		cmocka_unit_test(test_what_ranges_of_the_others_hold),
		cmocka_unit_test(test_shipped_ranges_widen_with_what_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
