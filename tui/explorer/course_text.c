/* course_text.c - what a lesson says in each phase, for the pane and for lines alike;
 * see course.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/explain/explain.h"
#include "presets/lesson_file.h"
#include "presets/report.h"
#include "tui/explorer/course.h"

struct blocks {
	const struct course *course;
	const struct scenario *now;
	struct course_block *block;
	int count;
};

static void put(struct blocks *b, enum role role, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(struct blocks *b, enum role role, const char *format, ...)
{
	struct course_block *block = &b->block[b->count];
	va_list args;

	if (b->count == MOST_BLOCKS)
		return;
	block->role = role;
	va_start(args, format);
	vsnprintf(block->text, sizeof block->text, format, args);
	va_end(args);
	b->count++;
}

/* A text with its values; what can't be told of it was found when it was opened. */
static void put_prose(struct blocks *b, enum role role, const char *before,
		      const struct lesson_prose *text)
{
	char out[2 * LESSON_TEXT];
	struct lesson_fault fault;

	if (text->text[0] == '\0')
		return;
	if (lesson_text(&b->course->scene, text, out, sizeof out, &fault))
		put(b, role, "%s%s", before, out);
	else
		put(b, ROLE_BAD, "%s", fault.text);
}

static const struct lesson_step *step_of(const struct blocks *b)
{
	return &b->course->lesson.step[b->course->step];
}

static const struct answer *answer_of(const struct blocks *b)
{
	return &b->course->answers.answer[b->course->step];
}

static void put_hints(struct blocks *b)
{
	for (int i = 0; i < answer_of(b)->hints && i < LESSON_HINTS; i++)
		put_prose(b, ROLE_HINT, "Hint: ", &step_of(b)->hint[i]);
}

static bool ends_with_point(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && text[length - 1] == '.';
}

/* What the screen calls a knob, and its key where that is another word:
 * "micro-batch (mbs)". */
static size_t knob_words(const struct knob *knob, char *out, size_t size)
{
	size_t used = 0;

	for (const char *at = knob->label; *at != '\0' && used + 1 < size; at++)
		if (*at != ' ' || at[1] != ' ')
			out[used++] = *at;
	out[used] = '\0';
	if (strcasecmp(out, knob->key) != 0 && used < size)
		used += (size_t)snprintf(out + used, size - used, " (%s)", knob->key);
	return used < size ? used : size - 1;
}

/* An answer in words: "20 %", "It grows", "mbs 4". */
static void answer_text(const struct lesson_question *q, double answer, char *out,
			size_t size)
{
	int at = (int)answer - 1;

	if (q->ask == LESSON_VALUE)
		lesson_print(q->unit, answer * q->unit->scale, out, size);
	else if (at < 0 || at >= q->choices)
		snprintf(out, size, "nothing");
	else if (q->ask == LESSON_BEST)
		snprintf(out, size, "%s %s", q->knob->key, q->choice[at]);
	else
		snprintf(out, size, "\"%.*s\"",
			 (int)strlen(q->choice[at]) - ends_with_point(q->choice[at]),
			 q->choice[at]);
}

static void tolerance_text(const struct lesson_question *q, char *out, size_t size)
{
	if (q->relative)
		snprintf(out, size, "%g %%", q->tolerance * 100);
	else if (strcmp(q->unit->name, "percent") == 0)
		snprintf(out, size, "%g points", q->tolerance);
	else
		snprintf(out, size, "%g%s", q->tolerance, q->unit->suffix);
}

static void put_choices(struct blocks *b, const char (*choice)[LESSON_CHOICE],
			int count)
{
	for (int i = 0; i < count; i++)
		put(b, ROLE_VALUE, "  %d  %s", i + 1, choice[i]);
}

static void put_values(struct blocks *b, const struct lesson_question *q)
{
	char all[160] = "", name[64];
	size_t used = 0;

	for (int i = 0; i < q->choices && used < sizeof all; i++)
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
					 i ? ", " : "", q->choice[i]);
	knob_words(q->knob, name, sizeof name);
	put(b, ROLE_VALUE, "%s is one of %s.", name, all);
}

static void say_look(struct blocks *b)
{
	if (b->course->step == 0)
		put(b, ROLE_TITLE, "%s", b->course->lesson.title);
	put_prose(b, ROLE_VALUE, "", &step_of(b)->text);
}

