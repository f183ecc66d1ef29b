/* work.c - see work.h. */
#include "engine/serve/work.h"

#include <math.h>

#include "engine/serve/host.h"
#include "engine/serve/serve.h"

double server_acceptance(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	const struct draft_prior *usual = &s->cluster.accuracy.drafts;

	if (v->acceptance > 0)
		return v->acceptance;
	return v->speculative == SPECULATIVE_MTP ? usual->mtp : usual->model;
}

double server_reuse(const struct scenario *s, int64_t i)
{
	int64_t trained = s->model.mtp_layers > 1 ? s->model.mtp_layers : 1;

	if (s->plan.serving.speculative != SPECULATIVE_MTP || i <= trained)
		return 1;
	return pow(s->cluster.accuracy.drafts.reuse, (double)(i - trained));
}

/* Leviathan et al. 2023 (arXiv 2211.17192), section 3.1: a pass gives its own token and
 * each drafted one that holds, as those before it do. With one acceptance a for all g
 * that is equation 1, (1 - a^(g+1)) / (1 - a). */
static void speculate(const struct serving_plan *v, struct work *w)
{
	double holds = 1, a = server_acceptance(w->s);

	w->tokens_each = w->accepted = 1;
	w->draft_share = 0;
	if (v->speculative == SPECULATIVE_OFF)
		return;
	for (int64_t i = 1; i <= v->draft_tokens; i++) {
		holds *= a * server_reuse(w->s, i);
		w->accepted += holds;
	}
	w->tokens_each += (double)v->draft_tokens;
	w->draft_share = (double)v->draft_tokens * v->draft_cost;
}

void work_of(const struct scenario *s, struct work *w)
{
	const struct serving_plan *v = &s->plan.serving;

	w->s = s;
	w->closed = w->begins = v->request_rate <= 0;
	w->copies = 0;
	w->cached = server_cached_tokens(s) + server_reloaded_tokens(s);
	w->prompt = fmax(1, (double)v->prompt_len - w->cached);
	w->output = fmax(1, (double)v->output_len);
	speculate(v, w);
}

double work_spread(const struct work *w)
{
	const struct serving_plan *v = &w->s->plan.serving;

	/* of a uniform distribution, half its width over the root of 3 */
	return v->length_shape == LENGTH_LOGNORMAL ? v->length_spread
						   : v->length_spread / sqrt(3);
}

/* One less half of how far the two are apart, which is Gini's coefficient: w / 3 of a
 * uniform distribution from 1 - w to 1 + w, erf(sigma / 2) of a lognormal one. */
double work_overlap(const struct work *w)
{
	const struct serving_plan *v = &w->s->plan.serving;

	if (v->length_shape != LENGTH_LOGNORMAL)
		return 1 - v->length_spread / 3;
	return 1 - erf(sqrt(log1p(v->length_spread * v->length_spread)) / 2);
}

double work_bunching(const struct work *w)
{
	double served = work_spread(w) * work_spread(w);

	return (w->s->plan.serving.arrival_scv + served) / (1 + served);
}

double work_held(const struct work *w, const struct server *server, double requests,
		 double passes)
{
	const struct serving_plan *v = &w->s->plan.serving;
	double dp = server->context.shape.dp;
	double rate = requests / fmax(1, passes); /* of arrivals, in a pass */
	double filled = (WORK_FILLED * server->budget_tokens - requests) / w->prompt;
	double looks = ((double)v->receive_interval - 1) / 2, window;

	/* copies of the attention wait until each has a prompt */
	if (dp > 1) {
		rate *= dp;
		filled = dp;
	}
	window = fmin((double)v->batch_wait, fmax(0, filled - 1) / rate);
	/* who opens a window waits all of it, who comes later the rest, half of it in
	 * the mean */
	return looks + (window + rate * window * window / 2) / (1 + rate * window);
}

bool work_mixes(const struct work *w)
{
	return w->s->stack.serving.mixes && w->s->plan.serving.chunked_prefill;
}

