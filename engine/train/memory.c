/* memory.c - what each stage holds at its peak, and whether it fits. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/train/step.h"

/* Runs that ran out against predicted / capacity, in the measured sweeps: 0 of 1567
 * below 0.7, 10 of 220 to 0.9, 21 of 85 to 1, 72 of 104 to 1.1, 115 of 121 to 1.3, all
 * of 608 above. A logistic of this centre and slope passes through them. */
static const double fit_centre = 1.005;
static const double fit_slope = 18;

static void hold_states(const struct step *step, const struct stage_sum *sum,
			const struct states *each, struct stage_memory *out)
{
	double off = step->scenario->plan.optimizer_offload, all;

	out->parameters = sum->dense + sum->expert;
	out->weights_bytes =
		sum->dense * each->dense.weight + sum->expert * each->expert.weight;
	out->gradients_bytes = sum->dense_trainable * each->dense.gradient +
			       sum->expert_trainable * each->expert.gradient;
	all = sum->dense_trainable * each->dense.optimizer +
	      sum->expert_trainable * each->expert.optimizer;
	out->optimizer_bytes = all * (1 - off);
	out->host_optimizer_bytes = all * off;
}

/* A fused kernel keeps one copy, a chunked one that of a piece; old logits live until
 * the next micro-batch has its own. */
double step_logit_width(const struct scenario *scenario)
{
	const struct stack *stack = &scenario->stack;
	const struct plan *plan = &scenario->plan;
	double each = stack->logit_bytes;

	if (plan->vocab_parallel && plan->tp > 1 && stack->parallel_logit_bytes > 0)
		each = stack->parallel_logit_bytes;
	if (plan->cross_entropy != CE_PLAIN)
		each = lesser(each, 6);
	if (plan->cross_entropy == CE_CHUNKED)
		each /= (double)larger(1, (double)plan->loss_tiles);
	if (scenario_micro_batches(scenario) > 1)
		each += stack->old_logit_bytes;
	if (plan->pp > 1)
		each += stack->piped_logit_bytes *
			(double)scenario_micro_batches(scenario);
	return each;
}

/* Logits of one micro-batch where the loss is computed. */
static double logit_bytes(const struct step *step)
{
	double vocab = (double)scenario_padded_vocab(step->scenario);

	if (step->scenario->plan.vocab_parallel)
		vocab /= (double)step->mesh.tp;
	return step->context.tokens * vocab * step_logit_width(step->scenario);
}

bool step_runs_again(const struct plan *plan)
{
	return plan->recompute != RECOMPUTE_NONE || plan->mlp_tiles > 1;
}

/* The layer that runs backward holds all its tensors again. */
static double layer_at_work(const struct step *step, const struct stage_sum *sum)
{
	if (!step_runs_again(&step->scenario->plan) || sum->layers <= 0)
		return 0;
	return larger(0, sum->whole_bytes - sum->saved_bytes / sum->layers);
}

/* Weights that ZeRO 3 has gathered: of the layer at work and those ahead of it, or,
 * kept for the backward, of all; and the gradients of one layer. FSDP, torchtitan and
 * Megatron-FSDP take a decoder layer with its experts for the unit. */
static double gathered_bytes(const struct step *step, const struct shards *shards,
			     const struct stage_sum *sum)
{
	const struct plan *plan = &step->scenario->plan;
	bool experts = shards->expert > 1 || !step_experts_apart(step);
	double layer = experts ? sum->largest_layer : sum->largest_dense;
	double gradients =
		experts ? sum->largest_trainable : sum->largest_dense_trainable;
	double held = plan->fsdp_reshard ? (1 + (double)plan->fsdp_prefetch) * layer
					 : sum->dense + (experts ? sum->expert : 0);

	return held * step_weight_bytes(step->scenario) +
	       gradients * step_gradient_bytes(step->scenario);
}

static void hold_buffers(const struct step *step, const struct stage_sum *sum,
			 const struct shards *shards, const struct states *each,
			 struct stage_parts *out)
{
	/* a layer that runs again uses the memory that the logits left */
	out->logits_bytes =
		sum->has_head ? larger(0, logit_bytes(step) - layer_at_work(step, sum))
			      : 0;
	out->gathered_bytes =
		step->scenario->plan.zero == 3 ? gathered_bytes(step, shards, sum) : 0;
	/* a weight gradient in 16 bit before it joins the sum */
	out->copies_bytes = sum->gemm_bytes + sum->dense_trainable * each->sync_copy;
}

static void hold_activations(const struct step *step, int stage,
			     const struct stage_sum *sum, struct stage_memory *out,
			     struct stage_parts *part)
{
	double copies = mesh_copies(step->scenario);

