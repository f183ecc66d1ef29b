/* explorer.c - the scenario, what is computed of it and how it changes; see
 * explorer.h. */
#include "tui/explorer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/schedule/schedule.h"
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

void explorer_strip(struct explorer *explorer)
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
	/* an event of another step is none of this one */
	if (!explorer->playing)
		explorer->state[VIEW_TIMELINE].first = 0;
	load_forget(explorer->load);
	weigh_mends(explorer);
	explorer_strip(explorer);
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

unsigned explorer_undo(struct explorer *explorer, bool redo)
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

unsigned explorer_pin(struct explorer *explorer)
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
