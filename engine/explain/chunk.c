/* chunk.c - where the seconds of one micro-batch on one virtual stage come from. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/row.h"

static struct chunk_time time_of(const struct asked *a)
{
	struct chunk_time t;

	step_chunk_time(explain_step(a), a->chunk, &t, NULL);
	return t;
}

VALUE(forward, time_of(a).all_forward)
VALUE(computing_forward, time_of(a).forward)
VALUE(input_grad, time_of(a).input_grad)
VALUE(weight_grad, time_of(a).weight_grad)
VALUE(recompute, time_of(a).recompute)
VALUE(exposed_forward, time_of(a).exposed_forward)
VALUE(exposed_backward, time_of(a).exposed_backward)
VALUE(late_forward, time_of(a).late_forward)
VALUE(late_backward, time_of(a).late_backward)
VALUE(host_forward, time_of(a).host_forward)
VALUE(wait_forward, time_of(a).wait_forward)
VALUE(host_backward, time_of(a).host_backward)
VALUE(again_flops, time_of(a).again_flops)
VALUE(shard_forward, time_of(a).shard_forward)
VALUE(shard_backward, time_of(a).shard_backward)
VALUE(offload_forward, time_of(a).offload_forward)
VALUE(offload_backward, time_of(a).offload_backward)
VALUE(sent, time_of(a).host_bytes)
VALUE(gathers, time_of(a).gather_seconds)
VALUE(gathers_again, time_of(a).again_seconds)
VALUE(scatters, time_of(a).scatter_seconds)
VALUE(all_layers, time_of(a).layers)
VALUE(accumulate, time_of(a).accumulate)
VALUE(copy_forward, time_of(a).copy_forward)
VALUE(copy_again, time_of(a).copy_again)
VALUE(copy_gradients, time_of(a).copy_gradients)
VALUE(shared, time_of(a).shared)
VALUE(shared_again, time_of(a).shared_again)
VALUE(shared_trained, time_of(a).shared_trained)
VALUE(trained, time_of(a).dense_trainable + time_of(a).expert_trainable)

static double backward(const struct asked *a)
{
	struct chunk_time t = time_of(a);

	return t.all_input_grad + t.weight_grad;
}

static double exposed(const struct asked *a)
{
	struct chunk_time t = time_of(a);

	return t.exposed_forward + t.exposed_backward;
}

/* "chunks.3.kinds.0.layers": counted by the split, as on a stage. */
VALUE(kind_layers, explain_layers_on(explain_step(a), a->chunk, a->kind))

const struct explain_node explain_chunk_kind[] = {
	EXPLAIN_DEALT("Layers of a kind on a virtual stage", kind_layers),
	{ .row.key = NULL },
};

static void add_end(const struct asked *a, struct explanation *out, const char *part,
		    const char *member, bool mtp)
{
	if (explain_value(a, "%s.%s", part, member) == 0)
		return;
	explain_say(out, "%s%s%s", out->formula[0] ? " + " : "", mtp ? "n * " : "",
		    part);
	explain_from(a, out, part, "of one of them", "%s.%s", part, member);
	if (mtp)
		explain_from(a, out, "n", "layers that predict further tokens",
			     "model.mtp_layers");
}

static bool counts_weights(const char *member)
{
	static const char *const members[] = { "parameters", "dense_parameters",
					       "trained_parameters", "trained_dense" };

	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
		if (strcmp(member, members[i]) == 0)
			return true;
	return false;
}

/* Layers of each kind times one of them, and the ends. */
static void sum_layers(const struct asked *a, struct explanation *out,
		       const char *member)
{
	const struct step *step = explain_step(a);
	int k = a->chunk;

	for (int kind = 0; kind < a->scenario->model.kinds; kind++) {
		char n[16], x[16];

		if (explain_layers_on(step, k, kind) == 0 ||
		    explain_value(a, "kinds.%d.%s", kind, member) == 0)
			continue;
		snprintf(n, sizeof n, "n%d", kind);
		snprintf(x, sizeof x, "x%d", kind);
		explain_say(out, "%s%s * %s", out->formula[0] ? " + " : "", n, x);
		explain_from(a, out, n, "layers of the kind",
			     "chunks.%d.kinds.%d.layers", k, kind);
		explain_from(a, out, x, "of one of them", "kinds.%d.%s", kind, member);
	}
	if (k == step->split.embedding_stage ||
	    (step_has_table(step, k) && counts_weights(member)))
		add_end(a, out, "embedding", member, false);
	if (k == step->split.head_stage)
		add_end(a, out, "head", member, false);
	if (k == step->split.mtp_stage && a->scenario->model.mtp_layers > 0)
		add_end(a, out, "mtp", member, true);
}

