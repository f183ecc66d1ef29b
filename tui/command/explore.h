/* explore.h - what `explore` and `learn` share: how the explorer is shown. */
#ifndef TUI_COMMAND_EXPLORE_H
#define TUI_COMMAND_EXPLORE_H

#include <stdbool.h>

#include "engine/start/start.h"
#include "presets/error.h"
#include "tui/terminal.h"

struct explorer;

struct explore_asked {
	struct terminal_options terminal;
	bool fresh, plain;
	struct start start;
	int session; /* 0: the first that is free */
};

/* How the screen looks: rows of the options of each command that shows the explorer. */
#define EXPLORE_SCREEN_OPTIONS                                                     \
	{ "colour", "auto|always|never", "auto, always or never",                  \
	  explore_take_colour },                                                   \
		{ "color", "auto|always|never", "the same", explore_take_colour }, \
		{ "theme", "dark|light|plain",                                     \
		  "terminal background; plain: no colours", explore_take_theme },  \
		{ "plain", NULL,                                                   \
		  "line by line, for screen readers and logs (TERM=dumb too)",     \
		  explore_take_plain },                                            \
		{ "ascii", NULL, "only ASCII characters", explore_take_ascii },    \
	{                                                                          \
		"no-mouse", NULL, "leave the mouse to the terminal",               \
			explore_take_no_mouse                                      \
	}

/* Options of that name; the context begins with a struct explore_asked. */
bool explore_take_colour(void *context, const char *value, struct error *error);
bool explore_take_theme(void *context, const char *value, struct error *error);
bool explore_take_plain(void *context, const char *value, struct error *error);
bool explore_take_ascii(void *context, const char *value, struct error *error);
bool explore_take_no_mouse(void *context, const char *value, struct error *error);
bool explore_take_session(void *context, const char *value, struct error *error);

/* On the terminal, or line by line; returns the exit status. */
int explore_show(struct explorer *explorer, const struct explore_asked *asked);

#endif
