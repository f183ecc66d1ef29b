/* quantisation.c - see quantisation.h. Methods and keys: transformers,
 * utils/quantization_config.py; compressed-tensors, quantization/quant_scheme.py;
 * ModelOpt's hf_quant_config.json. */
#include "presets/hf/quantisation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"

static const char *text_of(const struct node *map, const char *key)
{
	const struct node *node =
		map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

	return node && node->kind == NODE_SCALAR ? node->text : "";
}

static const struct node *map_of(const struct node *map, const char *key)
{
	const struct node *node =
		map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

	return node && node->kind == NODE_MAP ? node : NULL;
}

static const char *by_bits(long bits)
{
	return bits == 4 ? "int4" : bits == 8 ? "int8" : NULL;
}

/* "NVFP4", "FP8_PB_WO", "W4A8_AWQ" of ModelOpt. */
static const char *by_algorithm(const char *name)
{
	static const struct {
		const char *part, *word;
	} parts[] = {
		{ "NVFP4", "nvfp4" },      { "MXFP4", "mxfp4" },
		{ "W4A16_FP4", "nvfp4" },  { "MXFP8", "mxfp8" },
		{ "FP8_PB", "fp8-block" }, { "FP8_BLOCK", "fp8-block" },
		{ "FP8", "fp8" },          { "AWQ", "int4" },
		{ "W4A16", "int4" },       { "INT4", "int4" },
		{ "W8A8", "int8" },        { "INT8", "int8" },
	};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (strstr(name, parts[i].part))
			return parts[i].word;
	return NULL;
}

/* Weights of a group of compressed-tensors. */
static const char *of_weights(const struct node *weights)
{
	bool real = strcmp(text_of(weights, "type"), "float") == 0;
	long bits = strtol(text_of(weights, "num_bits"), NULL, 10);

	if (real && bits == 8)
		return strcmp(text_of(weights, "strategy"), "block") == 0 ? "fp8-block"
									  : "fp8";
	if (real && bits == 4)
		return strtol(text_of(weights, "group_size"), NULL, 10) == 32 ? "mxfp4"
									      : "nvfp4";
	return by_bits(bits);
}

/* The first group, and that others differ. */
static const char *of_groups(const struct node *groups, char *why, size_t size)
{
	const char *first = NULL;

	for (const struct node *group = groups ? groups->child : NULL; group;
	     group = group->next) {
		const char *word = of_weights(map_of(group, "weights"));

		if (!first)
			first = word;
		else if (word && strcmp(first, word) != 0)
			snprintf(why, size,
				 "matrices differ in precision: %s and %s, all counted "
				 "as %s",
				 first, word, first);
	}
	return first;
}

static const char *by_method(const struct node *config, const char *method)
{
	static const struct {
		const char *method, *word;
	} methods[] = {
		{ "fbgemm_fp8", "fp8" },  { "mxfp4", "mxfp4" },
		{ "awq", "int4" },        { "mxfp8", "mxfp8" },
		{ "auto-round", "int4" }, { "hqq", "int4" },
		{ "quark", "fp8" },       { "finegrained_fp8", "fp8-block" },
	};
	long bits = strtol(text_of(config, "bits"), NULL, 10);

	if (strcmp(method, "fp8") == 0)
		return node_get(config, "weight_block_size") ? "fp8-block" : "fp8";
	if (strcmp(method, "bitsandbytes") == 0)
		return strcmp(text_of(config, "load_in_8bit"), "true") == 0 ? "int8"
									    : "int4";
	if (bits > 0)
		return by_bits(bits);
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
		if (strcmp(methods[i].method, method) == 0)
			return methods[i].word;
	return NULL;
}

const char *hf_quantised(const struct node *config, char *why, size_t size)
{
	const char *method = text_of(config, "quant_method"),
		   *algorithm = text_of(config, "quant_algo");
	const struct node *groups = map_of(config, "config_groups");
	const char *word = NULL;

	why[0] = '\0';
	if (strncmp(algorithm, "MIXED", 5) == 0) {
		word = groups ? of_groups(groups, why, size) : NULL;
		/* checkpoints of this kind keep experts in four bits */
		word = word ? word : "nvfp4";
		snprintf(why, size,
			 "matrices differ in precision (%.40s): all counted as %s",
			 algorithm, word);
		return word;
	}
	if (algorithm[0] != '\0')
		return by_algorithm(algorithm);
	if (groups)
		return of_groups(groups, why, size);
	return by_method(config, method);
}

bool hf_is_quantisation(const struct node *root)
{
	return map_of(root, "producer") && map_of(root, "quantization");
}

void hf_quantised_beside(const char *path, struct model *model)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *precision;
	char beside[1024], why[MAX_NOTE];
	struct document document;

	if (strcmp(name, "config.json") != 0 || model->precision != PRECISION_BF16)
		return;
	snprintf(beside, sizeof beside, "%.*shf_quant_config.json",
		 (int)(name - path < 900 ? name - path : 0), path);
	if (access(beside, R_OK) != 0 || !document_read(&document, beside, NULL))
		return;
	precision = hf_is_quantisation(document.root)
			    ? hf_quantised(node_get(document.root, "quantization"), why,
					   sizeof why)
			    : NULL;
	for (int i = 0; precision && precision_words[i]; i++)
		if (strcmp(precision_words[i], precision) == 0)
			model->precision = i;
	if (precision && why[0] != '\0' && model->approximate[0] == '\0')
		snprintf(model->approximate, sizeof model->approximate, "%s", why);
	document_free(&document);
}
