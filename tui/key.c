/* key.c - the one table of keys; help is made from it. */
#include "tui/action.h"

#include <stddef.h>

#define CTRL(letter) ((letter) - 'a' + 1)
enum { KEY_TAB = 9, KEY_NEWLINE = 10, KEY_ESCAPE = 27 };

/* clang-format off */
const struct key_binding key_table[] = {
	{ KEYS_UP,        ACTION_UP, 0, "\u2191 k", "move up" },
	{ 'k',            ACTION_UP, 0, "k", NULL },
	{ KEYS_DOWN,      ACTION_DOWN, 0, "\u2193 j", "move down" },
	{ 'j',            ACTION_DOWN, 0, "j", NULL },
	{ KEYS_LEFT,      ACTION_LEFT, 0, "\u2190 h", "knob: previous value; elsewhere: move left" },
	{ 'h',            ACTION_LEFT, 0, "h", NULL },
	{ KEYS_RIGHT,     ACTION_RIGHT, 0, "\u2192 l", "knob: next value; elsewhere: move right" },
	{ 'l',            ACTION_RIGHT, 0, "l", NULL },
	{ KEYS_PAGE_UP,   ACTION_PAGE_UP, 0, "PgUp Ctrl-u", "page up" },
	{ CTRL('u'),      ACTION_PAGE_UP, 0, "Ctrl-u", NULL },
	{ KEYS_PAGE_DOWN, ACTION_PAGE_DOWN, 0, "PgDn Ctrl-d", "page down" },
	{ CTRL('d'),      ACTION_PAGE_DOWN, 0, "Ctrl-d", NULL },
	{ KEYS_HOME,      ACTION_HOME, 0, "Home g", "go to the first" },
	{ 'g',            ACTION_HOME, 0, "g", NULL },
	{ KEYS_END,       ACTION_END, 0, "End G", "go to the last" },
	{ 'G',            ACTION_END, 0, "G", NULL },
	{ KEY_TAB,        ACTION_NEXT_PANE, 0, "Tab", "next pane" },
	{ KEYS_BACKTAB,   ACTION_PREVIOUS_PANE, 0, "Shift-Tab", "previous pane" },
	{ '1',            ACTION_VIEW, 0, "1-8", "open view 1 to 8" },
	{ '2',            ACTION_VIEW, 1, "2", NULL },
	{ '3',            ACTION_VIEW, 2, "3", NULL },
	{ '4',            ACTION_VIEW, 3, "4", NULL },
	{ '5',            ACTION_VIEW, 4, "5", NULL },
	{ '6',            ACTION_VIEW, 5, "6", NULL },
	{ '7',            ACTION_VIEW, 6, "7", NULL },
	{ '8',            ACTION_VIEW, 7, "8", NULL },
	{ '9',            ACTION_VIEW, 8, "9", NULL },
	{ ']',            ACTION_NEXT_VIEW, 0, "] [", "next view, previous view" },
	{ '[',            ACTION_PREVIOUS_VIEW, 0, "[", NULL },
	{ '|',            ACTION_BESIDE, 0, "|", "choose the second view (160 columns and wider)" },
	{ KEY_NEWLINE,    ACTION_ENTER, 0, "Enter", "explain this number, or apply this row" },
	{ '=',            ACTION_EDIT, 0, "=", "type a value: 64, 8k, 4M" },
	{ 'r',            ACTION_RESET, 0, "r", "reset this knob to what it was when opened" },
	{ ' ',            ACTION_FOLD, 0, "Space", "fold or open a group" },
	{ 'i',            ACTION_ABOUT, 0, "i", "what this knob means and does; in a view: the glossary" },
	{ 'O',            ACTION_LOOP, 0, "O", "server: fixed number of requests, or the same load as arrivals" },
	{ 'p',            ACTION_PIN, 0, "p", "pin this scenario as the baseline, or unpin it" },
	{ 'u',            ACTION_UNDO, 0, "u", "undo" },
	{ 'U',            ACTION_REDO, 0, "U Ctrl-r", "redo" },
	{ CTRL('r'),      ACTION_REDO, 0, "Ctrl-r", NULL },
	{ 'o',            ACTION_OPEN, 0, "o", "open a model, cluster, stack, published run or file" },
	{ 'w',            ACTION_WRITE, 0, "w", "write the scenario to a file" },
	{ 'e',            ACTION_EXPORT, 0, "e", "export for another program" },
	{ 's',            ACTION_SEARCH, 0, "s", "search for the best plan" },
	{ 'L',            ACTION_LEARN, 0, "L", "lessons: a course inside the explorer" },
	{ '/',            ACTION_FILTER, 0, "/", "find anything: a knob, number, view, word, command or plan" },
	{ 'n',            ACTION_NEXT_MATCH, 0, "n N", "next match, previous match" },
	{ 'N',            ACTION_PREVIOUS_MATCH, 0, "N", NULL },
	{ 'S',            ACTION_SORT, 0, "S", "sort by the next column; Graph: picture; Topology: dimension; Timeline: critical path" },
	{ '+',            ACTION_ZOOM_IN, 0, "+ -", "zoom in, zoom out; Search: larger plot" },
	{ '-',            ACTION_ZOOM_OUT, 0, "-", NULL },
	{ '.',            ACTION_STEP, 0, ". ,", "Timeline: next event, previous event; Search: other axes" },
	{ ',',            ACTION_STEP_BACK, 0, ",", NULL },
	{ 'a',            ACTION_PLAY, 0, "a", "Timeline: play the step, or stop it" },
	{ '(',            ACTION_SLOWER, 0, "( )", "Timeline: slower, faster" },
	{ ')',            ACTION_FASTER, 0, ")", NULL },
	{ '?',            ACTION_HELP, 0, "? F1", "help: the keys that work here" },
	{ KEYS_F1,        ACTION_HELP, 0, "F1", NULL },
	{ 'm',            ACTION_MOUSE, 0, "m", "mouse on or off (Shift selects text while it is on)" },
	{ CTRL('l'),      ACTION_REDRAW, 0, "Ctrl-l", "redraw the screen" },
	{ KEY_ESCAPE,     ACTION_ESCAPE, 0, "Esc", "back: close help, a list or an explanation" },
	{ 'q',            ACTION_QUIT, 0, "q", "quit (the workspace is kept); in help, lists and explanations: back" },
};

