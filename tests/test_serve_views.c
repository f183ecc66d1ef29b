/* test_serve_views.c - what keys do in mode inference, and what stands on the screen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/serve/tail.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tui/view.h"

static const char vllm_knobs[] =
	"gpus=8 tp=4 goal_ttft=1000 goal_tpot=40 concurrency=96";

static void open_vllm(struct stage *s, int width, int height)
{
	stage_open(s, NULL, width, height);
	stage_serve(s, "llama3.1-70b", "dgx-h100", "vllm", vllm_knobs);
}

static void test_a_key_switches_the_mode(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-70b-64-h100", 120, 36);
	stage_shows(&s, "micro-batch");
	stage_shows(&s, "training");
	stage_type(&s, "/mode\nl");
	assert_int_equal(s.explorer.scenario.plan.mode, MODE_INFERENCE);
	stage_shows(&s, "u undoes it");
	stage_type(&s, "j");
	stage_shows(&s, "serve 2048 + 512");
	stage_shows(&s, "TTFT");
	stage_shows(&s, "K knee");
	stage_shows(&s, "G goals up to");
	/* the stack stays, and it is said */
	stage_shows(&s, "megatron-core");
	stage_shows(&s, "this is a training stack");
	stage_lacks(&s, "micro-batch");
	stage_lacks(&s, "bubble");
	stage_lacks(&s, "new^");
	stage_type(&s, "u");
	assert_int_equal(s.explorer.scenario.plan.mode, MODE_TRAINING);
	stage_shows(&s, "train 8192 x 256");
	stage_close(&s);
}

/* The mode is the fourth row, whatever is folded. */
static void test_the_mode_is_found_at_once(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_key(&s, KEYS_HOME);
	stage_type(&s, "jjj");
	assert_string_equal(explorer_knob(&s.explorer)->key, "mode");
	stage_key(&s, KEYS_RIGHT);
	assert_int_equal(s.explorer.scenario.plan.mode, MODE_INFERENCE);
	assert_string_equal(explorer_knob(&s.explorer)->key, "mode");
	stage_key(&s, KEYS_LEFT);
	assert_int_equal(s.explorer.scenario.plan.mode, MODE_TRAINING);
	stage_type(&s, "=inference\n");
	assert_int_equal(s.explorer.scenario.plan.mode, MODE_INFERENCE);
	assert_true(s.explorer.scenario.plan.serving.goal_ttft_seconds > 0);
	stage_close(&s);
}

/* Goals and requests that somebody set are not touched. */
static void test_switching_keeps_what_was_set(void **state)
{
	struct stage s;

	(void)state;
	open_vllm(&s, 120, 36);
	stage_type(&s, "/mode\nhl");
	assert_int_equal(s.explorer.scenario.plan.mode, MODE_INFERENCE);
	assert_int_equal(s.explorer.scenario.plan.serving.concurrency, 96);
	assert_true(s.explorer.scenario.plan.serving.goal_tpot_seconds == 0.04);
	stage_close(&s);
}

/* Nobody measured how sure the memory of a server is: no chance is told. */
static void test_the_verdict_tells_the_room(void **state)
{
	char room[64];
	struct stage s;

	(void)state;
	open_vllm(&s, 120, 36);
	snprintf(room, sizeof room, "fits, room for %.0f requests",
		 floor(s.explorer.estimate.serving.max_concurrency));
	stage_shows(&s, room);
	stage_lacks(&s, "sure");
	stage_type(&s, "2");
	stage_shows(&s, room);
	stage_lacks(&s, "sure");
	stage_close(&s);
	stage_open(&s, NULL, 120, 36);
	stage_serve(&s, "llama3.1-70b", "dgx-h100", "vllm", "gpus=8 tp=1");
	assert_false(s.explorer.estimate.fits);
	stage_shows(&s, "DOES NOT FIT");
	stage_lacks(&s, "fits, room");
	stage_lacks(&s, "sure");
	stage_close(&s);
}

