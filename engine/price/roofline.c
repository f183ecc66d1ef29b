/* roofline.c - see roofline.h. */
#include "engine/price/roofline.h"

#include <math.h>

/* A hair above a whole number is rounding; doubles of 2^53 and more have no parts. */
static double round_up(double x)
{
	return x < 0x1p53 ? (double)(int64_t)(x + 1 - 1e-9) : x;
}

double roofline_tail_flops(const struct roofline *roofline, double rows, double columns,
			   double inner)
{
	double tiles, waves;

	if (roofline->per_core <= 0)
		return 0;
	tiles = round_up(rows / roofline->tile_rows) *
		round_up(columns / roofline->tile_columns);
	waves = tiles * roofline->per_core;
	return (round_up(waves) - waves) * roofline->tail_flops * inner;
}

double roofline_seconds(const struct roofline *roofline, double flops, double bytes)
{
	double compute = flops * roofline->seconds_per_flop;
	double memory = bytes * roofline->seconds_per_byte;

	if (flops <= 0 && bytes <= 0)
		return 0;
	if (flops <= 0)
		return roofline->kernel_seconds + memory;
	if (bytes <= 0)
		return roofline->kernel_seconds + compute;
	return roofline->kernel_seconds + sqrt(compute * compute + memory * memory);
}

enum precision roofline_precision(const struct accelerator *a, enum precision precision)
{
	if (precision == PRECISION_NVFP4 && a->peak_flops[precision] <= 0)
		precision = PRECISION_MXFP8;
	if (precision == PRECISION_MXFP8 && a->peak_flops[precision] <= 0)
		precision = PRECISION_FP8;
	if (precision == PRECISION_FP8 && a->peak_flops[precision] <= 0)
		precision = PRECISION_BF16;
	if (precision == PRECISION_BF16 && a->peak_flops[precision] <= 0)
		precision = PRECISION_FP16;
	if (precision == PRECISION_FP16 && a->peak_flops[precision] <= 0)
		precision = PRECISION_FP32;
	return precision;
}

static double share(double efficiency)
{
	return efficiency > 0 ? efficiency : 1;
}

void roofline_memory(const struct accelerator *accelerator, double start,
		     struct roofline *out)
{
	double scale = share(accelerator->calibration.compute_scale);

	out->seconds_per_byte =
		scale / (accelerator->memory_bytes_per_second *
			 share(accelerator->calibration.memory_efficiency));
	out->seconds_per_flop = 1 / share(accelerator->peak_flops[PRECISION_FP32]);
	out->per_core = out->tail_flops = 0;
	out->kernel_seconds = scale * accelerator->calibration.kernel_seconds * start;
}

void roofline_gemm(const struct accelerator *accelerator, const struct habits *habits,
		   enum precision precision, struct roofline *out)
{
	enum precision used = roofline_precision(accelerator, precision);
	double scale = share(accelerator->calibration.compute_scale);

	roofline_memory(accelerator, 1, out);
	out->seconds_per_flop =
		scale / (accelerator->peak_flops[used] *
			 share(accelerator->calibration.gemm_efficiency[used]));
	if (accelerator->cores <= 0)
		return;
	out->per_core = 1 / (double)accelerator->cores;
	out->tile_rows = habits->tile_rows;
	out->tile_columns = habits->tile_columns;
	out->tail_flops = accelerator->calibration.tail_share * 2 * out->tile_rows *
			  out->tile_columns * (double)accelerator->cores;
}

enum precision roofline_attention_precision(const struct accelerator *accelerator,
					    enum precision precision)
{
	return roofline_precision(accelerator, precision == PRECISION_FP32
						       ? PRECISION_FP32
						       : PRECISION_BF16);
}

void roofline_attention(const struct accelerator *accelerator, enum precision precision,
			enum attention_kernel kernel, double seq, double head_dim,
			struct roofline *out)
{
	const struct calibration *c = &accelerator->calibration;
	enum precision used = roofline_attention_precision(accelerator, precision);
	double efficiency = share(c->attention_efficiency[kernel]);
	double scale = share(c->compute_scale);

	roofline_memory(accelerator, 1, out);
	if (attention_table[kernel].flash) {
		efficiency *= seq / (seq + c->attention_half_seq);
		if (head_dim <= 64)
			efficiency *= share(c->narrow_head_efficiency);
	}
	out->seconds_per_flop = scale / (accelerator->peak_flops[used] * efficiency);
}
