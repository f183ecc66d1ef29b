/* period.c - does a run repeat itself? A state is kept from time to time. Once every
 * stage is at the same place of its order again, and all of the state has come the same
 * seconds later, the run goes on like that: the system is max-plus linear. Stages that
 * are a little quicker than the slowest fall behind it for long before that, while the
 * items come again: one such round is written to a tape, and only its times are played.
 */
#include <string.h>

#include "engine/base/plain.h"
#include "engine/schedule/flow_run.h"

/* Two stages of nearly the same speed may take thousands of micro-batches until one
 * waits for the other. From so many sweeps on it is enough if what is between a kept
 * state and now is the same for all within this share of it. */
enum { PATIENCE = 8192 };
static const double nearly = 1e-4;
/* Rounds from which on a tape is quicker than to run them. */
enum { TAPED = 4 };

static void keep_state(const struct runner *r, struct memory *memory)
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

/* Whether a row ran so many more. */
static bool ran(const struct runner *r, const struct state *before, int at, int each)
{
	const struct row *now = &r->now.row[at], *kept = &before->row[at];

	return now->forwards - kept->forwards == each &&
	       now->backwards - kept->backwards == each;
}

/* Micro-batches that all of the state ran since it was kept; 0 if parts ran more, or a
 * part of one. */
static int ran_since(const struct runner *r, const struct state *before)
{
	int forwards = advance_of(r, before), each = forwards / r->order.chunks;

	if (forwards <= 0 || forwards % r->order.chunks != 0)
		return 0;
	for (int i = 0; i < r->rows; i++)
		if (!ran(r, before, i, each))
			return 0;
	return r->order.placement == PLACE_TWO_WAY ? 2 * each : each;
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
	const struct row *now = &r->now.row[at];
	int ends = at << r->shift;

	return (now->last ||
		ends_moved(by, r->mask, now[1].forwards, now->forwards,
			   r->now.forward + ends, before->forward + ends)) &&
	       (now->first ||
		ends_moved(by, r->mask, now[-1].backwards, now->backwards,
			   r->now.backward + ends, before->backward + ends));
}

