/* server.c - see server.h. */
#include "tests/twin/server.h"

#include <math.h>

/* What one request needs, and where. */
struct loop {
	const struct scenario *s;
	const struct server *decode, *prompts;
	bool apart, closed;
	double prompt; /* tokens to compute */
	double cached, reloaded, output, gain, drafting, spread;
};

/* From its begin until the last stage is done, and until the first takes the next. */
struct span {
	double whole, stage;
};

/* --- a request --- */

/* Each number of drafts that may hold, by its chance: all of them before the first that
 * does not (Leviathan et al. 2023, arXiv 2211.17192, section 3.1). */
static double tokens_gained(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	bool mtp = v->speculative == SPECULATIVE_MTP;
	double usual = mtp ? 0.85 : 0.7, all_hold = 1, mean = 0;
	int64_t trained = s->model.mtp_layers > 1 ? s->model.mtp_layers : 1;

	if (v->speculative == SPECULATIVE_OFF)
		return 1;
	for (int64_t held = 0; held <= v->draft_tokens; held++) {
		double holds = v->acceptance > 0 ? v->acceptance : usual;

		for (int64_t i = trained; mtp && i < held + 1; i++)
			holds *= 0.855;
		if (held == v->draft_tokens)
			holds = 0;
		mean += all_hold * (1 - holds) * (double)(held + 1);
		all_hold *= holds;
	}
	return mean;
}

static void open_loop(const struct serving_run *run, struct loop *l)
{
	const struct scenario *s = run->decode.context.scenario;
	const struct serving_plan *v = &s->plan.serving;
	int64_t shared = 0, copied = 0;

	if (v->prefix_cache)
		shared = (int64_t)(v->shared_prefix * (double)v->prompt_len);
	if (v->prefix_cache && v->host_kv_bytes > 0)
		copied = (int64_t)(v->host_prefix * (double)(v->prompt_len - shared));
	while (copied > 0 && shared + copied >= v->prompt_len)
		copied--;
	*l = (struct loop){ .s = s, .decode = &run->decode, .apart = run->apart };
	l->prompts = run->apart ? &run->prefill : &run->decode;
	l->closed = v->request_rate <= 0;
	l->reloaded = (double)copied;
	l->cached = (double)(shared + copied);
	l->prompt = fmax(1, (double)v->prompt_len - l->cached);
	l->output = fmax(1, (double)v->output_len);
	l->gain = tokens_gained(s);
	if (v->speculative != SPECULATIVE_OFF)
		l->drafting = (double)v->draft_tokens * v->draft_cost;
	/* of lengths from 1 - w to 1 + w alike often, w / sqrt(3) */
	l->spread = v->length_spread;
	if (v->length_shape != LENGTH_LOGNORMAL)
		l->spread *= sqrt(1.0 / 3);
}

/* A pass over one micro-batch of so many requests, and so many tokens of prompts, in
 * `copies` of the attention (0: in all). */
static struct span pass_at(const struct loop *l, const struct server *server,
			   double requests, double tokens, double copies, double depth)
{
	const struct serving_plan *v = &l->s->plan.serving;
	double stages = server->context.shape.pp;
	struct batch b = { .requests = requests };
	struct pass pass;

	if (requests > 1)
		b.requests = requests > stages ? requests / stages : 1;
	b.tokens_each = 1;
	if (v->speculative != SPECULATIVE_OFF)
		b.tokens_each += (double)v->draft_tokens;
	b.context = (double)(2 * v->prompt_len + v->output_len) / 2;
	b.captured = true;
	b.prompt_context = l->cached + depth;
	if (tokens > 0) {
		b.captured = false;
		b.copies = copies;
		b.prompt_tokens = tokens;
		b.prompt_requests = tokens > l->prompt ? tokens / l->prompt : 1;
	}
	serve_pass(&server->context, &b, false, &pass);
	return (struct span){ pass.seconds, pass.stage_seconds };
}

static struct span pass_over(const struct loop *l, const struct server *server,
			     double requests, double tokens, double copies)
{
	return pass_at(l, server, requests, tokens, copies, l->prompt / 2);
}

/* Prompts in passes, one after the other, each of which enters as the one before has
 * left the first stage, and none leaves before it. Those of one prompt in a pipeline
 * are at their depth, full ones at that of all. */
static struct span run_prompts_of(const struct loop *l, double together, double copies)
{
	double all = l->prompt * together, budget = l->prompts->budget_tokens;
	double full = budget * floor(all / budget), out = 0, depth = l->prompt / 2;
	struct span sum = { 0, 0 };
	bool deep = together == 1 && l->prompts->context.shape.pp > 1;

	for (double done = 0; all - done > 1e-9 * budget;) {
		double tokens = fmin(budget, all - done);
		struct span one;

		if (deep)
			depth = done < full ? full / 2 : done + tokens / 2;
		one = pass_at(l, l->prompts, 0, tokens, copies, depth);
		sum.stage += one.stage;
		out = fmax(out, one.whole - one.stage);
		done += tokens;
	}
	sum.whole = sum.stage + out + l->s->stack.serving.prompt_seconds;
	return sum;
}

static double copies_of(const struct server *server)
{
	return server->engines * server->context.shape.dp;
}

/* --- queues --- */

struct queue {
	double n, service, away, first; /* first: without anybody else */
};

/* Each of the others is met with the share of its time that it is here: Schweitzer's
 * equation, r = first + (n - 1) service r / (r + away), halved until it holds. */
static double stay_of(const struct queue *q)
{
	double low = 0, high = q->first + fmax(1, q->n) * q->service;

	for (int i = 0; i < 200; i++) {
		double r = (low + high) / 2;

		if (q->first + (q->n - 1) * q->service * r / (r + q->away) > r)
			low = r;
		else
			high = r;
	}
	return high;
}

static double stay(double n, double service, double away)
{
	return stay_of(&(struct queue){ n, service, away, service });
}

/* By how bunched requests come (Allen and Cunneen, in Allen 1990, section 5.4). */
static double bunching(const struct loop *l)
{
	double served = l->spread * l->spread;

	return (l->s->plan.serving.arrival_scv + served) / (1 + served);
}

