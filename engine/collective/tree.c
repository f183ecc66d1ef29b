/* tree.c - trees: the double binary tree of NCCL and the binomial one. */
#include "engine/collective/unit.h"

static bool crosses(const struct call *call)
{
	return call->N > 1;
}

/* Two trees over the domains, each for half of the vector, a chain inside: up and down
 * every member sends all of it once. */
WORK(climb, .near_steps = 2 * (g - 1), .far_steps = 2 * M, .near_bytes = 2 * n,
     .far_bytes = 2 * n / g, .sent_bytes = 2 * n);

const struct unit unit_tree = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &climb },
	.transport = TRANSPORT_RING,
	.applies = crosses,
	.source = "Sanders, Speck, Traeff 2009; NCCL src/graph/trees.cc, tuning.cc",
};

/* The root sends the whole vector in each step, and so do those who have it. */
WORK(spread, .near_steps = G, .far_steps = M, .near_bytes = G * n, .far_bytes = M * n);

const struct unit unit_binomial = {
	.work = { [COLLECTIVE_BROADCAST] = &spread },
	.transport = TRANSPORT_RING,
	.in_turn = true,
	.source = "Thakur, Rabenseifner, Gropp 2005, section 4.2",
};

WORK(scatter_then_gather, .near_steps = G + p - N, .far_steps = M + N - 1,
     .near_bytes = 2 * (p - 1) / p * n,
     .far_bytes = either(N > 1, 2 * (p - 1) / p * n / g, 0),
     .sent_bytes = 2 * (p - 1) / p * n);

const struct unit unit_scatter_gather = {
	.work = { [COLLECTIVE_BROADCAST] = &scatter_then_gather },
	.transport = TRANSPORT_RING,
	.source = "Thakur, Rabenseifner, Gropp 2005, section 4.2",
};
