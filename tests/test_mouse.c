/* test_mouse.c - clicks and the wheel go by place, whichever pane has the focus; layers
 * close one by one and give the focus back. */
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tui/views/timeline.h"

static void click(struct stage *s, int x, int y)
{
	stage_act(s, (struct action){ ACTION_CLICK, 0, x, y });
}

/* Where a text stands on the screen, from row `from` on. */
static void locate(struct stage *s, const char *text, int from, int *x, int *y)
{
	const struct canvas *c = &s->canvas;
	int length = (int)strlen(text);

	for (*y = from; *y < c->height; ++*y)
		for (*x = 0; *x + length <= c->width; ++*x) {
			const struct cell *cell = c->cell + *y * c->width + *x;
			int same = 0;

			while (same < length &&
			       cell[same].code == (unsigned char)text[same])
				same++;
			if (same == length)
				return;
		}
	stage_shows(s, text); /* fails, with the screen */
	fail();
}

static void click_text(struct stage *s, const char *text, int from)
{
	int x, y;

	locate(s, text, from, &x, &y);
	click(s, x, y);
}

/* The only row of a part of the screen that is lit as the cursor's; -1: none. */
/* The first: a strip below has a bar of that colour. */
static int lit_row(const struct stage *s, struct rect rect)
{
	for (int y = rect.y; y < rect.y + rect.height; y++)
		if (s->canvas.cell[y * s->canvas.width + rect.x + 1].back == ROLE_FOCUS)
			return y;
	return -1;
}

static void test_nothing_but_a_second_click_takes(void **state)
{
	struct stage s;
	struct scenario before;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	before = s.explorer.scenario;
	for (int view = 0; view < VIEW_HELP; view++)
		for (int y = 0; y < 36; y++)
			for (int x = 0; x < 120; x += 3) {
				bool press = mouse_press(&s.explorer, x, y).kind !=
					     ACTION_NONE;
				bool left = x < s.explorer.spots->view.x;

				explorer_show(&s.explorer, (enum view_id)view);
				s.explorer.pane = left ? PANE_VIEW : PANE_KNOBS;
				stage_act(&s, (struct action){ ACTION_WHEEL, 1, x, y });
				stage_act(&s,
					  (struct action){ ACTION_WHEEL, -1, x, y });
				if (!press)
					click(&s, x, y);
				assert_int_equal(s.explorer.mode, MODE_NORMAL);
			}
	assert_memory_equal(&s.explorer.scenario, &before, sizeof before);
	stage_close(&s);
}

/* The wheel scrolls what it is over, whichever pane has the focus. */
static void test_the_wheel_scrolls_what_is_under_it(void **state)
{
	const struct action down = { ACTION_WHEEL, 1, 0, 0 };
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	stage_type(&s, "8");
	for (int pane = 0; pane < PANE_COUNT; pane++) {
		struct action over = down;
		int row, first;

		s.explorer.pane = (enum pane)pane;
		over.x = s.explorer.spots->knobs.x + 3;
		over.y = s.explorer.spots->knobs.y + 3;
		row = s.explorer.row;
		first = s.explorer.state[VIEW_EXPLAIN].first;
		stage_act(&s, over);
		assert_int_equal(s.explorer.row, row + 1);
		assert_int_equal(s.explorer.state[VIEW_EXPLAIN].first, first);
		over.x = s.explorer.spots->view.x + 3;
		stage_act(&s, over);
		assert_int_equal(s.explorer.row, row + 1);
		assert_true(s.explorer.state[VIEW_EXPLAIN].first > first);
	}
	stage_close(&s);
}

static void test_tabs_are_clicked_from_both_panes(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	for (int pane = 0; pane < PANE_COUNT; pane++)
		for (int i = 0; i < VIEW_COUNT; i++) {
			if (!view_table[i].tab)
				continue;
			s.explorer.pane = (enum pane)pane;
			click_text(&s, view_table[i].title, 1);
			assert_int_equal(s.explorer.view, i);
		}
	click_text(&s, "? keys", 1);
	assert_int_equal(s.explorer.view, VIEW_HELP);
	stage_close(&s);
}

