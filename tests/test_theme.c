/* test_theme.c - every role is readable, also for the colour-blind, on dark and on
 * light backgrounds. Contrast is WCAG 2.1's; colour blindness is simulated with
 * the matrices of Machado, Oliveira and Fernandes (2009), severity 1. */
#include "tests/support/close.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/stage.h"
#include "tui/canvas.h"
#include "tui/view.h"

static uint32_t rgb_of(enum role role, enum palette palette)
{
	int colour = theme_colour(role, palette);

	assert_true(colour >= 0);
	if (palette == PALETTE_RGB_DARK || palette == PALETTE_RGB_LIGHT)
		return (uint32_t)colour;
	return theme_rgb256(colour);
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = theme_luminance(a) + 0.05, y = theme_luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

static double linear(double part)
{
	return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

static double lab_f(double t)
{
	return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

/* CIE L*a*b* (D65) of a colour as an eye with the matrix sees it. */
static void lab_seen(uint32_t rgb, const double eye[3][3], double lab[3])
{
	double in[3], out[3], xyz[3];
	static const double to_xyz[3][3] = { { 0.4339, 0.3762, 0.1899 },
					     { 0.2126, 0.7152, 0.0722 },
					     { 0.0178, 0.1095, 0.8727 } };

	for (int i = 0; i < 3; i++)
		in[i] = linear((rgb >> (16 - 8 * i) & 255) / 255.0);
	for (int i = 0; i < 3; i++) {
		double sum = eye[i][0] * in[0] + eye[i][1] * in[1] + eye[i][2] * in[2];
		out[i] = fmin(1, fmax(0, sum));
	}
	for (int i = 0; i < 3; i++)
		xyz[i] = lab_f(to_xyz[i][0] * out[0] + to_xyz[i][1] * out[1] +
			       to_xyz[i][2] * out[2]);
	lab[0] = 116 * xyz[1] - 16;
	lab[1] = 500 * (xyz[0] - xyz[1]);
	lab[2] = 200 * (xyz[1] - xyz[2]);
}

static const double eyes[][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.152286, 1.052583, -0.204868 },
	  { 0.114503, 0.786281, 0.099216 },
	  { -0.003882, -0.048116, 1.051998 } }, /* protanopia */
	{ { 0.367322, 0.860646, -0.227968 },
	  { 0.280085, 0.672501, 0.047413 },
	  { -0.011820, 0.042940, 0.968881 } }, /* deuteranopia */
};

static double distance_seen(uint32_t a, uint32_t b)
{
	double least = 1e9;

	for (size_t i = 0; i < sizeof eyes / sizeof eyes[0]; i++) {
		double x[3], y[3];
		lab_seen(a, eyes[i], x);
		lab_seen(b, eyes[i], y);
		least = fmin(least,
			     hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]));
	}
	return least;
}

static const enum palette palettes[] = { PALETTE_256, PALETTE_256_DARK,
					 PALETTE_256_LIGHT, PALETTE_RGB_DARK,
					 PALETTE_RGB_LIGHT };

/* Any two parts that can stand in one bar are told apart by any eye: a CIE76
 * difference of 10 is seen at a glance. */
static void check_family(const enum role *role, int count)
{
	for (size_t p = 0; p < sizeof palettes / sizeof palettes[0]; p++)
		for (int i = 0; i < count * count; i++) {
			enum role a = role[i / count], b = role[i % count];
			double seen;
			if (a >= b)
				continue;
			seen = distance_seen(rgb_of(a, palettes[p]),
					     rgb_of(b, palettes[p]));
			if (seen < 10)
				fail_msg("palette %d: %s and %s differ by %.1f",
					 (int)palettes[p], theme_style(a)->name,
					 theme_style(b)->name, seen);
		}
}

static const enum role parts_of_memory[] = { ROLE_WEIGHTS,   ROLE_GRADIENTS,
					     ROLE_OPTIMIZER, ROLE_ACTIVATIONS,
					     ROLE_BUFFERS,   ROLE_FRAMEWORK };
static const enum role parts_of_servers[] = { ROLE_WEIGHTS, ROLE_ACTIVATIONS,
					      ROLE_BUFFERS, ROLE_FRAMEWORK, ROLE_KV };
static const enum role time_parts[] = { ROLE_COMPUTE, ROLE_RECOMPUTE, ROLE_TP,
					ROLE_CP,      ROLE_EP,        ROLE_PP,
					ROLE_DP,      ROLE_HOST,      ROLE_BUBBLE,
					ROLE_STEP };
