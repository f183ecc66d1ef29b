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

static bool check_key(struct tree *tree, const char *key, int line)
{
	const struct node *map = tree->open[tree->depth - 1];

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

bool tree_expects_key(const struct tree *tree)
{
	return tree->depth > 0 && tree->open[tree->depth - 1]->kind == NODE_MAP &&
	       !tree->key;
}

bool tree_scalar(struct tree *tree, const char *text, size_t length, bool quoted,
		 int line)
{
	struct node *node;

	if (tree->skipped > 0)
		return true;
	if (memchr(text, '\0', length))
		return tree_complain(tree, line,
				     "a value holds a zero byte; remove it");
	text = keep_text(tree, text, length);
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
