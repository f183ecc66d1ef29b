/* space.c - which values are worth trying. */
#include <string.h>

#include "engine/model/mixer.h"
#include "engine/planner/search.h"
#include "engine/rules/ability.h"

bool planner_pin(struct planner_problem *problem, const struct knob *knob,
		 const double *values, int count)
{
	struct planner_axis *axis = NULL;

	if (count < 1 || count > MAX_AXIS_VALUES)
		return false;
	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].knob == knob)
			axis = &problem->axis[i];
	if (!axis && problem->axes == MAX_AXES)
		return false;
	if (!axis)
		axis = &problem->axis[problem->axes++];
	axis->knob = knob;
	axis->said = false;
	axis->count = count;
	memcpy(axis->value, values, (size_t)count * sizeof *values);
	return true;
}

static void add_divisors(struct planner_problem *problem, const char *key, int64_t of,
			 int64_t most)
{
	double values[MAX_AXIS_VALUES];
	int count = 0;

	for (int64_t n = 1; n <= of && n <= most && count < MAX_AXIS_VALUES; n++)
		if (of % n == 0)
			values[count++] = (double)n;
	if (count > 0)
		planner_pin(problem, knob_find(key), values, count);
}

static void add_doubles(struct planner_problem *problem, const char *key, int64_t most)
{
	double values[MAX_AXIS_VALUES];
	int count = 0;

	for (int64_t n = 1; n <= most && count < MAX_AXIS_VALUES; n *= 2)
		values[count++] = (double)n;
	planner_pin(problem, knob_find(key), values, count);
}

static void add_series(struct planner_problem *problem, const char *key, int first,
		       int last)
{
	double values[MAX_AXIS_VALUES];
	int count = 0;

	for (int n = first; n <= last && count < MAX_AXIS_VALUES; n++)
		values[count++] = n;
	planner_pin(problem, knob_find(key), values, count);
}

