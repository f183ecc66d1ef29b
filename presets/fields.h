/* fields.h - a table between YAML keys and struct members, read and written by one
 * piece of code for models, clusters and stacks.
 *
 * Keys of nested mappings are dotted: "peak_tflops.bf16". Any mapping may hold
 * `source`, `title` or `note`, which say where numbers come from.
 */
#ifndef PRESETS_FIELDS_H
#define PRESETS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "presets/document.h"

enum field_type {
	FIELD_COUNT,  /* int64_t, not negative */
	FIELD_NUMBER, /* double; stored = written * scale */
	FIELD_BOOL,
	FIELD_WORD, /* int: index in words */
	FIELD_TEXT  /* char[size] */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset, size;
	double scale; /* FIELD_NUMBER; 0 = 1 */
	const char *const *words;
};

/* One member as YAML text, without its key. */
void field_print(const struct field *field, const void *base, FILE *stream);
/* Whether the member is zero, false or empty. */
bool field_zero(const struct field *field, const void *base);
/* All members that aren't zero, as the inside of a YAML flow mapping; dotted keys nest.
 * Keys of one mapping stand side by side in the table. False if there was none. */
bool fields_write(const struct field *fields, int count, const void *base,
		  FILE *stream);
/* Read a mapping; keys may be nested up to four deep. `other` is asked for keys that
 * the table lacks: it returns true if it took them, or false with *failed set when
 * something was wrong; it may be NULL. */
bool fields_read(const struct document *document, const struct node *map,
		 const struct field *fields, int count, void *base,
		 bool (*other)(const struct document *, const struct node *,
			       const char *, void *, bool *, struct error *),
		 struct error *error);

#endif
