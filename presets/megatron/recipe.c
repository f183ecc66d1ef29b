/* recipe.c - recipes of Megatron-Bridge as flags: functions that fill a
 * ConfigContainer, `cfg.model = AutoBridge.from_hf_pretrained("org/name")` and
 * `cfg.train.global_batch_size = 512` (NVIDIA-NeMo/Megatron-Bridge@067f987df,
 * src/megatron/bridge/recipes).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/python/scanner.h"

bool recipe_looks_like(const char *text)
{
	return strstr(text, "ConfigContainer") && strstr(text, "cfg.") &&
	       (strncmp(text, "def ", 4) == 0 || strstr(text, "\ndef "));
}

/* What the functions of recipes/common.py set before a recipe does. */
static const struct {
	const char *function, *field, *value;
} commons[] = {
	{ "_pretrain_common", "train.global_batch_size", "32" },
	{ "_pretrain_common", "train.micro_batch_size", "2" },
	{ "_pretrain_common", "dataset.seq_length", "4096" },
	{ "_sft_common", "train.global_batch_size", "128" },
	{ "_sft_common", "train.micro_batch_size", "1" },
	{ "_sft_common", "dataset.seq_length", "2048" },
	{ "_peft_common", "train.global_batch_size", "128" },
	{ "_peft_common", "train.micro_batch_size", "1" },
	{ "_peft_common", "dataset.seq_length", "2048" },
	{ "_sft_common_vlm", "train.global_batch_size", "32" },
	{ "_sft_common_vlm", "train.micro_batch_size", "2" },
	{ "_sft_common_vlm", "dataset.seq_length", "4096" },
	{ "_peft_common_vlm", "train.global_batch_size", "32" },
	{ "_peft_common_vlm", "train.micro_batch_size", "2" },
	{ "_peft_common_vlm", "dataset.seq_length", "4096" },
};

static bool is_common(const char *name)
{
	for (size_t i = 0; i < sizeof commons / sizeof commons[0]; i++)
		if (strcmp(commons[i].function, name) == 0)
			return true;
	return false;
}

/* Of one call the first argument says which model; others start from recipes/common.py.
 */
static bool note_call(struct python *p, const char *key, const char *name, int line)
{
	if (strstr(name, "from_hf_pretrained"))
		p->first = "hf-path";
	else if (strcmp(key, "model") == 0 && !python_set(p, "provider", name, line))
		return false;
	return !is_common(name) || python_set(p, "common", name, line);
}

static bool note_lone_call(struct python *p, const char *name, int line)
{
	return note_call(p, "", name, line);
}

/* "nemotron_3_pretrain_8gpu_h100_bf16_config": the machines that it was tuned on. */
static long gpus_of(const char *name)
{
	const char *at = strstr(name, "gpu_");
	const char *from = at;

	while (from && from > name && isdigit((unsigned char)from[-1]))
		from--;
	return at && from < at && from > name && from[-1] == '_' && at - from < 7
		       ? strtol(from, NULL, 10)
		       : 0;
}

static const char *machine_of(const char *name)
{
	static const char *const machines[] = { "h100", "h200",  "b200",
						"b300", "gb200", "gb300" };
	const char *at = strstr(name, "gpu_");

	for (size_t i = 0; at && i < sizeof machines / sizeof machines[0]; i++) {
		size_t length = strlen(machines[i]);

		if (strncmp(at + 4, machines[i], length) == 0 &&
		    (at[4 + length] == '_' || at[4 + length] == '\0'))
			return machines[i];
	}
	return NULL;
}

/* A name that stands for a value: SEQUENCE_LENGTH_16K, hf_path. */
static const struct pair *value_of(const struct pairs *pairs, const struct pair *pair)
{
	for (int i = 0; i < 4; i++) {
		const struct pair *next = pairs_find(pairs, pair->value);

		if (!next || next == pair)
			return pair;
		pair = next;
	}
	return pair;
}

