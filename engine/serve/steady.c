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
 * than c - 1. Who comes at a rate finds all c, as chance would (Wolff 1982, "Poisson
 * Arrivals See Time Averages", Operations Research 30), and prompts are a queue of
 * their own (work_arrivals()).
 */
#include <math.h>

#include "engine/serve/host.h"
#include "engine/serve/nic.h"
#include "engine/serve/reception.h"
#include "engine/serve/waves.h"

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
		one = work_pass(w, server, 0, budget);
		all.stage = whole * one.stage;
		all.pass = one.pass + (whole - 1) * one.stage;
	}
	if (rest > 0) {
		one = work_pass(w, server, 0, rest);
		all.stage += one.stage;
		all.pass += whole > 0 ? one.stage : one.pass;
	}
	/* received by a process of its own: no stage waits for that */
	all.pass += w->s->stack.serving.prompt_seconds;
	return all;
}

/* Decoding with `requests` in a copy: a pass, and what lies between two tokens of a
 * request. */
static void decoding(const struct work *w, const struct server *server, double requests,
		     struct point *out)
{
	struct timing t = work_pass(w, server, requests, 0);

	out->decoding = requests;
	out->decode_seconds = t.pass * (1 + w->draft_share);
	out->step_seconds = work_step(w, server, requests, t);
	out->mixed_seconds = out->decode_seconds;
	out->gain = w->accepted;
	out->tpot_seconds = out->step_seconds / w->accepted;
}

/* All prompts first, then all outputs together. */
static void static_batch(const struct work *w, const struct server *server, double c,
			 struct point *out)
{
	struct timing all = time_prompts(w, server, c);

	/* a collective may change to a faster algorithm for more */
	all.pass = fmax(all.pass, out->prefill_seconds);
	out->ttft_seconds = all.pass;
	out->ahead = c - 1;
	if (c > 1)
		out->served_seconds = (all.pass - out->prefill_seconds) / (c - 1);
	out->added_seconds = out->served_seconds;
	out->carrying_seconds = all.pass / c;
}

/* While a request takes its output, the prompts of the others pass once. */
struct prompts {
	double tokens;   /* of them in a pass that carries any */
	double passes;   /* such passes */
	double slots;    /* passes of all micro-batches */
	double requests; /* that decode beside them */
	double turns;    /* micro-batches that go around in a pipeline */
	double rounds;   /* of them all */
};

static double micro_batches(const struct server *server, double c)
{
	return fmin(server->context.shape.pp, fmax(1, c));
}

/* Whom a request finds in a copy with c, where it runs any, and `requests` in the mean.
 */
static double others(const struct work *w, double c, double requests)
{
	return w->s->plan.serving.request_rate > 0 ? requests : c - 1;
}

static struct prompts carried(const struct work *w, const struct server *server,
			      double c, double n)
{
	double tokens = n * w->prompt, steps = w->output / w->accepted;
	struct prompts p = { .turns = micro_batches(server, c) };

	p.slots = steps * p.turns;
	p.tokens = fmin(server->budget_tokens, fmax(w->prompt, tokens / p.slots));
	p.passes = tokens / p.tokens;
	p.requests = work_mixes(w) ? fmin(c, c * p.slots / fmax(p.passes, 1)) : 0;
	p.rounds = work_mixes(w) ? fmax(steps, p.passes / p.turns)
				 : steps + p.passes / p.turns;
	return p;
}

/* What a prompt of another request adds to the time of the server. */
static void add_prompts(const struct work *w, const struct server *server, double c,
			double n, struct point *out)
{
	struct prompts p = carried(w, server, c, n);
	struct timing with = work_pass(w, server, p.requests, p.tokens), without;
	double steps = w->output / w->accepted, rounds, longer;
	double replaced = work_mixes(w) ? fmin(p.passes, p.slots) : 0;
	bool closed = w->s->plan.serving.request_rate <= 0;
	struct passes passes;

	without = work_pass(w, server, c, 0);
	out->mixed_seconds =
		work_mixes(w) ? with.pass : out->decode_seconds + with.stage;
	out->carrying_seconds = p.passes * with.stage / n;
	out->served_seconds =
		fmax(0, p.passes * with.stage - replaced * without.stage) / n;
	out->added_seconds = out->served_seconds;
	if (p.turns <= 1)
		return;
	passes = (struct passes){ p.passes, p.turns, fmax(1, w->prompt / p.tokens) };
	rounds = closed ? waves_rounds(w, &passes, p.rounds)
			: rounds_with_prompts(&passes, p.rounds);
	longer = work_round(server, with, p.passes / rounds, without) -
		 work_round(server, without, 0, without);
	out->added_seconds =
		fmax(0, (p.rounds - steps) * out->step_seconds + rounds * longer) / n;
}

