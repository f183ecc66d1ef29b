/* steady.c - a server in its steady state: what a person waits, what comes out.
 *
 * Continuous batching is a closed loop: c requests in a copy of the attention, each
 * followed by the next. A request needs its own prompt, `steps` decode passes, and what
 * the prompts of the c - 1 others add to the time of the server, once each:
 *
 *   cycle = prefill + steps step + (c - 1) added,     rate = c / cycle (Little's law)
 *
 * A token passes every stage of a pipeline before the next one starts, so that `step`
 * is a whole decode pass; or the time that the slowest stage needs for all
 * micro-batches where that is longer. A prompt delays everybody by what it takes of one
 * stage: where the stack mixes prompts and decoding requests, by how much longer such a
 * pass is.
 *
 * Of the others' prompts `ahead` stand before a new request and the rest interrupts its
 * decoding. By the arrival theorem of closed networks in its closed form, a request
 * finds each of the others in the queue with the share of its cycle that it spends
 * there (Schweitzer 1979; Bard 1979; Reiser and Lavenberg 1980, "Mean-Value Analysis of
 * Closed Multichain Queuing Networks", Journal of the ACM 27): nobody waits for more
 * than c - 1.
 */
#include <math.h>

#include "engine/serve/serve_parts.h"

struct work {
	const struct scenario *s;
	double prompt; /* tokens to compute of one prompt */
	double cached; /* tokens before them */
	double output;
	double tokens_each; /* of a decoding request in a pass */
	double accepted;    /* tokens that it gains by a pass */
	double draft_share; /* time of drafting over a decode pass */
};

/* Leviathan et al. 2023 (arXiv 2211.17192), equation 1: with acceptance a and g drafted
 * tokens a pass yields (1 - a^(g+1)) / (1 - a). */
static void speculate(const struct serving_plan *v, struct work *w)
{
	double g = (double)v->draft_tokens, a = fmin(v->acceptance, 0.999999);

	w->tokens_each = w->accepted = 1;
	w->draft_share = 0;
	if (v->speculative == SPECULATIVE_OFF || g < 1)
		return;
	w->tokens_each = 1 + g;
	w->accepted = (1 - pow(a, g + 1)) / (1 - a);
	w->draft_share = g * v->draft_cost;
}

static void work_of(const struct scenario *s, struct work *w)
{
	const struct serving_plan *v = &s->plan.serving;

	w->s = s;
	w->cached = server_cached_tokens(s);
	w->prompt = fmax(1, (double)v->prompt_len - w->cached);
	w->output = fmax(1, (double)v->output_len);
	speculate(v, w);
}

/* Requests in a micro-batch of a pipeline, where so many run: whole ones. */
static double beside(const struct server *server, double requests)
{
	return fmin(requests, fmax(1, requests / server->context.shape.pp));
}

/* A batch of `requests` decoding beside `tokens` of prompts of which `prompts` end. */
static void batch_of(const struct work *w, const struct server *server, double requests,
		     double tokens, struct batch *b)
{
	*b = (struct batch){
		.requests = beside(server, requests),
		.tokens_each = w->tokens_each,
		.context = server_mean_context(w->s),
		.prompt_tokens = tokens,
		.prompt_context = w->cached + w->prompt / 2,
		.prompt_requests = tokens > 0 ? fmax(1, tokens / w->prompt) : 0,
		.captured = tokens <= 0,
	};
}

/* How long a pass takes, and its slowest stage of it. */
struct timing {
	double pass, stage;
};

static struct timing time_pass(const struct work *w, const struct server *server,
			       double requests, double tokens)
{
	struct batch b;
	struct pass pass;

	batch_of(w, server, requests, tokens, &b);
	serve_pass(&server->context, &b, false, &pass);
	return (struct timing){ pass.seconds, pass.stage_seconds };
}

/* Prompts in passes of at most the budget. A pipeline takes the next one when its
 * slowest stage is free: `pass` is until the last has left it, `stage` how long they
 * keep others out. */
