/* test_contest.c - a challenge in the explorer: what is locked stays and says why,
 * whichever way it is turned; the score follows, and the best plan is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/folder.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tests/support/vt.h"
#include "tui/explorer/contest.h"

static char home[] = "/tmp/shardscope-contest-XXXXXX";
static char program[256]; /* with this home */

static int make_home(void **state)
{
	(void)state;
	if (!mkdtemp(home))
		return -1;
	setenv("XDG_STATE_HOME", home, 1);
	snprintf(program, sizeof program, "env XDG_STATE_HOME=%s %s", home,
		 run_program());
	return 0;
}

static void open_stage(struct stage *stage, const char *name)
{
	struct error error = { "" };

	stage_open(stage, NULL, 120, 36);
	if (!contest_open(&stage->explorer, name, &error))
		fail_msg("%s", error.text);
}

static void unchanged(const struct stage *stage, const struct scenario *s)
{
	assert_memory_equal(&stage->explorer.scenario, s, sizeof *s);
}

/* Advice to turn what is locked is none; that which may be turned stays. */
static void test_advice_names_no_locked_knob(void **state)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	int count = challenge_names(names), dropped = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct findings all = { 0 };
		struct stage stage;

		open_stage(&stage, names[i]);
		stage_act(&stage,
			  (struct action){ .kind = ACTION_VIEW, .argument = 0 });
		while (explorer_idle(&stage.explorer)) {
		}
		if (stage.explorer.estimate.legal)
			advice_give(&stage.explorer.scenario, &stage.explorer.estimate,
				    &all);
		for (int a = 0; a < stage.explorer.advice.count; a++) {
			const char *key = stage.explorer.advice.item[a].knob;

			if (key && contest_locks(&stage.explorer, knob_find(key)))
				fail_msg("%s: advice turns %s, which is locked",
					 names[i], key);
		}
		dropped += all.count - stage.explorer.advice.count;
		stage_close(&stage);
	}
	assert_true(dropped > 0);
}

static void test_locked_knobs_say_why(void **state)
{
	struct stage stage;
	struct scenario start, other;
	char *line;

	(void)state;
	open_stage(&stage, "experts");
	start = stage.explorer.scenario;
	stage_shows(&stage, "ETP expert TP               1 "); /* no arrow at it */
	stage_shows(&stage, "Mixtral 8x7B on 64 H100");
	/* arrows, a typed value, a list, the default */
	knobs_focus(&stage.explorer, knob_find("seq"));
	stage_key(&stage, 'l');
	stage_shows(&stage, "seq is locked at");
	unchanged(&stage, &start);
	stage_type(&stage, "=16k\n");
	stage_shows(&stage, "seq is locked at");
	unchanged(&stage, &start);
	knobs_focus(&stage.explorer, knob_find("mbs"));
	stage_type(&stage, "=8\n");
	stage_shows(&stage, "mbs can't be 8 in this challenge; it takes 1, 2, 4");
	unchanged(&stage, &start);
	/* another model, plan, machine; a shared scenario; the search */
	stage_type(&stage, "ollama3-70b-64-h100\n");
	stage_shows(&stage, "the model is locked");
	unchanged(&stage, &start);
	assert_true(scenario_read(&other, "mixtral-8x7b-64-h100", NULL, NULL));
	other.cluster.gpus = 128;
	line = share_write(&other, NULL, NULL);
	stage_type(&stage, "\33o");
	explorer_paste(&stage.explorer, line, strlen(line));
	stage_type(&stage, "\n");
	stage_shows(&stage, "gpus is locked at 64");
	unchanged(&stage, &start);
	free(line);
	stage_type(&stage, "\33s");
	stage_shows(&stage, "finding the plan is up to you");
	assert_int_not_equal(stage.explorer.view, VIEW_SEARCH);
	stage_close(&stage);
}

/* What may be turned goes from value to value of its list. */
static void test_open_knobs_turn_within_their_list(void **state)
{
	struct stage stage;

	(void)state;
	open_stage(&stage, "experts");
	knobs_focus(&stage.explorer, knob_find("ep"));
	stage_key(&stage, 'l');
	assert_int_equal(stage.explorer.scenario.plan.ep, 2);
	stage_type(&stage, "lll");
	assert_int_equal(stage.explorer.scenario.plan.ep, 8);
	stage_shows(&stage, "last value");
	stage_type(&stage, "uu");
	assert_int_equal(stage.explorer.scenario.plan.ep, 2);
	stage_type(&stage, "U");
	assert_int_equal(stage.explorer.scenario.plan.ep, 4);
	stage_close(&stage);
}

