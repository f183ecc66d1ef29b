/* hf_model.c - see hf_model.h. */
#include "presets/hf/hf_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/hf/blocks.h"
#include "presets/hf/doubts.h"
#include "presets/hf/experts.h"
#include "presets/hf/layers.h"
#include "presets/hf/quantisation.h"
#include "presets/hf/reader.h"

bool hf_model_recognised(const struct node *root)
{
	return root && root->kind == NODE_MAP &&
	       (node_get(root, "model_type") || node_get(root, "architectures"));
}

static const struct node *text_part(const struct node *root)
{
	static const char *const keys[] = { "text_config", "llm_config",
					    "language_config" };
	const struct node *thinker = node_get(root, "thinker_config");

	/* Omni: what thinks, beside what talks */
	if (thinker && thinker->kind == NODE_MAP)
		return text_part(thinker);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct node *node = node_get(root, keys[i]);

		if (node && node->kind == NODE_MAP)
			return node;
	}
	return root;
}

/* Multimodal files leave out what their text class assumes anyhow; of a text model's
 * own file all of it is expected. */
static struct family_usual usual_of(const struct hf_reader *r, const struct node *root)
{
	return family_usual_of(r->config != root ? r->family : NULL);
}

static void read_activation(struct hf_reader *r, struct model *model)
{
	char name[48];

	hf_text(r, "mlp_hidden_act hidden_act hidden_activation activation_function",
		name, sizeof name);
	if (name[0] == '\0')
		model->activation = r->family ? r->family->activation : ACTIVATION_SILU;
	else if (strstr(name, "relu2") || strstr(name, "squared"))
		model->activation = ACTIVATION_RELU2;
	else if (strstr(name, "relu"))
		model->activation = ACTIVATION_RELU;
	else
		model->activation =
			strstr(name, "gelu") ? ACTIVATION_GELU : ACTIVATION_SILU;
}

/* The rows of the embedding, which may stand around the text's part. */
static int64_t vocab_of(struct hf_reader *r, const struct node *root, int64_t usual)
{
	static const char keys[] = "vocab_size padded_vocab_size";
	const struct node *around = node_get(root, "vocab_size");
	long long size = around && around->kind == NODE_SCALAR
				 ? strtoll(around->text, NULL, 10)
				 : 0;

	if (r->config == root || hf_get(r, keys) || size < 1 || size > 1 << 30)
		return hf_need_or(r, keys, usual);
	import_note(r->report, IMPORT_TAKEN, "vocab_size", "%lld", size);
	return size;
}

static void read_outline(struct hf_reader *r, const struct node *root,
			 struct model *model)
{
	const struct node *tied = node_get(root, "tie_word_embeddings");
	struct family_usual usual = usual_of(r, root);
	unsigned t = hf_traits(r);

	if (r->family) /* a word of OLMo's and LLaDA's, which their classes read */
		hf_get(r, "block_type");
	model->hidden = hf_need_or(r, "hidden_size n_embd n_embed d_model dim emb_dim",
				   usual.hidden);
	model->vocab = vocab_of(r, root, usual.vocab);
	model->max_positions = hf_count(
		r, "max_position_embeddings n_positions max_seq_len seq_length", 0);
	/* transformers ties where neither file nor class says anything, and writes
	 * false down (PretrainedConfig.to_diff_dict) */
	model->tied_embeddings =
		hf_bool(r, "tie_word_embeddings", !r->family || (t & FAMILY_TIED)) ||
		hf_bool(r, "weight_tying share_embedding", false);
	if (r->config != root && tied && tied->kind == NODE_SCALAR)
		model->tied_embeddings = strcmp(tied->text, "true") == 0;
	model->gated_mlp = !(t & FAMILY_NOT_GATED);
	model->parallel_block = hf_bool(r, "use_parallel_residual parallel_attn",
					(t & FAMILY_PARALLEL) != 0);
	model->shared_norm = model->parallel_block && (t & FAMILY_SHARED_NORM);
	model->post_norms = hf_bool(r, "use_post_norm", (t & FAMILY_POST_NORMS) != 0);
	model->norm = t & FAMILY_LAYER_NORM ? NORM_LAYER : NORM_RMS;
	model->norm_bias = model->norm == NORM_LAYER && !(t & FAMILY_NORM_NO_BIAS);
	model->embedding_norm = (t & FAMILY_EMBEDDING_NORM) != 0;
	model->mlp_bias = hf_bool(r, "mlp_bias", (t & FAMILY_MLP_BIAS) != 0);
	model->position = r->family ? r->family->position : POSITION_ROPE;
	read_activation(r, model);
	/* what squares has no gate as a rule (Nemotron, Arcee, nanochat) */
	if (!r->family && model->activation == ACTIVATION_RELU2)
		model->gated_mlp = false;
}

