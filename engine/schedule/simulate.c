/* simulate.c - runs the lists of a schedule against each other. */
#include "engine/schedule/simulate.h"

#include <string.h>

/* One chunk of one stage: what its items cost and whom they wait for. */
struct site {
	int position;
	bool forward_moves, backward_moves; /* input comes from another stage */
	bool forward_sends, backward_sends; /* output goes to another stage */
	double time[WORK_COUNT];
	double pair_saves;
	double bytes, kept_bytes;
};

struct runner {
	const struct schedule *schedule;
	struct simulation *out;
	struct site *site;                 /* stage * chunks + chunk */
	double *forward_end;               /* position * micro_batches + micro_batch */
	double *backward_end;              /* of the input gradient; -1 = not yet */
	int32_t *forward_by, *backward_by; /* their items, with items only */
	double latency, hold;
	double *free; /* when each stage is free again */
	double *held; /* bytes */
	int *held_chunks, *next;
	int64_t done;
};

static int stage_of(const struct schedule *schedule, int chunk, int position)
{
	int p = schedule->stages, turn = position / p, place = position % p;

	if (schedule->placement == PLACE_TWO_WAY)
		return chunk == 0 ? position : p - 1 - position;
	return schedule->placement == PLACE_V && turn % 2 == 1 ? p - 1 - place : place;
}

static void fill_site(const struct schedule *schedule,
		      const struct simulate_times *times, int s, int c,
		      struct site *site)
{
	int k = schedule_position(schedule->placement, schedule->stages, s, c);

	site->position = k;
	site->forward_moves = k > 0 && stage_of(schedule, c, k - 1) != s;
	site->backward_moves =
		k + 1 < schedule->depth && stage_of(schedule, c, k + 1) != s;
	site->forward_sends = site->backward_moves;
	site->backward_sends = site->forward_moves;
	site->time[WORK_FORWARD] = times->forward[k];
	site->time[WORK_INPUT_GRAD] = times->input_grad[k];
	site->time[WORK_WEIGHT_GRAD] = times->weight_grad[k];
	site->time[WORK_BACKWARD] = times->input_grad[k] + times->weight_grad[k];
	site->pair_saves = times->pair_hides ? times->pair_hides[k] : 0;
	site->bytes = times->activation_bytes ? times->activation_bytes[k] : 1;
	site->kept_bytes = site->bytes * times->kept_for_weights;
}

static bool take_tables(struct runner *r, const struct schedule *schedule,
			bool with_items, struct arena *arena, struct simulation *out)
{
	size_t p = (size_t)schedule->stages, m = (size_t)schedule->micro_batches;
	size_t sites = p * (size_t)schedule->chunks,
	       cells = (size_t)schedule->depth * m;

	out->stage = arena_take(arena, p, sizeof *out->stage);
	out->item = NULL;
	r->forward_by = r->backward_by = NULL;
	if (with_items) {
		out->item = arena_take(arena, p * (size_t)schedule->capacity,
				       sizeof *out->item);
		r->forward_by = arena_take(arena, cells, sizeof *r->forward_by);
		r->backward_by = arena_take(arena, cells, sizeof *r->backward_by);
		if (!out->item || !r->forward_by || !r->backward_by)
			return false;
	}
	r->site = arena_take(arena, sites, sizeof *r->site);
	r->forward_end = arena_take(arena, cells, sizeof *r->forward_end);
	r->backward_end = arena_take(arena, cells, sizeof *r->backward_end);
	r->free = arena_take(arena, p, sizeof *r->free);
	r->held = arena_take(arena, p, sizeof *r->held);
	r->held_chunks = arena_take(arena, p, sizeof *r->held_chunks);
	r->next = arena_take(arena, p, sizeof *r->next);
	return out->stage && r->site && r->forward_end && r->backward_end && r->free &&
	       r->held && r->held_chunks && r->next;
}

size_t simulate_bytes(int stages, int chunks, int depth, int micro_batches,
		      bool with_items)
{
	size_t p = (size_t)stages, c = (size_t)chunks, m = (size_t)micro_batches;
	size_t items = p * c * m * 3, cells = (size_t)depth * m;
	size_t bytes = items * sizeof(struct work) + p * sizeof(int32_t);

	bytes += p * sizeof(struct simulate_stage) + p * c * sizeof(struct site);
	bytes +=
		2 * cells * sizeof(double) + p * (2 * sizeof(double) + 2 * sizeof(int));
	if (with_items)
		bytes += items * sizeof(struct simulate_item) +
			 2 * cells * sizeof(int32_t);
	return bytes + 4096 + p * 64 * c; /* alignment, and what generators take */
}

/* When the input of an item is there, and which item made it; negative if it is
 * not made yet. */
struct input {
	double ready;
	int32_t by;
	bool moved;
};

