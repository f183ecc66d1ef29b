/* doubts.c - see doubts.h. */
#include "presets/hf/doubts.h"

#include "engine/knob/knob.h"
#include "presets/hf/quantisation.h"

#include <stdio.h>
#include <string.h>

#define DRAFT "a draft of another model: what it takes of that one's layers is left out"

/* Keys whose presence makes costs approximate, and why. */
static const struct {
	const char *key, *why;
} approximations[] = {
	{ "linear_num_value_heads",
	  "linear attention is costed like a state-space scan" },
	{ "linear_attn_config", "linear attention is costed like a state-space scan" },
	{ "short_conv_kernel_size",
	  "linear attention is costed like a state-space scan" },
	{ "zero_expert_num",
	  "experts that pass a token on: as many others are counted as on average" },
	{ "attention_k_eq_v", "shared keys and values are counted apart" },
	{ "ssm_cfg", "the state-space settings of this form are read in part" },
	{ "sparse_attention_config",
	  "sparse attention: its indexer is left out, full attention counted" },
	{ "altup_num_inputs", "AltUp's predictions are left out" },
	{ "laurel_rank", "LAuReL's low-rank paths are left out" },
	{ "mla_use_output_gate", "the output gate of MLA is left out" },
	{ "hc_mult", "hyper-connections are left out" },
	{ "num_target_layers", DRAFT },
	{ "draft_vocab_size", DRAFT },
	{ "total_ut_steps",
	  "a token passes the layers several times: one pass is counted" },
	{ "share_q_dim",
	  "a projection of queries in two low-rank parts is counted whole" },
};

/* Zero and false say that there is none of it. */
static bool says_so(const struct node *node)
{
	return node &&
	       (node->kind != NODE_SCALAR ||
		(strcmp(node->text, "0") != 0 && strcmp(node->text, "false") != 0 &&
		 strcmp(node->text, "null") != 0));
}

void hf_approximate(struct hf_reader *r, struct model *model, const char *key,
		    const char *why)
{
	size_t used = strlen(model->approximate);

	import_note(r->report, IMPORT_APPROXIMATE, key, "%s", why);
	if (strstr(model->approximate, why))
		return;
	if (used + strlen(why) + 3 < sizeof model->approximate)
		snprintf(model->approximate + used, sizeof model->approximate - used,
			 "%s%s", used ? "; " : "", why);
}

/* Kinds of layers that are read as another kind. */
static void note_layer_types(struct hf_reader *r, struct model *model)
{
	const struct node *list = hf_get(r, "layer_types layers_block_type");
	bool taps = hf_has(r, "conv_L_cache"); /* of LFM2's, which are read */
	/* whose "hybrid" layers attend to everything, beside "hybrid_sliding" ones */
	bool inkling = r->family && strncmp(r->family->model_type, "inkling", 7) == 0;
	static const struct {
		const char *type, *why;
	} unlike[] = {
		{ "conv", "short convolutions are read as full attention" },
		{ "recurrent", "recurrent layers are read as full attention" },
		{ "hybrid", "shared attention beside Mamba is read as attention" },
	};

	for (const struct node *node = list ? list->child : NULL; node;
	     node = node->next)
		for (size_t i = 0; i < sizeof unlike / sizeof unlike[0]; i++)
			if (node->kind == NODE_SCALAR && !(taps && i == 0) &&
			    !inkling && strcmp(node->text, unlike[i].type) == 0 &&
			    !strstr(model->approximate, unlike[i].why))
				hf_approximate(r, model, list->key, unlike[i].why);
}

/* Whether a key that nothing has read says of what a layer is made. Zero, false and an
 * empty list say that there is none of it. */
static bool is_structure(const struct node *node)
{
	static const char *const parts[] = { "expert",   "layer",  "mamba",
					     "latent",   "is_moe", "block_type",
					     "structure" };
	/* of training, of numbers alone, of other parts of the file */
	static const char *const trifles[] = {
		"norm",    "drop",    "dtype", "overlap", "init",    "eps",
		"bias",    "scale",   "mtp",   "vision",  "audio",   "router",
		"act",     "dt_",     "skip",  "index_",  "scaling", "chunk",
		"encoder", "feature", "group", "vocab",   "per_tok"
	};
	bool found = false;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		found = found || strstr(node->key, parts[i]);
	for (size_t i = 0; i < sizeof trifles / sizeof trifles[0]; i++)
		found = found && !strstr(node->key, trifles[i]);
	return found &&
	       (node->kind == NODE_SCALAR ? says_so(node) : node->child != NULL);
}

