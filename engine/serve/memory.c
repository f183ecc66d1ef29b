/* memory.c - weights, KV cache and buffers of one rank of a server. */
#include <math.h>

#include "engine/serve/serve_parts.h"

/* Large matrices of a layer of that kind that one rank holds, elements; and small or
 * unquantised ones. */
static double layer_weights(const struct serve_context *c, int k, double *small)
{
	const struct model *m = &c->scenario->model;
	const struct engine_shape *e = &c->shape;
	double copies = (double)c->scenario->plan.serving.redundant_experts;
	struct layer_counts n;
	double dense;

	model_count_layer(m, &m->kind[k], &n);
	*small = n.norms + n.router;
	dense = n.mixer + n.shared;
	if (m->kind[k].mlp == MLP_DENSE)
		dense += n.mlp;
	if (m->moe.experts <= 0)
		return dense / e->tp;
	/* each rank has the whole of what projects to latent experts and back */
	return dense / e->tp + n.latent +
	       n.routed * (1 + copies / (double)m->moe.experts) / (e->ep * e->etp);
}

static double weights_bytes(const struct serve_context *c, double *elements)
{
	const struct model *m = &c->scenario->model;
	const struct serving_plan *v = &c->scenario->plan.serving;
	double table = (double)scenario_padded_vocab(c->scenario) * (double)m->hidden /
		       c->shape.tp;
	double share = ceil((double)m->layers / c->shape.pp) / (double)m->layers;
	double large = 0, small = 0, one;

	for (int k = 0; k < m->kinds; k++) {
		large += layer_weights(c, k, &one) * c->layers[k] * share;
		small += one * c->layers[k] * share;
	}
	if (v->speculative == SPECULATIVE_MTP && m->mtp_layers > 0)
		large += layer_weights(c, model_mtp_kind(m), &one) *
			 (double)m->mtp_layers;
	/* tables stay in bf16; a tied head shares the embedding's on one stage */
	small += m->tied_embeddings && c->shape.pp < 2 ? table : 2 * table;
	if (c->shape.pp > 1)
		small -= table;
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

void server_memory(const struct server *s, struct stage_memory *out)
{
	const struct scenario *sc = s->context.scenario;
	double groups = (s->context.shape.tp > 1) + (s->context.shape.ep > 1) +
			(s->context.shape.pp > 1);

	*out = (struct stage_memory){ 0 };
	out->weights_bytes = weights_bytes(&s->context, &out->parameters);
	out->layers = ceil((double)sc->model.layers / s->context.shape.pp);
	out->activations_bytes = activation_bytes(s);
	out->buffers_bytes = fmax(s->room, 256) * (double)scenario_padded_vocab(sc) /
			     s->context.shape.tp * 4;
	out->buffers_bytes = fmin(out->buffers_bytes, 2e9);
	out->framework_bytes =
		sc->stack.serving.other_bytes + groups * sc->stack.communicator_bytes;
	out->total_bytes = out->weights_bytes + out->activations_bytes +
			   out->buffers_bytes + out->framework_bytes;
	out->allocated_bytes = out->total_bytes - out->framework_bytes;
	out->reserved_bytes = out->allocated_bytes;
}

double server_request_bytes(const struct serve_context *c, double tokens)
{
	const struct model *m = &c->scenario->model;
	double block = fmax(1, (double)c->scenario->plan.serving.kv_block);
	double share = ceil((double)m->layers / c->shape.pp) / (double)m->layers;
	double bytes = 0;

	tokens = ceil(tokens / block) * block;
	for (int k = 0; k < m->kinds; k++) {
		const struct attention *a = &m->kind[k].attention;
		double kept = tokens, entry;

		if (m->kind[k].mixer == MIXER_ATTENTION) {
			double kv = fmax(1, (double)a->kv_heads / c->shape.tp);

			entry = kv * (double)(a->head_dim + a->value_dim);
		} else if (m->kind[k].mixer == MIXER_MLA) {
			entry = (double)(a->kv_rank + a->rope_dim);
		} else {
			/* states in fp32, whatever the length */
			if (m->kind[k].mixer != MIXER_NONE)
				bytes += c->layers[k] * share * (double)m->ssm.inner *
					 (double)m->ssm.state / c->shape.tp * 4;
			continue;
		}
		if (a->window > 0)
			kept = fmin(kept, (double)a->window);
		bytes += c->layers[k] * share * kept * entry * c->kv_bytes /
			 c->shape.kv_shards;
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

void server_room(struct server *s, const struct stage_memory *held)
{
	const struct scenario *sc = s->context.scenario;
	const struct serving_plan *v = &sc->plan.serving;
	double tokens = server_admitted_tokens(sc), each;
	double most = v->max_requests > 0 ? (double)v->max_requests
					  : (double)sc->stack.serving.max_requests;
	double prefix = server_cached_tokens(sc);

	s->kv_room_bytes = (sc->cluster.accelerator.usable_bytes - held->total_bytes) *
			   v->memory_share;
	/* a cached prefix is held once for all */
	each = server_request_bytes(&s->context, tokens - prefix);
	if (prefix > 0)
		s->kv_room_bytes -= server_request_bytes(&s->context, prefix);
	s->room = s->kv_room_bytes > 0 && each > 0 ? floor(s->kv_room_bytes / each) : 0;
	if (each <= 0 && s->kv_room_bytes > 0)
		s->room = most > 0 ? most : 1e6;
	if (most > 0)
		s->room = fmin(s->room, most);
}
