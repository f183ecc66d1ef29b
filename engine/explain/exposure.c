/* exposure.c - what of a collective inside a layer nothing hides. */
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/operator.h"

static void of_part(const struct asked *a, struct explanation *out, const char *symbol,
		    const char *meaning, const char *member)
{
	char name[32];

	explain_from(a, out, symbol, meaning, "%s.%s", explain_part(a, name), member);
}

#define OF(name, expression)                                     \
	static double name(const struct asked *a)                \
	{                                                        \
		const struct graph_operator *op = explain_op(a); \
                                                                 \
		return expression;                               \
	}

OF(exposed_forward, op->exposed_forward)
OF(exposed_backward, op->exposed_backward + op->again * op->exposed_forward)
OF(hides, op->overlaps && op->dimension == DIM_EP)
OF(alone_forward, hides(a) > 0 ? op->forward_seconds - op->exposed_forward : 0)
OF(alone_backward,
   hides(a) > 0 ? op->input_grad_seconds - op->exposed_backward +
			  op->again * (op->forward_seconds - op->exposed_forward)
		: 0)
/* A kernel calls nobody. */
OF(call_forward, explain_is_collective(a) ? op->forward_seconds : 0)
OF(call_backward, explain_is_collective(a) ? op->input_grad_seconds : 0)

/* Attention beside a ring: " - A1 - A2". */
static void ring_terms(const struct asked *a, struct explanation *out, bool backward)
{
	const struct graph *graph = explain_graph(a);
	int attentions = 0;

	for (int i = 0; i < graph->count; i++) {
		struct asked other = *a;
		char symbol[16];

		if (graph->item[i].kind != OPERATOR_ATTENTION)
			continue;
		other.op = i;
		snprintf(symbol, sizeof symbol, "A%d", ++attentions);
		explain_say(out, " - %s", symbol);
		explain_operator_term(&other, out, symbol, "attention beside it",
				      backward ? "input_grad_seconds"
					       : "forward_seconds");
	}
}

/* Computing of another micro-batch beside an all-to-all. */
static void batch_terms(const struct asked *a, struct explanation *out, bool backward)
{
	explain_say(out, backward ? " - (b + w) / 2 * o" : " - f / 2 * o");
	if (backward) {
		of_part(a, out, "b", "gradients of inputs", "input_grad_seconds");
		of_part(a, out, "w", "gradients of weights", "weight_grad_seconds");
	} else {
		of_part(a, out, "f", "computing of the layer", "forward_seconds");
	}
	explain_from(a, out, "o", "share that the stack hides", "stack.ep_overlap");
}

/* Shared experts beside an exchange of routed ones: " - (S1 + S2) * o". */
static void shared_terms(const struct asked *a, struct explanation *out, bool backward)
{
	const struct graph *graph = explain_graph(a);
	int parts = 0;

	for (int i = 0; i < graph->count; i++) {
		struct asked other = *a;
		char symbol[16];

		if (!graph_hides_exchange(explain_op(a), &graph->item[i]))
			continue;
		other.op = i;
		snprintf(symbol, sizeof symbol, "S%d", ++parts);
		explain_say(out, parts > 1 ? " + %s" : " - o * (%s", symbol);
		explain_operator_term(
			&other, out, symbol, "of the shared experts beside it",
			backward ? "input_grad_seconds" : "forward_seconds");
		if (!backward || graph->item[i].weight_grad_seconds <= 0)
			continue;
		snprintf(symbol, sizeof symbol, "W%d", parts);
		explain_say(out, " + %s", symbol);
		explain_operator_term(&other, out, symbol, "of their weights' gradient",
				      "weight_grad_seconds");
	}
	if (parts == 0)
		return;
	explain_say(out, ")");
	explain_from(a, out, "o", "share that the stack hides", "stack.ep_overlap");
}

/* Of the GEMM behind it. */
static void add_behind(const struct asked *a, struct explanation *out,
		       const char *symbol, const char *meaning, const char *key)
{
	const struct graph *graph = explain_graph(a);
	struct asked other = *a;

	for (int i = a->op + 1; i < graph->count; i++) {
		if (graph->item[i].kind != OPERATOR_GEMM &&
		    graph->item[i].kind != OPERATOR_GROUPED_GEMM)
			continue;
		other.op = i;
		explain_operator_term(&other, out, symbol, meaning, key);
		return;
	}
}

