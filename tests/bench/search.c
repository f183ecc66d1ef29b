/* search.c - how long the best plan of two large spaces takes, and of a small one the
 * same by estimating everything. */
#include <stdio.h>
#include <string.h>

#include "engine/planner.h"
#include "presets/scenario_file.h"
#include "tests/bench/bench.h"

static bool gpt3(struct scenario *out, struct error *error)
{
	if (!scenario_blank(out, "gpt3-175b", "dgx-a100-80g", "megatron-core", error))
		return false;
	out->cluster.gpus = 4096;
	out->plan.global_batch = 4096;
	out->plan.seq_len = 2048;
	return true;
}

static bool deepseek(struct scenario *out, struct error *error)
{
	return scenario_read(out, "deepseek-v3-2048-h800", NULL, error);
}

static bool llama(struct scenario *out, struct error *error)
{
	return scenario_read(out, "llama3-70b-64-h100", NULL, error);
}

static const struct {
	const char *name;
	bool (*make)(struct scenario *out, struct error *error);
	bool exhaustive;
} example[] = {
	{ "gpt3-175b on 4096 A100", gpt3, false },
	{ "deepseek-v3 on 2048 H800", deepseek, false },
	{ "llama3.1-70b on 64 H100", llama, false },
	{ "llama3.1-70b on 64 H100, exhaustive", llama, true },
};

int bench_search(struct search_time *out, int most)
{
	static struct planner_problem problem;
	struct error error = { "" };
	int count = 0;

	for (size_t i = 0; i < sizeof example / sizeof example[0] && count < most;
	     i++) {
		struct planner *planner;
		double start;

		memset(&problem, 0, sizeof problem);
		if (!example[i].make(&problem.base, &error)) {
			fprintf(stderr, "bench: %s\n", error.text);
			return 0;
		}
		problem.top = 1;
		problem.reserve = 0.05;
		problem.exhaustive = example[i].exhaustive;
		start = bench_now();
		planner_axes(&problem);
		planner = planner_start(&problem);
		if (!planner)
			return 0;
		while (planner_step(planner, 10000)) {
		}
		out[count].name = example[i].name;
		out[count].candidates = planner_result(planner)->counts.candidates;
		out[count++].seconds = bench_now() - start;
		planner_free(planner);
	}
	return count;
}
