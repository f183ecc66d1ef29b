/* test_ends.c - where ranges end: a count of one, runs without an end, tables that are
 * asked beyond their last entry. */
#include <math.h>
#include <string.h>

#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/queue/room.h"
#include "engine/serve/pass_table.h"
#include "engine/serve/serve.h"
#include "presets/scenario_file.h"
#include "tests/support/case.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

/* --- a stack's counts --- */

static void begin(struct scenario *s)
{
	struct error error = { "" };

	if (!scenario_blank(s, "llama3.1-8b", "dgx-a100-80g", "vllm", &error))
		fail_msg("%s", error.text);
	case_set(s, "mode", "inference");
}

/* Only nothing is not stated: a stack that states one has one. */
static void one_is_stated(void **state)
{
	struct scenario s;
	struct serving_stack *v = &s.stack.serving;

	(void)state;
	begin(&s);
	v->small_name[0] = '\0';
	v->small_bytes = 2 * s.cluster.accelerator.memory_bytes;
	v->large_bytes = s.cluster.accelerator.memory_bytes;
	v->max_requests = 512;
	v->max_batched_tokens = 4096;
	for (int64_t stated = 0; stated < 3; stated++) {
		double requests = stated > 0 ? (double)stated : 512;
		double tokens = stated > 0 ? (double)stated : 4096;

		v->small_requests = v->small_batched_tokens = stated;
		v->large_batched_tokens = 0;
		assert_true(server_usual_requests(&s) == requests);
		assert_true(server_usual_tokens(&s) == tokens);
		v->small_batched_tokens = 0;
		v->large_batched_tokens = stated;
		assert_true(server_usual_tokens(&s) == tokens);
	}
}

/* GPUs that have just as much memory as small ones have less than are not small; those
 * with as much as large ones have are large. */
static void sizes_end_where_they_say(void **state)
{
	struct scenario s;
	struct serving_stack *v = &s.stack.serving;

	(void)state;
	begin(&s);
	v->small_name[0] = '\0';
	v->max_requests = 512;
	v->small_requests = 16;
	v->large_batched_tokens = 9000;
	v->max_batched_tokens = 4096;
	v->small_batched_tokens = 0;
	for (int more = -1; more <= 1; more++) {
		double bytes = s.cluster.accelerator.memory_bytes + more;

		v->small_bytes = v->large_bytes = bytes;
		assert_true(server_usual_requests(&s) == (more > 0 ? 16 : 512));
		assert_true(server_usual_tokens(&s) == (more > 0 ? 4096 : 9000));
	}
}

/* --- runs without an end --- */

static struct pipeline_input in;
static struct pipeline_result out;

static double seconds_of(int64_t micro_batches)
{
	in.micro_batches = micro_batches;
	pipeline_step(&in, &out);
	return out.seconds;
}

/* Groups wider than the pipeline, a million million of them, on stages that differ:
 * what comes round from the other end is a part of the period, or this would not end.
 * Twice as many groups more take twice as long more. */
static void wide_groups_have_a_period(void **state)
{
	(void)state;
	seed = 1919;
	for (int i = 0; i < 40; i++) {
		int p = 2 + (int)next(6), v = 2 + (int)next(3);
		int64_t group = p + (int64_t)next(2 * (uint64_t)p), many;
		double first, second, third;

		in = (struct pipeline_input){ .schedule = SCHEDULE_INTERLEAVED,
					      .stages = p,
					      .chunks = v,
					      .group = group };
		in.overlap_send = next(2);
		in.send_seconds = (double)next(100) / 1000;
		for (int k = 0; k < p * v; k++) {
			in.forward[k] = 1 + (double)next(100) / 1000;
			in.input_grad[k] = 1 + (double)next(100) / 1000;
			in.weight_grad[k] = 1;
		}
		many = group * 1000000000000;
		first = seconds_of(many);
		second = seconds_of(2 * many);
		third = seconds_of(4 * many);
		assert_close(third - second, 2 * (second - first), 1e-9);
		/* nobody is faster than the stage that has most to do */
		assert_true(first > 3 * v * (double)many);
	}
}

