/* nanotron.h - a nanotron configuration (YAML) in and out.
 *
 * Keys: nanotron/config/config.py, parallelism_config.py, models_config.py.
 */
#ifndef PRESETS_NANOTRON_NANOTRON_H
#define PRESETS_NANOTRON_NANOTRON_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

bool nanotron_read(struct scenario *out, const char *file, const char *text,
		   size_t length, struct import_report *report, struct error *error);
char *nanotron_write(const struct scenario *scenario);

#endif
