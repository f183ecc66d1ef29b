/* timeline.c - see timeline.h. */
#include "engine/timeline/timeline.h"

#include <math.h>
#include <string.h>

#include "engine/train/train.h"

static int chunks_of(int schedule, int64_t chunks)
{
	return (int)chunks * (schedule_weight_copies(schedule) > 1 ? 2 : 1);
}

/* Each micro-batch is a forward, an input and a weight gradient on each of its
 * virtual stages, at most. */
static int64_t most_items(const struct scenario *scenario)
{
	int64_t depth = scenario->plan.pp * scenario_chunks(scenario), items;

	if (depth < 1 || depth > MAX_VIRTUAL ||
	    __builtin_mul_overflow(scenario_micro_batches(scenario), 3 * depth, &items))
		return 0;
	return items;
}

size_t timeline_bytes(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;
	int64_t items = most_items(scenario), chunks = scenario_chunks(scenario);
	size_t bytes;

	if (items < 1 || items > MAX_TIMELINE_ITEMS)
		return 0;
	bytes = simulate_bytes((int)plan->pp, chunks_of(plan->schedule, chunks),
			       (int)(plan->pp * chunks),
			       (int)scenario_micro_batches(scenario), true);
	bytes += (size_t)items * sizeof(struct timeline_item);
	bytes += (size_t)plan->pp * sizeof(struct timeline_stage);
	return bytes + (size_t)(plan->pp * chunks) * sizeof(double) + 4096;
}

static bool refuse(struct timeline_problem *problem, const char *reason,
		   const char *knob, int64_t have, int64_t limit)
{
	*problem = (struct timeline_problem){ reason, knob, have, limit };
	return false;
}

/* The schedule of a step, run with its times. */
struct timeline_run {
	struct schedule schedule;
	struct simulation ran;
	double scale;
};

static bool play_schedule(const struct train_chunks *chunks, struct arena *arena,
			  struct timeline_run *out, struct timeline_problem *problem)
{
	const struct pipeline_input *in = &chunks->input;
	struct schedule_request request;
	struct simulate_times times;
	struct schedule_problem why;

	pipeline_asks(in, &request, &times);
	request.micro_batches = (int)in->micro_batches;
	request.group = (int)in->group;
	times.activation_bytes = chunks->held_bytes;
	times.kept_for_weights = 1;
	if (!schedule_make(&request, arena, &out->schedule, &why))
		return refuse(problem, why.reason, why.knob, why.have,
			      why.nearest_count > 0 ? why.nearest[0] : 0);
	if (!simulate(&out->schedule, &times, true, arena, &out->ran))
		return refuse(problem, "not enough memory", NULL, 0, 0);
	return true;
}

/* Index of an item in the lists of the schedule. */
static int64_t run_index(const struct timeline *t, int stage, int32_t item)
{
	return (int64_t)stage * t->run->schedule.capacity + item -
	       t->stage[stage].first;
}

