/* trace.h - a step, or the passes of a server, as Chrome trace JSON, which Perfetto and
 * chrome://tracing open. Of a step: a process per stage; threads for computation, each
 * direction of sends and receives, and the end of the step; a counter of memory; a flow
 * from each send over its receive to the item that takes it. Of a server: a process for
 * each kind of pass, and what fills it as slices one after the other; where these run
 * beside each other they add up to more than the pass. */
#ifndef PRESETS_TRACE_H
#define PRESETS_TRACE_H

#include "engine/plan/scenario.h"
#include "presets/error.h"

/* So many stages and micro-batches, the first ones; 0 = all. */
struct trace_cut {
	int stages, micro_batches;
};

/* How many of all are in a cut that asks for so many. */
static inline int trace_cut_of(int asked, int all)
{
	return asked > 0 && asked < all ? asked : all;
}

/* A string to be freed; NULL with the error set (it may be NULL) if the plan is
 * illegal, longer than a timeline may be, or memory runs out. */
char *trace_write(const struct scenario *scenario, const struct trace_cut *cut,
		  struct error *error);
/* The same of a server, in trace_serve.c. */
char *trace_write_passes(const struct scenario *scenario, struct error *error);

#endif
