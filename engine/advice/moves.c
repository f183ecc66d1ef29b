/* moves.c - changes worth trying; what they give is measured, not claimed. */
#include "engine/advice/rules.h"

WHEN(fits, now->estimate->fits)

bool advice_always(const struct situation *now)
{
	(void)now;
	return true;
}

WHEN(has_bubble, now->estimate->bubble_ratio > 0.05)
WHEN(has_bubble_and_batch, has_bubble(now) && now->plan->micro_batch > 1)
WHEN(has_bubble_in_1f1b, has_bubble(now) && now->plan->schedule != SCHEDULE_INTERLEAVED)
WHEN(has_many_chunks,
     now->estimate->chunks > 2 &&
	     now->estimate->micro_batches >= 4 * (int64_t)now->estimate->stages)
WHEN(has_chunks, now->estimate->chunks > 1)

static bool exposes(const struct situation *now, enum dimension dimension, double share)
{
	return now->estimate->cost[dimension].exposed_seconds >
	       share * now->estimate->step_seconds;
}

WHEN(experts_leave_domain,
     now->moe && now->plan->ep * now->etp > now->domain && exposes(now, DIM_EP, 0.02))
WHEN(dp_crosses_network, now->plan->zero > 0 && now->plan->zero_group == 0 &&
				 exposes(now, DIM_DP, 0.02) &&
				 now->estimate->cost[DIM_DP].network_bytes > 0)

/* FSDP's gathers hide where a rank has many tokens and no pipeline. */
WHEN(could_be_fsdp,
     now->plan->tp > 1 && now->plan->pp == 1 && !now->moe && now->plan->zero < 3)

WHEN(is_wide_fsdp, now->plan->zero == 3 && now->plan->tp > 2)
WHEN(launches_kernels, now->estimate->fits && now->plan->cuda_graphs == GRAPHS_NONE &&
			       !(now->plan->activation_offload > 0))
WHEN(exposes_tp, now->plan->tp > 1 && now->plan->tp <= now->domain &&
			 now->estimate->cost[DIM_TP].exposed_seconds >
				 0.05 * now->estimate->step_seconds)
WHEN(tp_leaves_domain, now->plan->tp > now->domain)
WHEN(has_pipeline, now->plan->pp > 1)
WHEN(skinny_shards,
     now->plan->cp > 1 && now->plan->seq_len / now->plan->cp < now->model->hidden)
WHEN(splits_experts, now->moe && now->etp > 1)
WHEN(small_batches, now->estimate->fits && now->estimate->bubble_ratio < 0.15)
WHEN(recomputes, now->plan->recompute != RECOMPUTE_NONE)
WHEN(recomputes_all, now->plan->recompute == RECOMPUTE_FULL)
WHEN(keeps_all, now->plan->recompute == RECOMPUTE_NONE)
WHEN(not_all_recomputed, now->plan->recompute != RECOMPUTE_FULL)
WHEN(without_sp, !now->plan->sp)
WHEN(has_fp8, now->scenario->cluster.accelerator.peak_flops[PRECISION_FP8] > 0 &&
		      (now->plan->precision == PRECISION_BF16 ||
		       now->plan->precision == PRECISION_FP16))

/* FlashAttention 2 needs Ampere, 3 Hopper, or what others made in those years. */
static bool runs_kernel(const struct situation *now, int64_t year,
			enum attention_kernel kernel)
{
	const struct accelerator *a = &now->scenario->cluster.accelerator;

	return a->year >= year && a->calibration.attention_efficiency[kernel] > 0;
}

WHEN(older_attention, attention_table[now->plan->attention_kernel].generation <
				      attention_table[ATTENTION_FLASH2].generation &&
			      runs_kernel(now, 2020, ATTENTION_FLASH2))
WHEN(hopper_attention, now->plan->attention_kernel == ATTENTION_FLASH2 &&
			       runs_kernel(now, 2022, ATTENTION_FLASH3))
