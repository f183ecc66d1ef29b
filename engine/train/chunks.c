/* chunks.c - virtual stages: the times of layers and ends put together. */
#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/collective/collective.h"
#include "engine/schedule/schedule.h"
#include "engine/train/step.h"

void chunk_add_layer(struct chunk_time *to, const struct layer_cost *cost, double count)
{
	to->forward += count * cost->forward;
	to->input_grad += count * cost->input_grad;
	to->weight_grad += count * cost->weight_grad;
	to->recompute += count * cost->recompute;
	to->exposed_forward += count * cost->exposed_forward;
	to->exposed_backward += count * cost->exposed_backward;
	to->alone_forward += count * cost->alone_forward;
	to->alone_backward += count * cost->alone_backward;
	to->pairs_hide += count * cost->pairs_hide;
	to->host_forward += count * cost->host_forward;
	to->wait_forward += count * cost->wait_forward;
	to->host_backward += count * cost->host_backward;
	to->dense += count * cost->dense;
	to->expert += count * cost->expert;
	to->dense_trainable += count * cost->dense_trainable;
	to->expert_trainable += count * cost->expert_trainable;
	to->expert_layers += cost->expert > 0 ? count : 0;
	if (cost->forward_only) {
		to->dense_still += count * cost->dense;
		to->expert_still += count * cost->expert;
	}
	to->flops += count * cost->flops;
	to->again_flops += count * cost->again_flops;
	to->host_bytes += count * cost->host_bytes;
	to->saved_bytes += count * cost->saved_bytes;
}

static bool is_end(const struct split *split, int k)
{
	return k == split->embedding_stage || k == split->head_stage ||
	       k == split->mtp_stage;
}

bool step_has_table(const struct step *step, int k)
{
	const struct split *split = &step->split;
	int schedule = step->scenario->plan.schedule, stage;

	if (step->scenario->model.mtp_layers < 1 || k != split->mtp_stage ||
	    step->stages < 2 || step->mesh.copies > 1)
		return false;
	stage = schedule_stage(schedule, step->stages, k);
	if (stage == schedule_stage(schedule, step->stages, split->embedding_stage))
		return false;
	return !step->scenario->model.tied_embeddings ||
	       stage != schedule_stage(schedule, step->stages, split->head_stage);
}

static void sum_chunk(const struct step *step, int k, const int16_t *kind_layers,
		      struct chunk_time *out)
{
	const struct model *m = &step->scenario->model;

	clear_bytes(out, sizeof *out);
	for (int kind = 0; kind < m->kinds; kind++) {
		double count = kind_layers[kind];

		if (count > 0)
			chunk_add_layer(out, &step->kind[kind], count);
		out->layers += count;
	}
	if (k == step->split.embedding_stage) {
		chunk_add_layer(out, &step->embedding, 1);
		out->table = step->embedding.dense_trainable;
	}
	if (k == step->split.head_stage)
		chunk_add_layer(out, &step->head, 1);
	if (k == step->split.mtp_stage && m->mtp_layers > 0) {
		chunk_add_layer(out, &step->mtp, (double)m->mtp_layers);
		out->layers += (double)m->mtp_layers;
	}
	if (step_has_table(step, k)) {
		out->dense += step->embedding.dense;
		out->dense_trainable += step->embedding.dense_trainable;
	}
}

static void add_stage_layer(struct stage_sum *out, const struct layer_cost *cost,
			    double count)
{
	out->dense += count * cost->dense;
	out->expert += count * cost->expert;
	out->dense_trainable += count * cost->dense_trainable;
	out->expert_trainable += count * cost->expert_trainable;
	out->trained_layers += count * cost->trained;
	out->narrow += count * cost->narrow;
	out->saved_bytes += count * cost->saved_bytes;
	out->host_bytes += count * cost->host_bytes;
	out->again_bytes = larger(out->again_bytes, layer_again_bytes(cost));
	out->gemm_bytes = larger(out->gemm_bytes, cost->gemm_bytes);
	out->passing_bytes = larger(out->passing_bytes, cost->passing_bytes);
	out->largest_dense = larger(out->largest_dense, cost->dense);
	out->largest_layer = larger(out->largest_layer, cost->dense + cost->expert);
	out->largest_dense_trainable =
		larger(out->largest_dense_trainable, cost->dense_trainable);
	out->largest_trainable = larger(out->largest_trainable,
					cost->dense_trainable + cost->expert_trainable);
}

void step_add_layers(const struct step *step, int k, const int16_t *kind_layers,
		     double times, struct stage_sum *out)
{
	const struct model *m = &step->scenario->model;

	for (int kind = 0; kind < m->kinds; kind++) {
		double count = times * kind_layers[kind];

		if (count > 0)
			add_stage_layer(out, &step->kind[kind], count);
		out->layers += count;
	}
	if (k == step->split.mtp_stage && m->mtp_layers > 0) {
		add_stage_layer(out, &step->mtp, (double)m->mtp_layers);
		out->layers += (double)m->mtp_layers;
	}
	if (k == step->split.embedding_stage || step_has_table(step, k))
		add_stage_layer(out, &step->embedding, 1);
	if (k == step->split.head_stage) {
		add_stage_layer(out, &step->head, 1);
		out->has_head = true;
	}
}

