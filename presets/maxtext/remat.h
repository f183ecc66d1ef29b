/* remat.h - the knobs of MaxText's remat_policy. */
#ifndef PRESETS_MAXTEXT_REMAT_H
#define PRESETS_MAXTEXT_REMAT_H

#include "presets/pairs/mapping.h"

/* False with the error filled. */
bool maxtext_read_remat(const struct mapped *m);

#endif
