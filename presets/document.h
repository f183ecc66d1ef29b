/* document.h - a YAML or JSON file as a bounded tree of nodes with line numbers.
 *
 * libyaml parses, JSON too (see json.h); the tree adds limits (file size, depth 64,
 * node count) and lookups with good messages. The document owns its
 * nodes and their strings; document_free() releases all at once.
 */
#ifndef PRESETS_DOCUMENT_H
#define PRESETS_DOCUMENT_H

#include "presets/node.h"

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

#endif
