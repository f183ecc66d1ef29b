/* canvas.h - a grid of styled cells, the only drawing surface.
 *
 * Drawing outside the canvas, or outside its clip, is allowed and does nothing.
 * Text is UTF-8; control characters become '?'. A wide character takes two
 * cells, the second one empty (code 0).
 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/theme.h"

/* Larger sizes are cut to this; no terminal has them. */
enum { CANVAS_MAX = 1000 };

struct rect {
	int x, y, width, height;
};

struct cell {
	uint32_t code; /* Unicode, 0 = second half of a wide character */
	uint8_t fore;  /* enum role: the theme turns it into colours */
	uint8_t back;  /* enum role of the background, ROLE_DEFAULT = terminal's */
	bool reverse, bold, underline;
};

struct spots;

struct canvas {
	int width, height;
	struct rect clip;
	enum glyph_level glyphs;
	bool colour;            /* false: mono, fills differ by letter or hatch */
	int cursor_x, cursor_y; /* where the focused item is; -1 = nowhere */
	/* bars end at whole columns: of many beside each other each end would cost two
	 * colours */
	bool coarse;
	/* what may follow in frames of its own where all at once were too much:
	 * pictures, not the numbers that answer a key; empty: nothing */
	struct rect late;
	/* memory ran out for a part of what is drawn: no whole picture */
	bool lacks;
	/* where what is drawn can be pointed at (tui/explorer.h); NULL: nobody asks */
	struct spots *spots;
	struct cell *cell; /* width * height, row by row */
};

bool canvas_init(struct canvas *canvas, int width, int height, enum glyph_level glyphs,
		 bool colour);
bool canvas_resize(struct canvas *canvas, int width, int height);
void canvas_free(struct canvas *canvas);
void canvas_erase(struct canvas *canvas);

void canvas_put(struct canvas *canvas, int x, int y, uint32_t code, enum role role);
/* Writes at most width columns and returns those used; the rest is left. An
 * over-long text ends in an ellipsis. */
int canvas_text(struct canvas *canvas, int x, int y, int width, enum role role,
		const char *text);
/* The same, but an over-long text ends after a whole phrase where there is one in its
 * last half: no number is cut in two. */
int canvas_phrase(struct canvas *canvas, int x, int y, int width, enum role role,
		  const char *text);
/* Right-aligned in width columns. */
void canvas_right(struct canvas *canvas, int x, int y, int width, enum role role,
		  const char *text);
int canvas_format(struct canvas *canvas, int x, int y, int width, enum role role,
		  const char *format, ...) __attribute__((format(printf, 6, 7)));
void canvas_fill(struct canvas *canvas, struct rect rect, uint32_t code,
		 enum role role);
/* Reverse, bold or background over cells that are already drawn. */
void canvas_highlight(struct canvas *canvas, struct rect rect, enum role back,
		      bool reverse, bool bold);
void canvas_cursor(struct canvas *canvas, int x, int y);
/* Columns that a UTF-8 text takes. */
int text_width(const char *text);
/* Confines drawing to a part of the canvas and returns the clip before, to be
 * given back. canvas_erase() opens it again. */
struct rect canvas_clip(struct canvas *canvas, struct rect clip);
struct rect rect_intersect(struct rect a, struct rect b);
/* The cell inside the clip, or NULL. */
struct cell *canvas_at(struct canvas *canvas, int x, int y);
/* The glyph at this canvas's level. */
uint32_t canvas_glyph(const struct canvas *canvas, enum glyph glyph);

/* Back ends. Each returns a string to be freed, or NULL without memory. */
char *canvas_to_text(const struct canvas *canvas);
char *canvas_to_ansi(const struct canvas *canvas, enum palette palette);
char *canvas_to_svg(const struct canvas *canvas, bool light);

#endif
