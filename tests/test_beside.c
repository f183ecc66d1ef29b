/* test_beside.c - two views side by side where the screen is wide: who is drawn, who
 * has the keys, and what a click or the wheel does there. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/view.h"

static int beside(const struct stage *s)
{
	return beside_view(&s->explorer, s->canvas.width);
}

static struct stage wide;

static void open_wide(int width, int height)
{
	stage_open(&wide, NULL, width, height);
}

static void test_explain_stands_beside_any_view(void **state)
{
	(void)state;
	for (int width = 80; width <= 200; width += 40) {
		open_wide(width, 45);
		for (int view = 0; view < VIEW_EXPLAIN; view++) {
			stage_key(&wide, '1' + view);
			bool one = width < 160 || view == VIEW_SEARCH;
			assert_int_equal(beside(&wide), one ? -1 : VIEW_EXPLAIN);
			if (one)
				stage_lacks(&wide, "in this scenario");
			else
				stage_shows(&wide, "in this scenario");
		}
		stage_close(&wide);
	}
}

/* It begins with what the view is about, until somebody asks for a number. */
static void test_explain_begins_with_the_number_of_the_view(void **state)
{
	static const char *const about[] = { "step_seconds", "total_bytes",
					     "bubble_ratio", "tp.bytes",
					     "compute_seconds" };

	(void)state;
	open_wide(200, 60);
	for (int view = 0; view < 5; view++) {
		stage_key(&wide, '1' + view);
		stage_shows(&wide, about[view]);
		assert_string_equal(wide.explorer.explained, about[view]);
	}
	/* the law that its assumption names stands there with its value */
	stage_key(&wide, '3');
	stage_shows(&wide, "to compare with");
	stage_shows(&wide, "equal         4.5 %");
	/* what the cursor is on, while it is there; and opened by its tab the same */
	stage_type(&wide, "1\tjj");
	assert_string_not_equal(wide.explorer.explained, "step_seconds");
	stage_type(&wide, "\t28");
	assert_string_equal(wide.explorer.explained, "total_bytes");
	/* who asks is not told something else */
	stage_type(&wide, "\33/mfu\n");
	assert_string_equal(wide.explorer.explained, "mfu");
	stage_type(&wide, "\0333");
	assert_string_equal(wide.explorer.explained, "mfu");
	stage_close(&wide);
}

/* Traffic: with the split that sends most, TP or DP; of one
 * GPU there is none. */
static void test_explain_of_traffic_is_about_traffic(void **state)
{
	static const struct {
		const char *plan, *about, *title;
	} of[] = { { "llama3-70b-64-h100", "tp.bytes",
		     "| TP: Bytes sent per GPU and step  " },
		   { "llama3-8b-8-h100", "dp.bytes", "| DP: Bytes sent" },
		   { "gpt-oss-120b-1-h200-serve", "exposed_seconds",
		     "| Time per output token" } };

	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
		stage_open(&wide, of[i].plan, 200, 60);
		stage_key(&wide, '4');
		assert_string_equal(wide.explorer.explained, of[i].about);
		stage_shows(&wide, of[i].title);
		stage_close(&wide);
	}
}

static void test_the_bar_chooses_the_second_view(void **state)
{
	static const int order[] = { VIEW_OVERVIEW, VIEW_TIMELINE, VIEW_TRAFFIC,
				     VIEW_GRAPH,    VIEW_TOPOLOGY, -1,
				     VIEW_EXPLAIN };

	(void)state;
	open_wide(200, 60);
	stage_key(&wide, '2');
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		stage_key(&wide, '|');
		assert_int_equal(beside(&wide), order[i]);
	}
	/* what is chosen stays beside other views, and never beside itself */
	stage_type(&wide, "|1");
	assert_int_equal(beside(&wide), -1);
	stage_key(&wide, '4');
	assert_int_equal(beside(&wide), VIEW_OVERVIEW);
	stage_shows(&wide, "THROUGHPUT");
	stage_shows(&wide, "attention input");
	stage_close(&wide);
	open_wide(120, 36);
	stage_key(&wide, '|');
	stage_shows(&wide, "need 160 columns; this screen has 120");
	stage_close(&wide);
}

static void test_explain_follows_the_cursor(void **state)
{
	(void)state;
	open_wide(160, 45);
	stage_type(&wide, "\t\33[");
	stage_type(&wide, "1");
	wide.explorer.pane = PANE_VIEW;
	for (int i = 0; i < 8; i++) {
		stage_key(&wide, KEYS_DOWN);
		const char *key = wide.explorer.state[VIEW_OVERVIEW].key;
		if (metric_find(key))
			assert_string_equal(wide.explorer.explained, key);
	}
	stage_close(&wide);
}

/* Enter takes the focus over to Explain; the view that it came from stays in its place,
 * and Esc goes back to it. */
