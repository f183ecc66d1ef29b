/* history.h - undo and redo without limit, as differences between scenarios. */
#ifndef TUI_EXPLORER_HISTORY_H
#define TUI_EXPLORER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/plan/scenario.h"

/* Changes lie one behind the other, a few dozen bytes each. */
struct history {
	unsigned char *bytes;
	size_t capacity;
	size_t at; /* behind the last change that is in effect */
	int count;
	int done; /* changes that are in effect; behind them is what redo has */
};

void history_free(struct history *history);
/* Remember a change and forget what could be redone. False without memory; then
 * the history is as before. */
bool history_push(struct history *history, const struct scenario *from,
		  const struct scenario *to, const char *what);
/* Apply to the scenario; the text of what was undone or redone, valid until the next
 * change, or NULL. */
const char *history_undo(struct history *history, struct scenario *scenario);
const char *history_redo(struct history *history, struct scenario *scenario);

#endif
