/* painter.h - a canvas as the bytes that make this terminal show it.
 *
 * Only cells that differ from the frame before are painted, colours and attributes only
 * where they change. terminfo says how; the bytes of a frame are collected, so that
 * they can be sent at once. One process has one terminal, hence one painter.
 */
#ifndef TUI_PAINTER_H
#define TUI_PAINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/theme.h"

/* Asks terminfo of the terminal that is open. */
void painter_begin(void);
void painter_end(void);
/* Whether the terminal repeats a character (REP), and whether any: of ASCII alone as
 * long as nobody says so. */
bool painter_can_repeat(void);
void painter_repeat_all(bool all);
/* There is a tab stop in every eighth column; not as long as nobody says so. */
void painter_use_tabs(bool tabs);
/* The terminal shows what nobody knows: paint everything. */
void painter_forget(void);
/* The bytes of the next frame, valid until the next call; none where nothing differs.
 * NULL: out of memory. Where the terminal knows synchronized output (mode 2026), the
 * frame is shown whole or not at all. A frame that is larger than a slow line carries
 * at once ends with the rows of canvas->late that still have room: numbers first. */
const char *painter_frame(const struct canvas *canvas, enum palette palette,
			  size_t *length);
/* Bytes of a frame on a canvas of so many columns and rows, but for the first one. */
size_t painter_most(int width, int height);
/* Rows of the last canvas wait for the next frame. */
bool painter_is_behind(void);

#endif
