/* operator.c - where the seconds and bytes of one operator come from. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/operator.h"

const struct graph_operator *explain_op(const struct asked *a)
{
	return &explain_graph(a)->item[a->op];
}

bool explain_is_collective(const struct asked *a)
{
	return explain_op(a)->kind == OPERATOR_COLLECTIVE;
}

bool explain_is_linear(const struct asked *a)
{
	enum operator_kind kind = explain_op(a)->kind;

	return kind == OPERATOR_GEMM || kind == OPERATOR_GROUPED_GEMM ||
	       kind == OPERATOR_ROUTER;
}

/* Behind the embedding's; around MTP layers the product that joins is no head, and as
 * narrow as a layer's but for fp4. */
static bool is_head(const struct asked *a)
{
	bool joins = a->part == a->scenario->model.kinds + 2 &&
		     strcmp(explain_op(a)->name, "joining") == 0;

	return a->part > a->scenario->model.kinds &&
	       !(joins && a->scenario->plan.precision != PRECISION_NVFP4);
}

static bool is_wide_layer(const struct asked *a)
{
	const struct model *m = &a->scenario->model;

	return a->part < m->kinds && m->kind[a->part].wide;
}

/* The head's and a router's product run in bf16, and nothing of them is quantised; nor
 * of layers that stay wide. */
static bool stays_wide(const struct asked *a)
{
	return is_head(a) || is_wide_layer(a) || explain_op(a)->kind == OPERATOR_ROUTER;
}

static struct graph_context context_of(const struct asked *a)
{
	struct graph_context c = explain_step(a)->context;

	if (stays_wide(a))
		graph_stay_wide(&c);
	return c;
}

const char *explain_part(const struct asked *a, char out[32])
{
	int end = a->part - a->scenario->model.kinds;

	if (end < 0)
		snprintf(out, 32, "kinds.%d", a->part);
	else
		snprintf(out, 32, "%s",
			 end == 0   ? "embedding"
			 : end == 1 ? "head"
				    : "mtp");
	return out;
}

void explain_operator_term(const struct asked *a, struct explanation *out,
			   const char *symbol, const char *meaning, const char *member)
{
	char name[32];

	explain_from(a, out, symbol, meaning, "%s.operators.%d.%s",
		     explain_part(a, name), a->op, member);
}

/* --- values --- */

#define OF(name, expression)                                     \
	static double name(const struct asked *a)                \
	{                                                        \
		const struct graph_operator *op = explain_op(a); \
                                                                 \
		return expression;                               \
	}

OF(computing_forward, explain_is_collective(a) ? 0 : op->forward_seconds)
OF(input_grad, explain_is_collective(a) ? 0 : op->input_grad_seconds)
OF(weight_grad, op->weight_grad_seconds)
OF(recompute, explain_is_collective(a) ? 0 : op->again * op->forward_seconds)
OF(again_flops, explain_is_collective(a) ? 0 : op->again * op->forward_flops)
OF(again, op->again)
OF(dense, op->expert ? 0 : op->weights)
OF(expert, op->expert ? op->weights : 0)
OF(trained_dense, op->expert ? 0 : op->trainable)
OF(trained_expert, op->expert ? op->trainable : 0)
OF(trainable, op->trainable)
OF(groups, op->groups)
OF(padding, op->padding_flops)
OF(starts, op->start_seconds)
OF(sums, op->sum_bytes)
OF(small_forward, op->small_forward)
OF(turned, op->turned_bytes)
OF(unpacked, op->unpack_bytes)
OF(adapted, op->adapter_bytes)
OF(adapted_gradients, op->adapter_gradient_bytes)
OF(adapted_weights, op->adapter_weight_bytes)
OF(small_backward, op->small_backward)
OF(until, op->until_seconds)
OF(waited, op->until_seconds > 0 ? op->forward_seconds : 0)
OF(beside, op->until_seconds - op->forward_seconds)
OF(launches_forward, op->host_forward)
OF(launches_backward, op->host_backward)

static double launching(const struct asked *a, double launches)
{
	return launches * explain_step(a)->context.launch_seconds;
}

VALUE(host_forward, launching(a, explain_op(a)->host_forward))

static double host_backward(const struct asked *a)
{
	const struct graph_operator *op = explain_op(a);

	return launching(a, op->host_backward + op->again * op->host_forward);
}
OF(held, op->held_bytes)
OF(away, op->away_bytes)
OF(passing, op->passing_bytes)
OF(kept, op->kept_bytes)
OF(saved, op->saved_bytes)
OF(whole,
   op->kept_bytes +
	   (explain_is_collective(a) ? 0 : op->saved_bytes / larger(1, op->tiles)))
