/* lesson.h - a lesson: steps that show a plan, ask what a turn of a knob will do, have
 * it turned and tell what came of it.
 *
 * Here a lesson is data and arithmetic: presets/lesson_file.h reads one, the explorer
 * shows it. All that it claims is computed: what a question's answer is, whether a
 * goal is met, which numbers a student gets.
 *
 * A scenario of a lesson is drawn: the seed (a student's name, say) picks the values of
 * the knobs that vary. Without a seed it is the scenario as it was written.
 */
#ifndef ENGINE_LESSON_H
#define ENGINE_LESSON_H

#include <stdbool.h>

#include "engine/base/formula.h"
#include "engine/challenge/challenge.h"
#include "engine/estimate/estimate.h"
#include "engine/knob/knob.h"
#include "engine/plan/scenario.h"

enum {
	LESSON_STEPS = 10,
	LESSON_CHOICES = 5,
	LESSON_TURNS = 6,
	LESSON_VARIES = 6,
	LESSON_VALUES = 12,
	LESSON_SOURCES = 4,
	LESSON_HINTS = 2,
	LESSON_RUNS = 2,
	LESSON_TEXT = 640,
	LESSON_LINE = 320,
	LESSON_CHOICE = 120,
	LESSON_FORMULA = 200,
	LESSON_WORDS = 60 /* of one text, at most */
};

/* A text with its place in the file, which is that of the file's reader. */
struct lesson_formula {
	char text[LESSON_FORMULA];
	int place;
};

struct lesson_prose {
	char text[LESSON_TEXT];
	int place;
};

/* A knob becomes this: what knob_parse() reads, or arithmetic over what was before. */
struct lesson_turn {
	const struct knob *knob;
	struct lesson_formula to;
};

/* The unit of a value that is asked for: shown * scale = the value itself. */
struct lesson_unit {
	const char *name, *suffix;
	double scale;
};
/* NULL if there is none of that name. */
const struct lesson_unit *lesson_unit_find(const char *name);
const struct lesson_unit *lesson_unit_at(int index); /* NULL behind the last */

enum lesson_ask {
	LESSON_NOTHING,
	LESSON_VALUE, /* how much? */
	LESSON_RANGE, /* between which cuts does a value lie? one choice more than cuts
		       */
	LESSON_BEST   /* with which value of a knob is something most, or least? */
};

struct lesson_question {
	enum lesson_ask ask;
	struct lesson_prose text;
	struct lesson_formula of; /* what is asked for, once it has been turned */
	const struct lesson_unit *unit;
	double tolerance; /* in the unit, or a share where it is relative */
	bool relative;
	/* what it should be whatever the engine says, and how far from it; may be empty
	 */
	struct lesson_formula expect;
	double expect_tolerance;
	bool expect_relative;
	double cut[LESSON_CHOICES - 1]; /* of LESSON_RANGE, rising */
	const struct knob *knob;        /* of LESSON_BEST */
	double value[LESSON_CHOICES];   /* its values */
	bool least;
	int choices;
	char choice[LESSON_CHOICES][LESSON_CHOICE]; /* LESSON_RANGE */
	/* what is said to who answered so although it is wrong; may be empty */
	struct lesson_prose wrong[LESSON_CHOICES];
};

/* Why is it so? One of the choices is right. */
struct lesson_reason {
	struct lesson_prose text, because;
	int choices, right; /* from 1; 0: nothing is asked */
	char choice[LESSON_CHOICES][LESSON_CHOICE];
};

/* A knob of a goal with all values that it may take. */
struct lesson_axis {
	const struct knob *knob;
	int count;
	double value[LESSON_VALUES];
};

struct lesson_step {
	int place;
	struct lesson_prose text;
	char view[MAX_NAME];         /* opened; empty: stays */
	const struct knob *focus;    /* under the cursor; NULL: stays */
	char explain[LESSON_CHOICE]; /* the number whose formula is shown */
	int sets, turns;
	struct lesson_turn set[LESSON_TURNS];  /* before, by the lesson */
	struct lesson_turn turn[LESSON_TURNS]; /* by the learner; of a goal: one way */
	bool may_overflow;                     /* the turn may leave it too large */
	struct lesson_question question;
	struct lesson_formula goal; /* to be reached; may be empty */
	int unlocks;
	const struct knob *unlock[LESSON_TURNS]; /* for the goal */
	int axes; /* of the goal, where plans are held against the proven best */
	struct lesson_axis axis[LESSON_TURNS];
	struct lesson_prose hint[LESSON_HINTS];
	struct lesson_prose reveal;
	struct lesson_reason reason;
	int runs;
	char run[LESSON_RUNS][MAX_NAME]; /* published plans with what they measured */
};

