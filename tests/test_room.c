/* test_room.c - a large screen is used: in every view of every plan no more than a
 * third of the rows is left empty. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/library.h"
#include "tests/support/close.h"
#include "tests/support/stage.h"
#include "tui/view.h"

static int empty_rows(const struct stage *s, struct rect view)
{
	int empty = 0;

	for (int y = view.y; y < view.y + view.height; y++) {
		bool blank = true;

		for (int x = view.x; x < view.x + view.width && blank; x++)
			blank = s->canvas.cell[y * s->canvas.width + x].code == ' ';
		empty += blank;
	}
	return empty;
}

static bool has_room_to_spare(const char *plan, int view)
{
	struct stage s;
	struct rect rect;
	int empty;

	stage_open(&s, plan, 200, 60);
	explorer_show(&s.explorer, (enum view_id)view);
	free(stage_text(&s));
	rect = s.explorer.spots->view;
	empty = empty_rows(&s, rect);
	if (empty * 3 > rect.height)
		print_error("%s, %s: %d of %d rows are empty\n", plan,
			    view_table[view].name, empty, rect.height);
	stage_close(&s);
	return empty * 3 > rect.height;
}

static void test_no_view_wastes_a_large_screen(void **state)
{
	const struct preset *list;
	int count;
	int bad = 0;

	(void)state;
	count = preset_list(PRESET_PLAN, &list);
	for (int i = 0; i < count; i++)
		for (int view = 0; view < VIEW_COUNT; view++)
			if (view != VIEW_SEARCH && view != VIEW_HELP)
				bad += has_room_to_spare(list[i].name, view);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_view_wastes_a_large_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
