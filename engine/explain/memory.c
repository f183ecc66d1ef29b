/* memory.c - where the bytes of a stage come from. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "engine/explain/row.h"
#include "engine/schedule/schedule.h"
#include "engine/train/step.h"

/* An illegal plan has no stages; its totals are zero. */
static const struct stage_memory *stage_of(const struct asked *asked)
{
	const struct estimate *e = asked->estimate;

	return e->legal ? &e->stage[asked->stage] : &e->memory;
}

double explain_shards(const struct asked *a, bool experts)
{
	struct shards shards;

	states_shards(a->scenario, &shards);
	return (double)(experts ? shards.expert : shards.dense);
}

static const struct stage_parts *parts_of(const struct asked *asked)
{
	static const struct stage_parts none;
	const struct estimate *e = asked->estimate;

	return e->legal ? &e->part[asked->stage] : &none;
}

/* Bytes of one state whole, and over how many ranks it is shared out: of the states as
 * they are held, and as one rank alone would hold them. */
static void add_state(const struct asked *a, struct explanation *out, size_t state,
		      const char *bytes[2])
{
	const struct shards alone = { 1, 1, false };
	struct states whole, held;
	struct shards shards;
	double each[2][2];

	states_shards(a->scenario, &shards);
	states_bytes(a->scenario, &shards, &held);
	states_bytes(a->scenario, &alone, &whole);
	memcpy(&each[0][0], (const char *)&whole.dense + state, sizeof(double));
	memcpy(&each[0][1], (const char *)&held.dense + state, sizeof(double));
	memcpy(&each[1][0], (const char *)&whole.expert + state, sizeof(double));
	memcpy(&each[1][1], (const char *)&held.expert + state, sizeof(double));
	explain_term(out, bytes[0], bytes[1], FORM_REAL, each[0][0]);
	explain_link(out, "ZeRO", "stage", FORM_COUNT, (double)a->scenario->plan.zero,
		     "zero");
	explain_term(out, "d", "ranks that share each (DP x CP, a group, or 1)",
		     FORM_COUNT, each[0][0] / each[0][1]);
	explain_term(out, "ed", "ranks that share an expert's", FORM_COUNT,
		     each[1][0] / each[1][1]);
}

static void add_trained(const struct asked *a, struct explanation *out)
{
	const struct stage_parts *part = parts_of(a);

	explain_term(out, "D", "dense parameters that train on one rank", FORM_COUNT,
		     part->trained - part->trained_experts);
	explain_term(out, "E", "of experts", FORM_COUNT, part->trained_experts);
}

static void weights(const struct asked *a, struct explanation *out)
{
	const struct stage_parts *part = parts_of(a);

	explain_term(out, "D", "dense parameters on one rank of the stage", FORM_COUNT,
		     stage_of(a)->parameters - part->experts);
	explain_term(out, "E", "of experts", FORM_COUNT, part->experts);
	add_state(a, out, offsetof(struct weight_states, weight),
		  (const char *[]){ "b", "bytes each" });
}

static void gradients(const struct asked *a, struct explanation *out)
{
	add_trained(a, out);
	add_state(a, out, offsetof(struct weight_states, gradient),
		  (const char *[]){ "g", "bytes of a gradient" });
}

static void optimizer(const struct asked *a, struct explanation *out)
{
	add_trained(a, out);
	add_state(a, out, offsetof(struct weight_states, optimizer),
		  (const char *[]){ "K", "bytes of master weight and moments" });
	explain_link(out, "o", "share kept on the host", FORM_PERCENT,
		     a->scenario->plan.optimizer_offload, "optimizer_offload");
}

static void sent_activations(const struct asked *a, struct explanation *out)
{
	const struct stage_memory *m = stage_of(a);
	double share = a->scenario->plan.activation_offload;

	explain_term(out, "a", "share of activations that goes to the host",
		     FORM_PERCENT, share);
	explain_term(out, "n", "micro-batches in flight", FORM_REAL, m->in_flight);
	explain_term(out, "S", "kept of one, before offload", FORM_BYTES,
		     m->in_flight > 0 && share > 0
			     ? m->host_activations_bytes / m->in_flight / share
			     : 0);
}

