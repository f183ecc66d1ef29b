/* any.h - random training scenarios of shipped models, clusters and stacks, with knobs
 * anywhere in their domains; most are illegal. */
#ifndef TESTS_SUPPORT_ANY_H
#define TESTS_SUPPORT_ANY_H

#include "engine/knob/knob.h"

/* Before and behind a group of tests. */
int any_load(void **state);
int any_unload(void **state);
/* From the numbers of random.h. */
void any_scenario(struct scenario *out);
/* A knob of training, or NULL now and then, so that what servers have more changes no
 * draw. */
const struct knob *any_knob(void);
/* Print every knob of it, for a test that fails. */
void any_describe(const struct scenario *scenario);

#endif