/* A key that looks like structure and is not read leaves the shape in doubt. */
static void note_structure(struct hf_reader *r, struct model *model)
{
	char why[MAX_NOTE] = "";
	size_t used = 0;

	for (const struct node *node = r->config->child; node; node = node->next)
		if (hf_is_left(r, node) && is_structure(node) && used < 80)
			used += (size_t)snprintf(why + used, sizeof why - used,
						 "%s%.40s",
						 used ? ", " : "not read: ", node->key);
	if (used > 0)
		hf_approximate(r, model, "structure", why);
}

/* It is the checkpoint's, which training does not start from in these bytes. */
static void note_quantisation(struct hf_reader *r, const struct node *root,
			      struct model *model)
{
	const struct node *config = node_get(r->config, "quantization_config");
	const struct node *method;
	const char *precision;
	char why[MAX_NOTE], experts[16];

	if (!config)
		config = node_get(root, "quantization_config");
	method = node_get(config, "quant_method");
	if (!config)
		return;
	hf_get(r, "quantization_config");
	precision = hf_quantised(config, why, sizeof why);
	hf_text(r, "expert_dtype", experts, sizeof experts);
	/* DeepSeek-V4: nearly all weights are the experts' */
	if (strcmp(experts, "fp4") == 0 && precision &&
	    strcmp(precision, "nvfp4") != 0) {
		snprintf(why, sizeof why,
			 "experts are in fp4, the rest in %s: all counted as nvfp4",
			 precision);
		precision = "nvfp4";
	}
	for (int i = 0; precision && precision_words[i]; i++)
		if (strcmp(precision_words[i], precision) == 0) {
			model->precision = i;
			import_note(r->report, IMPORT_TAKEN, "quantization_config",
				    "%s weights of the checkpoint", precision);
			if (why[0] != '\0')
				hf_approximate(r, model, "quantization_config", why);
			return;
		}
	import_note(r->report, IMPORT_NOT_MODELLED, "quantization_config",
		    "%s weights of the checkpoint",
		    method && method->kind == NODE_SCALAR ? method->text : "quantised");
}

/* Eyes and ears, which count neither as weights nor as work. */
static void note_other_parts(struct hf_reader *r, const struct node *root,
			     const char *model_type, struct model *model)
{
	static const char *const parts[] = { "vision", "visual", "audio", "speech",
					     "vit_config" };
	bool more = strcmp(model_type, "molmo") == 0;

	for (const struct node *node = root->child; node && !more; node = node->next)
		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
			more = more ||
			       (strstr(node->key, parts[i]) &&
				(node->kind == NODE_MAP ||
				 (strstr(node->key, "tower") && says_so(node))));
	if (more)
		hf_approximate(r, model, "vision_config", "the text part alone");
}

/* "MistralModel" ends in hidden states. The first ChatGLM's class of that name, and
 * GPT-2's, have a head; an encoder is told as that. */
static bool has_no_head(const struct hf_reader *r, const char *name)
{
	size_t length = strlen(name);

	return length > 5 && strcmp(name + length - 5, "Model") == 0 &&
	       !strstr(name, "LMHead") && strcmp(name, "ChatGLMModel") != 0 &&
	       !strstr(name, "Reward") && !strstr(name, "Draft") &&
	       !(r->family && (r->family->traits & FAMILY_ENCODER));
}

/* What stands before the first layer and behind the last, where it is no table of as
 * many words as the vocabulary has. */
static void note_ends(struct hf_reader *r, const struct node *root, struct model *model)
{
	static const char *const others[] = { "ForSequenceClassification",
					      "ForTokenClassification",
					      "ForRewardModel", "RewardModel" };
	const struct node *list = node_get(root, "architectures");
	const struct node *name = list ? list->child : NULL;
	int64_t width = hf_count(r, "word_embed_proj_dim embedding_size", 0);

	if (width > 0 && width < model->hidden)
		hf_approximate(
			r, model, "embedding_size",
			"embeddings narrower than the layers are counted as wide");
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (name && name->kind == NODE_SCALAR &&
		    strstr(name->text, others[i]) && !model->tied_embeddings)
			hf_approximate(
				r, model, "architectures",
				"another head than a language model's, counted as "
				"its vocabulary");
	if (name && name->kind == NODE_SCALAR && has_no_head(r, name->text))
		hf_approximate(r, model, "architectures",
			       "no head behind the last layer: a language model's is "
			       "counted");
	if (name && name->kind == NODE_SCALAR && strstr(name->text, "Eagle"))
		hf_approximate(r, model, "architectures", DRAFT);
	if (hf_has(r, "is_causal") && !hf_bool(r, "is_causal", true))
		hf_approximate(r, model, "is_causal",
			       "attention looks both ways, and is counted as causal");
}

