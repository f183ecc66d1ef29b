/* greedy.h - list scheduling in time order, for schedules that are made by rule
 * and not by hand; only generators include it. */
#ifndef ENGINE_SCHEDULE_GREEDY_H
#define ENGINE_SCHEDULE_GREEDY_H

#include "engine/schedule/schedule.h"

/* Each stage takes what can start first; at a tie a backward goes before a forward
 * (of the later chunk first) and that before a weight gradient. */
struct greedy_rule {
	bool splits_backward;
	/* Virtual micro-batches a stage may hold until their weight gradient; a
	 * forward that has no room waits for one. */
	int held_limit;
	/* A gap is worth a weight gradient if it is at least this share of one. */
	double gap_share;
	/* Micro-batches under way in the whole pipeline; 0 = no limit. */
	int admit_limit;
	/* Orders of forwards and backwards to keep, weight gradients only fill the
	 * gaps: item lists like out's; NULL = free. */
	const struct schedule *order;
};

/* False if the rule gets stuck. */
bool greedy_fill(const struct schedule_request *request, const struct greedy_rule *rule,
		 struct schedule *out);

#endif
