/* test_servers.c - launch commands of vLLM, SGLang and TensorRT-LLM: read, and written
 * so that they are read as the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/ability.h"
#include "engine/rules/legality.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "presets/serving/serving.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

enum { SCENARIOS = 1500 };

static struct import_report report;

static bool read_as(const char *format, const char *text, struct scenario *out,
		    struct error *error)
{
	memset(&report, 0, sizeof report);
	memset(out, 0, sizeof *out);
	error->text[0] = '\0';
	if (!format_find(format)->in.read(out, "file", text, strlen(text), &report,
					  error))
		return false;
	snprintf(report.kept, sizeof report.kept, "%s", format);
	return true;
}

static void read_good(const char *format, const char *text, struct scenario *out)
{
	struct error error;

	if (!read_as(format, text, out, &error))
		fail_msg("%s: %s, in\n%s", format, error.text, text);
}

static void expect(const struct scenario *s, const char *key, const char *value)
{
	char text[MAX_LAYOUT];

	knob_print(s, knob_find(key), text, sizeof text);
	if (strcmp(text, value) != 0)
		fail_msg("%s is %s, expected %s", key, text, value);
}

static const char *noted(enum import_kind kind, const char *key)
{
	for (int i = 0; i < report.count; i++)
		if (report.note[i].kind == kind && strcmp(report.note[i].key, key) == 0)
			return report.note[i].text;
	return NULL;
}

static void expect_not_modelled(const char *key, const char *value)
{
	const char *text = noted(IMPORT_NOT_MODELLED, key);

	if (!text || strcmp(text, value) != 0)
		fail_msg("%s is noted as %s, expected %s", key, text ? text : "nothing",
			 value);
}

static char *write_as(const char *format, const struct scenario *s,
		      const struct import_report *kept)
{
	struct format_request request = { .scenario = s, .kept = kept };
	char *text = format_find_written(format)->out.write(&request);

	assert_non_null(text);
	return text;
}

static void test_vllm_script(void **state)
{
	static const char script[] =
		"#!/bin/bash\n"
		"MODEL=${MODEL:-org/Meta-Llama-3.1-70B-Instruct-FP8}\nTP=4\n"
		"docker pull vllm/vllm-openai:latest\n"
		"vllm serve \"$MODEL\" --tensor-parallel-size $TP -dp 2 \\\n"
		"  --max_num_seqs 128 --gpu-memory-utilization=0.95 \\\n"
		"  --trust-remote-code --no-enable-prefix-caching \\\n"
		"  --speculative-config '{\n    \"method\": \"eagle3\",\n"
		"    \"model\": \"org/draft\", \"num_speculative_tokens\": 4}' \\\n"
		"  --kv-cache-dtype fp8_e4m3 --served-model-name a b \\\n"
		"  --tensor-parallel-size $TP # --pipeline-parallel-size 3\n"
		"vllm bench serve --model $MODEL --a --b --c --d --e --f --g --h\n";
	struct scenario s;

	(void)state;
	read_good("vllm", script, &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	assert_string_equal(s.stack.name, "vllm");
	expect(&s, "mode", "inference");
	expect(&s, "tp", "4");
	expect(&s, "pp", "1");
	expect(&s, "gpus", "8"); /* a dense model: two engines */
	expect(&s, "dp_attention", "1");
	expect(&s, "precision", "fp8"); /* by its name */
	expect(&s, "kv_precision", "fp8");
	expect(&s, "memory_share", "0.95");
	expect(&s, "max_requests", "128");
	expect(&s, "prefix_cache", "off");
	expect(&s, "chunked_prefill", "on");
	expect(&s, "speculative", "draft");
	expect(&s, "draft_tokens", "4");
	expect_not_modelled("served-model-name", "a b");
	expect_not_modelled("trust-remote-code", "");
	expect_not_modelled("speculative-config.model", "org/draft");
	assert_non_null(noted(IMPORT_TAKEN, "tensor-parallel-size"));
	assert_non_null(noted(IMPORT_ASSUMED, "cluster"));
	assert_null(noted(IMPORT_APPROXIMATE, "gpu-memory-utilization"));
	assert_int_equal(scenario_check(&s, NULL), 0);
}

/* Before it starts its server a script looks whether the package is there: that is no
 * server, nor is an image that runs something else than its own. */
static void test_what_only_names_a_server_is_none(void **state)
{
	static const char *const asks[] = {
		"python3 -c \"import vllm; print(vllm.__version__)\"\n",
		"python3 -c \"from vllm.entrypoints.openai import api_server\"\n",
		"docker run --rm vllm/vllm-openai:latest python3 -c 'import vllm'\n",
		"docker run --rm --entrypoint=nvidia-smi vllm/vllm-openai -L\n",
		"srun --container-image=vllm/vllm-openai python3 -c 'import vllm'\n",
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
		char script[256];

		snprintf(script, sizeof script, "%svllm serve Qwen/Qwen3-8B -tp 2\n",
			 asks[i]);
		read_good("vllm", script, &s);
		assert_string_equal(s.model.name, "qwen3-8b");
		expect(&s, "tp", "2");
	}
	read_good("vllm",
		  "docker run --entrypoint bash vllm/vllm-openai:latest -c "
		  "'vllm serve Qwen/Qwen3-8B --tensor-parallel-size 4'\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "4");
}

static void test_vllm_experts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "docker run --gpus all vllm/vllm-openai:v0.9 --model "
		  "deepseek-ai/DeepSeek-R1-0528 -tp 2 --data-parallel-size 8 "
		  "--enable-expert-parallel --enable-eplb --num-redundant-experts 32 "
		  "--speculative-config.method deepseek_mtp "
		  "--speculative-config.num_speculative_tokens 1\n",
		  &s);
	assert_string_equal(s.model.name, "deepseek-v3");
	expect(&s, "tp", "2");
	expect(&s, "dp_attention", "8");
	expect(&s, "ep", "16");
	expect(&s, "gpus", "16");
	expect(&s, "redundant_experts", "32");
	expect(&s, "precision", "fp8-block");
	expect(&s, "speculative", "mtp");
	expect(&s, "draft_tokens", "1");
	read_good("vllm",
		  "python -m vllm.entrypoints.openai.api_server --model "
		  "mistralai/Mixtral-8x7B-Instruct-v0.1 --dtype half -dp 4\n",
		  &s);
	assert_string_equal(s.model.name, "mixtral-8x7b");
	expect(&s, "precision", "fp16");
	expect(&s, "dp_attention", "4");
	expect(&s, "ep", "1"); /* each expert across all ranks */
	read_good("vllm",
		  "model: Qwen/Qwen3-32B-AWQ\ntensor-parallel-size: 2\n"
		  "enable-chunked-prefill: false\nkv-cache-dtype: auto\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "2");
	expect(&s, "precision", "int4");
	expect(&s, "chunked_prefill", "off");
	expect(&s, "kv_precision", "auto");
}

/* Adapters are held where the switch is there: vLLM holds one by itself, SGLang eight;
 * TensorRT-LLM has room for rank 64. */
