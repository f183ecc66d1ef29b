/* try.c - the plans of a node, one after the other. */
#include <math.h>
#include <string.h>

#include "engine/planner/search.h"

/* The choices of a node and of one option of each role, put together. */
static void whole_choice(const struct planner *p, const struct node *node,
			 const struct option *const option[ROLE_COUNT], uint8_t *choice)
{
	for (int i = 0; i < p->problem.axes; i++) {
		enum role role = p->role[i];

		choice[i] = role <= ROLE_DIVIDES ? node->choice[i]
						 : option[role]->choice[i];
	}
}

/* ZeRO 2 and 3 add traffic to what the stages do, and nothing else to it: without, they
 * are the same for all ways to hold the states, unless the split asks what stages
 * hold. */
static bool deal_layers(struct planner *p, bool lean)
{
	struct plan *plan = &p->trial->scenario.plan;
	int64_t zero = plan->zero;
	bool alike = plan->split != SPLIT_BALANCED_MEMORY, done;
	double known = p->dealt && p->stale ? p->floor : 0;

	/* where a rule orders the work, what is in flight hangs on the traffic */
	if (lean && p->dealt && !p->stale &&
	    !(zero >= 2 && p->trial->flowed && !p->trial->holds))
		return true;
	if (lean && alike)
		plan->zero = 0;
	done = trial_stages(p->trial);
	if (done)
		search_hold(p);
	plan->zero = zero;
	p->dealt = done && lean && alike;
	p->floor = p->dealt ? fmax(trial_pipeline_floor(p->trial), known) : 0;
	p->stale = false;
	return done;
}

static double score_of(const struct planner *p, double seconds, double bytes)
{
	return objective_of_step(p->problem.objective, &p->trial->scenario, seconds,
				 bytes);
}

/* Without ZeRO's traffic equal stages are summed in another order. */
static const double sure = 1 - 1e-9;

/* Whether the time that its stages need, and what ends the step at least, is too
 * long. */
static bool is_slow(struct planner *p, const struct option *state, double bytes)
{
	double seconds = train_dealt_seconds(p->trial, &state->least);

	return score_of(p, seconds, bytes) > search_worst(p);
}

/* The same with all that ends the step, and with ZeRO's own traffic. */
static bool is_slower(struct planner *p, double bytes)
{
	bool more = p->trial->scenario.plan.zero >= 2;

	/* stages that have ZeRO's traffic already are not given it twice */
	if (more && !p->dealt)
		return score_of(p, trial_floor(p->trial), bytes) > search_worst(p);
	if (score_of(p, trial_lean_floor(p->trial), bytes) > search_worst(p))
		return true;
	return more && deal_layers(p, false) &&
	       score_of(p, trial_floor(p->trial), bytes) > search_worst(p);
}

/* Seconds of a step with a score that is as bad as the worst that is wanted; 0 = there
 * are none. */
static double enough_seconds(const struct planner *p)
{
	double none = score_of(p, 0, 0), each = score_of(p, 1, 0) - none;
	double enough = each > 0 ? (search_worst(p) - none) / each : 0;

	return isfinite(enough) ? fmax(enough, 0) : 0;
}

/* What the step itself says, which runs the pipeline. */
static bool may_end_in_time(struct planner *p)
{
	struct planner_counts *counts = &p->result.counts;
	const struct scenario *s = &p->trial->scenario;
	double seconds = trial_seconds(p->trial, enough_seconds(p)), bytes;
	bool exact;

	if (isinf(seconds)) {
		p->floor = p->dealt ? trial_pipeline_floor(p->trial) : 0;
		counts->bounded++;
		return false;
	}
	bytes = trial_bytes(p->trial, &exact);
	if (bytes > search_room(p, s) && bytes <= search_limit(p, s))
		return true;
	if (bytes <= search_room(p, s) &&
	    score_of(p, seconds, bytes) <= search_worst(p))
		return true;
	counts->explored++;
	counts->out_of_memory += bytes > search_room(p, s);
	return false;
}

/* What its time, then its bytes say of a plan before it is estimated as a whole. True
 * if it may be wanted. */
static bool may_be_wanted(struct planner *p, const struct option *state)
{
	struct planner_counts *counts = &p->result.counts;
	const struct scenario *s = &p->trial->scenario;
	double bytes;
	bool exact;

	if (!deal_layers(p, true)) {
		counts->explored++;
		counts->illegal++;
		return false;
	}
	if (is_slow(p, state, 0)) {
		counts->bounded++;
		return false;
	}
	if (trial_exceeds(p->trial, search_limit(p, s) / sure)) {
		counts->too_large++;
		return false;
	}
	bytes = trial_bytes(p->trial, &exact) * sure;
	if (bytes > search_room(p, s))
		return true; /* it may be the nearest miss */
	if (is_slow(p, state, bytes) || is_slower(p, bytes)) {
		counts->bounded++;
		return false;
	}
	return may_end_in_time(p);
}

