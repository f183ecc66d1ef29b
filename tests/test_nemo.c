/* test_nemo.c - configurations of NeMo and FlagScale: values that look up others,
 * networks that are no plain decoders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/formats.h"
#include "tests/support/close.h"
#include "tests/support/imported.h"

#define TRAINER "trainer:\n  devices: 8\n  num_nodes: 4\n  precision: bf16-mixed\n"
#define PLAN                                                                           \
	"model:\n  mcore_gpt: True\n  micro_batch_size: 2\n  global_batch_size: 256\n" \
	"  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 2\n"         \
	"  virtual_pipeline_model_parallel_size: 2\n  sequence_parallel: True\n"       \
	"  encoder_seq_length: 4096\n"
#define SHAPE                                                               \
	"  num_layers: 32\n  hidden_size: 4096\n  ffn_hidden_size: 14336\n" \
	"  num_attention_heads: 32\n"

static void fields_and_lookups_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "name: megatron_gpt\n" TRAINER PLAN SHAPE
		  "  max_position_embeddings: ${.data.seq_length}\n"
		  "  num_query_groups: ${model.groups}\n  groups: 8\n"
		  "  bias: False\n  activation: 'fast-swiglu'\n"
		  "  normalization: 'rmsnorm'\n  position_embedding_type: 'rope'\n"
		  "  share_embeddings_and_output_weights: False\n  fp8: True\n"
		  "  activations_checkpoint_granularity: full\n"
		  "  activations_checkpoint_method: uniform\n"
		  "  activations_checkpoint_num_layers: 1\n"
		  "  data:\n    seq_length: ${..encoder_seq_length}\n"
		  "  optim:\n    name: distributed_fused_adam\n",
		  &s);
	expect(&s, "gpus", "32");
	expect(&s, "tp", "4");
	expect(&s, "pp", "2");
	expect(&s, "vpp", "2");
	expect(&s, "sp", "on");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "256");
	expect(&s, "seq", "4096");
	expect(&s, "zero", "1");
	expect(&s, "precision", "fp8");
	expect(&s, "recompute", "full");
	assert_int_equal(s.model.layers, 32);
	assert_int_equal(s.model.max_positions, 4096);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 8);
	assert_true(s.model.gated_mlp);
	assert_false(s.model.tied_embeddings || s.model.mlp_bias);
	assert_int_equal(s.model.norm, NORM_RMS);
}

/* A circle, and a name that is not there, say nothing. */
static void lookups_that_lead_nowhere_are_absent(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  TRAINER PLAN SHAPE "  max_position_embeddings: ${.a}\n  a: ${.b}\n"
				     "  b: ${model.a}\n  kv_channels: ${.nothing}\n"
				     "  seed: ${multiply:${.a}, 2}\n",
		  &s);
	assert_int_equal(s.model.kind[0].attention.head_dim, 128);
}

/* How fp8 would be done stands in files that do not use it. */
static void fp8_is_off_where_it_is_off(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  TRAINER PLAN SHAPE
		  "  fp8: False\n  fp8_e4m3: False\n  fp8_hybrid: True\n"
		  "  fp8_margin: 0\n",
		  &s);
	expect(&s, "precision", "bf16");
	read_good("megatron",
		  TRAINER PLAN SHAPE "  fp8: ${.on}\n  on: true\n  fp8_hybrid: True\n",
		  &s);
	expect(&s, "precision", "fp8");
}

/* Falcon's own words say the order of a layer's parts, and nothing else. */
static void falcon_is_parallel(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "name: megatron_falcon_gpt\n" TRAINER PLAN SHAPE
		  "  mcore_customization_config:\n    parallel_attention: true\n"
		  "    new_decoder_architecture: false\n",
		  &s);
	assert_true(s.model.parallel_block);
	assert_true(s.model.shared_norm);
}

