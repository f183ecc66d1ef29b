/* schema.c - see schema.h. */
#include "presets/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/knob/knob.h"
#include "presets/report.h"

/* Members as "key:type", parted by blanks. A type is s(tring), n(umber), b(oolean),
 * o(bject of any keys), [shape], @shape, {type} for an object whose values are all of
 * it; "?" behind it: or null, "~" before the key: not always there. */
static const struct shape {
	const char *name, *members;
	bool closed; /* no other keys */
} shapes[] = {
	{ "problem",
	  "code:s severity:s text:s source:s nearest:{[any]} ~remedy:s "
	  "~remedies:[remedy]",
	  true },
	{ "remedy",
	  "knob:s value:s legal:b feasible:b ~tokens_per_second_per_gpu:n "
	  "~memory_bytes:n",
	  true },
	{ "named",
	  "name:s score:n step_seconds:n memory_bytes:n ~trust:s ~trust_lowered_by:s "
	  "stack_lacks:[text]",
	  true },
	{ "idea",
	  "name:s score:n step_seconds:n memory_bytes:n ~trust:s ~trust_lowered_by:s "
	  "stack_lacks:[text] rank:n as_fast:n alike:[named]",
	  true },
	{ "stage_memory",
	  "total_bytes:n? in_flight:n? weights_bytes:n? gradients_bytes:n? "
	  "optimizer_bytes:n? activations_bytes:n? buffers_bytes:n? "
	  "framework_bytes:n? allocated_bytes:n? reserved_bytes:n? "
	  "host_optimizer_bytes:n? host_activations_bytes:n? parameters:n? layers:n?",
	  false },
	{ "stage_time",
	  "forward_seconds:n? backward_seconds:n? busy_seconds:n? exposed_seconds:n? "
	  "idle_seconds:n? optimizer_seconds:n? recompute_seconds:n?",
	  false },
	{ "gpus", "degrees:n? legal:n? fits:n?", true },
	{ "term", "symbol:s value:any unit:s meaning:s ~key:s", false },
	{ "figure", "n:n median:n mean:n p90:n worst:n bias:n in_range:n", true },
	{ "calibrated", "experts:b by_runs:n before:@figure after:@figure", true },
	{ "source",
	  "source:s runs:n refused:n time:@figure time_dense:@figure "
	  "time_experts:@figure calibrated:[calibrated] "
	  "memory:@figure servers:[servers] fit:{n} ranking:{n}",
	  false },
	{ "servers", "kind:s figure:s errors:@figure", true },
	{ "row", "id:s software_version:s? feasible:b problems:[problem]", false },
	{ "point",
	  "gpus:n tokens_per_second:n tokens_per_second_per_gpu:n step_seconds:n "
	  "total_bytes:n plan:o",
	  false },
	{ "front", "kind:s points:[point]", false },
	{ "compared",
	  "name:s feasible:b problems:[problem] tokens_per_second_per_gpu:n? gain:n? "
	  "assumed:o",
	  false },
	{ "turned", "key:s values:[text]", false },
	{ "difference", "key:s label:s values:[number] more_than_first:[number]",
	  false },
	{ "differences", "rows:[difference] sum:@difference", false },
	{ "preset", "name:s title:s also:[text] hf_id:s? ~severity:s ~source:s", true },
	{ "lesson_step",
	  "~text:s ~view:s ~focus:s ~explain:s ~set:o ~ask:@lesson_ask ~turn:o "
	  "~overflow:b ~goal:s ~unlock:[text] ~best:o ~hints:[text] ~reveal:s "
	  "~why:@lesson_why ~measured:[text]",
	  true },
	{ "lesson_ask",
	  "question:s ~value:any ~of:any ~best:s ~most:any ~least:any ~unit:s "
	  "~tolerance:any ~expect:any ~within:any ~cuts:[number] ~choices:[text] "
	  "~values:[any] ~wrong:o",
	  true },
	{ "lesson_why", "question:s choices:[text] right:n because:s", true },
};

/* One for each command; those with the members of an estimate have them from the
 * metric table. */
