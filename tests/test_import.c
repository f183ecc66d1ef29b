/* test_import.c - other tools' files as scenarios: what is taken, what is refused. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/formats.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"
#include "tests/support/run.h"

/* Line and column of each form. */
static void test_places(void **state)
{
	static const struct {
		const char *format, *text, *where, *column;
	} bad[] = {
		{ "megatron",
		  "x --num-layers 4 \\\n  --hidden-size -3 --num-attention-heads 4",
		  "file:2: --hidden-size", "(column 3)" },
		{ "megatron", "MODEL_ARGS:\n  --num-layers: 4\n  --hidden-size: x\n",
		  "file:3: --hidden-size", "(column 18)" },
		{ "megatron", "cfg.model.num_layers = 4\n  cfg.model.hidden_size = x\n",
		  "file:2: --hidden-size", "(column 3)" },
		{ "megatron",
		  "  bf16 ....... True\n  seq_length ..... 8\n  hidden_size .... x\n"
		  "  micro_batch_size ....... 1\n  num_layers ....... 4\n",
		  "file:3: --hidden-size", "(column 3)" },
		{ "deepspeed", "{\"zero_optimization\":\n {\"stage\": 4}}",
		  "file:2: zero_optimization.stage", "(column 12)" },
		{ "deepspeed", "{\"a\": 1,\n \"b\": [1, }", "file:2: ", "(column " },
		{ "torchtitan", "[training]\n  seq_len = 0\n",
		  "file:2: training.seq_len", "(column 3)" },
		{ "torchtitan", "[training]\nseq_len =\n", "file:2: ", "(column 10)" },
		{ "nanotron", "parallelism:\n  tp: zero\n", "file:2: parallelism.tp",
		  "(column 7)" },
		{ "hf", "{\"model_type\": \"llama\",\n \"hidden_size\": \"wide\"}",
		  "file:2: hidden_size", "(column 17)" },
	};
	struct scenario s;
	struct error error;

	(void)state;
	read_with("llama3.1-8b");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(read_as(bad[i].format, bad[i].text, &s, &error));
		if (strncmp(error.text, bad[i].where, strlen(bad[i].where)) != 0 ||
		    !strstr(error.text, bad[i].column))
			fail_msg("'%s' is not %s ... %s", error.text, bad[i].where,
				 bad[i].column);
	}
	assert_int_equal(place_line(place_at(7, 3)), 7);
	assert_int_equal(place_line(place_at(7, 100000)), 7);
	assert_int_equal(place_line(place_at(3000000, 3)), 3000000);
	read_with("");
}

static void test_hf(void **state)
{
	struct scenario s;
	struct error error;

	(void)state;
	read_good("hf",
		  "{\"model_type\": \"llama\", \"hidden_size\": 4096,"
		  "\"intermediate_size\": 14336, \"num_attention_heads\": 32,"
		  "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8,"
		  "\"tie_word_embeddings\": false, \"vocab_size\": 128256}",
		  &s);
	assert_int_equal(s.model.layers, 32);
	assert_string_equal(s.stack.name, "megatron-core");
	assert_true(noted(IMPORT_ASSUMED, "cluster"));
	assert_false(read_as("hf", "{\"model_type\": \"llama\"}", &s, &error));
	assert_non_null(strstr(error.text, "file:"));
}

static void test_deepspeed(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama3.1-8b");
	read_good("deepspeed",
		  "{\"bf16\": {\"enabled\": true}, \"train_batch_size\": 512,\n"
		  "\"train_micro_batch_size_per_gpu\": 2,\n"
		  "\"gradient_accumulation_steps\": 4,\n"
		  "\"optimizer\": {\"type\": \"AdamW\", \"params\": {\"lr\": "
		  "\"auto\"}},\n"
		  "\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\":\n"
		  "{\"device\": \"cpu\"}, \"sub_group_size\": 1e9},\n"
		  "\"tensor_parallel\": {\"autotp_size\": 2}}",
		  &s);
	expect(&s, "zero", "3");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "512");
	expect(&s, "tp", "2");
	expect(&s, "gpus", "128"); /* 512 / (2 x 4) x TP 2 */
	expect(&s, "optimizer_offload", "1");
	expect(&s, "precision", "bf16");
	expect(&s, "overlap_grad_reduce", "on"); /* DeepSpeed's default of stage 3 */
	assert_string_equal(s.model.name, "llama3.1-8b");
	assert_true(noted(IMPORT_NOT_MODELLED, "zero_optimization.sub_group_size"));
	assert_true(noted(IMPORT_TAKEN, "zero_optimization.stage"));
	read_good("deepspeed",
		  "{\"train_batch_size\": \"auto\", \"zero_optimization\": "
		  "{\"stage\": 2}, \"train_micro_batch_size_per_gpu\": \"auto\"}",
		  &s);
	expect(&s, "zero", "2");
	expect(&s, "overlap_grad_reduce", "off");
	assert_true(noted(IMPORT_ASSUMED, "mbs"));
	/* ZeRO++ is not counted, and that is said of each part */
	read_good("deepspeed",
		  "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": "
		  "{\"stage\": 3, \"zero_quantized_weights\": true, "
		  "\"zero_quantized_gradients\": false, "
		  "\"zero_hpz_partition_size\": 8}}",
		  &s);
	assert_true(
		noted(IMPORT_APPROXIMATE, "zero_optimization.zero_quantized_weights"));
	assert_true(
		noted(IMPORT_APPROXIMATE, "zero_optimization.zero_hpz_partition_size"));
	assert_false(noted(IMPORT_APPROXIMATE,
			   "zero_optimization.zero_quantized_gradients"));
	/* shards of MiCS are those of a group */
	read_good("deepspeed",
		  "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": "
		  "{\"stage\": 3, \"mics_shard_size\": 4}}",
		  &s);
	expect(&s, "zero_group", "4");
	read_with("");
}