/* Who shares a pass with others' prompts has the first token when all of them have left
 * the last stage of a pipeline: until then others run, which keeps nobody waiting. */
static double beside_company(const struct work *w, const struct server *server,
			     double prompts)
{
	struct timing with, alone;

	if (server->context.shape.pp <= 1 || prompts <= 1)
		return 0;
	with = work_pass(w, server, 0, prompts * w->prompt);
	alone = work_pass(w, server, 0, w->prompt);
	return fmax(0, with.pass - with.stage - (alone.pass - alone.stage));
}

/* Others' prompts that a request of few tokens lets pass while it decodes: what its
 * passes behind the first token carry, where prompts ride beside; of one token none.
 * Who does not come then stands before it. */
static double most_behind(const struct work *w, const struct server *server, double c)
{
	struct prompts p = carried(w, server, c, c - 1);

	if (w->output <= 1)
		return 0;
	if (!work_mixes(w))
		return c - 1;
	return p.slots * (w->output - 1) / w->output * p.tokens / w->prompt;
}

/* Who stands before a request that others follow in a closed loop, and who behind. */
static void others_of_loop(const struct work *w, const struct server *server, double n,
			   double own, struct point *out)
{
	double c = n + 1;

	out->ahead = n * fmin(1, work_bunching(w) * out->served_seconds / own);
	if (n > 0 && out->added_seconds > 0)
		out->ahead =
			waves_ahead(w, server, c, out, own + n * out->added_seconds);
	out->ahead = fmax(out->ahead, n - most_behind(w, server, c));
	out->behind = n - out->ahead;
}

static void continuous(const struct work *w, const struct server *server, double c,
		       struct point *out)
{
	double steps = w->output / w->accepted, own, begin, runs;
	double n = others(w, c, out->requests), company = 1;
	double decoding = steps * out->step_seconds * (w->output - 1) / w->output;
	bool closed = w->s->plan.serving.request_rate <= 0;

	out->carrying_seconds = out->prefill_seconds;
	if (n > 0)
		add_prompts(w, server, c, n, out);
	/* Where others run, a request waits for the pass under way: half of one, or,
	 * as it is prepared while the pass after its user's last one runs, a whole; of
	 * a pipeline, that of the micro-batch that is scheduled next. */
	begin = out->step_seconds / micro_batches(server, c) * (closed ? 1 : 0.5);
	runs = fmin(1, closed ? n : n * decoding / (out->prefill_seconds + decoding));
	out->begin_seconds =
		runs * (begin + out->decode_seconds * work_held(w, server, c, steps));
	own = out->prefill_seconds + out->begin_seconds + decoding;
	if (!closed)
		company = work_arrivals(w, server,
					&(struct arrivals){ n, decoding, runs * begin },
					out);
	else if (n > 0 && out->served_seconds > 0)
		company = waves_company(w, server, c, micro_batches(server, c), out);
	out->company_seconds = beside_company(w, server, company);
	if (closed)
		others_of_loop(w, server, n, own, out);
	out->tpot_seconds = out->step_seconds / w->accepted +
			    out->behind * out->added_seconds / fmax(1, w->output - 1);
	out->ttft_seconds = out->prefill_seconds + out->begin_seconds +
			    out->company_seconds + out->ahead * out->served_seconds;
}

/* Where c of a copy are received more slowly than they are served, fewer are inside: as
 * many as give what reception lets through. */
static void beside_others(const struct work *w, const struct server *server, double c,
			  struct point *out)
{
	double each = w->s->stack.serving.prompt_seconds, low = 1, high = c;
	bool closed = w->s->plan.serving.request_rate <= 0;

	continuous(w, server, c, out);
	for (int i = 0; i < 12 && closed && c * each > work_cycle(w, out); i++) {
		double middle = (low + high) / 2;

		decoding(w, server, middle, out);
		continuous(w, server, middle, out);
		if (work_cycle(w, out) < middle * each)
			high = middle;
		else
			low = middle;
	}
	reception_wait(w, c, 1, out);
}

/* --- a pool of prompts: copies of an engine run their passes together --- */

/* Copies share the experts between them, or wait for each other in collectives, so that
 * none begins a pass before all are done: what one engine makes of its requests. A pass
 * over k prompts, dealt out evenly, takes rest + each k. */
struct prompt_pool {
	double n;      /* requests that it sees */
	double copies; /* that receive them */
	double most;   /* of them in a pass */
	double alone;  /* seconds of a pass over one */
	double full;   /* over most */
	double rest, each;
};

