/* test_finetune.c - files of LLaMA-Factory and axolotl as scenarios. */
#include <stdio.h>
#include <string.h>

#include "engine/rules/ability.h"
#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

static void llama_factory_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("llama-factory",
		  "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\n"
		  "stage: sft\ndo_train: true\nfinetuning_type: full\n"
		  "deepspeed: examples/deepspeed/ds_z3_offload_config.json\n"
		  "cutoff_len: 4096\nper_device_train_batch_size: 2\n"
		  "gradient_accumulation_steps: 4\nlearning_rate: 1.0e-5\n"
		  "optim: paged_adamw_8bit\nbf16: true\n",
		  &s);
	assert_string_equal(s.model.name, "llama3-8b");
	assert_string_equal(s.stack.name, "deepspeed");
	expect(&s, "zero", "3");
	expect(&s, "optimizer_offload", "1");
	expect(&s, "seq", "4096");
	expect(&s, "mbs", "2");
	expect(&s, "gpus", "8");
	expect(&s, "gbs", "64"); /* 2 x 4 on each of the 8 that are assumed */
	expect(&s, "optimizer", "adamw-8bit");
	expect(&s, "precision", "bf16");
	expect(&s, "recompute", "full"); /* its default */
	expect(&s, "lora_rank", "off");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	assert_true(noted(IMPORT_ASSUMED, "gbs"));
	assert_true(noted(IMPORT_NOT_MODELLED, "learning_rate"));
	assert_false(noted(IMPORT_TAKEN, "learning_rate"));
}

/* What is absent has the trainer's default. */
static void llama_factory_has_defaults(void **state)
{
	struct scenario s;

	(void)state;
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen2.5-14B\ndo_train: true\n"
		  "quantization_bit: 4\noptim: galore_adamw\n"
		  "disable_gradient_checkpointing: true\nfp16: true\n",
		  &s);
	assert_string_equal(s.stack.name, "fsdp");
	expect(&s, "zero", "0");
	expect(&s, "lora_rank", "8");
	expect(&s, "seq", "2048");
	expect(&s, "mbs", "8");
	expect(&s, "precision", "fp16");
	expect(&s, "recompute", "none");
	assert_true(noted(IMPORT_APPROXIMATE, "optim"));
	expect(&s, "frozen_format", "nf4");
	assert_null(strstr(s.model.approximate, "few bits"));
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen2.5-14B\ndo_train: true\n"
		  "quantization_bit: 4\nquantization_method: hqq\n",
		  &s);
	expect(&s, "frozen_format", "wide");
	assert_non_null(strstr(s.model.approximate, "few bits"));
	/* checkpoints that are of four bits themselves */
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4\n"
		  "do_train: true\nfinetuning_type: lora\n",
		  &s);
	expect(&s, "frozen_format", "int4");
	assert_null(strstr(s.model.approximate, "few bits"));
	read_good("llama-factory",
		  "model_name_or_path: unsloth/Qwen2.5-14B-bnb-4bit\n"
		  "do_train: true\nfinetuning_type: lora\n",
		  &s);
	expect(&s, "frozen_format", "nf4");
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4\n"
		  "do_train: true\nfinetuning_type: full\n",
		  &s);
	expect(&s, "frozen_format", "wide");
	assert_non_null(strstr(s.model.approximate, "few bits"));
	/* experts of such a checkpoint too, which bitsandbytes leaves alone */
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen3-30B-A3B-GPTQ-Int4\n"
		  "do_train: true\nfinetuning_type: lora\n",
		  &s);
	expect(&s, "frozen_format", "int4");
	assert_null(strstr(s.model.approximate, "few bits"));
	read_good("llama-factory",
		  "model_name_or_path: unsloth/Qwen3-30B-A3B-bnb-4bit\n"
		  "do_train: true\nfinetuning_type: lora\n",
		  &s);
	expect(&s, "frozen_format", "wide");
	assert_non_null(strstr(s.model.approximate, "few bits"));
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen3-30B-A3B\ndo_train: true\n"
		  "quantization_bit: 4\n",
		  &s);
	expect(&s, "frozen_format", "wide");
	assert_non_null(strstr(s.model.approximate, "few bits"));
	read_good("llama-factory",
		  "model_name_or_path: Qwen/Qwen3-30B-A3B\ndo_train: true\n"
		  "finetuning_type: full\nper_device_train_batch_size: 1\n"
		  "tensor_model_parallel_size: 2\nexpert_model_parallel_size: 4\n"
		  "pipeline_model_parallel_size: 2\nsequence_parallel: true\n"
		  "use_distributed_optimizer: true\nbf16: true\n",
		  &s);
	assert_string_equal(s.stack.name, "megatron-core");
	expect(&s, "tp", "2");
	expect(&s, "pp", "2");
	expect(&s, "ep", "4");
	expect(&s, "sp", "on");
	expect(&s, "zero", "1");
}

