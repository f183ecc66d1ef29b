/* layout.c - degrees of a training run that nobody gave, by quick searches among usual
 * layouts: first those that one would try, then wider ones, until something fits. */
#include <limits.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "engine/rules/ability.h"
#include "engine/rules/rules.h"
#include "engine/start/parts.h"

/* What a search may choose from; a knob that is in no row has the stack's value. */
struct reach {
	double reserve; /* of the memory */
	int64_t micro_batch, tp, pp, cp, ep;
	bool twos;         /* powers of two only, TP within the fast domain */
	bool other_states; /* shared in another way than the stack's habit */
	bool offload;      /* of the optimizer's states to the hosts */
	bool nearest;      /* the least that does not fit will do */
};

/* The layouts of published runs (Llama 3, Nemotron, DeepSeek-V3, Megatron's own: TP up
 * to 8 inside a node, up to 16 stages, EP up to 64); then all degrees and uneven
 * stages; then with the states shared otherwise or sent to the hosts; then with nothing
 * left free. */
static const struct reach reaches[] = {
	{ 0.1, 4, 8, 16, 1, 64, true, false, false, false },
	{ 0.1, 2, 64, 64, 64, 512, false, false, false, false },
	{ 0.1, 1, 8, 1, 64, 512, false, true, false, false },
	{ 0.1, 1, 64, MAX_STAGES, 64, 512, false, false, true, false },
	{ 0.1, 1, 64, MAX_STAGES, 64, 512, false, true, true, false },
	{ 0, 1, 64, MAX_STAGES, 64, 512, false, false, true, false },
	{ 0, 1, 64, MAX_STAGES, 64, 512, false, true, true, true },
};

/* Of a batch that is the same for all, so that the shortest step is the fastest. */
struct layout {
	struct scenario scenario;
	double step_seconds;
};

/* A sequence up to so many tokens stays on one rank where CP is not needed. */
enum { USUAL_SEQUENCE = 4096, SHORT_SEQUENCE = 16384, LONG_CP = 16, CANDIDATES = 16 };

/* The warnings that a plan breaks, by the rows of its mode's table. */
struct warnings {
	int count;
	bool row[MAX_RULES];
};

static struct warnings warnings_of(const struct scenario *s)
{
	struct warnings warned = { 0 };
	struct broken broken;
	struct facts facts;
	int count;
	const struct legality *row = rules_of(s, &count);

	rules_derive(s, &facts);
	for (int i = 0; i < count; i++)
		if (row[i].rule.severity == SEVERITY_WARNING &&
		    rules_hold(&row[i], &s->stack) && row[i].breaks(&facts, &broken))
			warned.row[i] = ++warned.count > 0;
	return warned;
}

static bool warns_anew(const struct scenario *s, const struct warnings *before)
{
	struct warnings now = warnings_of(s);

	for (int i = 0; i < MAX_RULES; i++)
		if (now.row[i] && !before->row[i])
			return true;
	return false;
}

static bool is_key(const struct planner_axis *axis, const char *key)
{
	return strcmp(axis->knob->key, key) == 0;
}

static int64_t fast_domain(const struct scenario *s)
{
	int64_t domain = s->cluster.link[LINK_DOMAIN].span;

	return domain > 0 ? domain : s->cluster.gpus_per_node;
}

/* Of sequences shorter than usual as many tokens. */
static int64_t most_samples(const struct reach *reach, const struct scenario *s)
{
	int64_t times = USUAL_SEQUENCE / s->plan.seq_len;

	return times > 1 ? reach->micro_batch * times : reach->micro_batch;
}

/* Whether this value of a degree is within the search's reach. */
static bool reaches_to(const struct reach *reach, const struct scenario *s,
		       const struct planner_axis *axis, int64_t value)
{
	const struct {
		const char *key;
		int64_t most;
	} limits[] = {
		{ "mbs", most_samples(reach, s) },
		{ "tp", reach->twos && fast_domain(s) < reach->tp ? fast_domain(s)
								  : reach->tp },
		{ "pp", reach->pp },
		{ "cp", s->plan.seq_len > SHORT_SEQUENCE && reach->cp < LONG_CP
				? LONG_CP
				: reach->cp },
		{ "ep", reach->ep },
	};

	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		if (is_key(axis, limits[i].key))
			return value <= limits[i].most &&
			       (!reach->twos || is_key(axis, "pp") ||
				(value & (value - 1)) == 0);
	return false;
}

/* The other usual way to share the states: kept whole where the habit parts them, as
 * far as the stack has it. */
static double other_zero(const struct scenario *s)
{
	if (s->plan.zero != 3)
		return 3;
	return ability_never(&s->stack, knob_find("zero"), 1) ? 2 : 1;
}

/* Recomputation: the stack's habit, and all. States: the habit, or the other usual
 * way. SP goes with TP. */
static bool is_usual_word(const struct reach *reach, const struct scenario *s,
			  const struct planner_axis *axis, double value)
{
	double now = knob_get(s, axis->knob);

	if (is_key(axis, "recompute"))
		return value == now || value == RECOMPUTE_FULL;
	if (is_key(axis, "zero"))
		return value == (!reach->other_states ? now : other_zero(s));
	if (is_key(axis, "sp"))
		return value == 0 || value == now;
	if (is_key(axis, "optimizer_offload"))
		return reach->offload || value == now;
	if (is_key(axis, "etp"))
		return value == now || value == 1;
	/* a machine of any number of nodes has stages that the layers don't divide by
	 */
	if (is_key(axis, "split"))
		return value == now || (!reach->twos && value == SPLIT_BALANCED);
	return false;
}

