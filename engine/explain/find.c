/* find.c - which number a key names, and its value. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/collective/seconds.h"
#include "engine/explain/terms.h"

/* Keys are met by the hundred in a frame: most of them part at the first letter. */
static const struct explain_row *find_row(const struct explain_row *rows,
					  const char *key)
{
	for (; rows->key; rows++)
		if (rows->key[0] == key[0] && strcmp(rows->key, key) == 0)
			return rows;
	return NULL;
}

/* In mode inference many numbers of the same name have another origin. */
static const struct explain_row *find_in(const struct asked *asked,
					 const struct explain_row *serving,
					 const struct explain_row *training,
					 const char *key)
{
	const struct explain_row *row;

	if (asked->scenario->plan.mode == MODE_TRAINING)
		return find_row(training, key);
	row = find_row(serving, key);
	if (!row)
		row = find_row(explain_serving_memory, key);
	return row ? row : find_row(training, key);
}

/* The double at a name of struct stage_memory or stage_time. */
struct member {
	const char *key;
	enum form form;
	size_t offset;
};

#define MEMORY(name, form)                                       \
	{                                                        \
#name, form, offsetof(struct stage_memory, name) \
	}
#define TIME(name)                                                     \
	{                                                              \
#name, FORM_SECONDS, offsetof(struct stage_time, name) \
	}

static const struct member memory_members[] = {
	MEMORY(weights_bytes, FORM_BYTES),
	MEMORY(gradients_bytes, FORM_BYTES),
	MEMORY(optimizer_bytes, FORM_BYTES),
	MEMORY(activations_bytes, FORM_BYTES),
	MEMORY(buffers_bytes, FORM_BYTES),
	MEMORY(framework_bytes, FORM_BYTES),
	MEMORY(total_bytes, FORM_BYTES),
	MEMORY(allocated_bytes, FORM_BYTES),
	MEMORY(reserved_bytes, FORM_BYTES),
	MEMORY(in_flight, FORM_REAL),
	MEMORY(parameters, FORM_COUNT),
	MEMORY(layers, FORM_REAL),
	MEMORY(kv_bytes, FORM_BYTES),
	MEMORY(host_optimizer_bytes, FORM_BYTES),
	MEMORY(host_activations_bytes, FORM_BYTES),
};

static const struct member time_members[] = {
	TIME(forward_seconds),   TIME(backward_seconds), TIME(busy_seconds),
	TIME(exposed_seconds),   TIME(idle_seconds),     TIME(optimizer_seconds),
	TIME(recompute_seconds),
};

static const struct member *find_member(const struct member *members, size_t count,
					const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (members[i].key[0] == key[0] && strcmp(members[i].key, key) == 0)
			return &members[i];
	return NULL;
}

static double value_at(const void *base, const struct member *member)
{
	double value;

	memcpy(&value, (const char *)base + member->offset, sizeof value);
	return value;
}

/* "3." or "0-15." */
static const char *read_index(const char *key, int count, int *first, int *last)
{
	char *end;
	long low = strtol(key, &end, 10), high = low;

	if (end == key)
		return NULL;
	if (*end == '-') {
		key = end + 1;
		high = strtol(key, &end, 10);
		if (end == key || high <= low)
			return NULL;
	}
	if (*end != '.' || low < 0 || high >= count)
		return NULL;
	*first = (int)low;
	*last = (int)high;
	return end + 1;
}

static bool take_node(const struct asked *asked, const struct explain_node *nodes,
		      const char *key, struct explain_number *out)
{
	for (; nodes->row.key; nodes++)
		if (nodes->row.key[0] == key[0] && strcmp(nodes->row.key, key) == 0)
			break;
	if (!nodes->row.key)
		return false;
	out->row = &nodes->row;
	out->asked = *asked;
	out->asked.place = key > asked->key ? (int)(key - asked->key) - 1 : 0;
	out->form = nodes->form;
	out->value = nodes->value(&out->asked);
	return true;
}

/* "stages.0.kinds.2.layers" */
static bool find_layers(const struct asked *from, const char *key,
			struct explain_number *out)
{
	struct asked asked = *from;
	int last;

