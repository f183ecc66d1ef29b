/* pairs.c - the list, and YAML or JSON as one; see pairs.h. */
#include "presets/pairs/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/document.h"

struct pairs_text {
	struct pairs_text *next;
	char text[];
};

static const char *keep(struct pairs *pairs, const char *text)
{
	size_t length = strlen(text);
	struct pairs_text *kept = malloc(sizeof *kept + length + 1);

	if (!kept)
		return NULL;
	memcpy(kept->text, text, length + 1);
	error_clean(kept->text);
	kept->next = pairs->texts;
	pairs->texts = kept;
	return kept->text;
}

static bool grow(struct pairs *pairs)
{
	int capacity = pairs->capacity ? 2 * pairs->capacity : 64;
	struct pair *item;

	if (pairs->count < pairs->capacity)
		return true;
	item = realloc(pairs->item, (size_t)capacity * sizeof *item);
	if (!item)
		return false;
	pairs->item = item;
	pairs->capacity = capacity;
	return true;
}

bool pairs_add(struct pairs *pairs, const char *key, const char *value, int line,
	       struct error *error)
{
	const char *own_key, *own_value;

	if (strlen(key) >= PAIRS_MAX_KEY)
		return error_set(error, pairs->file, line, "key '%.40s...' is too long",
				 key);
	if (pairs->count >= PAIRS_MAX)
		return error_set(error, pairs->file, line, "more than %d keys",
				 PAIRS_MAX);
	own_key = grow(pairs) ? keep(pairs, key) : NULL;
	own_value = own_key ? keep(pairs, value) : NULL;
	if (!own_value)
		return error_set(error, pairs->file, line, "out of memory");
	pairs->item[pairs->count++] = (struct pair){ own_key, own_value, line };
	return true;
}

bool pairs_set(struct pairs *pairs, const char *key, const char *value, int line,
	       struct error *error)
{
	if (!pairs_add(pairs, key, value, line, error))
		return false;
	for (int i = 0; i + 1 < pairs->count; i++)
		if (strcmp(pairs->item[i].key, key) == 0) {
			pairs->item[i] = pairs->item[--pairs->count];
			break;
		}
	return true;
}

void pairs_begin(struct pairs *out, const char *file)
{
	memset(out, 0, sizeof *out);
	snprintf(out->file, sizeof out->file, "%s", file);
	error_clean(out->file);
}

int pairs_place(const char *start, const char *at, int line)
{
	const char *left = at;

	while (left > start && left[-1] != '\n' && at - left < PAIRS_MAX_VALUE)
		left--;
	return place_at(line, at - left + 1);
}

void pairs_free(struct pairs *pairs)
{
	while (pairs->texts) {
		struct pairs_text *next = pairs->texts->next;

		free(pairs->texts);
		pairs->texts = next;
	}
	free(pairs->item);
	memset(pairs, 0, sizeof *pairs);
}

const struct pair *pairs_find(const struct pairs *pairs, const char *key)
{
	for (int i = 0; i < pairs->count; i++)
		if (strcmp(pairs->item[i].key, key) == 0)
			return &pairs->item[i];
	return NULL;
}

static bool is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted &&
	       (node->text[0] == '\0' || strcmp(node->text, "null") == 0 ||
		strcmp(node->text, "~") == 0);
}

/* Scalars of a list, joined; what is deeper is left out. */
static void join(const struct node *list, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (const struct node *node = list->child; node; node = node->next)
		if (node->kind == NODE_SCALAR && used < size - 1)
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used ? " " : "", node->text);
}

/* "70_000", as YAML 1.1 writes whole numbers. */
static void drop_marks(char *value)
{
	size_t length = strlen(value), used = 0;

	if (value[0] < '0' || value[0] > '9' || strspn(value, "0123456789_") != length)
		return;
	for (size_t i = 0; i <= length; i++)
		if (value[i] != '_')
			value[used++] = value[i];
}

/* Depth is bounded by the document's. */
static bool flatten(struct pairs *pairs, const struct node *map, const char *prefix,
		    struct error *error)
{
	for (const struct node *node = map->child; node; node = node->next) {
		char key[PAIRS_MAX_KEY + 16], value[PAIRS_MAX_VALUE];

		if (snprintf(key, sizeof key, "%s%s%s", prefix, prefix[0] ? "." : "",
			     node->key) >= PAIRS_MAX_KEY)
			return error_set(error, pairs->file, node->line,
					 "key '%.40s...' is too long", key);
		if (is_null(node))
			continue;
		if (node->kind == NODE_MAP) {
			if (!flatten(pairs, node, key, error))
				return false;
			continue;
		}
		if (node->kind == NODE_LIST)
			join(node, value, sizeof value);
		else
			snprintf(value, sizeof value, "%s", node->text);
		if (node->kind == NODE_SCALAR && !node->quoted)
			drop_marks(value);
		if (!pairs_add(pairs, key, value, node->line, error))
			return false;
	}
	return true;
}

bool pairs_add_map(struct pairs *pairs, const struct node *map, struct error *error)
{
	return flatten(pairs, map, "", error);
}

static bool take_pairs(struct pairs *out, struct document *document,
		       struct error *error)
{
	bool good;

	memcpy(out->file, document->file, sizeof out->file);
	good = document->root->kind == NODE_MAP
		       ? pairs_add_map(out, document->root, error)
		       : error_set(error, out->file, document->root->line,
				   "expected keys and values");
	document_free(document);
	if (!good)
		pairs_free(out);
	return good;
}

bool pairs_from_yaml(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error)
{
	struct document document;

	memset(out, 0, sizeof *out);
	return document_parse(&document, file, text, length, error) &&
	       take_pairs(out, &document, error);
}

static void keep_last(struct pairs *pairs)
{
	int kept = 0;

	for (int i = 0; i < pairs->count; i++) {
		bool again = false;

		for (int k = i + 1; k < pairs->count && !again; k++)
			again = strcmp(pairs->item[i].key, pairs->item[k].key) == 0;
		if (!again)
			pairs->item[kept++] = pairs->item[i];
	}
	pairs->count = kept;
}

bool pairs_from_yaml_repeats(struct pairs *out, const char *file, const char *text,
			     size_t length, struct error *error)
{
	struct document document;

	memset(out, 0, sizeof *out);
	if (!document_parse_repeats(&document, file, text, length, error) ||
	    !take_pairs(out, &document, error))
		return false;
	keep_last(out);
	return true;
}

bool pairs_from_json(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error)
{
	struct document document;

	memset(out, 0, sizeof *out);
	return document_parse_json(&document, file, text, length, true, error) &&
	       take_pairs(out, &document, error);
}

void pairs_keep_last(struct pairs *pairs)
{
	int kept = 0;

	for (int i = 0; i < pairs->count; i++) {
		bool again = false;

		for (int k = i + 1; k < pairs->count && !again; k++)
			again = strcmp(pairs->item[i].key, pairs->item[k].key) == 0;
		if (!again)
			pairs->item[kept++] = pairs->item[i];
	}
	pairs->count = kept;
}
