/* nemo2.c - recipes of NeMo 2 in Python as flags: a function that starts from
 * `llama31_70b.pretrain_recipe(...)` and sets fields of it, or degrees by
 * `set_primary_perf_configs(recipe, ..., tp_size=4)` (NVIDIA/NeMo, tag v2.3.0,
 * nemo/collections/llm/recipes and scripts/performance/helpers.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/pairs/mapping.h"
#include "presets/python/scanner.h"

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length > tail && strcmp(text + length - tail, ending) == 0;
}

bool nemo2_looks_like(const char *text)
{
	return (strstr(text, "nemo.collections") || strstr(text, "nemo_run")) &&
	       (strstr(text, ".pretrain_recipe(") || strstr(text, ".finetune_recipe("));
}

/* What is called: "llama31_70b.pretrain_recipe". The variable that gets it is where the
 * fields stand. */
static bool note_assigned(struct python *p, const char *key, const char *name, int line)
{
	bool tunes = ends_in(name, ".finetune_recipe");
	const char *dot = strrchr(name, '.');
	const char *module = dot;
	char model[128];

	if (ends_in(key, ".peft"))
		return python_set(p, " peft", name, line);
	if (!tunes && !ends_in(name, ".pretrain_recipe"))
		return true;
	while (module > name && module[-1] != '.')
		module--;
	snprintf(model, sizeof model, "%.*s", (int)(dot - module), module);
	if (pairs_find(p->pairs, " recipe") &&
	    strcmp(pairs_find(p->pairs, " recipe")->value, model) != 0)
		return error_set(p->error, p->pairs->file, line,
				 "it starts from %.40s and from %.40s; a file of one "
				 "recipe is read",
				 pairs_find(p->pairs, " recipe")->value, model);
	return python_set(p, " recipe", model, line) &&
	       python_set(p, " variable", key, line) &&
	       python_set(p, " task", tunes ? "sft" : "pretrain", line);
}

/* A name that stands for a value. */
static const char *value_of(const struct pairs *pairs, const struct pair *pair)
{
	for (int i = 0; pair && i < 4; i++) {
		const struct pair *next = pairs_find(pairs, pair->value);

		if (!next || next == pair)
			break;
		pair = next;
	}
	return pair && strcmp(pair->value, "None") != 0 ? pair->value : NULL;
}

/* Parameters of set_primary_perf_configs, and fields behind the recipe's variable. */
static const struct {
	const char *key, *flag;
} fields[] = {
	{ "num_nodes", "nnodes" },
	{ ".trainer.num_nodes", "nnodes" },
	{ "num_gpus_per_node", "nproc-per-node" },
	{ ".trainer.devices", "nproc-per-node" },
	{ "mbs", "micro-batch-size" },
	{ ".data.micro_batch_size", "micro-batch-size" },
	{ "gbs", "global-batch-size" },
	{ ".data.global_batch_size", "global-batch-size" },
	{ "seq_length", "seq-length" },
	{ ".data.seq_length", "seq-length" },
	{ ".model.config.seq_length", "seq-length" },
	{ "tp_size", "tensor-model-parallel-size" },
	{ "pp_size", "pipeline-model-parallel-size" },
	{ "cp_size", "context-parallel-size" },
	{ "vp_size", "virtual-pipeline-model-parallel-size" },
	{ "ep_size", "expert-model-parallel-size" },
	{ "etp_size", "expert-tensor-parallel-size" },
	{ "compute_dtype", "compute-dtype" },
	{ "fp8_recipe", "fp8-recipe" },
	{ "use_mcore_fsdp", "use-megatron-fsdp" },
	{ "recompute_layers", "recompute-num-layers" },
};

/* Fields that are called like the flag. */
static const char *const strategies[] = {
	"tensor_model_parallel_size", "pipeline_model_parallel_size",
	"context_parallel_size",      "virtual_pipeline_model_parallel_size",
	"expert_model_parallel_size", "expert_tensor_parallel_size",
	"sequence_parallel",          NULL,
};

/* The sequence of recipes that are not told one (their own MockDataModule). */
static const char *length_of(const char *recipe)
{
	static const char *const lengths[][2] = { { "llama3", "8192" },
						  { "mixtral", "8192" },
						  { "nemotron4", "4096" },
						  { "nemotron3", "4096" },
						  { "gpt3", "2048" } };

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		if (strncmp(recipe, lengths[i][0], strlen(lengths[i][0])) == 0)
			return lengths[i][1];
	return NULL;
}

