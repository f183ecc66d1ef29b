/* layers.h - the layer pattern of a config.json: which mixer, which MLP. */
#ifndef PRESETS_HF_LAYERS_H
#define PRESETS_HF_LAYERS_H

#include "presets/hf/reader.h"

/* Append all layers to model, whose shapes (moe, ssm, hidden) are read already.
 * `base` holds the attention and dense width shared by all. */
void hf_read_layers(struct hf_reader *reader, struct model *model,
		    const struct layer_kind *base, int64_t layers);
/* Whether some have lightning attention: 0 in MiniMax's list, or "linear_attention";
 * all but the last of Ling's groups. */
bool hf_has_lightning(struct hf_reader *reader);
/* How many layers the file's list or string of them has; 0 = it has none. */
int64_t hf_layer_list(struct hf_reader *reader);

#endif
