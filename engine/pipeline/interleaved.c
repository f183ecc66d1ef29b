/* interleaved.c - Megatron's interleaved 1F1B (Narayanan et al. 2021) with
 * a micro-batch group size.
 *
 * Virtual micro-batches are numbered in the order that every stage runs them: a
 * group of N micro-batches through chunk 0, the same through chunk 1 ...; backwards
 * likewise from the last chunk. Stage s runs w = 2(p - 1 - s) + (v - 1)N forwards
 * ahead. In step q stage s runs forward q - s and backward q - d + s with
 * d = 2(p - 1) + (v - 1)N; what it needs from a neighbour was made one step before,
 * and what comes round from the other end of the pipeline N - p + 1 steps before. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/pipeline/rounds.h"

enum { MAX_DELAY = 1024 };

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
	double tf[MAX_STAGES], tb[MAX_STAGES]; /* times of the chunk it is in */
	double y_ring[MAX_DELAY], x_ring[MAX_DELAY];
};

static int64_t group_size(const struct rounds *r, int64_t left)
{
	return left < r->group ? left : r->group;
}

static void phase_start(const struct rounds *r, struct phase *phase, int chunk,
			int64_t first)
{
	phase->start = 0;
	phase->end = first;
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

/* first: size of the first group. */
static void front_start(const struct rounds *r, struct front *at, int64_t first)
{
	at->r = r;
	at->virtual = r->micro_batches * r->chunks;
	at->ahead =
		2 * (r->stages - 1) + (r->chunks - 1) * group_size(r, r->micro_batches);
	at->step = 0;
	phase_start(r, &at->f, 0, first);
	phase_start(r, &at->b, r->chunks - 1, first);
	for (int s = 0; s <= r->stages; s++)
		at->y[s] = at->x[s] = 0;
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
	at->y[0] = at->f.chunk > 0 ? at->y_ring[(at->step - delay) % MAX_DELAY]
				   : -INFINITY;
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
				   ? at->x_ring[(at->step - delay) % MAX_DELAY]
				   : -INFINITY;
}

static void run_step(struct front *at)
{
	const struct rounds *r = at->r;
	int64_t p = r->stages, q = at->step, behind = q - at->ahead;
	int64_t low = q - at->virtual + 1, high = q;
	double *y = at->y, *x = at->x, latency = r->latency;

	if (q < at->virtual)
		enter_forward(at);
	low = low > 0 ? low : 0;
	high = high < p - 1 ? high : p - 1;
	for (int64_t s = high; s >= low; s--)
		y[s + 1] = at->tf[s] + larger(larger(y[s + 1], x[s]), y[s] + latency);
	if (behind + p - 1 >= 0) {
		if (behind + p - 1 < at->virtual)
			enter_backward(at);
		low = behind < 0 ? -behind : 0;
		high = at->virtual - 1 - behind;
		high = high < p - 1 ? high : p - 1;
		for (int64_t s = low; s <= high; s++)
			x[s] = at->tb[s] +
			       larger(larger(y[s + 1], x[s]), x[s + 1] + latency);
	}
	at->y_ring[q % MAX_DELAY] = y[p];
	at->x_ring[q % MAX_DELAY] = x[0];
	at->step++;
}

static double run(const struct rounds *r)
{
	struct front at;
	double end = 0;

	front_start(r, &at, group_size(r, r->micro_batches));
	while (at.step < at.virtual + at.ahead)
		run_step(&at);
	for (int s = 0; s < r->stages; s++)
		end = larger(end, larger(at.x[s], at.y[s + 1]));
	return end;
}

/* The seconds that one more micro-batch costs a stage. */
static double stage_work(const struct rounds *r, int s)
{
	double work = 0;

	for (int k = s; k < r->stages * r->chunks; k += r->stages)
		work += r->forward[k] + r->backward[k];
	return work;
}

static double busiest(const struct rounds *r)
{
	double most = 0;

	for (int s = 0; s < r->stages; s++)
		most = larger(most, stage_work(r, s));
	return most;
}

/* A long run goes on at each end until it is steady, for so many groups at most. Where
 * it isn't, the last PERIOD groups say how it goes on, unless fewer than ROUGH ran. */
enum { SETTLE = 8, PERIOD = 2, ROUGH = 5 };
/* Groups that fill and empty the pipeline, or are left over, besides. */
enum { BESIDES = 3 };
/* Micro-batches x virtual stages of a breadth-first run that is not continued. */
enum { EFFORT = 48000 };

/* A run that has settled: ends of each stage's latest backward, and what it takes for a
 * group from there on. */
struct settled {
	int64_t steps, ahead;
	bool steady;
	double x[MAX_STAGES], rate[MAX_STAGES];
};

struct ends {
	double x[MAX_STAGES], y[MAX_STAGES];
};

/* Where all stages took the same for the last group, forwards and backwards, they go on
 * like that. */
static bool is_steady(const struct rounds *r, const struct ends *now,
		      const struct ends *before)
{
	double least = now->x[0] - before->x[0], most = least;

	for (int s = 0; s < r->stages; s++) {
		double x = now->x[s] - before->x[s], y = now->y[s] - before->y[s];

		least = lesser(least, lesser(x, y));
		most = larger(most, larger(x, y));
	}
	return most - least <= 1e-12 * now->x[0];
}

/* The first group has `first` micro-batches; `more` steps are run besides, and no more
 * than `groups`. */
static void settle(const struct rounds *r, int64_t first, int64_t more, int groups,
		   struct settled *out)
{
	struct ends ends[PERIOD + 1];
	size_t bytes = (size_t)r->stages * sizeof *out->x;
	int last = 0, period;
	struct front at;

	front_start(r, &at, first);
	out->ahead = at.ahead;
	out->steps = at.ahead + more;
	out->steady = false;
	for (int i = 0; i <= groups && !out->steady; i++) {
		out->steps += i > 0 ? r->group * r->chunks : 0;
		while (at.step < out->steps)
			run_step(&at);
		last = i;
		memcpy(ends[i % (PERIOD + 1)].x, at.x, bytes);
		memcpy(ends[i % (PERIOD + 1)].y, at.y + 1, bytes);
		out->steady = i > 0 && is_steady(r, &ends[i % (PERIOD + 1)],
						 &ends[(i - 1) % (PERIOD + 1)]);
	}
	memcpy(out->x, at.x, bytes);
	period = out->steady ? 1 : PERIOD;
	for (int s = 0; s < r->stages; s++)
		out->rate[s] =
			(at.x[s] - ends[(last - period) % (PERIOD + 1)].x[s]) / period;
}

/* The longest path comes to a stage out of a settled start, stays with it or those
 * around it, and leaves into a settled end. */
static double run_long(struct rounds *r)
{
	int64_t group = r->group * r->chunks, rest = r->micro_batches % r->group;
	int64_t most = (r->micro_batches / r->group - BESIDES) / 2;
	int64_t steps = r->micro_batches * r->chunks, middle;
	int groups = most < SETTLE ? (int)most : SETTLE;
	struct settled start, end;
	double longest = 0;

	settle(r, r->group, 0, groups, &start);
	if (!start.steady && groups < ROUGH)
		return run(r);
	rounds_turn(r);
	/* what is left between the two must be whole groups for all stages */
	settle(r, rest > 0 ? rest : r->group, (steps - start.ahead) % group, groups,
	       &end);
	rounds_turn(r);
	if (!end.steady && groups < ROUGH)
		return run(r);
	middle = (steps + start.ahead - start.steps - end.steps) / group;
	for (int s = 0; s < r->stages; s++) {
		double own = stage_work(r, s) * (double)r->group;

		longest = larger(longest,
				 start.x[s] + end.x[s] +
					 (double)middle * larger(own, start.rate[s]));
	}
	return longest;
}

/* Groups and micro-batches that a stack would run; the seconds that this adds. */
static double make_whole(struct rounds *r)
{
	int64_t p = r->stages, rest;

	r->group = r->group < p ? p : r->group;
	r->group = r->group > MAX_DELAY ? MAX_DELAY : r->group;
	rest = r->micro_batches % r->group;
	if (rest == 0 || rest >= p)
		return 0;
	/* No stack runs that (rule E14): take the next that one would run. */
	r->micro_batches += p - rest;
	return (double)(p - rest) * busiest(r);
}

static double run_with(struct rounds *r, int64_t micro_batches)
{
	r->micro_batches = r->group = micro_batches;
	return run(r);
}

/* One group for all (breadth-first): every path is that of its ends and so many times
 * what it meets in the middle of each chunk, a straight line from some number on. */
static double run_breadth(struct rounds *r)
{
	int64_t m = r->micro_batches, most = EFFORT / (r->stages * r->chunks);
	double less, more;

	most = most < 4 * r->stages ? 4 * r->stages : most;
	most = most > MAX_DELAY ? MAX_DELAY : most;
	if (m <= most)
		return run(r);
	less = run_with(r, most / 2);
	more = run_with(r, most);
	return more + (more - less) / (double)(most - most / 2) * (double)(m - most);
}

double rounds_interleaved(struct rounds *r)
{
	bool breadth = r->group >= r->micro_batches && r->micro_batches >= r->stages;
	double surplus, between;

	if (breadth && !rounds_are_even(r))
		return run_breadth(r);
	surplus = make_whole(r);
	if (rounds_are_even(r))
		return rounds_paths(r) - surplus;
	between = rounds_between(r);
	if (between >= 0)
		return between - surplus;
	if (r->micro_batches < (BESIDES + 2 * PERIOD) * r->group)
		return run(r) - surplus;
	return run_long(r) - surplus;
}

double rounds_floor(struct rounds *r)
{
	double surplus = make_whole(r);

	return rounds_paths(r) - surplus;
}
