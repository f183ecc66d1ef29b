/* lesson.h - what the parts of the command `lesson` share. */
#ifndef TUI_COMMAND_LESSON_H
#define TUI_COMMAND_LESSON_H

#include <stdbool.h>

enum { LESSON_OPERANDS = 64 };

struct lesson_asked {
	const char *operand[LESSON_OPERANDS]; /* the verb first */
	int operands;
};

/* "check" ..., for completion; NULL behind the last. */
const char *lesson_verb(int index);

#endif
