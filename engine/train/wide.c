/* wide.c - layers that stay in 16 bits beside narrow ones, and layers that do not
 * train, are kinds of their own, in a copy of the scenario for the length of a call. */
#include "engine/rules/legality.h"
#include "engine/train/step.h"

void train_figures(const struct scenario *scenario, struct estimate *out)
{
	struct scenario room;

	settled_estimate(scenario_marked(scenario, &room),
			 step_sums_alone(&scenario->plan), out);
}

void train_estimate(const struct scenario *scenario, struct estimate *out)
{
	struct scenario room;
	const struct scenario *wide = scenario_marked(scenario, &room);

	settled_estimate(wide, false, out);
	scenario_mend(wide, &out->problems);
}

bool train_chunks(const struct scenario *scenario, struct estimate *out,
		  struct train_chunks *chunks)
{
	struct scenario room;

	return settled_chunks(scenario_marked(scenario, &room), out, chunks);
}

bool train_layout(const struct scenario *scenario, struct estimate *scratch, char *out,
		  int size)
{
	struct scenario room;

	return settled_layout(scenario_marked(scenario, &room), scratch, out, size);
}

void train_graph(const struct scenario *scenario, int part, struct graph *out)
{
	struct scenario room;

	settled_graph(scenario_marked(scenario, &room), part, out);
}
