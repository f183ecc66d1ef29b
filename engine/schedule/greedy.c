#include "engine/schedule/greedy.h"

#include <math.h>
#include <string.h>

/* What a stage could do next. */
struct choice {
	double start; /* INFINITY = nothing yet */
	int rank;     /* at equal start the lower goes first */
	enum work_kind kind;
	int chunk, micro_batch;
};

struct lane {
	double free;
	int held, at; /* at: place in the kept order */
	int scan;     /* where the next put-off one stands in out's list */
	struct choice best;
};

struct greedy {
	const struct schedule_request *request;
	const struct greedy_rule *rule;
	struct schedule *out;
	struct lane *lane;
	double *forward_end,
		*backward_end; /* position * m + micro_batch; -1 = not yet */
	int *next_forward, *next_backward; /* of stage * chunks + chunk */
	double *start;                     /* lane[s].best.start */
	int m;
};

static int position_of(const struct greedy *g, int s, int c)
{
	return schedule_position(g->out->placement, g->out->stages, s, c);
}

static double weigh(const double *times, int k, double otherwise)
{
	return times ? times[k] : otherwise;
}

static double time_of(const struct greedy *g, int k, enum work_kind kind)
{
	const struct schedule_request *r = g->request;
	double input = weigh(r->input_grad, k, 1), weight = weigh(r->weight_grad, k, 1);

	switch (kind) {
	case WORK_FORWARD: return weigh(r->forward, k, 1);
	case WORK_INPUT_GRAD: return input;
	case WORK_WEIGHT_GRAD: return weight;
	default: return input + weight;
	}
}

/* Stages of two neighbouring virtual stages differ but at the turns of a V. */
static double arrive(const struct greedy *g, const double *end, int k, int from, int i)
{
	int p = g->out->stages;
	int low = k < from ? k : from;
	bool turn = g->out->placement == PLACE_V && low % p == p - 1;
	double at = end[(int64_t)from * g->m + i];

	return at < 0 ? INFINITY : at + (turn || p == 1 ? 0 : g->request->latency);
}

/* When the input of micro-batch i is there. */
static double ready_forward(const struct greedy *g, int k, int i)
{
	int limit = g->rule->admit_limit;

	if (k > 0)
		return arrive(g, g->forward_end, k, k - 1, i);
	if (limit == 0 || i < limit)
		return 0;
	return g->backward_end[i - limit] < 0 ? INFINITY : g->backward_end[i - limit];
}

static double ready_backward(const struct greedy *g, int k, int i)
{
	if (k == g->out->depth - 1)
		return arrive(g, g->forward_end, k, k, i);
	if (g->forward_end[(int64_t)k * g->m + i] < 0)
		return INFINITY;
	return arrive(g, g->backward_end, k, k + 1, i);
}

static void offer(struct choice *best, const struct lane *lane, double ready, int rank,
		  enum work_kind kind, int chunk, int micro_batch)
{
	double start = ready > lane->free ? ready : lane->free;

	if (start < best->start || (start == best->start && rank < best->rank))
		*best = (struct choice){ start, rank, kind, chunk, micro_batch };
}

static enum work_kind backward_kind(const struct greedy *g)
{
	return g->rule->splits_backward ? WORK_INPUT_GRAD : WORK_BACKWARD;
}

static void offer_chunk(const struct greedy *g, int s, int c, struct choice *best)
{
	struct lane *lane = &g->lane[s];
	int chunks = g->out->chunks, k = position_of(g, s, c);
	int f = g->next_forward[s * chunks + c], b = g->next_backward[s * chunks + c];

	if (b < g->m)
		offer(best, lane, ready_backward(g, k, b), chunks - 1 - c,
		      backward_kind(g), c, b);
	if (f < g->m && lane->held < g->rule->held_limit)
		offer(best, lane, ready_forward(g, k, f), 2 * chunks - 1 - c,
		      WORK_FORWARD, c, f);
}

static void offer_order(const struct greedy *g, int s, struct choice *best)
{
	const struct schedule *order = g->rule->order;
	struct lane *lane = &g->lane[s];
	const struct work *work = &order->item[(int64_t)s * order->capacity + lane->at];
	int k;

	if (lane->at == order->count[s])
		return;
	k = position_of(g, s, work->chunk);
	if (work->kind != WORK_FORWARD)
		offer(best, lane, ready_backward(g, k, work->micro_batch), 0,
		      backward_kind(g), work->chunk, work->micro_batch);
	else if (lane->held < g->rule->held_limit)
		offer(best, lane, ready_forward(g, k, work->micro_batch), 1,
		      WORK_FORWARD, work->chunk, work->micro_batch);
}