static struct timing time_prompts(const struct work *w, const struct server *server,
				  double together)
{
	double tokens = w->prompt * together, budget = server->budget_tokens;
	double whole = floor(tokens / budget), rest = tokens - whole * budget;
	struct timing all = { 0, 0 }, one;

	if (whole > 0) {
		one = time_pass(w, server, 0, budget);
		all.stage = whole * one.stage;
		all.pass = one.pass + (whole - 1) * one.stage;
	}
	if (rest > 0) {
		one = time_pass(w, server, 0, rest);
		all.stage += one.stage;
		all.pass += whole > 0 ? one.stage : one.pass;
	}
	all.pass += w->s->stack.serving.prompt_seconds;
	all.stage += w->s->stack.serving.prompt_seconds;
	return all;
}

/* Decoding with `requests` in a copy: a pass, and what lies between two tokens of a
 * request. */
static void decoding(const struct work *w, const struct server *server, double requests,
		     struct point *out)
{
	struct timing t = time_pass(w, server, requests, 0);
	double turns = fmin(server->context.shape.pp, fmax(1, requests));

	out->decoding = requests;
	out->decode_seconds = t.pass * (1 + w->draft_share);
	out->step_seconds = fmax(t.pass, turns * t.stage) * (1 + w->draft_share);
	out->mixed_seconds = out->decode_seconds;
	out->gain = w->accepted;
	out->tpot_seconds = out->step_seconds / w->accepted;
}

/* All prompts first, then all outputs together. */
static void static_batch(const struct work *w, const struct server *server, double c,
			 struct point *out)
{
	struct timing all = time_prompts(w, server, c);

	out->ttft_seconds = all.pass;
	out->ahead = c - 1;
	if (c > 1)
		out->added_seconds = (all.pass - out->prefill_seconds) / (c - 1);
	out->carrying_seconds = all.pass / c;
}

static bool mixes(const struct work *w)
{
	return w->s->stack.serving.mixes && w->s->plan.serving.chunked_prefill;
}

/* While a request takes its output, the prompts of the others pass once. */
struct prompts {
	double tokens;   /* of them in a pass that carries any */
	double passes;   /* such passes */
	double slots;    /* passes of all micro-batches */
	double requests; /* that decode beside them */
};

static struct prompts carried(const struct work *w, const struct server *server,
			      double c)
{
	double tokens = (c - 1) * w->prompt;
	struct prompts p;

	p.slots = w->output / w->accepted * fmin(server->context.shape.pp, fmax(1, c));
	p.tokens = fmin(server->budget_tokens, fmax(w->prompt, tokens / p.slots));
	p.passes = tokens / p.tokens;
	p.requests = mixes(w) ? fmin(c, c * p.slots / fmax(p.passes, 1)) : 0;
	return p;
}

/* What a prompt of another request adds to the time of the server. */
static void add_prompts(const struct work *w, const struct server *server, double c,
			struct point *out)
{
	struct prompts p = carried(w, server, c);
	struct timing with = time_pass(w, server, p.requests, p.tokens), without;
	double replaced = mixes(w) ? fmin(p.passes, p.slots) : 0;

	without = time_pass(w, server, c, 0);
	out->mixed_seconds = mixes(w) ? with.pass : out->decode_seconds + with.stage;
	out->carrying_seconds = p.passes * with.stage / (c - 1);
	out->added_seconds =
		fmax(0, p.passes * with.stage - replaced * without.stage) / (c - 1);
}

static void continuous(const struct work *w, const struct server *server, double c,
		       struct point *out)
{
	double steps = w->output / w->accepted, own;

	out->carrying_seconds = out->prefill_seconds;
	if (c > 1)
		add_prompts(w, server, c, out);
	/* a pass that is under way when a request comes, where others run */
	out->begin_seconds = out->decode_seconds / 2 * fmin(1, c - 1);
	own = out->prefill_seconds + out->begin_seconds +
	      steps * out->step_seconds * (w->output - 1) / w->output;
	out->ahead = (c - 1) * fmin(1, out->added_seconds / own);
	out->behind = c - 1 - out->ahead;
	out->tpot_seconds =
		(steps * out->step_seconds + out->behind * out->added_seconds) /
		w->output;
	out->ttft_seconds = out->prefill_seconds + out->begin_seconds +
			    out->ahead * out->added_seconds;
}

