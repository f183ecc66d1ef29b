/* front.c - 1F1B (PipeDream-flush, DAPPLE) and Megatron's interleaved 1F1B (Narayanan
 * et al. 2021) with a micro-batch group size, all stages moved forward together.
 *
 * Virtual micro-batches are numbered in the order that every stage runs them: a
 * group of N micro-batches through chunk 0, the same through chunk 1 ...; backwards
 * likewise from the last chunk. In step q stage s runs forward q - s and then, of v > 1
 * chunks, backward q - d + s with d = 2(p - 1) + (v - 1)N: what it needs from a
 * neighbour was made one step before, and what comes round from the other end of the
 * pipeline N - p + 1 steps before. With one chunk it runs backward q - (p - 1), which
 * the stage behind it made in the same step.
 *
 * The times are a max-plus linear system: once a round of the order has moved every
 * time of the state by the same seconds, all later rounds do, and are not run. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/pipeline/rounds.h"

enum { MAX_DELAY = 1024 }; /* a power of two */
/* Ways up and down stages of nearly the same speed may take thousands of micro-batches
 * until one of them leads. From so many steps on it is enough if what is between a kept
 * state and now is the same for all within this share of it. */
enum { PATIENCE = 16384 };
static const double nearly = 1e-4;

static int64_t cell_of(int64_t step)
{
	return step & (MAX_DELAY - 1);
}

/* A run of one group through one chunk, in virtual micro-batches. */
struct phase {
	int64_t start, end;
	int chunk;
	int64_t left; /* micro-batches behind this group */
};

struct front {
	const struct rounds *r;
	int64_t virtual, ahead, step;
	struct phase f, b;
	double y[MAX_STAGES + 1]; /* y[s + 1]: end of stage s's latest forward */
	double x[MAX_STAGES + 1]; /* x[s]: of its latest backward */
	double tf[MAX_STAGES], tb[MAX_STAGES]; /* of the chunk it is in */
	/* Of one chunk: from a stage's latest backward to the first stage's. */
	double way[MAX_STAGES];
	double y_ring[MAX_DELAY], x_ring[MAX_DELAY];
};

/* The state some rounds ago, and when to look next whether it was the same. */
struct memory {
	int64_t look, round;  /* steps */
	int64_t passed, most; /* rounds since it was kept, and until another is */
	int delay;            /* of what comes round, in steps */
	double y[MAX_STAGES + 1], x[MAX_STAGES + 1];
	double y_round[MAX_DELAY], x_round[MAX_DELAY];
};

static int64_t group_size(const struct rounds *r, int64_t left)
{
	return lower(left, r->group);
}

static void phase_start(const struct rounds *r, struct phase *phase, int chunk)
{
	phase->start = 0;
	phase->end = group_size(r, r->micro_batches);
	phase->chunk = chunk;
	phase->left = r->micro_batches - phase->end;
}

static void phase_next(const struct rounds *r, struct phase *phase, int up)
{
	int64_t size = phase->end - phase->start;

	phase->chunk += up;
	if (phase->chunk == r->chunks || phase->chunk < 0) {
		phase->chunk = up > 0 ? 0 : r->chunks - 1;
		size = group_size(r, phase->left);
		phase->left -= size;
	}
	phase->start = phase->end;
	phase->end += size;
}

static void front_start(const struct rounds *r, struct front *at)
{
	int64_t turns = r->chunks - 1;

	at->r = r;
	at->virtual = r->micro_batches * r->chunks;
	at->ahead = (turns > 0 ? 2 : 1) * (r->stages - 1) +
		    turns * group_size(r, r->micro_batches);
	at->step = 0;
	phase_start(r, &at->f, 0);
	phase_start(r, &at->b, r->chunks - 1);
	for (int s = 0; s <= r->stages; s++)
		at->y[s] = at->x[s] = 0;
	if (turns == 0) {
		memcpy(at->tf, r->forward, (size_t)r->stages * sizeof *at->tf);
		memcpy(at->tb, r->backward, (size_t)r->stages * sizeof *at->tb);
		at->y[0] = -INFINITY;
		at->way[0] = 0;
		for (int s = 1; s < r->stages; s++)
			at->way[s] = at->way[s - 1] + r->backward[s - 1] + r->latency;
	}
}

/* One stage enters a new phase in each of the first p steps of it. */
static void enter_forward(struct front *at)
{
	const struct rounds *r = at->r;
	int64_t s, delay;

	if (at->step == at->f.end)
		phase_next(r, &at->f, 1);
	s = at->step - at->f.start;
	if (s < r->stages)
		at->tf[s] = r->forward[at->f.chunk * r->stages + s];
	delay = at->f.end - at->f.start - r->stages + 1;
	at->y[0] = at->f.chunk > 0 ? at->y_ring[cell_of(at->step - delay)] : -INFINITY;
}

