/* trace.c - see trace.h: a step of training. */
#include "presets/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/timeline/timeline.h"
#include "presets/stream.h"
#include "presets/trace_events.h"

/* Streams of a stage. What overlaps on one would not nest, so activations and gradients
 * have streams of their own, to and from either neighbour. */
enum thread {
	THREAD_COMPUTE,
	THREAD_SEND,        /* + 2 for gradients, + 1 towards stage 0 */
	THREAD_RECEIVE = 5, /* likewise */
	THREAD_END = 9,
	THREAD_COUNT
};

static const double micro = 1e6; /* microseconds of a second */
static const double gib = 1073741824.0;

struct writer {
	struct trace_stream out;
	const struct timeline *timeline;
	struct trace_cut cut; /* all of it: the timeline's own counts */
	int flows;
	unsigned used; /* bits of threads */
	/* who makes the output of a virtual stage: position * micro_batches +
	 * micro-batch
	 */
	int32_t *forward, *backward;
};

static void put_names(struct writer *w)
{
	static const char *const names[THREAD_COUNT] = {
		"compute",
		"send activations down",
		"send activations up",
		"send gradients down",
		"send gradients up",
		"receive activations from above",
		"receive activations from below",
		"receive gradients from above",
		"receive gradients from below",
		"optimizer"
	};

	for (int i = 0; i < w->cut.stages; i++) {
		char name[32];

		snprintf(name, sizeof name, "stage %d", i);
		trace_put_meta(&w->out, "process_name", i, 0, name, 0);
		trace_put_meta(&w->out, "process_sort_index", i, 0, NULL, i);
		for (int t = 0; t < THREAD_COUNT; t++) {
			if (!(w->used & 1u << t))
				continue;
			trace_put_meta(&w->out, "thread_name", i, t, names[t], 0);
			trace_put_meta(&w->out, "thread_sort_index", i, t, NULL, t);
		}
	}
}

static const char *category(const struct timeline_item *item)
{
	static const char *const words[WORK_COUNT] = { "forward", "backward",
						       "input gradient",
						       "weight gradient" };

	return item->kind < WORK_COUNT ? words[item->kind] : "";
}

static void put_item(struct writer *w, const struct timeline_item *item)
{
	static const char letters[] = "FBIW";
	double again = w->timeline->recompute[item->position];
	char name[32];
	cJSON *e, *args;

	snprintf(name, sizeof name, "%c%d.c%d",
		 item->kind < WORK_COUNT ? letters[item->kind] : '?', item->micro_batch,
		 item->chunk);
	e = trace_slice(name, category(item), item->stage, THREAD_COMPUTE, item->start,
			item->end - item->start);
	args = cJSON_AddObjectToObject(e, "args");
	cJSON_AddNumberToObject(args, "micro_batch", item->micro_batch);
	cJSON_AddNumberToObject(args, "chunk", item->chunk);
	cJSON_AddNumberToObject(args, "virtual_stage", item->position);
	cJSON_AddNumberToObject(args, "idle_before_us", item->idle_before * micro);
	cJSON_AddBoolToObject(args, "critical", item->critical);
	trace_put(&w->out, e);
	if (again > 0 && !item->paired &&
	    (item->kind == WORK_BACKWARD || item->kind == WORK_INPUT_GRAD))
		trace_put(&w->out, trace_slice("recompute", "recompute", item->stage,
					       THREAD_COMPUTE, item->start, again));
}

/* What the stage holds where that changes. */
static void put_counter(struct writer *w, int stage, double when, double held_bytes)
{
	cJSON *e = trace_event("C", "memory_gib", stage, THREAD_COMPUTE, when);
	cJSON *args = cJSON_AddObjectToObject(e, "args");

	cJSON_AddNumberToObject(args, "other",
				w->timeline->stage[stage].resident_bytes / gib);
	cJSON_AddNumberToObject(args, "activations", held_bytes / gib);
	trace_put(&w->out, e);
}

static void put_flow(struct writer *w, const char *phase, int id, int stage, int thread,
		     double when)
{
	cJSON *e = trace_event(phase, "transfer", stage, thread, when);

	cJSON_AddNumberToObject(e, "id", id);
	cJSON_AddStringToObject(e, "cat", "comm");
	if (phase[0] == 'f')
		cJSON_AddStringToObject(e, "bp", "e");
	trace_put(&w->out, e);
}

static bool is_kept(const struct writer *w, const struct timeline_item *item)
{
	return item->stage < w->cut.stages && item->micro_batch < w->cut.micro_batches;
}

/* An output on its way: slices on both sides, and an arrow through them to the item
 * that takes it. */
