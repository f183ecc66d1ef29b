/* challenge_file.h - challenges as YAML, and what somebody hands in for one.
 *
 * presets/challenges/README.md explains the keys of a challenge. An answer is
 *
 *     format: 1
 *     challenge: small-bubble
 *     by: anna
 *     scenario: s1:llama3-70b-64-h100,pp=4,k7m2qx9d0v
 *     score: 93.1
 *
 * with the scenario as a shared line or as a mapping. The score is what the writer
 * claims, in per cent: nobody believes it.
 */
#ifndef PRESETS_CHALLENGE_FILE_H
#define PRESETS_CHALLENGE_FILE_H

#include <stdbool.h>

#include "engine/challenge/challenge.h"
#include "presets/error.h"

enum { CHALLENGE_SCRIPT = 4096, CHALLENGE_MOST = 64 };

struct challenge {
	char name[MAX_NAME], title[MAX_NOTE];
	char goal[400], hint[400], source[MAX_NOTE];
	/* a launch script to repair: its reader in format_table, and its text */
	char format[16], script[CHALLENGE_SCRIPT];
	struct planner_problem problem;
};

/* By name, a user's folder first, or by path. The struct is large: not on a stack. */
bool challenge_read(struct challenge *out, const char *name, struct error *error);
bool challenge_parse(struct challenge *out, const char *name, const char *file,
		     const char *text, size_t length, struct error *error);
/* The YAML of one by name, yours before a shipped one; free() it. NULL: there is none,
 * or error tells why it can't be read. */
char *challenge_text(const char *name, struct error *error);
/* The names of all challenges, sorted; returns how many. */
int challenge_names(char names[CHALLENGE_MOST][MAX_NAME]);

struct challenge_answer {
	char challenge[MAX_NAME], by[MAX_NAME];
	struct scenario scenario;
	double claim; /* 0 to 1; negative: none */
};

bool challenge_answer_read(struct challenge_answer *out, const char *path,
			   struct error *error);
/* To be freed; NULL with the error. The claim is written where it is not negative. */
char *challenge_answer_write(const struct challenge_answer *answer,
			     struct error *error);
/* Where the best answer of this user is kept:
 * $XDG_STATE_HOME/shardscope/challenge-answers/NAME.yaml. False if there is no home. */
bool challenge_kept_path(const char *name, char *out, size_t size);
/* Keeps an answer of this score if it is better than the one that is kept, which the
 * engine scores again. A file that can't be read is moved aside. False with the error
 * where it could not be written. */
bool challenge_keep(const struct challenge *challenge, const struct planner_found *best,
		    const struct scenario *scenario, double score, struct error *error);
/* What is kept; false if nothing is. */
bool challenge_kept_scenario(const struct challenge *challenge, struct scenario *out);
/* The score of what is kept, recomputed; 0: nothing is, or it is worth nothing. */
double challenge_kept(const struct challenge *challenge,
		      const struct planner_found *best);

#endif