static void test_a_number_is_pointed_at_and_explained(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	click_text(&s, "bubble ratio", 3);
	assert_int_equal(s.explorer.pane, PANE_VIEW);
	assert_string_equal(s.explorer.state[VIEW_OVERVIEW].key, "bubble_ratio");
	click_text(&s, "bubble ratio", 3);
	assert_int_equal(s.explorer.view, VIEW_EXPLAIN);
	assert_string_equal(s.explorer.explained, "bubble_ratio");
	stage_close(&s);
}

static void test_a_knob_is_chosen_and_turned(void **state)
{
	struct stage s;
	int x, y;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "\t");
	click_text(&s, "PP  pipeline", 3);
	assert_int_equal(s.explorer.pane, PANE_KNOBS);
	assert_string_equal(explorer_knob(&s.explorer)->key, "pp");
	locate(&s, "<", s.explorer.spots->knobs.y, &x, &y);
	click(&s, x, y);
	assert_int_equal(s.explorer.scenario.plan.pp, 2);
	/* a second click on the knob is Enter: its values */
	click_text(&s, "PP  pipeline", 3);
	assert_int_equal(s.explorer.mode, MODE_PICKER);
	stage_close(&s);
}

static bool is_blank(const struct stage *s, struct rect rect, int y)
{
	for (int x = rect.x; x < rect.x + rect.width; x++)
		if (s->canvas.cell[y * s->canvas.width + x].code != ' ')
			return false;
	return true;
}

/* The row under the mouse becomes the lit one, scrolled or not; what stands behind a
 * blank row is another list or a picture. */
static void check_rows(struct stage *s, enum view_id view, int from)
{
	struct rect rect;
	int rows = 0;

	explorer_show(&s->explorer, view);
	for (int end = 0; end < 2; end++) {
		s->explorer.pane = PANE_VIEW;
		stage_key(s, end ? 'G' : 'g');
		rect = s->explorer.spots->view;
		for (int y = rect.y + from; y < rect.y + rect.height; y++) {
			int was = s->explorer.state[view].cursor;

			if (view == VIEW_GRAPH && from == 3 && is_blank(s, rect, y))
				break;
			s->explorer.pane = PANE_KNOBS;
			click(s, rect.x + 4, y);
			if (s->explorer.state[view].cursor == was)
				continue; /* no row, or the row itself */
			assert_int_equal(lit_row(s, rect), y);
			rows++;
		}
	}
	assert_true(rows > 3);
}

static void test_rows_are_clicked(void **state)
{
	static const int size[3][2] = { { 80, 24 }, { 120, 36 }, { 200, 60 } };
	struct stage s;

	(void)state;
	for (int i = 0; i < 3; i++) {
		stage_open(&s, "deepseek-v3-1024-h100", size[i][0], size[i][1]);
		check_rows(&s, VIEW_TRAFFIC, 1);
		check_rows(&s, VIEW_GRAPH, 3);
		explorer_show(&s.explorer, VIEW_SEARCH);
		stage_shows(&s, "best");
		check_rows(&s, VIEW_SEARCH, 1);
		stage_serve(&s, "llama3.1-8b", "dgx-h100", "vllm",
			    "gpus=8 tp=1 concurrency=64");
		check_rows(&s, VIEW_GRAPH, 1);
		check_rows(&s, VIEW_TIMELINE, 1);
		stage_close(&s);
	}
}

/* Taller bars where there is room; each of their rows belongs to its stage, and the
 * numbers stand at them. */