static int stage_of(const struct timeline *t, int32_t item)
{
	int low = 0, high = t->stages;

	/* the last that begins no later */
	while (high - low > 1) {
		int middle = (low + high) / 2;

		if (t->stage[middle].first <= item)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* How long the stage had nothing to do before the item, of which the last part is the
 * transfer that it waited for. */
static void fill_gap(const struct timeline *t, int64_t at, bool first,
		     struct timeline_item *item)
{
	const struct timeline_run *run = t->run;
	double free = 0, transfer = t->overlap_send ? t->send_seconds : 0;

	if (!first && run->schedule.item[at - 1].paired)
		return;
	if (!first) {
		struct simulate_span before = simulate_span(&run->ran, at - 1);

		free = before.end * run->scale + before.send * run->scale;
	}
	if (item->start > free)
		item->idle_before = item->start - free;
	if (item->wait == WAIT_TRANSFER)
		item->transfer_before =
			item->idle_before < transfer ? item->idle_before : transfer;
}

static struct timeline_item item_of(const struct timeline *t, int stage, int32_t index)
{
	const struct timeline_run *run = t->run;
	const struct schedule *schedule = &run->schedule;
	int64_t at = run_index(t, stage, index);
	const struct work *work = &schedule->item[at];
	struct simulate_span span = simulate_span(&run->ran, at);
	struct timeline_item item = {
		.start = span.start * run->scale,
		.end = span.end * run->scale,
		.send = span.send * run->scale,
		.micro_batch = work->micro_batch,
		.stage = (int16_t)stage,
		.chunk = work->chunk,
		.kind = work->kind,
		.wait = (uint8_t)simulate_wait(&run->ran, at),
		.critical = simulate_is_critical(&run->ran, at),
		.paired = work->paired,
	};

	item.position = (int16_t)schedule_position(
		schedule->placement, schedule->stages, stage, work->chunk);
	fill_gap(t, at, index == t->stage[stage].first, &item);
	return item;
}

struct timeline_item timeline_item(const struct timeline *timeline, int32_t item)
{
	return item_of(timeline, stage_of(timeline, item), item);
}

int32_t timeline_after(const struct timeline *timeline, int32_t item)
{
	const struct timeline_run *run = timeline->run;
	int64_t at = run_index(timeline, stage_of(timeline, item), item);
	int64_t after = simulate_after(&run->ran, at);

	if (after < 0)
		return -1;
	return timeline->stage[after / run->schedule.capacity].first +
	       (int32_t)(after % run->schedule.capacity);
}

double timeline_item_bytes(const struct timeline *timeline, int32_t item)
{
	return simulate_held(&timeline->run->ran,
			     run_index(timeline, stage_of(timeline, item), item));
}

static void copy_stage(int s, const struct estimate *estimate, double tail,
		       struct timeline *out)
{
	const struct simulate_stage *from = &out->run->ran.stage[s];
	double scale = out->run->scale;
	const struct stage_memory *memory = &estimate->stage[s];
	struct timeline_stage *to = &out->stage[s];

	to->start = from->start * scale;
	to->end = from->end * scale;
	to->busy = from->busy * scale;
	to->transfer = from->transfer * scale;
	to->idle = from->idle * scale;
	to->peak_bytes = from->peak_bytes;
	to->peak_seconds = from->peak_seconds * scale;
	to->peak_chunks = from->peak_chunks;
	to->resident_bytes = memory->total_bytes - memory->activations_bytes;
	to->tail_seconds = tail;
}

/* When a stage has run its first forwards: the start of what comes behind them. */
static double first_forwards_end(const struct timeline *t, int stage)
{
	const struct timeline_run *run = t->run;
	int64_t base = (int64_t)stage * run->schedule.capacity, at = base;
	int64_t end = base + t->stage[stage].count;

	while (at < end && run->schedule.item[at].kind == WORK_FORWARD)
		at++;
	return at < end ? simulate_span(&run->ran, at).start * run->scale : 0;
}

static double last_forward_ends(const struct timeline *t, int stage)
{
	const struct timeline_run *run = t->run;
	int64_t base = (int64_t)stage * run->schedule.capacity;
	int64_t at = base + t->stage[stage].count - 1;

	while (at >= base && run->schedule.item[at].kind != WORK_FORWARD)
		at--;
	return at >= base ? simulate_span(&run->ran, at).end * run->scale : INFINITY;
}

/* When the pipeline is full and when it starts to run empty, and how long an item takes
 * in the mean. */
static void mark_phases(struct timeline *out)
{
	double busy = 0;

	out->drain_seconds = out->pipeline_seconds;
	for (int s = 0; s < out->stages; s++) {
		out->filled_seconds =
			fmax(out->filled_seconds, first_forwards_end(out, s));
		out->drain_seconds =
			fmin(out->drain_seconds, last_forward_ends(out, s));
		busy += out->stage[s].busy;
	}
	if (out->item_count > 0)
		out->item_seconds = busy / out->item_count;
}

static bool fill_timeline(const struct timeline_run *run,
			  const struct train_chunks *chunks,
			  const struct estimate *estimate, struct arena *arena,
			  struct timeline *out)
{
	const struct schedule *schedule = &run->schedule;
	bool barrier = chunks->input.optimizer_sync == SYNC_BARRIER;
	double phase = barrier ? run->ran.seconds : run->ran.span, scale = run->scale;
	double tail = estimate->step_seconds - chunks->pipeline_seconds * scale;

	*out = (struct timeline){ .stages = schedule->stages,
				  .chunks = schedule->chunks,
				  .micro_batches = schedule->micro_batches,
				  .depth = schedule->depth,
				  .send_seconds = chunks->input.send_seconds * scale,
				  .overlap_send = chunks->input.overlap_send,
				  .run = run };
	memcpy(out->layout, chunks->layout, sizeof out->layout);
	out->stage = arena_take(arena, (size_t)out->stages, sizeof *out->stage);
	out->recompute = arena_take(arena, (size_t)out->depth, sizeof *out->recompute);
	if (!out->stage || !out->recompute)
		return false;
	for (int k = 0; k < schedule->depth; k++)
		out->recompute[k] = chunks->recompute[k] * scale;
	out->pipeline_seconds = run->ran.seconds * scale;
	out->step_seconds = phase * scale + tail;
	for (int s = 0; s < schedule->stages; s++) {
		copy_stage(s, estimate, tail, out);
		out->stage[s].first = out->item_count;
		out->stage[s].count = schedule->count[s];
		out->item_count += schedule->count[s];
	}
	mark_phases(out);
	return true;
}

bool timeline_play(const struct scenario *scenario, struct arena *arena,
		   struct estimate *estimate, struct timeline *out,
		   struct timeline_problem *problem)
{
	struct timeline_run *run;
	struct train_chunks chunks;

	if (!train_chunks(scenario, estimate, &chunks))
		return refuse(problem, "the plan is illegal", NULL, 0, 0);
	if (most_items(scenario) < 1 || most_items(scenario) > MAX_TIMELINE_ITEMS)
		return refuse(problem, "more items than a timeline holds", "gbs",
			      most_items(scenario), MAX_TIMELINE_ITEMS);
	run = arena_take(arena, 1, sizeof *run);
	if (!run)
		return refuse(problem, "not enough memory", NULL, 0, 0);
	run->scale = scenario->cluster.scale > 0 ? scenario->cluster.scale : 1;
	if (!play_schedule(&chunks, arena, run, problem))
		return false;
	if (!fill_timeline(run, &chunks, estimate, arena, out))
		return refuse(problem, "not enough memory", NULL, 0, 0);
	return true;
}

bool timeline_build(const struct scenario *scenario, struct arena *arena,
		    struct estimate *estimate, struct timeline *out,
		    struct timeline_problem *problem)
{
	if (!timeline_play(scenario, arena, estimate, out, problem))
		return false;
	out->item = arena_take(arena, (size_t)out->item_count, sizeof *out->item);
	if (!out->item)
		return refuse(problem, "not enough memory", NULL, 0, 0);
	for (int s = 0; s < out->stages; s++)
		for (int32_t i = 0; i < out->stage[s].count; i++)
			out->item[out->stage[s].first + i] =
				item_of(out, s, out->stage[s].first + i);
	return true;
}

/* When an item starts, of a stage that is known. */
static double start_of(const struct timeline *t, int stage, int32_t item)
{
	return simulate_span(&t->run->ran, run_index(t, stage, item)).start *
	       t->run->scale;
}

int32_t timeline_at(const struct timeline *timeline, int stage, double seconds)
{
	const struct timeline_stage *s = &timeline->stage[stage];
	int32_t low = s->first, high = s->first + s->count;

	/* the first that starts later */
	while (low < high) {
		int32_t middle = low + (high - low) / 2;

		if (start_of(timeline, stage, middle) <= seconds)
			low = middle + 1;
		else
			high = middle;
	}
	return low > s->first ? low - 1 : -1;
}

/* Held behind an item: a forward holds its activations from its start, a backward to
 * its end. */
static double held_at(const struct timeline *t, int stage, int32_t item, double seconds)
{
	const struct timeline_run *run = t->run;
	int64_t at = run_index(t, stage, item);
	bool over = run->schedule.item[at].kind == WORK_FORWARD ||
		    simulate_span(&run->ran, at).end * run->scale <= seconds;

	if (over)
		return simulate_held(&run->ran, at);
	return item > t->stage[stage].first ? simulate_held(&run->ran, at - 1) : 0;
}

double timeline_most_bytes(const struct timeline *timeline, int stage, double from,
			   double to)
{
	const struct timeline_run *run = timeline->run;
	const struct timeline_stage *s = &timeline->stage[stage];
	int32_t i = timeline_at(timeline, stage, from);
	double most = i < 0 ? 0 : held_at(timeline, stage, i, from), held;

	i = i < s->first ? s->first : i;
	held = i > s->first
		       ? simulate_held(&run->ran, run_index(timeline, stage, i) - 1)
		       : 0;
	for (; i < s->first + s->count; i++) {
		int64_t at = run_index(timeline, stage, i);

		if (simulate_span(&run->ran, at).start * run->scale >= to)
			break;
		held = simulate_held_next(&run->ran, at, held);
		if (run->schedule.item[at].kind == WORK_FORWARD && held > most)
			most = held;
	}
	return most;
}

/* How many items of a stage come before one in the order of starts, of those that start
 * at once the lower index first. */
static int32_t count_before(const struct timeline *t, int stage, double start,
			    int32_t item)
{
	const struct timeline_stage *s = &t->stage[stage];
	int32_t low = s->first, high = s->first + s->count;

	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		double here = start_of(t, stage, middle);

		if (here < start || (here == start && middle < item))
			low = middle + 1;
		else
			high = middle;
	}
	return low - s->first;
}

int32_t timeline_next(const struct timeline *timeline, int32_t item, bool back)
{
	double start = timeline_item(timeline, item).start, nearest = 0;
	int32_t best = -1;

	for (int s = 0; s < timeline->stages; s++) {
		const struct timeline_stage *stage = &timeline->stage[s];
		int32_t at = stage->first + count_before(timeline, s, start, item);
		double when;

		/* the item itself stands between the two */
		at = back ? at - 1 : at + (at == item);
		if (at < stage->first || at >= stage->first + stage->count)
			continue;
		when = start_of(timeline, s, at);
		if (best >= 0 && (back ? when < nearest : when >= nearest))
			continue;
		best = at;
		nearest = when;
	}
	return best;
}

int32_t timeline_number(const struct timeline *timeline, int32_t item)
{
	double start = timeline_item(timeline, item).start;
	int32_t number = 1;

	for (int s = 0; s < timeline->stages; s++)
		number += count_before(timeline, s, start, item);
	return number;
}
