/* build.c - see build.h. */
#include "engine/graph/build.h"

#include <math.h>

#include "engine/base/plain.h"
#include "engine/collective/collective.h"

struct graph_operator *graph_add(struct graph *graph, enum operator_kind kind,
				 const char *name)
{
	struct graph_operator *op;

	/* never: no layer comes near it, whatever the scenario (test_properties.c) */
	if (graph->count == MAX_OPERATORS)
		graph->count--;
	op = &graph->item[graph->count++];
	clear_bytes(op, sizeof *op);
	op->kind = kind;
	op->name = name;
	op->groups = 1;
	return op;
}

static void train_weights(const struct graph_context *c, struct graph_operator *op)
{
	op->trainable = op->weights;
	if (!c->frozen)
		return;
	/* a pair of matrices of that rank beside a frozen one: model_adapters() */
	op->trainable = c->adapter_rank * (op->columns + op->inner);
	op->weights += op->trainable;
	op->weight_grad_flops = 2 * op->rows * op->trainable;
	op->forward_flops += 2 * op->rows * op->trainable;
	op->input_grad_flops += 2 * op->rows * op->trainable;
}

void graph_linear_rate(const struct graph_context *c, double columns, double inner,
		       struct roofline *out)
{
	*out = c->gemm;
	/* tensor cores want rows of 128 bytes (NVIDIA, Matrix Multiplication Background
	 * User's Guide, "Requirements to use Tensor Cores"); narrow outputs are cheap
	 */
	if (columns > 512 && (((int64_t)columns | (int64_t)inner) & 63) != 0)
		out->seconds_per_flop /= c->unaligned_efficiency;
}

/* A grouped GEMM starts one GEMM for each expert of the rank, pads its rows to tiles,
 * and adds weight gradients to sums in fp32. Several streams share the starts. */
static void time_groups(const struct graph_context *c, const struct roofline *rate,
			struct graph_operator *op)
{
	const struct habits *habits = &c->scenario->stack.habits;
	double weights = op->groups * op->columns * op->inner, flops, seconds;

	op->padding_flops = 2 * habits->group_rows * weights;
	op->start_seconds = op->groups * habits->group_start * c->gemm.kernel_seconds;
	op->sum_bytes = 4 * weights;
	flops = op->forward_flops + op->padding_flops;
	seconds = roofline_seconds(rate, flops, op->forward_bytes) + op->start_seconds;
	op->forward_seconds = op->input_grad_seconds = seconds;
	if (c->frozen)
		op->weight_grad_seconds =
			roofline_seconds(rate, op->weight_grad_flops, 0);
	else
		op->weight_grad_seconds =
			roofline_seconds(rate, flops,
					 op->forward_bytes + op->sum_bytes) +
			op->start_seconds;
}

/* Weights of 4 bits are written out in 16 before each product (bitsandbytes,
 * MatMul4Bit: forward and backward dequantise alike). */
static void unpack(const struct graph_context *c, struct graph_operator *op)
{
	double bytes = op->groups * op->columns * op->inner * c->weight_pass;

	op->unpack_bytes = bytes;
	op->forward_seconds += bytes * c->memory.seconds_per_byte;
	op->input_grad_seconds += bytes * c->memory.seconds_per_byte;
}

/* Beside a frozen matrix its adapters' two run with their scaling and a sum, none of
 * which any kernel does in one: output + scale * B(A(input)) reads the input, writes
 * and scales what B gives, and adds it up; backward the gradient is scaled, read by B
 * and written by A, and added to what the matrix gives (peft, tuners/lora/layer.py;
 * Megatron Bridge, peft/lora_layers.py and utils.py, ParallelLinearAdapter). A compiler
 * scales while it adds. */
