/* trace_events.h - events of a Chrome trace, as both kinds of trace write them. Form:
 * Perfetto, docs/getting-started/other-formats.md; times are given in seconds.
 */
#ifndef PRESETS_TRACE_EVENTS_H
#define PRESETS_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

struct trace_stream {
	FILE *stream;
	bool first; /* no comma before the next event */
};

/* Head and end of the file. */
void trace_begin(struct trace_stream *out);
void trace_end(struct trace_stream *out);
/* One event of the list; taken over. */
void trace_put(struct trace_stream *out, cJSON *event);
cJSON *trace_event(const char *phase, const char *name, int process, int thread,
		   double seconds);
cJSON *trace_slice(const char *name, const char *category, int process, int thread,
		   double start, double length);
/* A name of a process or thread, or (name NULL) its place among the others. */
void trace_put_meta(struct trace_stream *out, const char *what, int process, int thread,
		    const char *name, int order);

#endif