static double accumulate_seconds(const struct step *step, const struct chunk_time *t)
{
	if (step->micro_batches < 2)
		return 0;
	return step_accumulate_bytes(step->scenario,
				     t->dense_trainable + t->expert_trainable) *
	       step->context.memory.seconds_per_byte;
}

/* Activations on their way to the host and back, beside the computation: no run with
 * them was measured, so they are taken to hide as well as traffic of DP does. */
static double exposed_offload(const struct scenario *scenario,
			      const struct chunk_time *t, double bytes, bool forward)
{
	double rate = cluster_host_rate(&scenario->cluster);
	double compute = forward ? t->forward : t->input_grad + t->weight_grad;

	compute *= scenario->stack.dp_overlap;
	return rate > 0 ? larger(0, bytes / rate - compute) : 0;
}

/* Activations that go out and come back; what that leaves exposed. */
static void offload_traffic(const struct step *step, double times, struct chunk_time *t,
			    struct estimate *out)
{
	double rate = cluster_host_rate(&step->scenario->cluster);
	double runs = times * (double)step->micro_batches / (double)step->stages;
	double bytes = t->host_bytes;
	double out_time = exposed_offload(step->scenario, t, bytes, true);
	double in_time = exposed_offload(step->scenario, t, bytes, false);

	t->offload_forward = out_time;
	t->offload_backward = in_time;
	t->exposed_forward += out_time;
	t->exposed_backward += in_time;
	step_traffic(
		out, "activations to host", DIM_HOST, COLLECTIVE_COPY, NULL, 2 * runs,
		bytes,
		&(struct collective){ .seconds = bytes / rate, .sent_bytes = bytes },
		runs * (out_time + in_time));
}

/* What the CPU shows beside the GPU's seconds: the slower sets the pace. Where ranks
 * wait for each other's experts, some host or some GPU is late in every layer, and the
 * corner between both is round; what the GPU waited for this host is part of that. */
static double late_seconds(const struct mesh *mesh, const struct chunk_time *t,
			   double host, double gpu, double waited)
{
	double h = host * host, g = (gpu - waited) * (gpu - waited);

	if (t->expert_layers <= 0 || mesh->ep < 2)
		return larger(0, host - gpu);
	return larger(0, sqrt(sqrt(h * h + g * g)) - gpu);
}

/* Virtual stages with the same layers and none of the model's ends: each knows the next
 * one like it. */
struct alike {
	int first, last, times;
	int16_t layers[MAX_LAYER_KINDS]; /* of each kind */
};

static void stand_alone(const struct step *step, int k, struct alike *out)
{
	out->first = out->last = k;
	out->times = 1;
	split_count(&step->scenario->model, &step->split, k, out->layers);
}

/* What each of them takes, launching and traffic included. */
static void time_chunk(const struct step *step, const struct alike *all,
		       struct chunk_time *t, struct estimate *out)
{
	int k = all->first;

	sum_chunk(step, k, all->layers, t);
	if (step_hides_in_pairs(step->scenario)) {
		t->exposed_forward += t->alone_forward;
		t->exposed_backward += t->alone_backward;
	}
	if (k > 0)
		t->exposed_forward += step->join_seconds;
	if (k < step->stages * step->chunks - 1)
		t->exposed_backward += step->join_seconds;
	step_shard_copies(step, t);
	step_shard_traffic(step, all->times, t, out);
	t->accumulate = accumulate_seconds(step, t);
	t->weight_grad += t->accumulate;
	double forward = t->forward + t->copy_forward + t->exposed_forward;
	double backward = t->input_grad + t->weight_grad + t->recompute +
			  t->copy_again + t->copy_gradients + t->exposed_backward;

	/* a CPU that launches slower than the GPU computes sets the pace */
	t->late_forward =
		late_seconds(&step->mesh, t, t->host_forward, forward, t->wait_forward);
	t->late_backward = late_seconds(&step->mesh, t, t->host_backward, backward, 0);
	if (t->host_bytes > 0)
		offload_traffic(step, all->times, t, out);
	/* copies hide nothing: they wait for traffic, or traffic for them */
	t->forward += t->copy_forward;
	t->input_grad += t->copy_again;
	t->weight_grad += t->copy_gradients;
	t->all_forward = t->forward + t->exposed_forward + t->late_forward;
	t->all_input_grad =
		t->input_grad + t->recompute + t->exposed_backward + t->late_backward;
}

void step_chunk_time(const struct step *step, int k, struct chunk_time *time,
		     struct estimate *out)
{
	struct alike one;

	stand_alone(step, k, &one);
	time_chunk(step, &one, time, out);
}

