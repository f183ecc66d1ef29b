/* test_challenge.c - what ships can be won and is not won yet, the optimum is that of
 * every plan tried one by one, and a forged answer gets what it earns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/predict/predict.h"
#include "engine/trust/trust.h"
#include "presets/challenge_file.h"
#include "presets/folder.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "presets/stream.h"
#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static char home[] = "/tmp/shardscope-challenge-XXXXXX";
static char program[256];
static struct challenge challenge;
static struct estimate estimate;

static int make_home(void **state)
{
	(void)state;
	if (!mkdtemp(home))
		return -1;
	setenv("XDG_STATE_HOME", home, 1);
	/* the program that is run keeps its answers there too */
	snprintf(program, sizeof program, "env XDG_STATE_HOME=%s %s", home,
		 run_program());
	setenv("SHARDSCOPE", program, 1);
	return 0;
}

static void open_challenge(const char *name, struct planner_found *best)
{
	struct error error = { "" };

	if (!challenge_read(&challenge, name, &error))
		fail_msg("%s", error.text);
	if (!challenge_best(&challenge.problem, best))
		fail_msg("%s: nothing fits", name);
}

/* Calls back with every plan of a challenge. */
static void each_plan(void (*take)(const struct scenario *, void *), void *context)
{
	const struct planner_problem *p = &challenge.problem;
	int at[MAX_AXES] = { 0 }, axis;

	do {
		struct scenario s = p->base;

		for (int i = 0; i < p->axes; i++)
			assert_true(
				knob_set(&s, p->axis[i].knob, p->axis[i].value[at[i]]));
		take(&s, context);
		for (axis = 0; axis < p->axes; axis++) {
			if (++at[axis] < p->axis[axis].count)
				break;
			at[axis] = 0;
		}
	} while (axis < p->axes);
}

struct tried {
	const struct planner_found *best;
	double least;
	int plans, feasible;
};

static void try_plan(const struct scenario *s, void *context)
{
	struct tried *tried = context;
	struct doubts doubts;
	double score, theirs;

	scenario_estimate(s, &estimate);
	score = challenge_score(&challenge.problem, tried->best, s, &estimate);
	assert_true(score >= 0 && score <= 1);
	tried->plans++;
	if (!estimate.feasible) {
		assert_true(score == 0);
		return;
	}
	theirs = objective_of_estimate(challenge.problem.objective, s, &estimate);
	tried->least = theirs < tried->least ? theirs : tried->least;
	tried->feasible++;
	assert_close(score, tried->best->score / theirs, 1e-9);
	/* what nobody ran is no way to win; servers have no such lists */
	assert_false(estimate.unsure);
	if (s->plan.mode == MODE_TRAINING && trust_of(s, &doubts) == TRUST_OPEN) {
		char text[400];

		trust_text(s, &doubts, text, sizeof text);
		fail_msg("%s: %s", challenge.name, text);
	}
}

static void test_the_optimum_is_that_of_all_plans(void **state)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	int count = challenge_names(names);

	(void)state;
	assert_true(count >= 10);
	for (int i = 0; i < count; i++) {
		struct planner_found best;
		struct tried tried = { .best = &best, .least = 1e300 };
		struct scenario winner;

		open_challenge(names[i], &best);
		each_plan(try_plan, &tried);
		assert_true(tried.plans <= 5000 && tried.feasible >= 4);
		if (best.score != tried.least)
			fail_msg("%s: the planner has %g, the best is %g", names[i],
				 best.score, tried.least);
		planner_scenario(&challenge.problem, &best, &winner);
		scenario_estimate(&winner, &estimate);
		assert_true(challenge_score(&challenge.problem, &best, &winner,
					    &estimate) == 1);
	}
}

static bool turns(const char *key)
{
	for (int i = 0; i < challenge.problem.axes; i++)
		if (strcmp(challenge.problem.axis[i].knob->key, key) == 0)
			return true;
	return false;
}

