/* launch.h - MaxText's commands, "train.py base.yml model_name=llama3-8b steps=10". */
#ifndef PRESETS_MAXTEXT_LAUNCH_H
#define PRESETS_MAXTEXT_LAUNCH_H

#include "presets/import.h"
#include "presets/pairs/pairs.h"

/* Whether the text is a script with such a command, and no YAML. */
bool maxtext_is_script(const char *text);
/* Whether a key of MaxText's says something of a step. */
bool maxtext_knows(const char *key);
/* The command's settings, its YAML file as "config", the machine that xpk is asked for
 * as "device". Fills out, to be freed; false with FILE:LINE, and nothing is to be
 * freed.
 */
bool maxtext_pairs(struct pairs *out, const char *file, const char *text, size_t length,
		   struct import_report *report, struct error *error);

#endif
