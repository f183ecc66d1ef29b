/* stage.c - what the bytes of a stage are put together from. */
#include <stddef.h>
#include <stdio.h>

#include "engine/explain/terms.h"
#include "engine/schedule/schedule.h"

/* --- how many layers of each kind, and which ends --- */

/* Whether virtual stage k runs on this stage: one of the two that hold it, where the
 * schedule keeps two copies. */
bool explain_runs_on(const struct step *step, int k, int stage)
{
	int on = schedule_stage(step->scenario->plan.schedule, step->stages, k);

	return on == stage ||
	       (mesh_copies(step->scenario) == 2 && step->stages - 1 - on == stage);
}

int explain_layers_on(const struct step *step, int k, int kind)
{
	int16_t count[MAX_LAYER_KINDS];

	split_count(&step->scenario->model, &step->split, k, count);
	return count[kind];
}

static double count_layers(const struct asked *a, int kind)
{
	const struct step *step = explain_step(a);
	double count = 0;

	for (int k = 0; step && k < step->stages * step->chunks; k++)
		if (explain_runs_on(step, k, a->stage))
			count += explain_layers_on(step, k, kind);
	return count;
}

VALUE(kind_layers, count_layers(a, a->kind))

static double count_end(const struct asked *a, int k)
{
	const struct step *step = explain_step(a);

	return k >= 0 && explain_runs_on(step, k, a->stage);
}

static double embeddings(const struct asked *a)
{
	const struct step *step = explain_step(a);
	int mtp = step->split.mtp_stage;

	if (count_end(a, step->split.embedding_stage) > 0)
		return 1;
	return step_has_table(step, mtp) ? count_end(a, mtp) : 0;
}

VALUE(heads, count_end(a, explain_step(a)->split.head_stage))

static double mtp_layers(const struct asked *a)
{
	const struct step *step = explain_step(a);

	return a->scenario->model.mtp_layers > 0
		       ? count_end(a, step->split.mtp_stage) *
				 (double)a->scenario->model.mtp_layers
		       : 0;
}

const struct explain_node explain_stage_kind[] = {
	EXPLAIN_DEALT("Layers of a kind on a stage", kind_layers),
	{ .row.key = NULL },
};

/* One part of the model, as often as it is on the stage. */
struct part {
	const char *prefix, *count;
	char name[24], symbol[16];
};

/* The parts that a stage holds; returns how many. */
static int list_parts(const struct asked *a, struct part *part)
{
	const struct model *m = &a->scenario->model;
	int parts = 0;

	for (int k = 0; k < m->kinds; k++)
		if (count_layers(a, k) > 0) {
			snprintf(part[parts].name, sizeof part->name, "kinds.%d", k);
			snprintf(part[parts].symbol, sizeof part->symbol, "%d", k);
			part[parts++].count = NULL;
		}
	if (embeddings(a) > 0)
		part[parts++] =
			(struct part){ NULL, "embeddings", "embedding", "_emb" };
	if (heads(a) > 0)
		part[parts++] = (struct part){ NULL, "heads", "head", "_head" };
	if (mtp_layers(a) > 0)
		part[parts++] = (struct part){ NULL, "mtp_layers", "mtp", "_mtp" };
	return parts;
}

static void add_part(const struct asked *a, struct explanation *out,
		     const struct part *part, const char *member, bool count)
{
	char symbol[20];

	snprintf(symbol, sizeof symbol, "x%s", part->symbol);
	explain_from(a, out, symbol, "of one of them", "%s.%s", part->name, member);
	if (!count)
		return;
	symbol[0] = 'n';
	if (part->count)
		explain_from(a, out, symbol, "on the stage", "stages.%d.%s", a->stage,
			     part->count);
	else
		explain_from(a, out, symbol, "layers of the kind on the stage",
			     "stages.%d.%s.layers", a->stage, part->name);
}

/* Count times each, added up. */
static void sum_parts(const struct asked *a, struct explanation *out,
		      const char *member)
{
	struct part part[MAX_LAYER_KINDS + 3];
	int parts = list_parts(a, part), said = 0;

	for (int i = 0; i < parts; i++) {
		if (explain_value(a, "%s.%s", part[i].name, member) == 0)
			continue;
		explain_say(out, "%sn%s * x%s", said++ ? " + " : "", part[i].symbol,
			    part[i].symbol);
		add_part(a, out, &part[i], member, true);
	}
	if (said == 0)
		explain_say(out, "0");
}

/* The largest of them. */
static void largest_part(const struct asked *a, struct explanation *out,
			 const char *member)
{
	struct part part[MAX_LAYER_KINDS + 3];
	int parts = list_parts(a, part);

	for (int i = 0; i < parts; i++) {
		explain_say(out, i < parts - 1 ? "max(x%s, " : "x%s", part[i].symbol);
		add_part(a, out, &part[i], member, false);
	}
	for (int i = 1; i < parts; i++)
		explain_say(out, ")");
}

