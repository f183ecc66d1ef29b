/* flow.c - see flow.h. */
#include "engine/schedule/flow.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/schedule/flow_run.h"

/* Ends that wait for a neighbour are few: with room for more, stages run further apart
 * and repeat later. */
enum { ROOM = 60 * 1024, MOST_SHIFT = 1 };
/* In the place of an item before the first. */
enum { START = 'S' };

static int row_of(const struct runner *r, int s, int chunk)
{
	int p = r->order.stages;

	return chunk * p + (chunk & 1 ? p - 1 - s : s);
}

/* When an item's input is there; negative if it isn't, or if nobody took what it would
 * write over. */
static inline double forward_ready(const struct runner *r, int at)
{
	const struct row *row = &r->now.row[at];
	double ready;

	if (!row->last && row->forwards - row[1].forwards > r->mask)
		return -1;
	if (row->first)
		return 0;
	if (row[-1].forwards == row->forwards)
		return -1;
	ready = r->now.forward[((at - 1) << r->shift) + (row->forwards & r->mask)];
	return ready + r->latency[row->forward_in];
}

static inline double backward_ready(const struct runner *r, int at)
{
	const struct row *row = &r->now.row[at];
	double ready;

	if (!row->first && row->backwards - row[-1].backwards > r->mask)
		return -1;
	if (row->last)
		return 0;
	if (row[1].backwards == row->backwards)
		return -1;
	ready = r->now.backward[((at + 1) << r->shift) + (row->backwards & r->mask)];
	return ready + r->latency[row->backward_in];
}

static inline void end_forward(struct runner *r, int at, double end)
{
	int number = r->now.row[at].forwards++;

	r->now.forward[(at << r->shift) + (number & r->mask)] = end;
}

static inline void end_backward(struct runner *r, int at, double end)
{
	int number = r->now.row[at].backwards++;

	r->now.backward[(at << r->shift) + (number & r->mask)] = end;
}

/* Items of the same kind and chunk before this one. */
static int number_of(const struct runner *r, const struct lane *lane)
{
	switch (lane->item.letter) {
	case 'W': return lane->weights[lane->item.chunk];
	case 'B':
	case 'I': return r->now.row[lane->row].backwards;
	default: return r->now.row[lane->row].forwards;
	}
}

static inline void fetch_item(struct runner *r, int s, struct lane *lane)
{
	do {
		lane->item = order_next(&r->order, s, &lane->cursor);
		if (lane->item.letter == '\0')
			return;
		if (lane->item.chunk == OLDEST)
			lane->item.chunk = (uint8_t)r->order.rule->oldest(
				&r->order, s, lane->weights);
		lane->row = row_of(r, s, lane->item.chunk);
	} while (r->cuts && number_of(r, lane) >= r->each);
	if (lane->item.letter == 'P')
		lane->pair = order_next(&r->order, s, &lane->cursor);
}

static inline void hold_more(struct runner *r, int s, struct lane *lane, double start)
{
	if (lane->forwards++ == 0)
		r->start[s] = start;
	if (++lane->held > r->peak[s])
		r->peak[s] = lane->held;
}

/* Both start when both can and end together; their sends go opposite ways at once. */
static bool run_pair(struct runner *r, int s, struct lane *lane)
{
	int down = lane->row, up = row_of(r, s, lane->pair.chunk);
	const struct row *f = &r->now.row[down], *b = &r->now.row[up];
	double f_ready = forward_ready(r, down), b_ready = backward_ready(r, up);
	double f_hold = r->hold[f->backward_in], b_hold = r->hold[b->forward_in];
	const struct simulate_times *t = r->times;
	double saves = 0, start, end;

	if (f_ready < 0 || b_ready < 0)
		return false;
	if (t->pair_hides)
		saves = t->pair_hides[f->position] + t->pair_hides[b->position];
	start = larger(lane->free, larger(f_ready, b_ready));
	end = start + t->forward[f->position] + t->input_grad[b->position] +
	      t->weight_grad[b->position] - saves;
	end_forward(r, down, end + f_hold);
	end_backward(r, up, end + b_hold);
	lane->free = end + larger(f_hold, b_hold);
	lane->hidden += saves;
	lane->hidden_sends += lesser(f_hold, b_hold);
	hold_more(r, s, lane, start);
	lane->held--;
	return true;
}