static void test_nothing_is_won_before_it_begins(void **state)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	int count = challenge_names(names), scripts = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		const struct scenario *base = &challenge.problem.base;
		struct challenge_lock lock;
		struct planner_found best;
		double score;

		open_challenge(names[i], &best);
		scenario_estimate(base, &estimate);
		score = challenge_score(&challenge.problem, &best, base, &estimate);
		if (!challenge_allows(&challenge.problem, base, &lock))
			fail_msg("%s begins outside of what it allows", names[i]);
		assert_true(strlen(challenge.goal) > 60 && strlen(challenge.hint) > 30);
		assert_true(base->plan.optimizer_offload == 0 &&
			    !turns("optimizer_offload"));
		assert_true(base->plan.activation_offload == 0 &&
			    !turns("activation_offload"));
		if (challenge.script[0] != '\0') {
			scripts++;
			/* really broken: a rule, or too large */
			assert_false(estimate.feasible);
		} else if (!(score > 0 && score < 0.9)) {
			fail_msg("%s begins at %g", names[i], score);
		}
	}
	assert_true(scripts >= 5);
}

/* Turning any other knob, or one to another value, is named. */
static void test_locks_hold(void **state)
{
	struct planner_found best;
	struct challenge_lock lock;
	char text[400];
	int refused = 0;

	(void)state;
	open_challenge("experts", &best);
	for (int i = 0; i < knob_count(); i++) {
		struct scenario s = challenge.problem.base;
		const struct knob *knob = &knob_table[i];
		double values[MAX_VALUES];
		int present, count = knob_values(&s, knob, values, &present);

		for (int k = 0; k < count && knob->type != KNOB_TEXT; k++) {
			bool listed = false;

			knob_set(&s, knob, values[k]);
			for (int a = 0; a < challenge.problem.axes; a++)
				for (int v = 0; v < challenge.problem.axis[a].count;
				     v++)
					listed |= challenge.problem.axis[a].knob ==
							  knob &&
						  challenge.problem.axis[a].value[v] ==
							  values[k];
			if (k == present || listed) {
				assert_true(challenge_allows(&challenge.problem, &s,
							     &lock));
				continue;
			}
			refused++;
			assert_false(challenge_allows(&challenge.problem, &s, &lock));
			assert_ptr_equal(lock.knob, knob);
			challenge_lock_text(&challenge.problem, &s, &lock, text,
					    sizeof text);
			assert_non_null(strstr(text, knob->key));
			scenario_estimate(&s, &estimate);
			assert_true(challenge_score(&challenge.problem, &best, &s,
						    &estimate) == 0);
		}
	}
	assert_true(refused > 100);
	struct scenario other = challenge.problem.base;

	other.model.vocab /= 2; /* less work */
	assert_false(challenge_allows(&challenge.problem, &other, &lock));
	assert_string_equal(lock.base, "model");
	other = challenge.problem.base;
	other.cluster.accelerator.peak_flops[PRECISION_BF16] *= 2;
	assert_false(challenge_allows(&challenge.problem, &other, &lock));
	assert_string_equal(lock.base, "cluster");
	other = challenge.problem.base;
	other.stack.dp_overlap = other.stack.dp_overlap > 0.5 ? 0.25 : 0.75;
	assert_false(challenge_allows(&challenge.problem, &other, &lock));
	assert_string_equal(lock.base, "stack");
}

static void test_neighbours_stay_in_the_list(void **state)
{
	struct planner_found best;
	struct scenario s;
	double value;

	(void)state;
	open_challenge("experts", &best);
	s = challenge.problem.base;
	s.plan.tp = 4;
	assert_true(challenge_neighbour(&challenge.problem, &s, knob_find("tp"), 1,
					&value));
	assert_true(value == 8);
	s.plan.tp = 8;
	assert_true(challenge_neighbour(&challenge.problem, &s, knob_find("tp"), 1,
					&value));
	assert_true(value == 8);
	assert_true(challenge_neighbour(&challenge.problem, &s, knob_find("tp"), -1,
					&value));
	assert_true(value == 4);
	assert_false(challenge_neighbour(&challenge.problem, &s, knob_find("gpus"), 1,
					 &value));
}

