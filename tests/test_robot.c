/* test_robot.c - a robot plays every lesson by keys on a terminal, right and wrong, to
 * its end; what was kept of it earns what it should. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/answers.h"
#include "presets/lesson_file.h"
#include "tests/support/close.h"
#include "tests/support/lesson.h"
#include "tui/explorer/course.h"

static char home[] = "/tmp/shardscope-robot-XXXXXX";
static struct lesson lesson;
static struct lesson_scene scene;

struct robot {
	struct vt *vt;
	bool right; /* else it errs wherever it can */
	const char *seed;
	struct scenario drawn;
	int step;
	double lost; /* points that the lesson's own way to a goal does not earn */
};

static void expect_phase(struct robot *robot, const char *phase)
{
	char title[160];

	snprintf(title, sizeof title, "lesson %s%s%s: step %d of %d, %s ", lesson.name,
		 robot->seed ? " of " : "", robot->seed ? robot->seed : "",
		 robot->step + 1, lesson.steps, phase);
	vt_expect(robot->vt, title);
}

static void answer_text(const struct lesson_question *q, double answer, bool right,
			char *out, size_t size)
{
	int choice = right ? (int)answer
			   : (int)answer % (q->choices > 0 ? q->choices : 1) + 1;

	if (q->ask == LESSON_VALUE)
		snprintf(out, size, "%.6g", right ? answer : answer * 3 + 1000);
	else if (course_chooses(q))
		snprintf(out, size, "%d", choice);
	else
		snprintf(out, size, "%s", q->choice[choice - 1]);
}

static void predict(struct robot *robot, const struct lesson_step *step)
{
	struct lesson_fault fault;
	char text[64];
	double answer;

	assert_true(lesson_answer(step, &scene, &answer, NULL, &fault));
	if (step->question.ask != LESSON_VALUE && step->question.choices < 2)
		fail_msg("%s: one choice", lesson.name);
	answer_text(&step->question, answer, robot->right, text, sizeof text);
	vt_type(robot->vt, text);
	vt_type(robot->vt, "\r");
	if (robot->right || step->question.ask != LESSON_VALUE)
		return;
	vt_expect(robot->vt, "Try again");
	vt_type(robot->vt, "HH");
	vt_expect(robot->vt, "Hint: ");
	vt_type(robot->vt, "\r");
}

/* "/gbs", Enter, "=16", Enter: a knob at a time. */
static void turn_knob(struct robot *robot, const struct knob *knob)
{
	char value[64], keys[160];

	if (knob_same(&scene.before, &scene.after, knob))
		return;
	knob_print(&scene.after, knob, value, sizeof value);
	snprintf(keys, sizeof keys, "/%s\r", knob->key);
	vt_type(robot->vt, keys);
	vt_expect_gone(robot->vt, "find:");
	snprintf(keys, sizeof keys, "=%s\r", value);
	vt_type(robot->vt, keys);
}

static void turn(struct robot *robot, const struct lesson_step *step)
{
	if (!robot->right) {
		vt_type(robot->vt, "x");
		return;
	}
	if (step->question.ask == LESSON_BEST)
		turn_knob(robot, step->question.knob);
	for (int i = 0; i < step->turns; i++)
		turn_knob(robot, step->turn[i].knob);
}

static void say_why(struct robot *robot, const struct lesson_reason *reason)
{
	char keys[16];
	int choice = robot->right ? reason->right : reason->right % reason->choices + 1;

	expect_phase(robot, "say why");
	snprintf(keys, sizeof keys, "%d\r", choice);
	vt_type(robot->vt, keys);
}

static void play_step(struct robot *robot, const struct lesson_step *step)
{
	bool goal = step->goal.text[0] != '\0',
	     asks = step->question.ask != LESSON_NOTHING;
	struct lesson_fault fault;

	expect_phase(robot, "look");
	vt_type(robot->vt, "\r");
	if (!asks && !goal)
		return;
	assert_true(lesson_stage(&lesson, robot->step, &robot->drawn, &scene, &fault));
	if (goal)
		robot->lost += 1 - lesson_score(step, &scene);
	if (asks) {
		expect_phase(robot, "predict");
		predict(robot, step);
	}
	expect_phase(robot, "turn it");
	turn(robot, step);
	expect_phase(robot, "what it is");
	vt_type(robot->vt, "\r");
	if (step->reason.right > 0)
		say_why(robot, &step->reason);
	if (step->reason.right > 0 || step->runs > 0 || step->axes > 0) {
		expect_phase(robot, "why");
		vt_type(robot->vt, "\r");
	}
}

