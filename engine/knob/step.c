/* step.c - the values around the present one, legal or not. */
#include "engine/knob/value.h"

#include <math.h>
#include <string.h>

/* Smallest number that is worth a step above 0. */
static double least(const struct knob *knob)
{
	if (knob->min > 0)
		return knob->min;
	if (knob->type == KNOB_REAL)
		return 1;
	return knob->step == STEP_DOUBLE ? 256 : 1;
}

/* Smallest divisor of world above value, where limit bounds it. Either the divisor
 * or its quotient is small, so walk the shorter way. */
static int64_t divisor_above(int64_t world, int64_t value, int64_t limit)
{
	if (value < world / value) {
		for (int64_t d = value + 1; d < limit; d++)
			if (world % d == 0)
				return d;
		return limit;
	}
	for (int64_t q = world / (value + 1); q >= 1 && world / q < limit; q--)
		if (world % q == 0)
			return world / q;
	return limit;
}

static int64_t divisor_below(int64_t world, int64_t value, int64_t limit)
{
	if (value < world / value) {
		for (int64_t d = value - 1; d > limit; d--)
			if (world % d == 0)
				return d;
		return limit;
	}
	for (int64_t q = world / value + 1; q <= world && world / q > limit; q++)
		if (world % q == 0 && world / q < value)
			return world / q;
	return limit;
}

/* The next degree: a divisor of the world or a power of two, up to the world. */
static double next_degree(int64_t world, int64_t value, int direction)
{
	int64_t power = 1;

	if (world < 1)
		world = 1;
	if (value > world || (value == world && direction > 0))
		return (double)(direction > 0 ? value : world);
	while (direction > 0 ? power <= value : 2 * power < value)
		power *= 2;
	if (direction > 0)
		return (double)divisor_above(world, value,
					     power < world ? power : world);
	return (double)divisor_below(world, value, power);
}

/* 1, 2, 3, 4, 6, 8, 12, 16 ...: powers of two and what lies halfway. */
static double next_series(double value, int direction)
{
	double power = exp2(floor(log2(value)));

	if (direction > 0)
		return value < 1.5 * power && power > 1 ? 1.5 * power : 2 * power;
	if (value > 1.5 * power && power > 1)
		return 1.5 * power;
	if (value > power)
		return power;
	return power > 2 ? 0.75 * power : power / 2;
}

/* 1, 2, 5, 10 ... */
static double next_decade(double value, int direction)
{
	static const double step[] = { 0.5, 1, 2, 5, 10 };
	double power = pow(10, floor(log10(value) + 1e-12));
	double digit = value / power;

	for (int i = 0; i < 5; i++) {
		int k = direction > 0 ? i : 4 - i;

		if (direction > 0 ? step[k] > digit * (1 + 1e-9)
				  : step[k] < digit * (1 - 1e-9))
			return step[k] * power;
	}
	return value;
}

static double next_double(double value, int direction, bool whole)
{
	if (direction > 0)
		return 2 * value;
	if (!whole || fmod(value, 2) == 0)
		return value / 2;
	return exp2(ceil(log2(value)) - 1);
}

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

static double next_set(const struct knob *knob, double value, int direction)
{
	/* none, each word alone, all that were set stay reachable by typing */
	double up = value == 0 ? 1 : exp2(floor(log2(value)) + 1);
	double down = value < 2 ? 0 : exp2(ceil(log2(value)) - 1);

	if (direction > 0)
		return up > knob->max ? value : up;
	return down;
}

static double next_value(const struct scenario *scenario, const struct knob *knob,
			 double value, int direction)
{
	double floor_value = least(knob);

	if (knob->type == KNOB_SET)
		return next_set(knob, value, direction);
	if (knob->step == STEP_ONE || knob->step == STEP_WORD)
		return value + direction;
	if (knob->step == STEP_TENTH)
		return round((value + 0.1 * direction) * 10) / 10;
	if (value < floor_value || (value == floor_value && direction < 0))
		return direction > 0 ? floor_value : knob->min;
	if (knob->step == STEP_DEGREE)
		return next_degree(scenario->cluster.gpus, (int64_t)value, direction);
	if (knob->step == STEP_SERIES)
		value = next_series(value, direction);
	else if (knob->step == STEP_DECADE)
		value = next_decade(value, direction);
	else
		value = next_double(value, direction, knob->type == KNOB_INT);
	return direction < 0 && value < floor_value ? floor_value : value;
}

static double step_from(const struct scenario *scenario, const struct knob *knob,
			double value, int direction)
{
	if (knob->type == KNOB_TEXT)
		return value;
	return clamp(next_value(scenario, knob, value, direction), knob->min,
		     knob->max);
}

double knob_neighbour(const struct scenario *scenario, const struct knob *knob,
		      int direction)
{
	return step_from(scenario, knob, knob_get(scenario, knob),
			 direction < 0 ? -1 : 1);
}

/* Walk from the present value both ways until both ends or the space is full. */
int knob_values(const struct scenario *scenario, const struct knob *knob,
		double values[MAX_VALUES], int *present)
{
	double now = knob_get(scenario, knob), below[MAX_VALUES], above[MAX_VALUES];
	int down = 0, up = 0, n = 0;
	bool more = knob->type != KNOB_TEXT;

	for (double low = now, high = now; more && down + up + 1 < MAX_VALUES;) {
		double lower = step_from(scenario, knob, low, -1);
		double higher = step_from(scenario, knob, high, 1);

		more = false;
		if (lower < low) {
			below[down++] = low = lower;
			more = true;
		}
		if (higher > high && down + up + 1 < MAX_VALUES) {
			above[up++] = high = higher;
			more = true;
		}
	}
	for (int i = down; i > 0; i--)
		values[n++] = below[i - 1];
	*present = n;
	values[n++] = now;
	for (int i = 0; i < up; i++)
		values[n++] = above[i];
	return n;
}

int knob_range(const struct scenario *scenario, const struct knob *knob, double from,
	       double to, double *values, int room)
{
	bool whole = knob->type != KNOB_REAL && to - from < room;
	int count = 0;

	for (double value = from; value < to;) {
		double next = whole ? value + 1 : step_from(scenario, knob, value, 1);

		if (count == room)
			return -1;
		values[count++] = value;
		value = next > value ? next : to;
	}
	if (count == room)
		return -1;
	values[count++] = to;
	return count;
}
