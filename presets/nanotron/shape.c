/* shape.c - see shape.h. */
#include "presets/nanotron/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE "model.model_config."
#define MOE   SHAPE "moe_config."

const char *const nanotron_shape_keys[] = {
	SHAPE "hidden_size",
	SHAPE "intermediate_size",
	SHAPE "num_hidden_layers",
	SHAPE "num_attention_heads",
	SHAPE "num_key_value_heads",
	SHAPE "vocab_size",
	SHAPE "tie_word_embeddings",
	SHAPE "max_position_embeddings",
	SHAPE "is_llama_config",
	SHAPE "is_qwen2_config",
	SHAPE "hidden_act",
	SHAPE "attention_bias",
	SHAPE "is_starcoder2_config",
	SHAPE "num_kv_heads",
	SHAPE "grouped_query",
	SHAPE "multi_query",
	SHAPE "sliding_window_size",
	SHAPE "global_attn_layers",
	SHAPE "activation_function",
	MOE "num_experts",
	MOE "top_k",
	MOE "moe_intermediate_size",
	MOE "shared_expert_intermediate_size",
	MOE "enable_shared_expert",
	SHAPE "is_llamoe_config",
	SHAPE "moe_num_experts",
	SHAPE "num_experts_per_tok",
	NULL,
};

struct shape {
	int64_t hidden, ffn, layers, heads, kv_heads, vocab, positions, window;
};

static bool read_shape(const struct mapped *m, struct shape *s)
{
	if (!mapped_count(m, SHAPE "hidden_size", &s->hidden) ||
	    !mapped_count(m, SHAPE "num_hidden_layers", &s->layers) ||
	    !mapped_count(m, SHAPE "num_attention_heads", &s->heads))
		return false;
	s->ffn = s->hidden > 0 ? 4 * s->hidden : 0;
	s->kv_heads = mapped_true(m, SHAPE "multi_query") ? 1 : s->heads;
	if (mapped_true(m, SHAPE "grouped_query") &&
	    !mapped_count(m, SHAPE "num_kv_heads", &s->kv_heads))
		return false;
	return mapped_count(m, SHAPE "intermediate_size", &s->ffn) &&
	       mapped_count(m, SHAPE "num_key_value_heads", &s->kv_heads) &&
	       mapped_count(m, SHAPE "vocab_size", &s->vocab) &&
	       mapped_count(m, SHAPE "sliding_window_size", &s->window) &&
	       mapped_count(m, SHAPE "max_position_embeddings", &s->positions);
}

/* Which of nanotron's classes it is; a file that says none is Llama's, unless its keys
 * are those of another, which forks have. */
static bool read_class(const struct mapped *m, struct model *model,
		       struct layer_kind *kind)
{
	static const char *const others[] = { SHAPE "activation_function",
					      SHAPE "scale_attn_weights",
					      SHAPE "sinusoidal_position_embedding",
					      SHAPE "attn_pdrop" };
	bool known = mapped_true(m, SHAPE "is_llama_config") ||
		     mapped_true(m, SHAPE "is_llamoe_config") ||
		     mapped_true(m, SHAPE "is_qwen2_config");

	*model = (struct model){ .gated_mlp = true,
				 .norm = NORM_RMS,
				 .activation = ACTIVATION_SILU,
				 .position = POSITION_ROPE };
	kind->mixer = MIXER_ATTENTION;
	kind->attention.qkv_bias = mapped_true(m, SHAPE "attention_bias");
	model->tied_embeddings = mapped_true(m, SHAPE "tie_word_embeddings");
	if (mapped_true(m, SHAPE "is_starcoder2_config")) {
		model->gated_mlp = false;
		model->norm = NORM_LAYER;
		model->activation = ACTIVATION_GELU;
		model->norm_bias = model->mlp_bias = model->tied_embeddings = true;
		kind->attention.qkv_bias = kind->attention.output_bias = true;
		return true;
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0] && !known; i++)
		if (mapped_find(m, others[i]))
			return error_set(m->error, m->pairs->file,
					 mapped_find(m, others[i])->line,
					 "%s is no key of Llama's class, and nothing "
					 "says of which other it is; is_llama_config, "
					 "is_qwen2_config and is_starcoder2_config are "
					 "read",
					 others[i] + sizeof SHAPE - 1);
	return true;
}

