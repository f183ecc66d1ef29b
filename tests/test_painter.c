/* test_painter.c - whatever is drawn after whatever, a terminal that obeys the
 * painter's bytes shows the canvas. libvterm is that terminal, whatever TERM says. */
#include <locale.h>
#include <string.h>
#include <vterm.h>

#include "tests/support/close.h"
#include "tests/support/memory_ends.h"
#include "tests/support/random.h"
#include "tui/move.h"
#include "tui/painter.h"
#include "tui/text.h"

/* last: its macros are ordinary words elsewhere */
#include <term.h>
#undef lines
#undef columns

enum { FRAMES = 150 };

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

static const uint32_t codes[] = { ' ',    ' ',    ' ',    'a',    'b', '~',
				  0x2588, 0x258f, 0x2502, 0x4f60, 0xe9 };

static void draw_anything(struct canvas *canvas, int parts)
{
	for (int i = 0; i < parts; i++) {
		struct rect rect = { (int)next((uint64_t)canvas->width),
				     (int)next((uint64_t)canvas->height),
				     1 + (int)next(30), 1 + (int)next(3) };
		enum role role = (enum role)next(ROLE_COUNT);
		uint32_t code = codes[next(sizeof codes / sizeof codes[0])];

		if (text_code_width(code) == 1)
			canvas_fill(canvas, rect, code, role);
		else
			canvas_put(canvas, rect.x, rect.y, code, role);
		if (next(4) == 0)
			canvas_highlight(canvas, rect, role, next(2), next(2));
		if (next(3) == 0)
			canvas_format(canvas, rect.x, rect.y, rect.width, role,
				      "TP %u  %u.%u GiB", (unsigned)next(64),
				      (unsigned)next(900), (unsigned)next(10));
	}
	canvas->cursor_x = next(3) ? -1 : (int)next((uint64_t)canvas->width);
	canvas->cursor_y = canvas->cursor_x < 0 ? -1 : 0;
}

static bool has_colour(VTermColor colour, bool is_default, int index,
		       enum palette palette)
{
	/* one that the table of 256 has may be named by its place there */
	if (index >= 0 && theme_is_rgb(palette) && VTERM_COLOR_IS_INDEXED(&colour))
		return colour.indexed.idx > 21 &&
		       theme_rgb256(colour.indexed.idx) == (uint32_t)index;
	if (index >= 0 && theme_is_rgb(palette))
		return VTERM_COLOR_IS_RGB(&colour) &&
		       index == (colour.rgb.red << 16 | colour.rgb.green << 8 |
				 colour.rgb.blue);
	return index < 0
		       ? is_default
		       : VTERM_COLOR_IS_INDEXED(&colour) && colour.indexed.idx == index;
}

static void check_cell(VTermScreen *screen, const struct canvas *canvas, int x, int y,
		       enum palette palette)
{
	const struct cell *cell = &canvas->cell[y * canvas->width + x];
	struct look look = theme_look(cell, palette);
	VTermScreenCell there;

	if (cell->code == 0)
		return; /* the right half of the one before */
	vterm_screen_get_cell(screen, (VTermPos){ .row = y, .col = x }, &there);
	uint32_t code = there.chars[0] ? there.chars[0] : ' ', drawn = cell->code;
	bool blank;

	/* a full block may be a blank on its colour */
	if (drawn == 0x2588 && look.fore >= 0 && !look.reverse) {
		drawn = ' ';
		look.back = look.fore;
	}
	/* of a blank only the ground is seen */
	blank = drawn == ' ' && !look.reverse && !look.underline;
	if (blank) {
		assert_int_equal(code, ' ');
		assert_false(there.attrs.reverse || there.attrs.underline);
		if (!has_colour(there.bg, VTERM_COLOR_IS_DEFAULT_BG(&there.bg),
				look.back, palette))
			fail_msg("%d,%d is a blank of another colour", x, y);
		return;
	}
	if (code != drawn || there.attrs.bold != look.bold ||
	    there.attrs.reverse != look.reverse ||
	    (there.attrs.underline != 0) != look.underline ||
	    !has_colour(there.fg, VTERM_COLOR_IS_DEFAULT_FG(&there.fg), look.fore,
			palette) ||
	    !has_colour(there.bg, VTERM_COLOR_IS_DEFAULT_BG(&there.bg), look.back,
			palette))
		fail_msg("%d,%d shows U+%04X, drawn U+%04X, colours %d on %d", x, y,
			 code, cell->code, look.fore, look.back);
}

