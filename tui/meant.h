/* meant.h - words that people use for what has another name here. */
#ifndef TUI_MEANT_H
#define TUI_MEANT_H

#include <stdbool.h>

/* Key of the n-th knob, number or view that this word stands for, NULL: there are no
 * more. '-' and '_' are blanks, and letters are alike. */
const char *meant_key(const char *word, int n);
/* Whether such a word for this one begins with the text. */
bool meant_begins(const char *key, const char *text);

#endif
