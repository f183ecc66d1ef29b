/* footer.c - the last line: what the keys do here. Each key in it can be clicked on;
 * what there is no room for goes from the end, and how to leave stays. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/explorer/course.h"
#include "tui/text.h"
#include "tui/view.h"

enum { MOST = 20, LONGEST = 56 };

/* "name what" each, between bars; one that begins with a quote is text alone. Of a view
 * that trains, and of one that serves. */
static const char *const of_view[VIEW_COUNT][2] = {
	[VIEW_OVERVIEW] = { "\u2191\u2193\u2190\u2192 move",
			    "\u2191\u2193\u2190\u2192 move" },
	[VIEW_MEMORY] = { "\u2191\u2193 stage|Enter why",
			  "\u2191\u2193 stage|Enter why" },
	[VIEW_TIMELINE] = { "\u2190\u2192 item|\u2191\u2193 stage|a play|., step|() speed|"
			    "+- zoom|S critical|Enter why",
			    "\u2191\u2193 operator|+- zoom|Enter why" },
	[VIEW_TRAFFIC] = { "\u2191\u2193 row|S sort|Enter why",
			   "\u2191\u2193 row|S sort|Enter why" },
	[VIEW_GRAPH] = { "\u2191\u2193 operator|\u2190\u2192 layer|S picture",
			 "\u2191\u2193 operator|\u2190\u2192 pass" },
	[VIEW_TOPOLOGY] = { "\u2191\u2193\u2190\u2192 rank|S dimension",
			    "\u2191\u2193\u2190\u2192 rank|S dimension" },
	[VIEW_SEARCH] = { "\u2191\u2193 plan|\u2190\u2192 aim|Enter take|S sort|"
			  "/ filter|+- front|. axes",
			  "\u2191\u2193 plan|\u2190\u2192 aim|Enter take|S sort|"
			  "/ filter|+- front|. axes" },
	[VIEW_EXPLAIN] = { "\u2190\u2192 number|\u2191\u2193 scroll|i words",
			   "\u2190\u2192 number|\u2191\u2193 scroll|i words" },
	[VIEW_HELP] = { "\u2191\u2193 scroll|i glossary",
			"\u2191\u2193 scroll|i glossary" },
	[VIEW_GLOSSARY] = { "\u2191\u2193 scroll", "\u2191\u2193 scroll" },
};

/* Keys of a view that work while the knobs have the focus. */
static const char *const from_knobs[VIEW_COUNT][2] = {
	[VIEW_TIMELINE] = { "a play|., step|() speed|+- zoom|S critical|", "+- zoom|" },
	[VIEW_TRAFFIC] = { "S sort|", "S sort|" },
	[VIEW_GRAPH] = { "S picture|", NULL },
	[VIEW_TOPOLOGY] = { "S dimension|", "S dimension|" },
	[VIEW_SEARCH] = { "S sort|+- front|. axes|", "S sort|+- front|. axes|" },
};

static const char *or_none(const char *text)
{
	return text ? text : "";
}

/* A narrow line keeps what plays a step, which only this view has. */
static bool gives_way(const struct explorer *explorer, int width)
{
	return explorer->view == VIEW_TIMELINE && width < 100 &&
	       explorer->scenario.plan.mode == MODE_TRAINING;
}

static const char *of_row(const struct explorer *explorer, int width)
{
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows);

	if (explorer->row >= count)
		return "\u2191\u2193 knob";
	switch (rows[explorer->row].kind) {
	case ROW_GROUP: return "\u2190\u2192 fold|\u2191\u2193 knob";
	case ROW_DERIVED:
		return explorer_turns(explorer)
			       ? "\u2190\u2192 value|\u2191\u2193 knob|= type|i what"
			       : "\u2191\u2193 knob";
	case ROW_KNOB:
		return knob_table[rows[explorer->row].knob].type >= KNOB_SET
			       ? "= type|\u2191\u2193 knob|i what"
		       : gives_way(explorer, width)
			       ? "\u2190\u2192 value|\u2191\u2193 knob|Enter list"
			       : "\u2190\u2192 value|\u2191\u2193 knob|= type|"
				 "Enter list|i what";
	default: return "Enter list|\u2191\u2193 knob";
	}
}

/* What Enter does to the place under the cursor of Overview. */
static const char *of_spot(const struct explorer *explorer)
{
	const struct spots *spots = explorer->spots;
	const char *key = explorer->state[explorer->view].key;

	for (int i = 0; i < spots->count; i++) {
		if (strcmp(spots->item[i].key, key) != 0)
			continue;
		return spots->item[i].kind == SPOT_REMEDY ? "|Enter do it"
		       : spots->item[i].kind == SPOT_KNOB ? "|Enter to its knob"
							  : "|Enter why";
	}
	return "";
}

static const char *of_picker(const struct explorer *explorer, int width)
{
	switch (explorer->picker.kind) {
	case PICK_PRESET:
		return width >= 78 ? "\"type to filter, or the path of a file|"
				     "\u2191\u2193 choose|Enter take"
				   : "\"type a name or a path|\u2191\u2193 choose|"
				     "Enter take";
	case PICK_FORMAT:
		return "\"type to filter|\u2191\u2193 choose|Enter save|Tab copy";
	default: return "\"type to filter|\u2191\u2193 choose|Enter take";
	}
}

