/* test_roofline.c - one operator on one accelerator: tiles and waves counted one by
 * one, limits of the soft roofline, what an accelerator computes in that lacks a
 * precision, and how kernels of attention, GEMMs and elementwise work differ. */
#include <math.h>

#include "engine/price/roofline.h"
#include "tests/support/close.h"

static const struct habits habits = { .tile_rows = 128, .tile_columns = 256 };

/* No machine's figures: all of them primes, so that none stands in for another. */
static struct accelerator machine(void)
{
	struct accelerator a = { .cores = 7, .memory_bytes_per_second = 11e9 };
	struct calibration *c = &a.calibration;

	a.peak_flops[PRECISION_FP32] = 13e9;
	a.peak_flops[PRECISION_BF16] = 17e9;
	c->gemm_efficiency[PRECISION_FP32] = 0.19;
	c->gemm_efficiency[PRECISION_BF16] = 0.23;
	c->attention_efficiency[ATTENTION_UNFUSED] = 0.29;
	c->attention_efficiency[ATTENTION_FLASH2] = 0.31;
	c->attention_half_seq = 37;
	c->narrow_head_efficiency = 0.41;
	c->memory_efficiency = 0.43;
	c->kernel_seconds = 47e-6;
	c->tail_share = 0.53;
	c->compute_scale = 1;
	return a;
}

/* --- tiles and waves --- */

/* Cores that have nothing to do in the last wave, tile by tile. */
static int count_idle(int cores, int rows, int columns)
{
	int busy = 0;

	for (int row = 0; row < rows; row += 128)
		for (int column = 0; column < columns; column += 256)
			busy = busy == cores ? 1 : busy + 1;
	return cores - busy;
}

/* Each idle core leaves out a tile of 128 x 256 products of that length, and what is
 * not filled otherwise is the accelerator's share (roofline.h). */
static void test_idle_cores_are_those_of_the_last_wave(void **state)
{
	static const int rows[] = { 1, 127, 128, 129, 256, 257, 1000, 4096 };
	static const int columns[] = { 1, 255, 256, 257, 512, 513, 3000 };
	struct accelerator a = machine();

	(void)state;
	for (int cores = 1; cores <= 9; cores++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
			for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
				const double tile = 0.53 * 2.0 * 128 * 256 * 59;
				struct roofline gemm;
				double tail;

				a.cores = cores;
				roofline_gemm(&a, &habits, PRECISION_BF16, &gemm);
				tail = roofline_tail_flops(&gemm, rows[i], columns[j],
							   59);
				assert_true(fabs(tail / tile -
						 count_idle(cores, rows[i],
							    columns[j])) < 1e-9);
			}
}

/* More tiles than a whole number holds leave no part of a wave. */
static void test_huge_products_have_no_tail(void **state)
{
	struct accelerator a = machine();
	struct roofline gemm;

	(void)state;
	a.cores = 1;
	roofline_gemm(&a, &habits, PRECISION_BF16, &gemm);
	assert_close(roofline_tail_flops(&gemm, 4096, 152e24, 76e12), 0, 0);
}

/* Half a row more, as means over ranks have, is a tile more, rounding is none. */
static void test_rows_are_rounded_up_but_rounding_is_not(void **state)
{
	struct accelerator a = machine();
	struct roofline gemm;
	double one;

	(void)state;
	roofline_gemm(&a, &habits, PRECISION_BF16, &gemm);
	one = 0.53 * 2 * 128 * 256;
	assert_close(roofline_tail_flops(&gemm, 128.5, 256, 1), 5 * one, 1e-6);
	assert_close(roofline_tail_flops(&gemm, 128 * (1 + 1e-12), 256, 1), 6 * one,
		     1e-6);
	assert_close(roofline_tail_flops(&gemm, 128, 256 * (1 + 1e-12), 1), 6 * one,
		     1e-6);
}

static void test_cores_that_nobody_counted_leave_no_tail(void **state)
{
	struct accelerator a = machine();
	struct roofline r;

	(void)state;
	a.cores = 0;
	roofline_gemm(&a, &habits, PRECISION_BF16, &r);
	assert_true(roofline_tail_flops(&r, 129, 257, 1000) == 0);
	a.cores = 7;
	roofline_memory(&a, 0.5, &r);
	assert_true(roofline_tail_flops(&r, 129, 257, 1000) == 0);
	roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 4096, 128, &r);
	assert_true(roofline_tail_flops(&r, 129, 257, 1000) == 0);
}

