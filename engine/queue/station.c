/* station.c - one server of a pool: who is let in, what a pass carries, who leaves. */
#include <math.h>

#include "engine/queue/queue_parts.h"

void station_open(struct station *at, const struct queue_pool *pool, bool front,
		  struct ending *heap)
{
	static const struct line empty = { NOBODY, NOBODY, 0 };

	*at = (struct station){ .pool = pool,
				.waiting = empty,
				.filling = empty,
				.leaving = empty,
				.running = empty,
				.heap = heap,
				.hands_over = front,
				.host_last = -INFINITY,
				.end = INFINITY };
}

double station_cached(const struct station *at, const struct request *r)
{
	return at->pool->cached + r->cached;
}

/* --- who is let in --- */

/* Of the cache, when it is let in: its prompt, or what else it has to compute. What all
 * prompts share is held once; prefixes of a list are counted with each that has them.
 */
static double taken_by(const struct station *at, const struct request *r)
{
	double own = r->fill > 0 ? r->fill + r->cached
				 : fmax(0, r->prompt - at->pool->cached);

	return own + (at->pool->reserves ? r->output : 1);
}

/* Tokens that it and all inside have still to write. */
static double to_come(const struct station *at, const struct request *r)
{
	double passes =
		(double)(at->finishes - (int64_t)at->running.count * at->passes);

	return passes * at->pool->gain + at->unwritten + r->output;
}

static bool has_room(const struct station *at, const struct request *r)
{
	double tokens = taken_by(at, r);
	int inside = at->filling.count + at->leaving.count + at->running.count;

	if (at->pool->most_requests > 0 && inside >= at->pool->most_requests)
		return false;
	/* what is too large for an empty cache is let in alone */
	return inside == 0 ||
	       at->used + tokens + at->pool->expects * to_come(at, r) <= at->pool->room;
}

static void begin_decoding(struct station *at, struct simulation *s, int32_t who)
{
	struct request *r = &s->request[who];

	r->begun = at->passes;
	r->finish = at->passes + r->left;
	at->finishes += r->finish;
	at->context += r->prompt + r->output - r->left * at->pool->gain;
	line_add(&at->running, s->request, who);
	heap_add(at, (struct ending){ r->finish, who });
}

/* Whose prompt has left the last stage of a pipeline has a token to go on from; a
 * static batch goes on together. */
static void begin_those_out(struct station *at, struct simulation *s, double now)
{
	if (at->pool->scheduler == SERVE_STATIC && at->leaving.count > 0 &&
	    s->request[at->leaving.last].ready > now)
		return;
	while (at->leaving.count > 0 && s->request[at->leaving.first].ready <= now) {
		int32_t who = at->leaving.first;

		line_drop(&at->leaving, s->request, who);
		at->unwritten -= s->request[who].output;
		begin_decoding(at, s, who);
	}
}

/* When the next one may decode. */
static double next_out(const struct station *at, const struct simulation *s)
{
	int32_t who = at->pool->scheduler == SERVE_STATIC ? at->leaving.last
							  : at->leaving.first;

	return at->leaving.count > 0 ? s->request[who].ready : INFINITY;
}

/* --- when somebody is let in --- */

/* Requests that wait are seen from time to time while others decode; at once where
 * nobody does, or behind a pass with prompts. */
static void look(struct station *at)
{
	if (at->running.count > 0 && at->blind < at->pool->look_interval)
		return;
	at->seen = at->waiting.count;
	at->blind = 0;
}

static double tokens_waiting(const struct station *at, const struct simulation *s)
{
	double tokens = at->running.count * at->pool->each;
	int32_t i = at->waiting.first;

	for (int k = 0; k < at->seen && i != NOBODY && tokens < at->pool->fill; k++) {
		tokens += s->request[i].fill;
		i = s->request[i].next;
	}
	return tokens;
}

/* Whether the prompts that were seen wait for more; who has no room, or finds no budget
 * left, does not wait for others. */
