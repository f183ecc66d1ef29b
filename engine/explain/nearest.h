/* nearest.h - what a key means, and what a misspelled one may mean. */
#ifndef ENGINE_EXPLAIN_NEAREST_H
#define ENGINE_EXPLAIN_NEAREST_H

/* The metric, knob or term whose key, or another name of it, is nearest to what was
 * typed; NULL: none is near. */
const char *explain_nearest(const char *text);

struct knob;
/* The knob that a key explains. NULL: a number, though a knob may have its key for
 * another name, as concurrency has max_concurrency; or nothing. */
const struct knob *explain_knob(const char *key);

#endif