static void say_ask(struct blocks *b)
{
	const struct lesson_question *q = &step_of(b)->question;
	char within[48], said[160];

	put_prose(b, ROLE_VALUE, "", &q->text);
	if (course_chooses(q))
		put_choices(b, q->choice, q->choices);
	else if (q->ask == LESSON_BEST)
		put_values(b, q);
	if (b->course->again) {
		tolerance_text(q, within, sizeof within);
		answer_text(q, answer_of(b)->first, said, sizeof said);
		put(b, ROLE_WARNING,
		    "%s is not within %s of it. Try again, or Enter alone "
		    "to go on.",
		    said, within);
	}
	put_hints(b);
}

/* "global batch (gbs) from 32 to 16", of each knob that the step turns. */
static void turns_text(const struct course *c, const struct lesson_step *step,
		       const struct scenario *now, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < step->turns && used < size; i++) {
		const struct knob *knob = step->turn[i].knob;
		char from[64], to[64], name[64];

		knob_print(&c->scene.before, knob, from, sizeof from);
		knob_print(&c->solution, knob, to, sizeof to);
		knob_words(knob, name, sizeof name);
		used += (size_t)snprintf(out + used, size - used, "%s%s from %s to %s",
					 used ? ", " : "", name, from, to);
		/* on the way there, or past it */
		if (used < size && !knob_same(now, &c->scene.before, knob) &&
		    !knob_same(now, &c->solution, knob)) {
			knob_print(now, knob, name, sizeof name);
			used += (size_t)snprintf(out + used, size - used, " (now %s)",
						 name);
		}
	}
}

static void unlocks_text(const struct lesson_step *step, char *out, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < step->unlocks && used + 2 < size; i++) {
		used += (size_t)snprintf(out + used, size - used, "%s", i ? ", " : "");
		used += knob_words(step->unlock[i], out + used, size - used);
	}
}

static void say_prediction(struct blocks *b)
{
	const struct lesson_question *q = &step_of(b)->question;
	char said[160];

	if (answer_of(b)->tries == 0) {
		put(b, ROLE_VALUE, "You don't know yet: let's see.");
		return;
	}
	answer_text(q, answer_of(b)->last, said, sizeof said);
	put(b, ROLE_VALUE, "You said %s.", said);
}

static void say_turn(struct blocks *b)
{
	const struct lesson_step *step = step_of(b);
	char what[320] = "";

	if (step->goal.text[0] != '\0') {
		put_prose(b, ROLE_VALUE, "", &step->text);
		unlocks_text(step, what, sizeof what);
		put(b, ROLE_TITLE, "Reach the goal. You can change: %s.", what);
		put_hints(b);
		return;
	}
	say_prediction(b);
	if (step->question.ask == LESSON_BEST) {
		knob_words(step->question.knob, what, sizeof what);
		put(b, ROLE_TITLE,
		    "Now try the values of %s until you find the best one.", what);
		return;
	}
	turns_text(b->course, step, b->now, what, sizeof what);
	put(b, ROLE_TITLE, "Now change it: %s.", what);
}

static void say_verdict(struct blocks *b)
{
	const struct lesson_question *q = &step_of(b)->question;
	const struct answer *a = answer_of(b);
	double right = b->course->answer;
	char said[160], is[160], within[48];
	bool good = a->tries > 0 && lesson_is_right(q, right, a->last);

	answer_text(q, right, is, sizeof is);
	if (a->tries == 0) {
		put(b, ROLE_TITLE, "It is %s.", is);
		return;
	}
	answer_text(q, a->last, said, sizeof said);
	tolerance_text(q, within, sizeof within);
	if (!good)
		put(b, ROLE_WARNING, "You said %s; it is %s.", said, is);
	else if (q->ask == LESSON_VALUE)
		put(b, ROLE_GOOD, "You said %s; it is %s. Right, within %s.", said, is,
		    within);
	else
		put(b, ROLE_GOOD, "You said %s: right.", said);
	if (!good && q->ask != LESSON_VALUE && a->last >= 1 && a->last <= q->choices)
		put_prose(b, ROLE_VALUE, "", &q->wrong[(int)a->last - 1]);
}

