/* node.h - the nodes of a document, with their lines, and typed access to them.
 */
#ifndef PRESETS_NODE_H
#define PRESETS_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "presets/error.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	int line;           /* a place: error_set() says the column too */
	bool merged;        /* from another mapping, by "<<: *name" */
	bool quoted;        /* a quoted scalar is text, not number or null */
	const char *key;    /* in a map: this member's key */
	const char *text;   /* of a scalar */
	int count;          /* children of a list or map */
	struct node *child; /* first child */
	struct node *next;  /* sibling */
};

struct document {
	char file[256]; /* as the user named it, cleaned */
	struct node *root;
	void *storage;
};

enum {
	DOCUMENT_MAX_BYTES = 16 << 20,
	DOCUMENT_MAX_DEPTH = 64,
	DOCUMENT_MAX_NODES = 1 << 20
};

void document_free(struct document *document);
struct node *node_get(const struct node *map, const char *key);
/* Typed access; false with FILE:LINE filled when the kind is wrong. Numbers
 * take 8k, 4M, 1e12; NaN and infinities are refused. */
bool node_number(const struct document *document, const struct node *node, double *out,
		 struct error *error);
bool node_count(const struct document *document, const struct node *node, int64_t *out,
		struct error *error);
bool node_bool(const struct document *document, const struct node *node, bool *out,
	       struct error *error);
/* Copies into out; refuses longer text. Cleans control characters. */
bool node_text(const struct document *document, const struct node *node, char *out,
	       size_t size, struct error *error);

#endif
