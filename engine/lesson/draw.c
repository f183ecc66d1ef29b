/* draw.c - a scenario for each seed; see lesson.h. */
#include <stdint.h>
#include <stdio.h>

#include "engine/lesson/lesson.h"

enum { MOST_TRIES = 200 };

/* FNV-1a, 64 bits: Fowler, Noll, Vo, as draft-eastlake-fnv describes it. */
static uint64_t hash(uint64_t from, const char *text)
{
	for (; *text != '\0'; text++)
		from = (from ^ (unsigned char)*text) * 0x100000001b3u;
	return from;
}

/* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void pick_values(const struct lesson *lesson, uint64_t *state,
			struct scenario *out)
{
	char why[128];

	*out = lesson->scenario;
	for (int i = 0; i < lesson->varies; i++) {
		const struct lesson_vary *vary = &lesson->vary[i];
		uint64_t at = next(state) % (uint64_t)vary->count;

		knob_parse(out, vary->knob, vary->value[at], why, sizeof why);
	}
}

static bool blame(struct lesson_fault *fault, int place, const char *reason)
{
	fault->place = place;
	fault->at = 0;
	snprintf(fault->text, sizeof fault->text, "%s", reason);
	return false;
}

/* Legal, fitting, and its answer told apart. */
static bool is_fit(const struct lesson *lesson, int step, const struct scenario *drawn,
		   struct lesson_scene *scene, struct lesson_fault *fault)
{
	const struct lesson_step *s = &lesson->step[step];
	double answer;
	bool clear;

	if (!lesson_stage(lesson, step, drawn, scene, fault))
		return false;
	if (!scene->before_estimate.feasible)
		return blame(fault, s->place,
			     scene->before_estimate.legal
				     ? "the plan of this step does not fit"
				     : "the plan of this step is not legal");
	if (scene->turned && !(s->may_overflow ? scene->after_estimate.legal
					       : scene->after_estimate.feasible))
		return blame(fault, s->place,
			     scene->after_estimate.legal
				     ? "once turned the plan does not fit (overflow: "
				       "yes allows it)"
				     : "once turned the plan is not legal");
	/* or nothing that is done would ever be the turn */
	if (scene->turned && lesson_has_turned(s, scene, &scene->before))
		return blame(fault, s->place,
			     s->question.ask == LESSON_BEST
				     ? "the best value is the one that it starts with"
				     : "the turn changes nothing");
	if (s->question.ask == LESSON_NOTHING)
		return true;
	return lesson_answer(s, scene, &answer, &clear, fault) &&
	       (clear || blame(fault, s->question.of.place,
			       s->question.ask == LESSON_VALUE
				       ? "the answer stands on the screen before the "
					 "turn"
				       : "two choices lie within the tolerance"));
}

static bool is_fit_for_all(const struct lesson *lesson, const struct scenario *drawn,
			   struct lesson_scene *scene, struct lesson_fault *fault)
{
	struct formula_fault problem = { "", 0 };
	double value;

	for (int i = 0; i < lesson->steps; i++)
		if (!is_fit(lesson, i, drawn, scene, fault))
			return false;
	if (lesson->where.text[0] == '\0')
		return true;
	lesson_begin_step(lesson, 0, drawn, scene, fault);
	if (lesson_value(scene, lesson->where.text, &value, &problem) && value != 0)
		return true;
	return blame(fault, lesson->where.place,
		     problem.reason[0] ? problem.reason : "`where` does not hold");
}

bool lesson_draw(const struct lesson *lesson, const char *seed,
		 struct lesson_scene *scratch, struct scenario *out, int *tries,
		 struct lesson_fault *fault)
{
	uint64_t state;

	if (tries)
		*tries = 1;
	*out = lesson->scenario;
	if (!seed || seed[0] == '\0')
		return is_fit_for_all(lesson, out, scratch, fault);
	state = hash(hash(0xcbf29ce484222325u, lesson->name), seed);
	for (int i = 1; i <= MOST_TRIES; i++) {
		if (tries)
			*tries = i;
		pick_values(lesson, &state, out);
		if (is_fit_for_all(lesson, out, scratch, fault))
			return true;
	}
	return false;
}
