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
	"  - {id: one, model: m, gpus: 16, tp: 2, pp: 2, cp: 1, dp: 4, mbs: 1, "
	"gbs: 64, seq: 4096, precision: bf16, flash_attention: true, measured: "
	"{step_seconds: 2, peak_memory_gib: 30, memory_kind: allocated, fits: "
	"true}, use: [time, memory, fit]}\n";

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
		  "recompute", false },
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

static void an_unknown_machine_or_stack_refuses_its_group_only(void **state)
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
	assert_non_null(strstr(set.fault[1].text, "unknown stack 'no-such-stack'"));
	assert_non_null(strstr(set.fault[1].text, "x.yaml:13:"));
	assert_true(runs_score(&set, &scores));
	assert_true(scores.rows[0].predicted);
	assert_false(scores.rows[1].predicted);
	assert_false(scores.rows[2].predicted);
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

/* Two runs of one plan, whatever their versions, are repeats; one knob apart they are
 * two layouts. */
static void runs_of_one_plan_are_repeats(void **state)
{
	char runs[4096], other[1024], third[1024];
	struct run_scores scores = { 0 };
	struct run_set set;

	(void)state;
	snprintf(other, sizeof other, "%s", good_run);
	memcpy(strstr(other, "one"), "two", 3);
	snprintf(third, sizeof third, "%s", good_run);
	memcpy(strstr(third, "mbs: 1"), "mbs: 2", 6);
	snprintf(runs, sizeof runs, "%s%s%s", good_run, third, other);
	parse(&set, runs);
	assert_true(runs_score(&set, &scores));
	assert_int_equal(scores.rows[1].ranking, scores.rows[0].ranking);
	assert_int_equal(scores.rows[0].layout, 1);
	assert_int_equal(scores.rows[1].layout, 0);
	assert_int_equal(scores.rows[2].layout, 1);
	run_scores_free(&scores);
	runs_free(&set);
}

