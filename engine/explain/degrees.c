/* degrees.c - numbers that many formulas of training share: degrees, and what a
 * simulation or a curve says. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/explain/training.h"
#include "engine/schedule/schedule.h"

/* --- degrees --- */

VALUE(dp, (double)scenario_dp(a->scenario))
VALUE(etp, (double)scenario_etp(a->scenario))

static void etp_terms(const struct asked *a, struct explanation *out)
{
	if (plan(a)->etp > 0)
		knob(a, out, "ETP", "as asked for", "etp");
	else if (etp(a) == (double)plan(a)->tp)
		knob(a, out, "TP", "as the stack has it", "tp");
	explain_say(out, "%s", out->terms ? out->term[0].symbol : "1");
}

VALUE(edp, (double)scenario_edp(a->scenario))
VALUE(micro_batches, (double)scenario_micro_batches(a->scenario))
VALUE(chunks, (double)a->estimate->chunks)

/* Chunks and copies are the schedule's, but for chunks that are asked for or drawn. */
static void chunk_terms(const struct asked *a, struct explanation *out)
{
	if (plan(a)->split != SPLIT_CUSTOM && plan(a)->pp > 1 &&
	    schedule_takes_chunks(plan(a)->schedule)) {
		/* waves go down and up */
		bool pairs = schedule_chunks(plan(a)->schedule, plan(a)->pp, 1) > 1;

		explain_say(out, pairs ? "max(2 * ceil(VPP / 2), 2)" : "max(VPP, 1)");
		knob(a, out, "VPP", "chunks that are asked for", "vpp");
		return;
	}
	explain_say(out, "%g", chunks(a));
}

VALUE(copies, mesh_copies(a->scenario))

FILL(copy_terms, explain_say(out, "%g", copies(a)))

static double dense_shards(const struct asked *a)
{
	struct shards shards;

	states_shards(a->scenario, &shards);
	return (double)shards.dense;
}

static void dense_shard_terms(const struct asked *a, struct explanation *out)
{
	double all = dp(a) * (double)plan(a)->cp * copies(a);

	if (plan(a)->zero_group > 0 && (double)plan(a)->zero_group < all) {
		explain_say(out, "group");
		knob(a, out, "group", "ranks that share one set", "zero_group");
		return;
	}
	explain_say(out, "DP * CP * copies");
	knob(a, out, "DP", "replicas", "dp");
	knob(a, out, "CP", "ranks of a sequence", "cp");
	knob(a, out, "copies", "of the weights in the pipeline", "copies");
}

static double expert_shards(const struct asked *a)
{
	struct shards shards;

	states_shards(a->scenario, &shards);
	return (double)shards.expert;
}

static void expert_shard_terms(const struct asked *a, struct explanation *out)
{
	bool experts = a->scenario->model.moe.experts > 0;

	explain_say(out, "max(1, floor(%scopies / (DP * CP * copies / d)))",
		    experts ? "EDP * " : "");
	if (experts)
		knob(a, out, "EDP", "replicas of an expert", "edp");
	knob(a, out, "DP", "replicas", "dp");
	knob(a, out, "CP", "ranks of a sequence", "cp");
	knob(a, out, "copies", "of the weights in the pipeline", "copies");
	knob(a, out, "d", "ranks that share a dense weight", "shards.dense");
}

static double tokens(const struct asked *a)
{
	return (double)plan(a)->micro_batch * (double)plan(a)->seq_len /
	       (double)plan(a)->cp;
}

VALUE(vocab, (double)a->estimate->padded_vocab)

static double communicators(const struct asked *a)
{
	return (plan(a)->tp > 1) + (plan(a)->cp > 1) + (dp(a) * copies(a) > 1) +
	       (plan(a)->pp > 1) + (explain_step(a)->mesh.ep > 1) +
	       (explain_step(a)->mesh.edp > 1 && explain_step(a)->mesh.ep > 1);
}

static void communicator_terms(const struct asked *a, struct explanation *out)
{
	bool experts = a->scenario->model.moe.experts > 0;

	explain_say(out, "(TP > 1) + (CP > 1) + (DP * copies > 1) + (PP > 1)%s",
		    experts ? " + (EP > 1) + (EDP > 1) * (EP > 1)" : "");
	knob(a, out, "TP", "ranks of a layer", "tp");
	knob(a, out, "CP", "ranks of a sequence", "cp");
	knob(a, out, "DP", "replicas", "dp");
	knob(a, out, "copies", "of the weights in the pipeline", "copies");
	knob(a, out, "PP", "stages", "pp");
	if (!experts)
		return;
	knob(a, out, "EP", "ranks of a layer's experts", "ep");
	knob(a, out, "EDP", "replicas of an expert", "edp");
}

static double nodes(const struct asked *a)
{
	const struct cluster *c = &a->scenario->cluster;

	return ceil((double)c->gpus /
		    (double)(c->gpus_per_node > 0 ? c->gpus_per_node : 1));
}