/* The width of a uniform distribution with the variance of the prompts' order and of as
 * many outputs as there were waves. */
static double window_of(const struct loop *l, double served, double decoding, int wave)
{
	double of_order = served * served / 12;
	double of_output = l->spread * decoding * l->spread * decoding;

	return sqrt(12 * (of_order + wave * of_output));
}

/* Decode passes until a prompt that is there may run: those to the next look, and what
 * is left of the window that the first of its companions opened, which n more open
 * while it lasts. */
static double passes_held(const struct loop *l, double c, double steps)
{
	const struct serving_plan *v = &l->s->plan.serving;
	double dp = l->decode->context.shape.dp, look = 0, rate = c / fmax(1, steps);
	double full = (0.9 * l->decode->budget_tokens - c) / l->prompt, window, come;

	for (int64_t i = 0; i < v->receive_interval; i++)
		look += (double)i / (double)v->receive_interval;
	if (dp > 1) {
		rate *= dp;
		full = dp;
	}
	window = (double)v->batch_wait;
	if (full < 1)
		window = 0;
	else if ((full - 1) / rate < window)
		window = (full - 1) / rate;
	come = rate * window;
	return look + (1 * window + come * (window / 2)) / (1 + come);
}

/* Those of a wave begin no faster than they are received. */
static double one_by_one(const struct loop *l, const struct point *p)
{
	return fmax(p->served_seconds, l->s->stack.serving.prompt_seconds);
}

/* --- prompts before all decoding --- */

static bool beside_decoding(const struct loop *l)
{
	return l->s->stack.serving.mixes && l->s->plan.serving.chunked_prefill;
}

/* Requests of one wave that are there before a pass decodes again. */
struct clump {
	double of;   /* with the request itself */
	double full; /* of them in each pass behind that of the first, alone */
};

/* Prompts, which take up to a budget, that come while as many run. Passes over some
 * take all of one, and a share of a full one for each more. */
static double most_received(const struct loop *l, double one)
{
	double budget = l->decode->budget_tokens, all, share, more;
	double received = l->s->stack.serving.prompt_seconds;

	all = pass_over(l, l->decode, 0, budget, 0).stage;
	share = (all - one) * l->prompt / (budget - l->prompt);
	more = (one - share) / (received - share);
	if (received > share && more < budget / l->prompt)
		return more > 1 ? more : 1;
	return budget / l->prompt;
}

static struct clump clump_of(const struct loop *l, double c, double step, int wave)
{
	double budget = l->decode->budget_tokens, one;
	double received = l->s->stack.serving.prompt_seconds;
	double decoding = l->output / l->gain * step, window, there;
	struct clump k;

	one = run_prompts_of(l, 1, 0).stage;
	window =
		window_of(l, received > one ? c * (received - one) : 0, decoding, wave);
	if (window > decoding)
		window = decoding;
	there = (step + received) / (step + received + window);
	k.of = wave > 0 ? 1 + (c - 1) * there : c;
	k.full = 1;
	if (budget <= l->prompt || k.of <= 2)
		return k;
	k.full = most_received(l, one);
	if (k.full > k.of - 1)
		k.full = k.of - 1;
	return k;
}

/* Prompts of a pass over the waves' passes. */
static double prompts_of_pass(const struct loop *l, double c, double step)
{
	double passes = 0;

	for (int wave = 0; wave < 10; wave++) {
		struct clump k = clump_of(l, c, step, wave);

		passes += 1 / k.of + (k.of - 1) / k.of / k.full;
	}
	return 10 / passes;
}

/* The first has nobody before it; the others it, and half of each other, and half of
 * who shares their pass. */
static double before_in_clump(const struct clump *k)
{
	double each = 1 + fmax(0, (k->of - 2) / 2 + (k->full - 1) / 2);

	return (1 - 1 / k->of) * each;
}

/* --- prompts beside decoding requests --- */

/* Passes with prompts of others while a request takes its output. */
struct riding {
	double stages, turns; /* of the pipeline, and micro-batches that go around */
	double steps, slots;  /* passes of a request, and of all micro-batches */
	double each, passes;  /* tokens in one, and how many there are */
	double room;          /* in one beside those that decode */
	double rounds;        /* of all micro-batches, until both are done */
	bool mixes;
};

/* Requests that decode take their tokens of the budget of a pass: all c, or, where all
 * passes are full and there are more of them than decode, so many that those and the
 * prompts fill them together. */
static double room_for_prompts(const struct loop *l, double c, double tokens,
			       const struct riding *r)
{
	double budget = l->decode->budget_tokens, drafts = 0, decoding;

	if (!r->mixes)
		return budget;
	if (l->s->plan.serving.speculative != SPECULATIVE_OFF)
		drafts = (double)l->s->plan.serving.draft_tokens;
	/* in each pass one of the micro-batches */
	decoding = c / r->turns * (1 + drafts);
	if (tokens + r->slots * decoding > r->slots * budget)
		decoding *= r->slots * budget / (tokens + r->slots * decoding);
	return budget - decoding;
}

/* Of prompts that are together all passes but the last are full. */
static double passes_together(double filled, double together)
{
	double n = 1;

	while (n + 1 <= together)
		n++;
	return (ceil(n * filled - 1e-9) +
		(together - n) *
			(ceil((n + 1) * filled - 1e-9) - ceil(n * filled - 1e-9))) /
	       together;
}

/* Whole passes for each prompt, but where the next is there and fills up the last. */
static double passes_of_one(const struct loop *l, double met, double step,
			    const struct riding *r)
{
	double filled = l->prompt / r->room, whole = ceil(filled - 1e-9), scv, there;

	if (l->closed || filled <= 1)
		return filled;
	scv = l->s->plan.serving.arrival_scv + l->spread * l->spread;
	scv = scv > 1 ? 1 : scv;
	if (!r->mixes) {
		/* one who comes, who came since the pass before, and who comes while
		 * those run */
		double near = step + l->s->stack.serving.prompt_seconds;
		double runs = run_prompts_of(l, 1, 0).stage;
		double came = met * near / (r->steps * step);
		double come = (1 + came) * met * runs / (r->steps * step);

		return passes_together(filled, 1 + scv * (came + come));
	}
	there = met * whole / (r->slots + scv * met * (whole - filled));
	there = there > 1 ? 1 : there;
	return scv * there * filled + (1 - scv * there) * whole;
}