static void host(const struct asked *a, struct explanation *out)
{
	const struct cluster *c = &a->scenario->cluster;
	const struct estimate *e = a->estimate;
	const struct stage_memory *most = &e->memory;

	for (int i = 0; e->legal && i < e->stages; i++)
		if (e->stage[i].host_optimizer_bytes +
			    e->stage[i].host_activations_bytes >
		    most->host_optimizer_bytes + most->host_activations_bytes)
			most = &e->stage[i];
	explain_term(out, "O", "optimizer states that the fullest stage sent",
		     FORM_BYTES, most->host_optimizer_bytes);
	explain_term(out, "A", "activations that it sent", FORM_BYTES,
		     most->host_activations_bytes);
	explain_term(out, "G", "GPUs of a node", FORM_COUNT, (double)c->gpus_per_node);
	explain_term(out, "R", "GPUs of a stage", FORM_COUNT,
		     e->stages > 0 ? (double)(c->gpus / e->stages) : 0);
	explain_term(out, "H", "the host's memory for a GPU", FORM_BYTES,
		     c->host_bytes_per_gpu);
}

static void activations(const struct asked *a, struct explanation *out)
{
	const struct stage_memory *m = stage_of(a);
	const struct plan *plan = &a->scenario->plan;

	explain_term(out, "n", "micro-batches in flight", FORM_REAL, m->in_flight);
	explain_term(out, "L", "layers of the stage", FORM_REAL, m->layers);
	explain_term(out, "T", "tokens of a micro-batch on a rank", FORM_COUNT,
		     (double)(plan->micro_batch * plan->seq_len /
			      (plan->cp > 0 ? plan->cp : 1)));
	explain_term(out, "t", "TP, which splits them where SP holds", FORM_COUNT,
		     (double)plan->tp);
	explain_term(out, "S", "bytes that one keeps", FORM_BYTES,
		     parts_of(a)->kept_bytes);
	explain_term(out, "R", "of the layer that is recomputed at work", FORM_BYTES,
		     parts_of(a)->again_bytes);
}

static void buffers(const struct asked *a, struct explanation *out)
{
	const struct stage_parts *part = parts_of(a);

	explain_term(out, "logits", "of a micro-batch, T * V * l / TP", FORM_BYTES,
		     part->logits_bytes);
	explain_term(out, "gathered", "layers that ZeRO 3 holds whole", FORM_BYTES,
		     part->gathered_bytes);
	explain_term(out, "copies", "16-bit weight gradients beside the sum",
		     FORM_BYTES, part->copies_bytes);
	explain_term(out, "V", "vocabulary after padding", FORM_COUNT,
		     (double)a->estimate->padded_vocab);
	explain_term(out, "l", "bytes per logit at the loss's peak", FORM_REAL,
		     step_logit_width(a->scenario));
	explain_term(out, "f", "layers gathered ahead (FSDP)", FORM_COUNT,
		     a->scenario->plan.zero == 3
			     ? (double)a->scenario->plan.fsdp_prefetch
			     : 0);
}

static void framework(const struct asked *a, struct explanation *out)
{
	const struct stack *stack = &a->scenario->stack;
	const struct stage_memory *m = stage_of(a);
	double ratio = stack->fragmentation > 1 ? stack->fragmentation : 1;
	double loose = (ratio - 1) * (m->activations_bytes + m->buffers_bytes);
	double graphs = step_graph_bytes(a->scenario);
	double links = m->framework_bytes - stack->context_bytes - graphs - loose;

	explain_term(out, "C", "context and libraries", FORM_BYTES,
		     stack->context_bytes);
	explain_term(out, "c", "of each communicator in use", FORM_BYTES,
		     stack->communicator_bytes);
	explain_term(out, "groups", "communicators of a rank", FORM_COUNT,
		     stack->communicator_bytes > 0
			     ? round(links / stack->communicator_bytes)
			     : 0);
	explain_term(out, "g", "captured CUDA graphs", FORM_BYTES, graphs);
	explain_term(out, "r", "reserved over allocated", FORM_REAL, ratio);
	explain_term(out, "A", "activations", FORM_BYTES,
		     stage_of(a)->activations_bytes);
	explain_term(out, "B", "buffers", FORM_BYTES, stage_of(a)->buffers_bytes);
}

