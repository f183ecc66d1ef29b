/* serving_memory.c - where a server's bytes come from, in memory and on the way. */
#include <math.h>

#include "engine/explain/row.h"
#include "engine/serve/pass.h"

static const struct serving_estimate *serving(const struct asked *a)
{
	return &a->estimate->serving;
}

static const struct serving_plan *plan(const struct asked *a)
{
	return &a->scenario->plan.serving;
}

static void weights(const struct asked *a, struct explanation *out)
{
	explain_term(out, "P", "elements of the large matrices on one rank", FORM_COUNT,
		     a->estimate->memory.parameters);
	explain_term(out, "b", "bytes each, scales counted", FORM_REAL,
		     serve_weight_bytes(a->scenario));
}

static void activations(const struct asked *a, struct explanation *out)
{
	explain_term(out, "budget", "tokens of a pass", FORM_REAL,
		     serving(a)->budget_tokens);
	explain_term(out, "copies", "hidden-wide tensors per token, of the stack",
		     FORM_REAL, a->scenario->stack.serving.activation_copies);
	explain_term(out, "hidden", "width", FORM_COUNT,
		     (double)a->scenario->model.hidden);
	explain_term(out, "TP", "ranks that split all but four of them", FORM_COUNT,
		     (double)a->scenario->plan.tp);
}

static void buffers(const struct asked *a, struct explanation *out)
{
	const struct serving_stack *v = &a->scenario->stack.serving;

	explain_term(out, "limit", "requests of a copy, by the plan; 0 by the stack",
		     FORM_COUNT, (double)plan(a)->max_requests);
	explain_term(out, "limit'", "requests of a copy, by the stack", FORM_COUNT,
		     (double)v->max_requests);
	explain_term(out, "vocab", "entries, padded", FORM_COUNT,
		     (double)a->estimate->padded_vocab);
	explain_term(out, "b", "bytes a logit at the peak of sampling", FORM_REAL,
		     v->logit_bytes > 0 ? v->logit_bytes : 4);
	explain_term(out, "hidden", "width", FORM_COUNT,
		     (double)a->scenario->model.hidden);
	explain_term(out, "A", "activations, free again by then", FORM_BYTES,
		     a->estimate->memory.activations_bytes);
}

static void framework(const struct asked *a, struct explanation *out)
{
	explain_term(out, "context", "libraries and graphs, of the stack", FORM_BYTES,
		     a->scenario->stack.serving.other_bytes);
	explain_term(out, "c", "bytes of a communicator", FORM_BYTES,
		     a->scenario->stack.communicator_bytes);
	explain_term(out, "groups", "of this server that have one", FORM_REAL,
		     serving(a)->communicators);
}

static void cache(const struct asked *a, struct explanation *out)
{
	explain_running(a, out);
	explain_term(out, "prefix", "cache of what all requests share", FORM_BYTES,
		     serving(a)->prefix_bytes);
	explain_term(out, "tokens", "of a request when it is let in", FORM_REAL,
		     serving(a)->admitted_tokens);
	explain_term(out, "each", "bytes of them on a GPU", FORM_BYTES,
		     serving(a)->request_bytes);
	explain_term(out, "kv", "of a token, whatever ranks repeat", FORM_BYTES,
		     serving(a)->kv_bytes_per_token);
	explain_term(out, "shards", "ranks that share out one copy", FORM_COUNT,
		     (double)plan(a)->kv_shards);
}

static void token_cache(const struct asked *a, struct explanation *out)
{
	const struct model *m = &a->scenario->model;

	explain_term(out, "b", "bytes of an element", FORM_REAL,
		     serve_kv_element_bytes(a->scenario));
	explain_term(out, "L", "layers", FORM_COUNT, (double)m->layers);
	for (int k = 0; k < m->kinds; k++) {
		const struct attention *t = &m->kind[k].attention;

		if (m->kind[k].mixer == MIXER_MLA)
			explain_term(out, "latent", "elements of an MLA layer",
				     FORM_COUNT, (double)(t->kv_rank + t->rope_dim));
		else if (m->kind[k].mixer == MIXER_ATTENTION)
			explain_term(out, "KV", "heads of an attention layer",
				     FORM_COUNT, (double)t->kv_heads);
	}
}