/* Whether "0 5 9" has this layer. */
static bool is_listed(const struct pair *list, int64_t layer)
{
	char *end;

	for (const char *at = list ? list->value : ""; *at != '\0'; at = end) {
		if (strtoll(at, &end, 10) == layer && end > at)
			return true;
		if (end == at)
			return false;
	}
	return false;
}

static bool add_layers(const struct mapped *m, const struct shape *s,
		       const struct layer_kind *kind, struct model *model)
{
	const struct pair *wide = mapped_find(m, SHAPE "global_attn_layers");
	bool good = true;

	for (int64_t i = 0; i < s->layers && good; i++) {
		struct layer_kind layer = *kind;

		layer.attention.window = is_listed(wide, i) ? 0 : s->window;
		good = model_add_layer(model, &layer);
	}
	return good;
}

static bool read_moe(const struct mapped *m, struct moe *moe, int64_t ffn)
{
	/* what moe_config leaves out (nanotron/config/models_config.py, MoEConfig) */
	bool own = mapped_find(m, MOE "num_experts") || mapped_find(m, MOE "top_k");
	int64_t shared = 5632;

	moe->experts_per_token = own ? 2 : 1;
	moe->expert_ffn = own ? 1408 : ffn;
	moe->experts = own ? 8 : 0;
	/* of the example of experts, whose keys stand with the others */
	if (!mapped_count(m, SHAPE "moe_num_experts", &moe->experts) ||
	    !mapped_count(m, SHAPE "num_experts_per_tok", &moe->experts_per_token) ||
	    !mapped_count(m, MOE "num_experts", &moe->experts) ||
	    !mapped_count(m, MOE "top_k", &moe->experts_per_token) ||
	    !mapped_count(m, MOE "moe_intermediate_size", &moe->expert_ffn))
		return false;
	if (!mapped_count(m, MOE "shared_expert_intermediate_size", &shared))
		return false;
	if (mapped_true(m, MOE "enable_shared_expert"))
		moe->shared_ffn = shared;
	moe->shared_experts = moe->shared_ffn > 0;
	if (moe->experts < 1)
		memset(moe, 0, sizeof *moe);
	return true;
}

/* A key of the shape that is not read leaves it in doubt. */
static void note_structure(const struct mapped *m)
{
	static const char *const parts[] = { "expert", "mamba",  "latent", "kv_lora",
					     "ssm",    "layer_", "hybrid" };
	static const char *const trifles[] = { "initial", "norm", "capacity",
					       "_eps",    "loss", "dispatch" };
	char why[128] = "";

	for (int i = 0; i < m->pairs->count; i++) {
		const struct pair *pair = &m->pairs->item[i];
		bool is = false;

		if (strncmp(pair->key, SHAPE, sizeof SHAPE - 1) != 0 ||
		    word_among(pair->key, nanotron_shape_keys) ||
		    strcmp(pair->value, "0") == 0 || strcmp(pair->value, "false") == 0)
			continue;
		for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
			is = is || strstr(pair->key + sizeof SHAPE - 1, parts[k]);
		for (size_t k = 0; k < sizeof trifles / sizeof trifles[0]; k++)
			is = is && !strstr(pair->key, trifles[k]);
		if (is && why[0] == '\0')
			snprintf(why, sizeof why, "%.60s is not read",
				 pair->key + sizeof SHAPE - 1);
	}
	if (why[0] != '\0')
		mapped_approximate(m, "structure", why);
}

