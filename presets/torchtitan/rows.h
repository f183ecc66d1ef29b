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
/* Others that are read and not written: families of the form in Python alone, by what
 * their functions begin with, and networks to try code with. The same end. */
extern const struct flavor torchtitan_more[];
/* The model of a flavor in either table. Of a function's name the flavor may have words
 * behind it, "8b_mxfp8" (`open`). NULL where there is none. */
const struct flavor *torchtitan_flavor(const char *name, const char *flavor, bool open);
/* The family that a function or a path names, of either table, the longest; NULL. */
const char *torchtitan_family(const char *text, const char **behind);

#endif
