/* split.h - which layers go to which stage and chunk? */
#ifndef ENGINE_SPLIT_H
#define ENGINE_SPLIT_H

#include "engine/scenario.h"

/* Layers first[k] to first[k + 1] - 1 of the model run on virtual stage
 * k = chunk * pp + stage. MTP layers and the head are on the last one, the
 * embedding on the first (unless a layout says otherwise). */
struct split {
	int virtual_stages;
	int16_t first[MAX_VIRTUAL + 1];
	int16_t mtp_stage, head_stage, embedding_stage;            /* virtual */
	int16_t virtual_kind_layers[MAX_VIRTUAL][MAX_LAYER_KINDS]; /* counts */
};

/* False if the layers can't be split like that (the rules say why). weights is
 * the relative work of a layer of each kind, then embedding, head and MTP; it
 * steers SPLIT_BALANCED, and may be NULL for 1 per layer. */
bool split_layers(const struct scenario *scenario, const double *weights,
		  struct split *out);
/* Megatron's layout string ("Et*2|(t*2|)*34,t*3|t*2L"): stages, and layers per
 * stage in counts (room for MAX_VIRTUAL). -1 with the reason in why. */
int split_parse_layout(const char *layout, int16_t *counts, char *why, int size);
/* The layout string of a split. */
void split_layout(const struct scenario *scenario, const struct split *split, char *out,
		  int size);

#endif
