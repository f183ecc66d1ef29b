/* explorer.c - the state and what keys do to it; see explorer.h. */
#include "tui/explorer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/schedule/schedule.h"
#include "engine/train/train.h"
#include "presets/error.h"
#include "tui/clock.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/explorer/load.h"
#include "tui/view.h"

bool explorer_init(struct explorer *explorer, const struct scenario *scenario)
{
	memset(explorer, 0, sizeof *explorer);
	explorer->session.lock = -1;
	explorer->scratch = malloc(sizeof *explorer->scratch);
	explorer->spots = explorer->drawn = calloc(1, sizeof *explorer->drawn);
	explorer->spots_beside = explorer->drawn_beside =
		calloc(1, sizeof *explorer->drawn_beside);
	explorer->load = load_make();
	if (!explorer->scratch || !explorer->spots || !explorer->spots_beside ||
	    !explorer->load) {
		explorer_free(explorer);
		return false;
	}
	explorer->scenario = explorer->origin = *scenario;
	explorer->folded = 1u << GROUP_PRECISION | 1u << GROUP_OVERLAP |
			   1u << GROUP_CLUSTER | 1u << GROUP_RUN;
	if (scenario->model.moe.experts == 0)
		explorer->folded |= 1u << GROUP_MOE;
	snprintf(explorer->explained, sizeof explorer->explained, "step_seconds");
	explorer->strip_knob = explorer->revealed = -1;
	explorer->threads = 1;
	play_begin(explorer);
	knobs_focus(explorer, knob_find("tp"));
	explorer_update(explorer);
	return true;
}

void explorer_free(struct explorer *explorer)
{
	session_leave(&explorer->session);
	course_free(explorer);
	contest_free(explorer);
	history_free(&explorer->history);
	search_forget(explorer);
	play_forget(explorer);
	free(explorer->kept);
	free(explorer->copied);
	free(explorer->preview.text);
	free(explorer->scratch);
	free(explorer->load);
	spots_free(explorer->drawn);
	spots_free(explorer->drawn_beside);
	explorer->scratch = NULL;
	explorer->load = NULL;
	explorer->drawn = explorer->drawn_beside = NULL;
	explorer->spots = explorer->spots_beside = NULL;
	explorer->kept = NULL;
	explorer->copied = NULL;
	explorer->preview.text = NULL;
}

void explorer_say(struct explorer *explorer, enum role role, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(explorer->message, sizeof explorer->message, format, args);
	va_end(args);
	error_clean(explorer->message);
	explorer->message_role = role;
}

void explorer_say_start(struct explorer *explorer, const struct start *start)
{
	char text[sizeof explorer->message - 16];

	if (start_text(start, &explorer->scenario, text, sizeof text) > 0)
		explorer_say(explorer, ROLE_HINT, "assumed: %s", text);
}

const struct knob *explorer_knob(const struct explorer *explorer)
{
	struct knob_row rows[MAX_ROWS];
	int count = knob_rows(explorer, rows);

	if (explorer->row < count && rows[explorer->row].kind == ROW_KNOB)
		return &knob_table[rows[explorer->row].knob];
	return NULL;
}

/* Schedules without a shortcut cost up to a third of a millisecond an estimate: what
 * needs many of them then waits until the frame is out. */
static bool is_cheap(const struct explorer *explorer)
{
	const struct plan *plan = &explorer->scenario.plan;

	return plan->pp == 1 || schedule_by_rounds(plan->schedule);
}

static void update_strip(struct explorer *explorer)
{
	const struct knob *knob = explorer_knob(explorer);

	explorer->strip_knob = knob ? (int)(knob - knob_table) : -1;
	if (knob)
		whatif_knob(&explorer->scenario, knob, explorer->scratch,
			    &explorer->strip);
}

/* What advises to turn a knob that is locked is no advice. */
static void drop_locked(struct explorer *explorer)
{
	struct findings *advice = &explorer->advice;
	int kept = 0;

	for (int i = 0; i < advice->count; i++) {
		const char *key = advice->item[i].knob;
		const struct knob *knob = key ? knob_find(key) : NULL;

		if (knob &&
		    (contest_locks(explorer, knob) || course_locks(explorer, knob)))
			continue;
		advice->item[kept++] = advice->item[i];
	}
	advice->count = kept;
}

static void update_advice(struct explorer *explorer)
{
	explorer->advice.count = 0;
	if (explorer->estimate.legal)
		advice_give(&explorer->scenario, &explorer->estimate,
			    &explorer->advice);
	drop_locked(explorer);
	explorer->advice_done = true;
}

static void weigh_mends(struct explorer *explorer)
{
	const struct findings *problems = &explorer->estimate.problems;

	for (int i = 0; i < problems->count; i++)
		for (int k = 0; k < problems->item[i].nearest_count; k++)
			whatif_cost(&explorer->scenario,
				    knob_find(problems->item[i].knob),
				    problems->item[i].nearest[k], explorer->scratch,
				    &explorer->mend[i][k]);
}

