/* shown.c - what of the collectives of a step nothing hides: those of layers, of
 * shards, of the host, and those that the step ends with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/row.h"

static const char several[] = "none: calls of several sizes, or a copy";

/* --- at the step's end, of the asked stage --- */

static struct sync_part part_of(const struct asked *a, int slot)
{
	struct sync_part part[SYNC_SLOTS];

	step_sync_parts(explain_step(a), explain_whole(a)->load, a->stage, part);
	return part[slot];
}

static bool is_of(const struct traffic *t, const struct sync_part *part)
{
	return part->what && strcmp(t->what, part->what) == 0 &&
	       t->ranks == part->group.ranks;
}

/* Where all calls of its row are as long. */
static void add_call(const struct asked *a, struct explanation *out, int slot)
{
	struct sync_part part = part_of(a, slot);
	double seconds = explain_scaled(a, part.seconds);
	const struct estimate *e = a->estimate;

	for (int i = 0; i < e->traffic_count; i++) {
		if (!is_of(&e->traffic[i], &part) ||
		    fabs(e->traffic[i].seconds - seconds) > 1e-9 * seconds)
			continue;
		explain_say(out, "t");
		explain_from(a, out, "t", "of a call, in Traffic", "traffic.%d.seconds",
			     i);
		return;
	}
	explain_say(out, "%s", seconds > 0 ? several : "0");
}

static void add_shown(const struct asked *a, struct explanation *out, int slot,
		      const char *member)
{
	struct sync_part part = part_of(a, slot);

	if (!part.what) {
		explain_say(out, "0");
		return;
	}
	own(a, out, "t", "what it takes", member);
	if (!part.overlaps) {
		explain_say(out, "t");
		return;
	}
	if (slot < SYNC_EXPERTS && step_sync_table(explain_step(a), a->stage) > 0) {
		explain_say(out,
			    "min(t, max(t / if(n > 0, n, 1), t * e / w, t - o * x))");
		explain_from(a, out, "e", "the embedding's table",
			     "embedding.trained_dense");
		own(a, out, "w", "all that trains beside it", "trained_dense");
	} else {
		explain_say(out, "min(t, max(t / if(n > 0, n, 1), t - o * x))");
	}
	own(a, out, "n", "layers, each a bucket", "layers");
	explain_from(a, out, "o", "share of computing that hides traffic",
		     "stack.dp_overlap");
	if (slot % SYNC_EXPERTS == SYNC_PARAMETERS)
		own(a, out, "x", "the first forward", "forward_seconds");
	else
		own(a, out, "x", "the last backward", "backward_seconds");
}

/* NAME(gradients, SYNC_GRADIENTS, "Gradients") ... */
#define SLOTS(NAME)                                                                  \
	NAME(gradients, SYNC_GRADIENTS, "Gradients")                                 \
	NAME(parameters, SYNC_PARAMETERS, "Parameters")                              \
	NAME(replicas, SYNC_REPLICAS, "Replicas' gradients")                         \
	NAME(expert_gradients, SYNC_EXPERTS + SYNC_GRADIENTS, "Expert gradients")    \
	NAME(expert_parameters, SYNC_EXPERTS + SYNC_PARAMETERS, "Expert parameters") \
	NAME(expert_replicas, SYNC_EXPERTS + SYNC_REPLICAS,                          \
	     "Replicas' gradients of experts")                                       \
	NAME(tied, SYNC_TIED, "Tied embeddings")                                     \
	NAME(host, SYNC_HOST, "Optimizer to the host")

