/* mixed.c - the recipes of Megatron-Bridge's mixed_precision, by name. */
#include <stdio.h>
#include <string.h>

#include "presets/megatron/parts.h"

/* Names of src/megatron/bridge/training/mixed_precision.py, with the flags that say
 * the same. The first row of a pair of flags is the one written. */
static const struct {
	const char *name, *base, *format, *recipe;
	int precision, fp8;
	bool narrow; /* weights are stored as they are multiplied */
} mixed[] = {
	{ "bf16_mixed", "bf16", NULL, NULL, PRECISION_BF16, 0, false },
	{ "fp16_mixed", "fp16", NULL, NULL, PRECISION_FP16, 0, false },
	{ "bf16_with_fp8_delayed_scaling_mixed", "bf16", "hybrid", "delayed",
	  PRECISION_FP8, FP8_DELAYED, true },
	{ "bf16_with_fp8_current_scaling_mixed", "bf16", "hybrid", "tensorwise",
	  PRECISION_FP8, FP8_CURRENT_SCALING, true },
	{ "bf16_with_fp8_subchannel_scaling_mixed", "bf16", "hybrid", "blockwise",
	  PRECISION_FP8, FP8_BLOCKWISE, false },
	{ "bf16_with_mxfp8_mixed", "bf16", "e4m3", "mxfp8", PRECISION_FP8, FP8_MXFP8,
	  true },
	{ "bf16_with_mxfp8_mixed", "bf16", "e4m3", "mxfp8", PRECISION_MXFP8, 0, true },
	{ "bf16_with_nvfp4_mixed", "bf16", NULL, NULL, PRECISION_NVFP4, 0, true },
	{ "nemotron_3_super_bf16_with_nvfp4_mixed", "bf16", NULL, NULL, PRECISION_NVFP4,
	  0, true },
};

static const char *gather_flag(int precision)
{
	return precision == PRECISION_NVFP4 ? "fp4-param-gather" : "fp8-param-gather";
}

void mixed_put(struct export_out *out, const struct plan *plan)
{
	const char *name = "bf16_with_fp8_current_scaling_mixed"; /* rowwise */
	bool narrow = true;
	bool keeps = plan->weight_format == WEIGHTS_FP8 ||
		     plan->weight_format == WEIGHTS_FP4;

	if (plan->precision == PRECISION_FP32)
		return;
	for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++)
		if (mixed[i].precision == plan->precision &&
		    (plan->precision != PRECISION_FP8 ||
		     mixed[i].fp8 == plan->fp8_recipe)) {
			name = mixed[i].name;
			narrow = mixed[i].narrow;
			break;
		}
	/* adapters' base is frozen_format */
	if (plan->precision < PRECISION_FP8 || plan->lora_rank > 0)
		keeps = narrow;
	/* the name alone has no fields to set */
	if (plan->wide_first > 0 || plan->wide_last > 0 || keeps != narrow)
		fprintf(out->body,
			"from megatron.bridge.training.mixed_precision import "
			"get_mixed_precision_config\n"
			"cfg.mixed_precision = get_mixed_precision_config(\"%s\")\n",
			name);
	else
		fprintf(out->body, "cfg.mixed_precision = \"%s\"\n", name);
	if (keeps != narrow)
		fprintf(out->body, "cfg.mixed_precision.%s_param_gather = %s\n",
			plan->precision == PRECISION_NVFP4 ? "fp4" : "fp8",
			keeps ? "True" : "False");
}

static bool add(struct arguments *arguments, const char *flag, const char *value,
		int line, struct error *error)
{
	return arguments_add(arguments, flag, value, line) ||
	       error_set(error, arguments->file, line, "more than %d settings",
			 ARGUMENTS_MAX);
}

/* Recipes that keep layers at the ends in bf16: one at the start. */
static bool add_ends(struct arguments *arguments, const char *name, int line,
		     struct error *error)
{
	return strcmp(name, "nemotron_3_super_bf16_with_nvfp4_mixed") != 0 ||
	       (add(arguments, "first-last-layers-bf16", "", line, error) &&
		add(arguments, "num-layers-at-end-in-bf16", "14", line, error));
}

/* The name behind a call of get_mixed_precision_config(), or the value. */
static const char *mixed_name(const char *value, char out[64])
{
	static const char call[] = "get_mixed_precision_config(";

	if (strncmp(value, call, sizeof call - 1) == 0)
		value += sizeof call - 1;
	snprintf(out, 64, "%.*s", (int)strcspn(value, ")"), value);
	return out;
}

bool mixed_add(struct arguments *arguments, const char *value, int line,
	       struct error *error)
{
	char name[64];
	bool good = true;

	value = mixed_name(value, name);
	good = add_ends(arguments, value, line, error);

	for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++) {
		if (strcmp(mixed[i].name, value) != 0)
			continue;
		good = add(arguments, mixed[i].base, "", line, error);
		if (good && mixed[i].format)
			good = add(arguments, "fp8-format", mixed[i].format, line,
				   error) &&
			       add(arguments, "fp8-recipe", mixed[i].recipe, line,
				   error);
		if (good && mixed[i].precision == PRECISION_NVFP4)
			good = add(arguments, "fp4-format", "e2m1", line, error);
		if (good && mixed[i].narrow)
			good = add(arguments, gather_flag(mixed[i].precision), "", line,
				   error);
		if (good && mixed[i].recipe && strcmp(mixed[i].recipe, "mxfp8") == 0)
			good = add(arguments, "reuse-grad-buf-for-mxfp8-param-ag", "",
				   line, error);
		return good;
	}
	return add(arguments, "mixed-precision", value, line, error);
}
