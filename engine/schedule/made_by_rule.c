/* made_by_rule.c - schedules that follow from the stage times by a rule: the
 * zero-bubble paper's automatic ones (Qi et al. 2023, section 3) and Hanayo's waves
 * (Liu et al. 2023). */
#include <string.h>

#include "engine/schedule/generators.h"
#include "engine/schedule/greedy.h"

/* Forwards and backwards of 1F1B with `ahead` forwards on the last stage and `slope`
 * more on each stage before it. */
static bool take_order(const struct schedule *out, int slope, struct arena *arena,
		       struct schedule *order)
{
	*order = *out;
	order->count = arena_take(arena, (size_t)out->stages, sizeof *order->count);
	order->item = arena_take(arena, (size_t)out->stages * (size_t)order->capacity,
				 sizeof *order->item);
	if (!order->count || !order->item)
		return false;
	memset(order->count, 0, (size_t)out->stages * sizeof *order->count);
	for (int s = 0; s < out->stages; s++) {
		int ahead = 1 + slope * (out->stages - 1 - s), forwards = 0;

		for (int i = 0; i < out->micro_batches; i++) {
			while (forwards < ahead + i && forwards < out->micro_batches)
				schedule_put(order, s, WORK_FORWARD, 0, forwards++);
			schedule_put(order, s, WORK_INPUT_GRAD, 0, i);
		}
	}
	return true;
}

/* The zero-bubble paper's search keeps 1F1B's order of forwards and input gradients,
 * with as many forwards ahead as memory has room for, and puts weight gradients where
 * a stage would wait, or where room is needed. `times` is the memory in 1F1Bs. */
static bool zero_bubble(const struct schedule_request *request, struct schedule *out,
			int times)
{
	struct schedule order;
	struct schedule_request inner = *request;
	struct arena lent = *request->scratch;
	struct greedy_rule rule = { .splits_backward = true,
				    .gap_share = 0.5,
				    .held_limit = times * request->stages,
				    .order = &order };

	if (!take_order(out, times, &lent, &order))
		return false;
	inner.scratch = &lent;
	return greedy_fill(&inner, &rule, out);
}

bool generate_zb_1p(const struct schedule_request *request, struct schedule *out)
{
	return zero_bubble(request, out, 1);
}

bool generate_zb_2p(const struct schedule_request *request, struct schedule *out)
{
	return zero_bubble(request, out, 2);
}

/* Waves: a micro-batch runs down and up the stages several times; each stage takes
 * the one that is furthest. 2p of them may be under way, which keeps the stages busy
 * once more than the p of one wave have to pass. */
bool generate_hanayo(const struct schedule_request *request, struct schedule *out)
{
	struct greedy_rule rule = { .admit_limit = 2 * request->stages };

	rule.held_limit = out->chunks * request->micro_batches;
	return greedy_fill(request, &rule, out);
}
