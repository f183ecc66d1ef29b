/* course.c - a lesson as it is gone through: phases, answers, turns; see course.h. */
#include "tui/explorer/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/lesson_file.h"
#include "tui/text.h"
#include "tui/view.h"

static const struct lesson_step *step_of(const struct course *c)
{
	return &c->lesson.step[c->step];
}

static struct answer *answer_of(struct course *c)
{
	return &c->answers.answer[c->step];
}

static bool has_question(const struct lesson_step *step)
{
	return step->question.ask != LESSON_NOTHING;
}

static bool has_goal(const struct lesson_step *step)
{
	return step->goal.text[0] != '\0';
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
static void show_plan(struct explorer *explorer, const struct scenario *scenario)
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

static void save(struct explorer *explorer)
{
	struct course *c = explorer->course;
	struct error error = { "" };

	if (!c->keeps || c->lesson.steps == 0)
		return;
	c->answers.step = c->step;
	if (!answers_save(&c->answers, &error))
		explorer_say(explorer, ROLE_WARNING, "progress is not kept: %s",
			     error.text);
}

unsigned course_leave(struct explorer *explorer)
{
	struct course *c = explorer->course;

	save(explorer);
	give_back(explorer, &c->kept);
	memset(&c->kept.history, 0, sizeof c->kept.history);
	course_free(explorer);
	if (explorer->message[0] == '\0')
		explorer_say(explorer, ROLE_HINT,
			     "the lesson is kept where it is; L goes on with it");
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
static void list_lessons(struct course *c)
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

static void enter(struct course *c, enum course_phase phase)
{
	c->phase = phase;
	c->first = 0;
	field_set(&c->field, "");
	c->scene.turned = phase >= COURSE_REVEAL && c->phase != COURSE_END;
}

/* The plan of the step before its turn; a fault can't come: the draw was looked at. */
static void start_step(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = step_of(c);
	struct lesson_fault fault;
	int view = view_find(step->view);

	c->again = false;
	if (lesson_stage(&c->lesson, c->step, &c->drawn, &c->scene, &fault) &&
	    has_question(step))
		lesson_answer(step, &c->scene, &c->answer, NULL, &fault);
	c->solution = c->scene.turned ? c->scene.after : c->scene.before;
	enter(c, COURSE_LOOK);
	show_plan(explorer, &c->scene.before);
	knobs_focus(explorer, step->focus);
	explorer->pane = PANE_KNOBS;
	explorer_show(explorer,
		      view >= 0 ? (enum view_id)view : explorer_view_below(explorer));
	explorer_update(explorer);
}

void course_go_to(struct explorer *explorer, int step, enum course_phase phase)
{
	struct course *c = explorer->course;

	c->step = step;
	start_step(explorer);
	if (phase >= COURSE_REVEAL)
		lesson_turn_to(&c->scene, &c->solution);
	enter(c, phase);
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
	start_step(explorer);
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
		list_lessons(c);
		return true;
	}
	if (begin(explorer, name, error))
		return true;
	if (!had) {
		give_back(explorer, &c->kept);
		memset(&c->kept.history, 0, sizeof c->kept.history);
		course_free(explorer);
	} else {
		list_lessons(c);
	}
	return false;
}

static unsigned advance(struct explorer *explorer)
{
	struct course *c = explorer->course;

	answer_of(c)->done = true;
	if (c->step + 1 < c->lesson.steps) {
		c->step++;
		start_step(explorer);
	} else {
		struct lesson_fault fault;

		c->answers.finished = true;
		answers_grade(&c->lesson, c->seed, &c->answers, &c->scene, &c->grade,
			      &fault);
		enter(c, COURSE_END);
	}
	save(explorer);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static void note_turned(struct course *c, const struct scenario *now)
{
	const struct lesson_step *step = step_of(c);
	struct answer *a = answer_of(c);

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

/* Numbers show their change against the plan before the turn. */
static void reveal(struct explorer *explorer, const struct scenario *now)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = step_of(c);

	lesson_turn_to(&c->scene, now);
	enter(c, COURSE_REVEAL);
	if (has_goal(step) && !answer_of(c)->done)
		note_turned(c, now);
	answer_of(c)->done = true;
	explorer->before = c->scene.before_estimate;
	explorer->before_mode = c->scene.before.plan.mode;
	explorer->moved = true;
	if (step->explain[0] != '\0')
		explorer_point_out(explorer, step->explain);
	save(explorer);
}

/* A step that was answered before is shown as it ended. */
static void reveal_again(struct explorer *explorer)
{
	struct course *c = explorer->course;
	struct answer *a = answer_of(c);
	struct scenario to = c->solution;
	char why[256];

	for (int i = 0; i < a->turns; i++)
		knob_parse(&to, a->turned[i].knob, a->turned[i].value, why, sizeof why);
	show_plan(explorer, &to);
	reveal(explorer, &to);
}

static void begin_turn(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = step_of(c);

	enter(c, COURSE_TURN);
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

	if (c->phase != COURSE_TURN)
		return;
	step = step_of(c);
	if (has_goal(step)) {
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

/* --- answers ------------------------------------------------------------------ */

static bool same_value(const char *choice, const char *text)
{
	char *end, *other;
	double left = strtod(choice, &end), right = strtod(text, &other);

	return strcmp(choice, text) == 0 ||
	       (*end == '\0' && *other == '\0' && other != text && left == right);
}

bool course_chooses(const struct lesson_question *question)
{
	return question->ask == LESSON_RANGE ||
	       (question->ask == LESSON_BEST && question->knob->type != KNOB_INT &&
		question->knob->type != KNOB_REAL);
}

/* A value; the number of a choice; of LESSON_BEST one of the values. */
static bool read_answer(const struct lesson_question *q, const char *text, double *out)
{
	char plain[64], *end;

	snprintf(plain, sizeof plain, "%s", text);
	for (char *at = plain; *at != '\0'; at++)
		*at = *at == ',' ? '.' : *at;
	if (q->ask == LESSON_BEST && !course_chooses(q)) {
		for (int i = 0; i < q->choices; i++)
			if (same_value(q->choice[i], text)) {
				*out = i + 1;
				return true;
			}
		return false;
	}
	*out = strtod(plain, &end);
	if (end == plain || !isfinite(*out))
		return false;
	return q->ask == LESSON_VALUE ||
	       (*out == floor(*out) && *out >= 1 && *out <= q->choices);
}

static unsigned refuse_answer(struct explorer *explorer,
			      const struct lesson_question *q)
{
	if (q->ask == LESSON_VALUE)
		explorer_say(explorer, ROLE_WARNING, "a number is asked for (%s)",
			     q->unit->name);
	else if (course_chooses(q))
		explorer_say(explorer, ROLE_WARNING,
			     "a number from 1 to %d is asked for", q->choices);
	else
		explorer_say(explorer, ROLE_WARNING, "one of the values is asked for");
	return CHANGED_SCREEN;
}

static unsigned answer_question(struct explorer *explorer, const char *text)
{
	struct course *c = explorer->course;
	const struct lesson_question *q = &step_of(c)->question;
	struct answer *a = answer_of(c);
	double given;

	if (text[0] == '\0') {
		a->unknown |= a->tries == 0;
		begin_turn(explorer);
		return CHANGED_SCREEN;
	}
	if (!read_answer(q, text, &given))
		return refuse_answer(explorer, q);
	a->last = given;
	if (a->tries == 0)
		a->first = given;
	a->tries = c->again ? 2 : 1;
	if (q->ask == LESSON_VALUE && !c->again &&
	    !lesson_is_right(q, c->answer, given)) {
		c->again = true;
		field_set(&c->field, "");
		return CHANGED_SCREEN;
	}
	begin_turn(explorer);
	return CHANGED_SCREEN;
}

static unsigned answer_why(struct explorer *explorer, const char *text)
{
	struct course *c = explorer->course;
	int given = atoi(text);

	if (text[0] != '\0' && (given < 1 || given > step_of(c)->reason.choices)) {
		explorer_say(explorer, ROLE_WARNING,
			     "a number from 1 to %d is asked for",
			     step_of(c)->reason.choices);
		return CHANGED_SCREEN;
	}
	answer_of(c)->why = given;
	enter(c, COURSE_BECAUSE);
	save(explorer);
	return CHANGED_SCREEN;
}

unsigned course_answer(struct explorer *explorer, const char *text)
{
	char plain[64];

	snprintf(plain, sizeof plain, "%.63s", text);
	return explorer->course->phase == COURSE_WHY ? answer_why(explorer, plain)
						     : answer_question(explorer, plain);
}

/* --- keys --------------------------------------------------------------------- */

static unsigned open_chosen(struct explorer *explorer)
{
	struct course *c = explorer->course;
	struct error error = { "" };
	char name[MAX_NAME];

	if (c->lessons == 0)
		return CHANGED_NOTHING;
	memcpy(name, c->name[c->cursor], sizeof name);
	if (!course_open(explorer, name, NULL, &error))
		explorer_say(explorer, ROLE_BAD, "%s", error.text);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

/* The one behind it in the course, else the list. */
static unsigned open_following(struct explorer *explorer)
{
	struct course *c = explorer->course;
	char name[MAX_NAME];
	int at;

	memcpy(name, c->lesson.name, sizeof name);
	list_lessons(c);
	for (at = 0; at < c->lessons && strcmp(c->name[at], name) != 0;)
		at++;
	if (at + 1 >= c->lessons)
		return CHANGED_SCREEN;
	c->cursor = at + 1;
	return open_chosen(explorer);
}

static unsigned next_of_look(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = step_of(c);

	if (!has_question(step) && !has_goal(step))
		return advance(explorer);
	if (answer_of(c)->done)
		reveal_again(explorer);
	else if (has_goal(step))
		begin_turn(explorer);
	else
		enter(c, COURSE_ASK);
	return CHANGED_SCREEN;
}

static unsigned next_of_reveal(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = step_of(c);

	if (step->reason.right == 0 && step->runs == 0)
		return advance(explorer);
	enter(c, step->reason.right > 0 && answer_of(c)->why == 0 ? COURSE_WHY
								  : COURSE_BECAUSE);
	return CHANGED_SCREEN;
}

unsigned course_next(struct explorer *explorer)
{
	switch (explorer->course->phase) {
	case COURSE_LIST: return open_chosen(explorer);
	case COURSE_LOOK: return next_of_look(explorer);
	case COURSE_ASK:
	case COURSE_WHY: return course_answer(explorer, explorer->course->field.text);
	case COURSE_TURN:
		explorer_say(explorer, ROLE_HINT, "turn it first; x shows how");
		return CHANGED_SCREEN;
	case COURSE_REVEAL: return next_of_reveal(explorer);
	case COURSE_BECAUSE: return advance(explorer);
	default: return open_following(explorer);
	}
}

unsigned course_back(struct explorer *explorer)
{
	struct course *c = explorer->course;

	if (c->phase == COURSE_LIST)
		return CHANGED_NOTHING;
	if (c->phase == COURSE_LOOK && c->step == 0) {
		explorer_say(explorer, ROLE_HINT, "this is the first step");
		return CHANGED_SCREEN;
	}
	if (c->phase == COURSE_LOOK)
		c->step--;
	start_step(explorer);
	return CHANGED_SCREEN;
}

unsigned course_hint(struct explorer *explorer)
{
	struct course *c = explorer->course;
	bool asks = c->phase == COURSE_ASK ||
		    (c->phase == COURSE_TURN && has_goal(step_of(c)));

	if (!asks) {
		explorer_say(explorer, ROLE_HINT,
			     "hints are there while an answer is "
			     "awaited");
		return CHANGED_SCREEN;
	}
	if (answer_of(c)->hints < LESSON_HINTS)
		answer_of(c)->hints++;
	else
		explorer_say(explorer, ROLE_HINT, "these are all hints; x shows it");
	c->first = 0;
	return CHANGED_SCREEN;
}

/* The turn of one knob as a person makes it: "=", the value, Enter. */
static unsigned play(struct explorer *explorer, const struct knob *knob)
{
	struct course *c = explorer->course;
	char value[64];
	unsigned changed;

	if (knob_same(&explorer->scenario, &c->solution, knob))
		return CHANGED_NOTHING;
	knob_print(&c->solution, knob, value, sizeof value);
	knobs_focus(explorer, knob);
	explorer->pane = PANE_KNOBS;
	changed = explorer_handle(explorer, (struct action){ .kind = ACTION_EDIT });
	for (const char *at = value; *at != '\0';)
		explorer_handle(explorer,
				(struct action){ .kind = ACTION_TEXT,
						 .argument = (int)text_decode(&at) });
	changed |= explorer_handle(explorer, (struct action){ .kind = ACTION_ENTER });
	explorer_say(explorer, ROLE_HINT, "played: /%s Enter, = %s Enter", knob->key,
		     value);
	return changed;
}

unsigned course_show(struct explorer *explorer)
{
	struct course *c = explorer->course;
	struct answer *a = answer_of(c);
	const struct lesson_step *step = step_of(c);
	unsigned changed = CHANGED_SCREEN;

	if (c->phase != COURSE_ASK && c->phase != COURSE_TURN) {
		explorer_say(explorer, ROLE_HINT, "there is nothing to show here");
		return CHANGED_SCREEN;
	}
	if (c->phase == COURSE_ASK)
		begin_turn(explorer);
	a->unknown |= a->tries == 0;
	if (step->question.ask == LESSON_BEST)
		changed |= play(explorer, step->question.knob);
	for (int i = 0; i < step->turns && c->phase == COURSE_TURN; i++)
		changed |= play(explorer, step->turn[i].knob);
	return changed;
}

/* A finished lesson from its start, as if it were new. */
static unsigned start_over(struct explorer *explorer)
{
	struct course *c = explorer->course;

	if (!c->answers.finished) {
		explorer_say(explorer, ROLE_HINT,
			     "a finished lesson can be started over");
		return CHANGED_SCREEN;
	}
	memset(c->answers.answer, 0, sizeof c->answers.answer);
	c->answers.finished = false;
	c->step = 0;
	start_step(explorer);
	save(explorer);
	return CHANGED_SCREEN;
}

static unsigned to_list(struct explorer *explorer)
{
	struct course *c = explorer->course;

	save(explorer);
	show_plan(explorer, &c->kept.scenario);
	list_lessons(c);
	return CHANGED_SCREEN;
}

static unsigned act_on_list(struct explorer *explorer, struct action action)
{
	struct course *c = explorer->course;
	bool leaves = action.kind == ACTION_ESCAPE ||
		      (action.kind == ACTION_TEXT &&
		       (action.argument == 'q' || action.argument == 'L'));

	if (leaves)
		return course_leave(explorer);
	if (action.kind == ACTION_ENTER)
		return open_chosen(explorer);
	if (action.kind == ACTION_TEXT)
		action = key_action(action.argument, false);
	c->cursor = scroll_move(c->cursor, c->lessons, 8, action.kind);
	return CHANGED_SCREEN;
}

static bool is_answering(const struct course *c)
{
	return c->phase == COURSE_ASK || c->phase == COURSE_WHY;
}

/* Digits, and what else a number is made of. */
static bool is_of_answer(const struct course *c, int letter)
{
	bool digit = letter >= '0' && letter <= '9';

	if (c->phase == COURSE_WHY || course_chooses(&step_of(c)->question))
		return digit;
	return digit || letter == '.' || letter == ',' || letter == '-';
}

/* Keys of the lesson itself. *taken says whether it was one. */
static unsigned act_on_letter(struct explorer *explorer, int letter, bool *taken)
{
	*taken = true;
	switch (letter) {
	case 'n': return course_next(explorer);
	case 'b': return course_back(explorer);
	case 'H': return course_hint(explorer);
	case 'x': return course_show(explorer);
	case 'R': return start_over(explorer);
	case 'L': return to_list(explorer);
	case 'q':
		if (!view_is_layer(explorer->view))
			return course_leave(explorer);
		break;
	default: break;
	}
	*taken = false;
	return CHANGED_NOTHING;
}

/* Enter goes on, unless a number of the view, or a knob that is to be turned, has it.
 */
static bool enter_goes_on(const struct explorer *explorer)
{
	const struct course *c = explorer->course;

	return is_answering(c) ||
	       (c->phase != COURSE_TURN && explorer->pane == PANE_KNOBS);
}

static bool scroll(struct course *c, enum action_kind kind)
{
	if (kind != ACTION_PAGE_DOWN && kind != ACTION_PAGE_UP)
		return false;
	/* drawing holds it within the text */
	c->first += kind == ACTION_PAGE_DOWN ? 4 : -4;
	c->first = c->first < 0 ? 0 : c->first;
	return true;
}

unsigned course_act(struct explorer *explorer, struct action *action, bool *passes)
{
	struct course *c = explorer->course;
	bool taken = false;
	unsigned changed;

	*passes = false;
	if (action->kind != ACTION_NONE)
		explorer->message[0] = '\0';
	if (c->phase == COURSE_LIST)
		return act_on_list(explorer, *action);
	if (action->kind == ACTION_ENTER && enter_goes_on(explorer))
		return course_next(explorer);
	if (action->kind == ACTION_ESCAPE && explorer->pane == PANE_KNOBS &&
	    !view_is_layer(explorer->view))
		return course_leave(explorer);
	if (scroll(c, action->kind))
		return CHANGED_SCREEN;
	if (is_answering(c) &&
	    (action->kind == ACTION_BACKSPACE || action->kind == ACTION_ERASE_LINE ||
	     (action->kind == ACTION_TEXT && is_of_answer(c, action->argument)))) {
		field_act(&c->field, *action);
		return CHANGED_SCREEN;
	}
	if (action->kind == ACTION_TEXT) {
		changed = act_on_letter(explorer, action->argument, &taken);
		if (taken)
			return changed;
		*action = key_action(action->argument, false);
	}
	*passes = true;
	return CHANGED_NOTHING;
}

/* --- the lock ----------------------------------------------------------------- */

bool course_hides(const struct explorer *explorer)
{
	const struct course *c = explorer->course;

	return c && (c->phase == COURSE_LOOK || c->phase == COURSE_ASK);
}

static bool may_turn(const struct lesson_step *step, const struct knob *knob)
{
	for (int i = 0; i < step->turns && !has_goal(step); i++)
		if (step->turn[i].knob == knob)
			return true;
	for (int i = 0; i < step->unlocks; i++)
		if (step->unlock[i] == knob)
			return true;
	return step->question.ask == LESSON_BEST && step->question.knob == knob;
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

bool course_allows(struct explorer *explorer, const struct scenario *to)
{
	const struct course *c = explorer->course;
	char names[160];
	bool good;

	if (!c || c->phase == COURSE_LIST || c->phase > COURSE_TURN)
		return true;
	if (c->phase != COURSE_TURN) {
		explorer_say(explorer, ROLE_WARNING,
			     "first your prediction; until then nothing turns");
		return false;
	}
	good = same_bases(&explorer->scenario, to);
	for (int i = 0; i < knob_count() && good; i++)
		good = knob_same(&explorer->scenario, to, &knob_table[i]) ||
		       may_turn(step_of(c), &knob_table[i]);
	if (good)
		return true;
	name_turns(step_of(c), names, sizeof names);
	explorer_say(explorer, ROLE_WARNING, "this step turns %s alone", names);
	return false;
}

bool course_allows_tricks(struct explorer *explorer)
{
	const struct course *c = explorer->course;

	if (!c || c->phase > COURSE_TURN)
		return true;
	explorer_say(explorer, ROLE_WARNING,
		     "not before it is revealed; q leaves the "
		     "lesson");
	return false;
}
