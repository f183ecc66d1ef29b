/* trusted.c - values that no plan has which is known well enough. */
#include <string.h>

#include "engine/planner/planner.h"
#include "engine/trust/trust.h"

/* The plainest plan in which the knob does something: one rank parts nothing, all ranks
 * share out optimizer states. */
static void make_plain(struct scenario *s, const struct knob *knob)
{
	struct plan *p = &s->plan;

	p->tp = p->pp = p->cp = p->ep = p->etp = p->vpp = 1;
	p->sp = p->ep_overlap = false;
	p->zero = 0;
	p->zero_group = 0;
	p->schedule = SCHEDULE_1F1B;
	p->split = SPLIT_AUTO;
	p->recompute = RECOMPUTE_NONE;
	p->optimizer_offload = p->activation_offload = 0;
	if (strcmp(knob->key, "sp") == 0)
		p->tp = 2;
	if (strcmp(knob->key, "cp_kind") == 0)
		p->cp = 2;
	if (strcmp(knob->key, "zero_group") == 0)
		p->zero = 1;
	if (strcmp(knob->key, "vpp") == 0)
		p->schedule = SCHEDULE_INTERLEAVED;
	if (strcmp(knob->key, "vpp") == 0 || strcmp(knob->key, "schedule") == 0)
		p->pp = 2;
}

/* Features in no run, and where published will do in no plan either. */
static uint64_t unknown(const struct scenario *s, int trust)
{
	struct doubts doubts;

	trust_of(s, &doubts);
	return trust == 1 + TRUST_MEASURED ? doubts.unmeasured : doubts.unpublished;
}

bool planner_distrusts(const struct planner_problem *problem, const struct knob *knob,
		       double value)
{
	struct scenario s;
	uint64_t before;

	if (problem->trust == 0 || problem->trust == 1 + TRUST_OPEN)
		return false;
	s = problem->base;
	make_plain(&s, knob);
	before = unknown(&s, problem->trust);
	knob_set(&s, knob, value);
	return (unknown(&s, problem->trust) & ~before) != 0;
}

int planner_usual_trust(const struct scenario *base)
{
	const struct evidence *known = &base->stack.evidence;
	struct scenario s = *base;
	struct doubts doubts;

	if (base->plan.mode != MODE_TRAINING)
		return 0;
	make_plain(&s, knob_find("tp"));
	if (trust_of(&s, &doubts) != TRUST_OPEN)
		return 1 + TRUST_PUBLISHED;
	/* no plan can help the machine or the size, but each what it is made of */
	return doubts.features != TRUST_OPEN && (known->measured | known->published)
		       ? TRUST_OF_FEATURES
		       : 0;
}