static void other_networks_need_a_model(void **state)
{
	static const char *const texts[] = {
		"name: megatron_gpt_hyena\n" TRAINER PLAN SHAPE
		"  hyena:\n    order: 2\n",
		"name: megatron_griffin\n" TRAINER PLAN SHAPE,
		"name: megatron_x\n" TRAINER PLAN SHAPE "  mamba_ssm_ngroups: 8\n",
		"name: megatron_x\n" TRAINER PLAN SHAPE
		"  mcore_customization_config:\n    other_attention: true\n",
		/* a picture's model says no name */
		TRAINER PLAN SHAPE "  mm_cfg:\n    llm:\n      freeze: true\n",
		TRAINER PLAN SHAPE "  vision_pretraining_type: classify\n",
		TRAINER PLAN SHAPE "  bert_binary_head: True\n",
		"exp_manager:\n  name: griffin_peft\n" TRAINER PLAN SHAPE,
	};
	struct scenario s;

	(void)state;
	read_refused("megatron",
		     "name: megatron_gpt\n" TRAINER PLAN SHAPE
		     "  kd_teacher_restore_from_path: null\n",
		     "file:19: distillation needs");
	/* T5's sections, which have another key for the length */
	read_refused("megatron",
		     TRAINER "model:\n  micro_batch_size: 1\n  seq_length: 512\n"
			     "  max_position_embeddings: ${.seq_length}\n"
			     "  encoder:\n    num_layers: 2\n    hidden_size: 64\n"
			     "  decoder:\n    num_layers: 2\n    hidden_size: 64\n",
		     "'encoder' makes its network another");
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		read_refused("megatron", texts[i],
			     "makes its network another than a decoder");
		read_with("falcon-7b");
		read_good("megatron", texts[i], &s);
		assert_string_equal(s.model.name, "falcon-7b");
		expect(&s, "tp", "4");
		expect(&s, "precision", "bf16");
		read_with("");
	}
}

/* Files that have all fields of a decoder's pre-training and are none are named as what
 * they are. */
static void other_trainings_are_named(void **state)
{
	(void)state;
	read_refused("megatron", TRAINER PLAN SHAPE "  output_sequence: False\n",
		     "file:18: 'output_sequence of a reward model' makes its network");
	read_refused("megatron", TRAINER PLAN SHAPE "  patch_dim: 16\n",
		     "file:18: 'patch_dim of a vision transformer' makes");
	read_refused("megatron", TRAINER "  dpo:\n    max_steps: 1\n" PLAN SHAPE,
		     "file:6: 'dpo' needs more than one model");
	read_refused("megatron",
		     TRAINER "  grpo:\n    max_steps: 1\n"
			     "model:\n  micro_batch_size: 1\n",
		     "file:6: 'grpo' needs more than one model");
	read_refused("megatron", TRAINER "  rm:\n    max_epochs: 1\n" PLAN SHAPE,
		     "file:6: a reward model is trained on pairs");
}

/* A file without num_nodes is of one node, but where the model has no room in it; its
 * launcher may say more. */
static void nodes_may_be_unsaid(void **state)
{
#define ONE "trainer:\n  devices: 8\n  precision: bf16-mixed\n"
	struct scenario s;

	(void)state;
	read_good("megatron", ONE PLAN SHAPE, &s);
	expect(&s, "gpus", "8");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	read_good("megatron", ONE PLAN SHAPE "  context_parallel_size: 2\n", &s);
	expect(&s, "gpus", "16");
	assert_true(noted(IMPORT_ASSUMED, "gpus"));
	read_good("megatron",
		  ONE PLAN SHAPE "  num_moe_experts: 8\n  moe_router_topk: 2\n"
				 "  expert_model_parallel_size: 8\n",
		  &s);
	expect(&s, "gpus", "64");
#undef ONE
}

/* "model: " with a blank behind it is not the beginning of a scenario. */
static void aligners_files_are_told(void **state)
{
	char path[] = "/tmp/nemo-XXXXXX";
	int made = mkstemp(path);
	const struct format *reader;

	(void)state;
	assert_true(made >= 0);
	dprintf(made, "trainer:\n  dpo:\n    x: 1\nmodel: \n  megatron_amp_O2: True\n");
	close(made);
	reader = format_sniff(path);
	unlink(path);
	assert_non_null(reader);
	assert_string_equal(reader->name, "megatron");
}

