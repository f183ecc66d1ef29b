/* totals.c - where the totals come from. */
#include <stddef.h>

#include "engine/explain/row.h"
#include "engine/knob/knob.h"

FILL(model, explain_parameters(a, out, false))
FILL(active, explain_parameters(a, out, true))

static void capacity(const struct asked *a, struct explanation *out)
{
	explain_from(a, out, "usable", "what a framework can allocate",
		     "cluster.usable_bytes");
	if (a->scenario->cluster.accelerator.usable_bytes > 0)
		explain_formula(out, "usable");
	else
		explain_from(a, out, "label", "memory as sold", "cluster.memory_bytes");
}

static void fill_fit(const struct asked *a, struct explanation *out)
{
	const struct estimate *e = a->estimate;
	double M = e->memory.total_bytes, C = e->capacity_bytes;
	bool host = e->host_capacity_bytes > 0 &&
		    e->host_bytes / e->host_capacity_bytes > M / C;

	if (host) {
		explain_from(a, out, "M",
			     "sent to the host, whose memory is the fuller",
			     "host_bytes");
		explain_from(a, out, "C", "that may be taken of it",
			     "host_capacity_bytes");
	} else {
		explain_from(a, out, "M", "memory of the fullest stage", "total_bytes");
		explain_from(a, out, "C", "that a framework can use", "capacity_bytes");
	}
	if (e->wide_chance) {
		explain_from(a, out, "h", "a run in ten needs more than so much more",
			     "spread.memory_high");
		explain_from(a, out, "tenth", "the least that is believed of that",
			     "accuracy.fit_tenth_beyond");
	} else {
		explain_from(a, out, "steep", "the fall of measured runs that fitted",
			     "accuracy.fit_steepness");
		explain_from(a, out, "middle", "where half of them did",
			     "accuracy.fit_middle");
	}
	explain_formula(out, e->wide_chance ? step_unsure_text : step_fit_text);
}

static void exposed(const struct asked *a, struct explanation *out)
{
	for (int d = 0; d < DIM_COUNT; d++)
		explain_from(a, out, dimension_label((enum dimension)d),
			     "mean over the stages", "%s.exposed_seconds",
			     dimension_key((enum dimension)d));
}

void explain_mean(const struct asked *a, struct explanation *out, const char *member,
		  const char *meaning)
{
	explain_say(out, "(");
	explain_sum(a, out, "stages", 0, a->estimate->stages - 1, member, meaning);
	explain_say(out, ") / p");
	explain_from(a, out, "p", "stages", "pp");
}

FILL(compute_mean, explain_mean(a, out, "busy_seconds", "computing"))
FILL(optimizer_mean, explain_mean(a, out, "optimizer_seconds", "of a stage: optimizer"))
FILL(recompute_mean,
     explain_mean(a, out, "recompute_seconds", "of a stage: computed again"))

/* What the schedule's paper says of equal stages and free sends. */
static void add_law(const struct asked *a, struct explanation *out, bool of_phase)
{
	const struct estimate *e = a->estimate;
	struct law_case shape;
	const struct schedule_law *law = explain_law(a, &shape);
	double idle = e->stages > 1 ? law->idle_seconds(&shape) : 0;
	double m = (double)e->micro_batches, whole = of_phase ? m + idle : m;

	explain_beside(out, "p", "stages", FORM_COUNT, e->stages, "pp");
	explain_beside(out, "v", "chunks per stage", FORM_COUNT, (double)e->chunks,
		       "chunks");
	explain_beside(out, "m", "micro-batches per pipeline", FORM_COUNT, m,
		       "micro_batches");
	explain_beside(out, "equal", law->idle, FORM_PERCENT,
		       whole > 0 ? idle / whole : 0, NULL);
	out->source = law->source;
}

static void add_phase(const struct asked *a, struct explanation *out)
{
	explain_from(a, out, "idle", "of a stage in the pipeline phase, mean",
		     "pipeline_idle_seconds");
	explain_from(a, out, "phase", "first forward to last backward",
		     "pipeline_seconds");
}

static void bubble(const struct asked *a, struct explanation *out)
{
	add_phase(a, out);
	add_law(a, out, true);
}

static void idle(const struct asked *a, struct explanation *out)
{
	add_phase(a, out);
	add_law(a, out, false);
}

static void work(const struct asked *a, struct explanation *out)
{
	explain_from(a, out, "r", "tokens/s of one GPU", "tokens_per_second_per_gpu");
	explain_from(a, out, "F", "model FLOPs per token", "flops_per_token");
}

