/* steady.c - a server in its steady state: what a person waits, what comes out.
 *
 * Continuous batching, with c requests decoding in a copy of the attention: while each
 * of them makes its `output` tokens, c prompts have to pass. Where the stack mixes
 * them, a pass carries up to max_batched_tokens prompt tokens beside the c decoding
 * ones; where it does not, prompts run alone and everyone waits. Either way
 *
 *   tpot = ((output - n) decode + n mixed) / output,  n = (c - 1) prompt / carried
 *
 * which is t_decode + (c - 1) t_prefill / output of the measured regularities
 * (inference-notes of ai-dynamo/aiconfigurator's runs) when prompts fill their passes.
 * TTFT adds the queue of an M/D/1 server (DistServe, arXiv 2401.09670, section 3.1):
 * t rho / (2 (1 - rho)).
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

/* A batch of `requests` decoding beside `tokens` of prompts of which `prompts` end. */
static void batch_of(const struct work *w, const struct server *server, double requests,
		     double tokens, struct batch *b)
{
	double pp = server->context.shape.pp;

	*b = (struct batch){
		.requests = requests / pp,
		.tokens_each = w->tokens_each,
		.context = server_mean_context(w->s),
		.prompt_tokens = tokens,
		.prompt_context = w->cached + w->prompt / 2,
		.prompt_requests = tokens > 0 ? fmax(1, tokens / w->prompt) : 0,
		.captured = tokens <= 0,
	};
}

static double pass_seconds(const struct work *w, const struct server *server,
			   double requests, double tokens, double *stage)
{
	struct batch b;
	struct pass pass;

	batch_of(w, server, requests, tokens, &b);
	serve_pass(&server->context, &b, false, &pass);
	if (stage)
		*stage = pass.stage_seconds;
	return pass.seconds;
}

/* Prompts in passes of at most the budget; a pipeline overlaps all but the first. */
static double prompts_seconds(const struct work *w, const struct server *server,
			      double together)
{
	double tokens = w->prompt * together, budget = server->budget_tokens;
	double whole = floor(tokens / budget), rest = tokens - whole * budget;
	double stage = 0, seconds = 0, pass;

	if (whole > 0) {
		pass = pass_seconds(w, server, 0, budget, &stage);
		seconds = pass +
			  (whole - 1) * (server->context.shape.pp > 1 ? stage : pass);
	}
	if (rest > 0) {
		pass = pass_seconds(w, server, 0, rest, &stage);
		seconds += whole > 0 && server->context.shape.pp > 1 ? stage : pass;
	}
	return seconds + w->s->stack.serving.prompt_seconds;
}

static double queue(double seconds, double busy)
{
	busy = fmin(busy, 0.98);
	return seconds * busy / (2 * (1 - busy));
}

/* All prompts first, then all outputs together. */
static void static_batch(const struct work *w, const struct server *server, double c,
			 struct point *out)
{
	double all = server->context.shape.dp * server->engines;

	out->ttft_seconds = prompts_seconds(w, server, c);
	out->tpot_seconds = out->decode_seconds / w->accepted;
	out->mixed_seconds = out->decode_seconds;
	out->requests_per_second =
		c * all / (out->ttft_seconds + (w->output - 1) * out->tpot_seconds);
	out->prefill_share = out->ttft_seconds /
			     (out->ttft_seconds + (w->output - 1) * out->tpot_seconds);
}

static bool mixes(const struct work *w)
{
	return w->s->stack.serving.mixes && w->s->plan.serving.chunked_prefill;
}

/* Prompt tokens of a pass that carries them, the requests that decode in it, and how
 * many such passes there are in a round of `steps` decode passes. */
static double carried_tokens(const struct work *w, const struct server *server,
			     double c, double steps, double *requests, double *passes)
{
	double tokens = (c - 1) * w->prompt;
	double each = fmin(server->budget_tokens, fmax(w->prompt, tokens / steps));

	*passes = tokens / each;
	*requests = mixes(w) ? fmin(c, c * steps / fmax(*passes, 1)) : 0;
	return each;
}

/* Passes of a round of `steps` decode passes that carry prompts, and what each takes.
 */