/* The formula with the terms' values in their places. */
static void formula_values(const struct explanation *x, char *out, size_t size)
{
	const char *at = x->formula;
	size_t used = 0;

	while (*at != '\0' && used + 1 < size) {
		size_t length = strcspn(at, " +-*/(),<>=");
		char value[64];
		int term;

		for (term = 0; term < x->terms; term++)
			if (length > 0 && strlen(x->term[term].symbol) == length &&
			    strncmp(x->term[term].symbol, at, length) == 0)
				break;
		if (length > 0 && term < x->terms) {
			form_text(x->term[term].form, x->term[term].value, value,
				  sizeof value);
			used += (size_t)snprintf(out + used, size - used, "%s", value);
			at += length;
			continue;
		}
		length = length > 0 ? length : 1;
		while (length-- > 0 && used + 1 < size)
			out[used++] = *at++;
	}
	out[used < size ? used : size - 1] = '\0';
}

/* One of many: stages, operators, collectives. */
static bool is_list(const struct explanation_term *first)
{
	return strstr(first->symbol, "stage_") || strstr(first->key, ".operators.") ||
	       strstr(first->key, "traffic.") || strcmp(first->symbol, "x0") == 0;
}

static void say_formula(struct blocks *b)
{
	const struct lesson_step *step = step_of(b);
	const struct lesson_scene *scene = &b->course->scene;
	struct explanation x;
	char values[512], value[64];

	if (step->explain[0] == '\0')
		return;
	if (!explain(&scene->after, &scene->after_estimate, step->explain, &x)) {
		if (x.lacks_memory)
			report_falls_short();
		return;
	}
	if (strlen(x.formula) > 160 ||
	    /* what a simulation returned is its own formula */
	    (x.terms == 1 && strcmp(x.formula, x.term[0].symbol) == 0) ||
	    /* nor does a sum of many like things teach anything */
	    x.terms == 0 || is_list(&x.term[0]))
		return;
	form_text(x.form, x.value, value, sizeof value);
	formula_values(&x, values, sizeof values);
	put(b, ROLE_LABEL, "%s = %s = %s = %s", x.title, x.formula, values, value);
}

/* How near the plan on screen comes to the proven best; a share that is not whole is
 * never shown as such. */
static void say_score(struct blocks *b)
{
	const struct course *c = b->course;

	if (step_of(b)->axes == 0)
		return;
	if (c->best.score > 0)
		put(b, ROLE_GOOD,
		    "A step takes %.3g s, the proven best takes %.3g s: score "
		    "%.1f %%, your best %.1f %%. Keep going, or n shows the best "
		    "plan.",
		    c->scene.after_estimate.step_seconds, c->best.found.step_seconds,
		    (int)(1000 * c->best.score) / 10.0,
		    (int)(1000 * c->best.kept) / 10.0);
	else
		put(b, ROLE_WARNING,
		    "This plan misses the goal: score 0, your best %.1f %%.",
		    (int)(1000 * c->best.kept) / 10.0);
}

/* The knobs of the proven best. */
static void say_best(struct blocks *b)
{
	const struct course *c = b->course;
	char all[320] = "";
	size_t used = 0;

	for (int i = 0; i < step_of(b)->axes && used < sizeof all; i++) {
		const struct planner_axis *axis = &c->best.problem.axis[i];
		char value[64];

		knob_print_value(axis->knob, axis->value[c->best.found.choice[i]],
				 value, sizeof value);
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s %s",
					 i ? ", " : "", axis->knob->key, value);
	}
	if (used > 0)
		put(b, ROLE_TITLE, "The proven best of all these plans: %s.", all);
}

static void say_reveal(struct blocks *b)
{
	const struct lesson_step *step = step_of(b);

	if (step->question.ask != LESSON_NOTHING)
		say_verdict(b);
	else if (answer_of(b)->unknown || step->axes == 0)
		put(b, answer_of(b)->unknown ? ROLE_TITLE : ROLE_GOOD, "%s",
		    answer_of(b)->unknown ? "This is one way." : "You reached it.");
	say_score(b);
	put_prose(b, ROLE_VALUE, "", &step->reveal);
	say_formula(b);
}

static void say_why(struct blocks *b)
{
	const struct lesson_reason *reason = &step_of(b)->reason;

	put_prose(b, ROLE_VALUE, "", &reason->text);
	put_choices(b, reason->choice, reason->choices);
}