static void hints(const struct explorer *explorer, int width, char *out, size_t size)
{
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	bool layer = view_is_layer(explorer->view);

	if (explorer->course && explorer->mode == MODE_NORMAL)
		snprintf(out, size, "%s", course_keys(explorer));
	else if (explorer->mode == MODE_PICKER)
		snprintf(out, size, "%s", of_picker(explorer, width));
	else if (explorer->pane == PANE_KNOBS)
		snprintf(out, size,
			 "%s|Tab %s|%sp pin|u undo|o open|/ find|s search|w write|"
			 "e export",
			 of_row(explorer, width), layer ? "text" : "numbers",
			 or_none(from_knobs[explorer->view][serves]));
	else
		snprintf(out, size, "%s%s|Tab knobs|][ view|p pin|u undo|o open|/ find",
			 or_none(of_view[explorer->view][serves]),
			 explorer->view == VIEW_OVERVIEW ? of_spot(explorer) : "");
}

static int key_of(const char *name, uint32_t code)
{
	static const struct {
		const char *name;
		int key;
	} words[] = { { "Enter", '\n' }, { "Tab", '\t' }, { "Esc", 27 } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strncmp(name, words[i].name, strlen(words[i].name)) == 0)
			return words[i].key;
	switch (code) {
	case 0x2190: return KEYS_LEFT;
	case 0x2191: return KEYS_UP;
	case 0x2192: return KEYS_RIGHT;
	case 0x2193: return KEYS_DOWN;
	default: return (int)code;
	}
}

/* A click on one of several keys presses that one; where there is one key only, a click
 * on what it does is as good. */
static void add_presses(const struct explorer *explorer, struct canvas *canvas,
			const char *hint, int x, int y)
{
	bool typing = explorer_is_typing(explorer);
	const char *at = hint;
	uint32_t first = text_decode(&at);
	int key = key_of(hint, first);
	bool several = key != '\n' && key != '\t' && key != 27 && *at != ' ';

	if (!several) {
		add_press(canvas, (struct rect){ x, y, text_width(hint), 1 },
			  key_action(key, typing));
		return;
	}
	at = hint;
	for (int i = 0; *at != ' ' && *at != '\0'; i++) {
		uint32_t code = text_decode(&at);

		add_press(canvas, (struct rect){ x + i, y, 1, 1 },
			  key_action(key_of("", code), typing));
	}
}

static int draw_hint(const struct explorer *explorer, struct canvas *canvas, int x,
		     int y, const char *hint)
{
	char name[LONGEST];
	int used;

	if (hint[0] == '"')
		return canvas_text(canvas, x, y, canvas->width - x, ROLE_LABEL,
				   hint + 1);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(hint, " "), hint);
	add_presses(explorer, canvas, hint, x, y);
	used = canvas_text(canvas, x, y, canvas->width - x, ROLE_KEY, name);
	return used + canvas_text(canvas, x + used, y, canvas->width - x - used,
				  ROLE_LABEL, hint + strlen(name));
}

/* What S would show next, which goes there and back, and Enter do here. */
static const char *as_it_stands(const struct explorer *explorer, const char *hint)
{
	bool back = explorer->state[explorer->view].sort % 2 == 1;

	if (back && strcmp(hint, "S picture") == 0)
		return "S table";
	if (back && strcmp(hint, "S critical") == 0)
		return "S all";
	if (explorer->offers && explorer->mode == MODE_NORMAL &&
	    strncmp(hint, "Enter ", 6) == 0)
		return "Enter lessons";
	if (explorer->view == VIEW_SEARCH && strcmp(hint, "Enter take") == 0 &&
	    explorer->mode == MODE_NORMAL && search_can_open_row(explorer))
		return "Enter open";
	return hint;
}

/* The same key stands there once: the first one is what it does. */
static bool is_repeated(const char *const *hint, int count, const char *next)
{
	for (int i = 0; i < count; i++)
		if (strncmp(hint[i], next, strcspn(next, " ") + 1) == 0)
			return true;
	return false;
}

static int width_of(const char *hint)
{
	return text_width(hint[0] == '"' ? hint + 1 : hint);
}

void footer_draw(const struct explorer *explorer, struct canvas *canvas, int y)
{
	const char *leave =
		explorer->mode == MODE_PICKER || view_is_layer(explorer->view)
			? "Esc back"
		: explorer->course ? "q leave"
				   : "q quit";
	const char *hint[MOST];
	char text[400], *rest = text, *next;
	int count = 0, room = canvas->width - 2 - text_width(leave), wish = 0, gap;
	int x = 1;

	hints(explorer, canvas->width, text, sizeof text);
	while ((next = strsep(&rest, "|")) && count < MOST)
		if (next[0] != '\0' && !is_repeated(hint, count, next))
			hint[count++] = as_it_stands(explorer, next);
	for (int i = 0; i < count; i++)
		wish += width_of(hint[i]) + 2;
	gap = wish <= room ? 2 : 1;
	for (int i = 0; i < count && x + width_of(hint[i]) + gap <= room + 1; i++)
		x += draw_hint(explorer, canvas, x, y, hint[i]) + gap;
	draw_hint(explorer, canvas, x, y, leave);
}
