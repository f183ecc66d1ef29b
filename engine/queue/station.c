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
				.expects = pool->expects,
				.hands_over = front,
				.counted_at = -1,
				.host_last = -INFINITY,
				.end = INFINITY };
}

/* --- who is let in --- */

static void begin_decoding(struct station *at, struct simulation *s, int32_t who)
{
	struct request *r = &s->request[who];

	r->begun = at->passes;
	r->finish = at->passes + r->left;
	at->finishes += r->finish;
	at->outputs += r->output;
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
		at->unwritten -= cache_expected(at, s->request[who].output);
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

/* Whether the prompts that were seen wait for more; who has no room, or found none and
 * is not looked at before somebody ends, or finds no budget left, does not wait for
 * others. */
static bool holds_back(struct station *at, const struct simulation *s, double left)
{
	bool full = at->full && at->filling.count == 0;
	bool waits = !full && at->running.count > 0 && at->seen > 0 && left >= 1 &&
		     at->held < at->pool->prompt_wait &&
		     cache_has_room(at, &s->request[at->waiting.first]) &&
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
	r->held = cache_taken(at, r);
	at->used += r->held;
	if (r->output > at->longest)
		at->longest = r->output;
	if (r->fill > 0) {
		line_add(&at->filling, s->request, who);
		at->unwritten += cache_expected(at, r->output);
	} else {
		begin_decoding(at, s, who);
	}
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
	/* who came from another pool and lost its cache before its first token here has
	 * passes left, too */
	bool fresh = r->first < 0 && r->left == 0;
	double written = fresh ? 0 : r->output - r->left * at->pool->gain;
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
	bool none = false; /* has room */

	/* who found no room is not looked at before somebody ends */
	full |= at->full && at->filling.count == 0;
	for (int32_t i = at->filling.first; i != NOBODY && left >= 1;
	     i = s->request[i].next)
		carry(at, &s->request[i], &left, c);
	while (!full && at->seen > 0 && (left >= 1 || whole)) {
		struct request *r = &s->request[at->waiting.first];

		none = !cache_has_room(at, r);
		if (none || !fits_beside(at, r, left, c))
			break;
		let_in(at, s);
		if (r->fill > 0 && left >= 1)
			carry(at, r, &left, c);
	}
	at->full = at->pool->retracts && at->running.count > 0 && (full || none);
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

/* Prompts that are still in the stages of a pipeline are not overtaken: who decodes
 * leaves the last one behind them, once. Returns whether they are in the way. */
static bool follow(const struct station *at, double now, struct queue_seconds *pass)
{
	if (now + pass->busy >= at->before)
		return false;
	pass->busy = at->before - now;
	return true;
}

/* Where prompts run first, each micro-batch of a pipeline that carries none decodes
 * meanwhile; all are taken to do so in as large a share of the rounds. Whether this is
 * one of them. */
static bool others_decode(struct station *at, const struct carried *c)
{
	double lanes = at->pool->lanes;
	double carrying = fmin(lanes, fmax(c->tokens / at->pool->budget, c->prompts));

	if (lanes <= 1 || at->running.count == 0 ||
	    at->pool->scheduler != SERVE_PROMPTS_FIRST)
		return false;
	at->rounds += 1 - carrying / lanes;
	if (at->rounds < 1)
		return false;
	at->rounds -= 1;
	return true;
}

/* A pass over prompts, beside n that decode. */
static void run_prompts(struct station *at, double now, double n, double context,
			const struct carried *c)
{
	struct queue_seconds pass = seconds_of(at, n, context, c);

	if (n > 0)
		follow(at, now, &pass);
	passes_begin(at, now, pass, others_decode(at, c) || n > 0);
	if (at->running.count == 0)
		at->before = at->end + at->trail;
}

/* Passes until somebody ends, may be let in, or the cache is full. */
static void run_decoding(struct station *at, double now, bool again)
{
	static const struct carried none = { 0, 0, 0 };
	double n = at->running.count, mean = at->context / n;
	double passes = (double)(at->heap[0].finish - at->passes);
	struct queue_seconds first = seconds_of(at, n, mean, &none), last;

	if (follow(at, now, &first))
		passes = 1;
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
	bool holds, lost;

	begin_those_out(at, s, now);
	lost = cache_make_room(at, s, now);
	at->lost = lost;
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
		run_prompts(at, now, n, context, &c);
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

	at->full = false;
	at->used -= r->held + (decoded ? cache_grown(at, r) : 0);
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
		at->unwritten -= cache_expected(at, r->output);
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
	at->unwritten -= cache_expected(at, r->output);
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
	/* while nobody loses its cache, fewer tokens are expected */
	if (at->pool->retracts && !at->lost)
		at->expects =
			fmax(at->pool->expects_least,
			     at->expects - (double)at->count * at->pool->expects_falls);
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
		at->outputs -= s->request[who].output;
		at->context -= s->request[who].prompt + s->request[who].output;
		leave(at, s, who, true);
	}
	end_prompts(at, s);
	if (station_load(at) == 0)
		at->expects = at->pool->expects;
	at->end = INFINITY;
}
