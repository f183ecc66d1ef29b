/* share.h - a scenario as one line of text, to be sent, spoken of and pasted.
 *
 *   s1:llama3-70b-64-h100,tp=4,gbs=128,k7m2qx9d0v
 *
 * Behind "s1:" stands a plan of the library that ships, or - for none, then what is not
 * as there: model, cluster and stack by name, knobs by key. Where a scenario has a
 * model, machine or stack that does not ship, yaml=... holds its whole file. What was
 * assumed of it stands behind (share_note.h). The last ten signs are two checks: one of
 * the line, one of the scenario that comes out. Every sign is safe in a shell, a chat
 * and an address; others stand as %XX.
 */
#ifndef PRESETS_SHARE_H
#define PRESETS_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

enum { SHARE_MAX = 64 << 10, SHARE_NEAR = 160 };

/* The line, without an end of line, to be freed: at most SHARE_NEAR signs for a plan
 * near one that ships, at most SHARE_MAX in all. NULL with the error. Notes of what was
 * assumed go along; the report may be NULL. */
char *share_write(const struct scenario *scenario, const struct import_report *report,
		  struct error *error);
/* Whether a text is meant as one: "s", digits and a colon, blanks before it or not. */
bool share_is(const char *text);
/* The scenario of a line, blanks around it or not; out is kept on failure. Reads no
 * file, and nothing of a user's own presets. What was assumed is added to the report,
 * which may be NULL. */
bool share_read(struct scenario *out, const char *line, struct import_report *report,
		struct error *error);

#endif
