/* open.c - what can be chosen inside a node. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/planner/search.h"
#include "engine/schedule/schedule.h"

/* A shape's key holds schedule and split in one number. */
static const double split_key = 100;

/* Interleaving of one chunk is 1F1B, chunks that the schedule has not are none, one
 * stage has no schedule, and auto is even or balanced. */
static void shape_key(const struct scenario *s, double *key)
{
	const struct plan *plan = &s->plan;
	int64_t chunks = scenario_chunks(s), group = plan->micro_batch_group;
	int schedule = plan->schedule, split = split_resolve(s);
	bool grouped;

	if (chunks == 1 &&
	    (schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_BREADTH_FIRST))
		schedule = SCHEDULE_1F1B;
	if (plan->pp == 1) {
		schedule = SCHEDULE_1F1B;
		split = split_is_told(split) ? split : SPLIT_EVEN;
	}
	grouped = schedule == SCHEDULE_INTERLEAVED && chunks > 1;
	key[0] = schedule + split_key * split;
	key[1] = (double)chunks;
	key[2] = grouped ? (double)(group > 0 ? group : plan->pp) : 0;
}

static void mode_key(const struct scenario *s, double *key)
{
	const struct plan *plan = &s->plan;
	int64_t layers = plan->recompute_layers;

	key[0] = plan->recompute;
	key[1] = 0;
	key[2] = plan->activation_offload;
	if (plan->recompute == RECOMPUTE_SELECTIVE)
		key[1] = (double)plan->recompute_modules;
	/* as many as a stage has are all */
	if (plan->recompute == RECOMPUTE_FULL && layers > 0 &&
	    layers * plan->pp < s->model.layers)
		key[1] = (double)layers;
}

/* One stage has no other way through the pipeline, whatever its schedule is called. */
static bool has_two_copies(const struct scenario *s, const struct options *shapes)
{
	if (s->plan.pp == 1)
		return false;
	for (int i = 0; i < shapes->count; i++)
		if (schedule_weight_copies(shapes->item[i].inner.schedule) > 1)
			return true;
	return false;
}

/* Of ZeRO, its group and offload. Two copies of the weights are two ranks for each one.
 * A group of all is none; one rank has nothing to share, but ZeRO 3 keeps buffers for
 * it. */
static void with_copies(const struct scenario *s, int64_t copies, double *key)
{
	int64_t dense = scenario_dp(s) * s->plan.cp;
	int64_t expert = s->model.moe.experts > 0 ? scenario_edp(s) : 1;
	int64_t most = copies * (dense > expert ? dense : expert);

	if (most <= 1 && key[0] < 3)
		key[0] = 0;
	if (key[0] <= 0 || key[1] >= (double)(copies * dense))
		key[1] = 0;
}

static void state_key(const struct planner *p, const struct scenario *s, double *key)
{
	key[0] = (double)s->plan.zero;
	key[1] = (double)s->plan.zero_group;
	key[2] = s->plan.optimizer_offload;
	with_copies(s, has_two_copies(s, &p->option[ROLE_SHAPE]) ? 2 : 1, key);
}

/* Whether an earlier state comes to the same where weights have one copy. */
static bool is_same_once(const struct options *states, const struct scenario *s,
			 const double *key)
{
	double once[] = { key[0], key[1], key[2] };

	with_copies(s, 1, once);
	for (int i = 0; i < states->count; i++) {
		const double *other = states->item[i].key;
		double twin[] = { other[0], other[1], other[2] };

		with_copies(s, 1, twin);
		if (memcmp(once, twin, sizeof once) == 0)
			return true;
	}
	return false;
}

static void set_key(const struct planner *p, const struct scenario *s, enum role role,
		    double *key)
{
	if (role == ROLE_SHAPE)
		shape_key(s, key);
	else if (role == ROLE_MODE)
		mode_key(s, key);
	else
		state_key(p, s, key);
}

static bool is_known(const struct options *list, const double *key)
{
	for (int i = list->count - 1; i >= 0; i--) {
		const double *other = list->item[i].key;

		if (other[0] == key[0] && other[1] == key[1] && other[2] == key[2])
			return true;
	}
	return false;
}

/* A split by weight may come to the even one that is there already. */
static bool has_even(const struct options *shapes, const double *key)
{
	double even = fmod(key[0], split_key) + split_key * SPLIT_EVEN;
	const double twin[] = { even, key[1], key[2] };

	return key[0] != even && is_known(shapes, twin);
}

/* The rule that an option breaks; -1: none, and the scenario has it, with these facts.
 */
static int broken_by(const struct planner *p, const struct option *option,
		     enum role role, struct facts *facts)
{
	struct scenario *s = &p->trial->scenario;

	if (option->row >= 0)
		return option->row;
	search_put(&option->inner, role, &s->plan);
	if (role == ROLE_SHAPE)
		rules_derive(s, facts);
	return search_broken(p, &p->option_rules[role], facts);
}

