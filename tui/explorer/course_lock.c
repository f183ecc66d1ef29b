/* course_lock.c - what is hidden and locked while a lesson asks; see course.h. */
#include <stdio.h>
#include <string.h>

#include "tui/explorer/course_parts.h"

bool course_hides(const struct explorer *explorer)
{
	const struct course *c = explorer->course;

	/* on paper nobody turns anything: what each value gives would be the answer */
	return c && (c->phase == COURSE_LOOK || c->phase == COURSE_ASK ||
		     (c->silent && c->phase == COURSE_TURN));
}

static bool may_turn(const struct lesson_step *step, const struct knob *knob)
{
	for (int i = 0; i < step->turns && !course_is_goal(step); i++)
		if (step->turn[i].knob == knob)
			return true;
	for (int i = 0; i < step->unlocks; i++)
		if (step->unlock[i] == knob)
			return true;
	return step->question.ask == LESSON_BEST && step->question.knob == knob;
}

bool course_locks(const struct explorer *explorer, const struct knob *knob)
{
	const struct course *c = explorer->course;

	return c && c->phase >= COURSE_LOOK &&
	       (c->phase <= COURSE_TURN || course_contests(c)) &&
	       !may_turn(course_step(c), knob);
}

/* The knobs that this step turns: "gbs, mbs". */
static void name_turns(const struct lesson_step *step, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < knob_count() && used < size; i++)
		if (may_turn(step, &knob_table[i]))
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used ? ", " : "", knob_table[i].key);
}

static bool same_bases(const struct scenario *a, const struct scenario *b)
{
	return strcmp(a->model.name, b->model.name) == 0 &&
	       strcmp(a->cluster.name, b->cluster.name) == 0 &&
	       strcmp(a->stack.name, b->stack.name) == 0;
}

/* Of a goal with a proven best only its values count. */
static bool allows_plan(struct explorer *explorer, const struct scenario *to)
{
	const struct planner_problem *problem = &explorer->course->best.problem;
	struct challenge_lock lock;
	char text[400];

	if (challenge_allows(problem, to, &lock))
		return true;
	challenge_lock_text(problem, to, &lock, text, sizeof text);
	explorer_say(explorer, ROLE_WARNING, "%s", text);
	return false;
}

bool course_allows(struct explorer *explorer, const struct scenario *to)
{
	const struct course *c = explorer->course;
	char names[160];
	bool good;

	if (c && c->phase != COURSE_LIST &&
	    (course_contests(c) ||
	     (c->phase == COURSE_TURN && course_step(c)->axes > 0)))
		return allows_plan(explorer, to);
	if (!c || c->phase == COURSE_LIST || c->phase > COURSE_TURN)
		return true;
	if (c->phase != COURSE_TURN) {
		explorer_say(
			explorer, ROLE_WARNING, "%s",
			course_is_question(course_step(c))
				? "first give your prediction; until then nothing can be changed"
				: "n goes on; until then nothing can be changed");
		return false;
	}
	good = same_bases(&explorer->scenario, to);
	for (int i = 0; i < knob_count() && good; i++)
		good = knob_same(&explorer->scenario, to, &knob_table[i]) ||
		       may_turn(course_step(c), &knob_table[i]);
	if (good)
		return true;
	name_turns(course_step(c), names, sizeof names);
	explorer_say(explorer, ROLE_WARNING, "this step changes only %s", names);
	return false;
}

bool course_allows_tricks(struct explorer *explorer)
{
	const struct course *c = explorer->course;

	if (!c || c->phase > COURSE_TURN)
		return true;
	explorer_say(explorer, ROLE_WARNING,
		     "not before the answer is revealed; q leaves the lesson");
	return false;
}
