/* plan.h - how is it split and run? Everything a person turns with knobs.
 *
 * Field types follow the knob table: int64_t for counts, double for
 * quantities, bool for switches, int for words (an enum below), uint64_t for
 * sets of words. A count of 0 means "by the stack's rule" where noted.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"
#include "engine/machine/cluster.h"
#include "engine/machine/serving.h"
#include "engine/schedule/kind.h"

enum cp_kind { CP_RING, CP_ALL_GATHER, CP_ULYSSES, CP_KIND_COUNT };

enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTE_COUNT };

/* Bits of recompute_modules; RECOMPUTE_PER_OP is torchtitan's per-op policy. */
enum recompute_module {
	MODULE_CORE_ATTN,
	MODULE_LAYERNORM,
	MODULE_MLP,
	MODULE_MOE_ACT,
	MODULE_MOE,
	MODULE_MLA_UP_PROJ,
	MODULE_SHARED_EXPERTS,
	MODULE_PER_OP,
	MODULE_COUNT
};

/* What selective recomputation keeps of a layer: what its modules leave, or the
 * products of MaxText's remat_policy of that name and the layer's input, all else
 * computed again (src/maxtext/layers/decoders.py, get_remat_policy). */
enum remat_policy {
	REMAT_MODULES,
	REMAT_MINIMAL_WITH_CONTEXT,
	REMAT_MINIMAL,
	REMAT_SAVE_DOT_WITH_CONTEXT_EXCEPT_MLP,
	REMAT_SAVE_DOT_EXCEPT_MLPWI,
	REMAT_SAVE_DOT_EXCEPT_MLP,
	REMAT_SAVE_QKV_PROJ,
	REMAT_SAVE_OUT_PROJ,
	REMAT_QKV_PROJ_OFFLOADED,
	REMAT_MINIMAL_OFFLOADED,
	REMAT_CUSTOM, /* what remat_kept and remat_sent name */
	REMAT_COUNT
};

/* Bits of remat_kept and remat_sent: products of a layer, in the order of enum
 * layer_tensor of engine/graph/graph.h. */
enum remat_tensor {
	REMAT_QKV,
	REMAT_CONTEXT,
	REMAT_OUT,
	REMAT_MLP_IN,
	REMAT_MLP_OUT,
	REMAT_TENSOR_COUNT
};

/* Bits of offload_modules: parts of a layer whose input waits on the host, in the words
 * of Megatron's --offload-modules. */
enum offload_module {
	OFFLOAD_ATTN_NORM,
	OFFLOAD_QKV_LINEAR,
	OFFLOAD_CORE_ATTN,
	OFFLOAD_ATTN_PROJ,
	OFFLOAD_MLP_NORM,
	OFFLOAD_EXPERT_FC1,
	OFFLOAD_MOE_ACT,
	OFFLOAD_COUNT
};

enum split_kind {
	SPLIT_AUTO, /* even if it divides, else balanced, as the stack does */
	SPLIT_EVEN,
	SPLIT_BALANCED,        /* the slowest stage */
	SPLIT_BALANCED_MEMORY, /* the fullest stage */
	SPLIT_FIRST_LAST,      /* first_stage_layers and last_stage_layers */
	SPLIT_CUSTOM,          /* the layout string */
	SPLIT_COUNT
};

enum optimizer {
	OPTIMIZER_ADAMW,
	OPTIMIZER_ADAMW_8BIT,
	OPTIMIZER_ADAMW_BF16, /* bf16 moments, fp32 master (DeepSeek-V3) */
	OPTIMIZER_ADAFACTOR,
	OPTIMIZER_MUON,
	OPTIMIZER_SGD, /* with momentum */
	OPTIMIZER_COUNT
};

/* What an optimizer steps beside a weight in 16 bits: as the stack has it beside these
 * moments; a copy in fp32; of one the 16 bits that a bf16 weight lacks; a copy in 16
 * bits; or none, so that the weight itself is stepped. */
enum master_weights {
	MASTER_AUTO,
	MASTER_FP32,
	MASTER_REST,
	MASTER_HALF,
	MASTER_NONE,
	MASTER_COUNT
};

enum grad_dtype { GRAD_FP32, GRAD_BF16, GRAD_DTYPE_COUNT };

enum fp8_recipe {
	FP8_DELAYED,
	FP8_CURRENT_SCALING, /* also "tensorwise" */
	FP8_ROWWISE,
	FP8_BLOCKWISE, /* also "subchannel" */
	FP8_MXFP8,
	FP8_RECIPE_COUNT
};

/* In which the weights of the layers are stored between steps: as they train in 16 or
 * 32 bits, or in fp8 or fp4 alone as they are multiplied, without a 16-bit copy
 * (Megatron's --fp8-param-gather and --fp4-param-gather), or in 16 bits with what they
 * turn to kept beside them; and the frozen ones under LoRA. */
enum weight_format {
	WEIGHTS_WIDE,
	WEIGHTS_FP8,
	WEIGHTS_BOTH,
	WEIGHTS_FP4,
	WEIGHT_FORMAT_COUNT
};
enum frozen_format {
	FROZEN_WIDE,
	FROZEN_FP8,
	FROZEN_NF4,
	FROZEN_NVFP4,
	FROZEN_INT4,
	FROZEN_FORMAT_COUNT
};