/* All that break no rule, each plan once. `times`: candidates that an option is part
 * of. */
static void list_options(struct planner *p, enum role role, double times)
{
	struct scenario *s = &p->trial->scenario;
	const struct options *menu = &p->menu[role];
	struct options *list = &p->option[role];
	struct facts facts;

	list->count = 0;
	rules_derive(s, &facts);
	for (int i = 0; i < menu->count; i++) {
		const struct option *option = &menu->item[i];
		struct option *new;
		int row = broken_by(p, option, role, &facts);

		if (row >= 0) {
			search_reject(p, row, option->times * times);
			continue;
		}
		if (!search_grow(p, (void **)&list->item, list->count, &list->capacity,
				 sizeof *option))
			return;
		new = &list->item[list->count];
		set_key(p, s, role, new->key);
		if (is_known(list, new->key)) {
			p->result.counts.repeated += option->times * times;
			continue;
		}
		p->result.counts.repeated += (option->times - 1) * times;
		memcpy(new->choice, option->choice, sizeof new->choice);
		new->inner = option->inner;
		new->has_even = role == ROLE_SHAPE ? has_even(list, new->key) : false;
		new->has_once = role == ROLE_STATE &&
				p->trains &&is_same_once(list, s, new->key);
		list->count++;
	}
}

/* What each mode costs. */
static bool cost_modes(struct planner *p)
{
	struct options *modes = &p->option[ROLE_MODE];
	struct trial *trial = p->trial;
	int parts = trial->parts;

	while (p->costs < modes->count * parts)
		if (!search_grow(p, (void **)&p->cost, p->costs, &p->costs,
				 sizeof *p->cost))
			return false;
	for (int i = 0; i < modes->count; i++) {
		struct option *mode = &modes->item[i];
		struct layer_cost *part = &p->cost[i * parts];

		search_put(&mode->inner, ROLE_MODE, &trial->scenario.plan);
		trial_cost(trial, part);
		train_bound(&trial->scenario, part, &mode->bound);
	}
	return true;
}

/* Of each way to hold the states, what it takes at least. */
static void bound_states(struct planner *p, const struct train_bound *bound)
{
	struct options *states = &p->option[ROLE_STATE];
	struct plan *plan = &p->trial->scenario.plan;

	train_states_begin(&p->least);
	for (int i = 0; i < states->count; i++) {
		struct option *state = &states->item[i];

		search_put(&state->inner, ROLE_STATE, plan);
		train_states_add(bound, &p->trial->scenario, &p->least, &state->least);
	}
}

/* What bounds ask of each shape. */
static void bound_shapes(struct planner *p)
{
	struct options *shapes = &p->option[ROLE_SHAPE];
	struct scenario *s = &p->trial->scenario;

	for (int i = 0; i < shapes->count; i++) {
		search_put(&shapes->item[i].inner, ROLE_SHAPE, &s->plan);
		train_bound_shape(s, &shapes->item[i].shape);
	}
}

/* Whether the shapes and states that break no rule here are too slow or too large,
 * whatever the mode: most nodes are, and then no mode need be costed. */
static bool node_is_hopeless(struct planner *p, struct node *node, double plans)
{
	const struct scenario *s = &p->trial->scenario;
	const struct options *shapes = &p->option[ROLE_SHAPE];
	const struct train_bound *bound = &p->outers[node->outer];
	struct bound_bytes nothing = { 0 };
	double seconds = INFINITY, bytes, score;

	bound_states(p, bound);
	for (int i = 0; i < shapes->count; i++)
		seconds = fmin(seconds,
			       train_bound_pipeline(bound, &shapes->item[i].shape));
	seconds = train_bound_scaled(s, seconds + p->least.ends);
	bytes = train_bound_bytes(bound, &p->least.bytes, &nothing);
	score = objective_of_step(p->problem.objective, s, seconds, bytes);
	node->known_bytes = bytes;
	node->known_bound = score;
	if (bytes > search_limit(p, s)) {
		p->result.counts.too_large += plans;
		return true;
	}
	if (score > search_worst(p)) {
		p->result.counts.bounded += plans;
		return true;
	}
	return false;
}

/* Whether a mode is too slow or too large whatever its shape. */
static bool mode_is_hopeless(struct planner *p, const struct option *mode, double plans)
{
	struct planner_counts *counts = &p->result.counts;
	const struct scenario *s = &p->trial->scenario;
	struct bound_bytes nothing = { 0 };
	const struct bound_shape *any = &p->option[ROLE_SHAPE].item[0].shape;
	double seconds = train_bound_scaled(s, train_bound_work(&mode->bound, any) +
						       p->least.ends);
	double bytes = train_bound_bytes(&mode->bound, &p->least.bytes, &nothing);
	double score = objective_of_step(p->problem.objective, s, seconds, bytes);

	if (bytes > search_limit(p, s)) {
		counts->too_large += plans;
		return true;
	}
	if (score > search_worst(p)) {
		p->known = lesser(p->known, score);
		counts->bounded += plans;
		return true;
	}
	return false;
}

