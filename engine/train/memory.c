/* memory.c - what each stage holds at its peak, and whether it fits. */
#include <math.h>

#include "engine/plain.h"
#include "engine/train/step.h"

/* Runs that ran out against predicted / capacity, in the measured sweeps: 0 of 1567
 * below 0.7, 10 of 220 to 0.9, 21 of 85 to 1, 72 of 104 to 1.1, 115 of 121 to 1.3, all
 * of 608 above. A logistic of this centre and slope passes through them. */
static const double fit_centre = 1.005;
static const double fit_slope = 18;

/* What ZeRO from that stage on leaves of each byte. */
static double share_of(const struct plan *plan, int64_t stage, double shard)
{
	return plan->zero >= stage ? shard : 1;
}

static void hold_states(const struct step *step, const struct stage_sum *sum,
			struct stage_memory *out)
{
	const struct plan *plan = &step->scenario->plan;
	double dense = 1 / (double)step_dense_shards(step);
	double expert = 1 / (double)step_expert_shards(step);
	double weight = step_weight_bytes(step->scenario);
	double gradient = step_gradient_bytes(step->scenario);
	double state = step_optimizer_bytes(step->scenario), all;

	out->parameters = sum->dense + sum->expert;
	out->weights_bytes = weight * (sum->dense * share_of(plan, 3, dense) +
				       sum->expert * share_of(plan, 3, expert));
	out->gradients_bytes =
		gradient * (sum->dense_trainable * share_of(plan, 2, dense) +
			    sum->expert_trainable * share_of(plan, 2, expert));
	if (step_gathers_once(step))
		out->gradients_bytes =
			(sum->dense_trainable + sum->expert_trainable) * 4;
	all = state * (sum->dense_trainable * share_of(plan, 1, dense) +
		       sum->expert_trainable * share_of(plan, 1, expert));
	out->optimizer_bytes = all * (1 - plan->optimizer_offload);
	out->host_optimizer_bytes = all * plan->optimizer_offload;
}

/* A fused kernel keeps one copy, a chunked one an eighth of it; old logits live until
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
		each /= 8;
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

/* The layer that runs backward holds all its tensors again. */
static double layer_at_work(const struct step *step, const struct stage_sum *sum)
{
	if (step->scenario->plan.recompute == RECOMPUTE_NONE || sum->layers <= 0)
		return 0;
	return larger(0, sum->whole_bytes - sum->saved_bytes / sum->layers);
}

static void hold_buffers(const struct step *step, const struct stage_sum *sum,
			 struct stage_memory *out)
{
	const struct plan *plan = &step->scenario->plan;
	double gathered = sum->largest_layer * step_weight_bytes(step->scenario);

	/* a layer that runs again uses the memory that the logits left */
	out->buffers_bytes =
		sum->has_head ? larger(0, logit_bytes(step) - layer_at_work(step, sum))
			      : 0;
	/* the layer at work, those gathered ahead, and the gradients of one */
	if (plan->zero == 3)
		out->buffers_bytes +=
			(1 + (double)plan->fsdp_prefetch) * gathered +
			sum->largest_layer * step_gradient_bytes(step->scenario);
	if (plan->zero == 3 && !plan->fsdp_reshard)
		out->buffers_bytes += (sum->layers - 2) * gathered;
	/* a weight gradient in 16 bit before it joins the sum */
	out->buffers_bytes += sum->gemm_bytes;
}

static void hold_activations(const struct step *step, int stage,
			     const struct stage_sum *sum, struct stage_memory *out)
{
	out->in_flight = step->result.in_flight[stage];
	/* a micro-batch runs through one copy of the layers */
	out->activations_bytes = out->in_flight * sum->saved_bytes / step_copies(step) +
				 layer_at_work(step, sum);
	out->host_activations_bytes =
		out->in_flight * sum->host_bytes / step_copies(step);
}

/* 16-bit gradients that wait for the backward's end, or lie in DDP's buckets, beside
 * the fp32 sum. fp16 with its loss scaling sums in 16 bit: its copy is in the sum. */
static void hold_sync(const struct step *step, const struct stage_sum *sum,
		      struct stage_memory *out)
{
	const struct plan *plan = &step->scenario->plan;

	if (plan->zero < 3 && step->mesh.dp * step->mesh.copies > 1 &&
	    plan->precision != PRECISION_FP16)
		out->buffers_bytes +=
			sum->dense_trainable * step->scenario->stack.sync_copy_bytes;
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

void step_hold(const struct step *step, int stage, const struct stage_sum *sum,
	       struct stage_memory *out)
{
	out->layers = sum->layers;
	out->kv_bytes = 0;
	hold_states(step, sum, out);
	hold_activations(step, stage, sum, out);
	hold_buffers(step, sum, out);
	hold_sync(step, sum, out);
	hold_framework(step, out);
	out->allocated_bytes = out->weights_bytes + out->gradients_bytes +
			       out->optimizer_bytes + out->activations_bytes +
			       out->buffers_bytes;
	out->reserved_bytes += out->allocated_bytes;
	out->total_bytes = out->allocated_bytes + out->framework_bytes;
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

void step_memory(const struct step *step, struct estimate *out)
{
	const struct accelerator *a = &step->scenario->cluster.accelerator;

	out->fullest_stage = 0;
	for (int i = 0; i < step->stages; i++) {
		struct stage_memory *held = &out->stage[i];

		step_hold(step, i, &step->sum[i], held);
		if (held->total_bytes > out->stage[out->fullest_stage].total_bytes)
			out->fullest_stage = i;
	}
	out->memory = out->stage[out->fullest_stage];
	out->capacity_bytes = a->usable_bytes > 0 ? a->usable_bytes : a->memory_bytes;
	out->fits = out->memory.total_bytes <= out->capacity_bytes;
	out->fit_probability =
		1 /
		(1 + exp(fit_slope *
			 (out->memory.total_bytes / out->capacity_bytes - fit_centre)));
}
