/* deepspeed.h - a DeepSpeed configuration (JSON) in and out.
 *
 * Keys: deepspeed/runtime/constants.py, runtime/zero/config.py, zero/offload_config.py.
 * The file names no model: a report says which one was assumed.
 */
#ifndef PRESETS_DEEPSPEED_DEEPSPEED_H
#define PRESETS_DEEPSPEED_DEEPSPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

bool deepspeed_read(struct scenario *out, const char *file, const char *text,
		    size_t length, struct import_report *report, struct error *error);
/* JSON has no comments: what can't be said is the list "_not_representable". */
char *deepspeed_write(const struct scenario *scenario);

#endif
