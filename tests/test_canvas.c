/* test_canvas.c - cells, clip, UTF-8 and the three back ends. */
#include "tests/support/close.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tui/canvas.h"
#include "tui/text.h"

static void assert_screen(const struct canvas *canvas, const char *expected)
{
	char *text = canvas_to_text(canvas);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static struct canvas small(int width, int height)
{
	struct canvas canvas;

	assert_true(canvas_init(&canvas, width, height, GLYPHS_FULL, true));
	return canvas;
}

static void test_text_is_cut_with_an_ellipsis(void **state)
{
	struct canvas c = small(8, 3);

	(void)state;
	assert_int_equal(canvas_text(&c, 0, 0, 8, ROLE_DEFAULT, "exactly8"), 8);
	assert_int_equal(canvas_text(&c, 0, 1, 5, ROLE_DEFAULT, "too long"), 5);
	assert_int_equal(canvas_text(&c, 0, 2, 1, ROLE_DEFAULT, "no"), 1);
	assert_screen(&c, "exactly8\ntoo \u2026\n\u2026\n");
	assert_int_equal(canvas_text(&c, 0, 2, 0, ROLE_DEFAULT, "no"), 0);
	assert_int_equal(canvas_text(&c, 0, 2, -7, ROLE_DEFAULT, "no"), 0);
	assert_screen(&c, "exactly8\ntoo \u2026\n\u2026\n");
	canvas_free(&c);
}

static void test_phrases_stay_whole(void **state)
{
	struct canvas c = small(24, 5);
	const char *text = "interleaved: +3.9 % tok/s, 73.1 GiB (7.2 %)";

	(void)state;
	assert_int_equal(canvas_phrase(&c, 0, 0, 24, ROLE_DEFAULT, "short, whole"), 12);
	assert_int_equal(canvas_phrase(&c, 0, 1, 20, ROLE_DEFAULT, text), 12);
	/* none in the last half: cut like any other text */
	assert_int_equal(canvas_phrase(&c, 0, 2, 10, ROLE_DEFAULT, text), 10);
	assert_int_equal(canvas_phrase(&c, 0, 3, 24, ROLE_DEFAULT,
				       "one; 1,000,000,000,000"
				       ",000"),
			 24);
	assert_int_equal(canvas_phrase(&c, 0, 4, 0, ROLE_DEFAULT, text), 0);
	assert_screen(&c, "short, whole\n"
			  "interleaved\u2026\n"
			  "interleav\u2026\n"
			  "one; 1,000,000,000,000,\u2026\n\n");
	canvas_free(&c);
}

static void test_right_alignment(void **state)
{
	struct canvas c = small(8, 2);

	(void)state;
	canvas_right(&c, 2, 0, 5, ROLE_VALUE, "1.5");
	canvas_right(&c, 2, 1, 5, ROLE_VALUE, "123456789");
	assert_screen(&c, "    1.5\n  1234\u2026\n");
	canvas_free(&c);
}

static void test_wide_characters_take_two_cells(void **state)
{
	struct canvas c = small(6, 1);

	(void)state;
	assert_int_equal(text_width("\u4f60\u597da"), 5);
	assert_int_equal(canvas_text(&c, 0, 0, 6, ROLE_DEFAULT, "\u4f60\u597da"), 5);
	assert_int_equal(canvas_at(&c, 1, 0)->code, 0);
	assert_screen(&c, "\u4f60\u597da\n");
	/* Half of one is overwritten: the other half goes. */
	canvas_put(&c, 1, 0, 'x', ROLE_DEFAULT);
	assert_screen(&c, " x\u597da\n");
	canvas_put(&c, 2, 0, 'y', ROLE_DEFAULT);
	assert_screen(&c, " xy a\n");
	/* None hangs over the edge, nor over the room that it was given. */
	canvas_put(&c, 5, 0, 0x4f60, ROLE_DEFAULT);
	assert_screen(&c, " xy a?\n");
	canvas_erase(&c);
	assert_int_equal(canvas_text(&c, 0, 0, 4, ROLE_DEFAULT, "\u4f60\u597d\u4f60"),
			 3);
	assert_screen(&c, "\u4f60\u2026\n");
	canvas_free(&c);
}

static void test_bad_utf8_and_controls_become_question_marks(void **state)
{
	static const struct {
		const char *text, *shown;
	} t[] = {
		{ "\033[2Jx", "?[2Jx\n" },
		{ "a\tb\r\n", "a?b??\n" },
		{ "\x7f", "?\n" },
		{ "\xc2\x9bx", "?x\n" }, /* C1 CSI */
		{ "\xff\xfe", "??\n" },
		{ "\xc0\x80", "??\n" },
		{ "\xe4\xbd", "??\n" },
		{ "\xed\xa0\x80", "???\n" },
		{ "\xf4\x90\x80\x80", "????\n" },
		{ "e\u0301", "e?\n" },
		{ "a\u200bb", "a?b\n" },
		{ "\u202e.", "?.\n" },
		{ "\xf8x", "?x\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct canvas c = small(12, 1);
		canvas_text(&c, 0, 0, 12, ROLE_DEFAULT, t[i].text);
		assert_screen(&c, t[i].shown);
		canvas_free(&c);
	}
}

static void test_every_character_encodes_and_decodes(void **state)
{
	char bytes[5];

	(void)state;
	for (uint32_t code = 0xa1; code <= 0x10ffff; code += code < 0x3000 ? 1 : 97) {
		const char *text = bytes;
		if (code >= 0xd800 && code <= 0xdfff)
			continue;
		bytes[text_encode(code, bytes)] = '\0';
		uint32_t back = text_decode(&text);
		assert_true(back == code || back == '?');
		assert_int_equal(*text, '\0');
	}
}

/* Draws everything at hostile places on a canvas that is part of a larger block
 * of memory, of which nothing else may change. */
static void draw_hostile(struct canvas *c)
{
	static const int place[] = { INT_MIN, INT_MIN + 1, -1000,       -1,     0, 1, 2,
				     79,      1000,        INT_MAX - 1, INT_MAX };
	enum { COUNT = sizeof place / sizeof place[0] };

	for (int i = 0; i < COUNT * COUNT; i++) {
		int x = place[i / COUNT], y = place[i % COUNT];
		canvas_put(c, x, y, 0x4f60, ROLE_BAD);
		canvas_cursor(c, x, y);
		canvas_fill(c, (struct rect){ x, y, 5, 5 }, '#', ROLE_WEIGHTS);
		canvas_fill(c, (struct rect){ 0, 0, x, y }, '#', ROLE_WEIGHTS);
		canvas_fill(c, (struct rect){ x, y, INT_MAX, INT_MAX }, '#', ROLE_TP);
		canvas_highlight(c, (struct rect){ x, y, x, y }, ROLE_FOCUS, true,
				 true);
		if (x < 2000 && x > -2000)
			canvas_text(c, x, y, 200, ROLE_KEY, "some text \u4f60\u597d");
	}
}

static void test_nothing_is_drawn_outside(void **state)
{
	(void)state;
	for (int size = 0; size < 64; size++) {
		int width = 1 + size % 8, height = 1 + size / 8;
		struct canvas c = small(width, height);
		size_t bytes = (size_t)(width * height) * sizeof(struct cell);
		struct cell *own = c.cell;
		char *block = malloc(bytes + 2000);
		assert_non_null(block);
		memset(block, 0x5a, bytes + 2000);
		c.cell = (struct cell *)(void *)(block + 1000 / sizeof(void *) *
								 sizeof(void *));
		canvas_erase(&c);
		draw_hostile(&c);
		for (char *p = block; p < (char *)c.cell; p++)
			assert_int_equal(*p, 0x5a);
		for (char *p = (char *)c.cell + bytes; p < block + bytes + 2000; p++)
			assert_int_equal(*p, 0x5a);
		free(block);
		c.cell = own;
		canvas_free(&c);
	}
}

static void test_clip_confines(void **state)
{
	struct canvas c = small(5, 3);

	(void)state;
	struct rect before = canvas_clip(&c, (struct rect){ 1, 1, 2, 9 });
	canvas_fill(&c, (struct rect){ -5, -5, 99, 99 }, 'x', ROLE_DEFAULT);
	canvas_text(&c, 0, 2, 5, ROLE_DEFAULT, "abcde");
	canvas_cursor(&c, 0, 0);
	assert_int_equal(c.cursor_x, -1);
	assert_null(canvas_at(&c, 3, 1));
	canvas_clip(&c, before);
	canvas_put(&c, 4, 0, 'z', ROLE_DEFAULT);
	assert_screen(&c, "    z\n xx\n bc\n");
	canvas_free(&c);
}

static void test_sizes_are_cut(void **state)
{
	struct canvas c = small(0, -3);

	(void)state;
	assert_int_equal(c.width, 1);
	assert_int_equal(c.height, 1);
	assert_true(canvas_resize(&c, INT_MAX, 2));
	assert_int_equal(c.width, CANVAS_MAX);
	canvas_free(&c);
	canvas_free(&c);
	assert_null(canvas_at(&c, 0, 0));
}

static void test_ascii_level_has_only_ascii(void **state)
{
	struct canvas c;

	(void)state;
	assert_true(canvas_init(&c, 40, 2, GLYPHS_ASCII, true));
	for (enum glyph glyph = 0; glyph < GLYPH_COUNT; glyph++)
		canvas_put(&c, (int)glyph, 0, theme_glyph(GLYPHS_FULL, glyph),
			   ROLE_DEFAULT);
	canvas_text(&c, 0, 1, 40, ROLE_DEFAULT,
		    "2 \u00d7 3 \u2192 6 \u2013 \u00b5s \u4f60");
	for (int i = 0; i < 80; i++)
		assert_in_range(c.cell[i].code, ' ', '~');
	char *text = canvas_to_text(&c);
	assert_non_null(strstr(text, "\n2 x 3 > 6 - us ?"));
	free(text);
	canvas_free(&c);
}

static void test_ansi_switches_looks_and_ends_plain(void **state)
{
	struct canvas c = small(10, 2);

	(void)state;
	canvas_text(&c, 0, 0, 10, ROLE_GOOD, "ok");
	canvas_text(&c, 3, 0, 10, ROLE_DEFAULT, "plain");
	canvas_put(&c, 0, 1, 0x258c, ROLE_WEIGHTS);
	canvas_at(&c, 0, 1)->back = ROLE_GRADIENTS;
	canvas_highlight(&c, (struct rect){ 1, 1, 2, 1 }, ROLE_DEFAULT, true, false);
	char *text = canvas_to_ansi(&c, PALETTE_256);
	assert_string_equal(text, "\033[0;38;5;29mok\033[0m plain\n"
				  "\033[0;38;5;25;48;5;110m\u258c\033[0;7m  \033[0m\n");
	free(text);
	text = canvas_to_ansi(&c, PALETTE_8);
	assert_string_equal(text, "\033[0;32mok\033[0m plain\n"
				  "\033[0;34;46m\u258c\033[0;7m  \033[0m\n");
	free(text);
	c.colour = false;
	text = canvas_to_ansi(&c, PALETTE_256);
	assert_null(strstr(text, ";5;"));
	free(text);
	canvas_free(&c);
}

static void test_svg_is_well_formed(void **state)
{
	struct canvas c = small(12, 2);

	(void)state;
	canvas_text(&c, 0, 0, 12, ROLE_VALUE, "a<b>&\"c' \u4f60");
	for (int i = 0; i < 12; i++)
		canvas_put(&c, i, 1, (uint32_t)(0x2580 + i), ROLE_TP);
	canvas_put(&c, 11, 1, 0x28ff, ROLE_TP);
	for (int light = 0; light < 2; light++) {
		char *svg = canvas_to_svg(&c, light);
		assert_non_null(svg);
		assert_non_null(strstr(svg, "a&lt;b&gt;&amp;\"c'"));
		assert_non_null(strstr(svg, "<circle"));
		assert_non_null(strstr(svg, light ? "#ffffff" : "#11151c"));
		assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
		free(svg);
	}
	canvas_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_cut_with_an_ellipsis),
		cmocka_unit_test(test_phrases_stay_whole),
		cmocka_unit_test(test_right_alignment),
		cmocka_unit_test(test_wide_characters_take_two_cells),
		cmocka_unit_test(test_bad_utf8_and_controls_become_question_marks),
		cmocka_unit_test(test_every_character_encodes_and_decodes),
		cmocka_unit_test(test_nothing_is_drawn_outside),
		cmocka_unit_test(test_clip_confines),
		cmocka_unit_test(test_sizes_are_cut),
		cmocka_unit_test(test_ascii_level_has_only_ascii),
		cmocka_unit_test(test_ansi_switches_looks_and_ends_plain),
		cmocka_unit_test(test_svg_is_well_formed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
