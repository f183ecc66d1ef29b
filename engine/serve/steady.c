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
 * their own (arrivals_meet()).
 */
#include <math.h>

#include "engine/serve/arrivals.h"
#include "engine/serve/beyond.h"
#include "engine/serve/carried.h"
#include "engine/serve/host.h"
#include "engine/serve/nic.h"
#include "engine/serve/prompt_pool.h"
#include "engine/serve/reception.h"
#include "engine/serve/waves.h"

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

/* Passes over so many prompts. A collective may change to a faster algorithm for more
 * of them. */
static double prompts_of_batch(const struct work *w, const struct server *server,
			       double count, double alone)
{
	return fmax(work_prompts(w, server, count).pass, alone);
}

/* All prompts first, then all outputs together. Of c in the mean some batches have one
 * more than others, none has a part of one. */
static void static_batch(const struct work *w, const struct server *server, double c,
			 struct point *out)
{
	double fewer = floor(c), alone = out->prefill_seconds;
	double all = prompts_of_batch(w, server, fewer, alone);

	if (c > fewer)
		all += (c - fewer) *
		       (prompts_of_batch(w, server, fewer + 1, alone) - all);
	out->ttft_seconds = all;
	out->ahead = c - 1;
	if (c > 1)
		out->served_seconds = (all - out->prefill_seconds) / (c - 1);
	out->added_seconds = out->served_seconds;
	out->carrying_seconds = all / c;
}

/* Whom a request finds in a copy with c, where it runs any; `requests` in the mean. */
static double others(const struct work *w, double c, double requests)
{
	return w->closed ? c - 1 : requests;
}

/* What a prompt of another request adds to the time of the rounds of a pipeline. */
static double added_to_rounds(const struct work *w, const struct server *server,
			      const struct prompts *p, struct timing with,
			      struct timing without, const struct point *at)
{
	double steps = w->output / w->accepted, longer, rounds;
	struct passes passes = { p->passes, p->turns, fmax(1, w->prompt / p->tokens) };

	rounds = w->begins ? waves_rounds(w, &passes, p->rounds)
			   : rounds_with_prompts(&passes, p->rounds);
	longer = work_round(server, with, p->passes / rounds, without) -
		 work_round(server, without, 0, without);
	return fmax(0, (p->rounds - steps) * at->step_seconds + rounds * longer);
}

/* What a prompt of another request adds to the time of the server; returns how much of
 * it delays nobody who decodes. */
static double add_prompts(const struct work *w, const struct server *server,
			  const struct prompts *p, double n, struct point *out)
{
	struct timing with = work_pass(w, server, p->requests, p->tokens), without;
	double replaced = work_mixes(w) ? fmin(p->passes, p->slots) : 0;
	struct beyond beyond;

	without = work_pass(w, server, out->decoding, 0);
	beyond = beyond_decoding(w, server, p, n, out);
	out->mixed_seconds =
		work_mixes(w) ? with.pass : out->decode_seconds + with.stage;
	out->carrying_seconds = p->passes * with.stage / n;
	out->served_seconds =
		fmax(0, p->passes * with.stage - replaced * without.stage) / n;
	out->added_seconds = fmax(0, out->served_seconds - beyond.served);
	if (p->turns > 1)
		out->added_seconds =
			fmax(0, added_to_rounds(w, server, p, with, without, out) / n -
					beyond.rounds);
	return beyond.served;
}

/* Who shares a pass with others' prompts has the first token when all of them have left
 * the last stage of a pipeline: until then others run, which keeps nobody waiting. */
static double beside_company(const struct work *w, const struct server *server,
			     double prompts)
{
	struct timing with, alone;

	if (server->context.shape.pp <= 1 || prompts <= 1 + 1e-9)
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
	struct prompts p;

	if (w->output <= 1)
		return 0;
	if (!work_mixes(w))
		return c - 1;
	p = carried(w, server, c, c - 1, 0);
	return p.slots * (w->output - 1) / w->output * p.tokens / w->prompt;
}

/* Who stands before a request that others follow in a closed loop, and who behind. What
 * delays nobody who decodes is time of those that wait. */
