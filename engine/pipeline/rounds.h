/* rounds.h - the moving front of 1F1B and interleaved, and the simulated rest; only
 * this room and its test include it. Times hold a sender's transfer where it is not
 * overlapped. */
#ifndef ENGINE_PIPELINE_ROUNDS_H
#define ENGINE_PIPELINE_ROUNDS_H

#include "engine/pipeline/pipeline.h"

struct rounds {
	int stages, chunks;
	int64_t micro_batches, group;
	double latency; /* of an overlapped transfer */
	double forward[MAX_VIRTUAL], backward[MAX_VIRTUAL];
};

/* Seconds from the first forward to the last backward; at least two stages. What
 * stands in rounds may change. */
double rounds_seconds(struct rounds *rounds);
/* Least seconds of interleaved. */
double rounds_floor(struct rounds *rounds);
/* The longest path that stays on one stage: no step of interleaved is shorter, and
 * with even stages (all virtual ones equal but the first and the last) it is exact. */
double rounds_paths(const struct rounds *rounds);
bool rounds_are_even(const struct rounds *rounds);

/* The schedules whose order is made item by item; false if it does not allow these
 * counts. */
bool pipeline_simulate(const struct pipeline_input *input, struct pipeline_result *out);
/* Least seconds of that: the busiest stage's work, the way of the first micro-batch to
 * it and of the last one back. */
double simulated_floor(const struct pipeline_input *input);

#endif
