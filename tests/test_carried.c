/* test_carried.c - the closed form against the simulation where they once differed:
 * prompts that no burst brings together, a prefix that all share. */
#include <math.h>
#include <stdlib.h>

#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"
#include "engine/serve/simulate.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now;

static void begin(struct scenario *s, const char *const names[3],
		  const char *const knobs[][2], size_t count)
{
	struct error error = { "" };

	if (!scenario_blank(s, names[0], names[1], names[2], &error))
		fail_msg("%s", error.text);
	case_set(s, "mode", "inference");
	for (size_t i = 0; i < count; i++)
		case_set(s, knobs[i][0], knobs[i][1]);
	serve_estimate(s, &now);
	assert_true(now.feasible);
}

static void simulate(const struct scenario *s, int requests, struct queue_result *out)
{
	struct serve_load load = { .requests = requests, .seed = 1 };
	struct arena arena = { 0 };

	arena.size = serve_simulation_bytes(s, &load);
	arena.base = malloc(arena.size + 1);
	assert_true(arena.base && arena.size > 0);
	assert_true(serve_simulate(s, &load, &arena, out));
	free(arena.base);
}

/* Where prompts run first, those that come at a rate end at any time, however alike
 * they are: they share fewer passes than those of a burst, and the server gives less.
 */
static void no_burst_no_step(void **state)
{
	static const char *const knobs[][2] = {
		{ "gpus", "4" },          { "tp", "4" },
		{ "prompt", "664" },      { "output", "411" },
		{ "max_requests", "64" }, { "request_rate", "30" },
		{ "arrival_scv", "1" }
	};
	const char *const first[3] = { "seed-coder-8b", "dgx-h200", "lmdeploy" };
	static struct serving_run run;
	struct queue_result r;
	struct scenario s;
	double full;

	(void)state;
	begin(&s, first, knobs, sizeof knobs / sizeof knobs[0]);
	assert_true(run_open(&s, &run));
	run_room(&run);
	full = run_full_rate(&run);
	s.plan.serving.request_rate = full * 0.97;
	simulate(&s, 40000, &r);
	assert_close(r.requests / r.seconds, full * 0.97, 0.02);
	/* that of a burst is a tenth more */
	s.plan.serving.request_rate = 0;
	s.plan.serving.concurrency = 64;
	simulate(&s, 6400, &r);
	assert_true(r.requests / r.seconds > 1.05 * full);
}

/* What all prompts share is held once, beside what each holds of its own: the closed
 * form's room is the simulation's, and so is what comes out of a full server. */
static void a_shared_prefix_is_held_once(void **state)
{
	static const char *const knobs[][2] = { { "gpus", "1" },
						{ "tp", "1" },
						{ "prompt", "4000" },
						{ "output", "400" },
						{ "shared_prefix", "0.5" },
						{ "memory_share", "0.25" },
						{ "concurrency", "64" } };
	const char *const names[3] = { "llama3.1-8b", "dgx-h100", "tensorrt-llm" };
	struct queue_result r;
	struct scenario s;
	double each;

	(void)state;
	begin(&s, names, knobs, sizeof knobs / sizeof knobs[0]);
	s.stack.serving.reserves = true;
	serve_estimate(&s, &now);
	each = now.serving.kv_bytes_per_token;
	/* of what the cache has, 2,000 tokens once and 2,400 of each */
	assert_close(now.serving.max_concurrency,
		     floor((now.serving.kv_share_bytes / each - 2000) / 2400), 0.02);
	assert_true(now.serving.waiting > 10);
	simulate(&s, 6400, &r);
	assert_close(r.requests / r.seconds, now.serving.requests_per_second, 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_burst_no_step),
		cmocka_unit_test(a_shared_prefix_is_held_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