static double seconds_abreast(const struct work *w, const struct server *prefill,
			      double prompts)
{
	double dp = prefill->context.shape.dp;
	struct work part = *w;

	part.copies = fmin(dp, prompts);
	return time_prompts(&part, prefill, fmax(1, prompts / dp)).stage;
}

/* Of a pass of a copy, where enough wait: whole ones, unless they are cut. */
static double prompts_in_pass(const struct work *w, const struct server *prefill)
{
	double fit = prefill->budget_tokens / w->prompt;

	return fmax(1, w->s->plan.serving.chunked_prefill ? fit : floor(fit));
}

/* Prompts that are cut leave no pass part empty: the rest of one goes with the next. */
static double seconds_packed(const struct work *w, const struct server *prefill,
			     double prompts)
{
	double passes = w->prompt * prompts / prefill->context.shape.dp /
			prefill->budget_tokens;

	return passes * work_pass(w, prefill, 0, prefill->budget_tokens).stage;
}

static struct prompt_pool open_pool(const struct work *w, const struct server *prefill,
				    double n)
{
	double room = prompts_in_pass(w, prefill);
	struct prompt_pool p = { .n = n,
				 .copies = prefill->context.shape.dp,
				 .most = fmin(n, room * prefill->context.shape.dp) };

	p.alone = seconds_abreast(w, prefill, 1);
	p.full = seconds_abreast(w, prefill, p.most);
	if (p.most < n && w->s->plan.serving.chunked_prefill)
		p.full = fmin(p.full, seconds_packed(w, prefill, p.most));
	p.each = p.most > 1 ? (p.full - p.alone) / (p.most - 1) : 0;
	p.rest = fmax(0, p.alone - p.each);
	return p;
}

/* All at once: the first runs alone, as the others come a little later, who fill
 * passes. Mean. */
static double stay_in_burst(const struct prompt_pool *p)
{
	double others = p->n - 1, pass = p->rest + p->each * fmin(p->most, others);

	if (others <= 0)
		return p->alone;
	pass = fmax(p->alone, pass);
	return p->alone + others / p->n * pass * (fmax(1, others / p->most) + 1) / 2;
}

/* All within `window` seconds. A pass takes who came during the one before, k = n pass
 * / (window + pass). Who comes waits for the pass under way, half of it, and runs in
 * the next one; where more come than a pass takes, for those before it. */
static double stay_in_window(const struct prompt_pool *p, double window)
{
	double half = (window + p->rest - p->n * p->each) / 2, pass;
	double k = p->n * p->alone / (window + p->alone);

	if (p->each > 0)
		k = (sqrt(half * half + p->each * p->n * p->rest) - half) / p->each;
	if (k >= p->most && p->most < p->n) {
		double share = p->full / p->most;

		return p->full + work_stay(p->n, share, window) - share;
	}
	k = fmin(p->most, k);
	pass = fmax(p->alone, p->rest + p->each * k);
	return pass * (1 + fmin(1, k * (p->n - 1) / p->n) / 2);
}

/* Mean over the waves of a closed loop that starts as a burst. */
static double stay_in_waves(const struct work *w, const struct prompt_pool *p,
			    double away, double decoding)
{
	double sum = stay_in_burst(p), served = p->n * p->full / p->most;

	for (int wave = 1; wave < BURST_WAVES; wave++)
		sum += stay_in_window(
			p, fmin(away, wave_window(w, served, decoding, wave)));
	return sum / BURST_WAVES;
}

/* Both pools with `requests` decoding in a copy; returns how many that would lead to.
 * What comes at a rate is there n times on the average, and waits by how bunched it is.
 */
static double share_out(const struct work *w, const struct prompt_pool *p, double c,
			struct point *out)
{
	double output = (w->output - 1) * out->tpot_seconds, away, stays;
	double service = p->full / p->most;

	away = fmax(0, out->prefill_seconds - p->alone) + out->transfer_seconds +
	       out->begin_seconds + output;
	if (w->s->plan.serving.request_rate > 0)
		stays = p->alone +
			work_bunching(w) * (stay_in_window(p, away) - p->alone);
	else
		stays = stay_in_waves(w, p, away, output);
	stays = work_within_capacity(fmin(p->n * p->alone, stays), p->n, service, away);
	out->served_seconds = out->added_seconds = service;
	out->ahead = service > 0 ? fmax(0, stays - p->alone) / service : 0;
	out->ttft_seconds = out->prefill_seconds + out->ahead * service +
			    out->transfer_seconds + out->begin_seconds;
	reception_wait(w, p->n, p->copies, out);
	return c * output / (out->ttft_seconds + output);
}

