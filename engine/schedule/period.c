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

static void keep(struct runner *r)
{
	size_t ends = ((size_t)r->rows << r->shift) * sizeof(double);

	memcpy(r->kept.lane, r->now.lane,
	       (size_t)r->order.stages * sizeof *r->now.lane);
	memcpy(r->kept.row, r->now.row, (size_t)r->rows * sizeof *r->now.row);
	memcpy(r->kept.forward, r->now.forward, ends);
	memcpy(r->kept.backward, r->now.backward, ends);
	r->most += r->most / 8 + 2;
	r->passed = 0;
	r->has_kept = true;
}

/* Forwards that every stage ran since the state was kept; 0 if some ran more. */
static int advance_of(const struct runner *r)
{
	int more = r->now.lane[0].forwards - r->kept.lane[0].forwards;

	for (int s = 0; s < r->order.stages; s++) {
		const struct lane *now = &r->now.lane[s], *kept = &r->kept.lane[s];

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

static bool row_moved(const struct runner *r, int at, const struct move *by)
{
	const struct row *now = &r->now.row[at], *kept = &r->kept.row[at];
	int ends = at << r->shift;

	return now->forwards - kept->forwards == by->each &&
	       now->backwards - kept->backwards == by->each &&
	       (now->last ||
		ends_moved(by, r->mask, now[1].forwards, now->forwards,
			   r->now.forward + ends, r->kept.forward + ends)) &&
	       (now->first ||
		ends_moved(by, r->mask, now[-1].backwards, now->backwards,
			   r->now.backward + ends, r->kept.backward + ends));
}

static bool all_moved(const struct runner *r, int forwards, double more)
{
	bool patient = r->sweeps < PATIENCE;
	double close = patient ? 1e-13 * r->now.lane[0].free : nearly * more;
	struct move by = { forwards / r->order.chunks, more - close, more + close };

	for (int s = 0; s < r->order.stages; s++) {
		double moved = r->now.lane[s].free - r->kept.lane[s].free;

		if (moved < by.least || moved > by.most)
			return false;
	}
	for (int i = 0; i < r->rows; i++)
		if (!row_moved(r, i, &by))
			return false;
	return true;
}

/* Times that what every stage did since the state was kept comes again. */
static int repeats(const struct runner *r, int micro_batches)
{
	int least = INT32_MAX;

	for (int s = 0; s < r->order.stages && least > 0; s++) {
		int times = order_repeats(&r->order, s, &r->kept.lane[s].cursor,
					  &r->now.lane[s].cursor, micro_batches);

		least = times < least ? times : least;
	}
	return least;
}

static void leave_out(struct runner *r, int times, int micro_batches, double more)
{
	int less = times * micro_batches;

	for (int s = 0; s < r->order.stages; s++) {
		struct lane *now = &r->now.lane[s], *kept = &r->kept.lane[s];

		order_shorten(&r->order, s, less, &now->cursor);
		now->hidden += times * (now->hidden - kept->hidden);
		now->hidden_sends += times * (now->hidden_sends - kept->hidden_sends);
	}
	order_cut(&r->order, less);
	r->each = order_each(&r->order);
	r->left_out = times * more;
	r->most = INT32_MAX; /* it is done once */
}

void flow_look_back(struct runner *r)
{
	int forwards, micro_batches, times;
	double more;

	if (r->most == INT32_MAX)
		return;
	r->sweeps++;
	if (++r->passed >= r->most) {
		keep(r);
		return;
	}
	if (!r->has_kept)
		return;
	forwards = advance_of(r);
	if (forwards <= 0 || forwards % r->order.chunks != 0)
		return;
	micro_batches = forwards / r->order.chunks;
	if (r->order.placement == PLACE_TWO_WAY)
		micro_batches *= 2;
	more = r->now.lane[0].free - r->kept.lane[0].free;
	if (!all_moved(r, forwards, more))
		return;
	times = repeats(r, micro_batches);
	if (times > 0)
		leave_out(r, times, micro_batches, more);
}
