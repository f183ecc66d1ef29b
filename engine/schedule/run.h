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

struct runner {
	const struct schedule *schedule;
	struct simulation *out;
	struct site *site;  /* stage * chunks + chunk */
	double *free;       /* when each stage is free again */
	double *item_start; /* as schedule->item, or NULL if nobody asks */
	int *next;          /* item of each stage */
};

/* Virtual micro-batches that each stage holds at most; the order alone says it. */
void run_count_held(const struct runner *runner);
/* What each item waited for, the memory of each stage and the critical path; false if
 * the arena is too small. */
bool run_fill_items(const struct runner *runner, struct arena *arena);

#endif
