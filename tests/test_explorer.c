/* test_explorer.c - what keys do: turning, typing, undo, pinning, opening, finding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "tests/support/close.h"
#include "tests/support/lean.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tui/view.h"

static void test_a_key_turns_a_knob_and_every_number_follows(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	double step = s.explorer.estimate.step_seconds;
	stage_type(&s, "h");
	assert_int_equal(s.explorer.scenario.plan.tp, 4);
	assert_true(s.explorer.estimate.step_seconds != step);
	stage_shows(&s, "vs before");
	stage_shows(&s, "DOES NOT FIT");
	stage_type(&s, "l");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	assert_true(s.explorer.estimate.step_seconds == step);
	stage_close(&s);
}

static void test_values_are_typed(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/seq\n=16k\n");
	assert_int_equal(s.explorer.scenario.plan.seq_len, 16384);
	stage_type(&s, "=1e30\n");
	assert_int_equal(s.explorer.scenario.plan.seq_len, 16384);
	assert_true(explorer_is_typing(&s.explorer));
	stage_type(&s, "\33");
	assert_false(explorer_is_typing(&s.explorer));
	stage_type(&s, "/tp\n=\x1b");
	stage_type(&s, "=64\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 64);
	stage_close(&s);
}

static void test_undo_and_redo_go_all_the_way(void **state)
{
	struct stage s;
	struct scenario start;

	(void)state;
	stage_open(&s, NULL, 100, 30);
	start = s.explorer.scenario;
	for (int i = 0; i < 500; i++)
		stage_type(&s, i % 7 == 3 ? "jh" : i % 5 == 0 ? "kl" : "l");
	struct scenario end = s.explorer.scenario;
	for (int i = 0; i < 1000; i++)
		stage_type(&s, "u");
	assert_memory_equal(&s.explorer.scenario, &start, sizeof start);
	stage_shows(&s, "nothing to undo");
	for (int i = 0; i < 1000; i++)
		stage_type(&s, "U");
	assert_memory_equal(&s.explorer.scenario, &end, sizeof end);
	stage_shows(&s, "nothing to redo");
	stage_close(&s);
}

static void test_reset_goes_back_to_what_was_opened(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 100, 30);
	stage_type(&s, "hhr");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	stage_type(&s, "r");
	stage_shows(&s, "as it was opened");
	stage_close(&s);
}

static void test_a_pinned_baseline_stays(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "p/mbs\nh");
	assert_int_equal(s.explorer.scenario.plan.micro_batch, 1);
	stage_shows(&s, "vs pinned");
	stage_shows(&s, "%v of"); /* memory falls */
	stage_type(&s, "/pp\nl");
	assert_int_equal(s.explorer.baseline.plan.micro_batch, 2);
	stage_type(&s, "p");
	stage_lacks(&s, "vs pinned");
	stage_close(&s);
}

/* A step of fewer tokens is shorter, which makes no plan better. */
static void test_no_praise_for_a_slower_plan(void **state)
{
	static const int size[4][2] = {
		{ 80, 24 }, { 100, 30 }, { 120, 36 }, { 200, 60 }
	};
	struct stage s;
	char text[64];
	enum role role;

	(void)state;
	for (int i = 0; i < 4; i++) {
		stage_open(&s, NULL, size[i][0], size[i][1]);
		stage_type(&s, "/gbs\n=16\n");
		change_text(&s.explorer, "step_seconds", text, sizeof text, &role);
		assert_true(text[0] == '-' && role == ROLE_LABEL);
		change_text(&s.explorer, "tp.bytes", text, sizeof text, &role);
		assert_true(text[0] == '-' && role == ROLE_LABEL);
		change_text(&s.explorer, "tokens_per_second", text, sizeof text, &role);
		assert_true(text[0] == '-' && role == ROLE_DELTA_WORSE);
		/* and the verdict stands on the screen, with that of MFU */
		stage_shows(&s, "-40");
		stage_shows(&s, "23.6 % -1");
		/* of the same tokens a step, its time is as good a verdict */
		stage_type(&s, "/tp\nh");
		change_text(&s.explorer, "step_seconds", text, sizeof text, &role);
		assert_true(role == ROLE_DELTA_BETTER || role == ROLE_DELTA_WORSE);
		stage_close(&s);
	}
}

/* The value in effect and the best one have signs. */
static void test_the_strip_needs_no_colour(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_shows(&s, ">8 ");
	stage_shows(&s, "*868");
	stage_type(&s, "l");
	stage_shows(&s, ">16 ");
	stage_shows(&s, "*868");
	stage_close(&s);
}

/* Twelve digits of fifteen are another number. */
static void test_a_strip_cuts_no_number(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/tokens\n=2T\n");
	stage_shows(&s, ">2 T");
	stage_shows(&s, " 5 T");
	stage_lacks(&s, "200000000000");
	stage_close(&s);
}

