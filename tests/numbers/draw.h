/* draw.h - scenarios at random, of every model, cluster and stack, with knobs anywhere
 * in their domains. What is drawn hangs on names, not on places in tables: another
 * model or knob changes few draws. */
#ifndef TESTS_NUMBERS_DRAW_H
#define TESTS_NUMBERS_DRAW_H

#include <stdint.h>

#include "engine/plan/scenario.h"

/* A number of a word and another number. */
uint64_t draw_hash(const char *word, uint64_t number);
/* The draw of that number for a stack, in training or as a server; many break a rule.
 */
void draw_scenario(const char *stack, int mode, uint64_t number, struct scenario *out);
/* The same with the constants of shipped machines, software and models alone. */
void draw_known(const char *stack, int mode, uint64_t number, struct scenario *out);

#endif
