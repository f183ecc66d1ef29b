/* text.h - UTF-8 in and out, columns of a character, and a string that grows.
 *
 * Widths come from a table of our own, not from wcwidth(), so that a screen is
 * the same in every locale and in every test.
 */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character at *text and moves *text behind it; 0 at the end. What
 * is not UTF-8 (one byte of it), a control character, and a character that does
 * not stand alone (combining, zero width) become '?'. */
uint32_t text_decode(const char **text);

/* Writes code as UTF-8 without a final 0 and returns the bytes used, 1 to 4. */
size_t text_encode(uint32_t code, char out[4]);

/* Columns of a character: 2 for wide East Asian and emoji, else 1. */
int text_code_width(uint32_t code);

/* Without the blanks that set a label in columns: "TP  tensor" as "TP tensor". */
void text_squeeze(const char *label, char *out, size_t size);

/* A string that grows. After a failed allocation it stays empty and failed. */
struct text {
	char *data;
	size_t length, capacity;
	bool failed;
};

void text_add(struct text *text, const char *string);
void text_add_code(struct text *text, uint32_t code);
void text_addf(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Hands over the string, to be freed, or NULL if memory ran out. */
char *text_take(struct text *text);

#endif