/* --- the curve --- */

/* (t_flops^2 + t_bytes^2)^(1/2): 3, 4 and 5. Each alone is itself, none is no kernel.
 */
static void test_computing_and_memory_meet(void **state)
{
	const struct roofline r = { .seconds_per_flop = 3,
				    .seconds_per_byte = 2,
				    .kernel_seconds = 100 };

	(void)state;
	assert_close(roofline_seconds(&r, 1, 2), 105, 1e-12);
	assert_close(roofline_seconds(&r, 1, 0), 103, 1e-12);
	assert_close(roofline_seconds(&r, 0, 2), 104, 1e-12);
	assert_true(roofline_seconds(&r, 0, 0) == 0);
	/* however little it is */
	assert_close(roofline_seconds(&r, 0.25, 0), 100.75, 1e-12);
	assert_close(roofline_seconds(&r, 0, 0.25), 100.5, 1e-12);
	assert_close(roofline_seconds(&r, 0.25, 0.5), 101.25, 1e-12);
	/* at the ridge 2^(1/2) of either, far from it the larger alone */
	assert_close(roofline_seconds(&r, 2, 3), 100 + 6 * sqrt(2), 1e-12);
	assert_close(roofline_seconds(&r, 1e9, 1), 100 + 3e9, 1e-9);
	assert_close(roofline_seconds(&r, 1, 1e9), 100 + 2e9, 1e-9);
}

/* --- what runs in place of a precision that is not there --- */

/* From the narrowest on, each the next one that computes the same numbers wider. */
static void test_a_missing_precision_runs_as_a_wider_one(void **state)
{
	static const enum precision wider[] = { PRECISION_NVFP4, PRECISION_MXFP8,
						PRECISION_FP8,   PRECISION_BF16,
						PRECISION_FP16,  PRECISION_FP32 };
	enum { COUNT = sizeof wider / sizeof *wider };

	(void)state;
	/* whatever the unit of a peak: what is there at all is there */
	for (int there = 1; there < 2 << COUNT; there++) {
		double peak = there >> COUNT ? 1e12 : 1e-12;
		struct accelerator a = machine();

		for (int i = 0; i < COUNT; i++)
			a.peak_flops[wider[i]] = there >> i & 1 ? peak * (i + 1) : 0;
		for (int asked = 0; asked < COUNT; asked++) {
			int runs = asked;

			while (runs < COUNT - 1 && !(there >> runs & 1))
				runs++;
			assert_int_equal(roofline_precision(&a, wider[asked]),
					 wider[runs]);
		}
	}
	/* INT8 is no narrower bf16: its products are other ones */
	{
		struct accelerator a = machine();

		assert_int_equal(roofline_precision(&a, PRECISION_INT8),
				 PRECISION_INT8);
	}
}

/* --- kinds of kernels --- */

static void test_gemms_have_the_rate_of_what_runs(void **state)
{
	struct accelerator a = machine();
	struct roofline r;

	(void)state;
	roofline_gemm(&a, &habits, PRECISION_FP8, &r); /* runs as bf16 */
	assert_close(r.seconds_per_flop, 1 / (17e9 * 0.23), 1e-12);
	assert_close(r.seconds_per_byte, 1 / (11e9 * 0.43), 1e-12);
	assert_close(r.kernel_seconds, 47e-6, 1e-12);
	roofline_gemm(&a, &habits, PRECISION_FP32, &r);
	assert_close(r.seconds_per_flop, 1 / (13e9 * 0.19), 1e-12);
	/* an efficiency that nobody measured is the peak */
	a.calibration.gemm_efficiency[PRECISION_BF16] = 0;
	a.calibration.memory_efficiency = 0;
	roofline_gemm(&a, &habits, PRECISION_BF16, &r);
	assert_close(r.seconds_per_flop, 1 / 17e9, 1e-12);
	assert_close(r.seconds_per_byte, 1 / 11e9, 1e-12);
}

/* Most elementwise kernels are fused with a neighbour: half a kernel's start. */
static void test_elementwise_kernels_compute_at_the_peak_of_fp32(void **state)
{
	struct accelerator a = machine();
	struct roofline r;

	(void)state;
	roofline_memory(&a, 0.5, &r);
	assert_close(r.seconds_per_flop, 1 / 13e9, 1e-12);
	assert_close(r.seconds_per_byte, 1 / (11e9 * 0.43), 1e-12);
	assert_close(r.kernel_seconds, 47e-6 / 2, 1e-12);
}

