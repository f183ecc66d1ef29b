/* kernels.h - seconds of one serving kernel; see pass.h for the form. */
#ifndef ENGINE_SERVE_KERNELS_H
#define ENGINE_SERVE_KERNELS_H

#include "engine/plan/scenario.h"

/* Which rates of the chip it runs at. */
enum kernel_rates {
	KERNEL_SMALL,   /* elementwise: bound by memory */
	KERNEL_ROUTING, /* such, around experts */
	KERNEL_PRODUCT,
	KERNEL_EXPERTS,
	KERNEL_PROMPT, /* attention of prompts */
	KERNEL_DECODE, /* of decoding requests */
	KERNEL_LATENT  /* of them, over latents */
};

struct kernel {
	enum kernel_rates rates;
	enum precision stored, used; /* weights of a product, and what it runs in */
	double compute_seconds, memory_seconds; /* each bound alone */
	double fixed_seconds;
	double seconds;
	double flops, bytes;
};

/* What kernels of a scenario run at on its chip: once for all that a server runs. */
struct product_rates {
	enum precision stored, used;
	double weight_bytes; /* of an element, scales counted */
	double flops, bytes; /* a second */
};
struct chip_rates {
	double exponent;                 /* how computing and reading join */
	struct product_rates product[2]; /* in 16 bits, and as large matrices are */
	struct product_rates experts;
	double product_seconds; /* fixed, of each */
	double operand_bytes;
	enum precision attention;
	double attention_flops, attention_bytes, attention_seconds;
	double decode_flops[2] /* over latents too */, decode_bytes, decode_seconds;
	double small_bytes, small_seconds, routing_seconds;
};
void chip_rates(const struct scenario *scenario, struct chip_rates *out);

/* A GEMM of rows x columns x inner. Weights of `streamed` elements are read (columns x
 * inner unless experts share them out), at weight_bytes each. */
void kernel_gemm(const struct chip_rates *rates, bool large, double rows,
		 double columns, double inner, struct kernel *out);
/* Bytes of an element that a product of the plan's precision reads, scales counted. */
double kernel_operand_bytes(const struct scenario *scenario);
/* Experts: `touched` matrices of columns x inner are read, rows spread over them. */
void kernel_experts(const struct chip_rates *rates, double rows, double columns,
		    double inner, double touched, struct kernel *out);
/* Flash attention of a prompt: FLOPs over the causal half, bytes of Q, K, V, O. */
void kernel_prompt_attention(const struct chip_rates *rates, double flops, double bytes,
			     struct kernel *out);
/* Attention of decoding requests: reads the cache. latent: over MLA's latents. */
void kernel_decode_attention(const struct chip_rates *rates, bool latent, double flops,
			     double bytes, struct kernel *out);
/* Elementwise work in `kernels` launches. */
void kernel_elementwise(const struct chip_rates *rates, double kernels, double bytes,
			struct kernel *out);
/* What moves rows to experts and back. */
void kernel_routing(const struct chip_rates *rates, double bytes, struct kernel *out);
/* Dense peak of that precision's products, with the fallback of hardware that lacks it.
 */
double kernel_peak(const struct scenario *scenario, enum precision precision);
/* Of a table of shares by precision, the entry that is read; and the share that stands
 * for what is stated: where nothing is, all of the datasheet's. */
enum precision kernel_stated(const double *table, enum precision precision);
double kernel_share(double stated);
/* Of what its server's attention over prompts reaches on an accelerator, the share that
 * is left with FlashAttention 2's kernels: what training on it met. */
double kernel_older_attention(const struct scenario *scenario);
/* How computing and reading join: (a^p + b^p)^(1/p). Where nobody says, as in training
 * (price/roofline.h). */
double kernel_exponent(const struct scenario *scenario);

#endif
