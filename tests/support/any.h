/* any.h - random training scenarios of shipped models, clusters and stacks, with knobs
 * anywhere in their domains; most are illegal. */
#ifndef TESTS_SUPPORT_ANY_H
#define TESTS_SUPPORT_ANY_H

#include "engine/plan/scenario.h"

/* Before and behind a group of tests. */
int any_load(void **state);
int any_unload(void **state);
/* From the numbers of random.h. */
void any_scenario(struct scenario *out);
/* Print every knob of it, for a test that fails. */
void any_describe(const struct scenario *scenario);

#endif