/* What one request in a hundred waits stands under the means, as it is simulated. */
static void test_the_slowest_percent_is_told(void **state)
{
	struct serve_tail tail;
	char text[32], line[64];
	struct stage s;

	(void)state;
	open_vllm(&s, 120, 36);
	assert_true(serve_tail(&s.explorer.scenario, &tail));
	form_text(FORM_SECONDS, tail.result.ttft.p99, text, sizeof text);
	assert_true(tail.result.ttft.p99 > 1 && !tail.meets);
	snprintf(line, sizeof line, "P99      TTFT %s late", text);
	stage_shows(&s, line);
	stage_shows(&s, "9 the slowest 1 %");
	stage_type(&s, "/concurrency\n=4\n");
	stage_lacks(&s, "late");
	stage_shows(&s, "100 % good");
	/* no key press simulates thousands at once */
	stage_type(&s, "=100000\n");
	stage_shows(&s, "too many in flight");
	stage_close(&s);
	/* what the numbers at the marks count is said where there is room */
	open_vllm(&s, 200, 60);
	stage_shows(&s, "requests at once: @ now ");
	stage_close(&s);
}

/* The rate that a closed loop has leads back to as many requests, nearly. */
/* Of 681 users a key press has time for three requests each, a third of them in the
 * burst: their mean is not that of the line above, which is over ten, and is not told
 * beside it. */
static void test_no_mean_of_fewer_requests_stands_beside_the_estimate(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3.1-70b-4-h100-serve", 120, 40);
	stage_shows(&s, "simulated, 3 of each user");
	stage_lacks(&s, ", mean");
	stage_type(&s, "/concurrency\n=64\n");
	stage_shows(&s, ", mean");
	stage_close(&s);
}

static void test_a_key_opens_the_loop(void **state)
{
	struct stage s;
	double rate;

	(void)state;
	open_vllm(&s, 120, 36);
	rate = s.explorer.estimate.serving.requests_per_second;
	stage_type(&s, "O");
	assert_close(s.explorer.scenario.plan.serving.request_rate, rate, 0.01);
	assert_true(s.explorer.scenario.plan.serving.request_rate <= rate);
	stage_shows(&s, "/s . vllm");
	stage_type(&s, "O");
	assert_true(s.explorer.scenario.plan.serving.request_rate == 0);
	/* who comes at a rate finds one more than who follows another */
	assert_close((double)s.explorer.scenario.plan.serving.concurrency, 96, 0.1);
	stage_type(&s, "uu");
	assert_true(s.explorer.scenario.plan.serving.request_rate == 0);
	assert_int_equal(s.explorer.scenario.plan.serving.concurrency, 96);
	stage_close(&s);
	stage_open(&s, "llama3-70b-64-h100", 120, 36);
	stage_type(&s, "O");
	stage_shows(&s, "only a server");
	stage_close(&s);
}

/* A server without room for a request has no times: none of 0 s that is 100 % better,
 * and no table that says that nothing is sent. */
static void test_a_server_without_room_has_no_numbers(void **state)
{
	static const char *const views[] = { "1", "2", "3", "4", "5", "6" };
	struct stage s;

	(void)state;
	stage_open(&s, "llama3.1-405b-8-h100-serve", 120, 36);
	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
		stage_type(&s, views[i]);
		stage_type(&s, "=4\n");
		assert_false(s.explorer.estimate.fits);
		stage_lacks(&s, " 0 s");
		stage_lacks(&s, "No collective");
		stage_shows(&s, i == 1 ? "does not fit" : "S19");
		stage_shows(&s, i == 0 ? "NO REQUEST FITS" : "no request fits");
		if (i != 1)
			stage_shows(&s, "the last plan that ran");
		stage_type(&s, "u");
	}
	stage_close(&s);
}

/* At the smallest size, too, what one in a hundred waits stands beside the means, with
 * a mark where it is late, and the curve says which of its lines is theirs. */
static void test_the_slowest_have_room_at_80_columns(void **state)
{
	struct stage s;

	(void)state;
	open_vllm(&s, 80, 24);
	stage_shows(&s, "P99 ");
	stage_shows(&s, "9 P99");
	stage_type(&s, "/goal_ttft\n=1\n");
	stage_shows(&s, "s! ");
	stage_shows(&s, "9 P99");
	stage_close(&s);
}