OF(forward_flops, op->forward_flops)
OF(input_grad_flops, op->input_grad_flops)
OF(weight_grad_flops, op->weight_grad_flops)
OF(forward_bytes, op->forward_bytes)
OF(backward_bytes, op->backward_bytes)
OF(draws, op->draws)
OF(narrow, op->narrow_weights)
OF(rows, op->rows)
OF(columns, op->columns)
OF(inner, op->inner)
OF(forward_calls, op->forward_calls)
OF(backward_calls, op->backward_calls)
/* of what calls nobody 0 */
OF(call, op->forward_calls + op->backward_calls == 0
		 ? 0
		 : (op->forward_seconds + op->input_grad_seconds) /
			   (op->forward_calls + op->backward_calls))

static double quantised_in(const struct asked *a)
{
	return explain_op(a)->rows * explain_op(a)->inner *
	       explain_op(a)->quantise_bytes;
}

static double quantised_out(const struct asked *a)
{
	return explain_op(a)->rows * explain_op(a)->columns *
	       explain_op(a)->quantise_gradient_bytes;
}

VALUE(drawing, explain_op(a)->draws *explain_step(a)->context.memory.kernel_seconds)

static struct roofline rate_of(const struct asked *a)
{
	const struct graph_context c = context_of(a);
	const struct graph_operator *op = explain_op(a);
	struct roofline rate = c.gemm;

	if (explain_is_linear(a))
		graph_linear_rate(&c, op->columns, op->inner, &rate);
	if (op->kind == OPERATOR_ATTENTION)
		graph_attention_rate(&c, &a->scenario->model.kind[a->part], &rate);
	return rate;
}

VALUE(rate, 1 / rate_of(a).seconds_per_flop)

static double tail(const struct asked *a)
{
	struct roofline r = rate_of(a);
	const struct graph_operator *op = explain_op(a);

	return roofline_tail_flops(&r, op->rows, op->columns, op->inner);
}

static double input_grad_tail(const struct asked *a)
{
	struct roofline r = rate_of(a);
	const struct graph_operator *op = explain_op(a);

	return roofline_tail_flops(&r, op->rows, op->inner, op->columns);
}

static double weight_grad_tail(const struct asked *a)
{
	struct roofline r = rate_of(a);
	const struct graph_operator *op = explain_op(a);

	return roofline_tail_flops(&r, op->columns, op->inner, op->rows);
}

/* --- formulas --- */

FILL(forward_terms, explain_operator_seconds(a, out, false))
FILL(input_grad_terms, explain_operator_seconds(a, out, true))

static void again_terms(const struct asked *a, struct explanation *out,
			const char *member)
{
	if (explain_is_collective(a)) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "again * x");
	own(a, out, "again", "share that is recomputed in the backward pass", "again");
	own(a, out, "x", "of a forward", member);
}

FILL(recompute_terms, again_terms(a, out, "forward_seconds"))
FILL(again_flops_terms, again_terms(a, out, "forward_flops"))

static void whole_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, explain_is_collective(a) ? "k" : "k + s");
	own(a, out, "k", "kept whatever is recomputed", "kept_bytes");
	if (explain_is_collective(a))
		return;
	own(a, out, "s", "kept unless it is recomputed", "saved_bytes");
	if (explain_op(a)->tiles > 1) {
		explain_say(out, " / pieces");
		explain_from(a, out, "pieces", "one after the other", "mlp_tiles");
	}
}

static void rate_terms(const struct asked *a, struct explanation *out)
{
	const struct graph_operator *op = explain_op(a);

	if (op->kind == OPERATOR_ATTENTION) {
		explain_attention_rate(a, out);
		return;
	}
	explain_say(out, "r");
	explain_from(a, out, "r", "of a large GEMM",
		     stays_wide(a) ? "head_flops_per_second" : "gemm_flops_per_second");
	if (explain_is_linear(a) && op->columns > 512 &&
	    (((int64_t)op->columns | (int64_t)op->inner) & 63) != 0) {
		explain_say(out, " * odd");
		explain_from(a, out, "odd", "share of it with widths that tiles miss",
			     "unaligned_efficiency");
	}
}

static void gemm_flops_terms(const struct asked *a, struct explanation *out)
{
	const struct graph_operator *op = explain_op(a);
	double plain = 2 * op->rows * op->columns * op->inner;

	if (!explain_is_linear(a)) {
		explain_say(out, "F");
		own(a, out, "F", "counted by the graph", "counted_flops");
		return;
	}
	explain_say(out, "2 * M * N * K");
	own(a, out, "M", "rows", "rows");
	own(a, out, "N", "columns", "columns");
	own(a, out, "K", "inner", "inner");
	if (op->forward_flops <= plain)
		return;
	explain_say(out, " + 2 * M * T");
	own(a, out, "T", "weights of the adapter", "trainable");
}