static void read_mla(struct hf_reader *r, struct layer_kind *base)
{
	struct attention *a = &base->attention;

	base->mixer = MIXER_MLA;
	a->kv_rank = hf_need(r, "kv_lora_rank");
	a->query_rank = hf_count(r, "q_lora_rank", 0);
	a->nope_dim = hf_need(r, "qk_nope_head_dim");
	a->rope_dim = hf_need(r, "qk_rope_head_dim");
	/* MiniCPM3's class makes it of the others */
	a->value_dim = r->family && strcmp(r->family->model_type, "minicpm3") == 0
			       ? hf_count(r, "v_head_dim",
					  hf_need(r, "hidden_size") /
						  (a->heads > 0 ? a->heads : 1))
			       : hf_need(r, "v_head_dim");
	/* some files set head_dim to the rotary width: it means nothing here */
	a->head_dim = a->nope_dim + a->rope_dim;
	a->kv_heads = a->heads;
}

/* The indexer of DeepSeek-V3.2 and of what follows it. */
static void read_indexer(struct hf_reader *r, struct attention *a)
{
	if (!hf_has(r, "index_n_heads"))
		return;
	a->index_heads = hf_need(r, "index_n_heads");
	a->index_dim = hf_need(r, "index_head_dim");
	a->index_topk = hf_need(r, "index_topk");
}

/* DeepSeek-V4: one vector is key and value, and queries and the output go through
 * narrower ones (MaxText, attention_compressed.py; layers.c has what is compressed). */
static void read_compressed(struct hf_reader *r, struct attention *a)
{
	a->shared_kv = true;
	a->sinks = a->qk_norm = true;
	a->output_rank = hf_count(r, "o_lora_rank", 0);
	a->output_groups = hf_count(r, "o_groups", 1);
	hf_get(r, "qk_rope_head_dim");
}

/* Of classes whose heads are no share of the width; 0: they are. */
static int64_t usual_head_dim(const struct hf_reader *r)
{
	return r->family && strncmp(r->family->model_type, "gemma", 5) == 0 ? 256 : 0;
}

static void read_attention(struct hf_reader *r, const struct node *root,
			   const struct model *model, struct layer_kind *base)
{
	struct attention *a = &base->attention;
	struct family_usual usual = usual_of(r, root);
	unsigned t = hf_traits(r);
	bool multi_query = hf_bool(r, "multi_query", (t & FAMILY_MULTI_QUERY) != 0);
	bool stated = hf_has(
		r, "num_attention_heads n_head n_heads num_heads attention_heads");

	base->mixer = MIXER_ATTENTION;
	a->heads = hf_need_or(
		r, "num_attention_heads n_head n_heads num_heads attention_heads",
		usual.heads);
	if (r->failed || a->heads == 0)
		return;
	if (hf_bool(r, "new_decoder_architecture", false))
		multi_query = false;
	/* Falcon's class: one, whatever num_kv_heads says (modeling_falcon.py) */
	a->kv_heads =
		multi_query && (t & FAMILY_MULTI_QUERY)
			? 1
			: hf_count(r,
				   "num_key_value_heads num_kv_heads "
				   "n_head_kv n_kv_heads num_attention_groups "
				   "multi_query_group_num attn_config.kv_n_heads",
				   multi_query                     ? 1
				   : !stated && usual.kv_heads > 0 ? usual.kv_heads
								   : a->heads);
	a->head_dim = hf_count(r, "head_dim attention_head_dim kv_channels",
			       !stated && usual.head_dim > 0 ? usual.head_dim
			       : usual_head_dim(r) > 0       ? usual_head_dim(r)
						       : model->hidden / a->heads);
	a->value_dim = hf_count(r, "v_head_dim", a->head_dim);
	if (a->value_dim == 0) /* of MLA, which this one is without */
		a->value_dim = a->head_dim;
	if (hf_has(r, "kv_lora_rank"))
		read_mla(r, base);
	else
		a->query_rank = hf_count(r, "q_lora_rank", 0);
	read_indexer(r, a);
	a->qkv_bias = hf_bool(r, "attention_bias qkv_bias use_qkv_bias add_qkv_bias",
			      (t & FAMILY_QKV_BIAS) != 0);
	a->output_bias = (t & FAMILY_OUTPUT_BIAS) != 0;
	a->qk_norm = hf_bool(r, "use_qk_norm qk_norm", (t & FAMILY_QK_NORM) != 0);
	a->sinks = (t & FAMILY_SINKS) != 0;
	a->output_gate = hf_bool(r, "attn_output_gate", (t & FAMILY_OUTPUT_GATE) != 0);
	if (hf_has(r, "compress_ratios"))
		read_compressed(r, a);
	/* Falcon-H1's layers have an MLP whatever the word says that asks for it */
	if (hf_has(r, "mamba_d_ssm") ||
	    (r->family && strcmp(r->family->model_type, "falcon_h1") == 0)) {
		base->beside = MIXER_MAMBA2;
		hf_bool(r, "mamba_use_mlp", true);
	}
}

