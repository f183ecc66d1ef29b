/* row.h - a row of the canvas against the one that the terminal shows. */
#ifndef TUI_ROW_H
#define TUI_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tui/canvas.h"

/* Bytes of a move to what stands alone, roughly. */
enum { ROW_MOVE = 4 };

/* Without the bytes behind the last member, which mean nothing. */
static inline bool cell_is(const struct cell *a, const struct cell *b)
{
	return memcmp(a, b, offsetof(struct cell, underline) + 1) == 0;
}

/* Erases the end of the row where that pays, hands the other cells that differ to
 * paint_add(), and makes the shown row that of the canvas; false: none differs. */
bool row_paint(const struct canvas *canvas, int y, struct cell *shown);

#endif
