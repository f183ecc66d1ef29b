/* test_frames.c - what a key sends: of every plan and view, turned and moved, pinned or
 * not, no frame is larger than a slow line carries at once. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/painter.h"
#include "tui/view.h"

/* last: its macros are ordinary words elsewhere */
#include <term.h>
#undef lines
#undef columns
#undef tab

struct size {
	int width, height;
	enum palette palette;
	size_t most; /* bytes of a frame */
};

static const char keys[] = "hjjhlukkphlp\tj\t";

/* Of idle work only arrows beside knobs would come with it. */
static size_t press(struct stage *s, int key, enum palette palette)
{
	size_t length;

	stage_key(s, key);
	assert_non_null(painter_frame(&s->canvas, palette, &length));
	return length;
}

static int check_plan(const char *plan, const struct size *size)
{
	struct stage s;
	size_t length;
	int bad = 0;

	stage_open(&s, plan, size->width, size->height);
	s.canvas.glyphs = GLYPHS_FULL;
	s.canvas.colour = true;
	for (int view = 0; view < VIEW_COUNT; view++) {
		if (!view_table[view].tab || view == VIEW_SEARCH)
			continue;
		explorer_show(&s.explorer, (enum view_id)view);
		explorer_draw(&s.explorer, &s.canvas);
		assert_non_null(painter_frame(&s.canvas, size->palette, &length));
		for (size_t i = 0; keys[i] != '\0'; i++) {
			length = press(&s, (unsigned char)keys[i], size->palette);
			if (length <= size->most)
				continue;
			print_error("%s, %s, key %zu: %zu bytes\n", plan,
				    view_table[view].name, i, length);
			bad++;
		}
	}
	stage_close(&s);
	return bad;
}

static void check_size(const struct size *size)
{
	const struct preset *plan;
	int count = preset_list(PRESET_PLAN, &plan), bad = 0, status;

	assert_int_equal(setupterm("xterm-256color", 1, &status), 0);
	painter_begin();
	for (int i = 0; i < count; i++)
		bad += check_plan(plan[i].name, size);
	painter_end();
	del_curterm(cur_term);
	assert_int_equal(bad, 0);
}

/* A whole view that becomes another one is text: the half of it is cells that differ.
 * Pinned and two schedules on one axis are the most. */
static void test_120_columns(void **state)
{
	static const struct size size = { 120, 36, PALETTE_256_DARK, 5000 };

	(void)state;
	check_size(&size);
}

static void test_24_bits(void **state)
{
	static const struct size size = { 120, 36, PALETTE_RGB_DARK, 5600 };

	(void)state;
	check_size(&size);
}

static void test_200_columns(void **state)
{
	static const struct size size = { 200, 60, PALETTE_256_DARK, 9800 };

	(void)state;
	check_size(&size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_120_columns),
		cmocka_unit_test(test_24_bits),
		cmocka_unit_test(test_200_columns),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
