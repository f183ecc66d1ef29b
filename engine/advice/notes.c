/* notes.c - what an expert would remark, without trying anything. */
#include <math.h>

#include "engine/advice/rules.h"

static bool near_the_edge(const struct situation *now, double value[MAX_TERMS])
{
	const struct estimate *e = now->estimate;

	value[0] = e->memory.total_bytes / e->capacity_bytes - 1;
	return estimate_is_too_large(e) && value[0] < 0.1;
}

static bool little_room(const struct situation *now, double value[MAX_TERMS])
{
	const struct estimate *e = now->estimate;

	value[0] = e->capacity_bytes - e->memory.total_bytes;
	value[1] = e->fit_probability;
	return e->fits && value[0] < 0.08 * e->capacity_bytes;
}

static bool chunks_cost_memory(const struct situation *now, double value[MAX_TERMS])
{
	double p = now->estimate->stages, v = (double)now->estimate->chunks;

	value[0] = v;
	value[1] = v > 0 ? (p - 1) / (p * v) : 0;
	return estimate_is_too_large(now->estimate) && v > 1;
}

static bool recomputes_moe(const struct situation *now, double value[MAX_TERMS])
{
	(void)value;
	return now->moe && now->plan->recompute == RECOMPUTE_SELECTIVE &&
	       (now->plan->recompute_modules & UINT64_C(1) << MODULE_MOE);
}

static bool routing_is_even(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = now->plan->imbalance;
	return now->moe && now->plan->moe_capacity == CAPACITY_DROPLESS &&
	       now->plan->imbalance < 1.05 && now->plan->ep > 1;
}

static bool graphs_take_memory(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->pp;
	return now->plan->cuda_graphs != GRAPHS_NONE;
}

static bool logits_dominate(const struct situation *now, double value[MAX_TERMS])
{
	const struct estimate *e = now->estimate;
	const struct stage_memory *last = &e->stage[e->stages - 1];

	value[0] = last->buffers_bytes;
	value[1] = last->activations_bytes;
	return now->plan->zero < 3 && last->buffers_bytes > last->activations_bytes &&
	       last->buffers_bytes > 0.1 * e->capacity_bytes;
}

static bool gathers_dominate(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = now->estimate->memory.buffers_bytes;
	return now->plan->zero == 3 && value[0] > 0.25 * now->estimate->capacity_bytes;
}

static bool experts_cross_domains(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)(now->plan->ep * now->etp);
	value[1] = (double)now->domain;
	value[2] = now->estimate->cost[DIM_EP].exposed_seconds /
		   now->estimate->step_seconds;
	return now->moe && value[0] > value[1] && !now->plan->ep_overlap &&
	       value[2] > 0.02;
}

static bool few_micro_batches(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->estimate->micro_batches;
	value[1] = now->estimate->stages;
	return value[1] > 1 && value[0] < value[1];
}

static bool large_bubble(const struct situation *now, double value[MAX_TERMS])
{
	double m = (double)now->estimate->micro_batches, p = now->estimate->stages;

	value[0] = now->estimate->bubble_ratio;
	value[1] = m;
	value[2] = p;
	/* (p - 1) / (v*m + p - 1): what is left comes from unequal stages and sends */
	value[3] = (p - 1) / ((double)now->estimate->chunks * m + p - 1);
	return value[0] > 0.1 && p > 1;
}

static bool thin_matrices(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->tp;
	value[1] = (double)now->model->hidden / (double)now->plan->tp;
	return now->plan->tp >= 4 && value[1] < 1024;
}

static bool ulysses_crosses(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->cp;
	return now->plan->cp > 1 && now->plan->cp_kind == CP_ULYSSES &&
	       now->plan->cp * now->plan->tp > now->domain;
}

static bool one_expert_each(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->ep;
	return now->moe && now->plan->ep == now->model->moe.experts;
}

static bool dp_is_exposed(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = now->estimate->cost[DIM_DP].exposed_seconds /
		   now->estimate->step_seconds;
	value[1] = now->estimate->tokens_per_step / (double)now->estimate->world;
	return value[0] > 0.08;
}