static bool find_input(const struct runner *r, const struct site *site,
		       const struct work *work, struct input *in)
{
	int m = r->schedule->micro_batches;
	int cell = site->position * m + work->micro_batch;

	in->ready = 0;
	in->by = -1;
	in->moved = false;
	if (work->kind == WORK_WEIGHT_GRAD)
		return true; /* behind its input gradient in the same list */
	if (work->kind == WORK_FORWARD) {
		if (site->position == 0)
			return true;
		in->moved = site->forward_moves;
		in->ready = r->forward_end[cell - m];
		if (r->forward_by)
			in->by = r->forward_by[cell - m];
	} else if (site->position == r->schedule->depth - 1) {
		in->ready = r->forward_end[cell];
		if (r->forward_by)
			in->by = r->forward_by[cell];
	} else {
		in->moved = site->backward_moves;
		in->ready = r->backward_end[cell + m];
		if (r->backward_by)
			in->by = r->backward_by[cell + m];
	}
	if (in->ready < 0)
		return false;
	in->ready += in->moved ? r->latency : 0;
	return true;
}

static void hold_bytes(struct runner *r, int s, double bytes, int chunks, double at)
{
	struct simulate_stage *stage = &r->out->stage[s];

	r->held[s] += bytes;
	r->held_chunks[s] += chunks;
	if (r->held[s] > stage->peak_bytes * (1 + 1e-12)) {
		stage->peak_bytes = r->held[s];
		stage->peak_seconds = at;
	}
	if (r->held_chunks[s] > stage->peak_chunks)
		stage->peak_chunks = r->held_chunks[s];
}

static void note_item(struct runner *r, int64_t index, double start, double end,
		      const struct input *in, bool by_stage)
{
	struct simulate_item *item;

	if (!r->out->item)
		return;
	item = &r->out->item[index];
	item->start = start;
	item->end = end;
	item->critical = false;
	if (by_stage) {
		item->after = (int32_t)(index - 1);
		item->wait = WAIT_STAGE;
	} else {
		item->after = in->by;
		item->wait = in->by < 0  ? WAIT_NONE
			     : in->moved ? WAIT_TRANSFER
					 : WAIT_WORK;
	}
}

/* Set down the end of an item: what it holds and its output. Returns how long the
 * send of that holds the stage. */
static double finish(struct runner *r, int s, int64_t index, const struct site *site,
		     const struct work *work, double start, double end)
{
	int cell = site->position * r->schedule->micro_batches + work->micro_batch;
	double hold = 0;

	if (work->kind == WORK_FORWARD) {
		hold = site->forward_sends ? r->hold : 0;
		hold_bytes(r, s, site->bytes, 1, start);
		r->forward_end[cell] = end + hold;
		if (r->forward_by)
			r->forward_by[cell] = (int32_t)index;
	} else if (work->kind == WORK_WEIGHT_GRAD) {
		hold_bytes(r, s, -site->kept_bytes, -1, end);
	} else {
		bool whole = work->kind == WORK_BACKWARD;

		hold = site->backward_sends ? r->hold : 0;
		hold_bytes(r, s, whole ? -site->bytes : site->kept_bytes - site->bytes,
			   whole ? -1 : 0, end);
		r->backward_end[cell] = end + hold;
		if (r->backward_by)
			r->backward_by[cell] = (int32_t)index;
	}
	return hold;
}

static void note_send(struct runner *r, int64_t index, double hold)
{
	if (r->out->item)
		r->out->item[index].send = hold;
}

static void occupy(struct runner *r, int s, double end, double busy, double hold)
{
	r->free[s] = end + hold;
	r->out->stage[s].busy += busy;
	r->out->stage[s].transfer += hold;
}

static void mark_start(struct runner *r, int s, double start)
{
	if (r->next[s] == 0)
		r->out->stage[s].start = start;
}

static bool run_single(struct runner *r, int s, const struct work *work, int64_t index)
{
	const struct site *site = &r->site[s * r->schedule->chunks + work->chunk];
	struct input in;
	double start = r->free[s], time = site->time[work->kind], hold;

	if (!find_input(r, site, work, &in))
		return false;
	if (in.ready > start)
		start = in.ready;
	mark_start(r, s, start);
	note_item(r, index, start, start + time, &in,
		  r->next[s] > 0 && start > in.ready);
	hold = finish(r, s, index, site, work, start, start + time);
	note_send(r, index, hold);
	occupy(r, s, start + time, time, hold);
	r->next[s]++;
	r->done++;
	return true;
}

/* A forward and a backward that run together: both start when both can, both end
 * with the pair, and their sends go opposite ways at once. */
