/* cache.c - the cache of a server: what is taken, who has room, who loses his. */
#include <math.h>

#include "engine/queue/queue_parts.h"

double station_cached(const struct station *at, const struct request *r)
{
	return at->pool->cached + r->cached;
}

/* Its prompt, or what else it has to compute. What all prompts share is held once;
 * prefixes of a list are counted with each that has them. */
double cache_taken(const struct station *at, const struct request *r)
{
	double own = r->fill > 0 ? r->fill + r->cached
				 : fmax(0, r->prompt - at->pool->cached);

	return own + (at->pool->reserves ? r->output : 1);
}

double cache_expected(const struct station *at, double tokens)
{
	return at->pool->expects_most > 0 ? fmin(tokens, at->pool->expects_most)
					  : tokens;
}

/* Tokens that those that decode have still to write, of each as many as are expected:
 * where none writes more than that, all of them together. */
static double count_to_come(const struct station *at)
{
	double gain = at->pool->gain, most = at->pool->expects_most;
	int64_t within, passes = 0, beyond = 0;

	within = (int64_t)(most / gain);
	for (int i = 0; i < at->heap_count; i++) {
		int64_t left = at->heap[i].finish - at->passes;

		beyond += left > within;
		passes += left > within ? 0 : left;
	}
	return (double)passes * gain + (double)beyond * most;
}

/* Passes that all that decode have left. */
static double passes_left(const struct station *at)
{
	return (double)(at->finishes - (int64_t)at->running.count * at->passes);
}

static double decodes_to_come(struct station *at)
{
	double most = at->pool->expects_most;

	if (most <= 0 || at->longest <= most)
		return passes_left(at) * at->pool->gain;
	if (at->counted_at != at->passes) {
		at->decodes_to_come = count_to_come(at);
		at->counted_at = at->passes;
	}
	return at->decodes_to_come;
}

/* Tokens that it and all inside have still to write, as far as they have to fit. */
static double to_come(struct station *at, const struct request *r)
{
	double decode = decodes_to_come(at), own = r->output;

	if (!at->pool->retracts)
		return at->expects * (decode + at->unwritten + cache_expected(at, own));
	if (r->first >= 0)
		own = r->left * at->pool->gain;
	return at->expects * decode + at->unwritten + cache_expected(at, own);
}

bool cache_has_room(struct station *at, const struct request *r)
{
	int inside = at->filling.count + at->leaving.count + at->running.count;

	if (at->pool->most_requests > 0 && inside >= at->pool->most_requests)
		return false;
	/* what is too large for an empty cache is let in alone */
	return inside == 0 ||
	       at->used + cache_taken(at, r) + to_come(at, r) <= at->pool->room;
}

double cache_grown(const struct station *at, const struct request *r)
{
	return at->pool->reserves ? 0
				  : (double)(at->passes - r->begun) * at->pool->gain;
}

/* --- who loses his --- */

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

static double written_by(const struct station *at, const struct request *r)
{
	return r->output - (double)(r->finish - at->passes) * at->pool->gain;
}

/* Whether all that began to decode before it have written more: a token and more in
 * each pass since then, but for two passes at most. */
static bool older_wrote_more(const struct station *at, const struct request *r,
			     double written)
{
	return (double)(at->passes - r->begun - 2) * at->pool->gain > written;
}

/* The youngest; of a server that retracts, who has written least, with the longest
 * prompt. Drafts stand in the way of that order. */
static int32_t loser(const struct station *at, const struct simulation *s)
{
	int32_t who = at->running.last;
	const struct request *least = &s->request[who], *r;
	double fewest = written_by(at, least);

	if (!at->pool->retracts || at->pool->each > 1)
		return who;
	for (int32_t i = least->before; i != NOBODY; i = r->before) {
		double more;

		r = &s->request[i];
		if (older_wrote_more(at, r, fewest))
			break;
		more = written_by(at, r) - fewest;
		if (more < 0 || (more <= 0 && r->prompt > least->prompt)) {
			least = r;
			fewest = written_by(at, r);
			who = i;
		}
	}
	return who;
}

/* Behind those that were seen. */
static void line_up(struct station *at, struct simulation *s, int32_t who)
{
	int32_t behind = at->waiting.last;

	for (int k = at->waiting.count; k > at->seen; k--)
		behind = s->request[behind].before;
	line_insert(&at->waiting, s->request, who,
		    at->pool->retracts ? behind : NOBODY);
	at->seen++;
}

/* It begins again, with what it has written. */
static void preempt(struct station *at, struct simulation *s, double now)
{
	int32_t who = loser(at, s);
	struct request *r = &s->request[who];
	double left = (double)(r->finish - at->passes);
	double written = written_by(at, r);

	line_drop(&at->running, s->request, who);
	at->finishes -= r->finish;
	at->outputs -= r->output;
	at->context -= r->prompt + written;
	at->used -= r->held + cache_grown(at, r);
	r->left = (int32_t)left;
	heap_forget(at, who);
	s->out->preempted++;
	if (at->pool->swaps) {
		swap(at, s, who, written, now);
		return;
	}
	r->fill = (int32_t)fmax(1, r->prompt - station_cached(at, r) + written);
	line_up(at, s, who);
	s->out->recomputed_tokens += r->fill;
}

/* What the others have written, and some passes more, of all that they write. */
static void expect_anew(struct station *at)
{
	double written = at->outputs - passes_left(at) * at->pool->gain +
			 at->running.count * at->pool->expects_ahead;

	at->expects = fmin(1, written / (1 + at->outputs));
	at->full = false;
}

bool cache_make_room(struct station *at, struct simulation *s, double now)
{
	int before = at->running.count;

	while (!at->pool->reserves && at->running.count > 1 &&
	       at->used + at->running.count * at->pool->gain > at->pool->room)
		preempt(at, s, now);
	if (at->running.count == before)
		return false;
	if (at->pool->retracts)
		expect_anew(at);
	return true;
}
