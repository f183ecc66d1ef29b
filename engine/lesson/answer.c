/* answer.c - what a step's question comes to, by the engine; see lesson.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/lesson/lesson.h"
#include "engine/predict/predict.h"

static bool blame(struct lesson_fault *fault, int place, int at, const char *reason)
{
	fault->place = place;
	fault->at = at;
	snprintf(fault->text, sizeof fault->text, "%s", reason);
	return false;
}

static bool compute(const struct lesson_scene *scene,
		    const struct lesson_formula *formula, double *value,
		    struct lesson_fault *fault)
{
	struct formula_fault problem = { "", 0 };

	return lesson_value(scene, formula->text, value, &problem) ||
	       blame(fault, formula->place, problem.at, problem.reason);
}

/* What a person types is taken as it stands, else it is arithmetic. */
static bool turn_knob(const struct lesson_turn *turn, const struct lesson_scene *scene,
		      struct scenario *to, struct lesson_fault *fault)
{
	char why[256];
	double value;

	if (knob_parse(to, turn->knob, turn->to.text, why, sizeof why))
		return true;
	if (turn->knob->type == KNOB_TEXT || turn->knob->type == KNOB_WORD)
		return blame(fault, turn->to.place, 0, why);
	if (!compute(scene, &turn->to, &value, fault))
		return false;
	return knob_set(to, turn->knob, value) ||
	       blame(fault, turn->to.place, 0, "the knob has no such value");
}

bool lesson_begin_step(const struct lesson *lesson, int step,
		       const struct scenario *drawn, struct lesson_scene *scene,
		       struct lesson_fault *fault)
{
	const struct lesson_step *s = &lesson->step[step];
	struct scenario to = *drawn;

	scene->turned = false;
	scene->before = *drawn;
	scenario_estimate(&scene->before, &scene->before_estimate);
	for (int i = 0; i < s->sets; i++)
		if (!turn_knob(&s->set[i], scene, &to, fault))
			return false;
	if (s->sets > 0) {
		scene->before = to;
		scenario_estimate(&scene->before, &scene->before_estimate);
	}
	return true;
}

void lesson_turn_to(struct lesson_scene *scene, const struct scenario *after)
{
	scene->after = *after;
	scenario_estimate(&scene->after, &scene->after_estimate);
	scene->turned = true;
}

/* The state with one value of the knob in question, as the scene's after. */
static bool try_value(const struct lesson_question *q, struct lesson_scene *scene,
		      int i, double *value, struct lesson_fault *fault)
{
	struct scenario to = scene->before;

	if (!knob_set(&to, q->knob, q->value[i]))
		return blame(fault, q->of.place, 0, "the knob has no such value");
	lesson_turn_to(scene, &to);
	return scene->after_estimate.feasible && compute(scene, &q->of, value, fault);
}

/* The best of the values that fit, and whether the next is further than the tolerance
 * from it. -1: none fits. */
static int best_value(const struct lesson_question *q, struct lesson_scene *scene,
		      bool *clear, struct lesson_fault *fault)
{
	double best = 0, second = 0;
	int at = -1, fitting = 0;

	fault->text[0] = '\0';
	for (int i = 0; i < q->choices; i++) {
		double value;

		if (!try_value(q, scene, i, &value, fault)) {
			if (fault->text[0] != '\0')
				return -1;
			continue;
		}
		value = q->least ? -value : value;
		if (fitting == 0 || value > best) {
			second = fitting == 0 ? value : best;
			best = value;
			at = i;
		} else if (fitting == 1 || value > second) {
			second = value;
		}
		fitting++;
	}
	*clear = fitting > 1 && best - second > q->tolerance * fabs(best);
	if (at < 0)
		blame(fault, q->of.place, 0, "none of the values fits");
	return at;
}

static bool take_turns(const struct lesson_step *step, struct lesson_scene *scene,
		       struct lesson_fault *fault)
{
	const struct lesson_question *q = &step->question;
	struct scenario to = scene->before;
	bool clear;

	if (q->ask == LESSON_BEST) {
		int best = best_value(q, scene, &clear, fault);

		if (best < 0)
			return false;
		knob_set(&to, q->knob, q->value[best]);
	}
	scene->turned = false;
	for (int i = 0; i < step->turns; i++)
		if (!turn_knob(&step->turn[i], scene, &to, fault))
			return false;
	lesson_turn_to(scene, &to);
	return true;
}

bool lesson_stage(const struct lesson *lesson, int step, const struct scenario *drawn,
		  struct lesson_scene *scene, struct lesson_fault *fault)
{
	const struct lesson_step *s = &lesson->step[step];

	if (!lesson_begin_step(lesson, step, drawn, scene, fault))
		return false;
	if (s->turns == 0 && s->question.ask != LESSON_BEST)
		return true;
	return take_turns(s, scene, fault);
}

bool lesson_has_turned(const struct lesson_step *step, const struct lesson_scene *scene,
		       const struct scenario *now)
{
	const struct knob *best =
		step->question.ask == LESSON_BEST ? step->question.knob : NULL;

	for (int i = 0; i < step->turns; i++)
		if (!knob_same(now, &scene->after, step->turn[i].knob))
			return false;
	return !best || knob_same(now, &scene->after, best);
}

static double slack(const struct lesson_question *q, double value)
{
	return q->relative ? q->tolerance * fabs(value) : q->tolerance;
}

/* What the question would come to if nothing had been turned: that is on the screen. */
static bool stood_there(const struct lesson_question *q, struct lesson_scene *scene,
			double answer)
{
	struct lesson_fault ignored;
	struct estimate *now = &scene->after_estimate;
	struct scenario after = scene->after;
	double value;
	bool there;

	scene->after = scene->before;
	*now = scene->before_estimate;
	there = compute(scene, &q->of, &value, &ignored) &&
		fabs(value / q->unit->scale - answer) <= slack(q, answer);
	lesson_turn_to(scene, &after);
	return there;
}

static bool answer_range(const struct lesson_question *q, double value, double *answer,
			 bool *clear)
{
	*answer = 1;
	for (int i = 0; i < q->choices - 1; i++) {
		*answer += value > q->cut[i];
		if (fabs(value - q->cut[i]) <= slack(q, value))
			*clear = false;
	}
	return true;
}

bool lesson_answer(const struct lesson_step *step, struct lesson_scene *scene,
		   double *answer, bool *clear, struct lesson_fault *fault)
{
	const struct lesson_question *q = &step->question;
	bool ignored, *is_clear = clear ? clear : &ignored;
	double value;

	*is_clear = true;
	if (q->ask == LESSON_BEST) {
		struct scenario after = scene->after;
		int best = best_value(q, scene, is_clear, fault);

		lesson_turn_to(scene, &after);
		*answer = best + 1;
		return best >= 0;
	}
	if (!compute(scene, &q->of, &value, fault))
		return false;
	value /= q->unit->scale;
	if (q->ask == LESSON_RANGE)
		return answer_range(q, value, answer, is_clear);
	*answer = value;
	if (clear)
		*clear = !stood_there(q, scene, value);
	return true;
}

bool lesson_is_right(const struct lesson_question *question, double answer,
		     double given)
{
	if (!isfinite(given))
		return false;
	if (question->ask != LESSON_VALUE)
		return given == answer;
	return fabs(given - answer) <= slack(question, answer) * (1 + 1e-9);
}

bool lesson_meets(const struct lesson_step *step, const struct lesson_scene *scene)
{
	double value;

	return scene->turned && scene->after_estimate.legal &&
	       lesson_value(scene, step->goal.text, &value, NULL) && value != 0;
}
