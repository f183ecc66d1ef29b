/* search_print.h - what a search found, as text for a person. */
#ifndef TUI_COMMAND_SEARCH_PRINT_H
#define TUI_COMMAND_SEARCH_PRINT_H

#include "presets/report.h"

/* The table of plans with the proof, then what was asked beside it. */
void print_search(const struct planner_problem *problem,
		  const struct planner_result *result, const struct search_extra *extra,
		  double seconds);

/* What `--ask` asked for, and the plans that answer (search_answer.c). */
void search_print_questions(const struct planner_problem *problem,
			    const struct search_extra *extra);

/* By how much the best of any trust is faster, 0 where it is as good as the same. */
double open_gain(const struct planner_result *opened, const struct planner_found *best);
/* That less known plans are faster than the best that the search took, with the best of
 * them; nothing where they are not, or were not looked for. */
void print_open(const struct planner_problem *open, const struct planner_result *opened,
		const struct planner_found *best);

#endif
