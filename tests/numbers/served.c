/* served.c - names and numbers of a server: its estimate, its curve, its passes, and
 * what a simulation of it gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/serve/serve.h"
#include "engine/serve/simulate.h"
#include "tests/numbers/estimated.h"
#include "tests/support/close.h"

static void add_terms(struct figures *out, const struct serving_estimate *s)
{
	double seconds = s->request_seconds;

	figures_add(out, "step_between_seconds", s->step_between_seconds, seconds);
	figures_add(out, "added_seconds", s->added_seconds, seconds);
	figures_add(out, "begin_seconds", s->begin_seconds, seconds);
	figures_add(out, "transfer_seconds", s->transfer_seconds, seconds);
	figures_add(out, "carrying_seconds", s->carrying_seconds, seconds);
	figures_add(out, "ahead", s->ahead, 1);
	figures_add(out, "behind", s->behind, 1);
	figures_add(out, "gain", s->gain, 0);
	figures_add(out, "kv_share_bytes", s->kv_share_bytes, 0);
	figures_add(out, "kv_room_bytes", s->kv_room_bytes, 0);
	figures_add(out, "budget_tokens", s->budget_tokens, 0);
	figures_add(out, "communicators", s->communicators, 0);
	figures_add(out, "prefix_bytes", s->prefix_bytes, 0);
	figures_add(out, "admitted_tokens", s->admitted_tokens, 0);
	figures_add(out, "request_bytes", s->request_bytes, 0);
	figures_add(out, "prefill_flops_per_second", s->prefill_flops_per_second, 0);
	figures_add(out, "decode_flops_per_second", s->decode_flops_per_second, 0);
	figures_say(out, "bound", bound_label((enum bound)s->bound));
}

/* Points counted as stages are: the n-th n times. */
static void add_curve(struct figures *out, const struct scenario *s)
{
	enum { POINTS = 5 };
	struct serve_point point[POINTS];
	int count = serve_curve(s, point, POINTS);
	double ttft = 0, tpot = 0, output = 0, running = 0;

	for (int i = 0; i < count; i++) {
		ttft += (i + 1) * point[i].ttft_seconds;
		tpot += (i + 1) * point[i].tpot_seconds;
		output += (i + 1) * point[i].per_gpu;
		running += (i + 1) * point[i].concurrency;
	}
	figures_add(out, "curve.running", running, 0);
	figures_add(out, "curve.ttft_seconds", ttft, 0);
	figures_add(out, "curve.tpot_seconds", tpot, 0);
	figures_add(out, "curve.per_gpu", output, 0);
	figures_add(out, "curve.knee", serve_knee(point, count), 0);
}

static void add_operators(struct figures *out, const struct scenario *s, bool prefill)
{
	struct serve_operator list[48];
	int count = serve_operators(s, prefill, list, 48);
	const char *pass = prefill ? "prefill" : "decode";
	double kernels = 0, flops = 0, bytes = 0, seconds = 0;
	char key[MAX_FIGURE_KEY];

	for (int i = 0; i < count; i++) {
		kernels += list[i].kernels;
		flops += list[i].flops;
		bytes += list[i].bytes;
		seconds += list[i].seconds;
	}
	snprintf(key, sizeof key, "%s.operators", pass);
	figures_add(out, key, count, 0);
	snprintf(key, sizeof key, "%s.kernels", pass);
	figures_add(out, key, kernels, 0);
	snprintf(key, sizeof key, "%s.flops", pass);
	figures_add(out, key, flops, 0);
	snprintf(key, sizeof key, "%s.bytes", pass);
	figures_add(out, key, bytes, 0);
	snprintf(key, sizeof key, "%s.seconds", pass);
	figures_add(out, key, seconds, 0);
}

static void add_lanes(struct figures *out, const struct scenario *s)
{
	static const char *const names[] = { "decode", "mixed", "prompt" };
	static struct serve_lanes lanes;

	if (!serve_lanes(s, &lanes))
		return;
	figures_add(out, "mixed_share", lanes.mixed_share, 1);
	figures_add(out, "lanes.stages", lanes.stages, 0);
	for (int i = 0; i < LANE_COUNT; i++) {
		const struct serve_lane *lane = &lanes.lane[i];
		double filled = 0;
		char key[MAX_FIGURE_KEY];

		for (int k = 0; k < lane->count; k++)
			filled += (1 + (int)lane->item[k].kind) * lane->item[k].seconds;
		snprintf(key, sizeof key, "lane.%s.seconds", names[i]);
		figures_add(out, key, lane->seconds, 0);
		snprintf(key, sizeof key, "lane.%s.stage_seconds", names[i]);
		figures_add(out, key, lane->stage_seconds, 0);
		snprintf(key, sizeof key, "lane.%s.filled", names[i]);
		figures_add(out, key, filled, lane->seconds);
	}
}