static bool holds_back(struct station *at, const struct simulation *s, double left)
{
	bool waits = at->running.count > 0 && at->seen > 0 && left >= 1 &&
		     at->held < at->pool->prompt_wait &&
		     has_room(at, &s->request[at->waiting.first]) &&
		     tokens_waiting(at, s) < at->pool->fill;

	if (!waits)
		at->held = 0;
	return waits;
}

/* Decode passes until somebody may be let in, beyond those that end somebody. Who is
 * held back, or has just given its cache back, is looked at again behind the next. */
static double undisturbed(const struct station *at, bool again)
{
	if (again)
		return 1;
	if (at->waiting.count > at->seen)
		return fmax(1, (double)(at->pool->look_interval - at->blind));
	return INFINITY;
}

/* Its cache is taken; it begins with its prompt, or has it already. */
static void let_in(struct station *at, struct simulation *s)
{
	int32_t who = at->waiting.first;
	struct request *r = &s->request[who];

	line_drop(&at->waiting, s->request, who);
	at->seen--;
	r->held = taken_by(at, r);
	at->used += r->held;
	if (r->fill > 0) {
		line_add(&at->filling, s->request, who);
		at->unwritten += r->output;
	} else {
		begin_decoding(at, s, who);
	}
}

/* What it has written since it began to decode, where that was not set aside. */
static double grown(const struct station *at, const struct request *r)
{
	return at->pool->reserves ? 0
				  : (double)(at->passes - r->begun) * at->pool->gain;
}

/* Its cache, all but the last token's, is copied to the host and, the link has two
 * directions, back when that is free. */
static void swap(struct station *at, struct simulation *s, int32_t who, double written,
		 double now)
{
	struct request *r = &s->request[who];
	double tokens = fmax(0, r->prompt - at->pool->cached + written - 1);

	r->fill = 1;
	r->cached = (int32_t)tokens;
	s->out->swapped_tokens += tokens;
	simulation_fetch(s, at, who, tokens, now);
}

/* The youngest gives its cache back and begins again, with what it has written. */
static void preempt(struct station *at, struct simulation *s, double now)
{
	int32_t who = at->running.last;
	struct request *r = &s->request[who];
	double left = (double)(r->finish - at->passes);
	double written = r->output - left * at->pool->gain;

	line_drop(&at->running, s->request, who);
	at->finishes -= r->finish;
	at->context -= r->prompt + written;
	at->used -= r->held + grown(at, r);
	r->left = (int32_t)left;
	heap_forget(at, who);
	s->out->preempted++;
	if (at->pool->swaps) {
		swap(at, s, who, written, now);
		return;
	}
	r->fill = (int32_t)fmax(1, r->prompt - station_cached(at, r) + written);
	line_insert(&at->waiting, s->request, who, NOBODY);
	at->seen++;
	s->out->recomputed_tokens += r->fill;
}

/* --- what a pass carries --- */

struct carried {
	double tokens, context; /* of prompts: sum of what each attends over */
	int prompts;
};

static void carry(const struct station *at, struct request *r, double *left,
		  struct carried *c)
{
	double cached = fmin(r->prompt - 1, station_cached(at, r));
	double written = r->first < 0 ? 0 : r->output - r->left * at->pool->gain;
	double whole = fmax(1, floor(r->prompt - station_cached(at, r) + written));
	double chunk = at->pool->unsplit ? r->fill : fmin(*left, r->fill), before;

	/* a chunk attends over what lies before it and half of itself */
	before = cached + whole - r->fill;
	r->chunk = (int32_t)chunk;
	c->tokens += chunk;
	c->prompts++;
	c->context += chunk * (before + chunk / 2);
	*left -= chunk;
}

/* What is not cut waits for a pass that it fits, or has for itself. */
static bool fits_beside(const struct station *at, const struct request *r, double left,
			const struct carried *c)
{
	return !at->pool->unsplit || c->tokens <= 0 || r->fill <= left;
}

