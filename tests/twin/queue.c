/* queue.c - see queue.h. */
#include "tests/twin/queue.h"

#include <math.h>
#include <string.h>

#include "tests/support/close.h"

/* LEAVING: computed, but not out of the last stage of a pipeline. */
enum place { AWAY, COMING, WAITING, FILLING, LEAVING, RUNNING, SENT, DONE };

struct guest {
	double arrival, ready, first, end;
	double prompt, output, cached;
	enum place place;
	int desk;       /* where it waits, fills or runs */
	int turn;       /* its place there: the smallest is in front */
	double fill;    /* prompt tokens to compute, and of what it wrote */
	double done;    /* of them, since it was let in */
	double chunk;   /* in the pass under way */
	double written; /* tokens of output */
	double passes;  /* that it still decodes in */
	double held;    /* of the cache, when it was let in */
	double grown;   /* since it decodes here */
	bool seen;
};

struct desk {
	const struct queue_pool *pool;
	bool front; /* it runs prompts for others */
	double start, end, seconds, trail;
	double turns; /* that micro-batches without prompts have had */
	double alone; /* when prompts that nobody decoded beside are out */
	double tail;  /* when the last stage is done with what was in the pipeline */
	bool decodes, prompts, holds;
	int since_look, held;
	double network, reception; /* until when they are busy */
	double received;           /* when the last that it received had come */
	double expects;            /* of what those that decode have still to write */
	bool full, lost; /* who waits had no room; somebody lost his for this pass */
};

struct room {
	const struct queue_system *system;
	const struct queue_load *load;
	struct guest guest[TWIN_REQUESTS];
	struct desk desk[TWIN_SERVERS];
	int fronts, desks, begun, turn;
	struct twin_queue *out;
};

/* The n-th of those at a desk, by their turn; NULL behind the last. */
static struct guest *nth(struct room *r, int desk, enum place place, int n)
{
	for (int turn = -r->turn; turn <= r->turn; turn++)
		for (int i = 0; i < r->load->requests; i++) {
			struct guest *g = &r->guest[i];

			if (g->place == place && g->desk == desk && g->turn == turn &&
			    n-- == 0)
				return g;
		}
	return NULL;
}

static int count(const struct room *r, int desk, enum place place)
{
	int sum = 0;

	for (int i = 0; i < r->load->requests; i++)
		sum += r->guest[i].place == place && r->guest[i].desk == desk;
	return sum;
}

static void move(struct room *r, struct guest *g, enum place place)
{
	g->place = place;
	g->turn = ++r->turn;
}

static double known(const struct desk *d, const struct guest *g)
{
	return d->pool->cached + g->cached;
}

/* --- the cache --- */

static double used(const struct room *r, int desk)
{
	double sum = 0;

	for (int i = 0; i < r->load->requests; i++) {
		const struct guest *g = &r->guest[i];

		if (g->desk == desk && g->place >= FILLING && g->place <= RUNNING)
			sum += g->held + (r->desk[desk].pool->reserves ? 0 : g->grown);
	}
	return sum;
}

/* Of one output. */
static double at_most(const struct queue_pool *pool, double tokens)
{
	return pool->expects_most > 0 && tokens > pool->expects_most
		       ? pool->expects_most
		       : tokens;
}

/* Tokens that those inside have still to write, those that fill all of theirs. */
static double to_come(const struct room *r, int desk)
{
	double sum = 0;

	for (int i = 0; i < r->load->requests; i++) {
		const struct guest *g = &r->guest[i];

		if (g->desk == desk && (g->place == FILLING || g->place == LEAVING))
			sum += at_most(r->desk[desk].pool, g->output);
		if (g->desk == desk && g->place == RUNNING)
			sum += at_most(r->desk[desk].pool,
				       g->passes * r->desk[desk].pool->gain);
	}
	return sum;
}

static double needs(const struct desk *d, const struct guest *g)
{
	double own = g->fill > 0 ? g->fill + g->cached
				 : fmax(0, g->prompt - d->pool->cached);

	return own + (d->pool->reserves ? g->output : 1);
}

/* Of a server that retracts: a share of what those that decode will write, and all of
 * what the others will, and of what it has not written itself. */
static double expected(const struct room *r, int desk, const struct guest *g)
{
	const struct queue_pool *pool = r->desk[desk].pool;
	double sum = at_most(pool, g->output - (g->first < 0 ? 0 : g->written));

	for (int i = 0; i < r->load->requests; i++) {
		const struct guest *other = &r->guest[i];

		if (other->desk != desk)
			continue;
		if (other->place == RUNNING)
			sum += r->desk[desk].expects *
			       at_most(pool, other->passes * pool->gain);
		if (other->place == FILLING || other->place == LEAVING)
			sum += at_most(pool, other->output);
	}
	return sum;
}

