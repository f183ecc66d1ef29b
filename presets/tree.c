/* tree.c - see tree.h. */
#include "presets/tree.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, MAX_KEYS = 4096 };

struct block {
	struct block *next;
	size_t used, size;
	max_align_t data[];
};

/* Everything a document holds lies in blocks that are freed together. */
static void *take(struct document *document, size_t bytes)
{
	struct block *block = document->storage;

	bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
		sizeof(max_align_t);
	if (!block || block->size - block->used < bytes) {
		size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

		block = malloc(sizeof *block + size);
		if (!block)
			return NULL;
		block->next = document->storage;
		block->used = 0;
		block->size = size;
		document->storage = block;
	}
	void *at = (char *)block->data + block->used;

	block->used += bytes;
	return at;
}

void document_free(struct document *document)
{
	struct block *block = document->storage;

	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
	document->storage = NULL;
	document->root = NULL;
}

bool tree_complain(const struct tree *tree, int line, const char *what)
{
	return error_set(tree->error, tree->document->file, line, "%s", what);
}

static const char *keep_text(struct tree *tree, const char *text, size_t length)
{
	char *kept = take(tree->document, length + 1);

	if (kept) {
		memcpy(kept, text, length);
		kept[length] = '\0';
	}
	return kept;
}

/* The member that "<<" brought makes room for the mapping's own. */
static void drop_merged(struct tree *tree, struct node *map, const char *key)
{
	struct node *before = NULL;

	for (struct node *node = map->child; node; before = node, node = node->next) {
		if (!node->merged || strcmp(node->key, key) != 0)
			continue;
		if (before)
			before->next = node->next;
		else
			map->child = node->next;
		if (tree->last[tree->depth - 1] == node)
			tree->last[tree->depth - 1] = before;
		map->count--;
		return;
	}
}

static bool check_key(struct tree *tree, const char *key, int line)
{
	struct node *map = tree->open[tree->depth - 1];

	drop_merged(tree, map, key);
	if (map->count >= MAX_KEYS)
		return error_set(tree->error, tree->document->file, line,
				 "more than %d keys in one mapping", MAX_KEYS);
	for (const struct node *node = map->child; node && !tree->repeats;
	     node = node->next)
		if (strcmp(node->key, key) == 0)
			return error_set(tree->error, tree->document->file, line,
					 "key '%.60s' stands here again, first in line "
					 "%d; keep one of them",
					 key, place_line(node->line));
	return true;
}

/* A new node, hung into the innermost open list or map. */
static struct node *add_node(struct tree *tree, enum node_kind kind, int line)
{
	struct node *node;

	if (++tree->nodes > DOCUMENT_MAX_NODES) {
		error_set(tree->error, tree->document->file, line,
			  "more than %d values", DOCUMENT_MAX_NODES);
		return NULL;
	}
	node = take(tree->document, sizeof *node);
	if (!node) {
		tree_complain(tree, line, "out of memory");
		return NULL;
	}
	*node = (struct node){ .kind = kind, .line = line, .key = tree->key };
	tree->key = NULL;
	if (tree->depth == 0) {
		tree->document->root = node;
		return node;
	}
	if (tree->last[tree->depth - 1])
		tree->last[tree->depth - 1]->next = node;
	else
		tree->open[tree->depth - 1]->child = node;
	tree->last[tree->depth - 1] = node;
	tree->open[tree->depth - 1]->count++;
	return node;
}

/* Whether the next scalar is a key. */
static bool tree_expects_key(const struct tree *tree)
{
	return tree->depth > 0 && tree->open[tree->depth - 1]->kind == NODE_MAP &&
	       !tree->key;
}

/* "70_000" is a whole number of YAML; its length without the bars, or 0. */
static size_t plain_number(const char *text, size_t length, char out[32])
{
	size_t used = 0;
	bool bars = false;

	for (size_t i = 0; i < length && used < 31; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		if (text[i] == '_' && i > 0 && i + 1 < length)
			bars = true;
		else if (digit || (i == 0 && length > 1 && strchr("+-", text[i])))
			out[used++] = text[i];
		else
			return 0;
	}
	return bars && used > 0 && out[0] >= '0' ? used : 0;
}

bool tree_scalar(struct tree *tree, const char *text, size_t length, bool quoted,
		 int line)
{
	struct node *node;
	char plain[32];
	size_t number;

	if (tree->skipped > 0)
		return true;
	if (memchr(text, '\0', length))
		return tree_complain(tree, line,
				     "a value holds a zero byte; remove it");
	number = quoted || tree_expects_key(tree) ? 0
						  : plain_number(text, length, plain);
	text = number > 0 ? keep_text(tree, plain, number)
			  : keep_text(tree, text, length);
	if (!text)
		return tree_complain(tree, line, "out of memory");
	if (tree_expects_key(tree)) {
		tree->key = text;
		return check_key(tree, text, line);
	}
	node = add_node(tree, NODE_SCALAR, line);
	if (!node)
		return false;
	node->text = text;
	node->quoted = quoted;
	return true;
}