static const enum role parts_of_tasks[] = {
	ROLE_FORWARD,   ROLE_FORWARD_ALT, ROLE_BACKWARD, ROLE_BACKWARD_ALT, ROLE_WGRAD,
	ROLE_WGRAD_ALT, ROLE_AGAIN,       ROLE_TRANSFER, ROLE_PAUSE
};
static const enum role parts_of_passes[] = { ROLE_DECODE, ROLE_DECODE_ALT, ROLE_MIXED };
static const enum role verdicts[] = { ROLE_GOOD, ROLE_BAD };
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static void test_parts_are_told_apart_by_the_colour_blind(void **state)
{
	(void)state;
	check_family(parts_of_memory, COUNT(parts_of_memory));
	check_family(parts_of_servers, COUNT(parts_of_servers));
	check_family(time_parts, COUNT(time_parts));
	check_family(parts_of_tasks, COUNT(parts_of_tasks));
	check_family(parts_of_passes, COUNT(parts_of_passes));
	check_family(verdicts, COUNT(verdicts));
}

static void check_lightness(const enum role *part, int count, enum palette palette)
{
	for (int i = 1; i < count; i++) {
		double ratio = contrast(rgb_of(part[i - 1], palette),
					rgb_of(part[i], palette));

		if (ratio < 1.5)
			fail_msg("palette %d: %s next to %s: contrast %.2f",
				 (int)palette, theme_style(part[i - 1])->name,
				 theme_style(part[i])->name, ratio);
	}
}

static void test_memory_parts_alternate_in_lightness(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof palettes / sizeof palettes[0]; p++) {
		check_lightness(parts_of_memory, COUNT(parts_of_memory), palettes[p]);
		check_lightness(parts_of_servers, COUNT(parts_of_servers), palettes[p]);
	}
}

static void check_text(enum palette palette, uint32_t paper, double least)
{
	static const enum role words[] = { ROLE_TITLE,        ROLE_KEY,
					   ROLE_GOOD,         ROLE_BAD,
					   ROLE_HINT,         ROLE_WARNING,
					   ROLE_DELTA_BETTER, ROLE_DELTA_WORSE,
					   ROLE_QUIET,        ROLE_CRITICAL };

	for (int i = 0; i < COUNT(words); i++) {
		double ratio = contrast(rgb_of(words[i], palette), paper);
		if (ratio < least)
			fail_msg("palette %d: %s on #%06x: contrast %.2f", (int)palette,
				 theme_style(words[i])->name, (unsigned)paper, ratio);
	}
}

static void test_text_is_readable_on_dark_and_light(void **state)
{
	/* black, two usual dark greys, Solarized dark, the pictures' own */
	static const uint32_t dark[] = { 0x000000, 0x1e1e1e, 0x282c34, 0x002b36,
					 0x11151c };
	static const uint32_t light[] = { 0xffffff, 0xfdf6e3 };

	(void)state;
	for (int i = 0; i < COUNT(dark); i++) {
		check_text(PALETTE_RGB_DARK, dark[i], 4.5);
		check_text(PALETTE_256_DARK, dark[i], 4.5);
		assert_int_equal(theme_background(dark[i]), BACKGROUND_DARK);
	}
	for (int i = 0; i < COUNT(light); i++) {
		check_text(PALETTE_RGB_LIGHT, light[i], 4.5);
		check_text(PALETTE_256_LIGHT, light[i], 4.5);
		assert_int_equal(theme_background(light[i]), BACKGROUND_LIGHT);
	}
	/* Not knowing the background: large-text contrast on both. */
	check_text(PALETTE_256, 0x000000, 3);
	check_text(PALETTE_256, 0xffffff, 3);
}

static uint32_t shown(int colour, enum palette palette, uint32_t otherwise)
{
	if (colour < 0)
		return otherwise;
	return theme_is_rgb(palette) ? (uint32_t)colour : theme_rgb256(colour);
}

/* Letters and digits of a drawn view on what is behind them. */
static void check_written(const struct stage *s, enum palette palette, uint32_t paper)
{
	uint32_t ink =
		theme_background(paper) == BACKGROUND_LIGHT ? 0x000000 : 0xffffff;
	const struct canvas *canvas = &s->canvas;

	for (int at = 0; at < canvas->width * canvas->height; at++) {
		const struct cell *cell = &canvas->cell[at];
		struct look look = theme_look(cell, palette);
		uint32_t fore = shown(look.fore, palette, ink);
		uint32_t back = shown(look.back, palette, paper);

		if (cell->code < '0' || cell->code > 'z' || contrast(fore, back) >= 4.5)
			continue;
		fail_msg("%s: '%c' at %d,%d in palette %d: contrast %.2f",
			 view_table[s->explorer.view].name, (char)cell->code,
			 at % canvas->width, at / canvas->width, (int)palette,
			 contrast(fore, back));
	}
}

