/* export.h - what the writers of other tools' files share: a text with a head of
 * comments, in which all that the target can't say stands.
 */
#ifndef PRESETS_EXPORT_H
#define PRESETS_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/plan/scenario.h"
#include "presets/import.h"

struct export_out {
	FILE *body;
	char *text; /* of body, once it is closed */
	size_t size;
	bool failed;                 /* memory ran out: there will be no text */
	struct import_report unsaid; /* notes of IMPORT_NOT_MODELLED */
};

/* NULL: out of memory. */
struct export_out *export_begin(void);
/* A knob or key that the target has no word for, with its value or a reason. */
void export_unsaid(struct export_out *out, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* All knobs of the plan that matter, are not as this stack has them anyhow, and that
 * the target does not have. */
void export_unsaid_knobs(struct export_out *out, const struct scenario *scenario,
			 const char *stack, bool (*has)(const char *knob));
/* Title and notes as comments, each line behind prefix, then the body. Frees out; the
 * text is the caller's. NULL: out of memory. */
char *export_end(struct export_out *out, const char *first_line, const char *prefix,
		 const char *title);
/* The same with body alone, for a target without comments. */
char *export_end_bare(struct export_out *out);
/* "70.6 B llama3-70b on 64 x H100": what a head says of the scenario. */
void export_subject(const struct scenario *scenario, char *text, size_t size);

#endif
