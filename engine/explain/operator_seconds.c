/* operator_seconds.c - the formulas of an operator's seconds. */
#include <string.h>

#include "engine/explain/operator.h"

static void add_rates(const struct asked *a, struct explanation *out, bool small)
{
	explain_from(a, out, "t0", "fixed time of a kernel",
		     small ? "small_kernel_seconds" : "kernel_seconds");
	explain_from(a, out, "bw", "bytes per second that kernels reach",
		     "memory_bytes_per_second");
}

/* Router and experts without a grouped kernel have more to launch. */
static void add_fixed(const struct asked *a, struct explanation *out, bool backward,
		      bool weights)
{
	const struct graph_operator *op = explain_op(a);

	if (op->kind == OPERATOR_ROUTER && !weights) {
		explain_say(out, " + n * ts");
		own(a, out, "n", "small kernels of routing",
		    backward ? "small_backward" : "small_forward");
		explain_from(a, out, "ts", "fixed time of a small kernel",
			     "small_kernel_seconds");
	}
	if (op->expert && !a->scenario->plan.grouped_gemm) {
		explain_say(out, " + (e - 1) * t0");
		own(a, out, "e", "experts, each a kernel", "groups");
	}
}

/* A GEMM leaves the last wave of tiles undone; a grouped one fills up its tiles, and
 * starts each of its matrices. */
static void add_tail(const struct asked *a, struct explanation *out,
		     const char *tail_member)
{
	bool grouped = explain_op(a)->groups > 1;

	explain_say(out, grouped ? " + starts" : " + tail / r");
	if (grouped)
		own(a, out, "starts", "starting each of the matrices", "start_seconds");
	else
		own(a, out, "tail", "FLOPs that the last wave of tiles wastes",
		    tail_member);
}

static void add_grouped(const struct asked *a, struct explanation *out, bool weights)
{
	if (explain_op(a)->groups <= 1)
		return;
	own(a, out, "P", "FLOPs of rows that fill tiles", "padding_flops");
	if (weights)
		own(a, out, "S", "adding up gradients in fp32", "sum_bytes");
}

/* What turning inputs, or gradients of outputs, narrow takes in kernels of its own. */
static void add_quantised(const struct asked *a, struct explanation *out,
			  const char *member)
{
	bool in = member[10] == 'i';

	explain_say(out, in ? " + q / bw" : " + Q / bw");
	if (in)
		return;
	own(a, out, "Q", "converting output gradients to the narrow format", member);
	if (explain_op(a)->draws > 0) {
		explain_say(out, " + D");
		own(a, out, "D", "drawing random numbers", "draw_seconds");
	}
}

/* t0 + ((F/r)^2 + (B/bw)^2)^(1/2) + tail/r + q/bw */
static void linear_terms(const struct asked *a, struct explanation *out,
			 const char *tail_member, const char *quantised)
{
	bool quantises = explain_op(a)->quantise_bytes > 0;
	bool grouped = explain_op(a)->groups > 1, weights = !quantised;
	const char *flops = grouped ? "(F + P)" : "F";
	const char *bytes = grouped && weights ? quantises ? "(B + S - q)" : "(B + S)"
			    : quantises        ? "(B - q)"
					       : "B";

	explain_say(out, "t0 + sqrt(%s / r * %s / r + %s / bw * %s / bw)", flops, flops,
		    bytes, bytes);
	add_rates(a, out, false);
	own(a, out, "F", "FLOPs", "forward_flops");
	own(a, out, "r", "FLOPs per second that it reaches", "flops_per_second");
	own(a, out, "B", "bytes of memory traffic", "forward_bytes");
	add_grouped(a, out, weights);
	if (explain_op(a)->unpack_bytes > 0 && !weights) {
		explain_say(out, " + u / bw");
		own(a, out, "u", "unpacking 4-bit weights", "unpack_bytes");
	}
	add_tail(a, out, tail_member);
	if (quantises)
		own(a, out, "q", "of them, converting inputs to the narrow format",
		    "quantised_in_bytes");
	if (quantises && quantised)
		add_quantised(a, out, quantised);
}

/* What adapters beside a frozen matrix take. */
static void add_adapters(const struct asked *a, struct explanation *out, bool backward)
{
	if (explain_op(a)->adapter_bytes <= 0)
		return;
	explain_say(out, " + A / bw + %d * ta", graph_adapter_kernels);
	own(a, out, "A", "bytes that its adapters move",
	    backward ? "adapter_gradient_bytes" : "adapter_bytes");
	explain_from(a, out, "ta", "fixed time of a small kernel",
		     "small_kernel_seconds");
}