static void enter_backward(struct front *at)
{
	const struct rounds *r = at->r;
	int64_t number = at->step - at->ahead + r->stages - 1, s, delay;

	if (number == at->b.end)
		phase_next(r, &at->b, -1);
	s = r->stages - 1 - (number - at->b.start);
	if (s >= 0)
		at->tb[s] = r->backward[at->b.chunk * r->stages + s];
	delay = at->b.end - at->b.start - r->stages + 1;
	at->x[r->stages] = at->b.chunk < r->chunks - 1
				   ? at->x_ring[cell_of(at->step - delay)]
				   : -INFINITY;
}

/* Forwards of stages low to high. None needs what another one makes here: those of two
 * stages are written together, which compilers make one instruction of. */
static void run_forwards(struct front *at, int64_t low, int64_t high)
{
	double *y = at->y, *x = at->x, latency = at->r->latency, made[2];
	int64_t s = high;

	for (; s > low; s -= 2) {
		for (int64_t i = 0, k = s - 1; i < 2; i++, k++)
			made[i] = at->tf[k] +
				  larger(larger(y[k + 1], x[k]), y[k] + latency);
		memcpy(y + s, made, sizeof made);
	}
	if (s == low)
		y[s + 1] = at->tf[s] + larger(larger(y[s + 1], x[s]), y[s] + latency);
}

/* And backwards, of several chunks. */
static void run_backwards(struct front *at, int64_t low, int64_t high)
{
	double *y = at->y, *x = at->x, latency = at->r->latency, made[2];
	int64_t s = low;

	for (; s < high; s += 2) {
		for (int64_t i = 0, k = s; i < 2; i++, k++)
			made[i] = at->tb[k] +
				  larger(larger(y[k + 1], x[k]), x[k + 1] + latency);
		memcpy(x + s, made, sizeof made);
	}
	if (s == high)
		x[s] = at->tb[s] + larger(larger(y[s + 1], x[s]), x[s + 1] + latency);
}

/* A step of several chunks. */
static void run_step(struct front *at)
{
	int64_t last = at->r->stages - 1, behind = at->step - at->ahead;

	if (at->step < at->virtual)
		enter_forward(at);
	run_forwards(at, higher(0, at->step - at->virtual + 1), lower(last, at->step));
	if (behind + last >= 0) {
		if (behind + last < at->virtual)
			enter_backward(at);
		run_backwards(at, higher(0, -behind),
			      lower(last, at->virtual - 1 - behind));
	}
	at->y_ring[cell_of(at->step)] = at->y[last + 1];
	at->x_ring[cell_of(at->step)] = at->x[0];
	at->step++;
}

/* And of one. A backward waits for that of the next stage in the same step: the latest
 * of all behind it decides, seen from the first stage. */
static void run_plain_step(struct front *at)
{
	double *y = at->y, *x = at->x, latest = -INFINITY;
	int last = at->r->stages - 1;

	run_forwards(at, higher(0, at->step - at->virtual + 1), lower(last, at->step));
	for (int s = last; s >= 0 && at->step >= at->ahead; s--) {
		double alone = at->tb[s] + larger(y[s + 1], x[s]);

		latest = larger(latest, alone + at->way[s]);
		x[s] = latest - at->way[s];
	}
	at->step++;
}

/* Rounds are whole groups; there are some once every stage has run a backward. */
static void memory_start(const struct front *at, struct memory *kept)
{
	const struct rounds *r = at->r;
	int64_t group = group_size(r, r->micro_batches);

	kept->delay = r->chunks > 1 ? (int)(group - r->stages + 1) : 0;
	kept->round = r->chunks > 1 ? group * r->chunks : 1;
	kept->look = at->ahead + 1;
	kept->passed = kept->most = 0;
}

static void keep_front(const struct front *at, struct memory *kept)
{
	size_t bytes = ((size_t)at->r->stages + 1) * sizeof *at->y;

	memcpy(kept->y, at->y, bytes);
	memcpy(kept->x, at->x, bytes);
	for (int i = 0; i < kept->delay; i++) {
		kept->y_round[i] = at->y_ring[cell_of(at->step - 1 - i)];
		kept->x_round[i] = at->x_ring[cell_of(at->step - 1 - i)];
	}
	kept->most = kept->most > 0 ? 2 * kept->most : 1;
	kept->passed = 0;
}

/* Whether a time came no more than `close` seconds off `more` later. */
static bool moved(double now, double then, double more, double close)
{
	return fabs(now - then - more) <= close;
}