/* What a turn does to memory, time and throughput is seen in every view. */
static void test_the_headline_never_leaves(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	for (int view = VIEW_MEMORY; view < VIEW_COUNT; view++) {
		explorer_show(&s.explorer, (enum view_id)view);
		stage_shows(&s, "71.5 GiB  37.7 s  bubble 7.3 %");
		stage_shows(&s, "868 tok/s/GPU  exposed 7.07 s  $96.6 k");
	}
	/* no number and no change gives way */
	stage_type(&s, "5l");
	for (int view = VIEW_MEMORY; view < VIEW_COUNT; view++) {
		explorer_show(&s.explorer, (enum view_id)view);
		stage_shows(&s, "+ 43.6 GiB -39%v  47.6 s +26%^  bubble 4.6 % -2.7pt");
		stage_shows(&s, "688 tok/s -21%v exposed 16.1 s +128%^ $122 k +26%^");
	}
	explorer_show(&s.explorer, VIEW_GRAPH);
	stage_type(&s, "=3\n");
	stage_shows(&s, "can't run");
	stage_close(&s);
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "5");
	stage_shows(&s, "71.5 GiB        step 37.7 s         868 tok/s/GPU  ");
	stage_shows(&s, "bubble 7.3 %           exposed 7.07 s  ");
	/* what a change leaves no room for stands behind the tabs */
	stage_type(&s, "l");
	for (int view = VIEW_MEMORY; view < VIEW_COUNT; view++) {
		explorer_show(&s.explorer, (enum view_id)view);
		stage_shows(&s, "43.6 GiB -39%v ");
		stage_shows(&s, " step 47.6 s +26%^ ");
		stage_shows(&s, " 688 tok/s/GPU -21%v ");
		stage_shows(&s, "$122 k +26%^");
		stage_shows(&s, "bubble 4.6 % -2.7ptv");
		stage_shows(&s, "exposed 16.1 s +128%^");
	}
	stage_close(&s);
	stage_open(&s, NULL, 160, 45);
	stage_type(&s, "5l");
	stage_shows(&s, "exposed 16.1 s +128%^");
	stage_shows(&s, "$122 k +26%^");
	stage_close(&s);
	/* dollars of a server are per million tokens */
	stage_open(&s, "llama3.1-70b-4-h100-serve", 80, 24);
	stage_type(&s, "2");
	stage_shows(&s, "/M");
	stage_close(&s);
}

/* Every sentence of a knob is there to its end, however narrow the usual screen. */
static void test_no_sentence_loses_its_point(void **state)
{
	static const int size[2][2] = { { 80, 24 }, { 120, 36 } };
	struct stage s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		stage_open(&s, NULL, size[i][0], size[i][1]);
		for (int k = 0; k < knob_count(); k++) {
			const char *help = knob_table[k].help;
			size_t length = strlen(help), last = length < 8 ? length : 8;

			knobs_focus(&s.explorer, &knob_table[k]);
			if (strrchr(help, ' '))
				last = strlen(strrchr(help, ' ') + 1);
			stage_shows(&s, help + length - last);
			stage_lacks(&s, "~ ");
			stage_lacks(&s, " -\n"); /* of the rule below */
		}
		stage_close(&s);
	}
}

/* q closes a list like any other layer, where nothing in it has that letter. */
static void test_q_closes_a_list(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "\nq");
	assert_int_equal(s.explorer.mode, MODE_NORMAL);
	assert_false(s.quit);
	stage_type(&s, "eq");
	assert_int_equal(s.explorer.mode, MODE_NORMAL);
	assert_false(s.quit);
	stage_type(&s, "oqwen");
	assert_int_equal(s.explorer.mode, MODE_PICKER);
	stage_shows(&s, "qwen3");
	stage_close(&s);
}

static void test_an_illegal_plan_says_why_and_mends_itself(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "=6\n");
	stage_shows(&s, "THIS PLAN CAN'T RUN");
	stage_shows(&s, "E4");
	stage_shows(&s, "TP 6 does not divide 64 heads");
	stage_shows(&s, "Enter sets TP tensor 8: 868 tok/s per GPU, ");
	for (int view = 0; view < VIEW_COUNT; view++) {
		s.explorer.view = (enum view_id)view;
		char *text = stage_text(&s);
		free(text);
	}
	s.explorer.view = VIEW_OVERVIEW;
	stage_type(&s, "\t");
	stage_key(&s, KEYS_HOME);
	stage_type(&s, "\n");
	assert_true(s.explorer.estimate.legal);
	stage_close(&s);
}

/* What is being left stays in sight below the reasons, with a strip that is of now; it
 * can't be pointed at. Another view is drawn of the same plan. */
