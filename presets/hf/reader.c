/* reader.c - see reader.h. */
#include "presets/hf/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys that say nothing about shape or cost. */
static const char *const ignored[] = {
	"architectures",
	"auto_map",
	"transformers_version",
	"initializer_range",
	"use_cache",
	"bos_token_id",
	"eos_token_id",
	"pad_token_id",
	"attention_dropout",
	"rms_norm_eps",
	"norm_eps",
	"layer_norm_epsilon",
	"layer_norm_eps",
	"rope_theta",
	"rope_scaling",
	"rope_parameters",
	"partial_rotary_factor",
	"rotary_dim",
	"pretraining_tp",
	"ep_size",
	"torch_dtype",
	"dtype",
	"routed_scaling_factor",
	"scoring_func",
	"norm_topk_prob",
	"topk_method",
	"topk_group",
	"aux_loss_alpha",
	"seq_aux",
	"router_aux_loss_coef",
	"output_router_logits",
	"max_window_layers",
	"initial_context_length",
	"rope_interleave",
	"_name_or_path",
	"return_dict",
	"swiglu_limit",
	"use_mrope",
	"time_step_min",
	"time_step_max",
	"time_step_floor",
	"time_step_limit",
	"time_step_rank",
	"residual_in_fp32",
	"rescale_prenorm_residual",
	"use_mamba_kernels",
	"num_logits_to_keep",
	"qk_norm_type",
	"mamba_ssm_dtype",
	"mamba_ssm_cache_dtype",
	"mamba_hidden_act",
	"final_logit_softcapping",
	"attn_logit_softcapping",
	"query_pre_attn_scalar",
	"rope_local_base_freq",
	"hidden_dropout",
	"qk_head_dim",
	"num_hash_layers",
};

static bool is_null(const struct node *node)
{
	static const char *const null[] = { "null", "None", "~", "", "Null", "NULL" };

	if (node->kind != NODE_SCALAR || node->quoted)
		return false;
	for (size_t i = 0; i < sizeof null / sizeof null[0]; i++)
		if (strcmp(node->text, null[i]) == 0)
			return true;
	return false;
}

/* "attn_config.kv_n_heads" is a key of a mapping in the mapping. */
static const struct node *find_key(const struct node *map, const char *key,
				   size_t length)
{
	const char *dot = memchr(key, '.', length);
	size_t own = dot ? (size_t)(dot - key) : length;

	if (map->kind != NODE_MAP)
		return NULL;
	for (const struct node *node = map->child; node; node = node->next)
		if (strlen(node->key) == own && memcmp(node->key, key, own) == 0)
			return dot ? find_key(node, dot + 1, length - own - 1) : node;
	return NULL;
}

static void take(struct hf_reader *reader, const struct node *node)
{
	for (int i = 0; i < reader->taken_count; i++)
		if (reader->taken[i] == node)
			return;
	if (reader->taken_count == MAX_TAKEN)
		return;
	reader->taken[reader->taken_count++] = node;
	if (strcmp(node->key, "quantization_config") == 0)
		return;
	import_note(reader->report, IMPORT_TAKEN, node->key, "%s",
		    node->kind == NODE_SCALAR ? node->text : "(list)");
}

/* The same said once more in another spelling is read, too. */
static bool is_alike(const struct node *a, const struct node *b)
{
	return a->kind == NODE_SCALAR && b->kind == NODE_SCALAR &&
	       strcmp(a->text, b->text) == 0;
}

const struct node *hf_get(struct hf_reader *reader, const char *keys)
{
	const struct node *found = NULL;

	while (*keys != '\0') {
		size_t length = strcspn(keys, " ");
		const struct node *node = find_key(reader->config, keys, length);

		if (node && !is_null(node) && (!found || is_alike(node, found))) {
			take(reader, node);
			found = found ? found : node;
		}
		keys += length;
		keys += strspn(keys, " ");
	}
	return found;
}

bool hf_has(struct hf_reader *reader, const char *keys)
{
	return hf_get(reader, keys) != NULL;
}

double hf_number(struct hf_reader *reader, const char *keys, double fallback)
{
	const struct node *node = reader->failed ? NULL : hf_get(reader, keys);
	double value = fallback;

	if (!node || node_number(reader->document, node, &value, reader->error))
		return value;
	reader->failed = true;
	return fallback;
}

int64_t hf_count(struct hf_reader *reader, const char *keys, int64_t fallback)
{
	const struct node *node = reader->failed ? NULL : hf_get(reader, keys);
	const int64_t most = (int64_t)1 << 40;
	int64_t value = fallback;

	if (!node)
		return fallback;
	if (node->kind == NODE_LIST && node->child) /* a list of equal values */
		node = node->child;
	if (!node_count(reader->document, node, &value, reader->error)) {
		reader->failed = true;
		return fallback;
	}
	if (value < 0 || value > most) {
		reader->failed = true;
		error_set(reader->error, reader->document->file, node->line,
			  "%s is %s; expected a count from 0 to 2^40",
			  node->key ? node->key : "item", node->text);
		return fallback;
	}
	return value;
}