	key = read_index(key, asked.scenario->model.kinds, &asked.kind, &last);
	return key && last == asked.kind &&
	       take_node(&asked, explain_stage_kind, key, out);
}

/* A field of a stage's memory or time, or one of its parts. */
static bool find_of_stage(const struct asked *asked, const char *key,
			  struct explain_number *out)
{
	const struct estimate *e = asked->estimate;
	const struct member *member = find_member(
		memory_members, sizeof memory_members / sizeof memory_members[0], key);

	out->asked = *asked;
	if (member) {
		out->row = find_in(asked, explain_serving_memory, explain_memory, key);
		out->form = member->form;
		out->value = value_at(&e->stage[asked->stage], member);
		return out->row;
	}
	/* a server has no step to divide */
	if (asked->scenario->plan.mode != MODE_TRAINING)
		return false;
	member = find_member(time_members, sizeof time_members / sizeof time_members[0],
			     key);
	if (!member && strncmp(key, "kinds.", 6) == 0)
		return find_layers(asked, key + 6, out);
	if (!member)
		return explain_step(asked) &&
		       (take_node(asked, explain_stage, key, out) ||
			explain_term_of_stage(asked, key, out) ||
			take_node(asked, explain_stage_times, key, out) ||
			take_node(asked, explain_stage_shown, key, out));
	out->row = find_row(explain_times, key);
	out->form = member->form;
	out->value = value_at(&e->stage_time[asked->stage], member);
	return out->row;
}

static bool find_operator(const struct asked *asked, const char *key,
			  struct explain_number *out)
{
	return take_node(asked, explain_operator, key, out) ||
	       take_node(asked, explain_exposure, key, out);
}

/* Of one place, or the sum of several: the asked one is the first. */
static bool add_up(struct asked *asked, int *index, int first, int last,
		   bool (*find)(const struct asked *, const char *,
				struct explain_number *),
		   const char *key, struct explain_number *out)
{
	double sum = 0;

	for (int i = last; i >= first; i--) {
		*index = i;
		if (!find(asked, key, out))
			return false;
		sum += out->value;
	}
	out->asked.last = 0;
	if (first < last) {
		out->value = sum;
		out->asked.stage = first;
		out->asked.last = last;
	}
	return true;
}

static bool find_stage(const struct asked *from, const char *key,
		       struct explain_number *out)
{
	struct asked asked = *from;
	int first, last;

	if (!asked.estimate->legal)
		return false;
	key = read_index(key, asked.estimate->stages, &first, &last);
	return key &&
	       add_up(&asked, &asked.stage, first, last, find_of_stage, key, out);
}

static bool find_chunk(const struct asked *from, const char *key,
		       struct explain_number *out)
{
	const struct step *step = explain_step(from);
	struct asked asked = *from;
	int last;

	if (!step)
		return false;
	key = read_index(key, step->stages * step->chunks, &asked.chunk, &last);
	if (!key || last != asked.chunk)
		return false;
	if (strncmp(key, "kinds.", 6) != 0)
		return take_node(&asked, explain_chunk, key, out);
	key = read_index(key + 6, asked.scenario->model.kinds, &asked.kind, &last);
	return key && last == asked.kind &&
	       take_node(&asked, explain_chunk_kind, key, out);
}

/* "kinds.0.", "embedding.", "head.": a part of the model, as step_parts() counts. */
static const char *enter_part(struct asked *asked, const char *key)
{
	const struct model *m = &asked->scenario->model;
	int last;

	if (strncmp(key, "kinds.", 6) == 0) {
		key = read_index(key + 6, m->kinds, &asked->part, &last);
		return key && last == asked->part ? key : NULL;
	}
	if (strncmp(key, "embedding.", 10) == 0) {
		asked->part = m->kinds;
		return key + 10;
	}
	if (strncmp(key, "head.", 5) == 0) {
		asked->part = m->kinds + 1;
		return key + 5;
	}
	if (strncmp(key, "mtp.", 4) == 0 && m->mtp_layers > 0) {
		asked->part = m->kinds + 2;
		return key + 4;
	}
	return NULL;
}

