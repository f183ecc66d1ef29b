/* narrow.c - number formats: what turns to fp8 or fp4, and what that moves. */
#include "engine/base/plain.h"
#include "engine/graph/build.h"

static double operand_width(enum precision precision, double width)
{
	return graph_operand_value(precision, width);
}

/* Transformer Engine keeps the transposed copy that it quantised anyway. */
static double input_width(const struct scenario *scenario, double width)
{
	return scenario->stack.saves_fp8_inputs
		       ? operand_width((enum precision)scenario->plan.precision, width)
		       : width;
}

/* NVFP4 in Transformer Engine: one kernel reads two bytes and writes half a byte and a
 * scale's sixteenth in two layouts, of which the second is rotated for the weight
 * gradient where it is. The maximum of the whole tensor comes before: of what a norm or
 * an activation wrote their own kernels find it, of anything else, and of what is
 * rotated, a pass that reads two bytes more (TransformerEngine@d0067d0,
 * pytorch/csrc/quantizer.cpp, NVFP4Quantizer::quantize_impl, and normalization.cpp,
 * FUSED_NORM_AMAX_NVFP4). */
static const double fp4_alone_bytes = 2 + 2 + 2 * (0.5 + 1.0 / 16);

/* Traffic per input element of an fp8 GEMM. Where the kernel before it writes fp8 and a
 * transposed copy in place of bf16 nothing is added, a kernel of its own reads two
 * bytes and writes two: fits of TE's recipes meet 1 to 2 bytes. Scales per row need
 * every matrix in two layouts with a pass for the maxima of each: 2 + 2 + 1, twice, and
 * the transposing copy. */
static double quantise_bytes(const struct plan *plan)
{
	if (plan->precision < PRECISION_FP8)
		return 0;
	if (plan->precision == PRECISION_NVFP4)
		return plan->fp4_rotation ? fp4_alone_bytes : fp4_alone_bytes - 2;
	if (plan->precision == PRECISION_FP8 && plan->fp8_recipe == FP8_ROWWISE)
		return plan->compile ? 10 : 14;
	return 1.5;
}

/* In a kernel of its own: two bytes are read and two written, and read once more for a
 * maximum that is not that of the step before. */
static double quantise_alone_bytes(const struct plan *plan)
{
	double fused = quantise_bytes(plan);

	if (plan->precision == PRECISION_NVFP4)
		return fp4_alone_bytes;
	if (plan->precision == PRECISION_FP8 && plan->fp8_recipe == FP8_CURRENT_SCALING)
		return 6;
	return fused > 0 ? larger(fused, 4) : 0;
}

/* Of a weight, once a step: its copies serve all micro-batches (Transformer Engine's
 * weight workspaces, is_first_microbatch). Scales in squares come out in the order that
 * the GEMM reads, others are read and written once more in each layout
 * (nvfp4_emits_gemm_swizzled_scales() of the same file). What is stored in fp8 is
 * written so by the optimizer, in place of 16 bits. */
double graph_weight_traffic(const struct plan *plan)
{
	if (plan->precision < PRECISION_FP8 || plan->weight_format == WEIGHTS_FP8)
		return 0;
	if (plan->precision == PRECISION_NVFP4)
		return fp4_alone_bytes + (plan->fp4_squares ? 0 : 4.0 / 16);
	return quantise_alone_bytes(plan);
}

void graph_set_formats(struct graph_context *out)
{
	const struct plan *plan = &out->scenario->plan;
	enum precision precision = (enum precision)plan->precision;

	out->input_width = input_width(out->scenario, out->width);
	out->operand_width = operand_width(precision, out->width);
	out->quantise_bytes = quantise_bytes(plan);
	out->quantise_alone_bytes = quantise_alone_bytes(plan);
	out->quantise_gradient_bytes = precision == PRECISION_NVFP4
					       ? out->quantise_alone_bytes
					       : out->quantise_bytes;
	out->quantise_weight_bytes = graph_weight_traffic(plan);
}

void graph_stay_wide(struct graph_context *context)
{
	context->gemm = context->head_gemm;
	context->quantise_bytes = context->quantise_alone_bytes = 0;
	context->operand_width = context->input_width = context->width;
}

static bool rounds_at_random(const struct plan *plan)
{
	return plan->precision == PRECISION_NVFP4 && plan->fp4_rounding;
}

/* Inputs, and the gradients of outputs, turn to fp8 or fp4 in kernels of their own;
 * nothing before a grouped GEMM, a permutation or an activation, writes them narrow.
 * Random rounding takes its seed from a kernel of one thread for each tensor. */
void graph_quantise(const struct graph_context *c, struct graph_operator *op)
{
	bool alone = op->groups > 1;
	double each = alone ? c->quantise_alone_bytes : c->quantise_bytes;
	double back = alone ? c->quantise_alone_bytes : c->quantise_gradient_bytes;
	double in = op->rows * op->inner * each, out = op->rows * op->columns * back;

	if (each <= 0)
		return;
	op->quantise_bytes = each;
	op->quantise_gradient_bytes = back;
	op->narrow_weights = c->frozen ? 0 : op->groups * op->columns * op->inner;
	op->draws = rounds_at_random(&c->scenario->plan) ? op->groups : 0;
	op->forward_bytes += in;
	op->backward_bytes += out;
	op->forward_seconds += in * c->memory.seconds_per_byte;
	op->input_grad_seconds +=
		out * c->memory.seconds_per_byte + op->draws * c->memory.kernel_seconds;
}
