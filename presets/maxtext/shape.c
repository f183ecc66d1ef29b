/* shape.c - see shape.h. What a decoder_block leaves unsaid is in MaxText's
 * src/maxtext/models/ (gemma2.py, gemma3.py, gpt_oss.py, llama4.py, olmo3.py,
 * qwen3.py); absent keys have base.yml's values (AI-Hypercomputer/maxtext@e591f30cb).
 * With base_num_heads, which was there until heads shared keys, those of its first
 * months (ultrons/maxtext, MaxText/configs/base.yml).
 */
#include "presets/maxtext/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const maxtext_shape_keys[] = {
	"model_name",
	"decoder_block",
	"base_emb_dim",
	"base_num_heads",
	"base_num_query_heads",
	"base_num_kv_heads",
	"base_mlp_dim",
	"base_num_decoder_layers",
	"base_moe_mlp_dim",
	"head_dim",
	"vocab_size",
	"mlp_activations",
	"logits_via_embedding",
	"global_parameter_scale",
	"num_experts",
	"num_experts_per_tok",
	"shared_experts",
	"first_num_dense_layers",
	"interleave_moe_layer_step",
	"inhomogeneous_layer_cycle_interval",
	"use_qk_norm",
	"attention_bias",
	"mlp_bias",
	"use_post_attn_norm",
	"use_post_ffw_norm",
	"sliding_window_size",
	"chunk_attn_window_size",
	"attention_type",
	"q_lora_rank",
	"kv_lora_rank",
	"qk_nope_head_dim",
	"qk_rope_head_dim",
	"v_head_dim",
	"o_lora_rank",
	"o_groups",
	"compress_ratios",
	"indexer_n_heads",
	"indexer_head_dim",
	"indexer_topk",
	"use_indexer",
	"global_head_dim",
	"global_num_kv_heads",
	"gdn_conv_kernel_dim",
	"gdn_key_head_dim",
	"gdn_value_head_dim",
	"gdn_num_key_heads",
	"gdn_num_value_heads",
	"gdn_chunk_size",
	"n_routing_groups",
	"topk_routing_group",
	"mtp_num_layers",
	"max_position_embeddings",
	"mhc_expansion_rate",
	"hidden_size_per_layer_input",
	"vocab_size_per_layer_input",
	"num_kv_shared_layers",
	"use_double_wide_mlp",
	"share_kv_projections",
	NULL,
};

enum {
	BLOCK_QK_NORM = 1 << 0,
	BLOCK_BIAS = 1 << 1, /* of everything, and layer norms */
	BLOCK_SINKS = 1 << 2,
	BLOCK_LOCAL = 1 << 3, /* the last layer of a cycle sees all */
	BLOCK_GDN = 1 << 4,   /* and the others are gated delta nets */
	BLOCK_SHARED_GATE = 1 << 5,
	BLOCK_OUTPUT_GATE = 1 << 6,
	BLOCK_POST_NORMS = 1 << 7,
	BLOCK_PAIRS = 1 << 8,        /* a layer is two: one local, one global */
	BLOCK_DENSE_BESIDE = 1 << 9, /* the dense MLP beside the experts */
};

