/* tail.h - what the slowest requests of a server wait: a simulation short enough for a
 * key press. Nothing is allocated; it takes some 500 KiB of the stack.
 */
#ifndef ENGINE_SERVE_TAIL_H
#define ENGINE_SERVE_TAIL_H

#include "engine/serve/serve.h"
#include "engine/serve/simulate.h"

/* Requests of a share of the cluster that are simulated at most. */
enum { TAIL_REQUESTS = 2048 };

struct serve_tail {
	struct queue_result result;
	bool meets; /* the 99th percentiles keep both goals */
	/* Requests of each user, 0 at a rate. Their first are a burst, so that fewer
	 * than the estimate's wait longer in the mean: whether it is over as many. */
	double each;
	bool as_many;
};

/* The scenario's load, with seed 0. False where it can't run, or where so many requests
 * are in flight that TAIL_REQUESTS are not three of each: `eval --simulate` has those.
 */
bool serve_tail(const struct scenario *scenario, struct serve_tail *out);

/* The 99th percentile along a curve: some of its points, as far as they can be
 * simulated. per_user is that of the time per token that one request in a hundred
 * exceeds. Returns how many. */
int serve_tail_curve(const struct scenario *scenario, const struct serve_point *point,
		     int count, struct serve_point *out, int most);

/* Whether 99 of 100 requests that come at a rate have to keep goals: all of its output
 * is good then, or none. */
bool serve_tail_decides(const struct scenario *scenario);

/* Goodput where 99 of 100 requests keep the goals: the most requests that are held
 * then, fewer than keep them in the mean, and their output. Where that turns out to be
 * below `least` tokens a second no more is simulated, and it is 0. At a rate it is what
 * the mean request has, where it keeps the goals as well, or 0. */
void serve_tail_goodput(const struct scenario *scenario, double least,
			struct serving_estimate *out);

/* From a closed loop to arrivals at the rate that it has now, and back to as many
 * requests as that rate has in flight. False where the estimate knows neither. */
bool serve_switch_loop(struct scenario *scenario,
		       const struct serving_estimate *estimate);

#endif
