/* test_widget.c - bars to the eighth, scrolling, tables, fields, wrapped text; and
 * every widget at every small size. */
#include "tests/support/close.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text.h"
#include "tui/widget.h"

static void assert_screen(const struct canvas *canvas, const char *expected)
{
	char *text = canvas_to_text(canvas);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static struct canvas board(int width, int height, enum glyph_level glyphs, bool colour)
{
	struct canvas canvas;

	assert_true(canvas_init(&canvas, width, height, glyphs, colour));
	return canvas;
}

static const struct part two[] = { { 2.5, ROLE_WEIGHTS, "weights" },
				   { 5.0, ROLE_OPTIMIZER, "opt" } };

static void test_two_colours_meet_inside_a_cell(void **state)
{
	struct canvas c = board(10, 1, GLYPHS_FULL, true);
	const struct rect rect = { 0, 0, 10, 1 };

	(void)state;
	widget_stack(&c, rect, two, 2, 10, 0);
	assert_screen(&c, "██▌████▌··\n");
	struct cell *meet = canvas_at(&c, 2, 0);
	assert_int_equal(meet->fore, ROLE_WEIGHTS);
	assert_int_equal(meet->back, ROLE_OPTIMIZER);
	assert_false(meet->reverse);
	/* Over the bare terminal nothing is behind. */
	assert_int_equal(canvas_at(&c, 7, 0)->back, ROLE_DEFAULT);
	assert_int_equal(canvas_at(&c, 7, 0)->fore, ROLE_OPTIMIZER);
	canvas_free(&c);
}

static void test_a_leading_fraction_is_reversed(void **state)
{
	struct canvas c = board(4, 2, GLYPHS_FULL, true);
	const struct span late = { 0.25, 4, ROLE_TP, NULL };
	const struct span half = { 0.5, 4, ROLE_TP, NULL };

	(void)state;
	widget_spans(&c, (struct rect){ 0, 0, 4, 1 }, &late, 1, 0, 4);
	widget_spans(&c, (struct rect){ 0, 1, 4, 1 }, &half, 1, 0, 4);
	assert_screen(&c, "▎███\n▐███\n");
	assert_true(canvas_at(&c, 0, 0)->reverse);
	assert_false(canvas_at(&c, 0, 1)->reverse);
	canvas_free(&c);
}

/* Where bars end at whole columns a cell shows what it has most of: a span that is too
 * short to be seen does not stand out because it crosses the middle of a cell. */
static void test_a_coarse_bar_shows_what_is_most(void **state)
{
	struct canvas c = board(4, 1, GLYPHS_FULL, true);
	const struct span span[] = { { 0, 1.4, ROLE_FORWARD, NULL },
				     { 1.4, 1.6, ROLE_TRANSFER, NULL },
				     { 1.6, 4, ROLE_BACKWARD, NULL } };

	(void)state;
	c.coarse = true;
	widget_spans(&c, (struct rect){ 0, 0, 4, 1 }, span, 3, 0, 4);
	assert_screen(&c, "████\n");
	for (int x = 0; x < 4; x++) {
		assert_int_equal(c.cell[x].fore, x < 2 ? ROLE_FORWARD : ROLE_BACKWARD);
		assert_int_equal(c.cell[x].back, ROLE_DEFAULT);
	}
	canvas_free(&c);
}

/* Where time is left out nothing is owed to the columns before: a thousandth that is
 * sent after each item shows nowhere. */
static void test_a_lane_without_shares_has_no_specks(void **state)
{
	enum { ITEMS = 30 };
	struct span span[2 * ITEMS];
	struct canvas c = board(45, 1, GLYPHS_FULL, true);

	(void)state;
	for (int i = 0; i < ITEMS; i++) {
		span[2 * i] = (struct span){ i, i + 0.9, ROLE_FORWARD, NULL };
		span[2 * i + 1] = (struct span){ i + 0.9, i + 1, ROLE_TRANSFER, NULL };
	}
	widget_lane(&c, (struct rect){ 0, 0, 45, 1 }, span, 2 * ITEMS, 0, ITEMS, false);
	for (int x = 0; x < 45; x++)
		assert_int_equal(c.cell[x].fore, ROLE_FORWARD);
	canvas_free(&c);
}

/* Ten parts of a tenth fill any width exactly: ends are rounded, not lengths. */
static void test_ends_never_drift(void **state)
{
	struct part part[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		part[i] = (struct part){ 0.1, i % 2 ? ROLE_TP : ROLE_DP, NULL };
	for (int width = 1; width < 60; width++) {
		struct canvas c = board(60, 1, GLYPHS_FULL, true);
		widget_stack(&c, (struct rect){ 0, 0, width, 1 }, part, 10, 1, 0);
		for (int x = 0; x < width; x++)
			assert_in_range(c.cell[x].code, 0x2588, 0x2590);
		assert_int_equal(c.cell[width].code, ' ');
		canvas_free(&c);
	}
}

static void test_letters_without_colour_and_in_ascii(void **state)
{
	const struct rect rect = { 0, 0, 10, 1 };
	struct canvas c = board(10, 1, GLYPHS_FULL, false);

	(void)state;
	widget_stack(&c, rect, two, 2, 10, 8);
	assert_screen(&c, "###+++++┃·\n");
	canvas_free(&c);
	c = board(10, 1, GLYPHS_ASCII, true);
	widget_stack(&c, rect, two, 2, 10, 8);
	assert_screen(&c, "###+++++|-\n");
	assert_int_equal(c.cell[0].back, ROLE_WEIGHTS);
	canvas_free(&c);
	c = board(10, 1, GLYPHS_BASIC, true);
	widget_stack(&c, rect, two, 2, 10, 0);
	assert_screen(&c, "██▌████▌··\n");
	canvas_free(&c);
}

static void test_labels_only_where_they_fit(void **state)
{
	struct canvas c = board(20, 1, GLYPHS_FULL, true);
	const struct part part[] = { { 8, ROLE_WEIGHTS, "weights" },
				     { 10, ROLE_OPTIMIZER, "opt" } };

	(void)state;
	widget_stack(&c, (struct rect){ 0, 0, 20, 1 }, part, 2, 20, 0);
	assert_screen(&c, "██████████ opt ███··\n");
	assert_int_equal(canvas_at(&c, 12, 0)->back, ROLE_OPTIMIZER);
	canvas_free(&c);
}

static void test_a_limit_that_is_passed_is_bad(void **state)
{
	struct canvas c = board(10, 1, GLYPHS_FULL, true);

	(void)state;
	widget_stack(&c, (struct rect){ 0, 0, 10, 1 }, two, 2, 10, 5);
	assert_int_equal(c.cell[5].code, 0x2503);
	assert_int_equal(c.cell[5].fore, ROLE_BAD);
	widget_stack(&c, (struct rect){ 0, 0, 10, 1 }, two, 2, 10, 10);
	assert_int_equal(c.cell[9].code, 0x2503);
	assert_int_equal(c.cell[9].fore, ROLE_VALUE);
	canvas_free(&c);
}

static void test_columns(void **state)
{
	const double value[] = { 0, 1, 4, 8, NAN, 16, 1e300, -3 };
	struct canvas c = board(8, 2, GLYPHS_FULL, true);

	(void)state;
	for (int i = 0; i < 8; i++)
		widget_column(&c, (struct rect){ i, 0, 1, 2 }, value[i] / 16, ROLE_TP);
	assert_screen(&c, "     ██\n ▁▄█ ██\n");
	canvas_free(&c);
}

static int count_roles(const struct canvas *c, enum role role)
{
	int count = 0;

	for (int x = 0; x < c->width; x++)
		count += c->cell[x].fore == role;
	return count;
}

/* A thousand short spans on forty columns: every role has its share of them, and all
 * stay where they are. */
static void test_a_dense_lane_keeps_shares(void **state)
{
	enum { TASKS = 1000 };
	static struct span span[TASKS];
	struct canvas c = board(40, 1, GLYPHS_FULL, true);

	(void)state;
	for (int i = 0; i < TASKS; i++)
		span[i] = (struct span){ i, i + (i % 3 ? 1.0 : 0.7),
					 i % 3 ? ROLE_BACKWARD : ROLE_FORWARD, NULL };
	widget_lane(&c, (struct rect){ 0, 0, 40, 1 }, span, TASKS, 0, TASKS, true);
	assert_in_range(count_roles(&c, ROLE_FORWARD), 9, 10);   /* 0.7 / 3 */
	assert_in_range(count_roles(&c, ROLE_BACKWARD), 26, 27); /* 2 / 3 */
	assert_in_range(count_roles(&c, ROLE_PAUSE), 4, 4);      /* 0.3 / 3 */
	canvas_erase(&c);
	/* the first half is forwards, the last quarter is empty */
	for (int i = 0; i < TASKS; i++)
		span[i].role = i < TASKS / 2 ? ROLE_FORWARD : ROLE_BACKWARD;
	widget_lane(&c, (struct rect){ 0, 0, 40, 1 }, span, TASKS * 3 / 4, 0, TASKS,
		    true);
	for (int x = 0; x < 40; x++) {
		assert_false(x < 19 && c.cell[x].fore == ROLE_BACKWARD);
		assert_false(x > 20 && c.cell[x].fore == ROLE_FORWARD);
		assert_true(x < 31 || c.cell[x].fore == ROLE_PAUSE);
	}
	/* any size, and nothing at all */
	widget_lane(&c, (struct rect){ 0, 0, 0, 1 }, span, TASKS, 0, TASKS, true);
	widget_lane(&c, (struct rect){ 0, 0, 40, 1 }, span, TASKS, 5, 5, true);
	widget_lane(&c, (struct rect){ 0, 0, 40, 1 }, NULL, 0, 0, 1, true);
	assert_int_equal(count_roles(&c, ROLE_PAUSE), 40);
	canvas_free(&c);
}

static void test_levels(void **state)
{
	static const char *const looks[GLYPHS_COUNT] = {
		[GLYPHS_ASCII] = " ,,:-=+%#\n",
		[GLYPHS_BASIC] = " ▄▄▄▄████\n",
		[GLYPHS_FULL] = " ▁▂▃▄▅▆▇█\n",
	};

	(void)state;
	for (int level = 0; level < GLYPHS_COUNT; level++) {
		struct canvas c = board(9, 1, (enum glyph_level)level, true);

		for (int i = 0; i < 9; i++)
			widget_level(&c, i, 0, i / 8.0, ROLE_ACTIVATIONS);
		assert_screen(&c, looks[level]);
		canvas_free(&c);
	}
}

static void test_scrolling_keeps_the_cursor_visible(void **state)
{
	(void)state;
	for (int count = 0; count < 12; count++)
		for (int height = 0; height < 8; height++)
			for (int cursor = 0; cursor < count; cursor++)
				for (int first = -3; first < count + 3; first++) {
					int top = scroll_first(first, cursor, count,
							       height);
					assert_true(top >= 0 && top <= cursor);
					if (height > 0)
						assert_true(cursor < top + height);
					if (count >= height && height > 0)
						assert_true(top + height <= count);
				}
	assert_int_equal(scroll_move(5, 10, 4, ACTION_PAGE_DOWN), 8);
	assert_int_equal(scroll_move(8, 10, 4, ACTION_PAGE_DOWN), 9);
	assert_int_equal(scroll_move(0, 10, 4, ACTION_UP), 0);
	assert_int_equal(scroll_move(3, 0, 4, ACTION_END), 0);
	assert_int_equal(scroll_move(3, 10, 4, ACTION_ENTER), 3);
}

static void number_cell(const void *context, int row, int column,
			struct table_cell *out)
{
	const char *const *name = context;

	if (column == 0)
		strcpy(out->text, name[row % 2]);
	else
		out->text[0] = (char)('0' + row), out->text[1] = '\0';
}

static const char *const names[] = { "gradients", "weights, all-gather" };
static const struct table_column columns[] = { { "what", 0, false, 0 },
					       { "count", 5, true, 2 },
					       { "bytes", 6, true, 1 } };
static const struct table small_table = { .column = columns,
					  .columns = 3,
					  .rows = 9,
					  .cursor = 4,
					  .focused = true,
					  .sorted_by = 1,
					  .context = names,
					  .cell = number_cell };

static void test_table_columns_give_way(void **state)
{
	struct canvas c = board(25, 4, GLYPHS_FULL, true);

	(void)state;
	assert_int_equal(widget_table(&c, (struct rect){ 0, 0, 25, 4 }, &small_table),
			 2);
	assert_screen(&c, "what       count   bytes\n"
			  "gradients      2       2│\n"
			  "weights,…      3       3█\n"
			  "gradients      4       4│\n");
	assert_int_equal(c.cursor_y, 3);
	assert_int_equal(c.cell[3 * 25].back, ROLE_FOCUS);
	canvas_erase(&c);
	widget_table(&c, (struct rect){ 0, 0, 16, 2 }, &small_table);
	assert_screen(&c, "what      bytes\ngradie…       4█\n\n\n");
	canvas_free(&c);
}

static const struct table_column fixed[] = { { "plan", 5, false, 0 },
					     { "step", 6, true, 0 } };

static void test_a_column_grows_as_far_as_it_needs(void **state)
{
	struct canvas c = board(30, 2, GLYPHS_FULL, true);
	struct table table = { .column = fixed,
			       .columns = 2,
			       .rows = 1,
			       .cursor = -1,
			       .sorted_by = 1,
			       .grows = 0,
			       .grown = 9,
			       .context = names,
			       .cell = number_cell };

	(void)state;
	widget_table(&c, (struct rect){ 0, 0, 30, 2 }, &table);
	assert_screen(&c, "plan         step\ngradients       0\n");
	/* the mark of the sorted column is on its words only */
	assert_false(c.cell[12].reverse);
	assert_true(c.cell[13].reverse && c.cell[16].reverse);
	canvas_erase(&c);
	widget_table(&c, (struct rect){ 0, 0, 15, 2 }, &table);
	assert_screen(&c, "plan       step\ngradie\u2026       0\n");
	canvas_free(&c);
}

static void type(struct field *field, const char *text)
{
	uint32_t code;

	while ((code = text_decode(&text)) != 0)
		field_act(field, (struct action){ .kind = ACTION_TEXT,
						  .argument = (int)code });
}

static void press(struct field *field, enum action_kind kind)
{
	assert_true(field_act(field, (struct action){ .kind = kind }));
}

static void test_field_edits_whole_characters(void **state)
{
	struct field field = { 0 };

	(void)state;
	press(&field, ACTION_BACKSPACE);
	press(&field, ACTION_DELETE);
	press(&field, ACTION_LEFT);
	press(&field, ACTION_RIGHT);
	assert_string_equal(field.text, "");
	type(&field, "aé你z");
	press(&field, ACTION_LEFT);
	press(&field, ACTION_BACKSPACE);
	assert_string_equal(field.text, "aéz");
	press(&field, ACTION_HOME);
	press(&field, ACTION_RIGHT);
	press(&field, ACTION_DELETE);
	type(&field, "8k");
	assert_string_equal(field.text, "a8kz");
	press(&field, ACTION_END);
	assert_int_equal(field.cursor, 4);
	assert_false(field_act(&field, (struct action){ .kind = ACTION_ENTER }));
}

static void test_field_is_never_too_long(void **state)
{
	struct field field = { 0 };
	char long_text[600];

	(void)state;
	for (int i = 0; i < 300; i++)
		type(&field, "é");
	assert_int_equal(field.length, 254);
	assert_int_equal(strlen(field.text), 254);
	memset(long_text, 'x', 599);
	long_text[599] = '\0';
	field_set(&field, long_text);
	assert_int_equal(field.length, 255);
	field_set(&field, "4M");
	assert_string_equal(field.text, "4M");
}

static void test_field_scrolls_to_the_cursor(void **state)
{
	struct canvas c = board(8, 1, GLYPHS_FULL, true);
	struct field field;

	(void)state;
	field_set(&field, "0123456789");
	widget_field(&c, 1, 0, 5, &field, ROLE_VALUE);
	assert_screen(&c, " 6789\n");
	assert_int_equal(c.cursor_x, 5);
	assert_true(c.cell[5].underline);
	canvas_free(&c);
}

static void test_prose_breaks_between_words(void **state)
{
	struct canvas c = board(12, 5, GLYPHS_FULL, true);
	const char *text = "the pipeline idles\n\nincomprehensibilities end";

	(void)state;
	int lines =
		widget_prose(&c, (struct rect){ 0, 0, 12, 5 }, 0, ROLE_DEFAULT, text);
	assert_int_equal(lines, 6);
	assert_screen(&c, "the pipeline\nidles\n\nincomprehens\nibilities\n");
	canvas_erase(&c);
	widget_prose(&c, (struct rect){ 0, 0, 12, 2 }, 4, ROLE_DEFAULT, text);
	assert_screen(&c, "ibilities\nend\n\n\n\n");
	canvas_free(&c);
}

static const struct strip_item strip[] = {
	{ "1", "OOM", NAN, ROLE_BAD, ROLE_TP },
	{ "2", "900", 0.9, ROLE_VALUE, ROLE_TP },
	{ "4", "1000", 1.0, ROLE_VALUE, ROLE_TP },
	{ "8", "500", 0.5, ROLE_VALUE, ROLE_TP },
	{ "16", "16 > 8", NAN, ROLE_BAD, ROLE_TP },
};

static void test_strip_keeps_the_present_value_visible(void **state)
{
	struct canvas c = board(40, 4, GLYPHS_FULL, true);
	const struct rect whole = { 0, 0, 40, 4 }, narrow = { 0, 0, 20, 4 };

	(void)state;
	widget_strip(&c, whole, strip, 5, 2);
	assert_screen(&c, "      1       2       4       8      16\n"
			  "    OOM     900    1000     500  16 > 8\n"
			  "         ▆▆▆▆▆▆  ██████\n"
			  "         ██████  ██████  ██████\n");
	for (int present = 0; present < 5; present++) {
		canvas_erase(&c);
		widget_strip(&c, narrow, strip, 5, present);
		char *text = canvas_to_text(&c);
		assert_non_null(strstr(text, strip[present].note));
		free(text);
	}
	canvas_free(&c);
}

static void row_text(const void *context, int index, struct canvas *canvas,
		     struct rect rect)
{
	(void)context;
	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_VALUE, "row %d", index);
	canvas_text(canvas, rect.x - 3, rect.y + 1, 99, ROLE_BAD, "outside");
}

static void draw_everything(struct canvas *c, struct rect rect)
{
	const struct list list = {
		.count = 40, .cursor = 39, .focused = true, .row = row_text
	};
	const struct part odd[] = { { NAN, ROLE_TP, "nan" },
				    { -4, ROLE_CP, "minus" },
				    { INFINITY, ROLE_EP, "infinite" },
				    { 1e300, ROLE_PP, "huge" },
				    { 1, ROLE_DP, NULL } };
	const double value[] = { NAN, INFINITY, -INFINITY, 1e308, 0.5 };
	struct field field;

	widget_stack(c, rect, odd, 5, 100, 50);
	widget_stack(c, rect, odd, 5, NAN, NAN);
	widget_stack(c, rect, odd, 5, INFINITY, 5);
	widget_legend(c, rect, odd, 5);
	widget_bar(c, rect.x, rect.y, rect.width, NAN, ROLE_TP);
	widget_bar(c, rect.x, rect.y, rect.width, 7, ROLE_TP);
	widget_column(c, rect, 2, ROLE_TP);
	for (int i = 0; i < 5; i++)
		widget_column(c, rect, value[i], ROLE_TP);
	widget_strip(c, rect, strip, 5, 3);
	widget_list(c, rect, &list);
	widget_table(c, rect, &small_table);
	widget_prose(c, rect, 0, ROLE_HINT, "some words \xff\x1b and 你好你好");
	widget_rule(c, rect.x, rect.y, rect.width, "title");
	widget_box(c, rect, "a longer title 你好");
	field_set(&field, "你好 text");
	widget_field(c, rect.x, rect.y, rect.width, &field, ROLE_VALUE);
	if (rect.width > 0)
		widget_scrollbar(c, rect.x, rect.y, rect.height, 3, 7);
}

/* Cells outside rect stay as they are, whatever is drawn inside. */
static void test_widgets_stay_inside_at_every_size(void **state)
{
	(void)state;
	for (int i = 0; i < GLYPHS_COUNT * 2 * 18 * 9; i++) {
		struct canvas c = board(24, 14, (enum glyph_level)(i % GLYPHS_COUNT),
					i / GLYPHS_COUNT % 2);
		struct rect rect = { 3, 3, i / (GLYPHS_COUNT * 2) % 18,
				     i / (GLYPHS_COUNT * 2 * 18) };
		draw_everything(&c, rect);
		for (int y = 0; y < c.height; y++)
			for (int x = 0; x < c.width; x++)
				if (x < 3 || y < 3 || x >= 3 + rect.width ||
				    (y >= 3 + rect.height && y > 3))
					assert_int_equal(canvas_at(&c, x, y)->code,
							 ' ');
		canvas_free(&c);
	}
}

static const struct axis x_axis = { 0, 100, false, FORM_COUNT, "GPUs" };
static const struct axis y_axis = { 0, 10, false, FORM_COUNT, "tok/s" };

static void test_ticks_are_round(void **state)
{
	double tick[16];
	struct axis axis = { 0, 100, false, FORM_REAL, NULL };

	(void)state;
	assert_int_equal(axis_ticks(&axis, 6, tick), 6);
	assert_close(tick[1], 20, 1e-12);
	axis = (struct axis){ -3, 4.1, false, FORM_REAL, NULL };
	assert_int_equal(axis_ticks(&axis, 8, tick), 8);
	assert_close(tick[0], -3, 1e-12);
	axis = (struct axis){ 3, 1e6, true, FORM_REAL, NULL };
	assert_int_equal(axis_ticks(&axis, 16, tick), 6);
	assert_close(tick[0], 10, 1e-12);
	assert_close(tick[5], 1e6, 1e-12);
	assert_in_range(axis_ticks(&axis, 3, tick), 1, 3);
	/* No range, no ticks. */
	axis = (struct axis){ 5, 5, false, FORM_REAL, NULL };
	assert_int_equal(axis_ticks(&axis, 6, tick), 0);
	axis = (struct axis){ 0, 5, true, FORM_REAL, NULL };
	assert_int_equal(axis_ticks(&axis, 6, tick), 0);
	axis = (struct axis){ 0, NAN, false, FORM_REAL, NULL };
	assert_int_equal(axis_ticks(&axis, 6, tick), 0);
}

static void test_plot_has_axes_and_connected_lines(void **state)
{
	struct canvas c = board(30, 9, GLYPHS_FULL, true);
	struct plot plot;

	(void)state;
	assert_true(
		plot_begin(&plot, &c, (struct rect){ 0, 0, 30, 9 }, x_axis, y_axis));
	plot_line(&plot, 0, 0, 100, 10, ROLE_TP);
	assert_true(plot_mark(&plot, 50, 5, 'X', ROLE_BAD));
	assert_false(plot_mark(&plot, 101, 5, 'X', ROLE_BAD));
	assert_false(plot_mark(&plot, 5, NAN, 'X', ROLE_BAD));
	/* Every column of the area holds a piece of the line. */
	for (int x = plot.area.x; x < plot.area.x + plot.area.width; x++) {
		int found = 0;
		for (int y = plot.area.y; y < plot.area.y + plot.area.height; y++)
			found += c.cell[y * 30 + x].code != ' ';
		assert_true(found > 0);
	}
	struct cell *low =
		canvas_at(&c, plot.area.x, plot.area.y + plot.area.height - 1);
	assert_int_equal(low->code & 0xff00, 0x2800);
	assert_true(low->code & 0x40); /* the lowest left dot */
	char *text = canvas_to_text(&c);
	assert_non_null(strstr(text, "tok/s"));
	assert_non_null(strstr(text, "100\n"));
	assert_non_null(strstr(text, "GPUs\n"));
	free(text);
	canvas_free(&c);
}

/* A low plot of a short range has a number at its axis all the same. */
static void test_a_low_plot_has_a_tick(void **state)
{
	static const struct axis y = { 980, 1050, false, FORM_COUNT, "tok/s" };
	struct canvas c = board(40, 6, GLYPHS_ASCII, false);
	struct plot plot;
	char *text;

	(void)state;
	assert_true(plot_begin(&plot, &c, (struct rect){ 0, 0, 40, 6 }, x_axis, y));
	text = canvas_to_text(&c);
	assert_non_null(strstr(text, "1000+"));
	free(text);
	canvas_free(&c);
}

static void test_plot_falls_back_to_ascii(void **state)
{
	struct canvas c = board(30, 9, GLYPHS_ASCII, false);
	struct plot plot;

	(void)state;
	assert_true(
		plot_begin(&plot, &c, (struct rect){ 0, 0, 30, 9 }, x_axis, y_axis));
	plot_line(&plot, 0, 0, 100, 10, ROLE_TP);
	plot_dot(&plot, 0, 10, ROLE_TP);
	assert_int_equal(canvas_at(&c, plot.area.x, plot.area.y)->code, '\'');
	for (int i = 0; i < 30 * 9; i++)
		assert_in_range(c.cell[i].code, ' ', '~');
	canvas_free(&c);
}

static void test_plot_stays_inside_at_every_size(void **state)
{
	const double value[] = { NAN, -INFINITY, INFINITY, -1, 0, 50, 100, 1e300 };

	(void)state;
	for (int i = 0; i < GLYPHS_COUNT * 30 * 14; i++) {
		struct canvas c =
			board(36, 20, (enum glyph_level)(i % GLYPHS_COUNT), true);
		struct rect rect = { 2, 2, i / GLYPHS_COUNT % 30,
				     i / GLYPHS_COUNT / 30 };
		struct plot plot;
		bool begun = plot_begin(&plot, &c, rect, x_axis, y_axis);
		for (int k = 0; begun && k < 64; k++) {
			plot_dot(&plot, value[k % 8], value[k / 8], ROLE_TP);
			plot_line(&plot, value[k % 8], value[k / 8], 50, 5, ROLE_TP);
			plot_mark(&plot, value[k % 8], value[k / 8], 'x', ROLE_TP);
		}
		for (int k = 0; k < 36 * 20; k++)
			if (!begun || k % 36 < 2 || k % 36 >= 2 + rect.width ||
			    k / 36 < 2 || k / 36 >= 2 + rect.height)
				assert_int_equal(c.cell[k].code, ' ');
		canvas_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_colours_meet_inside_a_cell),
		cmocka_unit_test(test_a_leading_fraction_is_reversed),
		cmocka_unit_test(test_a_coarse_bar_shows_what_is_most),
		cmocka_unit_test(test_a_lane_without_shares_has_no_specks),
		cmocka_unit_test(test_ends_never_drift),
		cmocka_unit_test(test_letters_without_colour_and_in_ascii),
		cmocka_unit_test(test_labels_only_where_they_fit),
		cmocka_unit_test(test_a_limit_that_is_passed_is_bad),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_a_dense_lane_keeps_shares),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_scrolling_keeps_the_cursor_visible),
		cmocka_unit_test(test_table_columns_give_way),
		cmocka_unit_test(test_a_column_grows_as_far_as_it_needs),
		cmocka_unit_test(test_field_edits_whole_characters),
		cmocka_unit_test(test_field_is_never_too_long),
		cmocka_unit_test(test_field_scrolls_to_the_cursor),
		cmocka_unit_test(test_prose_breaks_between_words),
		cmocka_unit_test(test_strip_keeps_the_present_value_visible),
		cmocka_unit_test(test_ticks_are_round),
		cmocka_unit_test(test_plot_has_axes_and_connected_lines),
		cmocka_unit_test(test_a_low_plot_has_a_tick),
		cmocka_unit_test(test_plot_falls_back_to_ascii),
		cmocka_unit_test(test_plot_stays_inside_at_every_size),
		cmocka_unit_test(test_widgets_stay_inside_at_every_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
