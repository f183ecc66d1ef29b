/* report_simulation.c - a simulated server as JSON; see report.h. */
#include <cjson/cJSON.h>

#include "engine/serve/simulate.h"
#include "presets/report.h"

static void add_times(cJSON *object, const char *key, const struct queue_times *times)
{
	cJSON *o = cJSON_AddObjectToObject(object, key);

	cJSON_AddNumberToObject(o, "mean_seconds", times->mean);
	cJSON_AddNumberToObject(o, "p50_seconds", times->p50);
	cJSON_AddNumberToObject(o, "p90_seconds", times->p90);
	cJSON_AddNumberToObject(o, "p99_seconds", times->p99);
}

static void add_log(cJSON *object, const struct scenario *s,
		    const struct request_log *log)
{
	cJSON *o;

	if (log->count == 0)
		return;
	o = cJSON_AddObjectToObject(object, "file");
	cJSON_AddStringToObject(o, "name", log->file);
	cJSON_AddNumberToObject(o, "requests", log->count);
	cJSON_AddNumberToObject(o, "left_out", log->left_out);
	cJSON_AddNumberToObject(o, "arrival_seconds", log->seconds);
	cJSON_AddNumberToObject(o, "prompt_mean", log->prompt);
	cJSON_AddNumberToObject(o, "output_mean", log->output);
	cJSON_AddNumberToObject(o, "longest_tokens", (double)log->longest);
	cJSON_AddNumberToObject(o, "longest_line", (double)log->longest_line);
	cJSON_AddNumberToObject(o, "beyond_positions",
				requests_beyond(log, s->model.max_positions));
	cJSON_AddNumberToObject(o, "prefix_share", log->cached);
}

static void add_yield(cJSON *object, const struct scenario *scenario,
		      const struct queue_result *result)
{
	struct serve_yield y;

	serve_yield(scenario, result, &y);
	cJSON_AddNumberToObject(object, "requests_per_second", y.requests_per_second);
	cJSON_AddNumberToObject(object, "prompt_tokens_per_second",
				y.prompt_tokens_per_second);
	cJSON_AddNumberToObject(object, "output_tokens_per_second",
				y.output_tokens_per_second);
	cJSON_AddNumberToObject(object, "dollars_per_million_tokens",
				y.dollars_per_million_tokens);
}

void report_simulation(cJSON *root, const struct scenario *scenario,
		       const struct request_log *log, const struct queue_result *r,
		       uint64_t seed)
{
	cJSON *o = cJSON_AddObjectToObject(root, "simulation");

	add_log(o, scenario, log);
	cJSON_AddNumberToObject(o, "requests", r->requests);
	cJSON_AddNumberToObject(o, "seed", (double)seed);
	cJSON_AddNumberToObject(o, "seconds", r->seconds);
	add_times(o, "ttft", &r->ttft);
	add_times(o, "tpot", &r->tpot);
	add_times(o, "request", &r->request);
	cJSON_AddNumberToObject(o, "within_goals", r->within_goals);
	cJSON_AddNumberToObject(o, "within_goal_ttft", r->within_ttft);
	cJSON_AddNumberToObject(o, "within_goal_tpot", r->within_tpot);
	add_yield(o, scenario, r);
	cJSON_AddNumberToObject(o, "running", r->running);
	cJSON_AddNumberToObject(o, "passes", (double)r->passes);
	cJSON_AddNumberToObject(o, "preempted", r->preempted);
	cJSON_AddNumberToObject(o, "recomputed_tokens", r->recomputed_tokens);
	cJSON_AddNumberToObject(o, "swapped_tokens", r->swapped_tokens);
	cJSON_AddNumberToObject(o, "fetched_tokens", r->fetched_tokens);
	cJSON_AddNumberToObject(o, "cached_tokens", r->cached_tokens);
	cJSON_AddNumberToObject(o, "oversized", r->oversized);
}
