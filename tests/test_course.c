/* test_course.c - lessons as they are gone through: a robot plays every lesson by keys
 * on a terminal, right and wrong; the lock; leaving and coming back; line by line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/answers.h"
#include "presets/lesson_file.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tests/support/vt.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear.h"

static char home[] = "/tmp/shardscope-course-XXXXXX";
static struct lesson lesson;
static struct lesson_scene scene;

/* --- the robot --------------------------------------------------------------- */

struct robot {
	struct vt *vt;
	bool right; /* else it errs wherever it can */
	const char *seed;
	struct scenario drawn;
	int step;
};

/* How a lesson is opened; zero for what is left out. */
struct opening {
	int columns, rows;
	const char *term, *locale, *seed;
};

static struct vt *open_lesson(const char *name, const struct opening *opening)
{
	const char *const argv[] = { run_program(), "learn",
				     name,          opening->seed ? "--seed" : NULL,
				     opening->seed, NULL };
	static char config[96], state[96];

	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = opening->columns,
					    .rows = opening->rows,
					    .term = opening->term,
					    .locale = opening->locale,
					    .env = { config, state } };
	return vt_start(&options, argv);
}

static const struct opening small = { .columns = 80, .rows = 24 };

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
	vt_expect(robot->vt, "Once more");
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
	if (step->reason.right > 0 || step->runs > 0) {
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
	robot.vt = open_lesson(name, opening);
	for (; robot.step < lesson.steps; robot.step++)
		play_step(&robot, &lesson.step[robot.step]);
	robot.step--;
	expect_phase(&robot, "done");
	vt_expect(robot.vt, "points.");
	vt_type(robot.vt, "q");
	vt_expect(robot.vt, "L goes on with it");
	vt_type(robot.vt, "q");
	vt_expect_exit(robot.vt, 0);
	vt_close(robot.vt);
	grade_kept(name, robot.seed, &grade);
	if (right && grade.points != grade.most)
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

/* --- the lock ---------------------------------------------------------------- */

/* On the built-in start, at the question of the lesson on the bubble. */
static void open_question(struct stage *stage)
{
	struct error error = { "" };

	stage_open(stage, NULL, 120, 36);
	if (!course_open(&stage->explorer, "bubble", NULL, &error))
		fail_msg("%s", error.text);
	stage_type(stage, "nn");
	stage_shows(stage, "step 2 of 3, predict");
}

static void test_what_gives_it_away_is_hidden(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_act(&stage, (struct action){ .kind = ACTION_VIEW, .argument = 0 });
	stage_shows(&stage, "MEMORY");
	stage_lacks(&stage, "tok/s/GPU at each value");
	stage_lacks(&stage, "i precision");
	stage_type(&stage, "i"); /* what the knob means, and not what it would give */
	stage_shows(&stage, "why turn it");
	stage_lacks(&stage, ", now ");
	stage_act(&stage, (struct action){ .kind = ACTION_ESCAPE });
	stage_type(&stage, "20\n\n");
	stage_shows(&stage, "turn it");
	stage_shows(&stage, "tok/s/GPU at each value");
	stage_close(&stage);
}

static void test_nothing_turns_before_the_answer(void **state)
{
	static const struct {
		const char *keys, *said;
	} tricks[] = {
		{ "=16\n", "first your prediction" },
		{ "/tp\n=4\n", "first your prediction" },
		{ "u", "not before it is revealed" },
		{ "U", "not before it is revealed" },
		{ "p", "not before it is revealed" },
		{ "s", "not before it is revealed" },
		{ "o", "not before it is revealed" },
		{ "e", "not before it is revealed" },
		{ "]]]]]", "not before it is revealed" }, /* to Search */
	};
	struct stage stage;

	(void)state;
	for (size_t i = 0; i < sizeof tricks / sizeof tricks[0]; i++) {
		struct scenario before;

		open_question(&stage);
		before = stage.explorer.scenario;
		stage_type(&stage, tricks[i].keys);
		stage_shows(&stage, tricks[i].said);
		assert_memory_equal(&before, &stage.explorer.scenario, sizeof before);
		assert_int_not_equal(stage.explorer.view, VIEW_SEARCH);
		stage_close(&stage);
	}
	open_question(&stage);
	stage_key(&stage, KEYS_RIGHT);
	stage_shows(&stage, "first your prediction");
	stage_close(&stage);
}

static void test_only_what_the_step_names_turns(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_type(&stage, "20\n\n/tp\n=4\n");
	stage_shows(&stage, "this step turns gbs alone");
	stage_type(&stage, "/gbs\n=64\n"); /* the wrong way */
	stage_shows(&stage, "turn it");
	stage_type(&stage, "=16\n");
	stage_shows(&stage, "what it is");
	stage_shows(&stage, "vs before");
	/* afterwards everything does */
	stage_type(&stage, "/tp\n=4\n");
	assert_int_equal(stage.explorer.scenario.plan.tp, 4);
	stage_close(&stage);
}

static void test_leaving_gives_back_what_was_open(void **state)
{
	struct stage stage;
	struct scenario before;
	struct error error = { "" };

	(void)state;
	stage_open(&stage, NULL, 120, 36);
	stage_type(&stage, "/gbs\n=128\np");
	before = stage.explorer.scenario;
	assert_true(course_open(&stage.explorer, "bubble", NULL, &error));
	stage_type(&stage, "nn20\n\n=16\nq");
	assert_null(stage.explorer.course);
	assert_memory_equal(&before, &stage.explorer.scenario, sizeof before);
	assert_true(stage.explorer.pinned);
	stage_shows(&stage, "vs pinned");
	stage_type(&stage, "u");
	stage_shows(&stage, "undone: gbs to 128");
	assert_int_equal(stage.explorer.scenario.plan.global_batch, 256);
	stage_close(&stage);
}

static void test_show_me_and_back(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_type(&stage, "x");
	stage_shows(&stage, "what it is");
	stage_shows(&stage, "It is 43.");
	stage_type(&stage, "b");
	stage_shows(&stage, "step 2 of 3, look");
	assert_int_equal(stage.explorer.scenario.plan.global_batch, 32);
	stage_type(&stage, "n"); /* it was answered: reference */
	stage_shows(&stage, "what it is");
	assert_int_equal(stage.explorer.scenario.plan.global_batch, 16);
	stage_type(&stage, "bb");
	stage_shows(&stage, "step 1 of 3, look");
	stage_close(&stage);
}

static void test_answers_are_read_or_refused(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_type(&stage, "-\n");
	stage_shows(&stage, "a number is asked for (percent)");
	stage_key(&stage, KEYS_BACKSPACE);
	stage_type(&stage, "43,7\n"); /* a decimal comma */
	stage_shows(&stage, "You said 43.7 %.");
	stage_type(&stage, "=16\n");
	stage_shows(&stage, "Right, within 5 points");
	stage_type(&stage, "n9\n");
	stage_shows(&stage, "a number from 1 to 3 is asked for");
	stage_close(&stage);
}

static int rows_of(const struct course_block *block, int count)
{
	struct canvas none = { 0 };
	int rows = 0;

	for (int i = 0; i < count; i++)
		rows += widget_prose(&none, (struct rect){ 0, 0, 78, 0 }, 0,
				     block[i].role, block[i].text);
	return rows;
}

/* At 80x24 there are ten rows, and an answer takes one of them. */
static void expect_no_scrolling(struct stage *stage, struct course_block *block)
{
	static const enum course_phase phases[] = { COURSE_LOOK, COURSE_ASK,
						    COURSE_TURN, COURSE_REVEAL,
						    COURSE_WHY,  COURSE_BECAUSE,
						    COURSE_END };
	struct course *c = stage->explorer.course;

	for (int i = 0; i < c->lesson.steps; i++)
		for (size_t p = 0; p < sizeof phases / sizeof phases[0]; p++) {
			int rows, most = phases[p] == COURSE_ASK ||
							 phases[p] == COURSE_WHY
						 ? 9
						 : 10;

			course_go_to(&stage->explorer, i, phases[p]);
			rows = rows_of(block, course_blocks(&stage->explorer, block));
			if (rows > most)
				fail_msg("%s: step %d, phase %d takes %d rows",
					 c->lesson.name, i + 1, phases[p], rows);
		}
}

static void test_every_page_fits_80x24(void **state)
{
	static char names[MOST_LESSONS][MAX_NAME];
	struct course_block *block = calloc(MOST_BLOCKS, sizeof *block);
	int count = lesson_names(names, MOST_LESSONS);
	struct stage stage;
	struct error error = { "" };

	(void)state;
	assert_non_null(block);
	stage_open(&stage, NULL, 80, 24);
	for (int i = 0; i < count; i++) {
		assert_true(course_open(&stage.explorer, names[i], NULL, &error));
		expect_no_scrolling(&stage, block);
	}
	stage_close(&stage);
	free(block);
}

/* --- kept -------------------------------------------------------------------- */

static void test_progress_goes_on_where_it_was(void **state)
{
	struct vt *vt = open_lesson("bubble", &small);
	char path[256];

	(void)state;
	snprintf(path, sizeof path, "%s/state/shardscope/lessons/bubble.yaml", home);
	vt_expect(vt, "step 1 of 3, look");
	vt_type(vt, "\r");
	vt_expect(vt, "step 2 of 3, look");
	vt_expect_asleep(vt);
	kill(vt->pid, SIGKILL);
	vt_close(vt);
	vt = open_lesson("bubble", &small);
	vt_expect(vt, "step 2 of 3, look");
	vt_type(vt, "q");
	vt_expect(vt, "L goes on with it");
	vt_type(vt, "L");
	vt_expect(vt, "The pipeline bubble: step 2 of 3");
	vt_type(vt, "qq");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	unlink(path);
}

/* It is said, moved aside, and in nobody's way. */
static void test_damaged_progress_is_moved_aside(void **state)
{
	char path[256], aside[280];
	struct vt *vt;
	FILE *file;

	(void)state;
	snprintf(path, sizeof path, "%s/state/shardscope/lessons/bubble.yaml", home);
	snprintf(aside, sizeof aside, "%s.damaged", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("format: 1\nlesson: bubble\nanswers: {\n", file);
	fclose(file);
	vt = open_lesson("bubble", &small);
	vt_expect(vt, "damaged progress moved to bubble.yaml.damaged");
	vt_expect(vt, "step 1 of 3, look");
	vt_type(vt, "qq");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	assert_int_equal(access(aside, F_OK), 0);
	unlink(aside);
	unlink(path);
}

static void test_the_first_start_offers_lessons(void **state)
{
	const char *const argv[] = { run_program(), NULL };
	char state_home[96];

	(void)state;
	snprintf(state_home, sizeof state_home, "XDG_STATE_HOME=%s/fresh", home);
	const struct vt_options options = { .env = { state_home } };
	struct vt *vt = vt_start(&options, argv);
	vt_expect(vt, "First time here? Enter opens the lessons");
	vt_type(vt, "\r");
	vt_expect(vt, "Enter open");
	vt_type(vt, "\r");
	vt_expect(vt, "step 1 of ");
	vt_type(vt, "qq");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = vt_start(&options, argv);
	vt_expect(vt, "q quit");
	assert_false(vt_find(vt, "First time here?", NULL));
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

/* --- line by line ------------------------------------------------------------ */

/* What is said to these lines in a lesson; to be freed. */
static char *talk(const char *name, const char *lines)
{
	struct stage stage;
	struct linear linear = { .explorer = &stage.explorer, .glyphs = GLYPHS_ASCII };
	struct error error = { "" };
	char *said = NULL;
	size_t size;

	stage_open(&stage, NULL, 80, 24);
	assert_true(course_open(&stage.explorer, name, NULL, &error));
	linear.in = fmemopen((void *)(size_t)lines, strlen(lines), "r");
	linear.out = open_memstream(&said, &size);
	assert_non_null(linear.in);
	assert_non_null(linear.out);
	assert_int_equal(linear_run(&linear), 0);
	fclose(linear.in);
	fclose(linear.out);
	stage_close(&stage);
	return said;
}

static void test_lines_are_locked_too(void **state)
{
	char *said =
		talk("bubble", "\n\ngbs 16\ngbs\nsearch\nadvice\nundo\nopen gpt2-xl\n");

	(void)state;
	assert_non_null(strstr(said, "first your prediction"));
	assert_non_null(strstr(said, "not before it is revealed"));
	assert_null(strstr(said, "tok/s per GPU\n"));
	assert_null(strstr(said, "what it is"));
	free(said);
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
		cmocka_unit_test(test_what_gives_it_away_is_hidden),
		cmocka_unit_test(test_nothing_turns_before_the_answer),
		cmocka_unit_test(test_only_what_the_step_names_turns),
		cmocka_unit_test(test_leaving_gives_back_what_was_open),
		cmocka_unit_test(test_show_me_and_back),
		cmocka_unit_test(test_answers_are_read_or_refused),
		cmocka_unit_test(test_every_page_fits_80x24),
		cmocka_unit_test(test_progress_goes_on_where_it_was),
		cmocka_unit_test(test_damaged_progress_is_moved_aside),
		cmocka_unit_test(test_the_first_start_offers_lessons),
		cmocka_unit_test(test_lines_are_locked_too),
	};
	return cmocka_run_group_tests(tests, make_home, NULL);
}
