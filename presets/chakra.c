/* chakra.c - see chakra.h. */
#include "presets/chakra.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/folder.h"
#include "presets/stream.h"

/* --- protocol buffers, as far as these messages need them --- */

enum wire { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static void put_varint(FILE *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		fputc((int)(value & 0x7f) | 0x80, out);
	fputc((int)value, out);
}

static void put_key(FILE *out, int field, enum wire wire)
{
	put_varint(out, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_number(FILE *out, int field, uint64_t value)
{
	put_key(out, field, WIRE_VARINT);
	put_varint(out, value);
}

static void put_text(FILE *out, int field, const char *text, size_t length)
{
	put_key(out, field, WIRE_LENGTH);
	put_varint(out, length);
	fwrite(text, 1, length, out);
}

/* --- nodes: numbers of fields and words of et_def.proto --- */

enum {
	NODE_ID = 1,
	NODE_NAME,
	NODE_TYPE,
	NODE_DATA_DEPS = 5,
	NODE_START,
	NODE_DURATION,
	NODE_ATTR = 10
};
enum {
	ATTR_NAME = 1,
	ATTR_INT32 = 7,
	ATTR_INT64 = 9,
	ATTR_BOOL = 27,
	ATTR_STRING = 29
};
enum { METADATA_VERSION = 1, METADATA_ATTR = 2 };
enum node_type { TYPE_COMPUTE = 4, TYPE_SEND = 5, TYPE_RECEIVE = 6 };

struct node {
	uint64_t id;
	char name[32];
	enum node_type type;
	uint64_t after[2]; /* 0 = none: numbers begin at 1 */
	double start, end; /* seconds */
	int peer, tag;     /* of a transfer */
};

struct stage_writer {
	const struct timeline *timeline;
	struct trace_cut cut; /* all of it: the timeline's own counts */
	int stage;
	double bytes;
	FILE *out;
	uint64_t last; /* number of a node */
	double busy;   /* seconds until which it works */
	/* who makes the output of a virtual stage: position * micro_batches +
	 * micro-batch */
	int32_t *forward, *backward;
	bool short_of_memory; /* a node, or a part of one, is left out */
};

static void put_attribute(struct stage_writer *w, FILE *out, const char *name, int kind,
			  uint64_t value)
{
	char *text = NULL;
	size_t length = 0;
	FILE *message = open_memstream(&text, &length);

	if (message) {
		put_text(message, ATTR_NAME, name, strlen(name));
		put_number(message, kind, value);
	}
	if (stream_end(message, &text))
		put_text(out, NODE_ATTR, text, length);
	else
		w->short_of_memory = true;
	free(text);
}

/* Whole microseconds, rounded where they begin and end so that none drift. */
static uint64_t micros(double seconds)
{
	return seconds > 0 ? (uint64_t)llround(seconds * 1e6) : 0;
}

static void put_fields(struct stage_writer *w, const struct node *n, FILE *out)
{
	bool sends = n->type == TYPE_SEND;

	put_number(out, NODE_ID, n->id);
	put_text(out, NODE_NAME, n->name, strlen(n->name));
	put_number(out, NODE_TYPE, (uint64_t)n->type);
	for (int i = 0; i < 2; i++)
		if (n->after[i] > 0)
			put_number(out, NODE_DATA_DEPS, n->after[i]);
	put_attribute(w, out, "is_cpu_op", ATTR_BOOL, 0);
	if (n->type == TYPE_COMPUTE) {
		put_number(out, NODE_START, micros(n->start));
		put_number(out, NODE_DURATION, micros(n->end) - micros(n->start));
		return;
	}
	put_attribute(w, out, "comm_src", ATTR_INT32,
		      (uint64_t)(sends ? w->stage : n->peer));
	put_attribute(w, out, "comm_dst", ATTR_INT32,
		      (uint64_t)(sends ? n->peer : w->stage));
	put_attribute(w, out, "comm_tag", ATTR_INT32, (uint64_t)n->tag);
	put_attribute(w, out, "comm_size", ATTR_INT64, (uint64_t)llround(w->bytes));
}

/* The message behind its length. */
static void end_message(struct stage_writer *w, FILE *message, char **text,
			const size_t *length)
{
	if (stream_end(message, text)) {
		put_varint(w->out, *length);
		fwrite(*text, 1, *length, w->out);
	} else {
		w->short_of_memory = true;
	}
	free(*text);
}

static uint64_t put_node(struct stage_writer *w, struct node *node)
{
	char *text = NULL;
	size_t length = 0;
	FILE *message = open_memstream(&text, &length);

	node->id = ++w->last;
	if (message)
		put_fields(w, node, message);
	end_message(w, message, &text, &length);
	return node->id;
}

static void put_metadata(struct stage_writer *w)
{
	static const char version[] = "0.0.4";
	char *text = NULL;
	size_t length = 0;
	FILE *message = open_memstream(&text, &length);

	if (message)
		put_text(message, METADATA_VERSION, version, sizeof version - 1);
	end_message(w, message, &text, &length);
}

static int64_t cell_of(const struct timeline *t, int position, int micro_batch)
{
	return (int64_t)position * t->micro_batches + micro_batch;
}

static void find_makers(struct stage_writer *w)
{
	const struct timeline *t = w->timeline;

	for (int32_t i = 0; i < t->item_count; i++) {
		const struct timeline_item *item = &t->item[i];
		int64_t cell = cell_of(t, item->position, item->micro_batch);

		if (item->kind == WORK_FORWARD)
			w->forward[cell] = i;
		else if (item->kind != WORK_WEIGHT_GRAD)
			w->backward[cell] = i;
	}
}

/* The item on another stage that this one takes its input from (by -1), or that takes
 * its output (by 1); NULL where it is on the same, or there is none. */
static const struct timeline_item *neighbour(const struct stage_writer *w,
					     const struct timeline_item *item, int by)
{
	const struct timeline *t = w->timeline;
	bool forward = item->kind == WORK_FORWARD;
	int position = item->position + (forward ? by : -by);
	const struct timeline_item *other;

	if (item->kind == WORK_WEIGHT_GRAD || position < 0 || position >= t->depth)
		return NULL;
	other = &t->item[(forward ? w->forward : w->backward)[cell_of(
		t, position, item->micro_batch)]];
	return other->stage == item->stage || other->stage >= w->cut.stages ? NULL
									    : other;
}

/* Both ends of a transfer number it by who makes it. */
static int tag_of(const struct stage_writer *w, const struct timeline_item *maker)
{
	return (int)(2 * cell_of(w->timeline, maker->position, maker->micro_batch)) +
	       (maker->kind != WORK_FORWARD);
}

static void name_node(struct node *node, const char *what,
		      const struct timeline_item *item)
{
	static const char letters[] = "FBIW";

	snprintf(node->name, sizeof node->name, "%s%c%d.c%d", what,
		 item->kind < WORK_COUNT ? letters[item->kind] : '?', item->micro_batch,
		 item->chunk);
}

/* What comes before is `compute` and `sent`: a receive waits for the send, so that a
 * machine with one transfer at a time does not wait for itself. */
static void put_item(struct stage_writer *w, const struct timeline_item *item,
		     uint64_t *compute, uint64_t *sent)
{
	const struct timeline_item *from = neighbour(w, item, -1),
				   *to = neighbour(w, item, 1);
	/* a machine does one after the other: what overlaps is counted once */
	double start = fmin(fmax(item->start, w->busy), item->end);
	struct node work = { .type = TYPE_COMPUTE,
			     .after = { *compute, 0 },
			     .start = start,
			     .end = item->end };

	w->busy = fmax(w->busy, item->end);
	if (from) {
		struct node receive = { .type = TYPE_RECEIVE,
					.after = { *sent > 0 ? *sent : *compute, 0 },
					.peer = from->stage,
					.tag = tag_of(w, from) };

		name_node(&receive, "receive ", from);
		work.after[1] = put_node(w, &receive);
	}
	name_node(&work, "", item);
	*compute = put_node(w, &work);
	*sent = 0;
	if (to) {
		struct node send = { .type = TYPE_SEND,
				     .after = { *compute, 0 },
				     .peer = to->stage,
				     .tag = tag_of(w, item) };

		name_node(&send, "send ", item);
		*sent = put_node(w, &send);
	}
}

static void put_nodes(struct stage_writer *w)
{
	const struct timeline *t = w->timeline;
	const struct timeline_stage *stage = &t->stage[w->stage];
	uint64_t compute = 0, sent = 0;
	struct node tail = { .type = TYPE_COMPUTE, .name = "gradients and optimizer" };

	put_metadata(w);
	for (int32_t i = stage->first; i < stage->first + stage->count; i++)
		if (t->item[i].micro_batch < w->cut.micro_batches)
			put_item(w, &t->item[i], &compute, &sent);
	tail.after[0] = compute;
	tail.after[1] = sent;
	tail.start = t->pipeline_seconds;
	tail.end = t->pipeline_seconds + stage->tail_seconds;
	if (stage->tail_seconds > 0)
		put_node(w, &tail);
}

static bool begin(struct stage_writer *w)
{
	const struct timeline *t = w->timeline;
	size_t cells = (size_t)t->depth * (size_t)t->micro_batches;

	w->cut.stages = trace_cut_of(w->cut.stages, t->stages);
	w->cut.micro_batches = trace_cut_of(w->cut.micro_batches, t->micro_batches);
	w->forward = calloc(cells, sizeof *w->forward);
	w->backward = calloc(cells, sizeof *w->backward);
	if (w->forward && w->backward)
		find_makers(w);
	return w->forward && w->backward && !isnan(w->bytes);
}

static void end(struct stage_writer *w)
{
	free(w->forward);
	free(w->backward);
}

char *chakra_stage(const struct chakra_source *source, int stage, size_t *length)
{
	struct stage_writer w = { .timeline = source->timeline,
				  .cut = source->cut,
				  .stage = stage,
				  .bytes = source->bytes };
	char *text = NULL;
	bool good;

	w.out = open_memstream(&text, length);
	good = begin(&w) && w.out;
	if (good) {
		put_nodes(&w);
		good = !ferror(w.out);
	}
	end(&w);
	good = good && !w.short_of_memory;
	if (stream_end(w.out, &text) && good)
		return text;
	free(text);
	return NULL;
}

/* What stages send to their neighbours, a mean of them: a pipeline shares out gradients
 * of tied embeddings too, which are no transfer. */
static double sent_bytes(const struct estimate *estimate)
{
	double bytes = 0;

	for (int i = 0; i < estimate->traffic_count; i++) {
		const struct traffic *row = &estimate->traffic[i];

		if (row->dimension == DIM_PP && row->kind == COLLECTIVE_SEND)
			bytes += row->count * row->payload_bytes;
	}
	return bytes;
}

double chakra_transfer_bytes(const struct timeline *t, const struct estimate *estimate)
{
	struct stage_writer w = { .timeline = t };
	double transfers = 0;
	bool good = begin(&w);

	for (int32_t i = 0; i < t->item_count && good; i++)
		transfers += neighbour(&w, &t->item[i], 1) != NULL;
	end(&w);
	/* no stage is begun with that */
	if (!good)
		return NAN;
	return transfers > 0 ? sent_bytes(estimate) * t->stages / transfers : 0;
}

static bool save(const struct scenario *scenario, const char *folder, int stage,
		 const char *text, size_t length, struct error *error)
{
	char path[1024];

	snprintf(path, sizeof path, "%.800s/%.100s.%d.et", folder, scenario->model.name,
		 stage);
	return (stage > 0 || folder_make(path, error)) &&
	       file_save(path, text, length, error);
}

static bool write_stages(const struct scenario *scenario,
			 const struct chakra_source *source, const char *folder,
			 struct chakra_files *files, struct error *error)
{
	int stages = trace_cut_of(source->cut.stages, source->timeline->stages);
	bool good = true;

	*files = (struct chakra_files){ stages, 0 };
	for (int s = 0; s < stages && good; s++) {
		size_t length = 0;
		char *text = chakra_stage(source, s, &length);

		good = text ? save(scenario, folder, s, text, length, error)
			    : error_set(error, NULL, 0, "out of memory");
		files->bytes += (double)length;
		free(text);
	}
	return good;
}

bool chakra_write(const struct scenario *scenario, const struct trace_cut *cut,
		  const char *folder, struct chakra_files *files, struct error *error)
{
	size_t bytes = timeline_bytes(scenario);
	struct arena arena = { .base = malloc(bytes ? bytes : 1), .size = bytes };
	struct estimate *estimate = malloc(sizeof *estimate);
	struct timeline_problem problem = { .reason = "not enough memory" };
	struct timeline t;
	struct chakra_source source = { &t, *cut, 0 };
	bool good = arena.base && estimate &&
		    timeline_build(scenario, &arena, estimate, &t, &problem);

	if (!good)
		error_set(error, NULL, 0, "no traces: %s%s%s", problem.reason,
			  problem.knob ? "; turn " : "",
			  problem.knob ? problem.knob : "");
	if (good)
		source.bytes = chakra_transfer_bytes(&t, estimate);
	good = good && write_stages(scenario, &source, folder, files, error);
	free(arena.base);
	free(estimate);
	return good;
}
