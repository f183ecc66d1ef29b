/* The measured runs of tests/validation: no row of the table may get clearly worse. The
 * limits are what was reached, and a fifth more; a change that mends a row may lower
 * its limits, one that worsens it has to say why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/measured.h"

static int read_all(void **state)
{
	(void)state;
	return measured_read("tests/validation/*.yaml");
}

static void at_most(const char *name, const char *what, double value, double limit)
{
	if (!(value <= limit))
		fail_msg("%s: %s is %.4f, was at most %.4f", name, what, value, limit);
}

static void every_run_is_read_without_a_fault(void **state)
{
	int refused = 0;

	(void)state;
	measured_check(20, 3582);
	for (int i = 0; i < measured_set.count; i++)
		refused += !measured_scores.rows[i].predicted;
	/* three have more stages than layers, one more expert ranks than GPUs */
	assert_true(refused <= 4);
}

/* What sources say of their runs, and shipped defaults do not: SDPA's second flash
 * generation (fms-fsdp, README.md); async TP that refuses to run uncompiled and as many
 * micro-batches as stages (torchtitan@9dec370, torchtitan/parallelisms); the chip. */
static void runs_are_as_their_sources_say(void **state)
{
	int fms = 0, async = 0, piped = 0, chips = 0;

	(void)state;
	for (int i = 0; i < measured_set.count; i++) {
		const struct measured_run *run = &measured_set.run[i];
		const struct plan *p = &run->scenario.plan;
		const char *chip = run->scenario.cluster.accelerator.name;

		if (strncmp(run->id, "fmsfsdp-", 8) == 0) {
			assert_int_equal(p->attention_kernel, ATTENTION_FLASH2);
			fms++;
		}
		if (strncmp(run->id, "ttitan-", 7) == 0 && p->async_tp) {
			assert_true(p->compile);
			async++;
		}
		if (strncmp(run->id, "ttitan-", 7) == 0 && p->pp > 1) {
			assert_int_equal(scenario_micro_batches(&run->scenario), p->pp);
			piped++;
		}
		if (strstr(run->id, "MI350X")) {
			assert_string_equal(chip, "mi350x-288g");
			chips++;
		}
	}
	assert_int_equal(fms, 8);
	assert_int_equal(async, 13);
	assert_int_equal(piped, 6);
	assert_int_equal(chips, 2);
}

