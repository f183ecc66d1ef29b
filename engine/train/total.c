/* total.c - stage times, their means, throughput. */
#include <math.h>

#include "engine/base/plain.h"
#include "engine/model/mixer.h"
#include "engine/train/step.h"

double step_ends(const struct step *step, const struct stage_load *load)
{
	double ends = 0;

	for (int i = 0; i < step->stages; i++)
		ends = larger(ends, load[i].work.sync_seconds +
					    load[i].work.optimizer_seconds);
	return ends;
}

/* busy + exposed + idle + optimizer = step on each stage: whoever is done with its
 * gradients early waits for the others. */
static void stage_times(const struct whole_step *whole, struct estimate *out)
{
	const struct pipeline_result *r = &whole->result;

	out->step_seconds = r->seconds + step_ends(&whole->step, whole->load);
	for (int i = 0; i < whole->step.stages; i++) {
		struct stage_time *t = &out->stage_time[i];
		const struct stage_work *work = &whole->load[i].work;

		t->forward_seconds = work->forward_seconds;
		t->backward_seconds = work->backward_seconds;
		t->recompute_seconds = work->recompute_seconds;
		t->busy_seconds = r->busy[i] - work->exposed_seconds;
		/* a stage without layers only passes messages on, but for rounding */
		if (fabs(t->busy_seconds) < 1e-12 * out->step_seconds)
			t->busy_seconds = 0;
		t->exposed_seconds =
			work->exposed_seconds + r->transfer[i] + work->sync_seconds;
		t->optimizer_seconds = work->optimizer_seconds;
		t->idle_seconds = out->step_seconds - t->busy_seconds -
				  t->exposed_seconds - t->optimizer_seconds;
		/* of rounding alone */
		if (fabs(t->idle_seconds) < 1e-12 * out->step_seconds)
			t->idle_seconds = 0;
		if (t->busy_seconds + t->exposed_seconds >
		    out->stage_time[out->slowest_stage].busy_seconds +
			    out->stage_time[out->slowest_stage].exposed_seconds)
			out->slowest_stage = i;
	}
}

static void take_means(const struct whole_step *whole, struct estimate *out)
{
	const struct pipeline_result *r = &whole->result;
	int stages = whole->step.stages;
	double share = 1 / (double)stages, idle = 0, work = 0, late = 0;
	double last = step_ends(&whole->step, whole->load);

	for (int i = 0; i < stages; i++) {
		const struct stage_time *t = &out->stage_time[i];
		const struct stage_work *own = &whole->load[i].work;

		out->compute_seconds += t->busy_seconds * share;
		out->exposed_seconds += t->exposed_seconds * share;
		out->bubble_seconds += t->idle_seconds * share;
		out->optimizer_seconds += t->optimizer_seconds * share;
		out->recompute_seconds += t->recompute_seconds * share;
		idle += r->idle[i] * share;
		late += (last - (own->sync_seconds + own->optimizer_seconds)) * share;
		work += (r->seconds - r->idle[i]) * share;
	}
	out->pipeline_idle_seconds = idle;
	out->end_idle_seconds = late;
	out->pipeline_seconds = r->seconds;
	out->bubble_ratio = r->seconds > 0 ? idle / r->seconds : 0;
	out->idle_to_ideal = work > 0 ? idle / work : 0;
}

/* One measured run on this cluster scales every time. */
static void apply_scale(struct estimate *out, double scale)
{
	double *const times[] = { &out->step_seconds,          &out->compute_seconds,
				  &out->bubble_seconds,        &out->exposed_seconds,
				  &out->optimizer_seconds,     &out->recompute_seconds,
				  &out->pipeline_idle_seconds, &out->end_idle_seconds,
				  &out->pipeline_seconds };

	if (scale <= 0 || scale == 1)
		return;
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
		*times[i] *= scale;
	for (int d = 0; d < DIM_COUNT; d++) {
		out->cost[d].seconds *= scale;
		out->cost[d].exposed_seconds *= scale;
	}
	for (int i = 0; i < out->traffic_count; i++) {
		out->traffic[i].seconds *= scale;
		out->traffic[i].total_seconds *= scale;
		out->traffic[i].exposed_seconds *= scale;
	}
	for (int i = 0; i < out->stages; i++) {
		struct stage_time *t = &out->stage_time[i];

		t->forward_seconds *= scale;
		t->backward_seconds *= scale;
		t->busy_seconds *= scale;
		t->exposed_seconds *= scale;
		t->idle_seconds *= scale;
		t->optimizer_seconds *= scale;
		t->recompute_seconds *= scale;
	}
}

static void set_throughput(const struct whole_step *whole, struct estimate *out)
{
	const struct step *step = &whole->step;
	const struct scenario *s = step->scenario;
	const double *peaks = s->cluster.accelerator.peak_flops;
	double gpus = (double)out->world;
	double peak = peaks[s->plan.precision];
	double bf16 = peaks[PRECISION_BF16] > 0 ? peaks[PRECISION_BF16]
						: peaks[PRECISION_FP16];
	double rate;

	out->tokens_per_step = (double)s->plan.global_batch * (double)s->plan.seq_len;
	out->tokens_per_second = out->tokens_per_step / out->step_seconds;
	out->tokens_per_second_per_gpu = out->tokens_per_second / gpus;
	rate = out->tokens_per_second_per_gpu * out->flops_per_token;
	out->tflops_per_gpu = rate / 1e12;
	out->mfu = peak > 0 ? rate / peak : 0;
	out->mfu_bf16 = bf16 > 0 ? rate / bf16 : 0;
	/* what is recomputed counts; the model's own work counts once */
	double again = 0;

	for (int i = 0; i < step->stages; i++)
		again += whole->load[i].work.recompute_flops / (double)step->stages;
	out->hfu = peak > 0 ? out->mfu + again / out->step_seconds / peak : 0;
}

double step_range_factor(const struct scenario *s)
{
	const struct range_growth *beyond = &s->cluster.accuracy.beyond;

	return (double)s->cluster.gpus > beyond->gpus || mixer_scans_any(&s->model)
		       ? beyond->factor
		       : 1;
}

/* A cluster without any, made by hand, has the number alone. */
static struct spread widen(struct spread spread, double factor)
{
	if (!(spread.low > 0))
		return (struct spread){ 1, 1 };
	return (struct spread){ larger(0.1, 1 - (1 - spread.low) * factor),
				1 + (spread.high - 1) * factor };
}

struct spread step_memory_spread(const struct scenario *s)
{
	return widen(s->cluster.accuracy.memory[scenario_run_kind(s)],
		     step_range_factor(s));
}

static void set_ranges(const struct scenario *s, struct estimate *out)
{
	const struct accuracy *known = &s->cluster.accuracy;
	enum run_kind kind = scenario_run_kind(s);
	struct spread time = widen(known->time[kind], step_range_factor(s));
	struct spread memory = step_memory_spread(s);

	out->step_low_seconds = out->step_seconds * time.low;
	out->step_high_seconds = out->step_seconds * time.high;
	out->memory_low_bytes = out->memory.total_bytes * memory.low;
	out->memory_high_bytes = out->memory.total_bytes * memory.high;
}

void step_total(const struct whole_step *whole, struct estimate *out)
{
	const struct scenario *scenario = whole->step.scenario;

	step_mean_traffic(out);
	stage_times(whole, out);
	take_means(whole, out);
	apply_scale(out, scenario->cluster.scale);
	set_throughput(whole, out);
	set_ranges(scenario, out);
}
