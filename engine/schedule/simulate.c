/* simulate.c - runs the lists of a schedule against each other. Each stage goes as far
 * as its inputs reach; what a step costs per item is what a knob press costs. */
#include "engine/schedule/simulate.h"

#include <string.h>

#include "engine/schedule/run.h"

int run_stage_of(const struct schedule *schedule, int chunk, int position)
{
	int p = schedule->stages, turn = position / p, place = position % p;

	if (schedule->placement == PLACE_TWO_WAY)
		return chunk == 0 ? position : p - 1 - position;
	return schedule->placement == PLACE_V && turn % 2 == 1 ? p - 1 - place : place;
}

static void fill_times(const struct simulate_times *times, struct site *site)
{
	double latency = times->overlap_send ? times->send_seconds : 0;
	double hold = times->overlap_send ? 0 : times->send_seconds;
	int k = site->position;

	site->time[WORK_FORWARD] = times->forward[k];
	site->time[WORK_INPUT_GRAD] = times->input_grad[k];
	site->time[WORK_WEIGHT_GRAD] = times->weight_grad[k];
	site->time[WORK_BACKWARD] = times->input_grad[k] + times->weight_grad[k];
	site->pair_saves = times->pair_hides ? times->pair_hides[k] : 0;
	site->bytes = times->activation_bytes ? times->activation_bytes[k] : 1;
	site->kept_bytes = site->bytes * times->kept_for_weights;
	site->forward_delay = site->forward_moves ? latency : 0;
	site->backward_delay = site->backward_moves ? latency : 0;
	/* an output goes where the other direction's input comes from */
	site->forward_hold = site->backward_moves ? hold : 0;
	site->backward_hold = site->forward_moves ? hold : 0;
}

/* Rows of ends: one of zeros, then the forwards and the backwards of each position. */
static void link_site(const struct schedule *schedule, int s, int c, double *rows,
		      struct site *site)
{
	size_t m = (size_t)schedule->micro_batches, depth = (size_t)schedule->depth;
	int k = schedule_position(schedule->placement, schedule->stages, s, c);
	double *forward = rows + m * (1 + (size_t)k), *backward = forward + m * depth;
	bool last = k + 1 == schedule->depth;

	site->position = k;
	site->forward_moves = k > 0 && run_stage_of(schedule, c, k - 1) != s;
	site->backward_moves = !last && run_stage_of(schedule, c, k + 1) != s;
	site->forward_out = forward;
	site->backward_out = backward;
	site->forward_in = k > 0 ? forward - m : rows;
	site->backward_in = last ? forward : backward + m;
}

/* Rows of ends: all -1, but for the first one's zeros. */
static size_t count_cells(const struct schedule *schedule)
{
	return (size_t)schedule->micro_batches * (1 + 2 * (size_t)schedule->depth);
}

/* The chunks of a stage, stages * chunks of them. */
static void link_sites(const struct schedule *schedule,
		       const struct simulate_times *times, double *rows,
		       struct site *site)
{
	size_t count = count_cells(schedule);

	for (size_t i = 0; i < count; i++)
		rows[i] = i < (size_t)schedule->micro_batches ? 0 : -1;
	for (int s = 0; s < schedule->stages; s++) {
		for (int c = 0; c < schedule->chunks; c++, site++) {
			link_site(schedule, s, c, rows, site);
			fill_times(times, site);
		}
	}
}

static bool take_tables(struct runner *r, const struct schedule *schedule,
			const struct simulate_times *times, bool with_items,
			struct arena *arena)
{
	size_t p = (size_t)schedule->stages;
	double *rows;

	r->out->stage = arena_take(arena, p, sizeof *r->out->stage);
	r->run.site =
		arena_take(arena, p * (size_t)schedule->chunks, sizeof *r->run.site);
	rows = arena_take(arena, count_cells(schedule), sizeof *rows);
	r->free = arena_take(arena, p, sizeof *r->free);
	r->next = arena_take(arena, p, sizeof *r->next);
	r->run.start = NULL;
	if (with_items)
		r->run.start = arena_take(arena, p * (size_t)schedule->capacity,
					  sizeof *r->run.start);
	if (!r->out->stage || !r->run.site || !rows || !r->free || !r->next ||
	    (with_items && !r->run.start))
		return false;
	link_sites(schedule, times, rows, r->run.site);
	for (int s = 0; s < schedule->stages; s++) {
		r->out->stage[s] = (struct simulate_stage){ 0 };
		r->free[s] = 0;
		r->next[s] = 0;
	}
	return true;
}

size_t simulate_bytes(int stages, int chunks, int depth, int micro_batches,
		      bool with_items)
{
	size_t p = (size_t)stages, c = (size_t)chunks, m = (size_t)micro_batches;
	size_t items = p * c * m * 3, cells = (size_t)depth * m;
	size_t bytes = items * sizeof(struct work) + p * sizeof(int32_t);

	bytes += p * (sizeof(struct simulate_stage) + sizeof(double) + sizeof(int));
	bytes += p * c * sizeof(struct site) + (m + 2 * cells) * sizeof(double);
	if (with_items)
		bytes += sizeof(struct simulate_run) + items * sizeof(double) +
			 (items / 64 + 1) * sizeof(uint64_t) +
			 (items / HELD_EVERY + p) * sizeof(double);
	return bytes + 4096 + p * 64 * c; /* alignment, and what generators take */
}