/* Checkpoints quantised matrix by matrix list tens of thousands of them, which no
 * reader asks for: the mapping is there, and empty. */
static bool is_unread(const struct tree *tree, enum node_kind kind)
{
	static const char *const maps[] = { "quantized_layers", "weight_map" };

	for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
		if (tree->key && kind == NODE_MAP && strcmp(tree->key, maps[i]) == 0)
			return true;
	return false;
}

bool tree_open(struct tree *tree, enum node_kind kind, int line)
{
	struct node *node;

	if (tree->skipped > 0 || is_unread(tree, kind))
		tree->skipped++;
	if (tree->skipped > 1)
		return true;
	if (tree_expects_key(tree))
		return tree_complain(tree, line,
				     "a key must be plain text, not a list or mapping");
	if (tree->depth == DOCUMENT_MAX_DEPTH)
		return error_set(tree->error, tree->document->file, line,
				 "nested deeper than %d levels", DOCUMENT_MAX_DEPTH);
	node = add_node(tree, kind, line);
	if (!node)
		return false;
	if (tree->skipped > 0)
		return true;
	tree->open[tree->depth] = node;
	tree->last[tree->depth] = NULL;
	tree->depth++;
	return true;
}

void tree_close(struct tree *tree)
{
	if (tree->skipped > 0)
		tree->skipped--;
	else
		tree->depth--;
}

bool tree_anchor(struct tree *tree, const char *name, int line)
{
	struct node *node =
		tree->depth > 0 ? tree->last[tree->depth - 1] : tree->document->root;

	if (tree->skipped > 0 || tree->key)
		return true; /* of a key, which nothing repeats */
	if (tree->anchors == TREE_ANCHORS)
		return error_set(tree->error, tree->document->file, line,
				 "more than %d anchors (&name)", TREE_ANCHORS);
	tree->anchor[tree->anchors].name = keep_text(tree, name, strlen(name));
	tree->anchor[tree->anchors].node = node;
	return tree->anchor[tree->anchors++].name != NULL;
}

static struct node *find_anchor(const struct tree *tree, const char *name)
{
	for (int i = tree->anchors - 1; i >= 0; i--)
		if (strcmp(tree->anchor[i].name, name) == 0)
			return tree->anchor[i].node;
	return NULL;
}

static bool is_open(const struct tree *tree, const struct node *node)
{
	for (int i = 0; i < tree->depth; i++)
		if (tree->open[i] == node)
			return true;
	return false;
}

/* Hangs a copy into the innermost open list or map, under the key that waits. */
static bool copy_node(struct tree *tree, const struct node *from, int line)
{
	struct node *node;

	if (from->kind == NODE_SCALAR) {
		node = add_node(tree, NODE_SCALAR, line);
		if (!node)
			return false;
		node->text = from->text;
		node->quoted = from->quoted;
		return true;
	}
	if (!tree_open(tree, from->kind, line))
		return false;
	/* of a mapping that nobody reads, a copy has nothing either */
	for (const struct node *child = from->child; child && tree->skipped == 0;
	     child = child->next) {
		tree->key = child->key;
		if (!copy_node(tree, child, line))
			return false;
	}
	tree_close(tree);
	return true;
}

static bool merge(struct tree *tree, const struct node *from, int line)
{
	const struct node *map = tree->open[tree->depth - 1];

	tree->key = NULL;
	for (const struct node *child = from->child; child; child = child->next) {
		if (node_get(map, child->key))
			continue;
		tree->key = child->key;
		if (!copy_node(tree, child, line))
			return false;
		tree->last[tree->depth - 1]->merged = true;
	}
	return true;
}

bool tree_alias(struct tree *tree, const char *name, int line)
{
	const struct node *from = find_anchor(tree, name);

	if (tree->skipped > 0)
		return true;
	if (tree_expects_key(tree))
		return tree_complain(tree, line, "an alias as a key; write it out");
	if (!from || is_open(tree, from))
		return error_set(tree->error, tree->document->file, line,
				 "*%.60s: no value before it is called &%.60s", name,
				 name);
	if (tree->key && strcmp(tree->key, "<<") == 0 && from->kind == NODE_MAP)
		return merge(tree, from, line);
	return copy_node(tree, from, line);
}
