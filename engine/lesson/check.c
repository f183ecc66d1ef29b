/* check.c - everything that is wrong with a lesson; see lesson.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/glossary/glossary.h"
#include "engine/lesson/lesson.h"

struct checker {
	const struct lesson *lesson;
	struct lesson_scene *scene;
	const char *seed; /* empty: as written */
	void (*found)(void *context, const struct lesson_fault *fault);
	void *context;
	struct lesson_checked result;
};

static void report_fault(struct checker *c, int place, int at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void report_fault(struct checker *c, int place, int at, const char *format, ...)
{
	struct lesson_fault fault = { .place = place, .at = at };
	size_t used;
	va_list args;

	va_start(args, format);
	vsnprintf(fault.text, sizeof fault.text, format, args);
	va_end(args);
	used = strlen(fault.text);
	if (c->seed[0] != '\0')
		snprintf(fault.text + used, sizeof fault.text - used, " (seed %s)",
			 c->seed);
	c->result.faults++;
	c->found(c->context, &fault);
}

static int count_words(const char *text)
{
	int words = 0;
	bool inside = false;

	for (; *text != '\0'; text++) {
		bool blank = *text == ' ' || *text == '\n' || *text == '\t';

		words += !blank && !inside;
		inside = !blank;
	}
	return words;
}

/* A text as it is read: its values put in, at most so many words. */
static void check_prose(struct checker *c, const struct lesson_prose *text,
			const char *what, bool needed)
{
	struct lesson_fault fault;
	char out[2 * LESSON_TEXT];
	const char *broken;
	size_t length;
	int words;

	if (text->text[0] == '\0') {
		if (needed)
			report_fault(c, text->place, 0, "no %s", what);
		return;
	}
	if (!lesson_text(c->scene, text, out, sizeof out, &fault)) {
		report_fault(c, fault.place, fault.at, "%s: %s", what, fault.text);
		return;
	}
	broken = glossary_broken(out, &length);
	if (broken)
		report_fault(c, text->place, 0, "%s: [%.*s] is no word of the glossary",
			     what, (int)length, broken);
	words = count_words(out);
	if (words > LESSON_WORDS)
		report_fault(c, text->place, 0, "%s has %d words, %d at most", what,
			     words, LESSON_WORDS);
}

/* What can be known of the step before it is turned. */
static void check_before(struct checker *c, const struct lesson_step *step)
{
	bool turned = c->scene->turned;

	c->scene->turned = false;
	check_prose(c, &step->text, "text", true);
	check_prose(c, &step->question.text, "question",
		    step->question.ask != LESSON_NOTHING);
	for (int i = 0; i < LESSON_HINTS; i++)
		check_prose(c, &step->hint[i], i ? "second hint" : "first hint",
			    step->question.ask != LESSON_NOTHING ||
				    step->goal.text[0] != '\0');
	c->scene->turned = turned;
}

static void check_after(struct checker *c, const struct lesson_step *step)
{
	bool asks = step->question.ask != LESSON_NOTHING;

	check_prose(c, &step->reveal, "reveal", asks || step->goal.text[0] != '\0');
	check_prose(c, &step->reason.text, "question of `why`", step->reason.right > 0);
	check_prose(c, &step->reason.because, "because", step->reason.right > 0);
	for (int i = 0; i < step->question.choices; i++)
		check_prose(c, &step->question.wrong[i], "wrong", false);
	if (step->explain[0] != '\0') {
		struct explanation x;
		bool after = c->scene->turned;

		if (!explain(after ? &c->scene->after : &c->scene->before,
			     after ? &c->scene->after_estimate
				   : &c->scene->before_estimate,
			     step->explain, &x))
			report_fault(c, step->place, 0,
				     x.lacks_memory ? "explain: out of memory%.0s"
						    : "explain: no number '%.60s' here",
				     step->explain);
	}
}

/* The answer against what it should be whatever the engine says. */
static void check_expected(struct checker *c, const struct lesson_step *step,
			   double answer)
{
	const struct lesson_question *q = &step->question;
	struct formula_fault problem;
	double expected, off;

	if (q->expect.text[0] == '\0')
		return;
	if (!lesson_value(c->scene, q->expect.text, &expected, &problem)) {
		report_fault(c, q->expect.place, problem.at, "expect: %s",
			     problem.reason);
		return;
	}
	if (q->ask == LESSON_VALUE)
		expected /= q->unit->scale;
	off = fabs(answer - expected);
	if (off > (q->expect_relative ? q->expect_tolerance * fabs(expected)
				      : q->expect_tolerance))
		report_fault(c, q->expect.place, 0,
			     "the answer is %.4g, expected %.4g within %.3g%s", answer,
			     expected,
			     q->expect_tolerance * (q->expect_relative ? 100 : 1),
			     q->expect_relative ? " %" : "");
}

static void check_question(struct checker *c, const struct lesson_step *step)
{
	struct lesson_fault fault;
	double answer;
	bool clear;

	if (!lesson_answer(step, c->scene, &answer, &clear, &fault))
		report_fault(c, fault.place, fault.at, "%s", fault.text);
	else
		check_expected(c, step, answer);
}

static void check_goal(struct checker *c, const struct lesson_step *step)
{
	struct formula_fault problem = { "", 0 };
	double before, after;
	bool turned = c->scene->turned;

	c->scene->turned = false;
	if (!lesson_value(c->scene, step->goal.text, &before, &problem) &&
	    !strstr(step->goal.text, "after."))
		report_fault(c, step->goal.place, problem.at, "goal: %s",
			     problem.reason);
	else if (problem.reason[0] == '\0' && before != 0)
		report_fault(c, step->goal.place, 0, "the goal is met before the turn");
	c->scene->turned = turned;
	if (!lesson_value(c->scene, step->goal.text, &after, &problem))
		report_fault(c, step->goal.place, problem.at, "goal: %s",
			     problem.reason);
	else if (!lesson_meets(step, c->scene))
		report_fault(c, step->goal.place, 0, "`turn` does not reach the goal");
	else if (lesson_score(step, c->scene) == 0)
		report_fault(c, step->goal.place, 0,
			     "`turn` has a value that `best` lacks");
}

static void check_step(struct checker *c, int index, const struct scenario *drawn)
{
	const struct lesson_step *step = &c->lesson->step[index];
	struct lesson_fault fault;

	if (!lesson_stage(c->lesson, index, drawn, c->scene, &fault)) {
		report_fault(c, fault.place, fault.at, "%s", fault.text);
		return;
	}
	check_before(c, step);
	check_after(c, step);
	if (step->question.ask != LESSON_NOTHING)
		check_question(c, step);
	if (step->goal.text[0] != '\0')
		check_goal(c, step);
}

static void check_scenario(struct checker *c, struct scenario *drawn)
{
	struct lesson_fault fault = { 0 };
	int tries;

	if (!lesson_draw(c->lesson, c->seed, c->scene, drawn, &tries, &fault)) {
		report_fault(c, fault.place, fault.at, "%s%s", fault.text,
			     c->seed[0] ? "; nor did 199 other draws do" : "");
		return;
	}
	if (c->seed[0] != '\0')
		c->result.tries += tries;
	for (int i = 0; i < c->lesson->steps; i++)
		check_step(c, i, drawn);
}

/* What needs no numbers. */
static void check_form(struct checker *c)
{
	const struct lesson *lesson = c->lesson;
	int questions = 0, reasons = 0;

	for (int i = 0; i < lesson->steps; i++) {
		questions += lesson->step[i].question.ask != LESSON_NOTHING;
		reasons += lesson->step[i].reason.right > 0;
	}
	if (lesson->sources == 0)
		report_fault(c, 1, 0, "no source; name the paper");
	if (questions == 0)
		report_fault(c, 1, 0, "no step asks anything");
	if (reasons == 0)
		report_fault(c, 1, 0, "no step asks why");
	if (lesson->varies == 0)
		report_fault(c, 1, 0,
			     "nothing varies, so every seed has the same numbers");
}

static bool is_new(const struct lesson *lesson, const struct scenario *drawn,
		   double (*seen)[LESSON_VARIES], int count)
{
	double *now = seen[count];

	for (int v = 0; v < lesson->varies; v++)
		now[v] = knob_get(drawn, lesson->vary[v].knob);
	for (int i = 0; i < count; i++) {
		bool same = true;

		for (int v = 0; v < lesson->varies; v++)
			same &= seen[i][v] == now[v];
		if (same)
			return false;
	}
	return true;
}

struct lesson_checked
lesson_check(const struct lesson *lesson, int seeds, struct lesson_scene *scratch,
	     void (*found)(void *context, const struct lesson_fault *fault),
	     void *context)
{
	enum { MOST_SEEN = 64, LEAST_DRAWS = 4 };
	double seen[MOST_SEEN + 1][LESSON_VARIES];
	struct checker c = { lesson, scratch, "", found, context, { 0, 0, 0 } };
	struct scenario drawn;
	char seed[24];

	check_form(&c);
	check_scenario(&c, &drawn);
	for (int i = 1; i <= seeds && c.result.faults == 0; i++) {
		snprintf(seed, sizeof seed, "%d", i);
		c.seed = seed;
		check_scenario(&c, &drawn);
		if (c.result.draws < MOST_SEEN &&
		    is_new(lesson, &drawn, seen, c.result.draws))
			c.result.draws++;
	}
	c.seed = "";
	if (c.result.faults == 0 && seeds >= 20 && c.result.draws < LEAST_DRAWS)
		report_fault(&c, 1, 0, "only %d different draws; let more vary",
			     c.result.draws);
	/* where most draws fall away the numbers are not what was meant */
	if (c.result.faults == 0 && c.result.tries > 4 * seeds && seeds > 0)
		report_fault(
			&c, 1, 0,
			"%d draws for %d seeds: too many are not legal, do not fit or "
			"are not told apart",
			c.result.tries, seeds);
	return c.result;
}
