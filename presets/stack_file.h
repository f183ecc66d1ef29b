/* stack_file.h - a software stack as YAML: rules, habits, constants, knob defaults. */
#ifndef PRESETS_STACK_FILE_H
#define PRESETS_STACK_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/plan/scenario.h"
#include "presets/document.h"

struct stack_note {
	char title[MAX_NOTE];
	char alias[MAX_NAME]; /* another name for lists and --stack */
};

/* Sets scenario->stack and every knob that `defaults` names. Kept on failure. */
bool stack_read(const struct document *document, const struct node *map,
		struct scenario *scenario, struct stack_note *note,
		struct error *error);
/* One of its `releases`: members of the stack, and knobs, as they were before. */
bool stack_read_changes(const struct document *document, const struct node *row,
			struct scenario *scenario, struct error *error);
/* A flow mapping that stack_read takes back to an equal stack; the knobs' defaults
 * are not in it, for the scenario holds their values. */
bool stack_write(const struct stack *stack, FILE *stream);

#endif
