/* prove.c - see prove.h. */
#include "engine/planner/prove.h"

#include <math.h>
#include <stdlib.h>

#include "engine/train/least.h"

struct prover {
	struct planner *p;
	double answer, score;               /* score: the least so far */
	int axis[MAX_AXES];                 /* inside a node, role by role */
	int first[ROLE_COUNT + 1];          /* where those of a role begin */
	struct rule_list rules[ROLE_COUNT]; /* that are known with this role */
	struct train_least least;
};

/* Rules are known with the last role of the knobs that they read. */
static void sort_rules(struct prover *c, const struct rule_list *list)
{
	for (int i = 0; i < list->count; i++) {
		const char *reads = c->p->rule[list->row[i]].reads;
		struct rule_list *own = &c->rules[train_role_of_all(reads)];

		own->row[own->count++] = list->row[i];
	}
}

struct prover *prover_start(struct planner *p, double answer)
{
	struct prover *c = calloc(1, sizeof *c);
	int axes = 0;

	if (!c)
		return NULL;
	c->p = p;
	c->answer = answer;
	p->trial->scenario = p->problem.base;
	train_least_begin(&c->least, p->trial);
	for (int role = ROLE_SHAPE; role < ROLE_COUNT; role++) {
		c->first[role] = axes;
		axes += search_role_axes(p, (enum role)role, c->axis + axes);
		sort_rules(c, &p->option_rules[role]);
	}
	c->first[ROLE_COUNT] = axes;
	sort_rules(c, &p->mixed);
	for (int i = 0; i < p->problem.axes; i++)
		train_least_free(&c->least, p->problem.axis[i].knob->key,
				 p->problem.axis[i].value, p->problem.axis[i].count);
	return c;
}

static bool breaks(const struct prover *c, const struct rule_list *rules)
{
	struct facts facts;

	if (rules->count == 0)
		return false;
	rules_derive(&c->p->trial->scenario, &facts);
	return search_broken(c->p, rules, &facts) >= 0;
}

/* Whether this is above the answer; then it counts. */
static bool is_above(struct prover *c, double score)
{
	if (!(score >= c->answer))
		return false;
	c->score = fmin(c->score, score);
	return true;
}

/* What is left free from this role on is closed by the least of it. */
static bool is_closed(struct prover *c, enum role role)
{
	double bytes,
		score = objective_of_least(c->p->problem.objective, &c->least,
					   (enum train_role)role, c->answer, &bytes);

	return is_above(c, score) || bytes > search_room(c->p, &c->p->trial->scenario);
}

static void estimate(struct prover *c)
{
	struct planner *p = c->p;
	double score;

	if (objective_try(p->problem.objective, &p->trial->scenario, p->problem.reserve,
			  c->answer, &p->estimate, &score))
		is_above(c, score);
}

/* Each choice of a role's axes, from this one on, names of others left out. */
static void prove_each(struct prover *c, enum role role, int at)
{
	struct scenario *s = &c->p->trial->scenario;
	const struct planner_axis *axis = &c->p->problem.axis[c->axis[at]];

	if (at < c->first[role + 1]) {
		for (int i = 0; i < axis->count; i++) {
			knob_set(s, axis->knob, axis->value[i]);
			if (!knob_repeats(s, axis->knob, axis->value, i))
				prove_each(c, role, at + 1);
		}
		knob_set(s, axis->knob, axis->value[0]);
		return;
	}
	if (is_closed(c, role + 1) || breaks(c, &c->rules[role]))
		return;
	if (role + 1 < ROLE_COUNT)
		prove_each(c, role + 1, at);
	else if (!is_above(c, objective_of_step(c->p->problem.objective, s,
						train_least_dealt(&c->least), 0)))
		estimate(c);
}

double prove_node(struct prover *c, const struct train_bound *relaxed)
{
	c->score = INFINITY;
	if (c->p->serves) {
		estimate(c);
		return c->score;
	}
	c->least.outer = *relaxed;
	train_least_node(&c->least);
	prove_each(c, ROLE_SHAPE, 0);
	return c->score;
}
