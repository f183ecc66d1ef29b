/* trace_events.c - see trace_events.h. */
#include "presets/trace_events.h"

#include <stdlib.h>

#include "presets/report.h"

static const double micro = 1e6; /* a trace counts microseconds */

void trace_begin(struct trace_stream *out)
{
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", out->stream);
	out->first = true;
}

void trace_end(struct trace_stream *out)
{
	fputs("\n]}\n", out->stream);
}

void trace_put(struct trace_stream *out, cJSON *event)
{
	char *text = cJSON_PrintUnformatted(event);

	/* a stream in memory forgets that it could not grow */
	if (!text || fprintf(out->stream, "%s%s", out->first ? "" : ",\n", text) < 0)
		report_falls_short();
	out->first = false;
	free(text);
	cJSON_Delete(event);
}

cJSON *trace_event(const char *phase, const char *name, int process, int thread,
		   double seconds)
{
	cJSON *e = cJSON_CreateObject();

	cJSON_AddStringToObject(e, "ph", phase);
	cJSON_AddStringToObject(e, "name", name);
	cJSON_AddNumberToObject(e, "pid", process);
	cJSON_AddNumberToObject(e, "tid", thread);
	cJSON_AddNumberToObject(e, "ts", seconds * micro);
	return e;
}

cJSON *trace_slice(const char *name, const char *category, int process, int thread,
		   double start, double length)
{
	cJSON *e = trace_event("X", name, process, thread, start);

	cJSON_AddNumberToObject(e, "dur", length * micro);
	cJSON_AddStringToObject(e, "cat", category);
	return e;
}

void trace_put_meta(struct trace_stream *out, const char *what, int process, int thread,
		    const char *name, int order)
{
	cJSON *e = trace_event("M", what, process, thread, 0);
	cJSON *args = cJSON_AddObjectToObject(e, "args");

	if (name)
		cJSON_AddStringToObject(args, "name", name);
	else
		cJSON_AddNumberToObject(args, "sort_index", order);
	trace_put(out, e);
}
