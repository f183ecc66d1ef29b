/* objective.h - what makes one plan better than another. */
#ifndef ENGINE_OBJECTIVE_H
#define ENGINE_OBJECTIVE_H

#include "engine/plan/scenario.h"

/* Smaller scores are better. */
enum objective {
	OBJECTIVE_STEP,       /* seconds of a step */
	OBJECTIVE_THROUGHPUT, /* tokens/s per GPU */
	OBJECTIVE_COST,       /* dollars of the whole run */
	OBJECTIVE_MEMORY,     /* bytes of the fullest stage */
	OBJECTIVE_GPUS,       /* fewest GPUs, then the shortest step */
	OBJECTIVE_SURE, /* seconds of a step at the pessimistic end of its range */
	OBJECTIVE_COUNT
};

/* "step", "throughput", "cost", "memory", "gpus", "sure"; OBJECTIVE_COUNT if there is
 * none. */
const char *objective_word(enum objective objective);
enum objective objective_find(const char *word);

/* The score of a training plan that takes so many seconds a step and so many bytes:
 * least ones give a least score. OBJECTIVE_SURE is of the step itself. */
double objective_of_step(enum objective objective, const struct scenario *scenario,
			 double seconds, double bytes);
/* Bytes of an accelerator that a training plan may take, with this share of the usable
 * ones left free. */
double objective_room(const struct scenario *scenario, double reserve);

#endif