/* What is known of it without its stages. */
static bool is_hopeless(struct planner *p, const struct pair *pair,
			const struct option *state)
{
	const struct train_bound *bound = &p->option[ROLE_MODE].item[pair->mode].bound;
	const struct scenario *s = &p->trial->scenario;
	double pipeline = fmax(pair->pipeline, p->dealt ? p->floor : 0);
	double seconds = train_bound_scaled(s, pipeline + state->least.ends), bytes;

	if (score_of(p, seconds, 0) > search_worst(p)) {
		p->result.counts.bounded++;
		return true;
	}
	if (train_bound_exceeds(bound, &state->least.bytes, &pair->activations,
				search_limit(p, s))) {
		p->result.counts.too_large++;
		return true;
	}
	if (!objective_counts_bytes(p->problem.objective))
		return false;
	bytes = train_bound_bytes(bound, &state->least.bytes, &pair->activations);
	if (score_of(p, seconds, bytes) > search_worst(p)) {
		p->result.counts.bounded++;
		return true;
	}
	return false;
}

/* What means the same here is tried once, by the first of its names. */
bool search_named_again(const struct planner *p, struct scenario *s,
			const uint8_t *choice)
{
	for (int i = 0; i < p->problem.axes; i++) {
		const struct planner_axis *axis = &p->problem.axis[i];

		if (choice[i] > 0 &&
		    (!knob_applies(s, axis->knob) ||
		     knob_repeats(s, axis->knob, axis->value, choice[i])))
			return true;
	}
	return false;
}

/* Whether it is a name of another pair, whose layers fall as evenly: asked only of what
 * is not hopeless anyway. */
static bool deals_evenly(struct planner *p)
{
	if (p->even == EVEN_UNKNOWN)
		p->even = trial_deals_evenly(p->trial) ? EVEN : EVEN_NOT;
	return p->even == EVEN;
}

/* Whether it breaks a rule of knobs of several roles. */
static bool breaks_mixed(struct planner *p)
{
	struct facts facts;
	int row;

	if (p->mixed.count == 0)
		return false;
	rules_derive(&p->trial->scenario, &facts);
	row = search_broken(p, &p->mixed, &facts);
	if (row >= 0)
		search_reject(p, row, 1);
	return row >= 0;
}

/* A split by memory is another one for each way to hold the states. */
static bool holds_evenly(struct planner *p, const struct option *shape)
{
	const struct scenario *s = &p->trial->scenario;

	return s->plan.split == SPLIT_BALANCED_MEMORY && shape->has_even && p->trains &&
	       deal_layers(p, true) && split_is_even(s, &p->trial->whole.step.split);
}

/* Returns what it cost. */
static int try_plan(struct planner *p, const struct node *node, const struct pair *pair,
		    const struct option *state)
{
	const struct option *option[ROLE_COUNT] = {
		[ROLE_SHAPE] = &p->option[ROLE_SHAPE].item[pair->shape],
		[ROLE_MODE] = &p->option[ROLE_MODE].item[pair->mode],
		[ROLE_STATE] = state,
	};
	bool all = p->problem.exhaustive || !p->trains;
	struct scenario *s = &p->trial->scenario;
	uint8_t choice[MAX_AXES] = { 0 };

	if (!all && is_hopeless(p, pair, state))
		return 0;
	search_put(&state->inner, ROLE_STATE, &s->plan);
	if (breaks_mixed(p))
		return 0;
	if (deals_evenly(p) || holds_evenly(p, option[ROLE_SHAPE]) ||
	    (state->has_once && mesh_copies(s) == 1)) {
		p->result.counts.repeated++;
		return 1;
	}
	if (!all && !may_be_wanted(p, state))
		return 1;
	whole_choice(p, node, option, choice);
	if (!p->trains && search_named_again(p, s, choice)) {
		p->result.counts.repeated++;
		return 1;
	}
	p->result.counts.explored++;
	search_take(p, s, choice);
	return 1;
}

static void begin_pair(struct planner *p, const struct pair *pair)
{
	const struct option *shape = &p->option[ROLE_SHAPE].item[pair->shape];
	struct plan *plan = &p->trial->scenario.plan;

	search_put(&shape->inner, ROLE_SHAPE, plan);
	search_put(&p->option[ROLE_MODE].item[pair->mode].inner, ROLE_MODE, plan);
	p->dealt = false;
	p->even = !p->trains || !shape->has_even || plan->split != SPLIT_BALANCED
			  ? EVEN_NOT
			  : EVEN_UNKNOWN;
	if (p->trains)
		trial_use(p->trial, &p->cost[pair->mode * p->trial->parts]);
}

bool search_try(struct planner *p, const struct node *node, int *budget)
{
	const struct options *states = &p->option[ROLE_STATE];

	while (*budget > 0 && p->pair < p->pairs) {
		const struct pair *pair = &p->pair_list[p->pair];

		if (p->state == 0 && !p->problem.exhaustive &&
		    pair->bound > search_worst(p)) {
			p->result.counts.bounded +=
				(double)(p->pairs - p->pair) * states->count;
			p->pair = p->pairs;
			break;
		}
		if (p->state == 0)
			begin_pair(p, pair);
		for (; *budget > 0 && p->state < states->count; p->state++)
			*budget -= try_plan(p, node, pair, &states->item[p->state]);
		if (p->state == states->count) {
			p->state = 0;
			p->pair++;
		}
	}
	return p->pair < p->pairs;
}
