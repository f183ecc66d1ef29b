/* action.h - everything a person can do; keys and mouse are bound to these. */
#ifndef TUI_ACTION_H
#define TUI_ACTION_H

#include <stdbool.h>

enum action_kind {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_LEFT, /* a knob one value down; elsewhere move */
	ACTION_RIGHT,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HOME,
	ACTION_END,
	ACTION_NEXT_PANE,
	ACTION_PREVIOUS_PANE,
	ACTION_VIEW, /* argument: number of the tab, from 0 */
	ACTION_NEXT_VIEW,
	ACTION_PREVIOUS_VIEW,
	ACTION_ENTER,
	ACTION_ESCAPE,
	ACTION_EDIT, /* '=': type a value */
	ACTION_FOLD,
	ACTION_PIN,
	ACTION_UNDO,
	ACTION_REDO,
	ACTION_RESET, /* the focused knob to its default */
	ACTION_OPEN,
	ACTION_WRITE,
	ACTION_EXPORT,
	ACTION_SEARCH,
	ACTION_FILTER,
	ACTION_NEXT_MATCH,
	ACTION_PREVIOUS_MATCH,
	ACTION_HELP,
	ACTION_MOUSE, /* toggle the mouse */
	ACTION_REDRAW,
	ACTION_QUIT,
	ACTION_TEXT,      /* argument: a Unicode character typed in a text field */
	ACTION_BACKSPACE, /* in a text field */
	ACTION_DELETE,
	ACTION_ERASE_WORD, /* before the cursor */
	ACTION_ERASE_LINE, /* all before the cursor */
	ACTION_CLICK,      /* x, y */
	ACTION_WHEEL,      /* x, y, argument -1 up or +1 down */
	ACTION_ZOOM_IN,
	ACTION_ZOOM_OUT,
	ACTION_SORT,
	ACTION_STEP,
	ACTION_STEP_BACK,
	ACTION_PLAY, /* a step runs by itself, or stops */
	ACTION_SLOWER,
	ACTION_FASTER,
	ACTION_TICK,   /* time has passed while something plays */
	ACTION_LEARN,  /* lessons */
	ACTION_BESIDE, /* the next view beside the open one */
	ACTION_LOOP,   /* of a server: a held concurrency, or arrivals at a rate */
	ACTION_ABOUT,  /* what the knob under the cursor means; else the glossary */
	ACTION_COUNT
};

struct action {
	enum action_kind kind;
	int argument;
	int x, y;
};

/* Bits that explorer_handle() returns. */
enum {
	CHANGED_NOTHING = 0,
	CHANGED_SCREEN = 1 << 0,
	CHANGED_SCENARIO = 1 << 1,
	CHANGED_SETTINGS = 1 << 2, /* workspace should be saved */
	CHANGED_REDRAW_ALL = 1 << 3,
	CHANGED_QUIT = 1 << 4
};

/* A key as the terminal reports it: a Unicode character or one of these. */
enum key {
	KEY_NAMED = 0x200000,
	KEYS_UP = KEY_NAMED,
	KEYS_DOWN,
	KEYS_LEFT,
	KEYS_RIGHT,
	KEYS_PAGE_UP,
	KEYS_PAGE_DOWN,
	KEYS_HOME,
	KEYS_END,
	KEYS_BACKTAB,
	KEYS_BACKSPACE,
	KEYS_DELETE,
	KEYS_F1
};

struct key_binding {
	int key; /* Unicode or enum key */
	enum action_kind action;
	int argument;
	const char *name; /* "Tab", for help */
	const char *help; /* NULL: a second key of the action above */
};

extern const struct key_binding key_table[];
int key_count(void);
/* The action of a key in normal mode, or as text entry where typing is true. */
struct action key_action(int key, bool typing);

#endif
