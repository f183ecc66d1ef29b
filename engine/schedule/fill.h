/* fill.h - weight gradients put into an order of forwards and input gradients where
 * there is time for them; only generators include it. */
#ifndef ENGINE_SCHEDULE_FILL_H
#define ENGINE_SCHEDULE_FILL_H

#include "engine/schedule/schedule.h"

struct fill_rule {
	/* Forwards and input gradients of each stage, as out's lists. */
	const struct schedule *order;
	/* Virtual micro-batches that a stage may hold until their weight gradient; a
	 * forward that has no room waits for one. */
	int held_limit;
	/* A gap is worth a weight gradient if it is at least this share of one. */
	double gap_share;
};

/* Empty lists with room for what order has, for a generator to fill; false if there
 * is not enough memory. */
bool fill_order(const struct schedule *like, struct arena *arena,
		struct schedule *order);
/* Weight gradients are done oldest first; the request's times decide where. False if
 * there is no room to hold what the order needs, or not enough memory. */
bool fill_weights(const struct schedule_request *request, const struct fill_rule *rule,
		  struct schedule *out);

#endif
