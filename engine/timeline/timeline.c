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
struct played {
	struct schedule schedule;
	struct simulation ran;
};

static bool play(const struct train_chunks *chunks, struct arena *arena,
		 struct played *out, struct timeline_problem *problem)
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

/* What an item changes in the activations that its stage holds; they wait for the
 * weight gradient where that is apart. */
static double change(const struct timeline_item *item, double bytes)
{
	if (item->kind == WORK_FORWARD)
		return bytes;
	return item->kind == WORK_INPUT_GRAD ? 0 : -bytes;
}

static void copy_item(const struct played *played, int s, int i, const int32_t *number,
		      double scale, struct timeline_item *out)
{
	const struct schedule *schedule = &played->schedule;
	int64_t at = (int64_t)s * schedule->capacity + i;
	const struct work *work = &schedule->item[at];
	const struct simulate_item *ran = &played->ran.item[at];
	int64_t after = ran->after;

	*out = (struct timeline_item){
		.start = ran->start * scale,
		.end = ran->end * scale,
		.send = ran->send * scale,
		.after = -1,
		.micro_batch = work->micro_batch,
		.stage = (int16_t)s,
		.chunk = work->chunk,
		.kind = work->kind,
		.wait = ran->wait,
		.critical = ran->critical,
		.paired = work->paired,
	};
	out->position = (int16_t)schedule_position(schedule->placement,
						   schedule->stages, s, work->chunk);
	if (after >= 0)
		out->after = number[after / schedule->capacity] +
			     (int32_t)(after % schedule->capacity);
}

/* Items of one stage, with the gaps before them and what it holds. number[s] is the
 * first item of stage s. */
static void copy_items(const struct played *played, int s, const int32_t *number,
		       const struct train_chunks *chunks, double scale,
		       struct timeline_item *item)
{
	const struct pipeline_input *in = &chunks->input;
	double transfer = in->overlap_send ? in->send_seconds * scale : 0;
	double free = 0, held = 0;

	for (int i = 0; i < played->schedule.count[s]; i++, item++) {
		bool second = i > 0 && item[-1].paired;

		copy_item(played, s, i, number, scale, item);
		if (!second && item->start > free)
			item->idle_before = item->start - free;
		if (item->wait == WAIT_TRANSFER)
			item->transfer_before = item->idle_before < transfer
							? item->idle_before
							: transfer;
		held += change(item, chunks->held_bytes[item->position]);
		item->held_bytes = held;
		free = item->end + item->send;
	}
}

static void copy_stage(const struct played *played, int s,
		       const struct estimate *estimate, double scale, double tail,
		       struct timeline *out)
{
	const struct simulate_stage *from = &played->ran.stage[s];
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

/* When the pipeline is full and when it starts to run empty, and how long an item takes
 * in the mean. */
static void mark_phases(struct timeline *out)
{
	double busy = 0;

	out->drain_seconds = out->pipeline_seconds;
	for (int s = 0; s < out->stages; s++) {
		const struct timeline_stage *stage = &out->stage[s];
		const struct timeline_item *item = &out->item[stage->first];
		int32_t at = 0, last = stage->count - 1;

		while (at < stage->count && item[at].kind == WORK_FORWARD)
			at++;
		while (last >= 0 && item[last].kind != WORK_FORWARD)
			last--;
		if (at < stage->count)
			out->filled_seconds = fmax(out->filled_seconds, item[at].start);
		if (last >= 0)
			out->drain_seconds = fmin(out->drain_seconds, item[last].end);
		busy += stage->busy;
	}
	if (out->item_count > 0)
		out->item_seconds = busy / out->item_count;
}

/* Room for all items; number says how many come before each stage's. */
static bool take_room(const struct schedule *schedule, struct arena *arena,
		      int32_t *number, struct timeline *out)
{
	size_t stages = (size_t)schedule->stages;

	for (int s = 0; s < schedule->stages; s++) {
		number[s] = out->item_count;
		out->item_count += schedule->count[s];
	}
	out->item = arena_take(arena, (size_t)out->item_count, sizeof *out->item);
	out->stage = arena_take(arena, stages, sizeof *out->stage);
	out->recompute =
		arena_take(arena, (size_t)schedule->depth, sizeof *out->recompute);
	return out->item && out->stage && out->recompute;
}

static bool fill(const struct played *played, const struct train_chunks *chunks,
		 const struct estimate *estimate, double scale, struct arena *arena,
		 struct timeline *out)
{
	const struct schedule *schedule = &played->schedule;
	bool barrier = chunks->input.optimizer_sync == SYNC_BARRIER;
	double phase = barrier ? played->ran.seconds : played->ran.span;
	double tail = estimate->step_seconds - chunks->pipeline_seconds * scale;
	int32_t number[MAX_STAGES];

