/* list.c - every legal choice of the outer and dividing axes, with a bound that no plan
 * in it can beat. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/planner/search.h"

static void cost_outer(struct planner *p)
{
	train_relaxed_cost(&p->set, p->trial, &p->outer);
	p->costed = true;
	if (search_grow(p, (void **)&p->outers, p->outer_count, &p->outer_capacity,
			sizeof *p->outers))
		p->outers[p->outer_count++] = p->outer;
}

static void put_all(const struct inner *inner, struct plan *plan)
{
	for (int role = ROLE_SHAPE; role < ROLE_COUNT; role++)
		search_put(inner, (enum role)role, plan);
}

static void push_node(struct planner *p)
{
	struct scenario *s = &p->trial->scenario;
	struct node node = { .index = (uint32_t)p->nodes };
	double seconds;

	if (!search_grow(p, (void **)&p->node, p->nodes, &p->capacity, sizeof node))
		return;
	memcpy(node.choice, p->choice, sizeof node.choice);
	if (p->serves && !search_ceiling(p, &node))
		return;
	if (p->trains) {
		put_all(&p->relaxed, &s->plan);
		if (!p->costed)
			cost_outer(p);
		if (p->failed)
			return;
		node.outer = p->outer_count - 1;
		seconds = train_relaxed_seconds(&p->set, &p->outer, s);
		node.bytes = train_relaxed_bytes(&p->set, &p->outer, s);
		node.bound =
			objective_of_step(p->problem.objective, s, seconds, node.bytes);
		put_all(&p->given, &s->plan);
	}
	p->node[p->nodes++] = node;
}

/* Names of a plan that has one already. */
static bool repeats(const struct planner *p, int at)
{
	const struct planner_axis *axis = &p->problem.axis[at];

	return knob_repeats_early(axis->knob) &&
	       knob_repeats(&p->trial->scenario, axis->knob, axis->value,
			    p->choice[at]);
}

int search_fix(struct planner *p)
{
	int at = p->order[p->level];
	const struct planner_axis *axis = &p->problem.axis[at];
	struct scenario *s = &p->trial->scenario;
	const struct rule_list *rules = &p->decided[p->level + 1];
	double below = p->below[p->level + 1];
	struct facts facts;
	int row = -1;

	p->choice[at] = (uint8_t)p->at[p->level]++;
	knob_set(s, axis->knob, axis->value[p->choice[at]]);
	if (p->role[at] == ROLE_OUTER)
		p->costed = false;
	if (repeats(p, at)) {
		p->result.counts.repeated += below;
		return FIX_REPEATS;
	}
	if (rules->count > 0) {
		rules_derive(s, &facts);
		row = search_broken(p, rules, &facts);
	}
	if (row >= 0)
		search_reject(p, row, below);
	return row < 0 ? FIX_STANDS : row;
}

static int by_bound(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	int order = compare(x->bound, y->bound);

	if (!order)
		order = compare(x->request, y->request);
	return order ? order : compare(x->index, y->index);
}

void search_sort(struct planner *p)
{
	if (p->nodes > 1)
		qsort(p->node, (size_t)p->nodes, sizeof *p->node, by_bound);
}

static void finish(struct planner *p)
{
	p->listed = true;
	p->of_lists = p->result.counts;
	p->closed_by_lists = search_closed(&p->of_lists);
	search_sort(p);
}

bool search_root(struct planner *p)
{
	struct scenario *s = &p->trial->scenario;
	struct facts facts;
	int row;

	*s = p->problem.base;
	for (int role = 0; role < ROLE_COUNT; role++)
		search_apply(p, p->choice, (enum role)role, s);
	p->result.counts.candidates = p->below[0];
	if (!rules_countable(s)) {
		p->result.counts.unruly = p->below[0];
		return false;
	}
	rules_derive(s, &facts);
	row = search_broken(p, &p->decided[0], &facts);
	if (row >= 0)
		search_reject(p, row, p->below[0]);
	search_get(&s->plan, &p->given);
	if (p->trains) {
		struct plan plan = s->plan;

		train_relax(&p->set, &plan);
		search_get(&plan, &p->relaxed);
	}
	return row < 0;
}

int search_root_rule(const struct planner *p)
{
	struct facts facts;

	rules_derive(&p->trial->scenario, &facts);
	return search_broken(p, &p->decided[0], &facts);
}

void search_list(struct planner *p, int *budget)
{
	if (p->level < 0) {
		p->level = 0;
		if (!search_root(p)) {
			finish(p);
			return;
		}
		if (p->depth == 0) {
			push_node(p);
			finish(p);
			return;
		}
	}
	while (*budget > 0) {
		if (p->at[p->level] == p->problem.axis[p->order[p->level]].count) {
			p->at[p->level] = 0;
			if (p->level-- == 0) {
				p->level = 0;
				finish(p);
				return;
			}
			continue;
		}
		if (search_fix(p) != FIX_STANDS)
			continue;
		if (p->level + 1 < p->depth) {
			p->level++;
			continue;
		}
		*budget -= !p->costed;
		push_node(p);
	}
}