static const struct block {
	const char *name;
	unsigned traits;
	int cycle; /* where the file has none */
} blocks[] = {
	{ "default", 0, 1 },
	{ "llama2", 0, 1 },
	{ "mistral", 0, 1 },
	{ "mixtral", 0, 1 },
	{ "qwen2", 0, 1 },
	{ "qwen3", 0, 1 },
	{ "qwen3_moe", 0, 1 },
	{ "deepseek", 0, 1 },
	{ "deepseek4", BLOCK_QK_NORM | BLOCK_SINKS, 1 },
	{ "gemma", 0, 1 },
	{ "gemma2", BLOCK_LOCAL | BLOCK_POST_NORMS | BLOCK_PAIRS, 2 },
	{ "gemma3", BLOCK_LOCAL | BLOCK_POST_NORMS | BLOCK_QK_NORM, 6 },
	{ "gemma4", BLOCK_LOCAL | BLOCK_POST_NORMS | BLOCK_QK_NORM | BLOCK_DENSE_BESIDE,
	  6 },
	{ "gemma4_small", BLOCK_LOCAL | BLOCK_POST_NORMS | BLOCK_QK_NORM, 5 },
	{ "gpt3", BLOCK_BIAS, 1 },
	{ "gpt_oss", BLOCK_SINKS | BLOCK_LOCAL, 2 },
	{ "llama4", BLOCK_LOCAL | BLOCK_QK_NORM, 4 },
	{ "olmo3", BLOCK_LOCAL | BLOCK_QK_NORM, 4 },
	{ "qwen3_next",
	  BLOCK_LOCAL | BLOCK_GDN | BLOCK_QK_NORM | BLOCK_SHARED_GATE |
		  BLOCK_OUTPUT_GATE,
	  4 },
	{ "qwen3_5",
	  BLOCK_LOCAL | BLOCK_GDN | BLOCK_QK_NORM | BLOCK_SHARED_GATE |
		  BLOCK_OUTPUT_GATE,
	  4 },
};

struct shape {
	const struct mapped *m;
	const struct block *block;
	struct model model;
	struct layer_kind base;
	int64_t layers, ffn, dense_first, moe_step, cycle, window, global_head_dim,
		global_kv_heads;
	int64_t deep, wide, broad; /* factors of layers, width, heads and MLP */
	bool first;                /* of MaxText's first months */
	bool failed;
};

static int64_t count(struct shape *s, const char *key, int64_t absent)
{
	s->failed = s->failed || !mapped_count(s->m, key, &absent);
	return absent < 0 ? 0 : absent;
}

static bool on(const struct shape *s, const char *key)
{
	return mapped_true(s->m, key);
}

static bool find_block(struct shape *s)
{
	const struct pair *pair = mapped_find(s->m, "decoder_block");

	for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
		if (strcmp(blocks[i].name, pair ? pair->value : "llama2") == 0)
			s->block = &blocks[i];
	return s->block ||
	       error_set(s->m->error, s->m->pairs->file, pair->line,
			 "decoder_block is '%.40s', which is not modelled; llama2, "
			 "mixtral, deepseek, gemma3, gpt_oss, qwen3_next and the like "
			 "are",
			 pair->value);
}

/* global_parameter_scale, a power of two, spreads its doublings over heads and MLP,
 * then width, then layers: get_individual_scales() of MaxText's maxtext_utils.py. */
static bool read_scale(struct shape *s)
{
	int64_t scale = count(s, "global_parameter_scale", 1);
	int doublings = 0;

	while (doublings < 30 && (INT64_C(1) << doublings) < scale)
		doublings++;
	if (scale < 1 || (INT64_C(1) << doublings) != scale)
		return error_set(s->m->error, s->m->pairs->file,
				 mapped_find(s->m, "global_parameter_scale")->line,
				 "global_parameter_scale is %lld; expected a power of "
				 "two",
				 (long long)scale);
	s->deep = INT64_C(1) << doublings / 3;
	s->wide = s->deep << (doublings % 3 > 1);
	s->broad = s->deep << (doublings % 3 > 0);
	return true;
}

