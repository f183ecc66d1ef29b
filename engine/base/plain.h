/* plain.h - small calls of the inner loops that libraries and compilers make slow. */
#ifndef ENGINE_BASE_PLAIN_H
#define ENGINE_BASE_PLAIN_H

#include <stddef.h>
#include <stdint.h>

/* fmax() and fmin() look out for NaN, which no sum of the engine is, behind a call. */
static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* Of counts. */
static inline int64_t lower(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t higher(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* For qsort(): below 0, 0 or above, as a is less, the same or greater. */
static inline int compare(double a, double b)
{
	return (a > b) - (a < b);
}

static inline int count_bits(uint64_t bits)
{
	int count = 0;

	for (; bits != 0; bits &= bits - 1)
		count++;
	return count;
}

/* memset() to zero and memcpy() of a few hundred bytes: of a size that it knows gcc
 * makes string instructions, four times as slow as the library. */
void clear_bytes(void *to, size_t size);
void copy_bytes(void *to, const void *from, size_t size);

#endif