/* A stage does its own work and, where they do not overlap, its own sends: no step is
 * shorter, and no floor tells less, whatever the order; but for rounding. */
static void floors_hold_a_stages_own_seconds(void **state)
{
	static const int kinds[] = { SCHEDULE_GPIPE, SCHEDULE_1F1B,
				     SCHEDULE_INTERLEAVED };

	(void)state;
	seed = 2024;
	for (int i = 0; i < 3000; i++) {
		int kind = kinds[next(3)], p = 1 + (int)next(8), v = 1;

		if (kind == SCHEDULE_INTERLEAVED)
			p = p < 2 ? 2 : p, v = 2 + (int)next(3);
		in = (struct pipeline_input){ .schedule = kind,
					      .stages = p,
					      .chunks = v };
		in.micro_batches = p * (1 + (int64_t)next(6));
		/* all of them in one group is breadth-first */
		in.group = next(2) ? 0 : next(2) ? p : in.micro_batches;
		in.overlap_send = next(4) == 0;
		in.send_seconds = (double)next(300) / 100;
		for (int k = 0; k < p * v; k++) {
			double slow = next(5) ? 1 : 8;

			in.forward[k] = slow * (double)next(1000) / 1000;
			in.input_grad[k] = slow * (double)next(1000) / 1000;
			in.weight_grad[k] = (double)next(1000) / 1000;
		}
		pipeline_step(&in, &out);
		for (int s = 0; s < p; s++)
			assert_true(pipeline_floor(&in) >=
				    (1 - 1e-8) * (out.busy[s] + out.transfer[s]));
		assert_true(pipeline_floor(&in) <= out.seconds);
	}
}

/* --- tables --- */

/* A server that gives the same whoever is inside, which is all that is known of it:
 * with exponential works and gaps (M/M/1, whose requests share it) there is room in all
 * states but those of `most` and more, of which rho^n is the share. */
static void one_rate_is_that_of_all(void **state)
{
	(void)state;
	for (double most = 1; most <= 64; most *= 2)
		for (double load = 0.1; load < 0.95; load += 0.2) {
			struct queue_room q = { .most = most,
						.inside = { 1 },
						.rate = { 5 },
						.count = 1,
						.arrival_scv = 1,
						.work_scv = 1,
						.overlap = 1 };
			double wait = pow(load, most) / (5 - 5 * load);

			assert_true(fabs(queue_room_wait(&q, 5 * load) - wait) <=
				    1e-9 * wait + 1e-10);
		}
}

static struct serving_run run;
static struct pass_table table;

/* Behind the last entry prices go on as between the last two: of tokens and contexts
 * there they are in proportion but for what a pass costs once. */
static void tables_go_on_behind_their_last_entry(void **state)
{
	static const double tokens = 16777216, context = 67108864;
	struct scenario s;
	struct work w;

	(void)state;
	begin(&s);
	assert_true(run_open(&s, &run));
	work_of(&s, &w);
	pass_table_open(&table, &run.decode);
	for (double more = 1; more < 5; more += 0.5) {
		struct queue_pass prompts = { .prompt_tokens = more * tokens,
					      .prompt_context = 512 };
		struct queue_pass decode = { .requests = 2, .context = more * context };
		double exact = work_pass_at(&w, &run.decode, &prompts).pass;

		assert_close(pass_table_prompts(&table, more * tokens, 512).pass, exact,
			     1e-3);
		exact = work_step(&w, &run.decode, 2,
				  work_pass_at(&w, &run.decode, &decode));
		assert_close(pass_table_seconds(&table, &decode).busy, exact, 1e-3);
	}
}

static struct estimate now;

/* Requests that come at a rate are as many as stay (Little 1961): the more come, the
 * more there are, without a leap, up to a server that is full. Nothing between half a
 * room and a whole one is passed over. */
