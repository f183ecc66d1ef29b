/* serving.c - changes of a server worth trying, and notes on one. */
#include <math.h>

#include "engine/advice/rules.h"
#include "engine/model/mixer.h"

static const struct serving_plan *serving(const struct situation *now)
{
	return &now->plan->serving;
}

WHEN(has_pipeline, now->plan->pp > 1)
WHEN(has_experts, now->moe)
WHEN(spreads_experts, now->moe && now->plan->ep > 1)
WHEN(has_mtp,
     now->model->mtp_layers > 0 && serving(now)->speculative == SPECULATIVE_OFF)
WHEN(drafts_nothing,
     now->model->mtp_layers <= 0 && serving(now)->speculative == SPECULATIVE_OFF)
WHEN(shares_prefix, serving(now)->shared_prefix > 0)
WHEN(leaves_domain, now->plan->tp > now->domain)
WHEN(is_static, serving(now)->batching == BATCHING_STATIC)

#define SPEED(code, text, source, knob, trial, value, worth)                          \
	{                                                                             \
		{ code, SEVERITY_HINT, text, source }, AIM_SPEED, knob, trial, value, \
			worth, NULL, 0                                                \
	}
#define ROOM(code, text, source, knob, trial, value, worth)                            \
	{                                                                              \
		{ code, SEVERITY_HINT, text, source }, AIM_MEMORY, knob, trial, value, \
			worth, NULL, 0                                                 \
	}

/* A server that has no room for a request has no rate that this could change. */
#define HOLDS "{0:word}, {2:bytes} ({3:percent})"

const struct move advice_serving_moves[] = {
	SPEED("V1", "weights in fp8: precision " FASTER, "vllm --quantization fp8",
	      "precision", TRIAL_VALUE, PRECISION_FP8, advice_always),
	SPEED("V2", "half the KV cache to read: KV precision " FASTER,
	      "vllm --kv-cache-dtype fp8", "kv_precision", TRIAL_VALUE, KV_FP8,
	      advice_always),
	SPEED("V3", "more GPUs share each matrix: TP " FASTER,
	      "arXiv 2211.05102, section 3.2", "tp", TRIAL_UP, 0, advice_always),
	SPEED("V3", "more engines side by side: TP " FASTER,
	      "arXiv 2401.09670, section 3.1", "tp", TRIAL_DOWN, 0, advice_always),
	SPEED("V4", "TP leaves the fast domain: TP " FASTER,
	      "vllm docs, parallelism and scaling", "tp", TRIAL_DOWN, 0, leaves_domain),
	SPEED("V5", "no hops between stages: PP " FASTER,
	      "vllm docs, parallelism and scaling", "pp", TRIAL_DOWN, 0, has_pipeline),
	SPEED("V6", "a draft model, if its tokens are accepted: speculation " FASTER,
	      "arXiv 2211.17192, section 3", "speculative", TRIAL_VALUE,
	      SPECULATIVE_DRAFT, drafts_nothing),
	SPEED("V6", "the model's own MTP layers draft: speculation " FASTER,
	      "arXiv 2412.19437, section 5.4.3", "speculative", TRIAL_VALUE,
	      SPECULATIVE_MTP, has_mtp),
	SPEED("V7", "compute shared prefixes only once: prefix cache " FASTER,
	      "vllm --enable-prefix-caching", "prefix_cache", TRIAL_VALUE, 1,
	      shares_prefix),
	SPEED("V8", "prompt chunks of another size: token budget " FASTER,
	      "arXiv 2403.02310, section 4.3", "max_batched_tokens", TRIAL_UP, 0,
	      advice_always),
	SPEED("V8", "prefill alongside decoding: chunked prefill " FASTER,
	      "arXiv 2403.02310, section 4.2", "chunked_prefill", TRIAL_VALUE, 1,
	      advice_always),
	SPEED("V9", "requests join and leave at any pass: batching " FASTER,
	      "Orca, OSDI 2022, section 3", "batching", TRIAL_VALUE,
	      BATCHING_CONTINUOUS, is_static),
	SPEED("V10", "whole experts on fewer GPUs: EP " FASTER,
	      "sglang/srt/server_args.py ep_size", "ep", TRIAL_ABOVE, 0, has_experts),
	SPEED("V11",
	      "copies of attention, each with its own KV cache: DP attention " FASTER,
	      "sglang docs, DP attention", "dp_attention", TRIAL_ABOVE, 0, has_experts),
	SPEED("V12", "copies of the busiest experts: spare experts " FASTER,
	      "arXiv 2412.19437, section 3.4", "redundant_experts", TRIAL_UP, 0,
	      spreads_experts),
	SPEED("V13", "prefill on separate GPUs: disaggregated " FASTER,
	      "arXiv 2401.09670, section 3", "disaggregated", TRIAL_VALUE, 1,
	      advice_always),
	ROOM("V14", "to fit: TP " HOLDS, "vllm docs, parallelism and scaling", "tp",
	     TRIAL_ABOVE, 0, advice_always),
	ROOM("V14", "to fit: PP " HOLDS, "vllm docs, parallelism and scaling", "pp",
	     TRIAL_UP, 0, advice_always),
	ROOM("V14", "to fit: precision " HOLDS, "vllm --quantization fp8", "precision",
	     TRIAL_VALUE, PRECISION_FP8, advice_always),
	ROOM("V14", "to fit: precision " HOLDS, "vllm --quantization awq", "precision",
	     TRIAL_VALUE, PRECISION_INT4, advice_always),
	ROOM("V14", "to fit: EP " HOLDS, "sglang/srt/server_args.py ep_size", "ep",
	     TRIAL_ABOVE, 0, has_experts),
};