static void read_outline(struct shape *s)
{
	struct model *model = &s->model;
	const struct pair *acts = mapped_find(s->m, "mlp_activations");
	unsigned traits = s->block->traits;
	const char *words = acts ? acts->value : s->first ? "relu" : "silu linear";

	snprintf(model->name, sizeof model->name, "maxtext");
	model->hidden = s->wide * count(s, "base_emb_dim", s->first ? 2560 : 2048);
	model->vocab = count(s, "vocab_size", s->first ? 32768 : 32000);
	model->max_positions = count(s, "max_position_embeddings", 0);
	model->tied_embeddings =
		on(s, "logits_via_embedding") ||
		(s->first && !mapped_find(s->m, "logits_via_embedding"));
	model->gated_mlp = strchr(words, ' ') != NULL;
	model->activation = strstr(words, "gelu")   ? ACTIVATION_GELU
			    : strstr(words, "relu") ? ACTIVATION_RELU
						    : ACTIVATION_SILU;
	model->post_norms = (traits & BLOCK_POST_NORMS) || on(s, "use_post_ffw_norm");
	model->mlp_bias = on(s, "mlp_bias") || (traits & BLOCK_BIAS);
	model->norm = traits & BLOCK_BIAS ? NORM_LAYER : NORM_RMS;
	model->norm_bias = (traits & BLOCK_BIAS) != 0;
	model->position = traits & BLOCK_BIAS ? POSITION_LEARNED : POSITION_ROPE;
	if (model->position == POSITION_LEARNED && model->max_positions == 0)
		model->max_positions = count(s, "max_target_length", 2048);
	model->mtp_layers = count(s, "mtp_num_layers", 0);
	model->input_width = count(s, "hidden_size_per_layer_input", 0);
	if (model->input_width > 0)
		model->input_rows =
			count(s, "vocab_size_per_layer_input", model->vocab);
	s->layers = s->deep * count(s, "base_num_decoder_layers", 16) *
		    (traits & BLOCK_PAIRS ? 2 : 1);
	s->ffn = s->broad * count(s, "base_mlp_dim", s->first ? 8192 : 7168);
}

static void read_latent(struct shape *s)
{
	struct attention *a = &s->base.attention;

	s->base.mixer = MIXER_MLA;
	a->query_rank = count(s, "q_lora_rank", 0);
	a->kv_rank = count(s, "kv_lora_rank", 512);
	a->nope_dim = count(s, "qk_nope_head_dim", 128);
	a->rope_dim = count(s, "qk_rope_head_dim", 64);
	a->value_dim = count(s, "v_head_dim", 128);
	a->head_dim = a->nope_dim + a->rope_dim;
	a->kv_heads = a->heads;
}

static void read_attention(struct shape *s)
{
	struct attention *a = &s->base.attention;
	unsigned traits = s->block->traits;

	s->base.mixer = MIXER_ATTENTION;
	a->heads = s->broad *
		   count(s, s->first ? "base_num_heads" : "base_num_query_heads", 16);
	a->kv_heads =
		s->first ? a->heads : s->broad * count(s, "base_num_kv_heads", 16);
	a->head_dim = a->value_dim = count(s, "head_dim", s->first ? 256 : 128);
	a->qkv_bias = on(s, "attention_bias") || (traits & BLOCK_BIAS);
	a->output_bias = (traits & BLOCK_BIAS) ||
			 (on(s, "attention_bias") && (traits & BLOCK_SINKS));
	a->qk_norm = on(s, "use_qk_norm") || (traits & BLOCK_QK_NORM);
	a->sinks = (traits & BLOCK_SINKS) != 0;
	a->output_gate = (traits & BLOCK_OUTPUT_GATE) != 0;
	if (mapped_is(s->m, "attention_type", "mla"))
		read_latent(s);
	if (on(s, "use_indexer") || mapped_find(s->m, "compress_ratios")) {
		a->index_heads = count(s, "indexer_n_heads", 64);
		a->index_dim = count(s, "indexer_head_dim", 128);
		a->index_topk = count(s, "indexer_topk", 2048);
	}
	s->window = count(s, "sliding_window_size", 0);
	if (s->window == 0)
		s->window = count(s, "chunk_attn_window_size", 0);
	s->cycle = count(s, "inhomogeneous_layer_cycle_interval", s->block->cycle);
	if (s->cycle < 2)
		s->cycle = s->block->cycle;
	s->global_head_dim = count(s, "global_head_dim", 0);
	s->global_kv_heads = count(s, "global_num_kv_heads", 0);
}

