/* memory.c - weights, KV cache and buffers of one rank of a server. */
#include <math.h>
#include <string.h>

#include "engine/model/shape.h"
#include "engine/serve/layer.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"

struct held {
	double large, small;
};

double server_adapter_weights(const struct scenario *s, const struct shape *shape)
{
	if (shape->kind != SHAPE_LINEAR || shape->borrowed)
		return 0;
	return (double)s->plan.serving.adapter_rank *
	       (shape->columns + (1 + shape->further) * shape->inner);
}

/* Matrices that the checkpoint leaves in 16 bits count as small, and so do adapters. */
static struct held held_of(const struct serve_context *c, const struct shapes *shapes,
			   enum serve_matrix matrix)
{
	double adapters = (double)c->scenario->plan.serving.adapters;
	double large = 0, small = 0;

	for (int i = 0; i < shapes->count; i++) {
		const struct shape *shape = &shapes->item[i];

		large += shape_weights(shape) - shape->weights;
		small += shape->weights;
		if (adapters > 0)
			small += adapters * server_adapter_weights(c->scenario, shape);
	}
	if (!serve_quantises(c->scenario, matrix))
		return (struct held){ 0, small + large };
	return (struct held){ large, small };
}

/* Large matrices of half a layer that one rank holds, elements; and small or
 * unquantised ones. */
static struct held mixer_weights(const struct serve_context *c, int k)
{
	const struct share share = { .tp = c->shape.tp };
	const struct model *m = &c->scenario->model;
	struct shapes shapes;

	shapes_mixer(m, &m->kind[k], &share, &shapes);
	return held_of(c, &shapes, MATRIX_MIXER);
}

static struct held mlp_weights(const struct serve_context *c, int k)
{
	const struct share share = { .tp = c->shape.tp };
	const struct model *m = &c->scenario->model;
	const struct engine_shape *e = &c->shape;
	double copies = serve_spare_experts(c);
	struct layer_counts n;
	struct shapes shapes;
	struct expert_sizes size;
	struct held held;
	double stored;

	shapes_mlp(m, &m->kind[k], &share, &shapes);
	held = held_of(c, &shapes, MATRIX_MLP);
	if (m->kind[k].mlp != MLP_MOE)
		return held;
	model_count_experts(m, &n);
	held.small += n.router;
	size = serve_expert_sizes(c);
	stored = size.width * size.ffn * e->etp /
		 ((double)model_expert_width(m) * (double)m->moe.expert_ffn);
	/* each rank has the whole of what projects to latent experts and back */
	held.large += n.latent + n.routed * stored *
					 (1 + copies / (double)m->moe.experts) /
					 (e->ep * e->etp);
	return held;
}

void server_weights(const struct serve_context *c, double *in_large, double *in_small)
{
	const struct model *m = &c->scenario->model;
	const struct serving_plan *v = &c->scenario->plan.serving;
	double table = (double)scenario_padded_vocab(c->scenario) * (double)m->hidden /
		       c->shape.tp;
	double share = ceil((double)m->layers / c->shape.pp) / (double)m->layers;
	double large = 0, small = 0;
	struct held mixer = { 0 }, mlp = { 0 };

	for (int k = 0; k < m->kinds; k++) {
		if (!shapes_same_mixer(m, k))
			mixer = mixer_weights(c, k);
		if (!shapes_same_mlp(m, k))
			mlp = mlp_weights(c, k);
		large += (mixer.large + mlp.large) * c->layers[k] * share;
		small += (mixer.small + mlp.small) * c->layers[k] * share;
	}
	if (v->speculative == SPECULATIVE_MTP && m->mtp_layers > 0) {
		mixer = mixer_weights(c, model_mtp_kind(m));
		mlp = mlp_weights(c, model_mtp_kind(m));
		large += (mixer.large + mlp.large) * (double)m->mtp_layers;
	}
	/* tables stay in bf16; a tied head shares the embedding's on one stage */
	small += model_input_table(m) / c->shape.tp;
	small += m->tied_embeddings && c->shape.pp < 2 ? table : 2 * table;
	if (c->shape.pp > 1)
		small -= table;
	*in_large = large;
	*in_small = small;
}

