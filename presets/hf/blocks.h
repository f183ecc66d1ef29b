/* blocks.h - layers that a config.json writes one by one, or as several in one. */
#ifndef PRESETS_HF_BLOCKS_H
#define PRESETS_HF_BLOCKS_H

#include "presets/hf/reader.h"

/* Which key says how many layers there are, the surest first. */
const char *hf_layer_keys(const struct hf_reader *reader);
/* Whether this file has such; then hf_read_blocks() appends all layers. */
bool hf_has_blocks(struct hf_reader *reader);
void hf_read_blocks(struct hf_reader *reader, struct model *model,
		    const struct layer_kind *base, int64_t layers);

#endif