static void said(struct explanation *out)
{
	if (!out->formula[0])
		explain_say(out, "0");
}

#define LAYERS(name, member)                                             \
	static void name(const struct asked *a, struct explanation *out) \
	{                                                                \
		sum_layers(a, out, member);                              \
		said(out);                                               \
	}

LAYERS(add_recompute, "recompute_seconds")
LAYERS(add_host_forward, "host_forward")
LAYERS(add_wait_forward, "wait_forward")
LAYERS(add_host_backward, "host_backward")
LAYERS(add_again_flops, "again_flops")
LAYERS(add_trained, "trained_parameters")

/* Experts that a rank alone holds are not shared out. */
static bool shares_experts(const struct asked *a)
{
	struct shards shards;

	step_shards(&a->scenario->plan, &explain_step(a)->mesh, &shards);
	return !step_experts_apart(&explain_step(a)->mesh) || shards.expert > 1;
}

static void shared_terms(const struct asked *a, struct explanation *out, double value,
			 const char *all, const char *dense)
{
	if (value != 0)
		sum_layers(a, out, shares_experts(a) ? all : dense);
	said(out);
}

FILL(add_shared,
     shared_terms(a, out, time_of(a).shared, "parameters", "dense_parameters"))
FILL(add_shared_trained, shared_terms(a, out, time_of(a).shared_trained,
				      "trained_parameters", "trained_dense"))
LAYERS(add_sent, "sent_bytes")

/* One more summand where it is not 0. */
static void plus(const struct asked *a, struct explanation *out, const char *symbol,
		 const char *meaning, const char *member)
{
	if (explain_value(a, "chunks.%d.%s", a->chunk, member) == 0)
		return;
	explain_say(out, "%s%s", out->formula[0] ? " + " : "", symbol);
	own(a, out, symbol, meaning, member);
}

static void add_computing(const struct asked *a, struct explanation *out)
{
	sum_layers(a, out, "forward_seconds");
	plus(a, out, "copies", "of what FSDP gathered", "copy_forward_seconds");
	said(out);
}

static void add_input_grad(const struct asked *a, struct explanation *out)
{
	sum_layers(a, out, "input_grad_seconds");
	plus(a, out, "copies", "of what FSDP gathered again", "copy_again_seconds");
	said(out);
}

static void add_weight_grad(const struct asked *a, struct explanation *out)
{
	sum_layers(a, out, "weight_grad_seconds");
	plus(a, out, "copies", "of gradients that FSDP sends", "copy_gradient_seconds");
	plus(a, out, "sum", "adding gradients to those before", "accumulate_seconds");
	said(out);
}

static void add_exposed(const struct asked *a, struct explanation *out, bool forward)
{
	const struct step *step = explain_step(a);
	bool hides = step_hides_in_pairs(a->scenario);
	bool joins =
		forward ? a->chunk > 0 : a->chunk < step->stages * step->chunks - 1;

	sum_layers(a, out, forward ? "exposed_forward" : "exposed_backward");
	if (hides && out->terms == 0)
		sum_layers(a, out, forward ? "alone_forward" : "alone_backward");
	else if (hides) {
		explain_say(out, " + alone");
		own(a, out, "alone", "of a pass that runs without its pair",
		    forward ? "alone_forward" : "alone_backward");
	}
	if (joins && step->join_seconds > 0) {
		explain_say(out, "%sjoin", out->formula[0] ? " + " : "");
		explain_from(a, out, "join", "messages put together over TP",
			     "join_seconds");
	}
	plus(a, out, "shards", "gathering and scattering of ZeRO 2 and 3",
	     forward ? "shard_forward" : "shard_backward");
	plus(a, out, "host", "activations to the host and back",
	     forward ? "offload_forward" : "offload_backward");
	said(out);
}