static void test_torchtitan(void **state)
{
	struct scenario s;

	(void)state;
	read_good("torchtitan",
		  "# Llama 3 405B\n[job]\ndump_folder = \"./outputs\"\n\n"
		  "[model]\nname = \"llama3\"\nflavor = \"405B\"\n"
		  "converters = [\n  \"quantize.linear.float8\", # one a line\n]\n"
		  "[optimizer]\nname = 'AdamW'\nlr = 8e-5\n\n"
		  "[training]\nlocal_batch_size = 16\nseq_len = 8_192\nsteps = 3000\n"
		  "[parallelism]\ndata_parallel_replicate_degree = 2\n"
		  "data_parallel_shard_degree = 4\ntensor_parallel_degree = 8\n"
		  "enable_async_tensor_parallel = true\n"
		  "pipeline_parallel_degree = 8\n"
		  "pipeline_parallel_schedule = \"Interleaved1F1B\"\n"
		  "pipeline_parallel_microbatch_size = 2\n"
		  "[activation_checkpoint]\nmode = \"full\"\n"
		  "[compile]\nenable = true\n"
		  "[quantize.linear.float8]\nrecipe_name = \"rowwise\"\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-405b");
	assert_string_equal(s.stack.name, "torchtitan");
	expect(&s, "gpus", "512");
	expect(&s, "zero", "3");
	expect(&s, "zero_group", "4");
	expect(&s, "fsdp_reshard", "off"); /* default under a pipeline */
	expect(&s, "schedule", "interleaved");
	expect(&s, "vpp", "2");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "128"); /* 16 on each of 8 data-parallel ranks */
	expect(&s, "seq", "8192");
	expect(&s, "recompute", "full");
	expect(&s, "recompute_layers", "all");
	expect(&s, "precision", "fp8");
	expect(&s, "fp8_recipe", "rowwise");
	expect(&s, "async_tp", "on");
	expect(&s, "compile", "on");
	assert_true(noted(IMPORT_NOT_MODELLED, "optimizer.lr"));
}

static const char titan[] =
	"def llama3_70b() -> Trainer.Config:\n"
	"    \"\"\"Brackets ( and = in a text.\"\"\"\n"
	"    return Trainer.Config(\n"
	"        model_spec=model_registry(\"70B\"),\n"
	"        optimizer=OptimizersContainer.Config(lr=1.5e-4),\n"
	"        training=TrainingConfig(\n"
	"            num_tokens_per_microbatch_per_dp_rank=2 * 8192,  # two\n"
	"            num_tokens_per_train_step=256 * 8192,\n"
	"            max_context_length=8_192, steps=1000),\n"
	"        model_converters=ModelConvertersContainer.Config(converters=[\n"
	"            Float8LinearConverter.Config(filter_fqns=[\"output\"])]),\n"
	"        parallelism=ParallelismConfig(\n"
	"            tensor_parallel_degree=8, pipeline_parallel_degree=2,\n"
	"            pipeline_parallel_schedule=\"Interleaved1F1B\",\n"
	"            num_pp_microbatches=4, data_parallel_shard_degree=4),\n"
	"        activation_checkpoint=SelectiveAC.Config(),\n"
	"        compile=CompileConfig(enable=True))\n"
	"def llama3_8b() -> Trainer.Config:\n"
	"    return Trainer.Config(parallelism=ParallelismConfig(\n"
	"        tensor_parallel_degree=1))\n";

/* The newer forms: Python, settings line by line, words of a command. */
static void test_torchtitan_newer(void **state)
{
	struct scenario s;
	struct error error;
	char cut[sizeof titan];

	(void)state;
	read_refused("torchtitan", titan,
		     "--function NAME says which: llama3_70b, llama3_8b");
	read_given(&(struct script_given){ .function = "llama3_7b" });
	read_refused("torchtitan", titan, "no configuration is called 'llama3_7b'");
	read_given(&(struct script_given){ .function = "llama3_8b" });
	read_good("torchtitan", titan, &s);
	assert_string_equal(s.model.name, "llama3.1-8b");
	read_given(&(struct script_given){ .function = "llama3_70b" });
	read_good("torchtitan", titan, &s);
	read_given(NULL);
	assert_string_equal(s.model.name, "llama3.1-70b");
	expect(&s, "tp", "8");
	expect(&s, "gpus", "64");
	expect(&s, "vpp", "2");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "256");
	expect(&s, "seq", "8192");
	expect(&s, "precision", "fp8");
	expect(&s, "compile", "on");
	expect(&s, "recompute", "selective");
	assert_true(noted(IMPORT_NOT_MODELLED, "optimizer.lr"));
	read_good(
		"torchtitan",
		"config = llama3_8b()\nconfig.parallelism.tensor_parallel_degree = 2\n"
		"config.parallelism.tensor_parallel_degree = 4\n"
		"config.activation_checkpoint = None\n"
		"config.training.local_batch_size = 3\n",
		&s);
	expect(&s, "tp", "4"); /* the last one */
	expect(&s, "mbs", "3");
	expect(&s, "recompute", "none");
	read_good("torchtitan",
		  "torchrun --nproc_per_node 8 --nnodes=2 -m torchtitan.train \\\n"
		  "  --module llama3 --config llama3_8b --compile.enable \\\n"
		  "  --training.local-batch-size=2 --training.seq_len 8192 \\\n"
		  "  --parallelism.data_parallel_shard_degree -1\n",
		  &s);
	assert_string_equal(s.model.name, "llama3.1-8b");
	expect(&s, "gpus", "16");
	expect(&s, "gbs", "32");
	expect(&s, "compile", "on");
	for (size_t length = 0; length < sizeof titan; length += 5) {
		snprintf(cut, sizeof cut, "%.*s", (int)length, titan);
		if (!read_as("torchtitan", cut, &s, &error))
			assert_true(error.text[0] != '\0');
	}
	assert_false(read_as("torchtitan",
			     "Trainer.Config(training=TrainingConfig(\n"
			     "  num_tokens_per_microbatch_per_dp_rank=some))",
			     &s, &error));
	assert_non_null(strstr(error.text, "file:2: training.num_tokens"));
}

/* A configuration that starts from another, of its own file or of one that isn't here.
 */
