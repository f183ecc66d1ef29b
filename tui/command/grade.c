/* grade.c - what a folder of answers earns: every claim is computed again. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/glossary/glossary.h"
#include "presets/answers.h"
#include "presets/folder.h"
#include "presets/lesson_file.h"
#include "presets/library.h"
#include "tui/command.h"
#include "tui/command/lesson.h"

enum { MOST_STUDENTS = 2000, BINS = 6 };

/* First predictions of a step: of a choice by its number, of a value by how far it is
 * from the right one. */
struct tally {
	int asked, unknown, right, why_right;
	int bin[BINS];
};

struct student {
	char name[MAX_NAME], note[192];
	char lesson[MAX_NAME];
	struct grade grade;
	int hints;
	bool counts;
};

struct grading {
	const struct lesson_asked *asked;
	struct lesson *lesson; /* that was read last */
	struct lesson_scene *scene;
	struct student *student;
	int students, faults;
	struct tally tally[LESSON_STEPS];
	char tallied[MAX_NAME]; /* the lesson of the tally: that of the first file */
};

static const char *const bins[BINS] = {
	"below half of it", "too small",         "right",
	"too large",        "above twice of it", "negative or 0"
};

static void complain(struct grading *g, const struct error *error)
{
	fprintf(stderr, "shardscope: %s\n", error->text);
	g->faults++;
}

/* --- one file ---------------------------------------------------------------- */

/* A lesson by the name in the answers, never by a path: the file is the student's. */
static bool find_lesson(struct grading *g, const struct answers *answers,
			struct error *error)
{
	const char *given = g->asked->lesson;
	const char *file = given ? given : answers->lesson;

	if (!given && !preset_find(PRESET_LESSON, answers->lesson))
		return error_set(error, NULL, 0, "no lesson '%.60s'", answers->lesson);
	if (strcmp(g->lesson->name, answers->lesson) == 0)
		return true;
	if (!lesson_read(g->lesson, file, error)) {
		g->lesson->name[0] = '\0';
		return false;
	}
	return strcmp(g->lesson->name, answers->lesson) == 0 ||
	       error_set(error, NULL, 0, "answers lesson '%.60s', not '%.60s'",
			 answers->lesson, g->lesson->name);
}

static int bin_of(const struct lesson_question *q, double right, double given)
{
	if (lesson_is_right(q, right, given))
		return 2;
	if (q->ask != LESSON_VALUE)
		return 0;
	return given <= 0          ? 5
	       : given < right / 2 ? 0
	       : given < right     ? 1
	       : given > 2 * right ? 4
				   : 3;
}

static void tally_step(struct tally *tally, const struct lesson_step *step,
		       const struct answer *a, double right)
{
	const struct lesson_question *q = &step->question;

	tally->asked++;
	tally->why_right += step->reason.right > 0 && a->why == step->reason.right;
	if (a->tries == 0) {
		tally->unknown++;
		return;
	}
	tally->right += lesson_is_right(q, right, a->first);
	if (q->ask == LESSON_VALUE)
		tally->bin[bin_of(q, right, a->first)]++;
	else if (a->first >= 1 && a->first <= BINS)
		tally->bin[(int)a->first - 1]++;
}

static void print_row(const struct student *student, const struct lesson_step *step,
		      const struct answer *a, int number, double right)
{
	const struct lesson_question *q = &step->question;
	bool at_first = a->tries > 0 && lesson_is_right(q, right, a->first);

	printf("%s,%s,%d,", student->name, student->lesson, number);
	if (q->ask != LESSON_NOTHING && a->tries > 0)
		printf("%g,%g,%.4g,%d,", a->first, a->last, right, at_first);
	else if (q->ask != LESSON_NOTHING)
		printf(",,%.4g,0,", right);
	else
		printf(",,,,");
	printf("%d,%d,%g\n", a->hints, a->why, student->grade.step[number - 1]);
}

static void note_steps(struct grading *g, struct student *student,
		       const struct answers *answers)
{
	struct lesson_fault fault;
	struct scenario drawn;

	if (g->tallied[0] == '\0')
		memcpy(g->tallied, g->lesson->name, MAX_NAME);
	if (!lesson_draw(g->lesson, student->name, g->scene, &drawn, NULL, &fault))
		return;
	for (int i = 0; i < g->lesson->steps; i++) {
		const struct lesson_step *step = &g->lesson->step[i];
		const struct answer *a = &answers->answer[i];
		bool asks = step->question.ask != LESSON_NOTHING;
		double right = 0;

		student->hints += a->hints;
		if (asks && (!lesson_stage(g->lesson, i, &drawn, g->scene, &fault) ||
			     !lesson_answer(step, g->scene, &right, NULL, &fault)))
			continue;
		if (asks && strcmp(g->tallied, g->lesson->name) == 0)
			tally_step(&g->tally[i], step, a, right);
		if (g->asked->csv && (asks || step->goal.text[0] != '\0'))
			print_row(student, step, a, i + 1, right);
	}
}

/* Whose it is says the name of the file, up to its first dot: what stands inside could
 * be anybody's. */
static void name_student(struct student *student, const char *file)
{
	snprintf(student->name, sizeof student->name, "%.*s",
		 (int)strcspn(file, ".") < MAX_NAME ? (int)strcspn(file, ".")
						    : MAX_NAME - 1,
		 file);
	error_clean(student->name);
	for (char *c = student->name; *c != '\0'; c++)
		if (*c == ',' || *c == '"')
			*c = '_';
}

