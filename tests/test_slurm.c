/* test_slurm.c - recipes of srt-slurm: workers of each kind, machine and requests. */
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/run.h"

#define HEAD(gpu, precision)                                                     \
	"name: x\nmodel:\n  path: dsr1\n  container: c\n  precision: " precision \
	"\nresources:\n  gpu_type: " gpu "\n"

static void pools_of_trtllm_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"trtllm",
		HEAD("gb300",
		     "fp8") "  prefill_workers: 3\n  decode_workers: 2\n  gpus_per_node: 4\n"
			    "backend:\n  type: trtllm\n  trtllm_config:\n"
			    "    prefill:\n      enable_attention_dp: true\n"
			    "      max_num_tokens: 8320\n      tensor_parallel_size: 4\n"
			    "      moe_expert_parallel_size: 4\n"
			    "    decode:\n      max_num_tokens: 64\n      max_batch_size: 32\n"
			    "      tensor_parallel_size: 8\n      moe_expert_parallel_size: 8\n"
			    "      kv_cache_config:\n        dtype: fp8\n"
			    "        free_gpu_memory_fraction: 0.7\n"
			    "benchmark:\n  isl: 8192\n  osl: 1024\n  concurrencies: 16x128x32\n",
		&s);
	assert_string_equal(s.model.name, "deepseek-v3");
	assert_non_null(strstr(s.model.approximate, "by its name alone"));
	assert_string_equal(s.cluster.name, "gb300-nvl72");
	expect(&s, "gpus", "28");
	expect(&s, "prefill_gpus", "12");
	expect(&s, "prefill_tp", "1");
	expect(&s, "prefill_dp_attention", "4");
	expect(&s, "prefill_ep", "4");
	expect(&s, "tp", "8");
	expect(&s, "ep", "8");
	expect(&s, "max_requests", "32");
	expect(&s, "memory_share", "0.7");
	/* how prompts are cut is said where they are prefilled */
	expect(&s, "max_batched_tokens", "8320");
	expect(&s, "prompt", "8192");
	expect(&s, "output", "1024");
	expect(&s, "concurrency", "128");
	/* published in blocks of fp8, which is what the recipe's word means */
	expect(&s, "precision", "fp8-block");
	assert_true(noted(IMPORT_ASSUMED, "concurrency"));
	assert_false(noted(IMPORT_ASSUMED, "prompt"));
	assert_false(noted(IMPORT_ASSUMED, "cluster"));
}

static void one_server_of_sglang_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good(
		"sglang",
		HEAD("h200",
		     "fp4") "  agg_nodes: 1\n  agg_workers: 2\n  gpus_per_node: 8\n"
			    "backend:\n  sglang_config:\n    aggregated:\n"
			    "      served-model-name: deepseek-ai/DeepSeek-R1\n"
			    "      model-path: /model/\n      disable-radix-cache: false\n"
			    "      tensor-parallel-size: 8\n"
			    "      tensor-parallel-size: 4\n" /* the last one counts */
			    "      data-parallel-size: 4\n"
			    "      enable-dp-attention: true\n",
		&s);
	assert_string_equal(s.model.name, "deepseek-v3");
	assert_string_equal(s.model.approximate, "");
	expect(&s, "gpus", "8");
	expect(&s, "tp", "1");
	expect(&s, "dp_attention", "4");
	expect(&s, "prefix_cache", "on");
	expect(&s, "precision", "nvfp4");
	expect(&s, "disaggregated", "off");
	assert_true(noted(IMPORT_ASSUMED, "prompt"));
}

static void what_it_lacks_is_told(void **state)
{
	(void)state;
	read_refused("vllm",
		     HEAD("h200", "fp8") "backend:\n  sglang_config:\n    aggregated:\n"
					 "      tp-size: 4\n",
		     "no backend.vllm_config");
	read_refused("sglang",
		     HEAD("tpu", "fp8") "backend:\n  sglang_config:\n    aggregated:\n"
					"      tp-size: 4\n",
		     "file:7: resources.gpu_type is 'tpu'");
	read_refused("sglang",
		     "model:\n  path: never-heard-of-it\n  precision: fp8\nresources:\n"
		     "  gpu_type: h200\nbackend:\n  sglang_config:\n    aggregated:\n"
		     "      tp-size: 4\n",
		     "no model 'never-heard-of-it'");
}

#define SEVERAL                                                                  \
	"base:\n  model:\n    path: dsr1\n    precision: fp8\n"                  \
	"  resources:\n    gpu_type: h200\n    agg_workers: 1\n"                 \
	"  backend:\n    sglang_config:\n      aggregated:\n"                    \
	"        tp-size: 8\n        max-running-requests: 64\n"                 \
	"  benchmark:\n    isl: 1024\n    osl: 512\n    concurrencies: [4, 8]\n" \
	"override_small:\n  resources:\n    agg_workers: 2\n  backend:\n"        \
	"    sglang_config:\n      aggregated:\n        tp-size: 4\n"            \
	"        max-running-requests: null\n"                                   \
	"zip_override_deep:\n  resources:\n    agg_workers: [1, 3]\n"            \
	"  benchmark:\n    isl: [256]\n    concurrencies: [\"2x16\", \"32\"]\n"

static void read_variant(const char *name, struct scenario *out)
{
	read_given(&(struct script_given){ .function = name });
	read_good("sglang", SEVERAL, out);
	read_given(NULL);
}

/* A file of variants is the one that is named: mappings are merged, lists replaced,
 * null takes away, lists of a zip go side by side. */
static void one_of_several_recipes_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_variant("base", &s);
	expect(&s, "gpus", "8");
	expect(&s, "concurrency", "8");
	expect(&s, "max_requests", "64");
	read_variant("override_small", &s);
	expect(&s, "tp", "4");
	expect(&s, "gpus", "8");
	expect(&s, "prompt", "1024");
	expect(&s, "max_requests", "auto");
	read_variant("zip_override_deep[1]", &s);
	expect(&s, "tp", "8");
	expect(&s, "gpus", "24");
	expect(&s, "prompt", "256");
	expect(&s, "output", "512");
	expect(&s, "concurrency", "32");
	read_variant("zip_override_deep[0]", &s);
	expect(&s, "gpus", "8");
	expect(&s, "concurrency", "16");
	read_refused("sglang", SEVERAL,
		     "4 recipes in one; --function NAME says which: base, "
		     "override_small, zip_override_deep[0..1]");
	read_given(&(struct script_given){ .function = "zip_override_deep[2]" });
	read_refused("sglang", SEVERAL, "no recipe is called 'zip_override_deep[2]'");
	read_given(NULL);
}

static void its_tool_is_told_by_the_file(void **state)
{
	struct ran ran = run("eval tests/fuzz/seeds/trtllm/slurm");

	(void)state;
	run_check("eval tests/fuzz/seeds/sglang/slurm", 0, "qwen3-32b on 4 x gb200",
		  NULL);
	assert_non_null(strstr(ran.out, "deepseek-v3 on 16 x b200"));
	ran_free(&ran);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_of_trtllm_are_read),
		cmocka_unit_test(one_server_of_sglang_is_read),
		cmocka_unit_test(what_it_lacks_is_told),
		cmocka_unit_test(one_of_several_recipes_is_read),
		cmocka_unit_test(its_tool_is_told_by_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