WHEN(is_split_evenly, now->plan->split == SPLIT_AUTO || now->plan->split == SPLIT_EVEN)
WHEN(many_sequences, now->plan->micro_batch > 1)
WHEN(replicates, now->estimate->dp * now->plan->cp > 1)
WHEN(unsharded, replicates(now) && now->plan->zero < 3)
WHEN(replicates_optimizer, replicates(now) && now->plan->zero == 0)
WHEN(is_selective, now->plan->recompute == RECOMPUTE_SELECTIVE)
WHEN(has_experts, now->moe && now->plan->ep < now->model->moe.experts)
WHEN(tp_has_room, now->plan->tp < now->domain)

/* Experts and TP together need SP (E24). */
WHEN(tp_needs_sp, now->moe && now->plan->tp < now->domain && !now->plan->sp)

WHEN(long_sequence, now->plan->seq_len >= 8192)
WHEN(whole_long_sequence, long_sequence(now) && now->plan->cp == 1)
WHEN(plain_loss, now->plan->cross_entropy != CE_CHUNKED)
WHEN(wide_moments, now->plan->optimizer == OPTIMIZER_ADAMW)
WHEN(wide_gradients, now->plan->grad_dtype == GRAD_FP32)
WHEN(no_offload, now->plan->optimizer_offload < 0.5)

/* first is turned to a value before the knob itself */
#define MOVE(severity, aim, code, text, source, knob, trial, value, worth, first, to) \
	{                                                                             \
		{ code, severity, text, source }, aim, knob, trial, value, worth,     \
			first, to                                                     \
	}
