/* memory.c - what each stage holds at its peak, and whether it fits. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/schedule/schedule.h"
#include "engine/train/terms.h"

static void hold_states(const struct plan *plan, const struct stage_sum *sum,
			const struct states *each, struct stage_memory *out)
{
	double off = plan->optimizer_offload, all;

	out->parameters = sum->dense + sum->expert;
	out->weights_bytes =
		sum->dense * each->dense.weight + sum->expert * each->expert.weight;
	out->gradients_bytes = sum->dense_trainable * each->dense.gradient +
			       sum->expert_trainable * each->expert.gradient;
	all = sum->dense_trainable * each->dense.optimizer +
	      sum->expert_trainable * each->expert.optimizer;
	out->optimizer_bytes = all * (1 - off);
	out->host_optimizer_bytes = off * (sum->dense_trainable * each->dense.host +
					   sum->expert_trainable * each->expert.host);
}

bool step_compiles_loss(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return plan->compile && !(plan->vocab_parallel && plan->tp > 1) &&
	       scenario->stack.compiled_logit_bytes > 0;
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
	if (step_compiles_loss(scenario))
		each = lesser(each, stack->compiled_logit_bytes);
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

/* Whether something of a layer is computed again in the backward. */
static bool runs_again(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	return plan->recompute != RECOMPUTE_NONE ||
	       (plan->mlp_tiles > 1 && model_has_dense_mlp(&scenario->model));
}

/* The layer that runs backward holds all its tensors again: those that are computed
 * anew, and those that come back from the host. */
bool step_again(const struct scenario *scenario, const struct stage_sum *sum)
{
	return sum->layers > 0 && (runs_again(scenario) || sum->host_bytes > 0);
}

/* Weights that ZeRO 3 has gathered: of the layer at work and those ahead of it, or,
 * kept for the backward, of all; and the gradients of one layer. FSDP, torchtitan and
 * Megatron-FSDP take a decoder layer with its experts for the unit. */
static void hold_gathered(struct holding *h, const struct stage_sum *sum)
{
	const struct plan *plan = h->plan;
	bool experts = h->shards.expert > 1 || !step_experts_apart(&h->step->mesh);
	double layer = experts ? sum->largest_layer : sum->largest_dense;

	h->gathered = plan->fsdp_reshard && !states_stay_whole(h->step->scenario)
			      ? (1 + (double)plan->fsdp_prefetch) * layer
			      : sum->dense + (experts ? sum->expert : 0);
	h->gathered_trained =
		experts ? sum->largest_trainable : sum->largest_dense_trainable;
}

void holding_begin(const struct step *step, struct holding *out)
{
	const struct scenario *s = step->scenario;
	const struct mesh *mesh = &step->mesh;

	out->step = step;
	out->plan = &s->plan;
	out->stack = &s->stack;
	step_shards(&s->plan, mesh, &out->shards);
	states_bytes(s, &out->shards, &out->each);
	out->weight_bytes = step_weight_bytes(s);
	out->gradient_bytes = step_gradient_bytes(s);
	out->sent_bytes = step_sent_bytes(s);
	out->logit_width = step_logit_width(s);
	out->vocab = (double)scenario_padded_vocab(s);
	out->communicators = (mesh->tp > 1) + (mesh->cp > 1) +
			     (mesh->dp * mesh->copies > 1) + (mesh->pp > 1) +
			     (mesh->ep > 1) + (mesh->edp > 1 && mesh->ep > 1);
	out->graphs = step_graph_bytes(s);
}

/* The first virtual stage receives nothing, and the last sends nothing on. */
static void pass_on(struct holding *h, int stage)
{
	const struct step *step = h->step;
	int schedule = h->plan->schedule, last = step->stages * step->chunks - 1;

	h->receives =
		step->chunks - (schedule_stage(schedule, step->stages, 0) == stage);
	h->sends =
		step->chunks - (schedule_stage(schedule, step->stages, last) == stage);
}