/* Adapters are what trains where a scheme is named; others than LoRA are refused. */
static void adapters_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_with("llama2-7b");
	read_good("megatron",
		  TRAINER PLAN
		  "  peft:\n    peft_scheme: lora\n    lora_tuning:\n"
		  "      adapter_dim: 16\n      target_modules: [attention_qkv]\n",
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "lora_targets", "qkv");
	read_good("megatron",
		  TRAINER PLAN
		  "  peft:\n    peft_scheme: lora\n    lora_tuning:\n"
		  "      target_modules: [attention_qkv, attention_dense]\n",
		  &s);
	expect(&s, "lora_targets", "attention");
	read_good("megatron", TRAINER PLAN "  peft:\n    peft_scheme: lora\n", &s);
	expect(&s, "lora_targets", "qkv");
	read_good("megatron",
		  TRAINER PLAN "  peft:\n    peft_scheme: lora\n    lora_tuning:\n"
			       "      target_modules: [attention_qkv, mlp_fc1]\n",
		  &s);
	expect(&s, "lora_rank", "32");
	expect(&s, "lora_targets", "all");
	read_good("megatron", TRAINER PLAN "  peft:\n    peft_scheme: null\n", &s);
	expect(&s, "lora_rank", "off");
	read_refused("megatron", TRAINER PLAN "  peft:\n    peft_scheme: ptuning\n",
		     "file:15: peft_scheme 'ptuning' is not modelled");
	read_with("");
}

/* FlagScale's sections nest as they like; all their leaves are flags. */
static void sections_of_flagscale(void **state)
{
	static const char text[] =
		"system:\n  tensor_model_parallel_size: 2\n"
		"  pipeline_model_parallel_size: 4\n  sequence_parallel: True\n"
		"  precision:\n    bf16: True\n  hetero:\n    enable_hetero: False\n"
		"model:\n  num_layers: 24\n  hidden_size: 2048\n"
		"  num_attention_heads: 16\n  swiglu: true\n  multiple_of: 128\n"
		"  seq_length: 4096\n  micro_batch_size: 2\n"
		"  global_batch_size: 1024\n  optimizer:\n    lr_scheduler:\n"
		"      lr: 3.0e-4\n"
		"data:\n  tokenizer:\n    vocab_size: 151851\n"
		"    make_vocab_size_divisible_by: 64\n";
	struct scenario s;

	(void)state;
	read_good("megatron", text, &s);
	expect(&s, "tp", "2");
	expect(&s, "pp", "4");
	expect(&s, "sp", "on");
	expect(&s, "mbs", "2");
	expect(&s, "gbs", "1024");
	expect(&s, "precision", "bf16");
	assert_int_equal(s.model.layers, 24);
	assert_int_equal(s.model.vocab, 151851);
	/* 2/3 of four times 2048, up to the next 128 */
	assert_int_equal(s.model.kind[0].ffn, 5504);
	read_refused("megatron",
		     "system:\n  pipeline_model_parallel_size: 2\n  hetero:\n"
		     "    enable_hetero: True\nmodel:\n  num_layers: 24\n",
		     "file:4: enable_hetero");
	read_refused("megatron",
		     "exp_manager:\n  a: 1\ndistributed_strategy:\n"
		     "  tensor_model_parallel_size: 8\nmodel:\n  num_layers: 4\n",
		     "Trainium");
}

/* MODEL_ARGS of which the caller gives some. */
static void variables_of_yaml(void **state)
{
	static const char text[] =
		"MODEL_ARGS:\n  --num-layers: 24\n  --hidden-size: 1024\n"
		"  --num-attention-heads: 16\n  --micro-batch-size: ${MBS}\n"
		"  --tensor-model-parallel-size: ${TP}\n"
		"  --data-path: ${DATA}/x\n  --lr: ${LR}\n";
	static const struct script_given given = { .sets = 2,
						   .set = { "TP=4", "MBS=2" } };
	struct scenario s;

	(void)state;
	read_refused("megatron", text, "$MBS, which nothing sets");
	read_given(&given);
	read_good("megatron", text, &s);
	read_given(NULL);
	expect(&s, "tp", "4");
	expect(&s, "mbs", "2");
}