static void take_prompts(struct station *at, struct simulation *s, double left,
			 struct carried *c)
{
	/* a batch comes as a whole, and no other before it is done */
	bool whole = at->pool->scheduler == SERVE_STATIC;
	bool full = whole && (at->running.count > 0 || at->filling.count > 0 ||
			      at->leaving.count > 0);

	for (int32_t i = at->filling.first; i != NOBODY && left >= 1;
	     i = s->request[i].next)
		carry(at, &s->request[i], &left, c);
	while (!full && at->seen > 0 && (left >= 1 || whole) &&
	       has_room(at, &s->request[at->waiting.first]) &&
	       fits_beside(at, &s->request[at->waiting.first], left, c)) {
		struct request *r = &s->request[at->waiting.first];

		let_in(at, s);
		if (r->fill > 0 && left >= 1)
			carry(at, r, &left, c);
	}
}

/* Of a pass, or, where requests decode, of all micro-batches of a round. */
static double budget_of(const struct station *at)
{
	return at->pool->budget *
	       (at->running.count > 0 ? fmax(1, at->pool->lanes) : 1);
}

static struct queue_seconds seconds_of(const struct station *at, double requests,
				       double context, const struct carried *c)
{
	struct queue_pass pass = {
		.requests = requests,
		.context = context,
		.prompt_tokens = c->tokens,
		.prompt_context = c->tokens > 0 ? c->context / c->tokens : 0,
		.prompts = c->prompts,
		.copies = at->beside,
		.aside = at->running.count - requests,
	};

	return at->pool->cost(at->pool->server, &pass);
}

/* Until a prompt is out, or another comes. */
static void wait_for_prompt(struct station *at, const struct simulation *s)
{
	at->count = 0;
	at->decodes = false;
	at->idles = at->leaving.count > 0;
	at->end = next_out(at, s);
}

/* Passes until somebody ends, may be let in, or the cache is full. */
static void run_decoding(struct station *at, double now, bool again)
{
	static const struct carried none = { 0, 0, 0 };
	double n = at->running.count, mean = at->context / n;
	double passes = (double)(at->heap[0].finish - at->passes);
	struct queue_seconds first = seconds_of(at, n, mean, &none), last;

	passes = fmin(passes, undisturbed(at, again));
	if (!at->pool->reserves && at->running.count > 1)
		passes = fmin(passes, fmax(1, floor((at->pool->room - at->used) /
						    (n * at->pool->gain))));
	passes_begin(at, now, first, true);
	if (passes <= 1)
		return;
	last = seconds_of(at, n, mean + (passes - 1) * at->pool->gain, &none);
	at->count = (int64_t)passes;
	at->growth = (last.busy - at->one) / (passes - 1);
	at->end = passes_end(at, passes);
}

/* The cache grows by what everybody writes. */
static void make_room(struct station *at, struct simulation *s, double now)
{
	while (!at->pool->reserves && at->running.count > 1 &&
	       at->used + at->running.count * at->pool->gain > at->pool->room)
		preempt(at, s, now);
}

/* Of those whose cache came from another pool: with the first pass here. Who began
 * since the pass before is at the end of the line. */
static void send_first_tokens(struct station *at, struct simulation *s)
{
	const struct request *r;

	for (int32_t i = at->running.last; i != NOBODY; i = r->before) {
		r = &s->request[i];
		if (r->begun != at->passes)
			return;
		if (r->first < 0)
			simulation_first_token(s, i, at->start + at->one);
	}
}

void station_plan(struct station *at, struct simulation *s, double now)
{
	struct carried c = { 0, 0, 0 };
	bool beside = at->pool->scheduler == SERVE_MIXED;
	double left, n, context;
	int preempted = s->out->preempted;
	bool holds, lost;

	begin_those_out(at, s, now);
	make_room(at, s, now);
	lost = s->out->preempted > preempted;
	look(at);
	left = budget_of(at);
	if (beside)
		left -= at->running.count * at->pool->each;
	holds = holds_back(at, s, left);
	/* who gave its cache back is not let in by the same pass */
	if (!lost && (!holds || at->filling.count > 0))
		take_prompts(at, s, fmax(left, 0), &c);
	at->holds = holds;
	n = at->running.count;
	context = n > 0 ? at->context / n : 0;
	if (c.tokens > 0) {
		if (!beside)
			n = 0;
		passes_begin(at, now, seconds_of(at, n, context, &c), n > 0);
	} else if (n > 0) {
		run_decoding(at, now, holds || lost);
		if (at->leaving.count > 0)
			passes_cut(at, next_out(at, s));
	} else {
		wait_for_prompt(at, s);
		return;
	}
	if (at->decodes)
		send_first_tokens(at, s);
}