static void add_adapter(const struct graph_context *c, struct graph_operator *op)
{
	double in = op->rows * op->inner * c->width;
	double out = op->rows * op->columns * c->width;
	double per_byte = c->memory.seconds_per_byte;
	double starts = graph_adapter_kernels * c->memory.kernel_seconds;

	bool fused = c->scenario->plan.compile || c->operator_launches <= 0;

	if (!c->frozen || c->adapter_rank <= 0)
		return;
	op->adapter_bytes = in + (fused ? 4 : 6) * out;
	op->adapter_gradient_bytes = 4 * in + 3 * out;
	op->adapter_weight_bytes = in + out;
	op->forward_seconds += op->adapter_bytes * per_byte + starts;
	op->input_grad_seconds += op->adapter_gradient_bytes * per_byte + starts;
	op->weight_grad_seconds += op->adapter_weight_bytes * per_byte;
}

/* A frozen product keeps no input, its adapter the 16 bits that it is handed. */
double graph_saved_width(const struct graph_context *c)
{
	if (!c->frozen)
		return c->input_width;
	return c->adapter_rank > 0 ? c->width : 0;
}

struct graph_context graph_frozen(const struct graph_context *c)
{
	struct graph_context bare = *c;

	bare.adapter_rank = 0;
	return bare;
}

struct graph_operator *graph_linear(const struct graph_context *c, struct graph *graph,
				    const char *name, double rows, double columns,
				    double inner, double beside, double groups)
{
	struct graph_operator *op = graph_add(
		graph, groups > 1 ? OPERATOR_GROUPED_GEMM : OPERATOR_GEMM, name);
	double flops = 2 * rows * columns * inner;
	double read = rows * inner + groups * columns * inner;

	op->rows = rows;
	op->columns = columns;
	op->inner = inner;
	op->groups = groups;
	op->forward_flops = op->input_grad_flops = op->weight_grad_flops = flops;
	op->weights = groups * (columns * inner + beside);
	train_weights(c, op);
	op->forward_bytes = read * c->operand_width + rows * columns * c->width;
	op->backward_bytes = 2 * op->forward_bytes;
	struct roofline rate;

	graph_linear_rate(c, columns, inner, &rate);
	double per_flop = rate.seconds_per_flop;
	/* the same product turned round twice: as many FLOPs and bytes each time */
	double seconds = roofline_seconds(&rate, op->forward_flops, op->forward_bytes);

	op->forward_seconds =
		seconds + per_flop * roofline_tail_flops(&rate, rows, columns, inner);
	op->input_grad_seconds =
		seconds + per_flop * roofline_tail_flops(&rate, rows, inner, columns);
	op->weight_grad_seconds =
		c->frozen ? roofline_seconds(&rate, op->weight_grad_flops, 0)
			  : seconds + per_flop * roofline_tail_flops(&rate, columns,
								     inner, rows);
	if (groups > 1)
		time_groups(c, &rate, op);
	unpack(c, op);
	add_adapter(c, op);
	graph_quantise(c, graph, op);
	return op;
}

struct graph_operator *graph_memory(const struct graph_context *c, struct graph *graph,
				    enum operator_kind kind, const char *name,
				    double rows, double columns, double forward_bytes,
				    double backward_bytes)
{
	struct graph_operator *op = graph_add(graph, kind, name);

	op->rows = rows;
	op->columns = columns;
	op->forward_bytes = rows * columns * forward_bytes;
	op->backward_bytes = rows * columns * backward_bytes;
	op->forward_seconds = roofline_seconds(&c->memory, 0, op->forward_bytes);
	op->input_grad_seconds = roofline_seconds(&c->memory, 0, op->backward_bytes);
	return op;
}

void graph_own_weights(const struct graph_context *c, const struct shape *shape,
		       struct graph_operator *op)
{
	op->weights = shape->weights;
	op->trainable = c->frozen ? 0 : op->weights;
}

bool graph_norm_by_steps(const struct graph_context *c)
{
	return c->op_by_op && c->scenario->model.norm == NORM_RMS;
}

/* Bytes an element of a norm: forward it reads and writes, backward it reads input and
 * gradient, and writes one. A general layer norm is one kernel, too, and two backward,
 * which read their input twice. */