/* A kernel that both computes and reads. */
static void kernel_terms(const struct asked *a, struct explanation *out, bool backward)
{
	bool slower = graph_backward_rate(a->scenario) < 1;

	if (explain_op(a)->kind == OPERATOR_ATTENTION && backward && slower) {
		explain_say(out, "t0 + sqrt(F / (e * r) * F / (e * r) + B / bw * B / "
				 "bw)");
		explain_from(a, out, "e", "rate backward over that forward",
			     "habits.flash_backward");
	} else {
		explain_say(out, "t0 + sqrt(F / r * F / r + B / bw * B / bw)");
	}
	add_rates(a, out, false);
	own(a, out, "F", "FLOPs", backward ? "input_grad_flops" : "forward_flops");
	own(a, out, "r", "FLOPs per second that it reaches", "flops_per_second");
	own(a, out, "B", "bytes of memory traffic",
	    backward ? "backward_bytes" : "forward_bytes");
	if (explain_op(a)->turned_bytes <= 0)
		return;
	explain_say(out, " + n / bw");
	own(a, out, "n", "bytes of converting it to fp8 and back", "turned_bytes");
}

void explain_operator_seconds(const struct asked *a, struct explanation *out,
			      bool backward)
{
	const struct graph_operator *op = explain_op(a);
	double bytes = backward ? op->backward_bytes : op->forward_bytes;

	if (backward && explain_graph(a)->forward_only)
		explain_say(out, "0");
	else if (op->kind == OPERATOR_WAIT && !backward && op->until_seconds > 0) {
		explain_say(out, "T - G");
		own(a, out, "T",
		    "until the layer's kernels, launched from the counts on, are over",
		    "until_seconds");
		own(a, out, "G", "seconds of these kernels", "kernel_seconds");
	} else if (op->kind == OPERATOR_WAIT && !backward) {
		explain_say(out, "o * l");
		explain_from(a, out, "o", "launches of an operator",
			     "stack.operator_launches");
		explain_from(a, out, "l", "CPU time of one", "launch_seconds");
		if (!a->scenario->plan.compile)
			return;
		explain_say(out, " * c");
		explain_from(a, out, "c", "of it, in a compiled layer",
			     "habits.compiled_launches");
	} else if (explain_is_collective(a) || (bytes <= 0 && op->forward_flops <= 0)) {
		explain_say(out, "0");
	} else if (explain_is_linear(a)) {
		linear_terms(a, out, backward ? "input_grad_tail_flops" : "tail_flops",
			     backward ? "quantised_out_bytes" : "quantised_in_bytes");
		add_adapters(a, out, backward);
		add_fixed(a, out, backward, false);
	} else if (op->kind == OPERATOR_ATTENTION || op->kind == OPERATOR_SCAN) {
		kernel_terms(a, out, backward);
	} else {
		explain_say(out, "t0 + B / bw");
		add_rates(a, out, true);
		own(a, out, "B", "bytes of memory traffic",
		    backward ? "backward_bytes" : "forward_bytes");
	}
}

/* The layers' base under adapters, or the head. */
static bool is_frozen(const struct asked *a)
{
	const struct graph_context *c = &explain_step(a)->context;

	return c->frozen ||
	       (c->head_frozen && strcmp(explain_op(a)->name, "head") == 0);
}

void explain_operator_weights(const struct asked *a, struct explanation *out)
{
	if (!explain_is_linear(a) || explain_graph(a)->forward_only) {
		explain_say(out, "0");
		return;
	}
	if (!is_frozen(a)) {
		linear_terms(a, out, "weight_grad_tail_flops", NULL);
		add_fixed(a, out, true, true);
		return;
	}
	if (explain_op(a)->weight_grad_flops <= 0) {
		explain_say(out, "0");
		if (explain_op(a)->expert && !a->scenario->plan.grouped_gemm) {
			out->formula[0] = '\0';
			explain_say(out, "(e - 1) * t0");
			own(a, out, "e", "experts, each a kernel", "groups");
			explain_from(a, out, "t0", "fixed time of a kernel",
				     "kernel_seconds");
		}
		return;
	}
	explain_say(out, "t0 + F / r + A / bw");
	add_rates(a, out, false);
	own(a, out, "A", "bytes that their gradients read", "adapter_weight_bytes");
	own(a, out, "F", "FLOPs of the adapters", "weight_grad_flops");
	own(a, out, "r", "FLOPs per second that it reaches", "flops_per_second");
	add_fixed(a, out, true, true);
}