/* Flash kernels are at half their plateau where the sequence is attention_half_seq, and
 * slower with heads of 64 or less; kernels that are not flash have neither. */
static void test_attention_needs_long_sequences_and_wide_heads(void **state)
{
	const double plateau = 17e9 * 0.31;
	struct accelerator a = machine();
	struct roofline r;

	(void)state;
	roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 1e15, 128, &r);
	assert_close(r.seconds_per_flop, 1 / plateau, 1e-9);
	assert_close(r.seconds_per_byte, 1 / (11e9 * 0.43), 1e-12);
	assert_close(r.kernel_seconds, 47e-6, 1e-12);
	roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 37, 128, &r);
	assert_close(r.seconds_per_flop, 2 / plateau, 1e-12);
	roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 3 * 37, 65, &r);
	assert_close(r.seconds_per_flop, 4.0 / 3 / plateau, 1e-12);
	roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 3 * 37, 64, &r);
	assert_close(r.seconds_per_flop, 4.0 / 3 / plateau / 0.41, 1e-12);
	roofline_attention(&a, PRECISION_BF16, ATTENTION_UNFUSED, 37, 64, &r);
	assert_close(r.seconds_per_flop, 1 / (17e9 * 0.29), 1e-12);
}

/* Every kernel of flash attention has the ramp, no other one has it. */
static void test_the_ramp_is_that_of_flash_kernels(void **state)
{
	struct accelerator a = machine();

	(void)state;
	for (int k = 0; k < ATTENTION_COUNT; k++) {
		struct roofline near, far;
		bool flash = k == ATTENTION_FLASH1 || k == ATTENTION_FLASH2 ||
			     k == ATTENTION_FLASH3;

		a.calibration.attention_efficiency[k] = 0.5;
		roofline_attention(&a, PRECISION_BF16, (enum attention_kernel)k, 37,
				   128, &near);
		roofline_attention(&a, PRECISION_BF16, (enum attention_kernel)k, 1e15,
				   128, &far);
		assert_close(near.seconds_per_flop / far.seconds_per_flop,
			     flash ? 2 : 1, 1e-9);
	}
}

/* A calibrated machine that computes k times as long does so in every kernel, wherever
 * its time goes. */
static void test_a_calibrated_scale_scales_every_second(void **state)
{
	struct accelerator a = machine(), slow = machine();
	struct roofline one[3], three[3];

	(void)state;
	slow.calibration.compute_scale = 3;
	roofline_gemm(&a, &habits, PRECISION_BF16, &one[0]);
	roofline_gemm(&slow, &habits, PRECISION_BF16, &three[0]);
	roofline_attention(&a, PRECISION_BF16, ATTENTION_FLASH2, 100, 64, &one[1]);
	roofline_attention(&slow, PRECISION_BF16, ATTENTION_FLASH2, 100, 64, &three[1]);
	roofline_memory(&a, 0.5, &one[2]);
	roofline_memory(&slow, 0.5, &three[2]);
	for (int i = 0; i < 3; i++) {
		assert_close(three[i].seconds_per_byte, 3 * one[i].seconds_per_byte,
			     1e-12);
		assert_close(three[i].kernel_seconds, 3 * one[i].kernel_seconds, 1e-12);
		/* elementwise FLOPs are never what such a kernel waits for */
		if (i < 2)
			assert_close(three[i].seconds_per_flop,
				     3 * one[i].seconds_per_flop, 1e-12);
	}
	/* the tail is work, not seconds: it costs what FLOPs cost */
	assert_close(roofline_tail_flops(&three[0], 129, 1, 1),
		     roofline_tail_flops(&one[0], 129, 1, 1), 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_cores_are_those_of_the_last_wave),
		cmocka_unit_test(test_huge_products_have_no_tail),
		cmocka_unit_test(test_rows_are_rounded_up_but_rounding_is_not),
		cmocka_unit_test(test_cores_that_nobody_counted_leave_no_tail),
		cmocka_unit_test(test_computing_and_memory_meet),
		cmocka_unit_test(test_a_missing_precision_runs_as_a_wider_one),
		cmocka_unit_test(test_gemms_have_the_rate_of_what_runs),
		cmocka_unit_test(test_elementwise_kernels_compute_at_the_peak_of_fp32),
		cmocka_unit_test(test_attention_needs_long_sequences_and_wide_heads),
		cmocka_unit_test(test_the_ramp_is_that_of_flash_kernels),
		cmocka_unit_test(test_a_calibrated_scale_scales_every_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
