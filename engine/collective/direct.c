/* direct.c - everybody with everybody at once: servers' own all-reduces, exchanges, and
 * one message. */
#include "engine/collective/unit.h"

static bool stays_inside(const struct call *call)
{
	return call->N <= 1;
}

/* vLLM's rule: two ranks always, four below 512 KiB, more below 256 KiB; NCCL above 8
 * MiB (csrc/custom_all_reduce.cuh, custom_all_reduce.py). */
static const double most_bytes = 8 << 20;

static bool is_small(double bytes, double ranks)
{
	double most = ranks > 4 ? 256 << 10 : 512 << 10;

	return bytes <= most_bytes && (ranks <= 2 || bytes < most);
}

static bool is_large(double bytes, double ranks)
{
	return bytes <= most_bytes && !is_small(bytes, ranks);
}

WORK(read_all, .near_steps = 1, .near_bytes = (p - 1) * n, .peers = p - 1);

const struct unit unit_one_shot = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &read_all },
	.transport = TRANSPORT_ONE_SHOT,
	.applies = stays_inside,
	.taken = is_small,
	.source = "vLLM csrc/custom_all_reduce.cuh",
};

/* Data that no kernel writes marks what has not come yet: no barrier comes before. */
const struct unit unit_lamport = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &read_all },
	.transport = TRANSPORT_LAMPORT,
	.applies = stays_inside,
	.source = "TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu "
		  "(Lamport one-shot)",
};

WORK(scatter_and_gather, .near_steps = 2, .near_bytes = ALL_BUT_OWN, .peers = p - 1);

const struct unit unit_two_shot = {
	.work = { [COLLECTIVE_ALL_REDUCE] = &scatter_and_gather },
	.transport = TRANSPORT_TWO_SHOT,
	.applies = stays_inside,
	.taken = is_large,
	.source = "vLLM csrc/custom_all_reduce.cuh",
};

WORK(send_to_all, .near_steps = either(N > 1, 0, 1), .far_steps = either(N > 1, 1, 0),
     .near_bytes = n * (g - 1) / p, .far_bytes = r, .peers = p - 1,
     .peer_bytes = either(g > 1, n / p, 0), .own_bytes = n / p);

const struct unit unit_direct = {
	.work = { [COLLECTIVE_ALL_TO_ALL] = &send_to_all },
	.transport = TRANSPORT_EXCHANGE,
	.source =
		"NCCL's grouped sends and receives (src/graph/paths.cc: p2p channels)",
};

WORK(send_to_each, .near_steps = g - 1, .far_steps = p - g,
     .near_bytes = n * (g - 1) / p, .far_bytes = r,
     .peer_bytes = either(g > 1, n / p, 0), .own_bytes = n / p);

const struct unit unit_pairwise = {
	.work = { [COLLECTIVE_ALL_TO_ALL] = &send_to_each },
	.transport = TRANSPORT_EXCHANGE,
	.source = "Thakur, Rabenseifner, Gropp 2005, section 4.3",
};

/* All to the next, the last to the first: who sits at a border sets the pace, one
 * member in each domain. */
WORK(send_one, .near_steps = either(N > 1, 0, 1), .far_steps = either(N > 1, 1, 0),
     .near_bytes = either(N > 1, 0, n), .far_bytes = either(N > 1, n, 0),
     .left_bytes = either(N > 1, n *N / p, 0));

const struct unit unit_send = {
	.work = { [COLLECTIVE_SEND] = &send_one },
	.transport = TRANSPORT_RING,
	.on_torus = true,
	.source = "alpha-beta; Thakur, Rabenseifner, Gropp 2005, section 3",
};