static void test_files_with_faults_are_refused(void **state)
{
	static const char head[] = "format: 1\ntitle: t\ngoal: g\nhint: h\nsource: s\n";
	static const struct {
		const char *text, *why;
	} t[] = {
		{ "aim: step\nscenario: {plan: llama3-70b-64-h100}\nturn: {tp: \"1,2\"}\nmore: 1\n",
		  "unknown key" },
		{ "aim: speed\nscenario: {plan: llama3-70b-64-h100}\nturn: {tp: \"1,2\"}\n",
		  "expected step" },
		{ "aim: step\nturn: {tp: \"1,2\"}\n", "expected scenario" },
		{ "aim: step\nscenario: {plan: nothing}\nturn: {tp: \"1,2\"}\n",
		  "no plan 'nothing'" },
		{ "aim: step\nscenario: {plan: llama3-70b-64-h100, tpp: 2}\nturn: {tp: \"1\"}\n",
		  "no knob" },
		{ "aim: step\nscenario: {plan: llama3-70b-64-h100}\n",
		  "knobs that turn" },
		{ "aim: step\nscenario: {plan: llama3-70b-64-h100}\nturn: {tp: none}\n",
		  "tp" },
		{ "aim: step\nscript: {reader: cobol, text: x}\nturn: {tp: \"1\"}\n",
		  "expected a script" },
		{ "aim: step\nscript: {reader: megatron, text: x}\nturn: {tp: \"1\"}\n",
		  "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct error error = { "" };
		char text[512];

		snprintf(text, sizeof text, "%s%s", head, t[i].text);
		assert_false(challenge_parse(&challenge, "x", "x.yaml", text,
					     strlen(text), &error));
		if (!strstr(error.text, t[i].why) || error.text[0] == '\0')
			fail_msg("%s: %s", t[i].text, error.text);
	}
}

/* Whatever stands in the place of a word: a mapping, a list, nothing. */
static void test_words_that_are_none_are_refused(void **state)
{
	static const char *const keys[] = { "format", "title", "goal", "hint",
					    "source", "aim",   "turn" };
	static const char *const values[] = { "{a: b}", "[1, 2]", "", "~" };

	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
			struct error error = { "" };
			char text[512];
			size_t used = 0;

			for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
				used += (size_t)snprintf(
					text + used, sizeof text - used, "%s: %s\n",
					keys[k],
					k == i                           ? values[v]
					: strcmp(keys[k], "format") == 0 ? "1"
					: strcmp(keys[k], "aim") == 0    ? "step"
					: strcmp(keys[k], "turn") == 0 ? "{tp: \"1,2\"}"
								       : "words");
			snprintf(text + used, sizeof text - used,
				 "scenario: {plan: llama3-70b-64-h100}\n");
			if (!challenge_parse(&challenge, "x", "x.yaml", text,
					     strlen(text), &error))
				assert_true(error.text[0] != '\0');
			else if (v == 0)
				fail_msg("%s", text);
		}
}

/* --- answers ------------------------------------------------------------------- */

static void hand_in(const char *folder, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s/%s.yaml", home, folder, name);
	assert_true(file_save(path, text, strlen(text), NULL));
}

/* An answer of this challenge with other knobs, as anybody can write one. */
static void forge(const char *folder, const char *by, const char *knobs,
		  const char *claim)
{
	struct scenario s = challenge.problem.base;
	char text[2048], list[200], *rest = list, *word, why[200];
	char *line;

	snprintf(list, sizeof list, "%s", knobs);
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		assert_true(knob_parse(&s, knob_find(word), value, why, sizeof why));
	}
	line = share_write(&s, NULL, NULL);
	assert_non_null(line);
	snprintf(text, sizeof text,
		 "format: 1\nchallenge: experts\nby: %s\nscenario: \"%s\"\nscore: %s\n",
		 by, line, claim);
	hand_in(folder, by, text);
	free(line);
}

static const char *after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	if (!at)
		fail_msg("no %s in\n%s", what, text);
	return at;
}

