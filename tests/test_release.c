/* test_release.c - a stack as one of its releases had it: which changes are taken back,
 * what is refused, and that files and runs say which. */
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "presets/library.h"
#include "presets/release.h"
#include "presets/runs/runs.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

static struct scenario with(const char *name)
{
	struct error error = { "" };
	struct scenario s;

	scenario_defaults(&s);
	if (!library_stack(&s, name, &error))
		fail_msg("%s: %s", name, error.text);
	return s;
}

static double share(const char *name)
{
	return with(name).plan.serving.memory_share;
}

/* gpu_memory_utilization is 0.92 since 0.20.0 of 2026-04-21. */
static void what_came_later_is_taken_back(void **state)
{
	(void)state;
	assert_close(share("vllm"), 0.92, 1e-12);
	assert_close(share("vllm@0.20.0"), 0.92, 1e-12);
	assert_close(share("vllm@0.20"), 0.92, 1e-12);
	assert_close(share("vllm@v1.0"), 0.92, 1e-12);
	assert_close(share("vllm@0.21.0rc1"), 0.92, 1e-12);
	assert_close(share("vllm@0.19.1"), 0.9, 1e-12);
	assert_close(share("vllm@0.9.10"), 0.9, 1e-12);
	assert_close(share("vllm@2026-04-20"), 0.9, 1e-12);
	assert_close(share("vllm@2026-04-21"), 0.92, 1e-12);
	/* engines of TensorRT were launched from C++ */
	assert_true(with("tensorrt-llm").stack.serving.expert_cpu_seconds > 1e-3);
	assert_true(with("trtllm@1.0.0rc3").stack.serving.expert_cpu_seconds > 1e-3);
	assert_close(with("trtllm@0.17").stack.serving.expert_cpu_seconds, 0, 0);
	assert_string_equal(with("trtllm@0.17").stack.name, "tensorrt-llm@0.17");
}

/* CHANGELOG.md of Megatron Core: DeepEP came with 0.12.0, the all-to-all dispatcher and
 * grouped GEMMs of Hopper with 0.6.0. */
static void stacks_that_train_have_releases(void **state)
{
	(void)state;
	assert_int_equal(with("megatron-core").plan.moe_dispatcher, DISPATCH_DEEPEP);
	assert_int_equal(with("megatron-core@0.12.0").plan.moe_dispatcher,
			 DISPATCH_DEEPEP);
	assert_int_equal(with("megatron-core@0.11.0").plan.moe_dispatcher,
			 DISPATCH_ALLTOALL);
	assert_false(with("megatron-core@2025-05-05").plan.router_fusion);
	assert_true(with("megatron-core@2025-05-06").plan.router_fusion);
	assert_true(with("megatron-core@0.6.0").plan.grouped_gemm);
	assert_false(with("megatron-core@0.5.0").plan.grouped_gemm);
	assert_int_equal(with("megatron-core@0.5.0").plan.moe_dispatcher,
			 DISPATCH_ALLGATHER);
	/* the loss is compiled with the model since April of 2025 */
	assert_float_equal(with("torchtitan").stack.compiled_logit_bytes, 4, 0);
	assert_float_equal(with("torchtitan@2025-03-01").stack.compiled_logit_bytes, 0,
			   0);
	/* segments of PyTorch's allocator expand since October of 2024 */
	assert_float_equal(with("torchtitan").stack.fragmentation, 1, 0);
	assert_float_equal(with("torchtitan@2024-10-22").stack.fragmentation, 1, 0);
	assert_float_equal(with("torchtitan@2024-10-21").stack.fragmentation, 1.06,
			   1e-12);
	assert_float_equal(with("mindspeed").stack.fragmentation, 1, 0);
	/* the training script took its own layers before Transformer Engine's */
	assert_true(with("megatron-core@0.6.0").plan.fused_norms);
	assert_false(with("megatron-core@0.5.0").plan.fused_norms);
	assert_int_equal(with("megatron-core@0.5.0").plan.attention_kernel,
			 ATTENTION_FUSED_SOFTMAX);
	/* whose defaults never changed says so, and takes any release */
	assert_false(with("nanotron@2024-01-07").plan.fused_norms);
	assert_true(with("nanotron@0.1").plan.fused_norms);
	assert_int_equal(with("jax-xla@2023-09-13").plan.remat_policy, REMAT_MINIMAL);
	assert_int_equal(with("jax-xla@2023-09-14").plan.recompute, RECOMPUTE_FULL);
	assert_int_equal(with("deepspeed@0.9.0").plan.zero,
			 with("deepspeed").plan.zero);
	assert_string_equal(with("mindspeed@2025-01-01").stack.name,
			    "mindspeed@2025-01-01");
	/* an old release is slower, by what it lacks */
	run_check("eval mixtral-8x7b-64-h100 --stack megatron-core@0.11.0", 0,
		  "megatron-core@0.11.0", NULL);
}

