/* loop.h - waits for events, lets the client act, draws once, saves in time.
 *
 * All waiting keys are taken before one redraw. Nothing wakes up while nothing
 * is to be done. Work that may follow a frame is done in slices while no key
 * waits.
 */
#ifndef TUI_LOOP_H
#define TUI_LOOP_H

#include "tui/action.h"
#include "tui/terminal.h"

/* Callbacks; those that return unsigned return CHANGED_ bits of action.h. */
struct loop_client {
	void *context;
	/* Keys are text now. */
	bool (*is_typing)(const void *context);
	unsigned (*act)(void *context, struct action action);
	/* Text that was pasted, its first bytes, and how many it had. May be NULL. */
	unsigned (*paste)(void *context, const char *text, size_t bytes);
	/* Once after a batch of actions, before the frame: recompute. May be NULL. */
	unsigned (*update)(void *context, unsigned changed);
	void (*draw)(void *context, struct canvas *canvas);
	/* One slice, some milliseconds at most, of work that follows the frame;
	 * sets *more while there is more of it. May be NULL. */
	unsigned (*idle)(void *context, bool *more);
	/* Milliseconds between two ACTION_TICK that act() gets; 0: none. May be NULL.
	 */
	int (*every_ms)(const void *context);
	/* Writes the workspace: at most a second after CHANGED_SETTINGS or
	 * CHANGED_SCENARIO, and at the end. */
	unsigned (*save)(void *context);
};

/* Opens the terminal, runs until CHANGED_QUIT or a signal, closes it. Returns the
 * exit status: 0, 128 + signal, or 2 with error->text if there is no terminal. */
int loop_run(const struct loop_client *client, const struct terminal_options *options,
	     struct error *error);

#endif