int advice_serving_move_count(void)
{
	return (int)(sizeof advice_serving_moves / sizeof advice_serving_moves[0]);
}

/* Weights are read for so few requests that more would cost next to nothing. */
static bool is_idle(const struct situation *now, double value[MAX_TERMS])
{
	const struct serving_estimate *v = &now->estimate->serving;

	value[0] = v->concurrency;
	value[1] = v->max_concurrency;
	value[2] = v->decode_intensity;
	return now->estimate->fits && v->bound == BOUND_MEMORY &&
	       v->concurrency * 4 <= v->max_concurrency;
}

static bool waits_for_prompts(const struct situation *now, double value[MAX_TERMS])
{
	const struct serving_estimate *v = &now->estimate->serving;

	value[0] = v->prefill_share;
	return now->estimate->fits && v->prefill_share > 0.6;
}

static bool is_overhead(const struct situation *now, double value[MAX_TERMS])
{
	const struct serving_estimate *v = &now->estimate->serving;

	value[0] = v->decode_seconds > 0 ? v->overhead_seconds / v->decode_seconds : 0;
	return now->estimate->fits && v->bound == BOUND_OVERHEAD;
}

static bool is_network(const struct situation *now, double value[MAX_TERMS])
{
	const struct serving_estimate *v = &now->estimate->serving;

	value[0] = v->decode_seconds > 0 ? v->network_seconds / v->decode_seconds : 0;
	return now->estimate->fits && v->bound == BOUND_NETWORK;
}

static bool copies_heads(const struct situation *now, double value[MAX_TERMS])
{
	double most = 0;

	for (int k = 0; k < now->model->kinds; k++)
		if (mixer_of(&now->model->kind[k])->attends &&
		    !mixer_of(&now->model->kind[k])->latent)
			most = fmax(most,
				    (double)now->model->kind[k].attention.kv_heads);
	value[0] = (double)now->plan->tp;
	value[1] = most;
	return most > 0 && value[0] > most * (double)serving(now)->kv_shards;
}

static bool is_latent(const struct situation *now, double value[MAX_TERMS])
{
	value[0] = (double)now->plan->tp;
	return mixer_latent_any(now->model) && now->plan->tp > 1 &&
	       serving(now)->dp_attention == 1 && serving(now)->kv_shards == 1;
}

const struct note advice_serving_notes[] = {
	{ { "V20", SEVERITY_HINT,
	    "{0:real} requests run, {1} would fit: weights are read for few of "
	    "them ({2:real} FLOPs per byte), more cost little",
	    "arXiv 2211.05102, section 2" },
	  "concurrency",
	  is_idle },
	{ { "V21", SEVERITY_HINT,
	    "prefill takes {0:percent} of the time: decoding waits for it",
	    "arXiv 2401.09670, section 2.3" },
	  "disaggregated",
	  waits_for_prompts },
	{ { "V22", SEVERITY_HINT,
	    "{0:percent} of a decode pass is fixed overhead of kernels and host",
	    "the times of a decode pass" },
	  NULL,
	  is_overhead },
	{ { "V23", SEVERITY_HINT,
	    "{0:percent} of a decode pass is communication: a smaller TP or EP "
	    "would wait less",
	    "the times of a decode pass" },
	  "tp",
	  is_network },
	{ { "V24", SEVERITY_HINT,
	    "TP {0} exceeds {1} key-value heads, so each is cached more than "
	    "once; KV shards would split them",
	    "vllm --decode-context-parallel-size" },
	  "kv_shards",
	  copies_heads },
	{ { "V25", SEVERITY_HINT,
	    "MLA's latent can't be split over heads: all {0} ranks of TP cache it; DP "
	    "attention or KV shards don't",
	    "sglang docs, DP attention" },
	  "dp_attention",
	  is_latent },
};

int advice_serving_note_count(void)
{
	return (int)(sizeof advice_serving_notes / sizeof advice_serving_notes[0]);
}
