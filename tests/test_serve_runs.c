/* The measured serving runs of tests/validation/inference: no row of the table may get
 * clearly worse. The limits are what was reached, and a fifth more. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/accuracy_file.h"
#include "tests/support/close.h"
#include "tests/support/measured.h"

static int read_all(void **state)
{
	(void)state;
	return measured_read("tests/validation/inference/*.yaml");
}

/* On one H100, gpt-oss-120b leaves what vLLM before 0.17 needs to sort the logits of
 * 1,024 requests no room at its default share, as users found (vllm issue 27508). These
 * ran: with less than a prompt of 32,000 tokens and its output twice in the cache, as
 * their times say, so by another sampler. */
static bool ran_with_another_sampler(const struct measured_run *run)
{
	return strncmp(run->id, "gpustack_gpt-oss-120b_h100_", 27) == 0 &&
	       run->scenario.cluster.gpus == 1;
}

static void every_run_is_predicted(void **state)
{
	(void)state;
	measured_check(8, 2098);
	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];

		/* logs of a cache: one that is predicted too small has no times */
		if (!measured_scores.rows[i].predicted &&
		    !ran_with_another_sampler(run) &&
		    !run->scores_serving[SCORE_KV_GIB] &&
		    !run->scores_serving[SCORE_KV_TOKENS])
			fail_msg("%s is refused", run->id);
	}
	assert_true(measured_scores.total.refused <= 6);
}