static void test_torchtitan_base(void **state)
{
	static const char text[] =
		"from x import qwen3_32b\n"
		"def qwen3_14b() -> Trainer.Config:\n"
		"    return Trainer.Config(parallelism=ParallelismConfig(\n"
		"        tensor_parallel_degree=4, data_parallel_shard_degree=2),\n"
		"        training=TrainingConfig(seq_len=8192))\n"
		"\n"
		"def fast() -> Trainer.Config:\n"
		"    config = qwen3_14b()\n"
		"    config.parallelism.tensor_parallel_degree = 8\n"
		"    return config\n"
		"def graph() -> GraphTrainer.Config:\n"
		"    config = to_graph_trainer_config(qwen3_32b(), model_registry)\n"
		"    return config\n"
		"def again() -> GraphTrainer.Config:\n"
		"    base = qwen3_32b()\n"
		"    config = to_graph_trainer_config(base, model_registry)\n"
		"    return config\n"
		"def own() -> GraphTrainer.Config:\n"
		"    config = to_graph_trainer_config(qwen3_32b(), model_registry)\n"
		"    config.training = TrainingConfig(\n"
		"        num_tokens_per_microbatch_per_dp_rank=2 * 512,\n"
		"        max_context_length=512)\n"
		"    return config\n"
		"def _helper(x) -> Trainer.Config:\n"
		"    return x\n"
		"def loop() -> Trainer.Config:\n"
		"    return round()\n"
		"def round() -> Trainer.Config:\n"
		"    return loop()\n";
	struct scenario s;

	(void)state;
	read_given(&(struct script_given){ .function = "fast" });
	read_good("torchtitan", text, &s);
	assert_string_equal(s.model.name, "qwen3-14b");
	expect(&s, "tp", "8");
	expect(&s, "gpus", "16");
	expect(&s, "seq", "8192");
	assert_false(noted(IMPORT_ASSUMED, "base"));
	/* batch and length of a file that isn't here are not torchtitan's defaults */
	read_given(&(struct script_given){ .function = "graph" });
	read_refused("torchtitan", text,
		     "starts from qwen3_32b(), which stands in another");
	read_given(&(struct script_given){ .function = "again" });
	read_refused("torchtitan", text,
		     "starts from qwen3_32b(), which stands in another");
	read_given(&(struct script_given){ .function = "own" });
	read_good("torchtitan", text, &s);
	assert_string_equal(s.model.name, "qwen3-32b");
	expect(&s, "tp", "1");
	expect(&s, "mbs", "2");
	assert_true(noted(IMPORT_ASSUMED, "base"));
	read_given(&(struct script_given){ .function = "loop" });
	read_refused("torchtitan", text, "starts from itself");
	read_given(NULL);
	/* families that have no table of flavors here, by the function's name */
	read_good("torchtitan",
		  "def qwen35_27b() -> Trainer.Config:\n"
		  "    return Trainer.Config(model_spec=model_registry(\"27B\"),\n"
		  "        parallelism=ParallelismConfig(tensor_parallel_degree=4))\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3.5-27b");
	expect(&s, "tp", "4");
	read_refused("torchtitan",
		     "def a():\n    return Controller.Config(\n        x=1)\n",
		     "reinforcement learning");
	read_refused("torchtitan",
		     "def qwen3_smallmodel() -> Trainer.Config:\n"
		     "    return Trainer.Config(training=TrainingConfig(steps=2))\n",
		     "qwen3-smallmodel");
}

/* Networks to try code with, transforms of a network, functions inside functions. */
static void test_torchtitan_networks(void **state)
{
	static const char text[] =
		"def enable(config):\n    config.fused = True\n"
		"def sft_debugmodel() -> Trainer.Config:\n"
		"    def process(sample):\n        return sample\n"
		"    model_spec = model_registry(\"debugmodel_moe\", x=\"flex\")\n"
		"    return Trainer.Config(model_spec=model_spec)\n"
		"def qwen3_8b_nvfp4() -> Trainer.Config:\n"
		"    config = qwen3_8b_fp8()\n"
		"    config.model_spec = model_registry(\"8B\", num_mtp_layers=1,\n"
		"        converters=[NVFP4LinearConverter.Config(fqns=fqns),\n"
		"                    LoRAConverter.Config(rank=8)])\n"
		"    return config\n"
		"def qwen3_8b_fp8() -> Trainer.Config:\n"
		"    return Trainer.Config(model_spec=model_registry(\"8B_flex\",\n"
		"        converters=[Float8LinearConverter.Config()]))\n"
		"def flux_dev() -> FluxTrainer.Config:\n"
		"    return FluxTrainer.Config(model_spec=model_registry(\"flux-dev\"))\n"
		"def backend_full() -> BackendConfig:\n"
		"    return BackendConfig(hf_model=\"Qwen/Qwen3-4B\",\n"
		"        model_spec=model_registry(\"full\"))\n"
		"def backend_debug() -> BackendConfig:\n"
		"    return BackendConfig(hf_model=\"Qwen/Qwen3-4B\",\n"
		"        model_spec=model_registry(\"debugmodel\"))\n";
	static const struct {
		const char *function, *says;
	} bad[] = {
		{ NULL, "6 configurations; --function NAME says which: sft_debugmodel,"
			" qwen3_8b_nvfp4" },
		{ "enable", "no configuration is called 'enable'" },
		{ "flux_dev", "trains a diffusion model" },
		{ "backend_debug", "'debugmodel' cuts Qwen/Qwen3-4B down" },
	};
	struct scenario s;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		read_given(&(struct script_given){ .function = bad[i].function });
		read_refused("torchtitan", text, bad[i].says);
	}
	read_given(&(struct script_given){ .function = "backend_full" });
	read_good("torchtitan", text, &s);
	assert_string_equal(s.model.name, "qwen3-4b");
	read_given(&(struct script_given){ .function = "qwen3_8b_fp8" });
	read_good("torchtitan", text, &s);
	expect(&s, "precision", "fp8");
	read_given(&(struct script_given){ .function = "qwen3_8b_nvfp4" });
	read_good("torchtitan", text, &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "precision", "nvfp4");
	expect(&s, "lora_rank", "8");
	assert_int_equal(s.model.mtp_layers, 1);
	/* the family of a function that does not name it: that of its folder */
	read_given(&(struct script_given){ .function = "sft_debugmodel" });
	read_refused("torchtitan", text, "no model 'debugmodel_moe'");
	memset(&report, 0, sizeof report);
	report.given = &(struct script_given){ .function = "sft_debugmodel" };
	if (!format_find("torchtitan")
		     ->in.read(&s, "models/qwen3/config_registry.py", text,
			       sizeof text - 1, &report, &error))
		fail_msg("%s", error.text);
	assert_string_equal(s.model.name, "titan-qwen3-moe-debug");
	read_given(NULL);
}

static void test_nanotron(void **state)
{
	struct scenario s;

	(void)state;
	read_good("nanotron",
		  "model:\n  dtype: bfloat16\n  model_config:\n"
		  "    hidden_size: 4096\n    intermediate_size: 14336\n"
		  "    num_hidden_layers: 32\n    num_attention_heads: 32\n"
		  "    num_key_value_heads: 8\n    vocab_size: 128256\n"
		  "    tie_word_embeddings: false\n    pad_token_id: null\n"
		  "parallelism:\n  dp: 4\n  pp: 2\n  tp: 8\n  pp_engine: afab\n"
		  "  tp_mode: REDUCE_SCATTER\n  recompute_layer: true\n"
		  "tokens:\n  micro_batch_size: 2\n  sequence_length: 4096\n"
		  "  batch_accumulation_per_replica: 8\n"
		  "optimizer:\n  zero_stage: 1\n  accumulate_grad_in_fp32: true\n",
		  &s);
	expect(&s, "gpus", "64");
	expect(&s, "gbs", "64");
	expect(&s, "schedule", "gpipe");
	expect(&s, "sp", "on");
	expect(&s, "recompute", "full");
	expect(&s, "grad_dtype", "fp32");
	assert_int_equal(s.model.layers, 32);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 8);
}

