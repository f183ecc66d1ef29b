/* take.c - see take.h. */
#include "presets/megatron/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/pairs/mapping.h"

const struct argument *flag_find(const struct flag_reader *r, const char *name)
{
	return arguments_find(r->arguments, name);
}

bool flag_is_set(const struct flag_reader *r, const char *name)
{
	return flag_find(r, name) != NULL;
}

bool flag_says(const struct flag_reader *r, const char *name, const char *word)
{
	const struct argument *a = flag_find(r, name);

	return a && strstr(a->value, word) != NULL;
}

bool flag_set(struct flag_reader *r, const char *key, const char *text,
	      const struct argument *from)
{
	char why[256];

	return knob_parse(r->out, knob_find(key), text, why, sizeof why) ||
	       error_set(r->error, r->arguments->file, from ? from->line : 1,
			 "--%s: %s", from ? from->name : key, why);
}

bool flag_set_count(struct flag_reader *r, const char *key, int64_t value,
		    const struct argument *from)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	return flag_set(r, key, text, from);
}

bool flag_number(struct flag_reader *r, const char *name, int64_t *out)
{
	const struct argument *a = flag_find(r, name);
	char *end;

	if (!a)
		return true;
	*out = strtoll(a->value, &end, 10);
	return (end > a->value && *end == '\0' && *out >= 0 &&
		*out <= INT64_C(1) << 50) ||
	       error_set(r->error, r->arguments->file, a->line,
			 "--%s is '%.40s'; expected a whole number", name, a->value);
}

/* The first word of "['p2p', 'a2a']", "AttnBackend.flash" or "p2p a2a". */
static const char *first_word(const char *value, size_t *length)
{
	const char *dot = strchr(value, '.');

	value += strspn(value, "[]'\"(, ");
	if (dot && strncmp(value, "AttnBackend.", 12) == 0)
		value = dot + 1;
	*length = strcspn(value, "[]'\"(), ");
	return value;
}

static bool take_word(struct flag_reader *r, const struct flag *flag,
		      const struct argument *a)
{
	char word[32];
	size_t length;
	const char *value = first_word(a->value, &length);

	if (mapping_ours(flag->words, value, length, word))
		return flag_set(r, flag->knob, word, a);
	import_note(r->report, IMPORT_NOT_MODELLED, a->name, "%s", a->value);
	return flag_set(r, flag->knob, flag->absent, a);
}

/* Words that the knob has; the others are listed. */
static bool take_list(struct flag_reader *r, const struct flag *flag,
		      const struct argument *a)
{
	static const char separators[] = "[]'\"(), ";
	const struct knob *knob = knob_find(flag->knob);
	char known[256] = "";

	for (const char *at = a->value + strspn(a->value, separators); *at != '\0';
	     at += strspn(at, separators)) {
		int length = (int)strcspn(at, separators);
		bool found = false;

		for (int i = 0; knob->words[i]; i++)
			found = found ||
				(strlen(knob->words[i]) == (size_t)length &&
				 memcmp(at, knob->words[i], (size_t)length) == 0);
		if (found)
			snprintf(known + strlen(known), sizeof known - strlen(known),
				 "%s%.*s", known[0] ? "+" : "", length, at);
		else
			import_note(r->report, IMPORT_NOT_MODELLED, a->name, "%.*s",
				    length > 100 ? 100 : length, at);
		at += length;
	}
	return flag_set(r, flag->knob, known[0] ? known : "none", a);
}

bool flag_take(struct flag_reader *r, const struct flag *flag)
{
	const struct argument *a = flag_find(r, flag->name);
	char word[32];

	if (!a)
		return !flag->absent || flag_set(r, flag->knob, flag->absent, NULL);
	switch (flag->form) {
	case FLAG_WORD: return take_word(r, flag, a);
	case FLAG_LIST: return take_list(r, flag, a);
	case FLAG_ON:
		snprintf(word, sizeof word, "%.*s",
			 flag->words ? (int)strcspn(flag->words, " ") : 2,
			 flag->words ? flag->words : "on");
		return flag_set(r, flag->knob, word, a);
	case FLAG_OFF: return flag_set(r, flag->knob, "off", a);
	default: return flag_set(r, flag->knob, a->value, a);
	}
}
