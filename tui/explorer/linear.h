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

/* Where the line that is written ends, on a terminal: words are not cut there. */
struct linear_line {
	int width; /* 0: as long as they are */
	int column, blanks;
};

struct linear {
	struct explorer *explorer;
	FILE *in, *out;
	enum glyph_level glyphs; /* of what is written */
	bool prompts;            /* somebody sits before it */
	struct linear_line line;
};

/* Until "quit" or the end of the input; the workspace is kept after each change.
 * Returns the exit status. */
int linear_run(struct linear *linear);

/* --- lessons (explorer/linear_lesson.c) --- */

/* What a lesson has to say now; the last of it alone where the rest was said before. */
void linear_lesson_say(struct linear *linear, bool last);
/* The list, or the lesson of that name or number. */
void linear_lesson_open(struct linear *linear, const char *name);
/* An answer, an empty line or a word of the lesson; false if the line is none. */
bool linear_lesson_take(struct linear *linear, const char *line);
void linear_lesson_help(struct linear *linear);
/* In the characters that there are. */
void linear_put(struct linear *linear, const char *text);
/* What a change has led to, and keeps it. */
void linear_changed(struct linear *linear, unsigned changed);

#endif
