/* flight.c - what is in flight in schedules that only a simulation tells: it follows
 * from their order of work, which has nothing to do with times unless it is made by
 * rule. */
#include <stdlib.h>
#include <string.h>

#include "engine/planner/search.h"
#include "engine/schedule/schedule.h"

static size_t hash(const struct flight *f, size_t slots)
{
	uint64_t mix = (uint64_t)f->micro_batches * 0x9E3779B97F4A7C15u;

	mix ^= (uint64_t)f->schedule << 40 ^ (uint64_t)f->stages << 20 ^
	       (uint64_t)f->chunks;
	mix *= 0xBF58476D1CE4E5B9u;
	return (size_t)(mix >> 32) & (slots - 1);
}

static bool same(const struct flight *a, const struct flight *b)
{
	return a->schedule == b->schedule && a->stages == b->stages &&
	       a->chunks == b->chunks && a->micro_batches == b->micro_batches;
}

/* Its slot, or the empty one where it belongs. */
static struct flight *find(const struct flights *list, const struct flight *key)
{
	size_t slots = (size_t)list->slots, at = hash(key, slots);

	while (list->slot[at].stages > 0 && !same(&list->slot[at], key))
		at = (at + 1) & (slots - 1);
	return &list->slot[at];
}

/* Twice the slots once they are half full. */
static bool widen(struct flights *list)
{
	struct flights more = *list;

	if (2 * list->count < list->slots)
		return true;
	more.slots = list->slots ? 2 * list->slots : 256;
	more.slot = calloc((size_t)more.slots, sizeof *more.slot);
	if (!more.slot)
		return false;
	for (int i = 0; i < list->slots; i++)
		if (list->slot[i].stages > 0)
			*find(&more, &list->slot[i]) = list->slot[i];
	free(list->slot);
	*list = more;
	return true;
}

static bool add(struct planner *p, struct flight *slot, const struct flight *key)
{
	struct flights *list = &p->flights;
	const struct pipeline_result *r = &p->trial->step.result;

	for (int s = 0; s < key->stages; s++) {
		if (!search_grow(p, (void **)&list->held, list->used, &list->room,
				 sizeof *list->held))
			return false;
		list->held[list->used++] = r->in_flight[s];
	}
	*slot = *key;
	slot->first = list->used - key->stages;
	list->count++;
	return true;
}

void search_hold(struct planner *p)
{
	struct trial *trial = p->trial;
	const struct pipeline_input *in = &trial->step.pipeline;
	struct flight key = { in->schedule, in->stages, in->chunks, 0,
			      in->micro_batches };
	struct flight *slot;

	if (trial->holds || schedule_table[in->schedule].by_rule || !widen(&p->flights))
		return;
	slot = find(&p->flights, &key);
	if (slot->stages == 0) {
		pipeline_order_in_flight(in, &trial->step.result);
		if (!add(p, slot, &key))
			return;
	}
	memcpy(trial->step.result.in_flight, p->flights.held + slot->first,
	       (size_t)in->stages * sizeof *p->flights.held);
	trial->holds = trial->counted = true;
}