static bool may_enter(struct room *r, int desk, const struct guest *g)
{
	const struct queue_pool *pool = r->desk[desk].pool;
	int inside = count(r, desk, FILLING) + count(r, desk, LEAVING) +
		     count(r, desk, RUNNING);
	double still = pool->expects * (to_come(r, desk) + at_most(pool, g->output));

	if (pool->retracts)
		still = expected(r, desk, g);
	if (pool->most_requests > 0 && inside >= pool->most_requests)
		return false;
	return inside == 0 ||
	       used(r, desk) + needs(&r->desk[desk], g) + still <= pool->room;
}

/* The youngest; or who wrote least, had the longest prompt, is the youngest. */
static struct guest *loser(struct room *r, int desk, int running)
{
	struct guest *worst = nth(r, desk, RUNNING, running - 1);
	const struct queue_pool *pool = r->desk[desk].pool;

	for (int n = running - 2; pool->retracts && pool->each <= 1 && n >= 0; n--) {
		struct guest *g = nth(r, desk, RUNNING, n);

		if (g->written < worst->written ||
		    (g->written <= worst->written && g->prompt > worst->prompt))
			worst = g;
	}
	return worst;
}

/* In front of all; or behind those that were seen, and before those that were not. */
static void wait_again(struct room *r, int desk, struct guest *g)
{
	int behind = -r->turn - 1;

	for (int i = 0; i < r->load->requests; i++) {
		const struct guest *other = &r->guest[i];

		if (other->desk == desk && other->place == WAITING && other->seen &&
		    other->turn > behind)
			behind = other->turn;
	}
	r->turn++;
	if (!r->desk[desk].pool->retracts)
		behind = -r->turn - 1;
	for (int i = 0; i < r->load->requests; i++)
		if (r->guest[i].place == WAITING && r->guest[i].turn > behind)
			r->guest[i].turn++;
	r->turn++;
	g->place = WAITING;
	g->turn = behind + 1;
}

/* What is expected after somebody lost his cache. */
static void expect_anew(struct room *r, int desk)
{
	double written = 0, all = 1;
	struct guest *g;

	for (int n = 0; (g = nth(r, desk, RUNNING, n)); n++) {
		written += g->written + r->desk[desk].pool->expects_ahead;
		all += g->output;
	}
	r->desk[desk].expects = written < all ? written / all : 1;
	r->desk[desk].full = false;
}

/* Before a pass for which the cache has no room somebody loses his. */
static bool make_room(struct room *r, int desk)
{
	const struct queue_pool *pool = r->desk[desk].pool;
	bool any = false;

	for (int n = count(r, desk, RUNNING);
	     !pool->reserves && n > 1 && used(r, desk) + n * pool->gain > pool->room;
	     n--) {
		struct guest *g = loser(r, desk, n);

		wait_again(r, desk, g);
		g->fill = fmax(
			1, floor(g->prompt - known(&r->desk[desk], g) + g->written));
		g->done = 0;
		g->seen = any = true;
		r->out->preempted++;
		r->out->recomputed_tokens += g->fill;
	}
	if (any && pool->retracts)
		expect_anew(r, desk);
	return any;
}

/* --- a pass --- */

static void look(struct room *r, int desk)
{
	struct desk *d = &r->desk[desk];

	if (count(r, desk, RUNNING) > 0 && d->since_look < d->pool->look_interval)
		return;
	for (int i = 0; i < r->load->requests; i++)
		if (r->guest[i].desk == desk && r->guest[i].place == WAITING)
			r->guest[i].seen = true;
	d->since_look = 0;
}

/* Prompts that could be let in wait until a pass is worth it. */
static bool hold_back(struct room *r, int desk, double left)
{
	const struct guest *first = nth(r, desk, WAITING, 0);
	struct desk *d = &r->desk[desk];
	double running = count(r, desk, RUNNING), tokens = running * d->pool->each;
	int seen = 0;

	for (int i = 0; i < r->load->requests; i++) {
		const struct guest *g = &r->guest[i];

		if (g->desk != desk || g->place != WAITING || !g->seen)
			continue;
		seen++;
		tokens += g->fill;
	}
	if (d->full && count(r, desk, FILLING) == 0)
		seen = 0;
	if (running > 0 && seen > 0 && left >= 1 && d->held < d->pool->prompt_wait &&
	    tokens < d->pool->fill && first->seen && may_enter(r, desk, first))
		return true;
	d->held = 0;
	return false;
}