/* To plan anew: somebody has come. */
static void come_back(struct station *at, double now)
{
	if (at->idles)
		at->end = now;
	else if (isfinite(at->end) && at->count > 1)
		passes_cut(at, now);
}

void station_take(struct station *at, struct simulation *s, int32_t who, double now)
{
	line_add(&at->waiting, s->request, who);
	come_back(at, now);
}

void station_return(struct station *at, struct simulation *s, int32_t who, double now)
{
	line_insert(&at->waiting, s->request, who, NOBODY);
	at->seen++;
	come_back(at, now);
}

/* --- who leaves --- */

static void leave(struct station *at, struct simulation *s, int32_t who, bool decoded)
{
	struct request *r = &s->request[who];

	at->used -= r->held + (decoded ? grown(at, r) : 0);
	if (at->hands_over)
		simulation_send(s, at, who);
	else
		simulation_done(s, who, decoded ? at->end : at->end + at->trail);
}

static void end_prompt(struct station *at, struct simulation *s, int32_t who)
{
	struct request *r = &s->request[who];

	line_drop(&at->filling, s->request, who);
	if (at->hands_over) {
		at->unwritten -= r->output;
		leave(at, s, who, false);
		return;
	}
	if (r->first < 0) {
		simulation_first_token(s, who, at->end + at->trail);
		r->left = (int32_t)ceil((r->output - 1) / at->pool->gain);
	} else if (r->left > 0) {
		r->left--; /* the pass that computes it again gives a token too */
	}
	if (r->left > 0) {
		/* none overtakes another */
		r->ready = at->end + at->trail;
		if (at->leaving.count > 0)
			r->ready = fmax(r->ready, s->request[at->leaving.last].ready);
		line_add(&at->leaving, s->request, who);
		return;
	}
	at->unwritten -= r->output;
	leave(at, s, who, false);
}

static void end_prompts(struct station *at, struct simulation *s)
{
	for (int32_t i = at->filling.first, next; i != NOBODY; i = next) {
		struct request *r = &s->request[i];

		next = r->next;
		r->fill -= r->chunk;
		r->chunk = 0;
		if (r->fill <= 0)
			end_prompt(at, s, i);
	}
}

static void grow(struct station *at)
{
	double written = (double)at->count * at->pool->gain;

	at->passes += at->count;
	at->context += at->running.count * written;
	if (!at->pool->reserves)
		at->used += at->running.count * written;
}

/* Looks go on in their intervals where passes are taken together: nobody was there to
 * be seen. */
static void count_blind(struct station *at)
{
	int64_t interval = at->pool->look_interval;

	if (at->filling.count > 0 || interval < 1)
		at->blind = interval;
	else
		at->blind = (at->blind + at->count - 1) % interval + 1;
}

void station_end(struct station *at, struct simulation *s)
{
	if (at->idles) {
		at->idles = false;
		at->end = INFINITY;
		return;
	}
	s->out->passes += at->count;
	count_blind(at);
	if (at->holds)
		at->held += at->count;
	if (at->decodes)
		grow(at);
	while (at->decodes && at->heap_count > 0 && at->heap[0].finish <= at->passes) {
		int32_t who = at->heap[0].who;

		heap_drop(at, 0);
		line_drop(&at->running, s->request, who);
		at->finishes -= s->request[who].finish;
		at->context -= s->request[who].prompt + s->request[who].output;
		leave(at, s, who, true);
	}
	end_prompts(at, s);
	at->end = INFINITY;
}