struct lesson_vary {
	const struct knob *knob;
	int count;
	char value[LESSON_VALUES][24];
};

struct lesson {
	char name[MAX_NAME], title[LESSON_CHOICE];
	int number; /* in the course; 0: none */
	struct lesson_prose idea;
	int sources;
	char source[LESSON_SOURCES][LESSON_LINE];
	struct scenario scenario; /* as written */
	int varies;
	struct lesson_vary vary[LESSON_VARIES];
	struct lesson_formula where; /* what a draw has to meet; may be empty */
	int steps;
	struct lesson_step step[LESSON_STEPS];
};

/* What is wrong, and where: a place of the file, and a byte behind it. */
struct lesson_fault {
	int place, at;
	char text[256];
};

/* --- scenes and expressions (expression.c, text.c) --- */

/* A step before and after its turn. */
struct lesson_scene {
	struct scenario before, after;
	struct estimate before_estimate, after_estimate;
	bool turned; /* the second state is known */
};

/* A value over the scene: keys of metric_table and of explain(), knobs (a word is its
 * number), `legal`, `fits` and `feasible`; behind `before.` or `after.`, or bare for
 * the later state that is known. */
bool lesson_value(const struct lesson_scene *scene, const char *text, double *value,
		  struct formula_fault *fault);
/* Puts a value for each {EXPRESSION} or {EXPRESSION|UNIT} of a text. False with the
 * fault. */
bool lesson_text(const struct lesson_scene *scene, const struct lesson_prose *text,
		 char *out, size_t size, struct lesson_fault *fault);
/* "42.9 %": three digits. value in SI. */
size_t lesson_print(const struct lesson_unit *unit, double value, char *out,
		    size_t size);

/* --- draws and answers (draw.c, answer.c) --- */

/* The lesson's scenario for this seed; NULL or empty: as written. False with the fault
 * if no draw is fit for all steps. *tries (may be NULL): draws that it took. */
bool lesson_draw(const struct lesson *lesson, const char *seed,
		 struct lesson_scene *scratch, struct scenario *out, int *tries,
		 struct lesson_fault *fault);
/* Both states of a step of a drawn scenario; of LESSON_BEST after is the best one. */
bool lesson_stage(const struct lesson *lesson, int step, const struct scenario *drawn,
		  struct lesson_scene *scene, struct lesson_fault *fault);
/* The state before alone. */
bool lesson_begin_step(const struct lesson *lesson, int step,
		       const struct scenario *drawn, struct lesson_scene *scene,
		       struct lesson_fault *fault);
/* Another state behind it: where a learner has got to. */
void lesson_turn_to(struct lesson_scene *scene, const struct scenario *after);
/* Whether the scenario has all turns of the step. */
bool lesson_has_turned(const struct lesson_step *step, const struct lesson_scene *scene,
		       const struct scenario *now);
/* The answer: a value in the question's unit, or the number of the choice from 1.
 * *clear (may be NULL): no other choice lies within the tolerance, and a value is not
 * what stood on the screen before the turn. The scene is that of lesson_stage() and is
 * left so. */
bool lesson_answer(const struct lesson_step *step, struct lesson_scene *scene,
		   double *answer, bool *clear, struct lesson_fault *fault);
/* Whether a given answer is right. */
bool lesson_is_right(const struct lesson_question *question, double answer,
		     double given);
/* Whether the goal holds after the turn. */
bool lesson_meets(const struct lesson_step *step, const struct lesson_scene *scene);

/* --- a goal with a proven best (best.c) ---
 *
 * The problem is that of a challenge (engine/challenge/challenge.h): the plan before
 * the turn, the values of the axes, the shortest step. */
void lesson_problem(const struct lesson_step *step, const struct scenario *before,
		    struct planner_problem *out);
/* Of the scene's later plan: best / theirs, from 0 to 1; 0 where it misses the goal,
 * has a value that is none of the axes', or nothing fits. Without axes 1 for the goal.
 */
double lesson_score(const struct lesson_step *step, const struct lesson_scene *scene);

/* --- what a lesson has to be (check.c) --- */

/* Everything that is wrong with it, over so many seeds, handed to `found` one by one;
 * returns how many. */
struct lesson_checked {
	int faults, tries, draws; /* candidates looked at, different scenarios drawn */
};
struct lesson_checked
lesson_check(const struct lesson *lesson, int seeds, struct lesson_scene *scratch,
	     void (*found)(void *context, const struct lesson_fault *fault),
	     void *context);

#endif