static bool attention_dominates(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->seq_len;
	value[1] = (double)now->model->hidden;
	return now->plan->seq_len > 8 * now->model->hidden &&
	       now->plan->document_len == 0;
}

static bool wide_zero3(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->estimate->world;
	return now->plan->zero == 3 && now->plan->tp * now->plan->pp == 1 &&
	       now->estimate->world >= 512 && now->plan->zero_group == 0;
}

static bool odd_vocabulary(const struct situation *now, double value[MAX_TERMS])
{
	int64_t local = now->estimate->padded_vocab / now->plan->tp;

	value[0] = (double)local;
	return local % 8 != 0;
}

static bool head_weighs(const struct situation *now, double value[MAX_TERMS])
{
	const struct estimate *e = now->estimate;
	const struct stage_time *last = &e->stage_time[e->stages - 1];
	double busy = 0;

	for (int i = 0; i < e->stages; i++)
		busy += e->stage_time[i].busy_seconds / e->stages;
	value[0] = busy > 0 ? last->busy_seconds / busy - 1 : 0;
	return e->stages > 1 && value[0] > 0.08;
}

static bool rounds_gradients(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->estimate->dp;
	return now->plan->grad_dtype == GRAD_BF16 && now->estimate->dp >= 128;
}

static bool odd_rack(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->domain;
	value[1] = (double)now->estimate->world;
	return now->domain == 72 && now->estimate->world % 64 != 0;
}

static bool too_good(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = now->estimate->mfu;
	return value[0] > 0.7;
}

static bool idle_machine(const struct situation *now, double value[MAX_TERMS])
{
	double held = now->estimate->memory.total_bytes;

	value[0] = held / now->estimate->capacity_bytes;
	return now->estimate->fits && value[0] < 0.4 &&
	       now->plan->tp * now->plan->pp > 1;
}

static bool shards_less(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)(now->estimate->dp * now->plan->cp);
	return now->plan->cp > 1 && now->plan->zero > 0;
}