/* Requests in a micro-batch of a pipeline, where so many run: whole ones. */
static double beside(const struct server *server, double requests)
{
	return fmin(requests, fmax(1, requests / server->context.shape.pp));
}

static void batch_at(const struct work *w, const struct server *server,
		     const struct queue_pass *p, struct batch *b)
{
	double tokens = p->prompt_tokens;

	*b = (struct batch){
		.requests = beside(server, p->requests),
		.tokens_each = w->tokens_each,
		.context = p->context,
		.prompt_tokens = tokens,
		.prompt_context = p->prompt_context,
		.prompt_requests = tokens > 0 ? fmax(1, tokens / w->prompt) : 0,
		.captured = tokens <= 0,
		.copies = tokens > 0 ? w->copies : 0,
	};
}

static struct timed_pass *find_timed(struct timed_passes *timed,
				     const struct queue_pass *p, double copies)
{
	struct timed_pass *pass = timed->of;

	for (int i = 0; i < timed->count; i++, pass++)
		if (pass->requests == p->requests && pass->tokens == p->prompt_tokens &&
		    pass->depth == p->prompt_context && pass->copies == copies)
			return pass;
	return NULL;
}

static struct timed_pass *next_timed(struct timed_passes *timed)
{
	int at = timed->next;

	timed->next = (at + 1) % MAX_TIMED;
	timed->count += timed->count < MAX_TIMED;
	return &timed->of[at];
}

static const struct timed_pass *
timed_at(const struct work *w, const struct server *server, const struct queue_pass *p)
{
	double copies = p->prompt_tokens > 0 ? w->copies : 0;
	struct timed_pass *timed = find_timed(server->timed, p, copies);
	struct batch b;
	struct pass pass;

	if (timed)
		return timed;
	batch_at(w, server, p, &b);
	serve_pass(&server->context, &b, false, &pass);
	timed = next_timed(server->timed);
	*timed = (struct timed_pass){ p->requests,       p->prompt_tokens,
				      p->prompt_context, copies,
				      pass.seconds,      pass.stage_seconds,
				      pass.network_bytes };
	return timed;
}

/* Contexts are those of the mean request. */
static struct queue_pass in_the_mean(const struct work *w, double requests,
				     double tokens)
{
	return (struct queue_pass){ .requests = requests,
				    .context = server_mean_context(w->s),
				    .prompt_tokens = tokens,
				    .prompt_context = w->cached + w->prompt / 2 };
}

void work_batch(const struct work *w, const struct server *server, double requests,
		double tokens, struct batch *b)
{
	struct queue_pass p = in_the_mean(w, requests, tokens);

	batch_at(w, server, &p, b);
}

const struct timed_pass *work_timed(const struct work *w, const struct server *server,
				    double requests, double tokens)
{
	struct queue_pass p = in_the_mean(w, requests, tokens);

	return timed_at(w, server, &p);
}

struct timing work_pass(const struct work *w, const struct server *server,
			double requests, double tokens)
{
	const struct timed_pass *timed = work_timed(w, server, requests, tokens);

	return (struct timing){ timed->seconds, timed->stage_seconds };
}

struct timing work_pass_behind(const struct work *w, const struct server *server,
			       double requests, double tokens, double depth)
{
	struct queue_pass p = in_the_mean(w, requests, tokens);
	const struct timed_pass *timed;

	p.prompt_context = depth;
	timed = timed_at(w, server, &p);
	return (struct timing){ timed->seconds, timed->stage_seconds };
}

struct timing work_pass_at(const struct work *w, const struct server *server,
			   const struct queue_pass *at)
{
	struct batch b;
	struct pass pass;

	batch_at(w, server, at, &b);
	serve_pass(&server->context, &b, false, &pass);
	return (struct timing){ pass.seconds, pass.stage_seconds };
}

struct queue_pass work_part(const struct work *w, const struct server *server,
			    double before, double tokens)
{
	struct queue_pass p = in_the_mean(w, 0, tokens);

	if (server->context.shape.pp > 1)
		p.prompt_context = w->cached + before + tokens / 2;
	return p;
}