void figures_served(const struct scenario *s, struct figures *out)
{
	static struct estimate e;
	struct serve_ceiling ceiling;

	serve_estimate(s, &e);
	out->count = 0;
	figures_say(out, "verdict",
		    !e.legal ? "illegal"
		    : e.fits ? "fits"
			     : "too large");
	figures_findings(out, "problems", &e.problems);
	if (!e.legal)
		return;
	figures_metrics(out, &e, METRIC_INFERENCE);
	figures_stages(out, &e);
	figures_traffic(out, e.traffic, e.traffic_count);
	if (serve_ceiling(s, &ceiling)) {
		figures_add(out, "ceiling", ceiling.tokens_per_second, 0);
		figures_add(out, "ceiling_bytes", ceiling.bytes, 0);
	}
	if (!e.fits)
		return;
	add_terms(out, &e.serving);
	add_curve(out, s);
	add_operators(out, s, false);
	add_operators(out, s, true);
	add_lanes(out, s);
}

void figures_serving(const char *title, struct figures *out)
{
	struct scenario s;

	figures_scenario(title, &s);
	figures_served(&s, out);
}

static void add_times(struct figures *out, const char *what,
		      const struct queue_times *times)
{
	char key[MAX_FIGURE_KEY];

	snprintf(key, sizeof key, "%s.mean", what);
	figures_add(out, key, times->mean, 0);
	snprintf(key, sizeof key, "%s.p50", what);
	figures_add(out, key, times->p50, 0);
	snprintf(key, sizeof key, "%s.p90", what);
	figures_add(out, key, times->p90, 0);
	snprintf(key, sizeof key, "%s.p99", what);
	figures_add(out, key, times->p99, 0);
}

enum { MOST_LISTED = 512 };

/* "list:N" is a log of N requests: bursts of eight, every third prompt known by half.
 */
static void make_list(struct queue_item *item, int count)
{
	for (int i = 0; i < count; i++) {
		item[i].arrival = 1.5 * (i / 8);
		item[i].prompt = 100 + (i * 977) % 3000;
		item[i].output = 20 + (i * 131) % 400;
		item[i].cached = i % 3 ? 0 : item[i].prompt / 2;
	}
}

/* A server request by request. */
static void simulate(const struct scenario *s, const struct serve_load *load,
		     struct figures *out)
{
	struct arena arena = { 0 };
	struct serve_yield yield;
	struct queue_result r;

	out->count = 0;
	arena.size = serve_simulation_bytes(s, load);
	arena.base = malloc(arena.size + 1);
	assert_non_null(arena.base);
	/* what is lent may hold anything */
	memset(arena.base, 0x55, arena.size + 1);
	if (arena.size == 0 || !serve_simulate(s, load, &arena, &r)) {
		figures_say(out, "verdict", "can't run");
		free(arena.base);
		return;
	}
	free(arena.base);
	figures_add(out, "requests", r.requests, 0);
	figures_add(out, "seconds", r.seconds, 0);
	figures_add(out, "prompt_tokens", r.prompt_tokens, 0);
	figures_add(out, "output_tokens", r.output_tokens, 0);
	add_times(out, "ttft", &r.ttft);
	add_times(out, "tpot", &r.tpot);
	add_times(out, "request", &r.request);
	figures_add(out, "within_goals", r.within_goals, 0);
	figures_add(out, "within_ttft", r.within_ttft, 0);
	figures_add(out, "within_tpot", r.within_tpot, 0);
	figures_add(out, "running", r.running, 0);
	figures_add(out, "passes", (double)r.passes, 0);
	figures_add(out, "preempted", r.preempted, 0);
	figures_add(out, "recomputed_tokens", r.recomputed_tokens, 0);
	figures_add(out, "cached_tokens", r.cached_tokens, 0);
	figures_add(out, "oversized", r.oversized, 0);
	serve_yield(s, &r, &yield);
	figures_add(out, "yield.requests", yield.requests_per_second, 0);
	figures_add(out, "yield.prompts", yield.prompt_tokens_per_second, 0);
	figures_add(out, "yield.output", yield.output_tokens_per_second, 0);
	figures_add(out, "yield.dollars", yield.dollars_per_million_tokens, 0);
}

void figures_simulated(const char *title, struct figures *out)
{
	static struct queue_item list[MOST_LISTED];
	const char *listed = strstr(title, " list:");
	struct serve_load load = { .requests = 400, .seed = 5 };
	struct scenario s;

	figures_scenario(title, &s);
	if (listed) {
		load.listed = atoi(listed + 6);
		assert_true(load.listed > 0 && load.listed <= MOST_LISTED);
		make_list(list, load.listed);
		load.list = list;
		load.requests = 0;
	}
	simulate(&s, &load, out);
}

void figures_queued(const struct scenario *s, struct figures *out)
{
	struct serve_load load = { .requests = 60, .seed = 3 };
	const struct serve_load own = { .seed = 3 };

	simulate(s, &load, out);
	figures_add(out, "own.requests", (double)serve_simulated_requests(s, &own), 0);
}
