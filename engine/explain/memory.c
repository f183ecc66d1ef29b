/* memory.c - where the bytes of a stage come from. */
#include <math.h>
#include <stddef.h>

#include "engine/explain/terms.h"
#include "engine/schedule/schedule.h"

/* D parameters, or D and E, each over the ranks that share it. */
static void share_out(const struct asked *a, struct explanation *out, bool shared)
{
	bool experts = a->scenario->model.moe.experts > 0;

	explain_say(out, experts  ? shared ? "(D / d + E / ed)" : "(D + E)"
			 : shared ? "D / d"
				  : "D");
	if (shared)
		explain_from(a, out, "d", "ranks that share each", "shards.dense");
	if (shared && experts)
		explain_from(a, out, "ed", "ranks that share an expert's",
			     "shards.expert");
}

static void add_trained(const struct asked *a, struct explanation *out)
{
	own(a, out, "D", "trainable dense parameters on one rank", "trained_dense");
	if (a->scenario->model.moe.experts > 0)
		own(a, out, "E", "of experts", "trained_experts");
}

static void weights(const struct asked *a, struct explanation *out)
{
	explain_say(out, "b * ");
	explain_from(a, out, "b", "bytes each", "states.weight_bytes");
	own(a, out, "D", "dense parameters on one rank of the stage",
	    "dense_parameters");
	if (a->scenario->model.moe.experts > 0)
		own(a, out, "E", "of experts", "expert_parameters");
	share_out(a, out, a->scenario->plan.zero >= 3);
}

static void fill_gradients(const struct asked *a, struct explanation *out)
{
	bool whole = states_stay_whole(a->scenario);

	explain_say(out, "g * ");
	explain_from(a, out, "g", "bytes of a gradient", "states.gradient_bytes");
	add_trained(a, out);
	share_out(a, out, a->scenario->plan.zero >= 2 && !whole);
	if (whole || !states_gradients_follow(a->scenario))
		return;
	explain_say(out, " * (1 - o)");
	explain_from(a, out, "o", "share summed on the host, as its states",
		     "optimizer_offload");
}

/* K bytes of each, or what the host has for them. */
static void states(const struct asked *a, struct explanation *out, const char *each)
{
	explain_say(out, "%s * ", each);
	explain_from(a, out, "K", "bytes of master weight and moments",
		     "states.optimizer_bytes");
	add_trained(a, out);
	share_out(a, out, a->scenario->plan.zero >= 1);
	explain_from(a, out, "o", "share kept on the host", "optimizer_offload");
}

static void optimizer(const struct asked *a, struct explanation *out)
{
	states(a, out, "K");
	explain_say(out, " * (1 - o)");
}

static void sent_states(const struct asked *a, struct explanation *out)
{
	states(a, out, "(K + if(kept > 2, 2, 4))");
	explain_say(out, " * o");
	explain_from(a, out, "kept", "3 and 4: gradients, too, have 16 bits",
		     "master_weights");
}

static void fill_host(const struct asked *a, struct explanation *out)
{
	const struct step *step = explain_step(a);
	double share[MAX_STAGES];
	int first, count;

	if (!step || a->estimate->host_bytes <= 0) {
		explain_say(out, "0");
		return;
	}
	count = step_host_shares(step, a->estimate->stage, &first, share);
	for (int i = 0; i < count; i++) {
		char symbol[2][16] = {
			{ 'r', (char)('0' + i / 10), (char)('0' + i % 10) },
			{ 'x', (char)('0' + i / 10), (char)('0' + i % 10) }
		};

		explain_say(out, "%s%s * %s", i ? " + " : "", symbol[0], symbol[1]);
		explain_from(a, out, symbol[0],
			     "of the fullest node's GPUs, this stage's",
			     "stages.%d.host_share", first + i);
		explain_from(a, out, symbol[1], "put there by a rank of it",
			     "stages.%d.host_bytes", first + i);
	}
}

FILL(buffers, explain_term_sum(a, out, buffer_terms))
FILL(framework, explain_term_sum(a, out, framework_terms))

static void kv_cache(const struct asked *a, struct explanation *out)
{
	(void)a;
	explain_formula(out, "0");
}

