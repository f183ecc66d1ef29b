/* torus.c - rings along the axes of a torus, all axes at once, both directions. */
#include "engine/collective/unit.h"

static bool lies_along_axes(const struct call *call)
{
	return call->U > 0 && call->N <= 1;
}

/* The vector is cut in as many parts as axes; a group that lies along some of them has
 * the links of those only, of a line half. */
WORK(along_axes, .near_steps = f * H, .near_bytes = ALL_BUT_OWN * A / U,
     .sent_bytes = ALL_BUT_OWN);
/* Bound by the cut through the longest axis: p/2 senders, half of their bytes, 2 p/D
 * links; of a line half as many, for which D is twice its ranks. */
WORK(across_the_middle, .near_steps = H, .near_bytes = n * D * A / 4,
     .sent_bytes = ALL_BUT_OWN);

const struct unit unit_torus = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &along_axes,
		  [COLLECTIVE_ALL_GATHER] = &along_axes,
		  [COLLECTIVE_REDUCE_SCATTER] = &along_axes,
		  [COLLECTIVE_ALL_TO_ALL] = &across_the_middle },
	.transport = TRANSPORT_RING,
	.on_torus = true,
	.applies = lies_along_axes,
	.source = "jax-ml scaling book, \"Sharded Matrices\"; the all-to-all by the "
		  "torus's bisection",
};
