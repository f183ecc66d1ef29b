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

static int class_of(char c)
{
	return isdigit((unsigned char)c) ? 1 : isalpha((unsigned char)c) ? 2 : 3;
}

/* The fewest letters to change until the wanted name is the words that this one begins
 * with: "lama3" is one from "llama3" of llama3.1-8b. INT_MAX: more than `most`. */
static int words_apart(const char *wanted, const char *name, int most)
{
	int fewest = INT_MAX, length = (int)strlen(wanted);

	for (int at = 1; name[0] != '\0' && name[at - 1] != '\0'; at++) {
		char begin[MAX_NAME], reduced[MODEL_NAME_ID];
		int own;

		/* a letter that one of them has more is a change */
		if (at < length - most ||
		    (name[at] != '\0' && class_of(name[at]) == class_of(name[at - 1])))
			continue;
		memcpy(begin, name, (size_t)at);
		begin[at] = '\0';
		model_name_reduce(begin, reduced);
		own = knob_distance_within(wanted, reduced, most);
		if (own <= most && own < fewest)
			fewest = own;
	}
	return fewest;
}

/* By words that it begins with, then by the whole; INT_MAX where it is another name. */
static int model_unlikeness_of(const char *wanted, const struct preset *preset)
{
	enum { WORDS = 16, MOST = 15, LONG = 6 };
	int most = ((int)strlen(wanted) + 2) / 3, far;
	int near = words_apart(wanted, preset->name, most);
	char name[MODEL_NAME_ID], id[MODEL_NAME_ID];

	model_name_reduce(preset->name, name);
	model_name_reduce(preset->alias, id);
	far = knob_distance_within(wanted, name, most);
	near = far < near ? far : near;
	far = knob_distance_within(wanted, id,
				   near > most || most > MOST ? most : MOST);
	near = far < near ? far : near;
	if (strlen(name) >= LONG && strstr(wanted, name)) {
		/* made of it, and called so: the longer name first */
		near = 1;
		far = (int)(strlen(wanted) - strlen(name));
	}
	if (near > most)
		return INT_MAX;
	return WORDS * near + (far < MOST ? far : MOST);
}

void preset_near(enum preset_kind kind, const char *name, char *out, size_t size)
{
	const struct preset *list, *near[NEAR + 1] = { NULL };
	int count = preset_list(kind, &list), far[NEAR + 1] = { 0 }, kept = 0;
	char wanted[MODEL_NAME_ID];
	size_t used = 0;

	model_name_reduce(name, wanted);
	for (int i = 0; i < count; i++) {
		int own = kind == PRESET_MODEL ? model_unlikeness_of(wanted, &list[i])
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
