/* play.c - the step of the open plan, and of the pinned one, item by item. */
#include <stdlib.h>
#include <string.h>

#include "tui/explorer.h"
#include "tui/view.h"

/* Events a second; so many frames of it at most, each of several events then. */
static const int speeds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
enum { SPEEDS = sizeof speeds / sizeof speeds[0], FIRST_SPEED = 3, MOST_FRAMES = 16 };

void play_forget(struct explorer *explorer)
{
	for (int i = 0; i < MOST_PLAYS; i++) {
		if (explorer->played[i])
			free(explorer->played[i]->room);
		free(explorer->played[i]);
		explorer->played[i] = NULL;
	}
	explorer->play = explorer->play_before = NULL;
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

static void make(struct play *play, const struct scenario *scenario,
		 struct estimate *scratch)
{
	struct arena arena = { 0 };
	size_t bytes = timeline_bytes(scenario);

	play->scenario = *scenario;
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
	play->good = timeline_play(scenario, &arena, scratch, &play->timeline,
				   &play->problem);
}

/* The play of this scenario, or the place of the one that nobody looked at for longest;
 * NULL: out of memory. */
static struct play *find_play(struct explorer *explorer,
			      const struct scenario *scenario)
{
	struct play **place = &explorer->played[0];

	for (int i = 0; i < MOST_PLAYS; i++) {
		struct play **each = &explorer->played[i];

		if (!*each) {
			*each = calloc(1, sizeof **each);
			return *each;
		}
		if (memcmp(&(*each)->scenario, scenario, sizeof *scenario) == 0)
			return *each;
		if ((*each)->looked < (*place)->looked)
			place = each;
	}
	return *place;
}

/* Back and forth over a value, a schedule is simulated once. */
static struct play *play_of(struct explorer *explorer, const struct scenario *scenario)
{
	struct play *play = find_play(explorer, scenario);

	if (!play)
		return NULL;
	if (play->number == 0 ||
	    memcmp(&play->scenario, scenario, sizeof *scenario) != 0) {
		make(play, scenario, explorer->scratch);
		play->number = ++explorer->plays;
	}
	play->looked = ++explorer->looks;
	return play;
}

void play_refresh(struct explorer *explorer)
{
	if (explorer->play && !explorer->play_stale)
		return;
	explorer->play = play_of(explorer, &explorer->scenario);
	explorer->play_before =
		explorer->pinned ? play_of(explorer, &explorer->baseline) : NULL;
	/* a plan beside itself shows nothing */
	if (explorer->play_before == explorer->play)
		explorer->play_before = NULL;
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
