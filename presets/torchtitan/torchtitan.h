/* torchtitan.h - a torchtitan configuration in (TOML up to v0.2.2, later Python or
 * flags) and out (TOML, or settings in Python).
 *
 * Keys: torchtitan/config/job_config.py, later configs.py.
 */
#ifndef PRESETS_TORCHTITAN_TORCHTITAN_H
#define PRESETS_TORCHTITAN_TORCHTITAN_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

bool torchtitan_read(struct scenario *out, const char *file, const char *text,
		     size_t length, struct import_report *report, struct error *error);
char *torchtitan_write(const struct scenario *scenario);
char *torchtitan_write_python(const struct scenario *scenario);

#endif
