/* pipeline.h - given orders and times: when is each stage busy or idle, and what
 * is in flight? (The split of the model between stages.)
 *
 * A virtual stage k = chunk * stages + place holds one chunk of layers, counted in
 * model order; schedule_stage() says which stage runs it. Times are seconds of one
 * micro-batch on one virtual stage and include what is exposed inside it (TP, CP,
 * EP); transfers between virtual stages are apart.
 *
 * A transfer takes send_seconds. With overlap_send it runs beside computation: the
 * receiver can start that much later, nobody is held, and waiting for it is idle
 * time. Without, the sender is held for it (as in a batched exchange, where the
 * receive runs along with the send); virtual stages on the same stage pass for free.
 */
#ifndef ENGINE_PIPELINE_H
#define ENGINE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/limits.h"

struct pipeline_input {
	int stages, chunks;
	int64_t micro_batches;
	int schedule;        /* enum schedule_kind */
	int64_t group;       /* interleaved: micro-batch group size, 0 = stages */
	double send_seconds; /* one transfer between neighbouring virtual stages */
	bool overlap_send;   /* sends and receives run beside computation */
	double forward[MAX_VIRTUAL];
	double input_grad[MAX_VIRTUAL]; /* backward without weight gradients,
					   recomputation included */
	double weight_grad[MAX_VIRTUAL];
	/* What a micro-batch in flight on a virtual stage holds, in any unit:
	 * interleaved counts with it; not read unless weighed. */
	bool weighed;
	double held[MAX_VIRTUAL];
	/* What follows is used by schedules other than gpipe, 1f1b and interleaved. */
	/* Seconds beyond which nobody asks: a run that is sure to take longer may be
	 * left, and then its seconds are without end and the rest is not said. 0 =
	 * none.
	 */
	double enough;
	int optimizer_sync; /* enum optimizer_sync: with post-validation a step is the
			       longest stage's own time, its start skew apart */
	/* Seconds that a forward or a backward of a virtual stage saves when it runs
	 * beside the other (DualPipe's pairs); not read unless hides. */
	bool hides;
	double pair_hides[MAX_VIRTUAL];
};

struct pipeline_result {
	double seconds; /* of the pipeline phase, first forward to last backward */
	double busy[MAX_STAGES];      /* sum of its work */
	double transfer[MAX_STAGES];  /* held by sends: 0 with overlap_send */
	double idle[MAX_STAGES];      /* seconds - busy - transfer */
	double in_flight[MAX_STAGES]; /* peak of held micro-batches, chunks counted
					 as 1/chunks each, or by their share of what
					 the stage holds if that is more */
	int64_t in_flight_chunks[MAX_STAGES]; /* the same, in chunks */
};

/* Allocates nothing, and takes less than 64 KiB of stack. Exact, as if every item were
 * run: rounds of a steady state that all move by the same seconds are left out. Only
 * long runs of breadth-first go on in a straight line (within 0.1 %), and runs of many
 * thousand micro-batches may not wait for the last of the transient (front.c,
 * period.c). stages and micro_batches are at least 1, stages * chunks at most
 * MAX_VIRTUAL; counts that the schedule does not allow are taken as 1F1B or
 * interleaved. */
void pipeline_step(const struct pipeline_input *input, struct pipeline_result *out);
/* The same asked of a schedule and its simulator, but for counts of micro-batches and
 * bytes; the arrays stay the input's. */
struct schedule_request;
struct simulate_times;
void pipeline_asks(const struct pipeline_input *input, struct schedule_request *request,
		   struct simulate_times *times);
/* Seconds that pipeline_step() does not go below: the longest path that stays on one
 * stage. */
double pipeline_floor(const struct pipeline_input *input);
/* in_flight and in_flight_chunks alone, whatever the times are. False if only a
 * simulation tells; then they are no more than it will find: one micro-batch. */
bool pipeline_tells_in_flight(const struct pipeline_input *input);
bool pipeline_in_flight(const struct pipeline_input *input,
			struct pipeline_result *out);
/* The same by simulation with equal times: right for all schedules but those made by
 * rule (schedule_table). */
void pipeline_order_in_flight(const struct pipeline_input *input,
			      struct pipeline_result *out);

#endif
