/* made_by_rule.c - the zero-bubble paper's automatic schedules, which follow from the
 * stage times by a rule (Qi et al. 2023, section 3). */
#include "engine/schedule/fill.h"
#include "engine/schedule/generators.h"

/* Forwards and input gradients of 1F1B with one forward ahead on the last stage and
 * `slope` more on each stage before it. */
static void put_order(struct schedule *order, int slope)
{
	for (int s = 0; s < order->stages; s++) {
		int ahead = 1 + slope * (order->stages - 1 - s), forwards = 0;

		for (int i = 0; i < order->micro_batches; i++) {
			while (forwards < ahead + i && forwards < order->micro_batches)
				schedule_put(order, s, WORK_FORWARD, 0, forwards++);
			schedule_put(order, s, WORK_INPUT_GRAD, 0, i);
		}
	}
}

/* The zero-bubble paper's search keeps 1F1B's order of forwards and input gradients,
 * with as many forwards ahead as memory has room for, and puts weight gradients where
 * a stage would wait, or where room is needed. `times` is the memory in 1F1Bs. */
static bool zero_bubble(const struct schedule_request *request, struct schedule *out,
			int times, double gap_share)
{
	struct schedule order;
	struct schedule_request inner = *request;
	struct arena lent = *request->scratch;
	struct fill_rule rule = { .order = &order,
				  .held_limit = times * request->stages,
				  .gap_share = gap_share };

	if (!fill_order(out, &lent, &order))
		return false;
	put_order(&order, times);
	inner.scratch = &lent;
	return fill_weights(&inner, &rule, out);
}

/* With little memory a weight gradient that delays a backward is not made up for. */
bool generate_zb_1p(const struct schedule_request *request, struct schedule *out)
{
	return zero_bubble(request, out, 1, 0.75);
}

bool generate_zb_2p(const struct schedule_request *request, struct schedule *out)
{
	return zero_bubble(request, out, 2, 0.5);
}