static void ride(const struct loop *l, double c, double met, double step,
		 struct riding *r)
{
	double tokens = met * l->prompt, least, most;

	r->mixes = beside_decoding(l);
	r->stages = l->decode->context.shape.pp;
	r->turns = c < 1 ? 1 : c < r->stages ? c : r->stages;
	r->steps = l->output / l->gain;
	r->slots = r->steps * r->turns;
	r->each = tokens / r->slots;
	least = l->prompt;
	if (l->closed && !r->mixes)
		least *= prompts_of_pass(l, c, step);
	if (r->each < least)
		r->each = least;
	r->room = room_for_prompts(l, c, tokens, r);
	most = l->prompt / passes_of_one(l, met, step, r);
	if (r->each > most)
		r->each = most;
	r->passes = tokens / r->each;
	r->rounds = r->passes / r->turns;
	if (!r->mixes)
		r->rounds += r->steps;
	else if (r->rounds < r->steps)
		r->rounds = r->steps;
}

/* Of so many rounds, those in which a micro-batch carries prompts: one that does not is
 * a draw of each that may, and all chunks of one prompt are one draw. */
static double rounds_that_carry(const struct loop *l, const struct riding *r,
				double rounds)
{
	double draws = r->turns, none = 1, chunks = l->prompt / r->each;
	double empty = 1 - fmin(1, r->passes / r->turns / rounds);

	if (chunks > 1)
		draws /= chunks;
	none = draws > 1 ? exp(draws * log(empty)) : empty;
	return rounds * (1 - none);
}

/* Micro-batches follow each other through the stages: those with prompts first. */
static double around(const struct riding *r, struct span with, double carrying,
		     struct span without)
{
	double sum = carrying * with.stage;

	if (carrying < r->stages)
		sum += (r->stages - carrying) * without.stage;
	return sum > with.whole ? sum : with.whole;
}

/* None overtakes another: whoever decodes waits for a round's slowest. */
static double delay_in_pipeline(const struct loop *l, const struct riding *r,
				struct span with, struct span without,
				const struct point *p)
{
	double carry = 0, more;

	if (!l->closed)
		carry = rounds_that_carry(l, r, r->rounds);
	for (int wave = 0; l->closed && wave < 10; wave++) {
		double among = window_of(l, r->passes / r->turns, r->steps, wave);

		carry += rounds_that_carry(l, r, fmin(among, r->rounds)) / 10;
	}
	more = around(r, with, r->passes / carry, without) -
	       around(r, without, 0, without);
	return fmax(0, carry * more + (r->rounds - r->steps) * p->step_seconds);
}

/* A pass over so many, and until each of them has the next. */
static void decode(const struct loop *l, double requests, struct point *p)
{
	struct span step = pass_over(l, l->decode, requests, 0, 0);

	p->decoding = requests;
	p->decode_seconds = step.whole * (1 + l->drafting);
	/* a request comes again once all micro-batches have been through */
	step.stage *= fmin(requests, l->decode->context.shape.pp);
	p->step_seconds = fmax(step.whole, step.stage) * (1 + l->drafting);
}

/* Tokens before one of those that a request decodes beside, in the mean: it meets
 * prompts one after the other, each from its first token on. */
static double depth_met(const struct loop *l, double tokens)
{
	double before = 0;

	for (double left = tokens; left > 0; left -= l->prompt) {
		double met = fmin(left, l->prompt);

		before += met * met / 2;
	}
	return before / tokens;
}

/* Returns the seconds of each prompt in which nobody who met it decodes: there are more
 * passes with prompts than those of a request in a closed loop, so that it has one in
 * each, and those that are over pass while it waits, as does what the last tokens take
 * more than the first, which alone it decodes beside. */
static double others_prompts(const struct loop *l, double c, double met,
			     struct point *p)
{
	struct span with, without;
	struct riding r;
	double beside = 0, over = 0;

	ride(l, c, met, p->step_seconds, &r);
	if (r.mixes && l->closed && r.passes > r.slots)
		decode(l, fmin(c, fmax(1, c * r.slots / r.passes)), p);
	if (r.mixes)
		beside = r.passes > fmax(1, r.slots) ? c * r.slots / r.passes
			 : r.passes < 1              ? fmin(c, c * r.slots)
						     : fmin(c, c * r.slots / r.passes);
	with = pass_over(l, l->decode, beside, r.each, 0);
	without = pass_over(l, l->decode, p->decoding, 0, 0);
	if (r.mixes && l->closed && r.passes > r.slots) {
		double depth = depth_met(l, r.slots * r.each);
		struct span first = pass_at(l, l->decode, beside, r.each, 0, depth);

		over = (r.passes - r.slots) * without.stage / met;
		over += r.passes * (with.stage - first.stage) / met;
	}
	p->mixed_seconds = r.mixes ? with.whole : p->decode_seconds + with.stage;
	p->carrying_seconds = r.passes * with.stage / met;
	/* in place of a decode pass, or beside it */
	p->served_seconds = r.passes * with.stage;
	if (r.mixes)
		p->served_seconds -= fmin(r.passes, r.slots) * without.stage;
	p->served_seconds = fmax(0, p->served_seconds / met);
	p->added_seconds = fmax(0, p->served_seconds - over);
	if (r.turns > 1) {
		p->added_seconds = delay_in_pipeline(l, &r, with, without, p);
		if (over > 0)
			p->added_seconds -= (r.rounds - r.steps) * p->step_seconds;
		p->added_seconds = fmax(0, p->added_seconds / met);
	}
	return over;
}