/* All heads have keys; blocks are MiniMax's own, or those of Ling's kernel. */
static void read_lightning(struct hf_reader *r, struct model *model)
{
	struct ssm *ssm = &model->ssm;

	ssm->heads = ssm->groups = hf_need(r, "num_attention_heads");
	ssm->head_dim = ssm->state = hf_count(
		r, "head_dim", ssm->heads > 0 ? model->hidden / ssm->heads : 0);
	ssm->inner = ssm->heads * ssm->head_dim;
	ssm->chunk =
		hf_count(r, "block_size", hf_has(r, "layer_group_size") ? 64 : 256);
}

/* Linear attention; false if no key names it. */
static bool read_linear(struct hf_reader *r, struct ssm *ssm)
{
	if (hf_has(r, "linear_num_value_heads")) {
		ssm->heads = hf_need(r, "linear_num_value_heads");
		ssm->head_dim = hf_need(r, "linear_value_head_dim");
		ssm->groups = hf_need(r, "linear_num_key_heads");
		ssm->state = hf_need(r, "linear_key_head_dim");
		ssm->conv = hf_count(r, "linear_conv_kernel_dim", 4);
	} else if (hf_has(r, "linear_attn_config.num_heads")) {
		/* Kimi's delta attention has as many keys as values */
		ssm->heads = ssm->groups = hf_need(r, "linear_attn_config.num_heads");
		ssm->head_dim = ssm->state = hf_need(r, "linear_attn_config.head_dim");
		ssm->conv = hf_count(r, "linear_attn_config.short_conv_kernel_size", 4);
	} else if (hf_has(r, "layer_group_size") &&
		   hf_has(r, "short_conv_kernel_size")) {
		/* Ling 3: Kimi's, with the heads of its MLA */
		ssm->heads = ssm->groups = hf_need(r, "num_attention_heads");
		ssm->head_dim = ssm->state = hf_need(r, "head_dim");
		ssm->conv = hf_need(r, "short_conv_kernel_size");
	} else {
		return false;
	}
	ssm->inner = ssm->heads * ssm->head_dim;
	ssm->chunk = 64;
	return true;
}

/* "auto" is what an absent one is: a sixteenth of the width. */
static int64_t step_rank(struct hf_reader *r, int64_t hidden)
{
	static const char keys[] = "time_step_rank mamba_dt_rank";
	const struct node *node = hf_get(r, keys);

	if (node && node->kind == NODE_SCALAR && strcmp(node->text, "auto") == 0)
		return (hidden + 15) / 16;
	return hf_count(r, keys, (hidden + 15) / 16);
}

