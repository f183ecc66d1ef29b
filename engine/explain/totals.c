/* totals.c - where the totals come from. */
#include <math.h>

#include "engine/explain/row.h"

static void model(const struct asked *a, struct explanation *out)
{
	const struct model *m = &a->scenario->model;

	explain_term(out, "L", "layers", FORM_COUNT, (double)m->layers);
	explain_term(out, "h", "hidden size", FORM_COUNT, (double)m->hidden);
	explain_term(out, "V", "vocabulary", FORM_COUNT, (double)m->vocab);
	if (m->moe.experts > 0) {
		explain_term(out, "E", "experts of a layer", FORM_COUNT,
			     (double)m->moe.experts);
		explain_term(out, "k", "experts per token", FORM_COUNT,
			     (double)m->moe.experts_per_token);
		explain_term(out, "fe", "width of an expert", FORM_COUNT,
			     (double)m->moe.expert_ffn);
	}
}

static void flops(const struct asked *a, struct explanation *out)
{
	const struct model *m = &a->scenario->model;
	struct model_counts counts;
	int64_t rank = a->scenario->plan.lora_rank;
	double scores, each = model_weight_flops(rank);
	double adapters = model_adapters(m, rank);

	model_count(m, &counts);
	if (m->tied_embeddings)
		counts.embedding -= (double)m->vocab * (double)m->hidden;
	scores = a->estimate->flops_per_token -
		 each * (counts.active - counts.embedding) - 6 * adapters;
	explain_term(out, "w", "a weight: 2 forward, 2 its input's, 2 its own gradient",
		     FORM_COUNT, each);
	explain_term(out, "A", "weights of LoRA adapters", FORM_COUNT, adapters);
	explain_term(out, "N", "active parameters, the table among them", FORM_COUNT,
		     counts.active);
	explain_term(out, "table", "embeddings that only look up", FORM_COUNT,
		     counts.embedding);
	explain_term(out, "S", "attention scores, scans, MTP layers", FORM_FLOPS,
		     scores);
	explain_term(out, "s", "sequence, tokens", FORM_COUNT,
		     (double)a->scenario->plan.seq_len);
	model(a, out);
}

static void capacity(const struct asked *a, struct explanation *out)
{
	const struct accelerator *acc = &a->scenario->cluster.accelerator;

	explain_term(out, "label", "memory as sold", FORM_BYTES, acc->memory_bytes);
	explain_term(out, "usable", "what a framework can allocate", FORM_BYTES,
		     acc->usable_bytes);
}

static void fit(const struct asked *a, struct explanation *out)
{
	explain_term(out, "M", "memory of the fullest stage", FORM_BYTES,
		     a->estimate->memory.total_bytes);
	explain_term(out, "C", "capacity", FORM_BYTES, a->estimate->capacity_bytes);
	explain_term(out, "x", "M / C", FORM_REAL,
		     a->estimate->capacity_bytes > 0
			     ? a->estimate->memory.total_bytes /
				       a->estimate->capacity_bytes
			     : 0);
	explain_term(out, "u", "0.5 on an accelerator that nobody measured, else 0",
		     FORM_REAL, a->estimate->unsure ? 0.5 : 0);
}

static void step_terms(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;

	explain_term(out, "compute", "with recomputation and launch cost", FORM_SECONDS,
		     e->compute_seconds);
	explain_term(out, "exposed", "communication and offload", FORM_SECONDS,
		     e->exposed_seconds);
	explain_term(out, "bubble", "idle", FORM_SECONDS, e->bubble_seconds);
	explain_term(out, "opt", "optimizer", FORM_SECONDS, e->optimizer_seconds);
}

static void range(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;
	double t = e->step_seconds;

	explain_link(out, "t", "step", FORM_SECONDS, t, "step_seconds");
	explain_term(out, "low", "10 % of runs are faster than t times this", FORM_REAL,
		     t > 0 ? e->step_low_seconds / t : 0);
	explain_term(out, "high", "10 % of runs are slower than t times this",
		     FORM_REAL, t > 0 ? e->step_high_seconds / t : 0);
}

