/* stroke.h - the way of the pen through cells of one look: runs of them in a row are
 * strokes, and each row is gone through from the end that makes the whole way short.
 * What is erased (ECH) leaves the pen before it, which helps where the next stroke lies
 * below. */
#ifndef TUI_STROKE_H
#define TUI_STROKE_H

#include "tui/paint.h"

/* Paints all cells that wait for this look, from the first on: row by row, or column by
 * column. A thorough pen seeks a shorter order (tour.h), which takes as long as all the
 * rest and saves a hundredth of the bytes, of many small cells up to a twentieth. */
void strokes_paint(const struct wall *wall, int number, int32_t first, bool thorough);

#endif