/* The first token comes when all prompts of its pass have left the last stage. */
static double in_company_of(const struct loop *l, double prompts)
{
	struct span all, alone;

	if (l->decode->context.shape.pp <= 1 || prompts - 1 <= 1e-9)
		return 0;
	all = pass_over(l, l->decode, 0, prompts * l->prompt, 0);
	alone = pass_over(l, l->decode, 0, l->prompt, 0);
	return fmax(0, all.whole - alone.whole - (all.stage - alone.stage));
}

/* Of the passes of a burst, a mean over its prompts: how many run together, how many of
 * these in one micro-batch, and how many when the same come again. */
struct burst {
	double together, dealt, again;
};

/* One pass after the other: what it takes brings those of the next, the first is alone
 * where they are received one by one. Who is behind others that decode is dealt out. */
static struct burst burst_of(const struct loop *l, double c)
{
	double fit = fmax(1, l->decode->budget_tokens / l->prompt), rest = c, clock = 0;
	double host = l->s->stack.serving.prompt_seconds, last = 0, grows = 0;
	double lanes = fmin(l->decode->context.shape.pp, c < 1 ? 1 : c);
	struct span one = run_prompts_of(l, 1, 0);
	double now = host > 0 ? 1 : fmin(fit, c);
	struct burst b = { 0, 0, 0 };

	if (fit > 1)
		grows = pass_over(l, l->decode, 0, l->decode->budget_tokens, 0).stage -
			one.stage;
	while (rest > 0) {
		double takes = one.stage, next = rest, these = now;
		bool out = clock >= one.whole, decode = c - now - last >= 1;

		/* further ones at what a full pass takes more, or as long again */
		takes += (now - 1) * (fit > 1 ? grows / (fit - 1) : one.stage);
		if (host > 0)
			next = takes / host;
		if (next > fit * (out ? lanes : 1))
			next = fit * (out ? lanes : 1);
		if (next < 1)
			next = 1;
		if ((out || lanes <= 1) && next <= now)
			these = rest;
		b.together += these * now / c;
		b.dealt += these / c * fmax(1, out ? now / lanes : now);
		b.again += these / c * fmax(1, decode ? now / lanes : now);
		clock += takes;
		rest -= these;
		last = now;
		now = next < rest ? next : rest;
	}
	return b;
}

/* How many there are with it, in a burst and in nine waves behind it. */
static double with_company(const struct loop *l, double c, const struct point *p)
{
	/* as many as a pass has room for, and as there are */
	double most = fmin(c, fmax(1, l->decode->budget_tokens / l->prompt));
	double prompts = 0, host = l->s->stack.serving.prompt_seconds;
	struct burst burst;
	struct riding r;

	ride(l, c, c - 1, p->step_seconds, &r);
	if (r.stages <= 1 || c <= 1 || p->served_seconds <= 0)
		return 0;
	burst = burst_of(l, c);
	for (int wave = 1; wave < 10; wave++) {
		double decoding = r.steps * p->step_seconds, still = 1;
		double came = c / r.turns * p->step_seconds /
			      window_of(l, c * one_by_one(l, p), decoding, wave);

		came = came < 1 ? 1 : came > most ? most : came;
		/* those who began together, but for what lengths differ, and where
		 * they are not in line all the time */
		if (r.mixes)
			still += (burst.again - 1) * (p->step_seconds + host) /
				 (p->step_seconds + host +
				  window_of(l, 0, decoding, wave)) *
				 fmin(1, decoding / (c * one_by_one(l, p)));
		prompts += fmax(came, still) / 9;
	}
	return (in_company_of(l, burst.dealt) + 9 * in_company_of(l, prompts)) / 10;
}

/* Prompts that its passes behind the first token carry. */
static double most_behind(const struct loop *l, double c)
{
	struct riding r;

	if (l->output <= 1)
		return 0;
	ride(l, c, c - 1, 1, &r);
	return r.mixes ? r.slots * (1 - 1 / l->output) * r.each / l->prompt : c - 1;
}

/* Half of the others, and the other half of those in the same pass; but not those that
 * run in other micro-batches meanwhile. */
static double before_in_burst(const struct loop *l, double c)
{
	double together = fmin(c, fmax(1, l->decode->budget_tokens / l->prompt));
	struct burst b = burst_of(l, c);

	return (c + together) / 2 - 1 - b.together + b.dealt;
}

/* A burst runs its prompts while nobody decodes, in full passes over nothing else: by
 * so much they take longer than later ones, over ten waves. */
static double longer_in_burst(const struct loop *l, double c, const struct point *p)
{
	double tokens = fmin(l->decode->budget_tokens, c * l->prompt);
	double each = pass_over(l, l->decode, 0, tokens, 0).stage / tokens * l->prompt;

	if (!beside_decoding(l) || each <= p->served_seconds)
		return 0;
	return (each - p->served_seconds) * before_in_burst(l, c) / 10;
}

/* Ten waves, of which the first is a burst. */
static double ahead_in_waves(const struct loop *l, double c, double cycle,
			     const struct point *p)
{
	double alone = p->prefill_seconds + p->begin_seconds, decoding = cycle - alone;
	double together = fmax(1, l->decode->budget_tokens / l->prompt);
	double sum = before_in_burst(l, c);
	double others = (c - 1) * (1 - 1 / (2 * together));

	if (!beside_decoding(l)) {
		sum = 0;
		for (int wave = 0; wave < 10; wave++) {
			struct clump k = clump_of(l, c, p->step_seconds, wave);

			sum += before_in_clump(&k);
		}
		return fmin(c - 1, sum / 10);
	}
	for (int wave = 1; wave < 10; wave++) {
		double window = window_of(l, c * one_by_one(l, p), decoding, wave), r;

		window = fmin(window, decoding);
		r = stay_of(&(struct queue){ others + 1, p->served_seconds, window,
					     alone });
		sum += others * r / (r + window);
	}
	return fmin(c - 1, sum / 10);
}