static void test_the_last_plan_that_ran_stays_below(void **state)
{
	struct stage s;
	char *before, *after;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "2");
	before = stage_text(&s);
	stage_lacks(&s, "the last plan that ran");
	stage_type(&s, "=6\n");
	stage_shows(&s, "TP 6 does not divide 64 heads");
	stage_shows(&s, "the last plan that ran");
	stage_shows(&s, "40.4 GiB");
	stage_shows(&s, ">6        8");
	stage_act(&s, (struct action){ .kind = ACTION_CLICK, .x = 60, .y = 18 });
	assert_true(s.explorer.view == VIEW_MEMORY && !s.explorer.estimate.legal);
	stage_type(&s, "4");
	stage_shows(&s, "the last plan that ran");
	stage_shows(&s, "embedding gradient  all-gather");
	stage_act(&s, (struct action){ .kind = ACTION_CLICK, .x = 60, .y = 18 });
	assert_true(s.explorer.view == VIEW_TRAFFIC && !s.explorer.estimate.legal);
	stage_type(&s, "3");
	stage_shows(&s, "stage 0  forward of micro-batch 0");
	stage_type(&s, "2u");
	after = stage_text(&s);
	assert_memory_equal(strchr(before, '\n'), strchr(after, '\n'), 200);
	stage_lacks(&s, "the last plan that ran");
	free(before);
	free(after);
	stage_close(&s);
}

/* A pipeline of one stage leaves the knobs of pipelines where they are, dimmed: nothing
 * jumps under the eye. One that never had more has them too; another model begins
 * anew. */
static void test_rows_of_knobs_keep_their_place(void **state)
{
	struct knob_row rows[MAX_ROWS];
	struct stage s;
	int count;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	count = knob_rows(&s.explorer, rows);
	stage_shows(&s, "schedule                 1f1b");
	stage_type(&s, "/pp\n=1\n");
	stage_shows(&s, "schedule                    -");
	assert_int_equal(knob_rows(&s.explorer, rows), count);
	stage_type(&s, "/mode\nl");
	stage_lacks(&s, "layer split");
	stage_close(&s);
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	stage_shows(&s, "layer split                 -");
	stage_close(&s);
}

/* Row of a text on the screen, -1 if it is not there. */
static int row_of(struct stage *s, const char *text)
{
	char *screen = stage_text(s);
	const char *at = strstr(screen, text);
	int row = at ? 0 : -1;

	for (const char *c = screen; at && c < at; c++)
		row += *c == '\n';
	free(screen);
	return row;
}

/* What other values give stands in one place, however many stages, rows of a table or
 * nodes there are above it. */
static void test_the_strip_keeps_its_place(void **state)
{
	static const char *const views[] = { "2", "3", "4" };
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/pp\n=2\n");
	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
		int row;

		stage_type(&s, views[i]);
		row = row_of(&s, "tok/s/GPU at each value");
		assert_in_range(row, 20, 32);
		stage_type(&s, "l");
		assert_int_equal(row_of(&s, "tok/s/GPU at each value"), row);
		stage_type(&s, "l");
		assert_int_equal(row_of(&s, "tok/s/GPU at each value"), row);
		stage_type(&s, "hh");
	}
	/* however few stages there are */
	stage_type(&s, "3");
	for (int pp = 1, row = row_of(&s, "stage 0  forward"); pp <= 8; pp *= 2) {
		stage_type(&s, (const char *const[]){ "h", "l" }[pp > 1]);
		assert_int_equal(s.explorer.scenario.plan.pp, pp);
		assert_int_equal(row_of(&s, "stage 0  forward"), row);
	}
	stage_close(&s);
}

static int column_of(struct stage *s, const char *text)
{
	char *screen = stage_text(s), *at = strstr(screen, text), *line = at;
	int column = -1;

	if (at) {
		while (line > screen && line[-1] != '\n')
			line--;
		column = (int)(at - line);
	}
	free(screen);
	return column;
}

/* A number of the headline stands where it stood, whatever another one becomes. */
static void test_the_headline_keeps_its_place(void **state)
{
	static const char *const parts[] = { " GiB ", "step ", " tok/s/GPU", "bubble ",
					     "exposed " };
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		int column;

		stage_type(&s, "4/mbs\n=2\n");
		column = column_of(&s, parts[i]);
		assert_in_range(column, 40, 119);
		stage_type(&s, "hhl");
		assert_int_equal(column_of(&s, parts[i]), column);
	}
	stage_close(&s);
}

/* PP 2 is as near to 3 as 4 is and does not fit: what fits is offered first, and Enter
 * in the view, not at the knobs, sets it. */
