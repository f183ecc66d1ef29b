/* picker.h - a list over the screen that is filtered while one types: presets, the
 * values of a knob, formats of export. */
#ifndef TUI_EXPLORER_PICKER_H
#define TUI_EXPLORER_PICKER_H

#include <stdbool.h>

#include "presets/library.h"
#include "tui/action.h"
#include "tui/canvas.h"
#include "tui/widget.h"

struct explorer;

enum picker_kind { PICK_PRESET, PICK_VALUE, PICK_FORMAT };

enum { MAX_SHOWN = 512 };

struct picker {
	enum picker_kind kind;
	enum preset_kind preset; /* PICK_PRESET */
	int knob;                /* PICK_VALUE */
	struct field filter;
	int cursor, first;
};

unsigned picker_open_presets(struct explorer *explorer, enum preset_kind kind);
/* A preset by its name, or a file, as if it were taken from the list. */
unsigned picker_take(struct explorer *explorer, enum preset_kind kind,
		     const char *name);
unsigned picker_open_values(struct explorer *explorer, int knob);
/* The name of a preset: its number in the list of its kind, and that in the bits above
 * the 16th. */
const char *picker_preset_name(int index);
/* Opens the preset of that number in the list of its preset_kind, without asking. */
unsigned picker_open_preset(struct explorer *explorer, int kind, int index);
unsigned picker_open_formats(struct explorer *explorer);
unsigned picker_act(struct explorer *explorer, struct action action);
/* Indices of what the filter lets through: of presets, formats, values of the strip.
 * Returns how many. */
int picker_shown(const struct explorer *explorer, int out[MAX_SHOWN]);
/* What was typed is a file's name, not a preset's. */
bool picker_is_path(const char *text);
/* explorer/picker_draw.c */
void picker_draw(const struct explorer *explorer, struct canvas *canvas);

#endif
