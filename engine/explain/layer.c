/* layer.c - where the cost of one layer of a kind, or of an end, comes from. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/row.h"

/* Parts behind the kinds: the embedding, the head, MTP layers. */
static bool is_mtp(const struct asked *a)
{
	return a->part == a->scenario->model.kinds + 2;
}

static bool is_kind(const struct asked *a)
{
	return a->part < a->scenario->model.kinds;
}

static const struct layer_cost *cost_of(const struct asked *a)
{
	const struct step *step = explain_step(a);
	int end = a->part - a->scenario->model.kinds;

	return is_kind(a) ? &step->kind[a->part]
	       : end == 0 ? &step->embedding
	       : end == 1 ? &step->head
			  : &step->mtp;
}

VALUE(forward, cost_of(a)->forward)
VALUE(input_grad, cost_of(a)->input_grad)
VALUE(weight_grad, cost_of(a)->weight_grad)
VALUE(recompute, cost_of(a)->recompute)
VALUE(exposed_forward, cost_of(a)->exposed_forward)
VALUE(exposed_backward, cost_of(a)->exposed_backward)
VALUE(alone_forward, cost_of(a)->alone_forward)
VALUE(alone_backward, cost_of(a)->alone_backward)
VALUE(host_forward, cost_of(a)->host_forward)
VALUE(wait_forward, cost_of(a)->wait_forward)
VALUE(host_backward, cost_of(a)->host_backward)
VALUE(dense, cost_of(a)->dense)
VALUE(expert, cost_of(a)->expert)
VALUE(trained_dense, cost_of(a)->dense_trainable)
VALUE(trained_expert, cost_of(a)->expert_trainable)
VALUE(trained_share, cost_of(a)->trained)
VALUE(saved, cost_of(a)->saved_bytes)
VALUE(sent, cost_of(a)->host_bytes)
VALUE(named, cost_of(a)->sent_bytes)
VALUE(whole, cost_of(a)->whole_bytes)
VALUE(gemm, cost_of(a)->gemm_bytes)
VALUE(passing, cost_of(a)->passing_bytes)
VALUE(again, layer_again_bytes(cost_of(a)))
VALUE(narrow, cost_of(a)->narrow)
VALUE(again_flops, cost_of(a)->again_flops)
VALUE(all, cost_of(a)->dense + cost_of(a)->expert)
VALUE(trained, cost_of(a)->dense_trainable + cost_of(a)->expert_trainable)

/* The sum over the operators of the graph. */
static void sum_operators(const struct asked *a, struct explanation *out,
			  const char *member)
{
	char prefix[48], name[32];

	snprintf(prefix, sizeof prefix, "%s.operators", explain_part(a, name));
	explain_sum(a, out, prefix, 0, explain_graph(a)->count - 1, member,
		    "of an operator");
}

/* An MTP layer is one of the last kind, and the operators around it, which stand
 * between these two. */
static void begin(const struct asked *a, struct explanation *out, const char *member)
{
	if (!is_mtp(a))
		return;
	explain_say(out, "layer + (");
	explain_from(a, out, "layer", "of the last kind", "kinds.%d.%s",
		     model_mtp_kind(&a->scenario->model), member);
}

static void end(const struct asked *a, struct explanation *out)
{
	if (is_mtp(a))
		explain_say(out, ")");
}

#define OPERATORS(name, member)                                          \
	static void name(const struct asked *a, struct explanation *out) \
	{                                                                \
		begin(a, out, member);                                   \
		sum_operators(a, out, member);                           \
		end(a, out);                                             \
	}

OPERATORS(add_forward, "forward_seconds")
OPERATORS(add_input_grad, "input_grad_seconds")
OPERATORS(add_weight_grad, "weight_grad_seconds")
OPERATORS(add_exposed_forward, "exposed_forward")
OPERATORS(add_alone_forward, "alone_forward")
OPERATORS(add_host_forward, "host_forward")
OPERATORS(add_wait_forward, "wait_forward")
OPERATORS(add_whole, "whole_bytes")

/* Where whole recomputation runs some of the layers again, what that adds for them. */
static bool is_mixed(const struct asked *a)
{
	return is_kind(a) && a->scenario->plan.recompute == RECOMPUTE_FULL &&
	       !explain_graph(a)->forward_only;
}