static bool find_part(const struct asked *from, const char *key,
		      struct explain_number *out)
{
	struct asked asked = *from;
	const struct graph *graph;
	int first, last;

	key = enter_part(&asked, key);
	if (!key || !explain_step(from))
		return false;
	if (strncmp(key, "operators.", 10) != 0)
		return take_node(&asked, explain_layer, key, out);
	graph = explain_graph(&asked);
	key = read_index(key + 10, graph->count, &first, &last);
	return key && add_up(&asked, &asked.op, first, last, find_operator, key, out);
}

/* "ring.near_steps" */
static bool find_algorithm(const struct asked *from, const char *key,
			   struct explain_number *out)
{
	const char *dot = strchr(key, '.');
	struct asked asked = *from;
	struct account account;

	for (int i = 1; dot && i < ALGORITHM_COUNT; i++) {
		const char *name = algorithm_name((enum algorithm)i);

		if (strlen(name) != (size_t)(dot - key) ||
		    strncmp(name, key, (size_t)(dot - key)) != 0)
			continue;
		asked.algorithm = (enum algorithm)i;
		return explain_account(&asked, asked.algorithm, &account) &&
		       take_node(&asked, explain_algorithm, dot + 1, out);
	}
	return false;
}

/* "2.exposed_seconds": of what the third part of the model calls */
static bool find_traffic_part(struct asked *asked, const char *key,
			      struct explain_number *out)
{
	const struct model *m = &asked->scenario->model;
	int last;

	key = read_index(key, m->kinds + 2 + (m->mtp_layers > 0), &asked->part, &last);
	return key && last == asked->part && explain_step(asked) &&
	       take_node(asked, explain_traffic_part, key, out);
}

static bool find_traffic(const struct asked *from, const char *key,
			 struct explain_number *out)
{
	struct asked asked = *from;
	int last;

	if (!asked.estimate->legal)
		return false;
	asked.pass = 0;
	key = read_index(key, asked.estimate->traffic_count, &asked.traffic, &last);
	if (!key || last != asked.traffic)
		return false;
	if (strncmp(key, "by.", 3) == 0)
		return find_algorithm(&asked, key + 3, out);
	if (strncmp(key, "parts.", 6) == 0)
		return find_traffic_part(&asked, key + 6, out);
	return take_node(&asked, explain_traffic, key, out);
}

static const char *const passes[] = {
	[PASS_DECODE] = "decode",
	[PASS_MIXED] = "mixed",
	[PASS_WHOLE] = "whole",
	[PASS_REST] = "rest",
};

const char *explain_pass_name(const struct asked *a)
{
	return passes[a->pass - 1];
}

static bool find_pass_operator(const struct asked *asked, const char *key,
			       struct explain_number *out)
{
	return take_node(asked, explain_pass_operator, key, out);
}

static bool find_pass_traffic(const struct asked *from, const char *key,
			      struct explain_number *out)
{
	struct asked asked = *from;
	int last;

	key = read_index(key, explain_pass_of(from)->cost.traffic_count, &asked.traffic,
			 &last);
	if (!key || last != asked.traffic)
		return false;
	if (strncmp(key, "by.", 3) == 0)
		return find_algorithm(&asked, key + 3, out);
	return take_node(&asked, explain_traffic, key, out);
}

/* Behind "mixed." */
static bool find_in_pass(const struct asked *from, const char *key,
			 struct explain_number *out)
{
	struct asked asked = *from;
	int first, last;

	if (strncmp(key, "traffic.", 8) == 0)
		return find_pass_traffic(from, key + 8, out);
	if (strncmp(key, "operators.", 10) != 0)
		return take_node(from, explain_pass_nodes, key, out);
	key = read_index(key + 10, explain_pass_of(from)->cost.operators, &first,
			 &last);
	return key &&
	       add_up(&asked, &asked.op, first, last, find_pass_operator, key, out);
}

/* "mixed.operators.3.seconds" */
static bool find_pass(const struct asked *from, const char *key,
		      struct explain_number *out)
{
	struct asked asked = *from;

