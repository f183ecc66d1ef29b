/* trace.h - a step as Chrome trace JSON, which Perfetto and chrome://tracing open:
 * a process per stage, threads for computation and sends, a counter of activations, and
 * a flow from each send to what waited for it. */
#ifndef PRESETS_TRACE_H
#define PRESETS_TRACE_H

#include "engine/scenario.h"

/* A string to be freed; NULL if the plan is illegal, too long, or memory runs out. */
char *trace_write(const struct scenario *scenario);

#endif
