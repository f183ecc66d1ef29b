/* train.h - one training step: puts the rooms together into an estimate. */
#ifndef ENGINE_TRAIN_H
#define ENGINE_TRAIN_H

#include "engine/estimate/estimate.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/scenario.h"

/* Fill out for scenario. Pure, allocates nothing; some microseconds where the schedule
 * has a shortcut, some tens to a hundred more where it is simulated (make bench has
 * both). An illegal plan sets legal = false, its problems, the model counts
 * and the degrees that can be derived; a too large one is complete. */
void train_estimate(const struct scenario *scenario, struct estimate *out);
/* The same without what would mend its problems and without the list of traffic, for
 * who looks at many plans. */
void train_figures(const struct scenario *scenario, struct estimate *out);

/* Model FLOPs of a token, forward and backward, of a scenario whose layers are marked
 * (scenario_marked()); and, of them left out, the gradients that frozen layers have
 * not. */
double train_flops_per_token(const struct scenario *scenario,
			     const struct model_counts *counts, bool full_square);
double train_spared_flops(const struct scenario *scenario, bool full_square);

/* Megatron's layout string of the split that the estimate takes ("Et*2|(t*3|)*6,t*2L");
 * false (and an empty string) if the plan is illegal or size too small. scratch is
 * overwritten. */
bool train_layout(const struct scenario *scenario, struct estimate *scratch, char *out,
		  int size);

/* Host memory for what a rank of the stage has there. */
double train_host_bytes(const struct stage_memory *held);

/* What an estimate of training remarks beside the legality rules; NULL beyond the
 * last. */
const struct rule *train_note(int index);

/* The operators of a part of the model on one rank, each with what recomputation leaves
 * of it; parts are the kinds of layers, the embedding, the head. The scenario is legal.
 */
struct graph;
void train_graph(const struct scenario *scenario, int part, struct graph *out);

/* What the stages of a step run, per virtual stage in model order. */
struct train_chunks {
	struct pipeline_input input;    /* seconds of one micro-batch, before scaling */
	double pipeline_seconds;        /* what pipeline_step() made of it */
	double held_bytes[MAX_VIRTUAL]; /* activations that a micro-batch holds */
	double recompute[MAX_VIRTUAL];  /* seconds of the backward */
	char layout[MAX_LAYOUT];        /* of the split, "" if it is too long */
};

/* train_estimate(), and the times that its pipeline phase was made of. False if the
 * plan is illegal; chunks are then not written. */
bool train_chunks(const struct scenario *scenario, struct estimate *out,
		  struct train_chunks *chunks);

#endif