static void test_adapters(void **state)
{
	static const char vllm[] =
		"vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 ";
	static const char sglang[] = "python -m sglang.launch_server --model-path "
				     "meta-llama/Llama-3.1-70B-Instruct --tp 4 ";
	static const char trtllm[] =
		"model: meta-llama/Llama-3.1-70B-Instruct\ntp_size: 4\n";
	static const struct {
		const char *tool, *command, *flags, *adapters, *rank;
	} rows[] = {
		{ "vllm", vllm, "--enable-lora --max-loras 4 --max-lora-rank 64", "4",
		  "64" },
		{ "vllm", vllm, "--enable-lora", "1", "16" },
		{ "vllm", vllm, "--max-loras 4", "none", "16" },
		{ "sglang", sglang, "--enable-lora --max-lora-rank 32", "8", "32" },
		{ "sglang", sglang, "--enable-lora --max-loras-per-batch 2", "2",
		  "16" },
		{ "trtllm", trtllm, "lora_config:\n  max_loras: 3\n  max_lora_rank: 8",
		  "3", "8" },
		{ "trtllm", trtllm,
		  "lora_config:\n  lora_target_modules: [attn_q, attn_dense]", "1",
		  "64" },
		{ "trtllm", trtllm, "enable_lora: true", "1", "64" },
		{ "trtllm", trtllm, "", "none", "16" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		char text[256];

		snprintf(text, sizeof text, "%s%s\n", rows[i].command, rows[i].flags);
		read_good(rows[i].tool, text, &s);
		expect(&s, "adapters", rows[i].adapters);
		expect(&s, "adapter_rank", rows[i].rank);
		assert_null(noted(IMPORT_NOT_MODELLED, "enable-lora"));
		assert_null(noted(IMPORT_NOT_MODELLED, "max-loras"));
	}
}

/* A cache on the host: vLLM has GiB of all ranks of an engine, SGLang GB of each or so
 * many times its cache, TensorRT-LLM bytes of each. */
static void test_cache_on_the_host(void **state)
{
	static const struct {
		const char *tool, *text, *host_kv, *written;
	} rows[] = {
		{ "vllm",
		  "vllm serve meta-llama/Llama-3.1-70B -tp 4 -pp 2 "
		  "--kv-offloading-size 512 --kv-offloading-backend native",
		  "64", "--kv-offloading-size 512" },
		{ "sglang",
		  "python -m sglang.launch_server --model-path "
		  "meta-llama/Llama-3.1-70B --tp 4 --enable-hierarchical-cache "
		  "--hicache-size 100",
		  "93.132258", "--hicache-size 100" },
		{ "trtllm",
		  "model: meta-llama/Llama-3.1-70B\ntp_size: 4\nkv_cache_config:\n"
		  "  host_cache_size: 34359738368",
		  "32", "host_cache_size: 34359738368" },
		{ "vllm", "vllm serve meta-llama/Llama-3.1-70B -tp 4", "none", "" },
		{ "sglang",
		  "python -m sglang.launch_server --model-path "
		  "meta-llama/Llama-3.1-70B --tp 4 --hicache-size 100",
		  "none", "" },
	};
	struct scenario s;
	struct error error;
	double ratio;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *text;

		read_good(rows[i].tool, rows[i].text, &s);
		if (strncmp(rows[i].host_kv, "93", 2) != 0)
			expect(&s, "host_kv", rows[i].host_kv);
		text = write_as(rows[i].tool, &s, NULL);
		if (!strstr(text, rows[i].written))
			fail_msg("no %s in\n%s", rows[i].written, text);
		assert_null(strstr(text, "not representable in this target: host_kv"));
		free(text);
	}
	/* twice the cache where nothing is said */
	read_good("sglang",
		  "python -m sglang.launch_server --model-path "
		  "meta-llama/Llama-3.1-70B --tp 4 --enable-hierarchical-cache",
		  &s);
	ratio = s.plan.serving.host_kv_bytes;
	assert_non_null(noted(IMPORT_ASSUMED, "host_kv"));
	read_good("sglang",
		  "python -m sglang.launch_server --model-path "
		  "meta-llama/Llama-3.1-70B --tp 4 --enable-hierarchical-cache "
		  "--hicache-ratio 1",
		  &s);
	assert_close(ratio, 2 * s.plan.serving.host_kv_bytes, 1e-6);
	assert_false(read_as("vllm",
			     "vllm serve meta-llama/Llama-3.1-70B "
			     "--kv-offloading-size much",
			     &s, &error));
	assert_non_null(strstr(error.text, "kv-offloading-size"));
}

/* TensorRT-LLM is told which matrices have adapters; those of the file it came from
 * stay. */
static void test_adapters_are_written(void **state)
{
	struct scenario s;
	char *text;

	(void)state;
	read_good("trtllm",
		  "model: meta-llama/Llama-3.1-70B-Instruct\ntp_size: 4\n"
		  "lora_config:\n  lora_target_modules: [attn_q, attn_dense]\n"
		  "  max_loras: 3\n",
		  &s);
	text = write_as("trtllm", &s, &report);
	assert_non_null(strstr(text, "lora_config:\n  max_loras: 3\n"
				     "  max_lora_rank: 64\n"
				     "  lora_target_modules: [attn_q, attn_dense]\n"));
	free(text);
	text = write_as("trtllm", &s, NULL);
	assert_non_null(strstr(text, "mlp_h_to_4h"));
	free(text);
}

static void expect_words(const char *text, const char *words, bool there)
{
	if ((strstr(text, words) != NULL) != there)
		fail_msg("%s %s in\n%s", there ? "no" : "there is", words, text);
}

/* SGLang starts with adapters only where it is told the matrices, sends tokens to spare
 * experts only where it looks for them, and speculates beside no adapters. */
static void test_what_sglang_asks_for(void **state)
{
	static const struct {
		const char *model, *modules;
	} rows[] = {
		{ "llama3.1-8b", "--lora-target-modules q_proj k_proj v_proj o_proj "
				 "gate_proj up_proj down_proj" },
		{ "mixtral-8x7b",
		  "--lora-target-modules q_proj k_proj v_proj o_proj\n" },
		{ "deepseek-v3", "--lora-target-modules all" },
	};
	struct error error;
	struct scenario s;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_true(scenario_blank(&s, rows[i].model, "dgx-h200", "sglang",
					   &error));
		s.plan.mode = MODE_INFERENCE;
		s.cluster.gpus = s.plan.tp = 8;
		s.plan.serving.adapters = 4;
		text = write_as("sglang", &s, NULL);
		expect_words(text, rows[i].modules, true);
		expect_words(text, "refuses it", false);
		free(text);
	}
	/* releases before 0.5.15 have one word for all graphs, and a file with it is
	 * not told twice */
	assert_true(
		scenario_blank(&s, "llama3.1-8b", "dgx-h100", "sglang@0.5.9", &error));
	s.plan.mode = MODE_INFERENCE;
	s.cluster.gpus = 1;
	s.plan.serving.concurrency = 300;
	s.plan.serving.prompt_len = s.plan.serving.output_len = 100;
	text = write_as("sglang", &s, NULL);
	expect_words(text, "--cuda-graph-max-bs 300", true);
	free(text);
	read_good("sglang",
		  "python3 -m sglang.launch_server --model-path "
		  "meta-llama/Llama-3.1-8B --cuda-graph-max-bs 8\n",
		  &s);
	s.plan.serving.concurrency = 300;
	s.plan.serving.prompt_len = s.plan.serving.output_len = 100;
	text = write_as("sglang", &s, &report);
	expect_words(text, "--cuda-graph-max-bs-decode 300", true);
	expect_words(text, "--cuda-graph-max-bs 8", false);
	free(text);
	assert_true(scenario_blank(&s, "deepseek-v3", "dgx-h200", "sglang", &error));
	s.plan.mode = MODE_INFERENCE;
	s.cluster.gpus = s.plan.tp = 8;
	s.plan.serving.adapters = 4;
	s.plan.ep = 8;
	s.plan.serving.redundant_experts = 32;
	s.plan.serving.speculative = SPECULATIVE_MTP;
	text = write_as("sglang", &s, NULL);
	expect_words(text, "--ep-num-redundant-experts 32", true);
	expect_words(text, "--enable-eplb", true);
	expect_words(text, "speculative: beside LoRA adapters SGLang refuses it", true);
	assert_true(scenario_lacks(&s, NULL) > 0);
	free(text);
}

