/* import.h - what an importer understood: keys taken, assumed, not modelled.
 *
 * Every importer fills one report, and one printer shows it, so that nothing is
 * dropped in silence.
 */
#ifndef PRESETS_IMPORT_H
#define PRESETS_IMPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/model.h"
#include "presets/error.h"

enum import_kind {
	IMPORT_TAKEN,        /* read into a knob or a shape */
	IMPORT_ASSUMED,      /* absent, and this default was taken */
	IMPORT_APPROXIMATE,  /* read, but its cost is only approximate */
	IMPORT_NOT_MODELLED, /* kept for export where the format has it */
	IMPORT_KIND_COUNT
};

struct import_note {
	enum import_kind kind;
	char key[MAX_NAME];
	char text[MAX_NOTE]; /* the value, or the reason */
};

enum { MAX_IMPORT_NOTES = 256 };

struct import_report {
	int count;
	char format[16]; /* the reader's name, of format_table; empty = none */
	char kept[16];   /* the tool whose export takes back what is not modelled */
	char file[200];  /* what was read */
	int left_out;    /* notes beyond the limit: counted, and said */
	struct import_note note[MAX_IMPORT_NOTES];
};

void import_note(struct import_report *report, enum import_kind kind, const char *key,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The model of a file that names no shape: a Llama of 8 B, or one with experts for this
 * EP; the report says so. */
bool import_unstated_model(struct model *out, int64_t ep, struct import_report *report,
			   struct error *error);
int import_count(const struct import_report *report, enum import_kind kind);
/* "train.sh read as megatron: 12 keys taken, 2 assumed, 3 not modelled". */
void import_summary(const struct import_report *report, char *out, size_t size);
/* A short table, one line a kind with its keys, each line behind prefix. */
void import_print(const struct import_report *report, FILE *stream, const char *prefix);

#endif
