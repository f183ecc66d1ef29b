/* test_tour.c - an order of places that is made shorter stays an order of the same
 * places and never gets longer. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/random.h"
#include "tui/move.h"
#include "tui/painter.h"
#include "tui/tour.h"

/* last: its macros are ordinary words elsewhere */
#include <term.h>
#undef lines
#undef columns

enum { PLACES = 200 };

static int drawn[PLACES + 1][PLACES];

static int drawn_step(int from, int to)
{
	assert_in_range(from + 1, 0, PLACES);
	assert_in_range(to, 0, PLACES - 1);
	return drawn[from + 1][to];
}

/* From place to place along a line costs how far they are apart. */
static int line_step(int from, int to)
{
	return abs(to - from);
}

static int length_of(const int *order, int count, int (*step)(int from, int to))
{
	int length = 0;

	for (int i = 0; i < count; i++)
		length += step(i > 0 ? order[i - 1] : -1, order[i]);
	return length;
}

static void check_places(const int *order, int count)
{
	bool met[PLACES] = { false };

	for (int i = 0; i < count; i++) {
		assert_in_range(order[i], 0, count - 1);
		assert_false(met[order[i]]);
		met[order[i]] = true;
	}
}

static void test_no_order_gets_longer(void **state)
{
	int order[PLACES];

	(void)state;
	seed = 16;
	for (int round = 0; round < some_of(400); round++) {
		int count = (int)next(PLACES), before;

		for (int i = 0; i <= count; i++)
			for (int k = 0; k < count; k++)
				drawn[i][k] = 1 + (int)next(12);
		for (int i = 0; i < count; i++)
			order[i] = i;
		before = length_of(order, count, drawn_step);
		tour_improve(order, count, drawn_step, 1);
		check_places(order, count);
		assert_in_range(length_of(order, count, drawn_step), 0, before);
		if (count > 20 && count <= TOUR_MOST)
			assert_true(length_of(order, count, drawn_step) < before);
	}
}

/* One to three places that stand elsewhere than on the way are put where they belong.
 */
static void test_places_come_where_they_belong(void **state)
{
	(void)state;
	for (int at = 0; at + 3 <= 8; at++)
		for (int places = 1; places <= 3; places++) {
			int order[8], count = 0;

			for (int i = 0; i < 8; i++)
				if (i < at || i >= at + places)
					order[count++] = i;
			for (int i = at; i < at + places; i++)
				order[count++] = i;
			tour_improve(order, 8, line_step, 0);
			check_places(order, 8);
			assert_int_equal(length_of(order, 8, line_step), 8);
		}
}

/* Two columns of letters that lie far apart: row by row each letter costs a move of
 * five bytes, column by column a line feed and a backspace. */
static void test_columns_are_gone_through_one_by_one(void **state)
{
	struct canvas canvas;
	size_t length;
	int status;

	(void)state;
	assert_int_equal(setupterm("xterm-256color", 1, &status), 0);
	assert_true(canvas_init(&canvas, 120, 36, GLYPHS_FULL, true));
	painter_begin();
	assert_non_null(painter_frame(&canvas, PALETTE_256_DARK, &length));
	for (int y = 4; y < 24; y++) {
		canvas_put(&canvas, 21, y, 'a', ROLE_VALUE);
		canvas_put(&canvas, 93, y, 'b', ROLE_VALUE);
	}
	assert_non_null(painter_frame(&canvas, PALETTE_256_DARK, &length));
	/* three bytes a letter, the way to each column, the marks of the frame */
	assert_in_range(length, 3 * 40, 3 * 40 + 50);
	painter_end();
	canvas_free(&canvas);
	del_curterm(cur_term);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_order_gets_longer),
		cmocka_unit_test(test_places_come_where_they_belong),
		cmocka_unit_test(test_columns_are_gone_through_one_by_one),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