static void test_stages_of_memory_are_clicked(void **state)
{
	static const char *const total[] = { "0  71.5", "1  59.0", "2  48.1",
					     "3  40.4" };
	struct stage s;
	int x, y, number, first, last;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	stage_type(&s, "2");
	locate(&s, total[3], 5, &x, &last);
	for (int stage = 1; stage < 4; stage++) {
		locate(&s, total[stage], 5, &x, &y);
		click(&s, x + 40, y + 3);
		assert_int_equal(s.explorer.state[VIEW_MEMORY].cursor, stage);
	}
	/* their heading is none, nor is what stands above it */
	locate(&s, "stage    total", 5, &x, &y);
	for (int up = 0; up < 3; up++) {
		click(&s, x + 40, y - up);
		assert_int_equal(s.explorer.state[VIEW_MEMORY].cursor, 3);
	}
	/* the numbers stand at their bars, whose place is used */
	locate(&s, total[0], 5, &x, &first);
	locate(&s, "weights", 3, &x, &number);
	assert_in_range(first - number, 1, 6);
	assert_true(last - first > (s.explorer.spots->view.height - 4) / 3);
	stage_close(&s);
}

static void test_an_item_of_the_timeline_is_clicked(void **state)
{
	const struct cell *cell;
	struct rect chart;
	struct stage s;
	int rows;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/gbs\n=16\n3");
	chart = s.explorer.spots->chart;
	rows = timeline_rows(chart, &s.explorer.play->timeline);
	for (int y = chart.y + rows - 1; y < chart.y + 4 * rows; y += rows) {
		click(&s, chart.x + chart.width / 2, y);
		assert_int_equal(s.explorer.pane, PANE_VIEW);
		/* the mark is in this lane and covers the column */
		assert_int_equal(s.explorer.state[VIEW_TIMELINE].choice,
				 (y - chart.y) / rows);
		assert_true(s.canvas.cursor_x <= chart.x + chart.width / 2);
	}
	stage_shows(&s, "stage 3");
	/* it is marked by a sign on a painted ground, not by a hole */
	cell = &s.canvas.cell[s.canvas.cursor_y * 120 + s.canvas.cursor_x];
	assert_true(cell->code == '*' && cell->back == ROLE_FOCUS && !cell->reverse);
	/* again: Enter, which explains */
	click(&s, chart.x + chart.width / 2, chart.y + 4 * rows - 1);
	assert_int_equal(s.explorer.view, VIEW_EXPLAIN);
	stage_close(&s);
}

static void test_keys_of_the_footer_are_clicked(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	click_text(&s, "Tab numbers", 35);
	assert_int_equal(s.explorer.pane, PANE_VIEW);
	click_text(&s, "p pin", 35);
	assert_true(s.explorer.pinned);
	stage_type(&s, "\t");
	click_text(&s, "<> value", 35);
	assert_int_equal(s.explorer.scenario.plan.tp, 4);
	click_text(&s, "> value", 35);
	assert_int_equal(s.explorer.scenario.plan.tp, 8);
	click_text(&s, "o open", 35);
	assert_int_equal(s.explorer.mode, MODE_PICKER);
	/* what is under the list does not answer */
	click(&s, 4, 1);
	assert_int_equal(s.explorer.view, VIEW_OVERVIEW);
	click_text(&s, "cluster", 9);
	assert_int_equal(s.explorer.picker.preset, PRESET_CLUSTER);
	click_text(&s, "Esc back", 35);
	assert_int_equal(s.explorer.mode, MODE_NORMAL);
	click_text(&s, "/ find", 35);
	assert_int_equal(s.explorer.mode, MODE_PROMPT);
	click_text(&s, "Esc cancels", 35);
	assert_int_equal(s.explorer.mode, MODE_NORMAL);
	click_text(&s, "q quit", 35);
	assert_true(s.quit);
	stage_close(&s);
}

/* Beside a longer plan, a lane ends with its plan: nothing idles behind it. */
static void test_a_shorter_plan_ends_where_it_ends(void **state)
{
	struct stage s;
	struct rect chart;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "po405\n3-"); /* no time left out */
	chart = s.explorer.spots->chart;
	/* below the item under the cursor */
	for (int y = chart.y + 1; y < chart.y + 5; y++) {
		const struct cell *row = s.canvas.cell + y * 120 + chart.x;

		assert_int_equal(row[5].code, 'F');
		for (int x = chart.width / 2; x < chart.width - 8; x++)
			assert_int_equal(row[x].code, ' ');
		/* 16 stages in fewer rows: a scrollbar says so */
		assert_true(row[3].code == '#' || row[3].code == '|');
	}
	stage_close(&s);
}