/* Types each knob of the challenge as a scenario has it. */
static void type_plan(struct stage *stage, const struct scenario *s)
{
	const struct planner_problem *p = &stage->explorer.contest->challenge.problem;

	for (int i = 0; i < p->axes; i++) {
		const struct knob *knob = p->axis[i].knob;
		char value[64], keys[80];

		knob_print(s, knob, value, sizeof value);
		snprintf(keys, sizeof keys, "=%s\n", value);
		knobs_focus(&stage->explorer, knob);
		stage_type(stage, keys);
	}
}

static void test_the_score_follows_and_is_kept(void **state)
{
	struct scenario winner, start;
	struct planner_found best;
	struct challenge *c;
	struct stage stage;
	double first;

	(void)state;
	open_stage(&stage, "small-bubble");
	c = &stage.explorer.contest->challenge;
	best = stage.explorer.contest->best;
	first = stage.explorer.contest->score;
	start = stage.explorer.scenario;
	assert_true(first > 0 && first < 1);
	planner_scenario(&c->problem, &best, &winner);
	type_plan(&stage, &winner);
	stage_shows(&stage, "score 100.0 %, your best 100.0 %");
	assert_true(challenge_kept(c, &best) == 1);
	/* worse again: what was found stays */
	type_plan(&stage, &start);
	assert_true(stage.explorer.contest->score == first);
	stage_shows(&stage, "your best 100.0 %");
	assert_true(challenge_kept(c, &best) == 1);
	stage_type(&stage, "?");
	stage_shows(&stage, "Fill the pipeline");
	stage_shows(&stage, "vpp: 1, 2, 5, 10");
	stage_close(&stage);
	/* and is there the next time */
	open_stage(&stage, "small-bubble");
	stage_shows(&stage, "your best 100.0 %");
	stage_close(&stage);
}

static void test_a_broken_script_is_repaired(void **state)
{
	struct stage stage;

	(void)state;
	open_stage(&stage, "repair-megatron");
	stage_shows(&stage, "the plan must fit first");
	knobs_focus(&stage.explorer, knob_find("pp"));
	stage_type(&stage, "=8\n");
	knobs_focus(&stage.explorer, knob_find("mbs"));
	stage_type(&stage, "=1\n");
	stage_lacks(&stage, "the plan must fit first");
	assert_true(stage.explorer.contest->score > 0);
	stage_close(&stage);
}

/* Line by line, for who hears the screen. */
static void test_in_plain_lines(void **state)
{
	static const char said[] = "ep 8\ngpus 128\nq\n";
	char command[256], path[128], before[256];

	(void)state;
	snprintf(before, sizeof before, "%s", run_program());
	setenv("SHARDSCOPE", program, 1); /* keeps its answers there */
	snprintf(path, sizeof path, "%s/said", home);
	assert_true(file_save(path, said, strlen(said), NULL));
	snprintf(command, sizeof command, "challenge experts --plain < %s", path);
	run_check(command, 0, "Score ", NULL);
	run_check(command, 0, "gpus is locked at 64 in this challenge", NULL);
	setenv("SHARDSCOPE", before, 1);
}

/* The program on a terminal; what was open before the challenge stays as it was. */
static void test_on_a_terminal(void **state)
{
	const char *const plain[] = { run_program(), NULL };
	const char *const game[] = { run_program(), "challenge", "experts", NULL };
	static char config[96], kept[96];

	(void)state;
	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/c", home);
	snprintf(kept, sizeof kept, "XDG_STATE_HOME=%s/s", home);
	const struct vt_options options = { .columns = 80,
					    .rows = 24,
					    .env = { config, kept } };
	struct vt *vt = vt_start(&options, plain);

	vt_expect(vt, "MEMORY");
	vt_type(vt, "\033[C");
	vt_expect(vt, "43.6 GiB");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = vt_start(&options, game);
	vt_expect(vt, "mixtral-8x7b");
	vt_expect(vt, "score ");
	vt_type(vt, "=8\r");
	vt_expect(vt, "8");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	vt = vt_start(&options, plain);
	vt_expect(vt, "43.6 GiB");
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advice_names_no_locked_knob),
		cmocka_unit_test(test_locked_knobs_say_why),
		cmocka_unit_test(test_open_knobs_turn_within_their_list),
		cmocka_unit_test(test_the_score_follows_and_is_kept),
		cmocka_unit_test(test_a_broken_script_is_repaired),
		cmocka_unit_test(test_in_plain_lines),
		cmocka_unit_test(test_on_a_terminal),
	};

	return cmocka_run_group_tests(tests, make_home, NULL);
}
