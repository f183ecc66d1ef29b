/* test_unmeasured.c - where nobody measured an accelerator, nobody is told that a plan
 * does not fit there, and that it does only of one that takes little. */
#include <stdio.h>
#include <string.h>

#include "engine/estimate/estimate.h"
#include "engine/predict/predict.h"
#include "presets/library.h"
#include "presets/runs/runs.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static struct estimate estimate;

#define TPU "--model llama3.1-8b --cluster tpu-v6e --stack jax-xla --gpus 8 --tp 1 "
/* Ran so (AI-Hypercomputer/tpu-recipes, Llama 3.1 8B on v6e-8), 22 % too large here. */
#define RECIPE                                                                   \
	TPU "--pp 1 --cp 1 --zero 3 --mbs 3 --gbs 24 --seq 8192 "                \
	    "--recompute selective --recompute-modules core_attn+layernorm+mlp " \
	    "--optimizer-offload 0 "

static void every_file_that_says_so_is_marked(void **state)
{
	static const char *const marked[] = {
		"l40s",    "mi250x",    "mi300x",  "mi325x",  "rtx-pro-6000",
		"mi350x",  "mi355x",    "tpu-v4",  "tpu-v5p", "tpu-v6e",
		"tpu-v7x", "h100-pcie", "hgx-h20", "l4",      "ascend-910c"
	};
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list), found = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct cluster cluster;
		bool expected = false;

		if (!library_cluster(&cluster, list[i].name, &error))
			fail_msg("%s", error.text);
		for (size_t k = 0; k < sizeof marked / sizeof marked[0]; k++)
			expected |= strcmp(marked[k], list[i].name) == 0;
		if (cluster.accelerator.calibration.unmeasured != expected)
			fail_msg("%s: unmeasured is %d", list[i].name, !expected);
		found += expected;
	}
	assert_int_equal(found, sizeof marked / sizeof marked[0]);
}

/* Constants of servers have their own runs: of the L40S there are, and none of
 * training; of the V100 the other way round. */
static void servers_have_their_own_runs(void **state)
{
	static const char *const unfitted[] = {
		"mi250x",   "mi300x",    "mi325x",  "rtx-pro-6000", "mi350x",
		"mi355x",   "tpu-v4",    "tpu-v5p", "tpu-v6e",      "tpu-v7x",
		"hgx-h20",  "h100-pcie", "l4",      "ascend-910b",  "ascend-910c",
		"dgx-v100", "dgx2-v100",
	};
	const struct preset *list;
	int count = preset_list(PRESET_CLUSTER, &list), found = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct scenario s = { .plan.mode = MODE_INFERENCE };
		bool expected = false;

		if (!library_cluster(&s.cluster, list[i].name, &error))
			fail_msg("%s", error.text);
		for (size_t k = 0; k < sizeof unfitted / sizeof unfitted[0]; k++)
			expected |= strcmp(unfitted[k], list[i].name) == 0;
		if (scenario_unmeasured(&s) != expected)
			fail_msg("%s: unfitted is %d", list[i].name, !expected);
		found += expected;
	}
	assert_int_equal(found, sizeof unfitted / sizeof unfitted[0]);
}

/* The same plan with a growing micro-batch: the chance falls as slowly as the range of
 * memory is wide, and above the capacity it is even until the states themselves are too
 * large. */
static void chances_are_between(void **state)
{
	struct error error = { "" };
	struct scenario s;
	double before = 1;
	int sure = 0, unsure = 0;

	(void)state;
	assert_true(scenario_blank(&s, "llama3.1-8b", "mi300x", "fsdp", &error));
	s.cluster.gpus = 8;
	s.plan.micro_batch = 1;
	s.plan.global_batch = 1024;
	for (; s.plan.micro_batch <= 128; s.plan.micro_batch *= 2) {
		scenario_estimate(&s, &estimate);
		assert_true(estimate.legal && estimate.feasible);
		assert_true(estimate.fit_probability <= before);
		assert_true(estimate.fit_probability >= 0.5);
		assert_true(estimate.unsure == (estimate.fit_probability < 0.95));
		*(estimate.unsure ? &unsure : &sure) += 1;
		before = estimate.fit_probability;
	}
	assert_true(sure > 0 && unsure > 0);
	assert_false(estimate.fits);
	assert_close(estimate.fit_probability, 0.5, 0);
	/* as sure as elsewhere once somebody has measured it */
	s.cluster.accelerator.calibration.unmeasured = false;
	scenario_estimate(&s, &estimate);
	assert_false(estimate.unsure || estimate.feasible);
	assert_true(estimate.fit_probability < 0.01);
	/* 8 G parameters of 14 bytes on one accelerator of 32 GB are counted, not
	 * guessed
	 */
	assert_true(scenario_blank(&s, "llama3.1-8b", "tpu-v6e", "generic", &error));
	scenario_estimate(&s, &estimate);
	assert_true(estimate.legal && !estimate.unsure && !estimate.feasible);
	assert_true(estimate.fit_probability < 0.01);
}

/* A plan that takes little is sure to fit, one at whose upper end of the range there is
 * just room in nine of ten, wherever the capacity stands. */