/* DeepSeek-V4; layers.c of the Hugging Face reader says what the numbers mean. */
static void read_compressed(struct shape *s)
{
	struct attention *a = &s->base.attention;

	if (!mapped_find(s->m, "compress_ratios"))
		return;
	a->query_rank = count(s, "q_lora_rank", 0);
	a->output_rank = count(s, "o_lora_rank", 0);
	a->output_groups = count(s, "o_groups", 1);
	a->shared_kv = true;
}

static void read_experts(struct shape *s)
{
	struct moe *moe = &s->model.moe;
	bool oss = s->block->traits & BLOCK_SINKS;

	moe->experts = count(s, "num_experts", 1);
	if (moe->experts < 2) {
		moe->experts = 0;
		return;
	}
	moe->experts_per_token = count(s, "num_experts_per_tok", 1);
	moe->expert_ffn = s->broad * count(s, "base_moe_mlp_dim", 0);
	if (moe->expert_ffn == 0)
		moe->expert_ffn = s->ffn;
	moe->shared_experts = count(s, "shared_experts", 0);
	moe->shared_ffn = moe->shared_experts * moe->expert_ffn;
	if (s->block->traits & BLOCK_DENSE_BESIDE) {
		moe->shared_experts = 1;
		moe->shared_ffn = s->ffn;
	}
	moe->shared_gate =
		moe->shared_ffn > 0 && (s->block->traits & BLOCK_SHARED_GATE);
	moe->expert_bias = oss && s->model.mlp_bias;
	moe->router_bias = moe->expert_bias;
	moe->groups = count(s, "n_routing_groups", 0);
	moe->group_limit = moe->groups > 1 ? count(s, "topk_routing_group", 0) : 0;
	moe->groups = moe->group_limit > 0 ? moe->groups : 0;
	s->dense_first = count(s, "first_num_dense_layers", 0);
	s->moe_step = count(s, "interleave_moe_layer_step", 1);
}

static void read_delta_net(struct shape *s)
{
	struct ssm *ssm = &s->model.ssm;

	if (!(s->block->traits & BLOCK_GDN))
		return;
	ssm->heads = count(s, "gdn_num_value_heads", 32);
	ssm->head_dim = count(s, "gdn_value_head_dim", 128);
	ssm->groups = count(s, "gdn_num_key_heads", 16);
	ssm->state = count(s, "gdn_key_head_dim", 128);
	ssm->conv = count(s, "gdn_conv_kernel_dim", 4);
	ssm->chunk = count(s, "gdn_chunk_size", 64);
	ssm->inner = ssm->heads * ssm->head_dim;
	snprintf(s->model.approximate, sizeof s->model.approximate,
		 "linear attention is costed like a state-space scan");
}

static void doubt(struct shape *s, const char *key, const char *why)
{
	size_t used = strlen(s->model.approximate);

	snprintf(s->model.approximate + used, sizeof s->model.approximate - used,
		 "%s%s", used ? "; " : "", why);
	import_note(s->m->report, IMPORT_APPROXIMATE, key, "%s", why);
}

static void note_doubts(struct shape *s)
{
	if (on(s, "share_kv_projections"))
		doubt(s, "share_kv_projections",
		      "shared keys and values are counted apart");
	if (count(s, "mhc_expansion_rate", 0) > 1)
		doubt(s, "mhc_expansion_rate", "hyper-connections are left out");
}

