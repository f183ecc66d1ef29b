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

static struct product_rates rates_of_product(const struct scenario *s,
					     enum precision stored,
					     double compute_share, double stream_share)
{
	const struct serving_calibration *c = rates(s);
	enum precision used = products(s, stored);
	double computes = share(c->gemm_efficiency, used) * compute_share;
	/* no memory is read faster than it can be */
	double streams = share(c->stream_efficiency, stored) * stream_share;

	return (struct product_rates){
		.stored = stored,
		.used = used,
		.flops = kernel_peak(s, stored) * fmin(1, computes),
		.bytes = stream_rate(s, fmin(1, streams)),
	};
}

static void product(const struct chip_rates *r, const struct product_rates *of,
		    double flops, double bytes, struct kernel *out)
{
	out->rates = KERNEL_PRODUCT;
	out->stored = of->stored;
	out->used = of->used;
	out->flops = flops;
	out->bytes = bytes;
	out->compute_seconds = flops / of->flops;
	out->memory_seconds = bytes / of->bytes;
	out->fixed_seconds = r->product_seconds;
	join(out, r->exponent);
}

void kernel_gemm(const struct chip_rates *r, bool large, double rows, double columns,
		 double inner, struct kernel *out)
{
	const struct product_rates *of = &r->product[large];

	product(r, of, 2 * rows * columns * inner,
		columns * inner * of->weight_bytes + 2 * rows * (columns + inner), out);
}

double kernel_operand_bytes(const struct scenario *s)
{
	enum precision used = products(s, (enum precision)s->plan.precision);

	return precision_table[used].operand_bytes;
}

void kernel_experts(const struct chip_rates *r, double rows, double columns,
		    double inner, double touched, struct kernel *out)
{
	const struct product_rates *of = &r->experts;

	product(r, of, 2 * rows * columns * inner,
		touched * columns * inner * of->weight_bytes +
			rows * (2 * columns + r->operand_bytes * inner),
		out);
	out->rates = KERNEL_EXPERTS;
}

void kernel_prompt_attention(const struct chip_rates *r, double flops, double bytes,
			     struct kernel *out)
{
	*out = (struct kernel){ .rates = KERNEL_PROMPT,
				.used = r->attention,
				.flops = flops,
				.bytes = bytes };
	out->compute_seconds = flops / r->attention_flops;
	out->memory_seconds = bytes / r->attention_bytes;
	out->fixed_seconds = r->attention_seconds;
	out->seconds = out->fixed_seconds + out->compute_seconds + out->memory_seconds;
}

void kernel_decode_attention(const struct chip_rates *r, bool latent, double flops,
			     double bytes, struct kernel *out)
{
	*out = (struct kernel){ .rates = latent ? KERNEL_LATENT : KERNEL_DECODE,
				.used = r->attention,
				.flops = flops,
				.bytes = bytes };
	out->compute_seconds = flops / r->decode_flops[latent];
	out->memory_seconds = bytes / r->decode_bytes;
	out->fixed_seconds = r->decode_seconds;
	join(out, r->exponent);
}

void kernel_elementwise(const struct chip_rates *r, double kernels, double bytes,
			struct kernel *out)
{
	*out = (struct kernel){ .bytes = bytes };
	out->memory_seconds = bytes / r->small_bytes;
	out->fixed_seconds = kernels * r->small_seconds;
	out->seconds = out->fixed_seconds + out->memory_seconds;
}

void kernel_routing(const struct chip_rates *r, double bytes, struct kernel *out)
{
	kernel_elementwise(r, 0, bytes, out);
	out->rates = KERNEL_ROUTING;
	out->fixed_seconds += r->routing_seconds;
	out->seconds += r->routing_seconds;
}

double kernel_older_attention(const struct scenario *s)
{
	const double *reached = s->cluster.accelerator.calibration.attention_efficiency;

	if (!s->stack.serving.flash2 || reached[ATTENTION_FLASH2] <= 0 ||
	    reached[ATTENTION_FLASH3] <= reached[ATTENTION_FLASH2])
		return 1;
	return reached[ATTENTION_FLASH2] / reached[ATTENTION_FLASH3];
}

static void rates_of_attention(const struct scenario *s, struct chip_rates *out)
{
	const struct serving_calibration *c = rates(s);
	enum precision wide =
		s->plan.precision == PRECISION_FP32 ? PRECISION_FP32 : PRECISION_BF16;
	double cache =
		serve_kv_element_bytes(s) < 2 ? c->kv_efficiency_fp8 : c->kv_efficiency;

	/* 16 bits, or the format of a server that computes wider */
	out->attention = products(s, wide);
	out->attention_flops =
		kernel_peak(s, wide) * kernel_share(c->attention_efficiency);
	out->attention_bytes =
		stream_rate(s, share(c->stream_efficiency, PRECISION_BF16));
	out->attention_seconds = c->attention_fixed_seconds;
	out->decode_flops[false] = out->attention_flops;
	out->attention_flops *= kernel_older_attention(s);
	out->decode_flops[true] =
		kernel_peak(s, wide) * kernel_share(c->latent_efficiency);
	out->decode_bytes = stream_rate(s, kernel_share(cache));
	out->decode_seconds = c->decode_fixed_seconds;
}

void chip_rates(const struct scenario *s, struct chip_rates *out)
{
	const struct serving_calibration *c = rates(s);
	enum precision stored = (enum precision)s->plan.precision;

	out->exponent = kernel_exponent(s);
	out->product[false] = rates_of_product(s, PRECISION_BF16, 1, 1);
	out->product[true] = rates_of_product(s, stored, 1, 1);
	out->experts =
		rates_of_product(s, stored, share(c->grouped_gemm_efficiency, stored),
				 kernel_share(c->grouped_stream_efficiency));
	out->product[false].weight_bytes = 2;
	out->product[true].weight_bytes = serve_weight_bytes(s);
	out->experts.weight_bytes = out->product[true].weight_bytes;
	out->product_seconds = c->kernel_seconds;
	out->operand_bytes = kernel_operand_bytes(s);
	rates_of_attention(s, out);
	out->small_bytes = stream_rate(s, kernel_share(c->elementwise_efficiency));
	out->small_seconds = c->small_kernel_seconds;
	out->routing_seconds = c->grouped_fixed_seconds;
}
