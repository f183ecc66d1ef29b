/* find.h - what a typed word may mean: knobs, numbers, views, terms, commands and
 * presets, the likeliest first; what can do nothing now comes last and says why. */
#ifndef TUI_EXPLORER_FIND_H
#define TUI_EXPLORER_FIND_H

#include "tui/action.h"
#include "tui/canvas.h"

struct explorer;
struct knob;

enum { MAX_FOUND = 768 };

enum found_kind {
	FOUND_KNOB,
	FOUND_MICRO_BATCHES, /* the row that follows from knobs and turns */
	FOUND_NUMBER,
	FOUND_VIEW,
	FOUND_TERM,
	FOUND_COMMAND,
	FOUND_PRESET
};

struct found {
	enum found_kind kind;
	/* in knob_table, metric_table, view_table, the glossary, key_table, the list of
	 * presets of the kind in the bits above the 16th */
	int index;
	int fit; /* the less, the better */
};

/* All that fits; none for an empty text. Returns how many. */
int find_all(const struct explorer *explorer, const char *text,
	     struct found out[MAX_FOUND]);
/* It would do nothing here. */
bool found_is_useless(const struct found *found);
/* It goes by this name or by a word of it; else the text only stands in it. */
bool found_by_name(const struct found *found);
/* The same, but by no word that people use for something else. */
bool found_by_own_name(const struct found *found);
/* The text stands in what is said of it, not in its name. */
bool found_by_help(const struct found *found);
/* Why a knob does nothing in this plan, as "has no effect in this plan"; NULL: it does
 * something. */
const char *knob_does_nothing(const struct explorer *explorer, const struct knob *knob);
/* To the knob, to the explanation of the number or term, to the view; does what the
 * command says, opens the preset. */
unsigned find_go(struct explorer *explorer, const struct found *found);
/* Nothing goes by what is typed, and the table of plans that is open could take it. */
bool find_is_filter(const struct explorer *explorer);
/* The list above the line that is typed into; moving in it. */
void find_draw(const struct explorer *explorer, struct canvas *canvas, int bottom);
unsigned find_move(struct explorer *explorer, struct action action);

#endif
