/* simulate.h - event-accurate run of any schedule: given the lists, the times and
 * the placement, when does each item start and end, and what did it wait for?
 * Knows no schedule by name.
 */
#ifndef ENGINE_SCHEDULE_SIMULATE_H
#define ENGINE_SCHEDULE_SIMULATE_H

#include "engine/schedule/schedule.h"

/* Times of one micro-batch on one virtual stage, in model order (depth entries). */
struct simulate_times {
	const double *forward, *input_grad, *weight_grad; /* seconds */
	/* Seconds that a forward or a backward of this virtual stage saves when it
	 * runs paired with the other (hidden communication); NULL = none. */
	const double *pair_hides;
	/* Activation bytes that a micro-batch holds there; NULL = 1 per chunk. */
	const double *activation_bytes;
	/* Share of them that stays from the end of the input gradient to that of
	 * the weight gradient, where those are apart. */
	double kept_for_weights;
	double send_seconds;
	bool overlap_send; /* as in struct pipeline_input */
};

enum wait_kind {
	WAIT_NONE,     /* starts at 0 */
	WAIT_STAGE,    /* its stage was busy until then */
	WAIT_WORK,     /* for an item of its own stage or another one */
	WAIT_TRANSFER, /* for a transfer from another stage */
	WAIT_COUNT
};

/* When an item ran. */
struct simulate_span {
	double start, end;
	double send; /* its send holds the stage so long behind its end */
};

struct simulate_stage {
	double start, end; /* of its first and last item */
	double busy, transfer, idle;
	/* activations, and the first time of it; only with items */
	double peak_bytes, peak_seconds;
	int peak_chunks; /* most virtual micro-batches held */
};

struct simulation {
	double seconds; /* last end; the first start is 0 */
	double span;    /* longest stage from its first start to its last end: the
			   step when no barrier holds the stages together */
	struct simulate_stage *stage;
	/* What the functions below look up, if items are wanted; else NULL. */
	const struct simulate_run *run;
	/* A schedule that is broken: the first item that never can start. */
	int stuck_stage, stuck_index; /* -1 = none */
};

/* Run it; with_items keeps when each item started, so that what else there is to say of
 * one is worked out once somebody asks. All memory comes from the arena; the schedule
 * is looked at again then. False if the arena is too small, or the schedule is stuck
 * (stuck_stage >= 0). */
bool simulate(const struct schedule *schedule, const struct simulate_times *times,
	      bool with_items, struct arena *arena, struct simulation *out);

/* --- one item of a run with items, by its index in schedule->item --- */

struct simulate_span simulate_span(const struct simulation *ran, int64_t item);
/* enum wait_kind */
int simulate_wait(const struct simulation *ran, int64_t item);
/* The item that decided its start: the previous one of its stage, or the one it needs;
 * -1 if none. By bisection. */
int64_t simulate_after(const struct simulation *ran, int64_t item);
/* Whether it is on the longest path. */
bool simulate_is_critical(const struct simulation *ran, int64_t item);
/* Activations that its stage holds once it has started (a forward) or ended. */
double simulate_held(const struct simulation *ran, int64_t item);
/* The same behind the item before, to go on from. */
double simulate_held_next(const struct simulation *ran, int64_t item, double held);

/* Bytes of arena that schedule_make() and simulate() need at most. */
size_t simulate_bytes(int stages, int chunks, int depth, int micro_batches,
		      bool with_items);

#endif