static const struct output {
	const char *name, *title, *members;
	bool estimate; /* the members of a scenario's estimate too */
	bool closed;   /* no other keys */
} outputs[] = {
	{ "eval", "one estimate: shardscope eval --json",
	  "~assumed:o stack_lacks:[text] ~without_effect:[text]", true, false },
	{ "check", "all problems of a plan: shardscope check --json",
	  "ok:b smallest_gpus:@gpus assumed:o", true, false },
	{ "sweep", "one line of shardscope sweep --json",
	  "assumed:o stack_lacks:[text]", true, false },
	{ "search", "the best plans: shardscope search --json",
	  "best:@plan? top:[plan] ideas:[idea] trust_asked:s ~nearest:@plan assumed:o objective:s candidates:n "
	  "explored:n pruned:{n} rejected:{n} proof:s seconds:n ~pareto:@front "
	  "~robust:o ~less_known:@plan ~questions:[any] ~misses:o ~why:o",
	  false, false },
	{ "plan", "one of the plans that a search finds",
	  "score:n ~keeps_goals:b ~keeps_up:b ~trust:s ~trust_lowered_by:s "
	  "stack_lacks:[text]",
	  true, false },
	{ "explain", "where a number comes from: shardscope explain KEY --json",
	  "key:s title:s value:any unit:s formula:s? terms:[term] ~beside:[term] "
	  "assumption:s? source:s? ~assumed:o",
	  false, false },
	{ "validate", "predicted against measured runs: shardscope validate --json",
	  "sources:[source] total:@source rows:[row]", false, false },
	{ "compare", "where plans differ: shardscope compare A B --json",
	  "plans:[compared] knobs:[turned] seconds:@differences bytes:@differences",
	  false, false },
	{ "list", "what there is of a kind: shardscope list models --json",
	  "kind:s presets:[preset]", false, false },
	{ "lesson", "a lesson as it is written: presets/lessons/README.md",
	  "format:n title:s ~number:n ~idea:s ~sources:[text] scenario:o ~vary:o "
	  "~where:any steps:[lesson_step]",
	  false, true },
};

enum {
	SHAPES = sizeof shapes / sizeof shapes[0],
	OUTPUTS = sizeof outputs / sizeof outputs[0]
};

const char *schema_name(int index)
{
	return index >= 0 && index < OUTPUTS ? outputs[index].name : NULL;
}

static cJSON *typed(const char *type, bool null)
{
	cJSON *node = cJSON_CreateObject(), *list;

	if (!null) {
		cJSON_AddStringToObject(node, "type", type);
		return node;
	}
	list = cJSON_AddArrayToObject(node, "type");
	cJSON_AddItemToArray(list, cJSON_CreateString(type));
	cJSON_AddItemToArray(list, cJSON_CreateString("null"));
	return node;
}

static cJSON *reference(const char *name, size_t length)
{
	cJSON *node = cJSON_CreateObject();
	char text[64];

	snprintf(text, sizeof text, "#/$defs/%.*s", (int)length, name);
	cJSON_AddStringToObject(node, "$ref", text);
	return node;
}

static cJSON *or_null(cJSON *node)
{
	cJSON *both = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(both, "anyOf");

	cJSON_AddItemToArray(list, node);
	cJSON_AddItemToArray(list, typed("null", false));
	return both;
}

/* What one of the types of the notation is; the text is not touched. */
static cJSON *type_of(const char *text, size_t length)
{
	bool null = length > 0 && text[length - 1] == '?';
	cJSON *node;

	length -= null;
	switch (text[0]) {
	case 's': return typed("string", null);
	case 'n': return typed("number", null);
	case 'b': return typed("boolean", null);
	case 'o': return typed("object", null);
	case '@':
		node = reference(text + 1, length - 1);
		return null ? or_null(node) : node;
	case '[':
		node = typed("array", null);
		if (strncmp(text, "[text]", 6) == 0)
			cJSON_AddItemToObject(node, "items", typed("string", false));
		else if (strncmp(text, "[number]", 8) == 0)
			cJSON_AddItemToObject(node, "items", typed("number", true));
		else if (strncmp(text, "[any]", 5) != 0)
			cJSON_AddItemToObject(node, "items",
					      reference(text + 1, length - 2));
		return node;
	case '{':
		node = typed("object", null);
		cJSON_AddItemToObject(node, "additionalProperties",
				      type_of(text + 1, length - 2));
		return node;
	default: return cJSON_CreateObject(); /* any */
	}
}

static void add_members(cJSON *properties, cJSON *required, const char *members)
{
	for (const char *at = members; *at != '\0'; at += strspn(at, " ")) {
		bool maybe = *at == '~';
		const char *key = at + maybe, *colon = strchr(key, ':');
		size_t length = strcspn(colon + 1, " ");
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)(colon - key), key);
		cJSON_AddItemToObject(properties, name, type_of(colon + 1, length));
		if (!maybe)
			cJSON_AddItemToArray(required, cJSON_CreateString(name));
		at = colon + 1 + length;
	}
}

static cJSON *object(cJSON **properties, cJSON **required, bool closed)
{
	cJSON *node = typed("object", false);

	*properties = cJSON_AddObjectToObject(node, "properties");
	*required = cJSON_AddArrayToObject(node, "required");
	if (closed)
		cJSON_AddBoolToObject(node, "additionalProperties", false);
	return node;
}