static double busy(const struct asked *a)
{
	const struct estimate *e = a->estimate;

	return e->step_seconds > 0 ? e->compute_seconds / e->step_seconds : 0;
}

VALUE(watts, cluster_watts(&a->scenario->cluster, busy(a)))
VALUE(recomputed, step_recomputed_share(explain_step(a)->scenario))

static void recomputed_terms(const struct asked *a, struct explanation *out)
{
	if (plan(a)->recompute != RECOMPUTE_FULL) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "if(n > 0, min(1, n * PP / L), 1)");
	knob(a, out, "n", "layers of a stage that are recomputed, 0 = all",
	     "recompute_layers");
	knob(a, out, "PP", "stages", "pp");
	knob(a, out, "L", "layers", "model.layers");
}

/* --- what a simulation or a curve says --- */

VALUE(pipeline_idle, a->estimate->pipeline_idle_seconds)

FILL(pipeline_idle_terms,
     explain_mean(a, out, "waiting_seconds", "of a stage, as the pipeline ran"))

VALUE(end_idle, a->estimate->end_idle_seconds)

FILL(end_idle_terms, explain_mean(a, out, "late_seconds", "of a stage"))

VALUE(phase, a->estimate->pipeline_seconds)

static double again_flops(const struct asked *a)
{
	const struct whole_step *whole = explain_whole(a);
	int stages = whole->step.stages;
	double flops = 0;

	for (int i = 0; i < stages; i++)
		flops += whole->load[i].work.recompute_flops / (double)stages;
	return flops;
}

FILL(again_flops_terms, explain_mean(a, out, "recompute_flops", "of a stage"))

/* --- how far runs may be off --- */

static const char *spread_word(const struct asked *a)
{
	static const char *const words[RUN_KINDS] = {
		[RUN_DENSE] = "dense",       [RUN_EXPERTS] = "experts",
		[RUN_ADAPTERS] = "adapters", [RUN_UNMEASURED] = "unmeasured",
		[RUN_TORUS] = "torus",
	};

	return words[scenario_run_kind(a->scenario)];
}

static double known_spread(const struct asked *a, const char *side)
{
	return explain_value(a, "cluster.accuracy.%s.%s", spread_word(a), side);
}

static void spread_terms(const struct asked *a, struct explanation *out,
			 const char *side)
{
	bool low = strstr(side, "low");
	const char *lowest = strncmp(side, "time", 4) == 0 ? "time_low" : "memory_low";

	/* a cluster made by hand has the number alone */
	if (known_spread(a, lowest) <= 0) {
		explain_say(out, "1");
		return;
	}
	if (step_range_factor(a->scenario) == 1) {
		explain_say(out, low ? "max(0.1, low)" : "high");
	} else {
		explain_say(out, low ? "max(0.1, 1 - (1 - low) * wider)"
				     : "1 + (high - 1) * wider");
		explain_from(a, out, "wider", "for what no measured run was like",
			     "accuracy.beyond_factor");
	}
	explain_from(a, out, low ? "low" : "high",
		     "of runs of the kind that were left out", "cluster.accuracy.%s.%s",
		     spread_word(a), side);
}

