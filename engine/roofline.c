/* roofline.c - see roofline.h. */
#include "engine/roofline.h"

#include <math.h>

/* Output elements of the tile that large GEMMs are cut into: 128 x 256. */
static const double tile = 128 * 256;

double roofline_seconds(const struct roofline *roofline, double flops, double bytes)
{
	double compute = flops / roofline->flops_per_second;
	double memory = bytes / roofline->bytes_per_second;

	if (flops <= 0 && bytes <= 0)
		return 0;
	if (flops <= 0)
		return roofline->kernel_seconds + memory;
	if (bytes <= 0)
		return roofline->kernel_seconds + compute;
	return roofline->kernel_seconds + sqrt(compute * compute + memory * memory);
}

/* A missing precision falls back to one that computes the same numbers wider. */
static enum precision supported(const struct accelerator *a, enum precision precision)
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

void roofline_memory(const struct accelerator *accelerator, struct roofline *out)
{
	out->bytes_per_second = accelerator->memory_bytes_per_second *
				share(accelerator->calibration.memory_efficiency);
	out->flops_per_second = share(accelerator->peak_flops[PRECISION_FP32]);
	out->tail_flops = 0;
	/* most of these kernels are short and fused with a neighbour */
	out->kernel_seconds = accelerator->calibration.kernel_seconds / 2;
}

void roofline_gemm(const struct accelerator *accelerator, enum precision precision,
		   struct roofline *out)
{
	enum precision used = supported(accelerator, precision);

	roofline_memory(accelerator, out);
	out->kernel_seconds = accelerator->calibration.kernel_seconds;
	out->flops_per_second = accelerator->peak_flops[used] *
				share(accelerator->calibration.gemm_efficiency[used]);
	out->tail_flops = accelerator->calibration.tail_waves * 2 * tile *
			  (double)accelerator->cores;
}

void roofline_attention(const struct accelerator *accelerator,
			enum attention_kernel kernel, double seq, double head_dim,
			struct roofline *out)
{
	const struct calibration *c = &accelerator->calibration;
	enum precision used = supported(accelerator, PRECISION_BF16);
	double efficiency = share(c->attention_efficiency[kernel]);

	roofline_memory(accelerator, out);
	out->kernel_seconds = c->kernel_seconds;
	if (kernel >= ATTENTION_FLASH1) {
		efficiency *= seq / (seq + c->attention_half_seq);
		if (head_dim <= 64)
			efficiency *= share(c->narrow_head_efficiency);
	}
	out->flops_per_second = accelerator->peak_flops[used] * efficiency;
}