/* What classes do that nothing in their files says. */
static void note_class(struct hf_reader *r, const char *model_type, struct model *model)
{
	static const struct {
		const char *type, *why;
	} classes[] = {
		{ "jetmoe", "attention has experts of its own: those that see a token "
			    "are counted" },
		{ "inkling", "short convolutions and relative positions are left out" },
		{ "llada",
		  "a diffusion model, counted as one that writes token by token" },
	};

	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		if (strncmp(model_type, classes[i].type, strlen(classes[i].type)) == 0)
			hf_approximate(r, model, "model_type", classes[i].why);
}

void hf_note_doubts(struct hf_reader *r, const struct node *root,
		    const char *model_type, struct model *model)
{
	if (!r->family)
		hf_approximate(r, model, "model_type",
			       hf_is_like_gpt2(r)
				       ? "a family not in the table: read like GPT-2"
				       : "a family not in the table: read like Llama");
	for (size_t i = 0; i < sizeof approximations / sizeof approximations[0]; i++)
		if (says_so(hf_get(r, approximations[i].key)))
			hf_approximate(r, model, approximations[i].key,
				       approximations[i].why);
	if (r->family && (r->family->traits & FAMILY_ENCODER))
		hf_approximate(
			r, model, "model_type",
			"an encoder: its attention looks both ways, and is counted "
			"as causal");
	if (strcmp(model_type, "afmoe") == 0 && model->moe.experts > 0 &&
	    !hf_has(r, "num_dense_layers"))
		hf_approximate(r, model, "num_dense_layers",
			       "how many layers come before those of experts is not "
			       "stated: none");
	if (strcmp(model_type, "laguna") == 0 && model->moe.experts > 0 &&
	    !hf_has(r, "mlp_layer_types"))
		hf_approximate(r, model, "mlp_layer_types",
			       "which layers have experts is not stated: all");
	if ((strncmp(model_type, "qwen3_5", 7) == 0 ||
	     strncmp(model_type, "qwen3_next", 10) == 0) &&
	    !hf_has(r, "layer_types full_attention_interval"))
		hf_approximate(r, model, "layer_types",
			       "which layers have linear attention is not stated: "
			       "none");
	note_class(r, model_type, model);
	if (strstr(model_type, "ngram"))
		hf_approximate(
			r, model, "model_type",
			"embeddings of n-grams, which may be most of it, are left "
			"out");
	if ((hf_has(r, "index_topk") || strcmp(model_type, "deepseek_v32") == 0 ||
	     strcmp(model_type, "glm_moe_dsa") == 0) &&
	    !hf_has(r, "index_n_heads"))
		hf_approximate(
			r, model, "index_topk",
			"sparse attention without the sizes of its indexer: full "
			"attention counted");
	note_layer_types(r, model);
	note_quantisation(r, root, model);
	note_other_parts(r, root, model_type, model);
	note_ends(r, root, model);
	if (node_get(root, "thinker_config"))
		hf_approximate(r, model, "talker_config",
			       "the thinker's text part alone");
	note_structure(r, model);
}

bool hf_can_read(struct hf_reader *r, const char *model_type)
{
	static const struct {
		const char *type, *what;
	} unlike[] = {
		{ "rwkv", "RWKV" },
		{ "xlstm", "xLSTM" },
		{ "retnet", "RetNet" },
		{ "reformer", "Reformer" },
		{ "whisper", "Whisper" },
		{ "wav2vec", "wav2vec, which hears," },
		{ "hubert", "HuBERT, which hears," },
		{ "clip", "CLIP, which compares images and texts," },
		{ "siglip", "SigLIP, which compares images and texts," },
		{ "vit", "ViT, which sees," },
		{ "dinov", "DINO, which sees," },
		{ "swin", "Swin, which sees," },
		{ "albert", "ALBERT, of one layer for all," },
		{ "recurrent_gemma", "Griffin, of linear recurrent units," },
		{ "zamba", "Zamba, of one attention for many layers," },
		{ "openelm", "OpenELM, each of whose layers has a width of its own," },
	};

	for (size_t i = 0; i < sizeof unlike / sizeof unlike[0]; i++)
		if (strncmp(model_type, unlike[i].type, strlen(unlike[i].type)) == 0) {
			r->failed = true;
			return error_set(
				r->error, r->document->file, r->config->line,
				"%s (model_type %.40s) is not modelled: "
				"attention, MLA, Mamba and gated delta nets are",
				unlike[i].what, model_type);
		}
	if (!hf_bool(r, "is_encoder_decoder", false))
		return !r->failed;
	r->failed = true;
	return error_set(r->error, r->document->file, r->config->line,
			 "%.40s is an encoder-decoder, which "
			 "is not modelled: decoders are",
			 model_type);
}
