/* scale.c - a larger or smaller model of the same shape. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/model/model.h"

/* The multiple of unit (or of what of it divides value) nearest to value * factor,
 * never less than one of them. */
static int64_t scale_size(int64_t value, double factor, int64_t unit)
{
	int64_t times;

	if (value <= 0)
		return value;
	while (value % unit != 0)
		unit /= 2;
	times = (int64_t)round((double)value * factor / (double)unit);
	return (times > 0 ? times : 1) * unit;
}

/* Heads come in whole groups of those that share a key-value head; without sharing in
 * eights, as far as they do now. */
static int64_t head_unit(const struct attention *a)
{
	bool shares = a->kv_heads > 0 && a->kv_heads < a->heads;

	return shares && a->heads % a->kv_heads == 0 ? a->kv_heads : 8;
}

static void scale_attention(struct attention *a, double factor)
{
	bool shares = a->kv_heads < a->heads;

	if (a->heads <= 0)
		return;
	a->heads = scale_size(a->heads, factor, head_unit(a));
	if (!shares)
		a->kv_heads = a->heads;
	a->query_rank = scale_size(a->query_rank, factor, 64);
	a->kv_rank = scale_size(a->kv_rank, factor, 64);
}

static void scale_ssm(struct ssm *ssm, double factor)
{
	int64_t groups = ssm->groups > 0 ? ssm->groups : 1;

	if (ssm->inner <= 0)
		return;
	if (ssm->heads > 0 && ssm->head_dim > 0 &&
	    ssm->inner == ssm->heads * ssm->head_dim) {
		ssm->heads = scale_size(ssm->heads, factor, groups);
		ssm->inner = ssm->heads * ssm->head_dim;
	} else {
		ssm->inner = scale_size(ssm->inner, factor, 128);
	}
	ssm->dt_rank = scale_size(ssm->dt_rank, factor, 1);
}

bool model_scale(const struct model *model, double factor, struct model *out)
{
	int64_t layers = scale_size(model->layers, factor, 1);

	memcpy(out, model, sizeof *out);
	if (!(factor > 0) || layers > MAX_LAYERS)
		return false;
	out->hidden = scale_size(model->hidden, factor, 128);
	out->moe.expert_ffn = scale_size(model->moe.expert_ffn, factor, 128);
	out->moe.expert_latent = scale_size(model->moe.expert_latent, factor, 128);
	out->moe.shared_ffn = scale_size(model->moe.shared_ffn, factor, 128);
	scale_ssm(&out->ssm, factor);
	out->layers = 0;
	out->kinds = 0;
	memset(out->kind, 0, sizeof out->kind);
	memset(out->layer, 0, sizeof out->layer);
	/* each layer is like the one at the same share of the depth */
	for (int64_t i = 0; i < layers; i++) {
		int64_t like = i * model->layers / layers;
		struct layer_kind kind = model->kind[model->layer[like]];

		scale_attention(&kind.attention, factor);
		kind.ffn = scale_size(kind.ffn, factor, 128);
		if (!model_add_layer(out, &kind))
			return false;
	}
	return true;
}