/* A gradient has the format of the gathered weight, not that of its sum. */
static void test_torchtitan_gradients(void **state)
{
	static const struct {
		const char *lines, *grad_dtype, *precision;
	} rows[] = {
		{ "", "bf16", "bf16" },
		{ "mixed_precision_reduce = \"float32\"\n", "bf16", "bf16" },
		{ "mixed_precision_param = \"float32\"\n", "fp32", "fp32" },
	};
	struct scenario s;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text,
			 "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
			 "seq_len = 8192\nlocal_batch_size = 1\n%s",
			 rows[i].lines);
		read_good("torchtitan", text, &s);
		expect(&s, "grad_dtype", rows[i].grad_dtype);
		expect(&s, "precision", rows[i].precision);
	}
}

static void test_accelerate(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama3.1-8b");
	read_good("accelerate",
		  "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n"
		  "fsdp_config:\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
		  "  fsdp_sharding_strategy: HYBRID_SHARD\n"
		  "  fsdp_activation_checkpointing: true\n"
		  "  fsdp_offload_params: false\n"
		  "mixed_precision: bf16\nnum_machines: 4\nnum_processes: 32\n",
		  &s);
	expect(&s, "gpus", "32");
	expect(&s, "gpus_per_node", "8");
	expect(&s, "zero", "3");
	expect(&s, "zero_group", "8");
	expect(&s, "recompute", "full");
	expect(&s, "optimizer_offload", "0");
	assert_true(noted(IMPORT_NOT_MODELLED, "fsdp_config.fsdp_auto_wrap_policy"));
	read_good("accelerate",
		  "distributed_type: MULTI_GPU\nmixed_precision: 'no'\n"
		  "num_processes: 8\n",
		  &s);
	expect(&s, "zero", "0");
	expect(&s, "precision", "fp32");
	/* what another engine is told stands in a mapping of its own */
	read_good("accelerate",
		  "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n"
		  "  offload_optimizer_device: cpu\n  offload_param_device: none\n"
		  "  gradient_accumulation_steps: 4\nmixed_precision: bf16\n"
		  "num_machines: 1\nnum_processes: 8\nparallelism_config:\n"
		  "  parallelism_config_sp_size: 2\n",
		  &s);
	expect(&s, "zero", "3");
	expect(&s, "optimizer_offload", "1");
	expect(&s, "cp", "2");
	expect(&s, "cp_kind", "ulysses");
	expect(&s, "gbs", "16");
	read_good("accelerate", "distributed_type: DEEPSPEED\nnum_processes: 8\n", &s);
	expect(&s, "zero", "2");
	read_refused("accelerate",
		     "distributed_type: DEEPSPEED\ndeepspeed_config:\n"
		     "  deepspeed_config_file: ds.json\nnum_processes: 8\n",
		     "ds.json");
	read_good("accelerate",
		  "distributed_type: MEGATRON_LM\nmegatron_lm_config:\n"
		  "  megatron_lm_tp_degree: 2\n  megatron_lm_pp_degree: 2\n"
		  "  megatron_lm_num_micro_batches: 4\n"
		  "  megatron_lm_sequence_parallelism: true\n"
		  "  megatron_lm_recompute_activations: true\n"
		  "mixed_precision: bf16\nnum_processes: 8\n",
		  &s);
	expect(&s, "tp", "2");
	expect(&s, "pp", "2");
	expect(&s, "sp", "on");
	expect(&s, "recompute", "selective");
	expect(&s, "gbs", "8");
	read_with("");
}

static void test_others_hostile(void **state)
{
	static const struct {
		const char *format, *text, *says;
	} bad[] = {
		{ "deepspeed", "{", "file:" },
		{ "deepspeed", "[1, 2]", "file:1" },
		{ "deepspeed", "{\n\"zero_optimization\": {\"stage\": 4}}", "file:2" },
		{ "deepspeed",
		  "{\"zero_optimization\":\n{\"stage\": 99999999999999999}}",
		  "file:2" },
		{ "deepspeed",
		  "{\"train_batch_size\": 7, \"gradient_accumulation_steps\": 2}",
		  "no multiple" },
		{ "deepspeed", "{\"gradient_accumulation_steps\": -5}",
		  "whole number" },
		{ "torchtitan", "", "file:1" },
		{ "torchtitan", "[parallelism\ntensor_parallel_degree = 2", "file:1" },
		{ "torchtitan", "[parallelism]\ntensor_parallel_degree", "file:2" },
		{ "torchtitan", "[parallelism]\ntensor_parallel_degree =\n", "file:2" },
		{ "torchtitan", "a = \"no end\nb = 2\n", "no end" },
		{ "torchtitan", "a = [1, [2, 3]\n", "no end" },
		{ "torchtitan", "a = 'x' y\n", "new line" },
		{ "torchtitan", "[training]\nseq_len = 0\n", "file:2" },
		{ "torchtitan",
		  "[parallelism]\ndata_parallel_shard_degree = 1000000000000\n"
		  "data_parallel_replicate_degree = 1000000000000\n",
		  "file:2" },
		{ "nanotron", "parallelism:\n  tp: zero\n", "file:2" },
		{ "nanotron", "parallelism:\n  dp: 1099511627776\n  tp: 4096\n",
		  "file:2" },
		{ "nanotron", "model:\n  model_config:\n    hidden_size: 0\n",
		  "file:3" },
		{ "nanotron",
		  "model:\n  model_config:\n    hidden_size: 64\n"
		  "    num_attention_heads: 4\n    num_hidden_layers: 999999\n",
		  "file:3" },
		{ "accelerate", "num_processes: -1\n", "file:1" },
		{ "accelerate",
		  "distributed_type: FSDP\nfsdp_config:\n"
		  "  fsdp_sharding_strategy: SOME\n",
		  "file:3" },
	};

	(void)state;
	read_with("llama3.1-8b");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		read_refused(bad[i].format, bad[i].text, bad[i].says);
	read_with("");
}

/* The small files of tests/fuzz/seeds/<format>/ are told apart and read; a shipped plan
 * is none of them. */
static void test_sniff(void **state)
{
	int seen = 0;

	(void)state;
	for (int i = 0; i < format_count(); i++) {
		const char *name = format_table[i].name;
		char folder[128], path[512];
		struct dirent *entry;
		DIR *dir;

		if (!format_table[i].in.read)
			continue;
		snprintf(folder, sizeof folder, "tests/fuzz/seeds/%s", name);
		dir = opendir(folder);
		if (!dir)
			fail_msg("no %s", folder);
		while ((entry = readdir(dir))) {
			const struct format *reader;
			struct scenario s;
			struct error error;

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
			reader = format_sniff(path);
			if (!reader || strcmp(reader->name, name) != 0)
				fail_msg("%s is taken for %s", path,
					 reader ? reader->name : "a scenario");
			memset(&report, 0, sizeof report);
			/* those that name none */
			snprintf(report.model, sizeof report.model, "%s",
				 strcmp(name, "deepspeed") == 0 ||
						 strcmp(name, "accelerate") == 0 ||
						 strcmp(name, "lmcache") == 0 ||
						 strcmp(entry->d_name, "bridge.yaml") ==
							 0
					 ? "llama3.1-8b"
					 : "");
			report.given = &(struct script_given){
				.function = strcmp(entry->d_name, "config.py") == 0
						    ? "llama3_70b"
						    : NULL
			};
			if (!format_read(reader, path, &s, &report, &error))
				fail_msg("%s", error.text);
			seen++;
		}
		closedir(dir);
	}
	assert_true(seen >= 13);
	assert_null(format_sniff("presets/plans/llama3-405b-16k-h100.yaml"));
	assert_null(format_sniff("presets/models/README.md"));
	assert_null(format_sniff("no/such/file"));
	assert_null(format_sniff("-"));
}