/* Of the layers of a kind those that run again whole. */
static double whole_share(const struct asked *a)
{
	return is_mixed(a) ? step_recomputed_share(explain_step(a)->scenario) : 0;
}

/* Of the asked operators those that run again in any layer: a tiled MLP's. Returns how
 * many; to out what of each is in the sum already. */
static int add_tiled(const struct asked *a, struct explanation *out, const char *again)
{
	const struct graph *graph = explain_graph(a);
	struct asked tiled = *a;
	int count = 0;

	for (tiled.op = 0; tiled.op < graph->count; tiled.op++) {
		char symbol[16];

		if (graph->item[tiled.op].again <= 0)
			continue;
		count++;
		if (!out)
			continue;
		snprintf(symbol, sizeof symbol, "t%d", tiled.op);
		explain_say(out, " - %s", symbol);
		explain_operator_term(&tiled, out, symbol, "which runs again anyway",
				      again);
	}
	return count;
}

/* Operators without whole recomputation, and what that adds; without `adds` they have
 * something only where they run again anyway. */
static void add_again(const struct asked *a, struct explanation *out, const char *plain,
		      bool adds, const char *again)
{
	bool tiled;

	if (!is_mixed(a)) {
		sum_operators(a, out, plain);
		return;
	}
	tiled = add_tiled(a, NULL, again) > 0;
	if (adds || tiled) {
		sum_operators(a, out, plain);
		explain_say(out, " + ");
	}
	explain_say(out, tiled ? "share * (x" : "share * x");
	explain_from(a, out, "share", "of the fully recomputed layers",
		     "recomputed_share");
	own(a, out, "x", "of a layer", again);
	if (tiled) {
		add_tiled(a, out, again);
		explain_say(out, ")");
	}
}

#define AGAIN(name, member, adds, again)                                 \
	static void name(const struct asked *a, struct explanation *out) \
	{                                                                \
		begin(a, out, member);                                   \
		add_again(a, out, member, adds, again);                  \
		end(a, out);                                             \
	}

AGAIN(add_recompute, "recompute_seconds", false, "forward_seconds")
AGAIN(add_host_backward, "host_backward", true, "host_forward")
AGAIN(add_again_flops, "again_flops", false, "forward_flops")
AGAIN(add_exposed_backward, "exposed_backward", true, "exposed_forward")

VALUE(forward_flops, cost_of(a)->flops)

OPERATORS(add_flops, "forward_flops")

/* Whole recomputation never goes with pairs that hide. */
static void add_alone_backward(const struct asked *a, struct explanation *out)
{
	begin(a, out, "alone_backward");
	sum_operators(a, out, "alone_backward");
	end(a, out);
}

OPERATORS(add_dense, "dense_parameters")
OPERATORS(add_expert, "expert_parameters")
OPERATORS(add_trained_dense, "trained_dense")
OPERATORS(add_narrow, "narrow_weights")
OPERATORS(add_trained_expert, "trained_experts")

static void all_terms(const struct asked *a, struct explanation *out)
{
	own(a, out, "D", "dense weights", "dense_parameters");
	own(a, out, "E", "of experts", "expert_parameters");
}

static void trained_terms(const struct asked *a, struct explanation *out)
{
	own(a, out, "D", "dense weights", "trained_dense");
	own(a, out, "E", "of experts", "trained_experts");
}

static void share_terms(const struct asked *a, struct explanation *out)
{
	if (is_mtp(a)) {
		explain_say(out, "layer");
		explain_from(a, out, "layer", "of the last kind",
			     "kinds.%d.trained_share",
			     model_mtp_kind(&a->scenario->model));
		return;
	}
	if (!is_kind(a)) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "T / N");
	own(a, out, "T", "that train", "trained_parameters");
	own(a, out, "N", "weights", "parameters");
}

