/* last.h - what a view showed of the last plan that ran, kept for while one is open
 * that can't run: below the reasons there stands what is being left, and what does not
 * differ when the next value runs again need not be sent again. */
#ifndef TUI_EXPLORER_LAST_H
#define TUI_EXPLORER_LAST_H

#include <stdbool.h>

#include "tui/canvas.h"

struct explorer;
struct scenario;

/* The open view was drawn here, of a plan that runs. */
void last_keep(struct explorer *explorer, const struct canvas *canvas,
	       struct rect rect);
/* Why the open plan can't run, and below it the last one that ran, in a view that did
 * not show it too, or the remedied one; false, and nothing is drawn, where there is
 * none. */
bool last_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect);
/* Before a frame: where no plan ran so far there stands what the first remedy would
 * make of this one. */
void last_learn(struct explorer *explorer);
/* Overview of it in the blank rows at the foot of a view that has none. */
bool last_draw_below(struct explorer *explorer, struct canvas *canvas,
		     struct rect rect);
/* The plan that stands below the reasons, and whose it is; NULL: there is none. */
const struct scenario *last_plan(const struct explorer *explorer, const char **whose);
void last_forget(struct explorer *explorer);
void last_free(struct explorer *explorer);

#endif
