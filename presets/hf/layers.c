/* layers.c - see layers.h. Each family writes its pattern in its own key. */
#include "presets/hf/layers.h"

#include "engine/model/mixer.h"
#include "presets/hf/blocks.h"

#include <stdlib.h>
#include <string.h>

/* All pattern keys of one config, looked up once. */
struct pattern {
	char hybrid[MAX_LAYERS + 1]; /* "M-M*-": Nemotron-H */
	const struct node *layer_types, *mlp_types, *moe_list, *moe_freq_list,
		*mlp_only, *swa_list, *attention_layers, *lightning_list,
		*full_from_one, /* Kimi counts layers from 1 */
		*compress, *indexers, *heads;
	char moe_enum[1024]; /* "3,4,5": Step */
	int64_t window, window_period;
	int64_t attention_period, attention_offset, full_interval;
	int64_t dense_first, moe_freq, sparse_step, moe_step, moe_start, moe_end;
	int64_t expert_period, expert_offset;
	int64_t global_head_dim, global_kv_heads, swa_kv_heads, swa_heads, swa_head_dim,
		swa_value_dim;
	enum mixer_kind ssm; /* of the layers that are not attention */
	bool all_ssm;
	int64_t borrows_from; /* keys and values are an earlier layer's from this on */
	int64_t lends; /* or those of the first of so many layers are the others', too
			*/
	int64_t wide_from; /* MLPs are twice as wide from this layer on (Gemma 4 E) */
	bool sinks;        /* of the sliding layers (MiMo-V2) */
	int64_t whole;     /* layers of whole groups */
	int64_t group;     /* of whose layers the last one is MLA, and what is left over
			    */
};

/* Nemotron 3 names sublayers where others name layers: "moe" and "mlp" among them tell
 * (transformers v5, configuration_nemotron_h.py). They are written as letters here. */
static void sublayers(const struct hf_reader *r, struct pattern *p)
{
	static const struct {
		const char *name;
		char letter;
	} letters[] = {
		{ "mamba", 'M' }, { "attention", '*' }, { "moe", 'E' }, { "mlp", '-' }
	};
	const struct node *list = p->layer_types;
	bool own = r->family && strcmp(r->family->model_type, "nemotron_h") == 0;
	int count = 0;

	if (!list || list->kind != NODE_LIST || list->count > MAX_LAYERS)
		return;
	for (const struct node *node = list->child; node; node = node->next) {
		char letter = '?'; /* refused where its layer is read */

		for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
			if (node->kind == NODE_SCALAR &&
			    strcmp(node->text, letters[i].name) == 0)
				letter = letters[i].letter;
		own = own || letter == 'E' || letter == '-';
		p->hybrid[count++] = letter;
	}
	p->hybrid[own ? count : 0] = '\0';
}

