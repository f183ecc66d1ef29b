/* trace_serve.c - the passes of a server as a trace: what serve_lanes() fills them
 * with, one after the other from 0 on. */
#include <stdlib.h>

#include "engine/rules/legality.h"
#include "engine/serve/serve.h"
#include "presets/stream.h"
#include "presets/trace.h"
#include "presets/trace_events.h"

enum thread { THREAD_PASS, THREAD_KERNELS, THREAD_NETWORK, THREAD_HOST, THREAD_COUNT };

static const char *const lane_names[LANE_COUNT] = { "decode pass", "pass with prompts",
						    "prompt pass" };

static enum thread thread_of(enum serve_filling kind)
{
	switch (kind) {
	case FILLING_TP:
	case FILLING_CP:
	case FILLING_EP:
	case FILLING_PP: return THREAD_NETWORK;
	case FILLING_HOST: return THREAD_HOST;
	default: return THREAD_KERNELS;
	}
}

static const char *category(enum serve_filling kind)
{
	static const char *const words[FILLING_COUNT] = {
		"compute", "memory", "tp", "cp", "ep", "pp", "host", "rest",
	};

	return kind < FILLING_COUNT ? words[kind] : "";
}

static void put_names(struct trace_stream *out, int lane)
{
	static const char *const threads[THREAD_COUNT] = { "pass", "kernels", "network",
							   "host" };

	trace_put_meta(out, "process_name", lane, 0, lane_names[lane], 0);
	trace_put_meta(out, "process_sort_index", lane, 0, NULL, lane);
	for (int t = 0; t < THREAD_COUNT; t++) {
		trace_put_meta(out, "thread_name", lane, t, threads[t], 0);
		trace_put_meta(out, "thread_sort_index", lane, t, NULL, t);
	}
}

static void put_lane(struct trace_stream *out, const struct serve_lanes *lanes,
		     int index)
{
	const struct serve_lane *lane = &lanes->lane[index];
	cJSON *whole = trace_slice(lane_names[index], "pass", index, THREAD_PASS, 0,
				   lane->seconds);
	cJSON *args = cJSON_AddObjectToObject(whole, "args");
	double at = 0;

	cJSON_AddNumberToObject(args, "requests", lane->requests);
	cJSON_AddNumberToObject(args, "prompt_tokens", lane->prompt_tokens);
	cJSON_AddNumberToObject(args, "stages", lanes->stages);
	if (index == LANE_MIXED)
		cJSON_AddNumberToObject(args, "share_of_passes", lanes->mixed_share);
	trace_put(out, whole);
	for (int i = 0; i < lane->count; i++) {
		trace_put(out,
			  trace_slice(lane->item[i].name, category(lane->item[i].kind),
				      index, (int)thread_of(lane->item[i].kind), at,
				      lane->item[i].seconds));
		at += lane->item[i].seconds;
	}
	put_names(out, index);
}

char *trace_write_passes(const struct scenario *scenario, struct error *error)
{
	struct serve_lanes *lanes = malloc(sizeof *lanes);
	struct trace_stream out = { 0 };
	char *text = NULL;
	size_t size = 0;
	bool good = lanes && serve_lanes(scenario, lanes);

	if (lanes && !good && error)
		error_set(error, NULL, 0, "no trace: this server %s; check says why",
			  scenario_check(scenario, NULL) != 0 ? "is illegal"
							      : "does not fit");
	if (good)
		out.stream = open_memstream(&text, &size);
	if (out.stream) {
		trace_begin(&out);
		for (int i = 0; i < LANE_COUNT; i++)
			if (lanes->lane[i].count > 0)
				put_lane(&out, lanes, i);
		trace_end(&out);
		text = stream_end(out.stream, &text);
	}
	free(lanes);
	return text;
}
