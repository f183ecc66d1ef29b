/* layers.c - the layer list of a model and its kinds. */
#include "engine/model/model.h"

#include <stddef.h>
#include <string.h>

static bool attention_equal(const struct attention *a, const struct attention *b)
{
	return a->heads == b->heads && a->kv_heads == b->kv_heads &&
	       a->head_dim == b->head_dim && a->value_dim == b->value_dim &&
	       a->window == b->window && a->query_rank == b->query_rank &&
	       a->kv_rank == b->kv_rank && a->nope_dim == b->nope_dim &&
	       a->rope_dim == b->rope_dim && a->index_heads == b->index_heads &&
	       a->index_dim == b->index_dim && a->index_topk == b->index_topk &&
	       a->compress == b->compress && a->output_rank == b->output_rank &&
	       a->output_groups == b->output_groups && a->shared_kv == b->shared_kv &&
	       a->borrowed_kv == b->borrowed_kv && a->qkv_bias == b->qkv_bias &&
	       a->output_bias == b->output_bias && a->qk_norm == b->qk_norm &&
	       a->sinks == b->sinks && a->output_gate == b->output_gate;
}

bool model_same_mixer(const struct layer_kind *a, const struct layer_kind *b)
{
	return a->mixer == b->mixer && a->beside == b->beside &&
	       attention_equal(&a->attention, &b->attention);
}

static bool kind_equal(const struct layer_kind *a, const struct layer_kind *b)
{
	return a->mlp == b->mlp && a->ffn == b->ffn && a->wide == b->wide &&
	       a->frozen == b->frozen && model_same_mixer(a, b);
}

/* Members only: models are compared byte by byte, so padding must stay zero. */
static void copy_kind(struct layer_kind *to, const struct layer_kind *from)
{
	memset(to, 0, sizeof *to);
	to->mixer = from->mixer;
	to->mlp = from->mlp;
	to->beside = from->beside;
	to->ffn = from->ffn;
	to->wide = from->wide;
	to->frozen = from->frozen;
	memcpy(&to->attention, &from->attention,
	       offsetof(struct attention, output_gate) +
		       sizeof from->attention.output_gate);
}

bool model_add_layer(struct model *model, const struct layer_kind *kind)
{
	int k = 0;

	if (model->layers >= MAX_LAYERS)
		return false;
	while (k < model->kinds && !kind_equal(&model->kind[k], kind))
		k++;
	if (k == model->kinds) {
		if (k == MAX_LAYER_KINDS)
			return false;
		copy_kind(&model->kind[model->kinds++], kind);
	}
	model->layer[model->layers++] = (uint8_t)k;
	return true;
}

bool model_mark(struct model *model, const struct layer_marks *marks)
{
	struct model marked = *model;

	marked.layers = 0;
	marked.kinds = 0;
	memset(marked.kind, 0, sizeof marked.kind);
	for (int64_t i = 0; i < model->layers; i++) {
		struct layer_kind kind;

		copy_kind(&kind, &model->kind[model->layer[i]]);
		kind.wide =
			i < marks->wide_first || i >= model->layers - marks->wide_last;
		kind.frozen = i < marks->frozen;
		if (!model_add_layer(&marked, &kind))
			return false;
	}
	*model = marked;
	return true;
}

int64_t model_kind_layers(const struct model *model, int kind)
{
	int64_t count = 0;

	if (model->kinds == 1)
		return model->layers;
	for (int64_t i = 0; i < model->layers; i++)
		count += model->layer[i] == kind;
	return count;
}

/* The layers from there on that are of one kind; eight are compared at once. */
static int64_t run_length(const struct model *model, int64_t from)
{
	uint64_t one = model->layer[from], eight;
	int64_t end = from + 1;

	for (; end + 8 <= model->layers; end += 8) {
		memcpy(&eight, &model->layer[end], sizeof eight);
		if (eight != one * UINT64_C(0x0101010101010101))
			break;
	}
	while (end < model->layers && model->layer[end] == one)
		end++;
	return end - from;
}

void model_kinds_layers(const struct model *model, double *layers)
{
	int32_t count[MAX_LAYER_KINDS] = { 0 };

	if (model->kinds == 1)
		count[0] = (int32_t)model->layers;
	else
		for (int64_t i = 0, run; i < model->layers; i += run) {
			run = run_length(model, i);
			if (model->layer[i] < MAX_LAYER_KINDS)
				count[model->layer[i]] += (int32_t)run;
		}
	for (int k = 0; k < MAX_LAYER_KINDS && k < model->kinds; k++)
		layers[k] = count[k];
}

int model_mtp_kind(const struct model *model)
{
	int last = model->layers > 0 ? model->layer[model->layers - 1] : 0;
	struct layer_kind narrow;

	if (!model->kind[last].wide)
		return last;
	copy_kind(&narrow, &model->kind[last]);
	narrow.wide = false;
	for (int k = 0; k < model->kinds; k++)
		if (kind_equal(&model->kind[k], &narrow))
			return k;
	return last;
}
