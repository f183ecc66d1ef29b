/* environment.h - what the environment says about the screen: locale, characters,
 * colours. Needs no terminal, so `screen` asks it too. And the streams that it hands
 * over. */
#ifndef TUI_ENVIRONMENT_H
#define TUI_ENVIRONMENT_H

#include <stdbool.h>

#include "tui/theme.h"

/* A standard stream that is closed stays one that can't be used, but its number is
 * taken, so that no file of ours gets it and what is said into it. */
void environment_take_streams(void);

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Sets the locale: the one of the environment, or C.UTF-8 where the environment
 * wants UTF-8 and its locale is not installed. Numbers keep their point. */
void environment_set_locale(void);
/* The characters of the locale and of TERM. */
enum glyph_level environment_glyphs(void);
/* Those of what is written to a file or a pipe. We encode that ourselves, so that the
 * variables decide: a locale that is not installed, or that there was no memory for,
 * changes nothing in it. */
enum glyph_level environment_glyphs_written(void);
/* auto: unless NO_COLOR is set and not empty. */
bool environment_wants_colour(enum colour_choice choice);
/* The background, where COLORFGBG tells. */
enum background environment_background(void);
/* How many colours a terminal with so many in its terminfo has: 1 << 24 where COLORTERM
 * says so. */
int environment_colours(int terminfo);

/* "--theme dark|light|plain"; false for another word. */
struct theme_choice {
	enum colour_choice colour;
	enum background background;
};
bool environment_theme(const char *word, struct theme_choice *out);

#endif
