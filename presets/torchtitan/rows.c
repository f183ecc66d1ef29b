/* rows.c - see rows.h. */
#include "presets/torchtitan/rows.h"

#include <ctype.h>
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
	/* a gradient has the format of the gathered weight; it is turned to fp32 for
	 * the sum, which is a fact of the stack (reduced_bytes) */
	{ "training.mixed_precision_param", "grad_dtype", "float32=fp32 bfloat16=bf16",
	  "bf16", true },
	{ "training.dtype", "master_weights", "float32=auto bfloat16=none", "auto",
	  true },
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
	"training.mixed_precision_reduce",
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
	"hf_model",
	"model_spec.converters.rank",
	"model_spec.num_mtp_layers",
	"primus.model",
	"model.n_layers",
	"primus_turbo.enable_primus_turbo",
	"primus_turbo.enable_attention_float8",
	"primus_turbo.use_turbo_grouped_mm",
	"primus_turbo.use_moe_fp8",
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
	{ "deepseek_v3", "236B", "deepseek-v2", false },
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

/* Of b5bcd76c: models/, and experiments/ that take their networks from there. */
const struct flavor torchtitan_more[] = {
	{ "llama3", "1B", "llama3.2-1b", false },
	{ "llama3", "3B", "llama3.2-3b", false },
	{ "llama3", "debugmodel", "titan-llama3-debug", false },
	{ "qwen3", "debugmodel", "titan-qwen3-debug", false },
	{ "qwen3", "debugmodel_non_fused_qkv", "titan-qwen3-debug", false },
	{ "qwen3", "debugmodel_moe", "titan-qwen3-moe-debug", false },
	{ "qwen3", "moe_debug", "titan-qwen3-moe-debug", false },
	{ "deepseek_v3", "debugmodel", "titan-deepseek-v3-debug", false },
	{ "gpt_oss", "20B", "gpt-oss-20b", false },
	{ "gpt_oss", "120B", "gpt-oss-120b", false },
	{ "gpt_oss", "debugmodel", "titan-gpt-oss-debug", false },
	{ "kimi_k2_5", "debugmodel", "titan-deepseek-v3-debug", false },
	{ "kimi_k2_7", "debugmodel", "titan-deepseek-v3-debug", false },
	{ "qwen35", "debugmodel", "titan-qwen3.5-debug", false },
	{ "qwen35", "debugmodel_moe", "titan-qwen3.5-moe-debug", false },
	{ "qwen35", "0.8B", "qwen3.5-0.8b", false },
	{ "muse_glimmer", "debugmodel", "titan-muse-glimmer-debug", false },
	{ "muse_glimmer", "debugmodel_mm", "titan-muse-glimmer-debug", false },
	{ "muse_glimmer", "30B", "muse-glimmer-30b", false },
	{ "muse_glimmer", "30B_mm", "muse-glimmer-30b", false },
	{ NULL, NULL, NULL, false },
};

/* How much of `flavor` the name is: "30B-A3B" of 30b_a3b_fast; 0 where none of it. */
static size_t flavor_length(const char *flavor, const char *name)
{
	size_t length = 0;

	while (flavor[length] != '\0' &&
	       (tolower((unsigned char)name[length]) ==
			tolower((unsigned char)flavor[length]) ||
		(name[length] == '_' && strchr("-.", flavor[length]))))
		length++;
	return flavor[length] == '\0' ? length : 0;
}

/* "8B_flex": the attention's kernel is behind the flavor. */
static bool is_kernel(const char *behind)
{
	static const char *const kernels[] = { "_flex",      "_varlen",      "_sdpa",
					       "_flex_attn", "_varlen_attn", NULL };

	return word_among(behind, kernels);
}

const struct flavor *torchtitan_flavor(const char *name, const char *flavor, bool open)
{
	const struct flavor *const tables[] = { torchtitan_flavors, torchtitan_more };
	const struct flavor *best = NULL;
	size_t most = 0;

	for (int i = 0; i < 2; i++)
		for (const struct flavor *row = tables[i]; row->model; row++) {
			size_t length = strcmp(row->name, name) == 0
						? flavor_length(row->flavor, flavor)
						: 0;

			if (length > most &&
			    (flavor[length] == '\0' || is_kernel(flavor + length) ||
			     (open && flavor[length] == '_'))) {
				best = row;
				most = length;
			}
		}
	return best;
}

const char *torchtitan_family(const char *text, const char **behind)
{
	const struct flavor *const tables[] = { torchtitan_flavors, torchtitan_more };
	const char *best = NULL;

	for (int i = 0; i < 2; i++)
		for (const struct flavor *row = tables[i]; row->model; row++) {
			size_t length = strlen(row->name);
			const char *at = strstr(text, row->name);

			if (!at || (at > text && isalnum((unsigned char)at[-1])) ||
			    isalnum((unsigned char)at[length]) ||
			    (best && strlen(best) >= length))
				continue;
			best = row->name;
			*behind = at + length;
		}
	return best;
}

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