/* A process receives one after the other. */
static void receive(const struct loop *l, double n, double processes, struct point *p)
{
	double each = l->s->stack.serving.prompt_seconds;
	double rest = (l->output - 1) * p->tpot_seconds, least;

	if (!l->closed) {
		double away = fmax(0, p->ttft_seconds + rest - each);
		double in = stay(fmax(1, n / processes), each, away);

		p->received_seconds = bunching(l) * fmax(0, in - each);
	} else {
		each /= processes;
		least = n * each - rest;
		p->received_seconds = p->ahead * fmax(0, each - p->served_seconds);
		p->received_seconds =
			fmax(p->received_seconds, least - p->ttft_seconds);
	}
	p->ttft_seconds += p->received_seconds;
}

/* How a request fares that comes at a rate. */
struct arrival {
	double mean;           /* of them here */
	double decoding, half; /* seconds alone, of half a pass without prompts */
	double each;           /* of the server for a prompt */
	double fit;            /* prompts of a full pass */
	double most;           /* seconds that such a pass adds to each of a request */
	double waits, behind, beside, seconds;
};

/* Of a full pass with prompts each has its share, and of the decode pass that it is
 * too, unless there are more of them than decode passes. Who waits fills up the last
 * pass of the one before, so that all are full. */
static void time_of_prompt(const struct loop *l, double c, const struct point *p,
			   struct arrival *a)
{
	struct riding r;
	double part = 1, beside, seconds;

	ride(l, c, a->mean, p->step_seconds, &r);
	a->fit = r.room / l->prompt;
	a->each = p->served_seconds;
	a->most = p->added_seconds * a->fit;
	if (!r.mixes)
		part = 0;
	else if (r.passes > r.slots)
		part = r.slots / r.passes;
	if (r.each * (1 + 1e-9) < fmin(r.room, l->prompt)) {
		beside = r.mixes ? fmin(c, c * r.slots / fmax(1, r.passes)) : 0;
		seconds = pass_over(l, l->decode, beside, r.room, 0).stage;
		seconds -= part * pass_over(l, l->decode, p->decoding, 0, 0).stage;
		seconds = fmax(0, seconds) / a->fit;
		if (a->each > 0)
			a->most *= seconds / a->each;
		a->each = seconds;
	}
	/* of none where prompts run first */
	a->each += part / a->fit * (a->half + a->half);
}

/* In so many seconds behind its arrival, of which `now` came with it: regular gaps
 * bring whole ones, Poisson's as many as at any time, and clumps half of their excess
 * more. */
static double came(const struct loop *l, double rate, double seconds, double now)
{
	double scv = l->s->plan.serving.arrival_scv, mean = rate * seconds - now;

	if (scv >= 1)
		return mean + 0.5 * (scv - 1);
	return mean - (1 - scv) * (mean - floor(mean));
}

/* What is left of the pass that one finds, and the prompts that come in that, and as
 * many that came in what is over of it, run with one's own as far as a pass has room.
 * Then pass by pass each carries who came during the one before, the last of them a
 * part, or all are full. */
static void arrive(const struct loop *l, double rate, const struct point *p,
		   struct arrival *a)
{
	double busy = rate * a->each, left = l->output / l->gain, pass, rest, sum, all;
	double own = p->served_seconds;
	double grown = rate * p->added_seconds, varies;

	varies = (l->s->plan.serving.arrival_scv + l->spread * l->spread) / 2;
	left -= left / l->output;
	rest = varies * busy * a->each / ((1 - busy) * (1 + busy));
	rest += beside_decoding(l) ? a->half / (1 - busy) : a->half;
	a->beside = fmin(rate * rest, fmax(1, a->fit) / 2 - 0.5);
	a->waits = rest * (1 + busy) - a->half + a->beside * own;
	a->behind = 0;
	sum = a->decoding;
	if (left > 0 && grown > 0) {
		/* a series that hardly ends is one that ends late */
		grown = fmin(grown, 0.99999);
		all = a->decoding / left / (1 - grown);
		pass = came(l, rate, a->waits + own + 3 * a->half, a->beside) / rate;
		/* what is above the steady pass shrinks from pass to pass */
		sum = (pass - all) * (grown - exp((left + 1) * log(grown))) /
		      (1 - grown);
		sum = fmax(a->decoding, sum + left * all);
		if (beside_decoding(l))
			sum = fmin(sum, a->decoding + left * a->most);
		a->behind = (sum - a->decoding) / p->added_seconds;
	}
	a->seconds = p->prefill_seconds + p->begin_seconds + sum + a->waits;
}

/* The rate that keeps `mean` of them here. */
static void meet_arrivals(const struct loop *l, double c, struct arrival *a,
			  struct point *p)
{
	double low = 0, high, slowest;

	time_of_prompt(l, c, p, a);
	/* full passes delay who decodes by no more, however many come */
	slowest = beside_decoding(l) ? a->each : fmax(a->each, p->added_seconds);
	high = a->mean / (p->prefill_seconds + p->begin_seconds + a->decoding);
	if (slowest > 0)
		high = fmin(high, (1 - 1e-12) / slowest);
	for (int i = 0; i < 100; i++) {
		double rate = low + (high - low) / 2;

		arrive(l, rate, p, a);
		if (a->seconds * rate < a->mean)
			low = rate;
		else
			high = rate;
	}
	arrive(l, low, p, a);
	/* no rate above what prompts are let through at: the others wait for them */
	if (slowest > 0 && low > (1 - 1e-9) / slowest && low * a->seconds < a->mean)
		a->waits += a->mean / low - a->seconds;
	p->served_seconds = a->each;
	p->ahead = a->each > 0 ? a->waits / a->each : 0;
	p->behind = a->behind;
	p->company_seconds = in_company_of(l, 1 + a->beside + a->beside);
}

/* c requests follow each other. */
static void meet_loop(const struct loop *l, double c, double own, double over,
		      struct point *p)
{
	double others = c - 1;

	p->ahead = fmin(others, bunching(l) * others * p->served_seconds / own);
	if (others * (p->added_seconds + over) > 0)
		p->ahead = ahead_in_waves(
			l, c, own + others * p->added_seconds + others * over, p);
	p->ahead = fmax(p->ahead, others - most_behind(l, c));
	p->behind = others - p->ahead;
	/* what delays nobody behind is waited for before */
	if (over > 0)
		p->served_seconds = p->served_seconds - over + others * over / p->ahead;
	else if (p->ahead > 0)
		p->served_seconds += longer_in_burst(l, c, p) / p->ahead;
}

