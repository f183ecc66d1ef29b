/* settle.c - a plan as Megatron takes it: what it asserts against is turned back before
 * it is written, and said.
 *
 * The rules are those of engine/rules/ that the stack megatron-core has. Only what
 * changes how a step runs is turned back, never which ranks it needs.
 */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"
#include "presets/library.h"
#include "presets/megatron/parts.h"

/* For each rule what may be turned back, the first that mends it. */
static const struct {
	const char *rule, *knob, *value;
} steps[] = {
	{ "E12", "overlap_p2p", "on" },
	{ "E13", "vpp", "1" },
	{ "E14", "vpp", "1" },
	{ "E19", "shared_expert_overlap", "off" },
	{ "E20", "fp8_recipe", "current-scaling" },
	{ "E21", "shared_expert_overlap", "off" },
	{ "E21", "ep_overlap", "off" },
	{ "E22", "activation_offload", "0.9" },
	{ "E22", "cuda_graphs", "none" },
	{ "E22", "activation_offload", "0" },
	{ "E23", "tp_overlap", "off" },
	{ "E24", "sp", "on" },
	{ "E29", "shared_expert_overlap", "off" },
	{ "E30", "overlap_param_gather", "off" },
	{ "E31", "cuda_graphs", "none" },
	{ "E32", "zero", "1" },
	{ "E33", "cp_kind", "ring" },
};

enum { STEPS = sizeof steps / sizeof steps[0] };

static const struct finding *find(const struct findings *findings,
				  const struct rule *rule)
{
	for (int i = 0; i < findings->count; i++)
		if (findings->item[i].rule == rule)
			return &findings->item[i];
	return NULL;
}

/* Turns one knob back; false where nothing of the table mends the rule. */
static bool turn_back(struct scenario *s, const struct finding *broken,
		      struct findings *after, struct export_out *out)
{
	for (int i = 0; i < STEPS; i++) {
		const struct knob *knob = knob_find(steps[i].knob);
		struct scenario trial = *s;
		char value[MAX_LAYOUT], why[256];

		if (strcmp(steps[i].rule, broken->rule->code) != 0 ||
		    !knob_parse(&trial, knob, steps[i].value, why, sizeof why) ||
		    knob_same(&trial, s, knob))
			continue;
		scenario_check(&trial, after);
		if (find(after, broken->rule))
			continue;
		knob_print(s, knob, value, sizeof value);
		finding_text(broken, why, sizeof why);
		export_unsaid(out, knob->key, "%.40s; written as %s: %.80s", value,
			      steps[i].value, why);
		*s = trial;
		return true;
	}
	return false;
}

/* Experts' activations that a model has none of: Megatron asks for grouped GEMM with
 * the name alone (transformer_config.py:1964). */
static void drop_absent_modules(struct scenario *s)
{
	struct plan *plan = &s->plan;

	if (s->model.moe.experts > 0)
		return;
	plan->recompute_modules &= ~((uint64_t)1 << MODULE_MOE_ACT);
	if (plan->recompute_modules == 0 && plan->recompute == RECOMPUTE_SELECTIVE)
		plan->recompute = RECOMPUTE_NONE;
}

/* Of the layers' TP alone: without it there is no sequence parallelism, which the
 * overlap asks for (megatron/training/arguments.py:1442). */
static void drop_absent_overlap(struct scenario *s, struct export_out *out)
{
	struct plan *plan = &s->plan;

	if (!plan->tp_overlap || plan->tp > 1)
		return;
	if (s->model.moe.experts > 0 && plan->etp > 1)
		export_unsaid(out, "tp_overlap",
			      "on; Megatron overlaps the layers' TP, which is 1");
	plan->tp_overlap = false;
}

void megatron_settle(const struct scenario *scenario, struct scenario *settled,
		     struct export_out *out)
{
	struct scenario base;
	struct findings now, after;
	bool turned = true;

	*settled = *scenario;
	drop_absent_modules(settled);
	drop_absent_overlap(settled, out);
	scenario_defaults(&base);
	if (!library_stack(&base, "megatron-core", NULL))
		return;
	/* the schedule that will be written, for the rules to see */
	if (settled->plan.schedule != SCHEDULE_INTERLEAVED)
		settled->plan.schedule = SCHEDULE_1F1B;
	settled->stack.rules = base.stack.rules;
	for (int rounds = 0; turned && rounds < STEPS; rounds++) {
		turned = false;
		scenario_check(settled, &now);
		for (int i = 0; i < now.count && !turned; i++)
			turned = now.item[i].rule->severity == SEVERITY_ERROR &&
				 turn_back(settled, &now.item[i], &after, out);
	}
	settled->stack.rules = scenario->stack.rules;
	settled->plan.schedule = scenario->plan.schedule;
}
