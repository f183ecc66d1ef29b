/* stroke.h - the way of the pen through cells of one look: runs of them in a row are
 * strokes, and each row is gone through from the end that makes the whole way short.
 * What is erased (ECH) leaves the pen before it, which helps where the next stroke lies
 * below. */
#ifndef TUI_STROKE_H
#define TUI_STROKE_H

#include "tui/paint.h"

/* Paints all cells that wait for this look, from the first on. */
void strokes_paint(const struct wall *wall, int number, int32_t first);

#endif
