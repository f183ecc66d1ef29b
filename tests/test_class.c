/* test_class.c - a lecturer's path: write a lesson, check it, hand it out to 40 names,
 * grade 40 files of answers, of which three are forged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/answers.h"
#include "presets/lesson_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"

enum { STUDENTS = 40, HONEST = 37 };

static char folder[] = "/tmp/shardscope-class-XXXXXX";
static struct lesson lesson;
static struct lesson_scene scene;

/* What a lecturer writes. */
static const char written[] =
	"format: 1\n"
	"title: More data-parallel ranks\n"
	"idea: Ranks that share the optimizer hold less of it each.\n"
	"sources: [\"Rajbhandari et al. 2020, ZeRO, arXiv 1910.02054, section 5\"]\n"
	"scenario: {model: llama3.1-8b, cluster: dgx-h100, gpus: 16, tp: 2, pp: 1, "
	"zero: 1, mbs: 1, gbs: 64, seq: 4096}\n"
	"vary: {gpus: [8, 16, 32], seq: [2048, 4096], gbs: [64, 128]}\n"
	"steps:\n"
	"  - text: >-\n"
	"      With ZeRO 1 the {dp} ranks share the optimizer's {optimizer_bytes|GiB}.\n"
	"    view: memory\n"
	"    ask:\n"
	"      question: How many GiB does it take with twice the [GPU]s?\n"
	"      value: optimizer_bytes\n"
	"      unit: GiB\n"
	"      tolerance: 10 %\n"
	"      expect: before.optimizer_bytes / 2\n"
	"      within: 2 %\n"
	"    turn: {gpus: gpus * 2}\n"
	"    hints: [Twice as many share it., Divide by two.]\n"
	"    reveal: From {before.optimizer_bytes|GiB} to {optimizer_bytes|GiB}.\n"
	"    why:\n"
	"      question: Why?\n"
	"      choices: [The model shrank., Each rank keeps a smaller share.]\n"
	"      right: 2\n"
	"      because: The states are dealt out over all ranks.\n"
	"  - text: Now let the optimizer take less than 2 GiB on each GPU.\n"
	"    goal: optimizer_bytes < 2 * 1024 * 1024 * 1024\n"
	"    unlock: [gpus]\n"
	"    turn: {gpus: 128}\n"
	"    hints: [More ranks., 128 GPUs are enough.]\n"
	"    reveal: It is {optimizer_bytes|GiB}.\n";

static void write_file(const char *name, const char *text)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* @ stands for the folder. */
static struct ran run_in(const char *what)
{
	char arguments[512] = "";
	size_t used = 0;

	for (; *what != '\0' && used + sizeof folder < sizeof arguments; what++)
		used += (size_t)snprintf(arguments + used, sizeof arguments - used,
					 "%.*s", *what == '@' ? (int)sizeof folder : 1,
					 *what == '@' ? folder : what);
	return run(arguments);
}

/* The right answer of the first step for this name. */
static double right_for(const char *name)
{
	struct lesson_fault fault;
	struct scenario drawn;
	double answer;

	assert_true(lesson_draw(&lesson, name, &scene, &drawn, NULL, &fault));
	assert_true(lesson_stage(&lesson, 0, &drawn, &scene, &fault));
	assert_true(lesson_answer(&lesson.step[0], &scene, &answer, NULL, &fault));
	return answer;
}

static void hand_in(const char *name, const char *claims)
{
	char path[96], text[1024];

	snprintf(path, sizeof path, "answers/%s.yaml", name);
	snprintf(text, sizeof text, "format: 1\nlesson: ranks\n%s", claims);
	write_file(path, text);
}

/* Student i: every third is right at once, every third at the second try, every third
 * is twice too high; half of them know why; all reach the goal. */
static void hand_in_honestly(int i)
{
	char name[32], claims[320];
	double right;

	snprintf(name, sizeof name, "student%02d", i);
	right = right_for(name);
	snprintf(claims, sizeof claims,
		 "seed: %s\nanswers:\n"
		 "  - {step: 1, first: %.6g, last: %.6g, hints: %d, why: %d}\n"
		 "  - {step: 2, turned: {gpus: 128}}\n",
		 name, i % 3 == 0 ? right : right * 2.5,
		 i % 3 == 2 ? right * 2.5 : right, i % 3, 1 + i % 2);
	hand_in(name, claims);
}

/* Three who earn what they earn: claims of points, another's answers, a turn of what
 * was locked. */
