/* shape.h - the network that MaxText's keys describe: base.yml and configs/models. */
#ifndef PRESETS_MAXTEXT_SHAPE_H
#define PRESETS_MAXTEXT_SHAPE_H

#include "presets/pairs/mapping.h"

extern const char *const maxtext_shape_keys[];
/* Into m->out->model: model_name's of the library, or the shape. */
bool maxtext_read_model(const struct mapped *m);

#endif
