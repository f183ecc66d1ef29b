/* megatron.h - Megatron-LM arguments to a scenario and back.
 *
 * Flags and defaults: NVIDIA/Megatron-LM, megatron/training/arguments.py and the
 * dataclasses it is generated from. Unknown flags are listed in the report.
 */
#ifndef PRESETS_MEGATRON_MEGATRON_H
#define PRESETS_MEGATRON_MEGATRON_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"
#include "presets/error.h"
#include "presets/import.h"

/* A command line, a script, MODEL_ARGS in YAML or the arguments that Megatron prints,
 * on dgx-h100 with the megatron-core stack. False with FILE:LINE, *out unchanged. */
bool megatron_read(struct scenario *out, const char *file, const char *text,
		   size_t length, struct import_report *report, struct error *error);
/* "name=value name=value", Megatron's own print of a run's arguments on one line, laid
 * over a scenario whose shape, degrees and batch stand: they turn what they name, and a
 * knob that has a flag and is not named is as Megatron has it, but for the degrees.
 * Cluster and stack stay. Errors name this file and line. */
bool megatron_amend(struct scenario *out, const char *file, int line, const char *text,
		    struct import_report *report, struct error *error);
/* A torchrun command with all flags that differ from Megatron's defaults, comments on
 * what Megatron has no flag for above it. To be freed; NULL: out of memory. */
char *megatron_write(const struct scenario *scenario);
/* The same with those flags of the file it was read from that nothing here models, as
 * the report has them; kept may be NULL or of another format. */
char *megatron_write_kept(const struct scenario *scenario,
			  const struct import_report *kept);
/* The same as overrides of a Megatron-Bridge configuration, in Python. */
char *bridge_write(const struct scenario *scenario);

#endif