static void read_mamba(struct hf_reader *r, const struct model *model, struct ssm *ssm)
{
	ssm->state = hf_need(r, "ssm_state_size state_size mamba_d_state");
	ssm->conv = hf_count(r, "conv_kernel mamba_d_conv", 4);
	ssm->groups = hf_count(r, "n_groups mamba_n_groups", 1);
	ssm->chunk = hf_count(r, "chunk_size mamba_chunk_size", 256);
	ssm->dt_rank = step_rank(r, model->hidden);
	ssm->inner = hf_count(r, "intermediate_size",
			      hf_count(r, "expand mamba_expand", 2) * model->hidden);
	ssm->head_dim = hf_count(r, "mamba_head_dim mamba_d_head", 64);
	if (hf_has(r, "num_attention_heads") || !hf_is_mamba(r))
		ssm->inner = hf_count(r, "expand mamba_expand", 2) * model->hidden;
	ssm->heads = hf_count(r, "mamba_num_heads mamba_n_heads",
			      ssm->head_dim > 0 ? ssm->inner / ssm->head_dim : 0);
	if (hf_has(r, "mamba_num_heads mamba_n_heads"))
		ssm->inner = ssm->heads * ssm->head_dim;
	/* Falcon-H1, beside the attention of each layer */
	ssm->inner = hf_count(r, "mamba_d_ssm", ssm->inner);
}

static void read_ssm(struct hf_reader *r, struct model *model)
{
	struct ssm *ssm = &model->ssm;

	if (read_linear(r, ssm))
		return;
	if (hf_has_lightning(r)) {
		read_lightning(r, model);
	} else if (hf_has(r, "conv_L_cache")) {
		ssm->inner = model->hidden;
		ssm->conv = hf_need(r, "conv_L_cache");
	} else if (hf_has(r, "ssm_state_size state_size mamba_d_state")) {
		read_mamba(r, model, ssm);
	}
}

/* The id; else the file, or its folder where the file is called config.json. */
static void read_name(const struct document *document, const struct node *root,
		      struct model *model)
{
	const struct node *id = node_get(root, "_name_or_path");
	const char *name = document->file, *slash = strrchr(name, '/');
	size_t length;

	if (id && id->kind == NODE_SCALAR && id->text[0] != '\0' &&
	    id->text[0] != '/' && id->text[0] != '.') {
		snprintf(model->name, sizeof model->name, "%.*s", MAX_NAME - 1,
			 id->text);
		error_clean(model->name);
		return;
	}
	if (slash && strcmp(slash + 1, "config.json") == 0) {
		length = (size_t)(slash - name);
		while (length > 0 && name[length - 1] != '/')
			length--;
		name += length;
		length = (size_t)(slash - name);
	} else {
		name = slash ? slash + 1 : name;
		length = strlen(name);
		if (length > 5 && strcmp(name + length - 5, ".json") == 0)
			length -= 5;
	}
	if (length == 0 || name[0] == '.') {
		name = "config";
		length = strlen(name);
	}
	snprintf(model->name, sizeof model->name, "%.*s",
		 length < MAX_NAME ? (int)length : MAX_NAME - 1, name);
	error_clean(model->name);
}

/* MiniMax counts modules of several layers each, and has a switch. */
static int64_t read_mtp(struct hf_reader *r)
{
	int64_t layers =
		hf_count(r, "num_nextn_predict_layers mtp_num_hidden_layers", 0);

	if (layers == 0)
		layers = hf_count(r, "num_mtp_modules", 0) *
			 hf_count(r, "mtp_transformer_layers", 1);
	return hf_bool(r, "use_mtp", true) ? layers : 0;
}

/* LFM2: 2/3 of what stands there, times a factor, up to the next multiple
 * (modeling_lfm2.py, Lfm2MLP). */
static int64_t adjusted(struct hf_reader *r, int64_t ffn)
{
	int64_t of = hf_count(r, "block_multiple_of", 256);
	double factor = hf_number(r, "block_ffn_dim_multiplier", 1);

	ffn = hf_count(r, "block_ff_dim", ffn);
	if (!hf_bool(r, "block_auto_adjust_ff_dim", true) || of < 1 || !(factor > 0) ||
	    factor > 100)
		return ffn;
	ffn = (int64_t)(factor * (double)(2 * ffn / 3));
	return (ffn + of - 1) / of * of;
}