	/* a micro-batch runs through one copy of the layers */
	part->kept_bytes = sum->saved_bytes / copies;
	part->again_bytes = layer_at_work(step, sum);
	out->in_flight = step->result.in_flight[stage];
	out->activations_bytes = out->in_flight * part->kept_bytes + part->again_bytes;
	out->host_activations_bytes = out->in_flight * sum->host_bytes / copies;
}

double step_graph_bytes(const struct scenario *scenario)
{
	if (scenario->plan.cuda_graphs == GRAPHS_NONE)
		return 0;
	return scenario->plan.pp > 1 ? scenario->stack.graph_pipelined_bytes
				     : scenario->stack.graph_bytes;
}

static void hold_framework(const struct step *step, struct stage_memory *out)
{
	const struct stack *stack = &step->scenario->stack;
	const struct mesh *mesh = &step->mesh;
	int groups = (mesh->tp > 1) + (mesh->cp > 1) + (mesh->dp * mesh->copies > 1) +
		     (mesh->pp > 1) + (mesh->ep > 1) + (mesh->edp > 1 && mesh->ep > 1);
	double loose = stack->fragmentation > 1 ? stack->fragmentation - 1 : 0;

	out->reserved_bytes = loose * (out->activations_bytes + out->buffers_bytes);
	out->framework_bytes = stack->context_bytes +
			       groups * stack->communicator_bytes +
			       step_graph_bytes(step->scenario) + out->reserved_bytes;
}

/* And what its bytes are made of. */
static void hold(const struct step *step, int stage, const struct stage_sum *sum,
		 struct stage_memory *out, struct stage_parts *part)
{
	struct shards shards;
	struct states each;

	step_shards(step, &shards);
	states_bytes(step->scenario, &shards, &each);
	out->layers = sum->layers;
	out->kv_bytes = 0;
	hold_states(step, sum, &each, out);
	hold_activations(step, stage, sum, out, part);
	hold_buffers(step, sum, &shards, &each, part);
	out->buffers_bytes =
		part->logits_bytes + part->gathered_bytes + part->copies_bytes;
	hold_framework(step, out);
	out->allocated_bytes = out->weights_bytes + out->gradients_bytes +
			       out->optimizer_bytes + out->activations_bytes +
			       out->buffers_bytes;
	out->reserved_bytes += out->allocated_bytes;
	out->total_bytes = out->allocated_bytes + out->framework_bytes;
}

void step_hold(const struct step *step, int stage, const struct stage_sum *sum,
	       struct stage_memory *out)
{
	struct stage_parts part;

	hold(step, stage, sum, out, &part);
}

double step_bytes(const struct step *step)
{
	struct stage_memory held;
	double most = 0;

	for (int i = 0; i < step->stages; i++) {
		step_hold(step, i, &step->sum[i], &held);
		most = larger(most, held.total_bytes);
	}
	return most;
}

/* Whether what a plan holds by definition has room on every stage. Activations,
 * framework and gradients hang on the software: a compiler may use each gradient up
 * where it arises (LOMO, arXiv 2306.09782, section 3.1). */
static bool states_have_room(const struct estimate *out)
{
	for (int i = 0; i < out->stages; i++) {
		const struct stage_memory *held = &out->stage[i];

		if (held->weights_bytes + held->optimizer_bytes > out->capacity_bytes)
			return false;
	}
	return true;
}

/* Measured accelerators have a curve. Of others it is believed half where it says that
 * a plan fits, and nothing is known where it says that it does not: of 19 published
 * recipes for TPUs, all of which ran, 12 were predicted not to fit. */
static void judge(const struct accelerator *a, struct estimate *out)
{
	double share = out->memory.total_bytes / out->capacity_bytes;

	out->fits = share <= 1;
	out->fit_probability = 1 / (1 + exp(fit_slope * (share - fit_centre)));
	out->unsure = a->calibration.unmeasured && states_have_room(out);
	if (out->unsure)
		out->fit_probability = (larger(out->fit_probability, 0.5) + 0.5) / 2;
}

void step_memory(const struct step *step, struct estimate *out)
{
	const struct accelerator *a = &step->scenario->cluster.accelerator;

	out->fullest_stage = 0;
	for (int i = 0; i < step->stages; i++) {
		struct stage_memory *held = &out->stage[i];
		struct stage_parts *part = &out->part[i];
		const struct stage_sum *sum = &step->sum[i];

		hold(step, i, sum, held, part);
		part->experts = sum->expert;
		part->trained = sum->dense_trainable + sum->expert_trainable;
		part->trained_experts = sum->expert_trainable;
		part->trained_layers = sum->trained_layers;
		if (held->total_bytes > out->stage[out->fullest_stage].total_bytes)
			out->fullest_stage = i;
	}
	out->memory = out->stage[out->fullest_stage];
	out->capacity_bytes = a->usable_bytes > 0 ? a->usable_bytes : a->memory_bytes;
	judge(a, out);
}