/* A full pass of so many prompts, at the mean depth of all of them; or the last. */
static struct timing pass_of_prompts(const struct work *w, const struct server *server,
				     double together, double before, double full,
				     double tokens)
{
	struct queue_pass p = in_the_mean(w, 0, tokens);
	const struct timed_pass *timed;

	if (together == 1)
		p.prompt_context = work_part(w, server, before, full).prompt_context;
	timed = timed_at(w, server, &p);
	return (struct timing){ timed->seconds, timed->stage_seconds };
}

/* Prompts in passes of at most the budget. A pipeline takes the next one when its
 * slowest stage is free: `pass` is until all have left it, as none overtakes another,
 * `stage` how long they keep others out. */
struct timing work_prompts(const struct work *w, const struct server *server,
			   double together)
{
	double tokens = w->prompt * together, budget = server->budget_tokens;
	double whole = floor(tokens / budget), full = whole * budget, behind = 0;
	struct timing all = { 0, 0 }, one;

	if (whole > 0) {
		one = pass_of_prompts(w, server, together, 0, full, budget);
		all.stage = whole * one.stage;
		behind = one.pass - one.stage;
	}
	if (tokens > full) {
		one = pass_of_prompts(w, server, together, full, tokens - full,
				      tokens - full);
		all.stage += one.stage;
		behind = fmax(behind, one.pass - one.stage);
	}
	/* received by a process of its own: no stage waits for that */
	all.pass = all.stage + behind + w->s->stack.serving.prompt_seconds;
	return all;
}

double work_step(const struct work *w, const struct server *server, double requests,
		 struct timing pass)
{
	double turns = fmin(server->context.shape.pp, fmax(1, requests));

	return fmax(pass.pass, turns * pass.stage) * (1 + w->draft_share);
}

double work_round(const struct server *server, struct timing with, double carrying,
		  struct timing without)
{
	double others = fmax(0, server->context.shape.pp - carrying);

	return fmax(with.pass, carrying * with.stage + others * without.stage);
}

/* Bytes of the longest way of a prompt's cache between two engines: what one rank that
 * decodes takes in, or, where fewer ranks send than take, its share of all of it. Each
 * rank of TP that decodes over latents holds all of them. */
double work_travelling_bytes(const struct work *w, const struct server *decode,
			     const struct server *prefill)
{
	const struct engine_shape *to = &decode->context.shape;
	const struct engine_shape *from = &prefill->context.shape;
	double tokens = (double)w->s->plan.serving.prompt_len;
	double taken = server_request_bytes(&decode->context, tokens);
	double takers = to->tp * to->pp, senders = from->tp * from->pp;

	return taken * fmax(1, takers / senders);
}

double work_nic_rate(const struct scenario *s)
{
	const struct link *net = &s->cluster.link[LINK_NETWORK];

	return net->bytes_per_second * (net->efficiency > 0 ? net->efficiency : 1);
}

double work_transfer(const struct work *w, const struct server *decode,
		     const struct server *prefill)
{
	double rate = work_nic_rate(w->s);

	if (rate <= 0)
		return 0;
	return work_travelling_bytes(w, decode, prefill) / rate +
	       w->s->cluster.link[LINK_NETWORK].latency_seconds;
}

/* Seconds at a server that takes `service` for each of n customers, who come back
 * `away` after they left it: Schweitzer's closed form, the root of
 * r = service (1 + (n - 1) r / (r + away)). Between service and n service. */
double work_stay(double n, double service, double away)
{
	double b = n * service - away;

	return (b + sqrt(b * b + 4 * service * away)) / 2;
}

double work_within_capacity(double stay, double n, double service, double away)
{
	return fmax(stay, n * service - away);
}

double work_cycle(const struct work *w, const struct point *p)
{
	return p->ttft_seconds + (w->output - 1) * p->tpot_seconds;
}