/* Kept by the operators; the input alone of a layer that runs again whole. */
static void add_kept(const struct asked *a, struct explanation *out)
{
	double share = whole_share(a);
	double kept = 0;

	for (int i = 0; i < explain_graph(a)->count; i++)
		kept += explain_graph(a)->item[i].held_bytes;
	if (share < 1) {
		explain_say(out, share > 0 ? "((1 - share) * (" : "(");
		sum_operators(a, out, "held_bytes");
		if (step_has_policy(&a->scenario->plan) && is_kind(a) &&
		    !explain_graph(a)->forward_only)
			explain_say(out, " + input");
		/* the second norm's input follows from what is saved */
		else if (fabs(kept - a->facts->cost.saved_bytes -
			      a->facts->cost.host_bytes + a->facts->cost.sent_bytes) >
			 1e-9 * kept)
			explain_say(out, " - input");
		explain_say(out, share > 0 ? ") + " : ")");
	}
	if (share > 0) {
		explain_say(out, share < 1 ? "share * input)" : "input");
		if (share < 1)
			explain_from(a, out, "share", "of the fully recomputed layers",
				     "recomputed_share");
	}
	if (formula_uses(out->formula, "input"))
		explain_from(a, out, "input", "of a layer", "layer_input_bytes");
}

static void saved_terms(const struct asked *a, struct explanation *out)
{
	begin(a, out, "saved_bytes");
	add_kept(a, out);
	explain_say(out, " * (1 - a)");
	end(a, out);
	explain_from(a, out, "a", "share that goes to the host", "activation_offload");
}

static void named_terms(const struct asked *a, struct explanation *out)
{
	double share = whole_share(a);

	if (share >= 1) {
		explain_say(out, "0");
		return;
	}
	begin(a, out, "named_bytes");
	explain_say(out, share > 0 ? "(1 - share) * (" : "(");
	sum_operators(a, out, "away_bytes");
	explain_say(out, ")");
	end(a, out);
	if (share > 0)
		explain_from(a, out, "share", "of the fully recomputed layers",
			     "recomputed_share");
}

static void sent_terms(const struct asked *a, struct explanation *out)
{
	begin(a, out, "sent_bytes");
	add_kept(a, out);
	explain_say(out, " * a");
	explain_from(a, out, "a", "share that goes to the host", "activation_offload");
	if (a->facts->cost.sent_bytes > 0) {
		explain_say(out, " + named");
		own(a, out, "named", "tensors that go by name", "named_bytes");
	}
	end(a, out);
}

static void gemm_terms(const struct asked *a, struct explanation *out)
{
	const struct graph *graph = explain_graph(a);
	char name[32], key[EXPLAIN_MAX_KEY];
	int most = 0;

	for (int i = 1; i < graph->count; i++)
		if (graph->item[i].trainable / graph->item[i].groups >
		    graph->item[most].trainable / graph->item[most].groups)
			most = i;
	explain_say(out, is_mtp(a) ? "max(layer, w * W / e)" : "w * W / e");
	if (is_mtp(a))
		explain_from(a, out, "layer", "of the last kind", "kinds.%d.gemm_bytes",
			     model_mtp_kind(&a->scenario->model));
	explain_from(a, out, "w", "bytes of an activation", "activation_width");
	snprintf(key, sizeof key, "%s.operators.%d", explain_part(a, name), most);
	explain_from(a, out, "W", graph->item[most].name, "%s.trainable", key);
	explain_from(a, out, "e", "experts of it", "%s.groups", key);
}

static void passing_terms(const struct asked *a, struct explanation *out)
{
	const struct graph *graph = explain_graph(a);
	char name[32];
	int most = 0;

	for (int i = 1; i < graph->count; i++)
		if (graph->item[i].passing_bytes > graph->item[most].passing_bytes)
			most = i;
	explain_say(out, is_mtp(a) ? "max(layer, X)" : "X");
	if (is_mtp(a))
		explain_from(a, out, "layer", "of the last kind",
			     "kinds.%d.passing_bytes",
			     model_mtp_kind(&a->scenario->model));
	explain_from(a, out, "X", graph->item[most].name,
		     "%s.operators.%d.passing_bytes", explain_part(a, name), most);
}

static void again_terms(const struct asked *a, struct explanation *out)
{
	char name[32];
	const char *part = explain_part(a, name);

	explain_from(a, out, "W", "all its tensors", "%s.whole_bytes", part);
	explain_from(a, out, "S", "that it keeps", "%s.saved_bytes", part);
}

static const char hosts[] = "Operators and launches that no captured graph replays; "
			    "the ends have few.";
static const char graph[] =
	"The operators shown in Graph, for one rank and one micro-batch.";