#define SLOT_FUNCTIONS(name, slot, title)                                             \
	static double name(const struct asked *a)                                     \
	{                                                                             \
		return explain_scaled(a, part_of(a, slot).exposed);                   \
	}                                                                             \
	static double name##_call(const struct asked *a)                              \
	{                                                                             \
		return explain_scaled(a, part_of(a, slot).seconds);                   \
	}                                                                             \
	static void name##_terms(const struct asked *a, struct explanation *out)      \
	{                                                                             \
		add_shown(a, out, slot, "sync." #name "_call");                       \
	}                                                                             \
	static void name##_call_terms(const struct asked *a, struct explanation *out) \
	{                                                                             \
		add_call(a, out, slot);                                               \
	}

SLOTS(SLOT_FUNCTIONS)

#define SLOT_MEMBER(name, slot, title) [slot] = "sync." #name,
static const char *const slot_members[SYNC_SLOTS] = { SLOTS(SLOT_MEMBER) };

/* --- of shards and offload in micro-batches, of the asked stage --- */

#define OF_STAGE(name, member, what)                                             \
	static double name(const struct asked *a)                                \
	{                                                                        \
		const struct step *step = explain_step(a);                       \
		double all = 0;                                                  \
                                                                                 \
		for (int k = 0; k < step->stages * step->chunks; k++)            \
			if (explain_runs_on(step, k, a->stage))                  \
				all += explain_value(a, "chunks.%d." member, k); \
		return explain_scaled(a, all * (double)step->micro_batches /     \
						 (double)step->mesh.copies);     \
	}                                                                        \
	static void name##_terms(const struct asked *a, struct explanation *out) \
	{                                                                        \
		explain_say(out, "m * ");                                        \
		explain_from(a, out, "m", "micro-batches", "micro_batches");     \
		explain_chunk_times(a, out, member, what);                       \
	}

OF_STAGE(gathers, "shown_gather", "gathering that shows")
OF_STAGE(scatters, "shown_scatter", "scattering that shows")
OF_STAGE(offloads, "shown_offload", "copies to the host and back that show")

#define SLOT_NODES(name, slot, title)                                             \
	NODE("sync." #name, title " that show", FORM_SECONDS, name, name##_terms, \
	     NULL,                                                                \
	     "All but a layer hides behind the last backward, or the first "      \
	     "forward, at the share that the stack reaches; the embedding's "     \
	     "table is what that ends, or begins, with."),                        \
		NODE("sync." #name "_call", title, FORM_SECONDS, name##_call,     \
		     name##_call_terms, NULL, "Priced by its bytes and group."),

const struct explain_node explain_stage_shown[] = {
	SLOTS(SLOT_NODES)
		NODE("gathers_seconds", "Gathering of shards that shows", FORM_SECONDS,
		     gathers, gathers_terms, NULL, "In all micro-batches."),
	NODE("scatters_seconds", "Scattering of shards that shows", FORM_SECONDS,
	     scatters, scatters_terms, NULL, "In all micro-batches."),
	NODE("offloads_seconds", "Offload that shows", FORM_SECONDS, offloads,
	     offloads_terms, NULL, "In all micro-batches."),
	{ .row.key = NULL },
};

void explain_sync(const struct asked *a, struct explanation *out)
{
	struct sync_part part[SYNC_SLOTS];

	step_sync_parts(explain_step(a), explain_whole(a)->load, a->stage, part);
	for (int i = 0; i < SYNC_SLOTS; i++) {
		char symbol[EXPLAIN_MAX_SYMBOL];

		if (part[i].exposed <= 0)
			continue;
		explain_symbol(out, part[i].what, symbol);
		explain_say(out, "%s%s", out->terms ? " + " : "", symbol);
		own(a, out, symbol, "that shows behind the last backward",
		    slot_members[i]);
	}
	if (out->terms == 0)
		explain_say(out, "0");
}

/* --- of layers: the asked part of the model, in the asked row --- */

static bool is_call(const struct traffic *t, const struct graph_operator *op)
{
	return op->kind == OPERATOR_COLLECTIVE &&
	       op->forward_calls + op->backward_calls > 0 && op->group &&
	       t->dimension == op->dimension && t->ranks == op->group->ranks &&
	       strcmp(t->what, op->name) == 0;
}

/* Layers that run the part: model.kinds.N.layers, MTP's, or one. */
static double layers_of(const struct asked *a)
{
	const struct model *m = &a->scenario->model;
	double own = a->part < m->kinds ? (double)model_kind_layers(m, a->part)
					: (a->part < m->kinds + 2 ? 1 : 0);
	bool mtp = a->part == m->kinds + 2 ||
		   (m->mtp_layers > 0 && a->part == model_mtp_kind(m));

	return own + (mtp ? (double)m->mtp_layers : 0);
}

/* Returns how many operators of the part call it. */
static int sum_exposed(const struct asked *a, double *seconds)
{
	const struct traffic *t = explain_traffic_row(a);
	const struct graph *graph = explain_graph(a);
	int calls = 0;

	*seconds = 0;
	for (int i = 0; i < graph->count; i++) {
		const struct graph_operator *op = &graph->item[i];

		if (!is_call(t, op))
			continue;
		calls++;
		*seconds += op->exposed_forward + op->exposed_backward +
			    op->again * op->exposed_forward;
	}
	return calls;
}

static double part_seconds(const struct asked *a)
{
	double seconds;

	sum_exposed(a, &seconds);
	return layers_of(a) * seconds;
}

static void part_terms(const struct asked *a, struct explanation *out)
{
	const struct traffic *t = explain_traffic_row(a);
	const struct graph *graph = explain_graph(a);
	const struct model *m = &a->scenario->model;
	bool kind = a->part < m->kinds;
	bool mtp = layers_of(a) != (kind ? (double)model_kind_layers(m, a->part) : 1);
	double seconds;

	if (sum_exposed(a, &seconds) == 0) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, kind && mtp ? "(n + d) * ("
			 : kind      ? "n * ("
			 : mtp       ? "d * ("
				     : "(");
	if (kind)
		explain_from(a, out, "n", "layers of the kind", "model.kinds.%d.layers",
			     a->part);
	if (mtp)
		explain_from(a, out, "d", "layers that predict further tokens",
			     "model.mtp_layers");
	for (int i = 0, seen = 0; i < graph->count; i++) {
		struct asked other = *a;
		char f[16], b[16];

		if (!is_call(t, &graph->item[i]))
			continue;
		other.op = i;
		snprintf(f, sizeof f, "f%d", i);
		snprintf(b, sizeof b, "b%d", i);
		explain_say(out, "%s%s + %s", seen++ > 0 ? " + " : "", f, b);
		explain_operator_term(&other, out, f, "in a forward",
				      "exposed_forward");
		explain_operator_term(&other, out, b, "in a backward",
				      "exposed_backward");
	}
	explain_say(out, ")");
}

const struct explain_node explain_traffic_part[] = {
	NODE("exposed_seconds", "Exposed of them in a micro-batch", FORM_SECONDS,
	     part_seconds, part_terms, NULL,
	     "Of one part of the model, in all layers."),
	{ .row.key = NULL },
};

/* --- of a row of Traffic --- */

static bool is_shown(const struct asked *a, double seconds)
{
	const struct traffic *t = explain_traffic_row(a);

	return fabs(seconds - t->exposed_seconds) <= 1e-9 * t->total_seconds;
}

/* The mean of a member of the stages, if that share of it is this row's. */
static bool add_stages(const struct asked *a, struct explanation *out,
		       const char *member, double share)
{
	double sum = 0;

	for (int i = 0; i < a->estimate->stages; i++)
		sum += explain_value(a, "stages.%d.%s", i, member);
	if (!is_shown(a, sum * share / a->estimate->stages))
		return false;
	explain_mean(a, out, member, "of a stage");
	return true;
}

/* Two families of weights have of what shows what they have of the seconds. */
static bool add_shards(const struct asked *a, struct explanation *out,
		       const char *const names[2], const char *member)
{
	const struct estimate *e = a->estimate;
	int row[2] = { -1, -1 };
	double all = 0;

	for (int i = 0; i < 2 * e->traffic_count; i++)
		if (row[i % 2] < 0 &&
		    strcmp(e->traffic[i / 2].what, names[i % 2]) == 0) {
			row[i % 2] = i / 2;
			all += e->traffic[i / 2].total_seconds;
		}
	if ((row[0] != a->traffic && row[1] != a->traffic) ||
	    !add_stages(a, out, member, explain_traffic_row(a)->total_seconds / all))
		return false;
	if (row[0] < 0 || row[1] < 0)
		return true;
	explain_say(out, " * %s / (t + e)", row[0] == a->traffic ? "t" : "e");
	explain_from(a, out, "t", names[0], "traffic.%d.total_seconds", row[0]);
	explain_from(a, out, "e", names[1], "traffic.%d.total_seconds", row[1]);
	return true;
}

static bool add_sync(const struct asked *a, struct explanation *out)
{
	struct sync_part part[SYNC_SLOTS];

	for (int stage = 0; stage < a->estimate->stages; stage++) {
		step_sync_parts(explain_step(a), explain_whole(a)->load, stage, part);
		for (int i = 0; i < SYNC_SLOTS; i++)
			if (is_of(explain_traffic_row(a), &part[i]))
				return add_stages(a, out, slot_members[i], 1);
	}
	return false;
}

/* Collectives inside layers, part by part. */
static bool add_layers(const struct asked *a, struct explanation *out)
{
	const struct step *step = explain_step(a);
	int parts = a->scenario->model.kinds + 2 +
		    (a->scenario->model.mtp_layers > 0 ? 1 : 0);
	double seconds = 0, runs = (double)step->micro_batches / step->stages;
	struct asked part = *a;

	for (part.part = 0; part.part < parts; part.part++)
		seconds += part_seconds(&part);
	if (!is_shown(a, explain_scaled(a, runs * seconds)))
		return false;
	explain_say(out, "scale * m / PP * (");
	explain_scale(a, out);
	explain_from(a, out, "m", "micro-batches", "micro_batches");
	explain_from(a, out, "PP", "stages", "pp");
	for (int i = 0, seen = 0; i < parts; i++) {
		char symbol[16];

		if (explain_value(a, "traffic.%d.parts.%d.exposed_seconds", a->traffic,
				  i) <= 0)
			continue;
		snprintf(symbol, sizeof symbol, "x%d", i);
		explain_say(out, "%s%s", seen++ > 0 ? " + " : "", symbol);
		explain_from(a, out, symbol, "in a micro-batch, of a part of the model",
			     "traffic.%d.parts.%d.exposed_seconds", a->traffic, i);
	}
	explain_say(out, ")");
	return true;
}

static void add_training(const struct asked *a, struct explanation *out)
{
	static const char *const gathers[] = { "gather weights", "gather experts" };
	static const char *const scatters[] = { "scatter gradients",
						"scatter experts" };

	if (add_layers(a, out) || add_sync(a, out) ||
	    add_shards(a, out, gathers, "gathers_seconds") ||
	    add_shards(a, out, scatters, "scatters_seconds") ||
	    add_stages(a, out, "offloads_seconds", 1) ||
	    add_stages(a, out, "transfer_seconds", 1))
		return;
	explain_say(out, "%s",
		    step_hides_in_pairs(a->scenario) ? EXPLAIN_SIMULATED : several);
}

/* A part of what travels between experts shows where two halves of a batch take turns.
 */
static void add_serving(const struct asked *a, struct explanation *out)
{
	const char *pass = a->pass > 0 ? explain_pass_name(a) : "decode";

	explain_say(out, "t * x / T");
	explain_from(a, out, "t", "of these collectives",
		     "passes.%s.traffic.%d.total_seconds", pass, a->traffic);
	explain_from(a, out, "x", "that shows of all between experts",
		     "passes.%s.ep_seconds", pass);
	explain_from(a, out, "T", "all between experts", "passes.%s.travelling_seconds",
		     pass);
}

void explain_shown(const struct asked *a, struct explanation *out)
{
	const struct traffic *t = explain_traffic_row(a);
	char row[EXPLAIN_MAX_KEY];

	if (is_shown(a, 0)) {
		explain_say(out, "0");
	} else if (is_shown(a, t->total_seconds)) {
		explain_say(out, "t");
		explain_from(a, out, "t", "nothing hides them", "%s.total_seconds",
			     explain_traffic_name(a, row));
	} else if (a->scenario->plan.mode == MODE_TRAINING) {
		add_training(a, out);
	} else {
		add_serving(a, out);
	}
}
