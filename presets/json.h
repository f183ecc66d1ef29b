/* json.h - JSON (RFC 8259) as a document, with the place of every value.
 *
 * cJSON, which writes ours, keeps neither lines nor columns and refuses the NaN and
 * Infinity that Python writes and published configurations have; libyaml takes what is
 * no JSON, and refuses keys beyond 1024 bytes and pairs of surrogates. Numbers stay the
 * text that they are: node_number() gives their value, and refuses what is not finite.
 */
#ifndef PRESETS_JSON_H
#define PRESETS_JSON_H

#include "presets/tree.h"

/* Whether it begins as JSON does: a brace, and a quoted key or nothing in it. */
bool json_looks_like(const char *text, size_t length);
/* `loose` passes over comments and a comma behind the last member, as hjson does. False
 * with the error, which says the place and what would be right. */
bool json_read(struct tree *tree, const char *text, size_t length, bool loose);

#endif
