/* law.h - what the papers say of their schedules: idle time and micro-batches held,
 * with equal stages and free sends. For explanations and tests; estimates run the
 * lists.
 *
 * F, B, W are the seconds of a forward, an input gradient and a weight gradient of a
 * micro-batch on a stage (all its chunks); p stages, v chunks each, m micro-batches in
 * groups of N, i a stage counted from 0.
 */
#ifndef ENGINE_SCHEDULE_LAW_H
#define ENGINE_SCHEDULE_LAW_H

#include "engine/schedule/schedule.h"

struct law_case {
	int stages, chunks, stage;
	int64_t micro_batches;
	int64_t group;  /* interleaved: 0 = stages */
	bool barrier;   /* the step ends for all stages at once */
	double f, b, w; /* seconds */
};

struct schedule_law {
	const char *idle; /* formula: "(p - 1)(F + B + W)/v" */
	const char *held; /* formula, in micro-batches of stage i: "min(m, p - i)" */
	const char *source;
	/* Idle seconds of a stage in the phase, and chunks held at its peak. */
	double (*idle_seconds)(const struct law_case *);
	int64_t (*held_chunks)(const struct law_case *);
	/* Micro-batches from which on it holds, in units of PP (and there a multiple
	 * of PP for groups and waves). */
	int least;
	bool any_passes; /* whatever F, B and W are; else where all three are equal */
	bool at_most;    /* a bound */
};

extern const struct schedule_law schedule_laws[SCHEDULE_COUNT];

/* The law of a schedule as it runs with these counts: interleaved with one chunk is
 * 1F1B, and one stage idles never. */
const struct schedule_law *schedule_law(int kind, int stages, int chunks);

#endif
