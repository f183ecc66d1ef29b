/* random.h - numbers that are the same in every run (xorshift64), or others by
 * $SHARDSCOPE_SEED. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* Any but 0; a test sets it to be alone with its numbers. */
extern uint64_t seed;

/* 0 to below - 1. */
uint64_t next(uint64_t below);
/* For generators of a test's own: what they begin with, or another by
 * $SHARDSCOPE_SEED. */
uint64_t seed_or(uint64_t usual);
/* From here on the numbers of every run, whatever $SHARDSCOPE_SEED says: for what was
 * written down. */
void keep_golden_draws(void);
/* Of so many tries a twentieth where $SHARDSCOPE_QUICK is set, as make mutate sets it,
 * and a third under AddressSanitizer; else all. */
int some_of(int all);

#endif