/* What is no scenario and no known kind is told so, not what YAML it lacks. */
static void test_foreign(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "#!/bin/sh\necho hello\nls -l\n",
		  "a script, of whose commands none" },
		{ "python3 -m verl.trainer.main_ppo a.b=1\n",
		  "reinforcement learning" },
		{ "python3 /opt/launcher_scripts/main.py training=llama/llama3_405b \\\n"
		  "stages=[training] \\\ntraining.model.global_batch_size=252\n",
		  "NeMo's launcher" },
		{ "#!/bin/bash\nCONFIG_FILE=${CONFIG_FILE:-a.toml}\n", "CONFIG_FILE" },
		{ "queue:\nworkload:\n  gpus: 256\n  image: a\n"
		  "  configFile: settings.yaml\n  configPath: /workload\n",
		  "that configFile names: give that file" },
		/* overrides of Megatron-Bridge */
		{ "model:\n  seq_length: 2048\ntrain:\n  train_iters: 600\n",
		  "this file names no model" },
		{ "python -m atom.entrypoints.openai_server --model $m -tp 8\n",
		  "a server of ATOM" },
		{ "defaults:\n  - /hydra_config/llmft/default\nrun:\n  name: x\n",
		  "SageMaker HyperPod" },
		/* models' sizes that are no config.json */
		{ "{\"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12}", "model_type" },
		{ "{\"dim\": 256, \"n_layers\": 8, \"n_heads\": 16}", "model_type" },
		{ "{\"hidden_size\": 1024, \"num_hidden_layers\": 24}", "model_type" },
		{ "{\"name\": \"x\", \"num_layers\": 96, \"hidden_dim\": 12288,\n"
		  "\"ffn_embed_dim\": 49152}",
		  "llm-analysis" },
		{ "{\"hidden_dim\": 6656, \"ffn_embed_dim\": 26624,\n"
		  "\"model_type\": \"llama\"}",
		  "llm-analysis" },
		{ "apiVersion: v2\nname: chart\n", "import KIND FILE" },
		{ "{\"a\": [1, 2]}\n", "nor of a kind that is known" },
		/* keys of what lies inside are not the file's */
		{ "{\"a\": {\"model\": 1, \"cluster\": 2}, \"b\": [{\"tp\": 1}]}",
		  "nor of a kind that is known" },
		{ "{\"say\": \"\\\"model\\\": x\", \"model",
		  "nor of a kind that is known" },
		{ "- a\n- b\n", "nor of a kind that is known" },
		/* one word that is ours, and others' beside it */
		{ "name: x\nmodel:\n  path: r1\nresources:\n  nodes: 1\n"
		  "backend:\n  type: x\n",
		  "nor of a kind that is known" },
		{ "job:\n  about: x\nmodel:\n  name: llama3\n  flavor: 8B\n",
		  "nor of a kind that is known" },
		/* files of LLaMA-Factory that train nothing */
		{ "model_name_or_path: Qwen/Qwen3-4B\ninfer_backend: vllm\n",
		  "this file trains nothing" },
		{ "model_name_or_path: Qwen/Qwen3-4B\nexport_dir: out\n",
		  "this file trains nothing" },
		{ "model: Qwen/Qwen3-4B\npeft_config:\n  name: lora\n",
		  "this file trains nothing" },
		/* what a comment says is of no kind */
		{ "# a = ParallelismConfig(\ncompute_environment: LOCAL_MACHINE\n"
		  "num_processes: 8\n",
		  "this file names no model" },
		/* a scenario with a mistake is told the mistake */
		{ "model: llama3.1-8b\ntpp: 8\n", "unknown key 'tpp'" },
		{ "{\"model\":\"llama3.1-8b\",\"cluster\":\"dgx-h100\",\"tpp\":3}",
		  "unknown key 'tpp'" },
		{ "{\n  \"model\": \"llama3.1-8b\",\n  \"tpp\" : 3\n}\n",
		  ":3: unknown key 'tpp'" },
		{ "cluster: dgx-h100\n", "no model; expected model: NAME" },
		{ "", "expected YAML keys" },
	};
	char path[] = "/tmp/shardscope-foreign-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		FILE *stream = fopen(path, "w");
		struct scenario s;
		struct error error = { "" };

		assert_non_null(stream);
		fputs(files[i].text, stream);
		fclose(stream);
		assert_false(format_open(path, &s, NULL, &error));
		if (!strstr(error.text, files[i].says))
			fail_msg("'%s' says: %s", files[i].text, error.text);
	}
	unlink(path);
}

/* A model is the file's or the caller's, never another. */
static void test_models_named(void **state)
{
	static const struct {
		const char *format, *text, *says;
	} bad[] = {
		{ "vllm", "vllm serve google/gemma-4-77B-it -tp 4",
		  "no model 'google/gemma-4-77B-it' in the library; near: gemma" },
		{ "vllm", "vllm serve $MODEL -tp 4", "names no model" },
		{ "megatron", "megatron sft --model org/Own-9B --micro-batch-size 1",
		  "no model 'org/Own-9B' in the library; " },
		{ "megatron",
		  "python run_recipe.py --recipe own_9b_pretrain_config -tp 2",
		  "no model 'own_9b_pretrain_config'" },
		{ "megatron", "x --tokenizer-model meta-llama/Llama-3.1-8B --bf16",
		  "names no model" },
		{ "torchtitan", "[model]\nname = \"llama3\"\nflavor = \"tinymodel\"\n",
		  "file:3: no model 'llama3-tinymodel'" },
		{ "torchtitan", "[training]\nseq_len = 64\n", "names no model" },
		{ "nanotron", "parallelism:\n  tp: 2\n", "names no model" },
		{ "deepspeed", "{\"zero_optimization\": {\"stage\": 1}}",
		  "names no model; --model NAME" },
		{ "accelerate", "num_processes: 8\n", "names no model" },
	};
	struct scenario s;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		read_refused(bad[i].format, bad[i].text, bad[i].says);
	read_good("vllm", "vllm serve openai/gpt-oss-120b", &s);
	assert_true(noted(IMPORT_TAKEN, "model"));
	read_with("gemma3-27b");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (!read_as(bad[i].format, bad[i].text, &s, &error))
			fail_msg("%s", error.text);
		assert_string_equal(s.model.name, "gemma3-27b");
		assert_false(noted(IMPORT_ASSUMED, "model"));
	}
	read_with("");
}

