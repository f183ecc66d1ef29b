/* test_engines.c - files whose flags are one tool's and whose engine is another's:
 * DeepSpeed under Megatron, axolotl's mesh, KTransformers, scripts that several
 * benchmarks share, recipes with lists and with layouts of their own, and recipes of
 * servers that start more than one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/formats.h"
#include "presets/serving/chart.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/run.h"

#define GPT                                                                           \
	"torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 30 "                \
	"--hidden-size 4096 --num-attention-heads 32 --pipeline-model-parallel-size " \
	"4 --micro-batch-size 1 --global-batch-size 512 --seq-length 2048 "

/* 30 layers on 4 stages: uneven, or 32 with the embedding and the head, where Megatron
 * asks for a multiple. */
static void test_deepspeed_splits(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  GPT "--fp16 --deepspeed --zero-stage 1 --pp-partition-method "
		      "'type:transformer|embedding'\n",
		  &s);
	assert_string_equal(s.stack.name, "megatron-deepspeed");
	expect(&s, "split", "auto");
	expect(&s, "split_embedding", "on");
	expect(&s, "split_loss", "on");
	expect(&s, "zero", "1");
	read_good("megatron", GPT "--fp16 --deepspeed --zero-stage 1\n", &s);
	expect(&s, "split", "auto");
	expect(&s, "split_loss", "off");
	read_good("megatron", GPT "--fp16\n", &s);
	assert_string_equal(s.stack.name, "megatron-core");
	expect(&s, "split", "even");
}

/* Its optimizer for bf16 shares out the states where ZeRO does not; a stage that only
 * DeepSpeed's own file has is assumed. */
static void test_deepspeed_stages(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", GPT "--bf16 --deepspeed --zero-stage 0\n", &s);
	expect(&s, "zero", "1");
	assert_true(noted(IMPORT_ASSUMED, "zero"));
	read_good("megatron", GPT "--fp16 --deepspeed --zero-stage 0\n", &s);
	expect(&s, "zero", "0");
	assert_false(noted(IMPORT_ASSUMED, "zero"));
	read_good("megatron",
		  GPT "--fp16 --deepspeed --deepspeed_config ds_config.json\n", &s);
	expect(&s, "zero", "0");
	assert_true(noted(IMPORT_ASSUMED, "zero"));
	read_good("megatron", GPT "--bf16\n", &s);
	expect(&s, "zero", "0");
}

/* Steps that a script works out when it runs change nothing else of it. */
static void test_steps_at_run_time(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "STEPS=$(cat steps.txt)\n" GPT "--bf16 --train-iters ${STEPS}\n", &s);
	expect(&s, "pp", "4");
	read_refused("megatron", GPT "--bf16 --train-iters many\n",
		     "--train-iters is 'many'");
}

/* Experts travel by alltoall in ms-swift, by allgather in Megatron. */
static void test_dispatchers(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B "
		  "--expert_model_parallel_size 8 --moe_shared_expert_overlap true\n",
		  &s);
	expect(&s, "moe_dispatcher", "alltoall");
	read_good("megatron",
		  "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B "
		  "--moe_token_dispatcher_type allgather\n",
		  &s);
	expect(&s, "moe_dispatcher", "allgather");
}

#define AXOLOTL(lines)                                                      \
	"base_model: Qwen/Qwen3-8B\nsequence_len: 4096\n"                   \
	"micro_batch_size: 1\ngradient_accumulation_steps: 2\nbf16: true\n" \
	"fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: true\n" lines

/* The axes of a mesh are all its GPUs. */
static void test_meshes(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl", AXOLOTL("dp_shard_size: 16\n"), &s);
	expect(&s, "gpus", "16");
	expect(&s, "gbs", "32");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	read_good("axolotl",
		  AXOLOTL("dp_shard_size: 4\ndp_replicate_size: 2\n"
			  "tensor_parallel_size: 2\n"),
		  &s);
	expect(&s, "gpus", "16");
	expect(&s, "zero_group", "4");
	assert_false(noted(IMPORT_ASSUMED, "gpus"));
	read_good("axolotl", AXOLOTL("dp_shard_size: 1\n"), &s);
	expect(&s, "gpus", "8");
	read_good("axolotl", AXOLOTL("dp_shard_size: 99999999999\n"), &s);
	expect(&s, "gpus", "8");
}

static void test_experts_on_hosts(void **state)
{
#define TUNING                                                 \
	"model_name_or_path: Qwen/Qwen3-30B-A3B\nstage: sft\n" \
	"do_train: true\nfinetuning_type: lora\ncutoff_len: 1024\nbf16: true\n"
	struct scenario s;

	(void)state;
	read_good("llama-factory", TUNING "use_kt: false\n", &s);
	read_refused("llama-factory", TUNING "use_kt: true\n", "use_kt is 'true'");
#undef TUNING
}