const struct schedule_law *explain_law(const struct asked *a, struct law_case *of_case)
{
	const struct plan *plan = &a->scenario->plan;
	const struct estimate *e = a->estimate;

	if (of_case)
		*of_case = (struct law_case){
			.stages = e->stages,
			.chunks = e->chunks > 0 ? (int)e->chunks : 1,
			.stage = a->stage,
			.micro_batches = e->micro_batches,
			.group = plan->micro_batch_group,
			.barrier = plan->optimizer_sync == SYNC_BARRIER,
			.f = 1.0 / 3,
			.b = 1.0 / 3,
			.w = 1.0 / 3,
		};
	return schedule_law(plan->schedule, e->stages, (int)e->chunks);
}

static void in_flight(const struct asked *a, struct explanation *out)
{
	struct law_case shape;
	const struct schedule_law *law = explain_law(a, &shape);

	explain_formula(out, "held");
	own(a, out, "held", "counted in the order of work", "counted_in_flight");
	out->source = law->source;
	explain_beside(out, "p", "stages", FORM_COUNT, a->estimate->stages, "pp");
	explain_beside(out, "i", "this stage, from 0", FORM_COUNT, a->stage, NULL);
	explain_beside(out, "m", "micro-batches of a step", FORM_COUNT,
		       (double)a->estimate->micro_batches, "micro_batches");
	explain_beside(out, "v", "chunks per stage", FORM_COUNT,
		       (double)a->estimate->chunks, "chunks");
	if (a->estimate->stages > 1)
		explain_beside(out, law->at_most ? "at most" : "n", law->held,
			       FORM_REAL,
			       (double)law->held_chunks(&shape) / shape.chunks, NULL);
}

static void fill_layers(const struct asked *a, struct explanation *out)
{
	const struct model *m = &a->scenario->model;

	for (int k = 0; k < m->kinds; k++) {
		char symbol[16] = { 'n', (char)('0' + k / 10), (char)('0' + k % 10) };

		explain_say(out, "%s%s", k ? " + " : "", symbol);
		explain_from(a, out, symbol, "of a kind", "stages.%d.kinds.%d.layers",
			     a->stage, k);
	}
	if (m->mtp_layers <= 0)
		return;
	explain_say(out, " + mtp");
	own(a, out, "mtp", "that predict further tokens", "mtp_layers");
}

