/* near.c - see near.h. */
#include "presets/near.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/model_name.h"

enum { MAX_WORD = 32, NEAR = 3, BEYOND = 99 };

/* The next run of letters and digits; NULL at the end. */
static const char *next_word(const char *at, char word[MAX_WORD])
{
	size_t length = 0;

	while (*at != '\0' && !isalnum((unsigned char)*at))
		at++;
	for (; isalnum((unsigned char)*at); at++)
		if (length + 1 < MAX_WORD)
			word[length++] = *at;
	word[length] = '\0';
	return length > 0 ? at : NULL;
}

/* The fewest letters to change until the word is one of the text; a beginning is nearer
 * than a misspelling. */
static int word_apart(const char *word, const char *text)
{
	char other[MAX_WORD];
	int fewest = BEYOND;

	for (const char *at = next_word(text, other); at; at = next_word(at, other)) {
		bool begins =
			strlen(word) > 1 && strncasecmp(word, other, strlen(word)) == 0;
		int apart = 2 * knob_distance(word, other);

		if (begins && apart > 1)
			apart = 1;
		fewest = apart < fewest ? apart : fewest;
	}
	return fewest;
}

/* Twice the letters to change over all words, a word of the title one more than one of
 * the name; INT_MAX where no word is meant. */
static int unlikeness_of(const char *wanted, const struct preset *preset)
{
	char word[MAX_WORD];
	int sum = 0, whole = 2 * knob_distance(wanted, preset->name);
	bool meant = false;

	for (const char *at = next_word(wanted, word); at; at = next_word(at, word)) {
		int length = (int)strlen(word), allowed = 2 * (length / 3);
		int own = word_apart(word, preset->name),
		    told = 1 + word_apart(word, preset->title);

		own = told < own ? told : own;
		meant = meant || (length > 1 && own <= allowed);
		sum += own <= allowed ? own : 2 * length;
	}
	if (whole <= 2 * (((int)strlen(wanted) + 2) / 3) && whole < BEYOND) {
		meant = true;
		sum = whole < sum ? whole : sum;
	}
	return meant ? sum : INT_MAX;
}

void preset_near(enum preset_kind kind, const char *name, char *out, size_t size)
{
	const struct preset *list, *near[NEAR + 1] = { NULL };
	int count = preset_list(kind, &list), far[NEAR + 1] = { 0 }, kept = 0;
	size_t used = 0;

	for (int i = 0; i < count; i++) {
		int own = kind == PRESET_MODEL ? model_name_unlike(name, &list[i])
					       : unlikeness_of(name, &list[i]);
		int at = kept;

		for (; at > 0 && far[at - 1] > own; at--) {
			far[at] = far[at - 1];
			near[at] = near[at - 1];
		}
		far[at] = own;
		near[at] = &list[i];
		kept += own < INT_MAX && kept < NEAR;
	}
	out[0] = '\0';
	for (int i = 0; i < kept && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "",
					 near[i]->name);
}