static void step_times_stay_as_near(void **state)
{
	static const struct {
		const char *name;
		double median, p90;
	} rows[] = {
		{ "ascend_mindspeed", 0.078, 0.195 },
		{ "bloom_prequel_a100", 0.051, 0.130 },
		{ "fms_fsdp", 0.039, 0.069 },
		{ "hagemann_llama_a100", 0.036, 0.112 },
		{ "hf_ultrascale_h100", 0.034, 0.138 },
		{ "internevo_a100", 0.029, 0.062 },
		{ "llmfoundry_fsdp", 0.038, 0.107 },
		{ "megatron_bridge_cards", 0.117, 0.164 },
		{ "megatron_bridge_perf", 0.057, 0.212 },
		{ "megatron_gb200_ladder", 0.067, 0.115 },
		{ "megatron_moe_zoo", 0.092, 0.227 },
		{ "mlperf_8b_amd", 0.018, 0.018 },
		{ "mlperf_lora", 0.076, 0.149 },
		{ "nemo_docs_h100", 0.046, 0.152 },
		{ "papers", 0.039, 0.083 },
		{ "simumax", 0.029, 0.060 },
		{ "torchtitan", 0.060, 0.122 },
		{ "tpu_recipes", 0.086, 0.203 },
		{ "vtrain_multi_a100", 0.056, 0.124 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct score *s = measured_source(rows[i].name);

		at_most(rows[i].name, "median", s->time.median, rows[i].median);
		at_most(rows[i].name, "p90", s->time.p90, rows[i].p90);
	}
	at_most("total", "median", measured_scores.total.time.median, 0.046);
	at_most("total", "p90", measured_scores.total.time.p90, 0.134);
}

static void layouts_stay_ranked(void **state)
{
	const struct score_ranking *r = &measured_scores.total.ranking;

	(void)state;
	assert_true(r->groups >= 54);
	at_most("total", "lack of tau", 1 - r->tau, 0.23);
	at_most("total", "top-1 regret", r->top1_regret, 0.02);
	at_most("total", "top-3 regret", r->top3_regret, 0.008);
}

static void memory_stays_as_near(void **state)
{
	(void)state;
	at_most("simumax", "mean", measured_source("simumax")->memory.mean, 0.010);
	at_most("simumax", "worst", measured_source("simumax")->memory.worst, 0.04);
	at_most("megatron_lm_golden", "mean",
		measured_source("megatron_lm_golden")->memory.mean, 0.04);
	at_most("papers", "mean", measured_source("papers")->memory.mean, 0.035);
	at_most("hf_ultrascale_h100", "median",
		measured_source("hf_ultrascale_h100")->memory.median, 0.072);
	at_most("torchtitan", "median", measured_source("torchtitan")->memory.median,
		0.09);
}

static void what_fits_stays_known(void **state)
{
	const struct score_fit *f = &measured_scores.total.fit;

	(void)state;
	assert_true(f->balanced_accuracy >= 0.965);
	assert_true(f->least_load_out >= 0.70);
	assert_true(measured_source("hagemann_llama_a100")->fit.balanced_accuracy >=
		    0.96);
	assert_true(measured_source("hf_ultrascale_h100")->fit.balanced_accuracy >=
		    0.97);
}

/* How often runs of each load ran out is what the estimate says. */
static void odds_are_kept(void **state)
{
	static const double loads[] = { 0, 0.7, 0.9, 1, 1.1, 1.3, 1e9 };

	(void)state;
	for (int k = 0; k < 6; k++) {
		double said = 0;
		int runs = 0, fit = 0;

		for (int i = 0; i < measured_set.count; i++) {
			const struct score_run *r = &measured_scores.rows[i];
			const char *name = measured_set.source[r->source];

			/* sources that print runs which ran out too */
			if (!r->predicted || !r->scores_fit || r->load < loads[k] ||
			    r->load >= loads[k + 1] ||
			    (strncmp(name, "hagemann", 8) != 0 &&
			     strncmp(name, "hf_", 3) != 0))
				continue;
			runs++;
			fit += r->measured_fits;
			said += r->fit_probability;
		}
		assert_true(runs > 60);
		if (fabs(fit - said) > 0.1 * runs)
			fail_msg("load %.1f to %.1f: %d of %d fit, said %.1f", loads[k],
				 loads[k + 1], fit, runs, said);
	}
}

/* The 80 % ranges hold 75 to 95 % of what was measured. */
static void ranges_hold_the_truth(void **state)
{
	int in = 0, runs = 0, held = 0, sizes = 0;

	(void)state;
	for (int i = 0; i < measured_set.count; i++) {
		const struct score_run *r = &measured_scores.rows[i];

		if (r->predicted && r->scores_memory) {
			sizes++;
			held += r->measured_bytes >= r->low_bytes &&
				r->measured_bytes <= r->high_bytes;
		}
		if (!r->predicted || !r->scores_time)
			continue;
		runs++;
		in += r->measured_seconds >= r->low_seconds &&
		      r->measured_seconds <= r->high_seconds;
	}
	assert_true(runs > 1000);
	assert_true(in >= 0.75 * runs && in <= 0.95 * runs);
	assert_true(sizes > 1500);
	assert_true(held >= 0.75 * sizes && held <= 0.90 * sizes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_is_read_without_a_fault),
		cmocka_unit_test(runs_are_as_their_sources_say),
		cmocka_unit_test(step_times_stay_as_near),
		cmocka_unit_test(layouts_stay_ranked),
		cmocka_unit_test(memory_stays_as_near),
		cmocka_unit_test(what_fits_stays_known),
		cmocka_unit_test(odds_are_kept),
		cmocka_unit_test(ranges_hold_the_truth),
	};

	return cmocka_run_group_tests(tests, read_all, measured_forget);
}
