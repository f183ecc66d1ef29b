/* flow_run.h - the state of a run; only flow.c and period.c include it. */
#ifndef ENGINE_SCHEDULE_FLOW_RUN_H
#define ENGINE_SCHEDULE_FLOW_RUN_H

#include "engine/schedule/order.h"
#include "engine/schedule/simulate.h"

/* What a stage has come to. */
struct lane {
	struct cursor cursor;
	double free; /* when it is free again */
	double hidden, hidden_sends;
	struct order_item item, pair; /* the next, and what runs together with it */
	int32_t row;                  /* of the next item */
	int32_t forwards, held, late; /* late: weight gradients that were put off */
	int32_t weights[2];           /* done, of chunks 0 and 1 */
};

/* A chunk of a stage: how many items it ran. */
struct row {
	int32_t forwards, backwards;
	int16_t position;             /* virtual stage */
	bool first, last;             /* of them */
	bool forward_in, backward_in; /* the input comes from another stage */
};

struct state {
	struct lane *lane;
	struct row *row;
	/* ends of each row's latest items, as many each as there is room for. Behind
	 * those backward lie what is always there (0), and what nobody waits for */
	double *forward, *backward;
};

/* An item that ran: how long it takes its stage, and which ends it waited for and made,
 * as places from state.forward on. */
struct note {
	double time;
	uint16_t stage, in, out, moves; /* moves: the input comes from another stage */
};

/* What runs in the next sweeps, in its order: nothing in most of them. */
struct tape {
	struct note *note;
	int most; /* notes that there is room for */
	int count, room;
	int sweeps;
	struct memory *since; /* the state before */
};

/* A state kept to look back at. The first is kept anew after few sweeps, so that a
 * short period is found as soon as the run has come to it; the second longer each time,
 * so that any period is. */
enum { MEMORIES = 2, SHORT_MEMORY = 4 };
struct memory {
	struct state kept; /* lane is NULL without room */
	int passed, most;  /* sweeps since it was kept, and until the next is */
	bool is_kept;
};

struct runner {
	struct order order;
	const struct simulate_times *times;
	struct schedule *list;
	double latency[2], hold[2]; /* [1] between stages */
	int rows, shift, mask;      /* of a row of ends: 1 << shift */
	int each;                   /* micro-batches that a chunk runs */
	bool cuts;                  /* the order has items of more micro-batches */
	double enough; /* nobody asks by how much it takes longer; 0 = all do */
	int held_limit;
	int busy_lanes; /* that have something left */
	struct state now;
	struct memory memory[MEMORIES];
	struct tape tape;
	double *start;
	int32_t *peak;
	double left_out; /* seconds */
	int sweeps;
	bool looks_back; /* until something was left out */
};

/* After each sweep over the stages: whether what was run since a state was kept will
 * come again, which then is left out. */
void flow_look_back(struct runner *r);

#endif