void explorer_update(struct explorer *explorer)
{
	scenario_estimate(&explorer->scenario, &explorer->estimate);
	contest_follow(explorer);
	if (explorer->pinned) {
		scenario_estimate(&explorer->baseline, &explorer->before);
		explorer->before_mode = explorer->baseline.plan.mode;
	}
	explorer->arrows_done = 0;
	explorer->advice_done = false;
	explorer->search_stale = explorer->play_stale = true;
	load_forget(explorer->load);
	weigh_mends(explorer);
	update_strip(explorer);
	if (is_cheap(explorer))
		update_advice(explorer);
	if (explorer->view == VIEW_TIMELINE)
		play_refresh(explorer);
}

bool explorer_idle(struct explorer *explorer)
{
	enum { SLICE = 4 };
	int count = knob_count();

	if (!explorer->advice_done) {
		update_advice(explorer);
		return true;
	}
	for (int i = 0; i < SLICE && explorer->arrows_done < count; i++) {
		int knob = explorer->arrows_done++;

		if (!whatif_tunes(&knob_table[knob])) {
			explorer->arrow[knob].direction = 0;
			continue;
		}
		whatif_arrow(&explorer->scenario, &knob_table[knob],
			     &explorer->estimate, explorer->scratch,
			     &explorer->arrow[knob]);
	}
	if (explorer->arrows_done < count)
		return true;
	return explorer->view == VIEW_SEARCH && search_slice(explorer);
}

bool explorer_is_settled(const struct explorer *explorer)
{
	return explorer->advice_done && explorer->arrows_done == knob_count() &&
	       explorer->view != VIEW_SEARCH;
}

/* Longer than nearly every plan takes, shorter than anybody notices. */
static const double settle_seconds = 0.008;

void explorer_settle(struct explorer *explorer)
{
	double end = clock_seconds() + settle_seconds;

	while (!explorer_is_settled(explorer) && explorer->view != VIEW_SEARCH &&
	       clock_seconds() < end)
		explorer_idle(explorer);
}

/* Keep what was there to show the change against it, unless a baseline is pinned. */
static void remember_before(struct explorer *explorer)
{
	if (explorer->pinned)
		return;
	explorer->before = explorer->estimate;
	explorer->before_mode = explorer->scenario.plan.mode;
	explorer->moved = true;
}

unsigned explorer_change(struct explorer *explorer, const struct scenario *to,
			 const char *what)
{
	if (!course_allows(explorer, to) || !contest_allows(explorer, to))
		return CHANGED_SCREEN;
	if (!history_push(&explorer->history, &explorer->scenario, to, what)) {
		explorer_say(explorer, ROLE_BAD, "out of memory; nothing was changed");
		return CHANGED_SCREEN;
	}
	remember_before(explorer);
	explorer->lit = false;
	explorer->scenario = *to;
	return CHANGED_SCREEN | CHANGED_SCENARIO | CHANGED_SETTINGS;
}

static unsigned undo(struct explorer *explorer, bool redo)
{
	struct scenario scenario = explorer->scenario;
	const char *what = redo ? history_redo(&explorer->history, &scenario)
				: history_undo(&explorer->history, &scenario);

	if (!what) {
		explorer_say(explorer, ROLE_HINT, "nothing to %s",
			     redo ? "redo" : "undo");
		return CHANGED_SCREEN;
	}
	remember_before(explorer);
	explorer->lit = false;
	explorer->scenario = scenario;
	explorer_say(explorer, ROLE_HINT, "%s: %s", redo ? "redone" : "undone", what);
	return CHANGED_SCREEN | CHANGED_SCENARIO | CHANGED_SETTINGS;
}

static unsigned pin(struct explorer *explorer)
{
	load_forget(explorer->load);
	explorer->pinned = !explorer->pinned;
	if (explorer->pinned) {
		explorer->baseline = explorer->scenario;
		explorer->before = explorer->estimate;
		explorer->before_mode = explorer->scenario.plan.mode;
		explorer->play_stale = true;
		explorer_say(explorer, ROLE_HINT,
			     "pinned: every number shows its change against this plan");
	} else {
		explorer->moved = false;
		explorer_say(explorer, ROLE_HINT, "unpinned");
	}
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

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
			     "the search is locked in a challenge: you are the search");
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
	if (explorer->view == VIEW_GLOSSARY)
		return close_layer(explorer);
	explorer->state[VIEW_GLOSSARY].first = 0;
	explorer_show(explorer, VIEW_GLOSSARY);
	explorer->pane = PANE_VIEW;
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

static unsigned switch_pane(struct explorer *explorer)
{
	struct view_state *state = &explorer->state[explorer->view];

	explorer->pane = explorer->pane == PANE_KNOBS ? PANE_VIEW : PANE_KNOBS;
	/* rows have a cursor of their own */
	if (state->key[0] == '\0' && explorer->spots->count > 0 &&
	    (!view_table[explorer->view].act || !explorer->estimate.legal))
		memcpy(state->key, explorer->spots->item[0].key, sizeof state->key);
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
	case ACTION_PIN: return pin(explorer);
	case ACTION_UNDO: return undo(explorer, false);
	case ACTION_REDO: return undo(explorer, true);
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

	if (action.kind != ACTION_NONE && action.kind != ACTION_ESCAPE)
		explorer->message[0] = '\0';
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
		update_strip(explorer);
		changed |= CHANGED_SETTINGS;
	}
	return changed;
}

bool explorer_is_typing(const struct explorer *explorer)
{
	return explorer->mode != MODE_NORMAL || explorer->course;
}
