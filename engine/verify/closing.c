/* closing.c - see closing.h. */
#include "engine/verify/closing.h"

#include <math.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/rules/rules.h"
#include "engine/schedule/schedule.h"

static const struct closing closings[] = {
	{ "time", false, 0 },         { "memory", true, 0 },
	{ "work", false, 0 },         { "pairs", false, BY_PAIRS },
	{ "held", true, BY_HELD },    { "floor", false, BY_FLOOR },
	{ "large", true, BY_LARGE },  { "plans", false, BY_PLANS },
	{ "hosts", false, BY_HOSTS }, { "mixed", false, BY_ANY },
};

const struct closing *closing_find(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof closings / sizeof *closings; i++)
		if (strlen(closings[i].word) == length &&
		    memcmp(closings[i].word, word, length) == 0)
			return &closings[i];
	return NULL;
}

bool closing_reads(const char *reads, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = reads; (at = strstr(at, key)); at += length)
		if ((at == reads || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* Axes stand role by role: what costs a micro-batch, what divides, shapes,
 * recomputation, states. */
bool closing_arrange(struct reader *r)
{
	static const char *const keys[] = {
		"gbs pp", "schedule vpp split micro_batch_group",
		"recompute recompute_layers recompute_modules activation_offload",
		"zero zero_group optimizer_offload"
	};
	int first[5] = { 0 }, role = 0;

	for (int a = 0; a < r->q->axes; a++) {
		int own = 0;

		for (int i = 0; i < 4; i++)
			if (closing_reads(keys[i], r->q->axis[a].knob->key))
				own = i + 1;
		if (own < role)
			return false;
		for (; role < own; role++)
			first[role + 1] = a;
	}
	for (; role < 4; role++)
		first[role + 1] = r->q->axes;
	r->divides = first[1];
	r->shapes = first[2];
	r->modes = first[3];
	r->states = first[4];
	return true;
}

/* How many roles inside a node a rule reads, states counted twice. */
static int roles_read(const struct reader *r, const char *reads)
{
	const int first[] = { r->shapes, r->modes, r->states, r->q->axes };
	int roles = 0;

	for (int role = 0; role < 3; role++) {
		bool any = false;

		for (int a = first[role]; a < first[role + 1]; a++)
			any |= closing_reads(reads, r->q->axis[a].knob->key);
		roles += any ? 1 + (role == 2) : 0;
	}
	return roles;
}

void closing_rules(struct reader *r)
{
	int count;
	const struct legality *rows = rules_of(&r->q->base, &count);

	for (int i = 0; i < count; i++) {
		int roles = roles_read(r, rows[i].reads);

		if (roles == 0 || rows[i].rule.severity != SEVERITY_ERROR ||
		    !rules_hold(&rows[i], &r->q->base.stack))
			continue;
		r->rule[r->rules].row = i;
		r->rule[r->rules++].of_pairs = roles == 1;
	}
}

double closing_score(const struct reader *r, double step, double bytes)
{
	const struct scenario *s = &r->trial.scenario;
	double gpus = (double)s->cluster.gpus;
	double tokens = (double)s->plan.global_batch * (double)s->plan.seq_len;

	switch (r->q->objective[0]) {
	case 't': return step * gpus / tokens;
	case 'c':
		return s->plan.tokens / tokens * step * gpus / 3600 *
		       s->cluster.price_per_gpu_hour;
	case 'm': return bytes;
	case 'g': return gpus * 1e6 + step;
	default: return step;
	}
}

double closing_room(const struct reader *r)
{
	const struct accelerator *a = &r->trial.scenario.cluster.accelerator;

	return (a->usable_bytes > 0 ? a->usable_bytes : a->memory_bytes) *
	       (1 - r->q->reserve);
}

static double scaled(const struct reader *r, double seconds, double bytes)
{
	return closing_score(r, train_bound_scaled(&r->trial.scenario, seconds), bytes);
}

static const struct verify_axis *axis_of(const struct reader *r, const char *key)
{
	for (int a = 0; a < r->q->axes; a++)
		if (strcmp(r->q->axis[a].knob->key, key) == 0)
			return &r->q->axis[a];
	return NULL;
}

/* The least or most of an axis's values, or what the scenario has. */
static double end_of(const struct reader *r, const char *key, bool most)
{
	const struct verify_axis *axis = axis_of(r, key);
	double value = axis ? axis->value[0] : knob_get(&r->q->base, knob_find(key));

	for (int i = 0; axis && i < axis->count; i++)
		value = most ? fmax(value, axis->value[i])
			     : fmin(value, axis->value[i]);
	return value;
}

static bool is_free(const struct reader *r, const char *key)
{
	return axis_of(r, key) != NULL;
}

/* The plan that no plan of the node beats: nothing is made again or sent out, states
 * are shared by all, and the shape is the best of any. */
static void relax(struct reader *r)
{
	struct plan *plan = &r->trial.scenario.plan;
	const struct verify_axis *schedule = axis_of(r, "schedule");
	bool pairs = !schedule && schedule_pairs(plan->schedule);
	bool two = schedule_weight_copies(r->q->base.plan.schedule) > 1;
	int last = (int)end_of(r, "schedule", true);

	for (int i = 0; schedule && i < schedule->count; i++) {
		pairs |= schedule_pairs((int)schedule->value[i]);
		two |= schedule_weight_copies((int)schedule->value[i]) > 1;
	}
	if (is_free(r, "split") || is_free(r, "vpp"))
		plan->split = SPLIT_BALANCED;
	if (r->modes > r->shapes)
		plan->schedule = pairs                  ? SCHEDULE_DUALPIPEV
				 : last > SCHEDULE_1F1B ? SCHEDULE_ZB_V
							: SCHEDULE_1F1B;
	if (is_free(r, "recompute"))
		plan->recompute = RECOMPUTE_NONE;
	if (is_free(r, "activation_offload"))
		plan->activation_offload = 0;
	if (is_free(r, "recompute_layers"))
		plan->recompute_layers = 1;
	if (is_free(r, "recompute_modules"))
		plan->recompute_modules = 0;
	if (is_free(r, "zero_group"))
		plan->zero_group = 0;
	plan->zero = (int64_t)end_of(r, "zero", true);
	r->outer.two_copies = two;
}

/* What a micro-batch costs hangs on the outer axes alone; a tied head has no weights of
 * its own on a single stage. */
static void cost_outer(struct reader *r)
{
	struct scenario *s = &r->trial.scenario;
	int64_t pp = s->plan.pp;
	bool two = r->outer.two_copies;

	if (r->is_costed && memcmp(r->costed, r->choice, (size_t)r->divides) == 0)
		return;
	if (s->model.tied_embeddings)
		s->plan.pp = 1;
	trial_begin(&r->trial);
	trial_cost(&r->trial, r->part);
	train_bound(s, r->part, &r->outer);
	r->outer.two_copies = two;
	s->plan.pp = pp;
	memcpy(r->costed, r->choice, sizeof r->costed);
	r->is_costed = true;
}

/* With the most of the states on the hosts, or what of it they hold. */
static double least_held(struct reader *r)
{
	struct scenario *s = &r->trial.scenario;
	const struct verify_axis *off = axis_of(r, "optimizer_offload");
	struct bound_bytes held;
	double least;

	s->plan.optimizer_offload = end_of(r, "optimizer_offload", true);
	train_bound_states(&r->outer, s, &held);
	least = held.mean;
	for (int i = 0; off && isinf(held.mean) && i < off->count; i++) {
		struct bound_bytes other;

		s->plan.optimizer_offload = off->value[i];
		train_bound_states(&r->outer, s, &other);
		least = fmin(least, other.mean);
	}
	return least;
}

/* Of the relaxed plan, what ends the step, and the bytes of any states. */
static bool visit_relaxed(struct reader *r)
{
	struct scenario *s = &r->trial.scenario;
	struct plan keep = s->plan;
	const struct verify_axis *zero = axis_of(r, "zero");
	double ends = INFINITY, bytes = INFINITY;

	relax(r);
	cost_outer(r);
	for (int most = 0; most < 2; most++) {
		s->plan.optimizer_offload = end_of(r, "optimizer_offload", most);
		ends = fmin(ends, train_bound_ends(&r->outer, s));
	}
	ends += train_bound_pipeline(&r->outer, s);
	for (int i = 0; i < (zero ? zero->count : 1); i++) {
		if (zero)
			s->plan.zero = (int64_t)zero->value[i];
		bytes = fmin(bytes, least_held(r));
	}
	bytes += r->outer.framework_bytes;
	r->score = fmin(r->score, scaled(r, ends, bytes));
	r->bytes = fmin(r->bytes, bytes);
	s->plan = keep;
	return true;
}

static bool visit_state(struct reader *r)
{
	struct plan *plan = &r->trial.scenario.plan;
	int schedule = plan->schedule;
	struct bound_bytes held;

	plan->schedule = SCHEDULE_1F1B;
	r->ends = fmin(r->ends, train_bound_ends(&r->mode, &r->trial.scenario));
	train_bound_states(&r->mode, &r->trial.scenario, &held);
	plan->schedule = schedule;
	r->held.mean = fmin(r->held.mean, held.mean);
	r->held.first = fmin(r->held.first, held.first);
	r->held.layer = fmin(r->held.layer, held.layer);
	return true;
}

static bool took(struct reader *r, int by, double score, double bytes)
{
	r->by |= by;
	r->score = fmin(r->score, score);
	r->bytes = fmin(r->bytes, bytes);
	return true;
}

/* Whether a pair is closed with these states. */
static bool by_pair(struct reader *r, double ends, const struct bound_bytes *held)
{
	const struct scenario *s = &r->trial.scenario;
	struct bound_bytes activations;
	double bytes, score;

	train_bound_activations(&r->mode, s, &activations);
	bytes = train_bound_bytes(&r->mode, held, &activations);
	if (bytes > closing_room(r))
		return took(r, BY_HELD, INFINITY, bytes);
	score = scaled(r, train_bound_pipeline(&r->mode, s) + ends, bytes);
	return score >= r->q->answer && took(r, BY_PAIRS, score, INFINITY);
}

/* Whether the scenario breaks one of the rules that read knobs of one role inside a
 * node, but no state, or else of the others that read any. */
static bool by_rule(struct reader *r, bool of_pairs)
{
	int count;
	const struct legality *rows = rules_of(&r->q->base, &count);
	struct broken broken;
	struct facts facts;

	rules_derive(&r->trial.scenario, &facts);
	for (int i = 0; i < r->rules; i++)
		if (r->rule[i].of_pairs == of_pairs &&
		    rows[r->rule[i].row].breaks(&facts, &broken))
			return true;
	return false;
}

static bool visit_plan(struct reader *r)
{
	struct scenario *s = &r->trial.scenario;
	const struct estimate *e = &r->estimate;
	double ends = train_bound_ends(&r->mode, s), score;
	int64_t zero = s->plan.zero;
	struct bound_bytes held;

	train_bound_states(&r->mode, s, &held);
	if (by_pair(r, ends, &held))
		return true;
	if (by_rule(r, false))
		return took(r, BY_RULE, INFINITY, INFINITY);
	if (!r->dealt) {
		trial_use(&r->trial, r->part);
		s->plan.zero = 0;
		r->dealt = trial_stages(&r->trial);
		s->plan.zero = zero;
	}
	if (!r->dealt)
		return took(r, BY_HOSTS, INFINITY, INFINITY);
	score = scaled(r, trial_pipeline_floor(&r->trial) + ends, 0);
	if (score >= r->q->answer)
		return took(r, BY_FLOOR, score, INFINITY);
	scenario_estimate(s, &r->estimate);
	if (!e->legal)
		return false;
	if (e->memory.total_bytes > closing_room(r))
		return took(r, BY_LARGE, INFINITY, e->memory.total_bytes);
	score = closing_score(r, e->step_seconds, e->memory.total_bytes);
	if (score < r->q->answer && !e->host_fits)
		return took(r, BY_HOSTS, INFINITY, INFINITY);
	return took(r, BY_PLANS, score, INFINITY) && score >= r->q->answer;
}

static bool visit_pair(struct reader *r)
{
	r->dealt = false;
	if (by_rule(r, true))
		return took(r, BY_RULE, INFINITY, INFINITY);
	return (!r->alone && by_pair(r, r->ends, &r->held)) ||
	       reader_each(r, r->states, r->q->axes, visit_plan);
}

static void begin_mode(struct reader *r)
{
	trial_cost(&r->trial, r->part);
	train_bound(&r->trial.scenario, r->part, &r->mode);
	r->ends = INFINITY;
	r->held = (struct bound_bytes){ .mean = INFINITY,
					.first = INFINITY,
					.layer = INFINITY };
	reader_each(r, r->states, r->q->axes, visit_state);
}

static bool visit_mode(struct reader *r)
{
	begin_mode(r);
	return reader_each(r, r->shapes, r->modes, visit_pair);
}

static bool visit_work(struct reader *r)
{
	double seconds;

	begin_mode(r);
	seconds = train_bound_work(&r->mode, &r->trial.scenario) + r->ends;
	return took(r, 0, scaled(r, seconds, 0), INFINITY);
}

static bool visit_node(struct reader *r)
{
	trial_begin(&r->trial);
	return reader_each(r, r->modes, r->states, r->inside);
}

/* Within the digits that compilers may differ in. */
static bool is_equal(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-12 * fabs(b);
}

bool closing_check(struct reader *r, const struct closing *closing, double number)
{
	bool relaxed = strcmp(closing->word, "time") == 0 ||
		       strcmp(closing->word, "memory") == 0;

	r->inside = strcmp(closing->word, "work") == 0 ? visit_work : visit_mode;
	for (int alone = 0; alone < 2; alone++) {
		double found;

		r->alone = alone > 0;
		r->by = 0;
		r->score = r->bytes = INFINITY;
		if (!reader_each(r, 0, r->shapes, relaxed ? visit_relaxed : visit_node))
			return false;
		found = closing->bytes            ? r->bytes
			: closing->by == BY_HOSTS ? 0
						  : r->score;
		if ((r->by & ~closing->by) == 0 && is_equal(number, found))
			return closing->bytes ? found > closing_room(r)
					      : closing->by == BY_HOSTS ||
							found >= r->q->answer;
	}
	return false;
}
