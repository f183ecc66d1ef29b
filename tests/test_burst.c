/* test_burst.c - a closed loop begins as a burst: its first prompts run while nobody
 * decodes, and no pass of a pipeline carries more of them than were received. */
#include <math.h>
#include <stdlib.h>

#include "engine/serve/serve.h"
#include "engine/serve/simulate.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now;

struct row {
	const char *model, *cluster, *stack;
	const char *settings[8][2];
	int64_t budget;
	double spread;
};

static void open_row(struct scenario *s, const struct row *row)
{
	struct error error;

	if (!scenario_blank(s, row->model, row->cluster, row->stack, &error))
		fail_msg("%s", error.text);
	case_set(s, "mode", "inference");
	for (int i = 0; i < 8 && row->settings[i][0]; i++)
		case_set(s, row->settings[i][0], row->settings[i][1]);
	s->plan.serving.max_batched_tokens = row->budget;
	s->plan.serving.length_spread = row->spread;
	serve_estimate(s, &now);
	assert_true(now.feasible && now.serving.waiting <= 0);
}

/* Ten requests of each user, as benchmarks send. */
static double simulated(const struct scenario *s)
{
	struct serve_load load = { .requests = (int)(10 * s->plan.serving.concurrency),
				   .seed = 1 };
	struct arena arena = { 0 };
	struct queue_result r;

	arena.size = serve_simulation_bytes(s, &load);
	arena.base = malloc(arena.size);
	assert_non_null(arena.base);
	assert_true(serve_simulate(s, &load, &arena, &r));
	free(arena.base);
	return r.ttft.mean;
}

/* Passes of few tokens: beside those that decode a prompt adds little to each, alone it
 * takes all of it. Half of a burst's wait is that, and most of the mean over ten waves.
 */
static void first_prompts_have_passes_for_themselves(void **state)
{
	static const struct row rows[] = {
		{ "pythia-1.4b",
		  "gb200-nvl72",
		  "tensorrt-llm",
		  { { "gpus", "16" },
		    { "tp", "4" },
		    { "pp", "4" },
		    { "prompt", "7264" },
		    { "output", "381" },
		    { "concurrency", "64" } },
		  1024,
		  0.2 },
		{ "command-r7b",
		  "mi325x",
		  "vllm",
		  { { "gpus", "16" },
		    { "tp", "8" },
		    { "pp", "2" },
		    { "prompt", "2508" },
		    { "output", "135" },
		    { "concurrency", "32" } },
		  512,
		  0.2 },
		{ "llama3.1-8b",
		  "dgx-h100",
		  "vllm",
		  { { "gpus", "1" },
		    { "tp", "1" },
		    { "prompt", "1024" },
		    { "output", "1000" },
		    { "concurrency", "64" } },
		  512,
		  0.2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scenario s;

		open_row(&s, &rows[i]);
		assert_close(now.serving.ttft_seconds, simulated(&s), 0.25);
	}
}

/* 32 short prompts of which a pass would take all: the first is alone, the next ones
 * are those that were received meanwhile, and once others decode they are dealt out
 * over four micro-batches. */
static void a_burst_does_not_fill_the_pipeline_at_once(void **state)
{
	static const struct row row = { "aquila2-34b",
					"a100-pcie",
					"generic",
					{ { "gpus", "32" },
					  { "tp", "8" },
					  { "pp", "4" },
					  { "precision", "bf16" },
					  { "prompt", "396" },
					  { "output", "418" },
					  { "concurrency", "32" } },
					16384,
					0.2 };
	struct scenario s;

	(void)state;
	open_row(&s, &row);
	assert_close(now.serving.ttft_seconds, simulated(&s), 0.25);
}

/* Seven of eight prompts of one length end in one pass and come back together: nobody
 * else decodes, so that one micro-batch carries them through all stages, each time. */
static void who_began_together_runs_together_again(void **state)
{
	static const struct row row = { "qwen1.5-7b",
					"hgx-h20",
					"tensorrt-llm",
					{ { "gpus", "2" },
					  { "tp", "1" },
					  { "pp", "2" },
					  { "prompt", "1148" },
					  { "output", "267" },
					  { "concurrency", "8" } },
					0,
					0 };
	struct scenario s;

	(void)state;
	open_row(&s, &row);
	assert_close(now.serving.ttft_seconds, simulated(&s), 0.35);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_prompts_have_passes_for_themselves),
		cmocka_unit_test(a_burst_does_not_fill_the_pipeline_at_once),
		cmocka_unit_test(who_began_together_runs_together_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
