/* tour.c - see tour.h. */
#include "tui/tour.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tui/canvas.h"

enum {
	LONGEST = 3, /* places that are moved together */
	FAR = 8,     /* in the order: what pays is mostly nearer */
	PASSES = 2,
	NONE = -1 /* before the first place, and behind the last */
};

static struct {
	int *order, count;
	int least; /* no step costs less */
	int (*step)(int from, int to);
	int16_t known[TOUR_MOST + 1]
		     [TOUR_MOST]; /* steps that were asked; -1: not yet */
	/* nothing pays for so many places from this one on, nor has since changed */
	bool settled[LONGEST + 1][TOUR_MOST];
} tour;

/* Behind the last place there is nowhere to go. */
static int cost(int from, int to)
{
	int16_t *known;

	if (to == NONE)
		return 0;
	known = &tour.known[from + 1][to];
	if (*known < 0)
		*known = (int16_t)tour.step(from, to);
	return *known;
}

static int place(int at)
{
	return at >= 0 && at < tour.count ? tour.order[at] : NONE;
}

/* So many places from `at` on, put behind another. */
static void move_places(int at, int places, int behind)
{
	int *order = tour.order, moved[LONGEST];

	memcpy(moved, order + at, (size_t)places * sizeof *moved);
	if (behind < at) {
		memmove(order + behind + 1 + places, order + behind + 1,
			(size_t)(at - behind - 1) * sizeof *order);
		behind += places;
	} else {
		memmove(order + at, order + at + places,
			(size_t)(behind - at - places + 1) * sizeof *order);
	}
	memcpy(order + behind + 1 - places, moved, (size_t)places * sizeof *moved);
}

/* The places around this one stand otherwise now. */
static void unsettle(int at)
{
	int first = at - LONGEST > 0 ? at - LONGEST : 0;
	int end = at + LONGEST < tour.count ? at + LONGEST : tour.count;

	for (int i = first; i < end; i++)
		for (int places = 1; places <= LONGEST; places++)
			tour.settled[places][tour.order[i]] = false;
}

/* Puts them where that saves most; false: it saves nothing anywhere. */
static bool improve(int at, int places)
{
	int first = place(at), last = place(at + places - 1);
	int before = place(at - 1), behind = place(at + places);
	int saved = cost(before, first) + cost(last, behind) - cost(before, behind);
	int best = 0, where = at, start = at - FAR > 0 ? at - FAR : 0;
	int end = at + places + FAR < tour.count ? at + places + FAR : tour.count;

	for (int i = start - 1; i < end && saved > best; i++) {
		int left, right, gain;

		if (i >= at - 1 && i < at + places)
			continue;
		left = place(i);
		right = place(i + 1);
		/* what it saves at most, with each step that is asked for */
		gain = saved + cost(left, right) - tour.least;
		if (gain - tour.least <= best)
			continue;
		gain -= cost(left, first);
		if (gain <= best)
			continue;
		gain -= cost(last, right) - tour.least;
		if (gain <= best)
			continue;
		best = gain;
		where = i;
	}
	tour.settled[places][first] = best == 0;
	if (best == 0)
		return false;
	move_places(at, places, where);
	unsettle(at);
	unsettle(where);
	return true;
}

void tour_improve(int *order, int count, int (*step)(int from, int to), int least)
{
	bool better = count > 2 && count <= TOUR_MOST;

	tour.order = order;
	tour.count = count;
	tour.step = step;
	tour.least = least < 0 ? least : 0;
	memset(tour.settled, 0, sizeof tour.settled);
	for (int from = 0; better && from <= count; from++)
		memset(tour.known[from], 0xff, (size_t)count * sizeof **tour.known);
	for (int pass = 0; pass < PASSES && better; pass++) {
		better = false;
		for (int places = 1; places <= LONGEST; places++)
			for (int at = 0; at + places <= count; at++)
				better |= !tour.settled[places][order[at]] &&
					  improve(at, places);
	}
}

static int length_of(const int *order, int count, int (*step)(int from, int to))
{
	int length = 0;

	for (int i = 0; i < count; i++)
		length += step(i > 0 ? order[i - 1] : NONE, order[i]);
	return length;
}

/* From the top of each; returns how many columns. */
static int order_columns(int count, int (*column)(int place), int *order)
{
	static int16_t last[CANVAS_MAX], before[TOUR_COLUMNS];
	int columns = 0, at = count;

	memset(last, 0xff, sizeof last);
	for (int i = 0; i < count; i++) {
		int16_t *lowest = &last[column(i)];

		columns += *lowest < 0;
		before[i] = *lowest;
		*lowest = (int16_t)i;
	}
	for (int x = CANVAS_MAX - 1; x >= 0 && at > 0; x--)
		for (int i = last[x]; i >= 0; i = before[i])
			order[--at] = i;
	return columns;
}

void tour_try_columns(int *order, int count, int (*column)(int place),
		      int (*step)(int from, int to))
{
	static int other[TOUR_COLUMNS];

	if (count > 3 && count <= TOUR_COLUMNS &&
	    2 * order_columns(count, column, other) <= count &&
	    length_of(other, count, step) < length_of(order, count, step))
		memcpy(order, other, (size_t)count * sizeof *order);
}
