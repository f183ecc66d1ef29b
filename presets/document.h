/* document.h - a YAML or JSON file as a bounded tree of nodes with line numbers.
 *
 * libyaml parses, JSON too (see json.h); the tree adds limits (file size, depth 64,
 * node count) and lookups with good messages. The document owns its
 * nodes and their strings; document_free() releases all at once.
 */
#ifndef PRESETS_DOCUMENT_H
#define PRESETS_DOCUMENT_H

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

/* "-" is standard input. False with error filled. */
bool document_read(struct document *document, const char *path, struct error *error);
/* JSON where the name ends with .json or the text begins as JSON does, else YAML. */
bool document_parse(struct document *document, const char *name, const char *text,
		    size_t length, struct error *error);
/* The same for files whose readers take the last of equal keys: all are kept, in order,
 * and node_get() gives the first. */
bool document_parse_repeats(struct document *document, const char *name,
			    const char *text, size_t length, struct error *error);
/* Of several documents (---) in one text, all: the root is a list of them. */
bool document_parse_many(struct document *document, const char *name, const char *text,
			 size_t length, struct error *error);
/* JSON alone; `loose` with comments and what else YAML takes in braces. */
bool document_parse_json(struct document *document, const char *name, const char *text,
			 size_t length, bool loose, struct error *error);
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
