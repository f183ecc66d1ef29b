/* performance.c - what the performance scripts of Megatron-Bridge and NeMo set beside
 * the words of their command: `run_script.py --model_recipe_name llama3_70b --gpu h100
 * --compute_dtype fp8_cs` (NVIDIA-NeMo/Megatron-Bridge@067f987df, scripts/performance:
 * argument_parser.py, utils/overrides.py, utils/precision.py; recipes/common.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"
#include "presets/script/notes.h"

/* --compute_dtype, which older ones parted into a width and --fp8_recipe. */
static const struct {
	const char *type, *recipe, *mixed;
} types[] = {
	{ "bf16", NULL, "bf16_mixed" },
	{ "fp8_cs", NULL, "bf16_with_fp8_current_scaling_mixed" },
	{ "fp8_mx", NULL, "bf16_with_mxfp8_mixed" },
	{ "fp8_sc", NULL, "bf16_with_fp8_subchannel_scaling_mixed" },
	{ "nvfp4", NULL, "bf16_with_nvfp4_mixed" },
	{ "fp8", "cs", "bf16_with_fp8_current_scaling_mixed" },
	{ "fp8", "mx", "bf16_with_mxfp8_mixed" },
	{ "fp8", "mxfp8", "bf16_with_mxfp8_mixed" },
	{ "fp8", "ss", "bf16_with_fp8_subchannel_scaling_mixed" },
	{ "fp8", "ds", "bf16_with_fp8_delayed_scaling_mixed" },
};

static const char *value_of(const struct arguments *arguments, const char *flag,
			    const char *absent)
{
	const struct argument *a = arguments_find(arguments, flag);

	return a && a->value[0] != '\0' ? a->value : absent;
}

/* Not known: the name itself, which no precision is called. */
static const char *mixed_of(const struct arguments *arguments)
{
	const char *type = value_of(arguments, "compute-dtype", "bf16");
	const char *recipe = value_of(arguments, "fp8-recipe", "ds");

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcasecmp(types[i].type, type) == 0 &&
		    (!types[i].recipe || strcmp(types[i].recipe, recipe) == 0))
			return types[i].mixed;
	return NULL;
}

static bool add_switch(struct arguments *arguments, const char *flag, int line)
{
	return arguments_find(arguments, flag) ||
	       arguments_add(arguments, flag, "", line);
}

/* What all their recipes switch on (recipes/common.py), tuning without the overlap of
 * its exchanges; TP > 1 takes sequence parallelism along (overrides.py). */
static bool add_settings(struct arguments *arguments, int line)
{
	const char *tp = value_of(arguments, "tensor-model-parallel-size", "1");
	bool tunes = strcmp(value_of(arguments, "task", "pretrain"), "pretrain") != 0;
	bool fsdp = strcasecmp(value_of(arguments, "use-megatron-fsdp", "false"),
			       "true") == 0;

	return add_switch(arguments, "use-distributed-optimizer", line) &&
	       (tunes || (add_switch(arguments, "overlap-grad-reduce", line) &&
			  add_switch(arguments, "overlap-param-gather", line))) &&
	       (strtol(tp, NULL, 10) < 2 ||
		add_switch(arguments, "sequence-parallel", line)) &&
	       (!fsdp || arguments_add(arguments, "data-parallel-sharding-strategy",
				       "optim_grads_params", line));
}

static bool is_performance(const struct arguments *arguments)
{
	return arguments_find(arguments, "model-recipe-name") ||
	       arguments_find(arguments, "nemo-recipe");
}

bool performance_flag(const struct arguments *arguments, const char *name)
{
	static const char *const names[] = { "compute-dtype", "gpu", "task", NULL };

	return is_performance(arguments) && word_among(name, names);
}

/* "--virtual_pipeline_model_parallel_size None" is without. */
static void drop_none(struct arguments *arguments)
{
	int kept = 0;

	for (int i = 0; i < arguments->count; i++)
		if (strcmp(arguments->item[i].value, "None") != 0)
			arguments->item[kept++] = arguments->item[i];
	arguments->count = kept;
}

/* "fp8mx" of a recipe's name as --compute_dtype has it. */
static const char *mixed_by_name(const char *word)
{
	size_t length = strcspn(word, "_");

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		const char *w = word, *type = types[i].type;

		while (*type != '\0' && (*type == '_' || *type == *w)) {
			w += *type != '_';
			type++;
		}
		if (*type == '\0' && !types[i].recipe && w == word + length)
			return types[i].mixed;
	}
	return NULL;
}

/* The end of recipes' names: llama3_8b_pretrain_64gpu_h100_fp8cs_128k_config. What the
 * command says itself goes before. */
static bool add_by_name(struct arguments *arguments, const struct argument *recipe,
			struct error *error)
{
	static const char *const says[] = { "mixed-precision", "bf16", "fp16", "fp8" };
	const char *chip = strstr(recipe->value, "gpu_"), *from = chip, *mixed;
	char name[16];

	while (from && from > recipe->value && from[-1] >= '0' && from[-1] <= '9')
		from--;
	if (!chip || from == chip || from == recipe->value || from[-1] != '_')
		return true;
	chip += strlen("gpu_");
	snprintf(name, sizeof name, "%.*s", (int)strcspn(chip, "_"), chip);
	if (arguments->world <= 0)
		arguments->world = strtoll(from, NULL, 10);
	if (!arguments_find(arguments, "bridge-machine") &&
	    !arguments_add(arguments, "bridge-machine", name, recipe->line))
		return false;
	for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
		if (arguments_find(arguments, says[i]))
			return true;
	chip += strcspn(chip, "_");
	mixed = mixed_by_name(chip + (*chip == '_'));
	return !mixed || mixed_add(arguments, mixed, recipe->line, error);
}

bool performance_add(struct arguments *arguments, struct error *error)
{
	const struct argument *named = arguments_find(arguments, "recipe");
	const struct argument *recipe = arguments_find(arguments, "model-recipe-name");
	const struct argument *gpus = arguments_find(arguments, "num-gpus");
	const char *gpu = value_of(arguments, "gpu", NULL), *mixed;
	int line;

	recipe = recipe ? recipe : arguments_find(arguments, "nemo-recipe");
	if (!recipe)
		return !named || add_by_name(arguments, named, error);
	line = recipe->line;
	/* their degrees hang on it */
	if (gpus && gpus->missing)
		return script_missing(arguments, gpus->name, gpus->line, gpus->missing,
				      error);
	drop_none(arguments);
	mixed = mixed_of(arguments);
	if (!mixed)
		return error_set(error, arguments->file, line,
				 "--compute_dtype is '%.40s'; expected bf16, fp8_cs, "
				 "fp8_mx, fp8_sc or nvfp4",
				 value_of(arguments, "compute-dtype", ""));
	return ((!gpu || arguments_add(arguments, "bridge-machine", gpu, line)) &&
		add_settings(arguments, line) &&
		mixed_add(arguments, mixed, line, error)) ||
	       error_set(error, arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}
