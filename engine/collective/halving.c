/* halving.c - exchanges with partners 1, 2, 4 ... apart: recursive doubling and halving
 * (Thakur, Rabenseifner, Gropp 2005, sections 4.1, 4.4, 4.5), and Bruck's for any p. */
#include "engine/collective/unit.h"

/* Where p is no power of two the odd ranks fold in first and get the result last. */
#define FOLDED either(L > l, 2, 0)
/* Of the partners those inside the domain come first, so that lg g steps are near. */
#define NEAR_OF(steps) either(N > 1, min(G, steps), steps)

#define SWAPS (l + FOLDED)
/* Everybody swaps all it has. */
WORK(swap_all, .near_steps = NEAR_OF(SWAPS), .far_steps = SWAPS - NEAR_OF(SWAPS),
     .near_bytes = NEAR_OF(SWAPS) * n, .far_bytes = (SWAPS - NEAR_OF(SWAPS)) * n);

const struct unit unit_doubling = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &swap_all },
	.transport = TRANSPORT_RING,
	.in_turn = true,
	.source = "Thakur, Rabenseifner, Gropp 2005, section 4.5",
};

/* Only the all-reduce has a way for p that is no power of two. */
static bool halves(const struct call *call)
{
	return call->kind == COLLECTIVE_ALL_REDUCE ||
	       lg_up(call->p) == lg_down(call->p);
}

#define HALVINGS (f * l + FOLDED)
/* Halves of what is left, then doubles of what is there: half of all bytes go to the
 * farthest partner. */
WORK(halve_and_double, .near_steps = either(N > 1, f *G, HALVINGS),
     .far_steps = either(N > 1, HALVINGS - f * G, 0),
     .near_bytes = either(N > 1, f *(g - 1) / p * n, ALL_BUT_OWN + FOLDED * n),
     .far_bytes = either(N > 1, f *(p - g) / p * n + FOLDED * n, 0));

const struct unit unit_halving_doubling = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &halve_and_double,
		  [COLLECTIVE_ALL_GATHER] = &halve_and_double,
		  [COLLECTIVE_REDUCE_SCATTER] = &halve_and_double },
	.transport = TRANSPORT_RING,
	.in_turn = true,
	.applies = halves,
	.source = "Thakur, Rabenseifner, Gropp 2005, sections 4.1, 4.4, 4.5 "
		  "(Rabenseifner)",
};

/* Any p in lg p steps. An all-to-all sends half of the vector in each; what leaves the
 * domain is not known before, so all steps wait for the network. */
WORK(rotate, .near_steps = NEAR_OF(L), .far_steps = L - NEAR_OF(L),
     .near_bytes = either(N > 1, (g - 1) / p * n, ALL_BUT_OWN),
     .far_bytes = either(N > 1, (p - g) / p * n, 0));
WORK(rotate_halves, .near_steps = either(N > 1, 0, L), .far_steps = either(N > 1, L, 0),
     .near_bytes = either(N > 1, 0, L / 2 * n),
     .far_bytes = either(N > 1, L / 2 * n, 0));

const struct unit unit_bruck = {
	.work = { [COLLECTIVE_ALL_GATHER] = &rotate,
		  [COLLECTIVE_ALL_TO_ALL] = &rotate_halves },
	.transport = TRANSPORT_RING,
	.in_turn = true,
	.source = "Bruck et al. 1997; Thakur, Rabenseifner, Gropp 2005, sections 4.1, "
		  "4.3",
};
