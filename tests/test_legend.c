/* test_legend.c - what a colour or a letter of a picture means stands beside it, in
 * every size of the screen, and no sentence around it is cut. */
#include <stdio.h>

#include <string.h>

#include "tests/support/close.h"
#include "tests/support/stage.h"

static const int sizes[3][2] = { { 80, 24 }, { 120, 36 }, { 200, 60 } };

static void test_memory_of_overview_has_its_key(void **state)
{
	static const char *const parts[] = { "# weights ",
					     "= gradients ",
					     "+ optimizer ",
					     ": activations",
					     "& buffers ",
					     "% framework",
					     NULL };
	static const char *const named[] = { " weights ",     " KV cache ",
					     ": activations", "& buffers",
					     "% framework",   NULL };
	static const char *const served[] = { "# weights ",    "k KV cache ",
					      ": activations", "& buffers ",
					      "% framework ",  NULL };

	(void)state;
	for (int i = 0; i < 3; i++) {
		stage_shows_all(NULL, "", sizes[i][0], sizes[i][1], parts);
		/* on a narrow screen the bar names what it has room for */
		stage_shows_all("llama3.1-70b-4-h100-serve", "", sizes[i][0],
				sizes[i][1], i > 0 ? served : named);
	}
}

/* Below the bar of a pass stand the keys of what it can't name. */
static void test_a_pass_has_its_key(void **state)
{
	static const char *const below[] = { " memory rrr", "t network  _ overhead\n",
					     NULL };
	static const char *const wide[] = { "# compute  r memory", "_ overhead", NULL };

	(void)state;
	stage_shows_all("mixtral-8x7b-2-h100-serve", "", 80, 24, below);
	stage_shows_all("llama3.1-70b-4-h100-serve", "", 120, 36, wide);
}

/* The key takes room from the label alone: what has changed stands there too. */
static void test_a_key_hides_no_change(void **state)
{
	static const char *const text[] = { "= gradients 4.31 GiB -49%v",
					    ": activations 21.3 GiB -49%v",
					    "+ optimizer 12.9 GiB +1.9%^",
					    "% framework 2.86 GiB  -28%v", NULL };

	(void)state;
	stage_shows_all(NULL, "pl", 120, 36, text);
}

static void test_stages_have_their_key(void **state)
{
	static const char *const text[] = { "# busy  t exposed  _ idle  o optimizer",
					    NULL };

	(void)state;
	stage_shows_all(NULL, "", 200, 60, text);
}

static void test_the_timeline_names_what_is_held(void **state)
{
	static const char *const narrow[] = {
		"# activations ^ 41.9 GiB at 607 ms, stage 0", NULL
	};
	static const char *const wide[] = { "# activations held ^ peak: 41.9 GiB "
					    "after 607 ms on stage 0",
					    NULL };

	(void)state;
	stage_shows_all(NULL, "3", 80, 24, narrow);
	stage_shows_all(NULL, "3", 120, 36, wide);
	stage_shows_all(NULL, "3", 200, 60, wide);
}

/* Only kinds of work that a server has, and which pass is which. */
static void test_passes_have_their_key(void **state)
{
	static const char *const text[] = { "D decode  M mixed", "h host", NULL };
	struct stage s;

	(void)state;
	for (int i = 0; i < 3; i++)
		stage_shows_all("llama3.1-70b-4-h100-serve", "3", sizes[i][0],
				sizes[i][1], text);
	stage_open(&s, "llama3.1-70b-4-h100-serve", 80, 24);
	stage_type(&s, "3");
	stage_shows(&s, "68 % of passes with prompts\n");
	stage_lacks(&s, "e EP");
	stage_close(&s);
}

static void test_the_roof_is_named(void **state)
{
	static const char *const text[] = { "line: the GPU's limit",
					    "FLOPs per byte of memory traffic", NULL };

	(void)state;
	stage_shows_all("llama3.1-70b-4-h100-serve", "5", 120, 36, text);
}

