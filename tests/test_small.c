/* test_small.c - on small screens what is said is said whole: no picture of any plan is
 * cut, and the last line tells what its keys do. */
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/view.h"

/* Where it is cut a line of a view may end with "~": advice, whose gain stands first,
 * and names of operators and collectives; a ring leaves out ranks and says how many. */
static bool may_be_cut(const char *line)
{
	static const char *const names[] = { "routing and combin", "sum of the ring",
					     "replicas' grad", "activations to h",
					     " more " };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strstr(line, names[i]))
			return true;
	return strncmp(line, "| i ", 4) == 0 || strncmp(line, "| ! ", 4) == 0 ||
	       strncmp(line, "| ~ ", 4) == 0;
}

static int cut_lines(struct stage *s, const char *plan)
{
	char *screen = stage_text(s), *rest = screen, *line;
	int edge = s->explorer.spots->view.x - 2, bad = 0;

	for (int y = 0; (line = strsep(&rest, "\n")); y++) {
		if (y < s->explorer.spots->view.y || (int)strlen(line) <= edge ||
		    y >= s->explorer.spots->view.y + s->explorer.spots->view.height ||
		    !strchr(line + edge, '~') || may_be_cut(line + edge))
			continue;
		print_error("%s: %s\n", plan, line + edge);
		bad++;
	}
	free(screen);
	return bad;
}

/* No number, link, heading or key of a picture is cut at 80 columns, of any plan and
 * against a pinned one. */
static void test_no_picture_is_cut(void **state)
{
	static const enum view_id views[] = { VIEW_OVERVIEW, VIEW_MEMORY, VIEW_TIMELINE,
					      VIEW_TRAFFIC, VIEW_TOPOLOGY };
	const struct preset *list;
	int count = preset_list(PRESET_PLAN, &list), bad = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct stage s;

		stage_open(&s, list[i].name, 80, 24);
		for (int turned = 0; turned < 2; turned++) {
			stage_type(&s, turned ? "pl" : "");
			for (size_t v = 0; v < sizeof views / sizeof views[0]; v++) {
				explorer_show(&s.explorer, views[v]);
				bad += cut_lines(&s, list[i].name);
			}
		}
		stage_close(&s);
	}
	assert_int_equal(bad, 0);
}

/* What to turn and what it gains comes before why, where there is no room for both. */
static void test_advice_keeps_its_gain(void **state)
{
	static const char *const gain[] = { "i SP on, +", " % tok/s", NULL };

	(void)state;
	stage_shows_all("opt-175b-992-a100", "", 80, 24, gain);
}

/* Where a group lies and over what it goes stands there whole, at 80 columns too. */
static void test_no_link_is_cut(void **state)
{
	static const char *const torus[] = {
		"S: all; in a box ICI torus, between data centre\n",
		"t TP  12 in one domain: ICI torus ",
		"d DP  512, 256 per domain: data centre ", NULL
	};
	static const char *const domain[] = { "DP  64 in one domain: NVLink 5 ", NULL };

	(void)state;
	stage_shows_all("palm-540b-6144-tpuv4", "6", 80, 24, torus);
	stage_shows_all("deepseek-v3-256-gb200", "6", 80, 24, domain);
}

/* The strip names the best value: by its sign where that is in sight. */
static void test_the_strip_says_which_value_is_best(void **state)
{
	static const char *const near[] = {
		"tok/s/GPU at each value of TP tensor, * the best\n", NULL
	};
	static const char *const far[] = {
		"tok/s/GPU at each value of micro-batch, best 2 -", NULL
	};
	static const char *const narrow[] = {
		"- tok/s/GPU at each global batch, best 12288 --\n", NULL
	};
	static const char *const run[] = {
		"- time of the run at each value of training run --\n", NULL
	};

	(void)state;
	stage_shows_all(NULL, "", 80, 24, near);
	stage_shows_all(NULL, "/mbs\n=64\n", 80, 24, far);
	stage_shows_all(NULL, "/gbs\n", 80, 24, narrow);
	/* of the fewest tokens nobody asks */
	stage_shows_all(NULL, "/training run\n", 80, 24, run);
}

/* At 80 columns too the last line has all that plays a step. */
static void test_a_narrow_line_keeps_what_plays(void **state)
{
	static const char *const knobs[] = { "a play ., step () speed +- zoom q quit",
					     NULL };
	static const char *const view[] = {
		"a play ., step () speed +- zoom S critical Enter why q quit", NULL
	};
	static const char *const other[] = { "= type Enter list i what Tab numbers",
					     NULL };

	(void)state;
	stage_shows_all(NULL, "3", 80, 24, knobs);
	stage_shows_all(NULL, "3\t", 80, 24, view);
	stage_shows_all(NULL, "4", 80, 24, other);
}