static void grade_file(void *context, const char *name)
{
	struct grading *g = context;
	struct student *student = &g->student[g->students];
	struct answers answers;
	struct lesson_fault fault;
	struct error error = { "" };
	char path[4096];

	if (g->students == MOST_STUDENTS)
		return;
	memset(student, 0, sizeof *student);
	name_student(student, name);
	snprintf(path, sizeof path, "%s/%s.yaml", g->asked->operand[1], name);
	if (!answers_read(&answers, path, &error)) {
		complain(g, &error);
		return;
	}
	memcpy(student->lesson, answers.lesson, MAX_NAME);
	if (!find_lesson(g, &answers, &error)) {
		struct error whole;

		error_set(&whole, path, 0, "%.400s", error.text);
		complain(g, &whole);
		return;
	}
	if (strcmp(answers.seed, student->name) != 0)
		snprintf(student->note, sizeof student->note,
			 "answers the numbers of '%.60s'; held against %s's own",
			 answers.seed, student->name);
	if (!answers_grade(g->lesson, student->name, &answers, g->scene,
			   &student->grade, &fault)) {
		lesson_fault_say(&fault, g->lesson->name, &error);
		complain(g, &error);
		return;
	}
	note_steps(g, student, &answers);
	g->students++;
}

/* --- all of them ------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct student *)a)->name,
		      ((const struct student *)b)->name);
}

static void print_students(const struct grading *g)
{
	int width = 7;

	for (int i = 0; i < g->students; i++)
		if ((int)strlen(g->student[i].name) > width)
			width = (int)strlen(g->student[i].name);
	printf("%-*s  points  at first  hints  lesson\n", width, "student");
	for (int i = 0; i < g->students; i++) {
		const struct student *s = &g->student[i];
		char points[40], first[24];

		snprintf(points, sizeof points, "%g/%g", s->grade.points,
			 s->grade.most);
		snprintf(first, sizeof first, "%d/%d", s->grade.right_at_first,
			 s->grade.predictions);
		printf("%-*s  %-6s  %-8s  %5d  %s%s%s\n", width, s->name, points, first,
		       s->hints, s->lesson, s->note[0] ? "  " : "", s->note);
	}
}

/* The question is printed with the lesson's own numbers: each student had others. */
static void print_tally(struct grading *g, int step)
{
	const struct lesson_step *s = &g->lesson->step[step];
	const struct lesson_question *q = &s->question;
	const struct tally *t = &g->tally[step];
	char text[2 * LESSON_TEXT] = "", plain[sizeof text];
	struct lesson_fault fault;

	if (lesson_begin_step(g->lesson, step, &g->lesson->scenario, g->scene, &fault))
		lesson_text(g->scene, &q->text, text, sizeof text, &fault);
	glossary_plain(text, plain, sizeof plain);
	printf("\nstep %d: %s\n", step + 1, plain);
	printf("  %d of %d right at first, %d did not know", t->right, t->asked,
	       t->unknown);
	if (s->reason.right > 0)
		printf("; %d knew why", t->why_right);
	putchar('\n');
	if (q->ask == LESSON_VALUE) {
		for (int i = 0; i < BINS; i++)
			if (t->bin[i] > 0)
				printf("  %3d  %s\n", t->bin[i], bins[i]);
		return;
	}
	for (int i = 0; i < q->choices; i++)
		printf("  %3d  %s\n", t->bin[i], q->choice[i]);
}

static void print_tallies(struct grading *g)
{
	struct error error;
	const char *file = g->asked->lesson ? g->asked->lesson : g->tallied;

	if (g->students == 0 || !lesson_read(g->lesson, file, &error))
		return;
	printf("\nfirst predictions in %s\n", g->lesson->title);
	for (int i = 0; i < g->lesson->steps; i++)
		if (g->lesson->step[i].question.ask != LESSON_NOTHING)
			print_tally(g, i);
}

static int grade(struct grading *g)
{
	const char *folder = g->asked->operand[1];
	struct error error = { "" };

	if (g->asked->csv)
		puts("student,lesson,step,first,last,right,right_at_first,hints,why,"
		     "points");
	if (!folder_each(folder, grade_file, g)) {
		error_set(&error, folder, 0, "%s; expected the folder of the answers",
			  strerror(errno));
		return command_fail(&error);
	}
	if (g->students == 0 && g->faults == 0) {
		error_set(&error, folder, 0,
			  "no answers here; expected files NAME.yaml, one per student");
		return command_fail(&error);
	}
	qsort(g->student, (size_t)g->students, sizeof *g->student, by_name);
	if (!g->asked->csv) {
		print_students(g);
		print_tallies(g);
	}
	return command_finish(g->faults > 0 ? STATUS_NO : STATUS_GOOD);
}

int lesson_grade(const struct lesson_asked *asked)
{
	struct grading *g = calloc(1, sizeof *g);
	int status = STATUS_USAGE;

	if (g) {
		g->asked = asked;
		g->lesson = calloc(1, sizeof *g->lesson);
		g->scene = malloc(sizeof *g->scene);
		g->student = calloc(MOST_STUDENTS + 1, sizeof *g->student);
	}
	if (g && g->lesson && g->scene && g->student)
		status = grade(g);
	else
		status = command_fail(&(struct error){ "" });
	if (g) {
		free(g->lesson);
		free(g->scene);
		free(g->student);
	}
	free(g);
	return status;
}