static void continuous(const struct loop *l, double all, double c, struct point *p)
{
	double steps = l->output / l->gain, stages = l->decode->context.shape.pp;
	double turns = c < stages ? c : stages, next, met = c - 1, running = c - 1;
	double decoding, over = 0;

	if (!l->closed)
		met = p->requests;
	if (met > 0)
		over = others_prompts(l, c, met, p);
	decoding = (l->output - 1) * p->step_seconds / l->gain;
	if (!l->closed)
		running = met * decoding / (p->prefill_seconds + decoding);
	/* the micro-batch that is scheduled next */
	next = p->step_seconds / turns * (l->closed ? 1 : 0.5);
	p->begin_seconds = passes_held(l, c, steps) * p->decode_seconds + next;
	p->begin_seconds *= fmin(1, running);
	if (l->closed)
		p->company_seconds = with_company(l, c, p);
	if (l->closed)
		meet_loop(l, c, p->prefill_seconds + p->begin_seconds + decoding, over,
			  p);
	else
		meet_arrivals(l, c,
			      &(struct arrival){ .mean = met,
						 .decoding = decoding,
						 .half = fmin(1, running) * next },
			      p);
	p->tpot_seconds = p->step_seconds / l->gain;
	if (l->output > 1)
		p->tpot_seconds +=
			p->behind * p->added_seconds / fmax(1, l->output - 1);
	p->ttft_seconds = p->prefill_seconds + p->begin_seconds + p->company_seconds +
			  p->ahead * p->served_seconds;
	receive(l, all, 1, p);
}

static void static_batch(const struct loop *l, double c, struct point *p)
{
	/* of all batches, that many have one more than the others */
	double larger = fmod(c, 1), all;

	all = fmax(p->prefill_seconds, run_prompts_of(l, c - larger, 0).whole);
	if (larger > 0)
		all = (1 - larger) * all +
		      larger * fmax(p->prefill_seconds,
				    run_prompts_of(l, c - larger + 1, 0).whole);
	p->ttft_seconds = all;
	p->ahead = c - 1;
	p->served_seconds =
		c > 1 ? (p->ttft_seconds - p->prefill_seconds) / (c - 1) : 0;
	p->added_seconds = p->served_seconds;
	p->carrying_seconds = p->ttft_seconds / c;
	p->tpot_seconds = p->step_seconds / l->gain;
}

/* --- a pool of prompts --- */

struct pool {
	double n, here, dp, most, alone, full;
};

/* A pass over so many prompts takes a part of its own and one for each. */
static double pass_of(const struct pool *p, double prompts)
{
	double each = p->most > 1 ? (p->full - p->alone) / (p->most - 1) : 0;

	return fmax(p->alone, fmax(0, p->alone - each) + each * prompts);
}

static double abreast(const struct loop *l, double prompts)
{
	double dp = l->prompts->context.shape.dp;

	return run_prompts_of(l, fmax(1, prompts / dp), fmin(dp, prompts)).stage;
}

static void open_pool(const struct loop *l, double n, struct pool *p)
{
	bool cut = l->s->plan.serving.chunked_prefill;
	double budget = l->prompts->budget_tokens, fit = 0;

	p->n = fmax(1, n);
	p->here = n;
	p->dp = l->prompts->context.shape.dp;
	while (!cut && (fit + 1) * l->prompt <= budget)
		fit++;
	if (cut)
		fit = budget / l->prompt;
	p->most = fmax(1, fit) * p->dp;
	if (l->closed && p->most > p->n)
		p->most = p->n;
	p->alone = abreast(l, 1);
	p->full = abreast(l, p->most);
	/* no pass is left part empty where prompts are cut */
	if (cut && (!l->closed || p->most < p->n))
		p->full = fmin(p->full,
			       p->most / p->dp * l->prompt / budget *
				       pass_over(l, l->prompts, 0, budget, 0).stage);
}

/* Who came during one pass runs in the next: k = n pass / (window + pass), halved until
 * it holds; where more come than one takes, for those before. */
static double stay_in_window(const struct pool *p, double window)
{
	double each = p->most > 1 ? (p->full - p->alone) / (p->most - 1) : 0;
	double rest = fmax(0, p->alone - each), low = 0, high = p->n, others, share;

	for (int i = 0; i < 200; i++) {
		double k = (low + high) / 2,
		       pass = each > 0 ? rest + each * k : p->alone;

		if (p->n * pass > k * (window + pass))
			low = k;
		else
			high = k;
	}
	share = p->full / p->most;
	if (low >= p->most * (1 - 1e-12) && p->most < p->n)
		return p->full + stay(p->n, share, window) - share;
	low = fmin(low, p->most);
	others = fmin(1, low * (1 - 1 / p->n));
	return pass_of(p, low) * (1 + others / 2);
}

/* The first alone, then full passes, in the middle of which a request is. */
static double stay_in_burst(const struct pool *p)
{
	double others = p->n - 1, pass = pass_of(p, fmin(p->most, others));

	if (others <= 0)
		return p->alone;
	return p->alone + others / p->n * pass * fmax(1, (others / p->most + 1) / 2);
}

/* Of so many in a second, who each find what is left of a pass and of those before. */
static double stay_when(const struct loop *l, const struct pool *p, double rate)
{
	double each = p->most > 1 ? (p->full - p->alone) / (p->most - 1) : 0;
	double rest = fmax(0, p->alone - each), pass = p->full, found, queue;

	if (each * rate < 1 && rest / (1 - each * rate) < pass)
		pass = rest / (1 - each * rate);
	if (pass < p->alone)
		pass = p->alone;
	found = rate * pass < 1 ? rate * pass * pass : pass;
	queue = 1 - rate * p->full / p->most;
	return pass + found / 2 / queue *
			      (l->s->plan.serving.arrival_scv + l->spread * l->spread);
}

