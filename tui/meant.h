/* meant.h - words that people use for what has another name here. */
#ifndef TUI_MEANT_H
#define TUI_MEANT_H

#include <stdbool.h>

/* Whether a text begins with another, '-' and '_' as blanks and letters alike. */
bool meant_text_begins(const char *text, const char *with);
/* Key of the n-th knob, number or view that this word stands for, NULL: there are no
 * more. */
const char *meant_key(const char *word, int n);
/* Whether such a word for this one begins with the text. */
bool meant_begins(const char *key, const char *text);

#endif
