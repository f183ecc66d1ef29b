/* test_carried.c - the closed form against the simulation where they once differed:
 * prompts that come one by one, what decodes beside them, a prefix that all share. */
#include <math.h>
#include <stdlib.h>

#include "engine/serve/carried.h"
#include "engine/serve/serve.h"
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

static const char *const one[3] = { "llama3.1-8b", "dgx-h100", "vllm" };
static const char *const alone[][2] = {
	{ "gpus", "1" }, { "tp", "1" }, { "prompt", "2560" }, { "output", "64" }
};
enum { ALONE = sizeof alone / sizeof alone[0] };

/* Prompts of 2,560 tokens in passes of 2,048, beside 8 that decode in 64: the first
 * pass of each has room for 2,040, and where nobody waits the second carries 520. Four
 * such prompts take eight passes; of a burst 4 x 2560 / 2040 do. Evenly as they come
 * none waits; of Poisson arrivals the next fills up the second pass as often as passes
 * carry prompts, x = 8 / (64 + 4 (2 - 2560 / 2040)) of them. */
static void prompts_that_come_alone_take_whole_passes(void **state)
{
	static struct serving_run run;
	double packed = 2560.0 / 2040, busy = 8 / (64 + 4 * (2 - packed));
	struct scenario s;
	struct prompts p;
	struct work w;

	(void)state;
	begin(&s, one, alone, ALONE);
	s.plan.serving.max_batched_tokens = 2048;
	s.plan.serving.request_rate = 1;
	s.plan.serving.arrival_scv = 0;
	assert_true(run_open(&s, &run));
	work_of(&s, &w);
	p = carried(&w, &run.decode, 8, 4, 0);
	assert_close(p.passes, 8, 1e-9);
	assert_close(p.tokens, 1280, 1e-9);
	s.plan.serving.arrival_scv = 1;
	p = carried(&w, &run.decode, 8, 4, 0);
	assert_close(p.passes, 4 * (2 - busy * (2 - packed)), 1e-9);
	w.begins = true;
	p = carried(&w, &run.decode, 8, 4, 0);
	assert_close(p.passes, 4 * packed, 1e-9);
	/* one that fits is carried in one pass, whoever comes */
	w.begins = false;
	w.prompt = 500;
	p = carried(&w, &run.decode, 8, 4, 0);
	assert_close(p.passes, 4, 1e-9);
}

/* A budget of 512 tokens has room for 448 beside 64 that decode, or for 192 where each
 * checks four drafts: so many more passes. Of so few passes that not all can decode
 * beside prompts, it is filled by both. */
static void what_decodes_takes_its_share_of_a_budget(void **state)
{
	static struct serving_run run;
	struct scenario s;
	struct prompts p;
	struct work w;

	(void)state;
	begin(&s, one, alone, ALONE);
	s.plan.serving.max_batched_tokens = 512;
	s.plan.serving.concurrency = 64;
	assert_true(run_open(&s, &run));
	work_of(&s, &w);
	w.output = 4096;
	p = carried(&w, &run.decode, 64, 63, 0);
	assert_close(p.passes, 63 * 2560.0 / 448, 1e-9);
	w.tokens_each = 5;
	p = carried(&w, &run.decode, 64, 63, 0);
	assert_close(p.passes, 63 * 2560.0 / 192, 1e-9);
	w.output = 64;
	p = carried(&w, &run.decode, 64, 63, 0);
	assert_true(p.requests < 64);
	assert_close(p.tokens + 5 * p.requests, 512, 1e-9);
}

/* Both know it: of one, two and three passes for a prompt, at half of what it gives. */
static void both_take_as_long_for_such_prompts(void **state)
{
	static const char *const prompts[] = { "1900", "2171", "4200", "6500" };
	static const char *const gaps[] = { "0", "1" };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		static struct serving_run run;
		const char *const knobs[][2] = { { "gpus", "1" },
						 { "tp", "1" },
						 { "precision", "bf16" },
						 { "prompt", prompts[i / 2] },
						 { "output", "199" },
						 { "max_requests", "64" },
						 { "arrival_scv", gaps[i % 2] },
						 { "request_rate", "1" } };
		const char *const debug[3] = { "titan-gpt-oss-debug", "tpu-v5p",
					       "tensorrt-llm" };
		struct queue_result r;
		struct scenario s;

		begin(&s, debug, knobs, 8);
		s.plan.serving.max_batched_tokens = 2048;
		assert_true(run_open(&s, &run));
		run_room(&run);
		s.plan.serving.request_rate = run_full_rate(&run) * 0.6;
		serve_estimate(&s, &now);
		simulate(&s, 20000, &r);
		assert_close(now.serving.tpot_seconds, r.tpot.mean, 0.08);
		assert_close(now.serving.ttft_seconds, r.ttft.mean, 0.12);
	}
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

/* A prompt alone in a pipeline of four: its second part is deeper than its first, and
 * the longer of both is waited for. At the depth of their mean both took as long as the
 * first would there, 4 % too much. */
