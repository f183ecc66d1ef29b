/* random.c - see random.h. */
#include "tests/support/random.h"

#include <stdlib.h>

uint64_t seed = 2463534242u;

uint64_t next(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

int some_of(int all)
{
	return getenv("SHARDSCOPE_QUICK") ? (all + 19) / 20 : all;
}