/* --- elements and bytes --- */

static const struct stage_sum *sum_of(const struct asked *a)
{
	return &explain_whole(a)->load[a->stage].sum;
}

#define PARTS(name, member)                                              \
	static void name(const struct asked *a, struct explanation *out) \
	{                                                                \
		sum_parts(a, out, member);                               \
	}
#define LARGEST(name, member)                                            \
	static void name(const struct asked *a, struct explanation *out) \
	{                                                                \
		largest_part(a, out, member);                            \
	}

VALUE(dense, sum_of(a)->dense)
VALUE(expert, sum_of(a)->expert)
VALUE(trained_dense, sum_of(a)->dense_trainable)
VALUE(trained_expert, sum_of(a)->expert_trainable)
VALUE(trained_layers, sum_of(a)->trained_layers)
VALUE(saved, sum_of(a)->saved_bytes)
VALUE(sent, sum_of(a)->host_bytes)
VALUE(gemm, sum_of(a)->gemm_bytes)
VALUE(passing, sum_of(a)->passing_bytes)
VALUE(narrow, sum_of(a)->narrow)
VALUE(largest_dense, sum_of(a)->largest_dense)
VALUE(largest_layer, sum_of(a)->largest_layer)
VALUE(largest_dense_trained, sum_of(a)->largest_dense_trainable)
VALUE(largest_trained, sum_of(a)->largest_trainable)
PARTS(add_dense, "dense_parameters")
PARTS(add_expert, "expert_parameters")
PARTS(add_trained_dense, "trained_dense")
PARTS(add_trained_expert, "trained_experts")
PARTS(add_trained_layers, "trained_share")
PARTS(add_narrow, "narrow_weights")
PARTS(add_saved, "saved_bytes")
PARTS(add_sent, "sent_bytes")
LARGEST(most_again, "again_bytes")
LARGEST(most_gemm, "gemm_bytes")
LARGEST(most_passing, "passing_bytes")
LARGEST(most_dense, "dense_parameters")
LARGEST(most_layer, "parameters")
LARGEST(most_dense_trained, "trained_dense")
LARGEST(most_trained, "trained_parameters")

VALUE(kept, sum_of(a)->saved_bytes / mesh_copies(a->scenario))
VALUE(sent_of_one, sum_of(a)->host_bytes / mesh_copies(a->scenario))

static void again_terms(const struct asked *a, struct explanation *out)
{
	if (step_again(a->scenario, sum_of(a)))
		most_again(a, out);
	else
		explain_say(out, "0");
}

#define HOLDING_OF(name, field)                   \
	static double name(const struct asked *a) \
	{                                         \
		struct holding h;                 \
                                                  \
		explain_holding(a, &h);           \
		return h.field;                   \
	}

HOLDING_OF(again, again)
HOLDING_OF(gathered, gathered)
HOLDING_OF(gathered_trained, gathered_trained)
HOLDING_OF(receives, receives)
HOLDING_OF(sends, sends)

static bool gathers_experts(const struct asked *a)
{
	struct shards shards;

	step_shards(&explain_step(a)->scenario->plan, &explain_step(a)->mesh, &shards);
	return shards.expert > 1 || !step_experts_apart(&explain_step(a)->mesh);
}

static void gathered_terms(const struct asked *a, struct explanation *out)
{
	const struct plan *plan = &a->scenario->plan;
	bool experts = gathers_experts(a);

	if (plan->zero != 3) {
		explain_say(out, "0");
	} else if (plan->fsdp_reshard && !states_stay_whole(a->scenario)) {
		explain_say(out, "(1 + f) * W");
		explain_from(a, out, "f", "layers gathered ahead", "fsdp_prefetch");
		own(a, out, "W", "weights of the largest layer",
		    experts ? "largest_layer" : "largest_dense");
	} else {
		explain_say(out, "W");
		own(a, out, "W", "weights of the stage",
		    experts ? "parameters" : "dense_parameters");
	}
}

static void gathered_trained_terms(const struct asked *a, struct explanation *out)
{
	if (a->scenario->plan.zero != 3) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "W");
	own(a, out, "W", "weights of the largest layer that trains",
	    gathers_experts(a) ? "largest_trained" : "largest_dense_trained");
}

static double host_bytes(const struct asked *a)
{
	const struct stage_memory *m = &a->estimate->stage[a->stage];

	return train_host_bytes(m);
}

static double host_share(const struct asked *a)
{
	double share[MAX_STAGES];
	int first, count = step_host_shares(explain_step(a), a->estimate->stage, &first,
					    share);

	return a->stage >= first && a->stage < first + count ? share[a->stage - first]
							     : 0;
}

VALUE(counted, a->estimate->stage[a->stage].in_flight)

static const char simulated[] =
	"What the pipeline's run returned: the orders of the schedule on the stages' "
	"times, by a closed form, a shortcut or a simulator.";
