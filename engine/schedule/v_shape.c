/* v_shape.c - two chunks per stage on a V: ZB-V (Qi et al. 2023), V-Half and V-Min
 * ("Pipeline Parallelism with Controllable Memory", Qi et al. 2024). */
#include "engine/schedule/order.h"

static int most(int a, int b)
{
	return a > b ? a : b;
}

/* Fewer than 2p - 1 micro-batches keep the order of more. */
static int zb_v(const struct order *order, int s, struct segment *out)
{
	int p = order->stages, m = most(order->micro_batches, 2 * p - 1);

	out[0] = (struct segment){ "F0", 2 * (p - s) - 1 };
	out[1] = (struct segment){ "F1F0", s };
	out[2] = (struct segment){ "F1I1W1", p - s };
	out[3] = (struct segment){ "F0I0W0F1I1W1", m - 2 * p + s + 1 };
	out[4] = (struct segment){ "I0W0F1I1W1", p - s - 1 };
	out[5] = (struct segment){ "I0I1", s };
	out[6] = (struct segment){ "I0W0", p - s };
	out[7] = (struct segment){ "W1", s };
	out[8] = (struct segment){ "W0", s };
	return 9;
}

/* A building block: slots of one pass at which the first micro-batch's passes start
 * on each stage; it repeats every six slots (two chunks, three passes). order->step is
 * how far neighbouring stages are apart in forward 0, forward 1, backward 1, backward 0
 * (the paper's offsets), turn the pause at each of the three turns of the way. */
enum { PERIOD = 6 };

static void block_starts(const struct order *order, int s, int start[4])
{
	const int *step = order->step, *turn = order->turn;
	int last = order->stages - 1;
	int second = step[0] * last + turn[0];
	int third = second + step[1] * last + turn[1];
	int fourth = third + step[2] * last + turn[2];

	start[0] = step[0] * s;
	start[1] = second + step[1] * (last - s);
	start[2] = third + step[2] * s;
	start[3] = fourth + step[3] * (last - s);
}

/* Whether no stage wants one slot twice once the block repeats. */
static bool block_fits(const struct order *order)
{
	int stages = order->stages < PERIOD ? order->stages : PERIOD; /* it repeats */

	for (int s = 0; s < stages; s++) {
		int start[4], used = 0;

		block_starts(order, s, start);
		for (int i = 0; i < 4; i++) {
			if (used & 1 << start[i] % PERIOD)
				return false;
			used |= 1 << start[i] % PERIOD;
		}
	}
	return true;
}

/* The shortest turns that fit. */
static bool block_turns(struct order *order)
{
	for (int sum = 3; sum <= 3 * PERIOD; sum++) {
		for (int a = 1; a <= PERIOD && a < sum - 1; a++) {
			for (int b = 1; b <= PERIOD && b < sum - a; b++) {
				if (sum - a - b > PERIOD)
					continue;
				order->turn[0] = a;
				order->turn[1] = b;
				order->turn[2] = sum - a - b;
				if (block_fits(order))
					return true;
			}
		}
	}
	return false;
}

/* A pass changes nothing on its way. */
static bool prepare(struct order *order)
{
	order->unit = INT32_MAX;
	order->last = order->micro_batches;
	return order->turn[0] > 0 || block_turns(order);
}

static bool prepare_half(struct order *order)
{
	for (int i = 0; i < 4; i++)
		order->step[i] = i % 2 == 0 ? 2 : 1;
	return prepare(order);
}

static bool prepare_min(struct order *order)
{
	for (int i = 0; i < 4; i++)
		order->step[i] = 1;
	return prepare(order);
}

/* Forwards and backwards in the order of their slots; weight gradients fill the gaps.
 */
static void start_stage(const struct order *order, int s, struct cursor *out)
{
	static const uint8_t chunk[4] = { 0, 1, 1, 0 };
	int start[4];

	block_starts(order, s, start);
	for (int i = 0; i < 4; i++) {
		out->at.pass[i].slot = start[i];
		out->chunk[i] = chunk[i];
	}
}

/* Chunk 1 comes back first: the slot of a backward is that of block_starts(), later by
 * a period for each micro-batch before it. */
static int oldest(const struct order *order, int s, const int32_t *weights)
{
	const int *step = order->step;
	int later = (step[2] + step[3]) * (order->stages - 1 - s) + order->turn[2];

	if (weights[1] == order->micro_batches || weights[0] == order->micro_batches)
		return weights[1] < order->micro_batches;
	return PERIOD * (weights[1] - weights[0]) < later;
}

/* p / 2 + 1 micro-batches in the paper; half a one more, which the block itself
 * holds, keeps the steady state free of gaps when the passes are not equal. */
static int hold_half(const struct order *order)
{
	return (order->stages + 2) / 2 * 2 + 1;
}

/* A third of 1F1B's memory; the price is that every pass waits for others where
 * forward, input and weight gradient are not equally long. */
static int hold_third(const struct order *order)
{
	return (order->stages + 4) / 3 * 2;
}

const struct order_rule order_zb_v = { .segments = zb_v };
const struct order_rule order_v_half = { .passes = "FFII",
					 .start = start_stage,
					 .slots = PERIOD,
					 .oldest = oldest,
					 .held_limit = hold_half,
					 .gap_share = 0.5,
					 .prepare = prepare_half };
const struct order_rule order_v_min = { .passes = "FFII",
					.start = start_stage,
					.slots = PERIOD,
					.oldest = oldest,
					.held_limit = hold_third,
					.gap_share = 0.5,
					.prepare = prepare_min };
