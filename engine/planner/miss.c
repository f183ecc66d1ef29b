/* miss.c - see miss.h. */
#include "engine/planner/miss.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/rules/legality.h"
#include "engine/rules/rules.h"

/* So little may stay free that everything fits. */
static const double no_reserve = -1e9;

void misses_begin(struct misses *misses, const struct planner_problem *problem)
{
	memset(misses, 0, sizeof *misses);
	misses->problem = problem;
	misses->has_bytes = planner_room(problem, &problem->base);
}

static bool has_axis(const struct planner_problem *problem, const char *key)
{
	const struct planner_axis *axis = planner_pinned(problem, knob_find(key));

	return axis && axis->count > 1;
}

/* Whether plans with that value were among those that don't fit. */
static bool was_tried(const struct planner_problem *problem, const char *key,
		      double value)
{
	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];

		for (int k = 0; k < axis->count; k++)
			if (strcmp(axis->knob->key, key) == 0 &&
			    axis->value[k] == value)
				return true;
	}
	return false;
}

/* Goes to the next stage that asks something; what is an axis was tried already. */
static void enter_stage(struct misses *misses, enum miss_stage stage)
{
	const struct planner_problem *problem = misses->problem;
	const struct scenario *s = &problem->base;

	if (stage == MISS_GPUS) {
		inverse_begin(&misses->inverse, INVERSE_GPUS, problem, 0);
		inverse_keep(&misses->inverse, (double)s->cluster.gpus, INFINITY);
		if (has_axis(problem, "gpus"))
			stage = MISS_OFFLOAD;
	}
	if (stage == MISS_OFFLOAD &&
	    (misses->count == 0 || s->plan.optimizer_offload == 1 ||
	     was_tried(problem, "optimizer_offload", 1)))
		stage = MISS_SEQUENCE;
	if (stage == MISS_SEQUENCE) {
		inverse_begin(&misses->inverse, INVERSE_SEQUENCE, problem, 0);
		inverse_keep(&misses->inverse, 0, (double)s->plan.seq_len);
		if (has_axis(problem, "seq"))
			stage = MISS_BATCH;
	}
	if (stage == MISS_BATCH && (misses->count > 0 || has_axis(problem, "gbs")))
		stage = MISS_PINS;
	misses->stage = stage;
}

/* The next multiple of the GPUs divides whatever the degrees are. */
static double batch_up(const struct scenario *s)
{
	double gpus = (double)s->cluster.gpus;

	return ceil((double)s->plan.global_batch / gpus) * gpus;
}

static bool ask_one(struct misses *misses, struct planner_problem *out)
{
	struct scenario base = misses->problem->base;
	bool offload = misses->stage == MISS_OFFLOAD;
	const struct knob *knob = knob_find(offload ? "optimizer_offload" : "gbs");
	double value = offload ? 1 : batch_up(&base);

	if (!knob || !knob_set(&base, knob, value))
		return false;
	planner_again(misses->problem, &base, out);
	if (planner_pinned(misses->problem, knob))
		planner_pin(out, knob, &value, 1);
	out->objective = OBJECTIVE_MEMORY;
	out->top = 1;
	out->any = true;
	return true;
}

/* The problem with one pin taken out; false behind the last. */
static bool ask_unpinned(struct misses *misses, struct planner_problem *out)
{
	const struct planner_problem *problem = misses->problem;
	struct planner_problem usual = { .base = problem->base,
					 .research = problem->research,
					 .trust = problem->trust };

	planner_axes(&usual);
	for (; misses->axis < problem->axes && misses->unpins < MAX_UNPINS;
	     misses->axis++) {
		const struct knob *knob = problem->axis[misses->axis].knob;
		int at = 0;

		while (at < usual.axes && usual.axis[at].knob != knob)
			at++;
		if (at == usual.axes || !planner_pinned(problem, knob) ||
		    (misses->offload && strcmp(knob->key, "optimizer_offload") == 0))
			continue;
		*out = *problem;
		out->axis[misses->axis] = usual.axis[at];
		out->top = 1;
		out->strict = true;
		return true;
	}
	return false;
}

static void take_unpinned(struct misses *misses, const struct planner_problem *problem,
			  const struct planner_result *result)
{
	const struct knob *knob = problem->axis[misses->axis++].knob;
	struct scenario s;

	if (result->found == 0)
		return;
	planner_scenario(problem, &result->top[0], &s);
	misses->unpin[misses->unpins].knob = knob;
	misses->unpin[misses->unpins++].value = knob_get(&s, knob);
}

bool misses_next(struct misses *misses, struct planner_problem *out)
{
	for (;;) {
		switch (misses->stage) {
		case MISS_LIST:
			*out = *misses->problem;
			out->objective = OBJECTIVE_MEMORY;
			out->reserve = no_reserve;
			out->top = MAX_MISSES;
			return true;
		case MISS_GPUS:
		case MISS_SEQUENCE:
			if (inverse_next(&misses->inverse, out))
				return true;
			break;
		case MISS_OFFLOAD:
		case MISS_BATCH:
			if (ask_one(misses, out))
				return true;
			break;
		case MISS_PINS:
			if (ask_unpinned(misses, out))
				return true;
			break;
		default: return false;
		}
		enter_stage(misses, (enum miss_stage)(misses->stage + 1));
	}
}