/* What is trained beside the base, of which format, and what trains nothing. */
static void llama_factory_has_kinds(void **state)
{
#define OF "model_name_or_path: some/Meta-Llama-3-8B-Instruct-AWQ\n"
	struct scenario s;

	(void)state;
	read_good("llama-factory",
		  OF "do_train: true\nfinetuning_type: oft\noft_block_size: 64\n", &s);
	assert_string_equal(s.model.name, "llama3-8b");
	expect(&s, "lora_rank", "16"); /* (64 - 1) / 4 */
	assert_non_null(strstr(s.model.approximate, "orthogonal"));
	expect(&s, "frozen_format", "int4");
	read_good("llama-factory",
		  OF "do_train: true\nfinetuning_type: full\nbf16: true\nfp8: true\n",
		  &s);
	expect(&s, "precision", "fp8");
	expect(&s, "fp8_recipe", "current-scaling");
	read_refused("llama-factory", OF "do_train: true\nfinetuning_type: rosa\n",
		     "no kind that is modelled");
	read_refused("llama-factory", OF "template: llama3\ninfer_backend: vllm\n",
		     "this file trains nothing");
	read_refused("llama-factory", OF "template: llama3\nexport_dir: out\n",
		     "this file trains nothing");
	read_refused("llama-factory",
		     "model: Qwen/Qwen3-4B\npeft_config:\n  name: lora\n"
		     "  export_dir: out\n",
		     "this file trains nothing");
#undef OF
}

/* Its newer files have other words, and other defaults. */
static void newer_files_are_read(void **state)
{
#define NEW "model: Qwen/Qwen3-8B\nmodel_class: llm\ntrain_dataset: data/a.yaml\n"
	struct scenario s;

	(void)state;
	read_good("llama-factory",
		  NEW "dist_config:\n  name: fsdp2\n  dcp_path: null\n"
		      "peft_config:\n  name: lora\n  r: 16\ncutoff_len: 4096\n"
		      "micro_batch_size: 2\nglobal_batch_size: 64\ncp_size: 2\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	expect(&s, "zero", "3");
	expect(&s, "lora_rank", "16");
	expect(&s, "seq", "4096");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "64");
	expect(&s, "cp", "2");
	expect(&s, "precision", "bf16");
	read_good("llama-factory",
		  NEW "dist_config:\n  name: deepspeed\n"
		      "  config_file: examples/ds_z2_config.json\n"
		      "enable_activation_checkpointing: false\n",
		  &s);
	assert_string_equal(s.stack.name, "deepspeed");
	expect(&s, "zero", "2");
	expect(&s, "mbs", "1");
	expect(&s, "seq", "2048");
	expect(&s, "lora_rank", "off");
	expect(&s, "recompute", "none");
	read_refused("llama-factory", NEW "peft_config:\n  name: rosa\n",
		     "finetuning_type is 'rosa'");
	read_refused("llama-factory", "model: Qwen/Qwen3-8B\nmodel_class: llm\n",
		     "this file trains nothing");
#undef NEW
}

#define AX "base_model: Qwen/Qwen3-8B\nsequence_len: 512\n"

