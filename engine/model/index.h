/* index.h - an indexer, which picks the entries that a query attends to: attention of
 * every kind may have one (DeepSeek-V3.2-Exp, section 1). */
#ifndef ENGINE_MODEL_INDEX_H
#define ENGINE_MODEL_INDEX_H

#include "engine/model/shape.h"

/* Its projections and scores, whole on every TP rank (Megatron Core,
 * experimental_attention_variant/dsa.py: linear_wq_b and linear_wk are duplicated);
 * nothing where a layer has none. */
void index_draw(const struct model *model, const struct attention *attention,
		const struct share *share, struct shapes *out);
/* Appends its parameters to a formula in the symbols h, q, m, I and w. */
void index_say(const struct attention *attention, char *out, int size);

#endif
