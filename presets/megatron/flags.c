/* flags.c - see flags.h. */
#include "presets/megatron/flags.h"

#include <stddef.h>
#include <string.h>

const struct flag megatron_flags[] = {
	{ "tensor-model-parallel-size", "tp", FLAG_VALUE, NULL, "1" },
	{ "pipeline-model-parallel-size", "pp", FLAG_VALUE, NULL, "1" },
	{ "context-parallel-size", "cp", FLAG_VALUE, NULL, "1" },
	{ "cp-comm-type", "cp_kind", FLAG_WORD,
	  "p2p=ring all_gather=all-gather "
	  "allgather=all-gather a2a=ulysses a2a+p2p=ulysses",
	  "ring" },
	{ "expert-model-parallel-size", "ep", FLAG_VALUE, NULL, "1" },
	{ "expert-tensor-parallel-size", "etp", FLAG_VALUE, NULL, "auto" },
	{ "sequence-parallel", "sp", FLAG_ON, NULL, "off" },
	{ "micro-batch-size", "mbs", FLAG_VALUE, NULL, NULL },
	{ "global-batch-size", "gbs", FLAG_VALUE, NULL, NULL },
	{ "seq-length", "seq", FLAG_VALUE, NULL, NULL },
	{ "microbatch-group-size-per-virtual-pipeline-stage", "micro_batch_group",
	  FLAG_VALUE, NULL, "auto" },
	{ "decoder-first-pipeline-num-layers", "first_stage_layers", FLAG_VALUE, NULL,
	  "auto" },
	{ "decoder-last-pipeline-num-layers", "last_stage_layers", FLAG_VALUE, NULL,
	  "auto" },
	{ "account-for-embedding-in-pipeline-split", "split_embedding", FLAG_ON, NULL,
	  "off" },
	{ "account-for-loss-in-pipeline-split", "split_loss", FLAG_ON, NULL, "off" },
	{ "pipeline-model-parallel-layout", "layout", FLAG_VALUE, NULL, "none" },
	{ "recompute-granularity", "recompute", FLAG_VALUE, NULL, "none" },
	{ "recompute-modules", "recompute_modules", FLAG_LIST, NULL, "core_attn" },
	{ "offload-modules", "offload_modules", FLAG_LIST, NULL, "none" },
	{ "activation-offload-fraction", "offload_share", FLAG_VALUE, NULL, "1" },
	{ "fp8-recipe", "fp8_recipe", FLAG_WORD,
	  "delayed=delayed tensorwise=current-scaling blockwise=blockwise mxfp8=mxfp8",
	  "delayed" },
	{ "fp8-dot-product-attention", "fp8_attention", FLAG_ON, NULL, "off" },
	{ "attention-backend", "attention_kernel", FLAG_WORD,
	  "fused=flash3 auto=flash3 flash=flash2 unfused=fused-softmax "
	  "local=fused-softmax unfused=unfused",
	  "flash3" },
	{ "cross-entropy-loss-fusion", "cross_entropy", FLAG_ON, "fused plain",
	  "plain" },
	{ "overlap-grad-reduce", "overlap_grad_reduce", FLAG_ON, NULL, "off" },
	{ "overlap-param-gather", "overlap_param_gather", FLAG_ON, NULL, "off" },
	{ "tp-comm-overlap", "tp_overlap", FLAG_ON, NULL, "off" },
	{ "no-overlap-p2p-communication", "overlap_p2p", FLAG_OFF, NULL, "on" },
	{ "overlap-moe-expert-parallel-comm", "ep_overlap", FLAG_ON, NULL, "off" },
	{ "moe-shared-expert-overlap", "shared_expert_overlap", FLAG_ON, NULL, "off" },
	{ "moe-expert-capacity-factor", "capacity_factor", FLAG_VALUE, NULL, "1" },
	{ "moe-grouped-gemm", "grouped_gemm", FLAG_ON, NULL, "off" },
	{ "moe-router-fusion", "router_fusion", FLAG_ON, NULL, "off" },
	{ NULL, NULL, FLAG_VALUE, NULL, NULL },
};

const struct flag *megatron_flag(const char *name)
{
	for (const struct flag *flag = megatron_flags; flag->name; flag++)
		if (strcmp(flag->name, name) == 0)
			return flag;
	return NULL;
}
