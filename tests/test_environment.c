/* test_environment.c - locale, NO_COLOR, COLORFGBG, COLORTERM and TERM. */
#include "tests/support/close.h"
#include "tests/support/leftover.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* A file is written as the variables ask, whatever locales this host has. */
static void test_what_is_written_needs_no_locale(void **state)
{
	(void)state;
	unsetenv("TERM");
	set_locale_to("C.UTF-8", NULL);
	setlocale(LC_ALL, "C"); /* as where no locale can be had */
	assert_int_equal(environment_glyphs(), GLYPHS_ASCII);
	assert_int_equal(environment_glyphs_written(), GLYPHS_FULL);
	setenv("TERM", "linux", 1);
	assert_int_equal(environment_glyphs_written(), GLYPHS_BASIC);
	set_locale_to("C", "C.UTF-8");
	assert_int_equal(environment_glyphs_written(), GLYPHS_ASCII);
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
		enum background background;
	} t[] = {
		{ "15;0", BACKGROUND_DARK },
		{ "0;15", BACKGROUND_LIGHT },
		{ "0;7", BACKGROUND_LIGHT },
		{ "12;8", BACKGROUND_DARK },
		{ "15;default;0", BACKGROUND_DARK },
		{ "15;default", BACKGROUND_UNKNOWN },
		{ "0;", BACKGROUND_UNKNOWN },
		{ "7", BACKGROUND_UNKNOWN },
		{ "", BACKGROUND_UNKNOWN },
		{ "0;99999999999999999999", BACKGROUND_UNKNOWN },
		{ "0;-1", BACKGROUND_UNKNOWN },
		{ "0;7x", BACKGROUND_UNKNOWN },
	};

	(void)state;
	unsetenv("COLORFGBG");
	assert_int_equal(environment_background(), BACKGROUND_UNKNOWN);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		setenv("COLORFGBG", t[i].value, 1);
		if (environment_background() != t[i].background)
			fail_msg("%s: background %d", t[i].value,
				 (int)environment_background());
	}
	unsetenv("COLORFGBG");
}

static void test_24_bits_are_for_who_has_them(void **state)
{
	static const struct {
		const char *colorterm, *sty;
		int terminfo, colours;
	} t[] = {
		{ NULL, NULL, 256, 256 },
		{ "truecolor", NULL, 256, 1 << 24 },
		{ "24bit", NULL, 256, 1 << 24 },
		{ "yes", NULL, 256, 256 },
		{ "truecolor", NULL, 8, 8 },
		{ "truecolor", NULL, -1, 0 },
		{ "truecolor", "1234.pts-0", 256, 256 }, /* GNU screen */
		{ NULL, NULL, 1 << 24, 1 << 24 },        /* xterm-direct */
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		unsetenv("COLORTERM");
		unsetenv("STY");
		if (t[i].colorterm)
			setenv("COLORTERM", t[i].colorterm, 1);
		if (t[i].sty)
			setenv("STY", t[i].sty, 1);
		assert_int_equal(environment_colours(t[i].terminfo), t[i].colours);
	}
	unsetenv("COLORTERM");
	unsetenv("STY");
}

/* A Turkish i without a dot is no small I: names are found in capitals there, too. The
 * locale is made for the test where the host can make one. */
static void test_letters_are_ours_in_turkish(void **state)
{
	char folder[] = "/tmp/shardscope-locale-XXXXXX", command[256];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof command,
		 "localedef -i tr_TR -f UTF-8 %s/tr_TR.UTF-8 > %s/log 2>&1", folder,
		 folder);
	if (system(command) == 0)
		setenv("LOCPATH", folder, 1);
	set_locale_to("tr_TR.UTF-8", NULL);
	assert_int_equal(strcasecmp("PIPELINE", "pipeline"), 0);
	assert_true(environment_glyphs() != GLYPHS_ASCII);
	assert_true(strtod("1.5", NULL) == 1.5);
	unsetenv("LOCPATH");
	set_locale_to("C.UTF-8", NULL);
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* A test that is killed can't tidy up; the next one does, and leaves those alone that
 * still run. */
static void test_a_killed_test_leaves_nothing(void **state)
{
	char own[] = "/tmp/shardscope-own-XXXXXX", left[64] = "", inside[80];
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(own));
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		char folder[] = "/tmp/shardscope-killed-XXXXXX";

		if (mkdtemp(folder) &&
		    write(ends[1], folder, sizeof folder) == (ssize_t)sizeof folder)
			raise(SIGKILL);
		_exit(1);
	}
	assert_true(read(ends[0], left, sizeof left) > 0);
	snprintf(inside, sizeof inside, "%s/folder", left);
	assert_int_equal(mkdir(inside, 0700), 0);
	leftover_sweep();
	/* no process any more, once its end was asked for */
	assert_int_equal(access(inside, F_OK), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	leftover_sweep();
	assert_int_not_equal(access(left, F_OK), 0);
	assert_int_equal(access(own, F_OK), 0);
	assert_int_equal(rmdir(own), 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glyphs_follow_locale_and_term),
		cmocka_unit_test(test_what_is_written_needs_no_locale),
		cmocka_unit_test(test_letters_are_ours_in_turkish),
		cmocka_unit_test(test_no_color),
		cmocka_unit_test(test_background_is_known_only_when_told),
		cmocka_unit_test(test_24_bits_are_for_who_has_them),
		cmocka_unit_test(test_a_killed_test_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