/* Its share of a stage's times: half where the schedule keeps two copies. */
static void add_to_stage(struct stage_work *to, const struct chunk_time *t,
			 double share, double micro_batches)
{
	double runs = share * micro_batches;

	to->forward_seconds += share * t->all_forward;
	to->backward_seconds += share * (t->all_input_grad + t->weight_grad);
	to->exposed_seconds += runs * (t->exposed_forward + t->exposed_backward);
	to->alone_seconds += share * (t->alone_forward + t->alone_backward);
	to->recompute_seconds += runs * t->recompute;
	to->recompute_flops += runs * t->again_flops;
}

/* Where the times of virtual stages go. */
struct chunk_places {
	const struct step *step;
	struct stage_load *load; /* of each stage */
	struct pipeline_input *pipeline;
	struct estimate *out;
	int16_t next[MAX_VIRTUAL]; /* of one virtual stage the next that is like it */
};

/* `times` of them on one stage. */
static void place_on(const struct chunk_places *to, int stage, const struct alike *all,
		     const struct chunk_time *t, double times)
{
	const struct step *step = to->step;
	int mirror = step->stages - 1 - stage, copies = mesh_copies(step->scenario);
	double m = (double)step->micro_batches;

	for (int copy = 0; copy < copies; copy++) {
		struct stage_load *load = &to->load[copy == 0 ? stage : mirror];

		add_to_stage(&load->work, t, times / copies, m);
		step_add_layers(step, all->first, all->layers, times, &load->sum);
	}
}

enum { KINDS = 4 }; /* that are kept in mind */

static bool same_layers(int kinds, const struct alike *a, const struct alike *b)
{
	for (int kind = 0; kind < kinds; kind++)
		if (a->layers[kind] != b->layers[kind])
			return false;
	return true;
}

/* All virtual stages of a kind. */
static void place_chunks(const struct chunk_places *to, const struct alike *all)
{
	const struct step *step = to->step;
	struct pipeline_input *pipeline = to->pipeline;
	int schedule = step->scenario->plan.schedule, count[MAX_STAGES];
	bool several = all->times > step->stages;
	struct chunk_time t;

	time_chunk(step, all, &t, to->out);
	if (several)
		memset(count, 0, (size_t)step->stages * sizeof *count);
	for (int i = all->first; i >= 0; i = i == all->last ? -1 : to->next[i]) {
		int stage = schedule_stage(schedule, step->stages, i);

		pipeline->forward[i] = t.all_forward;
		pipeline->input_grad[i] = t.all_input_grad;
		pipeline->weight_grad[i] = t.weight_grad;
		/* of both; each of the two saves half */
		pipeline->pair_hides[i] = t.pairs_hide / 2;
		pipeline->held[i] = t.saved_bytes + t.host_bytes;
		if (several)
			count[stage]++;
		else
			place_on(to, stage, all, &t, 1);
	}
	for (int s = 0; several && s < step->stages; s++)
		if (count[s] > 0)
			place_on(to, s, all, &t, count[s]);
}

/* The kind that this one belongs to, one forgotten for it if it is new. */
static struct alike *kind_of(const struct chunk_places *to, const struct alike *one,
			     struct alike *kind, int *kinds)
{
	int seen = *kinds < KINDS ? *kinds : KINDS;
	struct alike *new;

	for (int i = 0; i < seen; i++)
		if (same_layers(to->step->scenario->model.kinds, &kind[i], one))
			return &kind[i];
	new = &kind[(*kinds)++ % KINDS];
	if (*kinds > KINDS)
		place_chunks(to, new);
	*new = *one;
	new->times = 0;
	return new;
}

void step_chunks(const struct step *step, struct stage_load *load,
		 struct pipeline_input *pipeline, struct estimate *out)
{
	struct chunk_places to;
	struct alike kind[KINDS];
	int kinds = 0;

	to.step = step;
	to.load = load;
	to.pipeline = pipeline;
	to.out = out;
	clear_bytes(load, (size_t)step->stages * sizeof *load);
	for (int k = 0; k < step->stages * step->chunks; k++) {
		struct alike one, *all;

		stand_alone(step, k, &one);
		if (is_end(&step->split, k)) {
			place_chunks(&to, &one);
			continue;
		}
		all = kind_of(&to, &one, kind, &kinds);
		to.next[all->last] = (int16_t)k;
		all->last = k;
		all->times++;
	}
	for (int i = 0; i < kinds && i < KINDS; i++)
		place_chunks(&to, &kind[i]);
	pipeline->weighed = true;
}

void step_chunk_parts(const struct step *step, int k, double *held_bytes,
		      double *recompute)
{
	struct stage_sum sum = { 0 };
	struct chunk_time t;
	struct alike one;

	stand_alone(step, k, &one);
	step_add_layers(step, k, one.layers, 1, &sum);
	sum_chunk(step, k, one.layers, &t);
	*held_bytes = sum.saved_bytes;
	*recompute = t.recompute;
}
