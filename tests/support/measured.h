/* measured.h - measured runs with their predictions, read once for a whole program. */
#ifndef TESTS_SUPPORT_MEASURED_H
#define TESTS_SUPPORT_MEASURED_H

#include "presets/runs/runs.h"

extern struct run_set measured_set;
extern struct run_scores measured_scores;

/* All files of a pattern, below the folder that tests run in; 0, or -1 where one can't
 * be read: what a group's setup returns. */
int measured_read(const char *pattern);
/* A group's teardown. */
int measured_forget(void **state);
/* The scores of a source; fails the test where there is none of that name. */
const struct score *measured_source(const char *name);
/* Fails unless there are so many sources and runs, and none that can't be read. */
void measured_check(int sources, int runs);

#endif
