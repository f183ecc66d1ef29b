/* history.c - see history.h. */
#include "tui/explorer/history.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A run ends where this many bytes in a row are equal: to write them twice takes what
 * the head of another run does. */
enum { GAP = 4 };
/* Most of two scenarios is equal: so many bytes are compared at once. */
enum { STRIDE = 64 };

struct run {
	uint32_t offset, length;
};

/* Of a change: how many bytes its text and runs take, in front of them and behind, so
 * that one comes to it from either side. */
typedef uint32_t extent;

void history_free(struct history *history)
{
	free(history->bytes);
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

/* Of the runs up to `end`. */
static void apply(const unsigned char *runs, const unsigned char *end,
		  struct scenario *scenario, bool redo)
{
	unsigned char *to = (unsigned char *)scenario;

	while (runs < end) {
		struct run run;

		memcpy(&run, runs, sizeof run);
		runs += sizeof run;
		memcpy(to + run.offset, runs + (redo ? run.length : 0), run.length);
		runs += 2 * (size_t)run.length;
	}
}

static bool grow(struct history *history, size_t needed)
{
	size_t capacity = history->capacity > 0 ? history->capacity : 4096;
	unsigned char *bytes;

	if (needed <= history->capacity)
		return true;
	while (capacity < needed)
		capacity *= 2;
	bytes = realloc(history->bytes, capacity);
	if (!bytes)
		return false;
	history->bytes = bytes;
	history->capacity = capacity;
	return true;
}

bool history_push(struct history *history, const struct scenario *from,
		  const struct scenario *to, const char *what)
{
	size_t text = strlen(what) + 1, runs = encode(from, to, NULL);
	extent length = (extent)(text + runs);
	unsigned char *at;

	if (!grow(history, history->at + length + 2 * sizeof length))
		return false;
	at = history->bytes + history->at;
	memcpy(at, &length, sizeof length);
	memcpy(at + sizeof length, what, text);
	encode(from, to, at + sizeof length + text);
	memcpy(at + sizeof length + length, &length, sizeof length);
	history->at += length + 2 * sizeof length;
	history->count = ++history->done;
	return true;
}

/* Applies the change whose text stands there. */
static const char *change(const unsigned char *text, extent length,
			  struct scenario *scenario, bool redo)
{
	const unsigned char *runs = text + strlen((const char *)text) + 1;

	apply(runs, text + length, scenario, redo);
	return (const char *)text;
}

const char *history_undo(struct history *history, struct scenario *scenario)
{
	extent length;

	if (history->done == 0)
		return NULL;
	history->at -= sizeof length;
	memcpy(&length, history->bytes + history->at, sizeof length);
	history->at -= length + sizeof length;
	history->done--;
	return change(history->bytes + history->at + sizeof length, length, scenario,
		      false);
}

const char *history_redo(struct history *history, struct scenario *scenario)
{
	const unsigned char *at = history->bytes + history->at;
	extent length;

	if (history->done == history->count)
		return NULL;
	memcpy(&length, at, sizeof length);
	history->at += length + 2 * sizeof length;
	history->done++;
	return change(at + sizeof length, length, scenario, true);
}