static void test_a_mend_that_fits_comes_first(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 140, 36);
	stage_type(&s, "/pp\n=3\n");
	stage_shows(&s, "Tab Enter sets PP pipeline 4: 868 tok/s per GPU, 71.5 GiB; 2: "
			"does not fit");
	stage_type(&s, "\t");
	stage_shows(&s, " Enter sets PP pipeline 4: ");
	stage_lacks(&s, "Tab Enter");
	stage_type(&s, "\n");
	assert_int_equal(s.explorer.scenario.plan.pp, 4);
	assert_true(s.explorer.estimate.feasible);
	stage_close(&s);
}

/* TP 2 and 4 are as near to 3 and do not fit: TP 8, further away, does. What makes the
 * plan legal mends every problem and is told once. */
static void test_a_mend_further_away_comes_before_those_that_do_not_fit(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/tp\n=3\n");
	stage_shows(&s, "Tab Enter sets TP tensor 8: 868 tok/s per GPU, 71.5 GiB\n");
	stage_shows(&s, "E5");
	stage_lacks(&s, "Enter here");
	stage_type(&s, "\t\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	assert_true(s.explorer.estimate.feasible);
	stage_close(&s);
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "/tp\n=3\n");
	stage_shows(&s, "Tab Enter sets TP tensor 8: 868 tok/s per\n");
	stage_shows(&s, " GPU, 71.5 GiB\n");
	stage_lacks(&s, "or 2");
	stage_close(&s);
}

/* GPUs that break another rule are no way out where TP 8 is one. */
static void test_a_mend_that_breaks_another_rule_gives_way(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "nemotron-4-340b-1536-h100", 120, 36);
	stage_type(&s, "=6\n");
	stage_shows(&s, "Tab Enter sets TP tensor 8: 183 tok/s per GPU");
	stage_lacks(&s, "gpus 1152");
	stage_type(&s, "\t\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	stage_close(&s);
}

/* What has no room is counted. */
static void test_reasons_without_room_are_counted(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "deepseek-v3-2048-h800", 60, 18);
	stage_type(&s, "2/tp\n=7\n/pp\n=7\n/ep\n=3\n/schedule\n=zb-v\n");
	stage_shows(&s, "E4");
	stage_shows(&s, "  and 2 more\n");
	stage_close(&s);
}

/* Tab leads to the first mend: only there it says so. */
static void test_each_mend_names_its_keys(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/tp\n=32\n");
	stage_shows(&s, "Tab Enter sets GPUs 128");
	stage_shows(&s, "Enter here sets TP tensor 16");
	stage_type(&s, "\t\n");
	assert_int_equal(s.explorer.scenario.cluster.gpus, 128);
	stage_close(&s);
}

static void test_presets_are_found_and_opened(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "omixtral 8x7\n");
	stage_shows(&s, "mixtral-8x7b");
	assert_int_equal(s.explorer.scenario.model.moe.experts, 8);
	stage_type(&s, "u");
	assert_string_equal(s.explorer.scenario.model.name, "llama3.1-70b");
	/* the first rows of the knob pane are pickers too */
	stage_key(&s, KEYS_HOME);
	stage_type(&s, "j\nb200\n");
	assert_string_equal(s.explorer.scenario.cluster.accelerator.name,
			    "b200-sxm-180g");
	assert_int_equal(s.explorer.scenario.cluster.gpus, 64);
	stage_type(&s, "oxyzzy\n");
	stage_shows(&s, "nothing matches");
	stage_type(&s, "\33");
	stage_type(&s, "o/nonexistent/file.yaml\n");
	stage_shows(&s, "can't be");
	stage_close(&s);
}

static void test_enter_lists_the_values_of_a_knob(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "\n");
	stage_shows(&s, "does not fit");
	stage_key(&s, KEYS_UP);
	stage_type(&s, "\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 4);
	stage_close(&s);
}

static void test_numbers_are_explained(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "\t\n");
	assert_int_equal(s.explorer.view, VIEW_EXPLAIN);
	stage_shows(&s, "W + G + O + A + B + F");
	stage_type(&s, "\33");
	assert_int_equal(s.explorer.view, VIEW_OVERVIEW);
	stage_close(&s);
}

/* A text that is longer than the screen scrolls to its very end and no further. */
static void test_long_texts_scroll(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	s.explorer.view = VIEW_EXPLAIN;
	stage_type(&s, "\t");
	stage_lacks(&s, "Calculon (SC'23), section 4");
	for (int i = 0; i < 50; i++)
		stage_type(&s, "j");
	stage_shows(&s, "Calculon (SC'23), section 4");
	stage_shows(&s, "source");
	stage_type(&s, "l");
	assert_int_equal(s.explorer.state[VIEW_EXPLAIN].first, 0);
	stage_close(&s);
	stage_open(&s, NULL, 60, 16);
	stage_type(&s, "?");
	stage_lacks(&s, "quit (the");
	stage_type(&s, "G");
	stage_shows(&s, "quit (the");
	int end = s.explorer.state[VIEW_HELP].first;
	stage_type(&s, "jjjj");
	assert_int_equal(s.explorer.state[VIEW_HELP].first, end);
	stage_type(&s, "g");
	stage_shows(&s, "The left pane");
	stage_close(&s);
}

