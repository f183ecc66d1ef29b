/* why.c - see why.h. */
#include "engine/planner/why.h"

#include <math.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "engine/whatif/whatif.h"

const char *why_limit(const struct estimate *estimate, double *share)
{
	const struct estimate *e = estimate;
	const struct serving_estimate *v = &e->serving;
	const char *what = "compute";
	double most = 0.03 * e->step_seconds;

	if (v->decode_seconds > 0) {
		const double part[BOUND_COUNT] = {
			[BOUND_COMPUTE] = v->compute_seconds,
			[BOUND_MEMORY] = v->memory_seconds,
			[BOUND_NETWORK] = v->network_seconds,
			[BOUND_OVERHEAD] = v->overhead_seconds,
		};

		*share = part[v->bound] / v->decode_seconds;
		return bound_label((enum bound)v->bound);
	}
	*share = e->compute_seconds / e->step_seconds;
	struct {
		const char *what;
		double seconds;
	} loss[DIM_COUNT + 3] = { { "bubble", e->bubble_seconds },
				  { "optimizer", e->optimizer_seconds },
				  { "recompute", e->recompute_seconds } };
	for (int i = 0; i < DIM_COUNT; i++) {
		loss[i + 3].what = dimension_label((enum dimension)i);
		loss[i + 3].seconds = e->cost[i].exposed_seconds;
	}
	for (int i = 0; i < DIM_COUNT + 3; i++) {
		if (!(loss[i].seconds >= most))
			continue;
		most = loss[i].seconds;
		what = loss[i].what;
		*share = most / e->step_seconds;
	}
	return what;
}

static double seconds_of(const struct why *why, const struct scenario *s,
			 const struct estimate *e)
{
	if (s->plan.mode == MODE_INFERENCE)
		return e->feasible && e->serving.goodput > 0 ? 1 / e->serving.goodput
							     : INFINITY;
	if (!e->legal || e->memory.total_bytes > planner_room(why->problem, s) ||
	    !(e->tokens_per_second_per_gpu > 0))
		return INFINITY;
	return 1 / e->tokens_per_second_per_gpu;
}

void why_begin(struct why *why, const struct planner_problem *problem,
	       const struct scenario *scenario, const struct estimate *now)
{
	memset(why, 0, sizeof *why);
	why->problem = problem;
	why->scenario = *scenario;
	why->seconds = seconds_of(why, scenario, now);
	/* whoever has no reserve is not told to make one */
	if (isinf(why->seconds) && now->feasible)
		why->seconds = 1 / now->tokens_per_second_per_gpu;
}

static double gain_of(const struct why *why, double seconds)
{
	if (isinf(why->seconds))
		return isinf(seconds) ? 0 : 1;
	return 1 - seconds / why->seconds;
}

/* What of a run's arithmetic is not the plan's to change: the search holds it, too. */
static bool is_given(const struct knob *knob)
{
	static const char *const given[] = { "precision", "kv_precision", "optimizer",
					     "moe_capacity", "capacity_factor" };

	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
		if (strcmp(knob->key, given[i]) == 0)
			return true;
	return false;
}

/* Two knobs that turn the same thing on (TP's overlap, fused norms) are told once. */
static bool is_told(const struct why *why, const struct why_change *change)
{
	for (int i = 0; i < why->count && isfinite(why->seconds); i++)
		if (fabs(why->change[i].gain - change->gain) < 1e-12)
			return true;
	return false;
}

static void keep_reason(struct why *why, const struct why_change *change)
{
	int at = why->count;

	if (is_told(why, change))
		return;

	while (at > 0 && why->change[at - 1].gain < change->gain)
		at--;
	if (at == MAX_WHY)
		return;
	if (why->count < MAX_WHY)
		why->count++;
	for (int i = why->count - 1; i > at; i--)
		why->change[i] = why->change[i - 1];
	why->change[at] = *change;
}

static double try_value(const struct why *why, const struct knob *knob, double value,
			struct estimate *scratch)
{
	struct scenario s = why->scenario;

	if (!knob_set(&s, knob, value))
		return INFINITY;
	scenario_figures(&s, scratch);
	return seconds_of(why, &s, scratch);
}

static int values_of(const struct why *why, const struct knob *knob,
		     double values[MAX_AXIS_VALUES])
{
	for (int i = 0; i < why->problem->axes; i++) {
		const struct planner_axis *axis = &why->problem->axis[i];

		if (axis->knob != knob)
			continue;
		memcpy(values, axis->value, (size_t)axis->count * sizeof *values);
		return axis->count;
	}
	if (!whatif_tunes(knob) || is_given(knob) || knob->type == KNOB_TEXT ||
	    knob->type == KNOB_SET)
		return 0;
	values[0] = knob_neighbour(&why->scenario, knob, -1);
	values[1] = knob_neighbour(&why->scenario, knob, 1);
	return 2;
}

bool why_step(struct why *why, struct estimate *scratch)
{
	const struct knob *knob = &knob_table[why->next];
	double values[MAX_AXIS_VALUES], now, best;
	struct why_change change = { .knob = knob };
	int count;

	if (why->next >= knob_count())
		return false;
	why->next++;
	if (!knob_applies(&why->scenario, knob))
		return why->next < knob_count();
	now = change.from = knob_get(&why->scenario, knob);
	best = why->seconds;
	count = values_of(why, knob, values);
	for (int i = 0; i < count; i++) {
		double seconds = values[i] == now
					 ? INFINITY
					 : try_value(why, knob, values[i], scratch);

		if (seconds < best) {
			best = seconds;
			change.to = values[i];
		}
	}
	change.gain = gain_of(why, best);
	if (best < why->seconds && change.gain >= 0.002)
		keep_reason(why, &change);
	return why->next < knob_count();
}

static int list_differing(const struct why *why, const struct scenario *better,
			  struct why_change *change, int room)
{
	int count = 0;

	for (int i = 0; i < knob_count() && count < room; i++) {
		const struct knob *knob = &knob_table[i];

		if (knob->type != KNOB_TEXT && !knob_same(&why->scenario, better, knob))
			change[count++] = (struct why_change){
				.knob = knob,
				.from = knob_get(&why->scenario, knob),
				.to = knob_get(better, knob),
			};
	}
	return count;
}

void why_pair(struct why *why, const struct scenario *better, struct estimate *scratch)
{
	enum { MOST = 14 };
	struct why_change change[MOST];
	int count = list_differing(why, better, change, MOST);
	double best = why->seconds;

	scenario_figures(better, scratch);
	why->gain_of_all = gain_of(why, seconds_of(why, better, scratch));
	if (why->count > 0)
		return;
	for (int i = 0; i < count; i++) {
		for (int k = i + 1; k < count; k++) {
			struct scenario s = why->scenario;
			double seconds;

			knob_set(&s, change[i].knob, change[i].to);
			knob_set(&s, change[k].knob, change[k].to);
			scenario_figures(&s, scratch);
			seconds = seconds_of(why, &s, scratch);
			if (!(seconds < best))
				continue;
			best = seconds;
			why->change[0] = change[i];
			why->change[1] = change[k];
		}
	}
	if (!(gain_of(why, best) >= 0.002))
		return;
	why->count = 2;
	why->together = true;
	why->change[0].gain = why->change[1].gain = gain_of(why, best);
}
