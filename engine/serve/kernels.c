/* kernels.c - see kernels.h. */
#include "engine/serve/kernels.h"

#include <math.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/serve/pass.h"

static const struct serving_calibration *rates(const struct scenario *s)
{
	return &s->cluster.accelerator.calibration.serving;
}

/* The precision that products run in: weights alone are narrower where the hardware
 * has no such products (fp8 on an A100 is unpacked to bf16: Marlin). Experts in mxfp4
 * meet tokens in mxfp8 where the chip multiplies these, else in bf16 (vLLM,
 * quantization/mxfp4.py: Mxfp4Backend; TensorRT-LLM: W4A8_MXFP4_MXFP8, Triton). */
static enum precision products(const struct scenario *s, enum precision precision)
{
	const double *peak = s->cluster.accelerator.peak_flops;

	if (precision == PRECISION_FP8_BLOCK || precision == PRECISION_MXFP8)
		precision = peak[precision] > 0 ? precision : PRECISION_FP8;
	if (precision == PRECISION_MXFP4 && peak[precision] <= 0)
		precision =
			peak[PRECISION_MXFP8] > 0 ? PRECISION_MXFP8 : PRECISION_BF16;
	if (precision == PRECISION_INT4)
		precision = PRECISION_BF16;
	if (precision == PRECISION_FP32 || peak[precision] > 0)
		return precision;
	return peak[PRECISION_BF16] > 0 ? PRECISION_BF16 : PRECISION_FP16;
}

double kernel_peak(const struct scenario *s, enum precision precision)
{
	double peak = s->cluster.accelerator.peak_flops[products(s, precision)];

	return peak > 0 ? peak : 1;
}

double kernel_share(double stated)
{
	return stated > 0 ? stated : 1;
}

enum precision kernel_stated(const double *table, enum precision precision)
{
	return table[precision] > 0 ? precision : PRECISION_BF16;
}

static double share(const double *table, enum precision precision)
{
	return kernel_share(table[kernel_stated(table, precision)]);
}

static double stream_rate(const struct scenario *s, double efficiency)
{
	return s->cluster.accelerator.memory_bytes_per_second * efficiency;
}

/* (1 + share^exponent)^(1 / exponent): of the usual exponent a root, which takes a
 * tenth of two powers. */
static double rounded(double share, double exponent)
{
	if (exponent == 2)
		return sqrt(1 + share * share);
	return pow(1 + pow(share, exponent), 1 / exponent);
}

/* Both bounds, rounded where they meet. */
static void join(struct kernel *out, double exponent)
{
	double a = out->compute_seconds, b = out->memory_seconds;
	double most = larger(a, b), least = lesser(a, b);

	out->seconds = out->fixed_seconds;
	if (most > 0)
		out->seconds += most * rounded(least / most, exponent);
}

double kernel_exponent(const struct scenario *s)
{
	double p = rates(s)->roofline_exponent;

	return p >= 1 ? p : 2;
}

static void product(const struct scenario *s, enum precision precision, double flops,
		    double bytes, double compute_share, double stream_share,
		    struct kernel *out)
{
	const struct serving_calibration *c = rates(s);
	enum precision used = products(s, precision);

	out->rates = KERNEL_PRODUCT;
	out->stored = precision;
	out->used = used;
	out->flops = flops;
	out->bytes = bytes;
	out->compute_seconds =
		flops / (kernel_peak(s, precision) *
			 fmin(1, share(c->gemm_efficiency, used) * compute_share));
	/* no memory is read faster than it can be */
	out->memory_seconds =
		bytes / stream_rate(s, fmin(1, share(c->stream_efficiency, precision) *
						       stream_share));
	out->fixed_seconds = c->kernel_seconds;
	join(out, kernel_exponent(s));
}

void kernel_gemm(const struct scenario *s, bool large, double rows, double columns,
		 double inner, struct kernel *out)
{
	enum precision precision =
		large ? (enum precision)s->plan.precision : PRECISION_BF16;
	double weight = large ? serve_weight_bytes(s) : 2;

	product(s, precision, 2 * rows * columns * inner,
		columns * inner * weight + 2 * rows * (columns + inner), 1, 1, out);
}

