/* pareto.c - see pareto.h. */
#include "engine/planner/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/plain.h"
#include "engine/planner/inverse.h"

static const double step = 0.01; /* of the memory */

const char *pareto_word(enum pareto_kind kind)
{
	static const char *const words[PARETO_COUNT] = { "memory", "gpus", "users" };

	return (unsigned)kind < PARETO_COUNT ? words[kind] : "";
}

enum pareto_kind pareto_find(const char *word)
{
	int i = 0;

	while (i < PARETO_COUNT && strcmp(pareto_word((enum pareto_kind)i), word) != 0)
		i++;
	return (enum pareto_kind)i;
}

enum pareto_kind pareto_usual(const struct planner_problem *problem)
{
	return problem->base.plan.mode == MODE_INFERENCE ? PARETO_USERS : PARETO_MEMORY;
}

static int rising(const void *a, const void *b)
{
	return compare(*(const double *)a, *(const double *)b);
}

static void fill_gpus(struct pareto *pareto)
{
	const struct planner_problem *problem = pareto->problem;
	const struct planner_axis *axis = planner_pinned(problem, knob_find("gpus"));

	if (!axis || axis->count < 2) {
		pareto->counts = inverse_gpus(&problem->base.cluster,
					      4 * (double)problem->base.cluster.gpus,
					      pareto->gpus, MAX_COUNTS);
		return;
	}
	pareto->counts = axis->count;
	memcpy(pareto->gpus, axis->value, (size_t)axis->count * sizeof(double));
	qsort(pareto->gpus, (size_t)pareto->counts, sizeof(double), rising);
}

void pareto_begin(struct pareto *pareto, enum pareto_kind kind,
		  const struct planner_problem *problem)
{
	memset(pareto, 0, sizeof *pareto);
	pareto->kind = kind;
	pareto->problem = problem;
	pareto->limit_bytes = planner_room(problem, &problem->base);
	pareto->done = !(pareto->limit_bytes > 0);
	if (kind == PARETO_GPUS) {
		fill_gpus(pareto);
		pareto->done = pareto->counts == 0;
	}
}

static void on_gpus(const struct pareto *pareto, double gpus,
		    struct planner_problem *out)
{
	struct scenario base = pareto->problem->base;
	const struct knob *knob = knob_find("gpus");

	knob_set(&base, knob, gpus);
	planner_again(pareto->problem, &base, out);
	planner_pin(out, knob, &gpus, 1);
}

bool pareto_next(struct pareto *pareto, struct planner_problem *out)
{
	if (pareto->done)
		return false;
	if (pareto->kind == PARETO_GPUS) {
		on_gpus(pareto, pareto->gpus[pareto->at], out);
	} else if (pareto->kind == PARETO_USERS) {
		*out = *pareto->problem;
		/* as many requests as the limit allows */
		out->base.plan.serving.concurrency = 0;
		out->base.plan.serving.request_rate = 0;
		out->base.plan.serving.goal_tpot_seconds = pareto->limit_seconds;
	} else {
		*out = *pareto->problem;
		out->reserve = 1 - pareto->limit_bytes /
					   out->base.cluster.accelerator.usable_bytes;
	}
	out->objective = OBJECTIVE_THROUGHPUT;
	out->top = 1;
	out->strict = true;
	return true;
}

bool pareto_lessens(const struct pareto *pareto)
{
	return pareto->kind == PARETO_MEMORY && pareto->count > 0;
}

static void add_point(struct pareto *pareto, const struct planner_found *found,
		      double gpus)
{
	if (pareto->count == MAX_FRONT) {
		pareto->done = true;
		return;
	}
	pareto->point[pareto->count++] = (struct pareto_point){
		.gpus = gpus,
		.tokens_per_second = found->tokens_per_second_per_gpu * gpus,
		.found = *found,
	};
}

/* Less memory at the same speed: the plan before was not on the front. */
static void take_memory(struct pareto *pareto, const struct planner_problem *problem,
			const struct planner_result *result)
{
	const struct planner_found *found = &result->top[0];
	double room = pareto->problem->base.cluster.accelerator.usable_bytes;
	struct scenario s;

	/* a server fills what it is given, whatever the limit */
	if (result->found == 0 ||
	    found->memory_bytes > pareto->limit_bytes * (1 + 1e-9)) {
		pareto->done = true;
		return;
	}
	if (pareto->count > 0 &&
	    pareto->point[pareto->count - 1].found.score == found->score)
		pareto->count--;
	planner_scenario(problem, found, &s);
	add_point(pareto, found, (double)s.cluster.gpus);
	pareto->limit_bytes = found->memory_bytes - step * room;
	if (pareto->limit_bytes <= 0)
		pareto->done = true;
}

/* Each limit is a seventh below the one before; a plan whose TPOT is far below its
 * limit is met again until the limit reaches it. */
static void take_users(struct pareto *pareto, const struct planner_problem *problem,
		       const struct planner_result *result)
{
	struct planner_found found;
	struct scenario s;

	if (result->found == 0) {
		pareto->done = true;
		return;
	}
	found = result->top[0];
	if (pareto->limit_seconds > 0)
		found.step_seconds = fmin(found.step_seconds, pareto->limit_seconds);
	planner_scenario(problem, &found, &s);
	add_point(pareto, &found, (double)s.cluster.gpus);
	pareto->limit_seconds = found.step_seconds / 1.15;
}

static void take_gpus(struct pareto *pareto, const struct planner_result *result)
{
	double gpus = pareto->gpus[pareto->at];
	double most = pareto->count > 0
			      ? pareto->point[pareto->count - 1].tokens_per_second
			      : 0;

	if (result->found > 0 && result->top[0].tokens_per_second_per_gpu * gpus > most)
		add_point(pareto, &result->top[0], gpus);
	if (++pareto->at == pareto->counts)
		pareto->done = true;
}

void pareto_take(struct pareto *pareto, const struct planner_problem *problem,
		 const struct planner_result *result)
{
	if (pareto->done)
		return;
	if (pareto->kind == PARETO_GPUS)
		take_gpus(pareto, result);
	else if (pareto->kind == PARETO_USERS)
		take_users(pareto, problem, result);
	else
		take_memory(pareto, problem, result);
}

void pareto_scenario(const struct pareto *pareto, const struct pareto_point *point,
		     struct scenario *out)
{
	struct planner_problem problem;

	if (pareto->kind != PARETO_GPUS) {
		planner_scenario(pareto->problem, &point->found, out);
		return;
	}
	on_gpus(pareto, point->gpus, &problem);
	planner_scenario(&problem, &point->found, out);
}