	if (from->scenario->plan.mode == MODE_TRAINING || !explain_server(from)->legal)
		return false;
	for (int i = 0; i < PASS_COUNT; i++) {
		size_t length = strlen(passes[i]);

		if (strncmp(key, passes[i], length) != 0 || key[length] != '.')
			continue;
		asked.pass = i + 1;
		return explain_server(from)->pass[i].exists &&
		       find_in_pass(&asked, key + length + 1, out);
	}
	return false;
}

static bool find_model_kind(const struct asked *from, const char *key,
			    struct explain_number *out)
{
	struct asked asked = *from;
	int last;

	key = read_index(key, asked.scenario->model.kinds, &asked.kind, &last);
	return key && last == asked.kind &&
	       take_node(&asked, explain_model_kind, key, out);
}

static const struct {
	const char *prefix;
	bool (*find)(const struct asked *asked, const char *key,
		     struct explain_number *out);
	bool whole; /* the prefix is part of what is looked for */
} places[] = {
	{ "stages.", find_stage, false },    { "chunks.", find_chunk, false },
	{ "kinds.", find_part, true },       { "embedding.", find_part, true },
	{ "head.", find_part, true },        { "mtp.", find_part, true },
	{ "traffic.", find_traffic, false }, { "model.kinds.", find_model_kind, false },
	{ "passes.", find_pass, false },
};

static bool find_metric(const struct asked *from, const struct metric *metric,
			struct explain_number *out)
{
	const char *dot = strchr(metric->key, '.');
	struct asked asked = *from;

	out->form = metric->form;
	out->value = metric_get(asked.estimate, metric);
	for (int d = 0; dot && d < DIM_COUNT; d++) {
		const char *name = dimension_key((enum dimension)d);
		size_t length = (size_t)(dot - metric->key);

		if (strlen(name) != length || strncmp(name, metric->key, length) != 0)
			continue;
		asked.dimension = (enum dimension)d;
		out->row = find_in(&asked, explain_serving_dimensions,
				   explain_dimensions, dot + 1);
	}
	if (!dot)
		out->row =
			find_in(&asked, explain_serving, explain_totals, metric->key);
	/* of the whole model, though a stage has one of that name */
	if (strcmp(metric->group, "model") == 0 &&
	    strcmp(metric->key, "parameters") == 0)
		out->row = find_row(explain_totals, metric->key);
	if (!out->row && !dot)
		out->row = find_row(explain_run, metric->key);
	if (!out->row && !dot)
		out->row = find_row(explain_memory, metric->key);
	/* the memory of the fullest stage */
	asked.stage = asked.estimate->fullest_stage;
	asked.last = 0;
	out->asked = asked;
	return out->row;
}

bool explain_find(const struct asked *from, const char *key, struct explain_number *out)
{
	const struct metric *metric = metric_find(key);
	bool training = from->scenario->plan.mode == MODE_TRAINING;
	struct asked whole = *from;
	const struct asked *asked = &whole;

	whole.key = key;
	whole.place = 0;
	*out = (struct explain_number){ .asked = *asked };
	if (metric && metric->modes >> asked->scenario->plan.mode & 1)
		return find_metric(asked, metric, out);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		size_t length = strlen(places[i].prefix);

		if (strncmp(key, places[i].prefix, length) == 0 &&
		    places[i].find(asked, key + (places[i].whole ? 0 : length), out))
			return true;
	}
	if (take_node(asked, explain_model, key, out) ||
	    take_node(asked, explain_machine, key, out))
		return true;
	if (training && explain_step(asked) &&
	    (take_node(asked, explain_degrees_nodes, key, out) ||
	     take_node(asked, explain_states, key, out) ||
	     take_node(asked, explain_rates, key, out)))
		return true;
	if (!training && explain_server(asked)->legal &&
	    (take_node(asked, explain_serving_nodes, key, out) ||
	     take_node(asked, explain_serving_waits, key, out) ||
	     take_node(asked, explain_serving_plan, key, out)))
		return true;
	out->row = NULL;
	out->asked.last = 0;
	return explain_leaf_value(asked->scenario, key, &out->form, &out->value);
}
