/* model_layers.c - see model_layers.h. */
#include "presets/model_layers.h"

#include <stdlib.h>
#include <string.h>

static void shape_habits(struct draft *d)
{
	struct model *m = &d->model;
	bool gpt = !m->gated_mlp;

	if (!d->norm_said) {
		m->norm = gpt ? NORM_LAYER : NORM_RMS;
		m->norm_bias = gpt;
	}
	if (!d->bias_said)
		m->mlp_bias = d->base.attention.qkv_bias =
			d->base.attention.output_bias = gpt;
	if (!d->tied_said)
		m->tied_embeddings = gpt;
	if (!d->position_said)
		m->position = gpt ? POSITION_LEARNED : POSITION_ROPE;
	if (!d->activation_said)
		m->activation = gpt ? ACTIVATION_GELU : ACTIVATION_SILU;
	if (m->vocab == 0)
		m->vocab = gpt ? 51200 : 32000;
	if (m->max_positions == 0 && m->position == POSITION_LEARNED)
		m->max_positions = 2048;
	if (d->base.ffn == 0)
		d->base.ffn = m->moe.expert_ffn ? m->moe.expert_ffn : 4 * m->hidden;
}

static void attention_habits(struct draft *d)
{
	struct attention *a = &d->base.attention;
	struct moe *moe = &d->model.moe;

	if (a->kv_rank > 0)
		d->base.mixer = MIXER_MLA;
	else
		d->base.mixer = MIXER_ATTENTION;
	if (a->heads == 0 && d->ssm_kind == MIXER_NONE)
		a->heads = d->model.hidden / 128 > 0 ? d->model.hidden / 128 : 1;
	if (a->kv_heads == 0 || d->base.mixer == MIXER_MLA)
		a->kv_heads = a->heads;
	if (d->base.mixer == MIXER_MLA)
		a->head_dim = a->nope_dim + a->rope_dim;
	if (a->head_dim == 0 && a->heads > 0)
		a->head_dim = d->model.hidden / a->heads;
	if (a->value_dim == 0)
		a->value_dim = a->head_dim;
	if (moe->experts > 0 && moe->expert_ffn == 0)
		moe->expert_ffn = d->base.ffn;
	if (moe->shared_ffn == 0)
		moe->shared_ffn = moe->shared_experts * moe->expert_ffn;
	if (moe->shared_ffn > 0 && moe->shared_experts == 0)
		moe->shared_experts = 1;
}

void draft_habits(struct draft *d)
{
	shape_habits(d);
	attention_habits(d);
}

/* "M-M*E": one letter a layer, as Nemotron-H writes it. */
static bool pattern_layer(const struct draft *d, char letter, struct layer_kind *out)
{
	struct layer_kind kind = { 0 };

	switch (letter) {
	case 'M': kind.mixer = (enum mixer_kind)d->ssm_kind; break;
	case '*':
		kind = d->base;
		kind.mlp = MLP_NONE;
		kind.ffn = 0;
		break;
	case '-':
		kind.mlp = MLP_DENSE;
		kind.ffn = d->base.ffn;
		break;
	case 'E': kind.mlp = MLP_MOE; break;
	default: return false;
	}
	*out = kind;
	return true;
}

static void regular_layer(const struct draft *d, int64_t i, struct layer_kind *kind)
{
	int64_t every = d->moe_every > 0 ? d->moe_every : 1;
	bool moe = d->model.moe.experts > 0 && i >= d->dense_layers &&
		   i % every == d->moe_offset % every;
	bool ssm = d->ssm_kind != MIXER_NONE &&
		   (d->attention_every == 0 ||
		    i % d->attention_every != d->attention_offset);

	*kind = d->base;
	kind->mlp = moe ? MLP_MOE : MLP_DENSE;
	if (ssm) {
		memset(&kind->attention, 0, sizeof kind->attention);
		kind->mixer = (enum mixer_kind)d->ssm_kind;
		if (d->attention_every == 0)
			kind->mlp = MLP_NONE;
	} else if (d->full_every > 0 && (i + 1) % d->full_every == 0) {
		kind->attention.window = 0;
	}
	if (kind->mlp != MLP_DENSE)
		kind->ffn = 0;
}

bool draft_listed_layers(const struct document *document, const struct node *node,
			 struct draft *d, struct error *error)
{
	struct layer_kind kinds[MAX_LAYER_KINDS];
	int count = d->model.kinds;
	const char *at = node && node->kind == NODE_SCALAR ? node->text : "";

	memcpy(kinds, d->model.kind, sizeof kinds);
	d->model.kinds = 0;
	while (*at != '\0') {
		char *end;
		long kind = strtol(at, &end, 10), times = 1;

		if (end == at || kind < 0 || kind >= count)
			break;
		if (*end == '*')
			times = strtol(end + 1, &end, 10);
		for (long i = 0; i < times; i++)
			if (!model_add_layer(&d->model, &kinds[kind]))
				return error_set(error, document->file, node->line,
						 "more than %d layers", MAX_LAYERS);
		at = end + strspn(end, " ,");
	}
	return *at == '\0' || error_set(error, document->file, node->line,
					"layer_list is '%.40s'; expected runs of kinds "
					"such as 0*3 1*58",
					node->text);
}

bool draft_add_layers(const struct document *document, const struct node *map,
		      struct draft *d, struct error *error)
{
	int64_t layers = d->pattern[0] ? (int64_t)strlen(d->pattern) : d->layers;

	if (layers < 1 || layers > MAX_LAYERS)
		return error_set(error, document->file, map->line,
				 "layers is %lld; expected 1 to %d", (long long)layers,
				 MAX_LAYERS);
	d->model.layers = 0;
	for (int64_t i = 0; i < layers; i++) {
		struct layer_kind kind;

		if (d->pattern[0] == '\0')
			regular_layer(d, i, &kind);
		else if (!pattern_layer(d, d->pattern[i], &kind))
			return error_set(error, document->file, map->line,
					 "pattern has '%c'; expected M, *, - or E",
					 d->pattern[i]);
		if (!model_add_layer(&d->model, &kind))
			return error_set(error, document->file, map->line,
					 "more than %d kinds of layers",
					 MAX_LAYER_KINDS);
	}
	return true;
}