static void test_enter_moves_into_explain_and_esc_back(void **state)
{
	struct rect before, after;

	(void)state;
	open_wide(200, 60);
	stage_key(&wide, '\t');
	stage_key(&wide, KEYS_DOWN);
	before = wide.explorer.spots->view;
	stage_key(&wide, '\n');
	assert_int_equal(wide.explorer.view, VIEW_EXPLAIN);
	assert_int_equal(beside(&wide), VIEW_OVERVIEW);
	after = wide.explorer.spots_beside->view;
	assert_int_equal(before.x, after.x);
	assert_true(wide.explorer.spots->view.x > after.x + after.width);
	stage_shows(&wide, "THROUGHPUT");
	stage_key(&wide, 033);
	assert_int_equal(wide.explorer.view, VIEW_OVERVIEW);
	assert_int_equal(wide.explorer.pane, PANE_VIEW);
	assert_int_equal(beside(&wide), VIEW_EXPLAIN);
	stage_close(&wide);
}

static const struct spot *spot_of(const struct spots *spots, const char *key)
{
	for (int i = 0; i < spots->count; i++)
		if (strcmp(spots->item[i].key, key) == 0)
			return &spots->item[i];
	fail_msg("%s can't be pointed at", key);
	return NULL;
}

static void test_the_mouse_works_beside(void **state)
{
	const struct spot *spot;
	struct rect right;

	(void)state;
	open_wide(200, 60);
	stage_key(&wide, '4');
	stage_key(&wide, '|'); /* Overview beside Traffic */
	spot = spot_of(wide.explorer.spots_beside, "mfu");
	stage_act(&wide,
		  (struct action){ ACTION_CLICK, 0, spot->rect.x, spot->rect.y });
	assert_int_equal(wide.explorer.view, VIEW_EXPLAIN);
	assert_string_equal(wide.explorer.explained, "mfu");
	/* Traffic lies under it; Explain is on the right */
	assert_int_equal(explorer_view_below(&wide.explorer), VIEW_TRAFFIC);
	stage_key(&wide, 'q');
	assert_int_equal(wide.explorer.view, VIEW_TRAFFIC);
	assert_false(wide.quit);
	stage_close(&wide);
	/* the wheel scrolls what is under it */
	open_wide(160, 20);
	stage_type(&wide, "4");
	right = wide.explorer.spots_beside->view;
	int row = wide.explorer.row;
	for (int i = 0; i < 3; i++)
		stage_act(&wide,
			  (struct action){ ACTION_WHEEL, 1, right.x + 2, right.y + 2 });
	assert_int_equal(wide.explorer.state[VIEW_EXPLAIN].first, 3);
	assert_int_equal(wide.explorer.row, row);
	stage_close(&wide);
}

/* Where there is room, the numbers behind the terms stand below. */
static void test_explain_goes_deeper_where_there_is_room(void **state)
{
	(void)state;
	open_wide(200, 60);
	explorer_point_out(&wide.explorer, "bubble_seconds");
	stage_shows(&wide, " Bubble ratio ");
	stage_close(&wide);
	open_wide(160, 24);
	explorer_point_out(&wide.explorer, "bubble_seconds");
	stage_lacks(&wide, " Bubble ratio ");
	stage_close(&wide);
}

/* Overview fills the half of a screen of 160 columns: the run stands there, and the
 * numbers of time, not their shortest form. */
static void test_overview_fills_its_half(void **state)
{
	(void)state;
	open_wide(160, 45);
	stage_type(&wide, "3|"); /* Overview beside Timeline */
	stage_shows(&wide, "bubble ratio ");
	stage_shows(&wide, "RUN of 100 B tokens");
	stage_shows(&wide, "CO2 ");
	stage_close(&wide);
}

static int count_strips(struct stage *s)
{
	char *screen = stage_text(s);
	int count = 0;

	assert_non_null(screen);
	for (const char *at = screen; (at = strstr(at, " at each value of ")); at++)
		count++;
	free(screen);
	return count;
}

/* The strip and advice of Overview do not stand a second time under the view beside
 * it; without Overview they stand under the open view. */
static void test_the_strip_stands_once(void **state)
{
	static const int sizes[][2] = { { 160, 45 }, { 200, 60 } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_wide(sizes[i][0], sizes[i][1]);
		stage_key(&wide, '3');
		assert_int_equal(count_strips(&wide), 1);
		stage_key(&wide, '|');
		assert_int_equal(beside(&wide), VIEW_OVERVIEW);
		for (int view = 1; view < VIEW_EXPLAIN; view++) {
			stage_key(&wide, '1' + view);
			assert_int_equal(count_strips(&wide), 1);
		}
		stage_close(&wide);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain_stands_beside_any_view),
		cmocka_unit_test(test_explain_begins_with_the_number_of_the_view),
		cmocka_unit_test(test_explain_of_traffic_is_about_traffic),
		cmocka_unit_test(test_the_bar_chooses_the_second_view),
		cmocka_unit_test(test_explain_follows_the_cursor),
		cmocka_unit_test(test_enter_moves_into_explain_and_esc_back),
		cmocka_unit_test(test_the_mouse_works_beside),
		cmocka_unit_test(test_explain_goes_deeper_where_there_is_room),
		cmocka_unit_test(test_overview_fills_its_half),
		cmocka_unit_test(test_the_strip_stands_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
