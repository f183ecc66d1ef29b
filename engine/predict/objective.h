/* objective.h - what makes one plan better than another. */
#ifndef ENGINE_OBJECTIVE_H
#define ENGINE_OBJECTIVE_H

#include "engine/estimate/estimate.h"
#include "engine/train/least.h"

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

/* Whether scores of training plans hang on their bytes. */
bool objective_counts_bytes(enum objective objective);
/* The score of a training plan that takes so many seconds a step and so many bytes:
 * least ones give a least score. OBJECTIVE_SURE is of the step itself. */
double objective_of_step(enum objective objective, const struct scenario *scenario,
			 double seconds, double bytes);
/* The score of a legal plan. */
double objective_of_estimate(enum objective objective, const struct scenario *scenario,
			     const struct estimate *estimate);
/* Whether a server serves any request within its goals, or all that are asked for. */
bool objective_serves(const struct estimate *estimate, bool all);
/* As scenario_figures(), but how much a server whose goodput scores above `worst` gives
 * within its goals is not settled. */
void objective_figures(enum objective objective, const struct scenario *scenario,
		       double worst, struct estimate *out);
/* Goals of the slowest percent of requests are simulated and the estimate's goodput
 * set, unless the mean request, which gets more, scores above `worst` already. */
void objective_hold_goals(enum objective objective, const struct scenario *scenario,
			  double worst, struct estimate *estimate);
/* Of a server the least score, bytes, and seconds of a request (serve_ceiling()), each
 * 0 where that says nothing. */
struct objective_ceiling {
	double score, bytes, request_seconds;
};
void objective_of_ceiling(enum objective objective, const struct scenario *scenario,
			  struct objective_ceiling *out);
/* The least score of the plans of a set, and its bytes, with what is chosen before this
 * role, of a server with all; where their seconds alone score `enough` no bytes are
 * counted. */
double objective_of_least(enum objective objective, struct train_least *least,
			  enum train_role role, double enough, double *bytes);
/* Estimates the scenario, with its goals where it may be as good as `worst`: whether it
 * is legal and fits; then the score is its own. */
bool objective_try(enum objective objective, const struct scenario *scenario,
		   double reserve, double worst, struct estimate *estimate,
		   double *score);
/* Bytes of an accelerator that a plan may take, with this share of the usable ones left
 * free; a server fills what it is given, so memory_share is its reserve. */
double objective_room(const struct scenario *scenario, double reserve);

#endif
