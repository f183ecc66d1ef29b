/* terminal.h - the one terminal: events in, canvas out.
 *
 * Between terminal_open() and terminal_close() the program owns the screen.
 * Signals that end a program (SIGINT, SIGTERM, SIGHUP, SIGQUIT), Ctrl-Z and a
 * change of size are let in only while terminal_read() waits for input or a frame for a
 * terminal that takes none, so they never meet half a calculation; a crash puts the
 * terminal back by itself. What is pasted is an event of its own, never keys.
 */
#ifndef TUI_TERMINAL_H
#define TUI_TERMINAL_H

#include <stdbool.h>

#include "presets/error.h"
#include "tui/canvas.h"
#include "tui/environment.h"

enum glyph_choice { GLYPHS_AUTO = -1 }; /* or an enum glyph_level */

struct terminal_options {
	enum colour_choice colour;  /* auto: NO_COLOR and the terminal decide */
	enum background background; /* unknown: COLORFGBG or the terminal tells */
	int glyphs;                 /* GLYPHS_AUTO or an enum glyph_level */
	bool no_mouse;              /* leave the mouse to the terminal */
};

enum terminal_event_kind {
	EVENT_NONE,   /* the time is over */
	EVENT_KEY,    /* key: Unicode or enum key of action.h */
	EVENT_CLICK,  /* x, y */
	EVENT_WHEEL,  /* x, y, argument -1 up or 1 down */
	EVENT_PASTE,  /* argument: its bytes; terminal_pasted() has them */
	EVENT_RESIZE, /* of the terminal, or other colours, or back from sleep */
	EVENT_SIGNAL, /* argument: its number; leave the loop */
	EVENT_LOST    /* the terminal is gone; leave the loop */
};

struct terminal_event {
	enum terminal_event_kind kind;
	int key, x, y, argument;
};

/* False with one line in error if there is no terminal that can be drawn on. */
bool terminal_open(const struct terminal_options *options, struct error *error);
void terminal_close(void);

/* Waits for the next event; timeout_ms 0 takes only what is waiting, -1 waits
 * without end. */
struct terminal_event terminal_read(int timeout_ms);

/* What was pasted last: the first bytes of it (paste.h), until the next event. */
const char *terminal_pasted(void);

/* Gives the canvas the terminal's size, glyphs and colour and erases it. False
 * without memory. */
bool terminal_fit(struct canvas *canvas);
/* Sends what differs from the frame before, in one write where the terminal takes it.
 * False where memory ran out: the frame is owed. */
bool terminal_show(const struct canvas *canvas);
/* A part of the canvas had no room in that frame: show it once more, unless there is
 * another one to be shown. */
bool terminal_is_behind(void);
/* The next frame is sent whole, whatever the terminal shows now. */
void terminal_redraw(void);

void terminal_set_mouse(bool on);
bool terminal_has_mouse(void);

/* Whether terminfo gives this terminal the capability, by its short name. */
bool terminal_has(const char *capability);

#endif
