/* dispatch.c - tokens to the ranks of their experts, by dispatchers of their own. */
#include "engine/collective/unit.h"

/* To each domain once, by the member that has the sender's place, and from there to all
 * ranks that need it: both at once. A member so sends inside what its neighbours need
 * of its own, n (g - 1) / p, and of what comes in, n (p - g) / p * (g - 1) / g. */
WORK(once_per_domain, .near_steps = 1, .far_steps = either(N > 1, 1, 0),
     .near_bytes = n * (g - 1) / g, .far_bytes = r);

const struct unit unit_dispatch = {
	.work = { [COLLECTIVE_ALL_TO_ALL] = &once_per_domain },
	.transport = TRANSPORT_DISPATCH,
	.exchange = EXCHANGE_ONCE,
	.on_torus = true,
	.source = "DeepEP README (normal kernels)",
};

WORK(straight, .near_steps = either(N > 1, 0, 1), .far_steps = either(N > 1, 1, 0),
     .near_bytes = n * (g - 1) / p, .far_bytes = r);

const struct unit unit_straight = {
	.work = { [COLLECTIVE_ALL_TO_ALL] = &straight },
	.transport = TRANSPORT_DISPATCH,
	.exchange = EXCHANGE_STRAIGHT,
	.on_torus = true,
	.source = "DeepEP README (low-latency kernels)",
};
