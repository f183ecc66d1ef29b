/* words.h - a text of lines, word by word; nothing is copied. */
#ifndef ENGINE_WORDS_H
#define ENGINE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words {
	const char *at, *word; /* the rest of the text; the word at work */
	size_t length;         /* of the word */
};

/* The next word of this line: words stand between blanks and commas. False at the
 * line's end, where the word is empty. */
bool words_next(struct words *words);
bool words_is(const struct words *words, const char *word);
/* A copy; false where it is too long or empty. */
bool words_copy(const struct words *words, char *out, size_t size);
/* The next word as a number; NAN where it is none. */
double words_number(struct words *words);

#endif
