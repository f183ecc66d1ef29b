/* play.c - the step of the open plan, and of the pinned one, item by item. */
#include <stdlib.h>

#include "tui/explorer.h"

static void forget(struct play **play)
{
	if (*play) {
		free((*play)->room);
		free((*play)->picture);
	}
	free(*play);
	*play = NULL;
}

void play_forget(struct explorer *explorer)
{
	forget(&explorer->play);
	forget(&explorer->play_before);
}

static struct play *make(const struct scenario *scenario, struct estimate *scratch)
{
	struct play *play = calloc(1, sizeof *play);
	struct arena arena = { 0 };
	size_t bytes = timeline_bytes(scenario);

	if (!play)
		return NULL;
	if (scenario->plan.mode != MODE_TRAINING) {
		play->problem.reason = "it is no training step";
		return play;
	}
	play->problem.reason = "not enough memory";
	play->room = malloc(bytes ? bytes : 1);
	if (!play->room)
		return play;
	arena.base = play->room;
	arena.size = bytes;
	play->good = timeline_build(scenario, &arena, scratch, &play->timeline,
				    &play->problem);
	return play;
}

void play_refresh(struct explorer *explorer)
{
	if (explorer->play && !explorer->play_stale)
		return;
	play_forget(explorer);
	explorer->play = make(&explorer->scenario, explorer->scratch);
	if (explorer->pinned)
		explorer->play_before = make(&explorer->baseline, explorer->scratch);
	explorer->play_stale = false;
}