static void expect_model(const char *path, const char *text, const char *model)
{
	char copy[512];
	struct scenario s;
	struct error error;

	memset(&report, 0, sizeof report);
	snprintf(copy, sizeof copy, "%s", text);
	if (!format_find("mlperf")->in.read(&s, path, copy, strlen(copy), &report,
					    &error))
		fail_msg("%s: %s", path, error.text);
	assert_string_equal(s.model.name, model);
}

/* The same scripts lie in the folders of several benchmarks. */
static void test_shared_scripts(void **state)
{
#define RUN        "export MINIBS=8\nexport TENSOR_MODEL_PARALLEL=4\nexport DGXNNODES=4\n"
#define BY(script) "source $(dirname ${BASH_SOURCE[0]})/" script "\n" RUN

	(void)state;
	expect_model("x/llama31_8b/config_DGXH100_4x8x8.sh",
		     BY("config_common_405b.sh"), "llama3.1-405b");
	expect_model("x/llama31_405b/config_DGXH100_4x8x8.sh",
		     "export MODEL_SIZE=8b\n" RUN, "llama3.1-8b");
	expect_model("x/llama31_8b/config_DGXH100_4x8x8.sh", BY("config_common.sh"),
		     "llama3.1-8b");
	expect_model("x/llama2_70b_lora/config_DGXH100_4x8x8.sh", RUN, "llama2-70b");
#undef RUN
#undef BY
}

/* Lists of words are what they hold; a layout that a function sets is none of equal
 * parts. */
static void test_recipe_lists(void **state)
{
#define RECIPE(lines)                                                             \
	"def deepseek_v3_pretrain_64gpu_h100_bf16_config() -> ConfigContainer:\n" \
	"    cfg = _pretrain_common()\n"                                          \
	"    cfg.model = AutoBridge.from_hf_pretrained(\"deepseek-ai/"            \
	"DeepSeek-V3\").to_megatron_provider(load_weights=False)\n"               \
	"    cfg.model.pipeline_model_parallel_size = 8\n"                        \
	"    cfg.model.recompute_granularity = \"selective\"\n" lines             \
	"    cfg.train.global_batch_size = 256\n"                                 \
	"    cfg.model.seq_length = 4096\n    return cfg\n"
	struct scenario s;

	(void)state;
	read_good("megatron",
		  RECIPE("    cfg.model.recompute_modules = [\n        \"moe_act\",  "
			 "# of experts\n        'mla_up_proj',\n    ]\n"),
		  &s);
	expect(&s, "recompute_modules", "moe_act+mla_up_proj");
	expect(&s, "split", "even");
	expect(&s, "gbs", "256");
	read_good("megatron",
		  RECIPE("    set_some_pipeline_model_parallel_layout(cfg.model)\n"
			 "    cfg.model.recompute_modules = []\n"),
		  &s);
	expect(&s, "split", "balanced");
	assert_true(noted(IMPORT_ASSUMED, "split"));
	expect(&s, "seq", "4096");
#undef RECIPE
}

static void read_page(const char *format, const char *text, struct scenario *out)
{
	char path[] = "/tmp/shardscope-XXXXXX";
	int file = mkstemp(path);
	struct error error;

	assert_true(file >= 0);
	assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
	memset(&report, 0, sizeof report);
	if (!format_read(format_find(format), path, out, &report, &error))
		fail_msg("%s", error.text);
	unlink(path);
}

static void read_recipe(const char *text, struct scenario *out)
{
	read_page("vllm", text, out);
}

/* Of the commands of a recipe that of its own model; of whole servers beside two pools
 * the pools, which is said. */
static void test_recipes_of_several(void **state)
{
#define SERVE(model, flags) "  ```bash\n  vllm serve " model " " flags "\n  ```\n"
	struct scenario s;

	(void)state;
	read_recipe("model:\n  model_id: \"openai/gpt-oss-120b\"\nguide: |\n" SERVE(
			    "openai/gpt-oss-20b", "")
			    SERVE("openai/gpt-oss-120b", "-tp 2"),
		    &s);
	assert_string_equal(s.model.name, "gpt-oss-120b");
	expect(&s, "tp", "2");
	assert_true(noted(IMPORT_ASSUMED, "commands"));
	read_recipe("guide: |\n" SERVE("openai/gpt-oss-20b", "")
			    SERVE("openai/gpt-oss-120b", "-tp 2"),
		    &s);
	assert_string_equal(s.model.name, "gpt-oss-20b");
	read_recipe("# Two pools\n" SERVE("Qwen/Qwen3-8B", "-tp 2") SERVE(
			    "Qwen/Qwen3-8B", "--kv-transfer-config "
					     "'{\"kv_role\":\"kv_producer\"}'")
			    SERVE("Qwen/Qwen3-8B", "--kv-transfer-config "
						   "'{\"kv_role\":\"kv_consumer\"}'"),
		    &s);
	expect(&s, "disaggregated", "on");
	assert_true(noted(IMPORT_ASSUMED, "commands"));
#undef SERVE
}

