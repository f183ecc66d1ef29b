/* terminal_parts.h - what terminal.c, which opens and closes the terminal and takes its
 * signals, shares with terminal_read.c, which reads events. They alone know curses. */
#ifndef TUI_TERMINAL_PARTS_H
#define TUI_TERMINAL_PARTS_H

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <signal.h>
#include <term.h>

/* term.h leaves macros behind that are ordinary words here. */
#undef lines
#undef columns
#undef tab

#include "tui/paste.h"
#include "tui/terminal.h"

enum { MOST_CLICKS = 16, PASTE_BLOCK = 1 << 16 };

/* One process has one terminal. */
struct terminal_state {
	SCREEN *screen;
	WINDOW *keys; /* a pad: to read from it draws nothing */
	enum palette palette;
	int colours;
	enum glyph_level glyphs;
	bool mouse;
	int barren; /* times that input was there and none came */
	sigset_t while_waiting;
	const char *paste_on, *paste_off; /* bracketed paste, or empty */
	struct paste paste;
	/* what was read behind a paste: keys that ncurses has not seen */
	char held[PASTE_BLOCK];
	size_t held_at, held_length;
	/* of the mouse, read with one key of ncurses; the next one last */
	struct terminal_event clicked[MOST_CLICKS];
	int clicks;
};
extern struct terminal_state terminal;

/* Signals that came: the last one that ends the program, and Ctrl-Z. */
extern volatile sig_atomic_t terminal_caught, terminal_stops;

/* What the terminal says of itself beside its colours. */
struct reply;
void terminal_take_reply(const struct reply *reply);
/* Sequences that terminfo leaves out. */
void terminal_define_keys(void);
/* Give the terminal back, stop, and take it again as the shell left it. */
void terminal_stop(void);

#endif
