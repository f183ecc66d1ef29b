/* error.h - what went wrong, in one line for standard error or the screen.
 *
 * The text never holds a control character: names from files are cleaned.
 */
#ifndef PRESETS_ERROR_H
#define PRESETS_ERROR_H

#include <stdbool.h>

struct error {
	char text[512]; /* "FILE:LINE: what is wrong, and what would be right" */
};

/* Fill error and return false. file may be NULL, line 0 = none. */
bool error_set(struct error *error, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Replace control characters and broken UTF-8 by '?', in place. */
void error_clean(char *text);

#endif
