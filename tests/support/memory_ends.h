/* memory_ends.h - allocations of this very program that fail when a test says so.
 *
 * It stands in for the C library's malloc() and the like in the program that includes
 * it, so one file of a test does, and no other. MEMORY_ENDS is 0 where a sanitizer has
 * an allocator of its own, and none ever fails.
 */
#ifndef TESTS_SUPPORT_MEMORY_ENDS_H
#define TESTS_SUPPORT_MEMORY_ENDS_H

#include <stdbool.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_ENDS 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_ENDS 0
#endif
#ifndef MEMORY_ENDS
#define MEMORY_ENDS 1
#endif

/* The allocation that fails, counted from 0 since `memory_asked` was set to that, with
 * all after it if they are to; -1: none. And how many are held that were given. */
static long memory_failing = -1, memory_asked, memory_living;
static bool memory_onwards;

static inline void memory_fail_at(long which, bool onwards)
{
	memory_asked = 0;
	memory_failing = which;
	memory_onwards = onwards;
}

#if MEMORY_ENDS
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static bool memory_fails(void)
{
	long now = memory_asked++;

	return memory_failing >= 0 &&
	       (memory_onwards ? now >= memory_failing : now == memory_failing);
}

static void *memory_given(void *memory)
{
	memory_living += memory != NULL;
	return memory;
}

/* Of nothing there may be none, as the standard has it. */
void *malloc(size_t size)
{
	return memory_fails() || size == 0 ? NULL : memory_given(__libc_malloc(size));
}

void *calloc(size_t items, size_t size)
{
	return memory_fails() ? NULL : memory_given(__libc_calloc(items, size));
}

void *realloc(void *memory, size_t size)
{
	if (memory_fails())
		return NULL;
	return memory ? __libc_realloc(memory, size)
		      : memory_given(__libc_realloc(NULL, size));
}

void free(void *memory)
{
	memory_living -= memory != NULL;
	__libc_free(memory);
}
#endif

#endif