/* What the fit moves is the constants of a stack, whatever release a run names. */
static void releases_are_of_their_stack(void **state)
{
	(void)state;
	assert_true(release_same_stack("megatron-core", "megatron-core@0.11.0"));
	assert_true(release_same_stack("vllm@0.8.0", "vllm@2026-01-01"));
	assert_false(release_same_stack("megatron-core", "megatron-core-2@0.11.0"));
	assert_false(release_same_stack("fsdp@1.0", "torchtitan@1.0"));
}

static const char runs[] =
	"models:\n  m: {like: mixtral-8x7b}\n"
	"groups:\n- source: a\n  stack: megatron-core\n"
	"  cluster: {accelerator: h100-sxm-80g}\n  runs:\n"
	"  - {id: new, software_version: \"25.11\", model: m, gpus: 64, tp: 1, pp: 4, "
	"ep: 8, gbs: 256, seq: 4096}\n"
	"  - {id: old, software_version: \"24.07\", model: m, gpus: 64, tp: 1, pp: 4, "
	"ep: 8, gbs: 256, seq: 4096}\n"
	"  - {id: own, software_version: \"24.07\", model: m, gpus: 64, tp: 1, pp: 4, "
	"ep: 8, gbs: 256, seq: 4096, moe_dispatcher: deepep}\n"
	"  - {id: odd, software_version: nightly, model: m, gpus: 64, tp: 1, pp: 4, "
	"ep: 8, gbs: 256, seq: 4096}\n"
	"  - {id: cut, software_version: \"2024/12-01\", model: m, gpus: 64, tp: 1, "
	"pp: 4, ep: 8, gbs: 256, seq: 4096}\n";

/* A measured run has the defaults of its software's month; its own keys win. */
static void a_measured_run_has_its_release(void **state)
{
	static const int dispatcher[] = { DISPATCH_DEEPEP, DISPATCH_ALLTOALL,
					  DISPATCH_DEEPEP, DISPATCH_DEEPEP,
					  DISPATCH_DEEPEP };
	struct run_set set = { 0 };
	struct error error = { "" };

	(void)state;
	if (!runs_parse(&set, "runs.yaml", runs, strlen(runs), &error) || set.faults)
		fail_msg("%s%s", error.text, set.faults ? set.fault[0].text : "");
	assert_int_equal(set.count, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(set.run[i].scenario.plan.moe_dispatcher,
				 dispatcher[i]);
		assert_string_equal(set.run[i].scenario.stack.name, "megatron-core");
	}
	runs_free(&set);
}

static void refuses(const char *name, const char *says)
{
	struct error error = { "" };
	struct scenario s;

	scenario_defaults(&s);
	if (library_stack(&s, name, &error))
		fail_msg("%s is taken", name);
	if (!strstr(error.text, says))
		fail_msg("%s: '%s', not '%s'", name, error.text, says);
}

static void no_release_is_made_up(void **state)
{
	(void)state;
	refuses("vllm@", "is none");
	refuses("vllm@new", "is none");
	refuses("vllm@2026-4-1x", "is none");
	refuses("lmdeploy@0.7", "knows no releases");
	run_check("eval --mode inference --model llama3.1-8b --gpus 1 --stack "
		  "vllm@new",
		  2, NULL, "such as 0.19.1");
}

static void reads(const char *text, struct scenario *s, const char *fault)
{
	struct error error = { "" };
	bool good = scenario_parse(s, "plan.yaml", text, strlen(text), NULL, &error);

	if (good != !fault || (fault && !strstr(error.text, fault)))
		fail_msg("%s: '%s'", text, error.text);
}