static bool read_file(const char *format, const char *text, struct error *error)
{
	char path[] = "/tmp/shardscope-import-XXXXXX";
	struct scenario s;
	int fd = mkstemp(path);
	bool good;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	memset(&report, 0, sizeof report);
	snprintf(report.model, sizeof report.model, "llama3.1-8b");
	good = format_read(format_find(format), path, &s, &report, error);
	unlink(path);
	return good;
}

/* Of another kind, or with all that matters deeper than the reader looks. */
static void test_nothing_taken(void **state)
{
	static const struct {
		const char *format, *text;
	} bad[] = {
		{ "megatron", "modules:\n  own:\n    tensor_size: 8\nexp_name: x\n" },
		{ "accelerate", "lr: 3\n" },
		{ "deepspeed", "{\"lr\": 3}" },
		{ "torchtitan", "[own]\nlr = 3\n" },
		{ "vllm", "vllm serve org/Own --lr 3\n" },
	};
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (read_file(bad[i].format, bad[i].text, &error))
			fail_msg("taken by %s: %s", bad[i].format, bad[i].text);
		if (!strstr(error.text, "not one key of it is known"))
			fail_msg("%s", error.text);
		assert_non_null(strstr(error.text, bad[i].format));
	}
	/* what is skipped is listed, and is no flag of Megatron's to be kept */
	assert_true(read_file("megatron",
			      "hidden_size: 512\nnum_layers: 2\nown:\n  deep: {size: "
			      "8}\nnum_attention_heads: 8\n",
			      &error));
	assert_true(noted(IMPORT_SKIPPED, "own.deep.size"));
	assert_int_equal(import_count(&report, IMPORT_NOT_MODELLED), 0);
}

/* Primus keeps Megatron's flags two mappings deep, and names its model by a file. */
static void test_primus(void **state)
{
	static const char text[] =
		"work_group: ${PRIMUS_TEAM:amd}\nmodules:\n  pre_trainer:\n"
		"    framework: megatron\n    config: pre_trainer.yaml\n"
		"    model: ${PRIMUS_MODEL:llama3.1_8B}.yaml\n    overrides:\n"
		"      micro_batch_size: 2\n      global_batch_size: 128\n"
		"      seq_length: ${PRIMUS_SEQ:4096}\n"
		"      tensor_model_parallel_size: 4\n      recompute_num_layers: "
		"null\n      own: {deep: 3}\n";
	struct scenario s;
	struct error error;
	char other[sizeof text + 64], *at;

	(void)state;
	read_good("megatron", text, &s);
	assert_string_equal(s.model.name, "llama3.1-8b");
	expect(&s, "tp", "4");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "128");
	expect(&s, "seq", "4096");
	expect(&s, "precision", "bf16");
	assert_true(noted(IMPORT_SKIPPED, "overrides.own.deep"));
	/* a part of a shape is laid over the model's, never a shape of its own */
	snprintf(other, sizeof other, "%.*s      num_layers: 8\n",
		 (int)(sizeof text - 1), text);
	read_good("megatron", other, &s);
	assert_int_equal(s.model.layers, 8);
	assert_int_equal(s.model.hidden, 4096);
	assert_int_equal(s.model.vocab, 128256);
	snprintf(other, sizeof other, "%.*s      num_layers: 80\n",
		 (int)(sizeof text - 1), text);
	read_refused("megatron", other, "num-layers is 80, and 32 in llama3.1-8b");
	snprintf(other, sizeof other, "%.*s      hidden_size: 64\n",
		 (int)(sizeof text - 1), text);
	read_refused("megatron", other, "hidden-size is 64, and 4096 in llama3.1-8b");
	snprintf(other, sizeof other, "%s", text);
	at = strstr(other, "llama3.1_8B");
	memcpy(at, "ours_of_9_B", 11);
	assert_false(read_as("megatron", other, &s, &error));
	assert_non_null(strstr(error.text, "file:6: no model 'ours_of_9_B'"));
}

#define PRIMUS(model, more)                                                         \
	"modules:\n  pre_trainer:\n    framework: megatron\n    model: " model "\n" \
	"    overrides:\n      micro_batch_size: 2\n" more

/* Adapters in both spellings; keys of another trainer than Megatron are refused, which
 * would be Megatron's defaults. */
static void primus_trains_otherwise(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", PRIMUS("qwen3_32b.yaml", "      peft: lora\n"), &s);
	expect(&s, "lora_rank", "32");
	read_good("megatron",
		  PRIMUS("qwen3_32b.yaml", "      peft: lora\n      peft_dim: 16\n"),
		  &s);
	expect(&s, "lora_rank", "16");
	read_good("megatron",
		  PRIMUS("qwen3_32b.yaml",
			 "      lora:\n        enabled: true\n        dim: 8\n"),
		  &s);
	expect(&s, "lora_rank", "8");
	read_good("megatron", PRIMUS("qwen3_32b.yaml", "      peft: \"none\"\n"), &s);
	expect(&s, "lora_rank", "off");
	read_refused("megatron",
		     "modules:\n  pre_trainer:\n    framework: torchtitan\n"
		     "    model: llama3.1_8B.yaml\n    overrides:\n"
		     "      training: {seq_len: 8192}\n",
		     "file:3: Primus runs 'torchtitan' with these overrides");
}

/* Hybrids by name, whose mixer the stack's spec may change; names that mean another
 * model elsewhere; files that only extend others. */
static void test_primus_models(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  PRIMUS("zebra_llama_1B.yaml",
			 "      spec: ['hybrid_layer_specs', 'hybrid_stack_spec']\n"),
		  &s);
	assert_string_equal(s.model.name, "zebra-llama-1b");
	read_good(
		"megatron",
		PRIMUS("zebra_llama_1B_gdn.yaml",
		       "      spec: ['hybrid_layer_specs', 'gdn_hybrid_stack_spec']\n"),
		&s);
	assert_string_equal(s.model.name, "zebra-llama-1b-gdn");
	read_refused("megatron",
		     PRIMUS("zebra_llama_1B.yaml",
			    "      spec: ['layer_specs', 'kda_hybrid_stack_spec']\n"),
		     "has no delta net in it");
	read_good("megatron", PRIMUS("mamba_370M.yaml", ""), &s);
	assert_string_equal(s.model.name, "primus-mamba-370m");
	read_refused("megatron", PRIMUS("diffusion/flux_12b.yaml", ""),
		     "file:4: diffusion/flux_12b is a diffusion model");
	read_refused("megatron", "extends:\n  - other-sft.yaml\nmicro_batch_size: 2\n",
		     "it extends other-sft.yaml, which is not opened");
	/* a name that nobody compared stays assumed */
	read_good("vllm", "vllm serve zai-org/GLM-4.6 -tp 8\n", &s);
	assert_string_equal(s.model.name, "glm-4.5");
	assert_true(noted(IMPORT_ASSUMED, "model"));
	/* the same name without Primus is another's */
	read_refused("vllm", "vllm serve org/mamba-370m\n",
		     "no model 'org/mamba-370m'");
}

