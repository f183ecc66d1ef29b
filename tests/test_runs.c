/* Files of measured runs: what is read, and what a broken file says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/runs/runs.h"
#include "tests/support/close.h"

static const char head[] = "models:\n"
			   "  m: {hidden: 4096, ffn: 11008, layers: 32, heads: 32, "
			   "kv_heads: 32, vocab: 32000, gated_mlp: true}\n"
			   "groups:\n"
			   "- source: s\n"
			   "  stack: megatron-core\n"
			   "  cluster: {accelerator: h100-sxm-80g, gpus_per_node: 8, "
			   "nvlink_domain: 8, network_gbps_per_gpu: 200}\n"
			   "  runs:\n";

static const char good_run[] =
	"  - {id: one, model: m, gpus: 16, tp: 2, pp: 2, cp: 1, dp: 4, mbs: 1, gbs: "
	"64, "
	"seq: 4096, precision: bf16, flash_attention: true, measured: {step_seconds: "
	"2, "
	"peak_memory_gib: 30, memory_kind: allocated, fits: true}, use: [time, memory, "
	"fit]}\n";

static void parse(struct run_set *set, const char *runs)
{
	char text[4096];
	struct error error = { "" };

	memset(set, 0, sizeof *set);
	snprintf(text, sizeof text, "%s%s", head, runs);
	if (!runs_parse(set, "dir/source.yaml", text, strlen(text), &error))
		fail_msg("%s", error.text);
}

static void a_run_is_read_whole(void **state)
{
	struct run_set set;
	const struct measured_run *run;

	(void)state;
	parse(&set, good_run);
	run = set.run;
	assert_int_equal(set.count, 1);
	assert_int_equal(set.faults, 0);
	assert_string_equal(set.source[0], "source");
	assert_string_equal(run->id, "one");
	assert_true(run->readable && run->fits);
	assert_true(run->scores_time && run->scores_memory && run->scores_fit);
	assert_int_equal(run->scenario.plan.tp, 2);
	assert_int_equal(run->scenario.cluster.gpus, 16);
	assert_close(run->scenario.cluster.link[LINK_NETWORK].bytes_per_second, 25e9,
		     1e-12);
	assert_close(run->peak_bytes, 30 * 1073741824.0, 1e-12);
	assert_int_equal(run->memory_kind, MEMORY_ALLOCATED);
	runs_free(&set);
}

/* One line names each fault and the other runs are still there. */
static void a_fault_is_one_line_and_the_rest_is_kept(void **state)
{
	static const struct {
		const char *run, *says;
		bool readable;
	} cases[] = {
		{ "  - {id: b, model: m, gpus: 16, pp: 2, gbs: 64, seq: 4096}\n",
		  "states no tp", false },
		{ "  - {id: b, model: m, gpus: 16, tp: 2, pp: 2, gbs: 64, seq: 4096, "
		  "recomptue: full}\n",
		  "recompute", true },
		{ "  - {id: b, model: m, gpus: 16, tp: 2, pp: 2, dp: 5, gbs: 64, seq: "
		  "4096}\n",
		  "dp is 5", false },
		{ "  - {id: b, model: zz, gpus: 16, tp: 2, pp: 2, gbs: 64, seq: "
		  "4096}\n",
		  "zz", false },
		{ "  - {id: b, model: m, gpus: 16, tp: 0, pp: 2, gbs: 64, seq: 4096}\n",
		  "tp", false },
		{ "  - {id: b, model: m, gpus: 16, tp: 2, pp: 2, gbs: 64, seq: 4096, "
		  "measured: {step_seconds: -1}}\n",
		  "more than zero", true },
		{ "  - {id: b, model: m, gpus: 16, tp: 2, pp: 2, gbs: 64, seq: 4096, "
		  "layers_first_last: two}\n",
		  "layers_first_last", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct run_set set;
		char both[2048];

		snprintf(both, sizeof both, "%s%s", cases[i].run, good_run);
		parse(&set, both);
		assert_int_equal(set.count, 2);
		assert_int_equal(set.faults, 1);
		assert_non_null(strstr(set.fault[0].text, cases[i].says));
		assert_non_null(strstr(set.fault[0].text, "dir/source.yaml:"));
		assert_null(strchr(set.fault[0].text, '\n'));
		assert_int_equal(set.run[0].readable, cases[i].readable);
		assert_true(set.run[1].readable);
		runs_free(&set);
	}
}

static void an_unknown_machine_refuses_its_group_only(void **state)
{
	char text[8192];
	struct run_set set = { 0 };
	struct run_scores scores = { 0 };
	struct error error;
	int n = snprintf(text, sizeof text,
			 "%s%s- stack: no-such-stack\n  cluster: {accelerator: "
			 "abacus}\n  runs:\n%s- stack: no-such-stack\n  cluster: "
			 "{accelerator: h100-sxm-80g}\n  runs:\n%s",
			 head, good_run, good_run, good_run);

	(void)state;
	assert_true(runs_parse(&set, "x.yaml", text, (size_t)n, &error));
	assert_int_equal(set.count, 3);
	assert_int_equal(set.faults, 2);
	assert_non_null(strstr(set.fault[0].text, "abacus"));
	assert_non_null(strstr(set.fault[1].text, "generic"));
	assert_true(runs_score(&set, &scores));
	assert_true(scores.rows[0].predicted);
	assert_false(scores.rows[1].predicted);
	assert_true(scores.rows[2].predicted);
	assert_string_equal(set.run[2].scenario.stack.name, "generic");
	run_scores_free(&scores);
	runs_free(&set);
}

static void a_file_that_holds_no_runs_is_refused(void **state)
{
	static const char *const texts[] = { "", "a: 1\n", "groups: 3\n", "[1, 2]\n",
					     "groups: [1, {runs: 2}\n" };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct run_set set = { 0 };
		struct error error = { "" };

		assert_false(
			runs_parse(&set, "x.yaml", texts[i], strlen(texts[i]), &error));
		assert_int_not_equal(error.text[0], '\0');
		runs_free(&set);
	}
}

/* Bus bandwidth measured in a job may not change what is predicted for it. */
static void facts_about_a_job_are_no_inputs(void **state)
{
	struct run_set with, without;
	struct run_scores a = { 0 }, b = { 0 };
	char run[1024];

	(void)state;
	snprintf(run, sizeof run, "  - {measured_busbw_gbs: {world: [1, 2, 3]}, %s",
		 good_run + strlen("  - {"));
	parse(&with, run);
	parse(&without, good_run);
	assert_int_equal(with.faults, 0);
	assert_true(runs_score(&with, &a) && runs_score(&without, &b));
	assert_true(a.rows[0].predicted_seconds > 0);
	assert_close(a.rows[0].predicted_seconds, b.rows[0].predicted_seconds, 1e-15);
	run_scores_free(&a);
	run_scores_free(&b);
	runs_free(&with);
	runs_free(&without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_read_whole),
		cmocka_unit_test(a_fault_is_one_line_and_the_rest_is_kept),
		cmocka_unit_test(an_unknown_machine_refuses_its_group_only),
		cmocka_unit_test(a_file_that_holds_no_runs_is_refused),
		cmocka_unit_test(facts_about_a_job_are_no_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
