/* serve.c - what is known of a server before it is estimated. */
#include "engine/serve/serve.h"

#include "engine/planner/search.h"

/* One more than all that is left to halving. */
static const double sure = 1 - 1e-6;

bool search_ceiling(struct planner *p, struct node *node)
{
	const struct scenario *s = &p->trial->scenario;
	double names = p->below[p->depth];
	struct serve_ceiling ceiling;

	if (names == 1 && search_named_again(p, s, p->choice)) {
		p->result.counts.repeated++;
		return false;
	}
	if (p->problem.exhaustive || p->problem.objective == OBJECTIVE_MEMORY ||
	    !serve_ceiling(s, &ceiling))
		return true;
	node->bytes = ceiling.bytes * sure;
	node->bound = search_serving_score(p->problem.objective, s,
					   sure / ceiling.tokens_per_second);
	return true;
}