/* What an output goes to is where the other direction's input comes from. */
static inline double forward_time(const struct runner *r, const struct row *row)
{
	return r->times->forward[row->position] + r->hold[row->backward_in];
}

static inline double backward_time(const struct runner *r, const struct row *row,
				   bool whole)
{
	double time = r->times->input_grad[row->position] + r->hold[row->forward_in];

	return whole ? time + r->times->weight_grad[row->position] : time;
}

static inline bool run_forward(struct runner *r, int s, struct lane *lane)
{
	int at = lane->row;
	double ready = forward_ready(r, at);

	if (ready < 0)
		return false;
	ready = larger(ready, lane->free);
	lane->free = ready + forward_time(r, &r->now.row[at]);
	end_forward(r, at, lane->free);
	hold_more(r, s, lane, ready);
	return true;
}

static inline bool run_backward(struct runner *r, struct lane *lane)
{
	int at = lane->row;
	double ready = backward_ready(r, at);
	bool whole = lane->item.letter == 'B';

	if (ready < 0)
		return false;
	lane->free =
		larger(ready, lane->free) + backward_time(r, &r->now.row[at], whole);
	end_backward(r, at, lane->free);
	lane->held -= whole;
	lane->late += !whole;
	return true;
}

static inline void run_weight(struct runner *r, struct lane *lane, int row, int chunk)
{
	lane->free += r->times->weight_grad[r->now.row[row].position];
	lane->weights[chunk]++;
	lane->held--;
	lane->late--;
}

/* Seconds until the next item of its order can start, less than nothing where it waits
 * for the stage: until then a weight gradient that was put off may run. Without end
 * where it can't start at all before one did: nothing is left, or there is no room to
 * hold more. */
static double gap_before(const struct runner *r, const struct lane *lane)
{
	bool forward = lane->item.letter == 'F';
	double ready;

	if (lane->item.letter == '\0' || (forward && lane->held >= r->held_limit))
		return INFINITY;
	ready = forward ? forward_ready(r, lane->row) : backward_ready(r, lane->row);
	return ready < 0 ? -1 : ready - lane->free;
}

/* On the tape: an item that a row just ran. */
static void note_item(struct runner *r, int s, char letter, int at, int number)
{
	struct tape *tape = &r->tape;
	const struct row *row = &r->now.row[at];
	int in = 2 * r->rows, out = in + 1;
	struct note *note = &tape->note[tape->count];

	/* two at once are no note */
	if (letter == 'P')
		tape->count = tape->room;
	if (tape->count == tape->room)
		return;
	tape->count++;
	*note = (struct note){ .stage = (uint16_t)s };
	if (letter == 'W') {
		note->time = r->times->weight_grad[row->position];
		number = 0;
	} else if (letter == 'F') {
		note->time = forward_time(r, row);
		note->moves = row->forward_in;
		in = row->first ? in : at - 1;
		out = at;
	} else {
		note->time = backward_time(r, row, letter == 'B');
		note->moves = row->backward_in;
		in = row->last ? in : r->rows + at + 1;
		out = r->rows + at;
	}
	number &= r->mask;
	note->in = (uint16_t)((in << r->shift) + number);
	note->out = (uint16_t)((out << r->shift) + number);
}

/* An item that just ran: in the list that somebody wants, or on the tape. */
static void write_down(struct runner *r, int s, struct order_item item, int at)
{
	const struct row *row = &r->now.row[at];
	bool forward = item.letter == 'F' || item.letter == 'P';
	int number = forward ? row->forwards : row->backwards;

	if (item.letter == 'W')
		number = r->now.lane[s].weights[item.chunk];
	number--;
	if (r->list)
		order_put(&r->order, s, item, number, r->list);
	else
		note_item(r, s, item.letter, at, number);
}

/* The weight gradient that was put off first, if the gap before the next item is worth
 * it. */