/* Whether all of the state came `more` seconds later. */
static bool has_moved(const struct front *at, const struct memory *kept, double more)
{
	bool patient = at->step < PATIENCE;
	double close = patient ? 1e-13 * at->x[0] : nearly * more;
	bool all = true;

	for (int s = 0; s < at->r->stages && all; s++)
		all = moved(at->x[s], kept->x[s], more, close) &&
		      moved(at->y[s + 1], kept->y[s + 1], more, close);
	for (int i = 0; i < kept->delay && all; i++) {
		int64_t cell = cell_of(at->step - 1 - i);

		all = moved(at->x_ring[cell], kept->x_round[i], more, close) &&
		      moved(at->y_ring[cell], kept->y_round[i], more, close);
	}
	return all;
}

/* Where the rounds since the kept state say what all others do, these are left out:
 * returns the seconds that they would take. */
static double leave_out(struct front *at, struct memory *kept)
{
	int64_t each = kept->round / at->r->chunks;
	int64_t left = at->r->chunks > 1 ? at->f.left / each : at->virtual - at->step;
	int64_t times;
	double more = kept->most > 0 ? at->x[0] - kept->x[0] : 0;

	kept->look += kept->round;
	if (kept->most == 0 || !has_moved(at, kept, more)) {
		kept->passed++;
		if (kept->passed >= kept->most)
			keep_front(at, kept);
		return 0;
	}
	kept->passed++;
	times = left / kept->passed;
	at->virtual -= times * kept->passed * kept->round;
	at->f.left -= times * kept->passed * each;
	at->b.left -= times * kept->passed * each;
	kept->look = -1;
	return (double)times * more;
}

static double run_front(const struct rounds *r)
{
	struct front at;
	struct memory kept;
	double end = 0, more = 0;

	front_start(r, &at);
	memory_start(&at, &kept);
	while (at.step < at.virtual + at.ahead) {
		if (at.step == kept.look && at.step < at.virtual)
			more = leave_out(&at, &kept);
		if (r->chunks > 1)
			run_step(&at);
		else
			run_plain_step(&at);
	}
	for (int s = 0; s < r->stages; s++)
		end = larger(end, larger(at.x[s], at.y[s + 1]));
	return end + more;
}

/* The seconds that one more micro-batch costs the busiest stage. */
static double busiest_seconds(const struct rounds *r)
{
	double most = 0;

	for (int s = 0; s < r->stages; s++) {
		double work = 0;

		for (int k = s; k < r->stages * r->chunks; k += r->stages)
			work += r->forward[k] + r->backward[k];
		most = larger(most, work);
	}
	return most;
}

/* Groups and micro-batches that a stack would run; the seconds that this adds. */
static double make_whole(struct rounds *r)
{
	int64_t p = r->stages, rest;

	r->group = lower(higher(r->group, p), MAX_DELAY);
	rest = r->micro_batches % r->group;
	if (rest == 0 || rest >= p)
		return 0;
	/* No stack runs that (rule E14): take the next that one would run. */
	r->micro_batches += p - rest;
	return (double)(p - rest) * busiest_seconds(r);
}

static double run_with(struct rounds *r, int64_t micro_batches)
{
	r->micro_batches = r->group = micro_batches;
	return run_front(r);
}

/* Micro-batches x virtual stages of a breadth-first run that is not continued. */
enum { EFFORT = 48000 };

/* One group for all (breadth-first): every path is that of its ends and so many times
 * what it meets in the middle of each chunk, a straight line from some number on. */
static double run_breadth(struct rounds *r, int64_t most)
{
	double m = (double)r->micro_batches, half = (double)(most / 2);
	double less = run_with(r, most / 2), more = run_with(r, most);

	return more + (more - less) * ((m - (double)most) / ((double)most - half));
}

/* One chunk, where the last stage takes longest by a message there and back: once it
 * has begun it never waits. Of two backwards of the stage behind it, a stage gets the
 * first, runs it and a forward, and hands that on before the second has begun. */
static bool last_leads(const struct rounds *r, double *seconds)
{
	int last = r->stages - 1;
	double each = r->forward[last] + r->backward[last];
	double way = each + 2 * last * r->latency;

	for (int s = 0; s < last; s++) {
		double both = r->forward[s] + r->backward[s];

		if (both + 2 * r->latency > each)
			return false;
		way += both;
	}
	*seconds = way + (double)(r->micro_batches - 1) * each;
	return true;
}

double rounds_seconds(struct rounds *r)
{
	int64_t most = EFFORT / (r->stages * r->chunks);
	bool one_group = r->group >= r->micro_batches;
	double surplus, seconds;

	if (r->chunks == 1)
		return last_leads(r, &seconds) ? seconds : run_front(r);
	most = lower(higher(most, 4 * r->stages), MAX_DELAY);
	if (one_group && r->micro_batches > most && !rounds_are_even(r))
		return run_breadth(r, most);
	surplus = make_whole(r);
	return (rounds_are_even(r) ? rounds_paths(r) : run_front(r)) - surplus;
}

double rounds_floor(struct rounds *r)
{
	double surplus = make_whole(r);

	return rounds_paths(r) - surplus;
}
