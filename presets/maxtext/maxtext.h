/* maxtext.h - MaxText's YAML, in: a configuration, or the file of a model alone. */
#ifndef PRESETS_MAXTEXT_MAXTEXT_H
#define PRESETS_MAXTEXT_MAXTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

/* False with FILE:LINE, *out unchanged. */
bool maxtext_read(struct scenario *out, const char *file, const char *text,
		  size_t length, struct import_report *report, struct error *error);

#endif
