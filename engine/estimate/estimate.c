/* estimate.c - names of the results. */
#include "engine/estimate/estimate.h"

#include <string.h>

bool estimate_is_too_large(const struct estimate *e)
{
	return e->legal && !e->fits &&
	       (e->host_fits || e->memory.total_bytes > e->capacity_bytes);
}

const char *bound_label(enum bound bound)
{
	static const char *const labels[BOUND_COUNT] = {
		[BOUND_COMPUTE] = "compute",
		[BOUND_MEMORY] = "memory",
		[BOUND_NETWORK] = "network",
		[BOUND_OVERHEAD] = "overhead",
	};

	return (unsigned)bound < BOUND_COUNT ? labels[bound] : "";
}

#define AT(field)                           \
	(offsetof(struct estimate, field) + \
	 0 * sizeof(char[_Generic(((struct estimate *)0)->field, double : 1)]))

#define COST(key, label, form, better, field)                              \
	{                                                                  \
		BOTH, "communication", key, label, form, better, AT(field) \
	}
#define DIMENSION(key, label, dim)                                               \
	COST(key ".bytes", label " bytes", FORM_TRAFFIC, -1, cost[dim].bytes),   \
		COST(key ".network_bytes", label " network", FORM_TRAFFIC, -1,   \
		     cost[dim].network_bytes),                                   \
		COST(key ".payload_bytes", label " payload", FORM_TRAFFIC, 0,    \
		     cost[dim].payload_bytes),                                   \
		COST(key ".seconds", label " time", FORM_SECONDS, -1,            \
		     cost[dim].seconds),                                         \
		COST(key ".exposed_seconds", label " exposed", FORM_SECONDS, -1, \
		     cost[dim].exposed_seconds)
#define SERVING(group, key, label, form, better, field)                       \
	{                                                                     \
		INFERENCE, group, key, label, form, better, AT(serving.field) \
	}

enum { TRAINING = METRIC_TRAINING, INFERENCE = METRIC_INFERENCE, BOTH = METRIC_BOTH };

