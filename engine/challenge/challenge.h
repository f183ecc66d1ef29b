/* challenge.h - a goal with locked knobs, scored against the proven optimum.
 *
 * The problem is the planner's (engine/planner/planner.h): its base is where one
 * begins, its axes are the knobs that may be turned and the values that they may take.
 * So the best of all that a player could choose is found exactly, and no score is
 * above 1.
 */
#ifndef ENGINE_CHALLENGE_H
#define ENGINE_CHALLENGE_H

#include "engine/planner/planner.h"

/* Why a scenario is none of a challenge's. */
struct challenge_lock {
	const struct knob *knob; /* that is not as it must be; NULL: one of the bases */
	const char *base;        /* "model", "cluster", "stack"; NULL: a knob */
	bool listed;             /* it may be turned, but not to this value */
};

/* Whether only knobs of the axes differ from the base, each by one of its values. */
bool challenge_allows(const struct planner_problem *problem,
		      const struct scenario *scenario, struct challenge_lock *lock);
/* "gpus is 128 here, and locked at 64", "tp 3: here one of 1, 2, 4, 8". */
void challenge_lock_text(const struct planner_problem *problem,
			 const struct scenario *scenario,
			 const struct challenge_lock *lock, char *out, size_t size);
/* The values of an axis: "1, 2, 4, 8". */
void challenge_values(const struct planner_axis *axis, char *out, size_t size);
/* The value beside the present one in the axis of this knob, direction 1 or -1; the
 * present one where there is no further. False: the knob is locked. */
bool challenge_neighbour(const struct planner_problem *problem,
			 const struct scenario *scenario, const struct knob *knob,
			 int direction, double *value);

/* The proven best; false if nothing fits, or memory runs out. */
bool challenge_best(const struct planner_problem *problem, struct planner_found *best);
/* best / theirs in what the objective ranks by, from 0 to 1; 0 where the scenario is
 * not allowed, can't run or does not fit. The estimate is of the scenario. */
double challenge_score(const struct planner_problem *problem,
		       const struct planner_found *best,
		       const struct scenario *scenario,
		       const struct estimate *estimate);

#endif
