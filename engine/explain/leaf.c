/* leaf.c - where explanations end: what a person set, and what a preset states. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain/constants.h"
#include "engine/explain/row.h"
#include "engine/knob/knob.h"

struct leaf {
	const char *title, *assumption, *source;
	enum form form;
	double value;
};

static double value_of(const void *base, const struct constant *constant)
{
	const char *at = (const char *)base + constant->offset;
	int64_t whole;
	double real;
	bool flag;

	switch (constant->type) {
	case CONSTANT_WHOLE: memcpy(&whole, at, sizeof whole); return (double)whole;
	case CONSTANT_FLAG: memcpy(&flag, at, sizeof flag); return flag;
	default: memcpy(&real, at, sizeof real); return real;
	}
}

static bool take_listed(const void *base, const struct constant *constants,
			const char *key, struct leaf *out)
{
	for (; constants->key; constants++) {
		if (strcmp(constants->key, key) != 0)
			continue;
		out->title = constants->title;
		out->form = constants->form;
		out->value = value_of(base, constants);
		return true;
	}
	return false;
}

/* "model.kinds.2.heads" */
static bool take_of_kind(const struct scenario *scenario, const char *key,
			 struct leaf *out)
{
	const char prefix[] = "model.kinds.";
	char *end;
	long kind;

	if (strncmp(key, prefix, sizeof prefix - 1) != 0)
		return false;
	key += sizeof prefix - 1;
	kind = strtol(key, &end, 10);
	return end != key && *end == '.' && kind >= 0 && kind < scenario->model.kinds &&
	       take_listed(&scenario->model.kind[kind], explain_kind_constants, end + 1,
			   out);
}

/* "cluster.peak_flops.bf16" */
static bool take_of_array(const struct scenario *scenario, const char *key,
			  struct leaf *out)
{
	for (const struct constant_array *a = explain_arrays; a->key; a++) {
		size_t length = strlen(a->key);
		const struct knob *knob = knob_find(a->knob);

		for (int i = 0; strncmp(key, a->key, length) == 0 && knob->words[i];
		     i++) {
			if (strcmp(knob->words[i], key + length) != 0)
				continue;
			out->title = a->title;
			out->form = a->form;
			memcpy(&out->value,
			       (const char *)scenario + a->offset +
				       (size_t)i * sizeof(double),
			       sizeof(double));
			return true;
		}
	}
	return false;
}

static bool take_constant(const struct scenario *scenario, const char *key,
			  struct leaf *out)
{
	if (!take_listed(scenario, explain_constants, key, out) &&
	    !take_of_kind(scenario, key, out) && !take_of_array(scenario, key, out))
		return false;
	out->assumption = "A constant of the preset, or a measured value; it is not "
			  "computed here.";
	out->source =
		strncmp(key, "model.", 6) == 0
			? "the model's file in presets/models, which names its source"
		: strncmp(key, "cluster.", 8) == 0
			? "the cluster's file in presets/clusters, beside the constant"
		: strncmp(key, "accuracy.", 9) == 0
			? "presets/accuracy/training.yaml, beside the constant"
		: strncmp(key, "habits.", 7) == 0
			? "presets/habits/training.yaml, beside the constant"
			: "the stack's file in presets/stacks, beside the constant";
	return true;
}

/* Knobs that are properties of users or of a router: where others measured theirs, or
 * where it is written what follows from them. */
static const struct {
	const char *key, *source;
} published[] = {
	{ "shared_prefix",
	  "measure your own; others: 56 % of the tokens of DeepSeek's day "
	  "(open-infra-index, day 6), 37 % of Mooncake's conversations and 65 % "
	  "of its synthetic log, in a cache that keeps everything "
	  "(kvcache-ai/Mooncake, FAST25-release/traces)" },
	{ "host_prefix",
	  "measure your own; others: see shared prefix, less what the GPU's own "
	  "cache finds" },
	{ "host_kv",
	  "vLLM kv_offloading_size (vllm/config/cache.py), SGLang hicache_size "
	  "(srt/mem_cache/memory_pool_host.py), TensorRT-LLM host_cache_size "
	  "(KvCacheConfig), LMCache max_local_cpu_size" },
	{ "routing_skew",
	  "measure your own (EPLB's counters show the loads); the busiest of n "
	  "ranks: Blom 1958, Statistical Estimates and Transformed "
	  "Beta-Variables, 6.9" },
};

/* Where the stack's source says which values it has, if the sheet speaks of them. */
static const char *sheet_source(const struct scenario *scenario,
				const struct knob *knob)
{
	const struct ability_sheet *sheet = &scenario->stack.abilities;

	for (int i = 0; i < sheet->count; i++)
		if (sheet->row[i].has.knob > 0 &&
		    &knob_table[sheet->row[i].has.knob - 1] == knob)
			return sheet->row[i].source;
	for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
		if (strcmp(published[i].key, knob->key) == 0)
			return published[i].source;
	return "a knob: yours to turn";
}

static bool take_knob(const struct scenario *scenario, const char *key,
		      struct leaf *out)
{
	const struct knob *knob = knob_find(key);

	if (!knob)
		return false;
	out->title = knob->label;
	out->form = knob->type == KNOB_REAL ? FORM_REAL : FORM_COUNT;
	out->value = knob_get(scenario, knob);
	out->assumption = knob->help;
	out->source = NULL;
	return true;
}

static bool find_leaf(const struct scenario *scenario, const char *key,
		      struct leaf *out)
{
	return take_constant(scenario, key, out) || take_knob(scenario, key, out);
}

bool explain_leaf_value(const struct scenario *scenario, const char *key,
			enum form *form, double *value)
{
	struct leaf leaf;

	if (!find_leaf(scenario, key, &leaf))
		return false;
	*form = leaf.form;
	*value = leaf.value;
	return true;
}

bool explain_leaf(const struct asked *asked, const char *key, struct explanation *out)
{
	const struct knob *knob = knob_find(key);
	struct leaf leaf;

	if (!find_leaf(asked->scenario, key, &leaf))
		return false;
	out->formula[0] = '\0';
	explain_say(out, knob ? "none: a knob that you turn"
			      : "none: a constant of its source");
	out->title = leaf.title;
	out->assumption = leaf.assumption;
	/* the words of a sheet are the caller's, who has them longer than the facts */
	out->source = knob ? sheet_source(asked->given, knob) : leaf.source;
	out->form = leaf.form;
	out->value = leaf.value;
	out->computes = false;
	out->terms = out->besides = 0;
	return true;
}
