/* report.c - see report.h. */
#include "presets/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/knob/knob.h"
#include "engine/rules/ability.h"
#include "engine/trust/trust.h"

static void add_number(cJSON *object, const char *key, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

static void add_knob(cJSON *object, const struct scenario *s, const struct knob *knob)
{
	char text[MAX_LAYOUT + 8];

	switch (knob->type) {
	case KNOB_INT:
	case KNOB_REAL: add_number(object, knob->key, knob_get(s, knob)); break;
	case KNOB_BOOL:
		cJSON_AddBoolToObject(object, knob->key, knob_get(s, knob) != 0);
		break;
	default:
		knob_print(s, knob, text, sizeof text);
		cJSON_AddStringToObject(object, knob->key, text);
	}
}

cJSON *report_scenario(const struct scenario *scenario)
{
	cJSON *object = cJSON_CreateObject();
	int64_t dp = scenario_dp(scenario);

	cJSON_AddStringToObject(object, "model", scenario->model.name);
	cJSON_AddStringToObject(object, "cluster", scenario->cluster.name);
	cJSON_AddStringToObject(object, "stack", scenario->stack.name);
	for (int i = 0; i < knob_count(); i++)
		add_knob(object, scenario, &knob_table[i]);
	/* unequal pools of servers have no one number of replicas */
	add_number(object, "dp", dp > 0 ? (double)dp : NAN);
	return object;
}

void report_start(cJSON *root, const struct start *start,
		  const struct scenario *scenario)
{
	cJSON *object = cJSON_AddObjectToObject(root, "assumed");

	if (start->cluster)
		cJSON_AddStringToObject(object, "cluster", scenario->cluster.name);
	if (start->stack)
		cJSON_AddStringToObject(object, "stack", scenario->stack.name);
	for (int i = 0; i < start->chosen; i++)
		add_knob(object, scenario, start->choice[i]);
	if (start_acceptance(scenario) > 0 &&
	    !cJSON_HasObjectItem(object, "acceptance"))
		cJSON_AddNumberToObject(object, "acceptance",
					start_acceptance(scenario));
	if (start_believes_kernels(scenario))
		cJSON_AddStringToObject(object, "kernels",
					"as on measured accelerators");
	if (start_believes_links(scenario))
		cJSON_AddStringToObject(object, "links", "as on measured machines");
	if (start->others[0] != '\0')
		cJSON_AddStringToObject(object, "others", start->others);
}

void report_idle(cJSON *root, const struct knob *const knobs[], int count)
{
	cJSON *list = count > 0 ? cJSON_AddArrayToObject(root, "without_effect") : NULL;

	for (int i = 0; i < count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(knobs[i]->key));
}

void report_lacks(cJSON *root, const struct scenario *scenario)
{
	cJSON *list = cJSON_AddArrayToObject(root, "stack_lacks");
	struct lacks lacks;
	char text[512];

	scenario_lacks(scenario, &lacks);
	for (int i = 0; i < lacks.count; i++) {
		lack_text(scenario, &lacks.item[i], text, sizeof text);
		cJSON_AddItemToArray(list, cJSON_CreateString(text));
	}
}

cJSON *report_nearest(const struct finding *finding)
{
	cJSON *object = cJSON_CreateObject(), *list;
	const struct knob *knob = finding->knob ? knob_find(finding->knob) : NULL;

	if (!knob)
		return object;
	list = cJSON_AddArrayToObject(object, knob->key);
	for (int i = 0; i < finding->nearest_count; i++) {
		char text[64];

		if (knob->type == KNOB_INT || knob->type == KNOB_REAL) {
			cJSON_AddItemToArray(list,
					     cJSON_CreateNumber(finding->nearest[i]));
			continue;
		}
		knob_print_value(knob, finding->nearest[i], text, sizeof text);
		cJSON_AddItemToArray(list, cJSON_CreateString(text));
	}
	return object;
}

static cJSON *problem(const char *code, const char *severity, const char *text,
		      const char *source)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "code", code);
	cJSON_AddStringToObject(object, "severity", severity);
	cJSON_AddStringToObject(object, "text", text);
	cJSON_AddStringToObject(object, "source", source);
	return object;
}