/* What generates, serves, converts or learns by reward is refused. */
static void test_tasks(void **state)
{
#define LAUNCH(program, flag)                                                   \
	"torchrun --nproc_per_node 8 " program " --num-layers 8 --hidden-size " \
	"1024 --num-attention-heads 16 " flag "\n"
	struct scenario s;

	(void)state;
	read_good("megatron", LAUNCH("pretrain_gpt.py", ""), &s);
	assert_false(noted(IMPORT_ASSUMED, "mode"));
	read_refused("megatron", LAUNCH("tools/run_text_generation_server.py", ""),
		     "for generation and trains nothing");
	read_refused("megatron", LAUNCH("train_rl.py", "--perform-rl-step"),
		     "reinforcement learning");
	read_refused("megatron", LAUNCH("start.py", "--grpo-group-size 8"),
		     "reinforcement learning");
	read_refused("megatron", LAUNCH("train_ppo_actor.py", ""),
		     "reinforcement learning");
	/* no word of it inside another one */
	read_good("megatron", LAUNCH("pretrain_supported.py", ""), &s);
	assert_false(noted(IMPORT_ASSUMED, "mode"));
	read_refused("megatron", LAUNCH("x.py", "--num-tokens-to-generate 8"),
		     "for generation and trains nothing");
	/* another trainer of the same project, with none of Megatron's flags */
	read_refused("megatron",
		     "swift sft --model Qwen/Qwen2.5-14B --max_length 8192 "
		     "--deepspeed zero2\n",
		     "swift sft runs by transformers");
	read_refused("megatron",
		     LAUNCH("examples/conversion/hf_to_megatron_generate_vlm.py",
			    "--tp 2 --pp 2 --ep 4"),
		     "for generation and trains nothing");
	read_good("megatron",
		  "megatron sft --model Qwen/Qwen3-8B --tuner_type lora_llm "
		  "--lora_rank 16\n",
		  &s);
	expect(&s, "lora_rank", "16");
#undef LAUNCH
}

/* Spellings that the tools themselves take. */
static void test_spellings(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama2-7b");
	read_good("deepspeed", "{\"optimizer\": {\"type\": \"sgd\"}}", &s);
	expect(&s, "optimizer", "sgd");
	read_good("deepspeed", "{\"optimizer\": {\"type\": \"Magic\"}}", &s);
	expect(&s, "optimizer", "adamw");
	assert_true(noted(IMPORT_APPROXIMATE, "optimizer.type"));
	read_good("nanotron", "tokens:\n  sequence_length: 4_096\n", &s);
	expect(&s, "seq", "4096");
	read_with("");
}

/* Values that YAML repeats by name, and numbers with bars. */
static void test_aliases(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "base: &b\n  tensor_model_parallel_size: 4\n  num_layers: 70\n"
		  "MODEL_ARGS:\n  <<: *b\n  num_layers: &n 2\n  hidden_size: 64\n"
		  "  num_attention_heads: 4\n  seq_length: 4_096\n"
		  "  mtp_num_layers: *n\n  global_batch_size: 1_6\n",
		  &s);
	expect(&s, "tp", "4");
	expect(&s, "seq", "4096");
	expect(&s, "gbs", "16");
	assert_int_equal(s.model.layers, 2);
	assert_int_equal(s.model.mtp_layers, 2);
	/* nor is a copy of a mapping that nobody reads hung elsewhere */
	read_good("megatron",
		  "x: &x {num_layers: [7, 8]}\nweight_map: *x\n"
		  "hidden_size: 64\nnum_layers: 2\nnum_attention_heads: 4\n",
		  &s);
	assert_int_equal(s.model.layers, 2);
	read_refused("megatron", "num_layers: *none\n", "no value before it is called");
	read_refused("megatron", "num_layers: &a [*a]\n",
		     "no value before it is called");
}

static void test_assumed_is_carried(void **state)
{
	char plan[] = "/tmp/shardscope-assumed-XXXXXX.yaml", command[256];
	struct error error;
	FILE *stream;

	(void)state;
	assert_true(read_file("deepspeed",
			      "{\"train_batch_size\": 8, \"zero_optimization\": "
			      "{\"stage\": 2}, \"bf16\": {\"enabled\": true}}",
			      &error));
	assert_true(noted(IMPORT_ASSUMED, "cluster"));
	run_check("import deepspeed tests/fuzz/seeds/deepspeed/exported --model "
		  "llama2-7b --cluster dgx-a100-80g",
		  0, "model: llama2-7b", "assumed");
	stream = fdopen(mkstemps(plan, 5), "w");
	assert_non_null(stream);
	fputs("model: llama2-7b\nstack: megatron-core\nzero: 2\ngpus: 8\ngbs: 8\nassumed: {cluster: "
	      "dgx-h100, gpus: '8', vocab-size: '51200', gbs: ''}\n",
	      stream);
	fclose(stream);
	snprintf(command, sizeof command, "eval %s", plan);
	run_check(command, 0, "assumed: dgx-h100, gpus 8, gbs 8",
		  "assumed when it was imported: vocab-size 51200");
	snprintf(command, sizeof command, "eval %s --json", plan);
	run_check(command, 0, "\"cluster\":", NULL);
	snprintf(command, sizeof command, "check --gpus 16 --gbs 16 %s", plan);
	run_check(command, 0, "assumed: dgx-h100\n", NULL);
	snprintf(command, sizeof command, "eval - < %s", plan);
	run_check(command, 0, "assumed: dgx-h100, gpus 8", NULL);
	snprintf(command, sizeof command, "export yaml %s --gpus 16", plan);
	run_check(command, 0, "assumed:\n  \"cluster\": \"dgx-h100\"\n  \"vocab-size\"",
		  "assumed: dgx-h100, gbs 8");
	snprintf(command, sizeof command, "screen overview --size 120x36 %s", plan);
	run_check(command, 0, "~ assumed: dgx-h100, gpus 8", NULL);
	remove(plan);
}

