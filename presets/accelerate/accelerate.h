/* accelerate.h - a configuration of Hugging Face accelerate (YAML) in, of FSDP,
 * DeepSpeed or Megatron-LM, and of FSDP out.
 *
 * Keys: accelerate/commands/launch.py, utils/dataclasses.py. The file names no model
 * and no batch: a report says what was assumed.
 */
#ifndef PRESETS_ACCELERATE_ACCELERATE_H
#define PRESETS_ACCELERATE_ACCELERATE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

bool accelerate_read(struct scenario *out, const char *file, const char *text,
		     size_t length, struct import_report *report, struct error *error);
char *accelerate_write(const struct scenario *scenario);

#endif
