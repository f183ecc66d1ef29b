/* preset.h - a preset by what somebody calls it: its name, another name of it, a
 * Hugging Face id, or the path of a file.
 */
#ifndef PRESETS_PRESET_H
#define PRESETS_PRESET_H

#include "presets/shelf.h"

/* By name or Hugging Face id; a model also by the id of a checkpoint tuned or quantised
 * from it. NULL: there is none. */
const struct preset *preset_find(enum preset_kind kind, const char *name);
/* YAML text of a preset, to be freed by the caller; NULL with error filled. */
char *preset_text(enum preset_kind kind, const char *name, struct error *error);
/* Open a preset by name, or a file by path, as a document. An unknown name is
 * answered with the nearest ones. */
bool preset_open(enum preset_kind kind, const char *name, struct document *document,
		 struct error *error);

#endif