static const char *word_of(int precision)
{
	return knob_find("precision")->words[precision];
}

/* Of the precision; of the next 16-bit one where the accelerator has no units for
 * it. */
static void add_peak(const struct asked *a, struct explanation *out, int precision)
{
	const double *peaks = a->scenario->cluster.accelerator.peak_flops;

	if (peaks[precision] <= 0)
		precision = peaks[PRECISION_BF16] > 0 ? PRECISION_BF16 : PRECISION_FP16;
	explain_from(a, out, "peak", "dense peak, FLOP/s", "cluster.peak_flops.%s",
		     word_of(precision));
}

static void utilization(const struct asked *a, struct explanation *out)
{
	work(a, out);
	add_peak(a, out, a->scenario->plan.precision);
}

static void utilization_of_bf16(const struct asked *a, struct explanation *out)
{
	work(a, out);
	add_peak(a, out, PRECISION_BF16);
}

static void hardware(const struct asked *a, struct explanation *out)
{
	explain_from(a, out, "MFU", "without recomputation", "mfu");
	explain_from(a, out, "X", "FLOPs computed again, per GPU and step",
		     "recompute_flops");
	explain_from(a, out, "t", "step", "step_seconds");
	add_peak(a, out, a->scenario->plan.precision);
}

static const char mean_of_stages[] =
	"Mean over the stages, so that compute + exposed + bubble + optimizer = step.";
static const char definition[] = EXPLAIN_DEFINITION;
static const char coverage[] = "An interval that covers four runs of five, as wide as "
			       "the errors of runs of the same kind in validation; 0 "
			       "where no width is known.";
