/* course.c - a lesson as it is gone through: what was open before it, its phases and
 * turns; see course.h. */
#include "tui/explorer/course_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/lesson_file.h"
#include "tui/view.h"

const struct lesson_step *course_step(const struct course *c)
{
	return &c->lesson.step[c->step];
}

struct answer *course_claim(struct course *c)
{
	return &c->answers.answer[c->step];
}

bool course_is_question(const struct lesson_step *step)
{
	return step->question.ask != LESSON_NOTHING;
}

bool course_is_goal(const struct lesson_step *step)
{
	return step->goal.text[0] != '\0';
}

bool course_contests(const struct course *c)
{
	return c->phase == COURSE_REVEAL && course_step(c)->axes > 0;
}

/* --- what was open before ---------------------------------------------------- */

static void keep(struct explorer *explorer, struct course_kept *kept)
{
	*kept = (struct course_kept){ .scenario = explorer->scenario,
				      .origin = explorer->origin,
				      .baseline = explorer->baseline,
				      .before = explorer->before,
				      .history = explorer->history,
				      .pinned = explorer->pinned,
				      .moved = explorer->moved,
				      .before_mode = explorer->before_mode,
				      .row = explorer->row,
				      .revealed = explorer->revealed,
				      .folded = explorer->folded,
				      .view = explorer_view_below(explorer),
				      .pane = explorer->pane };
	memcpy(kept->file, explorer->file, sizeof kept->file);
	memset(&explorer->history, 0, sizeof explorer->history);
	explorer->file[0] = '\0';
}

static void give_back(struct explorer *explorer, const struct course_kept *kept)
{
	history_free(&explorer->history);
	explorer->history = kept->history;
	explorer->scenario = kept->scenario;
	explorer->origin = kept->origin;
	explorer->baseline = kept->baseline;
	explorer->before = kept->before;
	explorer->pinned = kept->pinned;
	explorer->moved = kept->moved;
	explorer->before_mode = kept->before_mode;
	explorer->row = kept->row;
	explorer->revealed = kept->revealed;
	explorer->folded = kept->folded;
	explorer->pane = kept->pane;
	memcpy(explorer->file, kept->file, sizeof explorer->file);
	explorer_show(explorer, kept->view);
	explorer_update(explorer);
}

/* The explorer on this plan, as if it had been opened. */
void course_show_plan(struct explorer *explorer, const struct scenario *scenario)
{
	history_free(&explorer->history);
	memset(&explorer->history, 0, sizeof explorer->history);
	explorer->scenario = explorer->origin = *scenario;
	explorer->pinned = explorer->moved = explorer->lit = false;
	explorer_update(explorer);
}

void course_free(struct explorer *explorer)
{
	if (explorer->course)
		history_free(&explorer->course->kept.history);
	free(explorer->course);
	explorer->course = NULL;
}

void course_save(struct explorer *explorer)
{
	struct course *c = explorer->course;
	struct error error = { "" };

	if (!c->keeps || c->lesson.steps == 0)
		return;
	c->answers.step = c->step;
	if (!answers_save(&c->answers, &error))
		explorer_say(explorer, ROLE_WARNING, "progress could not be saved: %s",
			     error.text);
}

