/* The measured serving runs of tests/validation/inference: no row of the table may get
 * clearly worse. The limits are what was reached, and a fifth more. */
#include <glob.h>
#include <string.h>

#include "presets/runs/runs.h"
#include "tests/support/close.h"

static struct run_set set;
static struct run_scores scores;

static int read_all(void **state)
{
	struct error error = { "" };
	glob_t files;

	(void)state;
	if (glob("tests/validation/inference/*.yaml", 0, NULL, &files) != 0)
		return -1;
	for (size_t i = 0; i < files.gl_pathc; i++)
		if (!runs_read(&set, files.gl_pathv[i], &error))
			return -1;
	globfree(&files);
	return runs_score(&set, &scores) ? 0 : -1;
}

static int forget_all(void **state)
{
	(void)state;
	run_scores_free(&scores);
	runs_free(&set);
	return 0;
}

static void every_run_is_predicted(void **state)
{
	(void)state;
	for (int i = 0; i < set.faults; i++)
		print_error("%s\n", set.fault[i].text);
	assert_int_equal(set.faults, 0);
	assert_int_equal(set.sources, 3);
	assert_int_equal(set.count, 1718);
	for (int i = 0; i < set.count; i++)
		if (!scores.rows[i].predicted)
			fail_msg("%s is refused", set.run[i].id);
}

static void errors_stay_as_small(void **state)
{
	static const struct {
		const char *name;
		enum score_figure figure;
		int n;
		double median, p90;
	} rows[] = {
		{ "aic_silicon_agg", SCORE_TPOT, 1082, 0.087, 0.24 },
		{ "misc_published", SCORE_TPOT, 48, 0.096, 0.22 },
		{ "misc_published", SCORE_TTFT, 40, 0.134, 0.73 },
		{ "trtllm_perf_overview", SCORE_TTFT, 40, 0.139, 0.372 },
		{ "trtllm_perf_overview", SCORE_RATE, 548, 0.102, 0.486 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int k = 0; k < set.sources; k++) {
			const struct score_errors *e =
				&scores.source[k].serving[rows[i].figure];

			if (strcmp(set.source[k], rows[i].name) != 0)
				continue;
			assert_int_equal(e->n, rows[i].n);
			if (e->median > rows[i].median || e->p90 > rows[i].p90)
				fail_msg("%s: median %.4f, p90 %.4f; were at most "
					 "%.4f, %.4f",
					 rows[i].name, e->median, e->p90,
					 rows[i].median, rows[i].p90);
		}
}

static void ranges_hold_most_of_the_truth(void **state)
{
	(void)state;
	for (int f = 0; f < SCORE_FIGURES; f++) {
		double share = scores.total.serving[f].in_range;

		if (share < 0.75)
			fail_msg("figure %d: %.2f of the runs lie in the range", f,
				 share);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_is_predicted),
		cmocka_unit_test(errors_stay_as_small),
		cmocka_unit_test(ranges_hold_most_of_the_truth),
	};

	return cmocka_run_group_tests(tests, read_all, forget_all);
}
