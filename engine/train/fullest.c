/* fullest.c - the split that keeps the fullest stage smallest. */
#include <string.h>

#include "engine/schedule/schedule.h"
#include "engine/train/step.h"

struct fullest {
	const struct step *step;
	const double *in_flight; /* micro-batches of each stage */
};

/* A stage all of whose chunks have so many layers, with the ends of virtual stage k. */
static double stage_bytes(const void *of, int k, const int16_t *kind_layers)
{
	const struct fullest *all = of;
	const struct step *step = all->step;
	int schedule = step->scenario->plan.schedule;
	double chunks = (double)step->chunks * mesh_copies(step->scenario);
	int stage = schedule_stage(schedule, step->stages, k);
	struct stage_sum sum = { 0 };
	struct stage_memory held;

	step_add_layers(step, k, kind_layers, chunks, &sum);
	step_hold(step, stage, &sum, all->in_flight[stage], &held);
	return held.total_bytes;
}

/* What is in flight follows from the order of work, and so but for orders made by rule
 * not from its times: those of equal stages do. */
static void find_in_flight(struct pipeline_input *in, struct pipeline_result *result)
{
	in->send_seconds = 0;
	for (int k = 0; k < in->stages * in->chunks; k++)
		in->forward[k] = in->input_grad[k] = in->weight_grad[k] = 1;
	pipeline_step(in, result);
}

bool step_split_memory(struct step *step, const double *weights,
		       struct pipeline_input *pipeline, struct pipeline_result *result)
{
	struct fullest all = { step, result->in_flight };
	struct split_cost cost = { stage_bytes, &all };

	find_in_flight(pipeline, result);
	step->split.embedding_stage = 0;
	step->split.head_stage = step->split.mtp_stage =
		(int16_t)(step->stages * step->chunks - 1);
	return split_by_memory(step->scenario, weights, &cost, &step->split);
}