/* The i-th of "0 0 4 128", 0 beyond the end. */
static int64_t listed(const struct pair *list, int64_t i)
{
	const char *at = list ? list->value : "";

	while (i-- > 0 && *at != '\0') {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return strtoll(at, NULL, 10);
}

static void choose_mixer(struct shape *s, int64_t i, struct layer_kind *kind)
{
	const struct pair *ratios = mapped_find(s->m, "compress_ratios");
	bool all = (i + 1) % s->cycle == 0;
	struct attention *a = &kind->attention;

	if (ratios) {
		a->compress = listed(ratios, i);
		a->window = s->window;
		if (a->compress < 1 || a->compress > 16)
			a->index_heads = a->index_dim = a->index_topk = 0;
		return;
	}
	if (!(s->block->traits & BLOCK_LOCAL)) {
		a->window = mapped_is(s->m, "attention_type", "local_sliding")
				    ? s->window
				    : 0;
		return;
	}
	if (!all && (s->block->traits & BLOCK_GDN)) {
		memset(a, 0, sizeof *a);
		kind->mixer = MIXER_LINEAR;
	} else if (!all) {
		a->window = s->window;
	} else {
		if (s->global_head_dim > 0)
			a->head_dim = a->value_dim = s->global_head_dim;
		if (s->global_kv_heads > 0)
			a->kv_heads = s->global_kv_heads;
	}
}

static bool add_layers(struct shape *s)
{
	const struct mapped *m = s->m;
	int64_t borrows_from = s->layers - count(s, "num_kv_shared_layers", 0);
	/* Gemma 4 E: those that borrow keys and values are twice as wide */
	int64_t wide_from = on(s, "use_double_wide_mlp") ? borrows_from : s->layers;

	for (int64_t i = 0; i < s->layers; i++) {
		struct layer_kind kind = s->base;
		bool moe = s->model.moe.experts > 0 && i >= s->dense_first &&
			   (i + 1) % (s->moe_step > 0 ? s->moe_step : 1) == 0;

		choose_mixer(s, i, &kind);
		kind.attention.borrowed_kv =
			i >= borrows_from && kind.attention.heads > 0;
		kind.mlp = moe ? MLP_MOE : MLP_DENSE;
		kind.ffn = moe ? 0 : i >= wide_from ? 2 * s->ffn : s->ffn;
		if (!model_add_layer(&s->model, &kind))
			return error_set(m->error, m->pairs->file, 1,
					 "more than %d layers or %d kinds of them",
					 MAX_LAYERS, MAX_LAYER_KINDS);
	}
	return true;
}

/* A command's YAML other than base.yml is a model's, which names it. */
static bool name_by_config(const struct mapped *m, const struct pair *config)
{
	const char *slash = strrchr(config->value, '/'),
		   *base = slash ? slash + 1 : config->value;
	char name[MAX_NAME];

	if (!mapped_find(m, "per_device_batch_size") ||
	    !mapped_find(m, "max_target_length"))
		return error_set(
			m->error, m->pairs->file, config->line,
			"per_device_batch_size and max_target_length stand in "
			"%.60s, which is not opened; give that file itself, or "
			"both in the command",
			base);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
	import_note(m->report, IMPORT_ASSUMED, "config",
		    "base.yml's for what %.60s sets by itself", base);
	return mapped_model(m, name, config);
}

bool maxtext_read_model(const struct mapped *m)
{
	const struct pair *name = mapped_find(m, "model_name"),
			  *config = mapped_find(m, "config"),
			  *width = mapped_find(m, "base_emb_dim");
	bool named = name && strcmp(name->value, "default") != 0;
	struct shape s = { .m = m, .first = mapped_find(m, "base_num_heads") };
	char why[MAX_NOTE];

	if (config && !named && m->report->model[0] == '\0') {
		const char *slash = strrchr(config->value, '/');

		if (strcmp(slash ? slash + 1 : config->value, "base.yml") != 0)
			return name_by_config(m, config);
		/* base.yml's own network, where the command is about a step at all */
		if (!width && mapped_find(m, "per_device_batch_size"))
			width = config;
	}
	/* a name overrides the keys; base.yml's own is "default" */
	if (m->report->model[0] != '\0' || !width || named)
		return mapped_model(m, name ? name->value : "", name);
	if (!find_block(&s) || !read_scale(&s))
		return false;
	read_outline(&s);
	read_attention(&s);
	read_compressed(&s);
	read_experts(&s);
	read_delta_net(&s);
	note_doubts(&s);
	if (s.failed || !add_layers(&s))
		return false;
	if (!model_sound(&s.model, why, sizeof why))
		return error_set(m->error, m->pairs->file, width->line,
				 "this model is not sound: %s", why);
	m->out->model = s.model;
	return true;
}