static void little_is_sure(void **state)
{
	struct error error = { "" };
	struct scenario s;
	double need, high;

	(void)state;
	assert_true(scenario_blank(&s, "llama3.2-1b", "l4", "fsdp", &error));
	s.cluster.gpus = 64;
	s.plan.seq_len = 1024;
	s.plan.micro_batch = 1;
	s.plan.global_batch = 64;
	scenario_estimate(&s, &estimate);
	need = estimate.memory.total_bytes;
	high = estimate.memory_high_bytes / need;
	assert_close(high, 1.42, 1e-9);
	s.cluster.accelerator.usable_bytes = 11 * need;
	scenario_estimate(&s, &estimate);
	assert_true(estimate.fits && !estimate.unsure && estimate.feasible);
	assert_true(estimate.fit_probability > 0.9999);
	s.cluster.accelerator.usable_bytes = high * need;
	scenario_estimate(&s, &estimate);
	assert_true(estimate.fits && estimate.unsure);
	assert_close(estimate.fit_probability, 0.9, 1e-9);
	s.cluster.accelerator.usable_bytes = need;
	scenario_estimate(&s, &estimate);
	assert_close(estimate.fit_probability, 0.5, 1e-9);
	/* a range that nobody knows is no narrower than that of measured ones */
	s.cluster.accuracy.memory[RUN_UNMEASURED] = (struct spread){ 0, 0 };
	s.cluster.accelerator.usable_bytes = 1.13 * need;
	scenario_estimate(&s, &estimate);
	assert_close(estimate.fit_probability, 0.9, 1e-9);
}

static void ranges_are_wider(void **state)
{
	struct error error = { "" };
	struct scenario s;
	double low, high;

	(void)state;
	assert_true(scenario_blank(&s, "llama3.1-8b", "mi300x", "fsdp", &error));
	s.cluster.gpus = 8;
	scenario_estimate(&s, &estimate);
	low = estimate.memory_low_bytes / estimate.memory.total_bytes;
	high = estimate.memory_high_bytes / estimate.memory.total_bytes;
	s.cluster.accelerator.calibration.unmeasured = false;
	scenario_estimate(&s, &estimate);
	assert_true(low < estimate.memory_low_bytes / estimate.memory.total_bytes);
	assert_true(high > estimate.memory_high_bytes / estimate.memory.total_bytes);
}

/* All of these ran (AI-Hypercomputer/tpu-recipes; MLPerf on MI300X and MI355X): none is
 * denied, also where activations on the hosts are counted too large. */
static void no_run_that_ran_is_denied(void **state)
{
	static const char *const files[] = { "tests/validation/tpu_recipes.yaml",
					     "tests/validation/mlperf_lora.yaml",
					     "tests/validation/mlperf_8b_amd.yaml" };
	struct run_set set = { 0 };
	struct error error;
	int unmeasured = 0;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		assert_true(runs_read(&set, files[i], &error));
	for (int i = 0; i < set.count; i++) {
		struct score_run row;

		if (!set.run[i].scenario.cluster.accelerator.calibration.unmeasured)
			continue;
		run_predict(&set.run[i], &estimate, &row);
		unmeasured++;
		if (!row.predicted || row.fit_probability < 0.5 ||
		    row.unsure != (row.fit_probability < 0.95))
			fail_msg("%s: %g", set.run[i].id, row.fit_probability);
	}
	assert_true(unmeasured > 30);
	runs_free(&set);
}

static void says(const char *arguments, int status, const char *text, const char *never)
{
	struct ran ran = run(arguments);

	if (ran.status != status || !strstr(ran.out, text) ||
	    (never && strstr(ran.out, never)))
		fail_msg("%s: status %d, no '%s' (or '%s') in\n%s%s", arguments,
			 ran.status, text, never ? never : "", ran.out, ran.err);
	ran_free(&ran);
}

static void verdicts_are_unsure(void **state)
{
	(void)state;
	says("eval " RECIPE, 0, ", unsure, ", "DOES NOT FIT");
	says("eval " RECIPE "--json", 0, "\"unsure\":\ttrue", "\"error\"");
	says("eval " TPU "--mbs 1 --gbs 8", 0, ", unsure, ", ", fits");
	says("check " RECIPE, 0, "whether it fits is unsure", "error");
	says("check " RECIPE, 0, "may need", NULL);
	says("search " RECIPE, 1, "no plan is predicted to fit (not certain)",
	     "nothing fits");
	says("search " TPU "--gbs 8 --top 1", 0, "nobody measured tpu-v6e", NULL);
	says("screen memory " RECIPE, 0, "unsure", "does not fit");
	says("screen overview " RECIPE, 0, "unsure", "DOES NOT FIT");
	/* measured ones are told as before */
	says("eval llama3-70b-64-h100", 0, ", fits", "unsure");
	says("eval llama3-70b-64-h100 --mbs 4 --json", 1, "\"unsure\":\tfalse", NULL);
	says("search llama3-70b-64-h100 --top 1", 0, "plans", "nobody measured");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_that_says_so_is_marked),
		cmocka_unit_test(servers_have_their_own_runs),
		cmocka_unit_test(chances_are_between),
		cmocka_unit_test(little_is_sure),
		cmocka_unit_test(ranges_are_wider),
		cmocka_unit_test(no_run_that_ran_is_denied),
		cmocka_unit_test(verdicts_are_unsure),
	};

	return cmocka_run_group_tests_name("unmeasured", tests, NULL, NULL);
}
