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
#include "presets/python/neighbour.h"
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

/* "bf16_with_mxfp8_mixed()" is its name; what another function makes of its argument
 * is known by that. */
static bool note_precision(struct python *p, const char *name, int line)
{
	size_t length = strlen(name);

	if (length > 6 && strcmp(name + length - 6, "_mixed") == 0)
		return python_set(p, "mixed_precision", name, line);
	return python_set(p, "mixed_precision", "", line) &&
	       python_set(p, " precision", name, line);
}

/* Of one call the first argument says which model; others start from recipes/common.py.
 */
static bool note_call(struct python *p, const char *key, const char *name, int line)
{
	if (strstr(name, "from_hf_pretrained"))
		p->first = "hf-path";
	else if (strcmp(key, "model") == 0 && !python_set(p, "provider", name, line))
		return false;
	if (strcmp(key, "mixed_precision") == 0 && !note_precision(p, name, line))
		return false;
	if (strstr(name, "_pipeline_model_parallel_layout") ||
	    strcmp(key, "model.pipeline_model_parallel_layout") == 0)
		return python_set(p, "bridge-layout", name, line);
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

/* A degree or batch of a variable of another name,
 * "model_cfg.tensor_model_parallel_size = 4"; one that the command line tells is not
 * known. */
static bool add_other(struct arguments *arguments, const struct pairs *pairs,
		      const struct pair *pair, struct error *error)
{
	static const struct {
		const char *word, *field;
	} words[] = {
		{ "tensor_model_parallel_size", "model.tensor_model_parallel_size" },
		{ "pipeline_model_parallel_size",
		  "model.pipeline_model_parallel_size" },
		{ "context_parallel_size", "model.context_parallel_size" },
		{ "expert_model_parallel_size", "model.expert_model_parallel_size" },
		{ "global_batch_size", "train.global_batch_size" },
		{ "micro_batch_size", "train.micro_batch_size" },
		{ "seq_length", "dataset.seq_length" },
	};
	const char *dot = strrchr(pair->key, '.');
	const char *value = value_of(pairs, pair)->value;

	for (size_t i = 0; dot && i < sizeof words / sizeof words[0]; i++) {
		if (strcmp(words[i].word, dot + 1) != 0)
			continue;
		if (strncmp(value, "args.", 5) == 0)
			return error_set(
				error, arguments->file, pair->line,
				"%.60s comes from %.60s: whoever calls it says "
				"how many",
				pair->key, value);
		if (is_field(pair->key) || pairs_find(pairs, words[i].field) ||
		    value[0] == '\0' || value[strspn(value, "0123456789")] != '\0')
			continue;
		return bridge_add_field(arguments, words[i].field, value, pair->line,
					error);
	}
	return true;
}

/* What get_mixed_precision_config(), the performance recipes and functions beside them
 * are told or called, and the name that says the same. */
static const char *precision_of(const char *word)
{
	static const struct {
		const char *word, *name;
	} words[] = {
		{ "nvfp4", "bf16_with_nvfp4_mixed" },
		{ "fp8_cs", "bf16_with_fp8_current_scaling_mixed" },
		{ "fp8_ds", "bf16_with_fp8_delayed_scaling_mixed" },
		{ "fp8_sc", "bf16_with_fp8_subchannel_scaling_mixed" },
		{ "fp8_mx", "bf16_with_mxfp8_mixed" },
		{ "fp8mx", "bf16_with_mxfp8_mixed" },
		{ "bf16", "bf16_mixed" },
	};
	size_t length = strlen(word);

	if (length > 6 && strcmp(word + length - 6, "_mixed") == 0)
		return word;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(word, words[i].word))
			return words[i].name;
	return NULL;
}

/* MixedPrecisionConfig(bf16=True, fp8="e4m3", fp8_recipe="mxfp8"). */
static bool add_own_precision(struct arguments *arguments, const struct pairs *pairs,
			      int line, struct error *error)
{
	static const struct {
		const char *key, *flag;
	} fields[] = {
		{ "mixed_precision.fp8", "fp8-format" },
		{ "mixed_precision.fp8_recipe", "fp8-recipe" },
		{ "mixed_precision.fp4", "fp4-format" },
	};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		const struct pair *pair = pairs_find(pairs, fields[i].key);

		if (pair && strcmp(pair->value, "None") != 0 &&
		    strcmp(pair->value, "false") != 0 &&
		    !add(arguments, fields[i].flag, pair->value, line, error))
			return false;
	}
	return add(arguments, "bf16", "", line, error);
}

/* The precision where a call makes it. */
static bool add_precision(struct arguments *arguments, const struct pairs *pairs,
			  struct error *error)
{
	const struct pair *made = pairs_find(pairs, "mixed_precision"),
			  *by = pairs_find(pairs, " precision"),
			  *told = pairs_find(pairs, "mixed_precision.argument");
	const char *name;

	if (!made || made->value[0] != '\0' || !by)
		return true;
	if (strcmp(by->value, "MixedPrecisionConfig") == 0)
		return add_own_precision(arguments, pairs, by->line, error);
	name = precision_of(told ? told->value : by->value);
	if (!name)
		return error_set(error, arguments->file, by->line,
				 "mixed_precision is what %.60s() makes, which is not "
				 "known; expected a name such as bf16_mixed",
				 by->value);
	return bridge_add_field(arguments, "mixed_precision", name, by->line, error);
}