static bool names(const char *list, const char *word)
{
	size_t length = strlen(word);
	const char *at = length > 0 ? list : NULL;

	while (at && (at = strstr(at, word)) != NULL) {
		if ((at == list || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
		at += length;
	}
	return false;
}

/* What stands where a layer does not attend; Mamba-2 where a file says nothing. */
static enum mixer_kind state_mixer(struct hf_reader *r, const char *type)
{
	for (int i = 0; i < MIXER_COUNT; i++) {
		const struct mixer *mixer = mixer_rows[i];

		if (names(mixer->hf_types, type) ||
		    (mixer->hf_keys && hf_has(r, mixer->hf_keys)))
			return (enum mixer_kind)i;
	}
	return MIXER_MAMBA2;
}

/* Every so many layers one sees all: a number, or EXAONE's letters, "LLLG". */
static int64_t window_period(struct hf_reader *r)
{
	static const char keys[] = "sliding_window_pattern global_attn_every_n_layers";
	const struct node *pattern = hf_get(r, keys);
	size_t local = pattern && pattern->kind == NODE_SCALAR
			       ? strspn(pattern->text, "L")
			       : 0;

	if (local > 0 && strcmp(pattern->text + local, "G") == 0)
		return (int64_t)local + 1;
	return hf_count(r, keys, 0);
}

bool hf_has_lightning(struct hf_reader *r)
{
	const char *type = r->family ? r->family->model_type : "";
	const struct node *types = hf_get(r, "layer_types");

	if (hf_list_holds(hf_get(r, "attn_type_list"), 0) ||
	    (hf_has(r, "layer_group_size") && !hf_has(r, "short_conv_kernel_size")))
		return true;
	if (strncmp(type, "minimax", 7) != 0 || !types || types->kind != NODE_LIST)
		return false;
	for (const struct node *node = types->child; node; node = node->next)
		if (node->kind == NODE_SCALAR && strstr(node->text, "linear"))
			return true;
	return false;
}

static void read_mixer_keys(struct hf_reader *r, struct pattern *p)
{
	const char *type = r->family ? r->family->model_type : "";

	hf_text(r, "hybrid_override_pattern", p->hybrid, sizeof p->hybrid);
	p->layer_types = hf_get(r, "layer_types layers_block_type");
	if (p->hybrid[0] == '\0')
		sublayers(r, p);
	p->full_from_one = hf_get(r, "linear_attn_config.full_attn_layers");
	p->swa_list = hf_get(r, "hybrid_layer_pattern sliding_window_layout");
	p->attention_layers = hf_get(r, "attn_layer_indices full_attn_idxs");
	p->lightning_list = hf_get(r, "attn_type_list");
	p->compress = hf_get(r, "compress_ratios");
	p->indexers = hf_get(r, "indexer_types");
	p->group = hf_count(r, "layer_group_size", 0);
	p->window = hf_count(
		r, "sliding_window sliding_window_size attention_chunk_size", 0);
	if (r->family && (r->family->traits & FAMILY_WINDOW_NEEDS_SWITCH) &&
	    !hf_bool(r, "use_sliding_window", false))
		p->window = 0;
	p->heads = hf_get(r, "num_attention_heads_per_layer");
	p->sinks = hf_bool(r, "add_swa_attention_sink_bias", false);
	p->window_period = window_period(r);
	if (p->window > 0 && p->window_period == 0 && !p->layer_types)
		p->window_period = strcmp(type, "gemma2") == 0   ? 2
				   : strcmp(type, "gemma3") == 0 ? 6
				   : strcmp(type, "llama4") == 0 ? 4
								 : 0;
	p->attention_period = hf_count(r, "attn_layer_period", 0);
	p->attention_offset = hf_count(r, "attn_layer_offset", 0);
	p->full_interval = hf_count(r, "full_attention_interval", 0);
	p->global_head_dim = hf_count(r, "global_head_dim", 0);
	p->global_kv_heads = hf_count(r, "num_global_key_value_heads", 0);
	p->swa_heads = hf_count(r,
				"swa_num_attention_heads "
				"attention_other_setting.num_attention_heads",
				0);
	p->swa_kv_heads = hf_count(r,
				   "swa_num_key_value_heads "
				   "attention_other_setting.num_attention_groups",
				   0);
	p->swa_head_dim =
		hf_count(r, "swa_head_dim attention_other_setting.head_dim", 0);
	p->swa_value_dim = hf_count(r, "swa_v_head_dim", 0);
	p->all_ssm = hf_is_mamba(r);
	p->ssm = hf_has_lightning(r) ? MIXER_LIGHTNING : state_mixer(r, type);
}

static void read_mlp_keys(struct hf_reader *r, struct pattern *p, int64_t layers)
{
	const struct node *freq = hf_get(r, "moe_layer_freq");
	int64_t shared = hf_count(r, "num_kv_shared_layers", 0);

	p->borrows_from = shared > 0 ? layers - shared : layers;
	/* Hunyuan's cross-layer attention (modeling_hunyuan.py) */
	p->lends =
		hf_bool(r, "use_cla", false) ? hf_count(r, "cla_share_factor", 1) : 1;
	p->wide_from =
		hf_bool(r, "use_double_wide_mlp", false) ? layers - shared : layers;

	p->mlp_types = hf_get(r, "mlp_layer_types is_moe_layer");
	p->moe_list = hf_get(r, "moe_layers");
	p->mlp_only = hf_get(r, "mlp_only_layers");
	p->dense_first = hf_count(r, "first_k_dense_replace num_dense_layers", 0);
	p->moe_freq = 1;
	if (freq && freq->kind == NODE_LIST)
		p->moe_freq_list = freq;
	else
		p->moe_freq = hf_count(r, "moe_layer_freq", 1);
	p->sparse_step = hf_count(r, "decoder_sparse_step", 1);
	p->moe_step = hf_count(r,
			       "interleave_moe_layer_step moe_layer_interval "
			       "moe_layer_frequency",
			       1);
	p->moe_start = hf_count(r, "moe_layer_start_index", 0);
	p->moe_end = hf_count(r, "moe_layer_end_index", INT64_C(1) << 40);
	p->expert_period = hf_count(r, "expert_layer_period", 1);
	p->expert_offset = hf_count(r, "expert_layer_offset", 0);
	hf_text(r, "moe_layers_enum", p->moe_enum, sizeof p->moe_enum);
}

static bool enum_holds(const char *list, int64_t value)
{
	while (*list != '\0') {
		char *end;
		long long item = strtoll(list, &end, 10);

		if (end == list)
			return false;
		if (item == value)
			return true;
		list = end + strspn(end, ", ");
	}
	return false;
}

static bool multiple(int64_t value, int64_t of)
{
	return of > 0 && value % of == 0;
}

static bool is_moe(const struct pattern *p, int64_t i)
{
	const struct node *type = hf_item(p->mlp_types, i);
	const struct node *freq = hf_item(p->moe_freq_list, i);

	if (type)
		return strcmp(type->text, "sparse") == 0 ||
		       strcmp(type->text, "moe") == 0 ||
		       strcmp(type->text, "true") == 0;
	if (p->moe_enum[0] != '\0')
		return enum_holds(p->moe_enum, i);
	if (p->moe_list)
		return hf_list_holds(p->moe_list, i);
	if (freq)
		return strtoll(freq->text, NULL, 10) != 0;
	if (hf_list_holds(p->mlp_only, i))
		return false;
	if (p->expert_period > 1)
		return i % p->expert_period == p->expert_offset;
	return i >= p->dense_first && i >= p->moe_start && i <= p->moe_end &&
	       multiple(i, p->moe_freq) && multiple(i + 1, p->sparse_step) &&
	       multiple(i + 1, p->moe_step);
}

static void full_attention(const struct pattern *p, struct layer_kind *kind)
{
	kind->attention.window = 0;
	if (p->global_head_dim > 0)
		kind->attention.head_dim = kind->attention.value_dim =
			p->global_head_dim;
	if (p->global_kv_heads > 0)
		kind->attention.kv_heads = p->global_kv_heads;
}

static void sliding_attention(const struct pattern *p, struct layer_kind *kind)
{
	kind->attention.window = p->window;
	kind->attention.sinks = kind->attention.sinks || p->sinks;
	if (p->swa_heads > 0)
		kind->attention.heads = p->swa_heads;
	if (p->swa_kv_heads > 0)
		kind->attention.kv_heads = p->swa_kv_heads;
	if (p->swa_head_dim > 0)
		kind->attention.head_dim = p->swa_head_dim;
	if (p->swa_head_dim > 0)
		kind->attention.value_dim =
			p->swa_value_dim > 0 ? p->swa_value_dim : p->swa_head_dim;
}

static void ssm_mixer(const struct pattern *p, struct layer_kind *kind)
{
	kind->mixer = p->ssm;
	memset(&kind->attention, 0, sizeof kind->attention);
}

static void named_mixer(const struct pattern *p, const char *name,
			struct layer_kind *kind)
{
	if (strstr(name, "linear") || strstr(name, "mamba") ||
	    (p->ssm == MIXER_CONV && strcmp(name, "conv") == 0))
		ssm_mixer(p, kind);
	else if (strstr(name, "sliding") || strstr(name, "chunked"))
		sliding_attention(p, kind);
	else
		full_attention(p, kind);
}

static void choose_mixer(const struct pattern *p, int64_t i, struct layer_kind *kind)
{
	const struct node *type = hf_item(p->layer_types, i);
	const struct node *swa = hf_item(p->swa_list, i);
	const struct node *lightning = hf_item(p->lightning_list, i);

	if (p->all_ssm)
		ssm_mixer(p, kind);
	else if (type)
		named_mixer(p, type->text, kind);
	else if (swa)
		named_mixer(p, strtol(swa->text, NULL, 10) ? "sliding" : "full", kind);
	else if (lightning)
		named_mixer(p, strtol(lightning->text, NULL, 10) ? "full" : "linear",
			    kind);
	else if (p->attention_layers)
		named_mixer(p, hf_list_holds(p->attention_layers, i) ? "full" : "mamba",
			    kind);
	else if (p->full_from_one)
		named_mixer(p,
			    hf_list_holds(p->full_from_one, i + 1) ? "full" : "linear",
			    kind);
	else if (p->attention_period > 1)
		named_mixer(p,
			    i % p->attention_period == p->attention_offset ? "full"
									   : "mamba",
			    kind);
	else if (p->group > 1)
		named_mixer(p,
			    multiple(i + 1, p->group) || i >= p->whole ? "full"
								       : "linear",
			    kind);
	else if (p->full_interval > 1)
		named_mixer(p, multiple(i + 1, p->full_interval) ? "full" : "linear",
			    kind);
	else if (p->window > 0 &&
		 !(p->window_period && multiple(i + 1, p->window_period)))
		sliding_attention(p, kind);
	else
		full_attention(p, kind);
}

/* DeepSeek-V4's list: no far entries, entries of few tokens of which an indexer picks,
 * or of many, which are all seen (DeepseekV4CSACompressor and HCACompressor). Layers of
 * GLM-5.2 share the picks of one before them. */
static void choose_entries(const struct pattern *p, int64_t i, struct attention *a)
{
	const struct node *ratio = hf_item(p->compress, i),
			  *indexer = hf_item(p->indexers, i);
	int64_t few = 16;

	if (ratio) {
		a->window = p->window;
		a->compress = strtoll(ratio->text, NULL, 10);
		if (a->compress < 1 || a->compress > few)
			a->index_heads = a->index_dim = a->index_topk = 0;
		if (a->compress < 0)
			a->compress = 0;
	}
	if (indexer && strcmp(indexer->text, "shared") == 0)
		a->index_heads = a->index_dim = 0;
}

/* Laguna: more heads where a layer sees little. */
static void choose_heads(const struct pattern *p, int64_t i, struct layer_kind *kind)
{
	const struct node *heads = hf_item(p->heads, i);
	int64_t count = heads ? strtoll(heads->text, NULL, 10) : 0;

	if (count > 0 && count <= 1 << 20)
		kind->attention.heads = count;
}

static void choose_mlp(const struct pattern *p, const struct model *model, int64_t i,
		       struct layer_kind *kind)
{
	kind->mlp = p->all_ssm                               ? MLP_NONE
		    : model->moe.experts > 0 && is_moe(p, i) ? MLP_MOE
							     : MLP_DENSE;
	if (kind->mlp != MLP_DENSE)
		kind->ffn = 0;
	else if (i >= p->wide_from)
		kind->ffn *= 2;
}

/* One letter of Nemotron-H's pattern: a layer is a mixer or an MLP, not both. */
static bool letter_layer(const struct pattern *p, char letter, struct layer_kind *kind)
{
	kind->mlp = MLP_NONE;
	if (letter == 'M')
		ssm_mixer(p, kind);
	else if (letter == '-' || letter == 'E') {
		memset(&kind->attention, 0, sizeof kind->attention);
		kind->mixer = MIXER_NONE;
		kind->mlp = letter == 'E' ? MLP_MOE : MLP_DENSE;
	} else if (letter != '*') {
		return false;
	}
	if (kind->mlp != MLP_DENSE)
		kind->ffn = 0;
	return true;
}

static bool has_beside(const struct model *model)
{
	for (int k = 0; k < model->kinds; k++)
		if (model->kind[k].beside != MIXER_NONE)
			return true;
	return false;
}

/* Sizes of a state space, and no layer that has one, for want of a pattern. */
static bool is_unsaid_hybrid(const struct pattern *p, const struct model *model)
{
	bool said = p->hybrid[0] != '\0' || p->layer_types || p->attention_layers ||
		    p->full_from_one || p->attention_period > 0 ||
		    p->full_interval > 0 || p->group > 1;

	if (said || p->all_ssm || model->ssm.state == 0 || has_beside(model))
		return false;
	for (int k = 0; k < model->kinds; k++)
		if (mixer_of(&model->kind[k])->scans)
			return false;
	return true;
}

void hf_read_layers(struct hf_reader *reader, struct model *model,
		    const struct layer_kind *base, int64_t layers)
{
	struct pattern pattern = { 0 };

	if (hf_has_blocks(reader)) {
		hf_read_blocks(reader, model, base, layers);
		return;
	}
	read_mixer_keys(reader, &pattern);
	read_mlp_keys(reader, &pattern, layers);
	pattern.whole = pattern.group > 1 ? layers / pattern.group * pattern.group : 0;
	for (int64_t i = 0; i < layers && !reader->failed; i++) {
		struct layer_kind kind = *base;
		bool good = true;

		if (pattern.hybrid[0] != '\0') {
			good = i < (int64_t)strlen(pattern.hybrid) &&
			       letter_layer(&pattern, pattern.hybrid[i], &kind);
		} else {
			choose_heads(&pattern, i, &kind);
			choose_mixer(&pattern, i, &kind);
			choose_entries(&pattern, i, &kind.attention);
			choose_mlp(&pattern, model, i, &kind);
			kind.attention.borrowed_kv =
				(i >= pattern.borrows_from ||
				 (pattern.lends > 1 && !multiple(i, pattern.lends))) &&
				mixer_of(&kind)->attends;
		}
		if (good && model_add_layer(model, &kind))
			continue;
		reader->failed = true;
		if (good)
			error_set(reader->error, reader->document->file,
				  reader->config->line,
				  "more than %d layers or %d distinct kinds of layers",
				  MAX_LAYERS, MAX_LAYER_KINDS);
		else
			error_set(reader->error, reader->document->file,
				  reader->config->line,
				  "the layer pattern does not say what layer %d is",
				  (int)i);
	}
	if (!reader->failed && is_unsaid_hybrid(&pattern, model)) {
		reader->failed = true;
		error_set(reader->error, reader->document->file, reader->config->line,
			  "both attention and state-space layers, and nothing says "
			  "which is which; expected layer_types, layers_block_type, "
			  "attn_layer_indices or the like");
	}
}

int64_t hf_layer_list(struct hf_reader *reader)
{
	const struct node *list = hf_get(reader, "layers_block_type layer_types");
	char letters[MAX_LAYERS + 1] = "";

	if (list && list->kind == NODE_LIST)
		return list->count;
	hf_text(reader, "hybrid_override_pattern", letters, sizeof letters);
	return (int64_t)strlen(letters);
}
