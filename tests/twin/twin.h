/* twin.h - the counts of a training step a second time, by brute force: every rank,
 * every layer, every tensor row by row, every token, every message of every collective.
 * Nothing is closed and nothing is shared with engine/ but its structs: architectures
 * are written down from their papers, parallelism from what each rank holds and sends.
 *
 * It covers: attention with shared keys and values, MLA, windows, sparse and compressed
 * attention with its indexer, outputs in two steps, borrowed keys, Mamba 1 and 2, alone
 * or beside attention, dense MLPs and experts under EP and ETP, latent ones too,
 * layers' own inputs, parallel blocks, tied tables, MTP; TP with and without SP, PP
 * with even stages of one chunk, CP of three kinds, ZeRO 0 to 3; 16- and 32-bit
 * training.
 */
#ifndef TESTS_TWIN_H
#define TESTS_TWIN_H

#include "engine/plan/dimension.h"
#include "engine/plan/scenario.h"

/* Where one rank stands, tp innermost, then cp, dp, pp; for experts etp, ep, edp. */
struct twin_rank {
	int64_t tp, pp, etp, ep;
};

/* Elements that a rank holds on its stage. */
struct twin_weights {
	double dense, expert;
};

/* Bytes that a rank sends in a step, by dimension. */
struct twin_sent {
	double bytes[DIM_COUNT];
};

/* All weights of the model once, MTP apart, with the vocabulary as it is. */
double twin_parameters(const struct model *model);
/* FLOPs of a token, forward and backward, the mean over a sequence: each token with all
 * that it sees, itself by half. */
double twin_flops(const struct model *model, int64_t seq);
struct twin_rank twin_rank(const struct scenario *scenario, int64_t rank);
void twin_weights(const struct scenario *scenario, struct twin_rank rank,
		  struct twin_weights *out);
/* The sum over all ranks. */
void twin_traffic(const struct scenario *scenario, struct twin_sent *out);

#endif
