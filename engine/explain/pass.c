/* pass.c - what the passes of a server are made of: kernels, collectives, the host. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/row.h"

const struct explain_pass *explain_pass_of(const struct asked *a)
{
	return &explain_server(a)->pass[a->pass - 1];
}

static const struct pass *pass_of(const struct asked *a)
{
	return &explain_pass_of(a)->cost;
}

static bool is_halved(const struct asked *a)
{
	return explain_pass_of(a)->halved;
}

VALUE(stages, explain_pass_of(a)->server->context.shape.pp)

static const char *stage_knob(const struct asked *a)
{
	bool pool = explain_pass_of(a)->server != &explain_server(a)->run.decode;

	return pool && a->scenario->plan.serving.prefill_pp > 0 ? "prefill_pp" : "pp";
}

static double own_value(const struct asked *a, const char *member)
{
	return explain_value(a, "passes.%s.%s", explain_pass_name(a), member);
}

static void sum(const struct asked *a, struct explanation *out, int first, int end,
		const char *member)
{
	char prefix[EXPLAIN_MAX_KEY];

	snprintf(prefix, sizeof prefix, "passes.%s.operators", explain_pass_name(a));
	explain_sum(a, out, prefix, first, end - 1, member, "kernels");
}

/* --- kernels --- */

static double summed(const struct asked *a, int first, int end)
{
	double seconds = 0;

	for (int i = first; i < end; i++)
		seconds += pass_of(a)->operator[i].seconds;
	return seconds;
}

/* Prompts of a stack that reaches a share of what its kernels would. */
static double reached(const struct asked *a)
{
	double share = a->scenario->stack.serving.prefill_efficiency;

	return explain_pass_of(a)->batch.prompt_tokens > 0 && share > 0 ? share : 1;
}

VALUE(layer_seconds, summed(a, 0, pass_of(a)->ends) / reached(a))
VALUE(end_seconds, summed(a, pass_of(a)->ends, pass_of(a)->operators))

static void layer_terms(const struct asked *a, struct explanation *out)
{
	bool part = reached(a) != 1;

	explain_say(out, "%s", part ? "(" : "");
	sum(a, out, 0, pass_of(a)->ends, "seconds");
	if (!part)
		return;
	explain_say(out, ") / e");
	explain_from(a, out, "e", "share of its kernels' rates with prompts",
		     "stack.serving_prefill_efficiency");
}

FILL(end_terms, sum(a, out, pass_of(a)->ends, pass_of(a)->operators, "seconds"))

VALUE(compute, pass_of(a)->compute_seconds)

FILL(compute_terms, sum(a, out, 0, pass_of(a)->operators, "compute_seconds"))

VALUE(memory, pass_of(a)->memory_seconds)

FILL(memory_terms, sum(a, out, 0, pass_of(a)->operators, "memory_seconds"))

VALUE(fixed, pass_of(a)->fixed_seconds)

static void fixed_terms(const struct asked *a, struct explanation *out)
{
	sum(a, out, 0, pass_of(a)->operators, "fixed_seconds");
	if (reached(a) == 1)
		return;
	explain_say(out, " + K * (1 - e)");
	own(a, out, "K", "kernels of the layers", "layer_seconds");
	explain_from(a, out, "e", "share of its kernels' rates with prompts",
		     "stack.serving_prefill_efficiency");
}

/* --- collectives --- */

static void sum_calls(const struct asked *a, struct explanation *out,
		      enum dimension dimension)
{
	const struct pass *pass = pass_of(a);
	int count = 0;

	for (int i = 0; i < pass->traffic_count; i++) {
		char symbol[EXPLAIN_MAX_SYMBOL];

		if (pass->traffic[i].dimension != dimension)
			continue;
		explain_symbol(out, pass->traffic[i].what, symbol);
		explain_say(out, "%s%s", count++ ? " + " : "", symbol);
		explain_from(a, out, symbol, collective_label(pass->traffic[i].kind),
			     "passes.%s.traffic.%d.total_seconds", explain_pass_name(a),
			     i);
	}
	if (count == 0)
		explain_say(out, "0");
}

#define OF_DIMENSION(name, DIMENSION)                                            \
	static double name(const struct asked *a)                                \
	{                                                                        \
		return pass_of(a)->name##_seconds;                               \
	}                                                                        \
	static void name##_terms(const struct asked *a, struct explanation *out) \
	{                                                                        \
		sum_calls(a, out, DIMENSION);                                    \
	}

OF_DIMENSION(tp, DIM_TP)
OF_DIMENSION(cp, DIM_CP)

VALUE(pp, pass_of(a)->pp_seconds)

/* A rank sends on what its stage has done; a token goes all the way. */
static void pp_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "PP * (");
	sum_calls(a, out, DIM_PP);
	explain_say(out, ")");
	explain_from(a, out, "PP", "stages", "%s", stage_knob(a));
}

