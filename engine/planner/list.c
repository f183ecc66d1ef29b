/* list.c - every legal choice of the outer and dividing axes, with a bound that no plan
 * in it can beat. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/search.h"
#include "engine/schedule/schedule.h"

static double least(const struct planner_axis *axis)
{
	double value = axis->value[0];

	for (int i = 1; i < axis->count; i++)
		value = fmin(value, axis->value[i]);
	return value;
}

static double most(const struct planner_axis *axis)
{
	double value = axis->value[0];

	for (int i = 1; i < axis->count; i++)
		value = fmax(value, axis->value[i]);
	return value;
}

/* Shapes as no choice of them can be better: with a schedule of which least is known,
 * or whose pairs may hide more than any other's, and any split. */
static void relax_shape(const struct planner *p, struct plan *plan)
{
	const struct planner_axis *schedule = p->axis.schedule;
	bool pairs = !schedule && schedule_pairs(plan->schedule);
	int last = schedule ? (int)most(schedule) : plan->schedule;

	if (p->axis.split || p->axis.vpp)
		plan->split = SPLIT_BALANCED;
	if (p->size[ROLE_SHAPE] == 1 && !schedule)
		return;
	for (int i = 0; schedule && i < schedule->count; i++)
		pairs |= schedule_pairs((int)schedule->value[i]);
	plan->schedule = pairs                  ? SCHEDULE_DUALPIPEV
			 : last > SCHEDULE_1F1B ? SCHEDULE_ZB_V
						: SCHEDULE_1F1B;
}

/* Whether a schedule of them may keep two copies of the weights. */
static bool may_copy(const struct planner *p)
{
	const struct planner_axis *schedule = p->axis.schedule;
	bool two = schedule_weight_copies(p->problem.base.plan.schedule) > 1;

	for (int i = 0; schedule && i < schedule->count; i++)
		two |= schedule_weight_copies((int)schedule->value[i]) > 1;
	return two;
}

/* Nothing is recomputed or sent out; optimizer states are shared by all. */
static void relax(const struct planner *p, struct plan *plan)
{
	const struct planner_axis *zero = p->axis.zero;

	relax_shape(p, plan);
	if (p->axis.recompute)
		plan->recompute = RECOMPUTE_NONE;
	if (p->axis.activation_offload)
		plan->activation_offload = 0;
	if (p->axis.recompute_layers)
		plan->recompute_layers = 1;
	if (p->axis.recompute_modules)
		plan->recompute_modules = 0;
	if (p->axis.zero_group)
		plan->zero_group = 0;
	if (zero)
		plan->zero = (int64_t)most(zero);
}

static double least_ends(const struct planner *p, struct scenario *s)
{
	const struct planner_axis *offload = p->axis.optimizer_offload;
	double ends;

	if (!offload)
		return train_bound_ends(&p->outer, s);
	s->plan.optimizer_offload = least(offload);
	ends = train_bound_ends(&p->outer, s);
	s->plan.optimizer_offload = most(offload);
	return fmin(ends, train_bound_ends(&p->outer, s));
}

/* With the most of the states on the hosts, or what of it they hold. */
static double least_of_offload(const struct planner *p, struct scenario *s)
{
	const struct planner_axis *offload = p->axis.optimizer_offload;
	struct bound_bytes bytes;
	double fewest, most_sent;

	if (offload)
		s->plan.optimizer_offload = most(offload);
	train_bound_states(&p->outer, s, &bytes);
	fewest = most_sent = bytes.mean;
	for (int i = 0; isinf(most_sent) && offload && i < offload->count; i++) {
		s->plan.optimizer_offload = offload->value[i];
		train_bound_states(&p->outer, s, &bytes);
		fewest = fmin(fewest, bytes.mean);
	}
	return fewest;
}

static double least_bytes(const struct planner *p, struct scenario *s)
{
	const struct planner_axis *zero = p->axis.zero;
	int64_t relaxed = s->plan.zero;
	double fewest = INFINITY;

	for (int i = 0; i < (zero ? zero->count : 1); i++) {
		if (zero)
			s->plan.zero = (int64_t)zero->value[i];
		fewest = fmin(fewest, least_of_offload(p, s));
	}
	s->plan.zero = relaxed;
	return fewest + p->outer.framework_bytes;
}

/* What one micro-batch costs hangs on the outer axes alone, but that a tied head has no
 * weights of its own on a single stage: then it counts as none. */
static void cost_outer(struct planner *p)
{
	struct layer_cost part[MAX_PARTS];
	struct scenario *s = &p->trial->scenario;
	int64_t pp = s->plan.pp;

	if (s->model.tied_embeddings)
		s->plan.pp = 1;
	trial_begin(p->trial);
	trial_cost(p->trial, part);
	train_bound(s, part, &p->outer);
	p->outer.two_copies = may_copy(p);
	s->plan.pp = pp;
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
	if (p->trains) {
		put_all(&p->relaxed, &s->plan);
		if (!p->costed)
			cost_outer(p);
		if (p->failed)
			return;
		node.outer = p->outer_count - 1;
		seconds = train_bound_pipeline(&p->outer, s) + least_ends(p, s);
		node.bytes = least_bytes(p, s);
		node.bound = search_score(p->problem.objective, s,
					  train_bound_scaled(s, seconds), node.bytes);
		put_all(&p->given, &s->plan);
	}
	p->node[p->nodes++] = node;
}

/* Names of a plan that has one already: SP at TP 1, a kind of CP at CP 1, an ETP that
 * the stack's rule gives too. */
static bool repeats(const struct planner *p, int axis_at, const struct scenario *s)
{
	const struct planner_axis *axis = &p->problem.axis[axis_at];
	const char *key = axis->knob->key;
	struct scenario *other = &p->trial->scenario;
	int64_t etp = scenario_etp(s), keep = s->plan.etp;
	bool same = false;

	if (p->choice[axis_at] == 0)
		return false;
	if (strcmp(key, "sp") == 0)
		return s->plan.tp == 1;
	if (strcmp(key, "cp_kind") == 0)
		return s->plan.cp == 1;
	if (strcmp(key, "etp") != 0)
		return false;
	for (int i = 0; i < p->choice[axis_at] && !same; i++) {
		other->plan.etp = (int64_t)axis->value[i];
		same = scenario_etp(other) == etp;
	}
	other->plan.etp = keep;
	return same;
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
	if (repeats(p, at, s)) {
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

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void finish(struct planner *p)
{
	p->listed = true;
	p->closed_by_lists = search_closed(&p->result.counts);
	if (p->nodes > 1)
		qsort(p->node, (size_t)p->nodes, sizeof *p->node, by_bound);
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

		relax(p, &plan);
		search_get(&plan, &p->relaxed);
	}
	return row < 0;
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