/* Every hint of the footer that is a key does what the key does. */
static void test_the_footer_tells_the_truth(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 200, 60);
	for (int view = 0; view < VIEW_COUNT; view++)
		for (int pane = 0; pane < PANE_COUNT; pane++) {
			explorer_show(&s.explorer, (enum view_id)view);
			s.explorer.pane = (enum pane)pane;
			stage_shows(&s, ""); /* searched to the end */
			for (int x = 0; x < 200; x++) {
				enum action_kind kind =
					mouse_press(&s.explorer, x, 59).kind;
				struct explorer *e = &s.explorer;
				unsigned changed;

				if (kind == ACTION_NONE)
					continue;
				assert_true(kind != ACTION_TEXT);
				changed = explorer_handle(
					e, (struct action){ ACTION_CLICK, 0, x, 59 });
				if (changed == CHANGED_NOTHING)
					fail_msg("view %d, pane %d, column %d: action "
						 "%d does nothing",
						 view, pane, x, (int)kind);
				if (changed & CHANGED_SCENARIO)
					explorer_update(e);
				e->mode = MODE_NORMAL;
				e->message[0] = '\0';
				explorer_show(e, (enum view_id)view);
				e->pane = (enum pane)pane;
			}
		}
	stage_close(&s);
}

static void test_layers_close_and_give_the_focus_back(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 80, 24);
	for (const char *leave = "\33q?"; *leave != '\0'; leave++) {
		stage_key(&s, '?');
		assert_int_equal(s.explorer.view, VIEW_HELP);
		stage_shows(&s, "Esc back");
		stage_lacks(&s, "q quit");
		stage_key(&s, *leave);
		assert_int_equal(s.explorer.view, VIEW_OVERVIEW);
		assert_int_equal(s.explorer.pane, PANE_KNOBS);
		stage_shows(&s, "<> value");
		stage_shows(&s, "q quit");
		assert_false(s.quit);
	}
	/* help over an explanation over the timeline */
	stage_type(&s, "3\t\n");
	assert_int_equal(s.explorer.view, VIEW_EXPLAIN);
	stage_type(&s, "?\t");
	stage_type(&s, "q");
	assert_int_equal(s.explorer.view, VIEW_EXPLAIN);
	assert_int_equal(s.explorer.pane, PANE_VIEW);
	stage_type(&s, "q");
	assert_int_equal(s.explorer.view, VIEW_TIMELINE);
	assert_int_equal(s.explorer.pane, PANE_VIEW);
	assert_false(s.quit);
	/* lists and prompts take q as text */
	stage_type(&s, "oq\33/q\33");
	assert_int_equal(s.explorer.view, VIEW_TIMELINE);
	assert_int_equal(s.explorer.pane, PANE_VIEW);
	assert_false(s.quit);
	stage_type(&s, "q");
	assert_true(s.quit);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_but_a_second_click_takes),
		cmocka_unit_test(test_the_wheel_scrolls_what_is_under_it),
		cmocka_unit_test(test_tabs_are_clicked_from_both_panes),
		cmocka_unit_test(test_a_number_is_pointed_at_and_explained),
		cmocka_unit_test(test_a_knob_is_chosen_and_turned),
		cmocka_unit_test(test_rows_are_clicked),
		cmocka_unit_test(test_stages_of_memory_are_clicked),
		cmocka_unit_test(test_an_item_of_the_timeline_is_clicked),
		cmocka_unit_test(test_keys_of_the_footer_are_clicked),
		cmocka_unit_test(test_a_shorter_plan_ends_where_it_ends),
		cmocka_unit_test(test_the_footer_tells_the_truth),
		cmocka_unit_test(test_layers_close_and_give_the_focus_back),
	};

	setenv("HOME", NO_HOME, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