/* The values of a usual axis that a start may take. None: the scenario's own stays. */
static int filter_values(const struct reach *reach, const struct scenario *s,
			 const struct planner_axis *axis, double *values)
{
	struct scenario trial = *s;
	struct warnings before;
	int count = 0;

	if (reach->other_states)
		knob_set(&trial, knob_find("zero"), other_zero(s));
	before = warnings_of(&trial);
	for (int i = 0; i < axis->count; i++) {
		double value = axis->value[i];

		if (!reaches_to(reach, s, axis, (int64_t)value) &&
		    !is_usual_word(reach, s, axis, value))
			continue;
		/* what is warned of is no choice of one's own */
		knob_set(&trial, axis->knob, value);
		if (!warns_anew(&trial, &before) || is_key(axis, "mbs"))
			values[count++] = value;
	}
	return count;
}

static void narrow_axes(const struct reach *reach, const struct start *start,
			struct planner_problem *problem)
{
	const struct scenario *s = &problem->base;

	planner_axes(problem);
	for (int i = 0; i < problem->axes; i++) {
		struct planner_axis *axis = &problem->axis[i];
		double values[MAX_AXIS_VALUES];
		int count = 0;

		if (!start_is_given(start, axis->knob->key))
			count = filter_values(reach, s, axis, values);
		if (count == 0)
			values[count++] = knob_get(s, axis->knob);
		planner_pin(problem, axis->knob, values, count);
	}
	problem->objective = OBJECTIVE_STEP;
	problem->reserve = reach->reserve;
	problem->strict = !reach->nearest;
	problem->top = CANDIDATES;
}

/* Of the best plans the first with the fewest warnings; false if none fits. */
static bool pick_layout(const struct planner_problem *problem,
			const struct planner_result *result, struct layout *out)
{
	int least = INT_MAX;

	for (int i = 0; i < result->found; i++) {
		struct scenario s;
		int count;

		planner_scenario(problem, &result->top[i], &s);
		count = warnings_of(&s).count;
		if (count < least)
			*out = (struct layout){ s, result->top[i].step_seconds };
		least = count < least ? count : least;
	}
	if (result->found == 0 && result->has_nearest)
		planner_scenario(problem, &result->nearest, &out->scenario);
	return result->found > 0 || result->has_nearest;
}

static bool search_layouts(const struct reach *reach, const struct start *start,
			   const struct scenario *s, struct layout *out)
{
	struct planner_problem problem = { .base = *s };
	struct planner *planner;
	bool found;

	narrow_axes(reach, start, &problem);
	planner = planner_start(&problem);
	if (!planner)
		return false;
	while (planner_step(planner, INT_MAX)) {
	}
	found = !planner_result(planner)->failed &&
		pick_layout(&problem, planner_result(planner), out);
	planner_free(planner);
	return found;
}

/* 126 layers (Llama 3 405B) or 70 (BLOOM) are made for embedding and loss that count as
 * a layer each (arXiv 2407.21783, section 3.3.2; arXiv 2211.05100, section 3.3.1);
 * unless as many stages are given as divide the layers alone. */
static void count_ends(struct start *start, struct scenario *s)
{
	enum { EIGHT = 8 };
	int64_t layers = s->model.layers, chunks = s->plan.pp * s->plan.vpp;

	if ((s->stack.rules >> 8 & 1) == 0 || layers % EIGHT == 0 ||
	    (layers + 2) % EIGHT != 0)
		return;
	if (chunks > 1 && layers % chunks == 0 && (layers + 2) % chunks != 0)
		return;
	start_set(start, s, "split_embedding", 1);
	start_set(start, s, "split_loss", 1);
}

/* The first reach that has any; where that is all degrees, an odd machine may be better
 * off with the states shared otherwise. */
static bool search_all(const struct start *start, const struct scenario *s,
		       struct layout *out)
{
	enum { ALL_DEGREES = 1, COUNT = sizeof reaches / sizeof reaches[0] };
	struct layout other;
	int i = 0;

	while (i < COUNT && !search_layouts(&reaches[i], start, s, out))
		i++;
	if (i == ALL_DEGREES && search_layouts(&reaches[i + 1], start, s, &other) &&
	    other.step_seconds < out->step_seconds)
		*out = other;
	return i < COUNT;
}

/* What a start decides, in the order in which it is told. */
static const char *const decided[] = { "tp",
				       "sp",
				       "pp",
				       "cp",
				       "ep",
				       "etp",
				       "mbs",
				       "zero",
				       "split",
				       "recompute",
				       "optimizer_offload",
				       NULL };

void start_layout(struct start *start, struct scenario *s)
{
	struct layout found;
	bool any;

	start_batch(start, s);
	count_ends(start, s);
	any = search_all(start, s, &found);
	/* nothing is legal with what was given: SP alone is not to blame */
	if (!any && s->plan.tp == 1)
		start_set(start, s, "sp", 0);
	for (int i = 0; any && decided[i]; i++)
		start_set(start, s, decided[i],
			  knob_get(&found.scenario, knob_find(decided[i])));
	start_divide_batch(start, s);
	start_set(start, s, "tokens", knob_get(s, knob_find("tokens")));
}

bool start_decides(const struct knob *knob)
{
	for (int i = 0; decided[i]; i++)
		if (strcmp(decided[i], knob->key) == 0)
			return true;
	return false;
}
