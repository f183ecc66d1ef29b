/* trace.c - see trace.h. Form: Perfetto, docs/getting-started/other-formats.md; times
 * are microseconds. */
#include "presets/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "engine/timeline.h"

enum thread { THREAD_COMPUTE, THREAD_SEND };

static const double micro = 1e6;

/* One event of the list; taken over. */
static void put(FILE *stream, cJSON *event, bool *first)
{
	char *text = cJSON_PrintUnformatted(event);

	fprintf(stream, "%s%s", *first ? "" : ",\n", text ? text : "{}");
	*first = false;
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

static void put_name(FILE *stream, const char *what, int stage, int thread,
		     const char *name, bool *first)
{
	cJSON *e = event("M", what, stage, thread, 0);

	cJSON_AddStringToObject(cJSON_AddObjectToObject(e, "args"), "name", name);
	put(stream, e, first);
}

static void put_names(FILE *stream, const struct timeline *t, bool *first)
{
	for (int i = 0; i < t->stages; i++) {
		char name[32];

		snprintf(name, sizeof name, "stage %d", i);
		put_name(stream, "process_name", i, 0, name, first);
		put_name(stream, "thread_name", i, THREAD_COMPUTE, "compute", first);
		put_name(stream, "thread_name", i, THREAD_SEND, "send", first);
	}
}

static const char *category(const struct timeline_item *item)
{
	static const char *const words[WORK_COUNT] = { "forward", "backward",
						       "input gradient",
						       "weight gradient" };

	return item->kind < WORK_COUNT ? words[item->kind] : "";
}

static void put_item(FILE *stream, const struct timeline *t,
		     const struct timeline_item *item, bool *first)
{
	static const char letters[] = "FBIW";
	char name[32];
	cJSON *e, *args;

	snprintf(name, sizeof name, "%c%d.c%d",
		 item->kind < WORK_COUNT ? letters[item->kind] : '?', item->micro_batch,
		 item->chunk);
	e = event("X", name, item->stage, THREAD_COMPUTE, item->start);
	cJSON_AddNumberToObject(e, "dur", (item->end - item->start) * micro);
	cJSON_AddStringToObject(e, "cat", category(item));
	args = cJSON_AddObjectToObject(e, "args");
	cJSON_AddNumberToObject(args, "micro_batch", item->micro_batch);
	cJSON_AddNumberToObject(args, "chunk", item->chunk);
	cJSON_AddNumberToObject(args, "virtual_stage", item->position);
	cJSON_AddBoolToObject(args, "critical", item->critical);
	cJSON_AddNumberToObject(args, "recompute_us",
				item->kind == WORK_BACKWARD ||
						item->kind == WORK_INPUT_GRAD
					? t->recompute[item->position] * micro
					: 0);
	put(stream, e, first);
}

/* Bytes held, where they change. */
static void put_counter(FILE *stream, const struct timeline_item *item, bool *first)
{
	double when = item->kind == WORK_FORWARD ? item->start : item->end;
	cJSON *e = event("C", "activations_gib", item->stage, THREAD_COMPUTE, when);

	cJSON_AddNumberToObject(cJSON_AddObjectToObject(e, "args"), "GiB",
				item->held_bytes / 1073741824.0);
	put(stream, e, first);
}

/* The transfer that an item waited for: a slice on the sender, and an arrow. */
static void put_transfer(FILE *stream, const struct timeline *t, int32_t index,
			 bool *first)
{
	const struct timeline_item *item = &t->item[index];
	const struct timeline_item *from;
	cJSON *e;

	if (item->wait != WAIT_TRANSFER || item->after < 0)
		return;
	from = &t->item[item->after];
	e = event("X", "send", from->stage, THREAD_SEND, from->end);
	cJSON_AddNumberToObject(e, "dur", (item->start - from->end) * micro);
	cJSON_AddStringToObject(e, "cat", "comm");
	put(stream, e, first);
	e = event("s", "transfer", from->stage, THREAD_SEND, from->end);
	cJSON_AddNumberToObject(e, "id", index);
	cJSON_AddStringToObject(e, "cat", "comm");
	put(stream, e, first);
	e = event("f", "transfer", item->stage, THREAD_COMPUTE, item->start);
	cJSON_AddNumberToObject(e, "id", index);
	cJSON_AddStringToObject(e, "cat", "comm");
	cJSON_AddStringToObject(e, "bp", "e");
	put(stream, e, first);
}

static char *write_events(const struct timeline *t)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool first = true, good;

	if (!stream)
		return NULL;
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", stream);
	put_names(stream, t, &first);
	for (int32_t i = 0; i < t->item_count; i++) {
		put_item(stream, t, &t->item[i], &first);
		put_counter(stream, &t->item[i], &first);
		put_transfer(stream, t, i, &first);
	}
	fputs("\n]}\n", stream);
	good = !ferror(stream);
	if (fclose(stream) == 0 && good)
		return text;
	free(text);
	return NULL;
}

char *trace_write(const struct scenario *scenario)
{
	size_t bytes = timeline_bytes(scenario);
	struct arena arena = { .base = malloc(bytes ? bytes : 1), .size = bytes };
	struct estimate *scratch = malloc(sizeof *scratch);
	struct timeline_problem problem;
	struct timeline timeline;
	char *text = NULL;

	if (arena.base && scratch &&
	    timeline_build(scenario, &arena, scratch, &timeline, &problem))
		text = write_events(&timeline);
	free(arena.base);
	free(scratch);
	return text;
}