static void memory_range(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;
	double held = e->memory.total_bytes;

	explain_link(out, "M", "memory of the fullest stage", FORM_BYTES, held,
		     "total_bytes");
	explain_term(out, "low", "10 % of runs need less than M times this", FORM_REAL,
		     held > 0 ? e->memory_low_bytes / held : 0);
	explain_term(out, "high", "10 % of runs need more than M times this", FORM_REAL,
		     held > 0 ? e->memory_high_bytes / held : 0);
}

static void waiting(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;

	explain_term(out, "idle", "for other stages while micro-batches run",
		     FORM_SECONDS, e->pipeline_idle_seconds);
	explain_term(out, "late", "for the slowest stage's gradients and optimizer",
		     FORM_SECONDS, e->end_idle_seconds);
	explain_link(out, "ratio", "idle as a share of the pipeline phase",
		     FORM_PERCENT, e->bubble_ratio, "bubble_ratio");
}

static void exposed(const struct asked *a, struct explanation *out)
{
	for (int d = 0; d < DIM_COUNT; d++)
		explain_term(out, dimension_label((enum dimension)d),
			     "mean over the stages", FORM_SECONDS,
			     a->estimate->cost[d].exposed_seconds);
}

static void stage_means(const struct asked *a, struct explanation *out)
{
	explain_term(out, "p", "stages", FORM_COUNT, a->estimate->stages);
	explain_term(out, "m", "micro-batches per pipeline", FORM_COUNT,
		     (double)a->estimate->micro_batches);
	explain_term(out, "step", "of all stages", FORM_SECONDS,
		     a->estimate->step_seconds);
}

/* The plan's counts, and what the schedule's paper says of them; returns that in
 * micro-batches' time. */
static double add_law(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;
	struct law_case shape;
	const struct schedule_law *law = explain_law(a, &shape);

	explain_term(out, "p", "stages", FORM_COUNT, e->stages);
	explain_term(out, "v", "chunks per stage", FORM_COUNT, (double)e->chunks);
	explain_term(out, "m", "micro-batches per pipeline", FORM_COUNT,
		     (double)e->micro_batches);
	out->source = law->source;
	return e->stages > 1 ? law->idle_seconds(&shape) : 0;
}

static void add_phase(const struct asked *a, struct explanation *out)
{
	explain_term(out, "idle", "of a stage in the pipeline phase, mean",
		     FORM_SECONDS, a->estimate->pipeline_idle_seconds);
	explain_term(out, "phase", "first forward to last backward", FORM_SECONDS,
		     a->estimate->pipeline_seconds);
}

static void bubble(const struct asked *a, struct explanation *out)
{
	double idle = add_law(a, out), m = (double)a->estimate->micro_batches;

	add_phase(a, out);
	explain_term(out, "equal", explain_law(a, NULL)->idle, FORM_PERCENT,
		     m + idle > 0 ? idle / (m + idle) : 0);
}

static void idle(const struct asked *a, struct explanation *out)
{
	double idle = add_law(a, out), m = (double)a->estimate->micro_batches;

	add_phase(a, out);
	explain_term(out, "equal", explain_law(a, NULL)->idle, FORM_PERCENT,
		     m > 0 ? idle / m : 0);
}

static void rate(const struct asked *a, struct explanation *out)
{
	const struct plan *plan = &a->scenario->plan;

	explain_term(out, "gbs", "sequences per step", FORM_COUNT,
		     (double)plan->global_batch);
	explain_term(out, "s", "tokens a sequence", FORM_COUNT, (double)plan->seq_len);
	explain_term(out, "t", "step", FORM_SECONDS, a->estimate->step_seconds);
	explain_term(out, "n", "GPUs", FORM_COUNT, (double)a->estimate->world);
}