/* Where the slowest get as much as the mean their marks stand over its line, all along
 * the curve: the line hid those of the upper rows. */
static void test_the_slowest_are_marked_on_the_line_of_the_mean(void **state)
{
	char *screen, *line, *rest;
	int marks = 0;
	struct stage s;

	(void)state;
	stage_open(&s, "llama3.1-70b-4-h100-serve", 120, 36);
	rest = screen = stage_text(&s);
	assert_non_null(screen);
	/* rows of the picture alone have its axis on their left */
	while ((line = strsep(&rest, "\n")) && !strstr(line, "9 the slowest 1 %"))
		if (strlen(line) > 45 && strchr("|+", line[40]))
			marks += strchr(line + 41, '9') != NULL;
	assert_non_null(line);
	assert_true(marks > 1);
	free(screen);
	stage_close(&s);
}

/* The curve and the warning name the same number, though no point of the curve has it.
 */
static void test_the_goals_end_at_one_number(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "deepseek-v3-272-h800-serve", 160, 45);
	stage_shows(&s, "G goals up to 12385");
	stage_shows(&s, "try concurrency 12385");
	stage_close(&s);
}

/* A range is told whole or not at all. */
static void test_no_range_is_cut(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3.1-70b-4-h100-serve", 100, 40);
	stage_shows(&s, "TPOT 88.8 ms");
	stage_shows(&s, "2.04 to 3.83 s");
	stage_lacks(&s, "75.3 to");
	stage_close(&s);
	stage_open(&s, "llama3.1-70b-4-h100-serve", 120, 40);
	stage_shows(&s, "75.3 to 105 ms");
	stage_close(&s);
}

static void test_numbers_move_against_a_pinned_server(void **state)
{
	struct stage s;
	double tpot;

	(void)state;
	open_vllm(&s, 120, 36);
	tpot = s.explorer.estimate.serving.tpot_seconds;
	stage_type(&s, "p/tp\nl");
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	assert_true(s.explorer.estimate.serving.tpot_seconds != tpot);
	stage_shows(&s, "vs pinned");
	stage_shows(&s, "grey the pinned plan");
	stage_shows(&s, "%v of 79.1 GiB");
	stage_close(&s);
}

static void test_every_view_says_what_a_server_has(void **state)
{
	static const char *const marks[][3] = {
		[VIEW_OVERVIEW] = { "LATENCY", "bound by", "J/token" },
		[VIEW_MEMORY] = { "KV cache", "room for requests", "2 engines of 4" },
		[VIEW_TIMELINE] = { "requests decode", "prompt tokens", "of mixed" },
		[VIEW_TRAFFIC] = { "per pass", "decode pass", "attention output" },
		[VIEW_GRAPH] = { "kernels of a decode pass", "FLOP/B", "gate and up" },
		[VIEW_TOPOLOGY] = { "engine 0 of 2", "TP", "NVLink" },
		[VIEW_EXPLAIN] = { "Time per output token", "tpot_seconds", "behind" },
	};
	struct stage s;

	(void)state;
	open_vllm(&s, 120, 36);
	for (int view = 0; view <= VIEW_EXPLAIN; view++) {
		if (view == VIEW_SEARCH)
			continue;
		s.explorer.view = (enum view_id)view;
		for (int i = 0; i < 3; i++)
			stage_shows(&s, marks[view][i]);
		stage_lacks(&s, "micro-batch");
		stage_lacks(&s, "a step");
	}
	stage_close(&s);
}

static void test_the_roofline_changes_its_pass(void **state)
{
	struct stage s;

	(void)state;
	open_vllm(&s, 120, 36);
	s.explorer.view = VIEW_GRAPH;
	stage_lacks(&s, "prompt attention");
	stage_type(&s, "\tl");
	stage_shows(&s, "kernels of a pass over a prompt");
	stage_shows(&s, "prompt attention");
	stage_type(&s, "h");
	stage_shows(&s, "decode attention");
	for (int i = 0; i < 40; i++)
		stage_type(&s, "j");
	assert_true(s.explorer.state[VIEW_GRAPH].cursor < 40);
	stage_close(&s);
}

