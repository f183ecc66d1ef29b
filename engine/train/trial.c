/* trial.c - see trial.h. */
#include "engine/train/trial.h"

#include <math.h>

void trial_begin(struct trial *trial)
{
	const struct scenario *scenario = &trial->scenario;
	struct step *step = &trial->step;

	trial->parts = step_parts(&scenario->model);
	step->scenario = &trial->scenario;
	step->micro_batches = scenario_micro_batches(scenario);
	step->stages = (int)scenario->plan.pp;
	mesh_build(&trial->scenario, &step->mesh);
	graph_context(&trial->scenario, &step->mesh, &step->context);
	for (int part = 0; part < trial->parts; part++)
		step_draw(step, part, &trial->graph[part]);
}

/* Where the costs of a part stand. */
static struct layer_cost *cost_of(struct step *step, int part)
{
	int kinds = step->scenario->model.kinds;

	if (part < kinds)
		return &step->kind[part];
	return part == kinds       ? &step->embedding
	       : part == kinds + 1 ? &step->head
				   : &step->mtp;
}

void trial_cost(struct trial *trial, struct layer_cost *out)
{
	for (int part = 0; part < trial->parts; part++) {
		step_cost(&trial->step, part, &trial->graph[part], NULL);
		out[part] = *cost_of(&trial->step, part);
	}
}

void trial_use(struct trial *trial, const struct layer_cost *cost)
{
	for (int part = 0; part < trial->parts; part++)
		*cost_of(&trial->step, part) = cost[part];
}

bool trial_stages(struct trial *trial)
{
	struct step *step = &trial->step;

	step->chunks = (int)scenario_chunks(&trial->scenario);
	/* a schedule with two copies of the weights has other groups */
	mesh_build(&trial->scenario, &step->mesh);
	trial->flowed = false;
	trial->floor = -1;
	if (!step_stages(step, NULL))
		return false;
	trial->holds = pipeline_in_flight(&step->pipeline, &step->result);
	return true;
}

double trial_bytes(struct trial *trial, bool *exact)
{
	*exact = trial->holds || trial->flowed;
	return step_bytes(&trial->step);
}

/* One measured run on this cluster scales every time. */
static double scaled(const struct trial *trial, double seconds)
{
	double scale = trial->scenario.cluster.scale;

	return scale <= 0 || scale == 1 ? seconds : seconds * scale;
}

double trial_floor(struct trial *trial)
{
	if (trial->floor < 0)
		trial->floor = pipeline_floor(&trial->step.pipeline);
	step_sync(&trial->step, NULL);
	return scaled(trial, trial->floor + step_ends(&trial->step)) * (1 - 1e-9);
}

double trial_seconds(struct trial *trial)
{
	struct step *step = &trial->step;

	if (!trial->flowed)
		pipeline_step(&step->pipeline, &step->result);
	trial->flowed = true;
	step_sync(step, NULL);
	return scaled(trial, step->result.seconds + step_ends(step));
}
