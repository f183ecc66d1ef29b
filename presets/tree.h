/* tree.h - a document under construction, with its bounds on depth, values and keys.
 */
#ifndef PRESETS_TREE_H
#define PRESETS_TREE_H

#include "presets/node.h"

enum { TREE_ANCHORS = 256 };

/* Where the reader is: the open lists and maps, innermost last. */
struct tree {
	struct document *document;
	struct error *error;
	int depth, nodes;
	int skipped;  /* depth inside a mapping that nobody reads, 0 = outside */
	bool repeats; /* equal keys in one mapping are kept */
	struct node *open[DOCUMENT_MAX_DEPTH];
	struct node *last[DOCUMENT_MAX_DEPTH]; /* last child of each */
	const char *key;                       /* waits for its value */
	int anchors;
	struct {
		const char *name;
		struct node *node;
	} anchor[TREE_ANCHORS];
};

/* Each at a place of the file (place_at()); false with the error. A scalar in a mapping
 * is a key and a value in turn. */
bool tree_scalar(struct tree *tree, const char *text, size_t length, bool quoted,
		 int place);
bool tree_open(struct tree *tree, enum node_kind kind, int place);
/* The value that came last is called so. */
bool tree_anchor(struct tree *tree, const char *name, int place);
/* A copy of the value that is called so; behind the key "<<" its members, but for
 * those that the mapping has itself. */
bool tree_alias(struct tree *tree, const char *name, int place);
void tree_close(struct tree *tree);
/* False, with the error. */
bool tree_complain(const struct tree *tree, int place, const char *what);

#endif