	*out = (struct timeline){ .stages = schedule->stages,
				  .chunks = schedule->chunks,
				  .micro_batches = schedule->micro_batches,
				  .depth = schedule->depth,
				  .send_seconds = chunks->input.send_seconds * scale,
				  .overlap_send = chunks->input.overlap_send };
	memcpy(out->layout, chunks->layout, sizeof out->layout);
	if (!take_room(schedule, arena, number, out))
		return false;
	for (int k = 0; k < schedule->depth; k++)
		out->recompute[k] = chunks->recompute[k] * scale;
	out->pipeline_seconds = played->ran.seconds * scale;
	out->step_seconds = phase * scale + tail;
	for (int s = 0; s < schedule->stages; s++) {
		copy_stage(played, s, estimate, scale, tail, out);
		out->stage[s].first = number[s];
		out->stage[s].count = schedule->count[s];
		copy_items(played, s, number, chunks, scale, out->item + number[s]);
	}
	mark_phases(out);
	return true;
}

bool timeline_build(const struct scenario *scenario, struct arena *arena,
		    struct estimate *estimate, struct timeline *out,
		    struct timeline_problem *problem)
{
	double scale = scenario->cluster.scale > 0 ? scenario->cluster.scale : 1;
	struct train_chunks chunks;
	struct played played;

	if (!train_chunks(scenario, estimate, &chunks))
		return refuse(problem, "the plan is illegal", NULL, 0, 0);
	if (most_items(scenario) < 1 || most_items(scenario) > MAX_TIMELINE_ITEMS)
		return refuse(problem, "more items than a timeline holds", "gbs",
			      most_items(scenario), MAX_TIMELINE_ITEMS);
	if (!play(&chunks, arena, &played, problem))
		return false;
	if (!fill(&played, &chunks, estimate, scale, arena, out))
		return refuse(problem, "not enough memory", NULL, 0, 0);
	return true;
}

int32_t timeline_at(const struct timeline *timeline, int stage, double seconds)
{
	const struct timeline_stage *s = &timeline->stage[stage];
	int32_t low = s->first, high = s->first + s->count;

	/* the first that starts later */
	while (low < high) {
		int32_t middle = low + (high - low) / 2;

		if (timeline->item[middle].start <= seconds)
			low = middle + 1;
		else
			high = middle;
	}
	return low > s->first ? low - 1 : -1;
}

double timeline_held_bytes(const struct timeline *timeline, int stage, double seconds)
{
	int32_t at = timeline_at(timeline, stage, seconds);
	const struct timeline_stage *s = &timeline->stage[stage];
	const struct timeline_item *item = &timeline->item[at];

	if (at < 0)
		return 0;
	/* a forward holds its activations from its start, a backward to its end */
	if (item->kind == WORK_FORWARD || item->end <= seconds)
		return item->held_bytes;
	return at > s->first ? item[-1].held_bytes : 0;
}

double timeline_most_bytes(const struct timeline *timeline, int stage, double from,
			   double to)
{
	const struct timeline_stage *s = &timeline->stage[stage];
	double most = timeline_held_bytes(timeline, stage, from);
	int32_t i = timeline_at(timeline, stage, from);

	for (i = i < s->first ? s->first : i; i < s->first + s->count; i++) {
		const struct timeline_item *item = &timeline->item[i];

		if (item->start >= to)
			break;
		if (item->kind == WORK_FORWARD && item->held_bytes > most)
			most = item->held_bytes;
	}
	return most;
}

/* Whether a comes before b in the order of starts. */
static bool before(const struct timeline *t, int32_t a, int32_t b)
{
	return t->item[a].start < t->item[b].start ||
	       (t->item[a].start == t->item[b].start && a < b);
}

int32_t timeline_next(const struct timeline *timeline, int32_t item, bool back)
{
	int32_t best = -1;

	for (int32_t i = 0; i < timeline->item_count; i++) {
		bool beyond =
			back ? before(timeline, i, item) : before(timeline, item, i);

		if (beyond && (best < 0 || (back ? before(timeline, best, i)
						 : before(timeline, i, best))))
			best = i;
	}
	return best;
}

int32_t timeline_number(const struct timeline *timeline, int32_t item)
{
	int32_t number = 1;

	for (int32_t i = 0; i < timeline->item_count; i++)
		number += before(timeline, i, item);
	return number;
}
