/* least.h - the least that plans take of which only some knobs are chosen: those of one
 * role after the other (relax.h). First what costs a micro-batch and how many there
 * are, then the pipeline's shape, then how it is recomputed, then the states: each
 * choice makes the least larger, up to the plan's own floor.
 *
 * The scenario stands in the trial. Each call is for the choice of the role before it:
 * of what was chosen before, nothing may have changed since.
 */
#ifndef ENGINE_TRAIN_LEAST_H
#define ENGINE_TRAIN_LEAST_H

#include "engine/train/relax.h"

/* What a micro-batch costs with one way to recompute. */
struct train_mode {
	int recompute;
	int64_t layers;
	uint64_t modules;
	double offload;
	struct train_bound bound;
	struct layer_cost part[MAX_PARTS];
};

enum { KEPT_MODES = 64 };

struct train_least {
	struct trial *trial;
	struct train_set set[TRAIN_ROLES + 1]; /* what is free from this role on */
	struct train_bound outer;              /* of the relaxed plan */
	/* of the node: how many were costed, the last of them, the one at work */
	int modes;
	struct train_mode kept[KEPT_MODES], *mode;
	bool drawn, dealt; /* the node's graphs are, the stages at work are */
};

/* Nothing is free. */
void train_least_begin(struct train_least *least, struct trial *trial);
/* This knob takes any of these values, which are borrowed. */
void train_least_free(struct train_least *least, const char *key, const double *value,
		      int count);
/* What costs a micro-batch was chosen anew. */
void train_least_cost(struct train_least *least);
/* A node is begun: that, or how many micro-batches or stages there are, was. */
void train_least_node(struct train_least *least);
/* Seconds of a step that no plan goes below; free from this role on: DECIDES_SHAPE, a
 * node itself, and beyond, TRAIN_ROLES where all is chosen. */
double train_least_seconds(struct train_least *least, enum train_role role);
/* And bytes, once its seconds are known. */
double train_least_bytes(struct train_least *least, enum train_role role);
/* Seconds of a chosen plan whose stages are dealt out, without ZeRO's traffic in each
 * micro-batch; infinite if they can't be. */
double train_least_dealt(struct train_least *least);

#endif
