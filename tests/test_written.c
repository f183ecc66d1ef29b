/* test_written.c - an answer is written whole: whatever stood in the room for it before
 * shows in none of its numbers. Each is asked for twice, in rooms full of two different
 * rubbishes. */
#include <string.h>

#include "engine/collective/collective.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/split.h"
#include "engine/schedule/schedule.h"
#include "engine/serve/serve.h"
#include "engine/serve/tail.h"
#include "engine/train/train.h"
#include "tests/support/any.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/server.h"

enum { RUBBISH = 0xa5, OTHER_RUBBISH = 0x3c };

static struct scenario s;
static struct estimate one, other;

/* --- whole estimates --- */

static void same(const char *what, double is, double wanted)
{
	/* bit by bit, so that no number is no number too */
	if (memcmp(&is, &wanted, sizeof is) != 0)
		fail_msg("%s, %s: %s is %g or %g", s.model.name, s.stack.name, what, is,
			 wanted);
}

static void same_figures(int mode)
{
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].modes & mode)
			same(metric_table[i].key, metric_get(&one, &metric_table[i]),
			     metric_get(&other, &metric_table[i]));
	assert_true(one.legal == other.legal && one.fits == other.fits);
	assert_true(one.unsure == other.unsure && one.feasible == other.feasible);
	assert_true(one.host_fits == other.host_fits);
	assert_int_equal(one.problems.count, other.problems.count);
	assert_int_equal(one.stages, other.stages);
	assert_int_equal(one.fullest_stage, other.fullest_stage);
	assert_int_equal(one.slowest_stage, other.slowest_stage);
}

/* All of a stage are doubles. */
static void same_doubles(const char *what, const void *a, const void *b, size_t size)
{
	const double *is = a, *wanted = b;

	for (size_t i = 0; i < size / sizeof *is; i++)
		same(what, is[i], wanted[i]);
}

static void same_stages(void)
{
	for (int i = 0; i < one.stages; i++) {
		same_doubles("a stage's memory", &one.stage[i], &other.stage[i],
			     sizeof one.stage[i]);
		same_doubles("a stage's time", &one.stage_time[i], &other.stage_time[i],
			     sizeof one.stage_time[i]);
	}
	for (int d = 0; d < DIM_COUNT; d++)
		same_doubles("a dimension", &one.cost[d], &other.cost[d],
			     sizeof one.cost[d]);
}

static void same_traffic(void)
{
	assert_int_equal(one.traffic_count, other.traffic_count);
	for (int i = 0; i < one.traffic_count; i++) {
		const struct traffic *a = &one.traffic[i], *b = &other.traffic[i];

		assert_true(a->dimension == b->dimension && a->kind == b->kind);
		assert_true(a->algorithm == b->algorithm && a->link == b->link);
		assert_true(a->what == b->what && a->ranks == b->ranks);
		assert_true(a->ranks_per_domain == b->ranks_per_domain);
		assert_true(a->stride == b->stride);
		same("calls", a->count, b->count);
		same("payload", a->payload_bytes, b->payload_bytes);
		same("sent", a->sent_bytes, b->sent_bytes);
		same("seconds", a->seconds, b->seconds);
		same("pieces", a->pieces, b->pieces);
		same("a call's bytes", a->call_bytes, b->call_bytes);
		same("remote bytes", a->remote_bytes, b->remote_bytes);
		same("all bytes", a->total_bytes, b->total_bytes);
		same("network's bytes", a->network_bytes, b->network_bytes);
		same("all seconds", a->total_seconds, b->total_seconds);
		same("exposed", a->exposed_seconds, b->exposed_seconds);
	}
}

static void estimates_of_training(void **state)
{
	int legal = 0;

	(void)state;
	seed = 1201;
	for (int i = 0; i < some_of(60000); i++) {
		any_scenario(&s);
		memset(&one, RUBBISH, sizeof one);
		memset(&other, OTHER_RUBBISH, sizeof other);
		train_estimate(&s, &one);
		train_estimate(&s, &other);
		assert_true(one.legal == other.legal);
		if (!one.legal)
			continue;
		legal++;
		same_figures(METRIC_TRAINING);
		same_stages();
		same_traffic();
	}
	assert_true(legal > some_of(200));
}