/* What is cut in a narrow pane is told in full below it. */
static void test_the_rule_below_tells_more(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_shows(&s, "GPUs that split every matrix of a layer");
	stage_type(&s, "\tG");
	stage_shows(&s, "interleaved: VPP");
	stage_lacks(&s, "Ranks that share");
	stage_close(&s);
}

/* Two operators stand side by side at 80 columns, and the shape between them is whole:
 * one that is wider than the arrow is parted over and under it. */
static void test_the_graph_is_a_picture(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "mixtral-8x7b-64-h100", 80, 24);
	stage_type(&s, "5S");
	stage_shows(&s, "|input norm       |2048x4096|TP all-gather    |");
	stage_close(&s);
	stage_open(&s, "llama3-405b-16k-h100", 80, 24);
	stage_type(&s, "5S");
	stage_shows(&s, "|input norm       |  1024x  |TP all-gather    |");
	stage_shows(&s, "|computed again   |  16384  |");
	stage_close(&s);
}

/* A newcomer who goes to the top reads what stands there. */
static void test_rows_that_are_no_knobs_have_a_note(void **state)
{
	static const char *const notes[] = {
		"A group of knobs: ", "Training or serving",
		"The software that runs the job",
		"The machine: ", "The model that is trained or served"
	};
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
		stage_type(&s, "k");
		stage_shows(&s, notes[i]);
		stage_lacks(&s, "~ ");
	}
	stage_type(&s, "jjjjjjjjjjjjj");
	stage_shows(&s, "Data-parallel copies of the model");
	stage_close(&s);
}

/* Of a knob that moves no throughput the strip says in plain words what it moves. */
static void test_the_strip_names_what_the_knob_moves(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/tokens\n");
	stage_shows(&s, "time of the run at each value of training run");
	stage_type(&s, "/price\n");
	stage_shows(&s, "cost at each value of price");
	stage_close(&s);
}

/* Where no value moves anything the strip and the knob's page say why. */
static void test_a_still_knob_says_why(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/leaf switch\n");
	stage_shows(&s, "each value of leaf switch: all alike");
	stage_shows(&s, "Leaf switches cost nothing where their links upwards are as");
	stage_type(&s, "i");
	stage_shows(&s, "no number changes by 1 % or more. Leaf switches cost nothing");
	stage_close(&s);
}

/* Nobody has to tell two colours apart: groups have letters in colour too. */
static void test_groups_are_told_by_letters(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	s.canvas.colour = true;
	s.canvas.glyphs = GLYPHS_FULL;
	s.explorer.view = VIEW_TOPOLOGY;
	stage_shows(&s, "@ t t t ");
	stage_shows(&s, "d . .");
	stage_shows(&s, "p PP  4, 1 per node: IB NDR");
	stage_close(&s);
}

static void test_home_is_understood(void **state)
{
	char folder[] = "/tmp/shardscope-test-XXXXXX", path[96];
	struct stage s;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("HOME", folder, 1);
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "hw\x15~/plan.yaml\n");
	stage_shows(&s, "written");
	stage_type(&s, "uo~/plan.yaml\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 4);
	stage_close(&s);
	setenv("HOME", NO_HOME, 1);
	snprintf(path, sizeof path, "%s/plan.yaml", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Whatever the file was called, the session comes back. */
static void test_odd_file_names_lose_no_session(void **state)
{
	static const char *const names[] = {
		"/tmp/plan.yaml", "/tmp/a \"b\"\\.yaml", "/tmp/\xff.yaml",
		"/tmp/a\nb.yaml", "/tmp/\33[31m.yaml",   "/tmp/\u00e9 \u4f60"
	};
	char folder[] = "/tmp/shardscope-test-XXXXXX", path[96];

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_STATE_HOME", folder, 1);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct error error = { "" };
		struct stage s;

		stage_open(&s, NULL, 80, 24);
		assert_true(session_begin(&s.explorer, 0, false, &error));
		strcpy(s.explorer.file, names[i]);
		stage_type(&s, "h");
		if (!session_save(&s.explorer, &error))
			fail_msg("%s", error.text);
		stage_close(&s);
		stage_open(&s, NULL, 80, 24);
		assert_true(session_begin(&s.explorer, 0, true, &error));
		assert_int_equal(s.explorer.scenario.plan.tp, 4);
		if (strchr(names[i], '\xff'))
			assert_string_equal(s.explorer.file, "");
		else
			assert_string_equal(s.explorer.file, names[i]);
		stage_close(&s);
	}
	unsetenv("XDG_STATE_HOME");
	snprintf(path, sizeof path, "%s/shardscope/workspace.yaml", folder);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof path, "%s/shardscope/workspace.lock", folder);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof path, "%s/shardscope", folder);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* The model, the machine and the training are never cut for the stack's name. */
