/* flight.c - what is in flight in schedules that only a simulation tells: it follows
 * from their order of work, which has nothing to do with times unless it is made by
 * rule. */
#include <string.h>

#include "engine/planner/search.h"
#include "engine/schedule/schedule.h"

static bool same(const struct flight *a, const struct flight *b)
{
	return a->schedule == b->schedule && a->stages == b->stages &&
	       a->chunks == b->chunks && a->micro_batches == b->micro_batches;
}

/* There are some hundred at most, and one that was asked for is asked for again soon:
 * the latest first. */
static const double *find(const struct flights *list, const struct flight *key)
{
	for (int i = list->count; i-- > 0;)
		if (same(&list->item[i], key))
			return list->held + list->item[i].first;
	return NULL;
}

/* What it holds behind all others, as the simulation left it. */
static void keep_flight(struct planner *p, struct flight key)
{
	struct flights *list = &p->flights;

	key.first = list->used;
	for (int s = 0; s < key.stages; s++) {
		if (!search_grow(p, (void **)&list->held, list->used, &list->room,
				 sizeof *list->held))
			return;
		list->held[list->used++] = p->trial->whole.result.in_flight[s];
	}
	if (search_grow(p, (void **)&list->item, list->count, &list->capacity,
			sizeof key))
		list->item[list->count++] = key;
}

void search_hold(struct planner *p)
{
	struct trial *trial = p->trial;
	const struct pipeline_input *in = &trial->whole.pipeline;
	struct flight key = { in->schedule, in->stages, in->chunks, 0,
			      in->micro_batches };
	const double *held;

	if (trial->holds || schedule_table[in->schedule].by_rule)
		return;
	held = find(&p->flights, &key);
	if (held) {
		memcpy(trial->whole.result.in_flight, held,
		       (size_t)in->stages * sizeof *held);
	} else {
		pipeline_order_in_flight(in, &trial->whole.result);
		keep_flight(p, key);
	}
	trial->holds = trial->counted = true;
}
