/* primus.c - see primus.h. */
#include "presets/primus/primus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/document.h"
#include "presets/library.h"
#include "presets/model_name.h"

const struct node *primus_trainer(const struct node *root)
{
	const struct node *modules = node_get(root, "modules");
	const struct node *node =
		modules && modules->kind == NODE_MAP ? modules->child : NULL;

	for (; node; node = node->next)
		if (node_get(node, "overrides") && node_get(node, "framework"))
			return node;
	return NULL;
}

bool primus_default(const char *text, const struct script_given *given, char *out,
		    size_t size)
{
	const char *open = strstr(text, "${"), *colon = open ? strchr(open, ':') : NULL;
	const char *close = colon ? strchr(colon, '}') : NULL;
	const char *value;

	if (!close || strchr(close, '$'))
		return false;
	value = given_value(given, open + 2, (size_t)(colon - open - 2));
	if (value)
		snprintf(out, size, "%.*s%s%s", (int)(open - text), text, value,
			 close + 1);
	else
		snprintf(out, size, "%.*s%.*s%s", (int)(open - text), text,
			 (int)(close - colon - 1), colon + 1, close + 1);
	return true;
}

void primus_model(const struct node *trainer, const struct script_given *given,
		  char *out, size_t size)
{
	const struct node *model = node_get(trainer, "model");
	size_t length;

	out[0] = '\0';
	if (!model || model->kind != NODE_SCALAR)
		return;
	if (!primus_default(model->text, given, out, size))
		snprintf(out, size, "%s", model->text);
	length = strlen(out);
	if (length > 5 && strcmp(out + length - 5, ".yaml") == 0)
		out[length - 5] = '\0';
}

const struct preset *primus_preset(const char *name)
{
	const struct preset *found = preset_find(PRESET_MODEL, name);

	return found ? found : model_name_recipe(name);
}

bool primus_runs(const char *text, const char *framework)
{
	static const char key[] = "framework:";
	const char *at = text;

	if (!strstr(text, "overrides:"))
		return false;
	while ((at = strstr(at, key))) {
		at += sizeof key - 1;
		at += strspn(at, " \t\"'");
		if (strncmp(at, framework, strlen(framework)) == 0 &&
		    !isalnum((unsigned char)at[strlen(framework)]) &&
		    at[strlen(framework)] != '_')
			return true;
	}
	return false;
}

/* Of MaxText's model's base grok1 alone is a shape. Megatron's: modules/megatron/
 * trainer_base.yaml, pre_trainer.yaml, sft_trainer.yaml; models/megatron/
 * language_model.yaml. */
static const struct primus_setting settings[] = {
	{ "megatron", "sft_trainer.yaml", "micro_batch_size", "1" },
	{ "megatron", "sft_trainer.yaml", "global_batch_size", "128" },
	{ "megatron", "sft_trainer.yaml", "seq_length", "2048" },
	{ "megatron", NULL, "micro_batch_size", "2" },
	{ "megatron", NULL, "global_batch_size", "16" },
	{ "megatron", NULL, "seq_length", "1024" },
	{ "megatron", NULL, "use_distributed_optimizer", "true" },
	{ "megatron", NULL, "sequence_parallel", "true" },
	{ "torchtitan", NULL, "activation_checkpoint.mode", "none" },
	{ "torchtitan", NULL, "compile.enable", "true" },
	{ "maxtext", NULL, "hardware", "gpu" },
	{ "maxtext", NULL, "remat_policy", "full" },
	{ "maxtext", NULL, "weight_dtype", "bfloat16" },
	{ "maxtext", NULL, "attention", "cudnn_flash_te" },
	{ "maxtext", "grok1", "decoder_block", "mixtral" },
	{ "maxtext", "grok1", "base_emb_dim", "6144" },
	{ "maxtext", "grok1", "base_num_query_heads", "48" },
	{ "maxtext", "grok1", "base_num_kv_heads", "8" },
	{ "maxtext", "grok1", "base_mlp_dim", "32768" },
	{ "maxtext", "grok1", "base_moe_mlp_dim", "32768" },
	{ "maxtext", "grok1", "base_num_decoder_layers", "64" },
	{ "maxtext", "grok1", "head_dim", "128" },
	{ "maxtext", "grok1", "vocab_size", "131072" },
	{ "maxtext", "grok1", "num_experts", "8" },
	{ "maxtext", "grok1", "num_experts_per_tok", "2" },
	{ "maxtext", "grok1", "mlp_activations", "silu linear" },
	{ "maxtext", "grok1", "logits_via_embedding", "false" },
};