static void norm_bytes(const struct graph_context *c, double *forward, double *backward)
{
	const struct habits *habits = &c->scenario->stack.habits;

	*forward = 2 * c->width;
	*backward = 4 * c->width;
	if (graph_norm_by_steps(c)) {
		*forward = habits->norm_steps_forward;
		*backward = habits->norm_steps_backward;
	} else if (c->op_by_op ||
		   (c->scenario->stack.general_norms && !c->scenario->plan.compile)) {
		*forward *= habits->norm_forward;
		*backward *= habits->norm_backward;
	}
}

void graph_norm(const struct graph_context *c, struct graph *graph, const char *name,
		double rows, double columns)
{
	double forward, backward;

	norm_bytes(c, &forward, &backward);
	struct graph_operator *op = graph_memory(c, graph, OPERATOR_NORM, name, rows,
						 columns, forward, backward);
	const struct model *m = &c->scenario->model;
	bool fp32 = c->scenario->stack.saves_norm_input_fp32;

	op->weights = model_norm_weights(m);
	op->trainable = c->frozen ? 0 : op->weights;
	op->kept_bytes = rows * columns * (fp32 ? 4 : c->width);
	op->saved_bytes = rows * columns * graph_saved_width(c);
	/* op by op an RMS norm keeps its input and what it scales in fp32, where a
	 * kernel keeps its input (ATen's rms_norm) */
	if (graph_norm_by_steps(c))
		op->saved_bytes += rows * columns * (8 - c->width);
	op->modules = 1u << MODULE_LAYERNORM | 1u << MODULE_PER_OP;
}

/* What a call costs that the graph has already: the two halves of a layer enter and
 * leave alike. */
static bool find_same(const struct graph *graph, enum collective_kind kind,
		      const struct group *group, double payload_bytes,
		      struct collective *out)
{
	for (int i = graph->count - 1; i >= 0; i--) {
		const struct graph_operator *op = &graph->item[i];

		if (op->payload_bytes != payload_bytes || op->group != group ||
		    op->collective != kind)
			continue;
		out->seconds = op->call_seconds;
		out->algorithm = op->algorithm;
		out->call_bytes = op->call_bytes;
		out->remote_bytes = op->remote_bytes;
		out->sent_bytes = op->sent_bytes;
		out->network_bytes = op->network_bytes;
		return true;
	}
	return false;
}

struct graph_operator *graph_call(struct graph *graph, const char *name,
				  enum dimension dimension, enum collective_kind kind,
				  const struct group *group,
				  const struct collective *cost)
{
	struct graph_operator *op = graph_add(graph, OPERATOR_COLLECTIVE, name);

	op->dimension = dimension;
	op->collective = kind;
	op->group = group;
	op->ranks = group->ranks;
	op->algorithm = cost->algorithm;
	op->call_seconds = cost->seconds;
	op->call_bytes = cost->call_bytes;
	op->remote_bytes = cost->remote_bytes;
	op->sent_bytes = cost->sent_bytes;
	op->network_bytes = cost->network_bytes;
	return op;
}

struct graph_operator *graph_collective(const struct graph_context *c,
					struct graph *graph, const char *name,
					enum dimension dimension,
					enum collective_kind kind,
					const struct group *group, double payload_bytes,
					int forward_calls, int backward_calls)
{
	struct graph_operator *op;
	struct collective cost;

	if (group->ranks < 2)
		return NULL;
	if (!find_same(graph, kind, group, payload_bytes, &cost))
		collective_cost(&c->fabric, group, kind, payload_bytes, &cost);
	op = graph_call(graph, name, dimension, kind, group, &cost);
	op->payload_bytes = payload_bytes;
	op->forward_calls = forward_calls;
	op->backward_calls = backward_calls;
	op->forward_seconds = cost.seconds * forward_calls;
	op->input_grad_seconds = cost.seconds * backward_calls;
	return op;
}

void graph_residual(const struct graph_context *c, struct graph *graph)
{
	bool dropout = c->scenario->model.dropout > 0;
	double h = (double)c->scenario->model.hidden;
	/* read both, write one; a mask of one byte where there is dropout */
	struct graph_operator *op = graph_memory(
		c, graph, OPERATOR_ELEMENTWISE, "residual", c->norm_tokens, h,
		3 * c->width + (dropout ? 1 : 0), 2 * c->width + (dropout ? 1 : 0));

	op->kept_bytes = dropout ? c->norm_tokens * h : 0;
	op->modules = 1u << MODULE_PER_OP;
}