static void a_scenario_says_its_release(void **state)
{
	struct scenario s, again;
	char *text;

	(void)state;
	reads("model: llama3.1-8b\nstack: vllm\nrelease: 0.19.1\nmode: inference\n", &s,
	      NULL);
	assert_string_equal(s.stack.name, "vllm@0.19.1");
	assert_close(s.plan.serving.memory_share, 0.9, 1e-12);
	text = scenario_write(&s);
	assert_non_null(strstr(text, "vllm@0.19.1"));
	reads(text, &again, NULL);
	assert_memory_equal(&s.stack, &again.stack, sizeof s.stack);
	assert_close(again.plan.serving.memory_share, 0.9, 1e-12);
	free(text);
	reads("model: llama3.1-8b\nrelease: 0.19.1\n", &s, "plan.yaml:2");
	reads("model: llama3.1-8b\nstack: vllm\nrelease: soon\n", &s, "plan.yaml:3");
}

static double tokens_of_a_pass(const char *cluster, const char *stack)
{
	static struct estimate estimate;
	struct error error = { "" };
	struct scenario s;

	if (!scenario_blank(&s, "llama3.2-1b", cluster, stack, &error))
		fail_msg("%s", error.text);
	s.plan.mode = MODE_INFERENCE;
	s.plan.tp = 1;
	s.plan.serving.prompt_len = 100;
	serve_estimate(&s, &estimate);
	assert_true(estimate.legal);
	return estimate.serving.budget_tokens;
}

/* chunked_prefill_size of SGLang is 2,048 on GPUs below 35 GiB, and 16,384 from 160 GiB
 * on; max_num_batched_tokens of vLLM the same from there on, since 2026-08. */
static void passes_are_as_long_as_the_gpus_of_a_release_had_them(void **state)
{
	(void)state;
	assert_close(tokens_of_a_pass("l4", "sglang"), 2048, 0);
	assert_close(tokens_of_a_pass("l4", "sglang@0.3.6"), 8192, 0);
	assert_close(tokens_of_a_pass("dgx-h100", "sglang"), 8192, 0);
	assert_close(tokens_of_a_pass("dgx-b200", "sglang"), 16384, 0);
	assert_close(tokens_of_a_pass("dgx-b200", "sglang@0.4.6"), 8192, 0);
	assert_close(tokens_of_a_pass("dgx-b200", "vllm"), 16384, 0);
	assert_close(tokens_of_a_pass("dgx-b200", "vllm@0.26.0"), 8192, 0);
	assert_true(with("sglang@0.2.13").plan.serving.chunked_prefill);
	assert_false(with("sglang@0.2.12").plan.serving.chunked_prefill);
}

static double tpot_of(const char *stack, const char *words)
{
	static struct estimate estimate;
	struct error error = { "" };
	struct scenario s;

	if (!scenario_blank(&s, "llama3.1-8b", "dgx-h100", stack, &error))
		fail_msg("%s", error.text);
	s.plan.mode = MODE_INFERENCE;
	s.plan.tp = 1;
	s.plan.serving.concurrency = 64;
	if (words)
		s.plan.serving.host_overlap = strcmp(words, "on") == 0;
	serve_estimate(&s, &estimate);
	assert_true(estimate.legal);
	return estimate.serving.tpot_seconds;
}

/* Async scheduling is vLLM's default since 0.14.0 of 2026-01-20, the overlap scheduler
 * SGLang's since 0.4.0: before, the GPU waits for the host at each pass, unless it is
 * asked for. No release is slower than the one before it by that. */
