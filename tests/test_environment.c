/* test_environment.c - locale, NO_COLOR, COLORFGBG and TERM. */
#include "tests/support/close.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/environment.h"

static void set_locale_to(const char *lc_all, const char *lang)
{
	unsetenv("LC_CTYPE");
	unsetenv("LC_ALL");
	unsetenv("LANG");
	if (lc_all != NULL)
		setenv("LC_ALL", lc_all, 1);
	if (lang != NULL)
		setenv("LANG", lang, 1);
	environment_set_locale();
}

static void test_glyphs_follow_locale_and_term(void **state)
{
	static const struct {
		const char *lc_all, *lang, *term;
		enum glyph_level level;
	} t[] = {
		{ "C.UTF-8", NULL, "xterm-256color", GLYPHS_FULL },
		{ "C.UTF-8", NULL, "linux", GLYPHS_BASIC },
		{ "C.UTF-8", NULL, NULL, GLYPHS_FULL },
		{ "C", "C.UTF-8", "xterm", GLYPHS_ASCII },
		{ NULL, NULL, "xterm", GLYPHS_ASCII },
		{ NULL, "xx_YY.UTF-8", "xterm", GLYPHS_FULL },
		{ NULL, "xx_YY.utf8", "xterm", GLYPHS_FULL },
		{ NULL, "xx_YY.ISO-8859-1", "xterm", GLYPHS_ASCII },
		{ "", "C.UTF-8", "xterm", GLYPHS_FULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char number[16];
		set_locale_to(t[i].lc_all, t[i].lang);
		unsetenv("TERM");
		if (t[i].term != NULL)
			setenv("TERM", t[i].term, 1);
		if (environment_glyphs() != t[i].level)
			fail_msg("case %zu: level %d", i, (int)environment_glyphs());
		snprintf(number, sizeof number, "%.1f", 1.5);
		assert_string_equal(number, "1.5");
	}
}

static void test_no_color(void **state)
{
	(void)state;
	unsetenv("NO_COLOR");
	assert_true(environment_wants_colour(COLOUR_AUTO));
	assert_false(environment_wants_colour(COLOUR_NEVER));
	setenv("NO_COLOR", "", 1);
	assert_true(environment_wants_colour(COLOUR_AUTO));
	setenv("NO_COLOR", "1", 1);
	assert_false(environment_wants_colour(COLOUR_AUTO));
	assert_true(environment_wants_colour(COLOUR_ALWAYS));
	unsetenv("NO_COLOR");
}

static void test_background_is_known_only_when_told(void **state)
{
	static const struct {
		const char *value;
		enum palette palette;
	} t[] = {
		{ "15;0", PALETTE_256_DARK },
		{ "0;15", PALETTE_256_LIGHT },
		{ "0;7", PALETTE_256_LIGHT },
		{ "12;8", PALETTE_256_DARK },
		{ "15;default;0", PALETTE_256_DARK },
		{ "15;default", PALETTE_256 },
		{ "0;", PALETTE_256 },
		{ "7", PALETTE_256 },
		{ "", PALETTE_256 },
		{ "0;99999999999999999999", PALETTE_256 },
		{ "0;-1", PALETTE_256 },
		{ "0;7x", PALETTE_256 },
	};

	(void)state;
	unsetenv("COLORFGBG");
	assert_int_equal(environment_palette_256(), PALETTE_256);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		setenv("COLORFGBG", t[i].value, 1);
		if (environment_palette_256() != t[i].palette)
			fail_msg("%s: palette %d", t[i].value,
				 (int)environment_palette_256());
	}
	unsetenv("COLORFGBG");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glyphs_follow_locale_and_term),
		cmocka_unit_test(test_no_color),
		cmocka_unit_test(test_background_is_known_only_when_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