/* Seconds from the prefill pool to a decoding engine. */
static double transfer_seconds(const struct scenario *s, const struct server *prefill)
{
	double bytes = server_request_bytes(&prefill->context,
					    (double)s->plan.serving.prompt_len) *
		       prefill->context.shape.pp;
	const struct link *net = &s->cluster.link[LINK_NETWORK];
	double rate =
		net->bytes_per_second * (net->efficiency > 0 ? net->efficiency : 1);

	return rate > 0 ? bytes / rate + net->latency_seconds : 0;
}

/* Seconds at a server that takes `service` for each of n customers, who come back
 * `away` after they left it: Schweitzer's closed form, the root of
 * r = service (1 + (n - 1) r / (r + away)). Between service and n service. */
static double closed_loop(double n, double service, double away)
{
	double b = n * service - away;

	return (b + sqrt(b * b + 4 * service * away)) / 2;
}

/* Both pools with `requests` decoding in a copy; returns how many that would lead to.
 */
static double share_out(const struct work *w, const struct server *decode, double pools,
			double c, struct point *out)
{
	double all = decode->context.shape.dp * decode->engines;
	double service = out->carrying_seconds, n = fmax(1, c * all / pools), away;
	double output = (w->output - 1) * out->tpot_seconds, stays;

	away = out->prefill_seconds - service + out->transfer_seconds + output;
	stays = closed_loop(n, service, away);
	out->ahead = service > 0 ? stays / service - 1 : 0;
	out->ttft_seconds =
		out->prefill_seconds + out->ahead * service + out->transfer_seconds;
	return c * output / (out->ttft_seconds + output);
}

/* Prompts run elsewhere and their cache travels; decoding is never disturbed. A request
 * is before, on the way to or in the pool that decodes: all of them are somewhere. */
static void apart(const struct work *w, const struct server *decode,
		  const struct server *prefill, double c, struct point *out)
{
	double pools = prefill->engines * prefill->context.shape.dp;
	double most = c;

	out->added_seconds = out->carrying_seconds;
	out->transfer_seconds = transfer_seconds(w->s, prefill);
	/* fewer decode faster, so that fewer do: from all of them downwards */
	for (int i = 0; i < 8; i++) {
		double leads = fmax(1, share_out(w, decode, pools, c, out));

		if (most - leads < 1e-3 * most)
			break;
		most = leads;
		decoding(w, decode, most, out);
	}
	share_out(w, decode, pools, c, out);
}

void steady_point(const struct server *decode, const struct server *prefill,
		  double requests, struct point *out)
{
	double all = decode->context.shape.dp * decode->engines;
	double pools = prefill->context.shape.dp * prefill->engines;
	struct timing prompt;
	struct work w;

	work_of(decode->context.scenario, &w);
	*out = (struct point){ .requests = requests };
	decoding(&w, decode, requests, out);
	prompt = time_prompts(&w, prefill, 1);
	out->prefill_seconds = prompt.pass;
	out->carrying_seconds = prompt.stage;
	if (prefill != decode)
		apart(&w, decode, prefill, requests, out);
	else if (w.s->plan.serving.batching == BATCHING_STATIC)
		static_batch(&w, decode, requests, out);
	else
		continuous(&w, decode, requests, out);
	out->requests_per_second =
		requests * all /
		(out->ttft_seconds + (w.output - 1) * out->tpot_seconds);
	/* a prompt alone is shorter than one that rides beside others */
	out->prefill_share =
		fmin(1, out->requests_per_second * out->carrying_seconds / pools);
	out->tokens_per_second = out->requests_per_second * w.output;
}

double steady_mixed(const struct server *server, double requests, struct batch *out)
{
	struct work w;
	struct prompts p;

	work_of(server->context.scenario, &w);
	if (requests <= 1 || w.s->plan.serving.batching == BATCHING_STATIC)
		return 0;
	p = carried(&w, server, requests);
	batch_of(&w, server, p.requests, p.tokens, out);
	return fmin(1, p.passes / p.slots);
}

void steady_batch(const struct server *server, double requests, double tokens,
		  struct batch *out)
{
	struct work w;

	work_of(server->context.scenario, &w);
	batch_of(&w, server, requests,
		 fmin(tokens, fmin(w.prompt, server->budget_tokens)), out);
}
