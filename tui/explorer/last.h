/* last.h - what a view showed of the last plan that ran, kept for while one is open
 * that can't run: below the reasons there stands what is being left, and what does not
 * differ when the next value runs again need not be sent again. */
#ifndef TUI_EXPLORER_LAST_H
#define TUI_EXPLORER_LAST_H

#include <stdbool.h>

#include "tui/canvas.h"

struct explorer;

/* The open view was drawn here, of a plan that runs. */
void last_keep(struct explorer *explorer, const struct canvas *canvas,
	       struct rect rect);
/* Why the open plan can't run, and below it the last one that ran, in a view that did
 * not show it too; false, and nothing is drawn, where none ran so far. */
bool last_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect);
void last_forget(struct explorer *explorer);
void last_free(struct explorer *explorer);

#endif