/* What a product, a ring, another micro-batch or shared experts hide. */
static void overlap_terms(const struct asked *a, struct explanation *out, bool backward)
{
	enum dimension dimension = explain_op(a)->dimension;

	own(a, out, "t", "of its calls", backward ? "call_backward" : "call_forward");
	explain_say(out, "max(0, t");
	if (dimension == DIM_TP) {
		explain_say(out, " - D");
		add_behind(a, out, "D", "input gradient of the GEMM behind it",
			   "input_grad_seconds");
	}
	if (dimension == DIM_CP)
		ring_terms(a, out, backward);
	if (explain_op(a)->beside_shared)
		shared_terms(a, out, backward);
	else if (dimension == DIM_EP)
		batch_terms(a, out, backward);
	explain_say(out, ")");
}

static bool hides_share(const struct asked *a)
{
	return graph_in_pieces(&a->scenario->plan, explain_op(a));
}

static void exposed_forward_terms(const struct asked *a, struct explanation *out)
{
	if (!explain_is_collective(a) || explain_op(a)->forward_calls == 0) {
		explain_say(out, "0");
		return;
	}
	if (explain_op(a)->overlaps || explain_op(a)->beside_shared) {
		overlap_terms(a, out, false);
		return;
	}
	explain_say(out, hides_share(a) ? "t * (1 - o)" : "t");
	own(a, out, "t", "of its calls", "call_forward");
	if (hides_share(a))
		explain_from(a, out, "o", "share that overlap hides",
			     "stack.tp_overlap");
}

static void exposed_backward_terms(const struct asked *a, struct explanation *out)
{
	const struct graph_operator *op = explain_op(a);

	if (!explain_is_collective(a)) {
		explain_say(out, "0");
		return;
	}
	if (op->overlaps || op->beside_shared) {
		overlap_terms(a, out, true);
	} else if (op->backward_calls == 0) {
		explain_say(out, "0");
	} else {
		explain_say(out, hides_share(a) ? "max(0, t * (1 - o)" : "max(0, t");
		own(a, out, "t", "of its calls", "call_backward");
		if (hides_share(a))
			explain_from(a, out, "o", "share that overlap hides",
				     "stack.tp_overlap");
		if (op->beside_weight_grad) {
			explain_say(out, " - g * W");
			add_behind(a, out, "W", "weight gradient of the GEMM behind it",
				   "weight_grad_seconds");
			explain_from(a, out, "g", "share of it that hides traffic",
				     "stack.tp_grad_overlap");
		}
		explain_say(out, ")");
	}
	if (op->again <= 0)
		return;
	explain_say(out, " + again * x");
	own(a, out, "again", "share that is recomputed in the backward pass", "again");
	own(a, out, "x", "exposed in a forward", "exposed_forward");
}

static void alone_forward_terms(const struct asked *a, struct explanation *out)
{
	if (hides(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "t - x");
	own(a, out, "t", "of its calls", "call_forward");
	own(a, out, "x", "exposed even so", "exposed_forward");
}

static void alone_backward_terms(const struct asked *a, struct explanation *out)
{
	if (hides(a) <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "t - x + again * f");
	own(a, out, "t", "of its calls", "call_backward");
	own(a, out, "x", "exposed even so", "exposed_backward");
	own(a, out, "again", "share that is recomputed in the backward pass", "again");
	own(a, out, "f", "calls of a forward", "call_forward");
}

#define DRAWN(name, words, unit, of)                                                   \
	{                                                                              \
		.row.key = name, .row.title = words, .form = unit, .value = of,        \
		.row.assumption = drawn,                                               \
		.row.source = "the operators of a layer, as the view Graph lists them" \
	}

static const char sharing[] =
	"The part that overlapping operators hide is not exposed.";

const struct explain_node explain_exposure[] = {
	NODE("exposed_forward", "Exposed in a forward", FORM_SECONDS, exposed_forward,
	     exposed_forward_terms, NULL, sharing),
	NODE("exposed_backward", "Exposed in a backward", FORM_SECONDS,
	     exposed_backward, exposed_backward_terms, NULL, sharing),
	NODE("alone_forward", "Of an unpaired forward", FORM_SECONDS, alone_forward,
	     alone_forward_terms, NULL, sharing),
	NODE("alone_backward", "Of an unpaired backward", FORM_SECONDS, alone_backward,
	     alone_backward_terms, NULL, sharing),
	NODE_OF("call_forward", "Calls of a forward", FORM_SECONDS, call_forward,
		"n * t", "Each takes as long.", { "n", "calls", ".forward_calls" },
		{ "t", "of one", ".call_seconds" }),
	NODE_OF("call_backward", "Calls of a backward", FORM_SECONDS, call_backward,
		"n * t", "Each takes as long.", { "n", "calls", ".backward_calls" },
		{ "t", "of one", ".call_seconds" }),
	{ .row.key = NULL },
};