const struct metric metric_table[] = {
	{ BOTH, "model", "parameters", "parameters", FORM_COUNT, 0, AT(parameters) },
	{ BOTH, "model", "active_parameters", "active", FORM_COUNT, 0,
	  AT(active_parameters) },
	{ BOTH, "model", "flops_per_token", "FLOPs per token", FORM_FLOPS, 0,
	  AT(flops_per_token) },

	{ BOTH, "memory", "total_bytes", "memory", FORM_BYTES, -1,
	  AT(memory.total_bytes) },
	{ BOTH, "memory", "capacity_bytes", "capacity", FORM_BYTES, 0,
	  AT(capacity_bytes) },
	{ BOTH, "memory", "weights_bytes", "weights", FORM_BYTES, -1,
	  AT(memory.weights_bytes) },
	{ TRAINING, "memory", "gradients_bytes", "gradients", FORM_BYTES, -1,
	  AT(memory.gradients_bytes) },
	{ TRAINING, "memory", "optimizer_bytes", "optimizer", FORM_BYTES, -1,
	  AT(memory.optimizer_bytes) },
	{ BOTH, "memory", "activations_bytes", "activations", FORM_BYTES, -1,
	  AT(memory.activations_bytes) },
	{ BOTH, "memory", "buffers_bytes", "buffers", FORM_BYTES, -1,
	  AT(memory.buffers_bytes) },
	{ BOTH, "memory", "framework_bytes", "framework", FORM_BYTES, -1,
	  AT(memory.framework_bytes) },
	{ BOTH, "memory", "allocated_bytes", "allocated", FORM_BYTES, -1,
	  AT(memory.allocated_bytes) },
	{ TRAINING, "memory", "fit_probability", "fits", FORM_PERCENT, 1,
	  AT(fit_probability) },
	{ TRAINING, "memory", "host_bytes", "on the host", FORM_BYTES, -1,
	  AT(host_bytes) },
	{ TRAINING, "memory", "host_capacity_bytes", "host capacity", FORM_BYTES, 0,
	  AT(host_capacity_bytes) },
	{ TRAINING, "memory", "total_bytes_low", "memory low", FORM_BYTES, -1,
	  AT(memory_low_bytes) },
	{ TRAINING, "memory", "total_bytes_high", "memory high", FORM_BYTES, -1,
	  AT(memory_high_bytes) },

	{ TRAINING, "time", "step_seconds", "step", FORM_SECONDS, -1,
	  AT(step_seconds) },
	{ TRAINING, "time", "compute_seconds", "compute", FORM_SECONDS, -1,
	  AT(compute_seconds) },
	{ TRAINING, "time", "bubble_seconds", "bubble time", FORM_SECONDS, -1,
	  AT(bubble_seconds) },
	{ TRAINING, "time", "exposed_seconds", "exposed", FORM_SECONDS, -1,
	  AT(exposed_seconds) },
	{ TRAINING, "time", "optimizer_seconds", "optimizer time", FORM_SECONDS, -1,
	  AT(optimizer_seconds) },
	{ TRAINING, "time", "recompute_seconds", "recompute time", FORM_SECONDS, -1,
	  AT(recompute_seconds) },
	{ TRAINING, "time", "step_seconds_low", "step low", FORM_SECONDS, -1,
	  AT(step_low_seconds) },
	{ TRAINING, "time", "step_seconds_high", "step high", FORM_SECONDS, -1,
	  AT(step_high_seconds) },

	DIMENSION("tp", "TP", DIM_TP),
	DIMENSION("cp", "CP", DIM_CP),
	DIMENSION("ep", "EP", DIM_EP),
	DIMENSION("pp", "PP", DIM_PP),
	DIMENSION("dp", "DP", DIM_DP),
	DIMENSION("host", "host", DIM_HOST),

	{ TRAINING, "", "bubble_ratio", "bubble", FORM_PERCENT, -1, AT(bubble_ratio) },
	{ TRAINING, "", "idle_to_ideal", "idle/ideal", FORM_PERCENT, -1,
	  AT(idle_to_ideal) },

	{ TRAINING, "throughput", "tokens_per_second", "tokens/s", FORM_RATE, 1,
	  AT(tokens_per_second) },
	{ TRAINING, "throughput", "tokens_per_second_per_gpu", "tokens/s/GPU",
	  FORM_RATE, 1, AT(tokens_per_second_per_gpu) },
	{ TRAINING, "throughput", "tokens_per_step", "tokens per step", FORM_TOKENS, 0,
	  AT(tokens_per_step) },
	{ TRAINING, "throughput", "tflops_per_gpu", "TFLOP/s/GPU", FORM_REAL, 1,
	  AT(tflops_per_gpu) },
	{ TRAINING, "throughput", "mfu", "MFU", FORM_PERCENT, 1, AT(mfu) },
	{ TRAINING, "throughput", "mfu_bf16", "MFU of bf16", FORM_PERCENT, 1,
	  AT(mfu_bf16) },
	{ TRAINING, "throughput", "hfu", "HFU", FORM_PERCENT, 1, AT(hfu) },

	{ INFERENCE, "memory", "kv_bytes", "KV cache", FORM_BYTES, -1,
	  AT(memory.kv_bytes) },
	SERVING("memory", "kv_bytes_per_token", "KV per token", FORM_BYTES, -1,
		kv_bytes_per_token),
	SERVING("memory", "kv_tokens", "cache holds", FORM_TOKENS, 1, kv_tokens),
	SERVING("memory", "host_tokens", "host holds", FORM_TOKENS, 1, host_tokens),
	SERVING("memory", "headroom_bytes", "headroom", FORM_BYTES, 1, headroom_bytes),
	SERVING("memory", "max_concurrency", "room for", FORM_COUNT, 1,
		max_concurrency),
	SERVING("time", "ttft_seconds", "TTFT", FORM_SECONDS, -1, ttft_seconds),
	SERVING("time", "tpot_seconds", "TPOT", FORM_SECONDS, -1, tpot_seconds),
	SERVING("time", "ttft_seconds_low", "TTFT low", FORM_SECONDS, -1,
		ttft_low_seconds),
	SERVING("time", "ttft_seconds_high", "TTFT high", FORM_SECONDS, -1,
		ttft_high_seconds),
	SERVING("time", "tpot_seconds_low", "TPOT low", FORM_SECONDS, -1,
		tpot_low_seconds),
	SERVING("time", "tpot_seconds_high", "TPOT high", FORM_SECONDS, -1,
		tpot_high_seconds),
	SERVING("time", "prefill_seconds", "prefill", FORM_SECONDS, -1,
		prefill_seconds),
	SERVING("time", "decode_seconds", "decode pass", FORM_SECONDS, -1,
		decode_seconds),
	SERVING("time", "mixed_seconds", "mixed pass", FORM_SECONDS, -1, mixed_seconds),
	SERVING("time", "request_seconds", "request", FORM_SECONDS, -1,
		request_seconds),
	SERVING("time", "decode_compute_seconds", "compute", FORM_SECONDS, -1,
		compute_seconds),
	SERVING("time", "decode_memory_seconds", "memory", FORM_SECONDS, -1,
		memory_seconds),
	SERVING("time", "decode_network_seconds", "network", FORM_SECONDS, -1,
		network_seconds),
	SERVING("time", "decode_overhead_seconds", "overhead", FORM_SECONDS, -1,
		overhead_seconds),
	SERVING("time", "prefill_share", "prefill share", FORM_PERCENT, 0,
		prefill_share),
	SERVING("throughput", "output_tokens_per_second", "output tokens/s", FORM_RATE,
		1, output_tokens_per_second),
	SERVING("throughput", "output_tokens_per_second_low", "output low", FORM_RATE,
		1, output_low),
	SERVING("throughput", "output_tokens_per_second_high", "output high", FORM_RATE,
		1, output_high),
	SERVING("throughput", "output_tokens_per_second_per_gpu", "tokens/s/GPU",
		FORM_RATE, 1, output_tokens_per_second_per_gpu),
	SERVING("throughput", "output_tokens_per_second_per_user", "tokens/s/user",
		FORM_RATE, 1, output_tokens_per_second_per_user),
	SERVING("throughput", "prompt_tokens_per_second", "prompt tokens/s", FORM_RATE,
		1, prompt_tokens_per_second),
	SERVING("throughput", "requests_per_second", "requests/s", FORM_REAL, 1,
		requests_per_second),
	SERVING("throughput", "running", "running", FORM_REAL, 0, concurrency),
	SERVING("throughput", "waiting", "waiting", FORM_REAL, -1, waiting),
	SERVING("throughput", "goodput_tokens_per_second", "goodput", FORM_RATE, 1,
		goodput),
	SERVING("throughput", "goodput_concurrency", "goodput at", FORM_REAL, 0,
		goodput_concurrency),
	SERVING("throughput", "engines", "engines", FORM_REAL, 0, engines),
	SERVING("throughput", "prefill_intensity", "prefill FLOP/B", FORM_REAL, 0,
		prefill_intensity),
	SERVING("throughput", "decode_intensity", "decode FLOP/B", FORM_REAL, 0,
		decode_intensity),
	SERVING("run", "dollars_per_million_tokens", "cost/M tokens", FORM_DOLLARS, -1,
		dollars_per_million_tokens),
	SERVING("run", "joules_per_token", "J/token", FORM_REAL, -1, joules_per_token),

	{ TRAINING, "run", "run_steps", "steps", FORM_COUNT, 0, AT(run.steps) },
	{ TRAINING, "run", "run_seconds", "run", FORM_DATE, -1, AT(run.seconds) },
	{ TRAINING, "run", "run_gpu_hours", "GPU-hours", FORM_COUNT, -1,
	  AT(run.gpu_hours) },
	{ TRAINING, "run", "run_dollars", "cost", FORM_DOLLARS, -1, AT(run.dollars) },
	{ TRAINING, "run", "run_joules", "energy", FORM_ENERGY, -1, AT(run.joules) },
	{ TRAINING, "run", "run_co2_grams", "CO2", FORM_MASS, -1, AT(run.co2_grams) },
	{ TRAINING, "run", "run_dollars_per_million_tokens", "cost/M tokens",
	  FORM_DOLLARS, -1, AT(run.dollars_per_million_tokens) },
	{ TRAINING, "run", "run_seconds_low", "run low", FORM_DATE, -1,
	  AT(run.seconds_low) },
	{ TRAINING, "run", "run_seconds_high", "run high", FORM_DATE, -1,
	  AT(run.seconds_high) },
	{ TRAINING, "run", "run_dollars_low", "cost low", FORM_DOLLARS, -1,
	  AT(run.dollars_low) },
	{ TRAINING, "run", "run_dollars_high", "cost high", FORM_DOLLARS, -1,
	  AT(run.dollars_high) },
	{ TRAINING, "run", "run_joules_low", "energy low", FORM_ENERGY, -1,
	  AT(run.joules_low) },
	{ TRAINING, "run", "run_joules_high", "energy high", FORM_ENERGY, -1,
	  AT(run.joules_high) },
	{ TRAINING, "run", "run_co2_grams_low", "CO2 low", FORM_MASS, -1,
	  AT(run.co2_low_grams) },
	{ TRAINING, "run", "run_co2_grams_high", "CO2 high", FORM_MASS, -1,
	  AT(run.co2_high_grams) },
	{ TRAINING, "run", "goodput", "goodput", FORM_PERCENT, 1, AT(run.goodput) },
	{ TRAINING, "run", "checkpoint_bytes", "checkpoint", FORM_BYTES, -1,
	  AT(run.checkpoint_bytes) },
	{ TRAINING, "run", "checkpoint_seconds", "checkpoint time", FORM_SECONDS, -1,
	  AT(run.checkpoint_seconds) },
	{ TRAINING, "run", "checkpoint_interval_seconds", "every", FORM_DATE, 0,
	  AT(run.checkpoint_interval_seconds) },
	{ TRAINING, "run", "run_failures", "failures", FORM_REAL, -1,
	  AT(run.failures) },
};

int metric_count(void)
{
	return (int)(sizeof metric_table / sizeof metric_table[0]);
}

const struct metric *metric_find(const char *key)
{
	/* most of them part at the first letter */
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].key[0] == key[0] &&
		    strcmp(metric_table[i].key, key) == 0)
			return &metric_table[i];
	return NULL;
}

double metric_get(const struct estimate *estimate, const struct metric *metric)
{
	double value;

	memcpy(&value, (const char *)estimate + metric->offset, sizeof value);
	return value;
}