static double travelling(const struct asked *a)
{
	const struct pass *pass = pass_of(a);
	double seconds = 0;

	for (int i = 0; i < pass->traffic_count; i++)
		if (pass->traffic[i].dimension == DIM_EP)
			seconds += pass->traffic[i].total_seconds;
	return seconds;
}

FILL(travelling_terms, sum_calls(a, out, DIM_EP))

VALUE(ep, pass_of(a)->ep_seconds)

static void ep_terms(const struct asked *a, struct explanation *out)
{
	own(a, out, "T", "between experts", "travelling_seconds");
	if (!is_halved(a)) {
		explain_say(out, "T");
		return;
	}
	explain_say(out, "max(0, T - C) + min(T, C) / L");
	own(a, out, "C", "of the other half of the batch", "computing_seconds");
	explain_from(a, out, "L", "layers", "model.layers");
}

static double computing(const struct asked *a)
{
	const struct pass *pass = pass_of(a);

	return layer_seconds(a) + end_seconds(a) + pass->tp_seconds + pass->cp_seconds +
	       pass->pp_seconds;
}

/* --- the host --- */

static double requests(const struct asked *a)
{
	const struct batch *b = &explain_pass_of(a)->batch;

	return (b->requests + b->prompt_requests) / (is_halved(a) ? 2 : 1);
}

static double find_launching(const struct asked *a)
{
	const struct model *m = &a->scenario->model;
	const struct serving_stack *v = &a->scenario->stack.serving;
	double seconds = 0;

	for (int k = 0; k < m->kinds; k++)
		seconds += (double)model_kind_layers(m, k) *
			   (m->kind[k].mlp == MLP_MOE && v->expert_cpu_seconds > 0
				    ? v->expert_cpu_seconds
				    : v->layer_cpu_seconds);
	return seconds;
}

static void launching_terms(const struct asked *a, struct explanation *out)
{
	const struct model *m = &a->scenario->model;
	bool used[2] = { false, false };

	for (int k = 0; k < m->kinds; k++) {
		bool experts = m->kind[k].mlp == MLP_MOE &&
			       a->scenario->stack.serving.expert_cpu_seconds > 0;
		char symbol[16];

		snprintf(symbol, sizeof symbol, "n%d", k);
		explain_say(out, "%s%s * %s", k > 0 ? " + " : "", symbol,
			    experts ? "x" : "l");
		explain_from(a, out, symbol, "layers of the kind",
			     "model.kinds.%d.layers", k);
		used[experts] = true;
	}
	if (used[0])
		explain_from(a, out, "l", "CPU time of a layer",
			     "stack.serving_layer_cpu_seconds");
	if (used[1])
		explain_from(a, out, "x", "of one with experts",
			     "stack.serving_expert_cpu_seconds");
}

VALUE(host, pass_of(a)->host_seconds)

static void host_terms(const struct asked *a, struct explanation *out)
{
	bool hidden = a->scenario->plan.serving.host_overlap ||
		      a->scenario->stack.serving.overlapped_seconds <= 0;

	explain_say(out, hidden ? "PP * (i + r * n)" : "PP * (i + (r + o) * n)");
	explain_from(a, out, "PP", "stages", "%s", stage_knob(a));
	explain_from(a, out, "i", "of a pass", "stack.serving_iteration_seconds");
	explain_from(a, out, "r", "of each request", "stack.serving_request_seconds");
	if (!hidden)
		explain_from(a, out, "o", "of each, as nothing hides it",
			     "stack.serving_overlapped_seconds");
	own(a, out, "n", "requests in it", "requests");
	if (explain_pass_of(a)->batch.captured)
		return;
	explain_say(out, " + max(0, L - (K + E + TP + T + CP)%s)",
		    is_halved(a) ? " / 2" : "");
	own(a, out, "L", "launching its kernels one by one", "launching_seconds");
	own(a, out, "K", "kernels of the layers", "layer_seconds");
	own(a, out, "E", "embedding, head and sampling", "end_seconds");
	own(a, out, "TP", "over the ranks of a layer", "tp_seconds");
	own(a, out, "T", "between experts", "travelling_seconds");
	own(a, out, "CP", "over the ranks of a prompt", "cp_seconds");
}

/* --- the pass --- */

VALUE(seconds, pass_of(a)->seconds)
VALUE(stage, pass_of(a)->stage_seconds)

