/* family.h - what config.json leaves to the class: one row per model_type. */
#ifndef PRESETS_HF_FAMILY_H
#define PRESETS_HF_FAMILY_H

#include <stdbool.h>

#include "engine/model/model.h"

enum {
	FAMILY_TIED = 1 << 0,
	FAMILY_LAYER_NORM = 1 << 1,
	FAMILY_NORM_NO_BIAS = 1 << 2,
	FAMILY_NOT_GATED = 1 << 3,
	FAMILY_QKV_BIAS = 1 << 4,
	FAMILY_OUTPUT_BIAS = 1 << 5,
	FAMILY_MLP_BIAS = 1 << 6,
	FAMILY_QK_NORM = 1 << 7,
	FAMILY_PARALLEL = 1 << 8,    /* attention and MLP side by side */
	FAMILY_SHARED_NORM = 1 << 9, /* behind one norm */
	FAMILY_POST_NORMS = 1 << 10,
	FAMILY_SINKS = 1 << 11,
	FAMILY_EXPERT_BIAS = 1 << 12,
	FAMILY_EMBEDDING_NORM = 1 << 13,
	FAMILY_SHARED_GATE = 1 << 14,
	FAMILY_EXPERT_FFN = 1 << 15, /* intermediate_size is an expert's width */
	FAMILY_OUTPUT_GATE = 1 << 16,
	FAMILY_MULTI_QUERY = 1 << 17,         /* one KV head unless said otherwise */
	FAMILY_WINDOW_NEEDS_SWITCH = 1 << 18, /* use_sliding_window */
	FAMILY_HALF_FFN = 1 << 19, /* intermediate_size is gate and up together */
	FAMILY_ENCODER = 1 << 20,  /* attention looks both ways */
	FAMILY_BIAS = FAMILY_QKV_BIAS | FAMILY_OUTPUT_BIAS | FAMILY_MLP_BIAS
};

/* What a class assumes where the text part of a multimodal config.json is silent. */
struct family_usual {
	const char *model_type;
	int64_t hidden, layers, heads, kv_heads, head_dim, ffn, vocab;
};

struct family {
	const char *model_type;
	unsigned traits;
	enum position_kind position;
	enum activation activation; /* where hidden_act is absent */
};

/* NULL if the family is not known. Text parts ("qwen3_vl_text") answer too. */
const struct family *family_find(const char *model_type);
/* All zero if nothing is known. */
struct family_usual family_usual_of(const struct family *family);

#endif
