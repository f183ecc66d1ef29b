/* closing.c - see closing.h. */
#include "engine/verify/closing.h"

#include <math.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/rules/rules.h"

bool closing_reads(const char *reads, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = reads; (at = strstr(at, key)); at += length)
		if ((at == reads || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

bool closing_arrange(struct reader *r)
{
	int role = 0, choices = 1;

	train_set_begin(&r->set, &r->q->base);
	for (int a = 0; a < r->q->axes; a++) {
		const struct verify_axis *axis = &r->q->axis[a];
		int own = (int)train_role_of(axis->knob->key);

		train_set_free(&r->set, axis->knob->key, axis->value, axis->count);
		choices = own == role ? choices * axis->count : axis->count;
		if (own < role || (own >= DECIDES_SHAPE && choices > MOST_CHOICES))
			return false;
		for (; role < own; role++)
			r->first[role + 1] = a;
	}
	for (; role < TRAIN_ROLES; role++)
		r->first[role + 1] = r->q->axes;
	return true;
}

/* Where the choice of a role's axes stands among all. */
static size_t place(const struct reader *r, enum train_role role)
{
	size_t at = 0;

	for (int a = r->first[role]; a < r->first[role + 1]; a++)
		at = at * (size_t)r->q->axis[a].count + r->choice[a];
	return at;
}

/* Whether the scenario breaks a rule that reads knobs of this role, and of no other
 * inside a node. */
static bool breaks(struct reader *r, enum train_role role)
{
	int count;
	const struct legality *rows = rules_of(&r->q->base, &count);
	struct broken broken;
	struct facts facts;

	rules_derive(&r->trial.scenario, &facts);
	for (int i = 0; i < count; i++) {
		bool own = false, other = false;

		for (int a = r->first[DECIDES_SHAPE]; a < r->q->axes; a++) {
			bool inside = a >= r->first[role] && a < r->first[role + 1];
			bool reads =
				closing_reads(rows[i].reads, r->q->axis[a].knob->key);

			own |= reads && inside;
			other |= reads && !inside;
		}
		if (own && !other && rows[i].rule.severity == SEVERITY_ERROR &&
		    rules_hold(&rows[i], &r->q->base.stack) &&
		    rows[i].breaks(&facts, &broken))
			return true;
	}
	return false;
}

/* Whether this is above the answer; then it counts. */
static bool is_above(struct reader *r, double seconds, double bytes)
{
	double score =
		objective_of_step(r->q->objective, &r->trial.scenario, seconds, bytes);

	if (!(score >= r->q->answer))
		return false;
	r->score = fmin(r->score, score);
	return true;
}

static bool is_held(const struct reader *r, double bytes)
{
	return bytes <= objective_room(&r->trial.scenario, r->q->reserve);
}

/* What a micro-batch costs hangs on the outer axes alone. */
static void cost_outer(struct reader *r)
{
	size_t outer = (size_t)r->first[DECIDES_BATCH];

	if (!r->is_costed || memcmp(r->costed, r->choice, outer) != 0)
		train_relaxed_cost(&r->set, &r->trial, &r->outer);
	memcpy(r->costed, r->choice, sizeof r->costed);
	r->is_costed = true;
}

static bool visit_relaxed(struct reader *r)
{
	struct scenario *s = &r->trial.scenario;
	struct plan keep = s->plan;
	double bytes, seconds;

	train_relax(&r->set, &s->plan);
	cost_outer(r);
	bytes = train_relaxed_bytes(&r->set, &r->outer, s);
	seconds = train_relaxed_seconds(&r->set, &r->outer, s);
	r->score =
		fmin(r->score, objective_of_step(r->q->objective, s, seconds, bytes));
	r->bytes = fmin(r->bytes, bytes);
	s->plan = keep;
	return true;
}

/* --- plans, one by one --- */

static bool is_closed(struct reader *r, const struct train_states *states)
{
	const struct scenario *s = &r->trial.scenario;
	double seconds = train_pair_seconds(&r->bound, s, states), bytes;

	if (is_above(r, seconds, 0))
		return true;
	bytes = train_pair_bytes(&r->bound, s, states);
	return !is_held(r, bytes) || is_above(r, seconds, bytes);
}

static bool deal(struct reader *r)
{
	struct plan *plan = &r->trial.scenario.plan;
	int64_t zero = plan->zero;

	if (!r->dealt) {
		trial_use(&r->trial, r->part);
		plan->zero = 0;
		r->dealt = trial_stages(&r->trial);
		plan->zero = zero;
	}
	return r->dealt;
}

/* False where the plan is better than the answer. */
static bool visit_states(struct reader *r)
{
	const struct scenario *s = &r->trial.scenario;
	const struct estimate *e = &r->estimate;
	struct train_states states;

	if (r->no_states[place(r, DECIDES_STATES)])
		return true;
	train_states_of(&r->bound, s, &states);
	if (is_closed(r, &states) || scenario_check(s, NULL) > 0 || !deal(r) ||
	    is_above(r, train_dealt_seconds(&r->trial, &states), 0))
		return true;
	scenario_estimate(s, &r->estimate);
	return !e->legal || !e->host_fits || !is_held(r, e->memory.total_bytes) ||
	       is_above(r, e->step_seconds, e->memory.total_bytes);
}

static bool visit_shape(struct reader *r)
{
	r->dealt = false;
	return r->no_shape[place(r, DECIDES_SHAPE)] || is_closed(r, &r->least) ||
	       reader_each(r, r->first[DECIDES_STATES], r->q->axes, visit_states);
}

static bool add_states(struct reader *r)
{
	if (!r->no_states[place(r, DECIDES_STATES)])
		train_states_add(&r->bound, &r->trial.scenario, &r->least, NULL);
	return true;
}

static void least_states(struct reader *r)
{
	train_states_begin(&r->least);
	reader_each(r, r->first[DECIDES_STATES], r->q->axes, add_states);
}

static bool visit_mode(struct reader *r)
{
	const struct scenario *s = &r->trial.scenario;

	trial_cost(&r->trial, r->part);
	train_bound(s, r->part, &r->bound);
	least_states(r);
	return is_above(r, train_mode_seconds(&r->bound, s, &r->least), 0) ||
	       breaks(r, DECIDES_MODE) ||
	       reader_each(r, r->first[DECIDES_SHAPE], r->first[DECIDES_MODE],
			   visit_shape);
}

static bool judge_states(struct reader *r)
{
	r->no_states[place(r, DECIDES_STATES)] = breaks(r, DECIDES_STATES);
	return true;
}

static bool judge_shape(struct reader *r)
{
	double seconds = train_pair_seconds(&r->bound, &r->trial.scenario, &r->least);

	bool none = is_above(r, seconds, 0) || breaks(r, DECIDES_SHAPE);

	r->no_shape[place(r, DECIDES_SHAPE)] = none;
	r->shapes += !none;
	return true;
}

static bool visit_node(struct reader *r)
{
	struct plan *plan = &r->trial.scenario.plan, keep = *plan;

	train_relax(&r->set, plan);
	cost_outer(r);
	*plan = keep;
	r->bound = r->outer;
	r->shapes = 0;
	reader_each(r, r->first[DECIDES_STATES], r->q->axes, judge_states);
	train_relax_mode(&r->set, plan);
	least_states(r);
	reader_each(r, r->first[DECIDES_SHAPE], r->first[DECIDES_MODE], judge_shape);
	*plan = keep;
	trial_begin(&r->trial);
	return r->shapes == 0 || reader_each(r, r->first[DECIDES_MODE],
					     r->first[DECIDES_STATES], visit_mode);
}

/* Within the digits that compilers may differ in. */
static bool is_equal(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-12 * fabs(b);
}

bool closing_check(struct reader *r, const char *word, double number)
{
	bool plans = strcmp(word, "plans") == 0;

	r->score = r->bytes = INFINITY;
	if (!reader_each(r, 0, r->first[DECIDES_SHAPE],
			 plans ? visit_node : visit_relaxed))
		return false;
	if (strcmp(word, "memory") == 0)
		return is_equal(number, r->bytes) && !is_held(r, r->bytes);
	return is_equal(number, r->score) && r->score >= r->q->answer;
}
