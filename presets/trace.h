/* trace.h - a step as Chrome trace JSON, which Perfetto and chrome://tracing open:
 * a process per stage; threads for computation, each direction of sends and receives,
 * and the end of the step; a counter of memory; a flow from each send over its receive
 * to the item that takes it. */
#ifndef PRESETS_TRACE_H
#define PRESETS_TRACE_H

#include "engine/scenario.h"
#include "presets/error.h"

/* A string to be freed; NULL with the error set (it may be NULL) if the plan is
 * illegal, longer than a timeline may be, or memory runs out. */
char *trace_write(const struct scenario *scenario, struct error *error);

#endif
