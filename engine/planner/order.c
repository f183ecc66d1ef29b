/* order.c - which axis is fixed when, and which rules are known then. */
#include <string.h>

#include "engine/planner/search.h"

/* Of the axes that cost a micro-batch those that rules read most come first; those that
 * no row names, before. */
static const char *const known[] = {
	"gpus",
	"tp",
	"sp",
	"cp",
	"cp_kind",
	"ep",
	"etp",
	"mbs",
	"gbs",
	"pp",
	"schedule",
	"vpp",
	"split",
	"micro_batch_group",
	"recompute",
	"recompute_layers",
	"recompute_modules",
	"activation_offload",
	"zero",
	"zero_group",
	"optimizer_offload",
};

enum { KNOWN = sizeof known / sizeof known[0] };

static int place(const struct knob *knob)
{
	for (int i = 0; i < KNOWN; i++)
		if (strcmp(knob->key, known[i]) == 0)
			return i;
	return -1;
}

static bool has_axis(const struct planner *p, const char *key)
{
	for (int i = 0; i < p->problem.axes; i++)
		if (strcmp(p->problem.axis[i].knob->key, key) == 0)
			return true;
	return false;
}

static bool reads_role(const struct planner *p, const struct legality *row,
		       enum role role)
{
	for (int i = 0; i < p->problem.axes; i++)
		if (p->role[i] == role && p->problem.axis[i].count > 1 &&
		    rules_reads(row, p->problem.axis[i].knob->key))
			return true;
	return false;
}

/* How many outer and dividing axes must be fixed. */
static int decided_at(const struct planner *p, const struct legality *row)
{
	int deepest = 0;

	for (int d = 0; d < p->depth; d++)
		if (rules_reads(row, p->problem.axis[p->order[d]].knob->key))
			deepest = d + 1;
	return deepest;
}

/* Nothing breaks a sheet of which no row holds, or where any plan is known enough. */
static bool may_break(const struct stack *stack, const struct legality *row)
{
	if (row->breaks == breaks_ability)
		return stack->held != 0;
	return row->breaks != breaks_trust || stack->trusted != 0;
}

static void sort_rule(struct planner *p, int i)
{
	const struct legality *row = &p->rule[i];
	struct rule_list *list = NULL;

	for (int role = ROLE_SHAPE; role < ROLE_COUNT; role++)
		if (reads_role(p, row, (enum role)role))
			list = list ? &p->mixed : &p->option_rules[role];
	if (!list)
		list = &p->decided[decided_at(p, row)];
	list->row[list->count++] = (uint8_t)i;
	for (int role = ROLE_SHAPE; role < ROLE_COUNT; role++)
		if (list == &p->option_rules[role] && decided_at(p, row) == 0)
			p->menu_rules[role].row[p->menu_rules[role].count++] =
				(uint8_t)i;
}

/* Rules of degrees that don't divide the GPUs or the batch. */
static bool says_division(const char *code)
{
	return strcmp(code, "E1") == 0 || strcmp(code, "E2") == 0 ||
	       strcmp(code, "E3") == 0 || strcmp(code, "E7") == 0;
}

/* Unknown axes first, the others as in the table. */
int search_role_axes(const struct planner *p, enum role role, int *axis)
{
	int count = 0;

	for (int at = -1; at < KNOWN; at++)
		for (int i = 0; i < p->problem.axes; i++)
			if (p->role[i] == role && place(p->problem.axis[i].knob) == at)
				axis[count++] = i;
	return count;
}

void search_arrange(struct planner *p)
{
	const struct planner_problem *problem = &p->problem;
	int rules;

	train_set_begin(&p->set, &p->problem.base);
	for (int role = 0; role < ROLE_COUNT; role++)
		p->size[role] = 1;
	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];

		p->role[i] = (enum role)train_role_of(axis->knob->key);
		p->size[p->role[i]] *= axis->count;
		train_set_free(&p->set, axis->knob->key, axis->value, axis->count);
	}
	p->depth = search_role_axes(p, ROLE_OUTER, p->order);
	p->depth += search_role_axes(p, ROLE_DIVIDES, p->order + p->depth);
	p->below[p->depth] =
		p->size[ROLE_SHAPE] * p->size[ROLE_MODE] * p->size[ROLE_STATE];
	for (int d = p->depth - 1; d >= 0; d--)
		p->below[d] = p->below[d + 1] * problem->axis[p->order[d]].count;
	/* each mode has rules of its own */
	p->rule = rules_of(&problem->base, &rules);
	p->trains = problem->base.plan.mode == MODE_TRAINING;
	p->serves = problem->base.plan.mode == MODE_INFERENCE;
	if (has_axis(p, "mode")) {
		p->trains = p->serves = false;
		rules = 0;
	}
	for (int i = 0; i < rules; i++)
		p->divides[i] = says_division(p->rule[i].rule.code);
	for (int i = 0; i < rules; i++)
		if (p->rule[i].rule.severity == SEVERITY_ERROR &&
		    rules_hold(&p->rule[i], &problem->base.stack) &&
		    may_break(&problem->base.stack, &p->rule[i]))
			sort_rule(p, i);
}

bool search_advance(const struct planner *p, uint8_t *choice, enum role role)
{
	for (int i = p->problem.axes - 1; i >= 0; i--) {
		if (p->role[i] != role)
			continue;
		if (++choice[i] < p->problem.axis[i].count)
			return true;
		choice[i] = 0;
	}
	return false;
}

void search_apply(const struct planner *p, const uint8_t *choice, enum role role,
		  struct scenario *out)
{
	for (int i = 0; i < p->problem.axes; i++)
		if (p->role[i] == role)
			knob_set(out, p->problem.axis[i].knob,
				 p->problem.axis[i].value[choice[i]]);
}

int search_broken(const struct planner *p, const struct rule_list *rules,
		  const struct facts *facts)
{
	struct broken broken;

	for (int i = 0; i < rules->count; i++)
		if (p->rule[rules->row[i]].breaks(facts, &broken))
			return rules->row[i];
	return -1;
}

void search_reject(struct planner *p, int row, double candidates)
{
	struct planner_counts *counts = &p->result.counts;

	counts->broken[row] += candidates;
	if (p->divides[row])
		counts->undivided += candidates;
	else
		counts->unruly += candidates;
}
