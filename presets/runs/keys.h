/* keys.h - keys of a measured run that are no knobs, or speak a source's own words. */
#ifndef PRESETS_RUNS_KEYS_H
#define PRESETS_RUNS_KEYS_H

#include "engine/plan/scenario.h"
#include "presets/document.h"
#include "presets/runs/runs.h"

/* Takes the key if it is one of those. False with *mine set and error filled when its
 * value is wrong; false with *mine clear when the key is not known here. */
bool run_key_read(struct measured_run *run, const struct document *document,
		  const struct node *node, bool *mine, struct error *error);
/* Lays megatron_args over what the other keys of the run (map) have set; those come
 * once more behind it, for they are the source's own. shape as below. False with error
 * filled if a flag has no such value. */
bool run_amend(struct measured_run *run, const struct document *document,
	       const struct node *map, const struct node *shape, struct error *error);
/* What follows from the keys that were there and from those that were not; shape is the
 * model's mapping in the same file, or NULL. */
void run_settle(struct measured_run *run, const struct node *map,
		const struct node *shape);

#endif
