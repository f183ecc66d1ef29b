/* prefix.c - a set of hashes: open addressing, at most half full. */
#include <stdlib.h>

#include "presets/requests/requests_parts.h"

static size_t place(const struct prefix_set *set, uint64_t key)
{
	/* Fibonacci hashing: Knuth, The Art of Computer Programming 3, section 6.4 */
	size_t at = (size_t)((key * 0x9e3779b97f4a7c15) >> 20) & (set->slots - 1);

	while (set->slot[at] != 0 && set->slot[at] != key)
		at = (at + 1) & (set->slots - 1);
	return at;
}

static bool grow(struct prefix_set *set)
{
	struct prefix_set wider = { .slots = set->slots > 0 ? 2 * set->slots : 1024,
				    .used = set->used };

	wider.slot = calloc(wider.slots, sizeof *wider.slot);
	if (!wider.slot)
		return false;
	for (size_t i = 0; i < set->slots; i++)
		if (set->slot[i] != 0)
			wider.slot[place(&wider, set->slot[i])] = set->slot[i];
	free(set->slot);
	*set = wider;
	return true;
}

bool prefix_seen(struct prefix_set *set, uint64_t hash, bool *failed)
{
	uint64_t key = hash + 1 != 0 ? hash + 1 : 1; /* 0 means free */
	size_t at;

	if (2 * set->used >= set->slots && !grow(set)) {
		*failed = true;
		return false;
	}
	at = place(set, key);
	if (set->slot[at] == key)
		return true;
	set->slot[at] = key;
	set->used++;
	return false;
}

void prefix_free(struct prefix_set *set)
{
	free(set->slot);
	*set = (struct prefix_set){ 0 };
}