struct carried {
	double left, tokens, context;
	int prompts;
};

/* A token of a prompt attends over what is there and what of its chunk is before it. */
static void carry(struct desk *d, struct guest *g, struct carried *c)
{
	double there = fmin(g->prompt - 1, known(d, g)) + g->done;

	g->chunk = 0;
	for (; (c->left >= 1 || d->pool->unsplit) && g->chunk < g->fill; g->chunk++) {
		c->left--;
		c->tokens++;
		c->context += there + g->chunk + 0.5;
	}
	c->prompts += g->chunk > 0;
}

static void admit(struct room *r, int desk, struct carried *c)
{
	struct desk *d = &r->desk[desk];
	bool whole = d->pool->scheduler == SERVE_STATIC;
	int filling = count(r, desk, FILLING);
	bool closed = whole &&
		      filling + count(r, desk, LEAVING) + count(r, desk, RUNNING) > 0;
	struct guest *g;

	closed |= d->full && filling == 0;
	for (int i = 0; i < filling && c->left >= 1; i++)
		carry(d, nth(r, desk, FILLING, i), c);
	while (!closed && (c->left >= 1 || whole) && (g = nth(r, desk, WAITING, 0)) &&
	       g->seen && may_enter(r, desk, g) &&
	       !(d->pool->unsplit && c->tokens > 0 && g->fill > c->left)) {
		g->held = needs(d, g);
		g->grown = 0;
		move(r, g, g->fill > 0 ? FILLING : RUNNING);
		if (g->place == FILLING)
			carry(d, g, c);
	}
	g = nth(r, desk, WAITING, 0);
	if (!closed && d->pool->retracts)
		d->full = g && g->seen && c->left >= 1 && !may_enter(r, desk, g);
	if (count(r, desk, RUNNING) == 0)
		d->full = false;
}

/* When the next of those that leave may decode; a batch does so as a whole. */
static double next_out(struct room *r, int desk)
{
	bool whole = r->desk[desk].pool->scheduler == SERVE_STATIC;
	int all = count(r, desk, LEAVING);

	return all > 0 ? nth(r, desk, LEAVING, whole ? all - 1 : 0)->ready : INFINITY;
}

static void let_out(struct room *r, int desk, double now)
{
	while (next_out(r, desk) <= now) {
		bool whole = r->desk[desk].pool->scheduler == SERVE_STATIC;

		for (int n = whole ? count(r, desk, LEAVING) : 1; n > 0; n--)
			move(r, nth(r, desk, LEAVING, 0), RUNNING);
	}
}

static void begin_pass(struct room *r, int desk, double now)
{
	struct desk *d = &r->desk[desk];
	bool mixed = d->pool->scheduler == SERVE_MIXED, lost;
	struct carried c = { .left = d->pool->budget };
	struct queue_pass pass = { 0 };
	struct queue_seconds seconds;
	struct guest *g;

	let_out(r, desk, now);
	lost = d->lost = make_room(r, desk);
	/* while any decode, each micro-batch of a pipeline takes prompts */
	if (d->pool->lanes > 1 && count(r, desk, RUNNING) > 0)
		c.left *= d->pool->lanes;
	look(r, desk);
	if (mixed)
		c.left = fmax(0, c.left - count(r, desk, RUNNING) * d->pool->each);
	d->holds = hold_back(r, desk, c.left);
	if (!lost && (!d->holds || count(r, desk, FILLING) > 0))
		admit(r, desk, &c);
	d->prompts = c.tokens > 0;
	d->decodes = (mixed || !d->prompts) && count(r, desk, RUNNING) > 0;
	if (!d->prompts && !d->decodes)
		return;
	for (int i = 0; (g = nth(r, desk, RUNNING, i)); i++) {
		pass.requests += d->decodes;
		pass.aside += !d->decodes;
		pass.context += g->prompt + g->written;
	}
	pass.context /= fmax(1, pass.requests + pass.aside);
	pass.prompts = c.prompts;
	pass.prompt_tokens = c.tokens;
	pass.prompt_context = c.tokens > 0 ? c.context / c.tokens : 0;
	seconds = d->pool->cost(d->pool->server, &pass);
	/* a token does not leave before prompts that are in front of it */
	if (d->decodes && d->alone > now + seconds.busy)
		seconds.busy = d->alone - now;
	/* micro-batches without prompts go on: three rounds of four, if one has any */
	if (d->prompts && !mixed && d->pool->scheduler == SERVE_PROMPTS_FIRST &&
	    d->pool->lanes > 1 && count(r, desk, RUNNING) > 0) {
		d->turns += 1 - fmin(1, fmax(c.tokens / d->pool->budget, c.prompts) /
						d->pool->lanes);
		d->decodes = d->turns >= 1;
		d->turns -= d->decodes;
	}
	d->start = now;
	d->seconds = seconds.busy;
	d->end = now + seconds.busy;
	d->trail = seconds.trail;
	/* its last stage begins when that of the pass before has ended */
	if (d->trail > 0 && d->tail + seconds.busy > d->end + d->trail)
		d->trail = d->tail + seconds.busy - d->end;
	if (d->trail > 0)
		d->tail = d->end + d->trail;
	if (count(r, desk, RUNNING) == 0)
		d->alone = d->end + d->trail;
	for (int i = 0; d->decodes && (g = nth(r, desk, RUNNING, i)); i++)
		if (g->first < 0)
			g->first = d->end;
}