const struct explain_node explain_layer[] = {
	NODE("forward_seconds", "Computing a forward", FORM_SECONDS, forward,
	     add_forward, NULL, graph),
	NODE("input_grad_seconds", "Gradients of inputs", FORM_SECONDS, input_grad,
	     add_input_grad, NULL, graph),
	NODE("weight_grad_seconds", "Gradients of weights", FORM_SECONDS, weight_grad,
	     add_weight_grad, NULL, graph),
	NODE("recompute_seconds", "Computed again", FORM_SECONDS, recompute,
	     add_recompute, NULL, graph),
	NODE("exposed_forward", "Exposed in a forward", FORM_SECONDS, exposed_forward,
	     add_exposed_forward, NULL, graph),
	NODE("exposed_backward", "Exposed in a backward", FORM_SECONDS,
	     exposed_backward, add_exposed_backward, NULL, graph),
	NODE("alone_forward", "Of an unpaired forward", FORM_SECONDS, alone_forward,
	     add_alone_forward, NULL, graph),
	NODE("alone_backward", "Of an unpaired backward", FORM_SECONDS, alone_backward,
	     add_alone_backward, NULL, graph),
	NODE("host_forward", "Launching a forward", FORM_SECONDS, host_forward,
	     add_host_forward, NULL, hosts),
	NODE("host_backward", "Launching a backward", FORM_SECONDS, host_backward,
	     add_host_backward, NULL, hosts),
	NODE("wait_forward", "Waiting for launches", FORM_SECONDS, wait_forward,
	     add_wait_forward, NULL, hosts),
	NODE("dense_parameters", "Dense weights", FORM_COUNT, dense, add_dense, NULL,
	     graph),
	NODE("expert_parameters", "Expert weights", FORM_COUNT, expert, add_expert,
	     NULL, graph),
	NODE("trained_dense", "Dense weights that train", FORM_COUNT, trained_dense,
	     add_trained_dense, NULL, graph),
	NODE("trained_experts", "Expert weights that train", FORM_COUNT, trained_expert,
	     add_trained_expert, NULL, graph),
	NODE("narrow_weights", "Weights that turn narrow", FORM_COUNT, narrow,
	     add_narrow, NULL, graph),
	{ .row.key = "parameters",
	  .row.title = "Weights on a rank",
	  .form = FORM_COUNT,
	  .value = all,
	  .row.fill = all_terms,
	  .row.formula = "D + E",
	  .row.assumption = graph },
	{ .row.key = "trained_parameters",
	  .row.title = "Weights that train",
	  .form = FORM_COUNT,
	  .value = trained,
	  .row.fill = trained_terms,
	  .row.formula = "D + E",
	  .row.assumption = graph },
	NODE("trained_share", "Share that trains", FORM_PERCENT, trained_share,
	     share_terms, NULL,
	     "Per layer; embedding and head have no CPU time for the optimizer."),
	NODE("saved_bytes", "Activations that are kept", FORM_BYTES, saved, saved_terms,
	     NULL, "After recomputation and offload."),
	NODE("sent_bytes", "Activations that go to the host", FORM_BYTES, sent,
	     sent_terms, NULL, "After recomputation."),
	NODE("named_bytes", "Named tensors sent to the host", FORM_BYTES, named,
	     named_terms, NULL, "Those of offload_modules, or of remat_policy."),
	NODE("whole_bytes", "All tensors of a layer", FORM_BYTES, whole, add_whole,
	     NULL, graph),
	NODE("again_bytes", "Tensors that come back", FORM_BYTES, again, again_terms,
	     "max(0, W - S)",
	     "A layer in its backward pass holds all its tensors: those that were "
	     "not stored are recomputed, or come back from the host."),
	NODE("gemm_bytes", "The largest weight gradient", FORM_BYTES, gemm, gemm_terms,
	     NULL, graph),
	NODE("passing_bytes", "Keys and values of other ranks", FORM_BYTES, passing,
	     passing_terms, NULL, graph),
	NODE("forward_flops", "FLOPs of a forward", FORM_FLOPS, forward_flops,
	     add_flops, NULL, graph),
	NODE("again_flops", "FLOPs computed again", FORM_FLOPS, again_flops,
	     add_again_flops, NULL, graph),
	{ .row.key = NULL },
};
