/* one_f_one_b.c - 1F1B (PipeDream-flush, DAPPLE) by alternating slots.
 *
 * Stage s runs w = p - 1 - s forwards ahead, then one forward and one backward in
 * turn. Numbered so that slot 0 is the last stage's first backward, stage s runs
 * backward i in slot w + 2i and forward w + 1 + i in slot w + 1 + 2i; whatever it
 * needs from a neighbour, the neighbour finished in the slot before. So one number
 * per stage, the end of its latest work, is the whole state. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/pipeline/rounds.h"

/* Of a step, which all ways' latencies together may be to be taken roughly. */
static const double small_share = 2e-3;

/* Ends of the warm-up: p - s equal jobs (or m) in a flow shop, of which job j
 * leaves stage s after the sum of the stages so far plus j times the slowest. */
static void warm_up(const struct rounds *r, double *end)
{
	double sum = 0, slowest = 0;

	for (int s = 0; s < r->stages; s++) {
		int64_t last = r->stages - 1 - s;

		if (last > r->micro_batches - 1)
			last = r->micro_batches - 1;
		sum += r->forward[s] + (s > 0 ? r->latency : 0);
		slowest = larger(slowest, r->forward[s]);
		end[s] = sum + (double)last * slowest;
	}
}

/* One slot: stages of one parity run a backward, the others a forward, each as far
 * as it has one. a and b are the states before and after, with a guard below stage
 * 0 and above the last that never delays. */
static void run_slot(const struct rounds *r, int64_t slot, const double *a, double *b)
{
	int p = r->stages;
	int64_t m = r->micro_batches;
	/* stages that the first backward has reached, and the last one not passed */
	int64_t low = p - 1 - slot, high = low + 2 * (m - 1);

	low = low > 0 ? low : 0;
	high = high < p - 1 ? high : p - 1;
	memcpy(b, a, (size_t)p * sizeof *b);
	for (int s = (int)low; s <= (int)high; s++) {
		int64_t w = p - 1 - s, turn = slot - w;

		if (turn % 2 == 0 && turn / 2 < m)
			b[s] = r->backward[s] + larger(a[s], a[s + 1] + r->latency);
		else if (turn % 2 == 1 && w + 1 + turn / 2 < m)
			b[s] = r->forward[s] + larger(a[s], a[s - 1] + r->latency);
	}
}

/* Two slots in which every stage runs one backward and one forward. */
static void run_full(const struct rounds *r, int64_t slot, double *a, double *b)
{
	int p = r->stages;
	int odd = (int)((slot + p - 1) % 2); /* parity of stages with a backward */
	double latency = r->latency;

	for (int s = odd; s < p; s += 2)
		b[s] = r->backward[s] + larger(a[s], a[s + 1] + latency);
	for (int s = 1 - odd; s < p; s += 2)
		b[s] = r->forward[s] + larger(a[s], a[s - 1] + latency);
	for (int s = odd; s < p; s += 2)
		a[s] = r->forward[s] + larger(b[s], b[s - 1] + latency);
	for (int s = 1 - odd; s < p; s += 2)
		a[s] = r->backward[s] + larger(b[s], b[s + 1] + latency);
}

/* Neighbouring stages from..to that hand work up and back: (their work + both ways'
 * latency) / stages is what they take per micro-batch, and the cycles of the max-plus
 * system are exactly these ranges. */
struct range {
	int from, to;
	double rate;
};

/* One within `part` that beats `best`, which it replaces. */
static bool slower_range(const struct rounds *r, const struct range *part,
			 struct range *best)
{
	double most = 0, sum = 0, way = 2 * r->latency;
	int start = 0, first = -1, last = -1;

	for (int s = part->from; s <= part->to; s++) {
		double more = r->forward[s] + r->backward[s] - best->rate;

		if (s == part->from || sum + way <= 0) {
			sum = more;
			start = s;
		} else {
			sum += more + way;
		}
		if (sum > most) {
			most = sum;
			first = start;
			last = s;
		}
	}
	if (first < 0 || most <= 1e-12 * best->rate)
		return false;
	best->rate += most / (last - first + 1);
	best->from = first;
	best->to = last;
	return true;
}

static struct range slowest_range(const struct rounds *r, const struct range *part)
{
	struct range best = *part;

	best.rate = 0;
	for (int s = part->from; s <= part->to; s++)
		if (r->forward[s] + r->backward[s] > best.rate)
			best = (struct range){ s, s, r->forward[s] + r->backward[s] };
	/* without latency no range is slower than its slowest stage */
	while (r->latency > 0 && slower_range(r, part, &best))
		;
	return best;
}

/* Seconds that each stage works for whole cycles of the slowest of all ranges in so
 * many double slots: each in cycles of the slowest range that it is part of, then on
 * its own. Returns the double slots that are left. */
