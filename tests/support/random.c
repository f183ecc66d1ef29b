/* random.c - see random.h. */
#include "tests/support/random.h"

#include <stdlib.h>

uint64_t seed = 2463534242u;

/* What $SHARDSCOPE_SEED names, read once; 0 where it is not set. */
static uint64_t other(void)
{
	static uint64_t kept;
	static int read;

	if (!read) {
		const char *text = getenv("SHARDSCOPE_SEED");

		kept = text ? strtoull(text, NULL, 10) : 0;
		read = 1;
	}
	return kept;
}

/* Other numbers of the same state (splitmix64), so that a test which goes back to a
 * state that it kept draws the same again. */
static uint64_t stirred(uint64_t state)
{
	state += other() * 0x9e3779b97f4a7c15u;
	state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
	state = (state ^ state >> 27) * 0x94d049bb133111ebu;
	return state ^ state >> 31;
}

uint64_t next(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (other() ? stirred(seed) : seed) % below;
}

uint64_t seed_or(uint64_t usual)
{
	return other() ? stirred(usual) | 1 : usual;
}

void keep_golden_draws(void)
{
	unsetenv("SHARDSCOPE_SEED");
}

/* Under AddressSanitizer a try takes six times as long, and what it looks for is met by
 * the first tries or by none. */
#if defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 3 };
#else
enum { SLOWER = 1 };
#endif

int some_of(int all)
{
	int share = getenv("SHARDSCOPE_QUICK") ? 20 : SLOWER;

	return (all + share - 1) / share;
}
