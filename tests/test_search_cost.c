/* test_search_cost.c - what a search may cost: how many estimates, and how many slices
 * of one plan it takes to its end. A bound that is looser, a list that is made twice or
 * a name that is tried again changes no answer: it shows here alone.
 *
 * The figures in tests/numbers/search-cost.txt are what it took when they were last
 * written (`make numbers`), and a search may take less. They count work, not time, so
 * they are the same on every machine: a line has a name, estimates, slices, and the
 * candidates of its spaces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/random.h"

static struct planner_problem problem;

static const char path[] = "tests/numbers/search-cost.txt";

struct cost {
	double estimates; /* whole ones */
	double slices;    /* plans looked at, nodes opened and micro-batches costed */
	double candidates;
};

/* A slice ends with the first thing that costs anything. */
static void add_cost(struct cost *cost)
{
	struct planner *planner = planner_start(&problem);

	assert_non_null(planner);
	do {
		cost->slices++;
	} while (planner_step(planner, 1));
	cost->estimates += planner_result(planner)->counts.explored;
	cost->candidates += planner_result(planner)->counts.candidates;
	planner_free(planner);
}

/* The file's line of this name. */
static bool read_cost(const char *name, struct cost *out)
{
	char line[128], word[64];
	FILE *in = fopen(path, "r");
	bool found = false;

	while (in && !found && fgets(line, sizeof line, in))
		found = sscanf(line, "%63s %lf %lf %lf", word, &out->estimates,
			       &out->slices, &out->candidates) == 4 &&
			strcmp(word, name) == 0;
	if (in)
		fclose(in);
	return found;
}

static FILE *written; /* where figures are written anew */

static int begin_writing(void **state)
{
	(void)state;
	if (!getenv("SHARDSCOPE_WRITE_NUMBERS"))
		return 0;
	written = fopen(path, "w");
	return written ? 0 : -1;
}

static int end_writing(void **state)
{
	(void)state;
	return written && fclose(written) != 0 ? -1 : 0;
}

static void check(const char *name, const struct cost *now)
{
	struct cost most;

	if (written) {
		fprintf(written, "%s %.0f %.0f %.0f\n", name, now->estimates,
			now->slices, now->candidates);
		return;
	}
	if (!read_cost(name, &most) || most.candidates != now->candidates)
		fail_msg("%s: %s has no such space; if it changed, run make numbers",
			 name, path);
	if (now->estimates > most.estimates || now->slices > most.slices)
		fail_msg("%s: %.0f estimates, %.0f at most; %.0f slices, %.0f at most",
			 name, now->estimates, most.estimates, now->slices,
			 most.slices);
}

static void begin(const char *model, const char *cluster, const char *stack)
{
	struct error error = { "" };

	memset(&problem, 0, sizeof problem);
	if (!scenario_blank(&problem.base, model, cluster, stack, &error))
		fail_msg("%s", error.text);
	problem.top = 1;
	problem.reserve = 0.05;
}

/* Several machines and all that is usually free: for time, and for memory. In the last
 * nothing fits. */