static int64_t most_heads(const struct model *model)
{
	int64_t heads = 1;

	for (int k = 0; k < model->kinds; k++)
		if (model->kind[k].attention.heads > heads)
			heads = model->kind[k].attention.heads;
	return heads;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Degrees of an engine, how prompts are let in, and prefill apart. Precision, drafts
 * and the workload are given: they change what is answered, or to whom. */
static void serving_axes(struct planner_problem *problem)
{
	const struct scenario *s = &problem->base;
	int64_t gpus = s->cluster.gpus, heads = most_heads(&s->model);
	double pool[] = { 0, (double)(gpus / 4), (double)(3 * gpus / 4) };

	add_divisors(problem, "tp", heads, smaller(gpus, 64));
	add_divisors(problem, "pp", gpus, smaller(s->model.layers, 16));
	if (s->model.moe.experts > 0) {
		add_doubles(problem, "dp_attention", smaller(gpus, 256));
		add_divisors(problem, "ep", s->model.moe.experts, smaller(gpus, 512));
	}
	add_doubles(problem, "kv_shards", smaller(gpus, 8));
	add_series(problem, "disaggregated", 0, gpus > 1 ? 1 : 0);
	planner_pin(problem, knob_find("prefill_gpus"), pool, gpus >= 4 ? 3 : 1);
	planner_pin(problem, knob_find("prefill_tp"), (double[]){ 0, 1, 2, 4, 8 },
		    gpus >= 16 ? 5 : 1);
}

static void add_values(struct planner_problem *problem, const char *key,
		       const double *values, int count)
{
	double once[MAX_AXIS_VALUES];
	int kept = 0;

	for (int i = 0; i < count; i++) {
		bool seen = false;

		for (int k = 0; k < kept; k++)
			seen |= once[k] == values[i];
		if (!seen)
			once[kept++] = values[i];
	}
	planner_pin(problem, knob_find(key), once, kept);
}

/* The stack's own choice, attention alone, what is cheap to make again (norms,
 * activations, the up projections of MLA), the MLP, and all together. */
static void add_modules(struct planner_problem *problem)
{
	enum { ATTENTION = 1 << MODULE_CORE_ATTN, MLP = 1 << MODULE_MLP };
	const struct model *model = &problem->base.model;
	unsigned cheap = 1u << MODULE_LAYERNORM;
	double values[5];

	if (mixer_latent_any(model))
		cheap |= 1u << MODULE_MLA_UP_PROJ;
	if (model->moe.experts > 0)
		cheap |= 1u << MODULE_MOE_ACT;
	values[0] = (double)problem->base.plan.recompute_modules;
	values[1] = ATTENTION;
	values[2] = cheap;
	values[3] = MLP;
	values[4] = ATTENTION | MLP | cheap;
	add_values(problem, "recompute_modules", values, 5);
}

/* Some of a stage's layers: all (0), 1, 2, 4 ... */
static void add_layers(struct planner_problem *problem)
{
	double values[MAX_AXIS_VALUES] = { 0 };
	int count = 1;

	for (int64_t n = 1; n < problem->base.model.layers; n *= 2)
		values[count++] = (double)n;
	add_values(problem, "recompute_layers", values, count);
}

/* What parts a layer, and how it is held. */
static void add_degrees(struct planner_problem *problem)
{
	const struct scenario *s = &problem->base;
	int64_t gpus = s->cluster.gpus, heads = most_heads(&s->model);
	double kinds[] = { CP_RING, CP_ALL_GATHER, CP_ULYSSES }, etp[] = { 1, 0 };
	double groups[] = { 0, (double)s->cluster.gpus_per_node };

	add_doubles(problem, "mbs", smaller(s->plan.global_batch, 32));
	/* mixers without heads split their inner width */
	if (heads > 1)
		add_divisors(problem, "tp", heads, smaller(gpus, 64));
	else
		add_doubles(problem, "tp", smaller(gpus, 64));
	add_series(problem, "sp", 0, 1);
	add_doubles(problem, "cp", smaller(gpus, smaller(64, s->plan.seq_len / 1024)));
	add_values(problem, "cp_kind", kinds, 3);
	if (s->model.moe.experts > 0) {
		add_divisors(problem, "ep", s->model.moe.experts, gpus);
		planner_pin(problem, knob_find("etp"), etp, 2);
	}
	add_divisors(problem, "pp", gpus,
		     smaller(s->model.layers + s->model.mtp_layers + 2, MAX_STAGES));
	add_series(problem, "zero", 0, 3);
	add_values(problem, "zero_group", groups,
		   gpus > s->cluster.gpus_per_node ? 2 : 1);
}

/* What the stack never has, or nobody ran; an axis of which nothing is left keeps the
 * plan's value. */
static void leave_out(struct planner_problem *problem)
{
	for (int i = 0; i < problem->axes; i++) {
		struct planner_axis *axis = &problem->axis[i];
		int kept = 0;

		for (int v = 0; v < axis->count; v++)
			if ((problem->research ||
			     !ability_never(&problem->base.stack, axis->knob,
					    axis->value[v])) &&
			    !planner_distrusts(problem, axis->knob, axis->value[v]))
				axis->value[kept++] = axis->value[v];
		if (kept == 0)
			axis->value[kept++] = knob_get(&problem->base, axis->knob);
		axis->count = kept;
	}
}

/* In this order the plans are named and ties broken: fewer splits come first. */
void planner_axes(struct planner_problem *problem)
{
	const struct scenario *s = &problem->base;
	bool sends = s->cluster.accelerator.host_bytes_per_second > 0;
	double schedules[] = { SCHEDULE_1F1B, SCHEDULE_INTERLEAVED, SCHEDULE_GPIPE };
	double splits[] = { SPLIT_AUTO, SPLIT_BALANCED };
	/* offload as the plan has it, too */
	double states[] = { 0, 0.5, 1, s->plan.optimizer_offload };
	double sent[] = { 0, s->plan.activation_offload };

	problem->axes = 0;
	if (s->plan.mode == MODE_INFERENCE) {
		serving_axes(problem);
		leave_out(problem);
		return;
	}
	add_degrees(problem);
	/* who has no 1F1B runs all forwards first */
	add_values(problem, "schedule", schedules,
		   ability_never(&s->stack, knob_find("schedule"), SCHEDULE_1F1B) &&
				   !problem->research
			   ? 3
			   : 2);
	add_values(problem, "split", splits, 2);
	add_series(problem, "vpp", 1, (int)smaller(s->model.layers, 12));
	add_series(problem, "recompute", 0, RECOMPUTE_COUNT - 1);
	add_modules(problem);
	add_layers(problem);
	add_values(problem, "optimizer_offload", states, sends ? 4 : 1);
	add_values(problem, "activation_offload", sent, 2);
	leave_out(problem);
}

const struct planner_axis *search_find_axis(const struct planner_problem *problem,
					    const struct knob *knob)
{
	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].knob == knob)
			return &problem->axis[i];
	return NULL;
}