static double weights_bytes(const struct serve_context *c, double *elements)
{
	const struct serving_plan *v = &c->scenario->plan.serving;
	double large, small;

	server_weights(c, &large, &small);
	*elements = large + small;
	large *= c->weight_bytes;
	/* a draft model reads as much more as it costs */
	if (v->speculative == SPECULATIVE_DRAFT)
		large *= 1 + v->draft_cost;
	return large + small * 2;
}

/* hidden-wide tensors of a pass at its largest; the part that TP splits shrinks
 * (aiconfigurator: 11, 6.5, 5, 5 copies of the hidden state at TP 1, 2, 4, 8). */
static double activation_bytes(const struct server *s)
{
	const struct scenario *sc = s->context.scenario;
	double copies = sc->stack.serving.activation_copies;
	double whole = fmin(copies, 4);
	double tokens = s->budget_tokens;

	return tokens * (double)sc->model.hidden * 2 *
	       (whole + (copies - whole) / s->context.shape.tp);
}

static bool is_small(const struct scenario *s)
{
	const struct serving_stack *v = &s->stack.serving;
	const struct accelerator *a = &s->cluster.accelerator;

	return a->memory_bytes < v->small_bytes ||
	       (v->small_name[0] != '\0' && strstr(a->name, v->small_name));
}

double server_usual_requests(const struct scenario *s)
{
	const struct serving_stack *v = &s->stack.serving;

	return (double)(v->small_requests > 0 && is_small(s) ? v->small_requests
							     : v->max_requests);
}

double server_usual_tokens(const struct scenario *s)
{
	const struct serving_stack *v = &s->stack.serving;

	if (v->small_batched_tokens > 0 && is_small(s))
		return (double)v->small_batched_tokens;
	if (v->large_batched_tokens > 0 &&
	    s->cluster.accelerator.memory_bytes >= v->large_bytes)
		return (double)v->large_batched_tokens;
	return (double)v->max_batched_tokens;
}

double server_request_limit(const struct scenario *s)
{
	int64_t most = s->plan.serving.max_requests;

	return most > 0 ? (double)most : server_usual_requests(s);
}

/* Sampling follows the layers and takes over what they let go of; more only where all
 * requests' logits are larger. Every rank has the whole vocabulary (logits are
 * gathered) beside the hidden states. */
static double sampling_bytes(const struct server *s, double activations)
{
	const struct scenario *sc = s->context.scenario;
	double each =
		sc->stack.serving.logit_bytes > 0 ? sc->stack.serving.logit_bytes : 4;
	double limit = server_request_limit(sc);
	double rows = fmin(limit > 0 ? limit : 256, s->budget_tokens);

	return fmax(0, rows * (double)scenario_padded_vocab(sc) * each +
			       s->budget_tokens * (double)sc->model.hidden * 2 -
			       activations);
}

/* Tensors that the CPU hands to an all-reduce on another stream can't be used again
 * before the GPU has come there, and the CPU launches a whole pass meanwhile
 * (torch.Tensor.record_stream): each layer takes new ones. */
static double reduced_bytes(const struct server *s)
{
	const struct scenario *sc = s->context.scenario;
	double layers = ceil((double)sc->model.layers / s->context.shape.pp);

	if (s->context.shape.tp <= 1)
		return 0;
	return sc->stack.serving.kept_reduces * layers * s->budget_tokens *
	       (double)sc->model.hidden * 2;
}

double server_communicators(const struct server *s)
{
	const struct engine_shape *e = &s->context.shape;

	return (e->tp > 1) + (e->ep > 1) + (e->pp > 1);
}

