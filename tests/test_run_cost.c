/* test_run_cost.c - a whole training run counted by hand: time, checkpoints, failures,
 * money, energy, and their ranges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/train/train.h"
#include "tests/support/case.h"
#include "tests/support/close.h"

static struct scenario s;
static struct estimate e;

/* Eight nodes of eight, each failing every 1000 hours, 2 GB/s of checkpoint each. */
static void run(void)
{
	case_dense(&s);
	s.cluster.gpus_per_node = 8;
	s.cluster.node_mtbf_hours = 1000;
	s.cluster.checkpoint_bytes_per_second = 2e9;
	s.cluster.restart_seconds = 600;
	s.cluster.price_per_gpu_hour = 3;
	s.cluster.pue = 1.25;
	s.cluster.host_watts_per_gpu = 100;
	s.cluster.grid_grams_per_kwh = 400;
	s.cluster.accelerator.idle_watts = 80;
	s.cluster.accelerator.tdp_watts = 700;
	s.plan.tokens = 1e12;
	train_estimate(&s, &e);
}

static void test_checkpoints_and_failures(void **state)
{
	double mtbf = 1000.0 * 3600 / 8, interval, lost;

	(void)state;
	run();
	/* bf16 weights, fp32 copy and two moments: 2 + 12 bytes a parameter */
	assert_close(e.run.checkpoint_bytes, e.parameters * 14, 1e-12);
	assert_close(e.run.checkpoint_seconds, e.parameters * 14 / (2e9 * 8), 1e-12);
	interval = sqrt(2 * e.run.checkpoint_seconds * mtbf);
	assert_close(e.run.checkpoint_interval_seconds, interval, 1e-12);
	lost = e.run.checkpoint_seconds / interval + interval / 2 / mtbf + 600 / mtbf;
	assert_close(e.run.goodput, 1 - lost, 1e-12);
	assert_close(e.run.failures, e.run.seconds / 3600 / 1000 * 8, 1e-12);
	/* a checkpoint that takes no time is still one of a second */
	s.cluster.checkpoint_bytes_per_second = 0;
	train_estimate(&s, &e);
	assert_true(e.run.checkpoint_seconds == 0);
	assert_close(e.run.checkpoint_interval_seconds, sqrt(2 * mtbf), 1e-12);
	/* nothing fails */
	s.cluster.node_mtbf_hours = 0;
	train_estimate(&s, &e);
	assert_true(e.run.goodput == 1 && e.run.failures == 0 &&
		    e.run.checkpoint_interval_seconds == 0);
	/* what fails all the time gets nowhere, and takes for ever all the same */
	s.cluster.node_mtbf_hours = 0.001;
	train_estimate(&s, &e);
	assert_true(e.run.goodput == 0);
	assert_close(e.run.seconds, e.run.steps * e.step_seconds * 1e3, 1e-12);
}

/* What is stored of a parameter follows the optimizer; of a frozen model it is the
 * adapters. */
static void test_a_checkpoint_is_what_trains(void **state)
{
	static const struct {
		const char *optimizer, *precision;
		double bytes;
	} row[] = { { "adamw", "bf16", 2 + 4 + 8 },
		    { "sgd", "bf16", 2 + 4 + 4 },
		    { "muon", "bf16", 2 + 4 + 4 },
		    { "adamw", "fp32", 4 + 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		run();
		case_set(&s, "optimizer", row[i].optimizer);
		case_set(&s, "precision", row[i].precision);
		train_estimate(&s, &e);
		assert_close(e.run.checkpoint_bytes, e.parameters * row[i].bytes,
			     1e-12);
	}
	run();
	s.plan.lora_rank = 16;
	train_estimate(&s, &e);
	/* Llama 3 70B: beside qkv, output, gate and up, and down */
	assert_close(e.run.checkpoint_bytes,
		     80 * 16.0 *
			     ((8192 + 10240) + (8192 + 8192) + (8192 + 2 * 28672) +
			      (28672 + 8192)) *
			     14,
		     1e-12);
}

static void test_a_node_in_part_fails_like_a_whole_one(void **state)
{
	double whole;

	(void)state;
	run();
	s.cluster.gpus_per_node = 60; /* 64 GPUs are two of them */
	train_estimate(&s, &e);
	whole = e.run.failures / e.run.seconds;
	assert_close(whole, 2 / 1000.0 / 3600, 1e-12);
	s.cluster.gpus_per_node = 64;
	train_estimate(&s, &e);
	assert_close(e.run.failures / e.run.seconds, 1 / 1000.0 / 3600, 1e-12);
}

static void test_time_money_energy(void **state)
{
	double steps, watts;

	(void)state;
	run();
	steps = ceil(1e12 / (double)(s.plan.global_batch * s.plan.seq_len));
	assert_close(e.run.steps, steps, 0);
	assert_close(e.run.seconds, steps * e.step_seconds / e.run.goodput, 1e-12);
	assert_close(e.run.gpu_hours, e.run.seconds / 3600 * 64, 1e-12);
	assert_close(e.run.dollars, e.run.gpu_hours * 3, 1e-12);
	assert_close(e.run.dollars_per_million_tokens, e.run.dollars / 1e6, 1e-12);
	watts = 1.25 * (80 + (700 - 80) * e.compute_seconds / e.step_seconds + 100);
	assert_close(e.run.joules, e.run.seconds * 64 * watts, 1e-12);
	assert_close(e.run.co2_grams, e.run.joules / 3.6e6 * 400, 1e-12);
}

/* Each range is that of the step. */
static void test_ranges(void **state)
{
	double low, high;

	(void)state;
	run();
	low = e.step_low_seconds / e.step_seconds;
	high = e.step_high_seconds / e.step_seconds;
	assert_true(low < 1 && high > 1);
	assert_close(e.run.seconds_low, e.run.seconds * low, 1e-12);
	assert_close(e.run.seconds_high, e.run.seconds * high, 1e-12);
	assert_close(e.run.dollars_low, e.run.dollars * low, 1e-12);
	assert_close(e.run.dollars_high, e.run.dollars * high, 1e-12);
	assert_close(e.run.joules_low, e.run.joules * low, 1e-12);
	assert_close(e.run.joules_high, e.run.joules * high, 1e-12);
	assert_close(e.run.co2_low_grams, e.run.co2_grams * low, 1e-12);
	assert_close(e.run.co2_high_grams, e.run.co2_grams * high, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checkpoints_and_failures),
		cmocka_unit_test(test_a_checkpoint_is_what_trains),
		cmocka_unit_test(test_a_node_in_part_fails_like_a_whole_one),
		cmocka_unit_test(test_time_money_energy),
		cmocka_unit_test(test_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
