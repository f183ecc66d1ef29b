/* axes.h - axes of MaxText's mesh as degrees, on the chips that it is started on. */
#ifndef PRESETS_MAXTEXT_AXES_H
#define PRESETS_MAXTEXT_AXES_H

#include "presets/pairs/mapping.h"

/* The cluster of the chips that xpk is told of, or of the file's folder; NULL. */
const char *maxtext_chip(const struct mapped *m);
/* The knobs tp, cp, pp, ep, zero, zero_group and gpus; false with the error. */
bool maxtext_degrees(const struct mapped *m);
/* Where axes count the devices of a chip, its batch is theirs. */
int64_t maxtext_devices(const struct mapped *m);

#endif