/* Manifests behind a fence that names no language, values of vLLM's production stack.
 */
static void test_recipes_of_manifests(void **state)
{
	struct scenario s;

	(void)state;
	read_recipe("# On Kubernetes\n```bash\nkubectl apply -f x.yaml\n```\n"
		    "  ```\n  apiVersion: apps/v1\n  kind: Deployment\n  spec:\n"
		    "    template:\n      spec:\n        containers:\n"
		    "        - name: s\n          command: [\"python3\", \"-m\", "
		    "\"vllm.entrypoints.openai.api_server\"]\n          args:\n"
		    "          - --model=Qwen/Qwen3-8B\n"
		    "          - --tensor-parallel-size=8\n  ```\n",
		    &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "8");
	read_recipe("# Helm\n```bash\nhelm install vllm vllm/vllm-stack\n```\n"
		    "```yaml\nservingEngineSpec:\n  modelSpec:\n"
		    "  - name: \"q\"\n    modelURL: \"Qwen/Qwen3-8B\"\n"
		    "    replicaCount: 1\n    requestGPU: 4\n    vllmConfig:\n"
		    "      tensorParallelSize: 2\n      pipelineParallelSize: 2\n```\n",
		    &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "2");
	expect(&s, "pp", "2");
}

/* A document that a template fills in beside the server's own; what is no YAML at all
 * says so. */
