/* test_course.c - lessons as they are gone through: the lock, words, a goal held
 * against the proven best, leaving and coming back, line by line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/lesson_file.h"
#include "tests/support/close.h"
#include "tests/support/lesson.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tests/support/vt.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear.h"

static char home[] = "/tmp/shardscope-course-XXXXXX";
static const struct opening small = { .columns = 80, .rows = 24 };

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
	stage_shows(&stage, "why change it");
	stage_lacks(&stage, ", now ");
	stage_act(&stage, (struct action){ .kind = ACTION_ESCAPE });
	stage_type(&stage, "20\n\n");
	stage_shows(&stage, "turn it");
	stage_shows(&stage, "tok/s/GPU at each value");
	stage_close(&stage);
}

/* A turn may lead through other values. */
static void test_a_turn_says_how_far_it_is(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_type(&stage, "20\n\n");
	stage_lacks(&stage, "(now ");
	stage_type(&stage, "=24\n");
	stage_shows(&stage, "from 32 to 16 (now 24)");
	stage_type(&stage, "=16\n");
	stage_shows(&stage, "what it is");
	stage_close(&stage);
}

static void test_nothing_turns_before_the_answer(void **state)
{
	static const struct {
		const char *keys, *said;
	} tricks[] = {
		{ "=16\n", "first give your prediction" },
		{ "/tp\n=4\n", "first give your prediction" },
		{ "u", "not before the answer is revealed" },
		{ "U", "not before the answer is revealed" },
		{ "p", "not before the answer is revealed" },
		{ "s", "not before the answer is revealed" },
		{ "o", "not before the answer is revealed" },
		{ "e", "not before the answer is revealed" },
		{ "]]]]]", "not before the answer is revealed" }, /* to Search */
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
	stage_shows(&stage, "first give your prediction");
	stage_close(&stage);
}

static void test_only_what_the_step_names_turns(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_type(&stage, "20\n\n/tp\n=4\n");
	stage_shows(&stage, "this step changes only gbs");
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
	stage_shows(&stage, "undone: global batch 256 again, was 128");
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
	stage_shows(&stage, "please type a number (percent)");
	stage_key(&stage, KEYS_BACKSPACE);
	stage_type(&stage, "43,7\n"); /* a decimal comma */
	stage_shows(&stage, "You said 43.7 %.");
	stage_type(&stage, "=16\n");
	stage_shows(&stage, "Right, within 5 points");
	stage_type(&stage, "n9\n");
	stage_shows(&stage, "please type a number from 1 to 3");
	stage_close(&stage);
}

static int rows_of(const struct course_block *block, int count)
{
	struct canvas none = { 0 };
	int rows = 0;

	for (int i = 0; i < count; i++)
		rows += widget_linked(&none, (struct rect){ 0, 0, 78, 0 }, 0,
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

/* --- words ------------------------------------------------------------------- */

/* A word of the text has its page, a key away, and the lesson stays where it is. */
static void test_words_of_a_text_are_looked_up(void **state)
{
	struct stage stage;

	(void)state;
	open_question(&stage);
	stage_lacks(&stage, "[global batch]");
	stage_type(&stage, "W");
	stage_shows(&stage, "All sequences that one training step learns from");
	stage_shows(&stage, "word 1 of 2, W for the next");
	stage_type(&stage, "W");
	stage_shows(&stage, "word 2 of 2");
	stage_type(&stage, "W"); /* round */
	stage_shows(&stage, "word 1 of 2");
	stage_act(&stage, (struct action){ .kind = ACTION_ESCAPE });
	stage_shows(&stage, "step 2 of 3, predict");
	stage_lacks(&stage, "All sequences that one training step");
	stage_type(&stage, "20\n");
	stage_shows(&stage, "Try again");
	stage_close(&stage);
}

/* Every lesson links words in its first text, and each of them has a page. */
static void test_every_lesson_links_words(void **state)
{
	static char names[MOST_LESSONS][MAX_NAME];
	const struct glossary_word *words[GLOSSARY_MAX_LINKS];
	int count = lesson_names(names, MOST_LESSONS);
	struct stage stage;
	struct error error = { "" };

	(void)state;
	stage_open(&stage, NULL, 80, 24);
	for (int i = 0; i < count; i++) {
		assert_true(course_open(&stage.explorer, names[i], NULL, &error));
		course_go_to(&stage.explorer, 0, COURSE_LOOK);
		if (course_words(&stage.explorer, words) == 0)
			fail_msg("%s links no word", names[i]);
		for (int w = 0; w < course_words(&stage.explorer, words); w++) {
			stage_type(&stage, "W");
			stage_shows(&stage, words[w]->key);
			stage_shows(&stage, "what it means");
		}
	}
	stage_close(&stage);
}

/* --- beside ------------------------------------------------------------------ */

/* From 160 columns on the lesson stands at the right, whole, and the views keep their
 * height. */
static void test_a_wide_screen_has_the_lesson_beside(void **state)
{
	struct stage wide, narrow;
	struct error error = { "" };

	(void)state;
	stage_open(&wide, NULL, 160, 30);
	stage_open(&narrow, NULL, 159, 30);
	assert_true(course_open(&wide.explorer, "bubble", NULL, &error));
	assert_true(course_open(&narrow.explorer, "bubble", NULL, &error));
	stage_type(&wide, "nn");
	stage_type(&narrow, "nn");
	stage_shows(&wide, "step 2 of 3, predict");
	stage_shows(&narrow, "step 2 of 3, predict");
	assert_true(wide.explorer.drawn->view.height >
		    narrow.explorer.drawn->view.height);
	assert_true(wide.explorer.drawn->view.width <
		    narrow.explorer.drawn->view.width);
	/* all of the question, the answer below it, and what the knob is */
	stage_shows(&wide, "bubble then?");
	stage_shows(&wide, "Your answer:");
	stage_shows(&wide, "Sequences per optimizer step");
	stage_type(&wide, "W");
	stage_shows(&wide, "word 1 of 2");
	stage_act(&wide, (struct action){ .kind = ACTION_ESCAPE });
	stage_type(&wide, "20\n\n=16\n");
	stage_shows(&wide, "what it is");
	stage_close(&wide);
	stage_close(&narrow);
}

/* --- the proven best --------------------------------------------------------- */

static void test_the_capstone_is_held_against_the_proven_best(void **state)
{
	struct stage stage;
	struct course *c;
	struct error error = { "" };
	double first;

	(void)state;
	stage_open(&stage, NULL, 120, 36);
	assert_true(course_open(&stage.explorer, "capstone", NULL, &error));
	c = stage.explorer.course;
	course_go_to(&stage.explorer, 2, COURSE_LOOK);
	stage_type(&stage, "/vpp\n=4\n"); /* no prediction is asked for here */
	stage_shows(&stage, "n goes on; until then nothing can be changed");
	stage_type(&stage, "n/zero\n=0\n");
	stage_shows(&stage, "zero is locked at");
	stage_type(&stage, "/schedule\n=interleaved\n/vpp\n=4\n");
	stage_shows(&stage, "the proven best takes");
	first = c->best.kept;
	assert_true(first > 0.5 && first < 1);
	/* what is no value of the contest is refused, worse ones take nothing away */
	stage_type(&stage, "/vpp\n=63\n");
	stage_shows(&stage, "vpp can't be 63");
	stage_type(&stage, "=2\n");
	assert_true(c->best.score < first);
	assert_true(c->best.kept == first);
	/* the best of all, as it was found, earns the whole point */
	for (int i = 0; i < c->best.problem.axes; i++) {
		const struct planner_axis *axis = &c->best.problem.axis[i];
		char keys[160], value[64];

		knob_print_value(axis->knob, axis->value[c->best.found.choice[i]],
				 value, sizeof value);
		snprintf(keys, sizeof keys, "/%s\n=%s\n", axis->knob->key, value);
		stage_type(&stage, keys);
	}
	assert_true(c->best.kept == 1);
	stage_shows(&stage, "score 100.0 %");
	stage_type(&stage, "n");
	stage_shows(&stage, "The proven best of all these plans: tp ");
	stage_type(&stage, "n");
	assert_true(c->grade.step[2] == 1);
	stage_close(&stage);
}

/* --- kept -------------------------------------------------------------------- */

static void test_progress_goes_on_where_it_was(void **state)
{
	struct vt *vt = lesson_open(home, "bubble", &small);
	char path[256];

	(void)state;
	snprintf(path, sizeof path, "%s/state/shardscope/lessons/bubble.yaml", home);
	vt_expect(vt, "step 1 of 3, look");
	vt_type(vt, "\r");
	vt_expect(vt, "step 2 of 3, look");
	vt_expect_asleep(vt);
	kill(vt->pid, SIGKILL);
	vt_close(vt);
	vt = lesson_open(home, "bubble", &small);
	vt_expect(vt, "step 2 of 3, look");
	vt_type(vt, "q");
	vt_expect(vt, "L continues it");
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
	vt = lesson_open(home, "bubble", &small);
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
	vt_expect(vt, "Enter lessons ");
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

static void test_lines_tell_words_without_brackets(void **state)
{
	char *said = talk("bubble", "words\n\n");

	(void)state;
	assert_non_null(strstr(said, "micro-batch: "));
	assert_non_null(strstr(said, "into stages, each on its own GPUs"));
	assert_null(strstr(said, "[micro-batch"));
	free(said);
}

static void test_lines_are_locked_too(void **state)
{
	char *said =
		talk("bubble", "\n\ngbs 16\ngbs\nsearch\nadvice\nundo\nopen gpt2-xl\n");

	(void)state;
	assert_non_null(strstr(said, "first give your prediction"));
	assert_non_null(strstr(said, "not before the answer is revealed"));
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
		cmocka_unit_test(test_what_gives_it_away_is_hidden),
		cmocka_unit_test(test_a_turn_says_how_far_it_is),
		cmocka_unit_test(test_nothing_turns_before_the_answer),
		cmocka_unit_test(test_only_what_the_step_names_turns),
		cmocka_unit_test(test_leaving_gives_back_what_was_open),
		cmocka_unit_test(test_show_me_and_back),
		cmocka_unit_test(test_answers_are_read_or_refused),
		cmocka_unit_test(test_every_page_fits_80x24),
		cmocka_unit_test(test_progress_goes_on_where_it_was),
		cmocka_unit_test(test_damaged_progress_is_moved_aside),
		cmocka_unit_test(test_the_first_start_offers_lessons),
		cmocka_unit_test(test_words_of_a_text_are_looked_up),
		cmocka_unit_test(test_every_lesson_links_words),
		cmocka_unit_test(test_a_wide_screen_has_the_lesson_beside),
		cmocka_unit_test(test_the_capstone_is_held_against_the_proven_best),
		cmocka_unit_test(test_lines_tell_words_without_brackets),
		cmocka_unit_test(test_lines_are_locked_too),
	};
	return cmocka_run_group_tests(tests, make_home, NULL);
}
