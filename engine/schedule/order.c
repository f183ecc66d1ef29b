/* order.c - see order.h. */
#include "engine/schedule/order.h"

#include <string.h>

void order_enter(const struct order *order, int stage, int segment, struct cursor *at)
{
	struct segment list[MAX_SEGMENTS];
	int count = order->rule->segments(order, stage, list);

	while (segment < count && list[segment].times <= 0)
		segment++;
	at->at.in.segment = segment;
	at->at.in.left = segment < count ? list[segment].times : 0;
	at->at.in.pattern = segment < count ? list[segment].pattern : "";
	at->at.in.next = at->at.in.pattern;
}

bool order_prepare(const struct schedule_request *request, struct order *out)
{
	const struct schedule_row *row = &schedule_table[request->kind];
	bool two_way = row->placement == PLACE_TWO_WAY;

	if (!row->order || request->stages < 2)
		return false;
	*out = (struct order){ .rule = row->order,
			       .stages = request->stages,
			       .chunks = two_way ? 2 : request->chunks,
			       .depth = request->stages * request->chunks,
			       .micro_batches = request->micro_batches,
			       .placement = row->placement,
			       .in_segments = row->order->segments != NULL,
			       .slots = row->order->slots };
	if (!out->in_segments)
		memcpy(out->letter, row->order->passes, strlen(row->order->passes));
	return order_cut(out, 0);
}

bool order_cut(struct order *order, int micro_batches)
{
	order->micro_batches -= micro_batches;
	return !order->rule->prepare || order->rule->prepare(order);
}

void order_start(const struct order *order, int stage, struct cursor *out)
{
	memset(out, 0, sizeof *out);
	if (order->rule->segments) {
		order_enter(order, stage, 0, out);
		return;
	}
	for (int i = 0; i < MAX_PASSES; i++)
		out->at.pass[i].slot = NO_SLOT;
	order->rule->start(order, stage, out);
}

/* Times of a segment that so many micro-batches take away, if they take away from no
 * other one behind it; negative if they do. */
static int segment_times(const struct order *order, int stage, int segment,
			 int micro_batches)
{
	struct segment whole[MAX_SEGMENTS], less[MAX_SEGMENTS];
	struct order shorter = *order;
	int count;

	shorter.micro_batches -= micro_batches;
	count = order->rule->segments(order, stage, whole);
	order->rule->segments(&shorter, stage, less);
	for (int i = 0; i < count; i++)
		if (i != segment && whole[i].times != less[i].times &&
		    (whole[i].times > 0 || less[i].times > 0))
			return -1;
	return whole[segment].times - less[segment].times;
}

static int repeats_in_segment(const struct order *order, int stage,
			      const struct cursor *before, const struct cursor *now,
			      int micro_batches)
{
	int times = before->at.in.left - now->at.in.left, more;

	if (before->at.in.segment != now->at.in.segment ||
	    before->at.in.next != now->at.in.next || times <= 0 || now->at.in.left == 0)
		return 0;
	more = (now->at.in.left - 1) / times;
	/* one of them, and all of them */
	if (more < 1 ||
	    segment_times(order, stage, now->at.in.segment, micro_batches) != times ||
	    segment_times(order, stage, now->at.in.segment, more * micro_batches) !=
		    more * times)
		return 0;
	return more;
}

static int repeats_of_passes(const struct order *order, const struct cursor *before,
			     const struct cursor *now, int micro_batches)
{
	int unit = order->rule->by_stages ? order->stages : 1, least = INT32_MAX;
	int whole = order->micro_batches / unit * unit, slots = 0;

	if (micro_batches % unit != 0)
		return 0;
	for (int i = 0; order->rule->passes[i]; i++) {
		const struct pass *a = &before->at.pass[i], *b = &now->at.pass[i];
		int64_t numbers = b->number - a->number, all;

		if (a->slot == NO_SLOT || b->slot == NO_SLOT || numbers <= 0 ||
		    before->chunk[i] != now->chunk[i] ||
		    (i > 0 && b->slot - a->slot != slots))
			return 0;
		slots = b->slot - a->slot;
		all = numbers * whole / micro_batches;
		/* one is left, for the pass to end behind it */
		if ((all - b->number - 1) / numbers < least)
			least = (int)((all - b->number - 1) / numbers);
	}
	return least > 0 ? least : 0;
}

int order_repeats(const struct order *order, int stage, const struct cursor *before,
		  const struct cursor *now, int micro_batches)
{
	return order->rule->segments
		       ? repeats_in_segment(order, stage, before, now, micro_batches)
		       : repeats_of_passes(order, before, now, micro_batches);
}

void order_shorten(const struct order *order, int stage, int micro_batches,
		   struct cursor *at)
{
	if (order->rule->segments)
		at->at.in.left -=
			segment_times(order, stage, at->at.in.segment, micro_batches);
}

static enum work_kind kind_of(char letter)
{
	switch (letter) {
	case 'B': return WORK_BACKWARD;
	case 'I': return WORK_INPUT_GRAD;
	case 'W': return WORK_WEIGHT_GRAD;
	default: return WORK_FORWARD;
	}
}

int order_each(const struct order *order)
{
	return order->placement == PLACE_TWO_WAY ? order->micro_batches / 2
						 : order->micro_batches;
}

void order_put(const struct order *order, int stage, struct order_item item, int number,
	       struct schedule *out)
{
	/* the second copy's are the second half */
	if (order->placement == PLACE_TWO_WAY && item.chunk == 1)
		number += order_each(order);
	schedule_put(out, stage, kind_of(item.letter), item.chunk, number)->paired =
		item.letter == 'P';
}

/* The micro-batch of a chunk's next weight gradient: that of the input gradient behind
 * place `from` in the list. */
static int next_weight(const struct schedule *list, int stage, int chunk, int32_t *from)
{
	const struct work *work = &list->item[(int64_t)stage * list->capacity];

	while (work[*from].kind != WORK_INPUT_GRAD || work[*from].chunk != chunk)
		++*from;
	return work[(*from)++].micro_batch;
}

static void list_stage(const struct order *order, int stage, struct schedule *out)
{
	int32_t forwards[MAX_CHUNKS] = { 0 }, backwards[MAX_CHUNKS] = { 0 };
	int32_t weights[MAX_CHUNKS] = { 0 }, from[MAX_CHUNKS] = { 0 }, *number;
	struct order_item item;
	struct cursor at;

	order_start(order, stage, &at);
	while ((item = order_next(order, stage, &at)).letter) {
		enum work_kind kind = kind_of(item.letter);

		if (item.chunk == OLDEST)
			item.chunk =
				(uint8_t)order->rule->oldest(order, stage, weights);
		number = kind == WORK_FORWARD       ? forwards
			 : kind == WORK_WEIGHT_GRAD ? weights
						    : backwards;
		number += item.chunk;
		/* few micro-batches keep the order of more */
		if (*number >= order_each(order))
			continue;
		if (kind == WORK_WEIGHT_GRAD)
			schedule_put(
				out, stage, kind, item.chunk,
				next_weight(out, stage, item.chunk, &from[item.chunk]));
		else
			order_put(order, stage, item, *number, out);
		++*number;
	}
}

void order_list(const struct order *order, struct schedule *out)
{
	for (int s = 0; s < order->stages; s++)
		list_stage(order, s, out);
}
