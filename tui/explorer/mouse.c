/* mouse.c - clicks and the wheel: what happens is decided by the place, whichever pane
 * has the focus. A first click points, a second one on the same thing is Enter; the
 * wheel scrolls what it is over and never changes a value. */
#include <stdlib.h>
#include <string.h>

#include "tui/view.h"

void spots_free(struct spots *spots)
{
	if (!spots)
		return;
	free(spots->picture[0]);
	free(spots->picture[1]);
	free(spots);
}

void spots_clear(struct spots *spots)
{
	const struct rect none = { 0 };

	/* behind its count each list is as good as empty */
	spots->count = spots->presses = spots->lines = 0;
	spots->knobs = spots->view = spots->picker = spots->preview = none;
	spots->chart = spots->strip = none;
}

bool rect_holds(struct rect rect, int x, int y)
{
	return x >= rect.x && x < rect.x + rect.width && y >= rect.y &&
	       y < rect.y + rect.height;
}

void add_press(struct canvas *canvas, struct rect rect, struct action action)
{
	struct spots *spots = canvas->spots;

	if (spots && spots->presses < MAX_PRESSES)
		spots->press[spots->presses++] = (struct press){ rect, action };
}

struct action mouse_press(const struct explorer *explorer, int x, int y)
{
	const struct spots *spots = explorer->spots;

	for (int i = 0; i < spots->presses; i++)
		if (rect_holds(spots->press[i].rect, x, y))
			return spots->press[i].action;
	return (struct action){ .kind = ACTION_NONE };
}

/* A number lies over the rows of a view, and is lit instead of them. */
unsigned explorer_give_view(struct explorer *explorer, struct action action)
{
	const struct view *view = &view_table[explorer->view];
	struct view_state *state = &explorer->state[explorer->view];
	bool number_first = action.kind == ACTION_CLICK ||
			    (action.kind == ACTION_ENTER && state->key[0] != '\0');
	unsigned changed = CHANGED_NOTHING;

	if (!view->act)
		return act_on_spots(explorer, action);
	if (number_first)
		changed = act_on_spots(explorer, action);
	if (changed != CHANGED_NOTHING)
		return changed;
	changed = view->act(explorer, action);
	if (changed != CHANGED_NOTHING)
		state->key[0] = '\0';
	else if (!number_first)
		changed = act_on_spots(explorer, action);
	return changed;
}

static bool is_same(const struct view_state *a, const struct view_state *b)
{
	return a->cursor == b->cursor && a->choice == b->choice &&
	       strcmp(a->key, b->key) == 0;
}

static unsigned click_view(struct explorer *explorer, struct action action)
{
	struct view_state before = explorer->state[explorer->view];
	bool focused = explorer->pane == PANE_VIEW;
	unsigned changed;

	explorer->pane = PANE_VIEW;
	changed = explorer_give_view(explorer, action);
	if (focused && changed != CHANGED_NOTHING &&
	    is_same(&before, &explorer->state[explorer->view])) {
		action.kind = ACTION_ENTER;
		changed |= explorer_give_view(explorer, action);
	}
	return changed | CHANGED_SCREEN;
}

static unsigned click_knobs(struct explorer *explorer, struct action action)
{
	bool focused = explorer->pane == PANE_KNOBS;
	int row = explorer->row;
	unsigned changed;

	explorer->pane = PANE_KNOBS;
	changed = knobs_act(explorer, action);
	if (focused && changed != CHANGED_NOTHING && explorer->row == row) {
		action.kind = ACTION_ENTER;
		changed |= knobs_act(explorer, action);
	}
	return changed | CHANGED_SCREEN;
}

static unsigned wheel(struct explorer *explorer, struct action action)
{
	struct action move = { .kind = action.argument < 0 ? ACTION_UP : ACTION_DOWN };

	if (rect_holds(explorer->spots->knobs, action.x, action.y))
		return knobs_act(explorer, move);
	if (rect_holds(explorer->spots->view, action.x, action.y))
		return explorer_give_view(explorer, move);
	return beside_act(explorer, action);
}

unsigned mouse_act(struct explorer *explorer, struct action action)
{
	if (action.kind == ACTION_WHEEL)
		return wheel(explorer, action);
	if (rect_holds(explorer->spots->knobs, action.x, action.y))
		return click_knobs(explorer, action);
	if (rect_holds(explorer->spots->view, action.x, action.y))
		return click_view(explorer, action);
	return beside_act(explorer, action);
}