/* Not a rule of any stack: the sum of what a stage holds is above the memory. */
static void add_memory_problem(cJSON *list, const struct estimate *e)
{
	char text[200], total[32], capacity[32];
	cJSON *object;

	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	snprintf(text, sizeof text, "stage %d %s %s of %s%s", e->fullest_stage,
		 e->unsure ? "may need" : "needs", total, capacity,
		 e->unsure ? ": nobody measured this accelerator" : "");
	object = problem("OOM", e->unsure ? "warning" : "error", text,
			 "sum of the fullest stage");
	cJSON_AddItemToObject(object, "nearest", cJSON_CreateObject());
	cJSON_AddItemToArray(list, object);
}

cJSON *report_problems(const struct estimate *e)
{
	const struct findings *problems = &e->problems;
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < problems->count; i++) {
		const struct finding *f = &problems->item[i];
		char text[256], source[MAX_NOTE + 16];
		cJSON *object;

		finding_text(f, text, sizeof text);
		rule_source(f->rule, source, sizeof source);
		object = problem(f->rule->code, severity_label(f->rule->severity), text,
				 source);
		cJSON_AddItemToObject(object, "nearest", report_nearest(f));
		cJSON_AddItemToArray(list, object);
	}
	if (estimate_is_too_large(e))
		add_memory_problem(list, e);
	return list;
}

/* "tp.bytes" goes into an object tp of the group. */
static void add_metric(cJSON *root, const struct metric *metric, double value)
{
	cJSON *object = root;
	const char *dot = strchr(metric->key, '.');
	char part[16];

	if (metric->group[0] != '\0') {
		object = cJSON_GetObjectItem(root, metric->group);
		if (!object)
			object = cJSON_AddObjectToObject(root, metric->group);
	}
	if (dot && (size_t)(dot - metric->key) < sizeof part) {
		memcpy(part, metric->key, (size_t)(dot - metric->key));
		part[dot - metric->key] = '\0';
		root = object;
		object = cJSON_GetObjectItem(root, part);
		if (!object)
			object = cJSON_AddObjectToObject(root, part);
	}
	add_number(object, dot ? dot + 1 : metric->key, value);
}

static void add_metrics(cJSON *root, int mode, const struct estimate *estimate)
{
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];

		if (!(metric->modes & 1 << mode))
			continue;
		if (estimate->legal || strcmp(metric->group, "model") == 0)
			add_metric(root, metric, metric_get(estimate, metric));
		else if (metric->group[0] == '\0')
			cJSON_AddNullToObject(root, metric->key);
		else if (!cJSON_GetObjectItem(root, metric->group))
			cJSON_AddNullToObject(root, metric->group);
	}
}

static cJSON *memory_of_stage(const struct stage_memory *m)
{
	cJSON *o = cJSON_CreateObject();

	add_number(o, "total_bytes", m->total_bytes);
	add_number(o, "in_flight", m->in_flight);
	add_number(o, "weights_bytes", m->weights_bytes);
	add_number(o, "gradients_bytes", m->gradients_bytes);
	add_number(o, "optimizer_bytes", m->optimizer_bytes);
	add_number(o, "activations_bytes", m->activations_bytes);
	add_number(o, "buffers_bytes", m->buffers_bytes);
	add_number(o, "framework_bytes", m->framework_bytes);
	add_number(o, "allocated_bytes", m->allocated_bytes);
	add_number(o, "reserved_bytes", m->reserved_bytes);
	add_number(o, "host_optimizer_bytes", m->host_optimizer_bytes);
	add_number(o, "host_activations_bytes", m->host_activations_bytes);
	add_number(o, "parameters", m->parameters);
	add_number(o, "layers", m->layers);
	return o;
}

static cJSON *time_of_stage(const struct stage_time *t)
{
	cJSON *o = cJSON_CreateObject();

	add_number(o, "forward_seconds", t->forward_seconds);
	add_number(o, "backward_seconds", t->backward_seconds);
	add_number(o, "busy_seconds", t->busy_seconds);
	add_number(o, "exposed_seconds", t->exposed_seconds);
	add_number(o, "idle_seconds", t->idle_seconds);
	add_number(o, "optimizer_seconds", t->optimizer_seconds);
	add_number(o, "recompute_seconds", t->recompute_seconds);
	return o;
}

