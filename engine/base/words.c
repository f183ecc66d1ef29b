/* words.c - see words.h. */
#include "engine/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool words_next(struct words *w)
{
	w->word = w->at + strspn(w->at, " ,");
	w->length = strcspn(w->word, " ,\n");
	w->at = w->word + w->length;
	return w->length > 0;
}

bool words_is(const struct words *w, const char *word)
{
	return strlen(word) == w->length && memcmp(w->word, word, w->length) == 0;
}

bool words_copy(const struct words *w, char *out, size_t size)
{
	if (w->length == 0 || w->length >= size)
		return false;
	memcpy(out, w->word, w->length);
	out[w->length] = '\0';
	return true;
}

double words_number(struct words *w)
{
	char *end = NULL;
	double value = words_next(w) ? strtod(w->word, &end) : NAN;

	return end == w->at ? value : NAN;
}