const struct explain_row explain_memory[] = {
	{ "weights_bytes", "Weights", NULL,
	  "Every parameter of the stage that a rank holds after TP and EP, in 16 bits "
	  "(fp8 and fp4 too) or fp32. Below ZeRO 3 d and ed are 1.",
	  "ZeRO, arXiv 1910.02054, section 3.1; Megatron Core's DistributedOptimizer",
	  .fill = weights },
	{ "gradients_bytes", "Gradients", NULL,
	  "The buffer in which gradients are summed over micro-batches lasts the "
	  "whole step. d and ed are 1 below ZeRO 2, and where a pipeline keeps "
	  "gathered weights: it sums whole gradients in fp32. With LoRA only "
	  "adapters count.",
	  "ZeRO, arXiv 1910.02054, section 3.1; Megatron Core's DistributedOptimizer "
	  "(18 -> 6 + 12/d bytes)",
	  .fill = fill_gradients },
	{ "optimizer_bytes", "Optimizer states", NULL,
	  "An fp32 master weight and the moments; Adam's K is 12 with 16-bit weights, "
	  "8-bit Adam's 6. With ZeRO 0 d and ed are 1; with LoRA only adapters count.",
	  "ZeRO, arXiv 1910.02054, section 3.1: K = 12", .fill = optimizer },
	{ "activations_bytes", "Activations", "n * S + R",
	  "S is the sum of the tensors stored for the backward pass over the "
	  "stage's layers, counted operator by operator (see Graph), after "
	  "recomputation. With recomputation, the layer in its backward pass "
	  "holds all its tensors once more.",
	  "Korthikanti et al., arXiv 2205.05198, section 4, equations 1 to 4",
	  .terms = TERMS({ "n", "micro-batches in flight", ".in_flight" },
			 { "S", "bytes that one keeps", ".kept_bytes" },
			 { "R", "of the layer being recomputed", ".again_bytes" }) },
	{ "buffers_bytes", "Buffers", NULL,
	  "Gathered weights are those of the current layer and f layers ahead, "
	  "with the gradients of one, experts included; without resharding, those "
	  "of the whole stage. Logits count on the stage with the head: whole "
	  "with a plain loss, one copy with a fused one, one tile with a chunked "
	  "one; a recomputed layer reuses their memory once they are gone. Keys and "
	  "values of other ranks are those of one layer.",
	  "measured sweeps of tests/validation: whole logits explain half of missed "
	  "out-of-memory cases",
	  .fill = buffers },
	{ "framework_bytes", "Framework", NULL,
	  "What the driver, libraries and communicators take, and what the "
	  "allocator reserves beyond live tensors. Constants of the stack.",
	  "presets/stacks: context_gib, communicator_gib, graph_gib, fragmentation",
	  .fill = framework },
	{ "host_optimizer_bytes", "Optimizer states on the host", NULL,
	  "What is offloaded from the accelerator is held on the host, with the "
	  "fp32 gradients that the host's optimizer step reads.",
	  "DeepSpeed, estimate_zero2_model_states_mem_needs: 16 bytes of Adam; Megatron "
	  "Core, HybridDeviceOptimizer",
	  .fill = sent_states },
	{ "host_activations_bytes", "Activations on the host", "n * S",
	  "Of all micro-batches in flight, at the peak of the stage; the layer in "
	  "its backward pass counts although it has come back.",
	  "ZeRO-Infinity, arXiv 2104.07857, section 5.1",
	  .terms = TERMS({ "n", "micro-batches in flight", ".in_flight" },
			 { "S", "of one that goes to the host", ".sent_bytes" }) },
	{ "host_bytes", "Host memory per GPU", NULL,
	  "On the fullest node: ranks of one stage are adjacent, so a stage that "
	  "fills a node shares it with no other. States take half as much again "
	  "for pinned copies.",
	  "what offload puts there; DeepSpeed's estimates, additional_buffer_factor",
	  .fill = fill_host },
	{ "host_capacity_bytes", "Host memory of a GPU", "H * n",
	  "A job that takes part of a node has all of its host; 0 where the cluster does "
	  "not say what its hosts have.",
	  "presets/clusters: host_gib_per_gpu",
	  .terms = TERMS(
		  { "H", "the host's memory for a GPU", "cluster.host_bytes_per_gpu" },
		  { "n", "GPUs whose share each has", "cluster.host_shares" }) },
	{ "kv_bytes", "KV cache", "0",
	  "Keys and values live only through a layer's backward; they count as "
	  "activations.",
	  "by definition", .fill = kv_cache },
	{ "total_bytes", "Memory of the fullest stage", "W + G + O + A + B + F",
	  "The peak of the fullest rank. All ranks of a stage hold the same, but for "
	  "an imbalance of experts.",
	  "the parts; each has its own explanation",
	  .terms = TERMS({ "W", "weights", ".weights_bytes" },
			 { "G", "gradients", ".gradients_bytes" },
			 { "O", "optimizer", ".optimizer_bytes" },
			 { "A", "activations", ".activations_bytes" },
			 { "B", "buffers", ".buffers_bytes" },
			 { "F", "framework", ".framework_bytes" }) },
	{ "allocated_bytes", "Allocated", "W + G + O + A + B",
	  "What PyTorch's allocator reports as live at the peak: the total without "
	  "framework.",
	  "torch.cuda.max_memory_allocated",
	  .terms = TERMS({ "W", "weights", ".weights_bytes" },
			 { "G", "gradients", ".gradients_bytes" },
			 { "O", "optimizer", ".optimizer_bytes" },
			 { "A", "activations", ".activations_bytes" },
			 { "B", "buffers", ".buffers_bytes" }) },
	{ "reserved_bytes", "Reserved", "live + loose",
	  "What PyTorch's allocator holds at the peak: live tensors and "
	  "fragmentation between them, a share of activations and buffers that is "
	  "a constant of the stack.",
	  "torch.cuda.max_memory_reserved; presets/stacks: fragmentation",
	  .terms = TERMS({ "live", "allocated", ".allocated_bytes" },
			 { "loose", "lost between tensors", ".loose_bytes" }) },
	{ "in_flight", "Micro-batches in flight", NULL,
	  "Forwards whose backward has not run yet, at the peak of the stage, and "
	  "pending weight gradients where they are separate. Schedules other than "
	  "1F1B and GPipe are run event by event and counted.",
	  "the schedule's paper", .fill = in_flight },
	{ "parameters", "Parameters", "D + E",
	  "Of the whole model, without MTP layers as published counts do; of a stage: "
	  "of one of its ranks, TP and EP shares counted.",
	  "the model's file names its source",
	  .terms = TERMS({ "D", "dense weights", ".dense_parameters" },
			 { "E", "of experts", ".expert_parameters" }) },
	{ "layers", "Layers of the stage", NULL,
	  "MTP layers count where they are: on the last stage, or where the layout has "
	  "its m.",
	  "Megatron Core, arguments.py:969-999", .fill = fill_layers },
	{ 0 },
};