unsigned course_leave(struct explorer *explorer)
{
	struct course *c = explorer->course;

	course_save(explorer);
	give_back(explorer, &c->kept);
	memset(&c->kept.history, 0, sizeof c->kept.history);
	course_free(explorer);
	if (explorer->message[0] == '\0')
		explorer_say(explorer, ROLE_HINT,
			     "your place in the lesson is kept; L continues it");
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

/* --- the list of lessons ------------------------------------------------------ */

static void describe(struct course *c, int i, struct lesson *lesson)
{
	struct answers answers;
	struct error ignored;

	c->state[i][0] = '\0';
	memcpy(c->title[i], c->name[i], MAX_NAME);
	if (!lesson_read(lesson, c->name[i], &ignored))
		return;
	memcpy(c->title[i], lesson->title, sizeof c->title[i]);
	answers_load(c->name[i], c->seed, &answers, &ignored);
	if (answers.finished)
		snprintf(c->state[i], sizeof c->state[i], "done");
	else if (answers.step > 0 || answers.answer[0].done)
		snprintf(c->state[i], sizeof c->state[i], "step %d of %d",
			 answers.step + 1, lesson->steps);
}

/* The cursor is on the first that is not done. */
void course_list(struct course *c)
{
	c->lessons = lesson_names(c->name, MOST_LESSONS);
	c->cursor = -1;
	for (int i = 0; i < c->lessons; i++) {
		describe(c, i, &c->lesson);
		if (c->cursor < 0 && strcmp(c->state[i], "done") != 0)
			c->cursor = i;
	}
	if (c->cursor < 0)
		c->cursor = 0;
	c->phase = COURSE_LIST;
	memset(&c->lesson, 0, sizeof c->lesson);
}

/* --- steps -------------------------------------------------------------------- */

void course_enter(struct course *c, enum course_phase phase)
{
	c->phase = phase;
	c->first = c->word = 0;
	field_set(&c->field, "");
	c->scene.turned = phase >= COURSE_REVEAL && c->phase != COURSE_END;
}

/* The plan of the step before its turn; a fault can't come: the draw was looked at. */
void course_start_step(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = course_step(c);
	struct lesson_fault fault;
	int view = view_find(step->view);

	c->again = false;
	if (lesson_stage(&c->lesson, c->step, &c->drawn, &c->scene, &fault) &&
	    course_is_question(step))
		lesson_answer(step, &c->scene, &c->answer, NULL, &fault);
	c->solution = c->scene.turned ? c->scene.after : c->scene.before;
	course_enter(c, COURSE_LOOK);
	course_show_plan(explorer, &c->scene.before);
	knobs_focus(explorer, step->focus);
	explorer->pane = PANE_KNOBS;
	explorer_show(explorer,
		      view >= 0 ? (enum view_id)view : explorer_view_below(explorer));
	explorer_update(explorer);
}

/* The best of the goal's plans, found and proven before anything turns. */
static void find_best(struct course *c)
{
	const struct lesson_step *step = course_step(c);

	c->best.score = c->best.kept = 0;
	if (step->axes == 0)
		return;
	lesson_problem(step, &c->scene.before, &c->best.problem);
	challenge_best(&c->best.problem, &c->best.found);
}

void course_go_to(struct explorer *explorer, int step, enum course_phase phase)
{
	struct course *c = explorer->course;

	c->step = step;
	course_start_step(explorer);
	if (phase >= COURSE_REVEAL)
		lesson_turn_to(&c->scene, &c->solution);
	find_best(c);
	course_enter(c, phase);
}

static void report_first(void *context, const struct lesson_fault *fault)
{
	struct lesson_fault *first = context;

	if (first->text[0] == '\0')
		*first = *fault;
}

/* Nothing is shown of a lesson that is wrong. */
static bool load(struct course *c, const char *name, struct error *error)
{
	struct lesson_fault fault = { 0 };

	if (!lesson_read(&c->lesson, name, error))
		return false;
	if (lesson_check(&c->lesson, 0, &c->scene, report_first, &fault).faults > 0 ||
	    !lesson_draw(&c->lesson, c->seed, &c->scene, &c->drawn, NULL, &fault)) {
		lesson_fault_say(&fault, name, error);
		return false;
	}
	answers_load(c->lesson.name, c->seed, &c->answers, error);
	if (c->answers.step >= c->lesson.steps)
		c->answers.step = 0;
	return true;
}

static bool begin(struct explorer *explorer, const char *name, struct error *error)
{
	struct course *c = explorer->course;

	if (!load(c, name, error))
		return false;
	c->step = c->answers.finished ? 0 : c->answers.step;
	course_start_step(explorer);
	if (error->text[0] != '\0')
		explorer_say(explorer, ROLE_WARNING, "%s", error->text);
	return true;
}

bool course_open(struct explorer *explorer, const char *name, const char *seed,
		 struct error *error)
{
	bool had = explorer->course != NULL;
	struct course *c = had ? explorer->course : calloc(1, sizeof *c);

	if (!c)
		return error_set(error, NULL, 0, "out of memory");
	if (!had) {
		keep(explorer, &c->kept);
		explorer->course = c;
		explorer->mode = MODE_NORMAL;
		snprintf(c->seed, sizeof c->seed, "%.*s", MAX_NAME - 1,
			 seed ? seed : "");
		error_clean(c->seed);
		c->keeps = explorer->session.number > 0;
	}
	if (!name) {
		course_list(c);
		return true;
	}
	if (begin(explorer, name, error))
		return true;
	if (!had) {
		give_back(explorer, &c->kept);
		memset(&c->kept.history, 0, sizeof c->kept.history);
		course_free(explorer);
	} else {
		course_list(c);
	}
	return false;
}

unsigned course_advance(struct explorer *explorer)
{
	struct course *c = explorer->course;

	course_claim(c)->done = true;
	if (c->step + 1 < c->lesson.steps) {
		c->step++;
		course_start_step(explorer);
	} else {
		struct lesson_fault fault;

		c->answers.finished = true;
		answers_grade(&c->lesson, c->seed, &c->answers, &c->scene, &c->grade,
			      &fault);
		course_enter(c, COURSE_END);
	}
	course_save(explorer);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static void note_turned(struct course *c, const struct scenario *now)
{
	const struct lesson_step *step = course_step(c);
	struct answer *a = course_claim(c);

	a->turns = 0;
	for (int i = 0; i < step->unlocks; i++) {
		if (knob_same(now, &c->scene.before, step->unlock[i]))
			continue;
		a->turned[a->turns].knob = step->unlock[i];
		knob_print(now, step->unlock[i], a->turned[a->turns].value,
			   sizeof a->turned[0].value);
		a->turns++;
	}
}

/* The plan on screen is held against it; the best one so far is the answer. */
static void score_plan(struct course *c)
{
	struct answer *a = course_claim(c);

	c->best.score =
		!lesson_meets(course_step(c), &c->scene)
			? 0
			: challenge_score(&c->best.problem, &c->best.found,
					  &c->scene.after, &c->scene.after_estimate);
	if (c->best.score <= c->best.kept)
		return;
	c->best.kept = c->best.score;
	if (!a->unknown)
		note_turned(c, &c->scene.after);
}

/* Numbers show their change against the plan before the turn. */
static void reveal(struct explorer *explorer, const struct scenario *now)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = course_step(c);

	lesson_turn_to(&c->scene, now);
	course_enter(c, COURSE_REVEAL);
	if (course_is_goal(step) && !course_claim(c)->done)
		note_turned(c, now);
	if (step->axes > 0)
		score_plan(c);
	course_claim(c)->done = true;
	explorer->before = c->scene.before_estimate;
	explorer->before_mode = c->scene.before.plan.mode;
	explorer->moved = true;
	if (step->explain[0] != '\0')
		explorer_point_out(explorer, step->explain);
	course_save(explorer);
}

/* A step that was answered before is shown as it ended. */
void course_reveal_again(struct explorer *explorer)
{
	struct course *c = explorer->course;
	struct answer *a = course_claim(c);
	struct scenario to = c->solution;
	char why[256];

	for (int i = 0; i < a->turns; i++)
		knob_parse(&to, a->turned[i].knob, a->turned[i].value, why, sizeof why);
	course_show_plan(explorer, &to);
	find_best(c);
	reveal(explorer, &to);
}

void course_begin_turn(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = course_step(c);

	course_enter(c, COURSE_TURN);
	find_best(c);
	explorer->pane = PANE_KNOBS;
	if (view_is_layer(explorer->view))
		explorer_show(explorer, explorer_view_below(explorer));
	knobs_focus(explorer,
		    step->turns > 0 ? step->turn[0].knob : step->question.knob);
	explorer_update(explorer);
}

void course_follow(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step;

	if (course_contests(c)) {
		lesson_turn_to(&c->scene, &explorer->scenario);
		score_plan(c);
		course_save(explorer);
		return;
	}
	if (c->phase != COURSE_TURN)
		return;
	step = course_step(c);
	if (course_is_goal(step)) {
		lesson_turn_to(&c->scene, &explorer->scenario);
		if (lesson_meets(step, &c->scene))
			reveal(explorer, &explorer->scenario);
		else
			c->scene.turned = false;
		return;
	}
	c->scene.after = c->solution;
	if (lesson_has_turned(step, &c->scene, &explorer->scenario))
		reveal(explorer, &explorer->scenario);
}