static bool fill_gap(struct runner *r, int s, struct lane *lane)
{
	const struct order_rule *rule = r->order.rule;
	double gap = gap_before(r, lane);
	int chunk, row;

	if (gap < 0)
		return false;
	chunk = rule->oldest ? rule->oldest(&r->order, s, lane->weights) : 0;
	row = row_of(r, s, chunk);
	if (gap < rule->gap_share * r->times->weight_grad[r->now.row[row].position])
		return false;
	run_weight(r, lane, row, chunk);
	if (r->list)
		write_down(r, s, (struct order_item){ 'W', (uint8_t)chunk }, row);
	return true;
}

/* The next item of its order; false if it can't start yet, or there is none. */
static inline bool run_next(struct runner *r, int s, struct lane *lane)
{
	switch (lane->item.letter) {
	case START: return true;
	case '\0': return false;
	case 'F':
		return (r->held_limit == 0 || lane->held < r->held_limit) &&
		       run_forward(r, s, lane);
	case 'P': return run_pair(r, s, lane);
	case 'W': run_weight(r, lane, lane->row, lane->item.chunk); return true;
	default: return run_backward(r, lane);
	}
}

/* As far as inputs reach; whether that is anything. */
static bool run_stage(struct runner *r, int s)
{
	struct lane *lane = &r->now.lane[s];
	bool written = r->list || r->tape.room > 0, any = false;

	if (lane->item.letter == '\0' && lane->late == 0)
		return false;
	for (;; any = true) {
		if (r->held_limit > 0 && lane->late > 0 && fill_gap(r, s, lane))
			continue;
		if (!run_next(r, s, lane))
			break;
		if (written && lane->item.letter != START)
			write_down(r, s, lane->item, lane->row);
		fetch_item(r, s, lane);
	}
	r->busy_lanes -= lane->item.letter == '\0' && lane->late == 0;
	return any;
}

/* When a stage ends at least: what it has not begun follows without a gap. */
static double least_end(const struct runner *r, int s)
{
	const struct simulate_times *t = r->times;
	double end = r->now.lane[s].free + r->left_out;

	for (int chunk = 0; chunk < r->order.chunks; chunk++) {
		const struct row *row = &r->now.row[row_of(r, s, chunk)];
		int k = row->position;

		end += (r->each - row->forwards) * t->forward[k] +
		       (r->each - row->backwards) *
			       (t->input_grad[k] + t->weight_grad[k]);
	}
	return end;
}

/* Whether the run is sure to take longer than anybody asks; looked at now and then. */
static bool is_late(const struct runner *r)
{
	enum { OFTEN = 4 };

	if (r->enough <= 0 || r->sweeps % OFTEN != 0)
		return false;
	for (int s = 0; s < r->order.stages; s++)
		if (least_end(r, s) > r->enough)
			return true;
	return false;
}

/* Alternate directions: work flows down in forwards and up in backwards. */
static bool run_all(struct runner *r)
{
	while (r->busy_lanes > 0 && !is_late(r)) {
		bool any = false;

		for (int s = 0; s < r->order.stages; s++)
			any = run_stage(r, s) || any;
		for (int s = r->order.stages - 1; s >= 0; s--)
			any = run_stage(r, s) || any;
		if (!any)
			return false;
		flow_look_back(r);
	}
	return true;
}

static bool take_state(struct runner *r, struct arena *arena, struct state *out)
{
	size_t rows = (size_t)r->rows, ends = (2 * rows + 2) << r->shift;

	out->lane = arena_take(arena, (size_t)r->order.stages, sizeof *out->lane);
	out->row = arena_take(arena, rows, sizeof *out->row);
	out->forward = arena_take(arena, ends, sizeof *out->forward);
	if (!out->forward)
		return false;
	memset(out->forward, 0, ends * sizeof *out->forward);
	out->backward = out->forward + (rows << r->shift);
	return out->lane && out->row;
}

/* What is left, where times decide nothing of the order. */
static void take_tape(struct runner *r, struct arena *arena)
{
	size_t left = (arena->size - arena->used) / sizeof *r->tape.note;

	if (left < 2 || r->order.rule->held_limit || r->list)
		return;
	r->tape.note = arena_take(arena, left - 1, sizeof *r->tape.note);
	r->tape.most = (int)left - 1;
}