static void test_enter_takes_what_helps(void **state)
{
	struct stage s;

	(void)state;
	open_vllm(&s, 120, 36);
	stage_type(&s, "/tp\n=1\n");
	stage_shows(&s, "NO REQUEST FITS");
	stage_shows(&s, "S19");
	stage_shows(&s, "sets TP tensor 2");
	stage_type(&s, "\t");
	for (int i = 0; i < s.explorer.spots->count; i++)
		if (s.explorer.spots->item[i].kind == SPOT_REMEDY)
			memcpy(s.explorer.state[VIEW_OVERVIEW].key,
			       s.explorer.spots->item[i].key,
			       sizeof s.explorer.state[VIEW_OVERVIEW].key);
	stage_type(&s, "\n");
	assert_int_equal(s.explorer.scenario.plan.tp, 2);
	assert_true(s.explorer.estimate.feasible);
	stage_close(&s);
}

/* Every knob of a server, at every size: nothing is drawn outside, nothing fails. */
static void test_every_knob_and_size_of_a_server(void **state)
{
	static const int sizes[][2] = { { 1, 1 },   { 40, 10 },  { 60, 16 }, { 80, 24 },
					{ 99, 17 }, { 200, 60 }, { 300, 90 } };
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_serve(&s, "deepseek-v3", "hgx-h800", "sglang",
		    "gpus=64 tp=2 dp_attention=16 ep=32 precision=fp8_block pp=2");
	stage_key(&s, KEYS_HOME);
	for (int knob = 0; knob < 48; knob++) {
		canvas_resize(&s.canvas, sizes[knob % 7][0], sizes[knob % 7][1]);
		s.explorer.view = (enum view_id)(knob % (VIEW_TOPOLOGY + 1));
		stage_type(&s, knob == 3 ? "j" : "jlll");
		if (s.explorer.scenario.plan.mode == MODE_INFERENCE)
			stage_type(&s, "hh");
	}
	stage_close(&s);
}

/* Four GPUs of a node of eight are in one node: no domain is smaller than it. */
static void test_a_part_of_a_node_is_a_node(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "qwen3-32b-4-h100-serve", 120, 36);
	stage_type(&s, "6");
	stage_shows(&s, "TP tensor   4 ranks in one node: NVLink 4");
	stage_shows(&s, "4 GPUs, 8 per node; lit: ");
	stage_lacks(&s, "domain");
	/* one box has nothing beside it */
	stage_lacks(&s, ", between");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_switches_the_mode),
		cmocka_unit_test(test_the_mode_is_found_at_once),
		cmocka_unit_test(test_switching_keeps_what_was_set),
		cmocka_unit_test(test_the_verdict_tells_the_room),
		cmocka_unit_test(test_the_slowest_percent_is_told),
		cmocka_unit_test(
			test_no_mean_of_fewer_requests_stands_beside_the_estimate),
		cmocka_unit_test(test_a_key_opens_the_loop),
		cmocka_unit_test(test_a_server_without_room_has_no_numbers),
		cmocka_unit_test(test_the_slowest_have_room_at_80_columns),
		cmocka_unit_test(test_the_slowest_are_marked_on_the_line_of_the_mean),
		cmocka_unit_test(test_the_goals_end_at_one_number),
		cmocka_unit_test(test_no_range_is_cut),
		cmocka_unit_test(test_numbers_move_against_a_pinned_server),
		cmocka_unit_test(test_every_view_says_what_a_server_has),
		cmocka_unit_test(test_the_roofline_changes_its_pass),
		cmocka_unit_test(test_enter_takes_what_helps),
		cmocka_unit_test(test_every_knob_and_size_of_a_server),
		cmocka_unit_test(test_a_part_of_a_node_is_a_node),
	};

	setenv("HOME", NO_HOME, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
