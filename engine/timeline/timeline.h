/* timeline.h - one training step of a scenario as its stages live it: which runs which
 * micro-batch when, what each item waited for, where they idle, what they hold.
 *
 * The schedule is simulated in full with the stage times of the estimate, so its
 * phase is that of the estimate within the tolerance stated in pipeline.h (the
 * estimate shortens long steps). Times are seconds from the first forward, scaled as
 * the estimate's are.
 */
#ifndef ENGINE_TIMELINE_H
#define ENGINE_TIMELINE_H

#include "engine/base/arena.h"
#include "engine/estimate/estimate.h"
#include "engine/schedule/simulate.h"

/* Items in all; more are refused, never cut off. 256 stages x 1024 micro-batches fit.
 */
enum { MAX_TIMELINE_ITEMS = 1 << 20 };

struct timeline_item {
	double start, end;
	double send;        /* its send holds the stage so long behind its end */
	double idle_before; /* of its stage, since the item before it (or since 0) */
	double transfer_before; /* the last part of that, in which what it waited for
				   was on its way */
	int32_t micro_batch;
	int16_t stage, chunk; /* chunk of the stage */
	int16_t position;     /* virtual stage in model order */
	uint8_t kind;         /* enum work_kind */
	uint8_t wait;         /* enum wait_kind */
	bool critical;        /* on the longest path */
	bool paired;          /* runs together with the next item of its stage */
};

struct timeline_stage {
	int32_t first, count;            /* its items, in the order it runs them */
	double start, end;               /* of its first and last item */
	double busy, transfer, idle;     /* of the phase; they sum to it */
	double peak_bytes, peak_seconds; /* activations, and the first time of it */
	int peak_chunks;                 /* most virtual micro-batches held */
	double resident_bytes;           /* all that it holds beside activations */
	double tail_seconds;             /* gradients, optimizer and waiting after it */
};

struct timeline {
	int stages, chunks, micro_batches;
	int depth; /* virtual stages that a micro-batch passes */
	/* The phase to its last end, and the step: the phase (without a barrier, the
	 * longest stage's own span) and the tail behind it. */
	double pipeline_seconds, step_seconds;
	/* From when on every stage has begun to work backward, and until when all have
	 * forwards left: the pipeline fills before and drains behind. */
	double filled_seconds, drain_seconds;
	double item_seconds;     /* mean of all items */
	char layout[MAX_LAYOUT]; /* Megatron's layout string; "" if it is too long */
	double send_seconds;     /* of one transfer between neighbours */
	bool overlap_send;       /* it holds nobody */
	int32_t item_count;
	struct timeline_item *item; /* all of them; NULL unless they are listed */
	struct timeline_stage *stage;
	const struct timeline_run *run; /* what the functions below look up */
	/* seconds of an item's time that are recomputation: the first part of a
	 * backward or input gradient; one per virtual stage */
	double *recompute;
};

/* Why there is none: the plan is illegal (estimate->problems says why), or a count. */
struct timeline_problem {
	const char *reason; /* "more than 1048576 items", "not enough memory" */
	const char *knob;   /* that would mend it, or NULL */
	int64_t have, limit;
};

/* Bytes of arena that timeline_build() needs at most; 0 if there are more items than
 * the limit or the plan has no micro-batches. Without the list most of them are never
 * touched. */
size_t timeline_bytes(const struct scenario *scenario);

/* Estimate the scenario into estimate and simulate its step in the arena. False with
 * the problem filled in. Nothing else is allocated. */
bool timeline_build(const struct scenario *scenario, struct arena *arena,
		    struct estimate *estimate, struct timeline *out,
		    struct timeline_problem *problem);
/* The same without the list of all items, for who looks at some of them. */
bool timeline_play(const struct scenario *scenario, struct arena *arena,
		   struct estimate *estimate, struct timeline *out,
		   struct timeline_problem *problem);

struct timeline_item timeline_item(const struct timeline *timeline, int32_t item);
/* The item that decided its start, -1 = none. By bisection. */
int32_t timeline_after(const struct timeline *timeline, int32_t item);
/* Activations on its stage once it has started (a forward) or ended (the others). */
double timeline_item_bytes(const struct timeline *timeline, int32_t item);

/* The item that runs on a stage at that time, or the last one before it; -1 before the
 * first. By bisection. */
int32_t timeline_at(const struct timeline *timeline, int stage, double seconds);
/* The most activations that a stage holds between two times, or at one. */
double timeline_most_bytes(const struct timeline *timeline, int stage, double from,
			   double to);
/* The item that starts next on any stage (at one time in order of stages), or with
 * back the one before; -1 if there is none. */
int32_t timeline_next(const struct timeline *timeline, int32_t item, bool back);
/* How many start no later than it, itself counted: its number in that order. */
int32_t timeline_number(const struct timeline *timeline, int32_t item);

#endif
