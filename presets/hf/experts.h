/* experts.h - the experts of a config.json: how many, how wide, which see a token. */
#ifndef PRESETS_HF_EXPERTS_H
#define PRESETS_HF_EXPERTS_H

#include "presets/hf/reader.h"

/* Into model->moe; ffn: the width of the MLP, which is that of experts in some
 * families. A family that is a mixture by its name needs the number of them. */
void hf_read_experts(struct hf_reader *reader, struct model *model, int64_t ffn);

#endif
