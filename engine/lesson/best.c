/* best.c - a goal whose plans are held against the proven best; see lesson.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/lesson/lesson.h"

void lesson_problem(const struct lesson_step *step, const struct scenario *before,
		    struct planner_problem *out)
{
	memset(out, 0, sizeof *out);
	out->base = *before;
	out->objective = OBJECTIVE_STEP;
	out->top = 1;
	for (int i = 0; i < step->axes; i++)
		planner_pin(out, step->axis[i].knob, step->axis[i].value,
			    step->axis[i].count);
}

double lesson_score(const struct lesson_step *step, const struct lesson_scene *scene)
{
	struct planner_problem *problem;
	struct planner_found best;
	double score = 0;

	if (!lesson_meets(step, scene))
		return 0;
	if (step->axes == 0)
		return 1;
	problem = malloc(sizeof *problem);
	if (!problem)
		return 0;
	lesson_problem(step, &scene->before, problem);
	if (challenge_best(problem, &best))
		score = challenge_score(problem, &best, &scene->after,
					&scene->after_estimate);
	free(problem);
	return score;
}
