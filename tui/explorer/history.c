/* history.c - see history.h. */
#include "tui/explorer/history.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run ends where this many bytes in a row are equal: less than its own head. */
enum { GAP = 16 };
/* Most of two scenarios is equal: so many bytes are compared at once. */
enum { STRIDE = 64 };

struct run {
	uint32_t offset, length;
};

void history_free(struct history *history)
{
	for (int i = 0; i < history->count; i++)
		free(history->change[i].bytes);
	free(history->change);
	memset(history, 0, sizeof *history);
}

/* The next run of differing bytes at or behind offset; length 0 = none. */
static struct run next_run(const unsigned char *a, const unsigned char *b,
			   size_t offset, size_t size)
{
	size_t end, equal = 0;

	while (offset + STRIDE <= size && memcmp(a + offset, b + offset, STRIDE) == 0)
		offset += STRIDE;
	while (offset < size && a[offset] == b[offset])
		offset++;
	for (end = offset; end < size && equal < GAP; end++)
		equal = a[end] == b[end] ? equal + 1 : 0;
	return (struct run){ (uint32_t)offset, (uint32_t)(end - equal - offset) };
}

static size_t encode(const struct scenario *from, const struct scenario *to,
		     unsigned char *out)
{
	const unsigned char *a = (const unsigned char *)from,
			    *b = (const unsigned char *)to;
	size_t used = 0;

	for (struct run run = next_run(a, b, 0, sizeof *from); run.length > 0;
	     run = next_run(a, b, run.offset + run.length, sizeof *from)) {
		if (out) {
			memcpy(out + used, &run, sizeof run);
			memcpy(out + used + sizeof run, a + run.offset, run.length);
			memcpy(out + used + sizeof run + run.length, b + run.offset,
			       run.length);
		}
		used += sizeof run + 2 * (size_t)run.length;
	}
	return used;
}

static void apply(const struct change *change, struct scenario *scenario, bool redo)
{
	unsigned char *to = (unsigned char *)scenario;

	for (size_t at = 0; at < change->length;) {
		struct run run;

		memcpy(&run, change->bytes + at, sizeof run);
		at += sizeof run;
		memcpy(to + run.offset, change->bytes + at + (redo ? run.length : 0),
		       run.length);
		at += 2 * (size_t)run.length;
	}
}

static bool grow(struct history *history)
{
	int capacity = history->capacity ? 2 * history->capacity : 64;
	struct change *change;

	if (history->done < history->capacity)
		return true;
	change = realloc(history->change, (size_t)capacity * sizeof *change);
	if (!change)
		return false;
	history->change = change;
	history->capacity = capacity;
	return true;
}

bool history_push(struct history *history, const struct scenario *from,
		  const struct scenario *to, const char *what)
{
	size_t length = encode(from, to, NULL);
	unsigned char *bytes = malloc(length ? length : 1);

	if (!bytes || !grow(history)) {
		free(bytes);
		return false;
	}
	for (int i = history->done; i < history->count; i++)
		free(history->change[i].bytes);
	encode(from, to, bytes);
	struct change *change = &history->change[history->done++];

	history->count = history->done;
	change->bytes = bytes;
	change->length = length;
	snprintf(change->what, sizeof change->what, "%s", what);
	return true;
}

const char *history_undo(struct history *history, struct scenario *scenario)
{
	if (history->done == 0)
		return NULL;
	apply(&history->change[--history->done], scenario, false);
	return history->change[history->done].what;
}

const char *history_redo(struct history *history, struct scenario *scenario)
{
	if (history->done == history->count)
		return NULL;
	apply(&history->change[history->done], scenario, true);
	return history->change[history->done++].what;
}
