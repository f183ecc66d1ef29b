/* split_balance.h - the balanced partitions; only split*.c include it. */
#ifndef ENGINE_PLAN_SPLIT_BALANCE_H
#define ENGINE_PLAN_SPLIT_BALANCE_H

#include "engine/plan/split.h"

/* Fill first[] so that the slowest pipeline stage is as fast as possible; weights
 * as in split_layers(). False if a stage in the middle would stay empty. */
bool split_balance(const struct scenario *scenario, const double *weights,
		   struct split *out);
/* Likewise so that the fullest stage holds as little as possible. */
bool split_memory(const struct scenario *scenario, const double *weights,
		  const struct split_cost *cost, struct split *out);

#endif
