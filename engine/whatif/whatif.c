/* whatif.c - see whatif.h: the same estimate with one knob turned. */
#include "engine/whatif/whatif.h"

#include <math.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/rules/ability.h"
#include "engine/rules/legality.h"
#include "engine/train/train.h"

static void fill_value(const struct scenario *scenario, struct estimate *scratch,
		       const struct metric *metric, struct whatif_value *out)
{
	out->legal = out->fits = false;
	out->tokens_per_second_per_gpu = 0;
	out->memory_bytes = out->step_seconds = out->moved = 0;
	out->problem = (struct finding){ 0 };
	if (scenario_first_problem(scenario, &out->problem))
		return;
	scenario_figures(scenario, scratch);
	out->legal = scratch->legal;
	out->fits = scratch->fits;
	if (!scratch->legal) {
		if (scratch->problems.count > 0)
			out->problem = scratch->problems.item[0];
		return;
	}
	out->tokens_per_second_per_gpu = scratch->tokens_per_second_per_gpu;
	out->memory_bytes = scratch->memory.total_bytes;
	out->step_seconds = scratch->step_seconds;
	out->moved = metric_get(scratch, metric);
}

/* A server has no run: its money is that of a token. */
const struct metric *whatif_metric(const struct scenario *scenario,
				   const struct knob *knob)
{
	bool serves = scenario->plan.mode == MODE_INFERENCE;
	const char *key = knob->moves;

	if (key && serves)
		key = strcmp(key, "run_joules") == 0 ? "joules_per_token"
						     : "dollars_per_million_tokens";
	if (!key)
		key = serves ? "output_tokens_per_second_per_gpu"
			     : "tokens_per_second_per_gpu";
	return metric_find(key);
}

/* What is kept of this value, if anything. */
static const struct whatif_value *find_kept(const struct whatif *kept, double value)
{
	for (int i = 0; kept && i < kept->count; i++)
		if (kept->item[i].value == value)
			return &kept->item[i];
	return NULL;
}

static void fill_strip(const struct scenario *scenario, const struct knob *knob,
		       struct estimate *scratch, const struct whatif *kept,
		       struct whatif *out)
{
	struct scenario turned = *scenario;
	double values[MAX_VALUES];

	out->metric = whatif_metric(scenario, knob);
	out->count = knob_values(scenario, knob, values, &out->present);
	for (int i = 0; i < out->count; i++) {
		const struct whatif_value *known = find_kept(kept, values[i]);
		bool sets;

		if (known)
			out->item[i] = *known;
		out->item[i].value = values[i];
		out->item[i].lacks = NULL;
		sets = knob_set(&turned, knob, values[i]);
		if (sets)
			out->item[i].lacks = ability_turned(scenario, &turned, knob);
		if (known)
			continue;
		if (sets)
			fill_value(&turned, scratch, out->metric, &out->item[i]);
		else
			out->item[i].legal = out->item[i].fits = false;
	}
}

void whatif_knob(const struct scenario *scenario, const struct knob *knob,
		 struct estimate *scratch, struct whatif *out)
{
	fill_strip(scenario, knob, scratch, NULL, out);
}

/* Whether nothing but the knob has turned since. */
static bool is_same_family(const struct scenario *scenario, const struct knob *knob,
			   const struct whatif_kept *kept)
{
	struct scenario turned = *scenario;

	return kept->knob == knob && kept->strip.count > 0 &&
	       kept->strip.metric == whatif_metric(scenario, knob) &&
	       knob_set(&turned, knob, kept->strip.item[0].value) &&
	       memcmp(&turned, &kept->base, sizeof turned) == 0;
}

void whatif_knob_again(const struct scenario *scenario, const struct knob *knob,
		       struct estimate *scratch, struct whatif_kept *kept,
		       struct whatif *out)
{
	bool same = is_same_family(scenario, knob, kept);

	fill_strip(scenario, knob, scratch, same ? &kept->strip : NULL, out);
	kept->knob = NULL;
	kept->strip = *out;
	kept->base = *scenario;
	if (out->count > 0 && knob_set(&kept->base, knob, out->item[0].value))
		kept->knob = knob;
}

/* Seconds a token: comparable where a knob changes the batch. Infinite if the value
 * can't be had. */
static double cost_of(const struct estimate *estimate)
{
	if (!estimate->feasible || !(estimate->tokens_per_second_per_gpu > 0))
		return INFINITY;
	return 1 / estimate->tokens_per_second_per_gpu;
}

void whatif_arrow(const struct scenario *scenario, const struct knob *knob,
		  const struct estimate *now, struct estimate *scratch,
		  struct whatif_arrow *out)
{
	double present = cost_of(now), best = present;
	struct scenario turned;

	*out = (struct whatif_arrow){ 0 };
	if (!knob_applies(scenario, knob) || knob->type == KNOB_TEXT ||
	    knob->type == KNOB_SET)
		return;
	turned = *scenario; /* and nothing but the knob is ever turned */
	for (int direction = -1; direction <= 1; direction += 2) {
		double value = knob_neighbour(scenario, knob, direction);

		if (value == knob_get(scenario, knob) ||
		    !knob_set(&turned, knob, value))
			continue;
		if (scenario_check(&turned, NULL) > 0)
			continue;
		scenario_figures(&turned, scratch);
		if (cost_of(scratch) < best) {
			best = cost_of(scratch);
			out->direction = direction;
		}
	}
	if (out->direction != 0)
		out->gain = isinf(present) ? 1 : 1 - best / present;
}

static bool same_numbers(const struct whatif_value *a, const struct whatif_value *b)
{
	return a->tokens_per_second_per_gpu == b->tokens_per_second_per_gpu &&
	       a->memory_bytes == b->memory_bytes &&
	       a->step_seconds == b->step_seconds && a->moved == b->moved;
}

bool whatif_alike(const struct whatif *strip)
{
	const struct whatif_value *first = NULL;
	int legal = 0;

	for (int i = 0; i < strip->count; i++) {
		const struct whatif_value *value = &strip->item[i];

		if (!value->legal)
			continue;
		if (legal++ == 0)
			first = value;
		if (!same_numbers(first, value))
			return false;
	}
	return legal > 1;
}

bool whatif_tunes(const struct knob *knob)
{
	/* a server's work, and how well it guesses; a pin asks what the software may
	 * not have */
	static const char *const given[] = {
		"gbs",           "seq",           "document_len", "imbalance",
		"lora_rank",     "frozen_layers", "frozen_head",  "mode",
		"prompt",        "output",        "concurrency",  "request_rate",
		"length_spread", "shared_prefix", "host_prefix",  "goal_ttft",
		"goal_tpot",     "batching",      "acceptance",   "draft_cost",
		"speculative",   "draft_tokens",  "memory_share", "arrival_scv",
		"length_shape",  "collective",    "routing_skew", "goal_percentile",
	};

	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
		if (strcmp(knob->key, given[i]) == 0)
			return false;
	return knob->group != GROUP_CLUSTER && knob->group != GROUP_RUN;
}
