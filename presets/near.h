/* near.h - which presets a misspelled or half-remembered name may mean. */
#ifndef SHARDSCOPE_PRESETS_NEAR_H
#define SHARDSCOPE_PRESETS_NEAR_H

#include <stddef.h>

#include "presets/shelf.h"

/* Up to three names of the kind into out, parted by ", ", nearest first; empty where
 * none is near. Words count, not their order: "h100-sxm" finds dgx-h100, whose title
 * has SXM. A wrong letter in three is forgiven. */
void preset_near(enum preset_kind kind, const char *name, char *out, size_t size);

#endif
