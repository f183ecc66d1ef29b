/* library_parts.h - what the files of the library share. */
#ifndef PRESETS_LIBRARY_PARTS_H
#define PRESETS_LIBRARY_PARTS_H

#include "engine/plan/scenario.h"
#include "presets/error.h"

/* The name of what was read, where the file gives none: that of the file. out has
 * MAX_NAME bytes. */
void library_take_name(char *out, const char *name);
/* Serving constants of the generic stack, for stacks that only train; false with the
 * error. */
bool library_start_serving(struct scenario *scenario, struct error *error);

#endif
