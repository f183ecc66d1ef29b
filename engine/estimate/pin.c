/* pin.c - says where a pinned algorithm of collectives ran nowhere. */
#include <stddef.h>

#include "engine/estimate/estimate.h"

static const struct rule note = {
	"X26", SEVERITY_WARNING,
	"collectives {0:word} applies to none of this plan's collectives on this "
	"cluster: the quickest run",
	"the conditions of the algorithm"
};

const struct rule *estimate_note(int index)
{
	return index == 0 ? &note : NULL;
}

static bool runs_by(const struct scenario *scenario, const struct traffic *t,
		    enum algorithm algorithm)
{
	struct message message = { t->kind, t->call_bytes, t->remote_bytes };
	struct group group = { .ranks = t->ranks,
			       .stride = t->stride,
			       .per_domain = t->ranks_per_domain,
			       .link = t->link };
	struct collective cost;
	struct fabric fabric;

	collective_fabric(scenario, NULL, &fabric);
	return t->dimension != DIM_HOST &&
	       collective_by(&fabric, &group, &message, algorithm, &cost);
}

static bool runs_somewhere(const struct scenario *scenario,
			   const struct estimate *estimate, enum algorithm algorithm)
{
	for (int i = 0; i < estimate->traffic_count; i++)
		if (runs_by(scenario, &estimate->traffic[i], algorithm))
			return true;
	return false;
}

void estimate_check_pin(const struct scenario *scenario, struct estimate *out)
{
	enum algorithm pin = (enum algorithm)scenario->plan.collective;
	struct finding *f;

	if (pin == ALGORITHM_AUTO || !out->legal || out->traffic_count == 0 ||
	    out->problems.count == MAX_FINDINGS || runs_somewhere(scenario, out, pin))
		return;
	f = &out->problems.item[out->problems.count++];
	*f = (struct finding){ .rule = &note,
			       .value = { scenario->plan.collective },
			       .knob = "collective" };
	for (int i = 0; i < ALGORITHM_COUNT && f->nearest_count < MAX_NEAREST; i++)
		if (i == ALGORITHM_AUTO ||
		    (i != ALGORITHM_SEND &&
		     runs_somewhere(scenario, out, (enum algorithm)i)))
			f->nearest[f->nearest_count++] = i;
}
