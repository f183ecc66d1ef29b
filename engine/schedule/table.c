/* table.c - the schedules, one row each, and what they ask of the counts. */
#include <string.h>

#include "engine/schedule/classic.h"
#include "engine/schedule/flow.h"
#include "engine/schedule/order.h"
#include "engine/schedule/simulate.h"

static int64_t one_chunk(int64_t stages, int64_t vpp)
{
	(void)stages;
	(void)vpp;
	return 1;
}

static int64_t asked_chunks(int64_t stages, int64_t vpp)
{
	return stages > 1 && vpp > 1 ? vpp : 1;
}

static int64_t two_chunks(int64_t stages, int64_t vpp)
{
	(void)vpp;
	return stages > 1 ? 2 : 1;
}

/* Waves go down and up: an even number of chunks. */
static int64_t wave_chunks(int64_t stages, int64_t vpp)
{
	if (stages < 2)
		return 1;
	return vpp > 2 ? vpp + vpp % 2 : 2;
}

static bool refuse(struct schedule_problem *problem, const char *reason,
		   const char *knob, int64_t have)
{
	problem->reason = reason;
	problem->knob = knob;
	problem->have = have;
	problem->nearest_count = 0;
	return false;
}

static void near(struct schedule_problem *problem, int64_t value)
{
	if (value > 0 && problem->nearest_count < 4)
		problem->nearest[problem->nearest_count++] = value;
}

static bool allows_any(const struct schedule_request *request,
		       struct schedule_problem *problem)
{
	(void)request;
	(void)problem;
	return true;
}

/* A last group smaller than the pipeline would wait for itself (Megatron
 * core/pipeline_parallel/schedules.py, the remainder check). */
static bool allows_groups(const struct schedule_request *request,
			  struct schedule_problem *problem)
{
	int p = request->stages, m = request->micro_batches;
	int group = request->group > 0 ? request->group : p;
	int rest = m % group;

	if (request->chunks < 2 || p < 2)
		return true;
	if (group < p) {
		refuse(problem, "a micro-batch group must be at least as large as PP",
		       "micro_batch_group", group);
		near(problem, p);
		return false;
	}
	if (m < p) {
		refuse(problem, "interleaving needs at least PP micro-batches",
		       "global_batch", m);
		near(problem, p);
		return false;
	}
	if (rest == 0 || rest >= p)
		return true;
	refuse(problem, "the last group of micro-batches is smaller than PP",
	       "global_batch", m);
	near(problem, m - rest);
	near(problem, m - rest + (group < p ? group : p));
	return false;
}

static bool allows_breadth(const struct schedule_request *request,
			   struct schedule_problem *problem)
{
	int p = request->stages, m = request->micro_batches;

	if (request->chunks < 2 || p < 2 || m >= p)
		return true;
	refuse(problem, "breadth-first needs at least PP micro-batches", "global_batch",
	       m);
	near(problem, p);
	return false;
}

static bool even_stages(const struct schedule_request *request,
			struct schedule_problem *problem, const char *reason)
{
	int p = request->stages;

	if (p % 2 == 0)
		return true;
	refuse(problem, reason, "pp", p);
	near(problem, p - 1);
	near(problem, p + 1);
	return false;
}

static bool even_micro_batches(const struct schedule_request *request,
			       struct schedule_problem *problem, const char *reason)
{
	int m = request->micro_batches;

	if (m % 2 == 0)
		return true;
	refuse(problem, reason, "global_batch", m);
	near(problem, m - 1);
	near(problem, m + 1);
	return false;
}

static bool allows_dualpipe(const struct schedule_request *request,
			    struct schedule_problem *problem)
{
	int p = request->stages, m = request->micro_batches;

	if (!even_stages(request, problem, "DualPipe needs an even PP") ||
	    !even_micro_batches(request, problem,
				"DualPipe needs an even number of micro-batches"))
		return false;
	if (m >= 2 * p)
		return true;
	refuse(problem, "DualPipe needs at least 2 x PP micro-batches", "global_batch",
	       m);
	near(problem, 2 * p);
	return false;
}

static bool allows_dualpipev(const struct schedule_request *request,
			     struct schedule_problem *problem)
{
	int p = request->stages, m = request->micro_batches;

	if (p < 2 || m >= 2 * p)
		return true;
	refuse(problem, "DualPipeV needs at least 2 x PP micro-batches", "global_batch",
	       m);
	near(problem, 2 * p);
	return false;
}

static bool allows_chimera(const struct schedule_request *request,
			   struct schedule_problem *problem)
{
	return even_stages(request, problem, "Chimera needs an even PP") &&
	       even_micro_batches(request, problem,
				  "Chimera needs an even number of micro-batches");
}