static void allocated(const struct asked *a, struct explanation *out)
{
	const struct stage_memory *m = stage_of(a);

	explain_term(out, "W", "weights", FORM_BYTES, m->weights_bytes);
	explain_term(out, "G", "gradients", FORM_BYTES, m->gradients_bytes);
	explain_term(out, "O", "optimizer", FORM_BYTES, m->optimizer_bytes);
	explain_term(out, "A", "activations", FORM_BYTES, m->activations_bytes);
	explain_term(out, "B", "buffers", FORM_BYTES, m->buffers_bytes);
}

static void reserved(const struct asked *a, struct explanation *out)
{
	allocated(a, out);
	explain_term(out, "R", "what the allocator's cache loses", FORM_BYTES,
		     stage_of(a)->reserved_bytes - stage_of(a)->allocated_bytes);
}

static void kv_cache(const struct asked *a, struct explanation *out)
{
	(void)a, (void)out;
}

static void total(const struct asked *a, struct explanation *out)
{
	allocated(a, out);
	explain_term(out, "F", "framework", FORM_BYTES, stage_of(a)->framework_bytes);
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

	out->formula = law->held;
	out->source = law->source;
	explain_term(out, "p", "stages", FORM_COUNT, a->estimate->stages);
	explain_term(out, "i", "this stage, from 0", FORM_COUNT, a->stage);
	explain_term(out, "m", "micro-batches of a step", FORM_COUNT,
		     (double)a->estimate->micro_batches);
	explain_term(out, "v", "chunks per stage", FORM_COUNT,
		     (double)a->estimate->chunks);
	if (a->estimate->stages > 1)
		explain_term(
			out, "n", law->at_most ? "so at most" : "with equal stages",
			FORM_REAL, (double)law->held_chunks(&shape) / shape.chunks);
	if (law->held_chunks == schedule_laws[SCHEDULE_INTERLEAVED].held_chunks)
		explain_term(out, "N", "micro-batches of a group", FORM_COUNT,
			     (double)(shape.group > 0 ? shape.group : shape.stages));
}

static void parameters(const struct asked *a, struct explanation *out)
{
	explain_term(out, "N", "parameters of the model", FORM_COUNT,
		     a->estimate->parameters);
	explain_term(out, "t", "TP", FORM_COUNT, (double)a->scenario->plan.tp);
	explain_term(out, "e", "EP", FORM_COUNT, (double)a->scenario->plan.ep);
	explain_term(out, "L", "layers of the stage", FORM_REAL, stage_of(a)->layers);
}

static void layers(const struct asked *a, struct explanation *out)
{
	explain_term(out, "L", "layers of the model", FORM_COUNT,
		     (double)a->scenario->model.layers);
	explain_term(out, "p", "stages", FORM_COUNT, a->estimate->stages);
	explain_term(out, "v", "chunks per stage", FORM_COUNT,
		     (double)a->estimate->chunks);
}