static void axolotl_is_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl",
		  "base_model: NousResearch/Llama-2-7b-hf\nload_in_4bit: true\n"
		  "adapter: qlora\nlora_r: 32\nsequence_len: 512\n"
		  "gradient_accumulation_steps: 4\nmicro_batch_size: 4\n"
		  "optimizer: adamw_torch_fused\nbf16: auto\n"
		  "gradient_checkpointing: true\nfsdp:\n  - full_shard\n"
		  "  - auto_wrap\nfsdp_config:\n  fsdp_offload_params: true\n",
		  &s);
	assert_string_equal(s.model.name, "llama2-7b");
	expect(&s, "lora_rank", "32");
	expect(&s, "seq", "512");
	expect(&s, "mbs", "4");
	expect(&s, "gbs", "128");
	expect(&s, "zero", "3");
	expect(&s, "optimizer_offload", "1");
	expect(&s, "recompute", "full");
	expect(&s, "frozen_format", "nf4");
	assert_string_equal(s.model.approximate, "");
	read_good("axolotl",
		  "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 512\n"
		  "plugins:\n  - axolotl.integrations.diffusion.DiffusionPlugin\n"
		  "micro_batch_size: 4\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "looks both ways"));
	read_good("axolotl",
		  "base_model: NousResearch/Llama-2-7b-hf\nload_in_8bit: true\n"
		  "adapter: lora\nlora_r: 32\nmicro_batch_size: 4\n",
		  &s);
	expect(&s, "frozen_format", "wide");
	assert_non_null(strstr(s.model.approximate, "few bits"));
	read_good("axolotl",
		  "base_model: Qwen/Qwen3-32B\nsequence_len: 8192\nlora_r: 16\n"
		  "deepspeed: deepspeed_configs/zero2.json\nbf16: true\n"
		  "tensor_parallel_size: 2\ncontext_parallel_size: 2\n"
		  "cut_cross_entropy: true\n",
		  &s);
	assert_string_equal(s.stack.name, "fsdp"); /* for its rings */
	expect(&s, "zero", "2");
	expect(&s, "tp", "2");
	expect(&s, "cp", "2");
	expect(&s, "cross_entropy", "chunked");
	expect(&s, "lora_rank", "off"); /* there is no adapter */
	expect(&s, "recompute", "none");
	/* its older words for kernels */
	read_good("axolotl", AX "flash_attention: true\nsdp_attention:\n", &s);
	assert_true(noted(IMPORT_TAKEN, "flash_attention"));
	read_good("axolotl", AX "eager_attention: true\n", &s);
	expect(&s, "attention_kernel", "unfused");
	read_good("axolotl",
		  "base_model: Qwen/Qwen3-32B\nsequence_len: 8192\nbf16: true\n"
		  "dp_shard_size: 4\ndp_replicate_size: 2\nfsdp_version: 2\n",
		  &s);
	expect(&s, "zero", "3");
	expect(&s, "zero_group", "4");
	/* fp8 beside bf16 is what the products have */
	read_good(
		"axolotl",
		"base_model: Qwen/Qwen3-8B\nsequence_len: 512\nbf16: true\nfp8: true\n",
		&s);
	expect(&s, "precision", "fp8");
	expect(&s, "fp8_recipe", "current-scaling");
	read_good(
		"axolotl",
		"base_model: Qwen/Qwen3-8B\nsequence_len: 512\nbf16: true\nfp8: false\n",
		&s);
	expect(&s, "precision", "bf16");
}

/* The last layers train, two unless it says more, neither embedding nor head. */
static void frozen_layers_are_read(void **state)
{
#define FR                                                             \
	"model_name_or_path: Qwen/Qwen3-8B\nfinetuning_type: freeze\n" \
	"do_train: true\n"
	struct scenario s;

	(void)state;
	read_good("llama-factory", FR, &s);
	expect(&s, "frozen_layers", "34");
	expect(&s, "frozen_head", "on");
	expect(&s, "lora_rank", "off");
	read_good("llama-factory",
		  FR "freeze_trainable_layers: 12\nfreeze_extra_modules: lm_head\n",
		  &s);
	expect(&s, "frozen_layers", "24");
	expect(&s, "frozen_head", "off");
	read_good("llama-factory", FR "freeze_trainable_layers: 99\n", &s);
	expect(&s, "frozen_layers", "none");
	assert_true(noted(IMPORT_APPROXIMATE, "finetuning_type"));
	read_refused("llama-factory", FR "freeze_trainable_layers: -2\n",
		     "the first layers train");
	read_refused("llama-factory", FR "freeze_trainable_modules: self_attn\n",
		     "parts of layers train");
	read_refused("llama-factory", FR "freeze_extra_modules: embed_tokens\n",
		     "lm_head is the only");
	read_refused("llama-factory", FR "use_llama_pro: true\n",
		     "the layers that it adds");
#undef FR
}

/* Another question than a step on the next token's loss. */
static void other_trainings_are_refused(void **state)
{
#define LF "model_name_or_path: Qwen/Qwen3-8B\n"
	(void)state;
	read_refused("llama-factory", LF "do_train: true\nstage: dpo\n",
		     "file:3: stage is 'dpo'");
	read_refused("llama-factory", LF "do_train: true\nfinetuning_type: rosa\n",
		     "file:3: finetuning_type is 'rosa'");
	read_refused("llama-factory", LF "template: qwen\n", "trains nothing");
	/* TRL's arguments are transformers', too */
	read_refused("llama-factory",
		     LF "do_train: true\nper_device_train_batch_size: 4\n"
			"max_seq_length: 512\n",
		     "file:4: max_seq_length is '512': a key of TRL");
	read_refused("llama-factory",
		     LF "do_train: true\ndeepspeed: configs/mine.json\n",
		     "file:3: deepspeed is 'configs/mine.json'");
	read_refused("llama-factory", "do_train: true\nfinetuning_type: full\n",
		     "names no model");
	read_refused("llama-factory", "do_train: true\nmodel_name_or_path: a/Zz-9B\n",
		     "no model 'a/Zz-9B'");
	read_refused("axolotl", AX "rl: grpo\n", "file:3: rl is 'grpo'");
	read_refused("axolotl", AX "adapter: llama-adapter\n", "file:3: adapter is");
	read_refused("axolotl", AX "micro_batch_size: many\n",
		     "file:3: micro_batch_size");
#undef LF
#undef AX
}