static bool all_moved(const struct runner *r, const struct state *before)
{
	double more = r->now.lane[0].free - before->lane[0].free;
	bool patient = r->sweeps < PATIENCE;
	double close = patient ? 1e-13 * r->now.lane[0].free : nearly * more;
	struct move by = { r->now.row[0].forwards - before->row[0].forwards,
			   more - close, more + close };

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
static int count_repeats(const struct runner *r, const struct state *before,
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

/* What comes that often again, and takes these seconds. */
static void leave_out(struct runner *r, const struct state *before, int times,
		      int micro_batches, double seconds)
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
	r->left_out = seconds;
	r->looks_back = false; /* it is done once */
}

/* A round has to end in the same places of rows' ends as it began. */
static bool can_tape(const struct runner *r, int micro_batches)
{
	int copies = r->order.placement == PLACE_TWO_WAY ? 2 : 1;

	return micro_batches > 0 && r->tape.most > 0 &&
	       (micro_batches / copies & r->mask) == 0;
}

/* The items of the tape once more: their times alone. */
static void play_tape(struct runner *r, const struct note *note, const struct note *end)
{
	double *ends = r->now.forward;

	for (; note < end; note++) {
		double *free = &r->now.lane[note->stage].free;

		*free = larger(*free, ends[note->in] + r->latency[note->moves]) +
			note->time;
		ends[note->out] = *free;
	}
}

/* Rounds that were played, and how many when each memory was kept. */
struct rounds_played {
	int done, kept[MEMORIES];
};

/* Whether all of the state moved by the same seconds since a memory was kept: returns
 * these, and the rounds since then. */
static double moved_since(const struct runner *r, const struct rounds_played *played,
			  int *rounds)
{
	for (int i = 0; i < MEMORIES; i++) {
		const struct state *kept = &r->memory[i].kept;

		*rounds = played->done - played->kept[i];
		if (kept->lane && *rounds > 0 && all_moved(r, kept))
			return r->now.lane[0].free - kept->lane[0].free;
	}
	return 0;
}

/* The first each time, the second twice as late each time. */
static void keep_rounds(const struct runner *r, struct memory *memory,
			struct rounds_played *played)
{
	for (int i = 0; i < MEMORIES; i++) {
		if (!memory[i].kept.lane ||
		    (i > 0 && played->done < 2 * played->kept[i]))
			continue;
		keep_state(r, &memory[i]);
		played->kept[i] = played->done;
	}
}

/* Up to so many rounds, until the times come again as well; returns the seconds of
 * those that are left out. */
static double play_rounds(struct runner *r, int times)
{
	const struct note *note = r->tape.note, *end = note + r->tape.count;
	struct rounds_played played = { 0 };
	int sweeps = r->tape.since->passed, rounds = 1;
	double more = 0;

	while (more == 0 && played.done < times) {
		keep_rounds(r, r->memory, &played);
		play_tape(r, note, end);
		played.done++;
		r->sweeps += sweeps;
		more = moved_since(r, &played, &rounds);
	}
	if (more == 0)
		return 0;
	times -= played.done;
	for (int i = 0; i < times % rounds; i++)
		play_tape(r, note, end);
	return times / rounds * more;
}

/* From here on, for as many sweeps as since the state was kept. */
static void begin_tape(struct runner *r, struct memory *memory)
{
	r->tape.since = memory;
	r->tape.sweeps = memory->passed;
	r->tape.room = r->tape.most;
	r->tape.count = 0;
	keep_state(r, memory);
}

static void end_tape(struct runner *r)
{
	struct tape *tape = &r->tape;
	const struct state *before = &tape->since->kept;
	int micro_batches = ran_since(r, before), times = 0;

	if (tape->count == tape->room)
		tape->most = 0; /* nor will it have room later */
	else if (micro_batches > 0)
		times = count_repeats(r, before, micro_batches);
	tape->room = 0;
	if (times > 0)
		leave_out(r, before, times, micro_batches, play_rounds(r, times));
}

/* Whether what was run since then comes again: it is left out, or where its times are
 * not yet the same seconds later, taped. */
static bool compare_with(struct runner *r, struct memory *memory)
{
	const struct state *before = &memory->kept;
	double more = r->now.lane[0].free - before->lane[0].free;
	int micro_batches = ran_since(r, before), times;
	bool moved = micro_batches > 0 && all_moved(r, before);

	if (!moved && !can_tape(r, micro_batches))
		return false;
	times = count_repeats(r, before, micro_batches);
	if (times < (moved ? 1 : TAPED))
		return false;
	if (moved)
		leave_out(r, before, times, micro_batches, times * more);
	else
		begin_tape(r, memory);
	return true;
}

/* Sweeps that the second memory lasts beyond `most`. Those of a unit of as many
 * micro-batches as there are stages are no more than these. */
static int longer(const struct runner *r, int most)
{
	int unit = r->order.rule->by_stages ? r->order.stages + 1 : 0;
	int more = most / 8 + 2;

	return most + more < unit ? unit - most : more;
}

void flow_look_back(struct runner *r)
{
	struct tape *tape = &r->tape;

	r->sweeps++;
	if (tape->sweeps > 0) {
		tape->since->passed++;
		if (--tape->sweeps == 0)
			end_tape(r);
		return;
	}
	for (int i = 0; i < MEMORIES && r->looks_back; i++) {
		struct memory *memory = &r->memory[i];

		if (!memory->kept.lane)
			continue;
		if (++memory->passed < memory->most) {
			if (memory->is_kept && compare_with(r, memory))
				return;
			continue;
		}
		keep_state(r, memory);
		if (i > 0)
			memory->most += longer(r, memory->most);
	}
}
