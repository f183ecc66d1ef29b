/* paint.h - cells that wait to be painted, look by look.
 *
 * To change a colour takes more bytes than to move by a few cells, so cells are painted
 * look by look: grounds first, so that what is painted over them later need not be left
 * out; the plain look last. tui/stroke.h takes the pen through the cells of one look.
 * One process has one terminal, hence one heap of cells.
 */
#ifndef TUI_PAINT_H
#define TUI_PAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/theme.h"

/* What a cell is to be on the terminal. */
struct shape {
	uint32_t code;
	struct look look;
};

/* Room for the cells of this canvas; false: out of memory. */
bool paint_resize(int width, int height);
void paint_free(void);
/* Nothing waits; the canvas is what the terminal is to show in the end. */
void paint_start(const struct canvas *canvas, enum palette palette);
/* The cell at x + width * y is not as it is to be. */
void paint_add(int at, const struct shape *shape);
/* Paints all that wait; what the pen wears then is plain. What is painted thoroughly
 * takes fewer bytes and longer. */
void paint_all(bool thorough);

struct shape paint_shape(const struct cell *cell);
/* A blank on the terminal's own ground. */
bool shape_is_blank(const struct shape *shape);
/* Bytes of a character. */
int shape_bytes(const struct shape *shape);

/* --- for tui/stroke.c --- */

/* Of each cell, the look that it waits for, counted from one, or PAINT_RIGHT: the
 * terminal shows it as it is to be; the character that it waits for; and the next cell
 * that waits for the same look, or PAINT_END. */
enum { PAINT_RIGHT = 0, PAINT_END = -1 };
struct wall {
	int width, height;
	uint8_t *waits;
	uint32_t *code;
	int32_t *next;
};
struct shape paint_shape_at(int32_t at);
/* What is worn for the cells that are painted now: their look, or one with more that is
 * not seen on blanks. */
struct look paint_worn(void);

#endif
