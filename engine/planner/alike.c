/* alike.c - see alike.h. */
#include "engine/planner/alike.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is within that of the best is as fast. */
static const double as_fast = 0.005;

static bool serves_alike(const struct scenario *a, const struct scenario *b)
{
	for (int k = 0; k < knob_count(); k++)
		if (!knob_same(a, b, &knob_table[k]) &&
		    (knob_applies(a, &knob_table[k]) ||
		     knob_applies(b, &knob_table[k])))
			return false;
	return true;
}

static bool is_alike(const struct planner_problem *problem,
		     const struct planner_found *a, const struct planner_found *b)
{
	struct scenario first, second;

	if (problem->base.plan.mode == MODE_TRAINING)
		return memcmp(&a->idea, &b->idea, sizeof a->idea) == 0;
	planner_scenario(problem, a, &first);
	planner_scenario(problem, b, &second);
	return serves_alike(&first, &second);
}

double alike_limit(double score)
{
	return score + as_fast * fabs(score);
}

bool alike_is_as_fast(double score, double best)
{
	return score <= alike_limit(best);
}

void planner_alike(const struct planner_problem *problem,
		   const struct planner_result *result, struct alike *out)
{
	*out = (struct alike){ .rows = 0 };
	for (int i = 0; i < result->found; i++) {
		double score = result->top[i].score, first;
		int row = 0;

		while (row < out->rows && !is_alike(problem, &result->top[i],
						    &result->top[out->best[row]]))
			row++;
		if (row == out->rows)
			out->best[out->rows++] = (uint8_t)i;
		first = result->top[out->best[row]].score;
		out->count[row]++;
		out->as_fast[row] += alike_is_as_fast(score, first);
		out->row[i] = (uint8_t)row;
	}
}

size_t alike_name(const struct alike *alike, int plan, char *out, size_t size)
{
	int row = alike->row[plan], before = 0;
	bool best = alike->best[row] == plan;

	for (int i = 0; i < plan; i++)
		before += alike->row[i] == row && i != alike->best[row];
	return (size_t)snprintf(out, size, best || before > 24 ? "%d" : "%d%c", row + 1,
				'b' + before);
}