static bool add(struct arguments *arguments, const char *flag, const char *value,
		int line, struct error *error)
{
	return arguments_add(arguments, flag, value, line) ||
	       error_set(error, arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}

static bool add_commons(struct arguments *arguments, const struct pairs *pairs,
			struct error *error)
{
	const struct pair *common = pairs_find(pairs, "common");

	if (!common)
		return true;
	for (size_t i = 0; i < sizeof commons / sizeof commons[0]; i++)
		if (strcmp(commons[i].function, common->value) == 0 &&
		    !bridge_add_field(arguments, commons[i].field, commons[i].value,
				      common->line, error))
			return false;
	/* LoRA(dim=32) on all linear layers, in both of them */
	return add(arguments, "bf16", "", common->line, error) &&
	       add(arguments, "use-distributed-optimizer", "", common->line, error) &&
	       (!strstr(common->value, "peft") ||
		add(arguments, "bridge-lora", "32", common->line, error));
}

static bool add_machine(struct arguments *arguments, const struct pairs *pairs,
			struct error *error)
{
	const struct pair *def = pairs_find(pairs, "def");
	const char *machine = def ? machine_of(def->value) : NULL;

	if (def)
		arguments->world = gpus_of(def->value);
	return (!def ||
		add(arguments, "bridge-function", def->value, def->line, error)) &&
	       (!machine ||
		add(arguments, "bridge-machine", machine, def->line, error));
}

/* What a class of models has where a recipe is silent: that for hybrids is unlike
 * Megatron's flags (HybridModelProvider, models/hybrid/hybrid_provider.py), that of GPT
 * is theirs; of others it is not known here, so that a shape by them is refused. */
static bool add_provider(struct arguments *arguments, const struct pairs *pairs,
			 struct error *error)
{
	const struct pair *provider = pairs_find(pairs, "provider"),
			  *shape = pairs_find(pairs, "model.hidden_size");
	const char *name = provider ? provider->value : "";
	int line = provider ? provider->line : 0;

	if (strcmp(name, "HybridModelProvider") == 0)
		return add(arguments, "normalization", "RMSNorm", line, error) &&
		       add(arguments, "disable-bias-linear", "", line, error) &&
		       add(arguments, "hidden-dropout", "0", line, error) &&
		       add(arguments, "attention-dropout", "0", line, error) &&
		       add(arguments, "untie-embeddings-and-output-weights", "", line,
			   error);
	if (!provider || !shape || strcmp(name, "GPTModelProvider") == 0)
		return true;
	return error_set(error, arguments->file, line,
			 "%.60s has defaults of its own, which are not known; --model "
			 "NAME or --model config.json says which model it is",
			 name);
}

/* The parameters of functions that make a model are called almost as its fields. */
static const char *field_of(const char *key)
{
	static const struct {
		const char *key, *field;
	} fields[] = {
		{ "model.tensor_parallel_size", "model.tensor_model_parallel_size" },
		{ "model.pipeline_parallel_size",
		  "model.pipeline_model_parallel_size" },
		{ "model.virtual_pipeline_parallel_size",
		  "model.virtual_pipeline_model_parallel_size" },
		{ "model.expert_parallel_size", "model.expert_model_parallel_size" },
	};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].key, key) == 0)
			return fields[i].field;
	return key;
}

/* Fields of the configuration; what else a function assigns is its own affair. */
static bool is_field(const char *key)
{
	static const char *const parts[] = { "model.",     "train.",   "ddp.",
					     "optimizer.", "dataset.", "comm_overlap.",
					     "checkpoint." };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (strncmp(key, parts[i], strlen(parts[i])) == 0)
			return strchr(key + strlen(parts[i]), '.') == NULL &&
			       strcmp(key + strlen(parts[i]), "argument") != 0;
	return strcmp(key, "mixed_precision") == 0;
}

static bool add_all(struct arguments *arguments, const struct pairs *pairs,
		    struct error *error)
{
	const struct pair *path = pairs_find(pairs, "hf-path");

	if (!add_commons(arguments, pairs, error) ||
	    !add_machine(arguments, pairs, error) ||
	    !add_provider(arguments, pairs, error))
		return false;
	if (path &&
	    !add(arguments, "hf-path", value_of(pairs, path)->value, path->line, error))
		return false;
	for (int i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->item[i];
		const char *value = value_of(pairs, pair)->value;

		if (strcmp(value, "true") == 0)
			value = "";
		if (strcmp(value, "false") == 0)
			value = "False";
		if (is_field(pair->key) &&
		    !bridge_add_field(arguments, field_of(pair->key), value, pair->line,
				      error))
			return false;
	}
	return true;
}

bool arguments_from_recipe(struct arguments *arguments, const char *text, size_t length,
			   struct error *error)
{
	const char *function = arguments->given ? arguments->given->function : NULL;
	struct registry pieces;
	struct pairs pairs;
	struct python p = { .pairs = &pairs,
			    .start = text,
			    .error = error,
			    .call = note_lone_call,
			    .assigned = note_call };
	bool good;

	pairs_begin(&pairs, arguments->file);
	good = registry_choose(&pieces, arguments->file, text, length, function, error);
	for (int i = 0; good && i < pieces.count; i++)
		good = python_read(&p, &pieces.piece[i]);
	good = good && add_all(arguments, &pairs, error) &&
	       (bridge_add_positions(arguments) ||
		error_set(error, arguments->file, 1, "more than %d settings",
			  ARGUMENTS_MAX));
	pairs_free(&pairs);
	return good;
}