static void test_the_title_gives_up_the_least_first(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "mt-nlg-530b-2240-a100", 80, 24);
	stage_shows(&s, "a100-sxm-80g . train 2048 x 1920 . megatron-deepspeed\n");
	assert_true(canvas_resize(&s.canvas, 60, 16));
	stage_shows(&s, "train 2048 x 1920\n");
	assert_true(canvas_resize(&s.canvas, 120, 36));
	stage_shows(&s, "train 2048 x 1920 . megatron");
	stage_close(&s);
}

static void test_narrow_tables_keep_their_numbers_whole(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "4");
	stage_shows(&s, "exposed");
	stage_shows(&s, " ms");
	stage_close(&s);
}

/* In rows of numbers one that has no room is left out: "J/tok 0" would be read as 0. */
static void test_numbers_in_a_row_are_never_cut(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), rows = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct stage s;
		char *screen, *line, *rest;

		stage_open(&s, list[i].name, i % 2 ? 80 : 60, 24);
		/* changes against a pinned plan take their room, too */
		stage_type(&s, i % 3 ? "" : "p/mbs\nl");
		rest = screen = stage_text(&s);
		assert_non_null(screen);
		while ((line = strsep(&rest, "\n"))) {
			if (!strstr(line, "TRAFFIC") && !strstr(line, "| running ") &&
			    !strstr(line, "| out ") && !strstr(line, "TIME "))
				continue;
			rows++;
			if (strchr(line, '~'))
				fail_msg("%s: %s", list[i].name, line);
		}
		free(screen);
		stage_close(&s);
	}
	assert_true(rows > count);
}

static void test_a_plan_is_written_and_read_back(void **state)
{
	char folder[] = "/tmp/shardscope-test-XXXXXX", path[64];
	struct error error = { "" };
	struct scenario back;
	struct stage s;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/plan.yaml", folder);
	stage_open(&s, "deepseek-v3-1024-h100", 120, 36);
	stage_type(&s, "/gbs\nl");
	stage_type(&s, "w\x15"); /* Ctrl-u */
	assert_string_equal(s.explorer.field.text, "");
	stage_type(&s, path);
	stage_type(&s, "\x17"); /* Ctrl-w */
	assert_int_equal(strlen(s.explorer.field.text),
			 strlen(path) - strlen("plan.yaml"));
	stage_type(&s, "plan.yaml");
	stage_type(&s, "\n");
	stage_shows(&s, "written");
	if (!scenario_read(&back, path, NULL, &error))
		fail_msg("%s", error.text);
	assert_memory_equal(&back, &s.explorer.scenario, sizeof back);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	/* the folder is gone: the screen says so and keeps what was typed */
	stage_type(&s, "w\n");
	stage_shows(&s, "can't save");
	stage_shows(&s, "No such file"); /* the reason too */
	assert_true(explorer_is_typing(&s.explorer));
	stage_close(&s);
}

/* Enter does what is offered, of a problem and of advice alike; advice that takes two
 * knobs is one step. */
static void test_advice_is_taken(void **state)
{
	struct stage s;
	bool taken = false;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "\tG");
	for (int i = 0; i < s.explorer.advice.count && !taken; i++) {
		const struct finding *f = &s.explorer.advice.item[i];

		if (!f->first)
			continue;
		snprintf(s.explorer.state[VIEW_OVERVIEW].key, MAX_KEY, "%s#%s", f->knob,
			 f->rule->code);
		stage_shows(&s, "Enter do it");
		stage_type(&s, "\n");
		taken = true;
	}
	assert_true(taken);
	assert_int_equal(s.explorer.scenario.plan.schedule, SCHEDULE_INTERLEAVED);
	assert_true(s.explorer.scenario.plan.vpp > 1);
	assert_true(s.explorer.estimate.legal);
	stage_type(&s, "u");
	assert_int_equal(s.explorer.scenario.plan.schedule, SCHEDULE_1F1B);
	assert_int_equal(s.explorer.scenario.plan.vpp, 1);
	stage_close(&s);
}

/* Drawing changes nothing of what it is given: not what is played, not what was noted
 * of the last frame. */
