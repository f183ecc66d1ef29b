/* train.h - one training step: puts the rooms together into an estimate. */
#ifndef ENGINE_TRAIN_H
#define ENGINE_TRAIN_H

#include "engine/estimate.h"
#include "engine/scenario.h"

/* Fill out for scenario. Pure, allocates nothing, at most 5 us (see make
 * bench). An illegal plan sets legal = false, its problems, the model counts
 * and the degrees that can be derived; a too large one is complete. */
void train_estimate(const struct scenario *scenario, struct estimate *out);

#endif