static bool run_pair(struct runner *r, int s, const struct work *work, int64_t index)
{
	const struct site *site[2];
	struct input in[2];
	double start = r->free[s], time = 0, hold = 0;
	bool by_stage;
	int late;

	for (int i = 0; i < 2; i++) {
		site[i] = &r->site[s * r->schedule->chunks + work[i].chunk];
		if (!find_input(r, site[i], &work[i], &in[i]))
			return false;
		time += site[i]->time[work[i].kind] - site[i]->pair_saves;
		if (in[i].ready > start)
			start = in[i].ready;
	}
	late = in[1].ready > in[0].ready;
	by_stage = r->next[s] > 0 && start > in[late].ready;
	mark_start(r, s, start);
	for (int i = 0; i < 2; i++) {
		double held;

		note_item(r, index + i, start, start + time, &in[late], by_stage);
		held = finish(r, s, index + i, site[i], &work[i], start, start + time);
		hold = held > hold ? held : hold;
	}
	if (r->out->item && by_stage)
		r->out->item[index + 1].after = (int32_t)(index - 1);
	note_send(r, index, hold);
	note_send(r, index + 1, hold);
	occupy(r, s, start + time, time, hold);
	r->next[s] += 2;
	r->done += 2;
	return true;
}

/* Run a stage as far as its inputs reach. */
static bool run_stage(struct runner *r, int s)
{
	const struct schedule *schedule = r->schedule;
	int64_t base = (int64_t)s * schedule->capacity;
	bool moved = false;

	while (r->next[s] < schedule->count[s]) {
		int64_t index = base + r->next[s];
		const struct work *work = &schedule->item[index];
		bool pair = work->paired && r->next[s] + 1 < schedule->count[s];

		if (pair ? !run_pair(r, s, work, index)
			 : !run_single(r, s, work, index))
			break;
		moved = true;
	}
	return moved;
}

/* Alternate directions: work flows down in forwards and up in backwards. */
static bool run_all(struct runner *r, int64_t total)
{
	int p = r->schedule->stages;

	while (r->done < total) {
		bool moved = false;

		for (int s = 0; s < p; s++)
			moved |= run_stage(r, s);
		for (int s = p - 1; s >= 0; s--)
			moved |= run_stage(r, s);
		if (!moved)
			return false;
	}
	return true;
}

static void close_stages(struct runner *r)
{
	struct simulation *out = r->out;

	for (int s = 0; s < r->schedule->stages; s++) {
		struct simulate_stage *stage = &out->stage[s];

		stage->end = r->free[s];
		if (stage->end > out->seconds)
			out->seconds = stage->end;
		if (stage->end - stage->start > out->span)
			out->span = stage->end - stage->start;
	}
	for (int s = 0; s < r->schedule->stages; s++)
		out->stage[s].idle =
			out->seconds - out->stage[s].busy - out->stage[s].transfer;
}

/* From an item that ends last back along what each one waited for. */
static void mark_critical(const struct schedule *schedule, struct simulation *out)
{
	int64_t at = -1;
	double latest = -1;

	for (int s = 0; s < schedule->stages; s++) {
		int64_t last = (int64_t)s * schedule->capacity + schedule->count[s] - 1;

		if (schedule->count[s] > 0 && out->item[last].end > latest) {
			latest = out->item[last].end;
			at = last;
		}
	}
	for (; at >= 0 && !out->item[at].critical; at = out->item[at].after)
		out->item[at].critical = true;
}

bool simulate(const struct schedule *schedule, const struct simulate_times *times,
	      bool with_items, struct arena *arena, struct simulation *out)
{
	struct runner r = { .schedule = schedule, .out = out };
	int64_t total = 0, cells = (int64_t)schedule->depth * schedule->micro_batches;

	out->seconds = out->span = 0;
	out->stuck_stage = out->stuck_index = -1;
	if (!take_tables(&r, schedule, with_items, arena, out))
		return false;
	out->entered = r.forward_end;
	r.latency = times->overlap_send ? times->send_seconds : 0;
	r.hold = times->overlap_send ? 0 : times->send_seconds;
	for (int64_t i = 0; i < cells; i++)
		r.forward_end[i] = r.backward_end[i] = -1;
	for (int s = 0; s < schedule->stages; s++) {
		r.free[s] = r.held[s] = 0;
		r.held_chunks[s] = r.next[s] = 0;
		out->stage[s] = (struct simulate_stage){ 0 };
		total += schedule->count[s];
		for (int c = 0; c < schedule->chunks; c++)
			fill_site(schedule, times, s, c,
				  &r.site[s * schedule->chunks + c]);
	}
	if (!run_all(&r, total)) {
		for (int s = schedule->stages - 1; s >= 0; s--) {
			if (r.next[s] < schedule->count[s]) {
				out->stuck_stage = s;
				out->stuck_index = r.next[s];
			}
		}
		return false;
	}
	close_stages(&r);
	if (with_items)
		mark_critical(schedule, out);
	return true;
}
