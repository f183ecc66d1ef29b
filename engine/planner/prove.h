/* prove.h - why no plan of one node beats the answer; only engine/planner/ includes
 * it. */
#ifndef ENGINE_PLANNER_PROVE_H
#define ENGINE_PLANNER_PROVE_H

#include "engine/planner/search.h"

struct prover;

/* Works on this searcher's trial; freed by free(). NULL without memory. */
struct prover *prover_start(struct planner *planner, double answer);
/* The least score of the plans of the node that the trial has, by the first bound of
 * each that is above the answer (`plans` in certify.h); INFINITY where none fits.
 * relaxed: the node's bound, of training. */
double prove_node(struct prover *prover, const struct train_bound *relaxed);

#endif
