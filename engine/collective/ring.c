/* ring.c - rings: every member passes on what it has got (Patarasuk, Yuan 2009). */
#include "engine/collective/unit.h"

/* Of a ring's p members N cross a border, one a domain; the ports of a domain's members
 * each carry a ring of their own (NCCL's channels). On a torus it has the links of one
 * axis at a time. */
WORK(twice_round, .near_steps = f * (p - N), .far_steps = f * (N - 1),
     .near_bytes = A * ALL_BUT_OWN, .far_bytes = either(N > 1, ALL_BUT_OWN / g, 0),
     .sent_bytes = ALL_BUT_OWN);
WORK(once_round, .near_steps = f * (p - N), .far_steps = f * (N - 1),
     .near_bytes = A * ALL_BUT_OWN, .far_bytes = either(N > 1, ALL_BUT_OWN / g, 0),
     .own_bytes = n / p, .sent_bytes = ALL_BUT_OWN);
/* In pieces on each other's heels. */
WORK(chain, .near_steps = p - N, .far_steps = N - 1, .near_bytes = A * n,
     .far_bytes = either(N > 1, n / g, 0), .sent_bytes = n);

const struct unit unit_ring = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &twice_round,
		  [COLLECTIVE_ALL_GATHER] = &once_round,
		  [COLLECTIVE_REDUCE_SCATTER] = &once_round,
		  [COLLECTIVE_BROADCAST] = &chain },
	.transport = TRANSPORT_RING,
	.on_torus = true,
	.source = "Patarasuk, Yuan 2009, section 3; Thakur, Rabenseifner, Gropp 2005, "
		  "section 4.1",
};
