#include <stdlib.h>

#include "engine/pipeline.h"
#include "engine/plan.h"
#include "engine/schedule/simulate.h"
#include "tests/support/close.h"

static void equal(struct pipeline_input *in, int schedule, int p, int v, int64_t m)
{
	*in = (struct pipeline_input){ .stages = p, .chunks = v, .micro_batches = m };
	in->schedule = schedule;
	for (int k = 0; k < p * v; k++) {
		in->forward[k] = 1.0 / v;
		in->input_grad[k] = 1.1 / v;
		in->weight_grad[k] = 0.9 / v;
	}
}

static void check_sum(const struct pipeline_input *in,
		      const struct pipeline_result *out)
{
	for (int s = 0; s < in->stages; s++) {
		assert_close(out->busy[s] + out->transfer[s] + out->idle[s],
			     out->seconds, 1e-12);
		assert_true(out->idle[s] > -1e-9 * out->seconds);
	}
}

static void test_equal_stages_give_the_closed_form(void **state)
{
	static struct pipeline_input in;
	static struct pipeline_result out;

	(void)state;
	for (int p = 1; p <= 16; p++) {
		for (int64_t m = 1; m < 70; m++) {
			equal(&in, SCHEDULE_1F1B, p, 1, m);
			pipeline_step(&in, &out);
			assert_close(out.seconds, 3.0 * (double)(m + p - 1), 1e-12);
			check_sum(&in, &out);
			in.schedule = SCHEDULE_GPIPE;
			pipeline_step(&in, &out);
			assert_close(out.seconds, 3.0 * (double)(m + p - 1), 1e-12);
			check_sum(&in, &out);
		}
		for (int v = 2; v <= 5; v++) {
			for (int64_t g = 1; g < 12 && p > 1; g++) {
				equal(&in, SCHEDULE_INTERLEAVED, p, v, g * p);
				pipeline_step(&in, &out);
				assert_close(out.seconds,
					     3.0 * ((double)(g * p) + (p - 1.0) / v),
					     1e-12);
				check_sum(&in, &out);
			}
		}
	}
}

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* Every order from its list, event by event. */
static double simulated(const struct pipeline_input *in)
{
	enum { ROOM = 48 << 20 };
	unsigned char *room = malloc(ROOM);
	struct arena arena = { room, ROOM, 0 };
	struct schedule_request request = { .kind = in->schedule,
					    .stages = in->stages,
					    .chunks = in->chunks,
					    .micro_batches = (int)in->micro_batches,
					    .forward = in->forward,
					    .input_grad = in->input_grad,
					    .weight_grad = in->weight_grad,
					    .latency = in->send_seconds };
	struct simulate_times times = { .forward = in->forward,
					.input_grad = in->input_grad,
					.weight_grad = in->weight_grad,
					.kept_for_weights = 1,
					.send_seconds = in->send_seconds,
					.overlap_send = in->overlap_send };
	struct schedule schedule;
	struct simulation ran;
	double seconds;

	assert_non_null(room);
	assert_true(schedule_make(&request, &arena, &schedule, NULL));
	assert_true(simulate(&schedule, &times, false, &arena, &ran));
	seconds = ran.seconds;
	free(room);
	return seconds;
}

/* Inner stages are equal, as in most plans: the ends hold the embedding and the head.
 */
static void with_ends(struct pipeline_input *in, int schedule, int p, int v, int64_t m)
{
	equal(in, schedule, p, v, m);
	in->forward[0] += 0.05 * uniform() / v;
	in->forward[p * v - 1] += 0.4 * uniform() / v;
	in->input_grad[p * v - 1] += 0.4 * uniform() / v;
	in->weight_grad[p * v - 1] += 0.4 * uniform() / v;
}

static void test_unequal_ends_are_within_a_thousandth(void **state)
{
	static struct pipeline_input in;
	static struct pipeline_result out;

	(void)state;
	for (int i = 0; i < 120; i++) {
		int p = 2 << (i % 4), v = 2 + i % 3;
		int64_t m = p * (1 + (int64_t)(uniform() * 12));

		with_ends(&in, SCHEDULE_1F1B, p, 1, m);
		in.overlap_send = i % 2;
		in.send_seconds = 0.02 * uniform();
		pipeline_step(&in, &out);
		assert_close(out.seconds, simulated(&in), 1e-3);
		with_ends(&in, SCHEDULE_INTERLEAVED, p, v, m);
		pipeline_step(&in, &out);
		assert_close(out.seconds, simulated(&in), 2e-3);
	}
}

static void test_unequal_stages_are_close(void **state)
{
	static struct pipeline_input in;
	static struct pipeline_result out;

	(void)state;
	for (int i = 0; i < 120; i++) {
		int p = 2 << (i % 4), v = 2 + i % 3;
		int64_t m = p * (1 + (int64_t)(uniform() * 12));

		equal(&in, SCHEDULE_1F1B, p, 1, m);
		for (int k = 0; k < p; k++)
			in.forward[k] *= 1 + 0.2 * uniform();
		pipeline_step(&in, &out);
		assert_close(out.seconds, simulated(&in), 1e-3);
		equal(&in, SCHEDULE_INTERLEAVED, p, v, m);
		for (int k = 0; k < p * v; k++)
			in.forward[k] *= 1 + 0.2 * uniform();
		pipeline_step(&in, &out);
		assert_close(out.seconds, simulated(&in), 0.025);
	}
}

/* The others are simulated with few micro-batches and continued. */
static void test_continued_schedules_are_close_to_the_whole(void **state)
{
	static struct pipeline_input in;
	static struct pipeline_result out;

	(void)state;
	for (int kind = SCHEDULE_ZB_H1; kind < SCHEDULE_COUNT; kind++) {
		int p = 4, v = (int)schedule_chunks(kind, p, 2);

		for (int64_t m = 8; m <= 64; m *= 2) {
			equal(&in, kind, p, v, m);
			pipeline_step(&in, &out);
			/* waves have no steady beat */
			assert_close(out.seconds, simulated(&in),
				     kind == SCHEDULE_HANAYO ? 0.08 : 0.02);
			check_sum(&in, &out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stages_give_the_closed_form),
		cmocka_unit_test(test_unequal_ends_are_within_a_thousandth),
		cmocka_unit_test(test_unequal_stages_are_close),
		cmocka_unit_test(test_continued_schedules_are_close_to_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
