/* hf_model.h - a Hugging Face config.json as a model.
 *
 * Keys and traps: transformers' configuration classes, and the conversion table
 * of Megatron-Bridge (model_bridge.py, CONFIG_MAPPING). What can't be modelled
 * exactly still loads, and model.approximate says why.
 */
#ifndef PRESETS_HF_MODEL_H
#define PRESETS_HF_MODEL_H

#include <stdbool.h>

#include "engine/model/model.h"
#include "presets/document.h"
#include "presets/import.h"

/* Whether this mapping looks like a config.json (it names a model_type or
 * architectures) rather than one of our own model files. */
bool hf_model_recognised(const struct node *root);
/* Fill out, or say what is wrong at FILE:LINE and leave it. */
bool hf_model_read(const struct document *document, struct model *out,
		   struct import_report *report, struct error *error);

#endif