#define SPEED_AFTER(...)  MOVE(SEVERITY_HINT, AIM_SPEED, __VA_ARGS__)
#define SPEED(...)        MOVE(SEVERITY_HINT, AIM_SPEED, __VA_ARGS__, NULL, 0)
#define MEMORY(...)       MOVE(SEVERITY_WARNING, AIM_MEMORY, __VA_ARGS__, NULL, 0)
#define MEMORY_AFTER(...) MOVE(SEVERITY_WARNING, AIM_MEMORY, __VA_ARGS__)
#define ROOM(...)         MOVE(SEVERITY_HINT, AIM_ROOM, __VA_ARGS__, NULL, 0)
#define FILLED            "VPP {0:word}, {1:+percent} tok/s, {2:bytes}, bubble {4:percent}"
/* Sources: B = NVIDIA-NeMo/Megatron-Bridge, M = NVIDIA/Megatron-LM. */
const struct move advice_moves[] = {
	SPEED("T5", FILLED, "B docs/performance-guide.md:58", "vpp", TRIAL_ABOVE, 0,
	      has_bubble),
	SPEED_AFTER("T5", "interleaved: " FILLED, "arXiv 2104.04473, section 2.2",
		    "vpp", TRIAL_ABOVE, 0, has_bubble_in_1f1b, "schedule",
		    SCHEDULE_INTERLEAVED),
	SPEED("T6", "fewer chunks: sends cost more than the bubble saved: VPP " FASTER,
	      "B docs/performance-guide.md:66", "vpp", TRIAL_DOWN, 0, has_many_chunks),
	SPEED("T5", "smaller bubble: micro-batch " FASTER,
	      "B docs/performance-guide.md:58", "mbs", TRIAL_DOWN, 0,
	      has_bubble_and_batch),
	SPEED("T4", "TP waits for its traffic: TP " FASTER,
	      "B docs/performance-guide.md:52-53", "tp", TRIAL_DOWN, 0, exposes_tp),
	SPEED("T2", "TP leaves the fast domain: TP " FASTER,
	      "B docs/performance-guide.md:38", "tp", TRIAL_DOWN, 0, tp_leaves_domain),
	SPEED("T1", "fewer stages, more DP: PP " FASTER,
	      "B docs/performance-guide.md:30", "pp", TRIAL_DOWN, 0, has_pipeline),
	SPEED("T9", "sequence shards shorter than the hidden size: CP " FASTER,
	      "B docs/performance-guide.md:42-44", "cp", TRIAL_DOWN, 0, skinny_shards),
	SPEED("T12", "unsplit experts: ETP " FASTER, "B docs/performance-guide.md:88",
	      "etp", TRIAL_VALUE, 1, splits_experts),
	SPEED("T29", "larger matrices: micro-batch " FASTER,
	      "B docs/performance-guide.md:290-301", "mbs", TRIAL_UP, 0, small_batches),
	SPEED("M3", "memory to spare: recompute " FASTER,
	      "B docs/performance-guide.md:317", "recompute", TRIAL_DOWN, 0,
	      recomputes),
	SPEED("T15", "overlap DP gradients: " FASTER,
	      "M megatron/core/transformer/moe/README.md:246-252",
	      "overlap_grad_reduce", TRIAL_VALUE, 1, fits),
	SPEED("T15", "overlap DP parameters: " FASTER,
	      "M megatron/core/transformer/moe/README.md:246-252",
	      "overlap_param_gather", TRIAL_VALUE, 1, fits),
	SPEED("T15", "overlap TP traffic: " FASTER,
	      "M megatron/core/transformer/moe/README.md:246-252", "tp_overlap",
	      TRIAL_VALUE, 1, fits),
	SPEED("T15", "overlap PP sends: " FASTER,
	      "M megatron/core/transformer/moe/README.md:246-252", "overlap_p2p",
	      TRIAL_VALUE, 1, fits),
	SPEED("T3", "overlap the expert all-to-all: " FASTER,
	      "B docs/performance-guide.md:84", "ep_overlap", TRIAL_VALUE, 1, fits),
	SPEED("T3", "experts inside the fast domain: EP " FASTER,
	      "M megatron/core/transformer/moe/README.md, G2", "ep", TRIAL_DOWN, 0,
	      experts_leave_domain),
	SPEED("T8", "long sequence: CP " FASTER,
	      "M megatron/core/transformer/moe/README.md:222", "cp", TRIAL_UP, 0,
	      whole_long_sequence),
	SPEED_AFTER("T23", "FSDP (ZeRO 3): TP " FASTER,
		    "B docs/performance-guide.md:102-106", "tp", TRIAL_VALUE, 1,
		    could_be_fsdp, "zero", 3),
	SPEED("T24", "FSDP likes TP 1 or 2: TP " FASTER,
	      "B skills recipe-recommender, pitfalls", "tp", TRIAL_DOWN, 0,
	      is_wide_fsdp),
	SPEED("T28", "shards in smaller groups: ZeRO group " FASTER,
	      "B docs/performance-guide.md:171", "zero_group", TRIAL_ABOVE, 0,
	      dp_crosses_network),
	SPEED("T29",
	      "kernels wait for the CPU: CUDA graphs " FASTER
	      " and what graphs reserve",
	      "B docs/performance-guide.md:290-301", "cuda_graphs", TRIAL_UP, 0,
	      launches_kernels),
	SPEED("T13", "experts in one kernel: grouped GEMM " FASTER,
	      "B docs/performance-guide.md:90", "grouped_gemm", TRIAL_VALUE, 1, fits),
	SPEED("T32", "precision " FASTER, "B docs/performance-guide.md:17-24",
	      "precision", TRIAL_VALUE, PRECISION_FP8, has_fp8),
	SPEED("T38", "attention " FASTER, "arXiv 2205.14135, 2307.08691",
	      "attention_kernel", TRIAL_VALUE, ATTENTION_FLASH2, older_attention),
	SPEED("T38", "attention " FASTER, "arXiv 2407.08608", "attention_kernel",
	      TRIAL_VALUE, ATTENTION_FLASH3, hopper_attention),
	SPEED("T39", "fused norms " FASTER, "arXiv 2205.05198, section 6",
	      "fused_norms", TRIAL_VALUE, 1, fits),
	SPEED("M17", "split norms along the sequence: SP " FASTER,
	      "arXiv 2205.05198, section 4.2.2", "sp", TRIAL_VALUE, 1, without_sp),
	SPEED("T26", "fewer layers next to the LM head: split " FASTER,
	      "B docs/performance-guide.md:70-73", "split", TRIAL_VALUE, SPLIT_BALANCED,
	      is_split_evenly),

	ROOM("M9", "distributed optimizer: ZeRO " SMALLER,
	     "M docs/api-guide/dist_optimizer.md", "zero", TRIAL_VALUE, 1,
	     replicates_optimizer),
	ROOM("M17", "SP " SMALLER, "arXiv 2205.05198, section 4.2.2", "sp", TRIAL_VALUE,
	     1, without_sp),

	MEMORY("M7", "micro-batch " SMALLER, "B skills recipe-recommender, Batch Size",
	       "mbs", TRIAL_DOWN, 0, many_sequences),
	MEMORY("M17", "SP " SMALLER, "arXiv 2205.05198, section 4.2.2", "sp",
	       TRIAL_VALUE, 1, without_sp),
	MEMORY("M9", "ZeRO " SMALLER, "M docs/api-guide/dist_optimizer.md", "zero",
	       TRIAL_UP, 0, unsharded),
	MEMORY("M2", "recompute " SMALLER, "B skills moe-optimization:97-103",
	       "recompute", TRIAL_VALUE, RECOMPUTE_SELECTIVE, keeps_all),
	MEMORY("M6", "recompute " SMALLER, "B skills activation-recompute:216",
	       "recompute", TRIAL_VALUE, RECOMPUTE_FULL, not_all_recomputed),
	MEMORY("M6", "recompute MLPs too: modules " SMALLER,
	       "B skills activation-recompute:216", "recompute_modules", TRIAL_ADD,
	       1 << MODULE_MLP, is_selective),
	MEMORY("M12", "VPP " SMALLER, "arXiv 2104.04473, section 2.2", "vpp",
	       TRIAL_DOWN, 0, has_chunks),
	MEMORY("M8", "EP " SMALLER, "B skills recipe-recommender, rule 4", "ep",
	       TRIAL_UP, 0, has_experts),
	MEMORY("M4", "TP " SMALLER, "B skills memory-tuning:62-63", "tp", TRIAL_UP, 0,
	       tp_has_room),
	MEMORY_AFTER("M4", "with SP, TP " SMALLER, "B skills memory-tuning:62-63", "tp",
		     TRIAL_UP, 0, tp_needs_sp, "sp", 1),
	MEMORY("M5", "PP " SMALLER, "B skills memory-tuning:64-65", "pp", TRIAL_UP, 0,
	       advice_always),
	MEMORY("T10", "CP " SMALLER, "B docs/performance-guide.md:395", "cp", TRIAL_UP,
	       0, long_sequence),
	MEMORY("M11", "cross-entropy " SMALLER,
	       "stas00/ml-engineering training/performance:334-340", "cross_entropy",
	       TRIAL_VALUE, CE_CHUNKED, plain_loss),
	MEMORY("M18", "optimizer " SMALLER, "B docs/performance-guide.md:352",
	       "optimizer", TRIAL_VALUE, OPTIMIZER_ADAMW_BF16, wide_moments),
	MEMORY("M18", "gradients " SMALLER, "B docs/performance-guide.md:246",
	       "grad_dtype", TRIAL_VALUE, GRAD_BF16, wide_gradients),
	MEMORY("M14", "optimizer offload " SMALLER, "B skills cpu-offloading:28,99",
	       "optimizer_offload", TRIAL_VALUE, 0.5, no_offload),
	MEMORY("M3", "recompute " SMALLER, "B docs/performance-guide.md:317",
	       "recompute_layers", TRIAL_VALUE, 0, recomputes_all),
};

int advice_move_count(void)
{
	return (int)(sizeof advice_moves / sizeof advice_moves[0]);
}