const struct explain_row explain_totals[] = {
	{ "active_parameters", "Active parameters", NULL,
	  "Per token: dense parts, shared experts, k routed experts, embeddings.",
	  "the model's file names its source", .fill = active },
	{ "parameters", "Parameters", NULL,
	  "Without MTP layers, as published counts do.",
	  "the model's file names its source", .fill = model },
	{ "flops_per_token", "Model FLOPs per token", "w * (N - table) + 6 * A + S - Z",
	  "Forward and backward, nothing recomputed; frozen weights under LoRA have no "
	  "gradient of their own, w = 4, and below the first layer that trains there "
	  "is none at all (Z). S is 6 * L * s * heads * head_dim and what "
	  "other mixers scan. Attention counts the causal half (unless the convention "
	  "is full), windows and packed documents as they are; a tied table counts "
	  "once, as the head.",
	  "PaLM, arXiv 2204.02311, appendix B; LoRA, arXiv 2106.09685",
	  .terms = TERMS(
		  { "w", "a weight: 2 forward, 2 its input's, 2 its own gradient",
		    "model.weight_flops" },
		  { "A", "weights of LoRA adapters", "model.adapters" },
		  { "N", "active parameters, the table among them",
		    "active_parameters" },
		  { "table", "embeddings that only look up", "model.table" },
		  { "S", "attention scores, scans, MTP layers", "model.score_flops" },
		  { "Z", "gradients that frozen layers have not",
		    "model.spared_flops" }) },
	{ "capacity_bytes", "Capacity", "label",
	  "What a framework can allocate on this accelerator, not the label.",
	  "presets/clusters: usable_gib", .fill = capacity },
	{ "fit_probability", "Chance that it fits", NULL,
	  "On an accelerator that nobody measured it falls as slowly as the range of "
	  "memory is wide, and above the capacity nothing is known. "
	  "Memory near the edge is a chance: fragmentation and imbalance decide. Below "
	  "0.7 of the capacity none of 1567 measured runs failed.",
	  "logistic through 2705 measured runs on 80 GB GPUs (tests/validation)",
	  .fill = fill_fit },
	{ "total_bytes_low", "Memory, low end", "M * low", coverage, "tests/validation",
	  .terms = TERMS({ "M", "memory of the fullest stage", "total_bytes" },
			 { "low", "10 % of runs need less than M times this",
			   "spread.memory_low" }) },
	{ "total_bytes_high", "Memory, high end", "M * high", coverage,
	  "tests/validation",
	  .terms = TERMS({ "M", "memory of the fullest stage", "total_bytes" },
			 { "high", "10 % of runs need more than M times this",
			   "spread.memory_high" }) },
	{ "step_seconds", "Time of a step", "compute + exposed + bubble + opt",
	  "The pipeline from the first forward to the last backward, then the slowest "
	  "stage's gradients and optimizer.",
	  "Calculon (SC'23), section 4",
	  .terms = TERMS({ "compute", "with recomputation and launch cost",
			   "compute_seconds" },
			 { "exposed", "communication and offload", "exposed_seconds" },
			 { "bubble", "idle", "bubble_seconds" },
			 { "opt", "optimizer", "optimizer_seconds" }) },
	{ "step_seconds_low", "Step, low end", "t * low", coverage, "tests/validation",
	  .terms = TERMS({ "t", "step", "step_seconds" },
			 { "low", "10 % of runs are faster than t times this",
			   "spread.time_low" }) },
	{ "step_seconds_high", "Step, high end", "t * high", coverage,
	  "tests/validation",
	  .terms = TERMS({ "t", "step", "step_seconds" },
			 { "high", "10 % of runs are slower than t times this",
			   "spread.time_high" }) },
	{ "compute_seconds", "Compute", NULL, mean_of_stages, definition,
	  .fill = compute_mean },
	{ "bubble_seconds", "Bubble", "idle + late",
	  "Stages wait for their first micro-batch, between unequal ones, and behind "
	  "their last; then for whoever ends its step last. Means over the stages: "
	  "compute + exposed + bubble + optimizer = step.",
	  "counted in the pipeline as it runs; see Bubble ratio for the closed form",
	  .terms = TERMS({ "idle", "for other stages while micro-batches run",
			   "pipeline_idle_seconds" },
			 { "late", "for the slowest stage's gradients and optimizer",
			   "end_idle_seconds" }) },
	{ "exposed_seconds", "Exposed communication", "TP + CP + EP + PP + DP + host",
	  mean_of_stages, definition, .fill = exposed },
	{ "optimizer_seconds", "Optimizer", NULL, mean_of_stages, definition,
	  .fill = optimizer_mean },
	{ "recompute_seconds", "Recomputation", NULL, mean_of_stages, definition,
	  .fill = recompute_mean },
	{ "bubble_ratio", "Bubble ratio", "idle / phase",
	  "Averaged over the stages, of the pipeline phase alone. `equal` is what the "
	  "schedule's paper says of equal stages and free sends, F = B = W; unequal "
	  "ones and sends that are not hidden make it larger.",
	  "the schedule's paper", .fill = bubble },
	{ "idle_to_ideal", "Idle over ideal", "idle / (phase - idle)",
	  "The same idle time as a share of the work instead of the phase. `equal` "
	  "is what the schedule's paper says of equal stages and free sends.",
	  "the schedule's paper", .fill = idle },
	{ "tokens_per_second", "Tokens per second", "T / t",
	  "Of the whole job, without failures; padding counts as tokens.", definition,
	  .terms = TERMS({ "T", "tokens per step", "tokens_per_step" },
			 { "t", "step", "step_seconds" }) },
	{ "tokens_per_second_per_gpu", "Tokens per second and GPU", "r / n",
	  "Of the whole job, without failures; padding counts as tokens.", definition,
	  .terms = TERMS({ "r", "tokens/s of the job", "tokens_per_second" },
			 { "n", "GPUs", "gpus" }) },
	{ "tokens_per_step", "Tokens of a step", "gbs * s", "Padding counts as tokens.",
	  definition,
	  .terms = TERMS({ "gbs", "sequences per step", "gbs" },
			 { "s", "tokens per sequence", "seq" }) },
	{ "tflops_per_gpu", "Model TFLOP/s per GPU", "r * F / 1e12",
	  "Model FLOPs, so recomputation does not raise it. Full-square conventions "
	  "print higher numbers: see the FLOPs convention knob.",
	  "PaLM, arXiv 2204.02311, appendix B", .fill = work },
	{ "mfu", "Model FLOPs utilization", "r * F / peak",
	  "Over the dense peak of the precision that large products run in; of bf16 "
	  "where the accelerator has no units for it.",
	  "PaLM, arXiv 2204.02311, appendix B", .fill = utilization },
	{ "mfu_bf16", "Model FLOPs utilization over bf16", "r * F / peak",
	  "For fp8 and fp4, to compare with bf16 runs; may exceed 100 %.",
	  "PaLM, arXiv 2204.02311, appendix B", .fill = utilization_of_bf16 },
	{ "hfu", "Hardware FLOPs utilization", "MFU + X / (t * peak)",
	  "Adds recomputation, not what a flash kernel recomputes inside.",
	  "Korthikanti et al., arXiv 2205.05198, section 6.3", .fill = hardware },
	{ 0 },
};