void server_memory(const struct server *s, struct stage_memory *out)
{
	const struct scenario *sc = s->context.scenario;
	*out = (struct stage_memory){ 0 };
	out->weights_bytes = weights_bytes(&s->context, &out->parameters);
	out->layers = ceil((double)sc->model.layers / s->context.shape.pp);
	out->activations_bytes = activation_bytes(s);
	out->buffers_bytes =
		sampling_bytes(s, out->activations_bytes) + reduced_bytes(s);
	out->framework_bytes = sc->stack.serving.other_bytes +
			       server_communicators(s) * sc->stack.communicator_bytes;
	out->total_bytes = out->weights_bytes + out->activations_bytes +
			   out->buffers_bytes + out->framework_bytes;
	out->allocated_bytes = out->total_bytes - out->framework_bytes;
	out->reserved_bytes = out->allocated_bytes;
}

double server_held_tokens(const struct scenario *s, double tokens)
{
	double block = fmax(1, (double)s->plan.serving.kv_block);

	return ceil(tokens / block) * block;
}

double server_request_bytes(const struct serve_context *c, double tokens)
{
	const struct model *m = &c->scenario->model;
	double share = ceil((double)m->layers / c->shape.pp) / (double)m->layers;
	double bytes = 0;

	tokens = server_held_tokens(c->scenario, tokens);
	for (int k = 0; k < m->kinds; k++) {
		/* shards cut what tokens keep, not a state */
		double one = model_cache_bytes(m, &m->kind[k], tokens, c->shape.tp,
					       c->kv_bytes / c->shape.kv_shards);

		bytes += c->layers[k] * share * one;
	}
	return bytes;
}

double server_mean_context(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	return (double)v->prompt_len + (double)v->output_len / 2;
}

double server_cached_tokens(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	return v->prefix_cache ? floor(v->shared_prefix * (double)v->prompt_len) : 0;
}

double server_admitted_tokens(const struct scenario *s)
{
	const struct serving_plan *v = &s->plan.serving;

	if (s->stack.serving.reserves || v->batching == BATCHING_STATIC)
		return (double)(v->prompt_len + v->output_len);
	return server_mean_context(s);
}

/* Bytes for the cache of a rank by the stack's meaning of the share. vLLM: total * f
 * less weights, the peak of a pass, and what libraries and graphs took since the
 * process had its context (gpu_worker.py, determine_available_memory). SGLang: what is
 * free behind the weights less total * (1 - f), total being free once libraries are
 * there. TensorRT-LLM, LMDeploy: f of what is free behind a pass at its largest. */
double server_bytes_of_share(const struct scenario *s, const struct stage_memory *held,
			     double f)
{
	double gpu = s->cluster.accelerator.usable_bytes;

	switch (s->stack.serving.share_of) {
	case SHARE_OF_GPU:
		return gpu * f - (held->total_bytes - s->stack.context_bytes);
	case SHARE_STATIC:
		return (gpu - held->framework_bytes) * f - held->weights_bytes;
	default: return (gpu - held->total_bytes) * f;
	}
}

double server_left_bytes(const struct scenario *s, const struct stage_memory *held)
{
	return s->cluster.accelerator.usable_bytes - held->total_bytes;
}

void server_room(struct server *s, const struct stage_memory *held)
{
	const struct scenario *sc = s->context.scenario;
	double tokens = server_admitted_tokens(sc), each;
	double most = server_request_limit(sc), prefix = server_cached_tokens(sc);

	s->kv_share_bytes = server_bytes_of_share(sc, held, server_memory_share(sc));
	s->kv_room_bytes = s->kv_share_bytes;
	/* a cached prefix is held once for all */
	each = server_request_bytes(&s->context, tokens - prefix);
	if (prefix > 0)
		s->kv_room_bytes -= server_request_bytes(&s->context, prefix);
	s->room = s->kv_room_bytes > 0 && each > 0 ? floor(s->kv_room_bytes / each) : 0;
	if (each <= 0 && s->kv_room_bytes > 0)
		s->room = most > 0 ? most : 1e6;
	if (most > 0)
		s->room = fmin(s->room, most);
	/* a share that takes what a pass needs: the server stops when it starts */
	if (s->kv_share_bytes > server_left_bytes(sc, held) * (1 + 1e-12))
		s->room = 0;
}
