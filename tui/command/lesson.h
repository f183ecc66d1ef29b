/* lesson.h - what the parts of the command `lesson` share. */
#ifndef TUI_COMMAND_LESSON_H
#define TUI_COMMAND_LESSON_H

#include <stdbool.h>

#include "engine/lesson/lesson.h"
#include "presets/error.h"

enum { LESSON_OPERANDS = 64 };

struct lesson_asked {
	const char *operand[LESSON_OPERANDS]; /* the verb first */
	int operands;
	const char *seeds, *lesson; /* files; NULL: not given */
	bool answers, html, csv;
};

/* "check" ..., for completion; NULL behind the last. */
const char *lesson_verb(int index);
/* What it does, of one that there is. */
const char *lesson_verb_help(int index);

/* Hand-outs (command/sheet.c) and what comes back (command/grade.c). */
int lesson_sheet(const struct lesson_asked *asked);
int lesson_grade(const struct lesson_asked *asked);

#endif
