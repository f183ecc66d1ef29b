/* items.c - what a simulated run means item by item: what each waited for, what its
 * stage held, which of them decided the end. A run has a hundred thousand items and a
 * screen shows some hundreds: the run keeps when they started, and little else. */
#include "engine/schedule/run.h"

void run_count_held(const struct runner *r)
{
	const struct schedule *schedule = r->run.schedule;

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

/* An item, or the pair that it starts and ends with. */
struct together {
	int64_t first; /* index of the first of them */
	int stage, at; /* and its place on its stage */
	int count;
	const struct work *work;
	const struct site *sites; /* of the stage, by chunk */
};

static struct together find_together(const struct simulate_run *run, int64_t item)
{
	const struct schedule *schedule = run->schedule;
	struct together t = { .stage = (int)(item / schedule->capacity),
			      .at = (int)(item % schedule->capacity),
			      .count = 1 };
	int64_t base = item - t.at;

	if (t.at > 0 && schedule->item[item - 1].paired)
		t.at--;
	t.first = base + t.at;
	t.work = &schedule->item[t.first];
	if (t.work->paired && t.at + 1 < schedule->count[t.stage])
		t.count = 2;
	t.sites = &run->site[t.stage * schedule->chunks];
	return t;
}

static double send_of(const struct site *site, const struct work *work)
{
	if (work->kind == WORK_WEIGHT_GRAD)
		return 0;
	return work->kind == WORK_FORWARD ? site->forward_hold : site->backward_hold;
}

static struct simulate_span span_of(const struct simulate_run *run,
				    const struct together *t)
{
	struct simulate_span span = { .start = run->start[t->first] };
	double time = 0;

	for (int n = 0; n < t->count; n++) {
		const struct site *site = &t->sites[t->work[n].chunk];
		double send = send_of(site, &t->work[n]);

		time += site->time[t->work[n].kind];
		time -= t->count == 2 ? site->pair_saves : 0;
		span.send = send > span.send ? send : span.send;
	}
	span.end = span.start + time;
	return span;
}

struct simulate_span simulate_span(const struct simulation *ran, int64_t item)
{
	struct together t = find_together(ran->run, item);

	return span_of(ran->run, &t);
}

/* The input of an item: when it is there, and whose output it is. */
struct input {
	double ready;
	const struct work *work; /* whose; NULL: nobody waits for an input */
	const struct site *site;
	bool moved;
};

/* A weight gradient stands behind its input gradient in the same list. */
static struct input input_of(const struct site *site, const struct work *work)
{
	if (work->kind == WORK_WEIGHT_GRAD)
		return (struct input){ 0, NULL, site, false };
	if (work->kind == WORK_FORWARD)
		return (struct input){ site->forward_in[work->micro_batch] +
					       site->forward_delay,
				       work, site, site->forward_moves };
	return (struct input){ site->backward_in[work->micro_batch] +
				       site->backward_delay,
			       work, site, site->backward_moves };
}

/* Of a pair the later one; out says whether the stage itself was later still. */
static struct input find_awaited(const struct simulate_run *run,
				 const struct together *t, bool *by_stage)
{
	struct input in = { .ready = -1 };

	for (int n = 0; n < t->count; n++) {
		struct input here = input_of(&t->sites[t->work[n].chunk], &t->work[n]);

		in = here.ready > in.ready ? here : in;
	}
	*by_stage = t->at > 0 && run->start[t->first] > in.ready;
	return in;
}

/* Whether nobody makes it: it is the first forward's. */
static bool is_given(const struct input *in)
{
	return !in->work || (in->work->kind == WORK_FORWARD && in->site->position == 0);
}

int simulate_wait(const struct simulation *ran, int64_t item)
{
	struct together t = find_together(ran->run, item);
	bool by_stage;
	struct input in = find_awaited(ran->run, &t, &by_stage);

	if (by_stage)
		return WAIT_STAGE;
	return is_given(&in) ? WAIT_NONE : in.moved ? WAIT_TRANSFER : WAIT_WORK;
}

/* The item that a stage ran last of those that started no later. */
static int64_t find_started(const struct simulate_run *run, int stage, double when)
{
	int64_t base = (int64_t)stage * run->schedule->capacity;
	int64_t low = base, high = base + run->schedule->count[stage];

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (run->start[middle] <= when)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/* Who made the output of a micro-batch at a position: it stands before that output's
 * time on its stage. */
static int64_t find_maker(const struct simulate_run *run, const struct input *in)
{
	const struct schedule *schedule = run->schedule;
	bool forward = in->work->kind == WORK_FORWARD;
	int last = schedule->depth - 1, position = in->site->position;
	/* behind the last forward comes its own backward */
	bool turns = !forward && position == last;
	int from = turns ? position : forward ? position - 1 : position + 1;
	int chunk = schedule->placement == PLACE_TWO_WAY ? in->work->chunk
							 : from / schedule->stages;
	int stage = run_stage_of(schedule, chunk, from);
	const double *ends = forward ? in->site->forward_in : in->site->backward_in;
	int64_t base = (int64_t)stage * schedule->capacity;
	int64_t at = find_started(run, stage, ends[in->work->micro_batch]);

	for (; at >= base; at--) {
		const struct work *work = &schedule->item[at];

		if (work->micro_batch == in->work->micro_batch &&
		    work->chunk == chunk && work->kind != WORK_WEIGHT_GRAD &&
		    (work->kind == WORK_FORWARD) == (forward || turns))
			return at;
	}
	return -1;
}

int64_t simulate_after(const struct simulation *ran, int64_t item)
{
	struct together t = find_together(ran->run, item);
	bool by_stage;
	struct input in = find_awaited(ran->run, &t, &by_stage);

	if (by_stage)
		return t.first - 1;
	return is_given(&in) ? -1 : find_maker(ran->run, &in);
}

bool simulate_is_critical(const struct simulation *ran, int64_t item)
{
	return ran->run->critical[item / 64] >> item % 64 & 1;
}

static double hold(const struct site *site, const struct work *work, double held)
{
	switch (work->kind) {
	case WORK_FORWARD: return held + site->bytes;
	case WORK_INPUT_GRAD: return held + (site->kept_bytes - site->bytes);
	case WORK_WEIGHT_GRAD: return held - site->kept_bytes;
	default: return held - site->bytes;
	}
}

double simulate_held_next(const struct simulation *ran, int64_t item, double held)
{
	const struct simulate_run *run = ran->run;
	const struct schedule *schedule = run->schedule;
	const struct work *work = &schedule->item[item];
	int64_t stage = item / schedule->capacity;

	return hold(&run->site[stage * schedule->chunks + work->chunk], work, held);
}

double simulate_held(const struct simulation *ran, int64_t item)
{
	const struct schedule *schedule = ran->run->schedule;
	int64_t stage = item / schedule->capacity, at = item % schedule->capacity;
	double held =
		ran->run->held[stage * run_held_places(schedule) + at / HELD_EVERY];

	for (int64_t i = item - at % HELD_EVERY; i <= item; i++)
		held = simulate_held_next(ran, i, held);
	return held;
}

/* The most that a stage holds, and when it does first. */
static void keep_held(const struct simulation *ran, int s)
{
	const struct simulate_run *run = ran->run;
	const struct schedule *schedule = run->schedule;
	const struct site *sites = &run->site[s * schedule->chunks];
	struct simulate_stage *stage = &ran->stage[s];
	double *place = &run->held[s * run_held_places(schedule)];
	int64_t base = (int64_t)s * schedule->capacity, fullest = -1;
	double held = 0;

	for (int i = 0; i < schedule->count[s]; i++) {
		const struct work *work = &schedule->item[base + i];

		if (i % HELD_EVERY == 0)
			*place++ = held;
		held = hold(&sites[work->chunk], work, held);
		if (held <= stage->peak_bytes * (1 + 1e-12))
			continue;
		stage->peak_bytes = held;
		fullest = base + i;
	}
	if (fullest >= 0) {
		struct simulate_span span = simulate_span(ran, fullest);

		stage->peak_seconds = schedule->item[fullest].kind == WORK_FORWARD
					      ? span.start
					      : span.end;
	}
}

/* From an item that ends last back along what each one waited for. */
static void mark_critical(const struct simulation *ran, uint64_t *critical)
{
	const struct schedule *schedule = ran->run->schedule;
	int64_t at = -1;
	double latest = -1;

	for (int s = 0; s < schedule->stages; s++) {
		int64_t last = (int64_t)s * schedule->capacity + schedule->count[s] - 1;
		double end = schedule->count[s] > 0 ? simulate_span(ran, last).end : -1;

		if (end > latest) {
			latest = end;
			at = last;
		}
	}
	for (; at >= 0 && !simulate_is_critical(ran, at); at = simulate_after(ran, at))
		critical[at / 64] |= (uint64_t)1 << at % 64;
}

bool run_keep_items(const struct runner *r, struct arena *arena)
{
	const struct schedule *schedule = r->run.schedule;
	size_t stages = (size_t)schedule->stages;
	size_t words = stages * (size_t)schedule->capacity / 64 + 1;
	struct simulate_run *run = arena_take(arena, 1, sizeof *run);

	if (!run)
		return false;
	*run = r->run;
	run->critical = arena_take(arena, words, sizeof *run->critical);
	run->held = arena_take(arena, stages * (size_t)run_held_places(schedule),
			       sizeof *run->held);
	if (!run->critical || !run->held)
		return false;
	for (size_t i = 0; i < words; i++)
		run->critical[i] = 0;
	r->out->run = run;
	for (int s = 0; s < schedule->stages; s++)
		keep_held(r->out, s);
	mark_critical(r->out, run->critical);
	return true;
}
