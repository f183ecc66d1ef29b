/* quantisation.h - how a checkpoint's weights are stored. */
#ifndef PRESETS_HF_QUANTISATION_H
#define PRESETS_HF_QUANTISATION_H

#include <stddef.h>

#include "engine/model/model.h"
#include "presets/document.h"

/* The word of the knob `precision` for a quantization_config, or for what
 * hf_quant_config.json holds under "quantization"; NULL where it is not known. Where
 * matrices differ, that of the most is in the answer and why is filled, else emptied.
 */
const char *hf_quantised(const struct node *config, char *why, size_t size);
/* Of a file config.json: what hf_quant_config.json beside it says of its weights, where
 * the file itself says nothing. */
void hf_quantised_beside(const char *path, struct model *model);
/* Whether this is a file hf_quant_config.json, of ModelOpt. */
bool hf_is_quantisation(const struct node *root);

#endif
