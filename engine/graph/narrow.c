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
static double quantise_alone_bytes(const struct plan *plan)
{
	return graph_narrow_alone_value(plan->precision, plan->fp8_recipe,
					plan->compile);
}

/* Traffic per input element of an fp8 GEMM. Where the kernel before it writes fp8 and a
 * transposed copy in place of bf16 nothing is added, a kernel of its own reads two
 * bytes and writes two: the habit lies between. */
static double quantise_bytes(const struct scenario *scenario)
{
	const struct plan *plan = &scenario->plan;

	if (precision_table[plan->precision].wide)
		return 0;
	if (plan->precision == PRECISION_NVFP4)
		return quantise_alone_bytes(plan) - (plan->fp4_rotation ? 0 : 2);
	if (plan->precision == PRECISION_FP8 && plan->fp8_recipe == FP8_ROWWISE)
		return quantise_alone_bytes(plan);
	return scenario->stack.habits.quantise_bytes;
}

double graph_weight_traffic(const struct plan *plan)
{
	return graph_narrow_weight_value(quantise_alone_bytes(plan), plan->precision,
					 plan->weight_format, plan->fp4_squares,
					 (double)plan->zero);
}

static bool is_tensorwise(const struct plan *plan)
{
	return plan->precision == PRECISION_FP8 &&
	       (plan->fp8_recipe == FP8_DELAYED ||
		plan->fp8_recipe == FP8_CURRENT_SCALING);
}

/* Layouts in which an operand is kept: both, but for one scale a tensor where the
 * accelerator multiplies any, as those that have mxfp8 do
 * (is_non_tn_fp8_gemm_supported() of pytorch/utils.py). */
static double layouts_of(const struct graph_context *c)
{
	const struct accelerator *a = &c->scenario->cluster.accelerator;

	return is_tensorwise(&c->scenario->plan) && a->peak_flops[PRECISION_MXFP8] > 0
		       ? 1
		       : 2;
}

/* Transformer Engine quantises a weight with the first micro-batch and keeps what comes
 * out (pytorch/module/base.py, get_weight_workspace()). Whatever shards weights lets go
 * of them behind a layer. */
static double weight_copy_bytes(const struct graph_context *c)
{
	const struct plan *plan = &c->scenario->plan;

	if (plan->weight_format != WEIGHTS_BOTH ||
	    precision_table[plan->precision].wide || plan->zero == 3)
		return 0;
	return layouts_of(c) * c->operand_width;
}

/* With SP Transformer Engine turns narrow what a rank has of a product's input, and of
 * its output's gradient, and gathers that (pytorch/distributed.py,
 * gather_along_first_dim; pytorch/module/base.py, grad_output_preprocess), torchao what
 * has one scale a tensor (torchao/float8/float8_tensor_parallel.py). Scales per row lie
 * across what is gathered. */
static bool gathers_narrow(const struct graph_context *c)
{
	const struct plan *plan = &c->scenario->plan;
	bool fp8 = plan->precision == PRECISION_FP8;

	if (!plan->sp || precision_table[plan->precision].wide ||
	    (fp8 && plan->fp8_recipe == FP8_ROWWISE))
		return false;
	return is_tensorwise(plan) ? c->scenario->stack.gathers_fp8
				   : c->scenario->stack.gathers_blocks;
}

/* An input is gathered in the layout of the product at hand, a gradient at once in
 * those of both; one scale a tensor needs one, of which the other is made. */
static void set_gathered(struct graph_context *out)
{
	const struct plan *plan = &out->scenario->plan;
	bool both = !is_tensorwise(plan) && !out->frozen;

	out->gathered_width = out->gathered_gradient_width = out->width;
	out->gathered_turn = 0;
	if (!gathers_narrow(out))
		return;
	out->gathered_width = out->operand_width;
	out->gathered_gradient_width = (both ? 2 : 1) * out->operand_width;
	/* what is scaled along the sequence lies the other way round, and part by part;
	 * but mxfp8's (the same file: _create_transpose, swap_first_dims) */
	if (!out->frozen && plan->precision != PRECISION_MXFP8 && layouts_of(out) > 1)
		out->gathered_turn = 2 * out->operand_width;
}

void graph_set_formats(struct graph_context *out)
{
	const struct plan *plan = &out->scenario->plan;
	enum precision precision = (enum precision)plan->precision;

	out->input_width = input_width(out->scenario, out->width);
	out->operand_width = operand_width(precision, out->width);
	out->quantise_bytes = quantise_bytes(out->scenario);
	out->quantise_alone_bytes = quantise_alone_bytes(plan);
	out->quantise_gradient_bytes = precision == PRECISION_NVFP4
					       ? out->quantise_alone_bytes
					       : out->quantise_bytes;
	out->quantise_weight_bytes = graph_weight_traffic(plan);
	out->weight_copy_bytes = weight_copy_bytes(out);
	set_gathered(out);
}

