/* contest.h - a challenge that is played in the explorer: locked knobs stay as they are
 * and say why, the score stands in the title, the best plan is kept as it is found. */
#ifndef TUI_EXPLORER_CONTEST_H
#define TUI_EXPLORER_CONTEST_H

#include "presets/challenge_file.h"

struct explorer;

struct contest {
	struct challenge challenge;
	struct planner_found best; /* the proven one */
	double score, kept;        /* of the open plan; the best of this user so far */
	bool failed;               /* an answer could not be kept, and that was said */
};

/* Opens a challenge; the explorer owns it from then on. False with the error. */
bool contest_open(struct explorer *explorer, const char *name, struct error *error);
void contest_free(struct explorer *explorer);
/* Whether this scenario may be taken; says what is locked where not. */
bool contest_allows(struct explorer *explorer, const struct scenario *to);
/* Whether a knob can't be turned here. */
bool contest_locks(const struct explorer *explorer, const struct knob *knob);
/* The score of the estimate that has just been made; keeps the plan if it is the best
 * so far. */
void contest_follow(struct explorer *explorer);
/* "score 60.1 %, best 87.3 %", for the title; empty where none is open. */
void contest_title(const struct explorer *explorer, char *out, size_t size);
/* Goal, hint and what may be turned to what, for the help. */
void contest_goal(const struct explorer *explorer, char *out, size_t size);

#endif