/* Tools that read with PyYAML take the last of equal keys. */
static void test_equal_keys(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl",
		  "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\n"
		  "micro_batch_size: 1\nmicro_batch_size: 4\n",
		  &s);
	expect(&s, "mbs", "4");
	read_with("qwen3-8b");
	read_good("accelerate",
		  "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n"
		  "num_processes: 4\nnum_processes: 8\nfsdp_config:\n"
		  "  fsdp_version: 2\n",
		  &s);
	expect(&s, "gpus", "8");
	read_with("");
}

/* A file of the corpus in the form of its folder: read, or refused with a word. */
static void read_corpus_file(const char *format, const char *path)
{
	struct scenario s;
	struct error error = { "" };

	memset(&report, 0, sizeof report);
	if (!format_read(format_find(format), path, &s, &report, &error)) {
		if (!strstr(error.text, path) && strlen(path) < 200)
			fail_msg("'%s' does not name %s", error.text, path);
		return;
	}
	if (import_count(&report, IMPORT_TAKEN) == 0)
		fail_msg("%s is read, and no key of it was taken", path);
	for (int i = 0; i < report.count; i++)
		/* one whose configuration nobody compared says so */
		if (report.note[i].kind == IMPORT_ASSUMED &&
		    strcmp(report.note[i].key, "model") == 0 &&
		    !strstr(s.model.approximate, "by its name alone"))
			fail_msg("%s: a model is assumed, %s", path,
				 report.note[i].text);
}

/* Real files of other tools, where they are at hand: none is read without a key, none
 * for a model that it does not name. */
static void test_real_files(void **state)
{
	static const char *const folders[][2] = {
		{ "hf", "hf" },
		{ "megatron", "megatron" },
		{ "megatron-deepspeed", "megatron" },
		{ "ms-swift", "megatron" },
		{ "pai", "megatron" },
		{ "mlperf", "mlperf" },
		{ "primus", "megatron" },
		{ "nemo", "megatron" },
		{ "deepspeed", "deepspeed" },
		{ "axolotl", "axolotl" },
		{ "llama-factory", "llama-factory" },
		{ "nanotron", "nanotron" },
		{ "torchtitan", "torchtitan" },
		{ "vllm", "vllm" },
	};
	const char *corpus = getenv("SHARDSCOPE_CORPUS");
	int seen = 0;

	(void)state;
	corpus = corpus ? corpus : "../shared/corpus";
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		char folder[512], path[1024];
		struct dirent *entry;
		DIR *dir;

		snprintf(folder, sizeof folder, "%s/%s", corpus, folders[i][0]);
		dir = opendir(folder);
		while (dir && (entry = readdir(dir))) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
			read_corpus_file(folders[i][1], path);
			seen++;
		}
		if (dir)
			closedir(dir);
	}
	if (seen == 0)
		skip();
}

/* YAML on standard output, the report on standard error, 2 for what can't be read. */
static void test_command(void **state)
{
	(void)state;
	run_check("import megatron tests/fuzz/seeds/megatron/script", 0, "\nvpp: 4\n",
		  "not modelled");
	run_check("import megatron tests/fuzz/seeds/megatron/script --tp 8 --gpus 64",
		  0, "\ngpus: 64", NULL);
	run_check("import torchtitan -", 2, NULL,
		  "standard input:1: the file is empty");
	run_check("import hf tests/fuzz/seeds/hf/config.json", 0, "format: 1", "taken");
	run_check("check tests/fuzz/seeds/megatron/printed", 0, NULL,
		  "read as megatron");
	run_check("check tests/fuzz/seeds/megatron/printed --gpus 7 --tp 2", 1, "E1",
		  NULL);
	run_check("export megatron tests/fuzz/seeds/megatron/args.yaml", 0, "torchrun",
		  NULL);
	run_check("screen overview --size 120x36 --model "
		  "tests/fuzz/seeds/hf/hybrid.json",
		  0, "~ approximate: linear attention", NULL);
	run_check("screen overview --size 80x24 --model "
		  "tests/fuzz/seeds/hf/hybrid.json",
		  0, " hybrid (approximate) ", NULL);
	run_check("eval --model tests/fuzz/seeds/hf", 0, "hf on 8 x ", NULL);
	run_check("eval --model presets", 2, NULL, "presets/config.json");
	run_check("import", 2, NULL, "import needs a file");
	run_check("import tests/fuzz/seeds/megatron/script", 0, "\nvpp: 4\n", "taken");
	run_check("import tests/fuzz/seeds/hf/config.json", 0, "format: 1", "taken");
	run_check("import - < tests/fuzz/seeds/megatron/script", 0, "\nvpp: 4\n", NULL);
	run_check("import tests/fuzz/seeds/megatron/script 8", 2, NULL,
		  "import megatron tests/fuzz/seeds/megatron/script 8");
	run_check("import llama3.1-70b-4-h100-serve", 2, NULL, "a scenario already");
	run_check("import Makefile", 2, NULL, "Makefile:1: neither a scenario");
	run_check("import word", 2, NULL, "expected a file, or one of hf, megatron");
	run_check("import deepspeed tests/fuzz/seeds/deepspeed/exported", 2, NULL,
		  "--model NAME");
	run_check("import deepspeed tests/fuzz/seeds/deepspeed/exported "
		  "--model llama2-70b",
		  0, "model: llama2-70b\n", "taken");
	run_check("check tests/fuzz/seeds/accelerate/exported", 2, NULL,
		  "names no model");
	run_check("check tests/fuzz/seeds/accelerate/exported --model llama2-7b", 0,
		  "ok", "read as accelerate");
	run_check("eval --model google/gemma-4-77B-it", 2, NULL, "near: gemma");
	run_check("import word x", 2, NULL, "or one of hf, megatron");
	run_check("import megatron no/such/file", 2, NULL, "No such file");
	run_check("import megatron tests", 2, NULL, "tests");
	run_check("import deepspeed /dev/null", 2, NULL,
		  "/dev/null:1: the file is empty");
	run_check("import deepspeed tests/fuzz/seeds/megatron/script", 2, NULL,
		  "tests/fuzz/seeds/megatron/script:");
	run_check("import --help", 0, "torchtitan", NULL);
	run_check("export --help", 0, "accelerate", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_hf),
		cmocka_unit_test(test_deepspeed),
		cmocka_unit_test(test_torchtitan),
		cmocka_unit_test(test_torchtitan_newer),
		cmocka_unit_test(test_torchtitan_base),
		cmocka_unit_test(test_torchtitan_networks),
		cmocka_unit_test(test_nanotron),
		cmocka_unit_test(test_torchtitan_gradients),
		cmocka_unit_test(test_accelerate),
		cmocka_unit_test(test_others_hostile),
		cmocka_unit_test(test_sniff),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_models_named),
		cmocka_unit_test(test_nothing_taken),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_primus),
		cmocka_unit_test(test_primus_models),
		cmocka_unit_test(primus_trains_otherwise),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_assumed_is_carried),
		cmocka_unit_test(test_equal_keys),
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
