/* import.h - what an importer understood: keys taken, assumed, not modelled.
 *
 * Every importer fills one report, and one printer shows it, so that nothing is
 * dropped in silence.
 */
#ifndef PRESETS_IMPORT_H
#define PRESETS_IMPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/model/model.h"
#include "engine/start/start.h"
#include "presets/error.h"
#include "presets/script/given.h"
#include "presets/shelf.h"

enum import_kind {
	IMPORT_TAKEN,        /* read into a knob or a shape */
	IMPORT_ASSUMED,      /* absent, and this default was taken */
	IMPORT_APPROXIMATE,  /* read, but its cost is only approximate */
	IMPORT_NOT_MODELLED, /* kept for export where the format has it */
	IMPORT_SKIPPED,      /* in a part of the file that is not read; not kept */
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
	int counted[IMPORT_KIND_COUNT]; /* of each kind, those beyond the limit too */
	/* What the caller takes for the model, whatever the file says: a name or a
	 * file, filled before reading; empty = the file's own. */
	char model[512];
	/* What the caller says of a script's surroundings, filled before reading too;
	 * NULL: nothing. */
	const struct script_given *given;
	char subject[120]; /* the model that a recipe is of, beside its commands */
	char format[16];   /* the reader's name, of format_table; empty = none */
	char kept[16];     /* the tool whose export takes back what is not modelled */
	char file[200];    /* what was read */
	bool nameless;     /* refused, for it names no model */
	int left_out;      /* notes beyond the limit: counted, and said */
	struct import_note note[MAX_IMPORT_NOTES];
};

void import_note(struct import_report *report, enum import_kind kind, const char *key,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What a file says of its model where it gives no shape. */
struct import_name {
	const char *file; /* where it says so, for errors */
	int line;
	const char *name;           /* "" where it names none */
	const struct preset *found; /* what the reader knows it to mean, or NULL */
};

/* The library's model of that name, or the caller's own (report->model). There is no
 * other: a name that the library lacks is refused with the nearest that it has, and so
 * is a file that names none. */
bool import_model(struct model *out, const struct import_name *named,
		  struct import_report *report, struct error *error);
/* Whether a scenario made of it has something to remember: flags, or assumptions. */
bool import_is_kept(const struct import_report *report);
/* What was assumed for this key is no longer: somebody has said it. */
void import_settle(struct import_report *report, const char *key);
/* What was assumed of cluster, stack and knobs, as a start tells its choices, and what
 * is of neither as its others. Returns how many those are. */
int import_start(const struct import_report *report, struct start *start);
int import_count(const struct import_report *report, enum import_kind kind);
/* "train.sh read as megatron: 12 keys taken, 2 assumed, 3 not modelled". */
void import_summary(const struct import_report *report, char *out, size_t size);
/* A short table, one line a kind with its keys, each line behind prefix. */
void import_print(const struct import_report *report, FILE *stream, const char *prefix);

#endif
