/* serving_plan.c - what plan and stack let into a server: requests, tokens of a pass,
 * drafts, room. */
#include <math.h>
#include <stddef.h>

#include "engine/explain/server.h"
#include "engine/serve/serve.h"

VALUE(gain, serving(a)->gain)
VALUE(budget, serving(a)->budget_tokens)
VALUE(kv_room, serving(a)->kv_room_bytes)
VALUE(kv_share, serving(a)->kv_share_bytes)
VALUE(admitted, serving(a)->admitted_tokens)

VALUE(limit, server_request_limit(a->scenario))
VALUE(usual_requests, server_usual_requests(a->scenario))
VALUE(rows, fmin(limit(a) > 0 ? limit(a) : 256, budget(a)))

static void admitted_terms(const struct asked *a, struct explanation *out)
{
	bool all = a->scenario->stack.serving.reserves ||
		   plan(a)->batching == BATCHING_STATIC;

	explain_say(out, all ? "prompt + output" : "prompt + output / 2");
	from(a, out, "prompt", "tokens of a prompt", "prompt");
	from(a, out, "output", "tokens that a request gets", "output");
	if (plan(a)->prefix_cache) {
		explain_say(out, " - floor(shared * prompt)");
		from(a, out, "shared", "share that a cache holds once",
		     "shared_prefix");
	}
}

static void kv_share_terms(const struct asked *a, struct explanation *out)
{
	enum share_meaning of = a->scenario->stack.serving.share_of;

	explain_say(out, of == SHARE_OF_GPU   ? "C * f - (W + A + B + F - context)"
			 : of == SHARE_STATIC ? "(C - F) * f - W"
					      : "(C - W - A - B - F) * f");
	from(a, out, "C", "that a framework can use", "capacity_bytes");
	from(a, out, "f", "memory share", "serving.memory_share");
	from(a, out, "W", "weights", "weights_bytes");
	from(a, out, "F", "framework", "framework_bytes");
	if (of == SHARE_STATIC)
		return;
	from(a, out, "A", "activations", "activations_bytes");
	from(a, out, "B", "buffers", "buffers_bytes");
	if (of == SHARE_OF_GPU)
		from(a, out, "context", "that is not counted", "stack.context_bytes");
}

VALUE(taken_share, server_memory_share(a->scenario))

static void taken_share_terms(const struct asked *a, struct explanation *out)
{
	struct scenario usual = *a->scenario;

	usual.plan.serving.memory_share = 0;
	explain_say(out, "if(asked > 0, asked, %.17g)", server_memory_share(&usual));
	from(a, out, "asked", "by the plan, 0 = by itself", "memory_share");
}

VALUE(acceptance, server_acceptance(a->scenario))

static void acceptance_terms(const struct asked *a, struct explanation *out)
{
	struct scenario usual = *a->scenario;

	usual.plan.serving.acceptance = 0;
	explain_say(out, "if(asked > 0, asked, %.17g)", server_acceptance(&usual));
	from(a, out, "asked", "by the plan, 0 = as usual", "acceptance");
}

/* Behind so many tokens of a layer that was trained for one nothing holds that shows.
 */
enum { SHOWN_DRAFTS = 20 };

static void gain_terms(const struct asked *a, struct explanation *out)
{
	int64_t drafts = plan(a)->draft_tokens;

	if (plan(a)->speculative == SPECULATIVE_OFF || drafts < 1) {
		explain_say(out, "1");
		return;
	}
	from(a, out, "a", "acceptance of the first", "serving.acceptance");
	if (plan(a)->speculative != SPECULATIVE_MTP) {
		explain_say(out,
			    "if(a < 1, (1 - exp((g + 1) * ln(a))) / (1 - a), g + 1)");
		from(a, out, "g", "drafted tokens", "draft_tokens");
		return;
	}
	drafts = drafts < SHOWN_DRAFTS ? drafts : SHOWN_DRAFTS;
	for (int64_t i = 1; i <= drafts; i++)
		explain_say(out, "1 + a * %.9g%s", server_reuse(a->scenario, i),
			    i < drafts ? " * (" : "");
	for (int64_t i = 1; i < drafts; i++)
		explain_say(out, ")");
}

/* By the stack, which may have another default on small GPUs. */
static void usual_terms(const struct asked *a, struct explanation *out,
			int64_t of_small, double used, const char *small_key,
			const char *key)
{
	bool is_small = of_small > 0 && used == (double)of_small;

	explain_say(out, "n");
	from(a, out, "n", "by the stack", is_small ? small_key : key);
}

static void usual_request_terms(const struct asked *a, struct explanation *out)
{
	usual_terms(a, out, a->scenario->stack.serving.small_requests,
		    usual_requests(a), "stack.serving_small_requests",
		    "stack.serving_max_requests");
}

