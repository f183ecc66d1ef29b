/* rows.h - the table between torchtitan's keys and knobs, for both directions. */
#ifndef PRESETS_TORCHTITAN_ROWS_H
#define PRESETS_TORCHTITAN_ROWS_H

#include "presets/pairs/mapping.h"

extern const struct mapping torchtitan_rows[];
/* Keys that need more than one row; ends with NULL. */
extern const char *const torchtitan_others[];
/* Whether torchtitan has keys for this knob. */
bool torchtitan_has(const char *knob);
/* Everything of a scenario under the keys of the TOML; where not `all`, without what
 * torchtitan has anyhow. */
void torchtitan_add(struct entries *entries, const struct scenario *scenario, bool all,
		    struct export_out *out);

/* Its models and ours of the same shape; ends with a row of model NULL. */
struct flavor {
	const char *name, *flavor, *model;
	bool registered; /* with a function in config_registry.py, as of b5bcd76c */
};
extern const struct flavor torchtitan_flavors[];

#endif
