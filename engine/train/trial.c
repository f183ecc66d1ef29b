/* trial.c - see trial.h. */
#include "engine/train/trial.h"

#include <math.h>
#include <string.h>

static void draw(struct trial *trial)
{
	for (int part = 0; part < trial->parts; part++)
		step_draw(&trial->whole.step.context, part, &trial->graph[part]);
}

void trial_begin(struct trial *trial)
{
	const struct scenario *scenario = &trial->scenario;
	struct step *step = &trial->whole.step;

	scenario_mark(&trial->scenario);
	trial->parts = step_parts(&scenario->model);
	step->scenario = &trial->scenario;
	step->micro_batches = scenario_micro_batches(scenario);
	step->stages = (int)scenario->plan.pp;
	trial->fullest = 0;
	trial->known_for.recompute = -1;
	mesh_build(&trial->scenario, &step->mesh);
	model_kinds_layers(&scenario->model, step->kind_layers);
	graph_context(&trial->scenario, &step->mesh, &step->context);
	collective_fabric(&trial->scenario, &trial->whole.choices,
			  &step->context.fabric);
	draw(trial);
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

/* Costs that are known are of this recomputation, or forgotten. */
static void keep_known(struct trial *trial)
{
	const struct plan *plan = &trial->scenario.plan;
	bool same = trial->known_for.recompute == plan->recompute &&
		    trial->known_for.modules == plan->recompute_modules &&
		    trial->known_for.offload == plan->activation_offload;

	if (same)
		return;
	memset(trial->known.has, 0, sizeof trial->known.has);
	trial->known_for.recompute = plan->recompute;
	trial->known_for.modules = plan->recompute_modules;
	trial->known_for.offload = plan->activation_offload;
	/* what recomputes decides there what is drawn, too */
	if (trial->scenario.stack.keeps_gathered)
		draw(trial);
}

void trial_cost(struct trial *trial, struct layer_cost *out)
{
	struct step *step = &trial->whole.step;

	keep_known(trial);
	for (int part = 0; part < trial->parts; part++) {
		step_cost(step, part, &trial->graph[part], &trial->known);
		if (out)
			out[part] = *cost_of(step, part);
	}
}

void trial_use(struct trial *trial, const struct layer_cost *cost)
{
	for (int part = 0; part < trial->parts; part++)
		*cost_of(&trial->whole.step, part) = cost[part];
	trial->split = false;
}

/* A split that asks what stages hold is another one for each way to hold the states. */
static bool split(struct trial *trial)
{
	struct step *step = &trial->whole.step;

	if (trial->split && trial->scenario.plan.split != SPLIT_BALANCED_MEMORY)
		return true;
	step->chunks = (int)scenario_chunks(&trial->scenario);
	trial->split = step_split(step, &trial->whole.pipeline, &trial->whole.result);
	return trial->split;
}

bool trial_stages(struct trial *trial)
{
	struct step *step = &trial->whole.step;

	/* a schedule with two copies of the weights has other groups */
	if (step->mesh.copies != mesh_copies(step->scenario))
		mesh_build(&trial->scenario, &step->mesh);
	trial->flowed = false;
	trial->floor = -1;
	if (!split(trial))
		return false;
	step_fill(step, trial->whole.load, &trial->whole.pipeline, NULL);
	trial->holds = pipeline_tells_in_flight(&trial->whole.pipeline);
	trial->counted = false;
	return true;
}

bool trial_deals_evenly(struct trial *trial)
{
	return split(trial) &&
	       split_is_even(&trial->scenario, &trial->whole.step.split);
}

/* What is in flight, if nobody has said it. */
static void count(struct trial *trial)
{
	if (!trial->counted)
		pipeline_in_flight(&trial->whole.pipeline, &trial->whole.result);
	trial->counted = true;
}

bool trial_exceeds(struct trial *trial, double bytes)
{
	const struct whole_step *whole = &trial->whole;
	const struct step *step = &whole->step;
	struct stage_memory held;

	count(trial);
	if (trial->fullest >= step->stages)
		trial->fullest = 0;
	for (int i = 0; i < step->stages; i++) {
		int stage = (trial->fullest + i) % step->stages;

		step_hold(step, stage, &whole->load[stage].sum,
			  whole->result.in_flight[stage], &held);
		if (held.total_bytes > bytes) {
			trial->fullest = stage;
			return true;
		}
	}
	return false;
}

double trial_bytes(struct trial *trial, bool *exact)
{
	count(trial);
	*exact = trial->holds || trial->flowed;
	return step_bytes(&trial->whole.step, trial->whole.load,
			  trial->whole.result.in_flight);
}

/* One measured run on this cluster scales every time. */
static double scaled(const struct trial *trial, double seconds)
{
	double scale = trial->scenario.cluster.scale;

	return scale <= 0 || scale == 1 ? seconds : seconds * scale;
}

double trial_pipeline_floor(struct trial *trial)
{
	if (trial->floor < 0)
		trial->floor = pipeline_floor(&trial->whole.pipeline);
	return trial->floor;
}

/* What its stages add behind the pipeline. */
static double ends(struct trial *trial)
{
	struct whole_step *whole = &trial->whole;

	step_sync(&whole->step, whole->load, NULL);
	return step_ends(&whole->step, whole->load);
}

double trial_floor(struct trial *trial)
{
	double seconds = trial_pipeline_floor(trial);

	/* equal stages are summed in another order where ZeRO adds traffic */
	return scaled(trial, seconds + ends(trial)) * (1 - 1e-9);
}

/* Virtual stages with a layer on every stage, at least. */
static int least_chunks(const struct step *step)
{
	const int16_t *first = step->split.first;

	for (int k = 0; k < step->stages * step->chunks; k++)
		if (first[k + 1] == first[k])
			return 0;
	return step->chunks;
}

double trial_lean_floor(struct trial *trial)
{
	struct stage_load *load = trial->whole.load;
	const struct step *step = &trial->whole.step;
	const struct plan *plan = &trial->scenario.plan;
	double more = 0, update = 0;

	if (plan->zero < 2)
		return trial_floor(trial);
	/* in larger groups a path may pass fewer of them than a stage has */
	if (plan->micro_batch_group <= plan->pp &&
	    plan->schedule != SCHEDULE_BREADTH_FIRST)
		more = (double)step->micro_batches * least_chunks(step) *
		       step_shard_seconds(step);
	/* what shows of the traffic at the end depends on how long the stages take */
	step_sync(step, load, NULL);
	for (int i = 0; i < step->stages; i++)
		update = fmax(update, load[i].work.optimizer_seconds);
	return scaled(trial, trial_pipeline_floor(trial) + more * (1 - 2e-3) + update) *
	       (1 - 1e-9);
}

/* Runs that go on in a straight line end a little before they would. */
static const double straight = 1 + 1e-3;

/* False where it is too slow. */
static bool run_pipeline(struct trial *trial, double enough)
{
	struct whole_step *whole = &trial->whole;

	enough /= scaled(trial, 1);
	whole->pipeline.enough = enough * straight;
	pipeline_step(&whole->pipeline, &whole->result);
	if (!isinf(whole->result.seconds))
		return true;
	trial->floor = fmax(trial->floor, enough);
	return false;
}

double trial_seconds(struct trial *trial, double enough)
{
	if (!trial->flowed && !run_pipeline(trial, enough))
		return INFINITY;
	trial->flowed = trial->counted = true;
	return scaled(trial, trial->whole.result.seconds + ends(trial));
}

bool trial_figures(struct trial *trial, struct estimate *out)
{
	struct step *step = &trial->whole.step;
	const struct scenario *scenario = &trial->scenario;

	if (!step_open(scenario, step_sums_alone(&scenario->plan), out))
		return false;
	if (step->mesh.copies != mesh_copies(scenario))
		mesh_build(scenario, &step->mesh);
	/* the graphs are of the recomputation that was costed last */
	if (scenario->stack.keeps_gathered)
		trial_cost(trial, NULL);
	for (int part = 0; part < trial->parts; part++)
		step_part_traffic(step, part, &trial->graph[part], out);
	trial->whole.pipeline.enough = 0;
	return step_close(&trial->whole, split(trial), out);
}