static void hand_in_forged(void)
{
	char claims[320];
	double another = 0;

	hand_in("forger1",
		"seed: forger1\nscore: 100\nfinished: true\nanswers:\n"
		"  - {step: 1, first: 12345, right: true, points: 50, why: 1}\n"
		"  - {step: 2, points: 50}\n");
	/* of somebody whose numbers are others */
	for (int i = 0; i < HONEST; i++) {
		char name[32];
		double theirs;

		snprintf(name, sizeof name, "student%02d", i);
		theirs = right_for(name);
		if (theirs > 1.5 * right_for("forger2"))
			another = theirs;
		if (theirs < right_for("forger2") / 1.5)
			another = theirs;
	}
	assert_true(another > 0);
	snprintf(claims, sizeof claims,
		 "seed: student00\nanswers:\n  - {step: 1, first: %.6g, why: 1}\n",
		 another);
	hand_in("forger2", claims);
	hand_in("forger3", "seed: forger3\nanswers:\n"
			   "  - {step: 1, first: unknown, why: 1}\n"
			   "  - {step: 2, turned: {optimizer_offload: 1, gpus: 16}}\n");
}

static int write_class(void **state)
{
	char path[160], names[STUDENTS * 16] = "# a class\n\n";
	struct error error;

	(void)state;
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/answers", folder);
	mkdir(path, 0700);
	write_file("ranks.yaml", written);
	snprintf(path, sizeof path, "%s/ranks.yaml", folder);
	if (!lesson_read(&lesson, path, &error))
		fail_msg("%s", error.text);
	for (int i = 0; i < HONEST; i++) {
		char line[32];

		snprintf(line, sizeof line, "student%02d\n", i);
		strcat(names, line);
		hand_in_honestly(i);
	}
	strcat(names, "forger1\nforger2\n  forger3  \n");
	write_file("students.txt", names);
	hand_in_forged();
	return 0;
}

static void test_the_lesson_is_checked(void **state)
{
	struct ran ran = run_in("lesson check @/ranks.yaml");

	(void)state;
	if (ran.status != 0)
		fail_msg("%s%s", ran.out, ran.err);
	assert_non_null(strstr(ran.out, "good ranks: 2 steps, 100 seeds"));
	ran_free(&ran);
}

static int count_of(const char *text, const char *what)
{
	int count = 0;

	for (; (text = strstr(text, what)); text++)
		count++;
	return count;
}

static void test_forty_sheets_have_screens_and_no_answers(void **state)
{
	struct ran ran = run_in("lesson sheet @/ranks.yaml --seeds @/students.txt");

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_int_equal(count_of(ran.out, "# More data-parallel ranks: "), STUDENTS);
	assert_int_equal(count_of(ran.out, "knobs "), 2 * STUDENTS);
	assert_int_equal(count_of(ran.out, "lesson: ranks\n"), STUDENTS);
	assert_int_equal(count_of(ran.out, "It is "), 0);
	assert_int_equal(count_of(ran.out, "Each rank keeps"), STUDENTS);
	assert_null(strstr(ran.out, "The states are dealt out"));
	/* what each value would give stands on no sheet */
	assert_null(strstr(ran.out, "tok/s/GPU at each value"));
	ran_free(&ran);
}

static void test_answers_stand_on_the_other_sheets(void **state)
{
	struct ran ran = run_in("lesson sheet @/ranks.yaml --seeds @/students.txt "
				"--answers --format html");
	char right[48];

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_int_equal(count_of(ran.out, "<h1>"), STUDENTS);
	assert_int_equal(count_of(ran.out, "<svg"), 2 * STUDENTS);
	assert_int_equal(count_of(ran.out, "The states are dealt out"), STUDENTS);
	lesson_print(lesson.step[0].question.unit,
		     right_for("student07") * lesson.step[0].question.unit->scale,
		     right, sizeof right);
	assert_non_null(strstr(strstr(ran.out, "student07"), right));
	ran_free(&ran);
}

/* A student's points as they are printed: "student00  3/3". */
static void expect_points(const char *out, const char *name, const char *points)
{
	char start[64], found[16] = "";
	const char *at;

	snprintf(start, sizeof start, "\n%s ", name);
	at = strstr(out, start);
	if (at)
		sscanf(at + strlen(start), " %15s", found);
	if (strcmp(found, points) != 0)
		fail_msg("%s: %s, expected %s\n%s", name, found, points, out);
}

static void test_grades_are_what_the_answers_earn(void **state)
{
	struct ran ran = run_in("lesson grade @/answers --lesson @/ranks.yaml");

	(void)state;
	if (ran.status != 0)
		fail_msg("%s", ran.err);
	expect_points(ran.out, "student00", "2/3"); /* right, not why */
	expect_points(ran.out, "student03", "3/3");
	expect_points(ran.out, "student01", "2.5/3"); /* at the second try */
	expect_points(ran.out, "student02", "1/3");   /* the goal alone */
	expect_points(ran.out, "student05", "2/3");
	assert_non_null(strstr(ran.out, "13 of 40 right at first, 1 did not know"));
	assert_non_null(strstr(ran.out, "above twice of it"));
	/* words stand in brackets in a lesson's file alone */
	assert_null(strchr(ran.out, '['));
	ran_free(&ran);
}

