/* lesson.c - what a lecturer does with lessons: check them, hand out sheets of them,
 * grade what comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/lesson_file.h"
#include "presets/library.h"
#include "tui/command.h"
#include "tui/command/lesson.h"
#include "tui/view.h"

enum { SEEDS = 100, MOST_LESSONS = 128 };

/* --- options ----------------------------------------------------------------- */

static bool take_operand(void *context, const char *text, struct error *error)
{
	struct lesson_asked *asked = context;

	if (asked->operands == LESSON_OPERANDS)
		return error_set(error, NULL, 0, "too many arguments");
	asked->operand[asked->operands++] = text;
	return true;
}

static bool take_seeds(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct lesson_asked *)context)->seeds = value;
	return true;
}

static bool take_lesson(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct lesson_asked *)context)->lesson = value;
	return true;
}

static bool take_answers(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct lesson_asked *)context)->answers = true;
	return true;
}

static bool take_format(void *context, const char *value, struct error *error)
{
	struct lesson_asked *asked = context;

	asked->html = strcmp(value, "html") == 0;
	return asked->html || strcmp(value, "markdown") == 0 ||
	       error_set(error, NULL, 0, "--format %.40s: expected markdown or html",
			 value);
}

static bool take_csv(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct lesson_asked *)context)->csv = true;
	return true;
}

const struct own_option lesson_options[] = {
	{ "seeds", "FILE", "sheet: students' names, one per line", take_seeds },
	{ "answers", NULL, "sheet: with the right answers", take_answers },
	{ "format", "markdown|html", "sheet: markdown or html", take_format },
	{ "lesson", "FILE", "grade: a lesson that is in no folder", take_lesson },
	{ "csv", NULL, "grade: one row per student and step", take_csv },
	{ NULL, NULL, NULL, NULL },
};

/* --- check ------------------------------------------------------------------- */

struct complaint {
	const char *file;
};

static void complain(void *context, const struct lesson_fault *fault)
{
	const struct complaint *complaint = context;
	struct error error;

	lesson_fault_say(fault, complaint->file, &error);
	fprintf(stderr, "shardscope: %s\n", error.text);
}

/* Views are the screen's: the engine does not know their names. */
static int check_views(const struct lesson *lesson, struct complaint *complaint)
{
	int faults = 0;

	for (int i = 0; i < lesson->steps; i++) {
		struct lesson_fault fault = { .place = lesson->step[i].place };

		if (lesson->step[i].view[0] == '\0' ||
		    view_find(lesson->step[i].view) >= 0)
			continue;
		snprintf(fault.text, sizeof fault.text,
			 "no view '%.40s'; shardscope screen --help lists them",
			 lesson->step[i].view);
		complain(complaint, &fault);
		faults++;
	}
	return faults;
}

static int check_one(const char *name, struct lesson *lesson,
		     struct lesson_scene *scratch)
{
	struct complaint complaint = { name };
	struct error error = { "" };
	struct lesson_checked checked;
	int faults;

	if (!lesson_read(lesson, name, &error))
		return command_fail(&error);
	faults = check_views(lesson, &complaint);
	checked = lesson_check(lesson, SEEDS, scratch, complain, &complaint);
	faults += checked.faults;
	if (faults > 0) {
		printf("bad  %s (%d wrong)\n", name, faults);
		return STATUS_NO;
	}
	printf("good %s: %d steps, %d seeds, %d different draws of %d\n", lesson->name,
	       lesson->steps, SEEDS, checked.draws, checked.tries);
	return STATUS_GOOD;
}

static int check_all(struct lesson *lesson, struct lesson_scene *scratch)
{
	static char names[MOST_LESSONS][MAX_NAME];
	int count = lesson_names(names, MOST_LESSONS), worst = STATUS_GOOD;

	for (int i = 0; i < count; i++) {
		int status = check_one(names[i], lesson, scratch);

		worst = status > worst ? status : worst;
	}
	return worst;
}

static int check(const struct lesson_asked *asked)
{
	struct lesson *lesson = malloc(sizeof *lesson);
	struct lesson_scene *scratch = malloc(sizeof *scratch);
	int worst = STATUS_GOOD;

	if (!lesson || !scratch)
		worst = command_fail(&(struct error){ "" });
	for (int i = 1; i < asked->operands && lesson && scratch; i++) {
		int status = strcmp(asked->operand[i], "all") == 0
				     ? check_all(lesson, scratch)
				     : check_one(asked->operand[i], lesson, scratch);

		worst = status > worst ? status : worst;
	}
	free(scratch);
	free(lesson);
	return command_finish(worst);
}

/* --- the command ------------------------------------------------------------- */

static const struct {
	const char *word;
	int least; /* operands behind it */
	int (*run)(const struct lesson_asked *asked);
	const char *help;
} verbs[] = {
	{ "check", 1, check, "check that lessons hold over 100 seeds" },
	{ "sheet", 1, lesson_sheet,
	  "hand-outs of one, each student with other numbers" },
	{ "grade", 1, lesson_grade, "points of a folder with a NAME.yaml per student" },
};

const char *lesson_verb(int index)
{
	return index < (int)(sizeof verbs / sizeof verbs[0]) ? verbs[index].word : NULL;
}

const char *lesson_verb_help(int index)
{
	return verbs[index].help;
}

int command_lesson(int argc, char **argv)
{
	struct lesson_asked asked = { .operands = 0 };
	struct arguments arguments = { .context = &asked,
				       .operands = LESSON_OPERANDS + 1,
				       .operand = take_operand };
	const struct command *command = command_find("lesson");
	struct error error;
	int status;

	if (!options_read(command, &arguments, argc, argv, NULL, &status))
		return status;
	for (size_t i = 0; asked.operands > 0 && i < sizeof verbs / sizeof verbs[0];
	     i++)
		if (strcmp(asked.operand[0], verbs[i].word) == 0 &&
		    asked.operands > verbs[i].least)
			return verbs[i].run(&asked);
	error_set(&error, NULL, 0, "usage: shardscope lesson %s", command->arguments);
	return command_fail(&error);
}