/* What a stage has done so far. */
struct lane {
	double free, busy, transfer;
};

/* A forward and a backward that run together: both start when both can, both end
 * with the pair, and their sends go opposite ways at once. Returns its start, negative
 * if it can't start yet. */
static double run_pair(const struct site *sites, const struct work *work,
		       struct lane *lane)
{
	const struct site *f = &sites[work[0].chunk], *b = &sites[work[1].chunk];
	double forward = f->forward_in[work[0].micro_batch];
	double backward = b->backward_in[work[1].micro_batch];
	double time = f->time[WORK_FORWARD] - f->pair_saves + b->time[work[1].kind] -
		      b->pair_saves;
	double start = lane->free, hold = f->forward_hold;

	if (forward < 0 || backward < 0)
		return -1;
	if (forward + f->forward_delay > start)
		start = forward + f->forward_delay;
	if (backward + b->backward_delay > start)
		start = backward + b->backward_delay;
	f->forward_out[work[0].micro_batch] = start + time + f->forward_hold;
	b->backward_out[work[1].micro_batch] = start + time + b->backward_hold;
	hold = b->backward_hold > hold ? b->backward_hold : hold;
	lane->free = start + time + hold;
	lane->busy += time;
	lane->transfer += hold;
	return start;
}

/* Likewise for one item. */
static double run_single(const struct site *sites, const struct work *work,
			 struct lane *lane)
{
	const struct site *site = &sites[work->chunk];
	double start = lane->free, time = site->time[work->kind], ready, hold;
	double *to;

	lane->busy += time;
	if (work->kind == WORK_WEIGHT_GRAD) {
		lane->free = start + time;
		return start;
	}
	if (work->kind == WORK_FORWARD) {
		ready = site->forward_in[work->micro_batch];
		to = &site->forward_out[work->micro_batch];
		hold = site->forward_hold;
	} else {
		ready = site->backward_in[work->micro_batch];
		to = &site->backward_out[work->micro_batch];
		hold = site->backward_hold;
	}
	if (ready < 0) {
		lane->busy -= time;
		return -1;
	}
	ready +=
		work->kind == WORK_FORWARD ? site->forward_delay : site->backward_delay;
	start = ready > start ? ready : start;
	lane->free = *to = start + time + hold;
	lane->transfer += hold;
	return start;
}

/* Run a stage as far as its inputs reach; returns the items it ran. */
static int run_stage(struct runner *r, int s)
{
	const struct schedule *schedule = r->run.schedule;
	const struct site *sites = &r->run.site[s * schedule->chunks];
	struct simulate_stage *stage = &r->out->stage[s];
	struct lane lane = { r->free[s], stage->busy, stage->transfer };
	int64_t base = (int64_t)s * schedule->capacity;
	int count = schedule->count[s], i = r->next[s], first = i;

	while (i < count) {
		const struct work *work = &schedule->item[base + i];
		int together = work->paired && i + 1 < count ? 2 : 1;
		double start = together == 2 ? run_pair(sites, work, &lane)
					     : run_single(sites, work, &lane);

		if (start < 0)
			break;
		if (i == 0)
			stage->start = start;
		for (int n = 0; r->run.start && n < together; n++)
			r->run.start[base + i + n] = start;
		i += together;
	}
	r->next[s] = i;
	r->free[s] = lane.free;
	stage->busy = lane.busy;
	stage->transfer = lane.transfer;
	return i - first;
}

/* Alternate directions: work flows down in forwards and up in backwards. */
static bool run_all(struct runner *r)
{
	int64_t left = 0;
	int p = r->run.schedule->stages;

	for (int s = 0; s < p; s++)
		left += r->run.schedule->count[s];
	while (left > 0) {
		int64_t before = left;

		for (int s = 0; s < p; s++)
			left -= run_stage(r, s);
		for (int s = p - 1; s >= 0; s--)
			left -= run_stage(r, s);
		if (left == before)
			return false;
	}
	return true;
}

static void close_stages(struct runner *r)
{
	struct simulation *out = r->out;

	for (int s = 0; s < r->run.schedule->stages; s++) {
		struct simulate_stage *stage = &out->stage[s];

		stage->end = r->free[s];
		if (stage->end > out->seconds)
			out->seconds = stage->end;
		if (stage->end - stage->start > out->span)
			out->span = stage->end - stage->start;
	}
	for (int s = 0; s < r->run.schedule->stages; s++)
		out->stage[s].idle =
			out->seconds - out->stage[s].busy - out->stage[s].transfer;
}

/* The first stage that never gets on. */
static void find_stuck(struct runner *r)
{
	for (int s = r->run.schedule->stages - 1; s >= 0; s--) {
		if (r->next[s] < r->run.schedule->count[s]) {
			r->out->stuck_stage = s;
			r->out->stuck_index = r->next[s];
		}
	}
}

bool simulate(const struct schedule *schedule, const struct simulate_times *times,
	      bool with_items, struct arena *arena, struct simulation *out)
{
	struct runner r = { .run = { .schedule = schedule }, .out = out };

	*out = (struct simulation){ .stuck_stage = -1, .stuck_index = -1 };
	if (!take_tables(&r, schedule, times, with_items, arena))
		return false;
	if (!run_all(&r)) {
		find_stuck(&r);
		return false;
	}
	close_stages(&r);
	run_count_held(&r);
	return !with_items || run_keep_items(&r, arena);
}
