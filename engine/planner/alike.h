/* alike.h - which of the best plans are one idea.
 *
 * Two plans are alike where they have the same degrees, samples against CP counted
 * together (two samples on two ranks of CP are one on one): they differ in offload,
 * recomputation, chunks or in how states are shared. Plans of servers are alike where
 * all knobs are that do anything.
 */
#ifndef ENGINE_PLANNER_ALIKE_H
#define ENGINE_PLANNER_ALIKE_H

#include "engine/planner/planner.h"

struct alike {
	int rows;              /* ideas, the best first */
	uint8_t best[MAX_TOP]; /* of each, the index of its best plan in the result */
	int count[MAX_TOP];    /* plans of it, the best among them */
	int as_fast[MAX_TOP];  /* of these, with a score within 0.5 % of the best */
	uint8_t row[MAX_TOP];  /* of each plan of the result */
};

void planner_alike(const struct planner_problem *problem,
		   const struct planner_result *result, struct alike *out);

#endif
