/* find.h - what a typed word may mean: knobs, numbers, views and terms, the likeliest
 * first; a knob that does nothing in the plan comes last and says so. */
#ifndef TUI_EXPLORER_FIND_H
#define TUI_EXPLORER_FIND_H

#include "tui/action.h"
#include "tui/canvas.h"

struct explorer;

enum { MAX_FOUND = 400 };

enum found_kind { FOUND_KNOB, FOUND_NUMBER, FOUND_VIEW, FOUND_TERM };

struct found {
	enum found_kind kind;
	int index; /* in knob_table, metric_table, view_table or the glossary */
	int fit;   /* the less, the better */
};

/* All that fits; none for an empty text. Returns how many. */
int find_all(const struct explorer *explorer, const char *text,
	     struct found out[MAX_FOUND]);
/* To the knob, to the explanation of the number or term, to the view. */
unsigned find_go(struct explorer *explorer, const struct found *found);
/* The list above the line that is typed into; moving in it. */
void find_draw(const struct explorer *explorer, struct canvas *canvas, int bottom);
unsigned find_move(struct explorer *explorer, struct action action);

#endif
