/* error.h - what went wrong, in one line for standard error or the screen.
 *
 * The text never holds a control character: names from files are cleaned.
 */
#ifndef PRESETS_ERROR_H
#define PRESETS_ERROR_H

#include <stdbool.h>
#include <stddef.h>

struct error {
	/* "FILE:LINE: what is wrong, and what would be right (column N)" */
	char text[512];
};

/* A line and a column, both from 1, in one number: what readers keep as the line of a
 * value. A column that is not known, or far to the right, is left out. */
int place_at(long line, long column);
int place_line(int place);
/* The place of a byte of a text of at least so many. */
int place_in(const char *text, size_t offset);

/* Fill error and return false. file may be NULL; line is a line or a place, 0 = none.
 */
bool error_set(struct error *error, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Whether memory ran out, and nothing is wrong with what was asked for. */
bool error_is_memory(const struct error *error);
/* Whether any error was of that kind so far, though somebody went on without it. */
bool error_ran_out_of_memory(void);
/* Notes that too, where it lacks, for whoever has no error to fill in. */
void error_note_memory(bool lacks);
/* Whether it is UTF-8 all through. */
bool error_is_text(const char *text);
/* Replace control characters, those of direction too, and broken UTF-8 by '?', in
 * place. */
void error_clean(char *text);

#endif
