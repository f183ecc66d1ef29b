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
#include "tui/explorer/follow.h"
#include "tui/explorer/last.h"
#include "tui/explorer/load.h"
#include "tui/text.h"
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
	explorer->follow = follow_make();
	if (!explorer->scratch || !explorer->spots || !explorer->spots_beside ||
	    !explorer->load || !explorer->follow) {
		explorer_free(explorer);
		return false;
	}
	explorer->scenario = explorer->origin = *scenario;
	explorer->folded = 1u << GROUP_PRECISION | 1u << GROUP_OVERLAP |
			   1u << GROUP_CLUSTER | 1u << GROUP_RUN;
	if (scenario->model.moe.experts == 0)
		explorer->folded |= 1u << GROUP_MOE;
	snprintf(explorer->explained, sizeof explorer->explained, "step_seconds");
	explorer->explained_of = -1;
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
	last_free(explorer);
	follow_free(explorer->follow);
	spots_free(explorer->drawn);
	spots_free(explorer->drawn_beside);
	explorer->scratch = NULL;
	explorer->load = NULL;
	explorer->follow = NULL;
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
	explorer->message_stays = false;
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

/* "PP pipeline 4 again, was 8": each knob that differs; false where those are more than
 * can be told. */
static bool change_words(const struct explorer *explorer, const struct scenario *from,
			 bool redo, char *out, size_t size)
{
	enum { MOST = 2 };
	char label[64], before[64], after[64];
	size_t used = 0;
	int told = 0;

	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];

		if (knob_same(from, &explorer->scenario, knob))
			continue;
		if (told++ == MOST)
			return false;
		text_squeeze(knob->label, label, sizeof label);
		knob_print(from, knob, before, sizeof before);
		knob_print(&explorer->scenario, knob, after, sizeof after);
		used += (size_t)snprintf(out + used, size - used, "%s%s %s%s, was %s",
					 told > 1 ? "; " : "", label, after,
					 redo ? "" : " again", before);
		if (used >= size)
			return false;
	}
	return told > 0;
}

unsigned explorer_undo(struct explorer *explorer, bool redo)
{
	struct scenario scenario = explorer->scenario, from = scenario;
	char words[sizeof explorer->message - 16];
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
	if (change_words(explorer, &from, redo, words, sizeof words))
		what = words;
	explorer_say(explorer, ROLE_HINT, "%s: %s", redo ? "redone" : "undone", what);
	return CHANGED_SCREEN | CHANGED_SCENARIO | CHANGED_SETTINGS;
}

unsigned explorer_pin(struct explorer *explorer)
{
	explorer->pinned = !explorer->pinned;
	if (explorer->pinned) {
		explorer->baseline = explorer->scenario;
		explorer->before = explorer->estimate;
		explorer->before_mode = explorer->scenario.plan.mode;
		/* the chart of the plan that was pinned before */
		explorer->play_before = NULL;
		explorer->play_stale = true;
		explorer_say(explorer, ROLE_HINT,
			     "pinned: every number now shows its change against "
			     "this plan");
		explorer->message_stays = true;
	} else {
		explorer->moved = false;
		explorer_say(explorer, ROLE_HINT, "unpinned");
	}
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}
