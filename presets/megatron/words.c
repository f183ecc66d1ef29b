/* words.c - the words of a command as flags and overrides. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/megatron/parts.h"

/* What run_recipe.py of Megatron-Bridge calls them; -et is its older name. */
static const struct {
	const char *word, *flag;
} short_flags[] = {
	{ "-tp", "tensor-model-parallel-size" },
	{ "-pp", "pipeline-model-parallel-size" },
	{ "-vp", "virtual-pipeline-model-parallel-size" },
	{ "-cp", "context-parallel-size" },
	{ "-ep", "expert-model-parallel-size" },
	{ "-etp", "expert-tensor-parallel-size" },
	{ "-et", "expert-tensor-parallel-size" },
	{ "-mb", "micro-batch-size" },
	{ "-gb", "global-batch-size" },
	{ "-sl", "seq-length" },
};

/* The flag of a word, or NULL. */
static const char *flag_of(const char *word)
{
	if (word[0] == '-' && word[1] == '-' && isalpha((unsigned char)word[2]))
		return word;
	for (size_t i = 0; i < sizeof short_flags / sizeof short_flags[0]; i++)
		if (strcmp(short_flags[i].word, word) == 0)
			return short_flags[i].flag;
	return NULL;
}

/* Values up to the next flag, joined by spaces. Returns how many were used. */
static int join_values(const struct shell_word *words, int count, char *out,
		       size_t size)
{
	int used = 0;
	size_t length = 0;

	out[0] = '\0';
	while (used < count && !flag_of(words[used].text) &&
	       !bridge_is_override(words[used].text)) {
		const char *text = words[used++].text;

		if (text[0] == '\0')
			continue;
		length += (size_t)snprintf(out + length, size - length, "%s%s",
					   length ? " " : "", text);
		if (length >= size)
			length = size - 1;
	}
	return used;
}

/* Of the flag that was added last; behind a switch further flags were to stand. */
static void note_missing(struct arguments *arguments, const char *variable)
{
	struct argument *a = &arguments->item[arguments->count - 1];

	if (variable && megatron_is_switch(a->name))
		arguments->further = variable;
	else
		a->missing = variable;
}

bool arguments_add_words(struct arguments *arguments, const struct shell_word *words,
			 int count)
{
	for (int i = 0; i < count; i++) {
		const char *flag = flag_of(words[i].text), *equals;
		char name[128], value[4096];
		int line = words[i].line;

		if (!flag && bridge_is_override(words[i].text) &&
		    !bridge_add_override(arguments, words[i].text, line))
			return false;
		if (!flag)
			continue;
		equals = strchr(flag, '=');
		snprintf(name, sizeof name, "%.*s",
			 equals ? (int)(equals - flag) : (int)sizeof name - 1, flag);

		if (equals)
			snprintf(value, sizeof value, "%s", equals + 1);
		else
			i += join_values(words + i + 1, count - i - 1, value,
					 sizeof value);
		if (!arguments_add(arguments, name, value, line))
			return false;
		note_missing(arguments, value[0] == '\0' ? words[i].missing : NULL);
	}
	return true;
}
