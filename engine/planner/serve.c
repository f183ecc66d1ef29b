/* serve.c - what is known of a server before it is estimated. */
#include "engine/planner/search.h"

bool search_ceiling(struct planner *p, struct node *node)
{
	struct scenario *s = &p->trial->scenario;
	double names = p->below[p->depth];

	if (search_named_again(p, s, p->choice)) {
		p->result.counts.repeated += names;
		return false;
	}
	node->bound = objective_of_ceiling(p->problem.objective, s, &node->bytes);
	return true;
}