static void errors_stay_as_small(void **state)
{
	static const struct {
		const char *name;
		enum score_figure figure;
		int n;
		double median, p90;
	} rows[] = {
		{ "aic_silicon_agg", SCORE_TPOT, 1052, 0.083, 0.224 },
		{ "aic_silicon_agg", SCORE_TTFT_LOADED, 1052, 0.2, 0.623 },
		{ "disagg", SCORE_TPOT, 203, 0.095, 0.548 },
		{ "disagg", SCORE_TTFT_LOADED, 203, 0.554, 1.16 },
		{ "misc_published", SCORE_TPOT, 48, 0.099, 0.173 },
		{ "misc_published", SCORE_TTFT_LOADED, 7, 0.479, 1.82 },
		{ "misc_published", SCORE_TTFT, 40, 0.153, 0.728 },
		{ "open_loop", SCORE_TPOT, 8, 0.124, 0.152 },
		{ "open_loop", SCORE_TTFT_LOADED, 8, 0.121, 0.16 },
		{ "gpustack_lab", SCORE_TTFT_BURST, 40, 0.407, 1.01 },
		{ "kv_capacity", SCORE_KV_TOKENS, 25, 0.026, 0.341 },
		{ "kv_capacity", SCORE_KV_GIB, 30, 0.026, 0.069 },
		{ "trtllm_perf_overview", SCORE_TTFT, 40, 0.114, 0.31 },
		{ "trtllm_perf_overview", SCORE_RATE, 547, 0.078, 0.375 },
		{ "trtllm_rtx_pro_6000", SCORE_RATE, 108, 0.152, 0.411 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct score_errors *e =
			&measured_source(rows[i].name)->serving[rows[i].figure];

		assert_int_equal(e->n, rows[i].n);
		if (e->median > rows[i].median || e->p90 > rows[i].p90)
			fail_msg("%s: median %.4f, p90 %.4f; were at most %.4f, %.4f",
				 rows[i].name, e->median, e->p90, rows[i].median,
				 rows[i].p90);
	}
}

/* Which factor the range of a prediction has, one figure of one run. */
static double factor_in_use(const struct score_serving *figure)
{
	assert_close(figure->predicted / figure->low, figure->high / figure->predicted,
		     1e-9);
	return figure->high / figure->predicted;
}

static double spread_of(bool experts, int figure)
{
	const struct serve_spread *s = &accuracy_shipped()->serving[experts];
	const double all[] = { s->tpot, s->ttft, s->rate, s->loaded };

	return all[figure];
}

static void check_share(bool experts, int figure)
{
	int n = 0, inside = 0;

	for (int i = 0; i < measured_set.count; i++) {
		const struct score_serving *one =
			&measured_scores.rows[i].serving[figure];
		const struct scenario *s = &measured_set.run[i].scenario;
		double expected;

		if (!one->scores || one->measured <= 0 || one->predicted <= 0 ||
		    (s->model.moe.experts > 0) != experts)
			continue;
		expected = spread_of(experts, figure);
		if (figure == SCORE_TTFT_LOADED && s->plan.serving.disaggregated)
			expected = accuracy_shipped()->serving[experts].pools;
		/* where there is one request, or room for one, it is alone */
		if (figure == SCORE_TTFT_LOADED &&
		    fabs(factor_in_use(one) /
				 accuracy_shipped()->serving[experts].ttft -
			 1) < 1e-9)
			continue;
		if (scenario_unmeasured(s))
			expected = fmax(expected,
					accuracy_shipped()->serving[experts].unfitted);
		if (fabs(factor_in_use(one) / expected - 1) > 1e-9)
			fail_msg("%s: figure %d has a range of %g, not %g",
				 measured_set.run[i].id, figure, factor_in_use(one),
				 expected);
		n++;
		inside += one->measured >= one->low && one->measured <= one->high;
	}
	/* two runs of mixtures to the first token tell nothing */
	assert_true(n >= 10 || (experts && figure == SCORE_TTFT));
	if (n >= 10 && inside < 0.8 * n)
		fail_msg("figure %d, experts %d: %d of %d runs lie in the range",
			 figure, experts, inside, n);
}

/* Those of what has a range. */
enum { RANGES = SCORE_TTFT_LOADED + 1 };

/* What is claimed of left-out runs has to hold of those that the fit saw: dense models
 * and mixtures, each figure on its own. */
static void ranges_hold_four_of_five(void **state)
{
	(void)state;
	for (int f = 0; f < RANGES; f++) {
		check_share(false, f);
		check_share(true, f);
	}
}

/* The factor of a row that fit_serving --ranges prints, wide enough to hold 80 of 100
 * runs that it was not learned on: figure, of, runs, f, held, wide, f, held. */
static double learned(const char *figure, const char *of)
{
	FILE *file = fopen("tests/validation/README.md", "r");
	char line[256], name[16], kind[16];
	double factor, share, wanted = 0;

	assert_non_null(file);
	while (wanted == 0 && fgets(line, sizeof line, file))
		if (sscanf(line, "%15s %15s %*d %*f %*f %*f %lf %lf", name, kind,
			   &factor, &share) == 4 &&
		    strcmp(name, figure) == 0 && strcmp(kind, of) == 0) {
			assert_in_range((int)share, 75, 88);
			wanted = ceil(factor * 100 - 1e-6) / 100;
		}
	fclose(file);
	if (wanted == 0)
		fail_msg("no factor of %s, %s", figure, of);
	return wanted;
}

/* The factors in use are those that were learned, rounded up. */
static void factors_are_those_learned(void **state)
{
	const struct serve_spread *dense = &accuracy_shipped()->serving[0];
	const struct serve_spread *experts = &accuracy_shipped()->serving[1];

	(void)state;
	assert_close(dense->tpot, learned("TPOT", "dense"), 1e-9);
	assert_close(dense->ttft, learned("TTFT", "dense"), 1e-9);
	assert_close(dense->rate, learned("rate", "dense"), 1e-9);
	assert_close(dense->loaded, learned("loaded", "dense"), 1e-9);
	assert_close(experts->tpot, learned("TPOT", "experts"), 1e-9);
	assert_close(experts->rate, learned("rate", "experts"), 1e-9);
	assert_close(experts->loaded, learned("loaded", "experts"), 1e-9);
	assert_close(experts->pools, learned("pools", "experts"), 1e-9);
	/* too few mixtures to the first token, and dense models in pools */
	assert_close(experts->ttft, learned("TTFT", "all"), 1e-9);
	assert_close(dense->pools, experts->pools, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_is_predicted),
		cmocka_unit_test(errors_stay_as_small),
		cmocka_unit_test(ranges_hold_four_of_five),
		cmocka_unit_test(factors_are_those_learned),
	};

	return cmocka_run_group_tests(tests, read_all, measured_forget);
}
