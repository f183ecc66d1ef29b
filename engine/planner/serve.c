/* serve.c - what is known of a server before it is estimated. */
#include "engine/planner/search.h"

bool search_ceiling(struct planner *p, struct node *node)
{
	struct scenario *s = &p->trial->scenario;
	double names = p->below[p->depth];
	struct objective_ceiling least;

	if (search_named_again(p, s, p->choice)) {
		p->result.counts.repeated += names;
		return false;
	}
	objective_of_ceiling(p->problem.objective, s, &least);
	node->bound = least.score;
	node->bytes = least.bytes;
	node->request = least.request_seconds;
	return true;
}
