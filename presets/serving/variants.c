/* variants.c - which of the recipes of srt-slurm that stand in one file is meant:
 * `base`, what `override_NAME` makes of it, or the n-th of what `zip_override_NAME`
 * does, whose lists are taken side by side.
 *
 * Keys and merging: NVIDIA/srt-slurm@c88ef7316, docs/overrides.md and
 * src/srtctl/core/config.py.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"
#include "presets/serving/tool.h"

enum { WHOLE = -1 };

static bool is_zip(const char *key)
{
	return strncmp(key, "zip_override_", 13) == 0;
}

static bool is_override(const char *key)
{
	return strncmp(key, "override_", 9) == 0 || is_zip(key);
}

/* How many recipes the lists of a mapping make: the longest of them. Depth is bounded
 * by the document's. */
static int longest(const struct node *map)
{
	int most = 0;

	for (const struct node *node = map->child; node; node = node->next) {
		int count = node->kind == NODE_MAP ? longest(node) : 0;

		for (const struct node *item = node->kind == NODE_LIST ? node->child
								       : NULL;
		     item; item = item->next)
			count++;
		most = count > most ? count : most;
	}
	return most;
}

/* Scalars of a list, joined as in other pairs. */
static void join(const struct node *list, char out[PAIRS_MAX_VALUE])
{
	size_t used = 0;

	out[0] = '\0';
	for (const struct node *node = list->child; node; node = node->next)
		if (node->kind == NODE_SCALAR && used < PAIRS_MAX_VALUE - 1)
			used += (size_t)snprintf(out + used, PAIRS_MAX_VALUE - used,
						 "%s%s", used ? " " : "", node->text);
}

/* Without a key, and what is inside of it. */
static void drop(struct pairs *recipe, const char *key)
{
	size_t length = strlen(key);
	int kept = 0;

	for (int i = 0; i < recipe->count; i++)
		if (strncmp(recipe->item[i].key, key, length) != 0 ||
		    (recipe->item[i].key[length] != '\0' &&
		     recipe->item[i].key[length] != '.'))
			recipe->item[kept++] = recipe->item[i];
	recipe->count = kept;
}

static bool is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted &&
	       (node->text[0] == '\0' || strcmp(node->text, "null") == 0 ||
		strcmp(node->text, "~") == 0);
}

/* A list's n-th member; one of a single member is for all. */
static const struct node *nth(const struct node *list, int index)
{
	const struct node *node = list->child;

	if (node && !node->next)
		return node;
	for (; node && index > 0; index--)
		node = node->next;
	return node;
}

/* Members replace those of the same name, mappings are merged, null takes away. Depth
 * is bounded by the document's. */
static bool merge(struct pairs *recipe, const struct node *map, const char *prefix,
		  int index, struct error *error)
{
	for (const struct node *node = map->child; node; node = node->next) {
		const struct node *value = node;
		char key[PAIRS_MAX_KEY + 16], text[PAIRS_MAX_VALUE];
		bool good;

		if (snprintf(key, sizeof key, "%s%s%s", prefix, prefix[0] ? "." : "",
			     node->key) >= PAIRS_MAX_KEY)
			return error_set(error, recipe->file, node->line,
					 "key '%.40s...' is too long", key);
		if (node->kind == NODE_LIST && index != WHOLE)
			value = nth(node, index);
		if (!value)
			return error_set(error, recipe->file, node->line,
					 "%.60s has no value %d", key, index);
		if (is_null(value)) {
			drop(recipe, key);
			continue;
		}
		if (value->kind == NODE_LIST)
			join(value, text);
		else if (value->kind == NODE_SCALAR)
			snprintf(text, sizeof text, "%s", value->text);
		good = value->kind == NODE_MAP
			       ? merge(recipe, value, key, index, error)
			       : pairs_set(recipe, key, text, value->line, error);
		if (!good)
			return false;
	}
	return true;
}

/* "3 recipes; --function NAME says which: base, override_small, zip_override_tp[0..1]"
 */
static bool refuse(const struct node *root, const char *file, const char *wanted,
		   struct error *error)
{
	char names[400] = "base";
	int count = 1;

	for (const struct node *node = root->child; node; node = node->next) {
		size_t used = strlen(names);
		int each = node->kind == NODE_MAP ? longest(node) : 0;

		if (!is_override(node->key))
			continue;
		count += is_zip(node->key) ? each : 1;
		snprintf(names + used, sizeof names - used,
			 is_zip(node->key) ? ", %.80s[0..%d]" : ", %.80s", node->key,
			 each - 1);
	}
	if (wanted)
		return error_set(error, file, 1,
				 "no recipe is called '%.60s'; there are %s", wanted,
				 names);
	return error_set(error, file, 1,
			 "%d recipes in one; --function NAME says which: %s", count,
			 names);
}

/* "zip_override_tp[1]": the section, and which of its recipes; NULL. */
static const struct node *find_section(const struct node *root, const char *wanted,
				       int *index)
{
	size_t length = strcspn(wanted, "[");

	*index = WHOLE;
	for (const struct node *node = root->child; node; node = node->next) {
		if (!is_override(node->key) ||
		    strncmp(node->key, wanted, length) != 0 ||
		    node->key[length] != '\0' || node->kind != NODE_MAP)
			continue;
		if (is_zip(node->key))
			*index = wanted[length] == '[' ? atoi(wanted + length + 1) : 0;
		if (is_zip(node->key) &&
		    (wanted[length] != '[' || *index < 0 || *index >= longest(node)))
			return NULL;
		return node;
	}
	return NULL;
}

static bool choose(struct pairs *out, const struct node *root, const struct node *base,
		   const char *wanted, struct error *error)
{
	const struct node *section = NULL;
	bool alone = true;
	int index = WHOLE;

	for (const struct node *node = root->child; node; node = node->next)
		alone = alone && !is_override(node->key);
	if (wanted && strcmp(wanted, "base") != 0)
		section = find_section(root, wanted, &index);
	if (!section && !alone && !(wanted && strcmp(wanted, "base") == 0))
		return refuse(root, out->file, wanted, error);
	return merge(out, base, "", WHOLE, error) &&
	       (!section || merge(out, section, "", index, error));
}

bool slurm_recipe(struct pairs *out, const char *file, const char *text, size_t length,
		  const char *wanted, struct error *error)
{
	struct document document;
	const struct node *base;
	bool good;

	if (!document_parse_repeats(&document, file, text, length, error))
		return false;
	base = node_get(document.root, "base");
	if (!base || base->kind != NODE_MAP) {
		document_free(&document);
		return pairs_from_yaml_repeats(out, file, text, length, error);
	}
	pairs_begin(out, file);
	good = choose(out, document.root, base, wanted, error);
	document_free(&document);
	if (!good)
		pairs_free(out);
	return good;
}
