/* registry.h - which function of a file of configurations is meant. */
#ifndef PRESETS_PYTHON_REGISTRY_H
#define PRESETS_PYTHON_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "presets/error.h"

enum { REGISTRY_PIECES = 8 };

/* What is read of a file, in this order: later pieces set anew what the earlier set. */
struct registry {
	int count;
	struct piece {
		const char *at, *stop;
		int line;
	} piece[REGISTRY_PIECES];
};

/* The function `wanted`, behind those of the file that it starts from; NULL: the only
 * one. A text without functions is one piece. False with the names where there are
 * several, or none of that name. */
bool registry_choose(struct registry *out, const char *file, const char *text,
		     size_t length, const char *wanted, struct error *error);

#endif
