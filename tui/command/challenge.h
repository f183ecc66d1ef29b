/* challenge.h - what the parts of `challenge` share. */
#ifndef TUI_COMMAND_CHALLENGE_H
#define TUI_COMMAND_CHALLENGE_H

#include "presets/challenge_file.h"

/* What a scenario earns in a challenge. */
struct verdict {
	bool allowed, feasible;
	double score, value, best; /* of what the challenge aims at */
	char why[400];             /* of a score of 0 */
};
void verdict_give(const struct challenge *challenge, const struct planner_found *best,
		  const struct scenario *scenario, struct verdict *out);
/* "a step", as the goal counts it, in text with its unit. */
void verdict_value(const struct challenge *challenge, double value, char *out,
		   size_t size);

/* The leaderboard of a folder of answers (command/rank.c); returns the exit status. */
int challenge_rank(const char *folder, bool csv);

#endif