/* Training that rounds as a narrow format would costs more than its precision says. */
static void rounding_is_told(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl",
		  "base_model: meta-llama/Llama-3.1-8B\nsequence_len: 4096\n"
		  "micro_batch_size: 1\ngradient_accumulation_steps: 1\nbf16: true\n"
		  "qat:\n  activation_dtype: int8\n  weight_dtype: int4\n",
		  &s);
	assert_non_null(strstr(s.model.approximate, "fewer bits"));
}

/* Sequences over GPUs go in axolotl's own rings, beside DeepSpeed's shards too. */
static void rings_beside_deepspeed(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl",
		  "base_model: meta-llama/Llama-3.1-8B\nsequence_len: 65536\n"
		  "micro_batch_size: 1\ngradient_accumulation_steps: 1\nbf16: true\n"
		  "deepspeed: deepspeed_configs/zero3_bf16.json\n"
		  "context_parallel_size: 4\n",
		  &s);
	assert_string_equal(s.stack.name, "fsdp");
	expect(&s, "cp", "4");
	expect(&s, "zero", "3");
	assert_true(noted(IMPORT_ASSUMED, "stack"));
}

/* Unless the file says how many, as many pieces of an MLP as the sequence is longer
 * than the model is wide. */
static void tiles_of_an_mlp(void **state)
{
	static const char start[] =
		"base_model: meta-llama/Llama-3.1-8B\nsequence_len: 30000\n"
		"micro_batch_size: 1\ngradient_accumulation_steps: 1\nbf16: true\n"
		"deepspeed: deepspeed_configs/zero3.json\n";
	static const struct {
		const char *says, *tiles;
	} rows[] = {
		{ "", "1" },
		{ "tiled_mlp: false\ntiled_mlp_num_shards: 4\n", "1" },
		{ "tiled_mlp: true\n", "8" },
		{ "tiled_mlp: true\ntiled_mlp_num_shards: 4\n", "4" },
	};
	struct scenario s;
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text, "%s%s", start, rows[i].says);
		read_good("axolotl", text, &s);
		expect(&s, "mlp_tiles", rows[i].tiles);
	}
}

/* bitsandbytes leaves experts in one tensor alone; axolotl packs them where it is told
 * to (docs/expert_quantization.qmd). */
static void packed_experts_are_read(void **state)
{
	static const char start[] =
		"base_model: Qwen/Qwen3-30B-A3B\nadapter: qlora\nlora_r: 16\n"
		"load_in_4bit: true\nsequence_len: 4096\nmicro_batch_size: 1\n"
		"gradient_accumulation_steps: 2\nbf16: auto\n";
	char text[512];
	struct scenario s;

	(void)state;
	read_good("axolotl", start, &s);
	expect(&s, "frozen_format", "wide");
	assert_non_null(strstr(s.model.approximate, "experts stay in 16 bits"));
	snprintf(text, sizeof text, "%squantize_moe_experts: true\n", start);
	read_good("axolotl", text, &s);
	expect(&s, "frozen_format", "nf4");
	assert_null(strstr(s.model.approximate, "16 bits"));
}

/* axolotl lets accelerate have rings without shards; Accelerate itself has none. */
static void rings_stand_alone(void **state)
{
	struct scenario s;

	(void)state;
	read_good("axolotl",
		  "base_model: meta-llama/Llama-3.1-8B\ncontext_parallel_size: 4\n"
		  "micro_batch_size: 1\ngradient_accumulation_steps: 2\n"
		  "sequence_len: 8192\nbf16: true\ndatasets: []\n",
		  &s);
	expect(&s, "cp", "4");
	expect(&s, "zero", "0");
	assert_int_equal(scenario_lacks(&s, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_experts_are_read),
		cmocka_unit_test(rings_stand_alone),
		cmocka_unit_test(rounding_is_told),
		cmocka_unit_test(rings_beside_deepspeed),
		cmocka_unit_test(tiles_of_an_mlp),
		cmocka_unit_test(llama_factory_is_read),
		cmocka_unit_test(llama_factory_has_defaults),
		cmocka_unit_test(llama_factory_has_kinds),
		cmocka_unit_test(newer_files_are_read),
		cmocka_unit_test(axolotl_is_read),
		cmocka_unit_test(frozen_layers_are_read),
		cmocka_unit_test(other_trainings_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