/* Room for as many ends as a stage may be ahead of its neighbour, and for states to
 * look back at; without one, every item is run. */
static bool take_room(struct runner *r, const struct arena *arena)
{
	struct memory *brief = &r->memory[0], *lasting = &r->memory[1];
	struct arena lent;

	for (int shift = MOST_SHIFT; shift >= 0; shift--) {
		lent = *arena;
		r->shift = shift;
		r->mask = (1 << shift) - 1;
		if (!take_state(r, &lent, &r->now) ||
		    !take_state(r, &lent, &lasting->kept))
			continue;
		if (!take_state(r, &lent, &brief->kept))
			brief->kept.lane = NULL;
		take_tape(r, &lent);
		return true;
	}
	lent = *arena;
	brief->kept.lane = lasting->kept.lane = NULL;
	return take_state(r, &lent, &r->now);
}

static void start_rows(struct runner *r)
{
	int p = r->order.stages, depth = r->order.depth;
	bool both = r->order.placement == PLACE_TWO_WAY;

	for (int i = 0; i < r->rows; i++) {
		int position = both ? i % p : i;

		/* a V turns on the spot */
		r->now.row[i] = (struct row){ .position = (int16_t)position,
					      .first = position == 0,
					      .last = position + 1 == depth,
					      .forward_in = i % p > 0,
					      .backward_in = i % p + 1 < p };
	}
}

static void start_all(struct runner *r)
{
	int p = r->order.stages, m = r->order.micro_batches;

	start_rows(r);
	memset(r->now.lane, 0, (size_t)p * sizeof *r->now.lane);
	r->busy_lanes = p;
	r->sweeps = 0;
	r->looks_back = !r->list;
	r->tape.count = r->tape.room = r->tape.sweeps = 0;
	for (int i = 0; i < MEMORIES; i++) {
		struct memory *memory = &r->memory[i];

		memory->passed = 0;
		memory->is_kept = false;
		memory->most = i == 0 ? SHORT_MEMORY : 2 * SHORT_MEMORY;
	}
	r->each = order_each(&r->order);
	r->cuts = m < 2 * p || (r->order.rule->by_stages && m % p > 0);
	for (int s = 0; s < p; s++) {
		struct lane *lane = &r->now.lane[s];

		r->start[s] = -1;
		r->peak[s] = 0;
		order_start(&r->order, s, &lane->cursor);
		lane->item.letter = START;
		if (r->list)
			r->list->count[s] = 0;
	}
}

static void close_stages(const struct runner *r, struct flow *out)
{
	out->seconds = out->span = r->busy_lanes > 0 ? INFINITY : 0;
	for (int s = 0; s < r->order.stages; s++) {
		const struct lane *lane = &r->now.lane[s];
		double end = lane->free + r->left_out;

		out->seconds = larger(out->seconds, end);
		out->span = larger(out->span, end - r->start[s]);
		out->hidden[s] = lane->hidden;
		out->hidden_sends[s] = lane->hidden_sends;
	}
}

bool flow_run(const struct schedule_request *request,
	      const struct simulate_times *times, struct schedule *list,
	      struct flow *out)
{
	alignas(16) unsigned char room[ROOM];
	const struct arena arena = { room, sizeof room, 0 };
	double start[MAX_STAGES], send = times->send_seconds;
	struct runner r = { .times = times,
			    .list = list,
			    .enough = out->enough,
			    .latency[1] = times->overlap_send ? send : 0,
			    .hold[1] = times->overlap_send ? 0 : send,
			    .start = start,
			    .peak = out->peak_chunks };
	int more = 0;

	if (!order_prepare(request, &r.order))
		return false;
	r.rows = r.order.stages * r.order.chunks;
	if (!take_room(&r, &arena))
		return false;
	/* more than the rule allows, only if it can't run otherwise */
	do {
		if (r.order.rule->held_limit)
			r.held_limit = r.order.rule->held_limit(&r.order) + more;
		start_all(&r);
		if (run_all(&r)) {
			close_stages(&r, out);
			return true;
		}
	} while (r.order.rule->held_limit && more++ <= 2 * r.order.stages + 4);
	return false;
}