static void share(const struct asked *a, struct explanation *out)
{
	const struct stage_memory *m = &a->estimate->memory;
	enum share_meaning of = a->scenario->stack.serving.share_of;

	explain_term(out, "capacity", "that a framework can use", FORM_BYTES,
		     a->estimate->capacity_bytes);
	explain_term(out, "held", "weights, activations, buffers, framework",
		     FORM_BYTES, m->total_bytes - m->kv_bytes);
	explain_term(out, "share",
		     of == SHARE_OF_GPU   ? "of the whole GPU, with what is held"
		     : of == SHARE_STATIC ? "that weights and cache take"
					  : "of what is left that the cache takes",
		     FORM_PERCENT, plan(a)->memory_share);
	if (of == SHARE_OF_GPU)
		explain_term(out, "context", "that is not counted", FORM_BYTES,
			     a->scenario->stack.context_bytes);
	if (of == SHARE_STATIC) {
		explain_term(out, "W", "weights", FORM_BYTES, m->weights_bytes);
		explain_term(out, "F", "framework", FORM_BYTES, m->framework_bytes);
	}
	explain_term(out, "cache", "of a GPU, by them", FORM_BYTES,
		     serving(a)->kv_share_bytes);
}

static void room(const struct asked *a, struct explanation *out)
{
	share(a, out);
	explain_term(out, "room", "of it for requests, without a shared prefix",
		     FORM_BYTES, serving(a)->kv_room_bytes);
	explain_term(out, "each", "bytes of a request on a GPU", FORM_BYTES,
		     serving(a)->request_bytes);
	explain_term(out, "tokens", "of a request when it is let in", FORM_REAL,
		     serving(a)->admitted_tokens);
	explain_term(out, "limit", "requests of a copy, by the plan; 0 by the stack",
		     FORM_COUNT, (double)plan(a)->max_requests);
	explain_term(out, "limit'", "requests of a copy, by the stack", FORM_COUNT,
		     (double)a->scenario->stack.serving.max_requests);
	explain_term(out, "copies", "of the attention, in all engines", FORM_REAL,
		     serving(a)->engines * (double)plan(a)->dp_attention);
}

static void total(const struct asked *a, struct explanation *out)
{
	const struct stage_memory *m = &a->estimate->memory;

	explain_term(out, "W", "weights", FORM_BYTES, m->weights_bytes);
	explain_term(out, "A", "activations", FORM_BYTES, m->activations_bytes);
	explain_term(out, "B", "buffers", FORM_BYTES, m->buffers_bytes);
	explain_term(out, "F", "framework", FORM_BYTES, m->framework_bytes);
	explain_term(out, "KV", "cache of the requests that run", FORM_BYTES,
		     m->kv_bytes);
}

static void headroom(const struct asked *a, struct explanation *out)
{
	explain_term(out, "capacity", "that a framework can use", FORM_BYTES,
		     a->estimate->capacity_bytes);
	explain_term(out, "total", "held", FORM_BYTES, a->estimate->memory.total_bytes);
}

static void flops(const struct asked *a, struct explanation *out)
{
	explain_term(out, "active", "parameters that a token meets", FORM_COUNT,
		     a->estimate->active_parameters);
	explain_prompt(a, out);
}

static const char memory_source[] = "engine/serve/memory.c; presets/stacks: serving";
static const char definition[] = "by definition";