static void stage_terms(const struct asked *a, struct explanation *out)
{
	if (stages(a) < 2) {
		explain_say(out, "pass");
		own(a, out, "pass", "whole", "seconds");
		return;
	}
	explain_say(out,
		    "((K + TP + T + CP) * ceil(L / PP) / L + E + sends / (PP - 1))");
	own(a, out, "K", "kernels of the layers", "layer_seconds");
	own(a, out, "TP", "over the ranks of a layer", "tp_seconds");
	own(a, out, "T", "between experts", "travelling_seconds");
	own(a, out, "CP", "over the ranks of a prompt", "cp_seconds");
	explain_from(a, out, "L", "layers", "model.layers");
	explain_from(a, out, "PP", "stages", "%s", stage_knob(a));
	own(a, out, "E", "embedding, head and sampling", "end_seconds");
	own(a, out, "sends", "between stages", "pp_seconds");
	if (is_halved(a) && own_value(a, "computing_seconds") > 0) {
		explain_say(out, " * (C + EP) / (C + T)");
		own(a, out, "C", "of the other half of the batch", "computing_seconds");
		own(a, out, "EP", "exposed exchange between experts", "ep_seconds");
	}
	explain_say(out, " + host / PP");
	own(a, out, "host", "of the pass", "host_seconds");
}

#undef NODE_SOURCE
#define NODE_SOURCE "a sum over the kernels and collectives of a pass"

static const char on_rank[] = "On one rank, all stages on the way of a token.";
static const char bound[] = "As if nothing else limited them.";

const struct explain_node explain_pass_nodes[] = {
	NODE_OF("seconds", "A pass", FORM_SECONDS, seconds,
		"K + E + TP + CP + PP + EP + host", on_rank,
		{ "K", "kernels of the layers", ".layer_seconds" },
		{ "E", "embedding, head and sampling", ".end_seconds" },
		{ "TP", "over the ranks of a layer", ".tp_seconds" },
		{ "CP", "over the ranks of a prompt", ".cp_seconds" },
		{ "PP", "between stages", ".pp_seconds" },
		{ "EP", "exposed exchange between experts", ".ep_seconds" },
		{ "host", "of the pass", ".host_seconds" }),
	NODE("stage_seconds", "The slowest stage of a pass", FORM_SECONDS, stage,
	     stage_terms, NULL,
	     "The fullest stage has the layers left over by the division, the "
	     "last one the head."),
	NODE("layer_seconds", "Kernels of the layers", FORM_SECONDS, layer_seconds,
	     layer_terms, NULL, on_rank),
	NODE("end_seconds", "Embedding, head and sampling", FORM_SECONDS, end_seconds,
	     end_terms, NULL, on_rank),
	NODE("compute_seconds", "Computing alone", FORM_SECONDS, compute, compute_terms,
	     NULL, bound),
	NODE("memory_seconds", "Reading alone", FORM_SECONDS, memory, memory_terms,
	     NULL, bound),
	NODE("fixed_seconds", "Fixed times of kernels", FORM_SECONDS, fixed,
	     fixed_terms, NULL,
	     "Including what prompts fail to reach of the kernels' rates."),
	NODE("tp_seconds", "TP of a pass", FORM_SECONDS, tp, tp_terms, NULL,
	     "Nothing hides it."),
	NODE("cp_seconds", "CP of a pass", FORM_SECONDS, cp, cp_terms, NULL,
	     "Nothing hides it."),
	NODE("pp_seconds", "PP of a pass", FORM_SECONDS, pp, pp_terms, NULL,
	     "From each stage to the next; calls are means of the stages."),
	NODE("ep_seconds", "Exposed EP time of a pass", FORM_SECONDS, ep, ep_terms,
	     NULL,
	     "Where two halves of a batch take turns, one travels while the other "
	     "computes; the first and last layer's share is exposed."),
	NODE("travelling_seconds", "EP of a pass", FORM_SECONDS, travelling,
	     travelling_terms, NULL, "Hidden or not."),
	NODE_OF("computing_seconds", "A pass without EP and host", FORM_SECONDS,
		computing, "K + E + TP + CP + PP", on_rank,
		{ "K", "kernels of the layers", ".layer_seconds" },
		{ "E", "embedding, head and sampling", ".end_seconds" },
		{ "TP", "over the ranks of a layer", ".tp_seconds" },
		{ "CP", "over the ranks of a prompt", ".cp_seconds" },
		{ "PP", "between stages", ".pp_seconds" }),
	NODE("host_seconds", "Host of a pass", FORM_SECONDS, host, host_terms, NULL,
	     "Each stage passes the work on; kernels outside CUDA graphs are "
	     "launched, and the slower of host and GPU counts."),
	NODE("launching_seconds", "Launching a pass", FORM_SECONDS, find_launching,
	     launching_terms, NULL, "Layer by layer."),
	NODE("requests", "Requests in a pass", FORM_REAL, requests, NULL,
	     EXPLAIN_SIMULATED,
	     "That decode, and whose prompts are in it; of one half, where two "
	     "take turns."),
	{ .row.key = NULL },
};
