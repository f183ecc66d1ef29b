/* estimate.c - names of the results. */
#include "engine/estimate.h"

#include <string.h>

static const struct {
	const char *key, *label;
} dimensions[DIM_COUNT] = {
	[DIM_TP] = { "tp", "TP" }, [DIM_CP] = { "cp", "CP" },
	[DIM_EP] = { "ep", "EP" }, [DIM_PP] = { "pp", "PP" },
	[DIM_DP] = { "dp", "DP" }, [DIM_HOST] = { "host", "host" },
};

const char *dimension_key(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].key : "";
}

const char *dimension_label(enum dimension dimension)
{
	return (unsigned)dimension < DIM_COUNT ? dimensions[dimension].label : "";
}

const char *collective_label(enum collective_kind kind)
{
	static const char *const labels[COLLECTIVE_COUNT] = {
		[COLLECTIVE_ALL_REDUCE] = "all-reduce",
		[COLLECTIVE_ALL_GATHER] = "all-gather",
		[COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
		[COLLECTIVE_ALL_TO_ALL] = "all-to-all",
		[COLLECTIVE_SEND] = "send",
		[COLLECTIVE_BROADCAST] = "broadcast",
		[COLLECTIVE_COPY] = "copy",
	};

	return (unsigned)kind < COLLECTIVE_COUNT ? labels[kind] : "";
}

#define AT(field)                           \
	(offsetof(struct estimate, field) + \
	 0 * sizeof(char[_Generic(((struct estimate *)0)->field, double : 1)]))

#define DIMENSION(key, label, dim)                                                       \
	{ "communication", key ".bytes", label " bytes",                                 \
	  FORM_TRAFFIC,    -1,           AT(cost[dim].bytes) },                          \
		{ "communication",                                                       \
		  key ".network_bytes",                                                  \
		  label " network",                                                      \
		  FORM_TRAFFIC,                                                          \
		  -1,                                                                    \
		  AT(cost[dim].network_bytes) },                                         \
		{ "communication",                                                       \
		  key ".payload_bytes",                                                  \
		  label " payload",                                                      \
		  FORM_TRAFFIC,                                                          \
		  0,                                                                     \
		  AT(cost[dim].payload_bytes) },                                         \
		{ "communication",      key ".seconds", label " time", FORM_SECONDS, -1, \
		  AT(cost[dim].seconds) },                                               \
	{                                                                                \
		"communication", key ".exposed_seconds", label " exposed",               \
			FORM_SECONDS, -1, AT(cost[dim].exposed_seconds)                  \
	}

const struct metric metric_table[] = {
	{ "model", "parameters", "parameters", FORM_COUNT, 0, AT(parameters) },
	{ "model", "active_parameters", "active", FORM_COUNT, 0,
	  AT(active_parameters) },
	{ "model", "flops_per_token", "FLOPs a token", FORM_FLOPS, 0,
	  AT(flops_per_token) },

	{ "memory", "total_bytes", "memory", FORM_BYTES, -1, AT(memory.total_bytes) },
	{ "memory", "capacity_bytes", "capacity", FORM_BYTES, 0, AT(capacity_bytes) },
	{ "memory", "weights_bytes", "weights", FORM_BYTES, -1,
	  AT(memory.weights_bytes) },
	{ "memory", "gradients_bytes", "gradients", FORM_BYTES, -1,
	  AT(memory.gradients_bytes) },
	{ "memory", "optimizer_bytes", "optimizer", FORM_BYTES, -1,
	  AT(memory.optimizer_bytes) },
	{ "memory", "activations_bytes", "activations", FORM_BYTES, -1,
	  AT(memory.activations_bytes) },
	{ "memory", "buffers_bytes", "buffers", FORM_BYTES, -1,
	  AT(memory.buffers_bytes) },
	{ "memory", "framework_bytes", "framework", FORM_BYTES, -1,
	  AT(memory.framework_bytes) },
	{ "memory", "allocated_bytes", "allocated", FORM_BYTES, -1,
	  AT(memory.allocated_bytes) },
	{ "memory", "fit_probability", "fits", FORM_PERCENT, 1, AT(fit_probability) },
	{ "memory", "total_bytes_low", "memory low", FORM_BYTES, -1,
	  AT(memory_low_bytes) },
	{ "memory", "total_bytes_high", "memory high", FORM_BYTES, -1,
	  AT(memory_high_bytes) },

	{ "time", "step_seconds", "step", FORM_SECONDS, -1, AT(step_seconds) },
	{ "time", "compute_seconds", "compute", FORM_SECONDS, -1, AT(compute_seconds) },
	{ "time", "bubble_seconds", "bubble time", FORM_SECONDS, -1,
	  AT(bubble_seconds) },
	{ "time", "exposed_seconds", "exposed", FORM_SECONDS, -1, AT(exposed_seconds) },
	{ "time", "optimizer_seconds", "optimizer time", FORM_SECONDS, -1,
	  AT(optimizer_seconds) },
	{ "time", "recompute_seconds", "recompute time", FORM_SECONDS, -1,
	  AT(recompute_seconds) },
	{ "time", "step_seconds_low", "step low", FORM_SECONDS, -1,
	  AT(step_low_seconds) },
	{ "time", "step_seconds_high", "step high", FORM_SECONDS, -1,
	  AT(step_high_seconds) },

	DIMENSION("tp", "TP", DIM_TP),
	DIMENSION("cp", "CP", DIM_CP),
	DIMENSION("ep", "EP", DIM_EP),
	DIMENSION("pp", "PP", DIM_PP),
	DIMENSION("dp", "DP", DIM_DP),
	DIMENSION("host", "host", DIM_HOST),

	{ "", "bubble_ratio", "bubble", FORM_PERCENT, -1, AT(bubble_ratio) },
	{ "", "idle_to_ideal", "idle/ideal", FORM_PERCENT, -1, AT(idle_to_ideal) },

	{ "throughput", "tokens_per_second", "tokens/s", FORM_RATE, 1,
	  AT(tokens_per_second) },
	{ "throughput", "tokens_per_second_per_gpu", "tokens/s/GPU", FORM_RATE, 1,
	  AT(tokens_per_second_per_gpu) },
	{ "throughput", "tokens_per_step", "tokens a step", FORM_TOKENS, 0,
	  AT(tokens_per_step) },
	{ "throughput", "tflops_per_gpu", "TFLOP/s/GPU", FORM_REAL, 1,
	  AT(tflops_per_gpu) },
	{ "throughput", "mfu", "MFU", FORM_PERCENT, 1, AT(mfu) },
	{ "throughput", "mfu_bf16", "MFU of bf16", FORM_PERCENT, 1, AT(mfu_bf16) },
	{ "throughput", "hfu", "HFU", FORM_PERCENT, 1, AT(hfu) },

	{ "run", "run_steps", "steps", FORM_COUNT, 0, AT(run.steps) },
	{ "run", "run_seconds", "run", FORM_DATE, -1, AT(run.seconds) },
	{ "run", "run_gpu_hours", "GPU-hours", FORM_COUNT, -1, AT(run.gpu_hours) },
	{ "run", "run_dollars", "cost", FORM_DOLLARS, -1, AT(run.dollars) },
	{ "run", "run_joules", "energy", FORM_ENERGY, -1, AT(run.joules) },
	{ "run", "goodput", "goodput", FORM_PERCENT, 1, AT(run.goodput) },
	{ "run", "checkpoint_bytes", "checkpoint", FORM_BYTES, -1,
	  AT(run.checkpoint_bytes) },
	{ "run", "checkpoint_seconds", "checkpoint time", FORM_SECONDS, -1,
	  AT(run.checkpoint_seconds) },
	{ "run", "checkpoint_interval_seconds", "every", FORM_DATE, 0,
	  AT(run.checkpoint_interval_seconds) },
	{ "run", "run_failures", "failures", FORM_REAL, -1, AT(run.failures) },
};

int metric_count(void)
{
	return (int)(sizeof metric_table / sizeof metric_table[0]);
}

const struct metric *metric_find(const char *key)
{
	for (int i = 0; i < metric_count(); i++)
		if (strcmp(metric_table[i].key, key) == 0)
			return &metric_table[i];
	return NULL;
}

double metric_get(const struct estimate *estimate, const struct metric *metric)
{
	double value;

	memcpy(&value, (const char *)estimate + metric->offset, sizeof value);
	return value;
}
