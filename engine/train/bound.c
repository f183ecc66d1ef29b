/* bound.c - see bound.h. */
#include "engine/train/bound.h"

#include <math.h>

#include "engine/train/step.h"

static double seconds_of(const struct layer_cost *cost)
{
	double exposed = cost->exposed_forward + cost->exposed_backward;
	double paired =
		exposed + cost->alone_forward + cost->alone_backward - cost->pairs_hide;

	return cost->forward + cost->input_grad + cost->weight_grad +
	       fmin(exposed, paired);
}

static void add(struct train_bound *out, const struct layer_cost *cost, double count)
{
	out->micro_batch_seconds += count * seconds_of(cost);
	out->dense += count * cost->dense;
	out->expert += count * cost->expert;
	out->dense_trainable += count * cost->dense_trainable;
	out->expert_trainable += count * cost->expert_trainable;
}

void train_bound(const struct scenario *scenario, struct train_bound *out)
{
	const struct model *m = &scenario->model;
	struct estimate traffic;
	struct step step;

	step.scenario = scenario;
	step.stages = step.chunks = 1;
	step.micro_batches = 1;
	traffic.traffic_count = 0;
	for (int d = 0; d < DIM_COUNT; d++)
		traffic.cost[d] = (struct dimension_cost){ 0 };
	mesh_build(scenario, &step.mesh);
	graph_context(scenario, &step.mesh, &step.context);
	step_layers(&step, &traffic);
	*out = (struct train_bound){ .framework_bytes = scenario->stack.context_bytes };
	for (int k = 0; k < m->kinds; k++)
		add(out, &step.kind[k], (double)model_kind_layers(m, k));
	add(out, &step.embedding, 1);
	add(out, &step.head, 1);
	if (m->mtp_layers > 0)
		add(out, &step.mtp, (double)m->mtp_layers);
}

/* The same layers on each chunk of each stage. */
static bool is_even(const struct scenario *s, int64_t chunks)
{
	const struct plan *plan = &s->plan;

	return (plan->split == SPLIT_AUTO || plan->split == SPLIT_EVEN) &&
	       !plan->split_embedding && !plan->split_loss && chunks > 0 &&
	       s->model.mtp_layers == 0 && s->model.layers % (plan->pp * chunks) == 0;
}

static bool is_plain(int schedule)
{
	return schedule == SCHEDULE_1F1B || schedule == SCHEDULE_GPIPE;
}

double train_bound_step(const struct train_bound *bound, const struct scenario *s)
{
	double scale = s->cluster.scale > 0 ? s->cluster.scale : 1;
	double p = (double)s->plan.pp, m = (double)scenario_micro_batches(s);
	int64_t chunks = scenario_chunks(s);
	bool known =
		is_plain(s->plan.schedule) || s->plan.schedule == SCHEDULE_INTERLEAVED;
	double seconds = bound->micro_batch_seconds * m / p, even;

	if (is_plain(s->plan.schedule) && m > 1)
		seconds = fmax(seconds,
			       bound->micro_batch_seconds / (1 - pow(1 - 1 / m, p)));
	if (known && is_even(s, chunks) && p > 1) {
		even = ((p - 1) / (double)chunks + m) * (double)s->model.layers / p *
			       bound->layer_seconds +
		       bound->embedding_seconds + m * bound->head_seconds;
		seconds = fmax(seconds, even);
	}
	return scale * (seconds + s->cluster.accelerator.calibration.step_seconds);
}

static double shared(double bytes, int64_t zero, int64_t stage, int64_t shards)
{
	return zero >= stage && shards > 1 ? bytes / (double)shards : bytes;
}

static double state_bytes(const struct scenario *s, double dense, double expert,
			  double dense_trainable, double expert_trainable)
{
	double w = step_weight_bytes(s), g = step_gradient_bytes(s);
	double k = step_optimizer_bytes(s) * (1 - s->plan.optimizer_offload);
	int64_t zero = s->plan.zero, dense_ranks = scenario_dp(s) * s->plan.cp;
	int64_t expert_ranks = scenario_edp(s);

	if (s->plan.zero_group > 0 && s->plan.zero_group < dense_ranks)
		dense_ranks = s->plan.zero_group;
	if (s->plan.zero_group > 0 && s->plan.zero_group < expert_ranks)
		expert_ranks = s->plan.zero_group;
	return shared(dense * w, zero, 3, dense_ranks) +
	       shared(expert * w, zero, 3, expert_ranks) +
	       shared(dense_trainable * g, zero, 2, dense_ranks) +
	       shared(expert_trainable * g, zero, 2, expert_ranks) +
	       shared(dense_trainable * k, zero, 1, dense_ranks) +
	       shared(expert_trainable * k, zero, 1, expert_ranks);
}

/* What the first stage keeps of the micro-batches in flight. */
static double kept_bytes(const struct train_bound *bound, const struct scenario *s)
{
	double p = (double)s->plan.pp, m = (double)scenario_micro_batches(s);
	double layers = (double)s->model.layers / p, v = (double)scenario_chunks(s);
	double held = v > 1 ? fmin(m, (2 * (p - 1) + (v - 1) * p + 1) / v) : fmin(p, m);

	return held * layers * bound->layer_saved_bytes;
}

double train_bound_bytes(const struct train_bound *bound, const struct scenario *s)
{
	double p = (double)s->plan.pp;
	double mean = state_bytes(s, bound->dense, bound->expert,
				  bound->dense_trainable, bound->expert_trainable) /
		      p;
	double first;

	if (s->plan.recompute != RECOMPUTE_NONE || s->model.kinds != 1 ||
	    s->plan.lora_rank > 0 || s->plan.activation_offload > 0 ||
	    !(is_plain(s->plan.schedule) || s->plan.schedule == SCHEDULE_INTERLEAVED) ||
	    !is_even(s, scenario_chunks(s)))
		return mean + bound->framework_bytes;
	/* its layers alone, without the embedding */
	first = state_bytes(s, bound->dense - bound->ends_dense, bound->expert,
			    bound->dense - bound->ends_dense, bound->expert) /
			p +
		kept_bytes(bound, s);
	return fmax(mean, first) + bound->framework_bytes;
}
