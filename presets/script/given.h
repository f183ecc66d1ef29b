/* given.h - what somebody who has a script read says of its surroundings.
 *
 * A script's own assignments stand over its environment, and what is set here over
 * both: it is what was asked for last.
 */
#ifndef PRESETS_SCRIPT_GIVEN_H
#define PRESETS_SCRIPT_GIVEN_H

#include <stdbool.h>
#include <stddef.h>

enum { GIVEN_SETS = 64, GIVEN_ARGS = 64 };

struct script_given {
	int sets;
	const char *set[GIVEN_SETS]; /* "NAME=VALUE"; "3=VALUE" is its third argument */
	int args;
	const char *arg[GIVEN_ARGS]; /* $1 and on */
	const char *function; /* which of those a file of Python has; NULL: unsaid */
	bool environment;     /* variables that it doesn't set are ours */
};

/* What --set, else the environment has for that name; NULL: neither. */
const char *given_value(const struct script_given *given, const char *name,
			size_t length);

#endif
