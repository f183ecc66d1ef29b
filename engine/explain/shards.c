/* shards.c - what shows of the shards that a virtual stage gathers and scatters. */
#include <math.h>
#include <string.h>

#include "engine/explain/row.h"
#include "engine/train/states.h"

static double of_chunk(const struct asked *a, const char *member)
{
	return explain_value(a, "chunks.%d.%s", a->chunk, member);
}

/* Weights that stay are gathered by one forward, and their gradients scattered by one
 * backward. */
static void once_terms(const struct asked *a, struct explanation *out)
{
	if (!states_stay_whole(a->scenario))
		return;
	explain_say(out, "copies / m * ");
	explain_from(a, out, "copies", "of the weights, which take turns", "copies");
	explain_from(a, out, "m", "micro-batches", "micro_batches");
}

/* What is longer than the computation beside it shows, and one layer's, or that of the
 * embedding's table, if any goes with it, always. */
static void shown_terms(const struct asked *a, struct explanation *out,
			const char *moved, const char *table, const char *beside)
{
	int embedding = explain_step(a)->split.embedding_stage;
	double trained = explain_value(a, "embedding.trained_dense");

	const struct plan *plan = &a->scenario->plan;

	if ((plan->zero == 3 && plan->fsdp_prefetch <= 0) ||
	    of_chunk(a, "layers") <= 0) {
		explain_say(out, "%s", moved);
		return;
	}
	if (table && a->chunk == embedding && trained > 0) {
		explain_say(out,
			    "min(%s, max(0, %s - o * %s) + max(%s / n, %s * e / T))",
			    moved, moved, beside, moved, table);
		explain_from(a, out, "e", "the embedding's table",
			     "embedding.trained_dense");
		own(a, out, "T", "all that trains", "trained_parameters");
	} else {
		explain_say(out, "min(%s, max(0, %s - o * %s) + %s / n)", moved, moved,
			    beside, moved);
	}
	explain_from(a, out, "o", "share of computing that hides traffic",
		     "stack.dp_overlap");
	own(a, out, "n", "layers", "layers");
}

/* Computation beside traffic, which copies of FSDP are not. */
static const char *computing_forward(const struct asked *a)
{
	return of_chunk(a, "copy_forward_seconds") > 0 ? "(f - k)" : "f";
}

/* The sum of gradients is no part of what hides shards, and of what hides offload. */
static const char *computing_backward(const struct asked *a, bool shards)
{
	bool again = of_chunk(a, "copy_again_seconds") > 0;

	if (of_chunk(a, "copy_gradient_seconds") > 0)
		return shards  ? again ? "(b - k + w - c2 - sum + r)"
				       : "(b + w - c2 - sum + r)"
		       : again ? "(b - k + w - c2)"
			       : "(b + w - c2)";
	if (again)
		return shards ? "(b - k + w - sum + r)" : "(b - k + w)";
	return shards ? "(b + w - sum + r)" : "(b + w)";
}

static void terms_of_forward(const struct asked *a, struct explanation *out)
{
	if (!formula_uses(out->formula, "f"))
		return;
	own(a, out, "f", "computing", "computing_seconds");
	if (formula_uses(out->formula, "k"))
		own(a, out, "k", "of it, copies", "copy_forward_seconds");
}

static void terms_of_backward(const struct asked *a, struct explanation *out)
{
	if (!formula_uses(out->formula, "b"))
		return;
	own(a, out, "b", "gradients of inputs", "input_grad_seconds");
	own(a, out, "w", "gradients of weights", "weight_grad_seconds");
	if (formula_uses(out->formula, "k"))
		own(a, out, "k", "of the first, copies", "copy_again_seconds");
	if (formula_uses(out->formula, "c2"))
		own(a, out, "c2", "of the second, copies", "copy_gradient_seconds");
	if (formula_uses(out->formula, "sum"))
		own(a, out, "sum", "of it, adding to those before",
		    "accumulate_seconds");
	if (formula_uses(out->formula, "r"))
		own(a, out, "r", "computed again", "recompute_seconds");
}

void explain_offload(const struct asked *a, struct explanation *out, bool forward)
{
	explain_say(out, "max(0, s / rate - o * %s)",
		    forward ? computing_forward(a) : computing_backward(a, false));
	own(a, out, "s", "bytes that go to the host", "sent_bytes");
	explain_from(a, out, "rate", "bytes per second each way", "cluster.host_rate");
	explain_from(a, out, "o", "share of computing that hides traffic",
		     "stack.dp_overlap");
	if (forward)
		terms_of_forward(a, out);
	else
		terms_of_backward(a, out);
}

