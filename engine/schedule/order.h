/* order.h - the work of one stage in its order, made item by item: nothing is kept but
 * where it has come to.
 *
 * An order is told in one of two ways. In segments: a pattern of items, so many times,
 * then the next. Or in passes: up to four runs of items of one kind, each item of which
 * has a slot; the stage takes them by their slots. Micro-batches of a kind and a chunk
 * come in order, so that an item need not say which it is.
 */
#ifndef ENGINE_SCHEDULE_ORDER_H
#define ENGINE_SCHEDULE_ORDER_H

#include "engine/schedule/schedule.h"

enum { MAX_SEGMENTS = 11, MAX_PASSES = 4 };

/* A kind and a chunk for each item, "F0I0W0": F forward, P forward that runs together
 * with the next item, B backward, I input gradient, W weight gradient. "W?" is that of
 * the oldest input gradient without one. */
struct segment {
	const char *pattern;
	int times;
};

struct pass {
	int32_t slot;   /* of its next item; NO_SLOT = none left */
	int32_t number; /* items before that one */
};

#define NO_SLOT INT32_MAX

/* What all stages' orders follow from. */
struct order {
	const struct order_rule *rule;
	int stages, chunks; /* of a stage, both copies of PLACE_TWO_WAY */
	int depth;
	int micro_batches;
	enum placement placement;
	bool in_segments;
	char letter[MAX_PASSES]; /* of each pass */
	int slots;
	int unit, last;       /* items of a pass that make a unit, and all */
	int step[4], turn[3]; /* of v_shape.c's blocks */
};

/* Where a stage has come to. */
struct cursor {
	union {
		struct {
			const char *next, *pattern;
			int32_t left; /* times, this one included */
			int32_t segment;
		} in;
		struct pass pass[MAX_PASSES];
	} at;
	uint8_t chunk[MAX_PASSES];   /* of each pass */
	uint16_t inside[MAX_PASSES]; /* items of its unit */
};

struct order_rule {
	/* Up to MAX_SEGMENTS of them, and how many; some may have no times. */
	int (*segments)(const struct order *, int stage, struct segment *);
	/* Or passes, a letter as in a pattern for each: where they start on a stage,
	 * slots from an item to the next, and what changes behind each unit of
	 * order->unit items. */
	const char *passes;
	void (*start)(const struct order *, int stage, struct cursor *);
	int slots;
	void (*turn)(const struct order *, int pass, struct cursor *);
	/* Micro-batches after which passes repeat: as many as there are stages, or 1.
	 */
	bool by_stages;
	/* Chunk of the oldest input gradient whose weight gradient is not done, on a
	 * stage that did so many of chunk 0 and 1; NULL = 0. */
	int (*oldest)(const struct order *, int stage, const int32_t *weights);
	/* Where weight gradients are not in the order but fill its gaps: chunks that a
	 * stage may hold until they are done (0 = they are in the order); a gap is
	 * worth one if it is at least this share of it. */
	int (*held_limit)(const struct order *);
	double gap_share;
	/* What the stages share, of the counts; false if there is no such order. */
	bool (*prepare)(struct order *);
};

/* One item: its letter, 0 behind the last one. */
struct order_item {
	char letter;
	uint8_t chunk;
};

/* The order of a request that its schedule allows; false if its lists are made whole
 * (classic.c). */
bool order_prepare(const struct schedule_request *request, struct order *out);
void order_start(const struct order *order, int stage, struct cursor *out);
/* "W?" has chunk OLDEST. */
enum { OLDEST = 255 };
/* The first segment from there on that has times. */
void order_enter(const struct order *order, int stage, int segment, struct cursor *at);

static inline struct order_item order_next_in_segment(const struct order *order,
						      int stage, struct cursor *at)
{
	const char *next = at->at.in.next;
	struct order_item item = { next[0], 0 };

	if (item.letter == '\0')
		return item;
	item.chunk = next[1] == '?' ? OLDEST : (uint8_t)(next[1] - '0');
	at->at.in.next = next + 2;
	if (next[2] == '\0' && --at->at.in.left == 0)
		order_enter(order, stage, at->at.in.segment + 1, at);
	else if (next[2] == '\0')
		at->at.in.next = at->at.in.pattern;
	return item;
}

static inline struct order_item order_next_of_passes(const struct order *order,
						     struct cursor *at)
{
	const struct pass *pass = at->at.pass;
	int a = pass[1].slot < pass[0].slot, b = 2 + (pass[3].slot < pass[2].slot);
	int first = pass[b].slot < pass[a].slot ? b : a;
	struct order_item item = { order->letter[first], at->chunk[first] };

	if (pass[first].slot == NO_SLOT)
		return (struct order_item){ '\0', 0 };
	at->at.pass[first].slot += order->slots;
	if (++at->inside[first] == order->unit) {
		at->inside[first] = 0;
		order->rule->turn(order, first, at);
	}
	if (++at->at.pass[first].number == order->last)
		at->at.pass[first].slot = NO_SLOT;
	return item;
}

static inline struct order_item order_next(const struct order *order, int stage,
					   struct cursor *at)
{
	return order->in_segments ? order_next_in_segment(order, stage, at)
				  : order_next_of_passes(order, at);
}

/* If the work of a stage between two places is what so many micro-batches more add to
 * it, the number of times that it comes again behind `now`, else 0. */
int order_repeats(const struct order *order, int stage, const struct cursor *before,
		  const struct cursor *now, int micro_batches);
/* The place in an order of so many micro-batches less, before order_cut() makes it so.
 */
void order_shorten(const struct order *order, int stage, int micro_batches,
		   struct cursor *at);
bool order_cut(struct order *order, int micro_batches);
/* An item, the number-th of its kind and chunk, at the end of a stage's list. */
void order_put(const struct order *order, int stage, struct order_item item, int number,
	       struct schedule *out);
/* The lists, but of an order whose gaps are filled. */
void order_list(const struct order *order, struct schedule *out);
/* Micro-batches that a chunk runs: the two copies run half each. */
int order_each(const struct order *order);

extern const struct order_rule order_zb_h1, order_zb_h2, order_zb_1p, order_zb_2p,
	order_zb_v, order_v_half, order_v_min, order_dualpipe, order_dualpipev,
	order_chimera, order_hanayo;

#endif