static void put_transfer(struct writer *w, int32_t from_index, int32_t to_index)
{
	const struct timeline_item *from = &w->timeline->item[from_index];
	const struct timeline_item *to = &w->timeline->item[to_index];
	bool activations = from->kind == WORK_FORWARD;
	int which = (activations ? 0 : 2) + (to->stage < from->stage);
	int send = THREAD_SEND + which, receive = THREAD_RECEIVE + which;
	double length = w->timeline->send_seconds;
	char name[32];

	if (from->stage == to->stage || !is_kept(w, from) || !is_kept(w, to))
		return;
	w->used |= 1u << send | 1u << receive;
	snprintf(name, sizeof name, "%c%d.c%d", activations ? 'F' : 'B',
		 from->micro_batch, from->chunk);
	trace_put(&w->out,
		  trace_slice(name, "comm", from->stage, send, from->end, length));
	trace_put(&w->out,
		  trace_slice(name, "comm", to->stage, receive, from->end, length));
	put_flow(w, "s", w->flows, from->stage, send, from->end);
	put_flow(w, "t", w->flows, to->stage, receive, from->end);
	put_flow(w, "f", w->flows++, to->stage, THREAD_COMPUTE, to->start);
}

static void find_makers(struct writer *w)
{
	const struct timeline *t = w->timeline;

	for (int32_t i = 0; i < t->item_count; i++) {
		const struct timeline_item *item = &t->item[i];
		int64_t cell =
			(int64_t)item->position * t->micro_batches + item->micro_batch;

		if (item->kind == WORK_FORWARD)
			w->forward[cell] = i;
		else if (item->kind != WORK_WEIGHT_GRAD)
			w->backward[cell] = i;
	}
}

static void put_transfers(struct writer *w)
{
	const struct timeline *t = w->timeline;
	int64_t m = t->micro_batches, last = (t->depth - 1) * m;

	find_makers(w);
	for (int64_t cell = 0; cell < last; cell++) {
		put_transfer(w, w->forward[cell], w->forward[cell + m]);
		put_transfer(w, w->backward[cell + m], w->backward[cell]);
	}
}

/* Gradients, optimizer and waiting for others behind the pipeline. */
static void put_end(struct writer *w, int stage)
{
	const struct timeline *t = w->timeline;

	if (t->stage[stage].tail_seconds > 0)
		trace_put(&w->out, trace_slice("gradients and optimizer", "optimizer",
					       stage, THREAD_END, t->pipeline_seconds,
					       t->stage[stage].tail_seconds));
}

static void put_events(struct writer *w)
{
	const struct timeline *t = w->timeline;

	trace_begin(&w->out);
	for (int s = 0; s < w->cut.stages; s++)
		put_counter(w, s, 0, 0);
	for (int32_t i = 0; i < t->item_count; i++) {
		const struct timeline_item *item = &t->item[i];
		bool begins = item->kind == WORK_FORWARD;

		if (!is_kept(w, item))
			continue;
		put_item(w, item);
		put_counter(w, item->stage, begins ? item->start : item->end,
			    timeline_item_bytes(t, i));
	}
	put_transfers(w);
	for (int s = 0; s < w->cut.stages; s++)
		put_end(w, s);
	put_names(w);
	trace_end(&w->out);
}

static char *write_events(const struct timeline *t, const struct trace_cut *cut)
{
	size_t cells = (size_t)t->depth * (size_t)t->micro_batches, size = 0;
	struct writer w = { .timeline = t,
			    .cut = { trace_cut_of(cut->stages, t->stages),
				     trace_cut_of(cut->micro_batches,
						  t->micro_batches) },
			    .used = 1u << THREAD_COMPUTE | 1u << THREAD_END };
	char *text = NULL;
	bool good;

	w.forward = calloc(cells, sizeof *w.forward);
	w.backward = calloc(cells, sizeof *w.backward);
	w.out.stream = open_memstream(&text, &size);
	good = w.forward && w.backward && w.out.stream;
	if (good)
		put_events(&w);
	free(w.forward);
	free(w.backward);
	text = stream_end(w.out.stream, &text);
	if (good)
		return text;
	free(text);
	return NULL;
}

static void refuse(const struct timeline_problem *problem, struct error *error)
{
	if (!error || !problem->reason)
		return;
	if (problem->limit > 0)
		error_set(error, NULL, 0,
			  "no trace: %s: %lld, and the limit is %lld%s%s",
			  problem->reason, (long long)problem->have,
			  (long long)problem->limit, problem->knob ? "; turn " : "",
			  problem->knob ? problem->knob : "");
	else
		error_set(error, NULL, 0, "no trace: %s", problem->reason);
}

static char *write_step(const struct scenario *scenario, const struct trace_cut *cut,
			struct error *error)
{
	size_t bytes = timeline_bytes(scenario);
	struct arena arena = { .base = malloc(bytes ? bytes : 1), .size = bytes };
	struct estimate *scratch = malloc(sizeof *scratch);
	struct timeline_problem problem = { .reason = "not enough memory" };
	struct timeline timeline;
	char *text = NULL;

	if (arena.base && scratch &&
	    timeline_build(scenario, &arena, scratch, &timeline, &problem))
		text = write_events(&timeline, cut);
	if (!text)
		refuse(&problem, error);
	free(arena.base);
	free(scratch);
	return text;
}

char *trace_write(const struct scenario *scenario, const struct trace_cut *cut,
		  struct error *error)
{
	return scenario->plan.mode == MODE_INFERENCE
		       ? trace_write_passes(scenario, error)
		       : write_step(scenario, cut, error);
}
