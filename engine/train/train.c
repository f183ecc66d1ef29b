/* train.c - see engine/train/train.h. */
#include "engine/train/train.h"

#include <stddef.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/rules/legality.h"
#include "engine/train/step.h"

/* Everything before the lists: these, and what the findings hold, are written as far as
 * they are used. */
static void clear_estimate(struct estimate *out)
{
	size_t head =
		offsetof(struct estimate, problems) + offsetof(struct findings, item);
	size_t rest = offsetof(struct estimate, world);

	memset(out, 0, head);
	clear_bytes((char *)out + rest, offsetof(struct estimate, traffic) - rest);
}

double train_flops_per_token(const struct scenario *s,
			     const struct model_counts *counts, bool full_square)
{
	int64_t seq = scenario_attended_len(s);

	return model_counted_flops_per_token(&s->model, counts, seq, full_square,
					     s->plan.lora_rank, s->plan.lora_targets) -
	       train_spared_flops(s, full_square);
}

double train_spared_flops(const struct scenario *s, bool full_square)
{
	if (!scenario_freezes(s))
		return 0;
	return model_spared_flops_per_token(&s->model, scenario_attended_len(s),
					    full_square, scenario_freezes_head(s));
}

static void derive_degrees(const struct scenario *s, struct estimate *out)
{
	struct model_counts counts;

	model_count(&s->model, &counts);
	out->parameters = counts.total;
	out->active_parameters = counts.active;
	out->flops_per_token = train_flops_per_token(
		s, &counts, s->plan.flops_convention == FLOPS_FULL);
	out->world = s->cluster.gpus;
	out->dp = scenario_dp(s);
	out->etp = scenario_etp(s);
	out->edp = scenario_edp(s);
	out->micro_batches = scenario_micro_batches(s);
	out->padded_vocab = scenario_padded_vocab(s);
	out->tokens_per_step = (double)s->plan.global_batch * (double)s->plan.seq_len;
}

bool step_open(const struct scenario *scenario, bool sums_alone, struct estimate *out)
{
	clear_estimate(out);
	out->sums_alone = sums_alone;
	derive_degrees(scenario, out);
	out->legal = scenario_problems(scenario, &out->problems) == 0;
	out->chunks = split_chunks(scenario);
	if (out->legal)
		out->stages = (int)scenario->plan.pp;
	return out->legal;
}

bool step_close(struct whole_step *whole, bool split, struct estimate *out)
{
	const struct step *step = &whole->step;
	const double *in_flight = whole->result.in_flight;

	out->legal = split; /* scenario_check names every cause of this */
	if (!split)
		return false;
	step_pipeline(whole, out);
	step_sync(step, whole->load, out);
	step_memory(step, whole->load, in_flight, out);
	step_host(step, out);
	step_total(whole, out);
	step_run(step->scenario, out);
	estimate_check_pin(step->scenario, out);
	out->feasible = out->fits || out->unsure;
	return true;
}

static bool run_step(const struct scenario *scenario, bool sums_alone,
		     struct whole_step *whole, struct estimate *out)
{
	struct step *step = &whole->step;

	if (!step_open(scenario, sums_alone, out))
		return false;
	step->scenario = scenario;
	step->micro_batches = out->micro_batches;
	step->stages = out->stages;
	step->chunks = (int)out->chunks;
	mesh_build(scenario, &step->mesh);
	graph_context(scenario, &step->mesh, &step->context);
	collective_fabric(scenario, &whole->choices, &step->context.fabric);
	step_layers(step, out);
	return step_close(whole, step_split(step, &whole->pipeline, &whole->result),
			  out);
}

bool train_step(const struct scenario *scenario, struct whole_step *whole,
		struct estimate *out)
{
	return run_step(scenario, false, whole, out);
}

void settled_estimate(const struct scenario *scenario, bool sums_alone,
		      struct estimate *out)
{
	struct whole_step whole;

	run_step(scenario, sums_alone, &whole, out);
}

bool settled_chunks(const struct scenario *scenario, struct estimate *out,
		    struct train_chunks *chunks)
{
	struct whole_step whole;
	const struct step *step = &whole.step;

	if (!train_step(scenario, &whole, out))
		return false;
	chunks->input = whole.pipeline;
	chunks->pipeline_seconds = whole.result.seconds;
	split_layout(scenario, &step->split, chunks->layout, sizeof chunks->layout);
	for (int k = 0; k < step->stages * step->chunks; k++)
		step_chunk_parts(step, k, &chunks->held_bytes[k],
				 &chunks->recompute[k]);
	return true;
}

bool settled_layout(const struct scenario *scenario, struct estimate *scratch,
		    char *out, int size)
{
	struct whole_step whole;

	if (size > 0)
		out[0] = '\0';
	return train_step(scenario, &whole, scratch) &&
	       split_layout(scenario, &whole.step.split, out, size);
}

void settled_graph(const struct scenario *scenario, int part, struct graph *out)
{
	bool full = scenario->plan.recompute == RECOMPUTE_FULL &&
		    part < scenario->model.kinds && !scenario->model.kind[part].frozen;
	struct graph_context context;
	struct layer_cost cost;
	struct mesh mesh;

	mesh_build(scenario, &mesh);
	graph_context(scenario, &mesh, &context);
	step_draw(&context, part, out);
	layer_cost(&context, out, full, &cost);
	/* the mesh ends here */
	for (int i = 0; i < out->count; i++)
		out->item[i].group = NULL;
}