static bool add(struct arguments *arguments, const char *flag, const char *value,
		int line, struct error *error)
{
	return arguments_add(arguments, flag, value, line) ||
	       error_set(error, arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}

/* What follows the variable of the recipe in a key, with its dot; NULL. */
static const char *behind(const char *key, const char *variable)
{
	size_t length = strlen(variable);

	return strncmp(key, variable, length) == 0 && key[length] == '.' ? key + length
									 : NULL;
}

/* A parameter of the function that only its caller knows. */
static bool is_told(const struct arguments *arguments, const struct pair *pair,
		    const char *value, struct error *error)
{
	static const char *const words[] = { "compute_dtype", "fp8_recipe", NULL };
	const char *dot = strrchr(pair->key, '.'), *key = dot ? dot + 1 : pair->key;
	bool word = word_among(key, words) && !strchr(value, '.') &&
		    strcmp(value, key) != 0;

	return word || strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
	       value[strspn(value, "0123456789")] == '\0' ||
	       error_set(error, arguments->file, pair->line,
			 "%.60s comes from %.60s, which this file does not set: "
			 "whoever calls it does",
			 pair->key, value);
}

static bool add_pair(struct arguments *arguments, const struct pairs *pairs,
		     const struct pair *pair, const char *variable, struct error *error)
{
	static const char strategy[] = ".trainer.strategy.";
	const char *field = behind(pair->key, variable), *value = value_of(pairs, pair);
	const char *key = field ? field : pair->key;

	for (size_t i = 0; value && i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].key, key) == 0 ||
		    (field && strcmp(fields[i].key, field + 1) == 0))
			return is_told(arguments, pair, value, error) &&
			       add(arguments, fields[i].flag, value, pair->line, error);
	if (!value || !field || strncmp(field, strategy, sizeof strategy - 1) != 0)
		return true;
	field += sizeof strategy - 1;
	for (size_t i = 0; strategies[i]; i++)
		if (strcmp(strategies[i], field) == 0) {
			char flag[64];

			snprintf(flag, sizeof flag, "%s", field);
			for (char *c = flag; *c != '\0'; c++)
				*c = *c == '_' ? '-' : *c;
			return strcmp(value, "false") == 0 ||
			       (is_told(arguments, pair, value, error) &&
				add(arguments, flag,
				    strcmp(value, "true") == 0 ? "" : value, pair->line,
				    error));
		}
	return true;
}

/* The pair of a field behind the recipe's variable. */
static const struct pair *field_of(const struct pairs *pairs, const char *field)
{
	char key[PAIRS_MAX_KEY];

	snprintf(key, sizeof key, "%.60s.%.60s", pairs_find(pairs, " variable")->value,
		 field);
	return pairs_find(pairs, key);
}

/* Adapters: finetune_recipe() has LoRA of rank 8, unless its peft_scheme says none, or
 * the recipe's peft is set. Only Megatron's own four matrices are counted. */
static bool add_adapters(struct arguments *arguments, const struct pairs *pairs,
			 struct error *error)
{
	const struct pair *scheme = field_of(pairs, "peft_scheme"),
			  *set = field_of(pairs, "peft"),
			  *made = pairs_find(pairs, " peft"),
			  *rank = field_of(pairs, "peft.dim"),
			  *recipe = pairs_find(pairs, " recipe");
	const char *says = value_of(pairs, scheme);
	bool tunes = strcmp(pairs_find(pairs, " task")->value, "sft") == 0;
	int line = made ? made->line : recipe->line;

	if (!made && (!tunes || (set && !value_of(pairs, set)) ||
		      (scheme && (!says || strcmp(says, "none") == 0))))
		return true;
	if (!made && says && strcmp(says, "lora") != 0 && strcmp(says, "dora") != 0)
		return error_set(error, arguments->file, scheme->line,
				 "peft_scheme comes from %.60s, which this file does "
				 "not set: whoever calls it does",
				 says);
	says = rank ? value_of(pairs, rank) : NULL;
	if (says && says[strspn(says, "0123456789")] != '\0')
		return error_set(error, arguments->file, rank->line,
				 "peft.dim comes from %.60s, which this file does not "
				 "set: whoever calls it does",
				 says);
	/* LoRA() by itself is of rank 32 (nemo/collections/llm/peft/lora.py) */
	return add(arguments, "bridge-lora",
		   says   ? says
		   : made ? "32"
			  : "8",
		   line, error);
}

static bool add_all(struct arguments *arguments, const struct pairs *pairs,
		    struct error *error)
{
	const struct pair *recipe = pairs_find(pairs, " recipe");
	const char *length = length_of(recipe->value);
	bool good = add(arguments, "nemo-recipe", recipe->value, recipe->line, error) &&
		    add(arguments, "task", pairs_find(pairs, " task")->value,
			recipe->line, error);

	if (length && good)
		good = add(arguments, "seq-length", length, recipe->line, error);
	good = good && add_adapters(arguments, pairs, error);
	for (int i = 0; i < pairs->count && good; i++)
		good = add_pair(arguments, pairs, &pairs->item[i],
				pairs_find(pairs, " variable")->value, error);
	if (good && !arguments_find(arguments, "tensor-model-parallel-size"))
		good = error_set(
			error, arguments->file, recipe->line,
			"its degrees and batch stand in NeMo's %.60s.py, which "
			"can be read itself; here nothing sets "
			"trainer.strategy.tensor_model_parallel_size",
			recipe->value);
	return good;
}

bool arguments_from_nemo2(struct arguments *arguments, const char *text, size_t length,
			  struct error *error)
{
	struct pairs pairs;
	struct piece piece = { text, text + length, 1 };
	struct python p = { .pairs = &pairs,
			    .start = text,
			    .error = error,
			    .assigned = note_assigned };
	const struct argument *nodes, *each;
	bool good;

	pairs_begin(&pairs, arguments->file);
	good = python_read(&p, &piece);
	if (good && !pairs_find(&pairs, " recipe"))
		good = error_set(error, arguments->file, 1,
				 "no variable gets a recipe of NeMo; expected NAME = "
				 "MODEL.pretrain_recipe(...)");
	good = good && add_all(arguments, &pairs, error);
	nodes = arguments_find(arguments, "nnodes");
	each = arguments_find(arguments, "nproc-per-node");
	arguments->per_node = good && each ? strtoll(each->value, NULL, 10) : 0;
	arguments->nodes = good && nodes ? strtoll(nodes->value, NULL, 10) : 1;
	pairs_free(&pairs);
	return good;
}
