/* lesson_step.c - reads the steps of a lesson; see lesson_question.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/planner/planner.h"
#include "presets/lesson_file.h"
#include "presets/lesson_question.h"

static bool read_turns(struct lesson_reading *r, const struct node *map,
		       struct lesson_turn *turn, int *count)
{
	if (!lesson_is(r, map, NODE_MAP, "expected knobs and their values: {tp: 8}"))
		return false;
	for (const struct node *node = map->child; node; node = node->next) {
		if (*count == LESSON_TURNS)
			return lesson_complain(r, node, "at most 6 knobs");
		if (!lesson_knob_read(r, node, node->key, &turn[*count].knob) ||
		    !lesson_formula_read(r, node, &turn[*count].to))
			return false;
		*count += 1;
	}
	return true;
}

static bool step_text(struct lesson_reading *r, const struct node *node)
{
	return lesson_prose_read(r, node, &r->step->text);
}

static bool step_view(struct lesson_reading *r, const struct node *node)
{
	return node_text(r->document, node, r->step->view, sizeof r->step->view,
			 r->error);
}

static bool step_focus(struct lesson_reading *r, const struct node *node)
{
	return lesson_is(r, node, NODE_SCALAR, "expected a knob") &&
	       lesson_knob_read(r, node, node->text, &r->step->focus);
}

static bool step_explain(struct lesson_reading *r, const struct node *node)
{
	return node_text(r->document, node, r->step->explain, sizeof r->step->explain,
			 r->error);
}

static bool step_set(struct lesson_reading *r, const struct node *node)
{
	return read_turns(r, node, r->step->set, &r->step->sets);
}

static bool step_turn(struct lesson_reading *r, const struct node *node)
{
	return read_turns(r, node, r->step->turn, &r->step->turns);
}

static bool step_overflow(struct lesson_reading *r, const struct node *node)
{
	return node_bool(r->document, node, &r->step->may_overflow, r->error);
}

static bool step_ask(struct lesson_reading *r, const struct node *node)
{
	return lesson_question_read(r, node);
}

static bool step_goal(struct lesson_reading *r, const struct node *node)
{
	return lesson_formula_read(r, node, &r->step->goal);
}

static bool step_unlock(struct lesson_reading *r, const struct node *list)
{
	if (!lesson_is(r, list, NODE_LIST, "expected a list of knobs: [gbs, mbs]"))
		return false;
	for (const struct node *node = list->child; node; node = node->next) {
		if (r->step->unlocks == LESSON_TURNS)
			return lesson_complain(r, node, "at most 6 knobs");
		if (!lesson_is(r, node, NODE_SCALAR, "expected a knob") ||
		    !lesson_knob_read(r, node, node->text,
				      &r->step->unlock[r->step->unlocks++]))
			return false;
	}
	return true;
}

/* Values of a knob as a challenge lists them: "1,2,4" or "1..8". */
static bool read_axis(struct lesson_reading *r, const struct node *node,
		      const struct knob *knob, struct lesson_axis *axis)
{
	struct planner_problem *one = calloc(1, sizeof *one);
	char why[256];
	bool good;

	if (!one)
		return error_set(r->error, NULL, 0, "out of memory");
	one->base = r->lesson->scenario;
	/* pinned to anything first: what is no axis would only be set */
	good = planner_pin(one, knob, (double[]){ 0 }, 1) &&
	       (planner_pin_text(one, knob, node->text, why, sizeof why) ||
		lesson_complain(r, node, why));
	if (good && one->axis[0].count > LESSON_VALUES)
		good = lesson_complain(r, node, "at most 12 values");
	axis->knob = knob;
	for (int i = 0; i < one->axis[0].count && good; i++)
		axis->value[axis->count++] = one->axis[0].value[i];
	free(one);
	return good;
}

