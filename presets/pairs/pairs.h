/* pairs.h - a configuration file as a flat list of dotted keys and values.
 *
 * YAML, JSON and TOML alike: "zero_optimization.stage" = "3". Lists are words joined by
 * spaces, null is left out. Bounds on bytes, depth and count are the readers'.
 */
#ifndef PRESETS_PAIRS_PAIRS_H
#define PRESETS_PAIRS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "presets/error.h"

struct pair {
	const char *key, *value;
	int line;
};

struct pairs {
	int count, capacity;
	struct pair *item;
	struct pairs_text *texts; /* owns all strings */
	char file[256];
};

enum { PAIRS_MAX = 8192, PAIRS_MAX_KEY = 160, PAIRS_MAX_VALUE = 4096 };

/* Fills out, to be freed; false with FILE:LINE, and nothing is to be freed. */
bool pairs_from_yaml(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error);
/* The same for tools that take the last of equal keys. */
bool pairs_from_yaml_repeats(struct pairs *out, const char *file, const char *text,
			     size_t length, struct error *error);
/* With comments, a comma behind the last member and bare words, as tools that read
 * hjson take them. */
bool pairs_from_json(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error);
bool pairs_from_toml(struct pairs *out, const char *file, const char *text,
		     size_t length, struct error *error);
/* Every member of a mapping and of those inside it, as pairs_from_yaml() has them. */
struct node;
bool pairs_add_map(struct pairs *pairs, const struct node *map, struct error *error);
/* An empty list, for errors that name this file. */
void pairs_begin(struct pairs *out, const char *file);
/* The place of `at` in a text that starts at `start`, where its line is known; a column
 * far to the right is not looked for. */
int pairs_place(const char *start, const char *at, int line);
void pairs_free(struct pairs *pairs);
/* The first one of that key, or NULL. */
const struct pair *pairs_find(const struct pairs *pairs, const char *key);
/* Copies both; false with the error where a bound is reached. */
bool pairs_add(struct pairs *pairs, const char *key, const char *value, int line,
	       struct error *error);
/* The same in the place of the first one of that key, if there is one. */
bool pairs_set(struct pairs *pairs, const char *key, const char *value, int line,
	       struct error *error);

/* As argparse does, the last of equal keys counts; the texts stay the list's own. */
void pairs_keep_last(struct pairs *pairs);

#endif
