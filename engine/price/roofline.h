/* roofline.h - how long does one operator take on one accelerator?
 *
 * Soft roofline: t = t0 + (t_flops^2 + t_bytes^2)^(1/2), with t_flops the FLOPs over
 * peak x efficiency and t_bytes the memory traffic over bandwidth x efficiency. GEMMs
 * measured on A100 to GB200 (ai-dynamo/aiconfigurator) meet exponents of 1.4 to 2.6.
 *
 * A GEMM's output is cut into tiles, one per core at a time (NVIDIA, Matrix
 * Multiplication Background User's Guide, "Wave Quantization"): cores that the last
 * wave leaves idle cost a share of a wave, less than all where smaller tiles or split
 * inner dimensions fill them. A wave takes 2 x tile x inner FLOPs on each core.
 */
#ifndef ENGINE_PRICE_ROOFLINE_H
#define ENGINE_PRICE_ROOFLINE_H

#include "engine/machine/cluster.h"
#include "engine/machine/habits.h"

/* Rates of one kind of kernel in a scenario, made once per estimate. */
struct roofline {
	double seconds_per_flop, seconds_per_byte; /* effective */
	double kernel_seconds;                     /* fixed */
	double per_core;                           /* 1 / cores; 0: no waves */
	double tail_flops; /* of a wave, per element of the inner dimension */
	double tile_rows, tile_columns;
};

/* flops 0 is a pure memory kernel, bytes 0 a pure compute one; both 0 take no
 * time at all. */
double roofline_seconds(const struct roofline *roofline, double flops, double bytes);

/* FLOPs that the last wave of a GEMM with rows x columns of output doesn't do. */
double roofline_tail_flops(const struct roofline *roofline, double rows, double columns,
			   double inner);

/* A missing precision falls back to one that computes the same numbers wider. */
enum precision roofline_precision(const struct accelerator *accelerator,
				  enum precision precision);
/* GEMMs of that precision; one the accelerator lacks runs as bf16, then fp32. */
void roofline_gemm(const struct accelerator *accelerator, const struct habits *habits,
		   enum precision precision, struct roofline *out);
enum precision roofline_attention_precision(const struct accelerator *accelerator,
					    enum precision precision);
/* Scores and values of an attention kernel at that sequence and head width. In fp32
 * they have that peak, in all narrower formats that of 16 bits. Flash
 * kernels reach half their plateau at attention_half_seq tokens (in the manner of
 * s / (s + s0)); heads of 64 or less run at three quarters (calibration:
 * attention_summary.csv). */
void roofline_attention(const struct accelerator *accelerator, enum precision precision,
			enum attention_kernel kernel, double seq, double head_dim,
			struct roofline *out);
/* Norms, activations and other elementwise kernels, which start in that share of a
 * GEMM's start. */
void roofline_memory(const struct accelerator *accelerator, double start,
		     struct roofline *out);

#endif
