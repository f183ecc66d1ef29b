/* serving_constants.h - which constants of serving are fitted, and where they stand. */
#ifndef TESTS_VALIDATION_SERVING_CONSTANTS_H
#define TESTS_VALIDATION_SERVING_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"

struct serving_constant {
	const char *owner; /* a stack's name, or the start of accelerators' names */
	const char *map, *key;
	size_t offset;
	bool stack;
	double low, high, unit; /* SI per unit of the preset; the others in that unit */
	double value, prior;
};

extern struct serving_constant serving_constants[];
extern const int serving_constant_count;

bool serving_constant_touches(const struct serving_constant *constant,
			      const struct scenario *scenario);
void serving_constant_set(const struct serving_constant *constant,
			  struct scenario *scenario);
/* Into the YAML files below presets/; false after a message. */
bool serving_constants_write(void);

#endif