static void gemm_bytes_terms(const struct asked *a, struct explanation *out)
{
	bool quantises = explain_is_linear(a) && explain_op(a)->quantise_bytes > 0;

	if (!explain_is_linear(a)) {
		explain_say(out, "B");
		own(a, out, "B", "counted by the graph", "counted_bytes");
		return;
	}
	explain_say(out, quantises ? "(M * K + e * K * N) * wo + M * N * w + q"
				   : "(M * K + e * K * N) * wo + M * N * w");
	explain_from(a, out, "wo", "bytes of what it reads",
		     stays_wide(a) ? "activation_width" : "operand_width");
	own(a, out, "M", "rows", "rows");
	own(a, out, "N", "columns", "columns");
	own(a, out, "K", "inner", "inner");
	own(a, out, "e", "matrices", "groups");
	explain_from(a, out, "w", "bytes of an activation", "activation_width");
	if (quantises)
		own(a, out, "q", "turning inputs narrow", "quantised_in_bytes");
}

static void padding_terms(const struct asked *a, struct explanation *out)
{
	if (explain_op(a)->padding_flops <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "2 * rows * e * N * K");
	explain_from(a, out, "rows", "that pad each expert's", "habits.group_rows");
	own(a, out, "e", "matrices", "groups");
	own(a, out, "N", "columns", "columns");
	own(a, out, "K", "inner", "inner");
}

static void start_terms(const struct asked *a, struct explanation *out)
{
	if (explain_op(a)->start_seconds <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "e * share * t0");
	own(a, out, "e", "matrices", "groups");
	explain_from(a, out, "share", "of a lone GEMM's start", "habits.group_start");
	explain_from(a, out, "t0", "fixed time of a kernel", "kernel_seconds");
}

#define DRAWN(name, words, unit, of)                                                   \
	{                                                                              \
		.row.key = name, .row.title = words, .form = unit, .value = of,        \
		.row.formula = EXPLAIN_COUNTED, .row.assumption = drawn,               \
		.row.source = "the operators of a layer, as the view Graph lists them" \
	}

static const char drawn[] =
	"Drawn by the graph of model and plan; see Graph for every operator.";
static const char roofline[] =
	"The larger of compute and memory time, more where they are equal; for a "
	"GEMM, plus part of a wave of tiles.";