static void grade_kept(const char *name, const char *seed, struct grade *grade)
{
	struct answers answers;
	struct lesson_fault fault;
	struct error error;
	char path[256];

	snprintf(path, sizeof path, "%s/state/shardscope/lessons/%s%s%s.yaml", home,
		 seed ? seed : "", seed ? "." : "", name);
	if (!answers_read(&answers, path, &error))
		fail_msg("%s", error.text);
	assert_true(answers.finished);
	assert_true(answers_grade(&lesson, seed ? seed : "", &answers, &scene, grade,
				  &fault));
	unlink(path);
}

/* To the end, and what was kept of it earns what it should. */
static void play(const char *name, const struct opening *opening, bool right)
{
	struct robot robot = { .right = right, .seed = opening->seed };
	struct lesson_fault fault;
	struct error error;
	struct grade grade;

	assert_true(lesson_read(&lesson, name, &error));
	assert_true(
		lesson_draw(&lesson, robot.seed, &scene, &robot.drawn, NULL, &fault));
	robot.vt = lesson_open(home, name, opening);
	for (; robot.step < lesson.steps; robot.step++)
		play_step(&robot, &lesson.step[robot.step]);
	robot.step--;
	expect_phase(&robot, "done");
	vt_expect(robot.vt, "points.");
	vt_type(robot.vt, "q");
	vt_expect(robot.vt, "L continues it");
	vt_type(robot.vt, "q");
	vt_expect_exit(robot.vt, 0);
	vt_close(robot.vt);
	grade_kept(name, robot.seed, &grade);
	if (right && fabs(grade.points + robot.lost - grade.most) > 1e-9)
		fail_msg("%s: %g of %g points", name, grade.points, grade.most);
	if (!right && grade.points != 0)
		fail_msg("%s: %g points for nothing", name, grade.points);
}

static void play_all(int columns, int rows, bool right)
{
	static char names[MOST_LESSONS][MAX_NAME];
	int count = lesson_names(names, MOST_LESSONS);

	const struct opening opening = { .columns = columns, .rows = rows };

	assert_true(count >= 16);
	for (int i = 0; i < count; i++)
		play(names[i], &opening, right);
}

static void test_a_robot_plays_all_lessons_right_at_80x24(void **state)
{
	(void)state;
	play_all(80, 24, true);
}

static void test_a_robot_plays_all_lessons_right_at_120x36(void **state)
{
	(void)state;
	play_all(120, 36, true);
}

static void test_a_robot_plays_all_lessons_wrong_at_80x24(void **state)
{
	(void)state;
	play_all(80, 24, false);
}

static void test_a_robot_plays_all_lessons_wrong_at_120x36(void **state)
{
	(void)state;
	play_all(120, 36, false);
}

/* Terminals without colour, and without more than ASCII. */
static void test_a_robot_plays_on_poor_terminals(void **state)
{
	static const struct opening poor[] = {
		{ .columns = 80, .rows = 24, .term = "vt100", .locale = "C" },
		{ .columns = 60, .rows = 16, .term = "linux" },
		{ .columns = 200, .rows = 60 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof poor / sizeof poor[0]; i++)
		play("bubble", &poor[i], true);
}

/* Her numbers are hers, and what is kept has her name. */
static void test_a_robot_plays_a_students_numbers(void **state)
{
	static const struct opening anna = { .columns = 80,
					     .rows = 24,
					     .seed = "anna" };

	(void)state;
	play("bubble", &anna, true);
	play("serving", &anna, false);
}

static int make_home(void **state)
{
	(void)state;
	return mkdtemp(home) ? 0 : 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_robot_plays_all_lessons_right_at_80x24),
		cmocka_unit_test(test_a_robot_plays_all_lessons_right_at_120x36),
		cmocka_unit_test(test_a_robot_plays_all_lessons_wrong_at_80x24),
		cmocka_unit_test(test_a_robot_plays_all_lessons_wrong_at_120x36),
		cmocka_unit_test(test_a_robot_plays_on_poor_terminals),
		cmocka_unit_test(test_a_robot_plays_a_students_numbers),
	};
	return cmocka_run_group_tests(tests, make_home, NULL);
}
