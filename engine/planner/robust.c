/* robust.c - see robust.h. */
#include "engine/planner/robust.h"

#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"

static const double worse = 0.9;

const char *robust_word(enum robust_case which)
{
	static const char *const words[ROBUST_CASES] = { "as is", "network", "gemm",
							 "memory" };

	return (unsigned)which < ROBUST_CASES ? words[which] : "";
}

void robust_weaken(enum robust_case which, struct scenario *scenario)
{
	struct cluster *c = &scenario->cluster;

	switch (which) {
	case ROBUST_NETWORK:
		c->link[LINK_NETWORK].bytes_per_second *= worse;
		c->link[LINK_UPPER].bytes_per_second *= worse;
		break;
	case ROBUST_GEMM:
		for (int i = 0; i < PRECISION_COUNT; i++)
			c->accelerator.calibration.gemm_efficiency[i] *= worse;
		break;
	case ROBUST_MEMORY: c->accelerator.usable_bytes *= worse; break;
	default: break;
	}
}

static void estimate_plan(const struct robust *robust, int plan, struct estimate *e,
			  struct robust_plan *out)
{
	const struct planner_problem *problem = robust->problem;

	for (int i = 0; i < ROBUST_CASES; i++) {
		struct scenario s;

		planner_scenario(problem, &robust->plan[plan], &s);
		robust_weaken((enum robust_case)i, &s);
		scenario_figures(&s, e);
		out->fits[i] = e->legal && e->host_fits &&
			       e->memory.total_bytes <= planner_room(problem, &s);
		out->score[i] = objective_of_estimate(problem->objective, &s, e);
		out->step_seconds[i] = e->step_seconds;
	}
}

/* Equal plans keep the order in which they were found. */
static void rank_case(struct robust *robust, int which)
{
	for (int i = 0; i < robust->plans; i++) {
		struct robust_plan *own = &robust->item[i];

		own->rank[which] = own->fits[which] ? 1 : 0;
		for (int k = 0; k < robust->plans && own->fits[which]; k++) {
			const struct robust_plan *other = &robust->item[k];

			if (other->fits[which] &&
			    (other->score[which] < own->score[which] ||
			     (other->score[which] == own->score[which] && k < i)))
				own->rank[which]++;
		}
	}
}

bool robust_begin(struct robust *robust, const struct planner_problem *problem,
		  const struct planner_result *result)
{
	struct estimate *e = malloc(sizeof *e);

	memset(robust, 0, sizeof *robust);
	robust->problem = problem;
	robust->done = !e || result->found == 0;
	if (robust->done) {
		free(e);
		return e != NULL;
	}
	robust->plans = result->found < MAX_ROBUST ? result->found : MAX_ROBUST;
	memcpy(robust->plan, result->top,
	       (size_t)robust->plans * sizeof robust->plan[0]);
	for (int i = 0; i < robust->plans; i++)
		estimate_plan(robust, i, e, &robust->item[i]);
	free(e);
	for (int i = 0; i < ROBUST_CASES; i++)
		rank_case(robust, i);
	robust->best[ROBUST_AS_IS] = result->top[0];
	robust->has_best[ROBUST_AS_IS] = true;
	robust->at = ROBUST_AS_IS + 1;
	return true;
}

bool robust_next(struct robust *robust, struct planner_problem *out)
{
	if (robust->done)
		return false;
	*out = *robust->problem;
	robust_weaken((enum robust_case)robust->at, &out->base);
	out->top = 1;
	out->strict = true;
	return true;
}

static bool is_always_best(const struct robust *robust, const struct robust_plan *plan)
{
	for (int i = 0; i < ROBUST_CASES; i++)
		if (!plan->fits[i] || !robust->has_best[i] ||
		    plan->score[i] > robust->best[i].score)
			return false;
	return true;
}

void robust_take(struct robust *robust, const struct planner_result *result)
{
	if (robust->done)
		return;
	robust->has_best[robust->at] = result->found > 0;
	if (result->found > 0)
		robust->best[robust->at] = result->top[0];
	if (++robust->at < ROBUST_CASES)
		return;
	robust->done = true;
	for (int i = 0; i < robust->plans; i++)
		robust->item[i].always_best = is_always_best(robust, &robust->item[i]);
}