static void test_manifests_to_fill_in(void **state)
{
#define POD                                                                            \
	"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: s\n"               \
	"    command: [\"python3\", \"-m\", \"vllm.entrypoints.openai.api_server\"]\n" \
	"    args:\n    - --model=Qwen/Qwen3-8B\n    - --tensor-parallel-size=4\n"
	static const char text[] = "apiVersion: v1\n\0a: {{b}}\nc: {{d\n";
	struct document document;
	struct error error;
	struct scenario s;

	(void)state;
	read_good("vllm",
		  POD "---\napiVersion: v1\nkind: Secret\nstringData:\n  token: "
		      "{{TOKEN}}\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "tp", "4");
	read_refused("vllm", POD "  - name: t\n    env:\n      - a: 1\n     b: 2\n",
		     "file:1");
	read_refused("vllm",
		     "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: s\n"
		     "    command: [vllm, serve]\n    args:\n    - {{model}}\n"
		     "    env: {{env}}\n",
		     "a template fills it in");
	/* what ends early is looked at no further than it goes */
	assert_false(chart_parse(&document, "file", text, sizeof text, &error));
#undef POD
}

/* A page whose fences of commands say Python, beside one that says shell. */
static void test_commands_in_python_fences(void **state)
{
	struct scenario s;

#define PAGE(python)                                                           \
	"# Tuning\n```shell\npip install ms-swift\n```\n```python\n" python    \
	"```\n```python\n# 22GB\nCUDA_VISIBLE_DEVICES=0 \\\nswift sft \\\n"    \
	"  --model Qwen/Qwen2.5-7B-Instruct --train_type lora --lora_rank 4\n" \
	"```\n"
	(void)state;
	read_page("trainer", PAGE("import swift\nswift = 1\n"), &s);
	assert_string_equal(s.model.name, "qwen2.5-7b");
	expect(&s, "lora_rank", "4");
	expect(&s, "gpus", "1");
#undef PAGE
}

/* Google's label of a node is its machine, where all pods select the same. */
static void test_machines_of_labels(void **state)
{
#define NODE(label)                                                                    \
	"apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector:\n    "                      \
	"cloud.google.com/gke-accelerator: " label "\n  containers:\n  - name: s\n"    \
	"    command: [\"python3\", \"-m\", \"vllm.entrypoints.openai.api_server\"]\n" \
	"    args:\n    - --model=Qwen/Qwen3-8B\n"
	struct scenario s;

	(void)state;
	read_good("vllm", NODE("nvidia-l4"), &s);
	assert_string_equal(s.cluster.name, "l4");
	assert_false(noted(IMPORT_ASSUMED, "cluster"));
	read_good("vllm", NODE("\"nvidia-h200-141gb\" # eight"), &s);
	assert_string_equal(s.cluster.name, "dgx-h200");
	read_good("vllm", NODE("nvidia-tesla-t4"), &s);
	assert_true(noted(IMPORT_ASSUMED, "cluster"));
	read_good("vllm", NODE("nvidia-l4") "---\n" NODE("nvidia-b200"), &s);
	assert_true(noted(IMPORT_ASSUMED, "cluster"));
	read_good("vllm",
		  "# cloud.google.com/gke-accelerator: nvidia-l4\n" NODE("nvidia-b200"),
		  &s);
	assert_string_equal(s.cluster.name, "dgx-b200");
#undef NODE
}

/* Values of a chart that makes the command of model: and serverArgs:. */
static void test_values_of_servers(void **state)
{
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "model:\n  name: Qwen/Qwen3-32B\n  tp_size: 4\n  pp_size: 2\n"
		  "vllm:\n  replicaCount: 1\n  serverArgs:\n    max-num-seqs: 128\n"
		  "    gpu-memory-utilization: 0.85\n    disable-log-requests: true\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "4");
	expect(&s, "pp", "2");
	expect(&s, "max_requests", "128");
	expect(&s, "memory_share", "0.85");
	read_good("sglang",
		  "model:\n  name: Qwen/Qwen3-32B\n  tp_size: 8\n"
		  "sglang:\n  replicaCount: 1\n  serverArgs:\n"
		  "    kv-cache-dtype: fp8_e5m2\n",
		  &s);
	expect(&s, "tp", "8");
	expect(&s, "kv_precision", "fp8");
}

/* A launcher whose variable nobody set starts a server all the same. */
static void test_models_left_open(void **state)
{
	(void)state;
	read_refused("sglang",
		     "python3 -m sglang.launch_server \\\n  --model \"$MODEL_NAME\" "
		     "\"$@\"\n",
		     "names no model");
}

/* A job that is handed on starts the training by a text of its own. */
static void test_jobs_of_jobs(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "ARGS=(--num-layers 8 --hidden-size 1024 --num-attention-heads 16 "
		  "--micro-batch-size 2 --seq-length 512 --bf16)\n"
		  "CMD=\"\ncd /x;\npython pretrain_gpt.py ${ARGS[@]}\"\n"
		  "sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=2\n"
		  "srun --mpi=pmix -l bash -x -c \"${CMD}\" | tee log\nEOF\n",
		  &s);
	assert_int_equal(s.model.layers, 8);
	expect(&s, "mbs", "2");
	assert_false(noted(IMPORT_ASSUMED, "elsewhere"));
}

/* Rotary positions of every kind have no table; those of images say what is left out,
 * and stand in the decoder's sequence. */
static void test_positions(void **state)
{
#define SHAPE                                                        \
	"torchrun pretrain.py --num-layers 8 --hidden-size 1024 "    \
	"--num-attention-heads 16 --max-position-embeddings 131072 " \
	"--seq-length 576 --vocab-size 8192 --position-embedding-type "
	static const char *const rotary[] = { "rope", "yarn", "mrope" };
	struct scenario s;
	char text[512];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof text, SHAPE "%s\n", rotary[i]);
		read_good("megatron", text, &s);
		assert_int_equal(s.model.position, POSITION_ROPE);
		assert_string_equal(s.model.approximate, "");
	}
	read_good("megatron", SHAPE "learned_absolute\n", &s);
	assert_int_equal(s.model.position, POSITION_LEARNED);
	read_good("megatron", SHAPE "mrope --mrope-section 16 24 24\n", &s);
	assert_non_null(strstr(s.model.approximate, "vision part"));
	read_good("megatron",
		  SHAPE "rope --img-h 336 --img-w 336 --dataloader-seq-length 1232\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "vision part"));
	expect(&s, "seq", "1808");
#undef SHAPE
}

/* What all recipes of Megatron-Bridge set; a command overrules it. */
static void test_commands_of_recipes(void **state)
{
#define RUN "run_recipe.py --recipe qwen3_30b_a3b_pretrain_config --mode pretrain "
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "torchrun --nproc_per_node 8 " RUN
		  "model.tensor_model_parallel_size=8 "
		  "model.expert_model_parallel_size=8\n",
		  &s);
	expect(&s, "zero", "1");
	expect(&s, "etp", "1");
	assert_true(noted(IMPORT_ASSUMED, "etp"));
	read_good("megatron",
		  "torchrun --nproc_per_node 8 " RUN
		  "model.tensor_model_parallel_size=2 "
		  "model.expert_tensor_parallel_size=2\n",
		  &s);
	expect(&s, "etp", "2");
	assert_false(noted(IMPORT_ASSUMED, "etp"));