/* --- who comes and goes --- */

static void begin_next(struct room *r, double now)
{
	int fronts = r->fronts > 0 ? r->fronts : r->desks;
	struct guest *g = &r->guest[r->begun];
	struct desk *by = &r->desk[r->begun % fronts];

	if (r->begun >= r->load->requests)
		return;
	if (r->load->arrivals == ARRIVE_CLOSED)
		g->arrival = now;
	/* batches come whole */
	if (by->pool->scheduler != SERVE_STATIC || g->arrival != by->received) {
		by->received = g->arrival;
		by->reception =
			fmax(by->reception, g->arrival) + r->system->host_seconds;
	}
	g->ready = by->reception;
	g->place = COMING;
	r->begun++;
}

static void finish(struct room *r, struct guest *g, double now)
{
	g->place = DONE;
	g->end = now;
	r->desk[g->desk].full = false;
	if (r->load->arrivals == ARRIVE_CLOSED)
		begin_next(r, now);
}

static void send(struct room *r, struct desk *d, struct guest *g)
{
	double begin = fmax(d->end + d->trail, d->network);

	d->full = false;
	d->network = begin + g->prompt * r->system->send_seconds;
	g->ready = d->network + r->system->send_latency;
	g->passes = 1 + ceil((g->output - 1) / r->system->pool.gain);
	g->written = g->output - g->passes * r->system->pool.gain;
	move(r, g, SENT);
}

/* Its prompt is computed: a token leaves with it. */
static void end_prompt(struct room *r, struct desk *d, struct guest *g)
{
	bool again = g->first >= 0;

	if (d->front) {
		send(r, d, g);
		return;
	}
	if (!again) {
		g->first = d->end + d->trail;
		g->passes = ceil((g->output - 1) / d->pool->gain);
	} else if (g->passes > 0) {
		g->passes--;
	}
	g->written = g->output - g->passes * d->pool->gain;
	if (g->passes == 0) {
		finish(r, g, d->end + d->trail);
		return;
	}
	g->ready = d->end + d->trail;
	for (int i = 0; i < r->load->requests; i++)
		if (r->guest[i].place == LEAVING && r->guest[i].desk == g->desk)
			g->ready = fmax(g->ready, r->guest[i].ready);
	move(r, g, LEAVING);
	g->grown = 0;
}

static void end_pass(struct room *r, int desk)
{
	struct desk *d = &r->desk[desk];
	struct guest *g;

	r->out->passes++;
	d->since_look = count(r, desk, FILLING) > 0 ? d->pool->look_interval
						    : d->since_look + 1;
	d->held += d->holds;
	for (int i = 0; d->decodes && i < r->load->requests; i++) {
		g = &r->guest[i];
		if (g->place != RUNNING || g->desk != desk)
			continue;
		g->passes--;
		g->written += d->pool->gain;
		g->grown += d->pool->gain;
		if (g->passes == 0)
			finish(r, g, d->end);
	}
	for (int i = 0; (g = nth(r, desk, FILLING, i));) {
		g->fill -= g->chunk;
		g->done += g->chunk;
		g->chunk = 0;
		if (g->fill > 0)
			i++;
		else
			end_prompt(r, d, g);
	}
	if (d->pool->retracts && d->decodes && !d->lost)
		d->expects = fmax(d->expects - d->pool->expects_falls,
				  d->pool->expects_least);
	if (count(r, desk, WAITING) + count(r, desk, FILLING) +
		    count(r, desk, LEAVING) + count(r, desk, RUNNING) ==
	    0)
		d->expects = d->pool->expects;
	d->end = INFINITY;
}

static int emptiest(const struct room *r, int from, int to)
{
	int best = from, fewest = TWIN_REQUESTS + 1;

	for (int k = from; k < to; k++) {
		int inside = count(r, k, WAITING) + count(r, k, FILLING) +
			     count(r, k, LEAVING) + count(r, k, RUNNING);

		if (inside < fewest) {
			fewest = inside;
			best = k;
		}
	}
	return best;
}