VALUE(usual_tokens, server_usual_tokens(a->scenario))

static void usual_token_terms(const struct asked *a, struct explanation *out)
{
	const struct serving_stack *stack = &a->scenario->stack.serving;
	double used = usual_tokens(a);
	bool is_large = used == (double)stack->large_batched_tokens;

	usual_terms(a, out, stack->small_batched_tokens, used,
		    "stack.serving_small_batched_tokens",
		    is_large ? "stack.serving_large_batched_tokens"
			     : "stack.serving_max_batched_tokens");
}

VALUE(prefill_pool, (double)scenario_prefill_gpus(a->scenario))

static void pool_terms(const struct asked *a, struct explanation *out)
{
	if (!plan(a)->disaggregated) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "if(pool > 0, pool, floor(n / 2))");
	from(a, out, "pool", "as asked for", "prefill_gpus");
	from(a, out, "n", "GPUs", "gpus");
}

#undef NODE_SOURCE
#define NODE_SOURCE "the stack's defaults: presets/stacks, serving"

static const char held[] = "Of one rank of the fullest stage.";

const struct explain_node explain_serving_plan[] = {
	NODE("serving.acceptance", "Share of first drafted tokens that hold",
	     FORM_PERCENT, acceptance, acceptance_terms, NULL,
	     "Where nobody says, what such drafts have been measured at."),
	NODE("serving.memory_share", "Share that the server takes", FORM_PERCENT,
	     taken_share, taken_share_terms, NULL,
	     "By itself SGLang leaves 512 MiB, 1.5 MiB per token of a prompt's part, "
	     "2 MiB per request that it captures, 128 MiB per rank, more with DP "
	     "attention and drafts, and of more than 60 GiB at least 10."),
	NODE("serving.gain", "Tokens that a request gains per pass", FORM_REAL, gain,
	     gain_terms, NULL,
	     "1 + a + a^2 + ... + a^g with g drafted tokens of acceptance a (arXiv "
	     "2211.17192, equation 1); behind the tokens that an MTP layer was trained "
	     "for, each factor is 0.855 of the one before. 1 without drafts."),
	NODE("serving.prefill_pool", "GPUs that only prefill", FORM_COUNT, prefill_pool,
	     pool_terms, NULL, "By the plan."),
	NODE_OF("serving.budget_tokens", "Tokens of a pass", FORM_REAL, budget,
		"max(if(plan > 0, plan, stack), if(cut != 0, if(if(plan > 0, plan, "
		"stack) > 0, 0, prompt), prompt))",
		"By the plan, else by the stack; a prompt that is not cut passes whole.",
		{ "plan", "as asked for, 0 = by the stack", "max_batched_tokens" },
		{ "stack", "of the stack on this GPU", "serving.usual_tokens" },
		{ "cut", "whether prompts may pass in parts", "chunked_prefill" },
		{ "prompt", "tokens of a prompt", "prompt" }),
	NODE("serving.usual_requests", "Requests of a copy where nobody says",
	     FORM_COUNT, usual_requests, usual_request_terms, NULL,
	     "Of the stack; some have other defaults on small GPUs."),
	NODE("serving.usual_tokens", "Tokens of a pass where nobody says", FORM_COUNT,
	     usual_tokens, usual_token_terms, NULL,
	     "Of the stack; some have other defaults on small GPUs."),
	NODE_OF("serving.request_limit", "Requests of a copy at most", FORM_COUNT,
		limit, "if(plan > 0, plan, stack)", "0 = no limit.",
		{ "plan", "as asked for, 0 = by the stack", "max_requests" },
		{ "stack", "of the stack on this GPU", "serving.usual_requests" }),
	NODE_OF("serving.sampled_rows", "Rows that a pass may sample", FORM_COUNT, rows,
		"min(if(limit > 0, limit, 256), budget)", held,
		{ "limit", "requests of a copy, 0 = none", "serving.request_limit" },
		{ "budget", "tokens of a pass", "serving.budget_tokens" }),
	NODE_OF("serving.kv_room_bytes", "Room for requests", FORM_BYTES, kv_room,
		"share - prefix", held,
		{ "share", "of the cache on a GPU", "serving.kv_share_bytes" },
		{ "prefix", "what all requests share", "serving.prefix_bytes" }),
	NODE("serving.kv_share_bytes", "Cache by the memory share", FORM_BYTES,
	     kv_share, kv_share_terms, NULL, "As the stack means it."),
	NODE("serving.admitted_tokens", "Tokens of a request that is let in", FORM_REAL,
	     admitted, admitted_terms, NULL,
	     "Half through its output in the mean; all of it where the stack reserves."),
	{ .row.key = NULL },
};
