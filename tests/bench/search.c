/* search.c - how long the best plans of two large spaces take, and the same by
 * estimating everything. */
#include <stdio.h>
#include <string.h>

#include "engine/planner/planner.h"
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

enum width { NARROW, USUAL, EVERY_SCHEDULE };

static const struct {
	const char *name;
	bool (*make)(struct scenario *out, struct error *error);
	enum width width;
	int top;
	bool ideas, exhaustive;
} example[] = {
	{ "gpt3-175b on 4096 A100", gpt3, USUAL, 1, false, false },
	{ "gpt3-175b on 4096 A100, ten best", gpt3, USUAL, 10, false, false },
	{ "gpt3-175b on 4096 A100, ten ideas", gpt3, USUAL, 10, true, false },
	{ "gpt3-175b on 4096 A100, every schedule", gpt3, EVERY_SCHEDULE, 10, false,
	  false },
	{ "gpt3-175b on 4096 A100, exhaustive", gpt3, USUAL, 1, false, true },
	{ "gpt3-175b on 4096 A100, narrow", gpt3, NARROW, 1, false, false },
	{ "gpt3-175b on 4096 A100, narrow, exhaustive", gpt3, NARROW, 1, false, true },
	{ "deepseek-v3 on 2048 H800", deepseek, USUAL, 1, false, false },
	{ "deepseek-v3 on 2048 H800, ten best", deepseek, USUAL, 10, false, false },
	{ "deepseek-v3 on 2048 H800, ten ideas", deepseek, USUAL, 10, true, false },
	{ "deepseek-v3 on 2048 H800, every schedule", deepseek, EVERY_SCHEDULE, 10,
	  false, false },
	{ "deepseek-v3 on 2048 H800, exhaustive", deepseek, USUAL, 1, false, true },
	{ "llama3.1-70b on 64 H100", llama, USUAL, 1, false, false },
	{ "llama3.1-70b on 64 H100, narrow", llama, NARROW, 1, false, false },
	{ "llama3.1-70b on 64 H100, narrow, exhaustive", llama, NARROW, 1, false,
	  true },
};

/* Without the axes that multiply the modes of recomputation and the ways to hold the
 * states: few enough plans to estimate all. */
static void narrow(struct planner_problem *problem)
{
	static const char *const given[] = { "cp_kind", "zero_group",
					     "recompute_modules", "recompute_layers",
					     "optimizer_offload" };

	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
		double value = knob_get(&problem->base, knob_find(given[i]));

		planner_pin(problem, knob_find(given[i]), &value, 1);
	}
}

static void set_axes(struct planner_problem *problem, enum width width)
{
	double schedules[SCHEDULE_COUNT];

	planner_axes(problem);
	if (width == NARROW)
		narrow(problem);
	for (int k = 0; k < SCHEDULE_COUNT; k++)
		schedules[k] = k;
	if (width == EVERY_SCHEDULE)
		planner_pin(problem, knob_find("schedule"), schedules, SCHEDULE_COUNT);
}

/* One search. What takes longer than PATIENCE is estimated from how far it came: nodes
 * hold about as many plans as each other. */
static bool run(struct planner_problem *problem, enum width width,
		struct search_time *out)
{
	static const double patience = 5;
	struct planner *planner;
	double start = bench_cpu();
	const struct planner_result *result;

	set_axes(problem, width);
	planner = planner_start(problem);
	if (!planner)
		return false;
	while (planner_step(planner, 1000))
		if (bench_cpu() - start > patience)
			break;
	result = planner_result(planner);
	out->seconds = bench_cpu() - start;
	out->estimated = !result->done;
	if (!result->done)
		out->seconds /= result->progress > 0 ? result->progress : 1e-9;
	out->candidates = result->counts.candidates;
	planner_free(planner);
	return true;
}

int bench_search(struct search_time *out, int most)
{
	enum { RUNS = 5 };
	static struct planner_problem problem;
	struct error error = { "" };
	int count = 0;

	for (size_t i = 0; i < sizeof example / sizeof example[0] && count < most;
	     i++) {
		int runs = example[i].exhaustive ? 1 : RUNS;
		double seconds[RUNS];

		memset(&problem, 0, sizeof problem);
		if (!example[i].make(&problem.base, &error)) {
			fprintf(stderr, "bench: %s\n", error.text);
			return 0;
		}
		problem.top = example[i].top;
		problem.each = example[i].ideas ? planner_each(problem.top) : 0;
		problem.reserve = 0.05;
		problem.exhaustive = example[i].exhaustive;
		for (int k = 0; k < runs; k++) {
			if (!run(&problem, example[i].width, &out[count]))
				return 0;
			seconds[k] = out[count].seconds;
		}
		out[count].name = example[i].name;
		out[count++].seconds = bench_median(seconds, runs);
	}
	return count;
}
