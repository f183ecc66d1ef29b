/* test_prompt_pools.c - prompts in a pool of their own, and copies of the attention
 * that wait for each other. */
#include <math.h>
#include <stdlib.h>

#include "engine/serve/pass.h"
#include "engine/serve/pass_table.h"
#include "engine/serve/serve.h"
#include "engine/serve/serve_parts.h"
#include "engine/serve/simulate.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct estimate now;

static void begin(struct scenario *s, const char *const knobs[][2], size_t count)
{
	struct error error = { "" };

	if (!scenario_blank(s, "deepseek-v3", "gb200-nvl72", "tensorrt-llm", &error))
		fail_msg("%s", error.text);
	case_set(s, "mode", "inference");
	case_set(s, "precision", "fp8-block");
	for (size_t i = 0; i < count; i++)
		case_set(s, knobs[i][0], knobs[i][1]);
	serve_estimate(s, &now);
	assert_true(now.feasible);
}

static const char *const pools[][2] = { { "gpus", "32" },
					{ "tp", "8" },
					{ "ep", "8" },
					{ "disaggregated", "on" },
					{ "prefill_gpus", "8" },
					{ "prefill_tp", "1" },
					{ "prefill_ep", "8" },
					{ "prefill_dp_attention", "8" },
					{ "prompt", "1024" },
					{ "output", "1024" },
					{ "concurrency", "9" },
					{ "max_requests", "2" },
					{ "length_spread", "0.1" } };
enum { POOLS = sizeof pools / sizeof pools[0] };

/* Three servers of two requests each and nine users: six decode all the time, and by
 * Little's law each round of a user takes 9 / rate. */
static void who_decodes_is_full_while_others_wait(void **state)
{
	const struct serving_estimate *v = &now.serving;
	struct scenario s;
	double decodes;

	(void)state;
	begin(&s, pools, POOLS);
	decodes = 1023 * v->tpot_seconds;
	assert_close(v->max_concurrency, 6, 1e-12);
	assert_true(v->elsewhere > 0 && v->waiting > 2);
	assert_close(v->concurrency, 6 + v->elsewhere, 1e-12);
	assert_close(v->concurrency + v->waiting, 9, 1e-12);
	assert_close(v->requests_per_second * decodes, 6, 0.005);
	assert_close(v->ttft_seconds + decodes, 9 / v->requests_per_second, 1e-9);
	assert_true(now.memory.in_flight <= 2);
}

/* Nobody waits for room that nobody takes: however few tokens they write, so that most
 * are elsewhere, either all are inside or those who decode fill their room; and a round
 * of a user takes what Little's law says. */
static void nobody_waits_for_room_that_is_free(void **state)
{
	const struct serving_estimate *v = &now.serving;
	int full = 0;
	struct scenario s;

	(void)state;
	begin(&s, pools, POOLS);
	case_set(&s, "gpus", "40");
	case_set(&s, "prefill_gpus", "16");
	for (int output = 2; output <= 300; output += 1 + output / 8)
		for (int users = 9; users < 500; users += users / 2) {
			double decodes;

			s.plan.serving.output_len = output;
			s.plan.serving.concurrency = users;
			serve_estimate(&s, &now);
			decodes = (output - 1) * v->tpot_seconds;
			assert_close(v->ttft_seconds + decodes,
				     users / v->requests_per_second, 1e-9);
			assert_true(v->requests_per_second * decodes < 6 * 1.002);
			if (v->waiting < 0.002 * users)
				continue;
			full++;
			/* one more that waits for its prompt may move a whole pass */
			assert_close(v->requests_per_second * decodes, 6, 0.03);
		}
	assert_true(full > 50);
}

static double decoding(const struct serving_run *run, double running)
{
	struct point p;

	run_at(run, running, &p);
	return p.decoding * server_copies(&run->decode);
}

/* Who is in flight is the most of those who ask with whom no more decode than there is
 * room for: also where a billion ask, and of each request all but a token are written
 * where its prompt runs. That is found with few passes priced. */