static void test_usual_searches(void **state)
{
	static const struct {
		const char *model, *cluster, *stack;
		int gpus, batch, top;
	} search[] = {
		{ "llama2-13b", "dgx-a100-40g", "megatron-core", 16, 64, 1 },
		{ "llama3.1-8b", "dgx-h100", "fsdp", 32, 128, 10 },
		{ "mixtral-8x7b", "dgx-h100", "megatron-core", 32, 256, 4 },
		{ "gpt3-175b", "dgx-a100-80g", "megatron-core", 512, 1536, 1 },
		{ "llama3.1-70b", "dgx-a100-40g", "fsdp", 8, 8, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof search / sizeof *search; i++)
		for (int memory = 0; memory < 2; memory++) {
			struct cost cost = { 0 };
			char name[64];

			begin(search[i].model, search[i].cluster, search[i].stack);
			problem.base.cluster.gpus = search[i].gpus;
			problem.base.plan.global_batch = search[i].batch;
			problem.base.plan.seq_len = 2048;
			problem.top = search[i].top;
			problem.each =
				search[i].top > 1 ? planner_each(problem.top) : 0;
			problem.objective = memory ? OBJECTIVE_MEMORY : OBJECTIVE_STEP;
			planner_axes(&problem);
			add_cost(&cost);
			snprintf(name, sizeof name, "%s-%s", search[i].model,
				 memory ? "memory" : "step");
			check(name, &cost);
		}
}

static void pin(const char *key, const char *text)
{
	char why[96];

	if (!planner_pin_text(&problem, knob_find(key), text, why, sizeof why))
		fail_msg("%s: %s", key, why);
}

static int below(int n)
{
	return (int)next((uint64_t)n);
}

/* Drop values of any axis until there are so few candidates. */
static void thin(double most)
{
	for (;;) {
		struct planner_axis *axis = &problem.axis[below(problem.axes)];
		int at = below(axis->count);
		double product = 1;

		for (int i = 0; i < problem.axes; i++)
			product *= problem.axis[i].count;
		if (product <= most)
			return;
		if (axis->count == 1)
			continue;
		axis->count--;
		for (int i = at; i < axis->count; i++)
			axis->value[i] = axis->value[i + 1];
	}
}

/* With knobs free that are not usually, and memory that is often what decides. */
static void draw_training(void)
{
	static const char *const models[] = { "llama3.2-1b", "mixtral-8x7b",
					      "deepseek-v2-lite", "gemma2-2b" };
	static const char *const stacks[] = { "generic", "megatron-core", "fsdp",
					      "deepspeed" };

	/* one after the other: the order of arguments is the compiler's */
	int model = below(4), cluster = below(2), stack = below(4);

	begin(models[model], cluster ? "dgx-h100" : "dgx-a100-40g", stacks[stack]);
	problem.base.cluster.gpus = 4 << below(4);
	problem.base.plan.global_batch = problem.base.cluster.gpus << below(3);
	problem.base.plan.seq_len = 2048;
	problem.base.cluster.accelerator.usable_bytes *= 0.3 + 0.1 * below(12);
	problem.objective = (enum objective)below(OBJECTIVE_COUNT);
	problem.top = 1 + below(8);
	problem.each = below(3) ? 1 + 5 * below(2) : 0;
	problem.research = below(2);
	planner_axes(&problem);
	if (below(2))
		pin("schedule", "1f1b,interleaved,gpipe,zb-h1,zb-v");
	if (below(3) == 0)
		pin("split", "even,auto,balanced,balanced-memory");
	if (below(3) == 0)
		pin("micro_batch_group", "0,4,8");
	if (below(3) == 0)
		pin("activation_offload", "0,0.5,1");
	if (below(4) == 0)
		pin("gpus", "8,16,32");
	thin(3000);
}

static void draw_server(void)
{
	static const char *const models[] = { "llama3.1-8b", "mixtral-8x7b",
					      "qwen3-30b-a3b" };
	static const char *const stacks[] = { "generic", "vllm", "sglang",
					      "tensorrt-llm" };
	struct serving_plan *v = &problem.base.plan.serving;

	int model = below(3), stack = below(4);

	begin(models[model], "dgx-h100", stacks[stack]);
	problem.base.plan.mode = MODE_INFERENCE;
	problem.base.cluster.gpus = 2 << below(4);
	v->prompt_len = 256 << below(4);
	v->output_len = below(3) ? 2 << below(8) : 2;
	v->concurrency = 4 << below(8);
	v->goal_tpot_seconds = below(2) ? 0.005 * (1 + below(20)) : 0;
	v->goal_ttft_seconds = below(2) ? 0.05 * (1 + below(20)) : 0;
	problem.top = 1 + below(8);
	problem.objective = (enum objective)below(OBJECTIVE_COUNT);
	planner_axes(&problem);
	thin(300);
}

static void test_drawn_searches(void **state)
{
	(void)state;
	for (int serves = 0; serves < 2; serves++) {
		struct cost cost = { 0 };

		seed = 907;
		for (int i = 0; i < (serves ? 60 : 150); i++) {
			if (serves)
				draw_server();
			else
				draw_training();
			add_cost(&cost);
		}
		check(serves ? "servers" : "training", &cost);
	}
}

/* Rates that every server keeps, that some do and that none does, for 99 of 100
 * requests: who can't is left out by what it could give, and where ten can the others
 * are late. */
static void test_rates(void **state)
{
	static const double rates[] = { 4, 64, 1024 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct serving_plan *v = &problem.base.plan.serving;
		struct cost cost = { 0 };
		char name[32];

		begin("qwen3-30b-a3b", "dgx-h100", "sglang");
		problem.base.plan.mode = MODE_INFERENCE;
		problem.base.cluster.gpus = 8;
		v->prompt_len = 1024;
		v->output_len = 128;
		v->request_rate = rates[i];
		v->goal_percentile = GOAL_P99;
		v->goal_ttft_seconds = 0.3;
		v->goal_tpot_seconds = 0.02;
		problem.top = 10;
		problem.objective = OBJECTIVE_THROUGHPUT;
		planner_axes(&problem);
		add_cost(&cost);
		snprintf(name, sizeof name, "rate-%g", rates[i]);
		check(name, &cost);
	}
}

/* Values of knobs that nobody looks at beside the others name the same plan: candidates
 * more, but no work, whichever value comes first. */
static void test_names_of_one_plan_cost_nothing(void **state)
{
	static const struct {
		const char *pinned[2], *named, *one, *all;
		int times;
	} each[] = {
		{ { "schedule", "gpipe" }, "vpp", "1", "1,2,4", 3 },
		{ { "schedule", "1f1b" }, "micro_batch_group", "0", "0,4,8", 3 },
		{ { "recompute", "none" }, "recompute_layers", "all", "all,1,2,3", 4 },
		{ { "zero", "0" }, "zero_group", "0", "0,2", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		struct cost cost[2];

		for (int all = 0; all < 2; all++) {
			begin("llama3.2-1b", "dgx-h100", "megatron-core");
			problem.base.cluster.gpus = 8;
			problem.base.plan.global_batch = 32;
			planner_axes(&problem);
			pin(each[i].pinned[0], each[i].pinned[1]);
			pin(each[i].named, all ? each[i].all : each[i].one);
			cost[all] = (struct cost){ 0 };
			add_cost(&cost[all]);
		}
		assert_true(cost[1].candidates == each[i].times * cost[0].candidates);
		assert_true(cost[0].estimates > 0);
		assert_true(cost[1].estimates == cost[0].estimates);
		assert_true(cost[1].slices == cost[0].slices);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual_searches),
		cmocka_unit_test(test_drawn_searches),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_names_of_one_plan_cost_nothing),
	};

	keep_golden_draws();
	return cmocka_run_group_tests(tests, begin_writing, end_writing);
}
