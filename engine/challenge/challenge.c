/* challenge.c - see challenge.h. */
#include "engine/challenge/challenge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct planner_axis *find_axis(const struct planner_problem *problem,
					    const struct knob *knob)
{
	for (int i = 0; i < problem->axes; i++)
		if (problem->axis[i].knob == knob)
			return &problem->axis[i];
	return NULL;
}

/* Which of the axis's values a scenario has; -1: none. */
static int place_of(const struct planner_axis *axis, const struct scenario *s)
{
	for (int i = 0; i < axis->count; i++)
		if (axis->value[i] == knob_get(s, axis->knob))
			return i;
	return -1;
}

static bool names_knob(const struct planner_problem *problem, const struct scenario *s,
		       struct challenge_lock *lock)
{
	for (int i = 0; i < knob_count(); i++) {
		const struct planner_axis *axis = find_axis(problem, &knob_table[i]);

		lock->knob = &knob_table[i];
		lock->listed = axis != NULL;
		if (axis ? place_of(axis, s) < 0
			 : !knob_same(&problem->base, s, &knob_table[i]))
			return true;
	}
	lock->knob = NULL;
	lock->listed = false;
	return false;
}

bool challenge_allows(const struct planner_problem *problem, const struct scenario *s,
		      struct challenge_lock *lock)
{
	struct scenario other = problem->base;

	*lock = (struct challenge_lock){ NULL, NULL, false };
	/* another model or machine may bring other knobs along: say the cause */
	if (memcmp(&s->model, &other.model, sizeof s->model) != 0)
		lock->base = "model";
	else if (strcmp(s->cluster.name, other.cluster.name) != 0)
		lock->base = "cluster";
	else if (strcmp(s->stack.name, other.stack.name) != 0)
		lock->base = "stack";
	else if (!names_knob(problem, s, lock)) {
		for (int i = 0; i < problem->axes; i++)
			knob_set(&other, problem->axis[i].knob,
				 knob_get(s, problem->axis[i].knob));
		/* constants that no knob is */
		if (memcmp(&s->cluster, &other.cluster, sizeof s->cluster) != 0)
			lock->base = "cluster";
		else if (memcmp(&s->stack, &other.stack, sizeof s->stack) != 0)
			lock->base = "stack";
	}
	return !lock->base && !lock->knob;
}

void challenge_values(const struct planner_axis *axis, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < axis->count && used + 1 < size; i++) {
		char value[64];

		knob_print_value(axis->knob, axis->value[i], value, sizeof value);
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
					 value);
	}
}

void challenge_lock_text(const struct planner_problem *problem,
			 const struct scenario *s, const struct challenge_lock *lock,
			 char *out, size_t size)
{
	const struct planner_axis *axis;
	char theirs[96], ours[320];

	if (!lock->knob) {
		snprintf(out, size, "the %s is locked in this challenge", lock->base);
		return;
	}
	knob_print(s, lock->knob, theirs, sizeof theirs);
	axis = lock->listed ? find_axis(problem, lock->knob) : NULL;
	if (axis) {
		challenge_values(axis, ours, sizeof ours);
		snprintf(out, size, "%s can't be %s in this challenge; it takes %s",
			 lock->knob->key, theirs, ours);
		return;
	}
	knob_print(&problem->base, lock->knob, ours, sizeof ours);
	snprintf(out, size, "%s is locked at %s in this challenge", lock->knob->key,
		 ours);
}

bool challenge_neighbour(const struct planner_problem *problem,
			 const struct scenario *s, const struct knob *knob,
			 int direction, double *value)
{
	const struct planner_axis *axis = find_axis(problem, knob);
	double now = knob_get(s, knob);
	bool found = false;

	*value = now;
	if (!axis)
		return false;
	/* the next above or below, whatever the order of the list */
	for (int i = 0; i < axis->count; i++) {
		double v = axis->value[i];

		if ((v - now) * direction <= 0)
			continue;
		if (!found || (*value - v) * direction > 0)
			*value = v;
		found = true;
	}
	return true;
}

bool challenge_best(const struct planner_problem *problem, struct planner_found *best)
{
	enum { SLICE = 4096 };
	struct planner *planner = planner_start(problem);
	const struct planner_result *result;
	bool found;

	if (!planner)
		return false;
	while (planner_step(planner, SLICE)) {
	}
	result = planner_result(planner);
	found = result->found > 0 && !result->failed;
	if (found)
		*best = result->top[0];
	planner_free(planner);
	return found;
}

double challenge_score(const struct planner_problem *problem,
		       const struct planner_found *best, const struct scenario *s,
		       const struct estimate *e)
{
	struct challenge_lock lock;
	double theirs;

	if (!challenge_allows(problem, s, &lock) || !e->feasible ||
	    e->memory.total_bytes > planner_room(problem, s))
		return 0;
	theirs = objective_of_estimate(problem->objective, s, e);
	if (!isfinite(theirs) || !(theirs > 0) || !(best->score > 0))
		return 0;
	return fmin(1, best->score / theirs);
}
