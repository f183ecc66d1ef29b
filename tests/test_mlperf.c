/* test_mlperf.c - the settings of MLPerf Training submissions as scenarios. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/formats.h"
#include "presets/mlperf/mlperf.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static void read_path(const char *path, const char *text, struct scenario *out)
{
	struct error error = { "" };

	memset(&report, 0, sizeof report);
	if (!mlperf_read(out, path, text, strlen(text), &report, &error))
		fail_msg("%s", error.text);
}

/* Degrees of NVIDIA's submission of v5.0: 256 nodes, a batch of 1152 sequences. */
static void variables_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_path("llama31_405b/implementations/x/config_DGXH100_256x8x72xtp8pp8cp2.sh",
		  "source $(dirname ${BASH_SOURCE[0]})/config_common.sh\n"
		  "export MINIBS=72 # accumulation\n"
		  "export TENSOR_MODEL_PARALLEL=8\nexport PIPELINE_MODEL_PARALLEL=8\n"
		  "export INTERLEAVED_PIPELINE=8\nexport CONTEXT_PARALLEL=2\n"
		  "export TP_COMM_OVERLAP=True\nexport DGXNNODES=256\n"
		  "export MICRO_BATCH_SIZE=1\nexport ASYM_PP_EMBED=True\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-405b");
	assert_string_equal(s.cluster.name, "dgx-h100");
	expect(&s, "tp", "8");
	expect(&s, "pp", "8");
	expect(&s, "vpp", "8");
	expect(&s, "cp", "2");
	expect(&s, "sp", "on");
	expect(&s, "gpus", "2048");
	expect(&s, "gbs", "1152");
	expect(&s, "seq", "8192");
	expect(&s, "precision", "fp8");
	expect(&s, "split_embedding", "on");
	expect(&s, "lora_rank", "off");
	assert_true(noted(IMPORT_ASSUMED, "precision"));
	assert_false(noted(IMPORT_ASSUMED, "cluster"));
}

/* NVIDIA's submission of v3.1 on 1,280 nodes: the scripts are silent about chunks, the
 * benchmark's own settings are not. */
static void chunks_are_the_benchmarks(void **state)
{
	static const char text[] =
		"export MINIBS=8\nexport TENSOR_MODEL_PARALLEL=4\n"
		"export PIPELINE_MODEL_PARALLEL=8\nexport DGXNNODES=1280\n"
		"export MICRO_BATCH_SIZE=1\n";
	char more[256];
	struct scenario s;

	(void)state;
	read_path("gpt3/implementations/x/config_DGXH100_1280x8x8x4x8_mbs1.sh", text,
		  &s);
	assert_string_equal(s.model.name, "gpt3-175b");
	expect(&s, "vpp", "12");
	expect(&s, "schedule", "interleaved");
	expect(&s, "gbs", "2560");
	assert_true(noted(IMPORT_ASSUMED, "vpp"));
	snprintf(more, sizeof more, "%sexport INTERLEAVED_PIPELINE=0\n", text);
	read_path("gpt3/implementations/x/config_DGXH100_1280x8x8x4x8_mbs1.sh", more,
		  &s);
	expect(&s, "vpp", "1");
}

static void adapters_and_systems_are_the_benchmarks(void **state)
{
	struct scenario s;

	(void)state;
	/* the file's own name counts before its folder's */
	read_path("llama2_70b_lora/GB200/config_MI300X_1x8x1.sh",
		  "export DGXNGPU=8\nexport DGXNNODES=1\nexport TP=1\nexport SP=False\n"
		  "export MBS=1\nexport MINIBS=1\nexport FP8=False\n"
		  "export ACG=full && export ACM=block && export ACL=21\n",
		  &s);
	assert_string_equal(s.model.name, "llama2-70b");
	assert_string_equal(s.cluster.name, "mi300x");
	expect(&s, "lora_rank", "16");
	expect(&s, "gbs", "8");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "full");
	expect(&s, "recompute_layers", "21");
	assert_true(noted(IMPORT_APPROXIMATE, "lora_rank"));
	/* GPUs of a node by the file's name, else they are assumed, and that is said */
	read_path("llama2_70b_lora/config_XE7745x4H200_1x4x2xtp1pp1cp2.sh",
		  "export DGXNNODES=1\nexport TP=1\nexport CP=2\n", &s);
	expect(&s, "gpus", "4");
	assert_false(noted(IMPORT_ASSUMED, "gpus"));
	read_path("llama2_70b_lora/config_common.sh",
		  "export DGXNNODES=2\nexport TP=1\n", &s);
	expect(&s, "gpus", "16");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	read_path("llama2_70b_lora/config_GB200_18x4x1xtp1pp1cp8.sh",
		  "export DGXNNODES=18\nexport CP=8\nexport MINIBS=1\n"
		  "export LAYER_CUDA_GRAPH=1\n",
		  &s);
	assert_string_equal(s.cluster.name, "gb200-nvl72");
	expect(&s, "gpus", "72");
	expect(&s, "gbs", "9");
	expect(&s, "cuda_graphs", "partial");
	/* no folder: the size that the script states */
	read_good("mlperf",
		  "export MODEL_SIZE=\"405b\"\nexport DGXNNODES=64\n"
		  "export TENSOR_MODEL_PARALLEL=8\nexport MINIBS=8\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-405b");
	expect(&s, "gbs", "512");
	assert_true(noted(IMPORT_ASSUMED, "cluster"));
}

