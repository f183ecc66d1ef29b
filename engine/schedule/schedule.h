/* schedule.h - in what order does each stage work?
 *
 * A schedule is data: for each stage an ordered list of work items. A small description
 * makes it, whole or item by item (order.h), one row of schedule_table each; whoever
 * runs it (flow.h, simulate.h) knows no names, only items and the placement.
 */
#ifndef ENGINE_SCHEDULE_SCHEDULE_H
#define ENGINE_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/limits.h"
#include "engine/schedule/kind.h"

enum work_kind {
	WORK_FORWARD,
	WORK_BACKWARD, /* input and weight gradient at once */
	WORK_INPUT_GRAD,
	WORK_WEIGHT_GRAD,
	WORK_COUNT
};

struct work {
	int32_t micro_batch;
	int16_t chunk; /* of the stage */
	uint8_t kind;
	uint8_t paired; /* a forward that runs together with the next item, a
			   backward: communication of one hides behind the other */
};

/* Where the chunks of a stage lie in the model. */
enum placement {
	PLACE_LOOP,   /* chunk c of stage s is virtual stage c*p + s */
	PLACE_V,      /* odd chunks run backwards: c*p + p - 1 - s */
	PLACE_TWO_WAY /* two whole copies; chunk 1 is virtual stage p - 1 - s, for
			 the micro-batches that run the other way */
};

struct schedule {
	int stages, chunks; /* chunks per stage, both copies of PLACE_TWO_WAY */
	int depth;          /* virtual stages that a micro-batch passes */
	int micro_batches;
	enum placement placement;
	int capacity; /* items that there is room for on each stage */
	int32_t *count;
	struct work *item; /* stage s: item[s * capacity] and on */
};

/* What makes an order. Times are of one micro-batch on one virtual stage
 * in model order; only orders made by rule look at them. */
struct schedule_request {
	int kind; /* enum schedule_kind */
	int stages;
	int chunks; /* of the model per stage: virtual stages / stages */
	int micro_batches;
	int group; /* interleaved: micro-batches per group, 0 = stages */
	const double *forward, *input_grad, *weight_grad;
	double send_seconds; /* between stages */
	bool overlap_send;
};

/* Why a schedule can't run with these numbers. */
struct schedule_problem {
	const char *reason; /* "needs an even number of stages" */
	const char *knob;   /* "pp", "vpp", "global_batch" (stands for m) */
	int64_t have;
	int64_t nearest[4]; /* values that would do, of what reason speaks of */
	int nearest_count;
};

struct order_rule;
struct schedule_row {
	/* Fills empty lists that have room for every item. */
	bool (*generate)(const struct schedule_request *, struct schedule *);
	const struct order_rule *order; /* or it is made item by item (order.h) */
	/* False with the problem filled in. */
	bool (*allows)(const struct schedule_request *, struct schedule_problem *);
	int64_t (*chunks)(int64_t stages, int64_t vpp);
	enum placement placement;
	/* Its order is so regular that engine/pipeline walks it round by round; the
	 * lists of others are simulated. */
	bool by_rounds;
	bool takes_chunks;    /* as many chunks a stage as are asked for */
	bool whole_group;     /* all micro-batches pass a chunk before the next */
	bool whole_batch;     /* all forwards come before the first backward */
	bool splits_backward; /* weight gradients are work of their own */
	bool pairs;           /* forwards run together with backwards */
	int weight_copies;
	bool by_rule; /* made from the stage times, so dearer to make */
};

extern const struct schedule_row schedule_table[SCHEDULE_COUNT];
/* What the knob calls them, up to a NULL. */
extern const char *const schedule_words[SCHEDULE_COUNT + 1];

/* Chunks of the model per stage that the schedule really uses when vpp are asked
 * for. */
int64_t schedule_chunks(int kind, int64_t stages, int64_t vpp);
/* Pipeline stage that runs virtual stage k (in model order; with two copies, the
 * first one's). */
int schedule_stage(int kind, int stages, int k);
/* Copies of the weights each stage holds: 2 in DualPipe and Chimera. */
int schedule_weight_copies(int kind);
/* Whether it runs forwards together with backwards, communication of one behind the
 * computation of the other. */
bool schedule_pairs(int kind);
/* The columns by_rounds and takes_chunks. */
bool schedule_by_rounds(int kind);
bool schedule_takes_chunks(int kind);
/* Micro-batches that pass a chunk before the next one does; asked: a size of the group,
 * or 0 for the usual one, as many as there are stages. */
int64_t schedule_group(int kind, int64_t stages, int64_t micro_batches, int64_t asked);

/* Chunks whose activations stage s of several holds at the fullest, of a schedule that
 * goes by rounds: the lesser of most and first - falls s. Of 1F1B p - s
 * (PipeDream-Flush, Narayanan et al. 2021a, section 3), interleaved 2 (p - 1 - s) + (v
 * - 1) group + 1 (Megatron core/pipeline_parallel/schedules.py,
 * num_warmup_microbatches). */
struct schedule_flight {
	int64_t most, first, falls;
};
struct schedule_flight schedule_flight(int kind, int64_t stages, int64_t chunks,
				       int64_t micro_batches, int64_t asked);
/* Transfers of a micro-batch from one stage to another, forward. */
int schedule_cuts(int kind, int stages, int chunks);
/* Whether the schedule can run with these counts (times are not looked at). */
bool schedule_allows(const struct schedule_request *request,
		     struct schedule_problem *problem);
/* Make the lists in the arena. False if it is too small or the schedule does not
 * allow these counts; problem->reason says which (problem may be NULL). */
bool schedule_make(const struct schedule_request *request, struct arena *arena,
		   struct schedule *out, struct schedule_problem *problem);

/* For generators: append one item to a stage's list. */
static inline struct work *schedule_put(struct schedule *schedule, int stage,
					enum work_kind kind, int chunk, int micro_batch)
{
	struct work *work = &schedule->item[(int64_t)stage * schedule->capacity +
					    schedule->count[stage]++];

	work->micro_batch = micro_batch;
	work->chunk = (int16_t)chunk;
	work->kind = (uint8_t)kind;
	work->paired = 0;
	return work;
}

/* Virtual stage of a stage's chunk, in model order. */
static inline int schedule_position(enum placement placement, int stages, int stage,
				    int chunk)
{
	if (placement == PLACE_TWO_WAY)
		return chunk == 0 ? stage : stages - 1 - stage;
	if (placement == PLACE_V && chunk % 2 == 1)
		return chunk * stages + stages - 1 - stage;
	return chunk * stages + stage;
}

#endif
