#include "engine/base/arena.h"

#include <stdint.h>

enum { ALIGNMENT = 16 };

void *arena_take(struct arena *arena, size_t count, size_t size)
{
	uintptr_t at = (uintptr_t)(arena->base + arena->used);
	size_t pad = (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
	size_t left = arena->size - arena->used;
	void *room;

	if (size > 0 && count > SIZE_MAX / size)
		return NULL;
	if (pad > left || count * size > left - pad)
		return NULL;
	room = arena->base + arena->used + pad;
	arena->used += pad + count * size;
	return room;
}