static void read_shapes(struct hf_reader *r, const struct node *root,
			struct model *model)
{
	struct layer_kind base = { 0 };
	bool only_ssm = hf_is_mamba(r);
	struct family_usual usual = usual_of(r, root);
	int64_t layers, ffn;

	read_outline(r, root, model);
	layers = hf_layer_list(r);
	layers = layers > 0 ? hf_count(r, hf_layer_keys(r), layers)
			    : hf_need_or(r, hf_layer_keys(r), usual.layers);
	ffn = hf_count(r, "intermediate_size_mlp dense_intermediate_size", 0);
	hf_read_experts(
		r, model,
		hf_count(r,
			 "intermediate_size n_inner ffn_dim ffn_config.ffn_hidden_size",
			 0));
	if (ffn == 0)
		ffn = hf_count(r,
			       "intermediate_size n_inner ffn_dim hidden_dim "
			       "inner_hidden_size ffn_hidden_size mlp_hidden_size "
			       "ff_intermediate_size "
			       "ffn_config.ffn_hidden_size",
			       usual.ffn > 0 ? usual.ffn : 4 * model->hidden);
	read_ssm(r, model);
	if (!only_ssm)
		read_attention(r, root, model, &base);
	if (hf_has(r, "block_auto_adjust_ff_dim"))
		ffn = adjusted(r, ffn);
	/* Qwen 1 counts gate and up together (modeling_qwen.py, QWenMLP) */
	base.ffn = hf_traits(r) & FAMILY_HALF_FFN ? ffn / 2 : ffn;
	model->mtp_layers = read_mtp(r);
	model->input_width = hf_count(r, "hidden_size_per_layer_input", 0);
	if (model->input_width > 0)
		model->input_rows =
			hf_count(r, "vocab_size_per_layer_input", model->vocab);
	if (!r->failed)
		hf_read_layers(r, model, &base, layers);
}

/* Why a mapping is no config.json, or not that of a checkpoint; NULL where it is one.
 */
static const char *why_none(const struct node *root)
{
	static const char *const sizes[] = { "num_hidden_layers", "n_layers",
					     "n_layer" };

	if (hf_is_quantisation(root))
		return "the quantisation of a checkpoint (hf_quant_config.json); give "
		       "the config.json beside it, which is read with it";
	if (node_get(root, "ffn_embed_dim") && node_get(root, "hidden_dim"))
		return "a model in llm-analysis' own form, which does not tell its "
		       "MLP, biases and tables; give its config.json";
	if (hf_model_recognised(root))
		return NULL;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (node_get(root, sizes[i]))
			return "sizes of a model without the model_type that says how "
			       "they are meant; \"model_type\": \"gpt2\", or what "
			       "it is, makes it a config.json of Hugging Face";
	return "no model_type: not a Hugging Face config.json";
}

bool hf_model_read(const struct document *document, struct model *out,
		   struct import_report *report, struct error *error)
{
	const struct node *root = document->root;
	struct hf_reader reader = {
		.document = document, .report = report, .error = error, .config = root
	};
	struct model model = { 0 };
	const char *none;
	char model_type[MAX_NAME], why[MAX_NOTE];

	none = why_none(root);
	if (none)
		return error_set(error, document->file, root ? root->line : 0, "%s",
				 none);
	reader.config = text_part(root);
	hf_text(&reader, "model_type", model_type, sizeof model_type);
	if (model_type[0] == '\0' && reader.config != root) {
		const struct node *type = node_get(root, "model_type");

		snprintf(model_type, sizeof model_type, "%.*s", MAX_NAME - 1,
			 type && type->kind == NODE_SCALAR ? type->text : "");
	}
	reader.family = hf_family(&reader, model_type);
	read_name(document, root, &model);
	if (!hf_can_read(&reader, model_type))
		return false;
	read_shapes(&reader, root, &model);
	if (reader.failed)
		return false;
	hf_note_doubts(&reader, root, model_type, &model);
	hf_note_rest(&reader);
	if (reader.failed)
		return false;
	if (!model_sound(&model, why, sizeof why))
		return error_set(error, document->file, reader.config->line, "%s", why);
	*out = model;
	return true;
}