/* REP stands behind ASCII alone where the terminal has not shown that it repeats all:
 * tmux 3.3 passes over it behind anything else. */
static void check_repetitions(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		size_t start = i;

		if (bytes[i] != 'b')
			continue;
		while (start > 0 && bytes[start - 1] >= '0' && bytes[start - 1] <= '9')
			start--;
		if (start == i || start < 3 || bytes[start - 1] != '[' ||
		    bytes[start - 2] != '\033')
			continue;
		assert_in_range((unsigned char)bytes[start - 3], 0x20, 0x7e);
	}
}

static void check_terminal(const char *term, enum palette palette, bool repeats_all)
{
	static const int sizes[][2] = { { 80, 24 }, { 120, 36 }, { 5, 3 }, { 1, 1 } };
	int status;

	assert_int_equal(setupterm(term, 1, &status), 0);
	painter_begin();
	painter_repeat_all(repeats_all);
	painter_use_tabs(repeats_all); /* both are shown by the same trial */
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		int width = sizes[i][0], height = sizes[i][1];
		VTerm *vterm = vterm_new(height, width);
		VTermScreen *screen = vterm_obtain_screen(vterm);
		struct canvas canvas;

		vterm_set_utf8(vterm, 1);
		vterm_screen_reset(screen, 1);
		assert_true(canvas_init(&canvas, width, height, GLYPHS_FULL, true));
		for (int frame = 0; frame < FRAMES; frame++) {
			const char *bytes;
			size_t length;

			if (next(5) == 0)
				canvas_erase(&canvas);
			draw_anything(&canvas, (int)next(12));
			bytes = painter_frame(&canvas, palette, &length);
			assert_non_null(bytes);
			if (!repeats_all)
				check_repetitions(bytes, length);
			vterm_input_write(vterm, bytes, length);
			for (int at = 0; at < width * height; at++)
				check_cell(screen, &canvas, at % width, at / width,
					   palette);
			/* the same again: nothing to send */
			assert_non_null(painter_frame(&canvas, palette, &length));
			assert_int_equal(length, 0);
		}
		canvas_free(&canvas);
		vterm_free(vterm);
	}
	painter_end();
	del_curterm(cur_term);
}

static void test_the_screen_shows_the_canvas(void **state)
{
	(void)state;
	seed = 41;
	check_terminal("xterm-256color", PALETTE_256, false);
	check_terminal("screen-256color", PALETTE_256_DARK, false);
	check_terminal("tmux-256color", PALETTE_256_LIGHT, false);
	check_terminal("xterm-256color", PALETTE_RGB_DARK, false);
	check_terminal("xterm-256color", PALETTE_256, true);
	check_terminal("vt100", PALETTE_MONO, false);
	check_terminal("linux", PALETTE_8, false);
	check_terminal("screen", PALETTE_8, false);
	check_terminal("xterm", PALETTE_8, false);
}

/* Everything that lies outside what may follow is shown by the first frame. */
static void check_outside(VTermScreen *screen, const struct canvas *canvas)
{
	const struct rect *late = &canvas->late;

	for (int y = 0; y < canvas->height; y++)
		for (int x = 0; x < canvas->width; x++)
			if (y < late->y || y >= late->y + late->height || x < late->x ||
			    x >= late->x + late->width)
				check_cell(screen, canvas, x, y, PALETTE_256);
}

/* Frames until the canvas is shown, none larger than it may be; another canvas may come
 * before all of them. Returns how many there were. */
static int show_parts(VTerm *vterm, const struct canvas *canvas, int frames)
{
	VTermScreen *screen = vterm_obtain_screen(vterm);
	size_t most = painter_most(canvas->width, canvas->height), length;
	int count = 0;

	do {
		const char *bytes = painter_frame(canvas, PALETTE_256, &length);

		assert_non_null(bytes);
		assert_in_range(length, 0, most);
		vterm_input_write(vterm, bytes, length);
		check_outside(screen, canvas);
		count++;
	} while (painter_is_behind() && count < frames);
	assert_in_range(count, 1, 8);
	return count;
}

