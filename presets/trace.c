/* trace.c - see trace.h. Form: Perfetto, docs/getting-started/other-formats.md; times
 * are microseconds. */
#include "presets/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "engine/timeline.h"
#include "presets/stream.h"

/* Streams of a stage. What overlaps on one would not nest, so activations and gradients
 * have streams of their own, to and from either neighbour. */
enum thread {
	THREAD_COMPUTE,
	THREAD_SEND,        /* + 2 for gradients, + 1 towards stage 0 */
	THREAD_RECEIVE = 5, /* likewise */
	THREAD_END = 9,
	THREAD_COUNT
};

static const double micro = 1e6;
static const double gib = 1073741824.0;

struct writer {
	FILE *stream;
	const struct timeline *timeline;
	bool first;
	int flows;
	unsigned used; /* bits of threads */
	/* who makes the output of a virtual stage: position * micro_batches +
	 * micro-batch
	 */
	int32_t *forward, *backward;
};

/* One event of the list; taken over. */
static void put(struct writer *w, cJSON *event)
{
	char *text = cJSON_PrintUnformatted(event);

	fprintf(w->stream, "%s%s", w->first ? "" : ",\n", text ? text : "{}");
	w->first = false;
	free(text);
	cJSON_Delete(event);
}

static cJSON *event(const char *phase, const char *name, int stage, int thread,
		    double seconds)
{
	cJSON *e = cJSON_CreateObject();

	cJSON_AddStringToObject(e, "ph", phase);
	cJSON_AddStringToObject(e, "name", name);
	cJSON_AddNumberToObject(e, "pid", stage);
	cJSON_AddNumberToObject(e, "tid", thread);
	cJSON_AddNumberToObject(e, "ts", seconds * micro);
	return e;
}

static cJSON *slice(const char *name, const char *category, int stage, int thread,
		    double start, double length)
{
	cJSON *e = event("X", name, stage, thread, start);

	cJSON_AddNumberToObject(e, "dur", length * micro);
	cJSON_AddStringToObject(e, "cat", category);
	return e;
}

static void put_meta(struct writer *w, const char *what, int stage, int thread,
		     const char *name, int order)
{
	cJSON *e = event("M", what, stage, thread, 0);
	cJSON *args = cJSON_AddObjectToObject(e, "args");

	if (name)
		cJSON_AddStringToObject(args, "name", name);
	else
		cJSON_AddNumberToObject(args, "sort_index", order);
	put(w, e);
}

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

	for (int i = 0; i < w->timeline->stages; i++) {
		char name[32];

		snprintf(name, sizeof name, "stage %d", i);
		put_meta(w, "process_name", i, 0, name, 0);
		put_meta(w, "process_sort_index", i, 0, NULL, i);
		for (int t = 0; t < THREAD_COUNT; t++) {
			if (!(w->used & 1u << t))
				continue;
			put_meta(w, "thread_name", i, t, names[t], 0);
			put_meta(w, "thread_sort_index", i, t, NULL, t);
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
	e = slice(name, category(item), item->stage, THREAD_COMPUTE, item->start,
		  item->end - item->start);
	args = cJSON_AddObjectToObject(e, "args");
	cJSON_AddNumberToObject(args, "micro_batch", item->micro_batch);
	cJSON_AddNumberToObject(args, "chunk", item->chunk);
	cJSON_AddNumberToObject(args, "virtual_stage", item->position);
	cJSON_AddNumberToObject(args, "idle_before_us", item->idle_before * micro);
	cJSON_AddBoolToObject(args, "critical", item->critical);
	put(w, e);
	if (again > 0 && !item->paired &&
	    (item->kind == WORK_BACKWARD || item->kind == WORK_INPUT_GRAD))
		put(w, slice("recompute", "recompute", item->stage, THREAD_COMPUTE,
			     item->start, again));
}

/* What the stage holds where that changes. */
static void put_counter(struct writer *w, int stage, double when, double held_bytes)
{
	cJSON *e = event("C", "memory_gib", stage, THREAD_COMPUTE, when);
	cJSON *args = cJSON_AddObjectToObject(e, "args");

	cJSON_AddNumberToObject(args, "other",
				w->timeline->stage[stage].resident_bytes / gib);
	cJSON_AddNumberToObject(args, "activations", held_bytes / gib);
	put(w, e);
}

static void put_flow(struct writer *w, const char *phase, int id, int stage, int thread,
		     double when)
{
	cJSON *e = event(phase, "transfer", stage, thread, when);

	cJSON_AddNumberToObject(e, "id", id);
	cJSON_AddStringToObject(e, "cat", "comm");
	if (phase[0] == 'f')
		cJSON_AddStringToObject(e, "bp", "e");
	put(w, e);
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

	if (from->stage == to->stage)
		return;
	w->used |= 1u << send | 1u << receive;
	snprintf(name, sizeof name, "%c%d.c%d", activations ? 'F' : 'B',
		 from->micro_batch, from->chunk);
	put(w, slice(name, "comm", from->stage, send, from->end, length));
	put(w, slice(name, "comm", to->stage, receive, from->end, length));
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
		put(w, slice("gradients and optimizer", "optimizer", stage, THREAD_END,
			     t->pipeline_seconds, t->stage[stage].tail_seconds));
}

static void put_events(struct writer *w)
{
	const struct timeline *t = w->timeline;

	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", w->stream);
	for (int s = 0; s < t->stages; s++)
		put_counter(w, s, 0, 0);
	for (int32_t i = 0; i < t->item_count; i++) {
		const struct timeline_item *item = &t->item[i];
		bool begins = item->kind == WORK_FORWARD;

		put_item(w, item);
		put_counter(w, item->stage, begins ? item->start : item->end,
			    item->held_bytes);
	}
	put_transfers(w);
	for (int s = 0; s < t->stages; s++)
		put_end(w, s);
	put_names(w);
	fputs("\n]}\n", w->stream);
}

static char *write_events(const struct timeline *t)
{
	size_t cells = (size_t)t->depth * (size_t)t->micro_batches, size = 0;
	struct writer w = { .timeline = t,
			    .first = true,
			    .used = 1u << THREAD_COMPUTE | 1u << THREAD_END };
	char *text = NULL;
	bool good;

	w.forward = calloc(cells, sizeof *w.forward);
	w.backward = calloc(cells, sizeof *w.backward);
	w.stream = open_memstream(&text, &size);
	good = w.forward && w.backward && w.stream;
	if (good)
		put_events(&w);
	free(w.forward);
	free(w.backward);
	text = stream_end(w.stream, &text);
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

char *trace_write(const struct scenario *scenario, struct error *error)
{
	size_t bytes = timeline_bytes(scenario);
	struct arena arena = { .base = malloc(bytes ? bytes : 1), .size = bytes };
	struct estimate *scratch = malloc(sizeof *scratch);
	struct timeline_problem problem = { .reason = "not enough memory" };
	struct timeline timeline;
	char *text = NULL;

	if (arena.base && scratch &&
	    timeline_build(scenario, &arena, scratch, &timeline, &problem))
		text = write_events(&timeline);
	if (!text)
		refuse(&problem, error);
	free(arena.base);
	free(scratch);
	return text;
}
