/* json.h - whether a text is JSON (RFC 8259), before libyaml reads it as a document.
 *
 * cJSON says so, as it keeps no places of values; libyaml, which does, takes much that
 * is no JSON. The NaN and Infinity that Python writes, and published configurations
 * have, are passed over. What is JSON and still refused, as libyaml doesn't read it:
 * keys of more than 1024 bytes, a colon in another line than its key, pairs of
 * surrogates, and the characters U+007F to U+009F but for U+0085 unless they are
 * written as \u. What cJSON takes beyond JSON is read too: 010 and 5. as numbers.
 */
#ifndef PRESETS_JSON_H
#define PRESETS_JSON_H

#include "presets/tree.h"

/* Whether it begins as JSON does: a brace, and a quoted key or nothing in it. */
bool json_looks_like(const char *text, size_t length);
/* The text for libyaml, as long and with the same lines, to be freed; NULL with the
 * error, which says the place and what would be right. `loose` leaves the decision to
 * libyaml, and takes the comments of hjson (#, //, slash and star) out. */
char *json_check(struct tree *tree, const char *text, size_t length, bool loose);

#endif
