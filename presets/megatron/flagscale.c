/* flagscale.c - a training file of FlagScale: Megatron's flags in the sections system,
 * model and data, however deep (flagscale/runner/utils.py, flatten_dict_to_args).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/forms.h"

static const struct node *section(const struct node *root, const char *key)
{
	const struct node *node = node_get(root, key);

	return node && node->kind == NODE_MAP ? node : NULL;
}

bool flagscale_looks_like(const struct node *root)
{
	const struct node *system = section(root, "system");

	return system && section(root, "model") &&
	       (node_get(system, "tensor_model_parallel_size") ||
		node_get(system, "pipeline_model_parallel_size") ||
		section(system, "precision"));
}

/* Depth is bounded by the document's. */
static bool add_leaves(struct arguments *arguments, const struct node *map)
{
	for (const struct node *node = map->child; node; node = node->next)
		if (node->kind == NODE_MAP ? !add_leaves(arguments, node)
					   : !arguments_add_member(arguments, node))
			return false;
	return true;
}

/* Its own flags of the MLP: 2/3 of four times the width, times hidden_dim_multiplier,
 * up to the next of multiple_of (flagscale/train/arguments.py). */
static bool add_width(struct arguments *arguments)
{
	const struct argument *of = arguments_find(arguments, "multiple-of"),
			      *times = arguments_find(arguments,
						      "hidden-dim-multiplier"),
			      *hidden = arguments_find(arguments, "hidden-size");
	char text[24];
	int64_t width, step = of ? strtoll(of->value, NULL, 10) : 0;
	double factor = times ? strtod(times->value, NULL) : 1;

	if (step < 1 || step > 1 << 20 || !hidden ||
	    arguments_find(arguments, "ffn-hidden-size"))
		return true;
	width = strtoll(hidden->value, NULL, 10);
	if (width < 1 || width > 1 << 20 || !(factor > 0 && factor < 100))
		return true;
	width = (int64_t)(factor * (double)(4 * width * 2 / 3));
	snprintf(text, sizeof text, "%lld",
		 (long long)((width + step - 1) / step * step));
	return arguments_add(arguments, "ffn-hidden-size", text, of->line);
}

bool arguments_from_flagscale(struct arguments *arguments, const struct node *root,
			      struct error *error)
{
	static const char *const keys[] = { "system", "model", "data" };
	const struct node *hetero = section(section(root, "system"), "hetero");
	const struct node *mixed = hetero ? node_get(hetero, "enable_hetero") : NULL;
	bool good = true;

	if (mixed && mixed->kind == NODE_SCALAR &&
	    (strcmp(mixed->text, "True") == 0 || strcmp(mixed->text, "true") == 0))
		return error_set(
			error, arguments->file, mixed->line,
			"enable_hetero: stages on machines of different kinds, "
			"which is not modelled");
	for (const struct node *node = root->child; node; node = node->next)
		if (strcmp(node->key, keys[0]) != 0 &&
		    strcmp(node->key, keys[1]) != 0 && strcmp(node->key, keys[2]) != 0)
			arguments_skip(arguments, node, "");
	for (size_t i = 0; i < sizeof keys / sizeof keys[0] && good; i++) {
		const struct node *part = section(root, keys[i]);

		good = !part || add_leaves(arguments, part);
	}
	good = good && add_width(arguments);
	return good || error_set(error, arguments->file, root->line,
				 "more than %d flags", ARGUMENTS_MAX);
}