#define SPREAD(name, part, whole)                                                \
	static double name(const struct asked *a)                                \
	{                                                                        \
		const struct estimate *e = a->estimate;                          \
                                                                                 \
		return e->whole > 0 ? e->part / e->whole : 0;                    \
	}                                                                        \
	static void name##_terms(const struct asked *a, struct explanation *out) \
	{                                                                        \
		spread_terms(a, out, #name);                                     \
	}

SPREAD(time_low, step_low_seconds, step_seconds)
SPREAD(time_high, step_high_seconds, step_seconds)
SPREAD(memory_low, memory_low_bytes, memory.total_bytes)
SPREAD(memory_high, memory_high_bytes, memory.total_bytes)

static const char counted[] = "A degree of the plan.";
static const char spread[] =
	"Where four of five runs of the kind lay when their source was left out of the "
	"fit (make fit FIT=--each); wider for more GPUs than they had and for layers that "
	"none had.";

const struct explain_node explain_degrees_nodes[] = {
	NODE_OF("dp", "Data parallel replicas", FORM_COUNT, dp, "n / (TP * CP * PP)",
		counted, { "n", "GPUs", "gpus" }, { "TP", "ranks of a layer", "tp" },
		{ "CP", "ranks of a sequence", "cp" }, { "PP", "stages", "pp" }),
	NODE("etp_used", "Ranks of an expert", FORM_COUNT, etp, etp_terms, NULL,
	     "As asked for, or by the stack's rule."),
	NODE_OF("edp", "Replicas of an expert", FORM_COUNT, edp,
		"floor(n / (ETP * EP * PP))", counted, { "n", "GPUs", "gpus" },
		{ "ETP", "ranks of an expert", "etp_used" },
		{ "EP", "ranks of a layer's experts", "ep" }, { "PP", "stages", "pp" }),
	NODE_OF("micro_batches", "Micro-batches of a pipeline", FORM_COUNT,
		micro_batches, "gbs / (DP * mbs)", counted,
		{ "gbs", "sequences per step", "gbs" }, { "DP", "replicas", "dp" },
		{ "mbs", "sequences per micro-batch", "mbs" }),
	NODE("chunks", "Chunks of a stage", FORM_COUNT, chunks, chunk_terms, NULL,
	     "What the schedule makes of VPP, or the layout says."),
	NODE("copies", "Copies of the weights", FORM_COUNT, copies, copy_terms, NULL,
	     "DualPipe and Chimera keep each stage's weights on the mirrored stage too."),
	NODE("shards.dense", "Ranks that share a dense weight", FORM_COUNT,
	     dense_shards, dense_shard_terms, NULL, counted),
	NODE("shards.expert", "Ranks that share an expert's", FORM_COUNT, expert_shards,
	     expert_shard_terms, NULL,
	     "As many sets of experts are held as of dense weights."),
	NODE_OF("micro_batch_tokens", "Tokens of a micro-batch", FORM_COUNT, tokens,
		"mbs * s / CP", "On one rank.",
		{ "mbs", "sequences per micro-batch", "mbs" },
		{ "s", "tokens per sequence", "seq" },
		{ "CP", "ranks of a sequence", "cp" }),
	NODE_OF("padded_vocab", "Vocabulary after padding", FORM_COUNT, vocab,
		"ceil(V / (max(k, 1) * TP)) * max(k, 1) * TP", "To whole tiles.",
		{ "V", "vocabulary", "model.vocab" },
		{ "k", "multiple, by the stack", "stack.vocab_multiple" },
		{ "TP", "ranks that split it", "tp" }),
	NODE("communicators", "Communicators of a rank", FORM_COUNT, communicators,
	     communicator_terms, NULL, "One for each group of more than one rank."),
	NODE_OF("nodes", "Nodes of the job", FORM_COUNT, nodes, "ceil(n / max(g, 1))",
		"A partly used node fails like a whole one.", { "n", "GPUs", "gpus" },
		{ "g", "GPUs of a node", "cluster.gpus_per_node" }),
	NODE_OF("watts_per_gpu",
		"Power of a GPU with its share of everything else, watts", FORM_REAL,
		watts,
		"(idle + if(t > 0, compute / t, 0) * (TDP - idle) + host) * "
		"if(PUE > 0, PUE, 1)",
		"A GPU that computes draws its TDP, one that waits its idle power.",
		{ "idle", "of a GPU that waits, watts", "cluster.idle_watts" },
		{ "compute", "computing time of a step", "compute_seconds" },
		{ "t", "step", "step_seconds" },
		{ "TDP", "of a GPU that computes, watts", "cluster.tdp_watts" },
		{ "host", "CPU, NIC, fans and switches per GPU, watts",
		  "cluster.host_watts_per_gpu" },
		{ "PUE", "of the data centre", "cluster.pue" }),
	NODE("recomputed_share", "Layers that run again whole", FORM_PERCENT,
	     recomputed, recomputed_terms, NULL, "Of each stage."),
	NODE("pipeline_idle_seconds", "Idle while micro-batches run", FORM_SECONDS,
	     pipeline_idle, pipeline_idle_terms, NULL, "Mean of the stages."),
	NODE("end_idle_seconds", "Waiting for the stage that ends last", FORM_SECONDS,
	     end_idle, end_idle_terms, NULL, "Mean of the stages."),
	NODE_OF("pipeline_seconds", "First forward to last backward", FORM_SECONDS,
		phase, "work + held + idle", "The same of every stage.",
		{ "work", "of the first stage", "stages.0.working_seconds" },
		{ "held", "by its sends", "stages.0.transfer_seconds" },
		{ "idle", "as the pipeline ran", "stages.0.waiting_seconds" }),
	NODE("recompute_flops", "FLOPs computed again", FORM_FLOPS, again_flops,
	     again_flops_terms, NULL, "Per GPU and step, mean over the stages."),
	NODE("spread.time_low", "How much faster a run may be", FORM_REAL, time_low,
	     time_low_terms, NULL, spread),
	NODE("spread.time_high", "How much slower a run may be", FORM_REAL, time_high,
	     time_high_terms, NULL, spread),
	NODE("spread.memory_low", "How much less a run may need", FORM_REAL, memory_low,
	     memory_low_terms, NULL, spread),
	NODE("spread.memory_high", "How much more a run may need", FORM_REAL,
	     memory_high, memory_high_terms, NULL, spread),
	{ .row.key = NULL },
};