const char *const schedule_words[SCHEDULE_COUNT + 1] = {
	[SCHEDULE_GPIPE] = "gpipe",
	[SCHEDULE_1F1B] = "1f1b",
	[SCHEDULE_INTERLEAVED] = "interleaved",
	[SCHEDULE_BREADTH_FIRST] = "breadth-first",
	[SCHEDULE_ZB_H1] = "zb-h1",
	[SCHEDULE_ZB_H2] = "zb-h2",
	[SCHEDULE_ZB_1P] = "zb-1p",
	[SCHEDULE_ZB_2P] = "zb-2p",
	[SCHEDULE_ZB_V] = "zb-v",
	[SCHEDULE_V_HALF] = "v-half",
	[SCHEDULE_V_MIN] = "v-min",
	[SCHEDULE_DUALPIPE] = "dualpipe",
	[SCHEDULE_DUALPIPEV] = "dualpipev",
	[SCHEDULE_CHIMERA] = "chimera",
	[SCHEDULE_HANAYO] = "hanayo",
};

const struct schedule_row schedule_table[SCHEDULE_COUNT] = {
	[SCHEDULE_GPIPE] = { generate_gpipe, NULL, allows_any, one_chunk, PLACE_LOOP,
			     .by_rounds = true, .whole_batch = true,
			     .weight_copies = 1 },
	[SCHEDULE_1F1B] = { generate_1f1b, NULL, allows_any, one_chunk, PLACE_LOOP,
			    .by_rounds = true, .weight_copies = 1 },
	[SCHEDULE_INTERLEAVED] = { generate_interleaved, NULL, allows_groups,
				   asked_chunks, PLACE_LOOP, .by_rounds = true,
				   .takes_chunks = true, .weight_copies = 1 },
	[SCHEDULE_BREADTH_FIRST] = { generate_breadth_first, NULL, allows_breadth,
				     asked_chunks, PLACE_LOOP, .by_rounds = true,
				     .takes_chunks = true, .whole_group = true,
				     .weight_copies = 1 },
	[SCHEDULE_ZB_H1] = { NULL, &order_zb_h1, allows_any, one_chunk, PLACE_LOOP,
			     .splits_backward = true, .weight_copies = 1 },
	[SCHEDULE_ZB_H2] = { NULL, &order_zb_h2, allows_any, one_chunk, PLACE_LOOP,
			     .splits_backward = true, .weight_copies = 1 },
	[SCHEDULE_ZB_1P] = { NULL, &order_zb_1p, allows_any, one_chunk, PLACE_LOOP,
			     .splits_backward = true, .weight_copies = 1,
			     .by_rule = true },
	[SCHEDULE_ZB_2P] = { NULL, &order_zb_2p, allows_any, one_chunk, PLACE_LOOP,
			     .splits_backward = true, .weight_copies = 1,
			     .by_rule = true },
	[SCHEDULE_ZB_V] = { NULL, &order_zb_v, allows_any, two_chunks, PLACE_V,
			    .splits_backward = true, .weight_copies = 1 },
	[SCHEDULE_V_HALF] = { NULL, &order_v_half, allows_any, two_chunks, PLACE_V,
			      .splits_backward = true, .weight_copies = 1,
			      .by_rule = true },
	[SCHEDULE_V_MIN] = { NULL, &order_v_min, allows_any, two_chunks, PLACE_V,
			     .splits_backward = true, .weight_copies = 1,
			     .by_rule = true },
	[SCHEDULE_DUALPIPE] = { NULL, &order_dualpipe, allows_dualpipe, one_chunk,
				PLACE_TWO_WAY, .splits_backward = true, .pairs = true,
				.weight_copies = 2 },
	[SCHEDULE_DUALPIPEV] = { NULL, &order_dualpipev, allows_dualpipev, two_chunks,
				 PLACE_V, .splits_backward = true, .pairs = true,
				 .weight_copies = 1 },
	[SCHEDULE_CHIMERA] = { NULL, &order_chimera, allows_chimera, one_chunk,
			       PLACE_TWO_WAY, .weight_copies = 2 },
	[SCHEDULE_HANAYO] = { NULL, &order_hanayo, allows_any, wave_chunks, PLACE_V,
			      .takes_chunks = true, .weight_copies = 1 },
};

static const struct schedule_row *row_of(int kind)
{
	return &schedule_table[kind >= 0 && kind < SCHEDULE_COUNT ? kind
								  : SCHEDULE_1F1B];
}