static void estimates_of_servers(void **state)
{
	(void)state;
	seed = 1202;
	for (int i = 0; i < some_of(1500); i++) {
		server_random(&s, &one);
		memset(&one, RUBBISH, sizeof one);
		memset(&other, OTHER_RUBBISH, sizeof other);
		serve_estimate(&s, &one);
		serve_estimate(&s, &other);
		same_figures(METRIC_INFERENCE);
		same_doubles("memory", &one.memory, &other.memory, sizeof one.memory);
		same_traffic();
	}
}

/* --- pipelines --- */

static struct pipeline_input in;
static struct pipeline_result ran, again;

static void draw_pipeline(void)
{
	in = (struct pipeline_input){ .schedule = (int)next(SCHEDULE_COUNT),
				      .stages = 1 + (int)next(9),
				      .optimizer_sync = (int)next(2),
				      .overlap_send = next(2) > 0,
				      .send_seconds = 0.1 * (double)next(3),
				      .weighed = next(2) > 0,
				      .hides = next(2) > 0 };
	in.chunks = (int)schedule_chunks(in.schedule, in.stages, 1 + (int)next(4));
	in.micro_batches = in.stages * (1 + (int64_t)next(5));
	for (int k = 0; k < in.stages * in.chunks; k++) {
		in.forward[k] = 1 + 0.01 * (double)next(100);
		in.input_grad[k] = 1 + 0.01 * (double)next(100);
		in.weight_grad[k] = 1 + 0.01 * (double)next(100);
		in.held[k] = 1 + (double)next(9);
		in.pair_hides[k] = 0.1;
	}
}

static void same_peaks(void)
{
	for (int i = 0; i < in.stages; i++) {
		same("in flight", ran.in_flight[i], again.in_flight[i]);
		assert_int_equal(ran.in_flight_chunks[i], again.in_flight_chunks[i]);
		/* and each stage holds at least one chunk, and no more than there are
		 */
		assert_true(ran.in_flight_chunks[i] >= 1);
		assert_true(ran.in_flight_chunks[i] <= in.micro_batches * in.chunks);
		assert_true(ran.in_flight[i] > 0 &&
			    ran.in_flight[i] <= (double)in.micro_batches);
	}
}

static void fill_both(void)
{
	memset(&ran, RUBBISH, sizeof ran);
	memset(&again, OTHER_RUBBISH, sizeof again);
}

static void pipelines(void **state)
{
	(void)state;
	seed = 1203;
	for (int i = 0; i < some_of(20000); i++) {
		draw_pipeline();
		fill_both();
		pipeline_step(&in, &ran);
		pipeline_step(&in, &again);
		same("a step", ran.seconds, again.seconds);
		for (int k = 0; k < in.stages; k++) {
			same("busy", ran.busy[k], again.busy[k]);
			same("transfer", ran.transfer[k], again.transfer[k]);
			same("idle", ran.idle[k], again.idle[k]);
		}
		same_peaks();
		fill_both();
		assert_true(pipeline_in_flight(&in, &ran) ==
			    pipeline_in_flight(&in, &again));
		same_peaks();
		fill_both();
		pipeline_order_in_flight(&in, &ran);
		pipeline_order_in_flight(&in, &again);
		same_peaks();
	}
}

/* --- what the slowest wait --- */

static void tails(void **state)
{
	static struct serve_tail tail, second;
	int ran_at_all = 0;

	(void)state;
	seed = 1204;
	for (int i = 0; i < some_of(400); i++) {
		server_random(&s, &one);
		memset(&tail, RUBBISH, sizeof tail);
		memset(&second, OTHER_RUBBISH, sizeof second);
		if (!serve_tail(&s, &tail))
			continue;
		assert_true(serve_tail(&s, &second));
		ran_at_all++;
		assert_true(tail.meets == second.meets);
		same_doubles("times to the first token", &tail.result.ttft,
			     &second.result.ttft, sizeof tail.result.ttft);
		same_doubles("times per token", &tail.result.tpot, &second.result.tpot,
			     sizeof tail.result.tpot);
		same("seconds", tail.result.seconds, second.result.seconds);
		same("running", tail.result.running, second.result.running);
		assert_int_equal(tail.result.requests, second.result.requests);
		assert_int_equal(tail.result.passes, second.result.passes);
	}
	assert_true(ran_at_all > some_of(100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates_of_training),
		cmocka_unit_test(estimates_of_servers),
		cmocka_unit_test(pipelines),
		cmocka_unit_test(tails),
	};

	return cmocka_run_group_tests(tests, any_load, any_unload);
}