FILL(add_exposed_forward, add_exposed(a, out, true))
FILL(add_exposed_backward, add_exposed(a, out, false))

VALUE(alone_forward, time_of(a).alone_forward)
VALUE(alone_backward, time_of(a).alone_backward)
LAYERS(add_alone_forward, "alone_forward")
LAYERS(add_alone_backward, "alone_backward")

/* What shows of offload comes behind the CPU's floor. */
static double gpu_forward(const struct asked *a)
{
	struct chunk_time t = time_of(a);

	return t.forward + t.exposed_forward - t.offload_forward;
}

static double gpu_backward(const struct asked *a)
{
	struct chunk_time t = time_of(a);

	return t.input_grad + t.weight_grad + t.recompute + t.exposed_backward -
	       t.offload_backward;
}

static void late_terms(const struct asked *a, struct explanation *out, bool forward)
{
	bool round = time_of(a).expert_layers > 0 && explain_step(a)->mesh.ep > 1;
	bool waits = round && forward && time_of(a).wait_forward > 0;

	explain_say(out, waits ? "max(0, sqrt(sqrt(h * h * h * h + (g - w) * (g - w) * "
				 "(g - w) * (g - w))) - g)"
			 : round ? "sqrt(sqrt(h * h * h * h + g * g * g * g)) - g"
				 : "max(0, h - g)");
	if (waits)
		own(a, out, "w", "of it, waiting for launches behind counts",
		    "wait_forward");
	own(a, out, "h", "launching it", forward ? "host_forward" : "host_backward");
	own(a, out, "g", "what the GPU takes",
	    forward ? "gpu_forward" : "gpu_backward");
}

FILL(late_forward_terms, late_terms(a, out, true))
FILL(late_backward_terms, late_terms(a, out, false))

/* What a copy over the host's link takes beyond what hides it. */
static void offload_terms(const struct asked *a, struct explanation *out, bool forward)
{
	if (sent(a) == 0 ||
	    a->scenario->cluster.accelerator.host_bytes_per_second <= 0) {
		explain_say(out, "0");
		return;
	}
	explain_offload(a, out, forward);
}

FILL(offload_forward_terms, offload_terms(a, out, true))
FILL(offload_backward_terms, offload_terms(a, out, false))

static void accumulate_terms(const struct asked *a, struct explanation *out)
{
	if (explain_step(a)->micro_batches < 2) {
		explain_say(out, "0");
		return;
	}
	explain_say(out, "T * a / bw");
	own(a, out, "T", "parameters that train", "trained_parameters");
	explain_from(a, out, "a", "bytes that each moves", "states.adding_bytes");
	explain_from(a, out, "bw", "bytes per second that kernels reach",
		     "memory_bytes_per_second");
}

static const char layers[] = "Every layer and end that the virtual stage has.";
static const char floors[] =
	"Where the CPU launches more slowly than the GPU computes, it sets the "
	"pace; ranks that wait for each other's experts wait for late hosts and "
	"late GPUs.";
static const char shards[] = "Gathering overlaps with the previous layer's "
			     "computation, scattering with the backward pass: "
			     "what takes longer is exposed, and one layer always "
			     "is (FSDP, arXiv 2304.11277).";
static const char copying[] = "FSDP copies on the stream that computes, at the rate of "
			      "memory (presets/stacks).";
static const char offload[] = "Overlaps with computation as DP traffic does.";

/* Of the backward's shards, those that are gathered again. */
static double gathered_again(const struct asked *a)
{
	const struct plan *plan = &a->scenario->plan;
	struct chunk_time t = time_of(a);

	return plan->zero == 3 && plan->fsdp_reshard && t.again_seconds > 0
		       ? t.again_seconds / (t.again_seconds + t.scatter_seconds)
		       : 0;
}

static double shown_gather(const struct asked *a)
{
	struct chunk_time t = time_of(a);

	return t.shard_forward + t.shard_backward * gathered_again(a);
}