const struct explain_row explain_memory[] = {
	{ "weights_bytes", "Weights", "b * (D / d + E / ed)",
	  "Every parameter of the stage that a rank holds after TP and EP, in 16 bits "
	  "(fp8 and fp4 too) or fp32. Below ZeRO 3 d and ed are 1.",
	  "ZeRO, arXiv 1910.02054, section 3.1; Megatron Core's DistributedOptimizer",
	  weights },
	{ "gradients_bytes", "Gradients", "g * (D / d + E / ed)",
	  "The buffer in which gradients are summed over micro-batches lives through "
	  "the whole step. Below ZeRO 2 d and ed are 1, and where a pipeline keeps "
	  "gathered weights: it sums whole gradients in fp32. With LoRA only adapters "
	  "count.",
	  "ZeRO, arXiv 1910.02054, section 3.1; Megatron Core's DistributedOptimizer "
	  "(18 -> 6 + 12/d bytes)",
	  gradients },
	{ "optimizer_bytes", "Optimizer states", "K * (D / d + E / ed) * (1 - o)",
	  "An fp32 master weight and the moments; Adam's K is 12 with 16-bit weights, "
	  "8-bit Adam's 6. With ZeRO 0 d and ed are 1; with LoRA only adapters count.",
	  "ZeRO, arXiv 1910.02054, section 3.1: K = 12", optimizer },
	{ "activations_bytes", "Activations", "n * S + R",
	  "S sums the tensors kept for the backward over the stage's layers, counted "
	  "operator by operator (see Graph), after recomputation. With "
	  "recomputation the layer that runs backward holds all its tensors once more.",
	  "Korthikanti et al., arXiv 2205.05198, section 4, equations 1 to 4",
	  activations },
	{ "buffers_bytes", "Buffers", "logits + gathered + copies",
	  "Gathered are the layer at work and f ahead with the gradients of one, a "
	  "layer with its experts; without resharding all of the stage. Logits count "
	  "on the stage with the head: whole with a plain loss, one copy "
	  "with a fused one, an eighth with a chunked one; a layer that is recomputed "
	  "uses their memory once they are gone.",
	  "measured sweeps of tests/validation: whole logits explain half of missed "
	  "out-of-memory cases",
	  buffers },
	{ "framework_bytes", "Framework", "C + c * groups + g + (r - 1) * (A + B)",
	  "What the driver, libraries and communicators take, and what the allocator "
	  "reserves above what is live. Constants of the stack.",
	  "presets/stacks: context_gib, communicator_gib, graph_gib, fragmentation",
	  framework },
	{ "host_optimizer_bytes", "Optimizer states on the host",
	  "K * (D / d + E / ed) * o",
	  "What offload takes from the accelerator stands on the host. The gradients "
	  "that the host's own step reads are not counted here; host capacity leaves "
	  "room for them.",
	  "ZeRO-Offload, arXiv 2101.06840, section 4", optimizer },
	{ "host_activations_bytes", "Activations on the host", "a * n * S",
	  "Of all micro-batches in flight, at the peak of the stage; the layer that "
	  "runs backward counts although it has come back.",
	  "ZeRO-Infinity, arXiv 2104.07857, section 5.1", sent_activations },
	{ "host_bytes", "Host memory per GPU", "O + A where R >= G, else a node's mean",
	  "Of the fullest node: ranks of one stage stand side by side, so a stage that "
	  "fills a node shares it with no other.",
	  "what offload takes from the accelerators; engine/train/host.c", host },
	{ "host_capacity_bytes", "Host memory that may be taken", "H / 1.5",
	  "A third stays for pinned copies, gradients on their way to the host, the "
	  "system and data loaders; 0 where the cluster does not say what its hosts "
	  "have.",
	  "presets/clusters: host_gib_per_gpu; 1.5 is DeepSpeed's "
	  "additional_buffer_factor of its memory estimates",
	  host },
	{ "kv_bytes", "KV cache", "0: training keeps none",
	  "Keys and values live only through a layer's backward; they count as "
	  "activations.",
	  "by definition", kv_cache },
	{ "total_bytes", "Memory of the fullest stage", "W + G + O + A + B + F",
	  "The peak of the fullest rank. All ranks of a stage hold the same, but for "
	  "an "
	  "imbalance of experts.",
	  "the parts; each has its own explanation", total },
	{ "allocated_bytes", "Allocated", "W + G + O + A + B",
	  "What PyTorch's allocator reports as live at the peak: the total without "
	  "framework.",
	  "torch.cuda.max_memory_allocated", allocated },
	{ "reserved_bytes", "Reserved", "W + G + O + A + B + R",
	  "What PyTorch's allocator holds at the peak: live tensors and what its cache "
	  "loses between them, a share of activations and buffers that is a constant "
	  "of the stack.",
	  "torch.cuda.max_memory_reserved; presets/stacks: fragmentation", reserved },
	{ "in_flight", "Micro-batches in flight", "the schedule's own",
	  "Forwards whose backward has not run, at the peak of the stage, and where "
	  "weight gradients are apart, theirs. Schedules that run neither 1F1B nor all "
	  "forwards first are run event by event and counted.",
	  "the schedule's paper", in_flight },
	{ "parameters", "Parameters", "sum over layers, embeddings and norms",
	  "Of the whole model, without MTP layers as published counts do; of a stage: "
	  "of "
	  "one of its ranks, TP and EP shares counted.",
	  "the model's file names its source", parameters },
	{ "layers", "Layers of the stage",
	  "L / p where it divides, else as the split says",
	  "MTP layers count on the last stage.", "Megatron Core, arguments.py:969-999",
	  layers },
	{ 0 },
};