static void test_large_frames_end_with_what_may_follow(void **state)
{
	enum { WIDTH = 120, HEIGHT = 36 };
	VTerm *vterm = vterm_new(HEIGHT, WIDTH);
	VTermScreen *screen = vterm_obtain_screen(vterm);
	struct canvas canvas;
	int status, parted = 0;
	const char *bytes;
	size_t length;

	(void)state;
	seed = 43;
	assert_int_equal(setupterm("xterm-256color", 1, &status), 0);
	painter_begin();
	vterm_set_utf8(vterm, 1);
	vterm_screen_reset(screen, 1);
	assert_true(canvas_init(&canvas, WIDTH, HEIGHT, GLYPHS_FULL, true));
	bytes = painter_frame(&canvas, PALETTE_256, &length);
	assert_non_null(bytes);
	vterm_input_write(vterm, bytes, length);
	assert_false(painter_is_behind());
	for (int i = 0; i < FRAMES; i++) {
		bool all = next(3) > 0;

		if (next(3) == 0)
			canvas_erase(&canvas);
		canvas.late = (struct rect){ 35, 3, WIDTH - 35, HEIGHT - 4 };
		draw_anything(&canvas, (int)next(400));
		canvas_fill(&canvas, (struct rect){ 0, 0, 35, HEIGHT }, ' ',
			    ROLE_DEFAULT);
		canvas_format(&canvas, 3, 7, 20, ROLE_VALUE, "%u",
			      (unsigned)next(9999));
		canvas.cursor_x = canvas.cursor_y = -1;
		parted += show_parts(vterm, &canvas, all ? 9 : 1) > 1;
		for (int at = 0; all && at < WIDTH * HEIGHT; at++)
			check_cell(screen, &canvas, at % WIDTH, at / WIDTH,
				   PALETTE_256);
	}
	assert_true(parted > FRAMES / 10);
	canvas_free(&canvas);
	vterm_free(vterm);
	painter_end();
	del_curterm(cur_term);
}

/* Random jumps: the cursor is where it is to be, the counted bytes are those of the
 * way, and none is longer than to name the place. */
static void check_moves(const char *term)
{
	enum { WIDTH = 150, HEIGHT = 45, MOVES = 20000 };
	VTerm *vterm = vterm_new(HEIGHT, WIDTH);
	VTermState *state = vterm_obtain_state(vterm);
	int status, from_x = 0, from_y = 0, tabs = 0;
	VTermPos at;

	assert_int_equal(setupterm(term, 1, &status), 0);
	vterm_state_reset(state, 1);
	move_begin();
	for (int i = 0; i < MOVES; i++) {
		bool near = next(2);
		int x = near ? clamp(from_x + (int)next(13) - 6, 0, WIDTH - 1)
			     : (int)next(WIDTH);
		int y = near ? clamp(from_y + (int)next(9) - 4, 0, HEIGHT - 1)
			     : (int)next(HEIGHT);
		bool known = next(8) > 0;
		bool has_tabs = next(2);
		char way[MOVE_MAX], place[MOVE_MAX];
		int length;

		move_use_tabs(has_tabs ? WIDTH : 0);
		length = move_way(known ? from_x : -1, from_y, x, y, way);
		tabs += strchr(way, '\t') != NULL;
		assert_true(has_tabs || !strchr(way, '\t'));
		assert_int_equal(length, strlen(way));
		assert_int_equal(length,
				 move_length(known ? from_x : -1, from_y, x, y));
		assert_true(length <= move_way(-1, -1, x, y, place));
		vterm_input_write(vterm, way, strcspn(way, "$"));
		vterm_state_get_cursorpos(state, &at);
		if (at.col != x || at.row != y)
			fail_msg("%s: from %d,%d to %d,%d it is %d,%d", term, from_x,
				 from_y, x, y, at.col, at.row);
		from_x = x;
		from_y = y;
	}
	assert_true(tabs > MOVES / 50);
	vterm_free(vterm);
	del_curterm(cur_term);
}

