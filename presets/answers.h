/* answers.h - what somebody answered in a lesson, as a small YAML: the explorer keeps
 * it as progress, a lecturer collects and grades it.
 *
 *     format: 1
 *     lesson: bubble
 *     seed: anna
 *     step: 2
 *     answers:
 *       - {step: 2, first: 20, last: 17, hints: 1, why: 2}
 *       - {step: 3, turned: {gbs: "128"}}
 *
 * Only claims stand in it, never whether they are right.
 */
#ifndef PRESETS_ANSWERS_H
#define PRESETS_ANSWERS_H

#include <stdbool.h>

#include "engine/lesson/lesson.h"
#include "presets/document.h"
#include "presets/error.h"

struct answer {
	bool done;
	bool unknown; /* "I don't know", or the turn was shown */
	int tries;
	double first,
		last; /* a value in the question's unit, or the number of a choice */
	int hints;
	int why; /* the reason that was chosen; 0: none */
	int turns;
	struct {
		const struct knob *knob;
		char value[64];
	} turned[LESSON_TURNS]; /* of a goal */
};

struct answers {
	char lesson[MAX_NAME], seed[MAX_NAME];
	int step; /* where it goes on, from 0 */
	bool finished;
	struct answer answer[LESSON_STEPS];
};

bool answers_from(struct answers *out, const struct document *document,
		  struct error *error);
bool answers_read(struct answers *out, const char *path, struct error *error);
/* To be freed; NULL: out of memory. */
char *answers_write(const struct answers *answers);

/* Where the explorer keeps them: $XDG_STATE_HOME/shardscope/lessons/LESSON.yaml, with a
 * seed SEED.LESSON.yaml. False if there is no home. */
bool answers_path(const char *lesson, const char *seed, char *out, size_t size);
/* What is kept of this lesson; a fresh start if there is nothing. A damaged file is
 * moved aside, and error says so. */
void answers_load(const char *lesson, const char *seed, struct answers *out,
		  struct error *error);
/* Atomically, the folder made. */
bool answers_save(const struct answers *answers, struct error *error);
/* Whether anything was ever kept. */
bool answers_exist(void);

/* What all of it earns, recomputed by the engine: a point for each right prediction
 * (half a point at the second try), each right reason, each goal that is reached. */
struct grade {
	double points, most;
	int predictions, right_at_first;
	double step[LESSON_STEPS];
};
/* The seed is the student's, whatever the file says. False with the fault if the lesson
 * has no scenario for it. */
bool answers_grade(const struct lesson *lesson, const char *seed,
		   const struct answers *answers, struct lesson_scene *scratch,
		   struct grade *out, struct lesson_fault *fault);

#endif
