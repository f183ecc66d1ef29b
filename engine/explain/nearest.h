/* nearest.h - what a misspelled key may mean. */
#ifndef ENGINE_EXPLAIN_NEAREST_H
#define ENGINE_EXPLAIN_NEAREST_H

/* The metric, knob or term whose key, or another name of it, is nearest to what was
 * typed; NULL: none is near. */
const char *explain_nearest(const char *text);

#endif
