/* alike.h - which of the best plans are one idea.
 *
 * Two plans are alike where they are one idea (struct idea in planner.h). Plans of
 * servers are alike where all knobs are that do anything.
 */
#ifndef ENGINE_PLANNER_ALIKE_H
#define ENGINE_PLANNER_ALIKE_H

#include "engine/planner/planner.h"

struct alike {
	int rows;               /* ideas, the best first */
	uint8_t best[MAX_KEPT]; /* of each, the index of its best plan in the result */
	int count[MAX_KEPT];    /* plans of it, the best among them */
	int as_fast[MAX_KEPT];  /* of these, with a score within 0.5 % of the best */
	uint8_t row[MAX_KEPT];  /* of each plan of the result */
};

/* The worst score that is as fast as this one. */
double alike_limit(double score);
bool alike_is_as_fast(double score, double best);
/* "3", the third idea's best plan, "3b" the next of it: how rows are called. */
size_t alike_name(const struct alike *alike, int plan, char *out, size_t size);
void planner_alike(const struct planner_problem *problem,
		   const struct planner_result *result, struct alike *out);

#endif