static void test_the_front_is_named(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	s.patient = true;
	stage_type(&s, "s");
	stage_shows(&s, "line: best for its memory  @ open plan");
	stage_close(&s);
}

/* The colour says what the words do: a mend that does not fit is not green. */
static void test_a_mend_that_does_not_fit_is_no_good_news(void **state)
{
	struct stage s;
	int x = -1, y = 0;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/mbs\n=32\n/tp\n=3\n");
	stage_shows(&s, "sets TP tensor 2: does not fit, ");
	for (int i = 0; i < s.canvas.width * s.canvas.height && x < 0; i++)
		if (s.canvas.cell[i].code == 's' && s.canvas.cell[i + 1].code == 'e' &&
		    s.canvas.cell[i + 2].code == 't' &&
		    s.canvas.cell[i + 3].code == 's') {
			x = i % s.canvas.width;
			y = i / s.canvas.width;
		}
	assert_true(x > 0);
	assert_int_equal(s.canvas.cell[y * s.canvas.width + x].fore, ROLE_WARNING);
	stage_close(&s);
}

static void test_traffic_has_its_key(void **state)
{
	static const char *const text[] = { "t TP 7.06 s  p PP 0 s  d DP 8.41 ms",
					    NULL };

	(void)state;
	for (int i = 0; i < 3; i++)
		stage_shows_all(NULL, "4", sizes[i][0], sizes[i][1], text);
}

/* What stands above a picture ends with a word, at 80 columns too. */
static void test_no_headline_of_a_picture_is_cut(void **state)
{
	static const char *const links[] = {
		"lit: all (S); in a box NVLink 4, between IB NDR\n", NULL
	};
	static const char *const pinned[] = { "128 micro-batches: 47.6 s  //\n", NULL };
	static const char *const large[] = { "16 micro-batches: 6.20 s\n",
					     "forward 0, chunk 0  critical\n", NULL };
	static const char *const played[] = { "time: 6.20 s  event 2 of 4096, Esc: all",
					      NULL };
	static const char *const pods[] = { "DP  512, 256 per domain: data centre",
					    NULL };
	static const char *const rings[] = { "DP  128, 1 per node: IB NDR", NULL };
	static const char *const step[] = {
		"r recompute  d DP  _ bubble  o optimizer\n", NULL
	};
	static const char *const cache[] = { "cache, tokens ", "most requests ", NULL };
	static const char *const curve[] = { "- tok/s per GPU over tok/s per user --\n",
					     NULL };
	static const char *const both[] = {
		"- tok/s per GPU over per user, grey: pinned --\n", NULL
	};

	(void)state;
	stage_shows_all(NULL, "6", 80, 24, links);
	stage_shows_all(NULL, "3pl", 80, 24, pinned);
	stage_shows_all("llama3-405b-16k-h100", "3", 80, 24, large);
	stage_shows_all("llama3-405b-16k-h100", "3.", 80, 24, played);
	stage_shows_all("llama3-405b-16k-h100", "6", 80, 24, rings);
	stage_shows_all("palm-540b-6144-tpuv4", "6", 120, 36, pods);
	stage_shows_all("llama3-405b-16k-h100", "", 80, 24, step);
	stage_shows_all("llama3.1-70b-4-h100-serve", "2", 80, 24, cache);
	stage_shows_all("llama3.1-70b-4-h100-serve", "", 80, 24, curve);
	stage_shows_all("llama3.1-70b-4-h100-serve", "ph", 80, 24, both);
}

/* Two views side by side leave each less: what would be cut is said shorter or not. */
static void test_side_by_side_nothing_is_cut(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 160, 45);
	stage_type(&s, "3|");
	stage_shows(&s, "layers per stage: 20 20 20 20 ");
	stage_lacks(&s, "20~");
	stage_shows(&s, "MFU: useful share of the peak speed\n");
	stage_close(&s);
}

