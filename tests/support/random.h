/* random.h - numbers that are the same in every run (xorshift64). */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* Any but 0; a test sets it to be alone with its numbers. */
extern uint64_t seed;

/* 0 to below - 1. */
uint64_t next(uint64_t below);
/* Of so many tries a twentieth where $SHARDSCOPE_QUICK is set, as make mutate sets it;
 * else all. */
int some_of(int all);

#endif