/* Of all plans together: each has numbers of its own. */
static const struct rule hosts_are_full = {
	"X25", SEVERITY_ERROR,
	"every plan that breaks no rule offloads more than the hosts may take "
	"(host_memory_gib)",
	"presets/clusters: host_gib_per_gpu"
};

/* The rule that most plans break. What the scenario breaks itself can be said in
 * numbers. */
static void find_blocker(struct misses *misses, const struct planner_counts *counts)
{
	struct findings broken;
	int most = -1, rows;
	const struct legality *row = rules_of(&misses->problem->base, &rows);

	/* the list asks for any number of bytes: what does not fit is the hosts' */
	if (misses->problem->base.plan.mode == MODE_TRAINING &&
	    counts->too_large + counts->out_of_memory > 0) {
		misses->blocker.rule = &hosts_are_full;
		return;
	}
	for (int i = 0; i < rows && i < MAX_RULES; i++)
		if (counts->broken[i] > (most < 0 ? 0 : counts->broken[most]))
			most = i;
	scenario_check(&misses->problem->base, &broken);
	for (int i = 0; most >= 0 && i < broken.count; i++)
		if (strcmp(broken.item[i].rule->code, row[most].rule.code) == 0) {
			misses->blocker = broken.item[i];
			return;
		}
}

static void take_list(struct misses *misses, const struct planner_result *result)
{
	double usable = misses->problem->base.cluster.accelerator.usable_bytes;

	misses->count = result->found < MAX_MISSES ? result->found : MAX_MISSES;
	memcpy(misses->miss, result->top,
	       (size_t)misses->count * sizeof misses->miss[0]);
	if (misses->count == 0) {
		misses->too_large =
			misses->problem->base.plan.mode == MODE_INFERENCE &&
			result->counts.out_of_memory + result->counts.too_large > 0;
		if (misses->too_large)
			return;
		find_blocker(misses, &result->counts);
		return;
	}
	misses->reserve = misses->miss[0].memory_bytes <= usable;
	misses->wants_bytes =
		misses->miss[0].memory_bytes / (1 - misses->problem->reserve);
}

static bool take_inverse(struct misses *misses, const struct planner_problem *problem,
			 const struct planner_result *result, double *value)
{
	inverse_take(&misses->inverse, problem, result);
	/* which plan is best at the answer is another question */
	if (!misses->inverse.done && misses->inverse.answering) {
		*value = misses->inverse.value[misses->inverse.at];
		return true;
	}
	return misses->inverse.done;
}

void misses_take(struct misses *misses, const struct planner_problem *problem,
		 const struct planner_result *result)
{
	bool over = true;

	switch (misses->stage) {
	case MISS_LIST: take_list(misses, result); break;
	case MISS_GPUS:
		over = take_inverse(misses, problem, result, &misses->gpus);
		break;
	case MISS_OFFLOAD: misses->offload = result->found > 0; break;
	case MISS_SEQUENCE:
		over = take_inverse(misses, problem, result, &misses->seq_len);
		break;
	case MISS_BATCH:
		misses->batch =
			result->found > 0 ? batch_up(&misses->problem->base) : 0;
		break;
	case MISS_PINS: take_unpinned(misses, problem, result); return;
	default: return;
	}
	if (over)
		enter_stage(misses, (enum miss_stage)(misses->stage + 1));
}

bool misses_text(const struct misses *misses, int n, char *out, size_t size)
{
	double reserve = misses->problem->reserve * 100;
	char bytes[32];
	int at = 0;

	out[0] = '\0';
	form_text(FORM_BYTES, misses->wants_bytes, bytes, sizeof bytes);
	if (misses->reserve && at++ == n)
		snprintf(out, size, "without the %.0f %% reserve it would do", reserve);
	else if (misses->gpus > 0 && at++ == n)
		snprintf(out, size, "%.0f GPUs would do", misses->gpus);
	else if (misses->offload && at++ == n)
		snprintf(out, size, "optimizer_offload 1 would do");
	else if (misses->seq_len > 0 && at++ == n)
		snprintf(out, size, "seq %.0f would do", misses->seq_len);
	else if (misses->batch > 0 && at++ == n)
		snprintf(out, size, "gbs %.0f would do", misses->batch);
	else if (misses->count > 0 && !misses->reserve && at++ == n)
		snprintf(out, size, "%s usable per GPU would do", bytes);
	else if (n >= at && n - at < misses->unpins) {
		const struct knob *knob = misses->unpin[n - at].knob;

		knob_print_value(knob, misses->unpin[n - at].value, bytes,
				 sizeof bytes);
		snprintf(out, size, "%s %s would do", knob->key, bytes);
	}
	return out[0] != '\0';
}
