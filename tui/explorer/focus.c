/* focus.c - which layer lies over which, and what a key does where the focus is; see
 * explorer.h. */
#include <stdio.h>
#include <string.h>

#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/explorer/load.h"
#include "tui/view.h"

bool view_is_layer(enum view_id view)
{
	return view == VIEW_HELP || view == VIEW_EXPLAIN || view == VIEW_GLOSSARY;
}

enum view_id explorer_view_below(const struct explorer *explorer)
{
	if (explorer->layers > 0)
		return explorer->below[explorer->layers - 1].view;
	return view_is_layer(explorer->view) ? VIEW_OVERVIEW : explorer->view;
}

/* A layer lies over all that is open, and once only; another view over nothing. */
static void put_over(struct explorer *explorer, enum view_id view)
{
	int at = 0;

	if (!view_is_layer(view)) {
		explorer->layers = 0;
		return;
	}
	while (at < explorer->layers && explorer->below[at].view != view)
		at++;
	if (at == explorer->layers && at < MOST_LAYERS)
		explorer->below[explorer->layers++] =
			(struct place){ explorer->view, explorer->pane };
	else
		explorer->layers = at;
}

unsigned explorer_show(struct explorer *explorer, enum view_id view)
{
	if (view >= VIEW_COUNT)
		return CHANGED_NOTHING;
	if (view == VIEW_SEARCH && !course_allows_tricks(explorer))
		return CHANGED_SCREEN;
	if (view == VIEW_SEARCH && explorer->contest) {
		explorer_say(explorer, ROLE_WARNING,
			     "search is locked in a challenge: finding the plan "
			     "is up to you");
		return CHANGED_SCREEN;
	}
	if (view != explorer->view)
		put_over(explorer, view);
	explorer->view = view;
	if (view == VIEW_TIMELINE)
		play_refresh(explorer);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

void explorer_point_out(struct explorer *explorer, const char *key)
{
	snprintf(explorer->explained, sizeof explorer->explained, "%.*s", MAX_KEY - 1,
		 key);
	explorer->state[VIEW_EXPLAIN].first = 0;
	explorer->asked = true;
}

unsigned explorer_explain(struct explorer *explorer, const char *key)
{
	explorer_point_out(explorer, key);
	explorer_show(explorer, VIEW_EXPLAIN);
	explorer->pane = PANE_VIEW;
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

/* The n-th tab, or the tab `direction` beside the open one. */
static unsigned show_tab(struct explorer *explorer, int n, int direction)
{
	int tabs[VIEW_COUNT], count = 0, at = 0;

	for (int i = 0; i < VIEW_COUNT; i++) {
		if (!view_table[i].tab)
			continue;
		if (i == (int)explorer->view)
			at = count;
		tabs[count++] = i;
	}
	if (direction != 0)
		n = (at + direction + count) % count;
	if (n < 0 || n >= count)
		return CHANGED_NOTHING;
	return explorer_show(explorer, (enum view_id)tabs[n]);
}

/* The topmost layer goes, and the focus is where it was under it. */
static unsigned close_layer(struct explorer *explorer)
{
	struct place to = { VIEW_OVERVIEW, PANE_KNOBS };

	if (explorer->layers > 0)
		to = explorer->below[--explorer->layers];
	explorer->view = to.view;
	explorer->pane = to.pane;
	if (to.view == VIEW_TIMELINE)
		play_refresh(explorer);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static unsigned back(struct explorer *explorer)
{
	if (view_is_layer(explorer->view))
		return close_layer(explorer);
	if (play_end(explorer))
		return CHANGED_SCREEN;
	if (explorer->pane == PANE_VIEW)
		explorer->pane = PANE_KNOBS;
	else
		explorer->message[0] = '\0';
	return CHANGED_SCREEN;
}

static unsigned help(struct explorer *explorer)
{
	if (explorer->view == VIEW_HELP)
		return close_layer(explorer);
	explorer->state[VIEW_HELP].first = 0;
	explorer_show(explorer, VIEW_HELP);
	explorer->pane = PANE_VIEW;
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

/* What the knob under the cursor means; where there is none, what all words mean. */
static unsigned about(struct explorer *explorer)
{
	const struct knob *knob =
		explorer->pane == PANE_KNOBS ? explorer_knob(explorer) : NULL;

	if (knob)
		return explorer_explain(explorer, knob->key);
	if (explorer->pane == PANE_KNOBS && explorer_turns(explorer))
		return explorer_explain(explorer, "micro-batch");
	if (explorer->view == VIEW_GLOSSARY)
		return close_layer(explorer);
	explorer->state[VIEW_GLOSSARY].first = 0;
	explorer_show(explorer, VIEW_GLOSSARY);
	explorer->pane = PANE_VIEW;
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

/* Of a plan without numbers what would mend it, which "Tab Enter" promises. */
static const struct spot *first_spot(const struct explorer *explorer)
{
	const struct spots *spots = explorer->spots;
	bool rows = view_table[explorer->view].act && explorer->estimate.legal;

	for (int i = 0; i < spots->count && !has_numbers(explorer); i++)
		if (spots->item[i].kind == SPOT_REMEDY)
			return &spots->item[i];
	/* rows have a cursor of their own */
	return spots->count > 0 && !rows ? &spots->item[0] : NULL;
}

static unsigned switch_pane(struct explorer *explorer)
{
	struct view_state *state = &explorer->state[explorer->view];

	explorer->pane = explorer->pane == PANE_KNOBS ? PANE_VIEW : PANE_KNOBS;
	if (state->key[0] == '\0' && first_spot(explorer))
		memcpy(state->key, first_spot(explorer)->key, sizeof state->key);
	return CHANGED_SCREEN;
}

static unsigned act_on_pane(struct explorer *explorer, struct action action)
{
	const struct view *view = &view_table[explorer->view];
	unsigned changed = CHANGED_NOTHING;

	if (explorer->pane == PANE_KNOBS) {
		changed = knobs_act(explorer, action);
		/* keys of the view that mean nothing to knobs work from here too */
		if (changed == CHANGED_NOTHING && view->act &&
		    (action.kind == ACTION_SORT || action.kind == ACTION_ZOOM_IN ||
		     action.kind == ACTION_ZOOM_OUT || action.kind == ACTION_STEP ||
		     action.kind == ACTION_STEP_BACK))
			changed = view->act(explorer, action);
		return changed;
	}
	return explorer_give_view(explorer, action);
}

/* The list of lessons, or the one that was not finished. */
static unsigned learn(struct explorer *explorer)
{
	struct error error = { "" };

	if (explorer->contest)
		explorer_say(explorer, ROLE_WARNING,
			     "no lessons inside a challenge; q leaves it");
	else if (!course_open(explorer, NULL, NULL, &error))
		explorer_say(explorer, ROLE_BAD, "%s", error.text);
	return CHANGED_SCREEN;
}

/* What would go round a lesson's question. */
static bool is_trick(enum action_kind kind)
{
	return kind == ACTION_PIN || kind == ACTION_UNDO || kind == ACTION_REDO ||
	       kind == ACTION_OPEN || kind == ACTION_WRITE || kind == ACTION_EXPORT ||
	       kind == ACTION_SEARCH;
}

static unsigned act_everywhere(struct explorer *explorer, struct action action)
{
	if (is_trick(action.kind) && !course_allows_tricks(explorer))
		return CHANGED_SCREEN;
	switch (action.kind) {
	case ACTION_NEXT_PANE:
	case ACTION_PREVIOUS_PANE: return switch_pane(explorer);
	case ACTION_VIEW: return show_tab(explorer, action.argument, 0);
	case ACTION_NEXT_VIEW: return show_tab(explorer, 0, 1);
	case ACTION_PREVIOUS_VIEW: return show_tab(explorer, 0, -1);
	case ACTION_ESCAPE: return back(explorer);
	case ACTION_PIN: return explorer_pin(explorer);
	case ACTION_UNDO: return explorer_undo(explorer, false);
	case ACTION_REDO: return explorer_undo(explorer, true);
	case ACTION_OPEN: return picker_open_presets(explorer, PRESET_PLAN);
	case ACTION_WRITE:
		return prompt_open(explorer, PROMPT_WRITE, 0, explorer->file);
	case ACTION_EXPORT: return picker_open_formats(explorer);
	case ACTION_FILTER: return prompt_open(explorer, PROMPT_FIND, 0, "");
	case ACTION_NEXT_MATCH: return prompt_find(explorer, 1);
	case ACTION_PREVIOUS_MATCH: return prompt_find(explorer, -1);
	case ACTION_SEARCH:
		explorer->pane = PANE_VIEW;
		return explorer_show(explorer, VIEW_SEARCH);
	case ACTION_LEARN: return learn(explorer);
	case ACTION_HELP: return help(explorer);
	case ACTION_ABOUT: return about(explorer);
	case ACTION_BESIDE: return beside_next(explorer);
	case ACTION_LOOP: return knobs_switch_loop(explorer);
	case ACTION_REDRAW: return CHANGED_SCREEN | CHANGED_REDRAW_ALL;
	case ACTION_MOUSE: explorer->mouse_toggled = true; return CHANGED_SCREEN;
	case ACTION_QUIT:
		return view_is_layer(explorer->view) ? close_layer(explorer)
						     : CHANGED_QUIT;
	default: return CHANGED_NOTHING;
	}
}

static bool is_about_playing(enum action_kind kind)
{
	return kind == ACTION_PLAY || kind == ACTION_SLOWER || kind == ACTION_FASTER;
}

/* What was said goes with the next key. */
static void clear_message(struct explorer *explorer, enum action_kind kind)
{
	bool turns = kind == ACTION_LEFT || kind == ACTION_RIGHT;

	if (kind == ACTION_NONE || kind == ACTION_ESCAPE)
		return;
	if (!explorer->message_stays || !turns)
		explorer->message[0] = '\0';
	explorer->message_stays = false;
}

static unsigned act_normal(struct explorer *explorer, struct action action)
{
	bool offered = explorer->offers;
	unsigned changed;

	if (is_about_playing(action.kind) && explorer->view == VIEW_TIMELINE)
		return play_act(explorer, action);
	explorer->playing = false; /* any other key stops it */
	if (action.kind != ACTION_NONE)
		explorer->offers = false;
	if (offered && action.kind == ACTION_ENTER)
		return learn(explorer);

	clear_message(explorer, action.kind);
	if (action.kind == ACTION_CLICK || action.kind == ACTION_WHEEL)
		return mouse_act(explorer, action);
	changed = act_on_pane(explorer, action);
	return changed == CHANGED_NOTHING ? act_everywhere(explorer, action) : changed;
}

/* Whatever has the keys. */
static unsigned handle(struct explorer *explorer, struct action action)
{
	bool passes = true;
	unsigned changed = CHANGED_NOTHING;

	if (explorer->course && explorer->mode == MODE_NORMAL)
		changed = course_act(explorer, &action, &passes);
	if (!passes)
		return changed;
	if (explorer->mode == MODE_NORMAL)
		changed = act_normal(explorer, action);
	else if (explorer->mode == MODE_PROMPT)
		changed = prompt_act(explorer, action);
	else
		changed = picker_act(explorer, action);
	if (explorer->course && changed & CHANGED_SCENARIO)
		course_follow(explorer);
	return changed;
}

unsigned explorer_handle(struct explorer *explorer, struct action action)
{
	const struct knob *knob = explorer_knob(explorer);
	int row = explorer->row;
	unsigned changed;

	if (action.kind == ACTION_TICK)
		return play_act(explorer, action);
	if (action.kind == ACTION_CLICK &&
	    mouse_press(explorer, action.x, action.y).kind != ACTION_NONE)
		action = mouse_press(explorer, action.x, action.y);
	changed = handle(explorer, action);
	/* a change can show or hide rows above the cursor */
	if (changed & CHANGED_SCENARIO && knob && explorer->row == row)
		knobs_focus(explorer, knob);
	beside_follow(explorer);
	if (row != explorer->row && !(changed & CHANGED_SCENARIO)) {
		explorer_strip(explorer);
		changed |= CHANGED_SETTINGS;
	}
	return changed;
}

bool explorer_is_typing(const struct explorer *explorer)
{
	return explorer->mode != MODE_NORMAL || explorer->course;
}
