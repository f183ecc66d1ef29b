/* node.c - see node.h. */
#include "presets/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct node *node_get(const struct node *map, const char *key)
{
	struct node *node = map && map->kind == NODE_MAP ? map->child : NULL;

	while (node && (node->key[0] != key[0] || strcmp(node->key, key) != 0))
		node = node->next;
	return node;
}

static bool wrong_kind(const struct document *document, const struct node *node,
		       const char *expected, struct error *error)
{
	static const char *const kinds[] = { "a value", "a list", "a mapping" };
	const char *key = node->key ? node->key : "item";

	if (node->kind != NODE_SCALAR)
		return error_set(error, document->file, node->line,
				 "%.60s is %s; expected %s", key, kinds[node->kind],
				 expected);
	return error_set(error, document->file, node->line,
			 "%.60s is '%.60s'; expected %s", key, node->text, expected);
}

bool node_number(const struct document *document, const struct node *node, double *out,
		 struct error *error)
{
	static const char suffixes[] = "kMGBT";
	static const double factor[] = { 1e3, 1e6, 1e9, 1e9, 1e12 };
	const char *expected = "a number";
	char *end;
	double value;

	if (node->kind != NODE_SCALAR || node->text[0] == '\0' || node->quoted ||
	    strspn(node->text, "+-.0123456789") == 0)
		return wrong_kind(document, node, expected, error);
	value = strtod(node->text, &end);
	if (*end != '\0' && end[1] == '\0' && strchr(suffixes, *end)) {
		value *= factor[strchr(suffixes, *end) - suffixes];
		end++;
	}
	if (*end != '\0' || end == node->text || !isfinite(value))
		return wrong_kind(document, node, expected, error);
	*out = value;
	return true;
}

bool node_count(const struct document *document, const struct node *node, int64_t *out,
		struct error *error)
{
	double value;

	if (!node_number(document, node, &value, error) || value != floor(value) ||
	    fabs(value) > 9007199254740992.0) /* 2^53: exact in a double */
		return wrong_kind(document, node, "a whole number", error);
	*out = (int64_t)value;
	return true;
}

bool node_bool(const struct document *document, const struct node *node, bool *out,
	       struct error *error)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{ "true", true },   { "false", false }, { "True", true },
		{ "False", false }, { "yes", true },    { "no", false },
		{ "on", true },     { "off", false },
	};

	for (size_t i = 0;
	     node->kind == NODE_SCALAR && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(node->text, words[i].word) == 0) {
			*out = words[i].value;
			return true;
		}
	return wrong_kind(document, node, "true or false", error);
}

bool node_text(const struct document *document, const struct node *node, char *out,
	       size_t size, struct error *error)
{
	if (node->kind != NODE_SCALAR)
		return wrong_kind(document, node, "text", error);
	if (strlen(node->text) >= size)
		return error_set(error, document->file, node->line,
				 "%.60s is longer than %d characters",
				 node->key ? node->key : "item", (int)size - 1);
	/* nothing of an earlier, longer text stays: structs are compared whole */
	memset(out, 0, size);
	memcpy(out, node->text, strlen(node->text));
	error_clean(out);
	return true;
}
