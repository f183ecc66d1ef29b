/* arrivals.c - see arrivals.h. */
#include "engine/serve/arrivals.h"

#include <math.h>

/* Prompts as a queue: each takes its share of the passes that carry it. Where they ride
 * beside decoding requests, also of the decode pass that each of those is, so that more
 * of them than a budget has room for wait for the next one. */
struct line_of_prompts {
	double each; /* seconds of the server for a prompt behind which others wait */
	double most; /* others of a pass that came before, or behind, one of them */
	double full; /* of passes with all that a budget has room for, the others' share
		      */
};

static struct line_of_prompts line_of(const struct work *w, const struct arrivals *a,
				      const struct point *p)
{
	double fit = 1 / a->packed;
	struct line_of_prompts q = { .each = a->served,
				     .most = (fmax(1, fit) - 1) / 2,
				     .full = INFINITY };

	if (work_mixes(w)) {
		q.each += 2 * a->half / fit * a->riding;
		q.full = fit * p->added_seconds;
		if (p->served_seconds > 0)
			q.full *= a->served / p->served_seconds;
	}
	return q;
}

/* Seconds that are left of the pass that a request finds: its variance is that of the
 * prompts that came during the one before, s^2 rate x + rho^2 of that one's. */
static double left_of_pass(const struct work *w, const struct line_of_prompts *q,
			   double rate, double half)
{
	double spread = work_spread(w), busy = rate * q->each;
	double varies = (w->s->plan.serving.arrival_scv + spread * spread) / 2;

	/* beside decoding, each of the passes that follow has that too */
	if (work_mixes(w))
		half /= 1 - busy;
	return varies * busy / (1 - busy * busy) * q->each + half;
}

/* Of the passes of a request each carries the prompts that came during the one before,
 * x[i] = step + grows x[i - 1], from `first` with its own prompt on: the sum of that
 * series, or of as many full passes. */
static double decode_among(const struct work *w, double alone, double grows,
			   double first, double full)
{
	double passes = w->output / w->accepted * (w->output - 1) / w->output;
	double steady;

	if (passes <= 0 || grows <= 0)
		return alone;
	/* nearer to 1 the terms below are all but alike, and their difference is noise
	 */
	grows = fmin(grows, 1 - 1e-5);
	steady = alone / passes / (1 - grows);
	return fmin(alone + passes * full,
		    fmax(alone, passes * steady + (first - steady) * grows *
							  (1 - pow(grows, passes)) /
							  (1 - grows)));
}

/* How many come in a time behind one of them, in which `mean` come at any time: of even
 * gaps the whole ones of that, of Poisson's as many; of longer variation, as who comes
 * in clumps, by half of what it is above that more, the others of one's own. */
static double come_behind(const struct work *w, double mean)
{
	double scv = w->s->plan.serving.arrival_scv;

	if (scv > 1)
		return mean + (scv - 1) / 2;
	return scv * mean + (1 - scv) * floor(mean);
}

/* Fills in who is met at `rate`; returns the seconds from entry to the last token. */
static double meet(const struct work *w, double rate, const struct line_of_prompts *q,
		   const struct arrivals *a, struct point *out)
{
	double left = left_of_pass(w, q, rate, a->half), decoding, behind, waits;
	double beside = fmin(q->most, rate * left), served = out->served_seconds;

	waits = left - a->half + rate * left * q->each + beside * served;
	out->ahead = q->each > 0 ? waits / q->each : 0;
	/* who comes from its arrival until its prompt has run, but for those beside it:
	 * as long a pass would bring as many */
	behind = 2 * a->half + waits + a->half + served - beside / rate;
	decoding = decode_among(w, a->alone, rate * out->added_seconds,
				come_behind(w, rate * behind) / rate, q->full);
	out->behind = 0;
	if (out->added_seconds > 0)
		out->behind = (decoding - a->alone) / out->added_seconds;
	return out->prefill_seconds + out->begin_seconds + waits + decoding;
}

/* How many come above n while one of them is here. */
static double beyond(const struct work *w, double rate, const struct line_of_prompts *q,
		     const struct arrivals *a, struct point *out)
{
	return rate * meet(w, rate, q, a, out) - a->n;
}

/* The highest rate that keeps fewer than n here, between low and high: where a straight
 * line between the two says (the Illinois algorithm: Dowell and Jarratt 1971, BIT 11),
 * and, as even gaps make steps, in the middle where that has not halved what is left.
 */
static double rate_of(const struct work *w, double high,
		      const struct line_of_prompts *q, const struct arrivals *a,
		      struct point *out)
{
	double low = 0, under = -a->n, over = a->n;
	double exact = high * 0x1p-48, before = INFINITY;
	int side = 0;

	while (high - low > exact) {
		double share = -under / (over - under), more, middle;

		if (high - low > before / 2)
			share = 0.5;
		before = high - low;
		middle = low + fmin(fmax(share * (high - low), exact / 2),
				    high - low - exact / 2);
		more = beyond(w, middle, q, a, out);
		if (more < 0) {
			low = middle;
			under = more;
			over /= side < 0 ? 2 : 1;
			side = -1;
		} else {
			high = middle;
			over = more;
			under /= side > 0 ? 2 : 1;
			side = 1;
		}
	}
	return low;
}

double arrivals_meet(const struct work *w, const struct arrivals *a, struct point *out)
{
	struct line_of_prompts q = line_of(w, a, out);
	/* full passes let prompts through however many of them who decodes meets */
	double longest = isfinite(q.full) ? q.each : fmax(q.each, out->added_seconds);
	double high = a->n / (out->prefill_seconds + out->begin_seconds + a->alone);
	double rate = 0, seconds;

	if (longest > 0)
		high = fmin(high, (1 - 1e-12) / longest);
	if (high > 0)
		rate = rate_of(w, high, &q, a, out);
	seconds = meet(w, rate, &q, a, out);
	/* where no more than that are let through, the others stand before it */
	if (rate > high * (1 - 1e-9) && rate * seconds < a->n && q.each > 0)
		out->ahead += (a->n / rate - seconds) / q.each;
	out->served_seconds = q.each;
	return 1 + 2 * fmin(q.most, rate * left_of_pass(w, &q, rate, a->half));
}
