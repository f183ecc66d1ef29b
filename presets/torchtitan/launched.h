/* launched.h - torchtitan's settings as Primus has them, under the keys of its TOML. */
#ifndef PRESETS_TORCHTITAN_LAUNCHED_H
#define PRESETS_TORCHTITAN_LAUNCHED_H

#include "presets/import.h"
#include "presets/pairs/mapping.h"

/* As pairs_from_toml(), of an experiment file of Primus. */
bool launched_by_primus(struct pairs *out, const char *file, const char *text,
			size_t length, struct import_report *report,
			struct error *error);
/* Where the pairs are Primus' at all: the machine of the path, and what it lays over
 * the network. */
bool launched_begin(const struct mapped *m);
/* And what its kernels run in 8 bits. */
bool launched_settle(const struct mapped *m);

#endif
