/* bound.h - what no plan with these degrees can go below; for the planner. */
#ifndef ENGINE_TRAIN_BOUND_H
#define ENGINE_TRAIN_BOUND_H

#include "engine/scenario.h"

/* Of the whole model on one rank of each stage together, without recomputation. */
struct train_bound {
	double micro_batch_seconds; /* one micro-batch, with exposed communication that
				       its layers always have */
	double dense, expert;       /* weights, elements */
	double dense_trainable, expert_trainable;
	double framework_bytes;
	/* of the cheapest layer, and of the embedding and the head */
	double layer_seconds, layer_saved_bytes, embedding_seconds, head_seconds;
	double ends_dense; /* elements of embedding, head and MTP */
};

/* Depends on TP, SP, CP, EP, ETP, micro-batch, sequence and kernels alone. */
void train_bound(const struct scenario *scenario, struct train_bound *out);
/* Least seconds of a step with this plan's stages, chunks, schedule and split:
 * - any order: the mean stage works through all micro-batches, m C / p;
 * - 1F1B and GPipe: stage s starts behind the forwards and ends before the backwards of
 *   those before it, so the best split gives C / (1 - (1 - 1/m)^p);
 * - where every stage has the same layers: the last one starts behind the first chunks
 *   of the others, ((p - 1)/v + m) L/p layers and m heads. */
double train_bound_step(const struct train_bound *bound,
			const struct scenario *scenario);
/* Least bytes of the fullest stage: the mean stage's states, and where every stage has
 * the same layers of one kind, without recomputation, what the first one keeps. */
double train_bound_bytes(const struct train_bound *bound,
			 const struct scenario *scenario);

#endif
