/* two_way.c - DualPipe and DualPipeV (DeepSeek), Chimera (Li & Hoefler 2021). */
#include "engine/schedule/order.h"

/* A stage of DualPipe, r places from the near end of n. Way 0 is the direction whose
 * micro-batches enter on its side; weight gradients that were put off are done oldest
 * first. */
struct dual {
	int outer, inner; /* stages further in, and itself with those further out */
	bool far;         /* way 0 is chunk 1 */
};

static struct dual dual_at(const struct order *order, int s)
{
	bool both = order->placement == PLACE_TWO_WAY;
	int p = order->stages, n = both ? p / 2 : p;
	bool far = both && s >= p / 2;
	int r = far ? p - 1 - s : s;

	return (struct dual){ n - 1 - r, r + 1, far };
}

/* The eight phases of DeepSeek's DualPipe with m micro-batches in each direction; the
 * second half of the sixth puts its weight gradients off. */
static int dual_phases(const struct order *order, int s, struct segment *out)
{
	/* with way 0 as chunk 0, and as chunk 1 */
	static const char *const patterns[2][10] = {
		{ "F0", "F0F1", "I1W?F1", "F0B1P1B0", "P0B1P1B0", "B1P1B0", "B1B0",
		  "B1I0", "I1I0", "W?I0" },
		{ "F1", "F1F0", "I0W?F0", "F1B0P0B1", "P1B0P0B1", "B0P0B1", "B0B1",
		  "B0I1", "I0I1", "W?I1" },
	};
	struct dual d = dual_at(order, s);
	const char *const *pattern = patterns[d.far];
	int n = d.outer + d.inner, steady = order_each(order) - 2 * n + d.inner;
	/* the innermost has its first pair one after the other */
	int apart = d.outer == 0 && steady > 0;

	out[0] = (struct segment){ pattern[0], 2 * d.outer };
	out[1] = (struct segment){ pattern[1], d.inner };
	out[2] = (struct segment){ pattern[2], d.outer };
	out[3] = (struct segment){ pattern[3], apart };
	out[4] = (struct segment){ pattern[4], steady - apart };
	out[5] = (struct segment){ pattern[5], d.outer };
	out[6] = (struct segment){ pattern[6], d.inner / 2 };
	out[7] = (struct segment){ pattern[7], d.inner % 2 };
	out[8] = (struct segment){ pattern[8], d.inner / 2 };
	out[9] = (struct segment){ pattern[9], d.outer };
	out[10] = (struct segment){ "W?", d.inner };
	return 11;
}

/* Those of the third phase are done at once; then the sixth takes turns, beginning with
 * way 1 if it had whole backwards in pairs, and the seventh adds some of way 0. */
static int dual_oldest(const struct order *order, int s, const int32_t *weights)
{
	struct dual d = dual_at(order, s);
	int done = weights[0] + weights[1] - d.outer, way = 0;

	if (done < 0)
		way = 1;
	else if (done < d.inner)
		way = (d.inner + done) % 2 == 0;
	return way ^ d.far;
}

/* A unit is p / 2 micro-batches of a direction, two slots apart, and starts 2p slots
 * behind the one before. Slots of one forward or backward: a micro-batch passes a stage
 * in each slot and comes back at once; as p is even the two directions never want the
 * same slot, and a unit's forwards fill what the one before leaves ("direct
 * concatenation"). */
static void chimera_start(const struct order *order, int s, struct cursor *out)
{
	int p = order->stages;

	for (int way = 0; way < 2; way++) {
		int place = way == 0 ? s : p - 1 - s;

		out->at.pass[2 * way].slot = 2 * p - 1 - place;
		out->at.pass[2 * way + 1].slot = place;
		out->chunk[2 * way] = out->chunk[2 * way + 1] = (uint8_t)way;
	}
}

static void chimera_turn(const struct order *order, int i, struct cursor *at)
{
	at->at.pass[i].slot += order->stages;
}

static bool chimera_prepare(struct order *order)
{
	order->unit = order->stages / 2;
	order->last = order_each(order);
	return true;
}

const struct order_rule order_dualpipe = { .segments = dual_phases,
					   .oldest = dual_oldest };
/* The same with both directions on one micro-batch: down chunk 0, up chunk 1. */
const struct order_rule order_dualpipev = { .segments = dual_phases,
					    .oldest = dual_oldest };
const struct order_rule order_chimera = { .passes = "BFBF",
					  .start = chimera_start,
					  .slots = 2,
					  .turn = chimera_turn,
					  .by_stages = true,
					  .prepare = chimera_prepare };