void holding_enter(struct holding *h, int stage, const struct stage_sum *sum,
		   double in_flight)
{
	h->sum = sum;
	h->in_flight = in_flight;
	pass_on(h, stage);
	h->again = step_again(h->step->scenario, sum) ? sum->again_bytes : 0;
	h->gathered = h->gathered_trained = 0;
	if (h->plan->zero == 3)
		hold_gathered(h, sum);
	h->local = sum->dense_trainable + sum->expert_trainable;
	h->shared = h->plan->zero > 0
			    ? sum->dense_trainable / (double)h->shards.dense +
				      sum->expert_trainable / (double)h->shards.expert
			    : h->local;
}

double step_graph_bytes(const struct scenario *scenario)
{
	if (scenario->plan.cuda_graphs == GRAPHS_NONE)
		return 0;
	return scenario->plan.pp > 1 ? scenario->stack.graph_pipelined_bytes
				     : scenario->stack.graph_bytes;
}

/* A micro-batch runs through one copy of the layers. */
static void hold_activations(const struct holding *h, struct stage_memory *out)
{
	double copies = (double)h->step->mesh.copies;

	out->in_flight = h->in_flight;
	out->activations_bytes =
		out->in_flight * (h->sum->saved_bytes / copies) + h->again;
	out->host_activations_bytes = out->in_flight * h->sum->host_bytes / copies;
}

static void hold_stage(struct holding *h, int stage, const struct stage_sum *sum,
		       double in_flight, struct stage_memory *out)
{
	holding_enter(h, stage, sum, in_flight);
	out->layers = sum->layers;
	out->kv_bytes = 0;
	hold_states(h->plan, sum, &h->each, out);
	hold_activations(h, out);
	h->activations = out->activations_bytes;
	out->buffers_bytes = holding_buffers(h);
	h->buffers = out->buffers_bytes;
	out->framework_bytes = holding_framework(h);
	out->allocated_bytes = out->weights_bytes + out->gradients_bytes +
			       out->optimizer_bytes + out->activations_bytes +
			       out->buffers_bytes;
	out->reserved_bytes = out->allocated_bytes + holding_loose(h);
	out->total_bytes = out->allocated_bytes + out->framework_bytes;
}

void step_hold(const struct step *step, int stage, const struct stage_sum *sum,
	       double in_flight, struct stage_memory *out)
{
	struct holding h;

	holding_begin(step, &h);
	hold_stage(&h, stage, sum, in_flight, out);
}

double step_bytes(const struct step *step, const struct stage_load *load,
		  const double *in_flight)
{
	struct stage_memory held;
	struct holding h;
	double most = 0;

	holding_begin(step, &h);
	for (int i = 0; i < step->stages; i++) {
		hold_stage(&h, i, &load[i].sum, in_flight[i], &held);
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

double step_fit_chance(const struct scenario *scenario, const struct estimate *out,
		       double need, double room)
{
	const struct fit_curve *fit = &scenario->cluster.accuracy.fit;

	if (!out->wide_chance)
		return step_fit_value(need, room, fit->steepness, fit->middle);
	return step_unsure_value(need, room, step_memory_spread(scenario).high,
				 fit->tenth_beyond);
}

/* What is counted is believed as elsewhere where it alone is too much. */
static void judge(const struct scenario *scenario, struct estimate *out)
{
	double need = out->memory.total_bytes, room = out->capacity_bytes;

	out->fits = need <= room;
	out->wide_chance = scenario->cluster.accelerator.calibration.unmeasured &&
			   states_have_room(out);
	out->fit_probability = step_fit_chance(scenario, out, need, room);
}

void step_memory(const struct step *step, const struct stage_load *load,
		 const double *in_flight, struct estimate *out)
{
	const struct accelerator *a = &step->scenario->cluster.accelerator;

	struct holding h;

	holding_begin(step, &h);
	out->fullest_stage = 0;
	for (int i = 0; i < step->stages; i++) {
		struct stage_memory *held = &out->stage[i];

		hold_stage(&h, i, &load[i].sum, in_flight[i], held);
		if (held->total_bytes > out->stage[out->fullest_stage].total_bytes)
			out->fullest_stage = i;
	}
	out->memory = out->stage[out->fullest_stage];
	out->capacity_bytes = a->usable_bytes > 0 ? a->usable_bytes : a->memory_bytes;
	judge(step->scenario, out);
}
