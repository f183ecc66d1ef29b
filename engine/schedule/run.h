/* run.h - the state of one simulated run; only simulate.c and items.c include it. */
#ifndef ENGINE_SCHEDULE_RUN_H
#define ENGINE_SCHEDULE_RUN_H

#include "engine/schedule/simulate.h"

/* One chunk of one stage: what its items cost, whom they wait for, where their ends
 * are kept. Rows have one entry per micro-batch. */
struct site {
	const double *forward_in,
		*backward_in; /* when the input is made; -1 = not yet */
	double *forward_out, *backward_out;
	double forward_delay, backward_delay; /* until the input is here */
	double forward_hold, backward_hold;   /* its send holds the stage so long */
	double time[WORK_COUNT];
	double pair_saves;
	double bytes, kept_bytes;
	int position;
	bool forward_moves, backward_moves; /* the input comes from another stage */
};

/* What is kept of it where items are asked for later. */
struct simulate_run {
	const struct schedule *schedule;
	struct site *site;  /* stage * chunks + chunk */
	double *start;      /* as schedule->item, or NULL if nobody asks */
	uint64_t *critical; /* a bit for each item */
	double *held;       /* of each stage before every HELD_EVERY-th item */
};
enum { HELD_EVERY = 32 };

struct runner {
	struct simulate_run run;
	struct simulation *out;
	double *free; /* when each stage is free again */
	int *next;    /* item of each stage */
};

/* Places on each stage where what it holds is kept. */
static inline int64_t run_held_places(const struct schedule *schedule)
{
	return schedule->capacity / HELD_EVERY + 1;
}

/* Pipeline stage where a micro-batch that is on this chunk passes a position. */
int run_stage_of(const struct schedule *schedule, int chunk, int position);
/* Virtual micro-batches that each stage holds at most; the order alone says it. */
void run_count_held(const struct runner *runner);
/* The memory of each stage and the critical path; false if the arena is too small. */
bool run_keep_items(const struct runner *runner, struct arena *arena);

#endif
