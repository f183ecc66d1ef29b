/* alike.c - see alike.h. */
#include "engine/planner/alike.h"

#include <math.h>
#include <string.h>

/* What is within that of the best is as fast. */
static const double as_fast = 0.005;

static bool parts_alike(const struct scenario *a, const struct scenario *b)
{
	const struct plan *p = &a->plan, *q = &b->plan;

	return a->cluster.gpus == b->cluster.gpus && p->tp == q->tp && p->sp == q->sp &&
	       p->pp == q->pp && p->ep == q->ep && scenario_etp(a) == scenario_etp(b) &&
	       p->global_batch == q->global_batch && p->seq_len == q->seq_len &&
	       p->micro_batch * q->cp == q->micro_batch * p->cp;
}

static bool serves_alike(const struct scenario *a, const struct scenario *b)
{
	for (int k = 0; k < knob_count(); k++)
		if (!knob_same(a, b, &knob_table[k]) &&
		    (knob_applies(a, &knob_table[k]) ||
		     knob_applies(b, &knob_table[k])))
			return false;
	return true;
}

static bool is_alike(const struct scenario *a, const struct scenario *b)
{
	return a->plan.mode == MODE_INFERENCE ? serves_alike(a, b) : parts_alike(a, b);
}

void planner_alike(const struct planner_problem *problem,
		   const struct planner_result *result, struct alike *out)
{
	struct scenario plan, best;

	*out = (struct alike){ .rows = 0 };
	for (int i = 0; i < result->found; i++) {
		double score = result->top[i].score, first;
		int row = 0;

		planner_scenario(problem, &result->top[i], &plan);
		for (; row < out->rows; row++) {
			planner_scenario(problem, &result->top[out->best[row]], &best);
			if (is_alike(&plan, &best))
				break;
		}
		if (row == out->rows)
			out->best[out->rows++] = (uint8_t)i;
		first = result->top[out->best[row]].score;
		out->count[row]++;
		out->as_fast[row] += score - first <= as_fast * fabs(first);
		out->row[i] = (uint8_t)row;
	}
}
