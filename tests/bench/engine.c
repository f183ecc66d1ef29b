/* engine.c - how long one estimate takes. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "presets/library.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 101, CALLS = 200, KNOBS = 12 };

struct example {
	const char *name, *model, *cluster, *stack;
	const char *knob[KNOBS][2]; /* key and value, up to a NULL */
};

static const struct example example[] = {
	{ "gpt3-175b on 512",
	  "gpt3-175b",
	  "dgx-a100-80g",
	  "megatron-core",
	  { { "gpus", "512" },
	    { "tp", "8" },
	    { "pp", "16" },
	    { "vpp", "6" },
	    { "schedule", "interleaved" },
	    { "gbs", "1536" },
	    { "mbs", "1" },
	    { "seq", "2048" } } },
	{ "gpt3-175b on 512, 1f1b",
	  "gpt3-175b",
	  "dgx-a100-80g",
	  "megatron-core",
	  { { "gpus", "512" },
	    { "tp", "8" },
	    { "pp", "16" },
	    { "schedule", "1f1b" },
	    { "gbs", "1536" },
	    { "mbs", "1" },
	    { "seq", "2048" } } },
	{ "deepseek-v3 on 2048",
	  "deepseek-v3",
	  "hgx-h800",
	  "megatron-core",
	  { { "gpus", "2048" },
	    { "tp", "1" },
	    { "pp", "16" },
	    { "ep", "64" },
	    { "etp", "1" },
	    { "schedule", "1f1b" },
	    { "split", "balanced" },
	    { "gbs", "15360" },
	    { "mbs", "1" },
	    { "seq", "4096" } } },
	{ "deepseek-v3 on 2048, interleaved",
	  "deepseek-v3",
	  "hgx-h800",
	  "megatron-core",
	  { { "gpus", "2048" },
	    { "tp", "1" },
	    { "pp", "16" },
	    { "vpp", "2" },
	    { "ep", "64" },
	    { "etp", "1" },
	    { "schedule", "interleaved" },
	    { "split", "balanced" },
	    { "gbs", "16384" },
	    { "mbs", "1" },
	    { "seq", "4096" } } },
};

static bool prepare(const struct example *from, struct scenario *scenario)
{
	struct error error = { "" };
	char why[200];

	scenario_defaults(scenario);
	if (!library_model(&scenario->model, from->model, &error) ||
	    !library_cluster(&scenario->cluster, from->cluster, &error) ||
	    !library_stack(scenario, from->stack, &error)) {
		fprintf(stderr, "bench: %s\n", error.text);
		return false;
	}
	for (int i = 0; i < KNOBS && from->knob[i][0] != NULL; i++) {
		const struct knob *knob = knob_find(from->knob[i][0]);
		if (knob == NULL ||
		    !knob_parse(scenario, knob, from->knob[i][1], why, sizeof why)) {
			fprintf(stderr, "bench: %s: %s %s\n", from->name,
				from->knob[i][0], knob != NULL ? why : "is no knob");
			return false;
		}
	}
	return true;
}

static double time_one(const struct scenario *scenario, struct estimate *estimate)
{
	static double ns[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		double start = bench_now();
		for (int i = 0; i < CALLS; i++)
			train_estimate(scenario, estimate);
		ns[round] = (bench_now() - start) * 1e9 / CALLS;
	}
	return bench_median(ns, ROUNDS);
}

int bench_engine(struct estimate_time *out, int most)
{
	static struct scenario scenario;
	static struct estimate estimate;
	int count = 0;

	for (size_t i = 0; i < sizeof example / sizeof example[0] && count < most;
	     i++) {
		if (!prepare(&example[i], &scenario))
			return 0;
		train_estimate(&scenario, &estimate);
		/* An illegal plan returns early and would look fast. */
		if (!estimate.legal) {
			fprintf(stderr, "bench: %s is not legal\n", example[i].name);
			return 0;
		}
		out[count].name = example[i].name;
		out[count++].ns = time_one(&scenario, &estimate);
	}
	return count;
}
