/* arguments.h - a list of names and values, as a command's flags are, with the storage
 * of their text.
 *
 * Names are without dashes in front and with '-' for '_'.
 */
#ifndef PRESETS_SCRIPT_ARGUMENTS_H
#define PRESETS_SCRIPT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "presets/error.h"
#include "presets/script/given.h"

struct argument {
	const char *name;
	const char *value; /* several words joined by spaces; "" for a switch */
	int line;
	/* The variable that nobody has set and the value was to come from; NULL. */
	const char *missing;
	bool untold; /* a command sets that variable, which is not run */
};

enum { ARGUMENTS_SKIPPED = 64 };

struct arguments {
	int count, capacity;
	struct argument *item;
	int64_t world; /* GPUs, from the launcher or the batch header; 0 = not said */
	int64_t nodes, per_node;
	const char *machine;       /* whose environment a script takes, NULL */
	struct text_block *blocks; /* owns all strings */
	size_t bytes;
	char file[256];
	/* What the caller says of a script's surroundings; NULL: nothing. */
	const struct script_given *given;
	int usage_line; /* of the comment that a script's arguments are taken from */
	const char *usage;
	int wants;               /* the highest argument that the script asks for */
	const char *environment; /* variables that come from there, NULL = none */
	const char *loop; /* around the command that the visitor is shown, NULL */
	/* "TP in line 12": numbers that branches not taken would set, NULL */
	const char *doubted;
	const char *further; /* a variable that would add flags and that nobody set */
	int joined; /* a line whose flags no command has by bash's rules, 0 = none */
	int skipped_count;
	struct argument skipped[ARGUMENTS_SKIPPED]; /* "a.b.c", in mappings not read */
	int skipped_more;                           /* beyond these */
	bool apart; /* no command: another file adds these to its own */
};

enum { ARGUMENTS_MAX = 4096, ARGUMENTS_MAX_BYTES = 4 << 20 };

void arguments_free(struct arguments *arguments);
/* The last one of that name, as Python's argparse takes it; NULL if absent. */
const struct argument *arguments_find(const struct arguments *arguments,
				      const char *name);
/* Whoever named it: as if nobody had. */
void arguments_drop(struct arguments *arguments, const char *name);

/* For the readers of the forms. Copies into the list's own storage; NULL when a
 * bound is reached. */
const char *arguments_keep(struct arguments *arguments, const char *text,
			   size_t length);
/* With its ends of lines, which errors and files must not have. */
const char *arguments_keep_lines(struct arguments *arguments, const char *text,
				 size_t length);
bool arguments_add(struct arguments *arguments, const char *name, const char *value,
		   int line);
/* The world of nodes and GPUs of a node, where both are known. */
void arguments_take_world(struct arguments *arguments);

#endif