static void every_name_of_a_stack_is_that_stack(void **state)
{
	static const char *const names[][2] = {
		{ "megatron", "megatron-core" },
		{ "NeMo", "megatron-core" },
		{ "megatron-bridge", "megatron-core" },
		{ "pytorch-fsdp", "fsdp" },
		{ "maxtext", "jax-xla" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct run_set set = { 0 };
		struct error error;
		char text[1024];
		int n = snprintf(text, sizeof text,
				 "groups:\n- stack: %s\n  cluster: {accelerator: "
				 "h100-sxm-80g}\n  runs:\n  - {id: a, model: "
				 "llama3.1-8b, gpus: 8, tp: 1, pp: 1, gbs: 8, seq: "
				 "4096}\n",
				 names[i][0]);

		assert_true(runs_parse(&set, "x.yaml", text, (size_t)n, &error));
		assert_int_equal(set.faults, 0);
		assert_string_equal(set.run[0].scenario.stack.name, names[i][1]);
		runs_free(&set);
	}
}

/* Words that are no knobs' own: how CP speaks, switches for shares, the release. */
static void words_of_sources_turn_knobs(void **state)
{
	struct run_set set;
	const struct plan *plan;

	(void)state;
	parse(&set,
	      "  - {id: w, model: m, gpus: 16, tp: 2, pp: 2, cp: 2, gbs: 64, seq: "
	      "4096, cp_comm: a2a+p2p, optimizer_offload: true, "
	      "activation_offload: false, software_version: \"25.09\"}\n"
	      "  - {id: v, model: m, gpus: 16, tp: 2, pp: 2, cp: 2, gbs: 64, seq: "
	      "4096, cp_comm: all_gather, optimizer_offload: 0.5}\n"
	      "  - {id: u, model: m, gpus: 16, tp: 2, pp: 2, cp: 2, gbs: 64, seq: "
	      "4096, cp_comm: pigeon}\n");
	plan = &set.run[0].scenario.plan;
	assert_int_equal(plan->cp_kind, CP_ULYSSES);
	assert_close(plan->optimizer_offload, 1, 1e-12);
	assert_close(plan->activation_offload, 0, 1e-12);
	assert_string_equal(set.run[0].software_version, "25.09");
	plan = &set.run[1].scenario.plan;
	assert_int_equal(plan->cp_kind, CP_ALL_GATHER);
	assert_close(plan->optimizer_offload, 0.5, 1e-12);
	assert_string_equal(set.run[1].software_version, "");
	assert_int_equal(set.faults, 1);
	assert_non_null(strstr(set.fault[0].text, "cp_comm is 'pigeon'"));
	assert_false(set.run[2].readable);
	runs_free(&set);
}

/* The whole reader of Megatron's arguments: flags of the network, of the plan, what
 * they switch off, and those behind the 511th character. */
static void megatrons_arguments_are_read_whole(void **state)
{
	static const char run[] =
		"  - {id: a, model: e, gpus: 16, tp: 1, pp: 2, vpp: 2, ep: 4, cp: 1, "
		"gbs: 64, seq: 4096, precision: bf16, recompute: none, megatron_args: "
		"\"attention-backend=unfused moe-layer-freq=([0]*2+[1]*6) "
		"attention-dropout=0.0 swiglu=False%s kv-channels=64 "
		"hidden-dropout=0.25 "
		"mtp-num-layers=2 moe-token-dispatcher-type=flex "
		"moe-flex-dispatcher-backend=hybridep transformer-impl=%s "
		"untie-embeddings-and-output-weights=True lr=0.00015\"}\n";
	char text[4096], filler[700] = "";
	struct error error;
	struct run_set set = { 0 };
	const struct scenario *s;
	int n;

	(void)state;
	for (size_t i = 0; i < sizeof filler - 20; i += strlen(filler + i))
		snprintf(filler + i, sizeof filler - i, " seed=%zu", i);
	n = snprintf(text, sizeof text,
		     "models:\n  e: {hidden: 1024, ffn: 4096, layers: 8, heads: 8, "
		     "kv_heads: 8, vocab: 32000, gated_mlp: true, experts: 8, "
		     "experts_per_token: 2, expert_ffn: 512, dropout: 0}\ngroups:\n"
		     "- stack: megatron-core\n  cluster: {accelerator: h100-sxm-80g}\n"
		     "  runs:\n");
	n += snprintf(text + n, sizeof text - (size_t)n, run, filler, "local");
	assert_true(runs_parse(&set, "x.yaml", text, (size_t)n, &error));
	for (int i = 0; i < set.faults; i++)
		print_error("%s\n", set.fault[i].text);
	assert_int_equal(set.faults, 0);
	s = &set.run[0].scenario;
	assert_int_equal(s->plan.pp, 2);
	assert_int_equal(s->plan.vpp, 2);
	assert_int_equal(s->plan.ep, 4);
	assert_int_equal(s->cluster.gpus, 16);
	assert_int_equal(s->plan.attention_kernel, ATTENTION_FUSED_SOFTMAX);
	assert_false(s->plan.fused_norms);
	assert_int_equal(s->plan.moe_dispatcher, DISPATCH_HYBRIDEP);
	assert_int_equal(s->plan.cross_entropy, CE_PLAIN);
	assert_false(s->plan.grouped_gemm || s->plan.overlap_param_gather);
	assert_int_equal(s->model.mtp_layers, 2);
	assert_false(s->model.gated_mlp || s->model.tied_embeddings);
	assert_close(s->model.dropout, 0.25, 1e-12);
	assert_int_equal(s->model.kinds, 2);
	assert_int_equal(s->model.kind[0].attention.head_dim, 64);
	assert_int_equal(model_kind_layers(&s->model, 0), 2);
	assert_string_equal(s->model.name, "e");
	runs_free(&set);
}

/* Tables of runs state shapes, and rarely the vocabulary. Where name and shape are
 * those of a model of the library, it is known; another shape keeps its own. */
static void a_shape_without_vocabulary_is_completed(void **state)
{
	static const struct {
		const char *name, *shape;
		long long vocab;
		int faults;
	} cases[] = {
		{ "baichuan2-7b",
		  "{hidden: 4096, ffn: 11008, layers: 32, heads: 32, gated_mlp: true}",
		  125696, 1 },
		{ "Qwen/Qwen-7B", "{hidden: 4096, ffn: 11008, layers: 32, heads: 32}",
		  151936, 1 },
		{ "baichuan2-7b",
		  "{hidden: 4096, ffn: 11008, layers: 31, heads: 32, vocab: 77}", 77,
		  0 },
		{ "baichuan2-7b",
		  "{hidden: 4096, ffn: 11008, layers: 32, heads: 32, vocab: 77}", 77,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct run_set set = { 0 };
		struct error error = { "" };
		char text[2048];
		int n = snprintf(
			text, sizeof text,
			"models:\n  %s: %s\ngroups:\n- stack: megatron-core\n"
			"  cluster: {accelerator: h100-sxm-80g}\n  runs:\n"
			"  - {id: a, model: %s, gpus: 8, tp: 1, pp: 1, gbs: 8, seq: "
			"4096}\n  - {id: b, model: other, gpus: 8, tp: 1, pp: 1, gbs: "
			"8, seq: 4096}\n",
			cases[i].name, cases[i].shape, cases[i].name);

		assert_true(runs_parse(&set, "x.yaml", text, (size_t)n, &error));
		assert_true(set.run[0].readable);
		assert_int_equal(set.run[0].scenario.model.vocab, cases[i].vocab);
		assert_true(set.run[0].scenario.model.gated_mlp || i > 1);
		/* and the model that there is not */
		assert_int_equal(set.faults, cases[i].faults + 1);
		if (cases[i].faults)
			assert_non_null(strstr(set.fault[0].text, "x.yaml:2: "));
		runs_free(&set);
	}
}

/* Of a run whose layers were timed alone, nothing of the table of words, of its loss or
 * of the update is predicted. */
static void layers_are_timed_without_the_ends(void **state)
{
	double seconds[2][2];

	(void)state;
	for (int words = 0; words < 2; words++) {
		struct run_set set = { 0 };
		struct run_scores scores = { 0 };
		struct error error = { "" };
		char text[2048];
		int n = snprintf(
			text, sizeof text,
			"models:\n  m: {hidden: 4096, ffn: 16384, layers: 2, heads: "
			"32, vocab: %s, gated_mlp: false}\ngroups:\n- stack: "
			"megatron-core\n  cluster: {accelerator: h100-sxm-80g}\n"
			"  runs:\n  - {id: a, model: m, gpus: 1, tp: 1, pp: 1, "
			"gbs: 4, mbs: 4, seq: 2048, measured: {step_seconds: 1}, use: "
			"[time]}\n  - {id: b, model: m, gpus: 1, tp: 1, pp: 1, gbs: "
			"4, mbs: 4, seq: 2048, measured_part: layers, measured: "
			"{step_seconds: 1}, use: [time]}\n",
			words ? "256000" : "32000");

		assert_true(runs_parse(&set, "x.yaml", text, (size_t)n, &error));
		assert_int_equal(set.faults, 0);
		assert_true(runs_score(&set, &scores));
		for (int i = 0; i < 2; i++)
			seconds[words][i] = scores.rows[i].predicted_seconds;
		assert_close(scores.rows[1].high_seconds / seconds[words][1],
			     scores.rows[0].high_seconds / seconds[words][0], 1e-9);
		run_scores_free(&scores);
		runs_free(&set);
	}
	/* enough tokens that no launch of the ends hides behind theirs */
	assert_true(seconds[1][0] > 1.1 * seconds[0][0]);
	assert_close(seconds[1][1], seconds[0][1], 1e-9);
	assert_true(seconds[0][1] > 0 && seconds[0][1] < 0.9 * seconds[0][0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_read_whole),
		cmocka_unit_test(a_fault_is_one_line_and_the_rest_is_kept),
		cmocka_unit_test(an_unknown_machine_or_stack_refuses_its_group_only),
		cmocka_unit_test(a_file_that_holds_no_runs_is_refused),
		cmocka_unit_test(facts_about_a_job_are_no_inputs),
		cmocka_unit_test(a_shape_without_vocabulary_is_completed),
		cmocka_unit_test(runs_of_one_plan_are_repeats),
		cmocka_unit_test(every_name_of_a_stack_is_that_stack),
		cmocka_unit_test(words_of_sources_turn_knobs),
		cmocka_unit_test(megatrons_arguments_are_read_whole),
		cmocka_unit_test(layers_are_timed_without_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
