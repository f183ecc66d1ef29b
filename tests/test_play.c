/* test_play.c - the view Timeline where a step is long: time is left out of its middle,
 * never of its begin and end; it plays by itself; micro-batches turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/stage.h"
#include "tests/support/vt.h"
#include "tui/views/timeline.h"

static const struct timeline *played(const struct stage *s)
{
	return &s->explorer.play->timeline;
}

/* Signs on the axis, which stands somewhere below the lanes, for time left out. */
static int count_breaks(const struct stage *s, struct rect chart)
{
	int most = 0;

	for (int y = chart.y; y <= chart.y + chart.height; y++) {
		int count = 0;

		for (int x = chart.x + TIMELINE_MARGIN;
		     x < chart.x + chart.width - TIMELINE_EDGE; x++)
			count += s->canvas.cell[y * s->canvas.width + x].code == '/';
		most = count > most ? count : most;
	}
	return most;
}

/* The first stage idles between its first forwards and its first backward for as many
 * columns as its share of the axis says: dithering showed three columns of 36 s. */
static void test_a_long_step_shows_its_bubble(void **state)
{
	struct rect chart;
	struct stage s;
	int forward = 0, idle = 0, x;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "3");
	chart = s.explorer.spots->chart;
	assert_int_equal(count_breaks(&s, chart), 2 * TIMELINE_BREAK);
	x = chart.y * 120 + chart.x + TIMELINE_MARGIN;
	for (int code; (code = (int)s.canvas.cell[x].code), code != '.'; x++)
		forward += code == 'F' || code == 'f' || code == '*';
	for (; s.canvas.cell[x].code == '.'; x++)
		idle++;
	assert_in_range(forward, 6, 12);
	assert_in_range(idle, 8, 16);
	/* what is left out comes back, and goes again */
	stage_type(&s, "-");
	assert_int_equal(count_breaks(&s, chart), 0);
	stage_type(&s, "+");
	assert_int_equal(count_breaks(&s, chart), 2 * TIMELINE_BREAK);
	/* a step that fits is drawn whole */
	stage_type(&s, "/gbs\n=16\n");
	assert_int_equal(count_breaks(&s, chart), 0);
	assert_true(played(&s)->filled_seconds >= 0);
	stage_close(&s);
}

/* Of two steps on one axis each lane has its memory below it, where there is room: what
 * the same lanes hold is what schedules differ in. */
static void test_two_steps_show_what_they_hold(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "3p/gbs\n=128\n");
	stage_shows(&s, "pinned: 4 stages x 64 micro-batches");
	stage_shows(&s, "this plan: 4 stages x 32 micro-batches");
	assert_true(timeline_rows(s.explorer.spots->chart, played(&s)) > 1);
	stage_close(&s);
}

/* Every column stands for its own time, the first for 0, the last for the end. */
static void test_columns_are_times(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "3");
	for (int columns = 20; columns < 160; columns += 7) {
		const struct timeline *t = played(&s);
		double each = window_scale(t, columns), before = -1;
		double centre = t->pipeline_seconds * columns / 160;
		bool shown = false;
		struct window w = { .now = 0 };

		assert_true(each > 0);
		window_make(&w, t, columns, each, centre);
		assert_int_equal(w.parts, 3);
		assert_int_equal(w.part[2].x + w.part[2].columns, columns);
		assert_close(w.part[2].to, t->pipeline_seconds, 1e-12);
		for (int x = 0; x < columns; x++) {
			double at = window_time(&w, x);

			if (at < 0)
				continue;
			assert_true(at > before);
			shown |= at <= centre && centre < at + w.each;
			before = at;
		}
		assert_true(shown);
	}
	stage_close(&s);
}

static void test_the_cursor_is_always_in_sight(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "3\t");
	for (int i = 0; i < 128; i++) {
		const struct cell *cell;

		assert_true(s.canvas.cursor_x >= 0);
		cell = &s.canvas.cell[s.canvas.cursor_y * 120 + s.canvas.cursor_x];
		assert_int_equal(cell->back, ROLE_FOCUS);
		stage_type(&s, "l");
	}
	stage_close(&s);
}

static void test_all_stages_are_reached(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "llama3-405b-16k-h100", 80, 24);
	stage_type(&s, "3\t");
	for (int stage = 0; stage < 16; stage++) {
		char text[32];

		snprintf(text, sizeof text, "stage %d ", stage);
		stage_shows(&s, text);
		assert_true(s.canvas.cursor_x > 0);
		stage_type(&s, "j");
	}
	stage_close(&s);
}

