/* share_note.h - what was assumed of a scenario, as fields of its shared line:
 * assumed=cluster+gpus,other=vocab-size%2051200: the keys of what the line sets itself,
 * and what is of no key, in words.
 */
#ifndef PRESETS_SHARE_NOTE_H
#define PRESETS_SHARE_NOTE_H

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

/* The fields, each behind a comma; "" without any, and of a report that is NULL. To be
 * freed; NULL: out of memory. */
char *share_note_write(const struct import_report *report);
/* Whether a field is one of these, by its key. */
bool share_note_is(const char *key, size_t length);
/* A note for each that its value, in plain signs again, says; report may be NULL. False
 * with the error: it names what this shardscope has not. */
bool share_note_read(const char *key, char *value, struct import_report *report,
		     struct error *error);

/* Gives the notes of keys the values that they have there. */
void share_note_fill(struct import_report *report, const struct scenario *scenario);

#endif