void explain_shard_forward(const struct asked *a, struct explanation *out)
{
	if (of_chunk(a, "gather_seconds") == 0) {
		explain_say(out, "g");
		own(a, out, "g", "gathering", "gather_seconds");
		return;
	}
	once_terms(a, out);
	shown_terms(a, out, "g", "g", computing_forward(a));
	own(a, out, "g", "gathering", "gather_seconds");
	terms_of_forward(a, out);
}

/* What a backward gathers: all again, or what is not frozen. */
const char *explain_again(const struct asked *a)
{
	return scenario_freezes(a->scenario) ? "again_seconds" : "gather_seconds";
}

void explain_shard_backward(const struct asked *a, struct explanation *out)
{
	const struct plan *plan = &a->scenario->plan;
	bool again = plan->zero == 3 && plan->fsdp_reshard;
	const char *moved = again ? "(g + c)" : "c";
	const char *beside = computing_backward(a, true);

	/* frozen weights have no gradients, and are gathered again all the same */
	if (of_chunk(a, "scatter_seconds") == 0 &&
	    (!again || of_chunk(a, explain_again(a)) == 0)) {
		explain_say(out, "0");
		return;
	}
	if (step_scatters_behind(a->scenario)) {
		if (again) {
			shown_terms(a, out, "g", NULL, beside);
			explain_say(out, " + ");
		}
		once_terms(a, out);
		explain_say(out, "c");
	} else {
		once_terms(a, out);
		if (again || plan->overlap_grad_reduce)
			shown_terms(a, out, moved, "c", beside);
		else
			explain_say(out, "%s", moved);
	}
	own(a, out, "c", "scattering", "scatter_seconds");
	if (again)
		own(a, out, "g", "gathering again", explain_again(a));
	terms_of_backward(a, out);
}

/* So many weights times the bytes that copying each moves. */
static void copy_terms(const struct asked *a, struct explanation *out,
		       const char *weights, const char *meaning, const char *bytes)
{
	own(a, out, "P", meaning, weights);
	explain_from(a, out, "c", "bytes that copying each moves", "%s", bytes);
	explain_from(a, out, "bw", "bytes per second that kernels reach",
		     "memory_bytes_per_second");
}

void explain_copy_forward(const struct asked *a, struct explanation *out)
{
	if (of_chunk(a, "copy_forward_seconds") == 0) {
		explain_say(out, "0");
		return;
	}
	once_terms(a, out);
	explain_say(out, "P * c / bw");
	copy_terms(a, out, "shared_parameters", "weights that are shared out",
		   "states.gather_copy_bytes");
}

void explain_copy_again(const struct asked *a, struct explanation *out)
{
	bool freezes = scenario_freezes(a->scenario);

	if (of_chunk(a, "copy_again_seconds") == 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "P * c / bw");
	copy_terms(a, out, freezes ? "shared_again" : "shared_parameters",
		   "weights that a backward reads", "states.gather_copy_bytes");
}

void explain_copy_gradients(const struct asked *a, struct explanation *out)
{
	if (of_chunk(a, "copy_gradient_seconds") == 0) {
		explain_say(out, "0");
		return;
	}
	once_terms(a, out);
	explain_say(out, "P * c / bw");
	copy_terms(a, out, "shared_trained", "weights that train",
		   "states.gradient_copy_bytes");
}

/* Rows of Traffic that are the calls of this virtual stage: where all of them have as
 * much of the model. */
static void row_terms(const struct asked *a, struct explanation *out,
		      const char *const names[2], double seconds)
{
	static const char *const symbols[] = { "t", "e" };
	const struct estimate *e = a->estimate;
	int row[2] = { -1, -1 };
	double sum = 0;

	for (int i = 0; i < 2 * e->traffic_count; i++)
		if (row[i % 2] < 0 &&
		    strcmp(e->traffic[i / 2].what, names[i % 2]) == 0) {
			row[i % 2] = i / 2;
			sum += e->traffic[i / 2].seconds;
		}
	if (seconds == 0 || fabs(sum - seconds) > 1e-9 * seconds) {
		explain_say(out, seconds == 0 ? "0" : "none: calls of several sizes");
		return;
	}
	for (int i = 0; i < 2; i++)
		if (row[i] >= 0) {
			explain_say(out, "%s%s", out->formula[0] ? " + " : "",
				    symbols[i]);
			explain_from(a, out, symbols[i], names[i], "traffic.%d.seconds",
				     row[i]);
		}
}

void explain_gathers(const struct asked *a, struct explanation *out)
{
	static const char *const names[] = { "gather weights", "gather experts" };

	row_terms(a, out, names, of_chunk(a, "gather_seconds"));
}

void explain_scatters(const struct asked *a, struct explanation *out)
{
	static const char *const names[] = { "scatter gradients", "scatter experts" };

	row_terms(a, out, names, of_chunk(a, "scatter_seconds"));
}
