#include "engine/pipeline.h"
#include "engine/plan.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stages_give_the_closed_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
