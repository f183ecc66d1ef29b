/* lean.h - what a person does who leans on the keyboard: every key, pickers and
 * prompts, odd sizes and clicks, in no order; files are not written. */
#ifndef TESTS_SUPPORT_LEAN_H
#define TESTS_SUPPORT_LEAN_H

#include "tests/support/stage.h"

/* So many keys; whatever they make of the plan, its numbers stay numbers. */
void lean_on_keys(struct stage *s, uint64_t draw, int count);

#endif