static void an_old_host_is_not_hidden(void **state)
{
	static const char *const older[][3] = {
		{ "vllm@0.8.0", "vllm@0.13.0", "vllm@0.14.0" },
		{ "vllm@2025-10-01", "vllm@2026-01-19", "vllm@2026-01-20" },
		{ "sglang@0.3.0", "sglang@0.3.6", "sglang@0.4.0" },
	};
	/* of each of 64 requests */
	static const double hidden[] = { 16e-6, 16e-6, 10e-6 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		double now = tpot_of(older[i][2], NULL);
		double before = tpot_of(older[i][1], NULL);

		assert_true(before > now);
		assert_true(tpot_of(older[i][0], NULL) >= before);
		assert_true(before - now > 0.9 * 64 * hidden[i]);
		assert_true(before - now < 2 * 64 * hidden[i]);
		/* SGLang's kernels were others then, too */
		if (i == 2)
			continue;
		assert_close(tpot_of(older[i][1], "on"), now, 1e-12);
		assert_close(tpot_of(older[i][2], "off"), before, 1e-12);
	}
	assert_true(with("vllm@0.14.0").plan.serving.host_overlap);
	assert_false(with("vllm@0.13.0").plan.serving.host_overlap);
	run_check("eval --mode inference --model llama3.1-8b --gpus 1 --stack "
		  "vllm@0.13.0 --async_scheduling on",
		  0, "vllm@0.13.0", NULL);
	run_check("export vllm --mode inference --model llama3.1-8b --gpus 1 --stack "
		  "vllm@0.13.0 --host_overlap on",
		  0, "--async-scheduling", NULL);
	run_check("export vllm --mode inference --model llama3.1-8b --gpus 1 --stack "
		  "vllm --host_overlap off",
		  0, "--no-async-scheduling", NULL);
}

static double first_token(const char *cluster, const char *stack)
{
	static struct estimate estimate;
	struct error error = { "" };
	struct scenario s;

	if (!scenario_blank(&s, "llama3.1-8b", cluster, stack, &error))
		fail_msg("%s", error.text);
	s.plan.mode = MODE_INFERENCE;
	s.plan.tp = 1;
	s.plan.serving.concurrency = 1;
	s.plan.serving.prompt_len = 16000;
	serve_estimate(&s, &estimate);
	assert_true(estimate.legal);
	return estimate.serving.ttft_seconds;
}

/* vLLM has FlashAttention 3 on Hopper since 0.7.0 of 2025-01-27, SGLang since
 * FlashInfer 0.2; an A100 never had it. Of 16,000 tokens a layer's attention is 2 *
 * 16000^2 * 4096 FLOPs, of 32 layers 67e12: at 57.5 % of 989 TFLOP/s 0.118 s, with what
 * .281 / .448 of that leaves 0.188 s, in passes at .794 of the rates. */
static void old_kernels_attend_more_slowly(void **state)
{
	double later = first_token("dgx-h100", "vllm@0.7.0");
	double before = first_token("dgx-h100", "vllm@0.6.6");

	(void)state;
	assert_close(before - later, (0.188 - 0.118) / 0.794, 0.02);
	assert_close(first_token("dgx-a100-80g", "vllm@0.6.6"),
		     first_token("dgx-a100-80g", "vllm@0.7.0"), 1e-12);
	assert_true(first_token("dgx-h100", "sglang@0.3.6") >
		    1.1 * first_token("dgx-h100", "sglang@0.4.0"));
	/* the API server stood in the engine's way: 4.3 ms a pass, and its prompt has
	 * two of 8,192 */
	assert_close(first_token("dgx-h100", "vllm@0.5.5") -
			     first_token("dgx-h100", "vllm@0.6.0"),
		     2 * (4.96e-3 - 0.67e-3), 0.01);
	assert_false(with("vllm@0.7.3").plan.serving.prefix_cache);
	assert_true(with("vllm@0.8.0").plan.serving.prefix_cache);
	run_check("eval --mode inference --model llama3.1-8b --gpus 1 --stack "
		  "vllm@0.19.1",
		  0,
		  "in that release, not as now: serving.large_batched_tokens 0, "
		  "memory_share 0.9\n",
		  NULL);
	run_check("eval --mode inference --model llama3.1-8b --gpus 1 --stack "
		  "vllm@0.13.0",
		  0, "host_overlap off", NULL);
	run_check("explain passes.mixed.operators.5.flops_per_second --mode inference "
		  "--model llama3.1-8b --cluster dgx-h100 --gpus 1 --stack vllm@0.6.6",
		  0, "of FlashAttention 2, as the release has it", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_later_is_taken_back),
		cmocka_unit_test(stacks_that_train_have_releases),
		cmocka_unit_test(passes_are_as_long_as_the_gpus_of_a_release_had_them),
		cmocka_unit_test(an_old_host_is_not_hidden),
		cmocka_unit_test(old_kernels_attend_more_slowly),
		cmocka_unit_test(releases_are_of_their_stack),
		cmocka_unit_test(a_measured_run_has_its_release),
		cmocka_unit_test(no_release_is_made_up),
		cmocka_unit_test(a_scenario_says_its_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
