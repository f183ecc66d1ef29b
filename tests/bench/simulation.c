/* simulation.c - how long servers take to simulate, request by request. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/knob/knob.h"
#include "engine/serve/simulate.h"
#include "presets/scenario_file.h"
#include "tests/bench/bench.h"

enum { REQUESTS = 100000, RUNS = 5, KNOBS = 8 };

static const struct {
	const char *name, *stack;
	const char *knob[KNOBS][2]; /* key and value, up to a NULL */
} example[] = {
	{ "closed loop of 64, uniform lengths",
	  "vllm",
	  { { "concurrency", "64" }, { "length_spread", "0.2" } } },
	{ "Poisson, lognormal lengths",
	  "vllm",
	  { { "request_rate", "4" },
	    { "length_shape", "lognormal" },
	    { "length_spread", "1.4" } } },
	{ "in bursts, prompts first",
	  "sglang",
	  { { "request_rate", "4" },
	    { "arrival_scv", "9" },
	    { "length_spread", "0.5" } } },
	{ "two pools",
	  "tensorrt-llm",
	  { { "request_rate", "2" },
	    { "length_spread", "0.5" },
	    { "disaggregated", "on" },
	    { "prefill_gpus", "4" } } },
};

static bool prepare(int which, struct scenario *out)
{
	static const char *const base[][2] = { { "mode", "inference" },
					       { "gpus", "8" },
					       { "tp", "4" },
					       { "precision", "fp8" } };
	struct error error = { "" };
	char why[128];

	if (!scenario_blank(out, "llama3.1-70b", "dgx-h200", example[which].stack,
			    &error)) {
		fprintf(stderr, "bench: %s\n", error.text);
		return false;
	}
	for (int i = 0; i < 4; i++)
		knob_parse(out, knob_find(base[i][0]), base[i][1], why, sizeof why);
	for (int i = 0; i < KNOBS && example[which].knob[i][0]; i++)
		knob_parse(out, knob_find(example[which].knob[i][0]),
			   example[which].knob[i][1], why, sizeof why);
	return true;
}

static bool run(const struct scenario *s, double *seconds)
{
	struct serve_load load = { .requests = REQUESTS };
	struct queue_result result;
	struct arena arena = { .size = serve_simulation_bytes(s, &load) };
	double begin;
	bool good;

	arena.base = malloc(arena.size + 1);
	if (!arena.base)
		return false;
	begin = bench_cpu();
	good = serve_simulate(s, &load, &arena, &result);
	*seconds = bench_cpu() - begin;
	free(arena.base);
	return good;
}

int bench_simulation(struct simulation_time *out, int most)
{
	int count = (int)(sizeof example / sizeof example[0]);

	for (int i = 0; i < count && i < most; i++) {
		double seconds[RUNS];
		struct scenario s;

		if (!prepare(i, &s))
			return 0;
		for (int k = 0; k < RUNS; k++)
			if (!run(&s, &seconds[k])) {
				fprintf(stderr, "bench: %s does not run\n",
					example[i].name);
				return 0;
			}
		out[i] = (struct simulation_time){ example[i].name, REQUESTS,
						   bench_median(seconds, RUNS) };
	}
	return count;
}
