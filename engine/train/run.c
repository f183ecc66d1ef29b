/* run.c - a whole training run: time, money, energy, failures. */
#include <math.h>

#include "engine/train/step.h"

/* A node that the job fills in part fails like a whole one. */
static double nodes_of(const struct cluster *c)
{
	return ceil((double)c->gpus /
		    (double)(c->gpus_per_node > 0 ? c->gpus_per_node : 1));
}

/* Under LoRA the adapters alone: the base stands where it came from. */
static double saved_weights(const struct scenario *s, const struct estimate *out)
{
	return s->plan.lora_rank > 0 ? model_adapters(&s->model, s->plan.lora_rank,
						      s->plan.lora_targets)
				     : out->parameters;
}

/* Those of them that an optimizer keeps nothing of. */
static double saved_frozen(const struct scenario *s)
{
	return scenario_freezes(s)
		       ? model_frozen_weights(&s->model, scenario_freezes_head(s))
		       : 0;
}

/* Young (1974) and Daly (2006): checkpoint every sqrt(2 C MTBF); lost are the
 * checkpoints, half an interval per failure and the restart. */
static void count_failures(const struct scenario *s, struct estimate *out)
{
	const struct cluster *c = &s->cluster;
	struct run_cost *run = &out->run;
	double nodes = nodes_of(c);
	double mtbf = c->node_mtbf_hours * 3600 / nodes;
	double interval, lost;

	/* weights and optimizer state, once, written by all nodes together */
	run->checkpoint_bytes =
		saved_weights(s, out) * (s->plan.precision == PRECISION_FP32 ? 4 : 2) +
		(saved_weights(s, out) - saved_frozen(s)) * step_optimizer_bytes(s);
	run->checkpoint_seconds =
		c->checkpoint_bytes_per_second > 0
			? run->checkpoint_bytes /
				  (c->checkpoint_bytes_per_second * nodes)
			: 0;
	run->goodput = 1;
	run->checkpoint_interval_seconds = 0;
	if (mtbf <= 0)
		return;
	interval = sqrt(2 * fmax(run->checkpoint_seconds, 1) * mtbf);
	lost = run->checkpoint_seconds / interval + interval / (2 * mtbf) +
	       c->restart_seconds / mtbf;
	run->checkpoint_interval_seconds = interval;
	run->goodput = fmax(0, 1 - lost);
}

/* Whatever the step takes, the run takes so many times. */
static void run_ranges(struct estimate *out)
{
	struct run_cost *run = &out->run;
	double step = out->step_seconds > 0 ? out->step_seconds : 1;
	double low = out->step_low_seconds / step, high = out->step_high_seconds / step;

	run->seconds_low = run->seconds * low;
	run->seconds_high = run->seconds * high;
	run->dollars_low = run->dollars * low;
	run->dollars_high = run->dollars * high;
	run->joules_low = run->joules * low;
	run->joules_high = run->joules * high;
	run->co2_low_grams = run->co2_grams * low;
	run->co2_high_grams = run->co2_grams * high;
}

void step_run(const struct scenario *s, struct estimate *out)
{
	const struct cluster *c = &s->cluster;
	struct run_cost *run = &out->run;
	double busy =
		out->step_seconds > 0 ? out->compute_seconds / out->step_seconds : 0;
	double mtbf_hours = c->node_mtbf_hours;

	count_failures(s, out);
	run->steps = ceil(s->plan.tokens / out->tokens_per_step);
	run->seconds = run->steps * out->step_seconds / fmax(run->goodput, 1e-3);
	run->gpu_hours = run->seconds / 3600 * (double)out->world;
	run->dollars = run->gpu_hours * c->price_per_gpu_hour;
	run->joules = run->seconds * (double)out->world * cluster_watts(c, busy);
	run->co2_grams = run->joules / 3.6e6 * c->grid_grams_per_kwh;
	run->dollars_per_million_tokens = run->dollars / s->plan.tokens * 1e6;
	run_ranges(out);
	run->failures =
		mtbf_hours > 0 ? run->seconds / 3600 / mtbf_hours * nodes_of(c) : 0;
}