/* While text is typed; every other character is text. */
static const struct key_binding typing_table[] = {
	{ KEY_NEWLINE,    ACTION_ENTER, 0, "Enter", NULL },
	{ KEY_ESCAPE,     ACTION_ESCAPE, 0, "Esc", NULL },
	{ KEYS_BACKSPACE, ACTION_BACKSPACE, 0, "Backspace", NULL },
	{ KEYS_DELETE,    ACTION_DELETE, 0, "Delete", NULL },
	{ CTRL('d'),      ACTION_DELETE, 0, "Ctrl-d", NULL },
	{ KEYS_LEFT,      ACTION_LEFT, 0, "Left", NULL },
	{ KEYS_RIGHT,     ACTION_RIGHT, 0, "Right", NULL },
	{ KEYS_UP,        ACTION_UP, 0, "Up", NULL },
	{ KEYS_DOWN,      ACTION_DOWN, 0, "Down", NULL },
	{ KEYS_PAGE_UP,   ACTION_PAGE_UP, 0, "PgUp", NULL },
	{ KEYS_PAGE_DOWN, ACTION_PAGE_DOWN, 0, "PgDn", NULL },
	{ KEYS_HOME,      ACTION_HOME, 0, "Home", NULL },
	{ CTRL('a'),      ACTION_HOME, 0, "Ctrl-a", NULL },
	{ CTRL('w'),      ACTION_ERASE_WORD, 0, "Ctrl-w", NULL },
	{ CTRL('u'),      ACTION_ERASE_LINE, 0, "Ctrl-u", NULL },
	{ KEYS_END,       ACTION_END, 0, "End", NULL },
	{ CTRL('e'),      ACTION_END, 0, "Ctrl-e", NULL },
	{ KEY_TAB,        ACTION_NEXT_PANE, 0, "Tab", NULL },
	{ KEYS_BACKTAB,   ACTION_PREVIOUS_PANE, 0, "Shift-Tab", NULL },
	{ CTRL('l'),      ACTION_REDRAW, 0, "Ctrl-l", NULL },
	{ KEYS_F1,        ACTION_HELP, 0, "F1", NULL },
};
/* clang-format on */

int key_count(void)
{
	return (int)(sizeof key_table / sizeof key_table[0]);
}

static struct action find(const struct key_binding *table, size_t count, int key)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].key == key)
			return (struct action){ .kind = table[i].action,
						.argument = table[i].argument };
	return (struct action){ .kind = ACTION_NONE };
}

struct action key_action(int key, bool typing)
{
	if (!typing)
		return find(key_table, (size_t)key_count(), key);
	if (key >= ' ' && key != 0x7f && key < KEY_NAMED)
		return (struct action){ .kind = ACTION_TEXT, .argument = key };
	return find(typing_table, sizeof typing_table / sizeof typing_table[0], key);
}
