/* pipeline_1f1b.c - 1F1B (PipeDream-flush, DAPPLE) by alternating slots.
 *
 * Stage s runs w = p - 1 - s forwards ahead, then one forward and one backward in
 * turn. Numbered so that slot 0 is the last stage's first backward, stage s runs
 * backward i in slot w + 2i and forward w + 1 + i in slot w + 1 + 2i; whatever it
 * needs from a neighbour, the neighbour finished in the slot before. So one number
 * per stage, the end of its latest work, is the whole state. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/pipeline_rounds.h"

static double later(double a, double b)
{
	return a > b ? a : b;
}

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
		slowest = later(slowest, r->forward[s]);
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
			b[s] = r->backward[s] + later(a[s], a[s + 1] + r->latency);
		else if (turn % 2 == 1 && w + 1 + turn / 2 < m)
			b[s] = r->forward[s] + later(a[s], a[s - 1] + r->latency);
	}
}

/* Two slots in which every stage runs one backward and one forward. */
static void run_full(const struct rounds *r, int64_t slot, double *a, double *b)
{
	int p = r->stages;
	int odd = (int)((slot + p - 1) % 2); /* parity of stages with a backward */
	double latency = r->latency;

	for (int s = odd; s < p; s += 2)
		b[s] = r->backward[s] + later(a[s], a[s + 1] + latency);
	for (int s = 1 - odd; s < p; s += 2)
		b[s] = r->forward[s] + later(a[s], a[s - 1] + latency);
	for (int s = odd; s < p; s += 2)
		a[s] = r->forward[s] + later(b[s], b[s - 1] + latency);
	for (int s = 1 - odd; s < p; s += 2)
		a[s] = r->backward[s] + later(b[s], b[s + 1] + latency);
}

/* Slowest steady rate that a stage takes part in: over all ranges of neighbours
 * that hand work up and back, (their work + both ways' latency) / stages. The
 * cycles of the max-plus system are exactly these ranges. Returns the length of the
 * slowest one. */
static int cycle_rates(const struct rounds *r, double *rate)
{
	double slowest = 0;
	int length = 1;

	for (int s = 0; s < r->stages; s++)
		rate[s] = 0;
	for (int a = 0; a < r->stages; a++) {
		double sum = 0, most = 0;
		double from[MAX_STAGES];

		for (int b = a; b < r->stages; b++) {
			sum += r->forward[b] + r->backward[b] +
			       (b > a ? 2 * r->latency : 0);
			from[b] = sum / (b - a + 1);
			if (from[b] > slowest * (1 + 1e-12)) {
				slowest = from[b];
				length = b - a + 1;
			}
		}
		for (int b = r->stages - 1; b >= a; b--) {
			most = later(most, from[b]);
			rate[b] = later(rate[b], most);
		}
	}
	return length;
}

/* Whether all stages went on by the same since `then`: the state repeats. */
static bool repeats(const struct rounds *r, const double *then, const double *now)
{
	double by = now[0] - then[0], most = by * 1e-10;

	for (int s = 1; s < r->stages; s++) {
		double other = now[s] - then[s] - by;

		if (other > most || other < -most)
			return false;
	}
	return true;
}

enum { SETTLE = 24 };

/* Double slots in which all stages work, n of them from slot on. As soon as one
 * period of the slowest cycle moves all stages alike the rest is a jump; where that
 * takes too long, each stage jumps at its own rate and settles again. */
static void run_steady(const struct rounds *r, int64_t slot, int64_t n, double *a,
		       double *b)
{
	double rate[MAX_STAGES], before[MAX_STAGES];
	int p = r->stages, length = cycle_rates(r, rate);
	int64_t settle = p + SETTLE, i = 0, seen = 0;

	memcpy(before, a, (size_t)p * sizeof *before);
	while (i < n) {
		int64_t jump = 0;

		run_full(r, slot, a, b);
		slot += 2;
		i++;
		if (i == seen + length) {
			if (repeats(r, before, a)) {
				jump = (n - i) / length;
				for (int s = 0; s < p; s++)
					a[s] += (double)jump * (a[s] - before[s]);
				jump *= length;
			}
			memcpy(before, a, (size_t)p * sizeof *before);
			seen = i + jump;
		}
		if (jump == 0 && i == settle && n > 2 * settle + p) {
			jump = (n - 2 * settle) / length * length;
			for (int s = 0; s < p; s++)
				a[s] += (double)jump * rate[s];
			seen = i + jump + settle; /* once is enough */
		}
		i += jump;
		slot += 2 * jump;
	}
}

double rounds_1f1b(const struct rounds *r)
{
	double first[MAX_STAGES + 2], second[MAX_STAGES + 2];
	double *a = first + 1, *b = second + 1, end = 0;
	int p = r->stages;
	int64_t m = r->micro_batches, slot = 0;
	int64_t full = m > p ? m - p : 0; /* double slots in which all work */

	a[-1] = b[-1] = a[p] = b[p] = -INFINITY;
	warm_up(r, a);
	for (; slot < p - 1; slot++) {
		double *swap = a;

		run_slot(r, slot, a, b);
		a = b;
		b = swap;
	}
	run_steady(r, slot, full, a, b);
	for (slot += 2 * full; slot < 2 * m + p - 2; slot++) {
		double *swap = a;

		run_slot(r, slot, a, b);
		a = b;
		b = swap;
	}
	for (int s = 0; s < p; s++)
		end = later(end, a[s]);
	return end;
}