static const char largest[] = "The largest part that the stage holds.";
static const char sums[] = "Every part that the stage holds, as often as it holds it.";

const struct explain_node explain_stage[] = {
	NODE("dense_parameters", "Dense weights of a rank", FORM_COUNT, dense,
	     add_dense, NULL, sums),
	NODE("expert_parameters", "Expert weights of a rank", FORM_COUNT, expert,
	     add_expert, NULL, sums),
	NODE("trained_dense", "Dense weights that train", FORM_COUNT, trained_dense,
	     add_trained_dense, NULL, sums),
	NODE("trained_experts", "Expert weights that train", FORM_COUNT, trained_expert,
	     add_trained_expert, NULL, sums),
	NODE("trained_layers", "Layers that train", FORM_REAL, trained_layers,
	     add_trained_layers, NULL,
	     "A layer whose base is frozen counts by the share that trains."),
	NODE("narrow_weights", "Weights that turn narrow", FORM_COUNT, narrow,
	     add_narrow, NULL, sums),
	NODE("saved_bytes", "Activations of all that a stage holds", FORM_BYTES, saved,
	     add_saved, NULL, sums),
	NODE("all_sent_bytes", "The same that goes to the host", FORM_BYTES, sent,
	     add_sent, NULL, sums),
	NODE("gemm_bytes", "The largest weight gradient", FORM_BYTES, gemm, most_gemm,
	     NULL, largest),
	NODE("layer_passing_bytes", "Keys and values of other ranks", FORM_BYTES,
	     passing, most_passing, NULL, largest),
	NODE("largest_dense", "The largest layer without experts", FORM_COUNT,
	     largest_dense, most_dense, NULL, largest),
	NODE("largest_layer", "The largest layer", FORM_COUNT, largest_layer,
	     most_layer, NULL, largest),
	NODE("largest_dense_trained", "The same of what trains", FORM_COUNT,
	     largest_dense_trained, most_dense_trained, NULL, largest),
	NODE("largest_trained", "The same of what trains", FORM_COUNT, largest_trained,
	     most_trained, NULL, largest),
	NODE_OF("kept_bytes", "Activations that a micro-batch keeps", FORM_BYTES, kept,
		"S / copies", "A micro-batch runs through one copy of the layers.",
		{ "S", "kept by all that the stage holds", ".saved_bytes" },
		{ "copies", "of the weights", "copies" }),
	NODE_OF("sent_bytes", "Activations of a micro-batch on the host", FORM_BYTES,
		sent_of_one, "S / copies",
		"A micro-batch runs through one copy of the layers.",
		{ "S", "sent by all that the stage holds", ".all_sent_bytes" },
		{ "copies", "of the weights", "copies" }),
	NODE("again_bytes", "Of the layer that runs again", FORM_BYTES, again,
	     again_terms, NULL, "The layer that runs backward holds all its tensors."),
	NODE("gathered_weights", "Weights that are gathered", FORM_COUNT, gathered,
	     gathered_terms, NULL,
	     "Of the layer at work and those ahead, or of all that the stage holds."),
	NODE("gathered_gradients", "Weights whose gradients are", FORM_COUNT,
	     gathered_trained, gathered_trained_terms, NULL, largest),
	NODE_OF("host_bytes", "On the host for a rank", FORM_BYTES, host_bytes,
		states_host_need_text,
		"Half as much again is pinned for copies of states, by DeepSpeed's estimates "
		"(additional_buffer_factor).",
		{ "S", "optimizer states and gradients", ".host_optimizer_bytes" },
		{ "A", "activations", ".host_activations_bytes" }),
	NODE("host_share", "Of the fullest node's GPUs", FORM_PERCENT, host_share, NULL,
	     EXPLAIN_COUNTED, "By the placement: ranks of a stage stand side by side."),
	NODE("counted_in_flight", "Micro-batches in flight, counted", FORM_REAL,
	     counted, NULL, EXPLAIN_SIMULATED, simulated),
	NODE("embeddings", "Embeddings on a stage", FORM_COUNT, embeddings, NULL,
	     EXPLAIN_COUNTED, "By the split."),
	NODE("chunks_that_receive", "Chunks that receive", FORM_COUNT, receives, NULL,
	     EXPLAIN_COUNTED, "All of a stage but the model's first."),
	NODE("chunks_that_send", "Chunks that send", FORM_COUNT, sends, NULL,
	     EXPLAIN_COUNTED, "All of a stage but the model's last."),
	NODE("heads", "Heads on a stage", FORM_COUNT, heads, NULL, EXPLAIN_COUNTED,
	     "By the split."),
	NODE("mtp_layers", "MTP layers on a stage", FORM_COUNT, mtp_layers, NULL,
	     EXPLAIN_COUNTED, "By the split."),
	{ .row.key = NULL },
};
