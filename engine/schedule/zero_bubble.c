/* zero_bubble.c - the schedules of "Zero Bubble Pipeline Parallelism" (Qi et al. 2023)
 * with one chunk a stage: ZB-H1 and ZB-H2, hand-made (section 2), and the automatic
 * ones that follow from the stage times by a rule (section 3). */
#include "engine/schedule/order.h"

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Weight gradients are put off until they fill the tail. Stage s runs `ahead` forwards
 * before its first backward and keeps `behind` weight gradients back, so that every
 * stage holds ahead + behind micro-batches: p in H1, 2p - 1 in H2. */
static int by_hand(int m, int ahead, int behind, struct segment *out)
{
	int first = least(ahead, m), beside = m - first;

	out[0] = (struct segment){ "F0", first };
	out[1] = (struct segment){ "I0F0", least(behind, beside) };
	out[2] = (struct segment){ "I0W0F0", beside - behind };
	out[3] = (struct segment){ "I0", least(behind, m) - beside };
	out[4] = (struct segment){ "I0W0", m - (behind > beside ? behind : beside) };
	out[5] = (struct segment){ "W0", least(behind, m) };
	return 6;
}

static int zb_h1(const struct order *order, int s, struct segment *out)
{
	return by_hand(order->micro_batches, order->stages - s, s, out);
}

static int zb_h2(const struct order *order, int s, struct segment *out)
{
	return by_hand(order->micro_batches, 2 * (order->stages - s) - 1, 2 * s, out);
}

/* Forwards and input gradients of 1F1B with one forward ahead on the last stage and
 * `slope` more on each stage before it. The paper's search keeps this order and puts
 * weight gradients where a stage would wait, or where room is needed. */
static int by_rule(const struct order *order, int s, int slope, struct segment *out)
{
	int m = order->micro_batches, ahead = 1 + slope * (order->stages - 1 - s);

	out[0] = (struct segment){ "F0", least(ahead, m) - 1 };
	out[1] = (struct segment){ "F0I0", m - least(ahead, m) + 1 };
	out[2] = (struct segment){ "I0", least(ahead, m) - 1 };
	return 3;
}

static int zb_1p(const struct order *order, int s, struct segment *out)
{
	return by_rule(order, s, 1, out);
}

static int zb_2p(const struct order *order, int s, struct segment *out)
{
	return by_rule(order, s, 2, out);
}

/* In memory of 1F1B. */
static int hold_once(const struct order *order)
{
	return order->stages;
}

static int hold_twice(const struct order *order)
{
	return 2 * order->stages;
}

const struct order_rule order_zb_h1 = { .segments = zb_h1 };
const struct order_rule order_zb_h2 = { .segments = zb_h2 };
/* With little memory a weight gradient that delays a backward is not made up for. */
const struct order_rule order_zb_1p = { .segments = zb_1p,
					.held_limit = hold_once,
					.gap_share = 0.75 };
const struct order_rule order_zb_2p = { .segments = zb_2p,
					.held_limit = hold_twice,
					.gap_share = 0.5 };