static cJSON *shape_of(const char *members, bool closed)
{
	cJSON *properties, *required;
	cJSON *node = object(&properties, &required, closed);

	add_members(properties, required, members);
	return node;
}

static cJSON *knob_type(const struct knob *knob)
{
	cJSON *node, *words;

	if (knob->type == KNOB_INT || knob->type == KNOB_REAL)
		return typed("number", true);
	if (knob->type == KNOB_BOOL)
		return typed("boolean", false);
	node = typed("string", false);
	if (!knob->words || knob->type != KNOB_WORD)
		return node;
	words = cJSON_AddArrayToObject(node, "enum");
	for (int i = 0; knob->words[i]; i++)
		cJSON_AddItemToArray(words, cJSON_CreateString(knob->words[i]));
	return node;
}

/* Every knob by its key. */
static cJSON *scenario(void)
{
	cJSON *properties, *required;
	cJSON *node = object(&properties, &required, true);

	add_members(properties, required, "model:s cluster:s stack:s dp:n?");
	for (int i = 0; i < knob_count(); i++) {
		cJSON *type = knob_type(&knob_table[i]);

		cJSON_AddStringToObject(type, "description", knob_table[i].help);
		cJSON_AddItemToObject(properties, knob_table[i].key, type);
		cJSON_AddItemToArray(required, cJSON_CreateString(knob_table[i].key));
	}
	return node;
}

/* The object of that key in another, made where it is not there yet. */
static cJSON *group_of(cJSON *properties, const char *key)
{
	cJSON *node = cJSON_GetObjectItem(properties, key);

	if (!node) {
		node = typed("object", true);
		cJSON_AddObjectToObject(node, "properties");
		cJSON_AddBoolToObject(node, "additionalProperties", false);
		cJSON_AddItemToObject(properties, key, node);
	}
	return cJSON_GetObjectItem(node, "properties");
}

static void add_metric(cJSON *properties, const struct metric *metric)
{
	const char *dot = strchr(metric->key, '.');
	cJSON *type = typed("number", true);
	char part[16];

	cJSON_AddStringToObject(type, "description", metric->label);
	if (metric->group[0] != '\0')
		properties = group_of(properties, metric->group);
	if (dot) {
		snprintf(part, sizeof part, "%.*s", (int)(dot - metric->key),
			 metric->key);
		properties = group_of(properties, part);
	}
	cJSON_AddItemToObject(properties, dot ? dot + 1 : metric->key, type);
}

/* The members of `eval --json`, in both modes. */
static void add_estimate(cJSON *properties, cJSON *required)
{
	cJSON *unused = cJSON_CreateArray();

	add_members(properties, required,
		    "scenario:@scenario feasible:b unsure:b extrapolates:s? "
		    "problems:[problem]");
	for (int i = 0; i < metric_count(); i++)
		add_metric(properties, &metric_table[i]);
	add_members(group_of(properties, "model"), unused, "approximate:s?");
	add_members(group_of(properties, "memory"), unused, "stages:[stage_memory]");
	add_members(group_of(properties, "time"), unused,
		    "stages:[stage_time] bound:s");
	add_members(group_of(properties, "throughput"), unused,
		    "concurrency:n? goodput:n?");
	cJSON_Delete(unused);
	for (const char *const *key =
		     (const char *const[]){ "model", "memory", "time", "throughput",
					    "communication", NULL };
	     *key; key++)
		cJSON_AddItemToArray(required, cJSON_CreateString(*key));
}

static cJSON *output_of(const struct output *output)
{
	cJSON *properties, *required;
	cJSON *node = object(&properties, &required, output->closed);

	if (output->estimate)
		add_estimate(properties, required);
	add_members(properties, required, output->members);
	cJSON_AddStringToObject(node, "title", output->title);
	return node;
}

static const struct output *find(const char *name)
{
	for (int i = 0; i < OUTPUTS; i++)
		if (strcmp(outputs[i].name, name) == 0)
			return &outputs[i];
	return NULL;
}

char *schema_write(const char *name)
{
	const struct output *output = find(name);
	cJSON *root, *defs;

	if (!output)
		return NULL;
	root = output_of(output);
	cJSON_AddStringToObject(root, "$schema",
				"https://json-schema.org/draft/2020-12/schema");
	defs = cJSON_AddObjectToObject(root, "$defs");
	cJSON_AddItemToObject(defs, "scenario", scenario());
	for (int i = 0; i < SHAPES; i++)
		cJSON_AddItemToObject(defs, shapes[i].name,
				      shape_of(shapes[i].members, shapes[i].closed));
	if (strcmp(name, "search") == 0)
		cJSON_AddItemToObject(defs, "plan", output_of(find("plan")));
	return report_print(root, false);
}