static const struct note advice_notes[] = {
	{ { "M1", SEVERITY_WARNING,
	    "only {0:percent} too large: expandable_segments:True may suffice",
	    "B skills memory-tuning:53-55" },
	  NULL,
	  near_the_edge },
	{ { "M19", SEVERITY_WARNING,
	    "only {0:bytes} left ({1:percent} likely to fit): NCCL, graphs and "
	    "fragmentation vary",
	    "B skills memory-tuning:44-47" },
	  NULL,
	  little_room },
	{ { "M12", SEVERITY_WARNING,
	    "VPP {0} holds {1:percent} more activations than 1F1B",
	    "arXiv 2104.04473, section 2.2" },
	  "vpp",
	  chunks_cost_memory },
	{ { "M13", SEVERITY_WARNING,
	    "recomputing whole MoE layers repeats their all-to-all",
	    "B skills activation-recompute:69" },
	  "recompute_modules",
	  recomputes_moe },
	{ { "M15", SEVERITY_HINT,
	    "routing is assumed even; early in training the busiest rank can get "
	    "several times the mean",
	    "deepseek-ai/DeepEP#99" },
	  "imbalance",
	  routing_is_even },
	{ { "M16", SEVERITY_HINT,
	    "CUDA graphs reserve several GiB more, over 10 with PP",
	    "B docs/performance-guide.md:301" },
	  "cuda_graphs",
	  graphs_take_memory },
	{ { "M11", SEVERITY_WARNING,
	    "logits take {0:bytes} on the last stage, activations {1:bytes}",
	    "stas00/ml-engineering training/performance:334-340" },
	  "cross_entropy",
	  logits_dominate },
	{ { "M20", SEVERITY_WARNING,
	    "gathered layers take {0:bytes}: prefetch fewer, or wrap smaller units",
	    "DeepSpeed runtime/zero/config.py:215-244" },
	  "fsdp_prefetch",
	  gathers_dominate },
	{ { "M10", SEVERITY_HINT, "CP ranks also shard the optimizer: {0} ranks in all",
	    "B docs/performance-guide.md:46" },
	  NULL,
	  shards_less },
	{ { "T3", SEVERITY_WARNING,
	    "EP x ETP {0} leaves the domain of {1}: all-to-all exposes {2:percent} of "
	    "the step",
	    "B docs/performance-guide.md:84" },
	  "ep",
	  experts_cross_domains },
	{ { "T7", SEVERITY_WARNING,
	    "{0} micro-batches for {1} stages: most stages sit idle",
	    "stas00/ml-engineering training/model-parallelism:240" },
	  "gbs",
	  few_micro_batches },
	{ { "T5", SEVERITY_WARNING,
	    "bubble {0:percent}: {1} micro-batches on {2} stages cause "
	    "{3:percent}, unequal stages and sends the rest",
	    "arXiv 2104.04473, section 2.2" },
	  "vpp",
	  large_bubble },
	{ { "T4", SEVERITY_HINT,
	    "TP {0} leaves matrices only {1} wide: such kernels are inefficient",
	    "B docs/performance-guide.md:52-53" },
	  "tp",
	  thin_matrices },
	{ { "T11", SEVERITY_WARNING,
	    "Ulysses over CP {0} leaves the fast domain: a ring would overlap, "
	    "Ulysses does not",
	    "B docs/performance-guide.md:401-410" },
	  "cp_kind",
	  ulysses_crosses },
	{ { "T14", SEVERITY_HINT, "EP {0}: one expert per rank, no local permutation",
	    "M megatron/core/transformer/moe/README.md:214" },
	  NULL,
	  one_expert_each },
	{ { "T16", SEVERITY_WARNING,
	    "DP exposes {0:percent} of the step: only {1:tokens} tokens per GPU",
	    "jax-ml scaling-book, training" },
	  "gbs",
	  dp_is_exposed },
	{ { "T19", SEVERITY_HINT,
	    "sequence {0} is above 8 x hidden {1}: attention dominates",
	    "jax-ml scaling-book, training" },
	  "seq",
	  attention_dominates },
	{ { "T21", SEVERITY_WARNING,
	    "ZeRO 3 over {0} GPUs: a shard group (HSDP), TP or PP sends less",
	    "Ultra-Scale Playbook, part 3" },
	  "zero_group",
	  wide_zero3 },
	{ { "T25", SEVERITY_WARNING,
	    "{0} vocabulary rows per rank: not a multiple of 8, tensor cores idle",
	    "stas00/ml-engineering training/performance:718-720" },
	  NULL,
	  odd_vocabulary },
	{ { "T26", SEVERITY_HINT,
	    "the last stage has {0:percent} more work than the mean, because of "
	    "the LM head",
	    "B docs/performance-guide.md:70-73" },
	  "split",
	  head_weighs },
	{ { "T27", SEVERITY_HINT, "bf16 gradients summed over DP {0}: watch the loss",
	    "B docs/performance-guide.md:246" },
	  "grad_dtype",
	  rounds_gradients },
	{ { "T30", SEVERITY_HINT,
	    "{1} GPUs on domains of {0}: using 64 per rack keeps powers of two "
	    "inside",
	    "B docs/performance-guide.md:154" },
	  "gpus",
	  odd_rack },
	{ { "T37", SEVERITY_WARNING,
	    "MFU {0:percent} is above any published value: check the inputs",
	    "heuristic" },
	  NULL,
	  too_good },
	{ { "T1", SEVERITY_HINT,
	    "memory is {0:percent} full: less TP or PP, or larger micro-batches, may "
	    "fit",
	    "B docs/performance-guide.md:30" },
	  NULL,
	  idle_machine },
};

enum { NOTES = sizeof advice_notes / sizeof advice_notes[0] };

int advice_note_count(void)
{
	return NOTES + advice_machine_note_count();
}

const struct note *advice_note(int index)
{
	return index < NOTES ? &advice_notes[index]
			     : &advice_machine_notes[index - NOTES];
}