static void test_letters_of_every_view_are_readable(void **state)
{
	static const struct {
		enum palette palette;
		uint32_t paper;
	} on[] = { { PALETTE_RGB_DARK, 0x000000 },  { PALETTE_RGB_DARK, 0x282c34 },
		   { PALETTE_256_DARK, 0x000000 },  { PALETTE_256_DARK, 0x282c34 },
		   { PALETTE_RGB_LIGHT, 0xffffff }, { PALETTE_RGB_LIGHT, 0xfdf6e3 },
		   { PALETTE_256_LIGHT, 0xffffff }, { PALETTE_256_LIGHT, 0xfdf6e3 } };
	static const char *const layers[] = { "1o", "e", "/micro",   "\n",
					      "p",  "l", "/tp\n=3\n" };
	static const char *const plans[] = { NULL, "llama3.1-70b-4-h100-serve" };
	struct stage s;

	(void)state;
	for (int p = 0; p < COUNT(plans); p++) {
		stage_open(&s, plans[p], 160, 45);
		s.patient = true;
		s.canvas.glyphs = GLYPHS_FULL;
		s.canvas.colour = true;
		for (int view = 0; view < VIEW_COUNT; view++) {
			explorer_show(&s.explorer, (enum view_id)view);
			/* what a view finds in idle time is read as well */
			free(stage_text(&s));
			for (int i = 0; i < COUNT(on); i++)
				check_written(&s, on[i].palette, on[i].paper);
		}
		/* lists, lines that are typed into, and what can't run */
		for (int i = 0; i < COUNT(layers); i++) {
			stage_type(&s, layers[i]);
			for (int k = 0; k < COUNT(on); k++)
				check_written(&s, on[k].palette, on[k].paper);
			stage_type(&s, "\33\33");
		}
		stage_close(&s);
	}
}

static void test_ink_is_readable_on_every_fill(void **state)
{
	(void)state;
	for (enum role role = 0; role < ROLE_COUNT; role++)
		for (size_t p = 0; p < sizeof palettes / sizeof palettes[0]; p++) {
			int ink = theme_ink(role, palettes[p]);
			if (theme_colour(role, palettes[p]) < 0) {
				assert_int_equal(ink, -1);
				continue;
			}
			uint32_t rgb = ink < 256 && palettes[p] < PALETTE_RGB_DARK
					       ? theme_rgb256(ink)
					       : (uint32_t)ink;
			assert_true(contrast(rgb, rgb_of(role, palettes[p])) >= 4.5);
		}
}

/* In mono the letters of one bar are different, and none is a space. */
static void check_letters(const enum role *role, int count)
{
	for (int i = 0; i < count; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(theme_style(role[i])->fill,
					     theme_style(role[j])->fill);
}

static void test_letters_of_a_bar_differ(void **state)
{
	(void)state;
	check_letters(parts_of_memory, COUNT(parts_of_memory));
	check_letters(time_parts, COUNT(time_parts));
	check_letters(parts_of_tasks, COUNT(parts_of_tasks));
	check_letters(parts_of_passes, COUNT(parts_of_passes));
}

/* In ASCII the parts that mean "no work here" differ too, and from all that is work. */
static void test_nothing_to_do_is_told_apart(void **state)
{
	const char sign[] = { theme_style(ROLE_BUFFERS)->fill,
			      theme_style(ROLE_BUBBLE)->fill,
			      (char)theme_glyph(GLYPHS_ASCII, GLYPH_MIDDOT),
			      (char)theme_glyph(GLYPHS_ASCII, GLYPH_FREE) };

	(void)state;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(sign[i], sign[j]);
}

/* Without colour a painted background is reverse; under a block that would be a hole.
 */
static void test_blocks_are_seen_without_colour(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct cell cell = { .code = 0x2588, .fore = (uint8_t)role };

		assert_false(theme_look(&cell, PALETTE_MONO).reverse);
		cell.back = ROLE_FOCUS;
		assert_false(theme_look(&cell, PALETTE_MONO).reverse);
		cell.code = 'x';
		assert_true(theme_look(&cell, PALETTE_MONO).reverse);
	}
}

static void test_no_black_and_nothing_beyond_the_palette(void **state)
{
	(void)state;
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const struct role_style *style = theme_style(role);
		assert_non_null(style->name);
		assert_in_range(style->colour8 + 1, 0, 8);
		assert_int_not_equal(style->colour8, 0);
		assert_in_range(style->fill, ' ', '~');
		assert_int_equal(theme_colour(role, PALETTE_MONO), -1);
	}
}

static void test_every_glyph_has_every_level(void **state)
{
	(void)state;
	for (enum glyph glyph = 0; glyph < GLYPH_COUNT; glyph++)
		for (enum glyph_level level = 0; level < GLYPHS_COUNT; level++)
			assert_int_not_equal(theme_glyph(level, glyph), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_are_told_apart_by_the_colour_blind),
		cmocka_unit_test(test_memory_parts_alternate_in_lightness),
		cmocka_unit_test(test_text_is_readable_on_dark_and_light),
		cmocka_unit_test(test_letters_of_every_view_are_readable),
		cmocka_unit_test(test_ink_is_readable_on_every_fill),
		cmocka_unit_test(test_letters_of_a_bar_differ),
		cmocka_unit_test(test_nothing_to_do_is_told_apart),
		cmocka_unit_test(test_blocks_are_seen_without_colour),
		cmocka_unit_test(test_no_black_and_nothing_beyond_the_palette),
		cmocka_unit_test(test_every_glyph_has_every_level),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
