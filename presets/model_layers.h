/* model_layers.h - the layers of a model file, from its keys for all of them, one
 * letter a layer, or a list of its own; and what keys that are absent mean.
 */
#ifndef PRESETS_MODEL_LAYERS_H
#define PRESETS_MODEL_LAYERS_H

#include "engine/model/model.h"
#include "presets/document.h"
#include "presets/model_note.h"

enum { MAX_PATTERN = 2048 };

/* A model under construction: the shape, one layer's pattern, and what was said. */
struct draft {
	struct model model;
	struct layer_kind base;
	int64_t layers, dense_layers, moe_every, moe_offset;
	int64_t full_every; /* every n-th layer sees all, the others the window */
	int64_t attention_every, attention_offset;
	int ssm_kind;
	char pattern[MAX_PATTERN];
	int64_t positions;
	bool norm_said, bias_said, tied_said, position_said, activation_said;
	struct model_note note;
	char like[MAX_NAME];
};

/* Absent keys by the habits of the family: Llama's where the MLP is gated, GPT's where
 * it is not. */
void draft_habits(struct draft *d);
/* Layers by counts or by the pattern; false with FILE:LINE. */
bool draft_add_layers(const struct document *document, const struct node *map,
		      struct draft *d, struct error *error);
/* "0*3 1*58": kinds that the file lists itself, run by run; false with FILE:LINE. */
bool draft_listed_layers(const struct document *document, const struct node *node,
			 struct draft *d, struct error *error);

#endif