#undef RUN
}

static void test_reference_models(void **state)
{
	(void)state;
	read_refused("llama-factory",
		     "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\ndo_train: "
		     "true\nfinetuning_type: full\nuse_asft_loss: true\n",
		     "a reference model");
}

/* A trainer's module takes base.yml where it is given none. */
static void test_modules_alone(void **state)
{
	struct scenario s;

	(void)state;
	read_good("maxtext",
		  "python3 -m maxtext.inference.vllm_decode model_name=llama2-7b\n"
		  "python3 -m maxtext.trainers.post_train.sft.train_sft "
		  "base_output_directory=gs://x/train model_name=qwen3-8b "
		  "per_device_batch_size=2 max_target_length=1024\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "mbs", "2");
	expect(&s, "seq", "1024");
	read_refused("maxtext",
		     "python3 -m maxtext.inference.decode model_name=llama2-7b\n",
		     "no command of MaxText's");
}

/* Files that have no recipe but names of others' say where those are; a path says what
 * flags do not. */
static void test_files_beside(void **state)
{
	static const char text[] = "system:\n  tensor_model_parallel_size: 1\n"
				   "model:\n  num_layers: 8\n  hidden_size: 1024\n"
				   "  num_attention_heads: 8\n  seq_length: 512\n"
				   "  micro_batch_size: 1\ndata:\n  split: 1\n";
	char copy[sizeof text];
	struct scenario s;
	struct error error;

	(void)state;
	read_refused("megatron",
		     "\"\"\"Aliases.\"\"\"\nfrom megatron.bridge.recipes.gemma.h100."
		     "gemma2 import (\n    gemma2_2b_sft_1gpu_h100_bf16_config as "
		     "gemma2_2b_sft_config,\n)\n",
		     "megatron.bridge.recipes.gemma.h100.gemma2: give that file");
	for (int i = 0; i < 2; i++) {
		memset(&report, 0, sizeof report);
		memcpy(copy, text, sizeof text);
		if (!format_find("megatron")
			     ->in.read(&s,
				       i ? "x/rwkv/conf/train/3b.yaml"
					 : "x/conf/3b.yaml",
				       copy, strlen(copy), &report, &error))
			fail_msg("%s", error.text);
		assert_true((strstr(s.model.approximate, "RWKV") != NULL) == (i == 1));
	}
}

/* A recipe's path may be a name of its cluster's own. */
static void test_names_of_clusters(void **state)
{
#define WORKER                                                               \
	"resources:\n  gpu_type: b200\n  gpus_per_node: 8\n  agg_nodes: 1\n" \
	"  agg_workers: 1\nbackend:\n  type: vllm\n  vllm_config:\n"         \
	"    aggregated:\n      tensor-parallel-size: 8\n"
	struct scenario s;

	(void)state;
	read_good("vllm",
		  "name: x\nmodel:\n  path: q35-on-disk\n  precision: fp8\nidentity:\n"
		  "  model:\n    repo: Qwen/Qwen3-235B-A22B-FP8\n" WORKER,
		  &s);
	assert_string_equal(s.model.name, "qwen3-235b-a22b");
	expect(&s, "tp", "8");
	read_refused("vllm",
		     "name: x\nmodel:\n  path: q35-on-disk\n  precision: fp8\n" WORKER,
		     "no model 'q35-on-disk'");
#undef WORKER
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deepspeed_splits),
		cmocka_unit_test(test_deepspeed_stages),
		cmocka_unit_test(test_steps_at_run_time),
		cmocka_unit_test(test_dispatchers),
		cmocka_unit_test(test_meshes),
		cmocka_unit_test(test_experts_on_hosts),
		cmocka_unit_test(test_shared_scripts),
		cmocka_unit_test(test_recipe_lists),
		cmocka_unit_test(test_recipes_of_several),
		cmocka_unit_test(test_recipes_of_manifests),
		cmocka_unit_test(test_models_left_open),
		cmocka_unit_test(test_machines_of_labels),
		cmocka_unit_test(test_commands_in_python_fences),
		cmocka_unit_test(test_values_of_servers),
		cmocka_unit_test(test_manifests_to_fill_in),
		cmocka_unit_test(test_jobs_of_jobs),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_commands_of_recipes),
		cmocka_unit_test(test_reference_models),
		cmocka_unit_test(test_modules_alone),
		cmocka_unit_test(test_names_of_clusters),
		cmocka_unit_test(test_files_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