static void others_are_refused(void **state)
{
	static const char script[] = "export DGXNNODES=64\nexport MINIBS=1\n";
	static const char *const paths[] = {
		"Dell/benchmarks/gnn/implementations/config_H100.sh",
		"v5.0--Dell--benchmarks--bert--implementations--config_H100.sh",
	};
	struct error error = { "" };
	struct scenario s;

	(void)state;
	/* a path is no setting */
	assert_false(mlperf_read(&s, "x/gpt3_tp1.yaml", "a: 1\n", 5, &report, &error));
	assert_non_null(strstr(error.text, "no setting of a submission"));
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		assert_false(mlperf_read(&s, paths[i], script, strlen(script), &report,
					 &error));
		assert_non_null(strstr(error.text, "trains no decoder"));
	}
	read_refused("mlperf", "export DGXNNODES=1\nexport MINIBS=4\n",
		     "names no model");
	read_refused("mlperf",
		     "export MODEL_SIZE=405b\nexport TENSOR_MODEL_PARALLEL=x\n",
		     "file:2: TENSOR_MODEL_PARALLEL");
	read_refused("mlperf", "export MODEL_SIZE=405b\nexport DGXNNODES=0\n",
		     "file:2: DGXNNODES 0");
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	assert_int_equal(fclose(stream), 0);
}

/* Scripts beside it: the last that is sourced has the last word, but for the script's
 * own; where they are not there, a name tells the precision. */
static void what_it_sources_is_read(void **state)
{
	static const char script[] =
		"source $(dirname ${BASH_SOURCE[0]})/config_common.sh\n"
		"source $(dirname ${BASH_SOURCE[0]})/config_common_fp4.sh\n"
		"export MODEL_SIZE=405b\nexport DGXNNODES=64\nexport MINIBS=72\n"
		"export TENSOR_MODEL_PARALLEL=4\n";
	char folder[] = "/tmp/shardscope-mlperf-XXXXXX", path[64];
	struct scenario s;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/config.sh", folder);
	read_path(path, script, &s);
	expect(&s, "precision", "nvfp4");
	assert_true(noted(IMPORT_ASSUMED, "precision"));
	write_file(folder, "config_common.sh",
		   "export FP8=True\nexport DGXNGPU=4\n"
		   "export TENSOR_MODEL_PARALLEL=8\nexport TP_COMM_OVERLAP=True\n");
	write_file(folder, "config_common_fp4.sh",
		   "export FP8=False\nexport FP4=True\nexport TP_COMM_OVERLAP=False\n"
		   ". ./config_rht.sh\n");
	write_file(folder, "config_rht.sh", "export NVTE_NVFP4_DISABLE_RHT=1\n");
	read_path(path, script, &s);
	expect(&s, "precision", "nvfp4");
	expect(&s, "fp4_rotation", "off");
	expect(&s, "tp", "4");
	expect(&s, "tp_overlap", "off");
	expect(&s, "gpus", "256");
	assert_false(noted(IMPORT_ASSUMED, "precision"));
	snprintf(path, sizeof path, "%s/config_rht.sh", folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/config_common_fp4.sh", folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/config_common.sh", folder);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

/* Outside of its folder a file is of the benchmark that trains the model. */
static void a_model_tells_its_benchmark(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama2-70b");
	read_good("mlperf",
		  "export MINIBS=4\nexport TP=4\nexport PP=1\nexport FP8=True\n"
		  "export DGXNNODES=1\n",
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "seq", "8192");
	assert_true(noted(IMPORT_ASSUMED, "benchmark"));
	read_with("llama3-8b");
	read_good("mlperf", "export MINIBS=4\nexport DGXNNODES=1\n", &s);
	expect(&s, "lora_rank", "off");
	assert_true(noted(IMPORT_ASSUMED, "seq"));
	read_with("");
}

/* AMD's scripts count nodes, GPUs and the batch by other names, and say the size so. */
static void other_names_are_read(void **state)
{
	static const char text[] =
		"#!/bin/bash\nexport NNODES=2\nexport GPUS_PER_NODE=4\nexport SIZE=\"8b\"\n"
		"export GBS=32\nexport MBS=2\nexport TP=1\nexport PP=1\n"
		"export MLPERF_SUBMISSION_ORG=\"AMD\"\n";
	struct scenario s;

	(void)state;
	read_good("mlperf", text, &s);
	assert_string_equal(s.model.name, "llama3.1-8b");
	expect(&s, "gpus", "8");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "32");
	write_file("/tmp", "shardscope-mlperf-other.sh", text);
	assert_string_equal(format_sniff("/tmp/shardscope-mlperf-other.sh")->name,
			    "mlperf");
	unlink("/tmp/shardscope-mlperf-other.sh");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_read),
		cmocka_unit_test(chunks_are_the_benchmarks),
		cmocka_unit_test(adapters_and_systems_are_the_benchmarks),
		cmocka_unit_test(what_it_sources_is_read),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(a_model_tells_its_benchmark),
		cmocka_unit_test(other_names_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