static void utilization(const struct asked *a, struct explanation *out)
{
	const double *peaks = a->scenario->cluster.accelerator.peak_flops;
	double peak = peaks[a->scenario->plan.precision];
	double bf16 = peaks[PRECISION_BF16] > 0 ? peaks[PRECISION_BF16]
						: peaks[PRECISION_FP16];

	explain_term(out, "r", "tokens/s of one GPU", FORM_RATE,
		     a->estimate->tokens_per_second_per_gpu);
	explain_term(out, "F", "model FLOPs per token", FORM_FLOPS,
		     a->estimate->flops_per_token);
	explain_term(out, "peak", "dense peak of the precision, FLOP/s", FORM_FLOPS,
		     peak > 0 ? peak : bf16);
	explain_term(out, "peak16", "dense peak of bf16, FLOP/s", FORM_FLOPS, bf16);
}

static void hardware(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;
	const double *peaks = a->scenario->cluster.accelerator.peak_flops;
	double peak = peaks[a->scenario->plan.precision];

	if (peak <= 0)
		peak = peaks[PRECISION_BF16] > 0 ? peaks[PRECISION_BF16]
						 : peaks[PRECISION_FP16];
	explain_term(out, "MFU", "without recomputation", FORM_PERCENT, e->mfu);
	explain_term(out, "X", "FLOPs computed again, a GPU and step", FORM_FLOPS,
		     (e->hfu - e->mfu) * e->step_seconds * peak);
	explain_term(out, "t", "step", FORM_SECONDS, e->step_seconds);
	explain_term(out, "peak", "dense peak of the precision, FLOP/s", FORM_FLOPS,
		     peak);
}

static void run(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;

	explain_term(out, "T", "tokens of the run", FORM_TOKENS,
		     a->scenario->plan.tokens);
	explain_link(out, "gbs", "sequences per step", FORM_COUNT,
		     (double)a->scenario->plan.global_batch, "gbs");
	explain_link(out, "s", "tokens a sequence", FORM_COUNT,
		     (double)a->scenario->plan.seq_len, "seq");
	explain_term(out, "steps", "steps", FORM_COUNT, e->run.steps);
	explain_term(out, "t", "step", FORM_SECONDS, e->step_seconds);
	explain_term(out, "g", "goodput", FORM_PERCENT, e->run.goodput);
	explain_term(out, "n", "GPUs", FORM_COUNT, (double)e->world);
}

static void money(const struct asked *a, struct explanation *out)
{
	run(a, out);
	explain_term(out, "price", "of a GPU-hour", FORM_DOLLARS,
		     a->scenario->cluster.price_per_gpu_hour);
	explain_term(out, "hours", "GPU-hours of the run", FORM_COUNT,
		     a->estimate->run.gpu_hours);
	explain_term(out, "r", "time of the run", FORM_DATE, a->estimate->run.seconds);
}

static void energy(const struct asked *a, struct explanation *out)
{
	const struct cluster *c = &a->scenario->cluster;

	run(a, out);
	explain_term(out, "TDP", "of a GPU, watts", FORM_REAL,
		     c->accelerator.tdp_watts);
	explain_term(out, "idle", "of a GPU, watts", FORM_REAL,
		     c->accelerator.idle_watts);
	explain_term(out, "host", "CPU, NIC, fans and switches per GPU, watts",
		     FORM_REAL, c->host_watts_per_gpu);
	explain_term(out, "PUE", "of the data centre", FORM_REAL,
		     c->pue > 0 ? c->pue : 1);
	explain_term(out, "busy", "share of the step that computes", FORM_PERCENT,
		     a->estimate->step_seconds > 0
			     ? a->estimate->compute_seconds / a->estimate->step_seconds
			     : 0);
	explain_term(out, "r", "time of the run", FORM_DATE, a->estimate->run.seconds);
}

