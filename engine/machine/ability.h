/* ability.h - what a software stack has: values of knobs, each with the place in its
 * source that says so.
 *
 * This is not legality. A plan beyond its stack's sheet is estimated all the same, so
 * that one may ask what a schedule would give that nobody has built in yet; `check`
 * refuses it and the search does not propose it (engine/rules/ability.h).
 */
#ifndef ENGINE_MACHINE_ABILITY_H
#define ENGINE_MACHINE_ABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"

enum { MAX_ABILITIES = 32, MAX_ABILITY_SOURCE = 128 };

/* Some values of a knob, as knob_get() gives them: words and small numbers as bits
 * (of a set the members that it may hold), or all numbers of a range. */
struct ability_span {
	int knob;      /* 1 + its row of the knob table; 0 = none */
	bool is_range; /* then least to most, and no bits */
	uint64_t bits; /* bit v: the value v */
	double least, most;
};

/* The stack has these values of that knob, and no other; where `with` names a knob,
 * that holds only while its value is one of those. */
struct ability {
	struct ability_span has, with;
	bool unknown; /* its source could not be looked up: nothing is refused */
	char source[MAX_ABILITY_SOURCE]; /* file:line at `read`, or a document */
};

struct ability_sheet {
	char read[MAX_NOTE]; /* which source, and of when: "NVIDIA/Megatron-LM@d98e8a6,
				2026-08" */
	/* Bit m: it runs on accelerators of that maker (enum maker); 0: nothing is
	 * said, and nothing refused. Of the row only the source counts. */
	uint64_t makers;
	struct ability machines;
	int count;
	struct ability row[MAX_ABILITIES];
};

/* What was run on the stack: features (enum trust_feature, engine/trust/trust.h) as
 * bits, and the most GPUs, of measured runs and of published plans. together: what a
 * measured run had all at once, the largest such sets; behind them is 0. measured is
 * all of these. */
enum { MAX_TOGETHER = 32 };

struct evidence {
	uint64_t measured, published;
	uint64_t together[MAX_TOGETHER];
	int64_t measured_gpus, published_gpus;
};

#endif