/* Heads that share keys and values, spelled as other tools do; what looks like them and
 * isn't read makes the model approximate. */
static void shared_heads_are_read_or_told(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron", TRAINER PLAN SHAPE "  num_kv_heads: 8\n", &s);
	assert_int_equal(s.model.kind[0].attention.kv_heads, 8);
	assert_string_equal(s.model.approximate, "");
	read_good("megatron", TRAINER PLAN SHAPE "  num_kv_head_groups: 4\n", &s);
	assert_string_equal(s.model.approximate, "not read: --num-kv-head-groups");
}

/* Rows of the embedding and biases that it states stand above what the tokenizer has.
 */
static void words_and_biases_are_read(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "name: megatron_gpt\n" TRAINER PLAN SHAPE
		  "  bias: false\n  qkv_bias: true\n"
		  "  override_vocab_size: 151936\n"
		  "  tokenizer:\n    type: GPT2BPETokenizer\n",
		  &s);
	assert_int_equal(s.model.vocab, 151936);
	assert_true(s.model.kind[0].attention.qkv_bias);
	assert_false(s.model.mlp_bias);
	/* layers that would stay on the host, and the switch that says that none does
	 */
	read_good("megatron",
		  "name: megatron_gpt\n" TRAINER PLAN SHAPE
		  "  cpu_offloading: false\n  cpu_offloading_num_layers: 31\n"
		  "  cpu_offloading_activations: true\n",
		  &s);
	expect(&s, "activation_offload", "0");
	read_good("megatron",
		  "name: megatron_gpt\n" TRAINER
		  "model:\n  mcore_gpt: True\n  micro_batch_size: 1\n"
		  "  global_batch_size: 64\n" SHAPE
		  "  cpu_offloading: true\n  cpu_offloading_num_layers: 16\n",
		  &s);
	expect(&s, "activation_offload", "0.5");
}

/* Files of NeMo's launcher, which tune what a run is called after, or a checkpoint. */
static void tuned_models_have_names(void **state)
{
#define TUNED(run, path)                                                        \
	"run:\n" run TRAINER "model:\n  tensor_model_parallel_size: 2\n"        \
	"  micro_batch_size: 4\n  global_batch_size: 128\n"                     \
	"  megatron_amp_O2: True\n  restore_from_path: " path "\n"              \
	"  data:\n    train_ds:\n      max_seq_length: ${peft.model.longest}\n" \
	"  longest: 2048\n"
	struct scenario s;

	(void)state;
	read_good("megatron",
		  TUNED("  convert_dir: a\n  model_train_name: mistral_7b\n",
			"${peft.run.convert_dir}/results/megatron_mistral.nemo"),
		  &s);
	assert_string_equal(s.model.name, "mistral-7b");
	expect(&s, "seq", "2048");
	expect(&s, "tp", "2");
	expect(&s, "mbs", "4");
	read_good("megatron", TUNED("  name: a\n", "/models/llama2-13b.nemo"), &s);
	assert_string_equal(s.model.name, "llama2-13b");
	read_refused("megatron", TUNED("  model_train_name: llama2\n", "a"),
		     "no model 'llama2' in the library; near: llama2-7b");
	read_refused("megatron", TUNED("  name: a\n", "/models/my_run.nemo"),
		     "this file names no model");
	read_refused("megatron",
		     TUNED("  name: mistral_embedding\n", "/models/mistral-7b.nemo"),
		     "trains embeddings of texts");
#undef TUNED
}

