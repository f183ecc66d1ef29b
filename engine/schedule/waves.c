/* waves.c - Hanayo (Liu et al. 2023): a micro-batch runs down and up the stages once
 * per wave, that is two chunks.
 *
 * Slots of one forward and one backward. Micro-batch j of a unit of p starts two slots
 * behind the one before and passes a virtual stage in each slot; so a stage meets its
 * even chunks in slots of one parity and its odd ones in those of the other, without a
 * gap, and a unit starts where the one before leaves off. Backwards are the same seen
 * from the end, and start in the slot of the last forward. A stage holds p
 * micro-batches and, all being equal, idles 2(p-1) times the longer of forward and
 * backward of one chunk (the paper's bubble for backwards twice as long). */
#include "engine/schedule/order.h"

/* Even and odd chunks forward, then backward from the last one. */
static void start_stage(const struct order *order, int s, struct cursor *out)
{
	int p = order->stages, v = order->chunks, delay = p * v - 1;

	for (int i = 0; i < 4; i++) {
		int parity = i % 2;

		out->at.pass[i].slot =
			(parity == 0 ? s : 2 * p - 1 - s) + (i < 2 ? 0 : delay);
		out->chunk[i] = (uint8_t)(i < 2 ? parity : v - 1 - parity);
	}
}

/* The unit goes on with the next of these chunks, or the next unit begins. */
static void turn(const struct order *order, int i, struct cursor *at)
{
	int first = i < 2 ? i % 2 : order->chunks - 1 - i % 2;
	int next = at->chunk[i] + (i < 2 ? 2 : -2);

	at->chunk[i] = (uint8_t)(next < 0 || next >= order->chunks ? first : next);
}

/* What a last unit has beyond the micro-batches is left out by who runs it. */
static bool prepare(struct order *order)
{
	int units = (order->micro_batches + order->stages - 1) / order->stages;

	order->unit = order->stages;
	order->last = units * (order->stages * order->chunks / 2);
	return true;
}

const struct order_rule order_hanayo = { .passes = "FFBB",
					 .start = start_stage,
					 .slots = 2,
					 .turn = turn,
					 .by_stages = true,
					 .prepare = prepare };
