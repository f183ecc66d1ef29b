/* markdown.h - the commands that a recipe in Markdown shows. */
#ifndef PRESETS_MARKDOWN_H
#define PRESETS_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a text has blocks of code between lines of ```. */
bool markdown_looks_like(const char *text, size_t length);
/* The checkpoint that a recipe is of by its key model_id, before its commands; "" where
 * it has none. */
void markdown_subject(const char *text, size_t length, char *out, size_t size);
/* Leaves of the text the blocks alone, in the lines that they have; those of a shell,
 * or where there are none, all. Manifests of Kubernetes, where no block of a shell
 * `starts` anything: each a document behind "---". In place. */
void markdown_keep_code(char *text, size_t length,
			bool (*starts)(const char *text, size_t length));

#endif