const struct primus_setting *primus_setting(size_t i)
{
	return i < sizeof settings / sizeof settings[0] ? &settings[i] : NULL;
}

static bool add_settings(struct pairs *out, const struct node *trainer,
			 const char *model, struct import_report *report,
			 struct error *error)
{
	const char *framework = node_get(trainer, "framework")->text;

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		const struct primus_setting *row = &settings[i];

		if (strcmp(row->framework, framework) != 0 ||
		    (row->of && strcmp(row->of, model) != 0) ||
		    pairs_find(out, row->key))
			continue;
		if (!pairs_add(out, row->key, row->value, trainer->line, error))
			return false;
		if (!row->of)
			import_note(report, IMPORT_ASSUMED, row->key,
				    "%s, as in Primus' pre_trainer.yaml", row->value);
	}
	return true;
}

/* Members of the trainer that say where its settings come from. */
static bool check_trainer(const struct pairs *out, const struct node *trainer,
			  struct error *error)
{
	const struct node *config = node_get(trainer, "config");

	if (node_get(trainer, "framework")->kind != NODE_SCALAR ||
	    node_get(trainer, "overrides")->kind != NODE_MAP)
		return error_set(error, out->file, trainer->line,
				 "expected framework: NAME and overrides: with keys");
	if (config && config->kind == NODE_SCALAR && config->text[0] != '\0' &&
	    strcmp(config->text, "pre_trainer.yaml") != 0)
		return error_set(error, out->file, config->line,
				 "its settings start from %.80s, which is not opened; "
				 "of pre_trainer.yaml it is known what it sets",
				 config->text);
	return true;
}

static bool add_trainer(struct pairs *out, const struct node *trainer,
			struct import_report *report, struct error *error)
{
	const struct node *model = node_get(trainer, "model");
	char value[PAIRS_MAX_VALUE];
	struct pairs raw;
	bool good;

	if (!check_trainer(out, trainer, error))
		return false;
	pairs_begin(&raw, out->file);
	good = pairs_add_map(&raw, node_get(trainer, "overrides"), error);
	for (int i = 0; i < raw.count && good; i++) {
		const struct pair *pair = &raw.item[i];

		if (!primus_default(pair->value, report->given, value, sizeof value))
			snprintf(value, sizeof value, "%s", pair->value);
		if (strcmp(value, "null") == 0)
			continue;
		good = pairs_add(out, pair->key, value, pair->line, error);
	}
	pairs_free(&raw);
	primus_model(trainer, report->given, value, sizeof value);
	if (good && value[0] != '\0')
		good = pairs_add(out, "primus.model", value, model->line, error);
	return good && add_settings(out, trainer, value, report, error);
}

bool primus_pairs(struct pairs *out, const char *file, const char *text, size_t length,
		  struct import_report *report, struct error *error)
{
	struct document document;
	const struct node *trainer;
	bool good;

	if (!document_parse_repeats(&document, file, text, length, error))
		return false;
	pairs_begin(out, file);
	trainer = primus_trainer(document.root);
	good = trainer ? add_trainer(out, trainer, report, error)
		       : error_set(
				 error, out->file, document.root->line,
				 "expected modules: with a trainer that has framework: "
				 "and overrides:");
	document_free(&document);
	if (!good)
		pairs_free(out);
	return good;
}

bool primus_machine(struct scenario *out, const char *path,
		    struct import_report *report, struct error *error)
{
	const char *found = library_machine_in(path);

	import_settle(report, "cluster");
	/* ROCm's: NVIDIA's machines run none of it */
	if (!found)
		import_note(report, IMPORT_ASSUMED, "cluster", "mi300x");
	return library_cluster(&out->cluster, found ? found : "mi300x", error);
}