bool planner_leaves_offload(const struct planner_problem *problem)
{
	const struct knob *knob = knob_find("activation_offload");
	const struct planner_axis *axis = search_find_axis(problem, knob);
	const struct cluster *cluster = &problem->base.cluster;

	return problem->base.plan.mode == MODE_TRAINING &&
	       cluster->accelerator.host_bytes_per_second > 0 &&
	       cluster->host_bytes_per_gpu > 0 && axis && axis->count == 1 &&
	       axis->value[0] == 0;
}

bool planner_is_unsure(const struct planner_problem *problem)
{
	return problem->base.plan.mode == MODE_TRAINING &&
	       problem->base.cluster.accelerator.calibration.unmeasured;
}

static bool same_values(const struct planner_axis *a, const struct planner_axis *b)
{
	if (!b || a->count != b->count)
		return false;
	for (int i = 0; i < a->count; i++)
		if (a->value[i] != b->value[i])
			return false;
	return true;
}

static const struct planner_axis *pinned(const struct planner_problem *problem,
					 const struct planner_problem *usual,
					 const struct knob *knob)
{
	const struct planner_axis *axis = search_find_axis(problem, knob);

	return axis && !same_values(axis, search_find_axis(usual, knob)) ? axis : NULL;
}

const struct planner_axis *planner_pinned(const struct planner_problem *problem,
					  const struct knob *knob)
{
	struct planner_problem usual = { .base = problem->base,
					 .research = problem->research,
					 .trust = problem->trust };

	planner_axes(&usual);
	return pinned(problem, &usual, knob);
}

void search_pins(const struct planner_problem *problem, bool *is_pinned)
{
	struct planner_problem usual = { .base = problem->base,
					 .research = problem->research,
					 .trust = problem->trust };

	planner_axes(&usual);
	for (int i = 0; i < problem->axes; i++)
		is_pinned[i] = pinned(problem, &usual, problem->axis[i].knob);
}

void planner_again(const struct planner_problem *problem, const struct scenario *base,
		   struct planner_problem *out)
{
	planner_again_at(problem, base, problem->trust, out);
}

void planner_again_at(const struct planner_problem *problem,
		      const struct scenario *base, int trust,
		      struct planner_problem *out)
{
	struct planner_problem usual = { .base = problem->base,
					 .research = problem->research,
					 .trust = problem->trust };

	*out = *problem;
	out->base = *base;
	out->trust = trust;
	planner_axes(&usual);
	planner_axes(out);
	/* what is not the usual for the old base was asked for */
	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];
		bool said = axis->said && trust != problem->trust;

		if (said || pinned(problem, &usual, axis->knob))
			planner_pin(out, axis->knob, axis->value, axis->count);
	}
	for (int i = 0; i < out->axes; i++) {
		const struct planner_axis *axis =
			search_find_axis(problem, out->axis[i].knob);

		out->axis[i].said = axis && axis->said;
	}
}

void planner_scenario(const struct planner_problem *problem,
		      const struct planner_found *found, struct scenario *out)
{
	*out = problem->base;
	for (int i = 0; i < problem->axes; i++)
		knob_set(out, problem->axis[i].knob,
			 problem->axis[i].value[found->choice[i]]);
}
