/* serving_memory.c - where a server's bytes come from, in memory and on the way. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/server.h"

static void fill_weights(const struct asked *a, struct explanation *out)
{
	bool drafts = a->scenario->plan.serving.speculative == SPECULATIVE_DRAFT;

	explain_say(out, drafts ? "b * P * (1 + draft) + 2 * p" : "b * P + 2 * p");
	from(a, out, "b", "bytes of an element, scales counted",
	     "serving.weight_bytes");
	from(a, out, "P", "elements of quantised matrices", "serving.large_parameters");
	if (drafts)
		from(a, out, "draft", "a draft model's share of the reading",
		     "draft_cost");
	from(a, out, "p",
	     "of embeddings, norms, routers, adapters, what is not quantised",
	     "serving.small_parameters");
}

/* Requests that take room: a prompt in a pool of its own takes none. */
static void inside(const struct asked *a, struct explanation *out)
{
	bool full = serving(a)->elsewhere > 0;

	from(a, out, "c", full ? "requests that decode" : "requests that run",
	     full ? "max_concurrency" : "running");
}

static void cache_terms(const struct asked *a, struct explanation *out)
{
	from(a, out, "prefix", "cache of what all requests share",
	     "serving.prefix_bytes");
	from(a, out, "each", "bytes of a request on a GPU", "serving.request_bytes");
	if (serving(a)->max_concurrency <= 0) {
		explain_say(out, "prefix + each");
		return;
	}
	explain_say(out, "prefix + max(1, c / copies) * each");
	inside(a, out);
	from(a, out, "copies", "of the attention, in all engines", "serving.copies");
}

static void token_cache(const struct asked *a, struct explanation *out)
{
	for (int k = 0; k < a->scenario->model.kinds; k++) {
		char n[16], x[16];

		snprintf(n, sizeof n, "n%d", k);
		snprintf(x, sizeof x, "x%d", k);
		explain_say(out, "%s%s * %s", k ? " + " : "", n, x);
		explain_from(a, out, n, "layers of the kind", "model.kinds.%d.layers",
			     k);
		explain_from(a, out, x, "of one of them",
			     "model.kinds.%d.cache_bytes_per_token", k);
	}
}

static void add_room(const struct asked *a, struct explanation *out)
{
	from(a, out, "room", "for requests, without a shared prefix",
	     "serving.kv_room_bytes");
	from(a, out, "each", "bytes of a request on a GPU", "serving.request_bytes");
	from(a, out, "copies", "of the attention, in all engines", "serving.copies");
}

static void token_terms(const struct asked *a, struct explanation *out)
{
	if (serving(a)->kv_bytes_per_token <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "max(0, room) / each * ceil(tokens / max(1, block)) * "
			 "max(1, block) * copies");
	add_room(a, out);
	from(a, out, "block", "tokens of a block", "kv_block");
	from(a, out, "tokens", "of a request when it is let in",
	     "serving.admitted_tokens");
}

static void on_host(const struct asked *a, struct explanation *out)
{
	if (serving(a)->kv_bytes_per_token <= 0 ||
	    a->scenario->plan.serving.host_kv_bytes <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out,
		    "host * 1024 * 1024 * 1024 / each * ceil(tokens / max(1, block)) * "
		    "max(1, block) * copies");
	from(a, out, "host", "memory of each GPU", "host_kv");
	from(a, out, "each", "a request", "serving.request_bytes");
	from(a, out, "copies", "of the attention, in all engines", "serving.copies");
	from(a, out, "block", "tokens of a block", "kv_block");
	from(a, out, "tokens", "of a request when it is let in",
	     "serving.admitted_tokens");
}

/* Whole requests, at most the limit; none where a share takes what a pass needs. */
static void fill_room(const struct asked *a, struct explanation *out)
{
	const struct serving_estimate *v = serving(a);
	double copies = explain_value(a, "serving.copies");
	double whole = floor(v->kv_room_bytes / v->request_bytes);

	if (v->max_concurrency <= 0) {
		explain_say(out, "0");
	} else if (v->request_bytes > 0 && v->max_concurrency == whole * copies) {
		explain_say(out, "floor(room / each) * copies");
		add_room(a, out);
	} else {
		explain_say(out, "limit * copies");
		from(a, out, "limit", "requests of a copy", "serving.request_limit");
		from(a, out, "copies", "of the attention, in all engines",
		     "serving.copies");
	}
}