static void test_a_view_only_draws(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	for (int view = 0; view < VIEW_COUNT; view++) {
		static struct explorer before;
		static struct spots spots;
		struct rect whole = { 0, 0, 120, 36 };

		explorer_show(&s.explorer, (enum view_id)view);
		stage_shows(&s, "");
		before = s.explorer;
		spots = *s.explorer.spots;
		s.canvas.spots = NULL;
		view_table[view].draw(&s.explorer, &s.canvas, whole);
		assert_memory_equal(&before, &s.explorer, sizeof before);
		assert_memory_equal(&spots, s.explorer.spots, sizeof spots);
	}
	stage_close(&s);
}

static void test_any_size_is_drawn(void **state)
{
	static const int sizes[][2] = { { 1, 1 },    { 3, 200 }, { 200, 3 },
					{ 59, 15 },  { 60, 16 }, { 61, 17 },
					{ 79, 23 },  { 99, 28 }, { 100, 29 },
					{ 150, 50 }, { 300, 90 } };
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-405b-16k-h100", 80, 24);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		assert_true(canvas_resize(&s.canvas, sizes[i][0], sizes[i][1]));
		for (int view = 0; view < VIEW_COUNT; view++) {
			s.explorer.view = (enum view_id)view;
			explorer_draw(&s.explorer, &s.canvas);
			stage_type(&s, "\tjjll+-S\t");
		}
		stage_type(&s, "o\33?\33");
	}
	stage_close(&s);
}

static bool turn_to_end(struct stage *s, const struct knob *knob, int direction)
{
	for (int i = 0; i < 60; i++) {
		double now = knob_get(&s->explorer.scenario, knob);

		stage_type(s, direction > 0 ? "l" : "h");
		if (knob_get(&s->explorer.scenario, knob) == now)
			return true;
		const struct estimate *e = &s->explorer.estimate;
		/* a server that holds no request takes no step */
		if (e->legal &&
		    (e->fits || s->explorer.scenario.plan.mode == MODE_TRAINING) &&
		    !(e->step_seconds > 0 && e->memory.total_bytes > 0))
			return false;
	}
	return true; /* a long domain: far enough */
}

static void test_every_plan_opens_and_every_knob_turns(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	assert_true(count >= 15);
	for (int i = 0; i < count; i += 4 * (count / some_of(count))) {
		struct stage s;

		stage_open(&s, list[i].name, 80, 24);
		struct scenario start = s.explorer.scenario;
		for (int k = 0; k < knob_count(); k++) {
			const struct knob *knob = &knob_table[k];

			knobs_focus(&s.explorer, knob);
			assert_ptr_equal(explorer_knob(&s.explorer), knob);
			s.explorer.view = (enum view_id)(k % VIEW_COUNT);
			/* each value once, from where it stands */
			for (int direction = 1; direction >= -1; direction -= 2) {
				if (!turn_to_end(&s, knob, direction))
					fail_msg("%s: %s", list[i].name, knob->key);
				s.explorer.scenario = start;
				explorer_update(&s.explorer);
			}
		}
		stage_close(&s);
	}
}

static void test_any_keys_in_any_order(void **state)
{
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list);

	(void)state;
	for (int i = 0; i < count; i++) {
		struct stage s;

		stage_open(&s, list[i].name, i % 2 ? 80 : 120, i % 2 ? 24 : 36);
		lean_on_keys(&s, (uint64_t)i, 250);
		stage_close(&s);
	}
}

static void test_the_timeline_is_walked(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	s.explorer.view = VIEW_OVERVIEW;
	stage_type(&s, "/gbs\n=16\n3\t");
	assert_int_equal(s.explorer.view, VIEW_TIMELINE);
	stage_shows(&s, "4 stages x 4 micro-batches");
	stage_shows(&s, "forward of micro-batch 0");
	stage_type(&s, "l");
	stage_shows(&s, "forward of micro-batch 1");
	stage_type(&s, "j");
	stage_shows(&s, "stage 1");
	for (int i = 0; i < 40; i++)
		stage_type(&s, ".");
	stage_shows(&s, "backward of micro-batch 3");
	stage_shows(&s, "event 32 of 32");
	for (int i = 0; i < 31; i++)
		stage_type(&s, ",");
	stage_shows(&s, "event 1 of 32");
	stage_shows(&s, "waits for nothing");
	stage_type(&s, "jl");
	stage_shows(&s, "+ zooms in"); /* all of it again */
	stage_type(&s, "+++");
	stage_shows(&s, "zoom x8");
	stage_type(&s, "S---S");
	/* the pinned plan stands above, on the same axis */
	stage_type(&s, "p\t/mbs\nh\t");
	stage_shows(&s, "pinned");
	stage_shows(&s, "4 stages x 8 micro-batches");
	stage_type(&s, "\t/schedule\n=dualpipe\n");
	stage_close(&s);
}

