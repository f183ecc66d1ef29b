/* experts.c - a mixture-of-experts layer in a pass. */
#include <math.h>

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

static void matrices(const struct serve_context *c, double tokens, double rows,
		     struct layer_pass *out)
{
	const struct model *m = &c->scenario->model;
	const struct expert_sizes size = serve_expert_sizes(c);
	double h = size.width, ffn = size.ffn, up = m->gated_mlp ? 2 : 1;
	double experts = (double)m->moe.experts;
	double copies = serve_spare_experts(c);
	double held = (experts + copies) / c->shape.ep;
	double touched =
		held * touched_share(tokens, experts, (double)m->moe.experts_per_token);
	struct kernel k;

	kernel_experts(c->scenario, rows, up * ffn, h, touched, &k);
	layer_kernel(out, "expert gate and up", 1, &k);
	kernel_experts(c->scenario, rows, h, ffn, touched, &k);
	layer_kernel(out, "expert down", 1, &k);
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
static double moved_bytes(const struct serve_context *c, double tokens, double rows)
{
	const struct model *m = &c->scenario->model;
	double operand = kernel_operand_bytes(c->scenario);
	double h = (double)model_expert_width(m), up = m->gated_mlp ? 2 : 1;
	double ffn = (double)m->moe.expert_ffn / c->shape.etp;

	return 4 * tokens * h + rows * (h * (operand + 2) + ffn * (2 * up + operand));
}

void layer_experts(const struct serve_context *c, double tokens, struct layer_pass *out)
{
	const struct model *m = &c->scenario->model;
	double hidden = (double)m->hidden, h = (double)model_expert_width(m);
	double chosen = (double)m->moe.experts_per_token;
	double all = tokens * (out->copies > 0 ? out->copies : c->shape.dp);
	double busy = busiest_rank(c);
	double rows = all * chosen / c->shape.ep * busy;
	double wide = kernel_operand_bytes(c->scenario) < 2 ? 1.03 : 2;
	struct kernel k;

	/* copies of the busiest experts even out what ranks get */
	if (serve_spare_experts(c) > 0)
		rows = all * chosen / c->shape.ep * (1 + (busy - 1) / 2);
	kernel_gemm(c->scenario, false, tokens, (double)m->moe.experts, hidden, &k);
	layer_kernel(out, "router", 1, &k);
	if (m->moe.expert_latent > 0) {
		kernel_gemm(c->scenario, true, tokens, h, hidden, &k);
		layer_kernel(out, "latent down", 1, &k);
		kernel_gemm(c->scenario, true, tokens, hidden, h, &k);
		layer_kernel(out, "latent up", 1, &k);
	}
	kernel_routing(c->scenario, moved_bytes(c, tokens, rows), &k);
	layer_kernel(out, "routing and combining", 4, &k);
	matrices(c, all, rows, out);
	if (c->shape.dp <= 1)
		return;
	/* attention copies hold different tokens: they travel to the experts and back
	 */
	layer_exchange(c, "dispatch",
		       tokens / c->shape.tp * (c->shape.ep > 1 ? chosen : 1) * h * wide,
		       out);
	layer_exchange(c, "combine",
		       tokens / c->shape.tp * (c->shape.ep > 1 ? chosen : 1) * h * 2,
		       out);
}