/* Names so long that they leave columns no room: what those would say stands below, of
 * the plan under the cursor. */
static void test_rates_of_servers_with_long_names(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "deepseek-v3-352-h800-serve", 80, 24);
	s.patient = true;
	stage_type(&s, "s");
	stage_shows(&s, " req/s $");
	stage_shows(&s, "plan 1, published: ");
	stage_close(&s);
	stage_open(&s, "llama3.1-70b-4-h100-serve", 80, 24);
	s.patient = true;
	stage_type(&s, "s");
	stage_shows(&s, ": 8.85 req/s TP2 PP2");
	stage_close(&s);
}

/* What goes there and back is named by where it goes. */
static void test_the_last_line_says_what_comes_next(void **state)
{
	static const char *const picture[] = { " S picture ", NULL };
	static const char *const table[] = { " S table ", NULL };
	static const char *const critical[] = { " S critical ", NULL };
	static const char *const all[] = { " S all ", NULL };

	(void)state;
	stage_shows_all(NULL, "5", 120, 36, picture);
	stage_shows_all(NULL, "5S", 120, 36, table);
	stage_shows_all(NULL, "5S\t", 120, 36, table);
	stage_shows_all(NULL, "5SS", 120, 36, picture);
	stage_shows_all(NULL, "3", 120, 36, critical);
	stage_shows_all(NULL, "3S", 120, 36, all);
}

/* Enter opens a row that others are folded into, before it takes a plan. */
static void test_the_last_line_says_what_enter_does(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-8b-8-h100", 120, 36);
	s.patient = true;
	stage_type(&s, "s");
	stage_shows(&s, " Enter open ");
	stage_type(&s, "\n");
	stage_shows(&s, " Enter take ");
	stage_shows(&s, " 1b ");
	stage_close(&s);
}

/* Half a number would be another one. */
static void test_a_list_cuts_no_number(void **state)
{
	static const char *const whole[] = {
		" TP 256 x PP 8 x CP 1 = 2048 does not divide 1024 GPUs ", NULL
	};

	(void)state;
	stage_shows_all("deepseek-v3-1024-h100", "\n", 80, 24, whole);
}

/* Where there is no room but for four numbers, a list that is open is told of. */
static void test_a_tiny_screen_says_how_to_leave(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 50, 8);
	stage_shows(&s, "keys work; q quits");
	stage_type(&s, "o");
	stage_shows(&s, "keys work; Esc goes back");
	stage_type(&s, "\33?");
	stage_shows(&s, "keys work; Esc goes back");
	stage_type(&s, "q");
	stage_shows(&s, "keys work; q quits");
	stage_close(&s);
}

/* A change takes no room from the range beside it: the unit stands once then. */
static void test_a_changed_run_keeps_its_ranges(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_shows(&s, "19.4 to 24.8 days ");
	stage_type(&s, "/gbs\n=16\n");
	stage_shows(&s, "35.2 days +67.3%^  32.4 to 41.5 ");
	stage_shows(&s, "60.2 MWh +39.6%^  55.5 to 71.0 ");
	stage_close(&s);
}

/* On a narrow screen too help says of every key all that there is to say. */
static void test_help_is_whole(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "?");
	for (int page = 0; page < 6; page++) {
		stage_lacks(&s, "~");
		stage_key(&s, KEYS_PAGE_DOWN);
	}
	stage_type(&s, "G");
	stage_shows(&s, "help, lists and explanations:");
	stage_close(&s);
}

/* Advice that is shortened still says which knob to turn. */
static void test_short_advice_names_its_knob(void **state)
{
	static const char *const text[] = { ": micro-batch 1, +21.3 % tok/s", NULL };

	(void)state;
	stage_shows_all("llama3-70b-64-h100", "/gbs\n=16\n", 80, 24, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_advice_names_its_knob),
		cmocka_unit_test(test_no_picture_is_cut),
		cmocka_unit_test(test_advice_keeps_its_gain),
		cmocka_unit_test(test_no_link_is_cut),
		cmocka_unit_test(test_the_strip_says_which_value_is_best),
		cmocka_unit_test(test_a_narrow_line_keeps_what_plays),
		cmocka_unit_test(test_rates_of_servers_with_long_names),
		cmocka_unit_test(test_the_last_line_says_what_comes_next),
		cmocka_unit_test(test_the_last_line_says_what_enter_does),
		cmocka_unit_test(test_a_list_cuts_no_number),
		cmocka_unit_test(test_a_tiny_screen_says_how_to_leave),
		cmocka_unit_test(test_help_is_whole),
		cmocka_unit_test(test_a_changed_run_keeps_its_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
