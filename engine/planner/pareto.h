/* pareto.h - the plans that no other beats in two things at once: throughput and peak
 * memory, or throughput and GPUs.
 *
 * Each point is the answer of a search of its own under a limit (the epsilon-constraint
 * method, Haimes 1971), so that none is missed but those closer than the step to one
 * that is there. Used like an inverse (inverse.h): next, search, take.
 */
#ifndef ENGINE_PLANNER_PARETO_H
#define ENGINE_PLANNER_PARETO_H

#include "engine/planner/planner.h"

enum pareto_kind {
	PARETO_MEMORY, /* tokens/s per GPU against bytes, steps of 1 % of them */
	PARETO_GPUS,   /* tokens/s of all against GPUs, the counts of inverse_gpus() */
	PARETO_USERS,  /* inference: tokens/s per GPU against tokens/s of each user */
	PARETO_COUNT
};

enum { MAX_FRONT = 96, MAX_COUNTS = 256 };

struct pareto_point {
	double gpus, tokens_per_second; /* of all GPUs */
	struct planner_found found;
};

struct pareto {
	enum pareto_kind kind;
	const struct planner_problem *problem; /* not owned */
	int count;
	struct pareto_point point[MAX_FRONT]; /* fastest first; rising GPUs */
	double limit_bytes, limit_seconds;    /* of the next search; TPOT */
	int counts, at;                       /* GPU counts to try */
	double gpus[MAX_COUNTS];
	bool done;
};

/* "memory", "gpus", "users"; PARETO_COUNT if there is none. */
const char *pareto_word(enum pareto_kind kind);
enum pareto_kind pareto_find(const char *word);
/* What stands for memory where the problem is a server's: its cache fills the memory
 * anyway. */
enum pareto_kind pareto_usual(const struct planner_problem *problem);
/* GPUs: the values of the problem's own axis, or up to four times the present ones. */
void pareto_begin(struct pareto *pareto, enum pareto_kind kind,
		  const struct planner_problem *problem);
bool pareto_next(struct pareto *pareto, struct planner_problem *out);
/* Whether the next search is the one before with more memory in reserve
 * (planner_lessen()). */
bool pareto_lessens(const struct pareto *pareto);
void pareto_take(struct pareto *pareto, const struct planner_problem *problem,
		 const struct planner_result *result);
/* The scenario of a point. */
void pareto_scenario(const struct pareto *pareto, const struct pareto_point *point,
		     struct scenario *out);

#endif
