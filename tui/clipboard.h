/* clipboard.h - a text as the escape sequence that fills a terminal's clipboard. */
#ifndef TUI_CLIPBOARD_H
#define TUI_CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

/* What xterm takes by default: longer sequences are dropped without a word. */
enum { CLIPBOARD_MAX_BYTES = 74000 };

/* Sends the text to the open terminal. False with the reason if it has no clipboard, or
 * the text is more than it takes. */
bool clipboard_copy(const char *text, char *why, size_t size);

#endif
