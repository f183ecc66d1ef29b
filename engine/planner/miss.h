/* miss.h - where nothing fits or nothing divides: which plans miss by least, and what
 * would make one fit. Used like an inverse (inverse.h): next, search, take. */
#ifndef ENGINE_PLANNER_MISS_H
#define ENGINE_PLANNER_MISS_H

#include "engine/planner/inverse.h"

enum { MAX_MISSES = 5, MAX_UNPINS = 4 };

enum miss_stage {
	MISS_LIST,
	MISS_GPUS,
	MISS_OFFLOAD,
	MISS_SEQUENCE,
	MISS_BATCH,
	MISS_PINS,
	MISS_DONE
};

struct misses {
	const struct planner_problem *problem; /* not owned */
	enum miss_stage stage;
	struct inverse inverse;

	int count; /* least memory first; none: nothing is legal */
	struct planner_found miss[MAX_MISSES];
	double has_bytes; /* what a plan may take */
	bool too_large;   /* no misses, but legal plans: servers that hold no request */
	/* none: the rule that rules out most of them, if the scenario breaks it too, or
	 * that no host has the memory */
	struct finding blocker; /* rule NULL: no single one */
	/* What would do, each by itself; 0 and false = not that. */
	double gpus;        /* the next count above with a plan that fits */
	bool offload;       /* the optimizer's states in host memory */
	double seq_len;     /* the longest below that fits */
	double batch;       /* nothing is legal: a global batch that divides */
	bool reserve;       /* the reserve is what is missing */
	double wants_bytes; /* usable bytes of an accelerator that would do */
	/* pins that stand in the way: free of it, the best plan has this value */
	int axis, unpins;
	struct {
		const struct knob *knob;
		double value;
	} unpin[MAX_UNPINS];
};

void misses_begin(struct misses *misses, const struct planner_problem *problem);
bool misses_next(struct misses *misses, struct planner_problem *out);
void misses_take(struct misses *misses, const struct planner_problem *problem,
		 const struct planner_result *result);
/* The n-th thing that would do, as "96 GPUs would do"; empty, and false, behind the
 * last. */
bool misses_text(const struct misses *misses, int n, char *out, size_t size);

#endif
