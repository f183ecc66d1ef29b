/* arena.h - memory that the caller owns and lends: taken in order, never freed one
 * by one. Nothing here allocates. */
#ifndef ENGINE_BASE_ARENA_H
#define ENGINE_BASE_ARENA_H

#include <stddef.h>

struct arena {
	unsigned char *base;
	size_t size, used;
};

/* Room for count items of size bytes, aligned for any type, contents undefined.
 * NULL if it does not fit; used then tells how much was there before. */
void *arena_take(struct arena *arena, size_t count, size_t size);

#endif
