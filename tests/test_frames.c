/* test_frames.c - what a key sends: of every plan and view, turned and moved, pinned or
 * not, opened and with help or a list over it, no frame is larger than a slow line
 * carries at once; every key needs only one, and most far less. */
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

/* Of all keys at most `share` in a thousand send more than `usual` bytes, and none more
 * than `most`; to open a view, or the help over it, no more than `view`. */
struct size {
	int width, height;
	enum palette palette;
	size_t usual, share, most, view;
};

/* What was counted. */
struct tally {
	const struct size *size;
	const char *plan;
	size_t keys, large, bad;
	int frames; /* of the last key */
};

static const char keys[] = "hjjhlukkphlp\tj\t";

/* The bytes of all frames until the terminal shows the canvas; of each, no more than a
 * slow line carries at once. */
static size_t paint(struct tally *tally, struct stage *s)
{
	size_t most = painter_most(s->canvas.width, s->canvas.height), all = 0;
	enum palette palette = tally->size->palette;

	tally->frames = 0;
	do {
		size_t length;

		assert_non_null(painter_frame(&s->canvas, palette, &length));
		if (length > most)
			fail_msg("%s: a frame of %zu bytes",
				 view_table[s->explorer.view].name, length);
		all += length;
		tally->frames++;
	} while (painter_is_behind());
	return all;
}

static void check(struct tally *tally, int view, const char *what, size_t length,
		  size_t most)
{
	if (length <= most)
		return;
	print_error("%s, %s, %s: %zu bytes\n", tally->plan, view_table[view].name, what,
		    length);
	tally->bad++;
}

static void open_view(struct tally *tally, struct stage *s, int view)
{
	size_t most = tally->size->view;

	explorer_show(&s->explorer, (enum view_id)view);
	explorer_draw(&s->explorer, &s->canvas);
	check(tally, view, "opened", paint(tally, s), most);
	stage_key(s, '?');
	check(tally, view, "help over it", paint(tally, s), most);
	stage_key(s, '?');
	check(tally, view, "back", paint(tally, s), most);
	stage_key(s, 'o');
	check(tally, view, "list over it", paint(tally, s), most);
	stage_key(s, 27);
	check(tally, view, "back from the list", paint(tally, s), most);
}

static void press_keys(struct tally *tally, struct stage *s, int view)
{
	for (size_t i = 0; keys[i] != '\0'; i++) {
		char what[] = { 'k', 'e', 'y', ' ', keys[i], '\0' };
		size_t length;

		stage_key(s, (unsigned char)keys[i]);
		while (!explorer_is_settled(&s->explorer))
			explorer_idle(&s->explorer);
		explorer_draw(&s->explorer, &s->canvas);
		length = paint(tally, s);
		check(tally, view, what, length, tally->size->most);
		if (tally->frames > 1)
			fail_msg("%s, %s, %s: %d frames", tally->plan,
				 view_table[view].name, what, tally->frames);
		tally->large += length > tally->size->usual;
		tally->keys++;
	}
}

static void check_plan(struct tally *tally)
{
	struct stage s;
	size_t length;

	stage_open(&s, tally->plan, tally->size->width, tally->size->height);
	s.canvas.glyphs = GLYPHS_FULL;
	s.canvas.colour = true;
	explorer_draw(&s.explorer, &s.canvas);
	/* the first frame answers no key */
	assert_non_null(painter_frame(&s.canvas, tally->size->palette, &length));
	for (int view = 0; view < VIEW_COUNT; view++) {
		if (!view_table[view].tab || view == VIEW_SEARCH)
			continue;
		open_view(tally, &s, view);
		press_keys(tally, &s, view);
	}
	stage_close(&s);
}

static void check_size(const struct size *size)
{
	struct tally tally = { .size = size };
	const struct preset *plan;
	int count = preset_list(PRESET_PLAN, &plan), status;

	assert_int_equal(setupterm("xterm-256color", 1, &status), 0);
	painter_begin();
	painter_repeat_all(true);
	painter_use_tabs(true);
	for (int i = 0; i < count; i++) {
		tally.plan = plan[i].name;
		painter_forget();
		check_plan(&tally);
	}
	painter_end();
	del_curterm(cur_term);
	if (tally.large * 1000 > tally.keys * size->share)
		fail_msg("%zu of %zu keys send more than %zu bytes", tally.large,
			 tally.keys, size->usual);
	assert_int_equal(tally.bad, 0);
}

/* On a terminal that repeats any character and has tab stops, as most do (tui/reply.h).
 * The most are turns after which another picture stands in the view: half of the cells
 * differ, and each is a byte or three. */
static void test_120_columns(void **state)
{
	static const struct size size = {
		120, 36, PALETTE_256_DARK, 2048, 2, 2650, 3400
	};

	(void)state;
	check_size(&size);
}

static void test_24_bits(void **state)
{
	static const struct size size = {
		120, 36, PALETTE_RGB_DARK, 2048, 3, 2730, 3400
	};

	(void)state;
	check_size(&size);
}

static void test_200_columns(void **state)
{
	static const struct size size = {
		200, 60, PALETTE_256_DARK, 5689, 1, 5740, 6144
	};

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
