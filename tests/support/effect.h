/* effect.h - what turning one knob does to one number: a row of a table says from where
 * to where, on which scenario, and by how much the number must move. */
#ifndef TESTS_SUPPORT_EFFECT_H
#define TESTS_SUPPORT_EFFECT_H

#include "engine/estimate/estimate.h"

/* What is compared with low and high, which are the same where it is known exactly. */
enum move {
	TIMES, /* the number behind over the one before */
	PLUS   /* the one behind less the one before */
};

struct effect {
	int scenario;        /* for the table that it stands in */
	const char *besides; /* "knob=value ..." that holds before and behind */
	const char *key, *from, *to;
	const char *metric;
	enum move move;
	double low, high;
	const char *why; /* or the source */
};

/* Set "knob=value ..." as a person would; fails the test if one is refused. */
void effect_set(struct scenario *scenario, const char *settings);
/* The scenario as the row wants it before; fails with the row if it does not hold. */
void effect_check(const struct effect *row, const struct scenario *begin);
/* Every knob of that mode has a row, or is one of `apart` (ends with NULL). */
void effect_all_turned(const struct effect *rows, int count, int mode,
		       const char *const *apart);

#endif