int64_t hf_need(struct hf_reader *reader, const char *keys)
{
	return hf_need_or(reader, keys, 0);
}

int64_t hf_need_or(struct hf_reader *reader, const char *keys, int64_t usual)
{
	if (!reader->failed && usual > 0 && !hf_get(reader, keys)) {
		char key[MAX_NAME];

		snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
		import_note(reader->report, IMPORT_ASSUMED, key, "%lld",
			    (long long)usual);
		return usual;
	}
	if (!reader->failed && !hf_get(reader, keys)) {
		int length = (int)strcspn(keys, " ");
		char type[MAX_NAME];

		hf_text(reader, "model_type", type, sizeof type);
		reader->failed = true;
		if (type[0] != '\0' && node_get(reader->config, "hidden_size"))
			error_set(
				reader->error, reader->document->file,
				reader->config->line,
				"no %.*s of this %.40s: a file for training may leave "
				"it to the tokenizer or the class, the config.json of "
				"a checkpoint has it",
				length, keys, type);
		else
			error_set(reader->error, reader->document->file,
				  reader->config->line,
				  "no %.*s: not the config.json of a language model?",
				  length, keys);
	}
	return hf_count(reader, keys, 0);
}

bool hf_bool(struct hf_reader *reader, const char *keys, bool fallback)
{
	const struct node *node = reader->failed ? NULL : hf_get(reader, keys);
	bool value = fallback;

	if (node && !node_bool(reader->document, node, &value, reader->error)) {
		reader->failed = true;
		return fallback;
	}
	return value;
}

void hf_text(struct hf_reader *reader, const char *keys, char *out, size_t size)
{
	const struct node *node = reader->failed ? NULL : hf_get(reader, keys);

	out[0] = '\0';
	if (node && !node_text(reader->document, node, out, size, reader->error)) {
		reader->failed = true;
		out[0] = '\0';
	}
}

const struct node *hf_item(const struct node *list, int64_t i)
{
	const struct node *node = list && list->kind == NODE_LIST ? list->child : NULL;

	while (node && i-- > 0)
		node = node->next;
	return node && node->kind == NODE_SCALAR ? node : NULL;
}

bool hf_list_holds(const struct node *list, int64_t value)
{
	const struct node *node = list && list->kind == NODE_LIST ? list->child : NULL;

	for (; node; node = node->next)
		if (node->kind == NODE_SCALAR && strtoll(node->text, NULL, 10) == value)
			return true;
	return false;
}

static bool is_ignored(const char *key)
{
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		if (strcmp(ignored[i], key) == 0)
			return true;
	return strstr(key, "token_id") != NULL;
}

static bool is_taken(const struct hf_reader *reader, const struct node *node)
{
	for (int i = 0; i < reader->taken_count; i++)
		if (reader->taken[i] == node)
			return true;
	return false;
}

bool hf_is_left(const struct hf_reader *reader, const struct node *node)
{
	return !is_ignored(node->key) && !is_null(node) && !is_taken(reader, node);
}

const struct family *hf_family(const struct hf_reader *reader, const char *model_type)
{
	/* the first ChatGLM calls its width otherwise than those that followed */
	if (strcmp(model_type, "chatglm") == 0 &&
	    node_get(reader->config, "inner_hidden_size"))
		model_type = "chatglm-6b";
	return family_find(model_type);
}

bool hf_is_like_gpt2(const struct hf_reader *reader)
{
	static const char *const plain[] = { "gelu", "relu" };
	const struct node *name = node_get(reader->config, "activation_function");

	if (reader->family || !name || name->kind != NODE_SCALAR ||
	    strstr(name->text, "glu"))
		return false;
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (strncmp(name->text, plain[i], strlen(plain[i])) == 0)
			return true;
	return false;
}

unsigned hf_traits(const struct hf_reader *reader)
{
	if (hf_is_like_gpt2(reader))
		return FAMILY_LAYER_NORM | FAMILY_NOT_GATED | FAMILY_BIAS;
	return reader->family ? reader->family->traits : 0;
}

bool hf_is_mamba(const struct hf_reader *reader)
{
	const char *type = reader->family ? reader->family->model_type : "";

	return strncmp(type, "mamba", 5) == 0 || strcmp(type, "falcon_mamba") == 0;
}

void hf_note_rest(struct hf_reader *reader)
{
	for (const struct node *node = reader->config->child; node; node = node->next)
		if (hf_is_left(reader, node))
			import_note(reader->report, IMPORT_NOT_MODELLED, node->key,
				    "%s", node->kind == NODE_SCALAR ? node->text : "");
}