/* The knobs of a goal with all values that they may take: so there is a proven best. */
static bool step_best(struct lesson_reading *r, const struct node *map)
{
	struct lesson_step *step = r->step;

	if (!lesson_is(r, map, NODE_MAP,
		       "expected knobs and their values: {tp: \"4,8\", vpp: 1..8}"))
		return false;
	for (const struct node *node = map->child; node; node = node->next) {
		const struct knob *knob;

		if (step->axes == LESSON_TURNS || step->unlocks == LESSON_TURNS)
			return lesson_complain(r, node, "at most 6 knobs");
		if (!lesson_knob_read(r, node, node->key, &knob) ||
		    !lesson_is(r, node, NODE_SCALAR, "expected its values: 1,2,4") ||
		    !read_axis(r, node, knob, &step->axis[step->axes]))
			return false;
		step->axes++;
		step->unlock[step->unlocks++] = knob;
	}
	return true;
}

static bool step_hints(struct lesson_reading *r, const struct node *list)
{
	int count = 0;

	if (!lesson_is(r, list, NODE_LIST, "expected two hints in a list"))
		return false;
	if (list->count != LESSON_HINTS)
		return lesson_complain(r, list,
				       "there are two hints, the second says "
				       "nearly all");
	for (const struct node *node = list->child; node; node = node->next)
		if (!lesson_prose_read(r, node, &r->step->hint[count++]))
			return false;
	return true;
}

static bool step_reveal(struct lesson_reading *r, const struct node *node)
{
	return lesson_prose_read(r, node, &r->step->reveal);
}

static bool step_why(struct lesson_reading *r, const struct node *node)
{
	return lesson_reason_read(r, node);
}

/* A plan that says what was measured. */
static bool step_measured(struct lesson_reading *r, const struct node *list)
{
	char text[512];

	if (!lesson_is(r, list, NODE_LIST, "expected plans in a list"))
		return false;
	for (const struct node *node = list->child; node; node = node->next) {
		if (r->step->runs == LESSON_RUNS)
			return lesson_complain(r, node, "at most 2 measured plans");
		if (!node_text(r->document, node, r->step->run[r->step->runs], MAX_NAME,
			       r->error))
			return false;
		if (!lesson_run_text(r->step->run[r->step->runs++], text, sizeof text))
			return lesson_complain(r, node,
					       "no shipped plan of that name says what "
					       "was measured");
	}
	return true;
}

static const struct lesson_key step_keys[] = {
	{ "text", step_text },         { "view", step_view },
	{ "focus", step_focus },       { "explain", step_explain },
	{ "set", step_set },           { "ask", step_ask },
	{ "turn", step_turn },         { "overflow", step_overflow },
	{ "goal", step_goal },         { "unlock", step_unlock },
	{ "best", step_best },         { "hints", step_hints },
	{ "reveal", step_reveal },     { "why", step_why },
	{ "measured", step_measured }, { NULL, NULL },
};

/* A question is about a turn, a goal has a way to it. */
static bool check_step(struct lesson_reading *r, const struct node *node)
{
	const struct lesson_step *step = r->step;
	bool goal = step->goal.text[0] != '\0';
	enum lesson_ask ask = step->question.ask;

	if (goal && ask != LESSON_NOTHING)
		return lesson_complain(r, node, "a step has ask or goal, not both");
	if ((goal || ask == LESSON_VALUE || ask == LESSON_RANGE) && step->turns == 0)
		return lesson_complain(r, node,
				       goal ? "a goal needs `turn`, one way to it"
					    : "ask needs `turn`: an answer that stands "
					      "on the screen is no prediction");
	if (goal && step->unlocks == 0)
		return lesson_complain(r, node,
				       "a goal needs `unlock`, the knobs that "
				       "may be turned, or `best` with their values");
	if (step->axes > 0 && (!goal || step->unlocks > step->axes))
		return lesson_complain(r, node,
				       "`best` belongs to a goal, and stands for its "
				       "`unlock`");
	return true;
}

bool lesson_steps_read(struct lesson_reading *r, const struct node *list)
{
	if (!lesson_is(r, list, NODE_LIST, "expected a list of steps"))
		return false;
	for (const struct node *node = list->child; node; node = node->next) {
		if (r->lesson->steps == LESSON_STEPS)
			return lesson_complain(r, node, "at most 10 steps");
		r->step = &r->lesson->step[r->lesson->steps++];
		r->step->place = node->line;
		if (!lesson_map(r, node, step_keys, "a step is a mapping") ||
		    !check_step(r, node))
			return false;
	}
	return list->count > 0 ||
	       lesson_complain(r, list, "expected at least one step");
}