/* vLLM's batches take turns around an exchange by expert; SGLang's around copies of the
 * attention, too. */
static void test_batches_that_take_turns(void **state)
{
	static const char *const tools[][2] = {
		{ "vllm", "--enable-dbo" }, { "sglang", "--enable-two-batch-overlap" }
	};
	struct error error;

	(void)state;
	for (int i = 0; i < 4; i++) {
		const char *tool = tools[i / 2][0];
		bool by_expert = i % 2, there = by_expert || i / 2 == 1;
		struct scenario s;
		char *text;

		assert_true(
			scenario_blank(&s, "deepseek-v3", "dgx-h200", tool, &error));
		s.plan.mode = MODE_INFERENCE;
		s.cluster.gpus = s.plan.serving.dp_attention = 8;
		s.plan.ep = by_expert ? 8 : 1;
		s.plan.ep_overlap = true;
		text = write_as(tool, &s, NULL);
		expect_words(text, tools[i / 2][1], there);
		expect_words(text, "in this target: ep_overlap", !there);
		free(text);
	}
}

static void test_sglang(void **state)
{
	struct scenario s;

	(void)state;
	read_good("sglang",
		  "python3 -m sglang.launch_server --model-path "
		  "/models/DeepSeek-V3 --tp 16 --dp 4 --enable-dp-attention "
		  "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000 "
		  "--moe-a2a-backend deepep --chunked-prefill-size 32768 "
		  "--max-running-requests 512 --speculative-algorithm EAGLE "
		  "--speculative-num-steps 3 --speculative-eagle-topk 1 "
		  "--speculative-num-draft-tokens 4 --enable-metrics\n",
		  &s);
	expect(&s, "tp", "4"); /* of each copy of the attention */
	expect(&s, "dp_attention", "4");
	expect(&s, "ep", "16");
	expect(&s, "gpus", "16");
	/* the tool's limits are of all copies together */
	expect(&s, "max_batched_tokens", "8192");
	expect(&s, "max_requests", "128");
	expect(&s, "speculative", "mtp");
	expect(&s, "draft_tokens", "3");
	expect(&s, "memory_share", "auto");
	expect_not_modelled("enable-metrics", "");
	assert_null(noted(IMPORT_NOT_MODELLED, "nnodes"));
	assert_int_equal(scenario_check(&s, NULL), 0);
	read_good("sglang",
		  "bash -c \"python -m sglang.launch_server --model "
		  "meta-llama/Llama-3.3-70B-Instruct --tp-size 4 --dp-size 2 "
		  "--disable-radix-cache --chunked-prefill-size -1 --quantization "
		  "fp8\"\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-70b");
	expect(&s, "tp", "4");
	expect(&s, "gpus", "8"); /* two engines */
	expect(&s, "dp_attention", "1");
	expect(&s, "chunked_prefill", "off");
	expect(&s, "prefix_cache", "off");
	expect(&s, "precision", "fp8");
}

/* Two servers that prefill and one over two nodes that decodes. */
static void test_sglang_pools(void **state)
{
	struct scenario s;

	(void)state;
	read_good("sglang",
		  "for i in 1 2; do :; done\n"
		  "python3 -m sglang.launch_server --model-path "
		  "deepseek-ai/DeepSeek-V3 --tp 8 --disaggregation-mode prefill &\n"
		  "python3 -m sglang.launch_server --model-path "
		  "deepseek-ai/DeepSeek-V3 --tp 8 --disaggregation-mode prefill &\n"
		  "D='--tp 16 --dp 16 --enable-dp-attention --ep 16'\n"
		  "python3 -m sglang.launch_server --model-path "
		  "deepseek-ai/DeepSeek-V3 $D --disaggregation-mode decode --nnodes 2 "
		  "--node-rank 0 &\n"
		  "python3 -m sglang.launch_server --model-path "
		  "deepseek-ai/DeepSeek-V3 $D --disaggregation-mode decode --nnodes 2 "
		  "--node-rank 1\n",
		  &s);
	expect(&s, "disaggregated", "on");
	expect(&s, "gpus", "32");
	expect(&s, "prefill_gpus", "16");
	expect(&s, "prefill_tp", "8");
	expect(&s, "prefill_dp_attention", "1");
	expect(&s, "tp", "1");
	expect(&s, "dp_attention", "16");
	expect(&s, "ep", "16");
}

static const char trtllm_script[] =
	"cat >./extra-llm-api-config.yml <<EOF\n"
	"enable_attention_dp: true\ncuda_graph_config:\n  enable_padding: true\n"
	"  batch_sizes: [1, 2, 4]\nkv_cache_config:\n  dtype: fp8\n"
	"  free_gpu_memory_fraction: ${FRACTION:-0.8}\n  enable_block_reuse: false\n"
	"speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\n"
	"moe_config:\n  backend: WIDEEP\n  load_balancer:\n    num_slots: 288\n"
	"EOF\n"
	"trtllm-llmapi-launch trtllm-serve nvidia/DeepSeek-R1-0528-FP4 --tp_size 8 "
	"--ep_size 8 --max_batch_size 128 --max_num_tokens 4096 --host 0.0.0.0 "
	"--extra_llm_api_options ./extra-llm-api-config.yml\n";

/* How weights are stored is said by their checkpoint: TorchLlmArgs has no such field,
 * and LLM() refuses what is none. Engines of old releases were built from it. */
static void test_trtllm_takes_no_format(void **state)
{
	static const struct {
		const char *stack;
		bool says;
	} rows[] = { { "tensorrt-llm", false },
		     { "tensorrt-llm@1.0.0", false },
		     { "tensorrt-llm@0.21.0", true } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct error error = { "" };
		struct scenario s;
		char *text;

		assert_true(scenario_blank(&s, "llama3.1-70b", "dgx-h100",
					   rows[i].stack, &error));
		case_set(&s, "mode", "inference");
		case_set(&s, "precision", "fp8");
		case_set(&s, "gpus", "4");
		case_set(&s, "tp", "4");
		text = write_as("trtllm", &s, NULL);
		assert_int_equal(strstr(text, "quant_algo") != NULL, rows[i].says);
		assert_int_equal(strstr(text, "# not representable in this target: "
					      "precision: fp8") != NULL,
				 !rows[i].says);
		free(text);
	}
}

static void test_trtllm(void **state)
{
	struct scenario s;
	char *text;

	(void)state;
	read_good("trtllm", trtllm_script, &s);
	assert_string_equal(s.model.name, "deepseek-v3");
	assert_string_equal(s.stack.name, "tensorrt-llm");
	expect(&s, "tp", "1"); /* TP makes copies of the attention */
	expect(&s, "dp_attention", "8");
	expect(&s, "ep", "8");
	expect(&s, "gpus", "8");
	expect(&s, "precision", "nvfp4");
	expect(&s, "kv_precision", "fp8");
	expect(&s, "memory_share", "0.8");
	expect(&s, "prefix_cache", "off");
	expect(&s, "redundant_experts", "32");
	expect(&s, "speculative", "mtp");
	expect(&s, "draft_tokens", "3");
	expect(&s, "max_requests", "128");
	expect(&s, "max_batched_tokens", "4096");
	expect(&s, "chunked_prefill", "off"); /* its default */
	expect_not_modelled("cuda_graph_config.batch_sizes", "1 2 4");
	assert_null(noted(IMPORT_NOT_MODELLED, "extra_llm_api_options"));
	text = write_as("trtllm", &s, &report);
	assert_non_null(strstr(text, "nvidia/DeepSeek-R1-0528-FP4"));
	assert_non_null(strstr(text, "  batch_sizes: [1, 2, 4]\n"));
	assert_non_null(strstr(text, "  backend: \"WIDEEP\"\n"));
	assert_non_null(strstr(text, "    num_slots: 288\n"));
	assert_non_null(strstr(text, "--host 0.0.0.0"));
	free(text);
	/* a file that is not here is not opened, and that is said */
	read_good("trtllm",
		  "trtllm-serve meta-llama/Llama-3.1-405B --tp_size 8 "
		  "--extra_llm_api_options x.yaml\n",
		  &s);
	expect_not_modelled("extra_llm_api_options", "x.yaml");
	/* and may be read by itself */
	read_good("trtllm",
		  "tensor_parallel_size: 4\nmoe_expert_parallel_size: 4\n"
		  "model: Qwen/Qwen3-235B-A22B-FP8\n"
		  "kv_cache_config:\n  tokens_per_block: 64\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-235b-a22b");
	expect(&s, "tp", "4");
	expect(&s, "ep", "4");
	expect(&s, "kv_block", "64");
	expect(&s, "precision", "fp8-block");
}