/* A cache that comes over is looked at between two passes, or in longer intervals while
 * others decode, and who decodes sends the first token with those of the pass that
 * follows: proxies of vLLM, SGLang and TensorRT-LLM take no token from where prompts
 * run. */
static void set_begin(const struct work *w, struct point *out)
{
	double passes = fmax(1, (double)w->s->plan.serving.receive_interval);
	double looks = (passes - 1) / 2 * fmin(1, fmax(0, out->decoding - 1));

	out->begin_seconds = (1.5 + looks) * out->decode_seconds;
}

/* How exactly the pools' shares are known. */
static const double settled = 1e-3;

/* Prompts run elsewhere and their cache travels; decoding is never disturbed. A request
 * is before, on the way to or in the pool that decodes: all of them are somewhere. */
static void apart(const struct work *w, const struct server *decode,
		  const struct server *prefill, double c, struct point *out)
{
	double n = out->requests * server_copies(decode) / prefill->engines, most = c;
	struct prompt_pool pool = open_pool(w, prefill, fmax(1, n));

	out->transfer_seconds = work_transfer(w, decode, prefill);
	set_begin(w, out);
	/* fewer decode faster, so that fewer do: from all of them downwards, and up
	 * again where prompts that wait together take less */
	for (int i = 0; i < 16; i++) {
		double leads = fmax(1, share_out(w, &pool, c, out));

		if (fabs(most - leads) < settled * most)
			break;
		most = leads;
		decoding(w, decode, most, out);
		set_begin(w, out);
	}
	share_out(w, &pool, c, out);
	out->carrying_seconds = out->added_seconds * prefill->context.shape.dp;
	nic_contend(w, decode, prefill, out);
}

void steady_point(const struct server *decode, const struct server *prefill,
		  double requests, struct point *out)
{
	double c = fmax(1, requests); /* of a copy that runs any */
	struct timing prompt;
	struct work w;

	work_of(decode->context.scenario, &w);
	*out = (struct point){ .requests = requests };
	decoding(&w, decode, c, out);
	/* of a pool, one copy's; else the others decode beside it */
	w.copies = prefill != decode ? 1 : 0;
	prompt = time_prompts(&w, prefill, 1);
	w.copies = 0;
	out->prefill_seconds = prompt.pass;
	out->carrying_seconds = prompt.stage;
	if (prefill != decode)
		apart(&w, decode, prefill, c, out);
	else if (w.s->plan.serving.batching == BATCHING_STATIC)
		static_batch(&w, decode, c, out);
	else
		beside_others(&w, decode, c, out);
	host_wait(&w, prefill, c * server_copies(decode) / server_copies(prefill), out);
	out->requests_per_second =
		requests * server_copies(decode) /
		(out->ttft_seconds + (w.output - 1) * out->tpot_seconds);
	/* a prompt alone is shorter than one that rides beside others */
	out->prefill_share = fmin(1, out->requests_per_second * out->carrying_seconds /
					     server_copies(prefill));
	out->tokens_per_second = out->requests_per_second * w.output;
}

double steady_ceiling(const struct server *decode, const struct server *prefill,
		      double requests)
{
	double all = requests * server_copies(decode), most, received;
	struct prompt_pool pool;
	struct work w;
	struct point p;

	work_of(decode->context.scenario, &w);
	/* fewer than servers leave some idle, but each is as quick as one alone */
	decoding(&w, decode, fmax(requests, 1), &p);
	received = w.s->plan.serving.batching == BATCHING_STATIC
			   ? INFINITY
			   : reception_rate(&w, server_copies(prefill));
	if (prefill == decode)
		return fmin(received, all / (time_prompts(&w, prefill, 1).pass +
					     (w.output - 1) * p.tpot_seconds));
	pool = open_pool(&w, prefill, INFINITY);
	most = fmin(received, prefill->engines * pool.most / pool.full);
	if (w.output > 1)
		most = fmin(most, (1 + 2 * settled) * all /
					  ((w.output - 1) * p.tpot_seconds));
	return most;
}

double steady_mixed(const struct server *server, double requests, struct batch *out)
{
	double c = fmax(1, requests), n;
	struct prompts p;
	struct work w;

	work_of(server->context.scenario, &w);
	n = others(&w, c, requests);
	if (n <= 0 || w.s->plan.serving.batching == BATCHING_STATIC)
		return 0;
	p = carried(&w, server, c, n);
	work_batch(&w, server, p.requests, p.tokens, out);
	return fmin(1, p.passes / p.slots);
}

void steady_batch(const struct server *server, double requests, double tokens,
		  struct batch *out)
{
	struct work w;

	work_of(server->context.scenario, &w);
	work_batch(&w, server, requests,
		   fmin(tokens, fmin(w.prompt, server->budget_tokens)), out);
}
