/* model_file.h - a model as YAML, in and out.
 *
 * presets/models/README.md explains the keys. What is left out takes the habit of a
 * Llama-like model where gated_mlp is true, of a GPT-like one where it is false.
 */
#ifndef PRESETS_MODEL_FILE_H
#define PRESETS_MODEL_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/model/model.h"
#include "presets/document.h"
#include "presets/model_note.h"

/* From a mapping. note may be NULL. out is kept on failure. */
bool model_read(const struct document *document, const struct node *map,
		struct model *out, struct model_note *note, struct error *error);
/* The same with what it leaves out as this model of the library has it. */
bool model_read_like(const struct document *document, const struct node *map,
		     const char *base, struct model *out, struct error *error);
/* A flow mapping that model_read takes back to an equal model. */
bool model_write(const struct model *model, FILE *stream);

#endif
