/* constants.h - which constants of the presets are fitted, and where they stand. */
#ifndef TESTS_VALIDATION_CONSTANTS_H
#define TESTS_VALIDATION_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"

/* A constant belongs to a stack (its name) or to a silicon generation: accelerators of
 * one generation share it. */
struct constant {
	const char *owner;
	const char *key; /* as in the preset; "map.member" inside a mapping */
	size_t offset;   /* of a double in struct scenario */
	bool stack;
	bool share;          /* a share from 0 to 1: steps are added, not multiplied */
	double low, high;    /* what is physical, SI */
	double unit;         /* SI per unit of the preset */
	double value, start; /* SI */
	double begin;        /* SI: where every fit begins */
	bool found;          /* some run depends on it */
	bool held;           /* no formula explains it: the fit leaves it where it is */
	bool known;          /* read in the source: held, and never guessed */
	bool unseen;         /* nothing that the fit takes depends on it */
	bool fixed;          /* one of the two: it doesn't move */
};

extern struct constant constants[];
extern const int constant_count;

/* Mark those that the fit leaves where they are. */
void constants_hold(void);
bool constant_touches(const struct constant *constant, const struct scenario *scenario);
/* Whether a value lies on a bound of what is physical: then a formula is missing, not a
 * number. Bounds of shares that are 0 or 1 by definition are none. */
bool constant_on_bound(const struct constant *constant, double value);
double constant_get(const struct constant *constant, const struct scenario *scenario);
/* Kernels and precisions that share silicon move together: fp16 with bf16. */
void constant_set(const struct constant *constant, struct scenario *scenario,
		  double value);
/* The median of that constant over the stacks that are fitted. */
double constants_middle(const struct constant *constant);
/* A value that owes nothing to training runs of its owner: what servers' kernels on the
 * silicon of `scenario` have by micro-benchmarks, or else the median of what the
 * presets hold of it for all others, or the middle of what is physical. */
double constants_neutral(const struct constant *constant,
			 const struct scenario *scenario);
/* Into the YAML files below presets/, and into the generic stack the middle of all
 * others; false after a message. */
bool constants_write(void);

#endif
