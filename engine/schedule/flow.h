/* flow.h - how long does a step take, whose order is made item by item as it runs?
 *
 * Each stage does the next item of its order as soon as it is free and the input is
 * there. The times are a max-plus linear system: where the orders repeat and all of the
 * state has come the same seconds later, it will again, and these micro-batches are
 * left out, exactly. No lists are kept, so that long runs of many stages need little
 * room.
 */
#ifndef ENGINE_SCHEDULE_FLOW_H
#define ENGINE_SCHEDULE_FLOW_H

#include "engine/schedule/simulate.h"

/* Per stage, for the caller to lend: MAX_STAGES of each. */
struct flow {
	/* A run that is sure to take longer is left: then the seconds are without end
	 * and nothing else is said. 0 = none is. Not for pairs that hide. */
	double enough;
	double seconds, span; /* as in struct simulation */
	double *hidden;       /* seconds of work that ran beside the other of a pair */
	double *hidden_sends; /* and of sends that hold the stage */
	int32_t *peak_chunks; /* most virtual micro-batches held */
};

/* Of the schedules that order.h tells; false if the request's is no such one or does
 * not allow these counts. The times are those of the request. With `list` every item is
 * run and put there. */
bool flow_run(const struct schedule_request *request,
	      const struct simulate_times *times, struct schedule *list,
	      struct flow *out);

#endif