/* Read with the caller's model, and served under its own name. */
static void test_unknown_model(void **state)
{
	static const char script[] =
		"vllm serve org/Of-Its-Own-9B --tensor-parallel-size 2\n";
	struct scenario s;
	struct error error;
	char *text;

	(void)state;
	memset(&report, 0, sizeof report);
	snprintf(report.model, sizeof report.model, "gemma2-9b");
	if (!format_find("vllm")->in.read(&s, "file", script, strlen(script), &report,
					  &error))
		fail_msg("%s", error.text);
	snprintf(report.kept, sizeof report.kept, "vllm");
	assert_string_equal(s.model.name, "gemma2-9b");
	expect_not_modelled("model", "org/Of-Its-Own-9B");
	assert_null(noted(IMPORT_ASSUMED, "model"));
	text = write_as("vllm", &s, &report);
	assert_non_null(strstr(text, "vllm serve org/Of-Its-Own-9B"));
	free(text);
}

/* What a script leaves to the machine that runs it. */
static void test_open_values(void **state)
{
	static const char script[] =
		"TP=${TP:-$(nvidia-smi -L | wc -l)}\n"
		"DP=${DP:-${COPIES:-\"2\"}}\n"
		"for port in 30000 30001; do\n"
		"  python3 -m sglang.launch_server --model-path deepseek-v3.2 \\\n"
		"  `# ===== a remark =====` \\\n"
		"  --tp $TP --dp $DP --kv-cache-dtype fp8_e4m3 --port $port &\n"
		"done\n";
	struct scenario s;
	struct error error;
	char *text;

	(void)state;
	/* a default would be another plan */
	assert_false(read_as("sglang", script, &s, &error));
	assert_non_null(strstr(error.text, "file:6: --tp-size is open: its variable "));
	text = strdup(script);
	assert_non_null(text);
	memcpy(text, "TP=4;", 5);
	memset(text + 5, ' ', strcspn(text, "\n") - 5);
	read_good("sglang", text, &s);
	free(text);
	assert_string_equal(s.model.name, "deepseek-v3.2");
	expect(&s, "tp", "4");
	expect(&s, "gpus", "8");
	expect(&s, "kv_precision", "fp8");
	/* of what parts nothing the default is told */
	read_good("sglang",
		  "python3 -m sglang.launch_server --model-path deepseek-v3.2 --tp 8 "
		  "--max-running-requests $(($A + $B)) --kv-cache-dtype $KV\n",
		  &s);
	assert_true(noted(IMPORT_ASSUMED, "kv_precision"));
	read_good("vllm", "vllm serve Qwen/Qwen3-8B -O3 -dpl 1 --swap-space 4\n", &s);
	text = write_as("vllm", &s, &report);
	assert_non_null(strstr(text, " -O3"));
	assert_null(strstr(text, "--O3"));
	assert_null(strstr(text, "data-parallel-size-local"));
	free(text);
}

static void refused(const char *format, const char *text, const char *reason);

/* Scripts that are written before they are started, and names that a server goes by. */
static void test_written_scripts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "cat > serve.sh <<'EOF'\n#!/bin/bash\n"
		  "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4 \\\n"
		  "  --max-num-seqs 32\nEOF\nbash serve.sh\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "4");
	expect(&s, "max_requests", "32");
	read_good("vllm",
		  "vllm serve /mnt/models --served-model-name Qwen/Qwen3-32B -tp 2\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	assert_true(noted(IMPORT_ASSUMED, "model"));
	/* what a model is called says nothing beside its own name */
	refused("vllm", "vllm serve a/Zz-9B --served-model-name Qwen/Qwen3-32B\n",
		"no model 'a/Zz-9B'");
	refused("vllm", "vllm serve /mnt/models -tp 2\n",
		"a folder of whoever starts it");
	refused("vllm", "vllm serve '{{ .Values.model }}' -tp 2\n",
		"a template fills it in");
}

/* Arguments in a mapping of their own. */
static void test_mapped_arguments(void **state)
{
	struct scenario s;

	(void)state;
	read_good("trtllm",
		  "model: openai/gpt-oss-120b\ntp_size: 8\nllm_api_args:\n"
		  "  enable_attention_dp: true\n  max_batch_size: 16\n",
		  &s);
	expect(&s, "tp", "1");
	expect(&s, "dp_attention", "8");
	expect(&s, "max_requests", "16");
}

static void refused(const char *format, const char *text, const char *reason)
{
	struct scenario s;
	struct error error;

	if (read_as(format, text, &s, &error))
		fail_msg("%s is read", text);
	if (!strstr(error.text, reason) || strncmp(error.text, "file:", 5) != 0)
		fail_msg("%s: %s, expected %s", text, error.text, reason);
}

static void test_refused(void **state)
{
	(void)state;
	refused("vllm", "echo hello\n", "vllm serve");
	refused("sglang", "vllm serve x\n", "sglang.launch_server");
	refused("trtllm", "\n\n", "trtllm-serve");
	refused("vllm", "vllm serve Qwen/Qwen3-8B --tensor-parallel-size many\n",
		"tensor");
	refused("vllm", "\n\nvllm serve Qwen/Qwen3-8B -tp -3\n", ":3: ");
	refused("vllm", "vllm serve Qwen/Qwen3-8B --data-parallel-size 4x\n",
		"whole number");
	refused("vllm", "vllm serve Qwen/Qwen3-8B -dp 99999999999\n",
		"data-parallel-size");
	refused("sglang",
		"python -m sglang.launch_server --model Qwen/Qwen3-8B --tp 8 --dp 3 "
		"--enable-dp-attention\n",
		"no multiple of dp-size 3");
	refused("vllm", "vllm serve Qwen/Qwen3-8B --kv-cache-dtype int3\n",
		"expected one of");
}

/* Nothing of a file reaches a shell again but as a word. */
static void test_kept(void **state)
{
	static const char script[] =
		"vllm serve meta-llama/Llama-3.1-8B --host 0.0.0.0 "
		"--chat-template 'x; $(touch y)' '--a;touch z' 1 "
		"--name \"it's\" --override '$(touch w)' --rope-scaling "
		"'{\"factor\": 2.0}'\n";
	struct scenario s, again;
	char *text;

	(void)state;
	read_good("vllm", script, &s);
	text = write_as("vllm", &s, &report);
	assert_non_null(strstr(text, " --host 0.0.0.0"));
	assert_non_null(strstr(text, " --chat-template 'x; $(touch y)'"));
	assert_non_null(strstr(text, " --name 'it'\\''s'"));
	assert_non_null(strstr(text, " --override '$(touch w)'"));
	assert_non_null(strstr(text, " --rope-scaling '{\"factor\": 2.0}'"));
	assert_null(strstr(text, "--a;touch"));
	assert_non_null(strstr(text, "target: a;touch z"));
	read_good("vllm", text, &again);
	expect_not_modelled("name", "it's");
	free(text);
}