static double given(double efficiency)
{
	return efficiency > 0 ? efficiency : 1;
}

double graph_slowest_host(const struct scenario *scenario, const struct mesh *mesh)
{
	return mesh->ep > 1 ? graph_slowest_value((double)mesh->ep,
						  scenario->stack.habits.host_spread)
			    : 1;
}

/* A process that moves between cores and sockets launches slower. */
static double launch_seconds(const struct scenario *scenario, const struct mesh *mesh)
{
	return scenario->cluster.launch_seconds * graph_slowest_host(scenario, mesh) *
	       (scenario->plan.host_binding ? 1 : scenario->stack.habits.unbound_host) *
	       given(scenario->cluster.accelerator.calibration.host_scale);
}

static void set_rates(const struct scenario *scenario, struct graph_context *out)
{
	const struct accelerator *a = &scenario->cluster.accelerator;
	enum precision precision = (enum precision)scenario->plan.precision;
	const struct habits *habits = &scenario->stack.habits;
	double small = habits->small_start;

	roofline_gemm(a, habits, precision, &out->gemm);
	roofline_gemm(a, habits,
		      precision_table[precision].wide ? precision : PRECISION_BF16,
		      &out->head_gemm);
	roofline_memory(a, small, &out->memory);
	out->gemm.kernel_seconds += scenario->stack.kernel_gap_seconds;
	out->head_gemm.kernel_seconds += scenario->stack.kernel_gap_seconds;
	out->memory.kernel_seconds += small * scenario->stack.kernel_gap_seconds;
	out->unaligned_efficiency = given(a->calibration.unaligned_efficiency);
}

/* Frozen weights that no product takes as they are stored are written out before each:
 * bytes that it reads and writes of one. */
static double weight_pass(const struct plan *plan, double width)
{
	if (plan->lora_rank < 1)
		return 0;
	if (plan->frozen_format == FROZEN_NF4)
		return graph_nf4_bytes() + width;
	if (plan->frozen_format == FROZEN_INT4)
		return precision_table[PRECISION_INT4].weight_bytes + width;
	if (plan->frozen_format == FROZEN_NVFP4 && plan->precision != PRECISION_NVFP4)
		return graph_operand_value(PRECISION_NVFP4, 2) + width;
	return 0;
}

void graph_context(const struct scenario *scenario, const struct mesh *mesh,
		   struct graph_context *out)
{
	const struct plan *plan = &scenario->plan;
	enum precision precision = (enum precision)plan->precision;

	clear_bytes(out, sizeof *out);
	out->scenario = scenario;
	out->mesh = mesh;
	set_rates(scenario, out);
	out->tokens =
		(double)plan->micro_batch * (double)plan->seq_len / (double)plan->cp;
	out->norm_tokens = plan->sp ? out->tokens / (double)plan->tp : out->tokens;
	out->width = precision == PRECISION_FP32 ? 4 : 2;
	out->weight_pass = weight_pass(plan, out->width);
	out->op_by_op = !plan->fused_norms && !plan->compile;
	out->frozen = plan->lora_rank > 0;
	out->table_frozen = out->frozen || scenario_freezes(scenario);
	out->head_frozen = out->frozen || scenario_freezes_head(scenario);
	out->adapter_rank = (double)plan->lora_rank;
	graph_set_formats(out);
	out->ffn_copies = plan->compile ? 0 : scenario->stack.saved_ffn_copies;
	out->head_copies = plan->compile ? 0 : scenario->stack.saved_head_copies;
	collective_fabric(scenario, NULL, &out->fabric);
	out->launch_seconds = launch_seconds(scenario, mesh);
	out->operator_launches =
		scenario->stack.operator_launches *
		(plan->compile ? scenario->stack.habits.compiled_launches : 1);
}