static void test_the_leaderboard_believes_nobody(void **state)
{
	struct planner_found best;
	char command[256], path[128];
	struct ran ran;
	const char *at;

	(void)state;
	snprintf(path, sizeof path, "%s/class", home);
	mkdir(path, 0700);
	open_challenge("experts", &best);
	forge("class", "anna", "tp=1 ep=8 pp=2 mbs=1 recompute=none", "100");
	forge("class", "berta", "tp=4 ep=1 pp=4 mbs=1 recompute=full", "100");
	forge("class", "claims", "tp=2 ep=8 pp=2 mbs=1 recompute=full", "100000");
	forge("class", "cheat-gpus", "gpus=128 tp=1 ep=8 pp=2", "100");
	forge("class", "cheat-offload", "activation_offload=1 ep=8", "100");
	forge("class", "cheat-value", "mbs=8 ep=8", "100");
	forge("class", "illegal", "tp=8 ep=8 pp=8 mbs=4", "100");
	hand_in("class", "damaged",
		"format: 1\nchallenge: experts\nscenario: s1:mixtral-8x7b-64-h100,aaaaabbbbb\n");
	hand_in("class", "elsewhere",
		"format: 1\nchallenge: ../../etc/passwd\nscenario: {model: llama3.1-8b}\n");
	hand_in("class", "noise", "[[[");
	snprintf(command, sizeof command, "challenge rank %s", path);
	ran = run(command);
	assert_int_equal(ran.status, 0);
	at = after(ran.out, "## experts");
	at = after(at, "| 1 | anna | 100.0 % |  |");
	at = after(at, "claims 100000.0 %");
	after(ran.out, "| berta | ");
	after(ran.out, "| cheat-gpus | 0.0 % | gpus is locked at 64");
	after(ran.out, "| cheat-offload | 0.0 % | activation_offload is locked at 0");
	after(ran.out, "| cheat-value | 0.0 % | mbs can't be 8");
	after(ran.out, "| illegal | 0.0 % | ");
	after(ran.out, "| damaged | 0.0 % | ");
	after(ran.out, "the line is damaged");
	after(ran.out, "| elsewhere | 0.0 % | ");
	after(ran.out, "| noise | 0.0 % | ");
	ran_free(&ran);
	snprintf(command, sizeof command, "challenge rank %s --format csv", path);
	run_check(command, 0, "\"experts\",\"anna\",100.00,100.00,\"anna\",\"\"", NULL);
	run_check("challenge rank /nowhere", 2, NULL,
		  "/nowhere: No such file or directory; expected the folder");
}

static void test_the_command_plays(void **state)
{
	char command[256];

	(void)state;
	run_check("challenge list", 0, "repair-megatron", NULL);
	run_check("challenge experts", 0, "Everything else is locked", NULL);
	run_check("challenge repair-megatron --script", 0, "pretrain_gpt.py", NULL);
	run_check("challenge repair-megatron --pp 3", 1, "score 0", NULL);
	run_check("challenge experts --ep 8 --tp 1 --pp 2 --recompute none", 0,
		  "score 100.0 % of the proven best", NULL);
	run_check("challenge experts --gpus 32", 1, "gpus is locked at 64", NULL);
	run_check("challenge expert", 2, NULL, "no challenge 'expert'");
	run_check("challenge", 2, NULL, "challenge what?");
	snprintf(command, sizeof command,
		 "challenge experts --ep 4 --by anna --answer %s/a.yaml", home);
	run_check(command, 0, "score", NULL);
	snprintf(command, sizeof command, "challenge rank %s", home);
	run_check(command, 0, "| 1 | anna | ", NULL);
	/* the best that was found stays and is handed in */
	snprintf(command, sizeof command,
		 "challenge experts --by berta --answer %s/b.yaml", home);
	run_check(command, 0, "score 100.0 %", NULL);
	snprintf(command, sizeof command, "challenge rank %s", home);
	run_check(command, 0, "| 1 | berta | 100.0 % |", NULL);
}

#define HEAD                                                                   \
	"format: 1\ntitle: A\ngoal: B\nhint: C\nsource: D, arXiv 1811.06965\n" \
	"aim: step\n"

/* A file anywhere is one, by its path, and is called after it; one that can't be read
 * is said with its line. */