/* Of two plans on one screen every stage, where there are rows for all. */
static void test_two_plans_show_all_their_stages(void **state)
{
	static const char *const idle[] = { "7.9%\n", "8.5%\n", "4.3%\n", "4.9%\n",
					    "5.7%\n", "2.2%\n", NULL };

	(void)state;
	stage_shows_all(NULL, "3pl", 80, 24, idle);
}

/* Without colours a frame is no slab: what is reversed is the rank alone. */
static void test_a_frame_is_drawn_with_lines(void **state)
{
	struct stage s;
	int corners = 0;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "6");
	stage_shows(&s, "+node 0");
	for (int i = 35; i < s.canvas.width * 30; i++) {
		const struct cell *cell = &s.canvas.cell[i];

		if (cell->code != '+' || i % s.canvas.width < 35)
			continue;
		corners++;
		assert_int_not_equal(cell->fore, ROLE_FOCUS);
	}
	assert_true(corners > 30);
	stage_close(&s);
}

/* What does not differ is said in words: "+0 s =" would wait for its sum. */
static void test_the_best_plan_is_compared_in_words(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	s.patient = true;
	stage_type(&s, "s\n");
	stage_shows(&s, "your plan spends no more time than the best\n");
	stage_shows(&s, "your plan holds as much as the best\n");
	stage_lacks(&s, "+0 ");
	stage_close(&s);
}

/* The name of a found plan in words, which a narrow view can't hold, ends with "~". */
static void test_a_long_name_says_that_it_goes_on(void **state)
{
	static const char *const text[] = {
		"plan 1, in parts: mbs1 TP2 noSP CP2 Z3 sel layern~\n", NULL
	};
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	s.patient = true;
	stage_type(&s, "s");
	stage_shows(&s, text[0]);
	stage_close(&s);
}

static void test_one_stage_has_no_pipeline(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/pp\n=1\n/recompute\n=full\n3");
	stage_shows(&s, "one stage: no bubble; activations of one micro-batch");
	stage_shows(&s, "# compute  ");
	stage_shows(&s, "B backward");
	stage_lacks(&s, "_ idle");
	stage_lacks(&s, "Megatron's layout");
	stage_lacks(&s, "activations held");
	stage_close(&s);
}

/* The string is Megatron's: no other stack is told its stages so. */
static void test_only_megatron_has_its_layout(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "3");
	stage_shows(&s, "as Megatron's layout");
	snprintf(s.explorer.scenario.stack.name, sizeof s.explorer.scenario.stack.name,
		 "nanotron");
	stage_shows(&s, "layers per stage:");
	stage_lacks(&s, "Megatron's layout");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_of_overview_has_its_key),
		cmocka_unit_test(test_a_pass_has_its_key),
		cmocka_unit_test(test_a_key_hides_no_change),
		cmocka_unit_test(test_stages_have_their_key),
		cmocka_unit_test(test_the_timeline_names_what_is_held),
		cmocka_unit_test(test_passes_have_their_key),
		cmocka_unit_test(test_the_roof_is_named),
		cmocka_unit_test(test_the_front_is_named),
		cmocka_unit_test(test_a_mend_that_does_not_fit_is_no_good_news),
		cmocka_unit_test(test_traffic_has_its_key),
		cmocka_unit_test(test_no_headline_of_a_picture_is_cut),
		cmocka_unit_test(test_side_by_side_nothing_is_cut),
		cmocka_unit_test(test_two_plans_show_all_their_stages),
		cmocka_unit_test(test_a_frame_is_drawn_with_lines),
		cmocka_unit_test(test_the_best_plan_is_compared_in_words),
		cmocka_unit_test(test_a_long_name_says_that_it_goes_on),
		cmocka_unit_test(test_one_stage_has_no_pipeline),
		cmocka_unit_test(test_only_megatron_has_its_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
