/* room.c - see room.h. */
#include "engine/queue/room.h"

#include <math.h>

/* With gaps that are all alike and works too nobody meets anybody: steps become small.
 */
enum { MOST_STEPS = 256 };
static const double least_step = 1.0 / 16;
/* Who is full once in so many times is never. */
static const double rarely = 1e9;

/* What a server gives with so many inside: straight between two that are known, and in
 * proportion below the first. */
static double given(const struct queue_room *q, double inside, int *at)
{
	double low, high;

	if (inside <= q->inside[0])
		return q->rate[0] * inside / q->inside[0];
	while (*at > 0 && q->inside[*at - 1] >= inside)
		(*at)--;
	if (*at == 0)
		return q->rate[0];
	low = q->inside[*at - 1];
	high = q->inside[*at];
	return q->rate[*at - 1] +
	       (q->rate[*at] - q->rate[*at - 1]) * (inside - low) / (high - low);
}

/* How often there is room, over how often the server is full and nobody waits: from
 * there downwards, each state over the one above it. */
static double times_with_room(const struct queue_room *q, double rate, double step)
{
	double each = fmax(step, q->most / MOST_STEPS), weight = 1, sum = 0;
	int at = q->count - 1;

	for (double n = q->most; n > 0 && sum < rarely; n -= each) {
		double part = fmin(each, n);

		weight *= pow(given(q, n - (each > step ? part / 2 : 0), &at) / rate,
			      part / step);
		sum += weight * part / step;
	}
	return sum < rarely ? sum : INFINITY;
}

double queue_room_wait(const struct queue_room *q, double rate)
{
	double full = q->rate[q->count - 1], over = full - rate;
	double step = fmax(least_step, 1 + (q->arrival_scv - 1) * q->overlap);
	double line = (q->arrival_scv + q->work_scv) / 2, more;

	if (over <= 0)
		return INFINITY;
	if (rate <= 0)
		return 0;
	/* full, with or without a line */
	more = full / over;
	return more / (more + times_with_room(q, rate, step)) * line / over;
}
