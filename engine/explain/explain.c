/* explain.c - finds the row of a number and fills it; see explain.h. */
#include "engine/explain/explain.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/formula.h"
#include "engine/explain/row.h"

void explain_link(struct explanation *out, const char *symbol, const char *meaning,
		  enum form form, double value, const char *key)
{
	int room = (int)(sizeof out->term / sizeof out->term[0]);

	if (out->terms == room)
		return;
	out->term[out->terms++] =
		(struct explanation_term){ symbol, meaning, form, value, key };
}

void explain_term(struct explanation *out, const char *symbol, const char *meaning,
		  enum form form, double value)
{
	explain_link(out, symbol, meaning, form, value, NULL);
}

/* Whether a reader who computes the formula with the terms gets the number. */
static bool computes(const struct explanation *x)
{
	struct formula_symbol symbols[sizeof x->term / sizeof x->term[0]];
	double value;

	for (int i = 0; i < x->terms; i++)
		symbols[i] =
			(struct formula_symbol){ x->term[i].symbol, x->term[i].value };
	return formula_evaluate(x->formula, symbols, x->terms, &value, NULL) &&
	       fabs(value - x->value) <= 1e-6 * fabs(x->value);
}

static const struct explain_row *find(const struct explain_row *rows, const char *key)
{
	for (; rows->key; rows++)
		if (strcmp(rows->key, key) == 0)
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
		return find(training, key);
	row = find(serving, key);
	if (!row)
		row = find(explain_serving_memory, key);
	return row ? row : find(training, key);
}

static bool fill(const struct explain_row *row, const struct asked *asked,
		 enum form form, double value, struct explanation *out)
{
	if (!row)
		return false;
	out->title = row->title;
	out->formula = row->formula;
	out->assumption = row->assumption;
	out->source = row->source;
	out->form = form;
	out->value = value;
	out->terms = 0;
	row->fill(asked, out);
	out->computes = computes(out);
	return true;
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
		if (strcmp(members[i].key, key) == 0)
			return &members[i];
	return NULL;
}

static double value_at(const void *base, const struct member *member)
{
	double value;

	memcpy(&value, (const char *)base + member->offset, sizeof value);
	return value;
}

/* "stages.3.total_bytes" */
static bool explain_stage(struct asked *asked, const char *key, struct explanation *out)
{
	const struct estimate *e = asked->estimate;
	const struct member *member;
	char *end;
	long stage = strtol(key, &end, 10);

	if (end == key || *end != '.' || stage < 0 || stage >= e->stages || !e->legal)
		return false;
	asked->stage = (int)stage;
	member = find_member(memory_members,
			     sizeof memory_members / sizeof memory_members[0], end + 1);
	if (member)
		return fill(
			find_in(asked, explain_serving_memory, explain_memory, end + 1),
			asked, member->form, value_at(&e->stage[stage], member), out);
	member = find_member(time_members, sizeof time_members / sizeof time_members[0],
			     end + 1);
	/* a server has no step to divide */
	return member && asked->scenario->plan.mode == MODE_TRAINING &&
	       fill(find(explain_times, end + 1), asked, member->form,
		    value_at(&e->stage_time[stage], member), out);
}

static bool explain_dimension(struct asked *asked, const struct metric *metric,
			      struct explanation *out)
{
	const char *dot = strchr(metric->key, '.');
	size_t length = (size_t)(dot - metric->key);

	for (int d = 0; d < DIM_COUNT; d++) {
		const char *name = dimension_key((enum dimension)d);

		if (strlen(name) != length || strncmp(name, metric->key, length) != 0)
			continue;
		asked->dimension = (enum dimension)d;
		return fill(find_in(asked, explain_serving_dimensions,
				    explain_dimensions, dot + 1),
			    asked, metric->form, metric_get(asked->estimate, metric),
			    out);
	}
	return false;
}

bool explain(const struct scenario *scenario, const struct estimate *estimate,
	     const char *key, struct explanation *out)
{
	struct asked asked = { scenario, estimate, DIM_TP, estimate->fullest_stage };
	const struct metric *metric = metric_find(key);
	const struct explain_row *row;

	if (strncmp(key, "stages.", 7) == 0)
		return explain_stage(&asked, key + 7, out);
	if (!metric)
		return explain_leaf(scenario, key, out);
	if (strchr(metric->key, '.'))
		return explain_dimension(&asked, metric, out);
	row = find_in(&asked, explain_serving, explain_totals, key);
	/* of the whole model, though a stage has one of that name */
	if (strcmp(metric->group, "model") == 0 && strcmp(key, "parameters") == 0)
		row = find(explain_totals, key);
	if (!row)
		row = find(explain_memory, key);
	return fill(row, &asked, metric->form, metric_get(estimate, metric), out);
}
