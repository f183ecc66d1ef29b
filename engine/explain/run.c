/* run.c - where time, money, energy and failures of a whole run come from. */
#include <stdbool.h>
#include <stddef.h>

#include "engine/explain/row.h"

static void fill_checkpoint(const struct asked *a, struct explanation *out)
{
	bool lora = a->scenario->plan.lora_rank > 0;

	bool frozen = scenario_freezes(a->scenario);

	explain_say(out, "%s * if(precision == 2, 4, 2) + %s * K", lora ? "A" : "P",
		    lora     ? "A"
		    : frozen ? "(P - Z)"
			     : "P");
	if (frozen)
		explain_from(a, out, "Z", "weights that do not train", "model.frozen");
	if (lora)
		explain_from(a, out, "A", "weights of adapters", "model.adapters");
	else
		explain_from(a, out, "P", "parameters", "parameters");
	explain_from(a, out, "precision", "by the number of its word, 2 is fp32",
		     "precision");
	explain_from(a, out, "K", "bytes of master weight and moments",
		     "states.optimizer_bytes");
}

static const char definition[] = EXPLAIN_DEFINITION;
static const char spread[] = "tests/validation: four of five measured runs";
static const char daly[] = "Young 1974; Daly 2006, equation 5";

/* A run is to its range as its step is. */
#define RANGE(key, title, whole, end_of_step)                                       \
	{                                                                           \
		key, title, "x * end / t",                                          \
			"Everything that a run costs grows with its time.", spread, \
			.terms = TERMS(                                             \
				{ "x", "as predicted", whole },                     \
				{ "end", "of the range of a step", end_of_step },   \
				{ "t", "step", "step_seconds" })                    \
	}

const struct explain_row explain_run[] = {
	{ "run_steps", "Steps of the run", "ceil(T / B)", "Rounded up.", definition,
	  .terms = TERMS({ "T", "tokens of the run", "tokens" },
			 { "B", "tokens per step", "tokens_per_step" }) },
	{ "run_seconds", "Time of the run", "steps * t / max(g, 0.001)",
	  "With checkpoints, failures and restarts, at a constant step time.", daly,
	  .terms = TERMS({ "steps", "steps", "run_steps" },
			 { "t", "step", "step_seconds" },
			 { "g", "goodput", "goodput" }) },
	{ "run_gpu_hours", "GPU-hours", "n * r / 3600",
	  "Every GPU is paid all the time.", definition,
	  .terms = TERMS({ "n", "GPUs", "gpus" },
			 { "r", "time of the run", "run_seconds" }) },
	{ "run_dollars", "Cost", "hours * price",
	  "The price is an input: set your own.", "presets/clusters",
	  .terms = TERMS({ "hours", "GPU-hours of the run", "run_gpu_hours" },
			 { "price", "of a GPU-hour", "cluster.price_per_gpu_hour" }) },
	{ "run_joules", "Energy", "r * n * W",
	  "A GPU that computes draws its TDP, one that waits its idle power.",
	  "presets/clusters; Patterson et al., arXiv 2104.10350",
	  .terms = TERMS({ "n", "GPUs", "gpus" },
			 { "r", "time of the run", "run_seconds" },
			 { "W", "watts of a GPU with its share of everything else",
			   "watts_per_gpu" }) },
	{ "run_co2_grams", "CO2 of the run", "J / 3600000 * g",
	  "For the electricity alone: building the hardware is not counted.",
	  "Patterson et al., arXiv 2104.10350, section 2; presets/clusters",
	  .terms = TERMS({ "J", "energy of the run", "run_joules" },
			 { "g", "grams of CO2 for a kWh of the grid",
			   "cluster.grid_grams_per_kwh" }) },
	{ "run_dollars_per_million_tokens", "Cost of a million tokens",
	  "cost / T * 1000000", "Tokens that the run trains on.", definition,
	  .terms = TERMS({ "cost", "of the run", "run_dollars" },
			 { "T", "tokens of the run", "tokens" }) },
	RANGE("run_seconds_low", "Time of the run, least of 80 %", "run_seconds",
	      "step_seconds_low"),
	RANGE("run_seconds_high", "Time of the run, most of 80 %", "run_seconds",
	      "step_seconds_high"),
	RANGE("run_dollars_low", "Cost, least of 80 %", "run_dollars",
	      "step_seconds_low"),
	RANGE("run_dollars_high", "Cost, most of 80 %", "run_dollars",
	      "step_seconds_high"),
	RANGE("run_joules_low", "Energy, least of 80 %", "run_joules",
	      "step_seconds_low"),
	RANGE("run_joules_high", "Energy, most of 80 %", "run_joules",
	      "step_seconds_high"),
	RANGE("run_co2_grams_low", "CO2, least of 80 %", "run_co2_grams",
	      "step_seconds_low"),
	RANGE("run_co2_grams_high", "CO2, most of 80 %", "run_co2_grams",
	      "step_seconds_high"),
	{ "goodput", "Goodput",
	  "if(MTBF > 0, max(0, 1 - C / i - (i / 2 + R) * nodes / (3600 * MTBF)), 1)",
	  "What remains after checkpoints, lost work and restarts; failures are "
	  "independent.",
	  daly,
	  .terms = TERMS({ "C", "time of a checkpoint", "checkpoint_seconds" },
			 { "MTBF", "of one node, hours", "cluster.node_mtbf_hours" },
			 { "nodes", "of the job", "nodes" },
			 { "i", "between checkpoints", "checkpoint_interval_seconds" },
			 { "R", "restart", "cluster.restart_seconds" }) },
	{ "checkpoint_bytes", "Checkpoint", NULL,
	  "Weights in 16 bits or fp32, and what the optimizer keeps of each, stored "
	  "once; under LoRA of the adapters.",
	  definition, .fill = fill_checkpoint },
	{ "checkpoint_seconds", "Time of a checkpoint",
	  "if(bw > 0, bytes / (nodes * bw), 0)",
	  "All nodes write at once, and training waits.", "presets/clusters",
	  .terms = TERMS({ "bytes", "of a checkpoint", "checkpoint_bytes" },
			 { "nodes", "of the job", "nodes" },
			 { "bw", "storage of a node, bytes/s",
			   "cluster.checkpoint_bytes_per_second" }) },
	{ "checkpoint_interval_seconds", "Between checkpoints",
	  "sqrt(2 * max(C, 1) * 3600 * max(MTBF, 0) / nodes)",
	  "The interval that loses least.", daly,
	  .terms = TERMS({ "C", "time of a checkpoint", "checkpoint_seconds" },
			 { "MTBF", "of one node, hours", "cluster.node_mtbf_hours" },
			 { "nodes", "of the job", "nodes" }) },
	{ "run_failures", "Failures in the run",
	  "if(MTBF > 0, r * nodes / (3600 * MTBF), 0)", "Each stops the whole job.",
	  "Llama 3, arXiv 2407.21783, section 3.3.4; presets/clusters",
	  .terms = TERMS({ "MTBF", "of one node, hours", "cluster.node_mtbf_hours" },
			 { "nodes", "of the job", "nodes" },
			 { "r", "time of the run", "run_seconds" }) },
	{ 0 },
};