static void others_of_loop(const struct work *w, const struct server *server, double n,
			   double own, double beyond, struct point *out)
{
	double c = n + 1, cycle = own + n * (out->added_seconds + beyond);

	out->ahead = n * fmin(1, work_bunching(w) * out->served_seconds / own);
	if (n > 0 && out->added_seconds + beyond > 0)
		out->ahead = waves_ahead(w, server, c, out, cycle);
	out->ahead = fmax(out->ahead, n - most_behind(w, server, c));
	out->behind = n - out->ahead;
	if (beyond > 0)
		out->served_seconds += beyond * (n / out->ahead - 1);
	else if (w->begins && out->ahead > 0)
		out->served_seconds += waves_burst(w, server, c, out) / out->ahead;
}

/* Of a prompt behind which others wait: they fill up its last pass, so that it takes
 * its share of full ones, of which `riding` stand in place of decode passes. */
static double served_among_others(const struct work *w, const struct server *server,
				  const struct prompts *p, double riding,
				  const struct point *at)
{
	double full, decode;

	if (!(p->each > p->packed))
		return at->served_seconds;
	full = work_pass(w, server, p->requests, w->prompt / p->packed).stage;
	decode = work_pass(w, server, at->decoding, 0).stage;
	return p->packed * fmax(0, full - riding * decode);
}

/* Who comes at a rate, n inside, with the seconds of decoding and of half a pass. */
static double arrive(const struct work *w, const struct server *server, double c,
		     double n, const double seconds[2], struct point *out)
{
	struct prompts p = carried(w, server, c, n, out->step_seconds);
	struct arrivals a = { .n = n, .alone = seconds[0], .half = seconds[1] };

	a.riding = work_mixes(w) ? fmin(1, p.slots / fmax(p.passes, 1e-9)) : 0;
	a.packed = p.packed;
	a.served = served_among_others(w, server, &p, a.riding, out);
	return arrivals_meet(w, &a, out);
}

/* The same in the mean of a loop's waves: what a burst brings together is no mean of
 * what one and few prompts take. */
static double beside_wave(const struct work *w, const struct server *server, double c,
			  const struct point *out)
{
	struct waves_company with = waves_company(w, server, c, out);

	return beside_company(w, server, with.burst) / BURST_WAVES +
	       beside_company(w, server, with.later) * (1 - 1.0 / BURST_WAVES);
}

static void continuous(const struct work *w, const struct server *server, double c,
		       struct point *out)
{
	double steps = w->output / w->accepted, own, begin, runs, steady;
	double n = others(w, c, out->requests), beyond = 0;
	bool closed = w->closed;
	struct prompts p;

	out->met = n;
	out->carrying_seconds = out->prefill_seconds;
	if (n > 0) {
		p = carried(w, server, c, n, out->step_seconds);
		if (closed && work_mixes(w) && p.passes > p.slots)
			decoding(w, server, fmax(1, p.requests), out);
		beyond = add_prompts(w, server, &p, n, out);
	}
	steady = steps * out->step_seconds * (w->output - 1) / w->output;
	/* Where others run, a request waits for the pass under way: half of one, or,
	 * as it is prepared while the pass after its user's last one runs, a whole; of
	 * a pipeline, that of the micro-batch that is scheduled next. */
	begin = out->step_seconds / carried_lanes(server, c) * (closed ? 1 : 0.5);
	runs = fmin(1, closed ? n : n * steady / (out->prefill_seconds + steady));
	out->begin_seconds =
		runs * (begin + out->decode_seconds * work_held(w, server, c, steps));
	own = out->prefill_seconds + out->begin_seconds + steady;
	if (!closed)
		out->company_seconds =
			beside_company(w, server,
				       arrive(w, server, c, n,
					      (double[]){ steady, runs * begin }, out));
	else if (n > 0 && out->served_seconds > 0)
		out->company_seconds = beside_wave(w, server, c, out);
	if (closed)
		others_of_loop(w, server, n, own, beyond, out);
	out->tpot_seconds = out->step_seconds / w->accepted +
			    out->behind * out->added_seconds / fmax(1, w->output - 1);
	out->ttft_seconds = out->prefill_seconds + out->begin_seconds +
			    out->company_seconds + out->ahead * out->served_seconds;
}

/* Of those that come at a rate some wait for their prompts, and decode passes are
 * shorter: from all of them downwards. */
