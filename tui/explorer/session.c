/* session.c - the workspace between sessions, and the explorer on a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/workspace.h"
#include "tui/clipboard.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/loop.h"
#include "tui/view.h"

static void restore(struct explorer *explorer, const struct workspace *w)
{
	int view = view_find(w->view);

	explorer->scenario = explorer->origin = w->scenario;
	explorer->pinned = w->pinned;
	explorer->baseline = w->baseline;
	memcpy(explorer->file, w->file, sizeof explorer->file);
	knobs_focus(explorer, knob_find(w->knob));
	explorer->folded = w->folded;
	knobs_focus(explorer, knob_find(w->knob));
	if (view >= 0)
		explorer->view = (enum view_id)view;
	view = view_find(w->beside);
	if (view >= 0)
		explorer->beside = (enum beside)(BESIDE_VIEW + view);
	else if (strcmp(w->beside, "none") == 0)
		explorer->beside = BESIDE_NONE;
	explorer_update(explorer);
}

bool session_begin(struct explorer *explorer, int wanted, bool go_on,
		   struct error *error)
{
	struct workspace *w = calloc(1, sizeof *w);
	enum workspace_state state;
	int other;

	if (!w)
		return error_set(error, NULL, 0, "out of memory");
	bool taken = session_take(&explorer->session, wanted, w, &state, error);
	if (taken && go_on && state == WORKSPACE_READ)
		restore(explorer, w);
	/* nobody has been here before */
	explorer->offers = taken && go_on && state == WORKSPACE_NONE &&
			   explorer->session.number == 1 && !answers_exist();
	free(w);
	if (!taken && wanted > 0)
		return false;
	other = go_on && wanted == 0 ? session_other(&explorer->session) : 0;
	if (error->text[0] != '\0')
		explorer_say(explorer, ROLE_WARNING, "%s", error->text);
	else if (other > 0)
		explorer_say(explorer, ROLE_HINT,
			     "session %d is kept too: shardscope --session %d", other,
			     other);
	return true;
}

bool session_save(const struct explorer *explorer, struct error *error)
{
	struct workspace *w = calloc(1, sizeof *w);
	const struct knob *knob = explorer_knob(explorer);
	/* a lesson's plans are not the user's */
	const struct course_kept *kept =
		explorer->course ? &explorer->course->kept : NULL;
	bool good;

	if (explorer->contest) {
		free(w);
		return true; /* a challenge keeps its own */
	}
	if (!w)
		return error_set(error, NULL, 0, "out of memory");
	w->scenario = kept ? kept->scenario : explorer->scenario;
	w->pinned = kept ? kept->pinned : explorer->pinned;
	w->baseline = kept ? kept->baseline : explorer->baseline;
	memcpy(w->file, kept ? kept->file : explorer->file, sizeof w->file);
	strcpy(w->knob, knob ? knob->key : "");
	strcpy(w->view, view_table[kept ? kept->view : explorer->view].name);
	if (explorer->beside == BESIDE_NONE)
		strcpy(w->beside, "none");
	else if (explorer->beside != BESIDE_SUITS)
		strcpy(w->beside, view_table[explorer->beside - BESIDE_VIEW].name);
	w->folded = kept ? kept->folded : explorer->folded;
	good = workspace_save(explorer->session.path, w, error);
	free(w);
	return good;
}

static bool is_typing(const void *context)
{
	return explorer_is_typing(context);
}

/* What a view hands to the clipboard goes there through the terminal. */
static void copy(struct explorer *explorer)
{
	char why[160];
	size_t length = strlen(explorer->copied);

	if (clipboard_copy(explorer->copied, why, sizeof why))
		explorer_say(explorer, ROLE_GOOD,
			     "%zu bytes sent to the terminal's clipboard", length);
	else
		explorer_say(explorer, ROLE_WARNING, "%s; Enter saves to a file", why);
	free(explorer->copied);
	explorer->copied = NULL;
}

static unsigned act(void *context, struct action action)
{
	struct explorer *explorer = context;
	unsigned changed = explorer_handle(explorer, action);

	if (explorer->copied)
		copy(explorer);

	/* the loop has switched it by now */
	if (explorer->mouse_toggled) {
		explorer->mouse_toggled = false;
		explorer_say(explorer, ROLE_HINT, "mouse %s",
			     terminal_has_mouse() ? "on; Shift selects text"
						  : "off: the terminal has it");
	}
	return changed;
}

static unsigned paste(void *context, const char *text, size_t bytes)
{
	return explorer_paste(context, text, bytes);
}

static unsigned update(void *context, unsigned changed)
{
	if (changed & CHANGED_SCENARIO)
		explorer_update(context);
	/* rows that came into sight have arrows too */
	explorer_settle(context);
	return changed;
}

static int every_ms(const void *context)
{
	return play_every_ms(context);
}

static void draw(void *context, struct canvas *canvas)
{
	explorer_draw(context, canvas);
}

/* What follows a frame is drawn once it is complete; a search shows how far it is. */
static unsigned idle(void *context, bool *more)
{
	struct explorer *explorer = context;
	bool due, settled = explorer_is_settled(explorer);

	*more = explorer_idle(explorer);
	due = explorer->view == VIEW_SEARCH && explorer->search &&
	      explorer->search->due;
	if (due)
		explorer->search->due = false;
	return due || (!*more && !settled) ? CHANGED_SCREEN : CHANGED_NOTHING;
}

/* A workspace that can't be saved is said once, not at every key. */
static unsigned save(void *context)
{
	struct explorer *explorer = context;
	struct error error = { "" };

	if (session_save(explorer, &error) || explorer->save_failed)
		return CHANGED_NOTHING;
	explorer->save_failed = true;
	explorer_say(explorer, ROLE_WARNING, "the workspace could not be saved: %s",
		     error.text);
	return CHANGED_SCREEN;
}

int explorer_run(struct explorer *explorer, const struct terminal_options *options)
{
	struct loop_client client = { .context = explorer,
				      .is_typing = is_typing,
				      .act = act,
				      .paste = paste,
				      .update = update,
				      .draw = draw,
				      .idle = idle,
				      .every_ms = every_ms,
				      .save = save };
	struct error error = { "" };
	int status;

	explorer->threads = 0;
	status = loop_run(&client, options, &error);

	if (error.text[0] != '\0')
		fprintf(stderr, "shardscope: %s\n", error.text);
	/* on screen it was said in passing */
	if (explorer->save_failed && !session_save(explorer, &error))
		fprintf(stderr, "shardscope: the workspace could not be saved: %s\n",
			error.text);
	return status;
}
