/* in_switch.c - switches that add up: NVLS in the domain, SHARP in the network. */
#include "engine/collective/unit.h"

static bool joins_domain(const struct call *call)
{
	return call->s > 0 && call->N <= 1;
}

/* The switch reads each member's vector once and adds; every member reads its part of
 * the sums and has the switch write it to all: n and n/p of results. */
WORK(load_and_store, .near_steps = 2, .near_bytes = (1 + 1 / p) * n);
/* Sends n/p and gets n; a reduce-scatter the other way round. */
WORK(store_to_all, .near_steps = 1, .near_bytes = n, .sent_bytes = n / p);
WORK(load_added, .near_steps = 1, .near_bytes = n);

const struct unit unit_nvls = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &load_and_store,
		  [COLLECTIVE_ALL_GATHER] = &store_to_all,
		  [COLLECTIVE_REDUCE_SCATTER] = &load_added },
	.transport = TRANSPORT_SWITCH,
	.applies = joins_domain,
	.source = "NCCL src/sym_kernels.cc (LDMC, STMC); plateaus measured by "
		  "stas00/ml-engineering",
};

static bool climbs_from_switches(const struct call *call)
{
	return call->s > 0 && call->N > 1;
}

/* Inside as NVLS, and two trees across. */
WORK(load_and_climb, .near_steps = 2, .far_steps = 2 * M, .near_bytes = (1 + 1 / g) * n,
     .far_bytes = 2 * n / g);

const struct unit unit_nvls_tree = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &load_and_climb },
	.transport = TRANSPORT_SWITCH,
	.applies = climbs_from_switches,
	.source = "NCCL src/graph/tuning.cc (NVLS tree)",
};

static bool network_joins(const struct call *call)
{
	return call->network_adds && call->N > 1;
}

/* Up to the switch that joins all, and down again: n/g each way for an all-reduce.
 * Gathers and scatters keep their bytes and save steps (NCCL's CollNet direct). */
WORK(meet_in_network, .near_steps = either(s > 0, 2, 2 * (g - 1)), .far_steps = 2,
     .near_bytes = either(s > 0, (1 + 1 / g) * n, 2 * (g - 1) / g * n),
     .far_bytes = n / g);
WORK(gather_in_network, .near_steps = g - 1, .far_steps = 2, .near_bytes = ALL_BUT_OWN,
     .far_bytes = ALL_BUT_OWN / g, .sent_bytes = ALL_BUT_OWN);

const struct unit unit_sharp = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &meet_in_network,
		  [COLLECTIVE_ALL_GATHER] = &gather_in_network,
		  [COLLECTIVE_REDUCE_SCATTER] = &gather_in_network },
	.transport = TRANSPORT_RING,
	.applies = network_joins,
	.source = "Graham et al. 2020, 10.1007/978-3-030-50743-5_3; NCCL "
		  "src/graph/tuning.cc (CollNet)",
};