static void test_a_move_ends_where_it_is_to(void **state)
{
	static const char *const terms[] = { "xterm-256color", "tmux-256color",
					     "screen", "linux", "vt100" };

	(void)state;
	seed = 5;
	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
		check_moves(terms[i]);
}

/* Changes of colour and attributes in these bytes. */
static int count_changes(const char *bytes, size_t length)
{
	int count = 0;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != '\033')
			continue;
		while (i < length &&
		       (bytes[i] < 'A' || bytes[i] > 'z' || bytes[i] == '['))
			i++;
		count += i < length && bytes[i] == 'm';
	}
	return count;
}

/* Nodes of which all ranks were lit, a bar of colour each, and now every other one is:
 * what is between two letters is written with them, and a letter wears its ground. */
static void test_blanks_go_with_the_letters_beside_them(void **state)
{
	struct canvas canvas;
	const char *bytes;
	size_t length;
	int status;

	(void)state;
	assert_int_equal(setupterm("xterm-256color", 1, &status), 0);
	painter_begin();
	assert_true(canvas_init(&canvas, 80, 24, GLYPHS_FULL, true));
	canvas_fill(&canvas, (struct rect){ 10, 4, 8, 1 }, 0x2588, ROLE_DP);
	canvas_text(&canvas, 18, 4, 1, ROLE_DP, "z");
	painter_frame(&canvas, PALETTE_256_DARK, &length);
	canvas_text(&canvas, 10, 4, 8, ROLE_QUIET, "a . b . ");
	bytes = painter_frame(&canvas, PALETTE_256_DARK, &length);
	assert_non_null(memmem(bytes, length, "a . b . ", 8));
	/* a bar with a letter, beside one without: two grounds, one ink */
	canvas_text(&canvas, 10, 6, 7, ROLE_DP, "   7   ");
	canvas_highlight(&canvas, (struct rect){ 10, 6, 7, 1 }, ROLE_EP, false, false);
	canvas_fill(&canvas, (struct rect){ 10, 8, 7, 1 }, 0x2588, ROLE_EP);
	bytes = painter_frame(&canvas, PALETTE_256_DARK, &length);
	assert_int_equal(count_changes(bytes, length), 2); /* and back to plain */
	canvas_free(&canvas);
	painter_end();
	del_curterm(cur_term);
}

/* Whichever call of a change of size fails, the next frame is whole, of whatever size.
 */
static void test_memory_that_ends(void **state)
{
	static const int sizes[][2] = { { 40, 10 }, { 200, 60 }, { 20, 5 } };
	struct canvas canvas = { 0 };
	size_t length;
	int status, failed = 0;

	(void)state;
	assert_int_equal(setupterm("xterm-256color", 1, &status), 0);
	painter_begin();
	for (int i = 0; i < 3 * 3 * 8; i++) {
		const int *first = sizes[i % 3], *then = sizes[i / 3 % 3];

		assert_true(canvas_resize(&canvas, first[0], first[1]));
		assert_non_null(painter_frame(&canvas, PALETTE_256, &length));
		assert_true(canvas_resize(&canvas, 60, 30));
		memory_fail_at(i / 9, false);
		failed += !painter_frame(&canvas, PALETTE_256, &length);
		memory_fail_at(-1, false);
		assert_true(canvas_resize(&canvas, then[0], then[1]));
		draw_anything(&canvas, 20);
		assert_non_null(painter_frame(&canvas, PALETTE_256, &length));
		assert_true(length > 0);
		assert_true(canvas_resize(&canvas, 60, 30));
		assert_non_null(painter_frame(&canvas, PALETTE_256, &length));
	}
	if (MEMORY_ENDS)
		assert_in_range(failed, 5 * 9, 8 * 9);
	canvas_free(&canvas);
	painter_end();
	del_curterm(cur_term);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blanks_go_with_the_letters_beside_them),
		cmocka_unit_test(test_the_screen_shows_the_canvas),
		cmocka_unit_test(test_large_frames_end_with_what_may_follow),
		cmocka_unit_test(test_a_move_ends_where_it_is_to),
		cmocka_unit_test(test_memory_that_ends),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
