/* play.c - the step of the open plan, and of the pinned one, item by item. */
#include <stdlib.h>
#include <string.h>

#include "tui/explorer.h"
#include "tui/view.h"

/* Events a second; so many frames of it at most, each of several events then. */
static const int speeds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
enum { SPEEDS = sizeof speeds / sizeof speeds[0], FIRST_SPEED = 3, MOST_FRAMES = 16 };

static void forget(struct play **play)
{
	if (*play)
		free((*play)->room);
	free(*play);
	*play = NULL;
}

void play_forget(struct explorer *explorer)
{
	forget(&explorer->play);
	forget(&explorer->play_before);
}

/* Pages that were used once cost nothing the next time: a timeline may be of
 * megabytes, and every turn makes another. */
static bool make_room(struct play *play, size_t bytes)
{
	if (play->room && play->bytes >= bytes)
		return true;
	free(play->room);
	play->room = malloc(bytes);
	play->bytes = play->room ? bytes : 0;
	return play->room != NULL;
}

static void make(struct play **kept, const struct scenario *scenario,
		 struct estimate *scratch, unsigned number)
{
	struct play *play = *kept ? *kept : calloc(1, sizeof *play);
	struct arena arena = { 0 };
	size_t bytes = timeline_bytes(scenario);

	*kept = play;
	if (!play)
		return;
	play->number = number;
	play->good = false;
	memset(&play->timeline, 0, sizeof play->timeline);
	play->problem = (struct timeline_problem){ .reason = "not enough memory" };
	if (scenario->plan.mode != MODE_TRAINING) {
		play->problem.reason = "it is no training step";
		return;
	}
	if (!make_room(play, bytes ? bytes : 1))
		return;
	arena.base = play->room;
	arena.size = bytes;
	play->good = timeline_build(scenario, &arena, scratch, &play->timeline,
				    &play->problem);
}

void play_refresh(struct explorer *explorer)
{
	if (explorer->play && !explorer->play_stale)
		return;
	make(&explorer->play, &explorer->scenario, explorer->scratch,
	     ++explorer->plays);
	if (explorer->pinned)
		make(&explorer->play_before, &explorer->baseline, explorer->scratch,
		     ++explorer->plays);
	else
		forget(&explorer->play_before);
	explorer->play_stale = false;
}

int play_speed(const struct explorer *explorer)
{
	return speeds[explorer->speed];
}

int play_every_ms(const struct explorer *explorer)
{
	int frames = play_speed(explorer);

	if (!explorer->playing)
		return 0;
	return 1000 / (frames < MOST_FRAMES ? frames : MOST_FRAMES);
}

static unsigned go_on(struct explorer *explorer)
{
	int events = play_speed(explorer) / MOST_FRAMES;
	struct view_state *state = &explorer->state[VIEW_TIMELINE];

	if (!explorer->playing)
		return CHANGED_NOTHING;
	for (int i = 0; i == 0 || i < events; i++) {
		int stage = state->choice, at = state->cursor;

		timeline_act(explorer, (struct action){ .kind = ACTION_STEP });
		if (state->choice == stage && state->cursor == at) {
			explorer->playing = false;
			break;
		}
	}
	return CHANGED_SCREEN;
}

/* From the first event on, or from where it was stopped. */
static unsigned start(struct explorer *explorer)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];

	if (explorer->scenario.plan.mode == MODE_INFERENCE) {
		explorer_say(explorer, ROLE_HINT, "a pass has no events to play");
		return CHANGED_SCREEN;
	}
	play_refresh(explorer);
	if (!explorer->play || !explorer->play->good)
		return CHANGED_NOTHING;
	if (state->first == 0)
		state->choice = state->cursor = 0;
	state->first = 1;
	explorer->playing = true;
	return CHANGED_SCREEN;
}

unsigned play_act(struct explorer *explorer, struct action action)
{
	switch (action.kind) {
	case ACTION_TICK: return go_on(explorer);
	case ACTION_PLAY:
		if (!explorer->playing)
			return start(explorer);
		explorer->playing = false;
		return CHANGED_SCREEN;
	case ACTION_SLOWER: explorer->speed -= explorer->speed > 0; break;
	default: explorer->speed += explorer->speed + 1 < SPEEDS; break;
	}
	if (explorer->playing)
		return CHANGED_SCREEN; /* it stands above the chart */
	explorer_say(explorer, ROLE_HINT, "%d event%s per second", play_speed(explorer),
		     play_speed(explorer) == 1 ? "" : "s");
	return CHANGED_SCREEN;
}

bool play_end(struct explorer *explorer)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];

	if (explorer->view != VIEW_TIMELINE || state->first == 0)
		return false;
	explorer->playing = false;
	state->first = 0;
	return true;
}

void play_begin(struct explorer *explorer)
{
	explorer->speed = FIRST_SPEED;
}
