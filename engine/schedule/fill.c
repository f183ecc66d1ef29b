#include "engine/schedule/fill.h"

#include <string.h>

#include "engine/schedule/run.h"

struct lane {
	double free;
	int at;   /* in the order */
	int scan; /* where the oldest weight gradient that was put off may stand */
	int held;
};

struct filler {
	const struct fill_rule *rule;
	struct schedule *out;
	struct site *site; /* stage * chunks + chunk */
	struct lane *lane;
};

bool fill_order(const struct schedule *like, struct arena *arena,
		struct schedule *order)
{
	size_t p = (size_t)like->stages;

	*order = *like;
	order->count = arena_take(arena, p, sizeof *order->count);
	order->item =
		arena_take(arena, p * (size_t)order->capacity, sizeof *order->item);
	if (order->count)
		memset(order->count, 0, p * sizeof *order->count);
	return order->count && order->item;
}

static bool take(struct filler *f, const struct schedule_request *request,
		 struct arena *arena)
{
	struct simulate_times times = { .forward = request->forward,
					.input_grad = request->input_grad,
					.weight_grad = request->weight_grad,
					.send_seconds = request->latency,
					.overlap_send = true };
	size_t p = (size_t)f->out->stages, sites = p * (size_t)f->out->chunks;
	double *rows = arena_take(arena, run_row_count(f->out), sizeof *rows);

	f->site = arena_take(arena, sites, sizeof *f->site);
	f->lane = arena_take(arena, p, sizeof *f->lane);
	if (!rows || !f->site || !f->lane)
		return false;
	run_link_sites(f->out, &times, rows, f->site);
	memset(f->lane, 0, p * sizeof *f->lane);
	memset(f->out->count, 0, p * sizeof *f->out->count);
	return true;
}

/* The oldest input gradient whose weight gradient is still to do, NULL if none. */
static const struct work *put_off(const struct filler *f, int s)
{
	const struct work *list = &f->out->item[(int64_t)s * f->out->capacity];
	struct lane *lane = &f->lane[s];

	while (lane->scan < f->out->count[s] &&
	       list[lane->scan].kind != WORK_INPUT_GRAD)
		lane->scan++;
	return lane->scan < f->out->count[s] ? &list[lane->scan] : NULL;
}

static void put_weight(const struct filler *f, int s, const struct work *of)
{
	const struct site *sites = &f->site[s * f->out->chunks];
	struct lane *lane = &f->lane[s];

	lane->free += sites[of->chunk].time[WORK_WEIGHT_GRAD];
	lane->scan++;
	lane->held--;
	schedule_put(f->out, s, WORK_WEIGHT_GRAD, of->chunk, of->micro_batch);
}

static void put_ordered(const struct filler *f, int s, const struct work *work,
			double start)
{
	const struct site *site = &f->site[s * f->out->chunks + work->chunk];
	struct lane *lane = &f->lane[s];

	lane->free = start + site->time[work->kind];
	if (work->kind == WORK_FORWARD) {
		site->forward_out[work->micro_batch] = lane->free;
		lane->held++;
	} else {
		site->backward_out[work->micro_batch] = lane->free;
	}
	schedule_put(f->out, s, work->kind, work->chunk, work->micro_batch);
	lane->at++;
}

/* The next item of a stage; false if it is not known yet what that is. */
static bool put_next(const struct filler *f, int s)
{
	const struct schedule *order = f->rule->order;
	const struct work *work, *late = put_off(f, s);
	struct lane *lane = &f->lane[s];
	const struct site *site;
	bool forward;
	double ready;

	if (lane->at == order->count[s]) {
		if (late)
			put_weight(f, s, late);
		return late != NULL;
	}
	work = &order->item[(int64_t)s * order->capacity + lane->at];
	site = &f->site[s * f->out->chunks + work->chunk];
	forward = work->kind == WORK_FORWARD;
	if (forward && lane->held >= f->rule->held_limit) {
		if (late)
			put_weight(f, s, late);
		return late != NULL;
	}
	ready = forward ? site->forward_in[work->micro_batch]
			: site->backward_in[work->micro_batch];
	if (ready < 0)
		return false;
	ready += forward ? site->forward_delay : site->backward_delay;
	ready = ready > lane->free ? ready : lane->free;
	if (late &&
	    ready - lane->free >=
		    f->rule->gap_share *
			    site[late->chunk - work->chunk].time[WORK_WEIGHT_GRAD])
		put_weight(f, s, late);
	else
		put_ordered(f, s, work, ready);
	return true;
}

bool fill_weights(const struct schedule_request *request, const struct fill_rule *rule,
		  struct schedule *out)
{
	struct arena lent = *request->scratch;
	struct filler f = { .rule = rule, .out = out };
	int64_t left = 0;
	int p = out->stages;

	if (!take(&f, request, &lent))
		return false;
	for (int s = 0; s < p; s++)
		left += out->capacity;
	while (left > 0) {
		int64_t before = left;

		for (int s = 0; s < p; s++)
			while (put_next(&f, s))
				left--;
		for (int s = p - 1; s >= 0; s--)
			while (put_next(&f, s))
				left--;
		if (left == before)
			return false;
	}
	return true;
}
