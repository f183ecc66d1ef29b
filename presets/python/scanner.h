/* scanner.h - assignments of a Python text as pairs: read, never run.
 *
 * "config.parallelism.x = 8", "parallelism=ParallelismConfig(x=8)" and the words
 * "--parallelism.x 8" of a command are all the pair "parallelism.x" = "8"; the
 * variables config, cfg and c are left out. Of values literals and their products are
 * read; of calls the arguments, and a lone string as "NAME.argument". "def" is the last
 * function, "base" what its configuration is called from.
 */
#ifndef PRESETS_PYTHON_SCANNER_H
#define PRESETS_PYTHON_SCANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "presets/pairs/pairs.h"
#include "presets/python/registry.h"

enum { PYTHON_MAX_CALLS = 32 };

struct python {
	struct pairs *pairs;
	const char *start, *at, *stop; /* start: of the whole text */
	int line;
	struct error *error;
	/* What a format says of a call that stands alone, and of one whose outcome a
	 * key gets; may be NULL. False ends the reading with the error. */
	bool (*call)(struct python *python, const char *name, int line);
	bool (*assigned)(struct python *python, const char *key, const char *name,
			 int line);
	const char *first; /* key of the next lone argument, a word or a string */
	char prefix[PAIRS_MAX_KEY];      /* "parallelism." inside parallelism=...( */
	size_t length[PYTHON_MAX_CALLS]; /* of it outside each open bracket */
	int depth;
};

/* One piece of the text; start, pairs and error are the caller's. */
bool python_read(struct python *python, const struct piece *piece);
/* The same key later in the file wins. */
bool python_set(struct python *python, const char *key, const char *value, int line);

#endif
