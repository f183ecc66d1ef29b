/* hierarchical.c - inside each domain, then across on as many rails as a domain has
 * members, and inside again. */
#include "engine/collective/unit.h"

static bool has_rails(const struct call *call)
{
	return call->N > 1 && call->g > 1;
}

#define INSIDE (f * (g - 1) / g * n)
#define ACROSS (f * (N - 1) / N * n / g)

WORK(rings_across, .near_steps = f * (g - 1), .far_steps = f * (N - 1),
     .near_bytes = INSIDE, .far_bytes = ACROSS);
/* A token's bytes move to the member of the domain that has the receiver's place, and
 * then along its rail. */
WORK(exchange_by_rail, .near_steps = g - 1, .far_steps = N - 1, .near_bytes = INSIDE,
     .far_bytes = r);

const struct unit unit_hierarchical = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &rings_across,
		  [COLLECTIVE_ALL_GATHER] = &rings_across,
		  [COLLECTIVE_REDUCE_SCATTER] = &rings_across,
		  [COLLECTIVE_ALL_TO_ALL] = &exchange_by_rail },
	.transport = TRANSPORT_RING,
	.in_turn = true,
	.applies = has_rails,
	.source = "Horovod, HOROVOD_HIERARCHICAL_ALLREDUCE; NCCL src/ce_coll.cc "
		  "(all-to-all)",
};

static bool halves_across(const struct call *call)
{
	return has_rails(call) && lg_up(call->N) == lg_down(call->N);
}

WORK(halving_across, .near_steps = f * (g - 1), .far_steps = f * M,
     .near_bytes = INSIDE, .far_bytes = ACROSS);

const struct unit unit_hierarchical_halving = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &halving_across,
		  [COLLECTIVE_ALL_GATHER] = &halving_across,
		  [COLLECTIVE_REDUCE_SCATTER] = &halving_across },
	.transport = TRANSPORT_RING,
	.in_turn = true,
	.applies = halves_across,
	.source =
		"ASTRA-sim: one algorithm a dimension (halvingDoubling); Thakur et al. "
		"2005",
};
