/* linear.h - the explorer as a conversation: a line in, a few lines out.
 *
 * For screen readers, logs and terminals that can't move their cursor: no boxes, no
 * colour, nothing is drawn over. Words and actions are those of the screen.
 */
#ifndef TUI_EXPLORER_LINEAR_H
#define TUI_EXPLORER_LINEAR_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/theme.h"

struct explorer;

struct linear {
	struct explorer *explorer;
	FILE *in, *out;
	enum glyph_level glyphs; /* of what is written */
	bool prompts;            /* somebody sits before it */
};

/* Until "quit" or the end of the input; the workspace is kept after each change.
 * Returns the exit status. */
int linear_run(struct linear *linear);

/* --- lessons (explorer/linear_lesson.c) --- */

/* What a lesson has to say now; the last of it alone where the rest was said before. */
void linear_lesson_say(const struct linear *linear, bool last);
/* The list, or the lesson of that name or number. */
void linear_lesson_open(const struct linear *linear, const char *name);
/* An answer, an empty line or a word of the lesson; false if the line is none. */
bool linear_lesson_take(const struct linear *linear, const char *line);
void linear_lesson_help(const struct linear *linear);
/* In the characters that there are. */
void linear_put(const struct linear *linear, const char *text);
/* What a change has led to, and keeps it. */
void linear_changed(const struct linear *linear, unsigned changed);

#endif
