/* shape.h - nanotron's model.model_config, in and out. */
#ifndef PRESETS_NANOTRON_SHAPE_H
#define PRESETS_NANOTRON_SHAPE_H

#include "presets/pairs/mapping.h"

/* The model of m->out; the caller's where the file has no shape. */
bool nanotron_read_model(const struct mapped *m);
void nanotron_write_model(struct entries *e, const struct model *model,
			  struct export_out *out);
/* Keys that these understand; ends with NULL. */
extern const char *const nanotron_shape_keys[];

#endif