/* finetune_recipe() of NeMo 2 has LoRA unless it is told otherwise. */
static void recipes_tune_adapters(void **state)
{
	struct scenario s;
#define TUNE(call, more)                                                          \
	"from nemo.collections import llm\n"                                      \
	"def recipe():\n  tune = llama31_70b.finetune_recipe(" call ")\n"         \
	"  tune = set_primary_perf_configs(tune, \"lora\", num_nodes=1, "         \
	"num_gpus_per_node=4, mbs=1, gbs=32, tp_size=1, pp_size=4, vp_size=20)\n" \
	"" more "  return tune\n"

	(void)state;
	read_good("megatron",
		  TUNE("seq_length=4096", "  tune.peft = LoRA(dim=16, alpha=32)\n"),
		  &s);
	expect(&s, "lora_rank", "16");
	expect(&s, "seq", "4096");
	read_good("megatron", TUNE("seq_length=4096", ""), &s);
	expect(&s, "lora_rank", "8");
	read_good("megatron", TUNE("seq_length=4096", "  tune.peft = LoRA()\n"), &s);
	expect(&s, "lora_rank", "32");
	read_good("megatron", TUNE("peft_scheme=None, seq_length=4096", ""), &s);
	expect(&s, "lora_rank", "off");
	read_good("megatron", TUNE("seq_length=4096", "  tune.peft = None\n"), &s);
	expect(&s, "lora_rank", "off");
	read_refused("megatron", TUNE("peft_scheme=args.how, seq_length=4096", ""),
		     "peft_scheme comes from args.how");
#undef TUNE
}

/* A recipe whose name has a length is of that; what it tunes is called by its
 * checkpoint where nothing else says. */
static void recipes_of_long_sequences(void **state)
{
	struct scenario s;

	(void)state;
	read_good("megatron",
		  "torchrun --nproc_per_node=8 scripts/training/run_recipe.py --recipe "
		  "qwen3_600m_sft_128k_config train.global_batch_size=16\n",
		  &s);
	expect(&s, "seq", "131072");
	read_good("megatron",
		  "model:\n  tensor_model_parallel_size: 2\n  seq_length: 4096\n"
		  "train:\n  micro_batch_size: 1\n  global_batch_size: 16\n"
		  "checkpoint:\n  pretrained_checkpoint: /ckpt/Qwen3-8B\n",
		  &s);
	assert_string_equal(s.model.name, "qwen3-8b");
	read_refused("megatron",
		     "model:\n  tensor_model_parallel_size: 2\n"
		     "checkpoint:\n  pretrained_checkpoint: /ckpt/Ours-8B\n",
		     "no model '/ckpt/Ours-8B' in the library");
}

/* slime's trainers: the model is the checkpoint's, the GPUs are those that train, and
 * what learns by reward holds more than one model. */
static void slime_is_read(void **state)
{
	static const char sft[] =
		"PERF_ARGS=(--tensor-model-parallel-size 4 "
		"--expert-model-parallel-size 8)\n"
		"ray job submit -- python3 train_async.py --actor-num-nodes 2 "
		"--actor-num-gpus-per-node 8 --hf-checkpoint /root/Qwen3-30B-A3B/ "
		"${PERF_ARGS[@]} --global-batch-size 128 --loss-type sft_loss\n";
	struct scenario s;

	(void)state;
	read_good("megatron", sft, &s);
	assert_string_equal(s.model.name, "qwen3-30b-a3b");
	expect(&s, "gpus", "16");
	expect(&s, "precision", "bf16");
	expect(&s, "zero", "1");
	expect(&s, "seq", "4096");
	read_refused("megatron",
		     "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 "
		     "--hf-checkpoint /root/Qwen3-32B --tensor-model-parallel-size 8 "
		     "--advantage-estimator grpo\n",
		     "reinforcement learning");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_biases_are_read),
		cmocka_unit_test(fields_and_lookups_are_read),
		cmocka_unit_test(lookups_that_lead_nowhere_are_absent),
		cmocka_unit_test(other_networks_need_a_model),
		cmocka_unit_test(other_trainings_are_named),
		cmocka_unit_test(adapters_are_read),
		cmocka_unit_test(nodes_may_be_unsaid),
		cmocka_unit_test(aligners_files_are_told),
		cmocka_unit_test(falcon_is_parallel),
		cmocka_unit_test(fp8_is_off_where_it_is_off),
		cmocka_unit_test(sections_of_flagscale),
		cmocka_unit_test(variables_of_yaml),
		cmocka_unit_test(shared_heads_are_read_or_told),
		cmocka_unit_test(tuned_models_have_names),
		cmocka_unit_test(recipes_tune_adapters),
		cmocka_unit_test(recipes_of_long_sequences),
		cmocka_unit_test(slime_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