VALUE(shown_scatter, (1 - gathered_again(a)) * time_of(a).shard_backward)

static void shown_gather_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "f");
	own(a, out, "f", "shown in a forward", "shard_forward");
	if (gathered_again(a) <= 0)
		return;
	explain_say(out, " + b * g / (g + c)");
	own(a, out, "b", "shown in a backward", "shard_backward");
	own(a, out, "g", "gathering", explain_again(a));
	own(a, out, "c", "scattering", "scatter_seconds");
}

static void shown_scatter_terms(const struct asked *a, struct explanation *out)
{
	explain_say(out, "b");
	own(a, out, "b", "shown in a backward", "shard_backward");
	if (gathered_again(a) <= 0)
		return;
	explain_say(out, " * c / (g + c)");
	own(a, out, "g", "gathering", explain_again(a));
	own(a, out, "c", "scattering", "scatter_seconds");
}

VALUE(shown_offload, time_of(a).offload_forward + time_of(a).offload_backward)

const struct explain_node explain_chunk[] = {
	NODE_OF("forward_seconds", "A forward", FORM_SECONDS, forward, "f + x + late",
		"For one micro-batch, before calibration scales it.",
		{ "f", "computing", ".computing_seconds" },
		{ "x", "exposed communication and offload", ".exposed_forward" },
		{ "late", "waiting for kernel launches by the CPU", ".late_forward" }),
	NODE_OF("backward_seconds", "A backward", FORM_SECONDS, backward,
		"b + w + r + x + late",
		"For one micro-batch, before calibration scales it.",
		{ "b", "gradients of inputs", ".input_grad_seconds" },
		{ "w", "gradients of weights", ".weight_grad_seconds" },
		{ "r", "computed again", ".recompute_seconds" },
		{ "x", "exposed communication and offload", ".exposed_backward" },
		{ "late", "waiting for kernel launches by the CPU", ".late_backward" }),
	NODE("computing_seconds", "Computing a forward", FORM_SECONDS,
	     computing_forward, add_computing, NULL, layers),
	NODE("input_grad_seconds", "Gradients of inputs", FORM_SECONDS, input_grad,
	     add_input_grad, NULL, layers),
	NODE("weight_grad_seconds", "Gradients of weights", FORM_SECONDS, weight_grad,
	     add_weight_grad, NULL, layers),
	NODE("recompute_seconds", "Computed again", FORM_SECONDS, recompute,
	     add_recompute, NULL, layers),
	NODE_OF("exposed_seconds", "Exposed in a micro-batch", FORM_SECONDS, exposed,
		"f + b", layers, { "f", "in the forward", ".exposed_forward" },
		{ "b", "in the backward", ".exposed_backward" }),
	NODE("exposed_forward", "Exposed in a forward", FORM_SECONDS, exposed_forward,
	     add_exposed_forward, NULL, layers),
	NODE("exposed_backward", "Exposed in a backward", FORM_SECONDS,
	     exposed_backward, add_exposed_backward, NULL, layers),
	NODE("alone_forward", "Of an unpaired forward", FORM_SECONDS, alone_forward,
	     add_alone_forward, NULL, layers),
	NODE("alone_backward", "Of an unpaired backward", FORM_SECONDS, alone_backward,
	     add_alone_backward, NULL, layers),
	NODE("late_forward", "Waiting for the CPU", FORM_SECONDS, late_forward,
	     late_forward_terms, NULL, floors),
	NODE("late_backward", "Waiting for the CPU", FORM_SECONDS, late_backward,
	     late_backward_terms, NULL, floors),
	NODE_OF("gpu_forward", "What the GPU takes", FORM_SECONDS, gpu_forward,
		"f + x - o", layers, { "f", "computing", ".computing_seconds" },
		{ "x", "communication that shows", ".exposed_forward" },
		{ "o", "of it, offload", ".offload_forward" }),
	NODE_OF("gpu_backward", "What the GPU takes", FORM_SECONDS, gpu_backward,
		"b + w + r + x - o", layers,
		{ "b", "gradients of inputs", ".input_grad_seconds" },
		{ "w", "gradients of weights", ".weight_grad_seconds" },
		{ "r", "computed again", ".recompute_seconds" },
		{ "x", "communication that shows", ".exposed_backward" },
		{ "o", "of it, offload", ".offload_backward" }),
	NODE("host_forward", "Launching a forward", FORM_SECONDS, host_forward,
	     add_host_forward, NULL, layers),
	NODE("host_backward", "Launching a backward", FORM_SECONDS, host_backward,
	     add_host_backward, NULL, layers),
	NODE("wait_forward", "Waiting for launches", FORM_SECONDS, wait_forward,
	     add_wait_forward, NULL, layers),
	NODE("again_flops", "FLOPs computed again", FORM_FLOPS, again_flops,
	     add_again_flops, NULL, layers),
	NODE("trained_parameters", "Weights that train", FORM_COUNT, trained,
	     add_trained, NULL, layers),
	NODE("accumulate_seconds", "Adding up gradients", FORM_SECONDS, accumulate,
	     accumulate_terms, NULL,
	     "The sum is read and written with each micro-batch but a lone one."),
	NODE("copy_forward_seconds", "Copies of gathered weights", FORM_SECONDS,
	     copy_forward, explain_copy_forward, NULL, copying),
	NODE("copy_again_seconds", "Copies of weights gathered again", FORM_SECONDS,
	     copy_again, explain_copy_again, NULL, copying),
	NODE("copy_gradient_seconds", "Copies of gradients", FORM_SECONDS,
	     copy_gradients, explain_copy_gradients, NULL, copying),
	NODE("shared_parameters", "Weights shared out", FORM_COUNT, shared, add_shared,
	     NULL, layers),
	NODE("shared_again", "Weights gathered again", FORM_COUNT, shared_again, NULL,
	     EXPLAIN_COUNTED, "A backward reads nothing of frozen layers."),
	NODE("shared_trained", "Trained weights shared out", FORM_COUNT, shared_trained,
	     add_shared_trained, NULL, layers),
	NODE("shard_forward", "Shards in a forward", FORM_SECONDS, shard_forward,
	     explain_shard_forward, NULL, shards),
	NODE("shard_backward", "Shards in a backward", FORM_SECONDS, shard_backward,
	     explain_shard_backward, NULL, shards),
	NODE("shown_gather", "Gathering that shows", FORM_SECONDS, shown_gather,
	     shown_gather_terms, NULL,
	     "In the backward, of both directions by their seconds."),
	NODE("shown_scatter", "Scattering that shows", FORM_SECONDS, shown_scatter,
	     shown_scatter_terms, NULL,
	     "In the backward, of both directions by their seconds."),
	NODE_OF("shown_offload", "Offload that shows", FORM_SECONDS, shown_offload,
		"f + b", "Out in the forward, back in the backward.",
		{ "f", "in the forward", ".offload_forward" },
		{ "b", "in the backward", ".offload_backward" }),
	NODE("again_seconds", "Gathering its weights again", FORM_SECONDS,
	     gathers_again, NULL, EXPLAIN_COUNTED,
	     "For a backward, which reads nothing of frozen layers."),
	NODE("gather_seconds", "Gathering its weights", FORM_SECONDS, gathers,
	     explain_gathers, NULL, "Before a pass needs them."),
	NODE("scatter_seconds", "Scattering its gradients", FORM_SECONDS, scatters,
	     explain_scatters, NULL, "Behind each micro-batch."),
	NODE("layers", "Layers of a virtual stage", FORM_COUNT, all_layers, NULL,
	     EXPLAIN_COUNTED, "Dealt out by the split (knob split)."),
	NODE("offload_forward", "Offload in a forward", FORM_SECONDS, offload_forward,
	     offload_forward_terms, NULL, offload),
	NODE("offload_backward", "Offload in a backward", FORM_SECONDS,
	     offload_backward, offload_backward_terms, NULL, offload),
	NODE("sent_bytes", "Activations that go to the host", FORM_BYTES, sent,
	     add_sent, NULL, layers),
	{ .row.key = NULL },
};