static void carried(const struct work *w, const struct server *server, double c,
		    double steps, double *passes, double *seconds)
{
	double requests, each = carried_tokens(w, server, c, steps, &requests, passes);

	*seconds = pass_seconds(w, server, requests, each, NULL);
	if (server->context.shape.pp > 1)
		*seconds /= server->context.shape.pp;
}

static void continuous(const struct work *w, const struct server *server, double c,
		       struct point *out)
{
	double all = server->context.shape.dp * server->engines;
	double steps = w->output / w->accepted, passes = 0, each = 0, round, busy;

	out->mixed_seconds = out->decode_seconds;
	if (c > 1)
		carried(w, server, c, steps, &passes, &each);
	if (c > 1)
		out->mixed_seconds = mixes(w) ? each : out->decode_seconds + each;
	round = mixes(w) ? fmax(0, steps - passes) * out->decode_seconds + passes * each
			 : steps * out->decode_seconds + passes * each;
	out->tpot_seconds = round / w->output;
	busy = round > 0 ? passes * each / round : 0;
	out->prefill_share = busy;
	out->ttft_seconds = out->prefill_seconds + queue(out->prefill_seconds, busy);
	if (c > 1)
		out->ttft_seconds += out->decode_seconds / 2;
	out->requests_per_second =
		c * all / (out->prefill_seconds + round * (w->output - 1) / w->output);
}

/* Prompts run elsewhere and their cache travels; decoding is never disturbed. */
static void apart(const struct work *w, const struct server *decode,
		  const struct server *prefill, double c, struct point *out)
{
	const struct scenario *s = w->s;
	double all = decode->context.shape.dp * decode->engines;
	double pools = prefill->engines * prefill->context.shape.dp;
	double bytes = server_request_bytes(&prefill->context,
					    (double)s->plan.serving.prompt_len) *
		       prefill->context.shape.pp;
	const struct link *net = &s->cluster.link[LINK_NETWORK];
	double rate =
		net->bytes_per_second * (net->efficiency > 0 ? net->efficiency : 1);
	double transfer = rate > 0 ? bytes / rate + net->latency_seconds : 0;
	double most, busy;

	out->tpot_seconds = out->decode_seconds / w->accepted;
	out->mixed_seconds = out->decode_seconds;
	out->requests_per_second = c * all / (w->output * out->tpot_seconds);
	/* the slower pool sets the rate */
	most = out->prefill_seconds > 0 ? 0.98 * pools / out->prefill_seconds
					: INFINITY;
	out->requests_per_second = fmin(out->requests_per_second, most);
	busy = out->requests_per_second * out->prefill_seconds / pools;
	out->prefill_share = busy;
	out->ttft_seconds =
		out->prefill_seconds + queue(out->prefill_seconds, busy) + transfer;
}

void steady_point(const struct server *decode, const struct server *prefill,
		  double requests, struct point *out)
{
	struct work w;

	work_of(decode->context.scenario, &w);
	*out = (struct point){ .requests = requests };
	out->decode_seconds =
		pass_seconds(&w, decode, requests, 0, NULL) * (1 + w.draft_share);
	out->prefill_seconds = prompts_seconds(&w, prefill, 1);
	if (prefill != decode)
		apart(&w, decode, prefill, requests, out);
	else if (w.s->plan.serving.batching == BATCHING_STATIC)
		static_batch(&w, decode, requests, out);
	else
		continuous(&w, decode, requests, out);
	out->tokens_per_second = out->requests_per_second * w.output;
}

double steady_mixed(const struct server *server, double requests, struct batch *out)
{
	struct work w;
	double passes, beside, tokens;

	work_of(server->context.scenario, &w);
	if (requests <= 1 || w.s->plan.serving.batching == BATCHING_STATIC)
		return 0;
	tokens = carried_tokens(&w, server, requests, w.output / w.accepted, &beside,
				&passes);
	batch_of(&w, server, beside, tokens, out);
	return fmin(1, passes * w.accepted / w.output);
}

void steady_batch(const struct server *server, double requests, double tokens,
		  struct batch *out)
{
	struct work w;

	work_of(server->context.scenario, &w);
	batch_of(&w, server, requests,
		 fmin(tokens, fmin(w.prompt, server->budget_tokens)), out);
}