static void in_flight_are_the_most_that_fit(void **state)
{
	static const int outputs[] = { 2, 3, 5, 17, 100, 3000 };
	static struct serving_run run;
	struct scenario s;
	int beyond = 0, priced = 0, calls = 0;

	(void)state;
	for (int i = 0; i < 6 * 3; i++) {
		begin(&s, pools, POOLS);
		case_set(&s, "gpus", "40");
		case_set(&s, "prefill_gpus", i % 3 ? "16" : "8");
		case_set(&s, "max_requests", i % 3 == 1 ? "200" : "2");
		s.plan.serving.output_len = outputs[i / 3];
		assert_true(run_open(&s, &run));
		run_room(&run);
		for (double asked = 0.5 * run.room; asked < 1e9; asked *= 3) {
			double found;

			run.decode.passes.count = run.decode.passes.next = 0;
			run.prefill.passes.count = run.prefill.passes.next = 0;
			found = run_in_flight(&run, &s, asked);
			priced += run.decode.passes.count + run.prefill.passes.count;
			calls++;
			assert_true(found <= asked && found >= fmin(asked, run.room));
			assert_true(decoding(&run, found) <= run.room * (1 + 2e-3));
			if (found < asked)
				assert_true(decoding(&run, fmin(asked, found * 1.003)) >
					    run.room * (1 - 2e-3));
			beyond += found > run.room * 1.1;
		}
	}
	assert_true(beyond > 50);
	/* 18.1 passes each; by halves it would be 24 */
	assert_true(priced <= 18.3 * calls);
}

/* With room for all, nobody is elsewhere. */
static void room_for_all_leaves_nobody_elsewhere(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s, pools, POOLS);
	case_set(&s, "max_requests", "16");
	serve_estimate(&s, &now);
	assert_true(now.serving.elsewhere == 0 && now.serving.waiting == 0);
	assert_close(now.serving.concurrency, 9, 1e-12);
}

/* The simulation knows no closed form, and comes to the same wait. */
static void the_simulation_waits_as_long(void **state)
{
	struct serve_load load = { .requests = 0 };
	struct arena arena = { 0 };
	struct queue_result result;
	struct scenario s;

	(void)state;
	begin(&s, pools, POOLS);
	arena.size = serve_simulation_bytes(&s, &load);
	arena.base = malloc(arena.size);
	assert_true(arena.base && serve_simulate(&s, &load, &arena, &result));
	free(arena.base);
	assert_close(result.ttft.mean, now.serving.ttft_seconds, 0.12);
	assert_close(result.tpot.mean, now.serving.tpot_seconds, 0.05);
}

/* The simulation takes a pass in which some copies have prompts for one between those
 * of one copy and of all: each copy more adds as much. One alone is priced as such. */
static void each_copy_more_adds_as_much(void **state)
{
	static struct serving_run run;
	static struct pass_table table;
	double before = 0, each = 0;
	struct scenario s;

	(void)state;
	begin(&s, pools, POOLS);
	assert_true(run_open(&s, &run));
	pass_table_open(&table, run_prompts(&run));
	for (int copies = 1; copies <= 8; copies++) {
		struct queue_pass pass = { .prompt_tokens = 3000,
					   .prompt_context = 1500,
					   .prompts = 1,
					   .copies = copies };
		double seconds = pass_table_seconds(&table, &pass).busy;

		if (copies == 2)
			each = seconds - before;
		if (copies > 1)
			assert_close(seconds - before, each, 1e-6);
		before = seconds;
	}
	assert_true(each > 0);
}

/* Experts get the tokens of the copies that have any. */
static void idle_copies_send_nothing_to_the_experts(void **state)
{
	struct batch one = { .prompt_tokens = 4096,
			     .prompt_context = 2048,
			     .prompt_requests = 1,
			     .copies = 1 };
	struct batch all = one, same = one;
	struct serve_context context;
	struct pass few, many, told;
	struct scenario s;

	(void)state;
	begin(&s, pools, POOLS);
	serve_prefill_context(&s, &context);
	context.fabric.any_size = false;
	all.copies = 0;
	same.copies = 8;
	serve_pass(&context, &one, false, &few);
	serve_pass(&context, &all, false, &many);
	serve_pass(&context, &same, false, &told);
	assert_close(told.seconds, many.seconds, 1e-12);
	assert_true(few.seconds < 0.8 * many.seconds);
	/* 58 layers of experts: three matrices of 7168 x 2048, 8 experts a token, of
	 * 7 copies, spread over 8 ranks */
	assert_close(many.flops - few.flops,
		     58 * 2.0 * 3 * 7168 * 2048 * 8 * 7 * 4096 / 8, 1e-6);
}