static void test_a_file_of_ones_own(void **state)
{
	static const struct {
		const char *text, *said;
	} broken[] = {
		{ "- a list\n", "a challenge is a mapping" },
		{ HEAD "scenario: plan\n", "or a script" },
		{ HEAD "scenario: {plan: llama3-8b-8-h100, tp: many}\n", "own.yaml:7" },
	};
	char command[256], path[160];
	size_t length;
	char *text = stream_read_file("presets/challenges/small-bubble.yaml", 1 << 16,
				      &length, NULL);

	(void)state;
	assert_non_null(text);
	snprintf(path, sizeof path, "%s/own.yaml", home);
	assert_true(file_save(path, text, length, NULL));
	free(text);
	snprintf(command, sizeof command, "challenge %s", path);
	run_check(command, 0, "Fill the pipeline", NULL);
	snprintf(command, sizeof command, "challenge %s --pp 3", path);
	run_check(command, 1, "pp is locked at 8", NULL);
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		assert_true(
			file_save(path, broken[i].text, strlen(broken[i].text), NULL));
		snprintf(command, sizeof command, "challenge %s", path);
		run_check(command, 2, NULL, broken[i].said);
	}
	snprintf(command, sizeof command, "challenge %s/none.yaml", home);
	run_check(command, 2, NULL, "none.yaml");
}

/* The script of the challenge, mended by hand, is an answer too. */
static void test_a_mended_script_counts(void **state)
{
	struct planner_found best;
	char command[256], path[128], *at;

	(void)state;
	open_challenge("repair-megatron", &best);
	at = strstr(challenge.script, "--pipeline-model-parallel-size 3");
	assert_non_null(at);
	at[strlen("--pipeline-model-parallel-size ")] = '4';
	at = strstr(challenge.script, "--micro-batch-size 3");
	at[strlen("--micro-batch-size ")] = '1';
	snprintf(path, sizeof path, "%s/mended.sh", home);
	assert_true(file_save(path, challenge.script, strlen(challenge.script), NULL));
	snprintf(command, sizeof command, "challenge repair-megatron %s", path);
	run_check(command, 0, "of the proven best", NULL);
}

static void keep(int64_t ep, double expected)
{
	struct scenario s = challenge.problem.base;
	struct planner_found best;
	double score;

	s.plan.ep = ep;
	assert_true(challenge_best(&challenge.problem, &best));
	scenario_estimate(&s, &estimate);
	score = challenge_score(&challenge.problem, &best, &s, &estimate);
	assert_true(score > 0);
	assert_true(challenge_keep(&challenge, &best, &s, score, NULL));
	if (expected < 0)
		expected = score;
	assert_true(challenge_kept(&challenge, &best) == expected);
}

/* The best stays, a worse one is not written over it, and damage is moved aside. */
static void test_the_best_is_kept(void **state)
{
	struct planner_found best;
	char path[512], aside[560];
	double kept;

	(void)state;
	open_challenge("experts", &best);
	assert_true(challenge_kept(&challenge, &best) == 0);
	keep(1, -1);
	keep(8, -1);
	kept = challenge_kept(&challenge, &best);
	keep(2, kept);
	assert_true(challenge_kept_path("experts", path, sizeof path));
	assert_true(file_save(path, "what", 4, NULL));
	keep(1, -1);
	snprintf(aside, sizeof aside, "%s.damaged.0", path);
	assert_int_equal(access(aside, F_OK), 0);
	assert_false(challenge_kept_path("../x", path, sizeof path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_best_is_kept),
		cmocka_unit_test(test_the_optimum_is_that_of_all_plans),
		cmocka_unit_test(test_nothing_is_won_before_it_begins),
		cmocka_unit_test(test_locks_hold),
		cmocka_unit_test(test_neighbours_stay_in_the_list),
		cmocka_unit_test(test_files_with_faults_are_refused),
		cmocka_unit_test(test_words_that_are_none_are_refused),
		cmocka_unit_test(test_the_leaderboard_believes_nobody),
		cmocka_unit_test(test_the_command_plays),
		cmocka_unit_test(test_a_file_of_ones_own),
		cmocka_unit_test(test_a_mended_script_counts),
	};

	return cmocka_run_group_tests(tests, make_home, NULL);
}