static int64_t steady_seconds(const struct rounds *r, int64_t slots, double *seconds)
{
	struct range part[MAX_STAGES];
	int64_t left = 0;
	int parts = 1;

	part[0] = (struct range){ 0, r->stages - 1, 0 };
	for (bool slowest = true; parts > 0; slowest = false) {
		struct range whole = part[--parts], best = slowest_range(r, &whole);
		int64_t rest = slots % (best.to - best.from + 1);

		if (slowest) {
			left = rest;
			slots -= rest;
			rest = 0;
		}
		for (int s = best.from; s <= best.to; s++)
			seconds[s] = (double)(slots - rest) * best.rate +
				     (double)rest * (r->forward[s] + r->backward[s]);
		if (best.from > whole.from)
			part[parts++] = (struct range){ whole.from, best.from - 1, 0 };
		if (best.to < whole.to)
			part[parts++] = (struct range){ best.to + 1, whole.to, 0 };
	}
	return left;
}

/* The slots before all stages work, where there are enough micro-batches for all: a
 * stage joins with a backward, and its followers take turns. b is a's twin. */
static void run_up(const struct rounds *r, double *a, double *b)
{
	int p = r->stages;
	double latency = r->latency;

	for (int joins = p - 1; joins > 0; joins--) {
		double *swap = a;

		for (int s = joins; s < p; s += 2)
			b[s] = r->backward[s] + larger(a[s], a[s + 1] + latency);
		for (int s = joins + 1; s < p; s += 2)
			b[s] = r->forward[s] + larger(a[s], a[s - 1] + latency);
		a = b;
		b = swap;
	}
}

/* Slots `from` to `to` - 1 in which some stages are not at work; where the state is
 * after them. */
static double *run_slots(const struct rounds *r, int64_t from, int64_t to, double *a,
			 double *b)
{
	for (; from < to; from++) {
		double *swap = a;

		run_slot(r, from, a, b);
		a = b;
		b = swap;
	}
	return a;
}

/* The warm-up and `full` double slots in which all stages work, then to the end if
 * that is wanted. end[s]: when stage s is done with it. */
static void run(const struct rounds *r, int64_t full, bool to_the_end, double *end)
{
	double first[MAX_STAGES + 2], second[MAX_STAGES + 2];
	double *a = first + 1, *b;
	int p = r->stages;
	int64_t slot = p - 1;

	first[0] = second[0] = first[p + 1] = second[p + 1] = -INFINITY;
	warm_up(r, a);
	if (full > 0) {
		memcpy(second + 1, a, (size_t)p * sizeof *a);
		run_up(r, a, second + 1);
		a = p % 2 ? first + 1 : second + 1;
	} else {
		a = run_slots(r, 0, slot, a, second + 1);
	}
	b = a == first + 1 ? second + 1 : first + 1;
	for (int64_t i = 0; i < full; i++, slot += 2)
		run_full(r, slot, a, b);
	if (to_the_end)
		a = run_slots(r, slot, 2 * r->micro_batches + p - 2, a, b);
	memcpy(end, a, (size_t)p * sizeof *end);
}

/* A long run: the longest path comes to a stage out of a start in which work went
 * once up and down the pipeline, stays with it or its neighbours, and leaves into an
 * end that is such a start seen backwards. */
static double run_long(struct rounds *r, int64_t settle)
{
	double start[MAX_STAGES], end[MAX_STAGES], stays[MAX_STAGES], longest = 0;
	int64_t middle = r->micro_batches - r->stages - 2 * settle;
	int64_t rest = steady_seconds(r, middle, stays);

	run(r, settle, false, start);
	rounds_turn(r);
	run(r, settle + rest, false, end);
	rounds_turn(r);
	for (int s = 0; s < r->stages; s++) {
		/* last was a forward on even stages, which hand it down, and a backward
		 * on odd ones, which hand it up */
		int next = s % 2 == 0 ? s + 1 : s - 1;

		longest = larger(longest, start[s] + stays[s] + end[s]);
		if (next < r->stages)
			longest =
				larger(longest, start[s] + r->latency +
							lesser(stays[s], stays[next]) +
							end[next]);
	}
	return longest;
}

/* Once all stages work, a path does best on the slowest one at once, for without
 * latency a move costs the same at any time. With it the path finds its range in the
 * settling slots, and laps of another length fill up what whole laps leave: worth no
 * more than the latency of a few ways, for which it needs a lap's slots. */
static int64_t settling(const struct rounds *r)
{
	double work = 0;

	if (r->latency <= 0)
		return 1;
	for (int s = 0; s < r->stages; s++)
		work = larger(work, r->forward[s] + r->backward[s]);
	work *= (double)r->micro_batches;
	return r->latency * r->stages < small_share * work ? 2 : r->stages / 2 + 2;
}

double rounds_1f1b(struct rounds *r)
{
	int64_t m = r->micro_batches, p = r->stages, settle = settling(r);
	int64_t full = m > p ? m - p : 0;
	double ends[MAX_STAGES], end = 0;

	if (full > 2 * settle)
		return run_long(r, settle);
	run(r, full, true, ends);
	for (int s = 0; s < p; s++)
		end = larger(end, ends[s]);
	return end;
}
