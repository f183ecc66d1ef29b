/* requests_parts.h - what the parts of the reader pass between each other. */
#ifndef PRESETS_REQUESTS_PARTS_H
#define PRESETS_REQUESTS_PARTS_H

#include "presets/requests/requests.h"

/* --- columns.c --- */

enum request_field {
	FIELD_ARRIVAL,
	FIELD_PROMPT,
	FIELD_OUTPUT,
	FIELD_PREFIX, /* tokens that an earlier prompt had */
	FIELD_COUNT
};

/* A name for a field, and what one of it is: seconds or tokens. */
struct request_column {
	const char *name;
	enum request_field field;
	double unit;
};

/* The column of that name, however it is written; NULL if there is none. `file` is of a
 * table that has a column "input_length": there "timestamp" is in milliseconds. */
const struct request_column *column_find(const char *name, bool mooncake);
/* Seconds of a date with a time, "2023-11-16 18:17:03.97", from 1970 on; of a number
 * that number. False if it is neither. */
bool column_number(const char *text, double *out);

/* --- prefix.c --- */

/* Tokens of a block that a hash stands for (Mooncake, FAST 2025, section 3). */
enum { PREFIX_BLOCK = 512 };

/* Hashes that were seen. */
struct prefix_set {
	uint64_t *slot; /* 0 = free */
	size_t slots, used;
};

/* Whether it was there; adds it. False too where memory ran out, which `failed` says.
 */
bool prefix_seen(struct prefix_set *set, uint64_t hash, bool *failed);
void prefix_free(struct prefix_set *set);

#endif