const struct explain_row explain_serving_memory[] = {
	{ "flops_per_token", "Model FLOPs of a prompt token", "2 * active + scores",
	  "Forward only, without the embedding table; scores over half of the prompt.",
	  "PaLM, arXiv 2204.02311, appendix B, a third of training's", flops },
	{ "weights_bytes", "Weights", "b * P, small matrices in 16 bits",
	  "Dense matrices divide by TP and PP, experts by EP x ETP; spare copies, MTP "
	  "layers and a draft model count. Embeddings and norms stay in 16 bits.",
	  memory_source, weights },
	{ "activations_bytes", "Activations",
	  "budget * hidden * 2 * (min(4, copies) + (copies - min(4, copies)) / TP)",
	  "Of the largest pass: as many tokens as the budget allows.", memory_source,
	  activations },
	{ "buffers_bytes", "Buffers", "logits + hidden states - A, at least 0",
	  "Logits of every request that a pass may sample, on every rank, beside the "
	  "hidden states; they follow the layers in the memory that those had.",
	  memory_source, buffers },
	{ "framework_bytes", "Framework", "context + c * groups",
	  "What the driver, libraries, captured graphs and communicators take.",
	  memory_source, framework },
	{ "kv_bytes", "KV cache of a GPU", "prefix + max(1, c / (engines * DP)) * each",
	  "Requests are half through their output in the mean; stacks that reserve "
	  "count all of it. Heads that TP can't split are copied; pages are whole; "
	  "windows cut; states of SSM layers have one size.",
	  "PagedAttention, arXiv 2309.06180, section 3; engine/serve/memory.c", cache },
	{ "kv_bytes_per_token", "KV cache of a token",
	  "b * sum over layers of 2 * KV * head_dim, or of MLA's latent",
	  "Of one copy, whatever ranks repeat; mean over a request's context where "
	  "windows "
	  "cut it.",
	  "GQA, arXiv 2305.13245; DeepSeek-V2, arXiv 2405.04434, table 1",
	  token_cache },
	{ "kv_tokens", "Tokens that all caches hold", "room / each * tokens * copies",
	  "For requests of this length; a cached prefix is held once. The cache is "
	  "capacity * share - (held - context) with vLLM, (capacity - F) * share - W "
	  "with "
	  "SGLang, (capacity - held) * share with others.",
	  memory_source, room },
	{ "headroom_bytes", "Headroom", "max(0, capacity - total)",
	  "What more requests, or longer ones, could take.", definition, headroom },
	{ "max_concurrency", "Requests that there is room for",
	  "min(limit, whole requests of room / each) * copies",
	  "A request counts with its prompt and half of its output, or all of it where "
	  "the stack reserves.",
	  "PagedAttention, arXiv 2309.06180, section 4.3", room },
	{ "total_bytes", "Memory of the fullest GPU", "W + A + B + F + KV",
	  "With the cache of the requests that run, not what an engine reserves for "
	  "it.",
	  "the parts; each has its own explanation", total },
	{ "allocated_bytes", "Allocated", "W + A + B + KV",
	  "The total without framework.", "torch.cuda.max_memory_allocated", total },
	{ "reserved_bytes", "Reserved", "W + A + B + KV",
	  "A server takes its memory once, nothing is lost between tensors.",
	  "torch.cuda.max_memory_reserved", total },
	{ "in_flight", "Requests in a copy of the attention", "c / (engines * DP)",
	  "Dealt out evenly.", definition, explain_running },
	{ "parameters", "Parameters of a rank", "sum of what it holds",
	  "Large and small matrices, spare experts and MTP layers where drafted with.",
	  memory_source, weights },
	{ "layers", "Layers of a stage", "ceil(L / PP)", "The fullest stage's.",
	  definition, explain_degrees },
	{ 0 },
};

static void collectives(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;

	for (int i = 0; i < e->traffic_count; i++) {
		const struct traffic *t = &e->traffic[i];

		if (t->dimension != a->dimension)
			continue;
		explain_term(out, "n", t->what, FORM_TRAFFIC, t->payload_bytes);
		explain_term(out, "p", "ranks of its group", FORM_COUNT,
			     (double)t->ranks);
		explain_term(out, "calls", "in a decode pass", FORM_COUNT,
			     round(t->count));
	}
}

const struct explain_row explain_serving_dimensions[] = {
	{ "bytes", "Bytes sent per GPU and decode pass",
	  "ring: all-reduce 2n(p-1)/p, all-gather, all-to-all n(p-1)/p, times calls",
	  "Counted as sent by the chosen algorithm, in the format that travels.",
	  "Thakur et al. 2005; nccl-tests PERFORMANCE.md (bus bandwidth factors)",
	  collectives },
	{ "network_bytes", "Of them across the network",
	  "one of a ring's members in a domain sends across its border",
	  "The rest stays inside the fast domain. An all-to-all sends each token once "
	  "to "
	  "each domain that it needs.",
	  "engine/price/collective.h", collectives },
	{ "payload_bytes", "Payload", "bytes of the tensors themselves, times calls",
	  "Without what an algorithm sends more than once.",
	  "engine/price/collective.h", collectives },
	{ "seconds", "Time of these collectives",
	  "alpha + t + 1.1 sqrt(alpha * t), t = bytes / bandwidth",
	  "Inside a domain servers reduce with kernels of their own, whose latency is "
	  "a "
	  "third of NCCL's.",
	  "engine/serve/traffic.c; presets/clusters: serving.all_reduce_us",
	  collectives },
	{ "exposed_seconds", "Exposed: what no computation hides", "all of them",
	  "A decode pass has nothing to hide them behind, unless two halves of the "
	  "batch take turns (EP overlap).",
	  "engine/serve/pass.c", collectives },
	{ 0 },
};
