/* course_keys.c - what is answered, typed and pressed in a lesson; see course.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/explorer/course_parts.h"
#include "tui/text.h"

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
		explorer_say(explorer, ROLE_WARNING, "please type a number (%s)",
			     q->unit->name);
	else if (course_chooses(q))
		explorer_say(explorer, ROLE_WARNING,
			     "please type a number from 1 to %d", q->choices);
	else
		explorer_say(explorer, ROLE_WARNING, "please type one of the values");
	return CHANGED_SCREEN;
}

static unsigned answer_question(struct explorer *explorer, const char *text)
{
	struct course *c = explorer->course;
	const struct lesson_question *q = &course_step(c)->question;
	struct answer *a = course_claim(c);
	double given;

	if (text[0] == '\0') {
		a->unknown |= a->tries == 0;
		course_begin_turn(explorer);
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
	course_begin_turn(explorer);
	return CHANGED_SCREEN;
}

static unsigned answer_why(struct explorer *explorer, const char *text)
{
	struct course *c = explorer->course;
	int given = atoi(text);

	if (text[0] != '\0' && (given < 1 || given > course_step(c)->reason.choices)) {
		explorer_say(explorer, ROLE_WARNING,
			     "please type a number from 1 to %d",
			     course_step(c)->reason.choices);
		return CHANGED_SCREEN;
	}
	course_claim(c)->why = given;
	course_enter(c, COURSE_BECAUSE);
	course_save(explorer);
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
	course_list(c);
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
	const struct lesson_step *step = course_step(c);

	if (!course_is_question(step) && !course_is_goal(step))
		return course_advance(explorer);
	if (course_claim(c)->done)
		course_reveal_again(explorer);
	else if (course_is_goal(step))
		course_begin_turn(explorer);
	else
		course_enter(c, COURSE_ASK);
	return CHANGED_SCREEN;
}

static unsigned next_of_reveal(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct lesson_step *step = course_step(c);

	if (step->reason.right == 0 && step->runs == 0 && step->axes == 0)
		return course_advance(explorer);
	course_enter(c, step->reason.right > 0 && course_claim(c)->why == 0
				? COURSE_WHY
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
		explorer_say(explorer, ROLE_HINT, "change the knob first; x shows how");
		return CHANGED_SCREEN;
	case COURSE_REVEAL: return next_of_reveal(explorer);
	case COURSE_BECAUSE: return course_advance(explorer);
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
	course_start_step(explorer);
	return CHANGED_SCREEN;
}

unsigned course_hint(struct explorer *explorer)
{
	struct course *c = explorer->course;
	bool asks = c->phase == COURSE_ASK ||
		    (c->phase == COURSE_TURN && course_is_goal(course_step(c)));

	if (!asks) {
		explorer_say(explorer, ROLE_HINT,
			     "hints are available while a question is open");
		return CHANGED_SCREEN;
	}
	if (course_claim(c)->hints < LESSON_HINTS)
		course_claim(c)->hints++;
	else
		explorer_say(explorer, ROLE_HINT, "no more hints; x shows the answer");
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
	struct answer *a = course_claim(c);
	const struct lesson_step *step = course_step(c);
	unsigned changed = CHANGED_SCREEN;

	if (c->phase != COURSE_ASK && c->phase != COURSE_TURN) {
		explorer_say(explorer, ROLE_HINT, "there is nothing to show here");
		return CHANGED_SCREEN;
	}
	if (c->phase == COURSE_ASK)
		course_begin_turn(explorer);
	a->unknown |= a->tries == 0;
	if (step->question.ask == LESSON_BEST)
		changed |= play(explorer, step->question.knob);
	for (int i = 0; i < step->turns && c->phase == COURSE_TURN; i++)
		changed |= play(explorer, step->turn[i].knob);
	return changed;
}

/* The page of the next of them, from the first on. */
static unsigned course_word(struct explorer *explorer)
{
	struct course *c = explorer->course;
	const struct glossary_word *words[GLOSSARY_MAX_LINKS];
	int count = course_words(explorer, words), at;

	if (count == 0) {
		explorer_say(explorer, ROLE_HINT, "no terms are linked here");
		return CHANGED_SCREEN;
	}
	at = c->word % count;
	c->word = at + 1;
	explorer_explain(explorer, words[at]->key);
	explorer_say(explorer, ROLE_HINT, "word %d of %d%s; Esc closes it", at + 1,
		     count, count > 1 ? ", W for the next" : "");
	return CHANGED_SCREEN;
}

/* A finished lesson from its start, as if it were new. */
static unsigned start_over(struct explorer *explorer)
{
	struct course *c = explorer->course;

	if (!c->answers.finished) {
		explorer_say(explorer, ROLE_HINT,
			     "only a finished lesson can be started over");
		return CHANGED_SCREEN;
	}
	memset(c->answers.answer, 0, sizeof c->answers.answer);
	c->answers.finished = false;
	c->step = 0;
	course_start_step(explorer);
	course_save(explorer);
	return CHANGED_SCREEN;
}

static unsigned to_list(struct explorer *explorer)
{
	struct course *c = explorer->course;

	course_save(explorer);
	course_show_plan(explorer, &c->kept.scenario);
	course_list(c);
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

	if (c->phase == COURSE_WHY || course_chooses(&course_step(c)->question))
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
	case 'W': return course_word(explorer);
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