static void parts_are_priced_at_their_depth(void **state)
{
	static const char *const names[3] = { "smollm2-360m", "dgx-v100", "vllm" };
	static const char *const knobs[][2] = {
		{ "gpus", "4" },      { "tp", "1" },      { "pp", "4" },
		{ "prompt", "3272" }, { "output", "34" }, { "concurrency", "1" },
	};
	struct queue_result r;
	struct scenario s;

	(void)state;
	begin(&s, names, knobs, sizeof knobs / sizeof knobs[0]);
	assert_true(now.serving.budget_tokens < 3272);
	simulate(&s, 10, &r);
	assert_close(now.serving.ttft_seconds, r.ttft.mean, 5e-3);
	assert_close(now.serving.ttft_seconds, now.serving.prefill_seconds, 1e-9);
}

/* Prompts of 587 tokens in passes of 512, where prompts run first: who comes alone
 * takes a second pass for 75 tokens, which reads all the experts once more, and so does
 * who is let in as another ends. Of two together three passes do, of six seven. */
static void who_runs_first_takes_whole_passes(void **state)
{
	static const char *const names[3] = { "dots.llm1-142b", "mi355x", "sglang" };
	static const char *const knobs[][2] = {
		{ "gpus", "8" },           { "tp", "8" },
		{ "prompt", "587" },       { "output", "544" },
		{ "request_rate", "3" },   { "max_requests", "64" },
		{ "length_spread", "0.5" }
	};
	static struct serving_run run;
	struct queue_result r;
	struct scenario s;
	struct prompts p;
	struct work w;

	(void)state;
	begin(&s, names, knobs, sizeof knobs / sizeof knobs[0]);
	s.plan.serving.max_batched_tokens = 512;
	serve_estimate(&s, &now);
	assert_true(now.feasible);
	simulate(&s, 20000, &r);
	assert_close(now.serving.tpot_seconds, r.tpot.mean, 0.1);
	assert_true(run_open(&s, &run));
	work_of(&s, &w);
	/* of one length nobody ends beside another but in the same pass */
	w.closed = true;
	w.begins = false;
	p = carried(&w, &run.decode, 1, 0, 0.01);
	assert_close(p.each, 2, 1e-9);
	/* so many others that one of them ends in each pass, or is received */
	p = carried(&w, &run.decode, 2, (w.output * 0.01 + 0.015) / 0.015, 0.01);
	assert_close(p.each, 3.0 / 2, 1e-9);
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

/* A loop of five in one server of so many GPUs: budget, prompt, output. */
static void loop(struct scenario *s, const char *const names[3], const char *gpus,
		 const char *const lengths[3], struct queue_result *out)
{
	const char *const knobs[][2] = {
		{ "gpus", gpus },           { "tp", gpus },
		{ "precision", "fp8" },     { "max_batched_tokens", lengths[0] },
		{ "prompt", lengths[1] },   { "output", lengths[2] },
		{ "length_spread", "0.2" }, { "concurrency", "5" }
	};

	begin(s, names, knobs, sizeof knobs / sizeof knobs[0]);
	simulate(s, 400, out);
	assert_int_equal(out->preempted, 0);
}

/* Prompts of 60,000 tokens in passes of 2,048, one behind the other: who has 8 tokens
 * to write meets the first parts of the next prompt, whose attention is over a seventh
 * of what the last parts' is. At the depth of the mean each token took 1.8 times
 * as long. */
static void who_decodes_meets_the_first_parts_of_a_prompt(void **state)
{
	struct queue_result r;
	struct scenario s;

	(void)state;
	loop(&s, one, "1", (const char *const[]){ "2048", "60000", "8" }, &r);
	assert_close(now.serving.tpot_seconds, r.tpot.mean, 0.08);
	assert_close(now.serving.ttft_seconds, r.ttft.mean, 0.08);
	/* of 45, a whole prompt and the first half of another */
	loop(&s, one, "1", (const char *const[]){ "2048", "60000", "45" }, &r);
	assert_close(now.serving.tpot_seconds, r.tpot.mean, 0.08);
	assert_close(now.serving.ttft_seconds, r.ttft.mean, 0.08);
}

/* A pass of 512 tokens has as many rows whoever decodes in it: the simulation, which
 * prices passes between entries of a table, takes no step of a kernel for those that
 * take the place of prompts. */
static void full_passes_have_as_many_rows_in_both(void **state)
{
	static const char *const names[3] = { "llama3-70b", "mi350x", "vllm" };
	struct queue_result r;
	struct scenario s;

	(void)state;
	loop(&s, names, "4", (const char *const[]){ "512", "16000", "60" }, &r);
	assert_close(now.serving.tpot_seconds, r.tpot.mean, 0.06);
	assert_close(now.serving.ttft_seconds, r.ttft.mean, 0.08);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompts_that_come_alone_take_whole_passes),
		cmocka_unit_test(what_decodes_takes_its_share_of_a_budget),
		cmocka_unit_test(both_take_as_long_for_such_prompts),
		cmocka_unit_test(no_burst_no_step),
		cmocka_unit_test(parts_are_priced_at_their_depth),
		cmocka_unit_test(who_runs_first_takes_whole_passes),
		cmocka_unit_test(a_shared_prefix_is_held_once),
		cmocka_unit_test(who_decodes_meets_the_first_parts_of_a_prompt),
		cmocka_unit_test(full_passes_have_as_many_rows_in_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