static void test_forged_answers_get_what_they_earn(void **state)
{
	struct ran ran = run_in("lesson grade @/answers --lesson @/ranks.yaml");

	(void)state;
	expect_points(ran.out, "forger1", "0/3");
	expect_points(ran.out, "forger2", "0/3");
	expect_points(ran.out, "forger3", "0/3");
	assert_non_null(strstr(ran.out, "answers the numbers of 'student00'"));
	ran_free(&ran);
}

static void test_grades_as_rows(void **state)
{
	struct ran ran = run_in("lesson grade @/answers --lesson @/ranks.yaml --csv");

	(void)state;
	assert_int_equal(ran.status, 0);
	assert_int_equal(count_of(ran.out, "\n"), 1 + 2 * STUDENTS);
	assert_non_null(strstr(ran.out, "student,lesson,step,first,last,right,"));
	assert_non_null(strstr(ran.out, "forger1,ranks,1,12345,12345,"));
	ran_free(&ran);
}

/* A lesson of the student's own is not held against, nor is what is no file of answers.
 */
static void test_a_folder_that_is_none_is_named(void **state)
{
	char command[128], empty[64];

	(void)state;
	run_check("lesson grade /nowhere/answers", 2, NULL,
		  "/nowhere/answers: No such file or directory; expected the folder");
	snprintf(empty, sizeof empty, "%s/none", folder);
	assert_int_equal(mkdir(empty, 0700), 0);
	snprintf(command, sizeof command, "lesson grade %s", empty);
	run_check(command, 2, NULL, "none: no answers here; expected files NAME.yaml");
	rmdir(empty);
}

static void test_a_file_that_is_wrong_is_named(void **state)
{
	struct ran ran;
	char path[160];

	(void)state;
	hand_in("zoe", "answers: 3\n");
	ran = run_in("lesson grade @/answers --lesson @/ranks.yaml");
	assert_int_equal(ran.status, 1);
	assert_non_null(strstr(ran.err, "zoe.yaml:3: answers: expected a list"));
	assert_non_null(strstr(ran.out, "student00"));
	ran_free(&ran);
	snprintf(path, sizeof path, "answers/zoe.yaml");
	write_file(path, "format: 1\nlesson: /tmp/easy.yaml\nanswers: []\n");
	ran = run_in("lesson grade @/answers");
	assert_non_null(strstr(ran.err, "zoe.yaml: no lesson '/tmp/easy.yaml'"));
	ran_free(&ran);
	snprintf(path, sizeof path, "%s/answers/zoe.yaml", folder);
	unlink(path);
}

/* What the explorer keeps of anna's lesson is what anna hands in: anna.bubble.yaml. */
static void test_progress_is_what_is_handed_in(void **state)
{
	struct answers answers = { .lesson = "bubble", .seed = "anna" }, again;
	struct document document;
	struct error error;
	char *text, path[256];

	(void)state;
	answers.answer[1] = (struct answer){ .done = true,
					     .tries = 2,
					     .first = 20,
					     .last = 42.5,
					     .hints = 2,
					     .why = 2 };
	answers.answer[2] = (struct answer){ .done = true, .turns = 1 };
	answers.answer[2].turned[0].knob = knob_find("gbs");
	strcpy(answers.answer[2].turned[0].value, "128");
	text = answers_write(&answers);
	assert_non_null(text);
	assert_true(document_parse(&document, "a", text, strlen(text), &error));
	assert_true(answers_from(&again, &document, &error));
	assert_memory_equal(&answers, &again, sizeof answers);
	document_free(&document);
	free(text);
	assert_true(answers_path("bubble", "anna", path, sizeof path));
	assert_non_null(strstr(path, "/lessons/anna.bubble.yaml"));
	assert_true(answers_path("bubble", "../../etc/x", path, sizeof path));
	assert_non_null(strstr(path, "/lessons/______etc_x.bubble.yaml"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lesson_is_checked),
		cmocka_unit_test(test_forty_sheets_have_screens_and_no_answers),
		cmocka_unit_test(test_answers_stand_on_the_other_sheets),
		cmocka_unit_test(test_grades_are_what_the_answers_earn),
		cmocka_unit_test(test_forged_answers_get_what_they_earn),
		cmocka_unit_test(test_grades_as_rows),
		cmocka_unit_test(test_a_folder_that_is_none_is_named),
		cmocka_unit_test(test_a_file_that_is_wrong_is_named),
		cmocka_unit_test(test_progress_is_what_is_handed_in),
	};
	return cmocka_run_group_tests(tests, write_class, NULL);
}