static void say_because(struct blocks *b)
{
	const struct lesson_step *step = step_of(b);
	const struct lesson_reason *reason = &step->reason;
	int why = answer_of(b)->why;
	char text[512];

	if (reason->right > 0 && why == reason->right)
		put(b, ROLE_GOOD, "\"%s\" Right.", reason->choice[why - 1]);
	else if (reason->right > 0)
		put(b, ROLE_WARNING, "It is this: \"%s\"",
		    reason->choice[reason->right - 1]);
	put_prose(b, ROLE_VALUE, "", &reason->because);
	say_best(b);
	for (int i = 0; i < step->runs; i++)
		if (lesson_run_text(step->run[i], text, sizeof text))
			put(b, ROLE_LABEL, "On a real machine, %s", text);
}

static void say_end(struct blocks *b)
{
	const struct course *c = b->course;
	char path[512];

	put(b, ROLE_TITLE, "%s: done.", c->lesson.title);
	put_prose(b, ROLE_VALUE, "", &c->lesson.idea);
	put(b, ROLE_VALUE,
	    "%d of %d predictions were right at first; %.3g of %g points.",
	    c->grade.right_at_first, c->grade.predictions, c->grade.points,
	    c->grade.most);
	for (int i = 0; i < c->lesson.sources; i++)
		put(b, ROLE_LABEL, "%s%s", i ? "" : "Read more: ", c->lesson.source[i]);
	if (c->seed[0] != '\0' && c->keeps &&
	    answers_path(c->lesson.name, c->seed, path, sizeof path))
		put(b, ROLE_LABEL, "Your answers: %s", path);
}

static void say_list(struct blocks *b)
{
	const struct course *c = b->course;

	for (int i = 0; i < c->lessons; i++)
		if (b->count < MOST_BLOCKS)
			put(b, i == c->cursor ? ROLE_TITLE : ROLE_VALUE,
			    "%s%2d  %s%s%s", i == c->cursor ? "> " : "  ", i + 1,
			    c->title[i], c->state[i][0] ? ": " : "", c->state[i]);
}

int course_blocks(const struct explorer *explorer, struct course_block *blocks)
{
	struct blocks b = { explorer->course, &explorer->scenario, blocks, 0 };

	switch (b.course->phase) {
	case COURSE_LIST: say_list(&b); break;
	case COURSE_LOOK: say_look(&b); break;
	case COURSE_ASK: say_ask(&b); break;
	case COURSE_TURN: say_turn(&b); break;
	case COURSE_REVEAL: say_reveal(&b); break;
	case COURSE_WHY: say_why(&b); break;
	case COURSE_BECAUSE: say_because(&b); break;
	default: say_end(&b);
	}
	return b.count;
}

int course_words(const struct explorer *explorer,
		 const struct glossary_word *words[GLOSSARY_MAX_LINKS])
{
	struct course_block *block = calloc(MOST_BLOCKS, sizeof *block);
	int blocks = block ? course_blocks(explorer, block) : 0, count = 0;

	for (int i = 0; i < blocks; i++)
		count = glossary_links(block[i].text, words, count);
	free(block);
	return count;
}

void course_title(const struct explorer *explorer, char *out, size_t size)
{
	static const char *const phases[] = {
		"",           "look",    "predict", "turn it",
		"what it is", "say why", "why",     "done",
	};
	const struct course *c = explorer->course;

	if (c->phase == COURSE_LIST)
		snprintf(out, size, "lessons");
	else
		snprintf(out, size, "lesson %s%s%s: step %d of %d, %s", c->lesson.name,
			 c->seed[0] ? " of " : "", c->seed, c->step + 1,
			 c->lesson.steps, phases[c->phase]);
}

const char *course_keys(const struct explorer *explorer)
{
	const struct course *c = explorer->course;
	const struct lesson_question *q = &c->lesson.step[c->step].question;

	switch (c->phase) {
	case COURSE_LIST: return "\u2191\u2193 lesson|Enter open|Esc leave";
	case COURSE_LOOK: return "n next|b back|W words|L lessons|][ view|Tab numbers";
	case COURSE_ASK:
		return course_chooses(q)
			       ? "\"type its number|Enter answer|H hint|W words|x show me|b back"
			       : "\"type it|Enter answer|H hint|W words|x show me|b back|][ view";
	case COURSE_TURN:
		return "\u2190\u2192 value|= type|x show me|H hint|b back|][ view";
	case COURSE_WHY: return "\"type its number|Enter answer|b back";
	case COURSE_END: return "n next|b back|R restart|L lessons";
	default: return "n next|b back|W words|8 Explain|][ view|Tab numbers";
	}
}
