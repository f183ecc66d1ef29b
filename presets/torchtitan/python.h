/* python.h - torchtitan's configuration in Python, or as words of a command. */
#ifndef PRESETS_TORCHTITAN_PYTHON_H
#define PRESETS_TORCHTITAN_PYTHON_H

#include "presets/pairs/pairs.h"
#include "presets/torchtitan/rows.h"

/* Whether a text is that, and no TOML. */
bool torchtitan_is_python(const char *text);
/* As pairs_from_toml(), with the keys of the TOML, of the function that is called so;
 * NULL is the only one. */
bool pairs_from_python(struct pairs *out, const char *file, const char *text,
		       size_t length, const char *function, struct error *error);

#endif