static bool add_all(struct arguments *arguments, const struct pairs *pairs,
		    struct error *error)
{
	const struct pair *path = pairs_find(pairs, "hf-path"),
			  *layout = pairs_find(pairs, "bridge-layout");

	if (layout && !add(arguments, layout->key, layout->value, layout->line, error))
		return false;
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

		if (!add_other(arguments, pairs, pair, error))
			return false;
		if (strcmp(value, "true") == 0)
			value = "";
		if (strcmp(value, "false") == 0)
			value = "False";
		if (is_field(pair->key) &&
		    (strcmp(pair->key, "mixed_precision") != 0 || value[0] != '\0') &&
		    !bridge_add_field(arguments, field_of(pair->key), value, pair->line,
				      error))
			return false;
	}
	return add_precision(arguments, pairs, error);
}

/* A file of recipes and what of it is asked for. */
struct source {
	const char *file, *text;
	size_t length;
	const char *function; /* NULL: the only one */
};

static bool read_source(struct pairs *pairs, const struct source *source,
			struct error *error)
{
	struct registry pieces;
	struct python p = { .pairs = pairs,
			    .start = source->text,
			    .error = error,
			    .call = note_lone_call,
			    .assigned = note_call };
	bool good = registry_choose(&pieces, source->file, source->text, source->length,
				    source->function, error);

	for (int i = 0; good && i < pieces.count; i++)
		good = python_read(&p, &pieces.piece[i]);
	return good;
}

/* The function of another file that the configuration starts from; NULL: none. */
static const struct pair *elsewhere_of(const struct pairs *pairs, const char *text)
{
	const struct pair *base = pairs_find(pairs, "base");
	char head[PAIRS_MAX_KEY];

	if (!base || is_common(base->value) || !islower((unsigned char)base->value[0]))
		return NULL;
	snprintf(head, sizeof head, "def %.120s(", base->value);
	return strstr(text, head) ? NULL : base;
}

/* Behind what that function sets, where its file lies in the tree around. */
static bool read_with_base(struct pairs *pairs, const struct source *source, int depth,
			   bool *apart, struct error *error)
{
	char path[NEIGHBOUR_MAX_PATH], name[PAIRS_MAX_KEY], file[sizeof pairs->file];
	const struct pair *base;
	struct source other = { path, NULL, 0, name };
	char *text;
	bool whole;

	if (!read_source(pairs, source, error))
		return false;
	base = elsewhere_of(pairs, source->text);
	if (!base)
		return true;
	snprintf(name, sizeof name, "%s", base->value);
	text = depth > 0 ? neighbour_read(source->file, source->text, name, path,
					  &other.length)
			 : NULL;
	other.text = text;
	memcpy(file, pairs->file, sizeof file);
	pairs_free(pairs);
	pairs_begin(pairs, file);
	/* one beside that can't be read is as one that is not there */
	whole = text && read_with_base(pairs, &other, depth - 1, apart, NULL);
	if (!whole) {
		pairs_free(pairs);
		pairs_begin(pairs, file);
		*apart = true;
	}
	free(text);
	for (int i = 0; i < pairs->count; i++)
		pairs->item[i].line = 1;
	return read_source(pairs, source, error);
}

/* Batch and length of a file that is not here are no defaults. */
static bool check_apart(struct arguments *arguments, const struct pairs *pairs,
			struct error *error)
{
	const struct pair *base = pairs_find(pairs, "base");

	/* in all of them */
	if (!add(arguments, "use-distributed-optimizer", "", 1, error))
		return false;
	arguments->apart = true;
	if (pairs_find(pairs, "train.global_batch_size") &&
	    (pairs_find(pairs, "model.seq_length") ||
	     pairs_find(pairs, "dataset.seq_length")))
		return true;
	return error_set(
		error, arguments->file, base ? base->line : 1,
		"it starts from %.60s(), which stands in another file with its "
		"batch and length",
		base ? base->value : "another");
}

/* Recipes of Megatron-Bridge's first releases have their degrees in the parameters of
 * one function and the batch in those of another: what is not read of them would be
 * defaults. */
static bool refuse_first(const char *file, const char *text, struct error *error)
{
	const char *at = strstr(text, "\ndef model_config(");
	int line = 2;

	if (!at || !strstr(text, "\ndef pretrain_config("))
		return true;
	for (const char *c = text; c < at; c++)
		line += *c == '\n';
	return error_set(
		error, file, line,
		"a recipe as Megatron-Bridge had them first, whose degrees are "
		"parameters of model_config(): these are not read; those of "
		"later releases are");
}

bool arguments_from_recipe(struct arguments *arguments, const char *text, size_t length,
			   struct error *error)
{
	struct source source = { arguments->file, text, length,
				 arguments->given ? arguments->given->function : NULL };
	struct pairs pairs;
	bool apart = false, good;

	pairs_begin(&pairs, arguments->file);
	good = refuse_first(arguments->file, text, error) &&
	       read_with_base(&pairs, &source, 4, &apart, error) &&
	       (!apart || check_apart(arguments, &pairs, error)) &&
	       add_all(arguments, &pairs, error) &&
	       (bridge_add_positions(arguments) ||
		error_set(error, arguments->file, 1, "more than %d settings",
			  ARGUMENTS_MAX));
	pairs_free(&pairs);
	return good;
}