const struct explain_node explain_operator[] = {
	NODE("forward_seconds", "A forward of an operator", FORM_SECONDS,
	     computing_forward, forward_terms, NULL, roofline),
	NODE("input_grad_seconds", "Its input's gradient", FORM_SECONDS, input_grad,
	     input_grad_terms, NULL, roofline),
	NODE("weight_grad_seconds", "Its weights' gradient", FORM_SECONDS, weight_grad,
	     explain_operator_weights, NULL, roofline),
	NODE("recompute_seconds", "Computed again", FORM_SECONDS, recompute,
	     recompute_terms, NULL, "Where its module is recomputed."),
	NODE("again_flops", "FLOPs computed again", FORM_FLOPS, again_flops,
	     again_flops_terms, NULL, "Where its module is recomputed."),
	NODE("whole_bytes", "All tensors of an operator", FORM_BYTES, whole,
	     whole_terms, NULL, "Nothing recomputed."),
	NODE("flops_per_second", "FLOPs per second of an operator", FORM_SPEED, rate,
	     rate_terms, NULL, "Measured shares of the data sheet's rate."),
	NODE("forward_flops", "FLOPs of a forward", FORM_FLOPS, forward_flops,
	     gemm_flops_terms, NULL, "A multiplication and an addition are two."),
	NODE("forward_bytes", "Memory traffic of a forward", FORM_TRAFFIC,
	     forward_bytes, gemm_bytes_terms, NULL,
	     "Inputs and weights are read, outputs written, once each."),
	DRAWN("counted_flops", "FLOPs of a forward", FORM_FLOPS, forward_flops),
	DRAWN("counted_bytes", "Memory traffic of a forward", FORM_TRAFFIC,
	      forward_bytes),
	DRAWN("input_grad_flops", "FLOPs of a backward", FORM_FLOPS, input_grad_flops),
	DRAWN("weight_grad_flops", "FLOPs of the weights' gradient", FORM_FLOPS,
	      weight_grad_flops),
	DRAWN("passing_bytes", "Of other ranks while it runs", FORM_BYTES, passing),
	DRAWN("backward_bytes", "Memory traffic of a backward", FORM_TRAFFIC,
	      backward_bytes),
	DRAWN("rows", "Rows", FORM_COUNT, rows),
	DRAWN("columns", "Columns", FORM_COUNT, columns),
	DRAWN("inner", "Inner dimension", FORM_COUNT, inner),
	DRAWN("groups", "Matrices", FORM_COUNT, groups),
	NODE("padding_flops", "Rows that fill tiles", FORM_FLOPS, padding,
	     padding_terms, NULL, "A tile is filled for every expert."),
	NODE("start_seconds", "Starting its matrices", FORM_SECONDS, starts,
	     start_terms, NULL, "Several streams share the starts."),
	DRAWN("until_seconds", "From the counts to the layer's last kernel",
	      FORM_SECONDS, until),
	DRAWN("wait_forward", "Waiting for launches", FORM_SECONDS, waited),
	DRAWN("kernel_seconds", "Kernels of the layer's forward", FORM_SECONDS, beside),
	NODE_OF("host_forward", "Launching a forward", FORM_SECONDS, host_forward,
		"n * l", "Time of the CPU.", { "n", "launches", ".launches_forward" },
		{ "l", "CPU time of one", "launch_seconds" }),
	NODE_OF("host_backward", "Launching a backward", FORM_SECONDS, host_backward,
		"(n + again * f) * l", "Time of the CPU.",
		{ "n", "launches", ".launches_backward" },
		{ "again", "share that is recomputed in the backward pass", ".again" },
		{ "f", "launches of a forward", ".launches_forward" },
		{ "l", "CPU time of one", "launch_seconds" }),
	DRAWN("launches_forward", "Launches of a forward", FORM_REAL, launches_forward),
	DRAWN("launches_backward", "Launches of a backward", FORM_REAL,
	      launches_backward),
	DRAWN("unpack_bytes", "Unpacking 4-bit weights", FORM_TRAFFIC, unpacked),
	DRAWN("turned_bytes", "Converting attention to fp8 and back", FORM_TRAFFIC,
	      turned),
	DRAWN("adapter_bytes", "What adapters move", FORM_TRAFFIC, adapted),
	DRAWN("adapter_gradient_bytes", "What adapters move backward", FORM_TRAFFIC,
	      adapted_gradients),
	DRAWN("adapter_weight_bytes", "What adapters' gradients read", FORM_TRAFFIC,
	      adapted_weights),
	DRAWN("small_forward", "Small kernels of routing", FORM_COUNT, small_forward),
	DRAWN("small_backward", "Small kernels of its backward", FORM_COUNT,
	      small_backward),
	DRAWN("sum_bytes", "Adding gradients in fp32", FORM_TRAFFIC, sums),
	DRAWN("tail_flops", "Tail of a forward", FORM_FLOPS, tail),
	DRAWN("input_grad_tail_flops", "Tail of a backward", FORM_FLOPS,
	      input_grad_tail),
	DRAWN("weight_grad_tail_flops", "Tail of the weights' gradient", FORM_FLOPS,
	      weight_grad_tail),
	DRAWN("quantised_in_bytes", "Turning inputs narrow", FORM_TRAFFIC,
	      quantised_in),
	DRAWN("quantised_out_bytes", "Turning gradients narrow", FORM_TRAFFIC,
	      quantised_out),
	NODE_OF("draw_seconds", "Drawing random numbers", FORM_SECONDS, drawing,
		"n * ts", "A kernel of one thread for each gradient.",
		{ "n", "tensors that are rounded at random", ".draws" },
		{ "ts", "fixed time of a small kernel", "small_kernel_seconds" }),
	DRAWN("draws", "Tensors with random numbers", FORM_COUNT, draws),
	DRAWN("narrow_weights", "Weights that turn narrow", FORM_COUNT, narrow),
	DRAWN("dense_parameters", "Dense weights", FORM_COUNT, dense),
	DRAWN("expert_parameters", "Expert weights", FORM_COUNT, expert),
	DRAWN("trained_dense", "Dense weights that train", FORM_COUNT, trained_dense),
	DRAWN("trained_experts", "Expert weights that train", FORM_COUNT,
	      trained_expert),
	DRAWN("trainable", "Weights that train", FORM_COUNT, trainable),
	DRAWN("again", "Share that runs again", FORM_PERCENT, again),
	DRAWN("held_bytes", "Held from forward to backward", FORM_BYTES, held),
	DRAWN("away_bytes", "Sent to the host by name", FORM_BYTES, away),
	DRAWN("kept_bytes", "Kept whatever is recomputed", FORM_BYTES, kept),
	DRAWN("saved_bytes", "Kept unless it is recomputed", FORM_BYTES, saved),
	DRAWN("forward_calls", "Calls in a forward", FORM_COUNT, forward_calls),
	DRAWN("backward_calls", "Calls in a backward", FORM_COUNT, backward_calls),
	{ .row.key = "call_seconds",
	  .row.title = "One call",
	  .form = FORM_SECONDS,
	  .value = call,
	  .row.fill = explain_operator_call,
	  .row.assumption = "Priced by its bytes, group and links; see Traffic.",
	  .row.source = EXPLAIN_LINK_SOURCE },
	{ .row.key = NULL },
};
