/* why.h - what keeps a plan from being faster, and which turns of single knobs gain
 * most. */
#ifndef ENGINE_PLANNER_WHY_H
#define ENGINE_PLANNER_WHY_H

#include "engine/planner/planner.h"

/* The part of the step beside useful work that takes most: "bubble", "TP", "optimizer",
 * "recompute" ..., or "compute" where none takes 3 %. *share is of the step. */
const char *why_limit(const struct estimate *estimate, double *share);

enum { MAX_WHY = 3 };

struct why_change {
	const struct knob *knob;
	double from, to;
	double gain; /* share of the time for a token that is saved; 1 = now it fits */
};

struct why {
	const struct planner_problem *problem; /* not owned */
	struct scenario scenario;
	double seconds; /* for a token now; infinite if the plan can't be had */
	int next;       /* knob to try */
	int count;      /* most gain first, a knob once */
	bool together;  /* none gains alone: these two do together */
	double gain_of_all;
	struct why_change change[MAX_WHY];
};

/* Changes from this scenario: of an axis of the problem to any of its values, of other
 * knobs that tune (whatif_tunes) by one. */
void why_begin(struct why *why, const struct planner_problem *problem,
	       const struct scenario *scenario, const struct estimate *now);
/* Tries the next knob; false after the last. scratch is overwritten. */
bool why_step(struct why *why, struct estimate *scratch);
/* Where no knob gains alone: the best two of those in which this better plan differs.
 * A hundred estimates at most. */
void why_pair(struct why *why, const struct scenario *better, struct estimate *scratch);

#endif
