/* period.c - does a run repeat itself? A state is kept from time to time. Once every
 * stage is at the same place of its order again, and all of the state has come the same
 * seconds later, the run goes on like that: the system is max-plus linear. */
#include <string.h>

#include "engine/schedule/flow_run.h"

/* Two stages of nearly the same speed may take thousands of micro-batches until one
 * waits for the other. From so many sweeps on it is enough if what is between a kept
 * state and now is the same for all within this share of it. */
enum { PATIENCE = 8192 };
static const double nearly = 1e-4;

static void keep(const struct runner *r, struct memory *memory)
{
	size_t ends = ((size_t)r->rows << r->shift) * sizeof(double);

	memcpy(memory->kept.lane, r->now.lane,
	       (size_t)r->order.stages * sizeof *r->now.lane);
	memcpy(memory->kept.row, r->now.row, (size_t)r->rows * sizeof *r->now.row);
	memcpy(memory->kept.forward, r->now.forward, ends);
	memcpy(memory->kept.backward, r->now.backward, ends);
	memory->passed = 0;
	memory->is_kept = true;
}

/* Forwards that every stage ran since the state was kept; 0 if some ran more. */
static int advance_of(const struct runner *r, const struct state *before)
{
	int more = r->now.lane[0].forwards - before->lane[0].forwards;

	for (int s = 0; s < r->order.stages; s++) {
		const struct lane *now = &r->now.lane[s], *kept = &before->lane[s];

		if (now->forwards - kept->forwards != more || now->held != kept->held ||
		    now->late != kept->late || now->item.letter == '\0' ||
		    now->item.letter != kept->item.letter ||
		    now->item.chunk != kept->item.chunk)
			return 0;
	}
	return more;
}

/* What ran on every chunk since a state was kept, and how much later all is. */
struct move {
	int each;
	double least, most;
};

/* Whether ends of a row that a neighbour has not taken yet came that much later. */
static bool ends_moved(const struct move *by, int mask, int taken, int there,
		       const double *now, const double *kept)
{
	for (int i = taken; i < there; i++) {
		double more = now[i & mask] - kept[(i - by->each) & mask];

		if (more < by->least || more > by->most)
			return false;
	}
	return true;
}

static bool row_moved(const struct runner *r, const struct state *before, int at,
		      const struct move *by)
{
	const struct row *now = &r->now.row[at], *kept = &before->row[at];
	int ends = at << r->shift;

	return now->forwards - kept->forwards == by->each &&
	       now->backwards - kept->backwards == by->each &&
	       (now->last ||
		ends_moved(by, r->mask, now[1].forwards, now->forwards,
			   r->now.forward + ends, before->forward + ends)) &&
	       (now->first ||
		ends_moved(by, r->mask, now[-1].backwards, now->backwards,
			   r->now.backward + ends, before->backward + ends));
}

static bool all_moved(const struct runner *r, const struct state *before, int forwards,
		      double more)
{
	bool patient = r->sweeps < PATIENCE;
	double close = patient ? 1e-13 * r->now.lane[0].free : nearly * more;
	struct move by = { forwards / r->order.chunks, more - close, more + close };

	for (int s = 0; s < r->order.stages; s++) {
		double moved = r->now.lane[s].free - before->lane[s].free;

		if (moved < by.least || moved > by.most)
			return false;
	}
	for (int i = 0; i < r->rows; i++)
		if (!row_moved(r, before, i, &by))
			return false;
	return true;
}

/* Times that what every stage did since the state was kept comes again. */
static int repeats(const struct runner *r, const struct state *before,
		   int micro_batches)
{
	int least = INT32_MAX;

	for (int s = 0; s < r->order.stages && least > 0; s++) {
		int times = order_repeats(&r->order, s, &before->lane[s].cursor,
					  &r->now.lane[s].cursor, micro_batches);

		least = times < least ? times : least;
	}
	return least;
}

static void leave_out(struct runner *r, const struct state *before, int times,
		      int micro_batches, double more)
{
	int less = times * micro_batches;

	for (int s = 0; s < r->order.stages; s++) {
		struct lane *now = &r->now.lane[s];
		const struct lane *kept = &before->lane[s];

		order_shorten(&r->order, s, less, &now->cursor);
		now->hidden += times * (now->hidden - kept->hidden);
		now->hidden_sends += times * (now->hidden_sends - kept->hidden_sends);
	}
	order_cut(&r->order, less);
	r->each = order_each(&r->order);
	r->left_out = times * more;
	r->looks_back = false; /* it is done once */
}

/* Whether what was run since then comes again, and was left out. */
static bool compare_with(struct runner *r, const struct state *before)
{
	int forwards = advance_of(r, before), micro_batches, times;
	double more;

	if (forwards <= 0 || forwards % r->order.chunks != 0)
		return false;
	micro_batches = forwards / r->order.chunks;
	if (r->order.placement == PLACE_TWO_WAY)
		micro_batches *= 2;
	more = r->now.lane[0].free - before->lane[0].free;
	if (!all_moved(r, before, forwards, more))
		return false;
	times = repeats(r, before, micro_batches);
	if (times > 0)
		leave_out(r, before, times, micro_batches, more);
	return times > 0;
}

void flow_look_back(struct runner *r)
{
	r->sweeps++;
	for (int i = 0; i < MEMORIES && r->looks_back; i++) {
		struct memory *memory = &r->memory[i];

		if (!memory->kept.lane)
			continue;
		if (++memory->passed < memory->most) {
			if (memory->is_kept && compare_with(r, &memory->kept))
				return;
			continue;
		}
		keep(r, memory);
		if (i > 0)
			memory->most += memory->most / 8 + 2;
	}
}