static void test_a_step_plays_by_itself(void **state)
{
	struct action tick = { .kind = ACTION_TICK };
	struct stage s;
	int events = 0;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/gbs\n=16\n3");
	assert_int_equal(play_every_ms(&s.explorer), 0);
	assert_int_equal(explorer_handle(&s.explorer, tick), CHANGED_NOTHING);
	stage_type(&s, "a");
	stage_shows(&s, "event 1 of 32, 8/s");
	assert_int_equal(play_every_ms(&s.explorer), 125);
	stage_act(&s, tick);
	stage_shows(&s, "event 2 of 32");
	stage_type(&s, ")))");
	assert_int_equal(play_speed(&s.explorer), 64);
	stage_act(&s, tick);
	stage_shows(&s, "event 6 of 32");
	/* again: it stops; once more: it goes on from there */
	stage_type(&s, "a");
	assert_int_equal(play_every_ms(&s.explorer), 0);
	stage_shows(&s, "event 6 of 32");
	stage_type(&s, "a(((((((((");
	assert_int_equal(play_speed(&s.explorer), 1);
	for (; s.explorer.playing && events < 100; events++)
		stage_act(&s, tick);
	assert_int_equal(events, 27);
	stage_shows(&s, "event 32 of 32");
	/* another key stops it */
	stage_type(&s, ",,aj");
	assert_false(s.explorer.playing);
	stage_close(&s);
}

/* What was stopped in the middle does not stay cut off: Esc shows all, so does another
 * plan. */
static void test_a_stopped_step_is_shown_whole_again(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/gbs\n=16\n3...");
	stage_shows(&s, "event 4 of 32, Esc: all");
	stage_act(&s, (struct action){ .kind = ACTION_ESCAPE });
	stage_lacks(&s, "event ");
	assert_int_equal(s.explorer.view, VIEW_TIMELINE);
	stage_type(&s, "...");
	stage_shows(&s, "event ");
	stage_type(&s, "l");
	stage_lacks(&s, "event ");
	stage_close(&s);
}

static void test_micro_batches_turn(void **state)
{
	struct stage s;
	int row = 0;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "/gbs\njjj");
	stage_shows(&s, "smaller the bubble");
	row = s.explorer.row;
	stage_type(&s, "h");
	assert_int_equal(s.explorer.scenario.plan.global_batch, 128);
	assert_int_equal(s.explorer.estimate.micro_batches, 32);
	assert_int_equal(s.explorer.row, row);
	stage_type(&s, "ll");
	assert_int_equal(s.explorer.estimate.micro_batches, 128);
	stage_type(&s, "u");
	assert_int_equal(s.explorer.estimate.micro_batches, 64);
	for (int i = 0; i < 8; i++)
		stage_type(&s, "h");
	assert_int_equal(s.explorer.estimate.micro_batches, 1);
	stage_shows(&s, "1 is the fewest");
	stage_close(&s);
}

/* On a terminal: it goes on without a key, ends, and then sleeps. */
static void test_it_plays_on_a_terminal(void **state)
{
	char home[] = "/tmp/shardscope-home-XXXXXX", config[96], saved[96];
	char command[64];
	const char *const argv[] = { run_program(), "llama3-70b-64-h100", "--gbs", "16",
				     NULL };
	struct vt *vt;

	(void)state;
	assert_non_null(mkdtemp(home));
	snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", home);
	snprintf(saved, sizeof saved, "XDG_STATE_HOME=%s/state", home);
	const struct vt_options options = { .columns = 120,
					    .rows = 36,
					    .env = { config, saved } };
	vt = vt_start(&options, argv);
	vt_expect(vt, "MEMORY");
	vt_type(vt, "3a))))))");
	vt_expect(vt, "event 32 of 32");
	vt_expect(vt, "event 32 of 32, Esc: all");
	vt_expect_asleep(vt);
	vt_type(vt, "q");
	vt_expect_exit(vt, 0);
	vt_close(vt);
	snprintf(command, sizeof command, "rm -rf '%s'", home);
	assert_int_equal(system(command), 0);
}

/* A plan is not drawn beside itself. */
static void test_what_is_pinned_stands_beside_others_alone(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, NULL, 120, 36);
	stage_type(&s, "3/gbs\n=64\n");
	stage_type(&s, "p");
	stage_lacks(&s, "pinned: 4 stages");
	stage_type(&s, "l");
	stage_shows(&s, "pinned: 4 stages");
	stage_shows(&s, "this plan: 4 stages");
	stage_type(&s, "h");
	stage_lacks(&s, "pinned: 4 stages");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_long_step_shows_its_bubble),
		cmocka_unit_test(test_two_steps_show_what_they_hold),
		cmocka_unit_test(test_columns_are_times),
		cmocka_unit_test(test_the_cursor_is_always_in_sight),
		cmocka_unit_test(test_all_stages_are_reached),
		cmocka_unit_test(test_a_step_plays_by_itself),
		cmocka_unit_test(test_a_stopped_step_is_shown_whole_again),
		cmocka_unit_test(test_micro_batches_turn),
		cmocka_unit_test(test_it_plays_on_a_terminal),
		cmocka_unit_test(test_what_is_pinned_stands_beside_others_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