int64_t schedule_chunks(int kind, int64_t stages, int64_t vpp)
{
	return row_of(kind)->chunks(stages, vpp);
}

int schedule_stage(int kind, int stages, int k)
{
	int place = k % stages;

	if (row_of(kind)->placement == PLACE_V && k / stages % 2 == 1)
		return stages - 1 - place;
	return place;
}

int schedule_weight_copies(int kind)
{
	return row_of(kind)->weight_copies;
}

bool schedule_by_rounds(int kind)
{
	return row_of(kind)->by_rounds;
}

bool schedule_takes_chunks(int kind)
{
	return row_of(kind)->takes_chunks;
}

int64_t schedule_group(int kind, int64_t stages, int64_t micro_batches, int64_t asked)
{
	if (row_of(kind)->whole_group)
		return micro_batches;
	return asked > 0 ? asked : stages;
}

struct schedule_flight schedule_flight(int kind, int64_t stages, int64_t chunks,
				       int64_t micro_batches, int64_t asked)
{
	struct schedule_flight flight = { .most = micro_batches * chunks };
	int64_t group = schedule_group(kind, stages, micro_batches, asked);

	flight.first = flight.most;
	if (row_of(kind)->whole_batch)
		return flight;
	if (group > micro_batches)
		group = micro_batches;
	flight.first =
		chunks > 1 ? 2 * (stages - 1) + (chunks - 1) * group + 1 : stages;
	flight.falls = chunks > 1 ? 2 : 1;
	return flight;
}

bool schedule_pairs(int kind)
{
	return row_of(kind)->pairs;
}

int schedule_cuts(int kind, int stages, int chunks)
{
	/* a V turns on the spot */
	return row_of(kind)->placement == PLACE_V ? (stages - 1) * chunks
						  : stages * chunks - 1;
}

bool schedule_allows(const struct schedule_request *request,
		     struct schedule_problem *problem)
{
	if (request->stages < 1 || request->chunks < 1 || request->micro_batches < 1)
		return refuse(problem, "needs a stage, a chunk and a micro-batch", "pp",
			      request->stages);
	if (request->stages == 1)
		return true;
	return row_of(request->kind)->allows(request, problem);
}

static bool take_lists(struct schedule *out, bool split, struct arena *arena)
{
	int each = out->placement == PLACE_TWO_WAY ? 1 : out->chunks;

	out->capacity = each * out->micro_batches * (split ? 3 : 2);
	out->count = arena_take(arena, (size_t)out->stages, sizeof *out->count);
	out->item = arena_take(arena, (size_t)out->stages * (size_t)out->capacity,
			       sizeof *out->item);
	if (out->count && out->item)
		memset(out->count, 0, (size_t)out->stages * sizeof *out->count);
	return out->count && out->item;
}

/* Lists of what is made item by item; where times decide, it is run for that. */
static bool make_order(const struct schedule_request *request, struct schedule *out)
{
	struct simulate_times times = { .forward = request->forward,
					.input_grad = request->input_grad,
					.weight_grad = request->weight_grad,
					.send_seconds = request->send_seconds,
					.overlap_send = request->overlap_send };
	double hidden[MAX_STAGES], hidden_sends[MAX_STAGES];
	int32_t peak[MAX_STAGES];
	struct flow flow = { .hidden = hidden,
			     .hidden_sends = hidden_sends,
			     .peak_chunks = peak };
	struct order order;

	if (schedule_table[request->kind].by_rule)
		return flow_run(request, &times, out, &flow);
	if (!order_prepare(request, &order))
		return false;
	order_list(&order, out);
	return true;
}

bool schedule_make(const struct schedule_request *request, struct arena *arena,
		   struct schedule *out, struct schedule_problem *problem)
{
	const struct schedule_row *row = row_of(request->kind);
	struct schedule_problem unheard;

	problem = problem ? problem : &unheard;
	if (!schedule_allows(request, problem))
		return false;
	if (request->stages == 1)
		row = &schedule_table[SCHEDULE_1F1B];
	out->stages = request->stages;
	out->placement = row->placement;
	out->chunks = row->placement == PLACE_TWO_WAY ? 2 : request->chunks;
	out->depth = request->stages * request->chunks;
	out->micro_batches = request->micro_batches;
	if (!take_lists(out, row->splits_backward, arena))
		return refuse(problem, "not enough memory for its items",
			      "global_batch", request->micro_batches);
	if (request->stages > 1 && row->order ? make_order(request, out)
					      : row->generate(request, out))
		return true;
	return refuse(problem, "there is no such order", "pp", request->stages);
}