bool nanotron_read_model(const struct mapped *m)
{
	const struct pair *from = mapped_find(m, SHAPE "hidden_size");
	struct model model;
	struct layer_kind kind = { 0 };
	struct shape s = { .vocab = 32000 };
	char why[MAX_NOTE];

	if (!from)
		return mapped_no_model(m);
	if (!read_class(m, &model, &kind) || !read_shape(m, &s) ||
	    !read_moe(m, &model.moe, s.ffn))
		return false;
	if (s.heads < 1 || s.layers < 1 || s.layers > MAX_LAYERS)
		return error_set(m->error, m->pairs->file, from->line,
				 "model_config needs num_attention_heads "
				 "and 1 to %d num_hidden_layers",
				 MAX_LAYERS);
	snprintf(model.name, sizeof model.name, "nanotron");
	model.hidden = s.hidden;
	model.vocab = s.vocab;
	model.max_positions = s.positions;
	kind.attention.heads = s.heads;
	kind.attention.kv_heads = s.kv_heads;
	kind.attention.head_dim = kind.attention.value_dim = s.hidden / s.heads;
	kind.mlp = model.moe.experts > 0 ? MLP_MOE : MLP_DENSE;
	kind.ffn = kind.mlp == MLP_DENSE ? s.ffn : 0;
	if (!add_layers(m, &s, &kind, &model) || !model_sound(&model, why, sizeof why))
		return error_set(m->error, m->pairs->file, from->line,
				 "this model is not sound: %s", why);
	m->out->model = model;
	note_structure(m);
	return true;
}

/* Llama's shape and its mixture of experts is all that nanotron has. */
static bool is_llama(const struct model *model)
{
	const struct layer_kind *kind = &model->kind[0];

	return model->kinds == 1 && kind->mixer == MIXER_ATTENTION &&
	       model->gated_mlp && model->norm == NORM_RMS &&
	       model->position == POSITION_ROPE && !model->parallel_block &&
	       model->input_width == 0 && !model->post_norms && !model->mlp_bias &&
	       model->mtp_layers == 0 && kind->attention.window == 0 &&
	       !kind->attention.qk_norm &&
	       kind->attention.head_dim * kind->attention.heads == model->hidden;
}

/* The last layer's kind, of a hybrid that of its last attention: others have no heads.
 */
static const struct layer_kind *written_kind(const struct model *model)
{
	for (int64_t i = model->layers - 1; i >= 0; i--)
		if (model->kind[model->layer[i]].attention.heads > 0)
			return &model->kind[model->layer[i]];
	return &model->kind[model->layer[model->layers - 1]];
}

/* The width of the last MLP, 0 where there is none. */
static int64_t written_ffn(const struct model *model)
{
	for (int64_t i = model->layers - 1; i >= 0; i--)
		if (model->kind[model->layer[i]].mlp == MLP_DENSE)
			return model->kind[model->layer[i]].ffn;
	return 0;
}

void nanotron_write_model(struct entries *e, const struct model *model,
			  struct export_out *out)
{
	const struct layer_kind *kind = written_kind(model);
	const struct attention *a = &kind->attention;

	if (!is_llama(model))
		export_unsaid(out, "model", "%s is no plain Llama; written as one",
			      model->name);
	entries_add(e, SHAPE "is_llama_config", "true", false);
	entries_add_count(e, SHAPE "hidden_size", model->hidden);
	if (kind->mlp != MLP_MOE && written_ffn(model) > 0)
		entries_add_count(e, SHAPE "intermediate_size", written_ffn(model));
	entries_add_count(e, SHAPE "num_hidden_layers", model->layers);
	entries_add_count(e, SHAPE "num_attention_heads", a->heads > 0 ? a->heads : 1);
	entries_add_count(e, SHAPE "num_key_value_heads",
			  a->kv_heads > 0 ? a->kv_heads : 1);
	entries_add_count(e, SHAPE "vocab_size", model->vocab);
	if (model->max_positions > 0)
		entries_add_count(e, SHAPE "max_position_embeddings",
				  model->max_positions);
	entries_add(e, SHAPE "tie_word_embeddings",
		    model->tied_embeddings ? "true" : "false", false);
	if (a->qkv_bias)
		entries_add(e, SHAPE "attention_bias", "true", false);
	if (kind->mlp != MLP_MOE)
		return;
	entries_add_count(e, MOE "num_experts", model->moe.experts);
	entries_add_count(e, MOE "top_k", model->moe.experts_per_token);
	entries_add_count(e, MOE "moe_intermediate_size", model->moe.expert_ffn);
	if (model->moe.shared_ffn > 0) {
		entries_add(e, MOE "enable_shared_expert", "true", false);
		entries_add_count(e, MOE "shared_expert_intermediate_size",
				  model->moe.shared_ffn);
	}
}