static void add_stages(cJSON *root, int mode, const struct estimate *e)
{
	cJSON *memory, *time;

	if (!e->legal)
		return;
	memory = cJSON_AddArrayToObject(cJSON_GetObjectItem(root, "memory"), "stages");
	for (int i = 0; i < e->stages; i++)
		cJSON_AddItemToArray(memory, memory_of_stage(&e->stage[i]));
	if (mode == MODE_INFERENCE)
		return; /* a server has no step that its stages share */
	time = cJSON_AddArrayToObject(cJSON_GetObjectItem(root, "time"), "stages");
	for (int i = 0; i < e->stages; i++)
		cJSON_AddItemToArray(time, time_of_stage(&e->stage_time[i]));
}

/* Words, and the short names that scripts know. */
static void add_serving(cJSON *root, const struct estimate *e)
{
	cJSON *time = cJSON_GetObjectItem(root, "time");
	cJSON *rate = cJSON_GetObjectItem(root, "throughput");
	const struct serving_estimate *v = &e->serving;

	cJSON_AddStringToObject(time, "bound", bound_label((enum bound)v->bound));
	add_number(rate, "concurrency", v->concurrency);
	add_number(rate, "goodput", v->goodput);
}

/* What of the plan nobody measured, or null; of servers on stacks that only train
 * nothing is known. */
static void add_extrapolation(cJSON *root, const struct scenario *scenario)
{
	struct doubts doubts;
	char text[512];

	bool known = scenario->plan.mode == MODE_TRAINING || scenario->stack.serves;

	if (known && trust_of(scenario, &doubts) != TRUST_MEASURED &&
	    trust_text(scenario, &doubts, text, sizeof text) > 0)
		cJSON_AddStringToObject(root, "extrapolates", text);
	else
		cJSON_AddNullToObject(root, "extrapolates");
}

cJSON *report_object(const struct scenario *scenario, const struct estimate *estimate)
{
	cJSON *root = cJSON_CreateObject(), *model;
	const char *approximate = scenario->model.approximate;

	cJSON_AddItemToObject(root, "scenario", report_scenario(scenario));
	cJSON_AddBoolToObject(root, "feasible", estimate->feasible);
	cJSON_AddBoolToObject(root, "unsure", estimate->unsure);
	add_extrapolation(root, scenario);
	cJSON_AddItemToObject(root, "problems", report_problems(estimate));
	add_metrics(root, scenario->plan.mode, estimate);
	if (scenario->plan.mode == MODE_INFERENCE && estimate->legal)
		add_serving(root, estimate);
	model = cJSON_GetObjectItem(root, "model");
	if (approximate[0] != '\0')
		cJSON_AddStringToObject(model, "approximate", approximate);
	else
		cJSON_AddNullToObject(model, "approximate");
	add_stages(root, scenario->plan.mode, estimate);
	return root;
}

/* cJSON leaves out what it has no memory for, and says nothing. */
static bool is_short;

static void *take_memory(size_t size)
{
	void *memory = malloc(size);

	is_short = is_short || !memory;
	return memory;
}

void report_watch_memory(void)
{
	cJSON_InitHooks(&(cJSON_Hooks){ take_memory, free });
}

void report_falls_short(void)
{
	is_short = true;
}

bool report_is_short(void)
{
	return is_short || error_ran_out_of_memory();
}

char *report_print(cJSON *root, bool one_line)
{
	char *text = is_short   ? NULL
		     : one_line ? cJSON_PrintUnformatted(root)
				: cJSON_Print(root);
	char *line = text ? malloc(strlen(text) + 2) : NULL;

	cJSON_Delete(root);
	is_short = is_short || !line;
	if (line)
		sprintf(line, "%s\n", text);
	free(text);
	return line;
}

char *report_json_line(const struct scenario *scenario, const struct estimate *estimate,
		       const struct start *start)
{
	cJSON *root = report_object(scenario, estimate);

	report_start(root, start, scenario);
	report_lacks(root, scenario);
	return report_print(root, true);
}
