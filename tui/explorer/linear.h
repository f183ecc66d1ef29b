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

#endif
