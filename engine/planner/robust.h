/* robust.h - does the order of the best plans hold where the machine is a tenth worse
 * than its preset says?
 *
 * The first plans of a search are estimated again in each case, and the best plan of
 * each case is searched for, so that a plan that is called best in all of them is so
 * among all plans. Used like an inverse (inverse.h): next, search, take.
 */
#ifndef ENGINE_PLANNER_ROBUST_H
#define ENGINE_PLANNER_ROBUST_H

#include "engine/planner/planner.h"

enum robust_case {
	ROBUST_AS_IS,
	ROBUST_NETWORK, /* bandwidth between the fast domains x 0.9 */
	ROBUST_GEMM,    /* efficiency of matrix products x 0.9 */
	ROBUST_MEMORY,  /* usable bytes x 0.9 */
	ROBUST_CASES
};

enum { MAX_ROBUST = 10 };

struct robust_plan {
	bool fits[ROBUST_CASES];
	double score[ROBUST_CASES], step_seconds[ROBUST_CASES];
	int rank[ROBUST_CASES]; /* among these plans, from 1; 0 = does not fit */
	bool always_best;       /* no plan at all is better in any case */
};

struct robust {
	const struct planner_problem *problem; /* not owned */
	int plans, at;
	struct planner_found plan[MAX_ROBUST];
	struct robust_plan item[MAX_ROBUST];
	bool has_best[ROBUST_CASES];
	struct planner_found best[ROBUST_CASES]; /* of all plans */
	bool done;
};

/* "as is", "network", "gemm", "memory". */
const char *robust_word(enum robust_case which);
/* Makes the scenario a tenth worse. */
void robust_weaken(enum robust_case which, struct scenario *scenario);
/* Estimates the first plans of this result in every case. False if memory runs out. */
bool robust_begin(struct robust *robust, const struct planner_problem *problem,
		  const struct planner_result *result);
bool robust_next(struct robust *robust, struct planner_problem *out);
void robust_take(struct robust *robust, const struct planner_result *result);

#endif