static void push_pair(struct planner *p, int shape, int mode)
{
	const struct bound_shape *stages = &p->option[ROLE_SHAPE].item[shape].shape;
	const struct train_bound *bound = &p->option[ROLE_MODE].item[mode].bound;
	struct planner_counts *counts = &p->result.counts;
	const struct scenario *s = &p->trial->scenario;
	double states = p->option[ROLE_STATE].count, bytes = 0;
	struct pair pair = { .shape = shape, .mode = mode };

	pair.pipeline = train_bound_pipeline(bound, stages);
	train_bound_activations(bound, s, stages, &pair.activations);
	if (objective_counts_bytes(p->problem.objective))
		bytes = train_bound_bytes(bound, &p->least.bytes, &pair.activations);
	pair.bound = objective_of_step(
		p->problem.objective, s,
		train_bound_scaled(s, pair.pipeline + p->least.ends), bytes);
	if (pair.bound <= search_worst(p) &&
	    train_bound_exceeds(bound, &p->least.bytes, &pair.activations,
				search_limit(p, s))) {
		counts->too_large += states;
		return;
	}
	p->known = lesser(p->known, pair.bound);
	if (pair.bound > search_worst(p))
		counts->bounded += states;
	else if (search_grow(p, (void **)&p->pair_list, p->pairs, &p->pair_capacity,
			     sizeof pair))
		p->pair_list[p->pairs++] = pair;
}

static void push_pairs(struct planner *p, int mode)
{
	int shapes = p->option[ROLE_SHAPE].count;
	double plans = (double)shapes * p->option[ROLE_STATE].count;

	if (mode_is_hopeless(p, &p->option[ROLE_MODE].item[mode], plans))
		return;
	for (int shape = 0; shape < shapes; shape++)
		push_pair(p, shape, mode);
}

/* All of them, without a bound. */
static void push_all(struct planner *p)
{
	for (int shape = 0; shape < p->option[ROLE_SHAPE].count; shape++)
		for (int mode = 0; mode < p->option[ROLE_MODE].count; mode++) {
			if (!search_grow(p, (void **)&p->pair_list, p->pairs,
					 &p->pair_capacity, sizeof *p->pair_list))
				return;
			p->pair_list[p->pairs++] =
				(struct pair){ .shape = shape, .mode = mode };
		}
}

static int by_bound(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = compare(x->bound, y->bound);

	if (order == 0)
		order = compare(x->shape, y->shape);
	return order ? order : compare(x->mode, y->mode);
}

/* The node's options; how many plans they make. */
static double list_inside(struct planner *p)
{
	const struct options *option = p->option;
	double times = p->size[ROLE_MODE] * p->size[ROLE_STATE];

	list_options(p, ROLE_SHAPE, times);
	times = option[ROLE_SHAPE].count * p->size[ROLE_STATE];
	list_options(p, ROLE_MODE, times);
	times = (double)option[ROLE_SHAPE].count * option[ROLE_MODE].count;
	list_options(p, ROLE_STATE, times);
	return times * option[ROLE_STATE].count;
}

/* Those that may be wanted, best bound first. */
static void list_pairs(struct planner *p, struct node *node)
{
	struct options *modes = &p->option[ROLE_MODE];

	/* tied ends weigh more on a single stage, as the outer bound has them */
	if (!train_bound_holds_same(&p->outers[node->outer], &modes->item[0].bound))
		bound_states(p, &modes->item[0].bound);
	p->known = INFINITY;
	for (int mode = 0; mode < modes->count; mode++)
		push_pairs(p, mode);
	node->known_bound = larger(node->known_bound, p->known);
	if (p->pairs > 1)
		qsort(p->pair_list, (size_t)p->pairs, sizeof *p->pair_list, by_bound);
}

void search_open(struct planner *p, struct node *node)
{
	struct scenario *s = &p->trial->scenario;
	bool all = p->problem.exhaustive || !p->trains;
	double plans;

	p->pairs = p->pair = p->state = 0;
	*s = p->problem.base;
	search_apply(p, node->choice, ROLE_OUTER, s);
	search_apply(p, node->choice, ROLE_DIVIDES, s);
	if (p->trains) {
		planner_idea(s, &p->idea);
		search_set_worst(p);
	}
	if (node->bound > search_worst(p) && !p->problem.exhaustive) {
		p->result.counts.bounded += p->below[p->depth];
		return;
	}
	plans = list_inside(p);
	if (plans == 0)
		return;
	if (!all)
		bound_shapes(p);
	if (!all && node_is_hopeless(p, node, plans))
		return;
	for (int role = ROLE_SHAPE; role < ROLE_COUNT; role++)
		search_put(&p->given, (enum role)role, &s->plan);
	if (p->trains)
		trial_begin(p->trial);
	if (p->trains && !cost_modes(p))
		return;
	if (all)
		push_all(p);
	else
		list_pairs(p, node);
}