static double stay_of_those_who_come(const struct loop *l, const struct pool *p,
				     double away)
{
	double few = 0, many = p->most / p->full * (1 - 1e-12);

	for (int i = 0; i < 100; i++) {
		double rate = few + (many - few) / 2;

		if ((away + stay_when(l, p, rate)) * rate >= p->here)
			many = rate;
		else
			few = rate;
	}
	return stay_when(l, p, few);
}

static double stay_of_prompts(const struct loop *l, const struct pool *p, double away,
			      double decoding)
{
	double service = p->full / p->most, sum;

	if (!l->closed)
		return fmax(stay_of_those_who_come(l, p, away),
			    p->here * service - away);
	sum = stay_in_burst(p);
	for (int wave = 1; wave < 10; wave++)
		sum += stay_in_window(
			p, fmin(away, window_of(l, p->n * service, decoding, wave)));
	sum /= 10;
	/* no more than all alone, no less than the pool takes for all of them */
	return fmax(fmin(p->n * p->alone, sum), p->n * service - away);
}

/* --- what travels --- */

double twin_request_bytes(const struct serve_context *c, int64_t tokens)
{
	const struct scenario *s = c->scenario;
	const struct model *m = &s->model;
	int64_t block = s->plan.serving.kv_block > 1 ? s->plan.serving.kv_block : 1;
	int64_t held = 0, stages = (int64_t)c->shape.pp, stage = 0;
	double mean = 0;

	while (held < tokens)
		held += block;
	for (int k = 0; k < m->kinds; k++)
		mean += c->layers[k] *
			model_cache_bytes(m, &m->kind[k], (double)held, c->shape.tp,
					  c->kv_bytes / c->shape.kv_shards);
	/* the fullest stage: layers are dealt out one by one */
	for (int64_t layer = 0; layer < m->layers; layer += stages)
		stage++;
	return mean / (double)m->layers * (double)stage;
}

/* What SGLang leaves by itself, in MiB: for what it captures, parts of prompts, ranks,
 * and who drafts. */
static double twin_share(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;
	double card = s->cluster.accelerator.memory_bytes / 1048576 / 1024,
	       seen = s->cluster.accelerator.usable_bytes / 1048576;
	int64_t ranks = s->plan.tp * v->dp_attention;
	double captured = 512, part = 16384, mib = 512;

	if (v->memory_share > 0)
		return v->memory_share;
	if (s->stack.serving.share_of != SHARE_STATIC)
		return 0.9;
	if (card < 160)
		captured = ranks < 4 ? 256 : 512;
	if (card < 60)
		captured = ranks < 4 ? 32 : 160;
	if (card < 35)
		captured = ranks < 4 ? 24 : 80;
	if (card < 20)
		captured = 8;
	if (v->chunked_prefill)
		part = server_usual_tokens(s);
	if (v->max_batched_tokens > 0)
		part = (double)(v->max_batched_tokens *
				(v->chunked_prefill ? v->dp_attention : 1));
	mib += (part < 2048 ? 2048 : part) * 1.5 + captured * 2;
	mib += (double)(ranks * s->plan.pp) / 8 * 1024;
	if (v->dp_attention > 1)
		mib += captured * (double)v->dp_attention * 3;
	if (v->dp_attention > 1 && captured > 300)
		mib += captured * (double)v->dp_attention * 1.5;
	if (seen > 60 * 1024 && mib < 10240)
		mib = 10240;
	mib += v->speculative == SPECULATIVE_MTP     ? 2048
	       : v->speculative == SPECULATIVE_DRAFT ? 6144
						     : 0;
	mib = floor((seen - mib) / seen * 1000 + 0.5) / 1000;
	return mib < 0.001 ? 0.001 : mib;
}

double twin_room(const struct server *server, const struct stage_memory *held,
		 double most)
{
	const struct scenario *s = server->context.scenario;
	const struct serving_plan *v = &s->plan.serving;
	double gpu = s->cluster.accelerator.usable_bytes, share = twin_share(s), bytes;
	double tokens = (double)v->prompt_len + (double)v->output_len / 2, room = 0;
	int64_t prefix = 0;

	if (s->stack.serving.reserves || v->batching == BATCHING_STATIC)
		tokens += (double)v->output_len / 2;
	if (v->prefix_cache)
		prefix = (int64_t)(v->shared_prefix * (double)v->prompt_len);
	if (s->stack.serving.share_of == SHARE_OF_GPU)
		bytes = gpu * share + s->stack.context_bytes - held->total_bytes;
	else if (s->stack.serving.share_of == SHARE_STATIC)
		bytes = (gpu - held->framework_bytes) -
			(1 - share) * (gpu - held->framework_bytes) -
			held->weights_bytes;
	else
		bytes = share * (gpu - held->total_bytes);
	if (bytes > (gpu - held->total_bytes) * (1 + 1e-12))
		return 0;
	/* a prefix is there once, for all */
	if (prefix > 0)
		bytes -= twin_request_bytes(&server->context, prefix);
	tokens = ceil(tokens - (double)prefix);
	for (double one = twin_request_bytes(&server->context, (int64_t)tokens);
	     room < most && (room + 1) * one <= bytes;)
		room++;
	return room;
}

/* A prompt's cache goes to every rank of an engine; where fewer send than take, each
 * sends for several. */
static double travels(const struct loop *l, double rate)
{
	const struct engine_shape *to = &l->decode->context.shape;
	const struct engine_shape *from = &l->prompts->context.shape;
	double bytes =
		twin_request_bytes(&l->decode->context, l->s->plan.serving.prompt_len);
	double takers = to->tp * to->pp, senders = from->tp * from->pp;

	if (takers > senders)
		bytes *= takers / senders;
	return bytes / rate + l->s->cluster.link[LINK_NETWORK].latency_seconds;
}