/* The view searches while no key waits; Enter takes a plan, u gives the old one
 * back.
 */
static void test_one_is_counted_as_one(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "gpt-oss-20b-1-b200-serve", 120, 36);
	stage_type(&s, "2");
	stage_shows(&s, "1 engine of 1 GPU, ");
	stage_type(&s, "6");
	stage_shows(&s, "1 GPU, 8 per node");
	stage_close(&s);
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	stage_type(&s, "3");
	stage_shows(&s, "1 stage x ");
	stage_close(&s);
	stage_open(&s, "bloom-176b-384-a100", 120, 36);
	stage_type(&s, "6");
	stage_lacks(&s, " 1 nodes");
	stage_close(&s);
}

static void test_a_searched_plan_is_taken(void **state)
{
	struct stage s;
	struct scenario before;

	(void)state;
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	before = s.explorer.scenario;
	double step = s.explorer.estimate.step_seconds;
	stage_type(&s, "s");
	assert_int_equal(s.explorer.view, VIEW_SEARCH);
	stage_shows(&s, "proved");
	stage_type(&s, "\n");
	stage_shows(&s, "as fast as the best");
	assert_true(s.explorer.estimate.feasible);
	assert_true(s.explorer.estimate.step_seconds <= step);
	stage_type(&s, "u");
	assert_memory_equal(&s.explorer.scenario, &before, sizeof before);
	/* another aim, and nothing that fits */
	stage_type(&s, "lll");
	stage_shows(&s, "best by memory");
	stage_type(&s, "\t/gpu_memory\n=2\n");
	stage_shows(&s, "No plan fits: the closest needs");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_turns_a_knob_and_every_number_follows),
		cmocka_unit_test(test_values_are_typed),
		cmocka_unit_test(test_undo_and_redo_go_all_the_way),
		cmocka_unit_test(test_reset_goes_back_to_what_was_opened),
		cmocka_unit_test(test_a_pinned_baseline_stays),
		cmocka_unit_test(test_no_praise_for_a_slower_plan),
		cmocka_unit_test(test_the_strip_needs_no_colour),
		cmocka_unit_test(test_a_strip_cuts_no_number),
		cmocka_unit_test(test_the_headline_never_leaves),
		cmocka_unit_test(test_no_sentence_loses_its_point),
		cmocka_unit_test(test_q_closes_a_list),
		cmocka_unit_test(test_an_illegal_plan_says_why_and_mends_itself),
		cmocka_unit_test(test_the_last_plan_that_ran_stays_below),
		cmocka_unit_test(test_rows_of_knobs_keep_their_place),
		cmocka_unit_test(test_the_strip_keeps_its_place),
		cmocka_unit_test(test_the_headline_keeps_its_place),
		cmocka_unit_test(test_a_mend_that_fits_comes_first),
		cmocka_unit_test(
			test_a_mend_further_away_comes_before_those_that_do_not_fit),
		cmocka_unit_test(test_a_mend_that_breaks_another_rule_gives_way),
		cmocka_unit_test(test_reasons_without_room_are_counted),
		cmocka_unit_test(test_each_mend_names_its_keys),
		cmocka_unit_test(test_presets_are_found_and_opened),
		cmocka_unit_test(test_enter_lists_the_values_of_a_knob),
		cmocka_unit_test(test_numbers_are_explained),
		cmocka_unit_test(test_long_texts_scroll),
		cmocka_unit_test(test_the_rule_below_tells_more),
		cmocka_unit_test(test_the_graph_is_a_picture),
		cmocka_unit_test(test_rows_that_are_no_knobs_have_a_note),
		cmocka_unit_test(test_the_strip_names_what_the_knob_moves),
		cmocka_unit_test(test_a_still_knob_says_why),
		cmocka_unit_test(test_groups_are_told_by_letters),
		cmocka_unit_test(test_home_is_understood),
		cmocka_unit_test(test_odd_file_names_lose_no_session),
		cmocka_unit_test(test_the_title_gives_up_the_least_first),
		cmocka_unit_test(test_narrow_tables_keep_their_numbers_whole),
		cmocka_unit_test(test_numbers_in_a_row_are_never_cut),
		cmocka_unit_test(test_a_plan_is_written_and_read_back),
		cmocka_unit_test(test_advice_is_taken),
		cmocka_unit_test(test_a_view_only_draws),
		cmocka_unit_test(test_any_size_is_drawn),
		cmocka_unit_test(test_every_plan_opens_and_every_knob_turns),
		cmocka_unit_test(test_any_keys_in_any_order),
		cmocka_unit_test(test_a_searched_plan_is_taken),
		cmocka_unit_test(test_the_timeline_is_walked),
		cmocka_unit_test(test_one_is_counted_as_one),
	};

	setenv("HOME", NO_HOME, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