static void requests_grow_with_their_rate(void **state)
{
	static const char *const prompts[] = { "500", "4000", "30000" };

	(void)state;
	for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
		struct scenario s;
		double full, before = 0, room;

		begin(&s);
		case_set(&s, "gpus", "1");
		case_set(&s, "prompt", prompts[i]);
		case_set(&s, "concurrency", "max");
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		full = now.serving.requests_per_second;
		room = now.serving.concurrency;
		s.plan.serving.arrival_scv = 0;
		for (double share = 0.02; share < 1.2; share += 0.02) {
			double held;

			s.plan.serving.request_rate = share * full;
			serve_estimate(&s, &now);
			held = now.serving.concurrency;
			assert_true(held >= before * (1 - 1e-6));
			assert_true((held < room) == (share < 0.99));
			assert_true(share < 0.03 || share > 0.97 ||
				    held < 1.3 * before * share / (share - 0.02));
			before = held;
		}
	}
}

/* What requests share is held by itself, in layers with a state as one of its own: a
 * share of the memory that is told to help leaves room for both. */
static void a_share_that_is_told_has_room(void **state)
{
	static const char *const knobs[][2] = {
		{ "mode", "inference" }, { "gpus", "64" },
		{ "tp", "1" },           { "ep", "1" },
		{ "precision", "int8" }, { "prompt", "3911" },
		{ "output", "949" },     { "concurrency", "21" },
		{ "kv_block", "1" },     { "shared_prefix", "0.5" },
	};
	struct error error = { "" };
	struct scenario s;
	double told = 0;

	(void)state;
	if (!scenario_blank(&s, "qwen3-next-80b-a3b", "h100-pcie", "sglang", &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
		case_set(&s, knobs[i][0], knobs[i][1]);
	s.plan.serving.memory_share = 0.95;
	serve_estimate(&s, &now);
	for (int i = 0; i < now.problems.count; i++)
		if (strcmp(now.problems.item[i].rule->code, "S25") == 0)
			told = now.problems.item[i].nearest[0];
	assert_true(told > 0.95 && now.serving.max_concurrency < 1);
	s.plan.serving.memory_share = told;
	serve_estimate(&s, &now);
	assert_true(now.serving.max_concurrency >= 1);
	s.plan.serving.memory_share = told - 0.01;
	serve_estimate(&s, &now);
	assert_true(now.serving.max_concurrency < 1);
}

/* --- experts --- */

/* All of a copy's ranks hold all experts once, whether each rank has some of them whole
 * or several share each: what a rank holds is the same. Without a dispatch nothing can
 * run beside it. */
static void experts_on_fewer_ranks(void **state)
{
	static const char *const degrees[] = { "1", "2", "4", "8" };
	double bytes = 0, seconds;
	struct scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
		struct error error = { "" };

		if (!scenario_blank(&s, "mixtral-8x7b", "dgx-h100", "sglang", &error))
			fail_msg("%s", error.text);
		case_set(&s, "mode", "inference");
		case_set(&s, "gpus", "8");
		case_set(&s, "tp", "2");
		case_set(&s, "dp_attention", "4");
		case_set(&s, "ep", degrees[i]);
		serve_estimate(&s, &now);
		assert_true(now.feasible);
		bytes = i > 0 ? bytes : now.memory.weights_bytes;
		assert_close(now.memory.weights_bytes, bytes, 1e-12);
		seconds = now.serving.decode_seconds;
		s.plan.ep_overlap = true;
		serve_estimate(&s, &now);
		assert_true((now.serving.decode_seconds != seconds) == (s.plan.ep > 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_stated),
		cmocka_unit_test(sizes_end_where_they_say),
		cmocka_unit_test(wide_groups_have_a_period),
		cmocka_unit_test(floors_hold_a_stages_own_seconds),
		cmocka_unit_test(one_rate_is_that_of_all),
		cmocka_unit_test(tables_go_on_behind_their_last_entry),
		cmocka_unit_test(requests_grow_with_their_rate),
		cmocka_unit_test(a_share_that_is_told_has_room),
		cmocka_unit_test(experts_on_fewer_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
