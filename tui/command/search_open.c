/* search_open.c - the best plan that a search left out as too little known. */
#include <stdio.h>

#include "engine/base/form.h"
#include "engine/trust/trust.h"
#include "tui/command/search_print.h"

enum { MAX_PLAN = 160, MAX_FORM = 32 };

double open_gain(const struct planner_result *opened, const struct planner_found *best)
{
	static const double alike = 0.005;
	double gain = opened->found == 0
			      ? 0
			      : opened->top[0].tokens_per_second_per_gpu /
						best->tokens_per_second_per_gpu -
					1;

	return gain > alike ? gain : 0;
}

void print_open(const struct planner_problem *open, const struct planner_result *opened,
		const struct planner_found *best)
{
	const struct planner_found *found = &opened->top[0];
	char name[MAX_PLAN], step[MAX_FORM];
	struct doubts doubts;
	struct scenario s;
	double gain = open_gain(opened, best);

	if (gain <= 0)
		return;
	planner_scenario(open, found, &s);
	planner_name(open, &s, name, sizeof name);
	form_text(FORM_SECONDS, found->step_seconds, step, sizeof step);
	printf("\nless known plans are left out: %s (%s) takes %s per step, %.1f %% "
	       "faster;\n--trust open takes such plans\n",
	       name, trust_word(trust_of(&s, &doubts)), step, gain * 100);
}