static void in_flight(const struct asked *a, struct explanation *out)
{
	inside(a, out);
	from(a, out, "copies", "of the attention, in all engines", "serving.copies");
}

static const char memory_source[] = "a byte count; presets/stacks: serving";
static const char definition[] = "by definition";

const struct explain_row explain_serving_memory[] = {
	{ "flops_per_token", "Model FLOPs of a prompt token",
	  "2 * (active - table) + scores",
	  "Forward only, without the embedding table; scores over half of the prompt.",
	  "PaLM, arXiv 2204.02311, appendix B, a third of training's",
	  .terms = TERMS(
		  { "active", "parameters that a token uses", "active_parameters" },
		  { "table", "embeddings that only look up", "model.table" },
		  { "scores", "of attention, and scans", "serving.score_flops" }) },
	{ "weights_bytes", "Weights", NULL,
	  "Dense matrices are divided by TP and PP, experts by EP x ETP; the "
	  "projections to MLA's latents are whole on every rank; spare copies, "
	  "MTP layers and a draft model count. Embeddings and norms stay in 16 "
	  "bits, as does what the published checkpoint keeps so.",
	  memory_source, .fill = fill_weights },
	{ "activations_bytes", "Activations",
	  "budget * hidden * 2 * (min(4, copies) + (copies - min(4, copies)) / TP)",
	  "Of the largest pass: as many tokens as the budget allows.", memory_source,
	  .terms = TERMS({ "budget", "tokens of a pass", "serving.budget_tokens" },
			 { "copies", "hidden-wide tensors per token, of the stack",
			   "stack.serving_activation_copies" },
			 { "hidden", "width", "model.hidden" },
			 { "TP", "ranks that split all but four of them", "tp" }) },
	{ "buffers_bytes", "Buffers",
	  "max(0, rows * vocab * if(b > 0, b, 4) + budget * hidden * 2 - A) + "
	  "if(TP > 1, kept, 0) * ceil(L / PP) * budget * hidden * 2",
	  "Logits of every request that a pass may sample, on every rank, besides "
	  "the hidden states; they reuse the memory of the layers. Also what "
	  "all-reduces of old releases held until a pass was over.",
	  memory_source,
	  .terms =
		  TERMS({ "rows", "that a pass may sample", "serving.sampled_rows" },
			{ "vocab", "entries, padded", "serving.padded_vocab" },
			{ "b", "bytes a logit at the peak of sampling, 0 = 4",
			  "stack.serving_logit_bytes" },
			{ "budget", "tokens of a pass", "serving.budget_tokens" },
			{ "hidden", "width", "model.hidden" },
			{ "A", "activations, free again by then", "activations_bytes" },
			{ "kept", "all-reduces of a layer that stay until a pass ends",
			  "stack.serving_kept_reduces" },
			{ "L", "layers", "model.layers" }, { "PP", "stages", "pp" },
			{ "TP", "ranks of a layer", "tp" }) },
	{ "framework_bytes", "Framework", "context + c * groups",
	  "What the driver, libraries, captured graphs and communicators take.",
	  memory_source,
	  .terms = TERMS(
		  { "context", "libraries and graphs, of the stack",
		    "stack.serving_other_bytes" },
		  { "c", "bytes of a communicator", "stack.communicator_bytes" },
		  { "groups", "communicators of a rank", "serving.communicators" }) },
	{ "kv_bytes", "KV cache of a GPU", NULL,
	  "Requests are on average half way through their output; stacks that "
	  "reserve count all of it. Heads that TP can't split are copied; pages "
	  "are whole; attention windows cut; states of SSM layers have a fixed "
	  "size.",
	  "PagedAttention, arXiv 2309.06180, section 3", .fill = cache_terms },
	{ "kv_bytes_per_token", "KV cache of a token", NULL,
	  "Of one copy, however many ranks repeat it; mean over a request's "
	  "context where windows cut it.",
	  "GQA, arXiv 2305.13245; DeepSeek-V2, arXiv 2405.04434, table 1",
	  .fill = token_cache },
	{ "kv_tokens", "Tokens that all caches hold", NULL,
	  "For requests of this length; a cached prefix is held once. The cache is "
	  "capacity * share - (held - context) with vLLM, (capacity - F) * share - W "
	  "with SGLang, (capacity - held) * share with others.",
	  memory_source, .fill = token_terms },
	{ "host_tokens", "Tokens that host memory holds", NULL,
	  "Behind the caches of all GPUs, for requests of this length.", memory_source,
	  .fill = on_host },
	{ "headroom_bytes", "Headroom", "max(0, capacity - total)",
	  "Room for more requests, or longer ones.", definition,
	  .terms = TERMS({ "capacity", "that a framework can use", "capacity_bytes" },
			 { "total", "held", "total_bytes" }) },
	{ "max_concurrency", "Requests that there is room for", NULL,
	  "A request counts with its prompt and half of its output, or all of it where "
	  "the stack reserves.",
	  "PagedAttention, arXiv 2309.06180, section 4.3", .fill = fill_room },
	{ "total_bytes", "Memory of the fullest GPU", "W + A + B + F + KV",
	  "With the cache of the running requests, not all that an engine "
	  "reserves for it.",
	  "the parts; each has its own explanation",
	  .terms = TERMS({ "W", "weights", "weights_bytes" },
			 { "A", "activations", "activations_bytes" },
			 { "B", "buffers", "buffers_bytes" },
			 { "KV", "cache of the requests that run", "kv_bytes" },
			 { "F", "framework", "framework_bytes" }) },
	{ "allocated_bytes", "Allocated", "W + A + B + KV",
	  "The total without framework.", "torch.cuda.max_memory_allocated",
	  .terms = TERMS({ "W", "weights", "weights_bytes" },
			 { "A", "activations", "activations_bytes" },
			 { "B", "buffers", "buffers_bytes" },
			 { "KV", "cache of the requests that run", "kv_bytes" }) },
	{ "reserved_bytes", "Reserved", "W + A + B + KV",
	  "A server allocates its memory once, so there is no fragmentation.",
	  "torch.cuda.max_memory_reserved",
	  .terms = TERMS({ "W", "weights", "weights_bytes" },
			 { "A", "activations", "activations_bytes" },
			 { "B", "buffers", "buffers_bytes" },
			 { "KV", "cache of the requests that run", "kv_bytes" }) },
	{ "in_flight", "Requests in a copy of the attention", "c / copies",
	  "Dealt out evenly.", definition, .fill = in_flight },
	{ "parameters", "Parameters of a rank", "P + p",
	  "Large and small matrices, spare experts, and MTP layers where they "
	  "draft.",
	  memory_source,
	  .terms = TERMS(
		  { "P", "elements of quantised matrices", "serving.large_parameters" },
		  { "p",
		    "of embeddings, norms, routers, adapters, what is not quantised",
		    "serving.small_parameters" }) },
	{ "layers", "Layers of a stage", "ceil(L / PP)", "The fullest stage's.",
	  definition,
	  .terms = TERMS({ "L", "layers", "model.layers" }, { "PP", "stages", "pp" }) },
	{ 0 },
};

const struct explain_row explain_serving_dimensions[] = {
	{ "bytes", "Bytes sent per GPU and decode pass", NULL,
	  "Counted as sent by the chosen algorithm, in the format that travels.",
	  EXPLAIN_SENT_SOURCE, .fill = explain_sent },
	EXPLAIN_NETWORK_ROW,
	EXPLAIN_PAYLOAD_ROW,
	{ "seconds", "Time of these collectives", NULL,
	  "Calls one after the other, each by the quickest of NCCL's algorithms and the "
	  "server's own kernels, where its stack has any.",
	  EXPLAIN_LINK_SOURCE, .fill = explain_seconds },
	{ "exposed_seconds", "Exposed time, not hidden by computation", NULL,
	  "A decode pass has nothing to hide them behind, unless two halves of the "
	  "batch take turns (EP overlap).",
	  "two batches in turns: DeepSeek-V3, arXiv 2412.19437, section 3.4",
	  .fill = explain_unhidden },
	{ 0 },
};
