/* items.c - what a simulated run means item by item: what each waited for, what its
 * stage held, which of them decided the end. */
#include "engine/schedule/run.h"

void run_count_held(const struct runner *r)
{
	const struct schedule *schedule = r->schedule;

	for (int s = 0; s < schedule->stages; s++) {
		const struct work *work =
			&schedule->item[(int64_t)s * schedule->capacity];
		int held = 0, most = 0;

		for (int i = 0; i < schedule->count[s]; i++) {
			held += (work[i].kind == WORK_FORWARD) -
				(work[i].kind == WORK_BACKWARD ||
				 work[i].kind == WORK_WEIGHT_GRAD);
			most = held > most ? held : most;
		}
		r->out->stage[s].peak_chunks = most;
	}
}

/* Which item made a micro-batch's output at each position. */
struct makers {
	int32_t *forward, *backward; /* position * micro_batches + micro_batch */
};

static void find_makers(const struct runner *r, const struct makers *made)
{
	const struct schedule *schedule = r->schedule;

	for (int s = 0; s < schedule->stages; s++) {
		int64_t base = (int64_t)s * schedule->capacity;

		for (int i = 0; i < schedule->count[s]; i++) {
			const struct work *work = &schedule->item[base + i];
			int k = r->site[s * schedule->chunks + work->chunk].position;
			int64_t cell = (int64_t)k * schedule->micro_batches +
				       work->micro_batch;

			if (work->kind == WORK_FORWARD)
				made->forward[cell] = (int32_t)(base + i);
			else if (work->kind != WORK_WEIGHT_GRAD)
				made->backward[cell] = (int32_t)(base + i);
		}
	}
}

/* When the input of an item is there, and which item made it (-1 = none). */
struct input {
	double ready;
	int32_t by;
	bool moved;
};

static struct input input_of(const struct runner *r, const struct makers *made,
			     const struct site *site, const struct work *work)
{
	int64_t m = r->schedule->micro_batches;
	int64_t cell = site->position * m + work->micro_batch;

	if (work->kind == WORK_FORWARD)
		return (struct input){
			site->forward_in[work->micro_batch] + site->forward_delay,
			site->position > 0 ? made->forward[cell - m] : -1,
			site->forward_moves
		};
	/* a weight gradient stands behind its input gradient in the same list */
	if (work->kind == WORK_WEIGHT_GRAD)
		return (struct input){ 0, -1, false };
	return (struct input){ site->backward_in[work->micro_batch] +
				       site->backward_delay,
			       site->position + 1 < r->schedule->depth
				       ? made->backward[cell + m]
				       : made->forward[cell],
			       site->backward_moves };
}

static void wait_for(struct simulate_item *item, const struct input *in, bool by_stage,
		     int64_t before)
{
	item->critical = false;
	if (by_stage) {
		item->after = (int32_t)before;
		item->wait = WAIT_STAGE;
		return;
	}
	item->after = in->by;
	item->wait = in->by < 0 ? WAIT_NONE : in->moved ? WAIT_TRANSFER : WAIT_WORK;
}

static double send_of(const struct site *site, const struct work *work)
{
	if (work->kind == WORK_WEIGHT_GRAD)
		return 0;
	return work->kind == WORK_FORWARD ? site->forward_hold : site->backward_hold;
}

/* One item, or a pair that starts and ends together. */
static int fill_item(const struct runner *r, const struct makers *made, int s, int i)
{
	const struct schedule *schedule = r->schedule;
	int64_t base = (int64_t)s * schedule->capacity;
	const struct work *work = &schedule->item[base + i];
	struct simulate_item *item = &r->out->item[base + i];
	int together = work->paired && i + 1 < schedule->count[s] ? 2 : 1;
	double start = r->item_start[base + i], time = 0, send = 0;
	struct input in = { .ready = -1 };

	for (int n = 0; n < together; n++) {
		const struct site *site =
			&r->site[s * schedule->chunks + work[n].chunk];
		struct input here = input_of(r, made, site, &work[n]);
		double held = send_of(site, &work[n]);

		in = here.ready > in.ready ? here : in;
		time += site->time[work[n].kind];
		time -= together == 2 ? site->pair_saves : 0;
		send = held > send ? held : send;
	}
	for (int n = 0; n < together; n++) {
		item[n].start = start;
		item[n].end = start + time;
		item[n].send = send;
		wait_for(&item[n], &in, i > 0 && start > in.ready, base + i - 1);
	}
	return together;
}

static void hold_bytes(struct simulate_stage *stage, const struct site *site,
		       const struct work *work, const struct simulate_item *item,
		       double *held)
{
	switch (work->kind) {
	case WORK_FORWARD: *held += site->bytes; break;
	case WORK_INPUT_GRAD: *held += site->kept_bytes - site->bytes; break;
	case WORK_WEIGHT_GRAD: *held -= site->kept_bytes; break;
	default: *held -= site->bytes; break;
	}
	if (*held <= stage->peak_bytes * (1 + 1e-12))
		return;
	stage->peak_bytes = *held;
	stage->peak_seconds = work->kind == WORK_FORWARD ? item->start : item->end;
}

static void fill_stage(const struct runner *r, const struct makers *made, int s)
{
	const struct schedule *schedule = r->schedule;
	int64_t base = (int64_t)s * schedule->capacity;
	double held = 0;

	for (int i = 0; i < schedule->count[s];)
		i += fill_item(r, made, s, i);
	for (int i = 0; i < schedule->count[s]; i++) {
		const struct work *work = &schedule->item[base + i];

		hold_bytes(&r->out->stage[s],
			   &r->site[s * schedule->chunks + work->chunk], work,
			   &r->out->item[base + i], &held);
	}
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

bool run_fill_items(const struct runner *r, struct arena *arena)
{
	const struct schedule *schedule = r->schedule;
	size_t cells = (size_t)schedule->depth * (size_t)schedule->micro_batches;
	size_t items = (size_t)schedule->stages * (size_t)schedule->capacity;
	struct makers made;

	r->out->item = arena_take(arena, items, sizeof *r->out->item);
	made.forward = arena_take(arena, cells, sizeof *made.forward);
	made.backward = arena_take(arena, cells, sizeof *made.backward);
	if (!r->out->item || !made.forward || !made.backward)
		return false;
	find_makers(r, &made);
	for (int s = 0; s < schedule->stages; s++)
		fill_stage(r, &made, s);
	mark_critical(schedule, r->out);
	return true;
}