double kernel_operand_bytes(const struct scenario *s)
{
	switch (products(s, (enum precision)s->plan.precision)) {
	case PRECISION_FP32: return 4;
	case PRECISION_FP8:
	case PRECISION_INT8: return 1;
	case PRECISION_FP8_BLOCK: return 1 + 4.0 / 128;
	case PRECISION_MXFP8: return 1 + 1.0 / 32;
	case PRECISION_NVFP4: return 0.5 + 1.0 / 16;
	case PRECISION_MXFP4: return 0.5 + 1.0 / 32;
	default: return 2;
	}
}

void kernel_experts(const struct scenario *s, double rows, double columns, double inner,
		    double touched, struct kernel *out)
{
	const struct serving_calibration *c = rates(s);

	product(s, (enum precision)s->plan.precision, 2 * rows * columns * inner,
		touched * columns * inner * serve_weight_bytes(s) +
			rows * (2 * columns + kernel_operand_bytes(s) * inner),
		share(c->grouped_gemm_efficiency, (enum precision)s->plan.precision),
		kernel_share(c->grouped_stream_efficiency), out);
	out->rates = KERNEL_EXPERTS;
}

/* 16 bits, or the format of a server that computes wider. */
static enum precision attention_precision(const struct scenario *s)
{
	return s->plan.precision == PRECISION_FP32 ? PRECISION_FP32 : PRECISION_BF16;
}

void kernel_prompt_attention(const struct scenario *s, double flops, double bytes,
			     struct kernel *out)
{
	const struct serving_calibration *c = rates(s);

	*out = (struct kernel){ .rates = KERNEL_PROMPT,
				.used = products(s, attention_precision(s)),
				.flops = flops,
				.bytes = bytes };
	out->compute_seconds = flops / (kernel_peak(s, attention_precision(s)) *
					kernel_share(c->attention_efficiency));
	out->memory_seconds =
		bytes / stream_rate(s, share(c->stream_efficiency, PRECISION_BF16));
	out->fixed_seconds = c->attention_fixed_seconds;
	out->seconds = out->fixed_seconds + out->compute_seconds + out->memory_seconds;
}

void kernel_decode_attention(const struct scenario *s, bool latent, double flops,
			     double bytes, struct kernel *out)
{
	const struct serving_calibration *c = rates(s);
	double efficiency =
		serve_kv_element_bytes(s) < 2 ? c->kv_efficiency_fp8 : c->kv_efficiency;
	double compute = latent ? c->latent_efficiency : c->attention_efficiency;

	*out = (struct kernel){ .rates = latent ? KERNEL_LATENT : KERNEL_DECODE,
				.used = products(s, attention_precision(s)),
				.flops = flops,
				.bytes = bytes };
	out->compute_seconds = flops / (kernel_peak(s, attention_precision(s)) *
					kernel_share(compute));
	out->memory_seconds = bytes / stream_rate(s, kernel_share(efficiency));
	out->fixed_seconds = c->decode_fixed_seconds;
	join(out, kernel_exponent(s));
}

void kernel_elementwise(const struct scenario *s, double kernels, double bytes,
			struct kernel *out)
{
	const struct serving_calibration *c = rates(s);

	*out = (struct kernel){ .bytes = bytes };
	out->memory_seconds =
		bytes / stream_rate(s, kernel_share(c->elementwise_efficiency));
	out->fixed_seconds = kernels * c->small_kernel_seconds;
	out->seconds = out->fixed_seconds + out->memory_seconds;
}

void kernel_routing(const struct scenario *s, double bytes, struct kernel *out)
{
	double fixed = rates(s)->grouped_fixed_seconds;

	kernel_elementwise(s, 0, bytes, out);
	out->rates = KERNEL_ROUTING;
	out->fixed_seconds += fixed;
	out->seconds += fixed;
}
