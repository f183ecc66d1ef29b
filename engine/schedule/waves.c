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
static void start(const struct order *order, int s, struct cursor *out)
{
	int p = order->stages, v = order->chunks, delay = p * v - 1;

	for (int i = 0; i < 4; i++) {
		int parity = i % 2;

		out->at.pass[i].slot =
			(parity == 0 ? s : 2 * p - 1 - s) + (i < 2 ? 0 : delay);
		out->chunk[i] = (uint8_t)(i < 2 ? parity : v - 1 - parity);
	}
}

static void advance(const struct order *order, int i, struct cursor *at)
{
	int p = order->stages, each = p * order->chunks / 2;
	struct pass *pass = &at->at.pass[i];

	pass->slot += 2;
	if (++at->inside[i] != (uint8_t)p)
		return;
	at->inside[i] = 0;
	/* the unit goes on with the next of these chunks, or the next unit begins */
	if (pass->number % each != 0)
		at->chunk[i] = (uint8_t)(at->chunk[i] + (i < 2 ? 2 : -2));
	else if (pass->number == (order->micro_batches + p - 1) / p * each)
		pass->slot = NO_SLOT;
	else
		at->chunk[i] = (uint8_t)(i < 2 ? i % 2 : order->chunks - 1 - i % 2);
}

const struct order_rule order_hanayo = {
	.passes = "FFBB", .start = start, .advance = advance, .by_stages = true
};
