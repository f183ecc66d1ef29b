/* made_by_rule.c - schedules that follow from the stage times by a rule: the
 * zero-bubble paper's automatic ones (Qi et al. 2023, section 3) and Hanayo's waves
 * (Liu et al. 2023). */
#include "engine/schedule/generators.h"
#include "engine/schedule/greedy.h"

/* Backwards first, forwards as long as the memory of `times` 1F1B pipelines holds
 * them, weight gradients in gaps that they fit in or where room is needed. */
static bool zero_bubble(const struct schedule_request *request, struct schedule *out,
			int times)
{
	struct greedy_rule rule = { .splits_backward = true, .gap_share = 1 };

	rule.held_limit = times * request->stages;
	return greedy_fill(request, &rule, out);
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