/* Who is ready soonest; in turn among those that are ready together. */
static struct guest *ready(struct room *r, enum place place, double now)
{
	struct guest *best = NULL;

	for (int i = 0; i < r->load->requests; i++) {
		struct guest *g = &r->guest[i];

		if (g->place == place && g->ready <= now &&
		    (!best || g->ready < best->ready ||
		     (g->ready == best->ready && g->turn < best->turn)))
			best = g;
	}
	return best;
}

static void deliver(struct room *r, double now)
{
	struct guest *g;

	while ((g = ready(r, SENT, now))) {
		g->desk = emptiest(r, r->fronts, r->desks);
		g->fill = 0;
		g->seen = false;
		move(r, g, WAITING);
	}
	while ((g = ready(r, COMING, now))) {
		g->desk = emptiest(r, 0, r->fronts > 0 ? r->fronts : r->desks);
		g->fill = fmax(1, g->prompt - known(&r->desk[g->desk], g));
		move(r, g, WAITING);
		if (r->load->arrivals != ARRIVE_CLOSED)
			begin_next(r, now);
	}
}

/* Copies of one engine: who would begin waits until all of them are done, and ends with
 * the last. */
static void begin_together(struct room *r, int first, int end, double now)
{
	double last = 0;

	for (int k = first; k < end; k++)
		if (!isinf(r->desk[k].end))
			return;
	for (int k = first; k < end; k++) {
		begin_pass(r, k, now);
		if (!isinf(r->desk[k].end))
			last = fmax(last, r->desk[k].end);
	}
	for (int k = first; k < end; k++)
		if (!isinf(r->desk[k].end))
			r->desk[k].end = last;
}

static void begin_all(struct room *r, double now)
{
	for (int k = 0, end; k < r->desks; k = end) {
		int together = k < r->fronts ? r->system->prompts.abreast : 1;

		end = k + (together > 1 ? together : 1);
		if (k < r->fronts && end > r->fronts)
			end = r->fronts;
		begin_together(r, k, end, now);
	}
}

static double next_time(struct room *r)
{
	double next = INFINITY;

	for (int i = 0; i < r->load->requests; i++)
		if (r->guest[i].place == COMING || r->guest[i].place == SENT)
			next = fmin(next, r->guest[i].ready);
	for (int k = 0; k < r->desks; k++)
		next = fmin(next,
			    isinf(r->desk[k].end) ? next_out(r, k) : r->desk[k].end);
	return next;
}

static void open_room(struct room *r)
{
	r->fronts = r->system->prompts.servers;
	r->desks = r->fronts + r->system->pool.servers;
	assert_true(r->desks <= TWIN_SERVERS && r->load->requests <= TWIN_REQUESTS);
	for (int k = 0; k < r->desks; k++)
		r->desk[k] = (struct desk){ .received = -1,
					    .pool = k < r->fronts ? &r->system->prompts
								  : &r->system->pool,
					    .front = k < r->fronts,
					    .end = INFINITY };
	for (int k = 0; k < r->desks; k++)
		r->desk[k].expects = r->desk[k].pool->expects;
	for (int i = 0; i < r->load->requests; i++) {
		const struct queue_item *item = &r->load->list[i % r->load->listed];

		r->guest[i] = (struct guest){ .first = -1,
					      .prompt = item->prompt,
					      .output = item->output,
					      .cached = item->cached,
					      .arrival = r->load->list[i].arrival };
	}
}

void twin_queue(const struct queue_system *system, const struct queue_load *load,
		struct queue_record *records, struct twin_queue *out)
{
	static struct room r;
	double now;

	*out = (struct twin_queue){ 0 };
	memset(&r, 0, sizeof r);
	r.system = system;
	r.load = load;
	r.out = out;
	open_room(&r);
	for (int i = 0; i < (load->arrivals == ARRIVE_CLOSED ? load->users : 1); i++)
		begin_next(&r, 0);
	while (!isinf(now = next_time(&r))) {
		for (int k = 0; k < r.desks; k++)
			if (r.desk[k].end <= now)
				end_pass(&r, k);
		deliver(&r, now);
		begin_all(&r, now);
	}
	for (int i = 0; i < load->requests; i++) {
		const struct guest *g = &r.guest[i];

		assert_int_equal(g->place, DONE);
		records[i] =
			(struct queue_record){ g->arrival, g->first, g->end,
					       (int32_t)g->prompt, (int32_t)g->output };
	}
}
