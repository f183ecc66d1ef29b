/* zero_bubble.c - ZB-H1 and ZB-H2 of "Zero Bubble Pipeline Parallelism" (Qi et al.
 * 2023), hand-made: weight gradients are put off until they fill the tail.
 *
 * Stage s runs `ahead` forwards before its first backward and keeps `behind` weight
 * gradients back, so that every stage holds ahead + behind micro-batches: p in H1,
 * 2p - 1 in H2. */
#include "engine/schedule/generators.h"

static void put_stage(struct schedule *out, int s, int ahead, int behind)
{
	int m = out->micro_batches, forwards = 0, weights = 0;

	while (forwards < ahead && forwards < m)
		schedule_put(out, s, WORK_FORWARD, 0, forwards++);
	for (int backwards = 0; backwards < m; backwards++) {
		schedule_put(out, s, WORK_INPUT_GRAD, 0, backwards);
		if (backwards + 1 - weights > behind)
			schedule_put(out, s, WORK_WEIGHT_GRAD, 0, weights++);
		if (forwards < m)
			schedule_put(out, s, WORK_FORWARD, 0, forwards++);
	}
	while (weights < m)
		schedule_put(out, s, WORK_WEIGHT_GRAD, 0, weights++);
}

bool generate_zb_h1(const struct schedule_request *request, struct schedule *out)
{
	for (int s = 0; s < request->stages; s++)
		put_stage(out, s, request->stages - s, s);
	return true;
}

bool generate_zb_h2(const struct schedule_request *request, struct schedule *out)
{
	for (int s = 0; s < request->stages; s++)
		put_stage(out, s, 2 * (request->stages - s) - 1, 2 * s);
	return true;
}