/* --- round trips --- */

/* How long prompts wait for others is said by another key where copies of the attention
 * balance them, and nothing is where they don't. */
static void test_balance(void **state)
{
	static const char *const rows[][2] = {
		{ "batch_wait_timeout_iters: 40", "0" },
		{ "attention_dp_config: {enable_balance: true}", "50" },
		{ "attention_dp_config: {enable_balance: true, timeout_iters: 7}",
		  "7" },
		{ "attention_dp_config: {enable_balance: false, timeout_iters: 7}",
		  "0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		char text[512], *written;

		snprintf(text, sizeof text,
			 "cat > o.yaml <<'EOF'\nenable_attention_dp: true\n%s\nEOF\n"
			 "trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8 --ep_size 8 "
			 "--extra_llm_api_options o.yaml\n",
			 rows[i][0]);
		read_good("trtllm", text, &s);
		assert_int_equal(s.plan.serving.dp_attention, 8);
		assert_int_equal(s.plan.serving.batch_wait, atoi(rows[i][1]));
		written = write_as("trtllm", &s, NULL);
		assert_int_equal(strstr(written, "enable_balance: true") != NULL,
				 s.plan.serving.batch_wait > 0);
		assert_null(strstr(written, "batch_wait_timeout_iters"));
		read_good("trtllm", written, &s);
		assert_int_equal(s.plan.serving.batch_wait, atoi(rows[i][1]));
		free(written);
	}
}

/* LMCache's file: GiB of each worker's host memory, and what nothing here models. */
static void test_lmcache(void **state)
{
	static const struct {
		const char *text;
		double gib;
	} rows[] = {
		{ "chunk_size: 256\nlocal_cpu: true\nmax_local_cpu_size: 20\n", 20 },
		{ "chunk_size: 256\nmax_local_cpu_size: 2.5\n", 2.5 },
		{ "chunk_size: 256\nlocal_cpu: true\n", 5 },
		{ "local_cpu: false\nmax_local_cpu_size: 5\n"
		  "remote_url: redis://localhost:6379\n",
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		struct error error = { "" };

		memset(&report, 0, sizeof report);
		strcpy(report.model, "llama3.1-8b");
		if (!lmcache_read(&s, "lmcache.yaml", rows[i].text,
				  strlen(rows[i].text), &report, &error))
			fail_msg("%s", error.text);
		assert_int_equal(s.plan.mode, MODE_INFERENCE);
		assert_close(s.plan.serving.host_kv_bytes / 1073741824 + 1,
			     rows[i].gib + 1, 1e-9);
		if (strstr(rows[i].text, "chunk_size"))
			expect_not_modelled("chunk_size", "256");
		if (strstr(rows[i].text, "remote_url"))
			expect_not_modelled("remote_url", "redis://localhost:6379");
	}
}

/* The same by variables, of a command that loads LMCache: exported, in front of it, of
 * a container; another cache does not read them. */
static void test_lmcache_variables(void **state)
{
	static const char with[] =
		"vllm serve meta-llama/Llama-3.1-8B --kv-transfer-config "
		"'{\"kv_connector\":\"LMCacheConnectorV1\",\"kv_role\":\"kv_both\"}'";
	static const char without[] =
		"vllm serve meta-llama/Llama-3.1-8B --kv-transfer-config "
		"'{\"kv_connector\":\"LMCacheMPConnector\",\"kv_role\":\"kv_both\"}'";
	static const struct {
		const char *before, *command;
		double gib;
		bool again;
	} rows[] = {
		{ "export LMCACHE_LOCAL_CPU=True LMCACHE_MAX_LOCAL_CPU_SIZE=20\n", with,
		  20, true },
		{ "LMCACHE_MAX_LOCAL_CPU_SIZE=2.5 ", with, 2.5, true },
		{ "SIZE=7; export LMCACHE_MAX_LOCAL_CPU_SIZE=${SIZE}\n", with, 7,
		  true },
		{ "LMCACHE_CHUNK_SIZE=256 ", with, 5, true },
		{ "LMCACHE_LOCAL_CPU=False LMCACHE_MAX_LOCAL_CPU_SIZE=20 ", with, 0,
		  false },
		{ "LMCACHE_MAX_LOCAL_CPU_SIZE=20 ", without, 0, false },
		{ "LMCACHE_CONFIG_FILE=cache.yaml ", with, 0, false },
		{ "LMCACHE_MAX_LOCAL_CPU_SIZE=20 ",
		  "vllm serve meta-llama/Llama-3.1-8B", 0, false },
		{ "LMCACHE_MAX_LOCAL_CPU_SIZE=20 ",
		  "python3 -m dynamo.vllm --model meta-llama/Llama-3.1-8B --connector "
		  "lmcache",
		  20, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		char text[1024], *written;

		snprintf(text, sizeof text, "%s%s --tensor-parallel-size 2\n",
			 rows[i].before, rows[i].command);
		read_good("vllm", text, &s);
		assert_close(s.plan.serving.host_kv_bytes / 1073741824 + 1,
			     rows[i].gib + 1, 1e-9);
		if (!rows[i].again)
			continue;
		written = write_as("vllm", &s, &report);
		assert_non_null(strstr(written, "--kv-offloading-backend lmcache"));
		read_good("vllm", written, &s);
		assert_close(s.plan.serving.host_kv_bytes / 1073741824, rows[i].gib,
			     1e-9);
		free(written);
	}
}

static bool is_said(const char *text, const char *key)
{
	char comment[128];

	snprintf(comment, sizeof comment, "this target: %s:", key);
	return strstr(text, comment) != NULL;
}

static void turn(struct scenario *s, const struct knob *knob)
{
	double values[MAX_VALUES];
	int present, count;

	if (knob->type == KNOB_TEXT || knob->type == KNOB_SET ||
	    knob->group == GROUP_RUN || strcmp(knob->key, "mode") == 0 ||
	    !knob_applies(s, knob) ||
	    (knob->group == GROUP_CLUSTER && strcmp(knob->key, "gpus") != 0))
		return;
	count = knob_values(s, knob, values, &present);
	if (count > 0)
		knob_set(s, knob, values[next((uint64_t)count)]);
}

/* Plans that mean the same are written the same way before they are compared. */
static void settle(struct scenario *s)
{
	struct plan *plan = &s->plan;
	struct serving_plan *v = &plan->serving;

	if (!v->disaggregated)
		return;
	if (v->prefill_gpus == 0)
		v->prefill_gpus = s->cluster.gpus / 2;
	if (v->prefill_tp == 0)
		v->prefill_tp = plan->tp;
	if (v->prefill_pp == 0)
		v->prefill_pp = plan->pp;
	if (v->prefill_ep == 0)
		v->prefill_ep = plan->ep;
	if (v->prefill_dp_attention == 0)
		v->prefill_dp_attention = v->dp_attention;
}

/* Every knob that matters comes back, or is said not to. */
static void round_trip(const char *format, struct scenario *s)
{
	char *text = write_as(format, s, NULL);
	struct scenario back;

	read_good(format, text, &back);
	settle(s);
	settle(&back);
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char had[MAX_LAYOUT], got[MAX_LAYOUT];
		bool gpus = strcmp(knob->key, "gpus") == 0;

		if ((knob->group == GROUP_CLUSTER && !gpus) ||
		    knob->group == GROUP_RUN || !knob_applies(s, knob) ||
		    knob_same(s, &back, knob) || is_said(text, knob->key))
			continue;
		knob_print(s, knob, had, sizeof had);
		knob_print(&back, knob, got, sizeof got);
		fail_msg("%s: %s was %s, came back as %s, unsaid, from\n%s", format,
			 knob->key, had, got, text);
	}
	assert_string_equal(s->model.name, back.model.name);
	free(text);
}

static void holds(const char *format, const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s: no '%s' in\n%s", format, part, text);
}

/* Pools of one node listen on ports of their own, on GPUs of their own, and something
 * stands in front of both. */
static void test_pools_run_beside_each_other(void **state)
{
	static const struct {
		const char *format, *front;
	} row[] = {
		{ "vllm", "--decoder-ports 8200 8300 8400\n" },
		{ "sglang", "--prefill \"http://127.0.0.1:8100\" 8110 \\\n"
			    "  --decode \"http://127.0.0.1:8200\" \\\n"
			    "  --decode \"http://127.0.0.1:8300\" \\\n"
			    "  --decode \"http://127.0.0.1:8400\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct error error = { "" };
		struct scenario s;
		char *text;

		if (!scenario_blank(&s, "llama3.1-70b", "dgx-h100", row[i].format,
				    &error))
			fail_msg("%s", error.text);
		case_set(&s, "mode", "inference");
		case_set(&s, "gpus", "8");
		case_set(&s, "tp", "2");
		case_set(&s, "disaggregated", "on");
		case_set(&s, "prefill_gpus", "2");
		text = write_as(row[i].format, &s, NULL);
		holds(row[i].format, text, "CUDA_VISIBLE_DEVICES=0,1 ");
		holds(row[i].format, text, "CUDA_VISIBLE_DEVICES=2,3 ");
		holds(row[i].format, text, "CUDA_VISIBLE_DEVICES=6,7 ");
		holds(row[i].format, text, "--port 8100");
		holds(row[i].format, text, "--port 8400");
		holds(row[i].format, text, row[i].front);
		free(text);
	}
}

/* Passes are costed as captured, so graphs are asked for where the tool's own end below
 * what is planned; a length that no cache holds is not asked for. */
static void test_what_is_planned(void **state)
{
	static const struct {
		const char *format, *model, *gpus, *concurrency, *part;
		bool there;
	} row[] = {
		{ "vllm", "llama3.1-8b", "1", "700", "max-cudagraph-capture-size 704",
		  true },
		{ "vllm", "llama3.1-8b", "1", "500", "cudagraph", false },
		{ "sglang", "llama3.1-8b", "1", "300", "cuda-graph-max-bs-decode 300",
		  true },
		{ "sglang", "llama3.1-8b", "1", "200", "cuda-graph", false },
		{ "trtllm", "llama3.1-8b", "1", "300",
		  "cuda_graph_config:\n  enable_padding: true\n  max_batch_size: 300\n",
		  true },
		{ "trtllm", "llama3.1-8b", "1", "100", "max_batch_size", false },
		{ "trtllm", "llama3.1-8b", "1", "100", "enable_padding: true", true },
		{ "trtllm", "llama3.1-8b", "1", "20", "cuda_graph_config", false },
		{ "vllm", "llama3.1-70b", "2", "1", "--max-model-len auto", true },
		{ "vllm", "llama3.1-70b", "4", "1", "--max-model-len", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct error error = { "" };
		struct scenario s;
		char *text;

		if (!scenario_blank(&s, row[i].model, "dgx-h100", "vllm", &error))
			fail_msg("%s", error.text);
		case_set(&s, "mode", "inference");
		case_set(&s, "gpus", row[i].gpus);
		case_set(&s, "tp", row[i].gpus);
		case_set(&s, "prompt", "100");
		case_set(&s, "output", "100");
		case_set(&s, "concurrency", row[i].concurrency);
		text = write_as(row[i].format, &s, NULL);
		if ((strstr(text, row[i].part) != NULL) != row[i].there)
			fail_msg("%s: '%s' is %s in\n%s", row[i].format, row[i].part,
				 row[i].there ? "not" : "wrongly", text);
		free(text);
	}
}

static const struct {
	const char *format, *stack;
} tools[] = {
	{ "vllm", "vllm" },
	{ "sglang", "sglang" },
	{ "trtllm", "tensorrt-llm" },
};

/* A cache that is planned in fp8 beside weights in fp8 is asked for: a checkpoint that
 * was published in 16 bits does not say so. */
static void test_the_cache_is_as_wide_as_planned(void **state)
{
	static const struct {
		const char *format, *stack, *precision, *part;
		bool there;
	} row[] = {
		{ "trtllm", "tensorrt-llm", "fp8", "  dtype: \"fp8\"\n", true },
		{ "trtllm", "tensorrt-llm", "bf16", "dtype", false },
		{ "vllm", "tensorrt-llm", "fp8", "--kv-cache-dtype fp8", true },
		{ "sglang", "tensorrt-llm", "fp8", "--kv-cache-dtype fp8_e4m3", true },
		{ "vllm", "vllm", "fp8", "--kv-cache-dtype", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct error error = { "" };
		struct scenario s;
		char *text;

		assert_true(scenario_blank(&s, "llama3.1-8b", "dgx-h100", row[i].stack,
					   &error));
		case_set(&s, "mode", "inference");
		case_set(&s, "precision", row[i].precision);
		s.cluster.gpus = 1;
		text = write_as(row[i].format, &s, NULL);
		expect_words(text, row[i].part, row[i].there);
		expect_words(text, "kv_precision: auto: fp8 is asked for",
			     row[i].there);
		free(text);
	}
}

static void test_random(void **state)
{
	static const char *const models[] = { "llama3.1-70b", "deepseek-v3",
					      "mixtral-8x7b", "gpt-oss-120b",
					      "qwen3-30b-a3b" };

	(void)state;
	seed = 20261121;
	for (size_t t = 0; t < 3; t++) {
		int tried = 0, pools = 0;

		for (int i = 0; i < SCENARIOS; i++) {
			struct scenario s;
			struct error error = { "" };

			if (!scenario_blank(&s, models[i % 5], "dgx-h100",
					    tools[(t + (uint64_t)i % 2) % 3].stack,
					    &error))
				fail_msg("%s", error.text);
			case_set(&s, "gpus", "64");
			for (uint64_t turns = next(12); turns > 0; turns--)
				turn(&s, &knob_table[next((uint64_t)knob_count())]);
			if (scenario_check(&s, NULL) != 0)
				continue;
			tried++;
			pools += s.plan.serving.disaggregated;
			round_trip(tools[t].format, &s);
		}
		assert_true(tried > 300);
		assert_true(pools > 10);
	}
}

/* Two pools of TensorRT-LLM on one node: each with its GPUs, port and transceiver, and
 * what stands before them; experts beyond a node with the exchange that is costed. */
static void test_pools_run(void **state)
{
	static const char *const lines[] = {
		"\nCUDA_VISIBLE_DEVICES=0,1,2,3 trtllm-serve ",
		"\nCUDA_VISIBLE_DEVICES=4,5,6,7 trtllm-serve ",
		("cache_transceiver_config:\n  backend: \"DEFAULT\"\n"
		 "disable_overlap_scheduler: true\n"),
		"--port 8100",
		"--port 8200",
		"  urls:\n  - \"127.0.0.1:8200\"\n",
		"\ntrtllm-serve disaggregated -c disagg.yaml -t 3600 -r 3600\n",
	};
	struct error error;
	struct scenario s;
	char *text;

	(void)state;
	assert_true(
		scenario_blank(&s, "deepseek-v3", "dgx-h200", "tensorrt-llm", &error));
	case_set(&s, "mode", "inference");
	case_set(&s, "precision", "fp8-block");
	case_set(&s, "gpus", "8");
	case_set(&s, "tp", "4");
	case_set(&s, "disaggregated", "on");
	case_set(&s, "prefill_gpus", "4");
	text = write_as("trtllm", &s, NULL);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strstr(text, lines[i]))
			fail_msg("no '%s' in\n%s", lines[i], text);
	free(text);
	case_set(&s, "disaggregated", "off");
	case_set(&s, "gpus", "16");
	case_set(&s, "tp", "1");
	case_set(&s, "dp_attention", "16");
	case_set(&s, "ep", "16");
	text = write_as("sglang", &s, NULL);
	assert_non_null(strstr(text, "--moe-a2a-backend deepep"));
	free(text);
	text = write_as("vllm", &s, NULL);
	assert_non_null(strstr(text, "--all2all-backend deepep_low_latency"));
	free(text);
}

/* What a target lacks stands there as a comment; what it has does not. */
static void test_remarks(void **state)
{
	struct scenario s;
	struct error error;
	char *text;

	(void)state;
	assert_true(scenario_blank(&s, "mixtral-8x7b", "dgx-h100", "vllm", &error));
	case_set(&s, "gpus", "16");
	case_set(&s, "tp", "4");
	case_set(&s, "ep", "2");
	case_set(&s, "prompt", "4096");
	case_set(&s, "precision", "fp8-block");
	text = write_as("vllm", &s, NULL);
	assert_true(is_said(text, "ep"));
	assert_true(is_said(text, "prompt"));
	assert_true(is_said(text, "precision"));
	/* two nodes start the same, and the script has it once */
	assert_non_null(strstr(
		text, "gpus: 16: 4 servers; those alike stand here once, 2 in all"));
	assert_false(is_said(text, "tp"));
	free(text);
	text = write_as("sglang", &s, NULL);
	assert_false(is_said(text, "ep"));
	assert_non_null(strstr(text, "--ep-size 2"));
	assert_non_null(strstr(
		text, "gpus: 16: 4 servers; those alike stand here once, 2 in all"));
	free(text);
	case_set(&s, "mode", "training");
	text = write_as("trtllm", &s, NULL);
	assert_true(is_said(text, "mode"));
	free(text);
}

/* TensorRT-LLM's blocks are powers of two greater than one
 * (docs/source/features/kvcache.md). */
static void blocks_are_powers_of_two(void **state)
{
	static const struct {
		const char *tokens, *line;
	} blocks[] = {
		{ "1", NULL },
		{ "2", "  tokens_per_block: 2\n" },
		{ "8", "  tokens_per_block: 8\n" },
		{ "48", NULL },
		{ "64", "  tokens_per_block: 64\n" },
	};
	struct scenario s;
	struct error error;

	(void)state;
	assert_true(
		scenario_blank(&s, "llama3-8b", "dgx-h100", "tensorrt-llm", &error));
	case_set(&s, "mode", "inference");
	for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
		char *text;

		case_set(&s, "kv_block", blocks[i].tokens);
		text = write_as("trtllm", &s, NULL);
		assert_true(is_said(text, "kv_block") == !blocks[i].line);
		if (blocks[i].line)
			assert_non_null(strstr(text, blocks[i].line));
		else
			assert_null(strstr(text, "tokens_per_block"));
		free(text);
	}
}

/* Names of checkpoints as people have them. */
static void test_checkpoints(void **state)
{
	static const char *const names[][3] = {
		{ "meta-llama/Llama-3.1-70B", "llama3.1-70b", "bf16" },
		{ "meta-llama/Meta-Llama-3.1-405B-Instruct-FP8", "llama3.1-405b-fp8",
		  "fp8" },
		{ "nvidia/Llama-3.1-405B-Instruct-FP8-dynamic", "llama3.1-405b",
		  "fp8" },
		{ "meta-llama/Llama-3.3-70B-Instruct", "llama3.1-70b", "bf16" },
		{ "nvidia/Llama-3.3-70B-Instruct-FP4", "llama3.1-70b", "nvfp4" },
		{ "nvidia/Qwen3.5-397B-A17B-NVFP4-V2", "qwen3.5-397b-a17b", "nvfp4" },
		{ "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama3.1-8b",
		  "int4" },
		{ "/data/hub/models--Qwen--Qwen3-30B-A3B/snapshots/0a1b",
		  "qwen3-30b-a3b", "bf16" },
		{ "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b",
		  "fp8-block" },
		{ "deepseek-ai/DeepSeek-V3-0324", "deepseek-v3", "fp8-block" },
		{ "moonshotai/Kimi-K2-Thinking", "kimi-k2-thinking", "int4" },
		{ "openai/gpt-oss-120b", "gpt-oss-120b", "mxfp4" },
		{ "mistralai/Mixtral-8x22B-Instruct-v0.1", "mixtral-8x22b", "bf16" },
		{ "./llama3.1-70b", "llama3.1-70b", "bf16" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct scenario s;
		char command[256];

		snprintf(command, sizeof command, "vllm serve %s\n", names[i][0]);
		read_good("vllm", command, &s);
		if (strcmp(s.model.name, names[i][1]) != 0)
			fail_msg("%s is %s", names[i][0], s.model.name);
		expect(&s, "precision", names[i][2]);
	}
}

/* The library has the text part of many that see or hear, which is said. */
static void test_text_parts(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm", "vllm serve Qwen/Qwen3-VL-30B-A3B-Instruct\n", &s);
	assert_string_equal(s.model.name, "qwen3-30b-a3b");
	assert_string_equal(s.model.approximate,
			    "the text part of Qwen/Qwen3-VL-30B-A3B-Instruct alone");
	read_good("vllm", "vllm serve OpenGVLab/InternVL3_5-30B-A3B\n", &s);
	assert_non_null(
		strstr(s.model.approximate, "text part of OpenGVLab/InternVL3_5"));
	read_good("vllm", "vllm serve Qwen/Qwen3-30B-A3B\n", &s);
	assert_string_equal(s.model.approximate, "");
}

/* Of two pools the one with copies of the attention says whether batches hide their
 * exchange; where both have some, the one that decodes. */
static void test_the_pool_that_exchanges_says_what_hides_it(void **state)
{
	static const char *const rows[][3] = {
		{ "--enable-dp-attention --dp 8 --enable-two-batch-overlap", "", "on" },
		{ "--enable-dp-attention --dp 8", "", "off" },
		{ "", "--enable-dp-attention --dp 8 --enable-two-batch-overlap", "on" },
		{ "--enable-dp-attention --dp 8 --enable-two-batch-overlap",
		  "--enable-dp-attention --dp 8", "off" },
	};
	static const char *const pool = "python3 -m sglang.launch_server --model-path "
					"Qwen/Qwen3-30B-A3B --tp 8";
	struct scenario s;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text,
			 "%s --disaggregation-mode prefill --port 1 %s\n"
			 "%s --disaggregation-mode decode --port 2 %s\n",
			 pool, rows[i][0], pool, rows[i][1]);
		read_good("sglang", text, &s);
		expect(&s, "ep_overlap", rows[i][2]);
	}
}

/* vLLM 0.12 refuses other ranks than these, so that a server of none would not start:
 * the least that has room, else the largest, and a word about it. */
static void test_ranks_of_adapters_that_the_tool_takes(void **state)
{
	static const char *const ranks[][2] = {
		{ "8", "8\n" },     { "9", "16\n" },    { "300", "320\n" },
		{ "512", "512\n" }, { "513", "512\n" }, { "4096", "512\n" }
	};
	char arguments[256], flag[64];

	(void)state;
	for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
		bool same = atoi(ranks[i][0]) == atoi(ranks[i][1]);

		snprintf(arguments, sizeof arguments,
			 "export vllm --mode inference --model llama3.1-8b --cluster "
			 "dgx-h100 --gpus 8 --stack vllm --tp 8 --adapters 4 "
			 "--adapter_rank %s",
			 ranks[i][0]);
		snprintf(flag, sizeof flag, "--max-lora-rank %s", ranks[i][1]);
		struct ran ran = run(arguments);

		assert_int_equal(ran.status, 0);
		if (!strstr(ran.out, flag))
			fail_msg("%s: %s", ranks[i][0], ran.out);
		assert_int_equal(!strstr(ran.out, "none that the tool has"), same);
		ran_free(&ran);
	}
}

/* Files tell their tool by themselves, on every command. */
static void test_command_line(void **state)
{
	static const char *const lines[][2] = {
		{ "eval tests/fuzz/seeds/trtllm/script", "deepseek-v3 on 8" },
		{ "eval tests/fuzz/seeds/vllm/pools --gpus 8", "qwen3-32b on 8" },
		{ "eval tests/fuzz/seeds/trtllm/yaml", "tensorrt-llm" },
		{ "import vllm tests/fuzz/seeds/vllm/script", "\ntp: 4\n" },
		{ "export sglang tests/fuzz/seeds/vllm/script", "--dp-size 2" },
		{ "export vllm tests/fuzz/seeds/vllm/script", "--max-model-len 8192" },
		{ "check tests/fuzz/seeds/vllm/script", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct ran ran = run(lines[i][0]);

		if (ran.status != 0 || !strstr(ran.out, lines[i][1]))
			fail_msg("%s: status %d\n%s%s", lines[i][0], ran.status,
				 ran.out, ran.err);
		ran_free(&ran);
	}
}

/* Widths by a checkpoint's name; what is not so is said. */
static void test_a_name_tells_how_wide_weights_are(void **state)
{
	static const struct {
		const char *name, *precision, *doubt;
	} rows[] = {
		{ "org/Qwen3-32B-W4A8", "int4", "products have 8 bits" },
		{ "org/Llama-3.1-8B-w4a4", "int4", "products have 4 bits" },
		{ "org/Llama-3.1-8B-w8a16", "int8", "only the weights have 8 bits" },
		{ "org/Llama-3.1-8B-8bit", "int8", "only the weights have 8 bits" },
		{ "org/Llama-3.1-8B-GPTQ-Int8", "int8",
		  "only the weights have 8 bits" },
		{ "org/Llama-3.1-8B-GPTQ-Int4", "int4", NULL },
		{ "org/Llama-3.1-8B-GPTQ", "int4", NULL },
		{ "org/DeepSeek-V3.2-w8a8-mtp-QuaRot", "int8", NULL },
		{ "org/Llama-3.1-8B-w8a8c8", "int8", "its cache has 8 bits" },
		{ "org/Llama-3.1-8B-W4A8C8", "int4", "products and cache have 8 bits" },
		{ "org/Llama-3.1-8B-W8A8-floatmtp", "int8", NULL },
		{ "org/Llama-3.1-8B-GGUF", "bf16", "GGUF does not say" },
	};
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool found = false;
		char text[256];

		snprintf(text, sizeof text, "vllm serve %s -tp 8\n", rows[i].name);
		read_good("vllm", text, &s);
		expect(&s, "precision", rows[i].precision);
		for (int k = 0; k < report.count && rows[i].doubt; k++)
			found = found ||
				(report.note[k].kind == IMPORT_APPROXIMATE &&
				 strstr(report.note[k].text, rows[i].doubt) != NULL);
		assert_int_equal(found, rows[i].doubt != NULL);
	}
	/* a method of several widths is that of the name */
	read_good("vllm", "vllm serve org/Llama-3.1-8B-GPTQ-Int8 --quantization gptq\n",
		  &s);
	expect(&s, "precision", "int8");
}

/* Experts over several nodes, or with spare ones, are told their kernels by the words
 * that the release has (tests/arguments/trtllm.csv: WIDEEP is none any more). */
static void test_experts_of_tensorrt(void **state)
{
	static const struct {
		const char *cluster, *stack, *precision;
		int64_t ranks, spare;
		const char *backend;
	} rows[] = {
		{ "dgx-h200", "tensorrt-llm", "fp8-block", 16, 0, "CUTLASS" },
		{ "dgx-b200", "tensorrt-llm", "fp8-block", 16, 0, "DEEPGEMM" },
		{ "dgx-b200", "tensorrt-llm", "nvfp4", 16, 0, "CUTEDSL" },
		{ "dgx-h200", "tensorrt-llm@1.0.0", "fp8-block", 16, 0, "WIDEEP" },
		{ "dgx-h200", "tensorrt-llm@2025-10-01", "fp8-block", 8, 32, "WIDEEP" },
		{ "dgx-h200", "tensorrt-llm@1.3", "fp8-block", 8, 32, "CUTLASS" },
		{ "dgx-h200", "tensorrt-llm", "fp8-block", 8, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;
		struct error error;
		char *text, line[64];

		if (!scenario_blank(&s, "deepseek-v3", rows[i].cluster, rows[i].stack,
				    &error))
			fail_msg("%s", error.text);
		s.plan.mode = MODE_INFERENCE;
		case_set(&s, "precision", rows[i].precision);
		s.cluster.gpus = s.plan.ep = s.plan.serving.dp_attention =
			rows[i].ranks;
		s.plan.serving.redundant_experts = rows[i].spare;
		text = write_as("trtllm", &s, NULL);
		snprintf(line, sizeof line, "  backend: \"%s\"\n",
			 rows[i].backend ? rows[i].backend : "");
		if (!strstr(text, rows[i].backend ? line : "tp_size") ||
		    (!rows[i].backend && strstr(text, "moe_config")))
			fail_msg("row %d: no %s in\n%s", (int)i, line, text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_tells_how_wide_weights_are),
		cmocka_unit_test(test_vllm_script),
		cmocka_unit_test(test_what_only_names_a_server_is_none),
		cmocka_unit_test(test_vllm_experts),
		cmocka_unit_test(test_adapters),
		cmocka_unit_test(test_adapters_are_written),
		cmocka_unit_test(test_cache_on_the_host),
		cmocka_unit_test(test_what_sglang_asks_for),
		cmocka_unit_test(test_batches_that_take_turns),
		cmocka_unit_test(test_sglang),
		cmocka_unit_test(test_sglang_pools),
		cmocka_unit_test(test_trtllm_takes_no_format),
		cmocka_unit_test(test_trtllm),
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_experts_of_tensorrt),
		cmocka_unit_test(test_lmcache),
		cmocka_unit_test(test_lmcache_variables),
		cmocka_unit_test(test_pools_run),
		cmocka_unit_test(test_what_is_planned),
		cmocka_unit_test(test_unknown_model),
		cmocka_unit_test(test_open_values),
		cmocka_unit_test(test_written_scripts),
		cmocka_unit_test(test_mapped_arguments),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_pools_run_beside_each_other),
		cmocka_unit_test(test_the_cache_is_as_wide_as_planned),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_remarks),
		cmocka_unit_test(blocks_are_powers_of_two),
		cmocka_unit_test(test_checkpoints),
		cmocka_unit_test(test_text_parts),
		cmocka_unit_test(test_the_pool_that_exchanges_says_what_hides_it),
		cmocka_unit_test(test_ranks_of_adapters_that_the_tool_takes),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