/* Of a pass, the seconds that its collectives have a rank's NIC, and all of it. */
static struct span on_nic(const struct loop *l, const struct server *server,
			  double requests, double tokens, double rate)
{
	double stages = server->context.shape.pp;
	struct batch b = { .requests = requests, .captured = !(tokens > 0) };
	struct pass pass;

	if (requests > 1)
		b.requests = requests > stages ? requests / stages : 1;
	b.tokens_each = 1;
	if (l->s->plan.serving.speculative != SPECULATIVE_OFF)
		b.tokens_each += (double)l->s->plan.serving.draft_tokens;
	b.context = (double)l->s->plan.serving.prompt_len +
		    0.5 * (double)l->s->plan.serving.output_len;
	b.prompt_context = l->cached + 0.5 * l->prompt;
	b.prompt_tokens = tokens;
	b.prompt_requests = tokens > 0 ? 1 : 0;
	serve_pass(&server->context, &b, false, &pass);
	return (struct span){ pass.seconds, pass.network_bytes / rate };
}

/* Both want the NIC: charged once, to whoever holds it longer. */
static void contend(const struct loop *l, double rate, struct point *p)
{
	double chunk = fmin(l->prompt, l->prompts->budget_tokens);
	struct span decodes = on_nic(l, l->decode, p->decoding, 0, rate);
	struct span prompts = on_nic(l, l->prompts, 0, chunk, rate);
	double pass_rate = p->requests * copies_of(l->decode) /
			   (p->ttft_seconds + (l->output - 1) * p->tpot_seconds);
	double running =
		fmin(1, pass_rate * p->carrying_seconds / copies_of(l->prompts));
	double here = fmin(0.9, decodes.stage / decodes.whole);
	double there = fmin(0.9, prompts.stage / prompts.whole * running);
	double longest = fmax(decodes.stage, prompts.stage), most = fmax(here, there);

	if (most <= 0)
		return;
	if (p->transfer_seconds >= longest) {
		p->nic_share = most;
		/* it gets what the others leave it */
		p->contended_seconds =
			p->transfer_seconds / (1 - most) - p->transfer_seconds;
	} else {
		double slower = 1 + here * p->transfer_seconds * pass_rate /
					    copies_of(l->decode);

		p->nic_share = there;
		p->contended_seconds = there * p->transfer_seconds;
		p->step_seconds *= slower;
		p->tpot_seconds *= slower;
	}
	p->ttft_seconds += p->contended_seconds;
}

static void apart(const struct loop *l, struct point *p)
{
	const struct link *net = &l->s->cluster.link[LINK_NETWORK];
	double rate =
		net->bytes_per_second * (net->efficiency > 0 ? net->efficiency : 1);
	double interval = fmax(1, (double)l->s->plan.serving.receive_interval);
	double output, away, stays;
	struct pool pool;

	open_pool(l, p->requests * copies_of(l->decode) / l->prompts->engines, &pool);
	p->tpot_seconds = p->step_seconds / l->gain;
	p->transfer_seconds = travels(l, rate);
	/* half a pass until it is looked at, and the pass that gives the token */
	p->begin_seconds = p->decode_seconds / 2 + p->decode_seconds;
	p->begin_seconds += (interval - 1) / 2 * fmax(0, fmin(1, p->decoding - 1)) *
			    p->decode_seconds;
	output = (l->output - 1) * p->tpot_seconds;
	away = fmax(0, p->prefill_seconds - pool.alone) + p->transfer_seconds +
	       p->begin_seconds + output;
	stays = stay_of_prompts(l, &pool, away, output);
	p->served_seconds = p->added_seconds = pool.full / pool.most;
	p->ahead = fmax(0, stays - pool.alone) / p->served_seconds;
	p->ttft_seconds = p->prefill_seconds + fmax(0, stays - pool.alone) +
			  p->transfer_seconds + p->begin_seconds;
	receive(l, pool.n, pool.dp, p);
	p->carrying_seconds = p->added_seconds * pool.dp;
	contend(l, rate, p);
}

/* GPUs of a node one by one: those of the job share the first ways to its host, each as
 * wide as what one of them has alone. */
double twin_host_rate(const struct cluster *c)
{
	double shared = c->accelerator.host_bytes_per_second;
	double alone = c->accelerator.host_alone_bytes_per_second;
	int users = 0;

	for (int64_t i = 0; i < c->gpus && i < c->gpus_per_node; i++)
		users++;
	return shared > 0 ? fmax(shared, alone / users) : 0;
}

/* What is found on the host is copied over the link of a rank, one request after the
 * other; a stack that copies by layers shows the first one's share of what hides. */
static void load(const struct loop *l, double requests, struct point *p)
{
	const struct cluster *c = &l->s->cluster;
	double rate = twin_host_rate(c), copy;
	double layers = (double)l->s->model.layers, here;

	if (l->reloaded <= 0 || rate <= 0)
		return;
	copy = twin_request_bytes(&l->prompts->context, (int64_t)l->reloaded) / rate;
	here = stay(requests * copies_of(l->decode) / copies_of(l->prompts), copy,
		    p->ttft_seconds + (l->output - 1) * p->tpot_seconds);
	p->load_seconds = here;
	if (l->s->stack.serving.loads_by_layer)
		p->load_seconds -= fmin(copy, p->prefill_seconds) * (1 - 1 / layers);
	p->ttft_seconds += p->load_seconds;
}

void twin_point(const struct serving_run *run, double requests, double decoding,
		struct point *p)
{
	double c = requests > 1 ? requests : 1, all;
	struct span prompt;
	struct loop l;

	open_loop(run, &l);
	*p = (struct point){ .requests = requests, .gain = l.gain };
	decode(&l, decoding, p);
	p->mixed_seconds = p->decode_seconds;
	prompt = run_prompts_of(&l, 1, l.apart ? 1 : 0);
	p->prefill_seconds = prompt.whole;
	p->carrying_seconds = l.apart ? prompt.stage : prompt.whole;
	if (l.apart)
		apart(&l, p);
	else if (l.s->plan.serving.batching == BATCHING_STATIC)
		static_batch(&l, c, p);
	else
		continuous(&l, c, decoding, p);
	load(&l, c, p);
	all = requests * copies_of(l.decode);
	p->requests_per_second =
		all / (p->ttft_seconds + (l.output - 1) * p->tpot_seconds);
	p->tokens_per_second = l.output * p->requests_per_second;
	p->prefill_share = fmin(1, p->requests_per_second * p->carrying_seconds /
					   copies_of(l.prompts));
}