static void failures(const struct asked *a, struct explanation *out)
{
	const struct cluster *c = &a->scenario->cluster;
	const struct run_cost *r = &a->estimate->run;

	explain_term(out, "MTBF", "of one node, hours", FORM_REAL, c->node_mtbf_hours);
	explain_term(out, "nodes", "of the job", FORM_COUNT,
		     ceil((double)c->gpus /
			  (double)(c->gpus_per_node > 0 ? c->gpus_per_node : 1)));
	explain_term(out, "C", "time of a checkpoint", FORM_SECONDS,
		     r->checkpoint_seconds);
	explain_term(out, "i", "between checkpoints", FORM_DATE,
		     r->checkpoint_interval_seconds);
	explain_term(out, "R", "restart", FORM_DATE, c->restart_seconds);
	explain_term(out, "bytes", "of a checkpoint", FORM_BYTES, r->checkpoint_bytes);
	explain_term(out, "bw", "storage of a node, bytes/s", FORM_TRAFFIC,
		     c->checkpoint_bytes_per_second);
	explain_term(out, "P", "parameters", FORM_COUNT, a->estimate->parameters);
	explain_term(out, "t", "time of the run", FORM_DATE, r->seconds);
}

static const char mean_of_stages[] =
	"Mean over the stages, so that compute + exposed + bubble + optimizer = step.";
static const char definition[] = "definition in engine/README.md";
static const char coverage[] = "An interval that covers four runs of five, as wide as "
			       "the errors of runs of the "
			       "same kind in validation; 0 where no width is known.";
static const char daly[] = "Young 1974; Daly 2006, equation 5";