static void without_those_before(const struct work *w, const struct server *server,
				 double c, struct point *out)
{
	double most = c;

	for (int i = 0; i < 4; i++) {
		double decodes = (w->output - 1) * out->tpot_seconds;
		double next = fmax(1, c * decodes / (out->ttft_seconds + decodes));

		if (most - next < 1e-2 * most)
			break;
		most = next;
		decoding(w, server, most, out);
		continuous(w, server, most, out);
	}
}

/* Where c of a copy are received more slowly than they are served, fewer are inside: as
 * many as give what reception lets through. */
static void beside_others(const struct work *w, const struct server *server, double c,
			  struct point *out)
{
	double each = w->s->stack.serving.prompt_seconds, low = 1, high = c;

	continuous(w, server, c, out);
	for (int i = 0; i < 12 && w->closed && c * each > work_cycle(w, out); i++) {
		double middle = (low + high) / 2;

		decoding(w, server, middle, out);
		continuous(w, server, middle, out);
		if (work_cycle(w, out) < middle * each)
			high = middle;
		else
			low = middle;
	}
	if (!w->closed)
		without_those_before(w, server, c, out);
	reception_wait(w, c, 1, out);
}

/* --- two pools --- */

/* Both pools with `requests` decoding in a copy; returns how many that would lead to.
 */
static double share_out(const struct work *w, const struct prompt_pool *p, double c,
			struct point *out)
{
	double output = (w->output - 1) * out->tpot_seconds, away, stays;
	double service = p->full / p->most;

	away = fmax(0, out->prefill_seconds - p->alone) + out->transfer_seconds +
	       out->begin_seconds + output;
	stays = prompt_pool_stay(w, p, away, output);
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
	struct prompt_pool pool = prompt_pool_open(w, prefill, n);

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

static void point_of(const struct server *decode, const struct server *prefill,
		     double requests, bool held, struct point *out)
{
	double c = fmax(1, requests); /* of a copy that runs any */
	struct timing prompt;
	struct work w;

	work_of(decode->context.scenario, &w);
	w.closed |= held;
	*out = (struct point){ .requests = requests, .held = held };
	decoding(&w, decode, c, out);
	/* of a pool, one copy's; else the others decode beside it */
	w.copies = prefill != decode ? 1 : 0;
	prompt = work_prompts(&w, prefill, 1);
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

void steady_point(const struct server *decode, const struct server *prefill,
		  double requests, struct point *out)
{
	point_of(decode, prefill, requests, false, out);
}

void steady_held(const struct server *decode, const struct server *prefill,
		 double requests, struct point *out)
{
	point_of(decode, prefill, requests, true, out);
}

double steady_decode_rate(const struct server *decode, double requests)
{
	struct work w;
	struct point p;

	work_of(decode->context.scenario, &w);
	decoding(&w, decode, fmax(1, requests), &p);
	return fmax(1, requests) / ((1 + (w.output - 1) / w.accepted) * p.step_seconds);
}

double steady_least_tpot(const struct server *decode, double rate)
{
	static const double sure = 0.98; /* points are a hundredth off */
	double inside = 1, least;
	struct work w;
	struct point p;

	work_of(decode->context.scenario, &w);
	decoding(&w, decode, inside, &p);
	least = p.tpot_seconds;
	/* as many decode as come meanwhile, by Little's law */
	for (int i = 0; i < 4; i++) {
		double next = sure * rate / server_copies(decode) * (w.output - 1) *
			      p.tpot_seconds;

		if (!(next > inside) || inside >= decode->room)
			break;
		inside = fmin(next, decode->room);
		decoding(&w, decode, inside, &p);
		least = fmax(least, p.tpot_seconds);
	}
	return least;
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
		return fmin(received, all / (work_prompts(&w, prefill, 1).pass +
					     (w.output - 1) * p.tpot_seconds));
	pool = prompt_pool_open(&w, prefill, INFINITY);
	most = fmin(received, prefill->engines * pool.most / pool.full);
	if (w.output > 1)
		most = fmin(most, (1 + 2 * settled) * all /
					  ((w.output - 1) * p.tpot_seconds));
	return most;
}

double steady_mixed(const struct server *server, const struct point *at,
		    struct batch *out)
{
	struct prompts p;
	struct work w;

	work_of(server->context.scenario, &w);
	w.closed |= at->held;
	if (at->met <= 0)
		return 0;
	/* of a loop not all decode */
	p = carried(&w, server, w.closed ? at->met + 1 : at->decoding, at->met,
		    at->step_seconds / w.s->cluster.scale);
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