enum cross_entropy { CE_PLAIN, CE_FUSED, CE_CHUNKED, CE_COUNT };
enum moe_dispatcher {
	DISPATCH_ALLTOALL,
	DISPATCH_ALLGATHER,
	DISPATCH_DEEPEP,
	DISPATCH_HYBRIDEP,
	DISPATCH_COUNT
};
enum moe_capacity { CAPACITY_DROPLESS, CAPACITY_DROP, CAPACITY_PAD, CAPACITY_COUNT };
enum cuda_graphs { GRAPHS_NONE, GRAPHS_PARTIAL, GRAPHS_FULL, GRAPHS_COUNT };
/* Bits of graph_scopes: parts of a layer that GRAPHS_PARTIAL captures, in the words of
 * Megatron's --cuda-graph-scope. */
enum graph_scope {
	SCOPE_ATTN,
	SCOPE_MLP,
	SCOPE_MOE_ROUTER,
	SCOPE_MOE_PREPROCESS,
	SCOPE_SHARED_EXPERTS, /* unless they run beside what travels */
	SCOPE_MOE,            /* experts of a fixed capacity alone */
	SCOPE_MAMBA,
	SCOPE_COUNT
};
/* Scales per block of the experts of a grouped GEMM: tensor by tensor; without fills;
 * swizzled in one kernel besides. */
enum scale_fusion { SCALES_EACH, SCALES_ZEROED, SCALES_FUSED, SCALES_COUNT };
enum optimizer_sync { SYNC_BARRIER, SYNC_POST_VALIDATION, SYNC_COUNT };
enum flops_convention { FLOPS_CAUSAL, FLOPS_FULL, FLOPS_COUNT };

struct plan {
	int mode; /* enum plan_mode */
	/* parallelism; dp is derived, see scenario_dp() */
	int64_t tp, pp, vpp, cp, ep;
	int64_t etp; /* 0 = by the stack's rule */
	bool sp;
	int cp_kind;
	int64_t zero;          /* ZeRO stage 0-3; 3 = FSDP */
	int64_t zero_group;    /* ranks that share one shard set (HSDP), 0 = all */
	bool fsdp_reshard;     /* free gathered weights after the forward */
	int64_t fsdp_prefetch; /* layers gathered ahead */

	/* batch */
	int64_t micro_batch, global_batch, seq_len;
	int64_t document_len; /* mean packed document, tokens; 0 = not packed */

	/* pipeline */
	int schedule;
	int64_t micro_batch_group; /* interleaved: 0 = pp */
	int split;
	int64_t first_stage_layers, last_stage_layers; /* SPLIT_FIRST_LAST, 0 = free */
	bool split_embedding, split_loss; /* count them as layers in an even split */
	char layout[MAX_LAYOUT];          /* Megatron's string, SPLIT_CUSTOM */
	int optimizer_sync;

	/* memory */
	int recompute;
	int64_t recompute_layers;        /* full: layers per stage, 0 = all */
	uint64_t recompute_modules;      /* selective: bits of enum recompute_module */
	int remat_policy;                /* selective, in their place */
	uint64_t remat_kept, remat_sent; /* REMAT_CUSTOM: bits of enum remat_tensor */
	uint64_t offload_modules;        /* bits of enum offload_module */
	/* Pieces of a sequence that a dense MLP and the loss take one after the other.
	 */
	int64_t mlp_tiles, loss_tiles;
	int optimizer, master_weights;
	double optimizer_offload, activation_offload; /* share, 0 to 1 */
	double offload_share; /* of what offload_modules names, the first so many */
	int64_t lora_rank;    /* 0 = all weights train */
	int lora_targets;     /* enum lora_targets of engine/model/model.h */
	bool lora_exchange;   /* adapters of rows send by one all-to-all (Megatron) */
	int frozen_format;
	int64_t frozen_layers; /* the first so many, and the embedding, do not train */
	bool frozen_head;      /* nor, beside them, the last norm and the head */

	/* precision and kernels */
	int precision, grad_dtype, fp8_recipe, weight_format;
	int attention_kernel;
	bool fused_norms, compile;
	/* nvfp4: operands of weight gradients are rotated, gradients rounded at random,
	 * weights scaled in squares */
	bool fp4_rotation, fp4_rounding, fp4_squares;
	int64_t wide_first, wide_last; /* layers in 16 bits beside narrow ones */
	bool fp8_attention;            /* scores and values are computed in fp8 */
	bool fp8_gates; /* inputs of gated activations wait for the backward in fp8 */
	bool host_binding; /* a process stays on the cores next to its GPU */
	int cuda_graphs, cross_entropy, scale_fusion;
	uint64_t graph_scopes; /* bits of enum graph_scope */
	bool vocab_parallel;   /* logits stay sharded over TP */

	/* overlaps */
	bool overlap_grad_reduce, overlap_param_gather, tp_overlap, async_tp;
	bool overlap_p2p, ep_overlap, shared_expert_overlap;
	int collective; /* enum algorithm; 0 = the quickest */

	/* mixture of experts */
	int moe_dispatcher, moe_capacity;
	double capacity_factor, imbalance; /* busiest rank over the mean, >= 1 */
	bool grouped_gemm, router_fusion;

	/* the run */
	struct serving_plan serving;
	double tokens; /* of the whole training run */
	int flops_convention;
};

#endif