const struct explain_row explain_totals[] = {
	{ "active_parameters", "Active parameters",
	  "parameters with k of E routed experts",
	  "Per token: dense parts, shared experts, k routed experts, embeddings.",
	  "the model's file names its source", model },
	{ "parameters", "Parameters", "sum over layers, embeddings and norms",
	  "Without MTP layers, as published counts do.",
	  "the model's file names its source", model },
	{ "flops_per_token", "Model FLOPs per token", "w * (N - table) + 6 * A + S",
	  "Forward and backward, nothing recomputed; frozen weights under LoRA have no "
	  "gradient of their own, w = 4. S is 6 * L * s * heads * head_dim and "
	  "what other mixers scan. Attention counts the causal half (unless the "
	  "convention is full), windows as they are; a tied table counts once, as the "
	  "head.",
	  "PaLM, arXiv 2204.02311, appendix B; LoRA, arXiv 2106.09685", flops },
	{ "capacity_bytes", "Capacity", "usable",
	  "What a framework can allocate on this accelerator, not the label.",
	  "presets/clusters: usable_gib", capacity },
	{ "fit_probability", "Chance that it fits",
	  "(1 - u) / (1 + exp(18 * (x - 1.005))) + u / 2",
	  "Memory near the edge is a chance: fragmentation and imbalance decide. Below "
	  "0.7 of the capacity none of 1567 measured runs failed.",
	  "logistic through 2705 measured runs on 80 GB GPUs (tests/validation)", fit },
	{ "total_bytes_low", "Memory, low end", "M * low", coverage, "tests/validation",
	  memory_range },
	{ "total_bytes_high", "Memory, high end", "M * high", coverage,
	  "tests/validation", memory_range },
	{ "step_seconds", "Time of a step", "compute + exposed + bubble + opt",
	  "The pipeline from the first forward to the last backward, then the slowest "
	  "stage's gradients and optimizer.",
	  "Calculon (SC'23), section 4; definition in engine/README.md", step_terms },
	{ "step_seconds_low", "Step, low end", "t * low", coverage, "tests/validation",
	  range },
	{ "step_seconds_high", "Step, high end", "t * high", coverage,
	  "tests/validation", range },
	{ "compute_seconds", "Compute",
	  "mean over stages of m * (forward + backward) without exposed communication",
	  mean_of_stages, definition, stage_means },
	{ "bubble_seconds", "Bubble", "idle + late",
	  "Stages wait for their first micro-batch, between unequal ones, and behind "
	  "their last; then for whoever ends its step last. Means over the stages: "
	  "compute + exposed + bubble + optimizer = step.",
	  "counted in the pipeline as it runs; see Bubble ratio for the closed form",
	  waiting },
	{ "exposed_seconds", "Exposed communication", "TP + CP + EP + PP + DP + host",
	  mean_of_stages, definition, exposed },
	{ "optimizer_seconds", "Optimizer", "mean over stages of the optimizer step",
	  mean_of_stages, definition, stage_means },
	{ "recompute_seconds", "Recomputation",
	  "mean over stages of forwards computed again", mean_of_stages, definition,
	  stage_means },
	{ "bubble_ratio", "Bubble ratio", "idle / phase",
	  "Averaged over the stages, of the pipeline phase alone. `equal` is what the "
	  "schedule's paper says of equal stages and free sends, F = B = W; unequal "
	  "ones and sends that are not hidden make it larger.",
	  "the schedule's paper", bubble },
	{ "idle_to_ideal", "Idle over ideal", "idle / (phase - idle)",
	  "The same idle time as a share of the work instead of the phase. `equal` "
	  "is what the schedule's paper says of equal stages and free sends.",
	  "the schedule's paper", idle },
	{ "tokens_per_second", "Tokens per second", "gbs * s / t",
	  "Of the whole job, without failures; padding counts as tokens.", definition,
	  rate },
	{ "tokens_per_second_per_gpu", "Tokens per second and GPU", "gbs * s / t / n",
	  "Of the whole job, without failures; padding counts as tokens.", definition,
	  rate },
	{ "tokens_per_step", "Tokens of a step", "gbs * s", "Padding counts as tokens.",
	  definition, rate },
	{ "tflops_per_gpu", "Model TFLOP/s per GPU", "r * F / 1e12",
	  "Model FLOPs, so recomputation does not raise it. Full-square conventions "
	  "print higher numbers: see the FLOPs convention knob.",
	  "PaLM, arXiv 2204.02311, appendix B", utilization },
	{ "mfu", "Model FLOPs utilization", "r * F / peak",
	  "Over the dense peak of the precision that large products run in; of bf16 "
	  "where the accelerator has no units for it.",
	  "PaLM, arXiv 2204.02311, appendix B", utilization },
	{ "mfu_bf16", "Model FLOPs utilization over bf16", "r * F / peak16",
	  "For fp8 and fp4, to compare with bf16 runs; may exceed 100 %.",
	  "PaLM, arXiv 2204.02311, appendix B", utilization },
	{ "hfu", "Hardware FLOPs utilization", "MFU + X / (t * peak)",
	  "Adds recomputation, not what a flash kernel recomputes inside.",
	  "Korthikanti et al., arXiv 2205.05198, section 6.3", hardware },
	{ "run_steps", "Steps of the run", "ceil(T / (gbs * s))", "Rounded up.",
	  definition, run },
	{ "run_seconds", "Time of the run", "steps * t / g",
	  "With checkpoints, failures and restarts, at a constant step time.", daly,
	  run },
	{ "run_gpu_hours", "GPU-hours", "n * r / 3600",
	  "Every GPU is paid all the time.", definition, money },
	{ "run_dollars", "Cost", "hours * price",
	  "The price is an input: turn it to yours.", "presets/clusters", money },
	{ "run_joules", "Energy", "r * n * (idle + busy * (TDP - idle) + host) * PUE",
	  "A GPU that computes draws its TDP, one that waits its idle power.",
	  "presets/clusters; Patterson et al., arXiv 2104.10350", energy },
	{ "goodput", "Goodput",
	  "if(MTBF > 0, max(0, 1 - C / i - (i / 2 + R) * nodes / (3600 * MTBF)), 1)",
	  "What is left after checkpoints, lost work and restarts; failures are "
	  "independent.",
	  daly, failures },
	{ "checkpoint_bytes", "Checkpoint", "14 * P",
	  "16-bit weights, fp32 master and two moments, stored once.", definition,
	  failures },
	{ "checkpoint_seconds", "Time of a checkpoint", "bytes / (nodes * bw)",
	  "All nodes write at once, and training waits.", "presets/clusters",
	  failures },
	{ "checkpoint_interval_seconds", "Between checkpoints",
	  "sqrt(2 * max(C, 1) * 3600 * MTBF / nodes)", "The interval that loses least.",
	  daly, failures },
	{ "run_failures", "Failures in the run",
	  "if(MTBF > 0, t * nodes / (3600 * MTBF), 0)", "Each stops the whole job.",
	  "Llama 3, arXiv 2407.21783, section 3.3.4; presets/clusters", failures },
	{ 0 },
};