void graph_stay_wide(struct graph_context *context)
{
	context->gemm = context->head_gemm;
	context->quantise_bytes = context->quantise_alone_bytes = 0;
	context->operand_width = context->input_width = context->width;
	context->gathered_width = context->gathered_gradient_width = context->width;
	context->gathered_turn = 0;
}

static bool rounds_at_random(const struct plan *plan)
{
	return plan->precision == PRECISION_NVFP4 && plan->fp4_rounding;
}

/* Traffic per element of what a norm hands to a GEMM. It writes fp8 where the scale is
 * that of the step before. Else it writes 16 bits, with their maximum where one scale
 * of this step is asked for, and a kernel of its own reads them and writes the layouts;
 * with scales per 32 elements too, but for cuDNN's norm, which is not the default
 * (NVIDIA/TransformerEngine@d0067d0, pytorch/csrc/extensions/normalization.cpp,
 * FUSED_NORM_AMAX_FP8 and UNFUSED). A compiler joins the two. 0: as elsewhere. */
static double behind_norm_bytes(const struct graph_context *c, double layouts)
{
	const struct plan *plan = &c->scenario->plan;

	if (plan->compile ||
	    (plan->precision == PRECISION_FP8 &&
	     (plan->fp8_recipe == FP8_DELAYED || plan->fp8_recipe == FP8_ROWWISE)))
		return 0;
	if (plan->precision != PRECISION_FP8 && plan->precision != PRECISION_MXFP8)
		return 0;
	/* torchao's casts were not read */
	if (!c->scenario->stack.saves_fp8_inputs &&
	    !(plan->precision == PRECISION_FP8 && plan->fp8_recipe == FP8_BLOCKWISE))
		return 0;
	return 2 + layouts * c->operand_width;
}

/* Collectives may stand between: what they gather is the norm's. */
static bool reads_norm(const struct graph *graph, const struct graph_operator *op)
{
	const struct graph_operator *before = op;

	while (before > graph->item && before[-1].kind == OPERATOR_COLLECTIVE)
		before--;
	return before > graph->item && before[-1].kind == OPERATOR_NORM;
}

/* A copy may stand between, too, of what one of them gathered. */
static bool reads_gathered(const struct graph *graph, const struct graph_operator *op)
{
	const struct graph_operator *before = op;

	while (before > graph->item && (before[-1].kind == OPERATOR_COLLECTIVE ||
					before[-1].kind == OPERATOR_ELEMENTWISE)) {
		before--;
		if (before->narrow && before->forward_calls > 0)
			return true;
	}
	return false;
}

/* What TP gathers narrow each rank turns narrow for its part of the rows alone. */
static double gathered_bytes(const struct graph_context *c, double each)
{
	return each / (double)c->mesh->tp_group.ranks + c->gathered_turn;
}

void graph_gradient_gathered(const struct graph_context *c, struct graph *graph)
{
	struct graph_operator *op = &graph->item[graph->count - 1];
	double each, more;

	/* adapters' collectives may stand between */
	while (op > graph->item && op->kind == OPERATOR_COLLECTIVE)
		op--;
	if (op->kind != OPERATOR_GEMM || op->quantise_gradient_bytes <= 0)
		return;
	each = gathered_bytes(c, op->quantise_gradient_bytes);
	more = op->rows * op->columns * (each - op->quantise_gradient_bytes);
	op->quantise_gradient_bytes = each;
	op->backward_bytes += more;
	op->input_grad_seconds += more * c->memory.seconds_per_byte;
}

/* Bytes of an input element in kernels that turn it narrow. */
static double input_bytes(const struct graph_context *c, const struct graph *graph,
			  const struct graph_operator *op)
{
	bool gathered = reads_gathered(graph, op),
	     one = is_tensorwise(&c->scenario->plan);
	double behind = 0;

	if (op->groups > 1)
		return c->quantise_alone_bytes;
	/* of one scale a tensor the other layout is made of what was gathered */
	if (c->quantise_bytes > 0 && reads_norm(graph, op))
		behind = behind_norm_bytes(c, gathered && one ? 1 : layouts_of(c));
	if (behind <= 0)
		behind = c->quantise_bytes;
	return gathered ? gathered_bytes(c, behind) : behind;
}

/* Inputs, and the gradients of outputs, turn to fp8 or fp4 in kernels of their own;
 * nothing before a grouped GEMM, a permutation or an activation, writes them narrow.
 * Random rounding takes its seed from a kernel of one thread for each tensor. */
void graph_quantise(const struct graph_context *c, const struct graph *graph,
		    struct graph_operator *op)
{
	bool alone = op->groups > 1;
	double each = input_bytes(c, graph, op);
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
