/* idle.h - what was said of a plan and moves nothing in it. */
#ifndef TUI_COMMAND_IDLE_H
#define TUI_COMMAND_IDLE_H

#include "engine/knob/knob.h"
#include "engine/rules/legality.h"

enum { MAX_GIVEN = 128 };

struct idle_of {
	const struct knob *given[MAX_GIVEN]; /* as options */
	int givens;
	char file[512]; /* a scenario's, which is none of the shipped plans; or "" */
};

/* Options that were given, and keys of the file, that are idle. Returns how many. */
int idle_list(const struct idle_of *said, const struct scenario *scenario,
	      const struct findings *problems, const struct knob *idle[MAX_GIVEN]);

/* One more option that was given. */
void idle_note(struct idle_of *said, const struct knob *knob);
/* A line of their keys, where there are any. */
void idle_print(const struct idle_of *said, const struct scenario *scenario,
		const struct findings *problems);

#endif
