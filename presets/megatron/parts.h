/* parts.h - what the files of this room share. */
#ifndef PRESETS_MEGATRON_PARTS_H
#define PRESETS_MEGATRON_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/scenario.h"
#include "presets/import.h"
#include "presets/megatron/arguments.h"

/* The network alone. */
bool megatron_model(const struct arguments *arguments, struct model *out,
		    struct import_report *report, struct error *error);
/* Whether the reader above understands this flag. */
bool megatron_model_flag(const char *name);
/* Everything that a knob turns; out has model, cluster and stack already. */
bool megatron_plan(const struct arguments *arguments, struct scenario *out,
		   struct import_report *report, struct error *error);
/* Whether the reader above understands this flag beside those of flags.h. */
bool megatron_plan_flag(const char *name);

/* One flag of an export; value "" for a switch. */
typedef void megatron_put(void *context, const char *flag, const char *value);
/* Every flag of the model; what has none is noted in report as not modelled. */
void megatron_model_flags(const struct model *model, megatron_put *put, void *context,
			  struct import_report *report);
/* Every flag of the plan, in the same way. */
void megatron_plan_flags(const struct scenario *scenario, megatron_put *put,
			 void *context, struct import_report *report);

#endif
