/* experts.c - a mixture-of-experts layer in a pass. */
#include <math.h>

#include "engine/model/shape.h"
#include "engine/serve/layer.h"

/* Experts that any of these tokens chose: E (1 - (1 - K/E)^T) of all. */
static double touched_share(double tokens, double experts, double chosen)
{
	return chosen >= experts ? 1 : 1 - pow(1 - chosen / experts, tokens);
}

static double padded(double size, double to)
{
	return ceil(size / to) * to;
}

/* Kernels for mxfp4 take multiples of 256 of the width and, by the stack, of 64 or 128
 * of what a rank has of the intermediate size: vLLM, quantization/mxfp4.py and Triton's
 * layout on Hopper; TensorRT-LLM, fused_moe_triton.py (n_alignment and k_alignment).
 * gpt-oss has 2,880 of both. */
struct expert_sizes serve_expert_sizes(const struct serve_context *c)
{
	const struct model *m = &c->scenario->model;
	double width = (double)model_expert_width(m);
	double ffn = (double)m->moe.expert_ffn / c->shape.etp;

	if (c->scenario->plan.precision != PRECISION_MXFP4)
		return (struct expert_sizes){ width, ffn };
	return (struct expert_sizes){
		padded(width, 256),
		padded(ffn, fmax(64, c->scenario->stack.serving.mxfp4_rows))
	};
}

double serve_spare_experts(const struct serve_context *c)
{
	return c->shape.ep > 1 ? (double)c->scenario->plan.serving.redundant_experts
			       : 0;
}

static void matrices(const struct serve_context *c, double tokens,
		     const struct shape shape[EXPERT_SHAPES], struct layer_pass *out)
{
	const struct moe *moe = &c->scenario->model.moe;
	const struct shape *up = &shape[EXPERT_UP], *down = &shape[EXPERT_DOWN];
	const struct expert_sizes size = serve_expert_sizes(c);
	double experts = (double)moe->experts, columns = up->columns / down->inner;
	double held = (experts + serve_spare_experts(c)) / c->shape.ep;
	double touched =
		held * touched_share(tokens, experts, (double)moe->experts_per_token);
	struct kernel k;

	kernel_experts(&c->rates, up->rows, columns * size.ffn, size.width, touched,
		       &k);
	layer_kernel(out, up->name, 1, &k);
	kernel_experts(&c->rates, down->rows, size.width, size.ffn, touched, &k);
	layer_kernel(out, down->name, 1, &k);
}

/* A matrix that every rank has whole, for its own tokens. */
static void multiply(const struct serve_context *c, bool large,
		     const struct shape *shape, struct layer_pass *out)
{
	struct kernel k;

	kernel_gemm(&c->rates, large, shape->rows, shape->columns, shape->inner, &k);
	layer_kernel(out, shape->name, 1, &k);
}

/* The standard normal's quantile: Abramowitz and Stegun 1964, equation 26.2.23. */
static double normal_quantile(double p)
{
	double t = sqrt(-2 * log(fmin(p, 1 - p)));
	double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

	return p < 0.5 ? -x : x;
}

/* The busiest of `ranks` over the mean: a rank's load is that of its experts together,
 * which lie as far apart as `skew` says over the root of their number; of so many
 * normal loads the largest is expected at the quantile (n - 3/8) / (n + 1/4) (Blom
 * 1958, "Statistical Estimates and Transformed Beta-Variables", section 6.9). Nobody
 * has more than all. */
static double busiest(double skew, double experts, double ranks)
{
	double apart = skew / sqrt(fmax(1, experts / ranks));

	return fmin(ranks,
		    1 + apart * normal_quantile((ranks - 0.375) / (ranks + 0.25)));
}

static double busiest_rank(const struct serve_context *c)
{
	const struct plan *plan = &c->scenario->plan;

	if (c->shape.ep <= 1)
		return 1;
	return fmax(1, plan->imbalance) *
	       busiest(plan->serving.routing_skew,
		       (double)c->scenario->model.moe.experts, c->shape.ep);
}

/* Around the products: rows are copied to their experts in the format of the product,
 * gate and up become its next operand, and what comes out is added up for each token.
 * A token's own row is read once, however many experts it goes to. */
static double moved_bytes(const struct serve_context *c,
			  const struct shape shape[EXPERT_SHAPES])
{
	const struct shape *up = &shape[EXPERT_UP], *down = &shape[EXPERT_DOWN];
	double operand = c->rates.operand_bytes;

	return 4 * shape[EXPERT_ROUTER].rows * up->inner +
	       up->rows * (up->inner * (operand + 2) +
			   (2 * up->columns + down->inner * operand));
}

/* Rows of the busiest rank's experts. */
static double rows_here(const struct serve_context *c, double tokens)
{
	double chosen = (double)c->scenario->model.moe.experts_per_token;
	double busy = busiest_rank(c);

	/* copies of the busiest experts even out what ranks get */
	if (serve_spare_experts(c) > 0)
		return tokens * chosen / c->shape.ep * (1 + (busy - 1) / 2);
	return tokens * chosen / c->shape.ep * busy;
}

/* Attention copies hold different tokens: they travel to the experts and back. */
static void exchange(const struct serve_context *c, double tokens, double width,
		     struct layer_pass *out)
{
	double chosen = (double)c->scenario->model.moe.experts_per_token;
	double elements = tokens / c->shape.tp * (c->shape.ep > 1 ? chosen : 1) * width;
	bool fp8 = c->rates.operand_bytes < 2;

	if (c->shape.dp <= 1)
		return;
	layer_exchange(c, "dispatch", elements * collective_row_bytes(fp8, 2), out);
	layer_exchange(c, "combine", elements * 2, out);
}

void layer_experts(const struct serve_context *c, double tokens, struct layer_pass *out)
{
	double all = tokens * (out->copies > 0 ? out->copies : c->shape.dp);
	struct share share = { .tp = c->shape.etp,
			       .rows = rows_here(c, all),
			       .norm_rows = tokens };
	struct shape shape[EXPERT_SHAPES];
	struct kernel k;

	shapes_experts(&c->scenario->model, &share, shape);
	multiply(c, false, &shape[EXPERT_ROUTER], out);
	if (c->scenario->model.moe.expert_latent > 0) {
		multiply(c, true, &shape[EXPERT_LATENT_DOWN], out);
		multiply(c, true, &shape[EXPERT_LATENT_UP], out);
	}
	kernel_routing(&c->rates, moved_bytes(c, shape), &k);
	layer_kernel(out, "routing and combining", 4, &k);
	matrices(c, all, shape, out);
	exchange(c, tokens, shape[EXPERT_UP].inner, out);
}
