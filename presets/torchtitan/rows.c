/* rows.c - see rows.h. */
#include "presets/torchtitan/rows.h"

#include <string.h>

const struct mapping torchtitan_rows[] = {
	{ "parallelism.tensor_parallel_degree", "tp", NULL, "1", false },
	{ "parallelism.enable_async_tensor_parallel", "async_tp", "true=on false=off",
	  "off", false },
	{ "parallelism.disable_loss_parallel", "vocab_parallel", "true=off false=on",
	  "on", false },
	{ "parallelism.pipeline_parallel_degree", "pp", NULL, "1", false },
	{ "parallelism.pipeline_parallel_schedule", "schedule",
	  "1F1B=1f1b GPipe=gpipe Interleaved1F1B=interleaved LoopedBFS=breadth-first "
	  "InterleavedZeroBubble=interleaved ZBVZeroBubble=zb-v DualPipeV=dualpipev",
	  "1f1b", true },
	{ "parallelism.context_parallel_degree", "cp", NULL, "1", false },
	{ "parallelism.context_parallel_rotate_method", "cp_kind",
	  "allgather=all-gather alltoall=ring", "all-gather", true },
	{ "parallelism.expert_parallel_degree", "ep", NULL, "1", false },
	{ "parallelism.expert_tensor_parallel_degree", "etp", NULL, "auto", false },
	{ "training.seq_len", "seq", NULL, "2048", false },
	{ "training.mixed_precision_reduce", "grad_dtype", "float32=fp32 bfloat16=bf16",
	  "fp32", true },
	{ "compile.enable", "compile", "true=on false=off", "off", false },
	{ "optimizer.name", "optimizer", "AdamW=adamw Adam=adamw", "adamw", true },
	{ NULL, NULL, NULL, NULL, false },
};

const char *const torchtitan_others[] = {
	"model.name",
	"model.flavor",
	"model.converters",
	"parallelism.data_parallel_replicate_degree",
	"parallelism.data_parallel_shard_degree",
	"parallelism.fsdp_reshard_after_forward",
	"parallelism.pipeline_parallel_layers_per_stage",
	"parallelism.pipeline_parallel_first_stage_less_layers",
	"parallelism.pipeline_parallel_last_stage_less_layers",
	"parallelism.pipeline_parallel_microbatch_size",
	"training.local_batch_size",
	"training.batch_size",
	"training.global_batch_size",
	"training.mixed_precision_param",
	"training.enable_cpu_offload",
	"training.disable_cuda_graphs",
	"training.steps",
	"training.num_tokens_per_microbatch_per_dp_rank",
	"training.num_tokens_per_train_step",
	"training.max_context_length",
	"parallelism.num_pp_microbatches",
	"activation_checkpoint",
	"model_spec.argument",
	"model.argument",
	"module",
	"config",
	"def",
	"base",
	"elsewhere",
	"trainer",
	"nproc_per_node",
	"nnodes",
	"training.compile",
	"activation_checkpoint.mode",
	"activation_checkpoint.selective_ac_option",
	"quantize.linear.float8.recipe_name",
	NULL,
};

const struct flavor torchtitan_flavors[] = {
	{ "llama3", "8B", "llama3.1-8b", true },
	{ "llama3", "8B", "llama3-8b", true },
	{ "llama3", "70B", "llama3.1-70b", true },
	{ "llama3", "70B", "llama3-70b", true },
	{ "llama3", "405B", "llama3.1-405b", true },
	{ "llama4", "17bx16e", "llama4-scout", false },
	{ "llama4", "17bx128e", "llama4-maverick", false },
	{ "deepseek_v3", "671B", "deepseek-v3", true },
	{ "deepseek_v3", "16B", "deepseek-v2-lite", true },
	{ "qwen3", "0.6B", "qwen3-0.6b", false },
	{ "qwen3", "1.7B", "qwen3-1.7b", false },
	{ "qwen3", "4B", "qwen3-4b", false },
	{ "qwen3", "8B", "qwen3-8b", true },
	{ "qwen3", "14B", "qwen3-14b", true },
	{ "qwen3", "32B", "qwen3-32b", true },
	{ "qwen3", "30B-A3B", "qwen3-30b-a3b", true },
	{ "qwen3", "235B-A22B", "qwen3-235b-a22b", false },
	{ NULL, NULL, NULL, false },
};

bool torchtitan_has(const char *knob)
{
	static const char *const more[] = {
		"gpus",
		"zero",
		"zero_group",
		"fsdp_reshard",
		"vpp",
		"mbs",
		"gbs",
		"precision",
		"recompute",
		"split",
		"split_embedding",
		"split_loss",
		"optimizer_offload",
		"recompute_modules",
		"fp8_recipe",
		NULL,
	};

	return word_among(knob, more) || mapping_has(torchtitan_rows, knob);
}
