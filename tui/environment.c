/* environment.c - see environment.h. */
#include "tui/environment.h"

#include <ctype.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *locale_wish(void)
{
	static const char *const name[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
		const char *value = getenv(name[i]);
		if (value != NULL && value[0] != '\0')
			return value;
	}
	return "";
}

static bool wishes_utf8(void)
{
	const char *wish = locale_wish();

	return strcasestr(wish, "utf-8") != NULL || strcasestr(wish, "utf8") != NULL;
}

static bool has_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void environment_take_streams(void)
{
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		if (fcntl(stream, F_GETFD) < 0 &&
		    open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return; /* as it was */
}

void environment_set_locale(void)
{
	/* ssh hands over LANG=en_US.UTF-8 to hosts that do not have it. */
	if (setlocale(LC_ALL, "") == NULL) {
		setlocale(LC_ALL, "C");
		if (wishes_utf8())
			setlocale(LC_CTYPE, "C.UTF-8");
	}
	/* Turkish has two letters i, of which ours are not a pair: names would not be
	 * found by their capitals. */
	if (tolower('I') != 'i')
		setlocale(LC_CTYPE, has_utf8() ? "C.UTF-8" : "C");
	setlocale(LC_NUMERIC, "C");
}

static enum glyph_level glyphs_of(bool utf8)
{
	const char *term = getenv("TERM");

	if (!utf8)
		return GLYPHS_ASCII;
	return term != NULL && strcmp(term, "linux") == 0 ? GLYPHS_BASIC : GLYPHS_FULL;
}

enum glyph_level environment_glyphs(void)
{
	return glyphs_of(has_utf8());
}

enum glyph_level environment_glyphs_written(void)
{
	return glyphs_of(has_utf8() || wishes_utf8());
}

bool environment_wants_colour(enum colour_choice choice)
{
	const char *no_color = getenv("NO_COLOR");

	if (choice == COLOUR_AUTO)
		return no_color == NULL || no_color[0] == '\0';
	return choice == COLOUR_ALWAYS;
}

/* rxvt, konsole and others say "foreground;background" as colours 0..15. */
enum background environment_background(void)
{
	const char *value = getenv("COLORFGBG");
	const char *last = value != NULL ? strrchr(value, ';') : NULL;
	char *end;

	if (last == NULL)
		return BACKGROUND_UNKNOWN;
	long back = strtol(last + 1, &end, 10);
	if (end == last + 1 || *end != '\0' || back < 0 || back > 15)
		return BACKGROUND_UNKNOWN;
	return back == 7 || back > 8 ? BACKGROUND_LIGHT : BACKGROUND_DARK;
}

/* GNU screen (STY) hands on the COLORTERM of the terminal around it, and has no 24 bits
 * itself. */
int environment_colours(int terminfo)
{
	const char *value = getenv("COLORTERM");
	bool says = value != NULL &&
		    (strcmp(value, "truecolor") == 0 || strcmp(value, "24bit") == 0);

	if (terminfo < 256)
		return terminfo < 8 ? 0 : 8;
	return terminfo > 256 || (says && getenv("STY") == NULL) ? 1 << 24 : 256;
}

bool environment_theme(const char *word, struct theme_choice *out)
{
	static const struct {
		const char *word;
		struct theme_choice choice;
	} table[] = {
		{ "dark", { COLOUR_AUTO, BACKGROUND_DARK } },
		{ "light", { COLOUR_AUTO, BACKGROUND_LIGHT } },
		{ "plain", { COLOUR_NEVER, BACKGROUND_UNKNOWN } },
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		if (strcmp(table[i].word, word) == 0) {
			*out = table[i].choice;
			return true;
		}
	}
	return false;
}