/* A pass over one stage is what that stage does; of several the fullest does its share
 * at least, and no more than all. Whether its halves travel while the other computes.
 */
static void stages_share_a_pass(void **state)
{
	static const struct batch batches[] = {
		{ .requests = 256, .tokens_each = 1, .context = 2000 },
		{ .requests = 2, .tokens_each = 1, .context = 500, .captured = true },
		{ .prompt_tokens = 8192, .prompt_context = 4096, .prompt_requests = 2 },
	};
	const char *const knobs[][2] = {
		{ "gpus", "32" }, { "tp", "1" }, { "ep", "8" }, { "dp_attention", "8" }
	};
	double overlapped[2];
	struct scenario s;

	(void)state;
	begin(&s, knobs, 4);
	for (int i = 0; i < 3 * 4 * 2; i++) {
		struct serve_context context;
		struct pass pass;
		double stages = 1 << i / 2 % 4;

		s.plan.pp = (int64_t)stages;
		s.plan.ep_overlap = i % 2;
		serve_context(&s, &context);
		assert_true(context.shape.pp == stages && context.shape.dp == 8);
		serve_pass(&context, &batches[i / 8], false, &pass);
		overlapped[i % 2] = pass.stage_seconds / pass.seconds;
		assert_true(pass.stage_seconds >= pass.seconds / stages * (1 - 1e-9));
		assert_true(pass.stage_seconds <= pass.seconds * (1 + 1e-9));
		/* what is fixed and what binds find room in what kernels take, at the
		 * rate that stacks reach with prompts too */
		double kernels = pass.seconds - pass.tp_seconds - pass.ep_seconds -
				 pass.cp_seconds - pass.pp_seconds - pass.host_seconds;
		double binds = fmax(pass.compute_seconds, pass.memory_seconds);

		if (!s.plan.ep_overlap)
			assert_true(pass.fixed_seconds + binds <= kernels * (1 + 1e-9));
		if (stages == 1)
			assert_close(pass.stage_seconds, pass.seconds, 1e-9);
		/* halves are as unevenly dealt as the whole */
		if (i % 2)
			assert_true(fabs(overlapped[1] / overlapped[0] - 1) < 0.1);
	}
}

static const char *const copies[][2] = {
	{ "gpus", "8" },          { "tp", "1" },        { "ep", "8" },
	{ "dp_attention", "8" },  { "prompt", "1024" }, { "output", "8192" },
	{ "concurrency", "128" },
};
enum { COPIES = sizeof copies / sizeof copies[0] };

/* 128 / 8192 prompts come in a pass: until each of 8 copies has one takes 448, so that
 * 60 are waited, by the first, and half of it by 60 / 64 others. */
static void copies_wait_until_each_has_a_prompt(void **state)
{
	struct scenario s;
	double before, passes, rate = 128.0 / 8192;

	(void)state;
	begin(&s, copies, COPIES);
	before = now.serving.begin_seconds;
	case_set(&s, "batch_wait", "60");
	serve_estimate(&s, &now);
	passes = (60 + rate * 60 * 60 / 2) / (1 + rate * 60);
	assert_close(now.serving.begin_seconds - before,
		     passes * now.serving.decode_seconds, 1e-9);
	/* eight times as many fill all copies in 56 */
	case_set(&s, "batch_wait", "0");
	case_set(&s, "concurrency", "1024");
	serve_estimate(&s, &now);
	before = now.serving.begin_seconds;
	case_set(&s, "batch_wait", "60");
	serve_estimate(&s, &now);
	assert_close(now.serving.concurrency, 1024, 1e-12);
	rate = 0.125;
	passes = (56 + rate * 56 * 56 / 2) / (1 + rate * 56);
	assert_close(now.serving.begin_seconds - before,
		     passes * now.serving.decode_seconds, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_decodes_is_full_while_others_wait),
		cmocka_unit_test(nobody_waits_for_room_that_is_free),
		cmocka_unit_test(in_flight_are_the_most_that_fit),
		cmocka_unit_test(room_for_all_leaves_nobody_elsewhere),
		cmocka_unit_test(the_simulation_waits_as_long),
		cmocka_unit_test(each_copy_more_adds_as_much),
		cmocka_unit_test(idle_copies_send_nothing_to_the_experts),
		cmocka_unit_test(stages_share_a_pass),
		cmocka_unit_test(copies_wait_until_each_has_a_prompt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
