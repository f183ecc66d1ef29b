/* split_layout.h - Megatron's layout string, parsed; only split_*.c include it. */
#ifndef ENGINE_PLAN_SPLIT_LAYOUT_H
#define ENGINE_PLAN_SPLIT_LAYOUT_H

#include "engine/plan/split.h"

struct layout {
	int stages;                  /* virtual */
	int total, mtp_layers;       /* layers (t), MTP layers (m) */
	int fault;                   /* the character that can't be read, from 1 */
	int16_t layers[MAX_VIRTUAL]; /* t of each virtual stage */
	int16_t embedding_stage, head_stage, mtp_stage; /* mtp_stage -1 = none */
};

/* False with the reason in why (size bytes). One E that stands first, one L that
 * stands last, all m on one stage behind the last t. */
bool layout_parse(const char *text, struct layout *out, char *why, int size);

#endif
