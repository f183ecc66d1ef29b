/* search.c - the search behind the view Search: begun anew when the scenario changes,
 * in slices while no key waits. */
#include <stdlib.h>

#include "tui/explorer.h"

enum { TOP = 24, SLICE = 300 };

void search_forget(struct explorer *explorer)
{
	planner_free(explorer->planner);
	free(explorer->problem);
	explorer->planner = NULL;
	explorer->problem = NULL;
}

void search_begin(struct explorer *explorer)
{
	search_forget(explorer);
	explorer->search_stale = false;
	explorer->problem = calloc(1, sizeof *explorer->problem);
	if (!explorer->problem)
		return;
	explorer->problem->base = explorer->scenario;
	explorer->problem->objective = explorer->objective;
	explorer->problem->reserve = 0.05;
	explorer->problem->top = TOP;
	planner_axes(explorer->problem);
	explorer->planner = planner_start(explorer->problem);
}

bool search_slice(struct explorer *explorer)
{
	if (explorer->search_stale) {
		search_begin(explorer);
		return explorer->planner != NULL;
	}
	return explorer->planner && planner_step(explorer->planner, SLICE);
}
