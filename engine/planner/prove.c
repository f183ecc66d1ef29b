/* prove.c - see prove.h. */
#include "engine/planner/prove.h"

#include <math.h>
#include <stdlib.h>

#include "engine/predict/predict.h"

struct prover {
	struct planner *p;
	double answer, score;     /* score: the least so far */
	int axis[MAX_AXES];       /* role by role */
	int modes, states, end;   /* where roles begin, shapes first */
	uint8_t choice[MAX_AXES]; /* of these axes */
	struct layer_cost part[MAX_PARTS];
	struct train_bound bound; /* of the mode at work */
	struct train_states least;
	int shapes; /* that are left */
	bool dealt; /* the stages of the shape at work are */
	/* by choice of the states: they break a rule; of the shape: it does, or its
	 * plans are above the answer however they recompute */
	bool *no_states, no_shape[];
};

struct prover *prover_start(struct planner *p, double answer)
{
	size_t shapes = (size_t)p->size[ROLE_SHAPE];
	struct prover *c = calloc(1, sizeof *c + shapes + (size_t)p->size[ROLE_STATE]);

	if (!c)
		return NULL;
	c->p = p;
	c->no_states = c->no_shape + shapes;
	c->answer = answer;
	c->modes = search_role_axes(p, ROLE_SHAPE, c->axis);
	c->states = c->modes + search_role_axes(p, ROLE_MODE, c->axis + c->modes);
	c->end = c->states + search_role_axes(p, ROLE_STATE, c->axis + c->states);
	return c;
}

/* Each choice of these axes, names of others left out. */
static void each(struct prover *c, int at, int end, void (*visit)(struct prover *))
{
	struct scenario *s = &c->p->trial->scenario;
	const struct planner_axis *axis = &c->p->problem.axis[c->axis[at]];

	if (at == end) {
		visit(c);
		return;
	}
	for (int i = 0; i < axis->count; i++) {
		knob_set(s, axis->knob, axis->value[i]);
		c->choice[at] = (uint8_t)i;
		if (i == 0 || knob_applies(s, axis->knob))
			each(c, at + 1, end, visit);
	}
	knob_set(s, axis->knob, axis->value[0]);
	c->choice[at] = 0;
}

/* Where the choice of these axes stands among all. */
static size_t place(const struct prover *c, int from, int end)
{
	size_t at = 0;

	for (int i = from; i < end; i++)
		at = at * (size_t)c->p->problem.axis[c->axis[i]].count + c->choice[i];
	return at;
}

/* Whether this is above the answer; then it counts. */
static bool is_above(struct prover *c, double seconds, double bytes)
{
	double score = objective_of_step(c->p->problem.objective,
					 &c->p->trial->scenario, seconds, bytes);

	if (!(score >= c->answer))
		return false;
	c->score = fmin(c->score, score);
	return true;
}

static bool is_closed(struct prover *c, const struct train_states *states)
{
	const struct scenario *s = &c->p->trial->scenario;
	double seconds = train_pair_seconds(&c->bound, s, states), bytes;

	if (is_above(c, seconds, 0))
		return true;
	bytes = train_pair_bytes(&c->bound, s, states);
	return bytes > search_room(c->p, s) || is_above(c, seconds, bytes);
}

static bool breaks(const struct prover *c, const struct rule_list *rules)
{
	struct facts facts;

	if (rules->count == 0)
		return false;
	rules_derive(&c->p->trial->scenario, &facts);
	return search_broken(c->p, rules, &facts) >= 0;
}

static bool deal(struct prover *c)
{
	struct trial *trial = c->p->trial;
	int64_t zero = trial->scenario.plan.zero;

	if (c->dealt)
		return true;
	trial_use(trial, c->part);
	trial->scenario.plan.zero = 0;
	c->dealt = trial_stages(trial);
	trial->scenario.plan.zero = zero;
	return c->dealt;
}

static void visit_states(struct prover *c)
{
	struct planner *p = c->p;
	const struct scenario *s = &p->trial->scenario;
	struct train_states states;

	if (c->no_states[place(c, c->states, c->end)])
		return;
	train_states_of(&c->bound, s, &states);
	if (is_closed(c, &states) || breaks(c, &p->mixed) || !deal(c) ||
	    is_above(c, train_dealt_seconds(p->trial, &states), 0))
		return;
	scenario_estimate(s, &p->estimate);
	if (p->estimate.legal && p->estimate.host_fits &&
	    p->estimate.memory.total_bytes <= search_room(p, s))
		is_above(c, p->estimate.step_seconds, p->estimate.memory.total_bytes);
}

static void visit_shape(struct prover *c)
{
	c->dealt = false;
	if (!c->no_shape[place(c, 0, c->modes)] && !is_closed(c, &c->least))
		each(c, c->states, c->end, visit_states);
}

static void add_states(struct prover *c)
{
	if (!c->no_states[place(c, c->states, c->end)])
		train_states_add(&c->bound, &c->p->trial->scenario, &c->least, NULL);
}

static void visit_mode(struct prover *c)
{
	struct trial *trial = c->p->trial;

	trial_cost(trial, c->part);
	train_bound(&trial->scenario, c->part, &c->bound);
	train_states_begin(&c->least);
	each(c, c->states, c->end, add_states);
	if (!is_above(c, train_mode_seconds(&c->bound, &trial->scenario, &c->least),
		      0) &&
	    !breaks(c, &c->p->option_rules[ROLE_MODE]))
		each(c, 0, c->modes, visit_shape);
}

static void judge_states(struct prover *c)
{
	c->no_states[place(c, c->states, c->end)] =
		breaks(c, &c->p->option_rules[ROLE_STATE]);
}

static void judge_shape(struct prover *c)
{
	bool none = is_above(
		c, train_pair_seconds(&c->bound, &c->p->trial->scenario, &c->least), 0);

	none = none || breaks(c, &c->p->option_rules[ROLE_SHAPE]);
	c->no_shape[place(c, 0, c->modes)] = none;
	c->shapes += !none;
}

double prove_node(struct prover *c, const struct train_bound *relaxed)
{
	struct plan *plan = &c->p->trial->scenario.plan;
	struct inner given;

	c->score = INFINITY;
	c->shapes = 0;
	c->bound = *relaxed;
	each(c, c->states, c->end, judge_states);
	search_get(plan, &given);
	train_relax_mode(&c->p->set, plan);
	train_states_begin(&c->least);
	each(c, c->states, c->end, add_states);
	each(c, 0, c->modes, judge_shape);
	search_put(&given, ROLE_MODE, plan);
	if (c->shapes == 0)
		return c->score;
	trial_begin(c->p->trial);
	each(c, c->modes, c->states, visit_mode);
	return c->score;
}