/* The oldest input gradient whose weight gradient is still to do. */
static void offer_weight(const struct greedy *g, int s, struct choice *best)
{
	struct lane *lane = &g->lane[s];
	const struct work *list = &g->out->item[(int64_t)s * g->out->capacity];
	double time;

	if (!g->rule->splits_backward)
		return;
	while (lane->scan < g->out->count[s] &&
	       list[lane->scan].kind != WORK_INPUT_GRAD)
		lane->scan++;
	if (lane->scan == g->out->count[s])
		return;
	time = time_of(g, position_of(g, s, list[lane->scan].chunk), WORK_WEIGHT_GRAD);
	if (best->start - lane->free < g->rule->gap_share * time)
		return;
	offer(best, lane, 0, 3 * g->out->chunks, WORK_WEIGHT_GRAD,
	      list[lane->scan].chunk, list[lane->scan].micro_batch);
}

static void choose(struct greedy *g, int s)
{
	struct choice best = { .start = INFINITY };

	if (g->rule->order) {
		offer_order(g, s, &best);
	} else {
		for (int c = 0; c < g->out->chunks; c++)
			offer_chunk(g, s, c, &best);
	}
	offer_weight(g, s, &best);
	g->lane[s].best = best;
	g->start[s] = best.start;
}

static void perform(struct greedy *g, int s)
{
	struct lane *lane = &g->lane[s];
	struct choice now = lane->best;
	int k = position_of(g, s, now.chunk), site = s * g->out->chunks + now.chunk;
	int64_t cell = (int64_t)k * g->m + now.micro_batch;
	double end = now.start + time_of(g, k, now.kind);

	schedule_put(g->out, s, now.kind, now.chunk, now.micro_batch);
	lane->free = end;
	if (now.kind == WORK_WEIGHT_GRAD) {
		lane->scan++;
		lane->held--;
		return;
	}
	lane->at++;
	if (now.kind == WORK_FORWARD) {
		g->forward_end[cell] = end;
		g->next_forward[site]++;
		lane->held++;
	} else {
		g->backward_end[cell] = end;
		g->next_backward[site]++;
		lane->held -= !g->rule->splits_backward;
	}
}

static bool take(struct greedy *g, struct arena *arena)
{
	size_t p = (size_t)g->out->stages, sites = p * (size_t)g->out->chunks;
	size_t cells = (size_t)g->out->depth * (size_t)g->m;

	g->lane = arena_take(arena, p, sizeof *g->lane);
	g->forward_end = arena_take(arena, cells, sizeof *g->forward_end);
	g->backward_end = arena_take(arena, cells, sizeof *g->backward_end);
	g->next_forward = arena_take(arena, sites, sizeof *g->next_forward);
	g->next_backward = arena_take(arena, sites, sizeof *g->next_backward);
	g->start = arena_take(arena, p, sizeof *g->start);
	if (!g->lane || !g->start || !g->forward_end || !g->backward_end ||
	    !g->next_forward || !g->next_backward)
		return false;
	for (size_t i = 0; i < cells; i++)
		g->forward_end[i] = g->backward_end[i] = -1;
	memset(g->lane, 0, p * sizeof *g->lane);
	memset(g->next_forward, 0, sites * sizeof *g->next_forward);
	memset(g->next_backward, 0, sites * sizeof *g->next_backward);
	memset(g->out->count, 0, p * sizeof *g->out->count);
	return true;
}

/* After work on a stage it chooses anew, and so does the one that got its output. */
static void choose_around(struct greedy *g, int s, const struct choice *done)
{
	int k = position_of(g, s, done->chunk), to;

	choose(g, s);
	if (done->kind == WORK_WEIGHT_GRAD)
		return;
	k += done->kind == WORK_FORWARD ? 1 : -1;
	if (k >= 0 && k < g->out->depth) {
		to = k % g->out->stages;
		if (g->out->placement == PLACE_V && k / g->out->stages % 2 == 1)
			to = g->out->stages - 1 - to;
		if (to != s)
			choose(g, to);
	}
	/* A finished backward admits a micro-batch at the front. */
	if (g->rule->admit_limit > 0 && k < 0 && s != 0)
		choose(g, 0);
}

static int earliest(const struct greedy *g)
{
	double least = g->start[0];
	int best = 0;

	for (int s = 1; s < g->out->stages; s++) {
		if (g->start[s] < least) {
			least = g->start[s];
			best = s;
		}
	}
	return best;
}

bool greedy_fill(const struct schedule_request *request, const struct greedy_rule *rule,
		 struct schedule *out)
{
	struct arena lent = *request->scratch;
	struct greedy g = { request, rule, out, .m = out->micro_batches };
	int64_t each = (int64_t)out->chunks * g.m * (rule->splits_backward ? 3 : 2);

	if (!take(&g, &lent))
		return false;
	for (int s = 0; s < out->stages; s++)
		choose(&g, s);
	for (int64_t left = each * out->stages; left > 0; left--) {
		int s = earliest(&g);
		struct choice done = g.lane[s].best;

		if (!(done.start < INFINITY))
			return false;
		perform(&g, s);
		choose_around(&g, s, &done);
	}
	return true;
}
