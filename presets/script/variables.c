/* variables.c - variables and arguments of a launch script; see shell.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/script/shell.h"
#include "presets/script/words.h"

static struct shell_variable *find(const struct shell *shell, const char *name,
				   size_t length)
{
	for (int i = 0; i < shell->variables; i++) {
		const struct shell_variable *v = &shell->variable[i];

		if (strlen(v->name) == length && memcmp(v->name, name, length) == 0)
			return (struct shell_variable *)v;
	}
	return NULL;
}

/* "3" of $3. */
static int lookup_arg(const struct shell *shell, const char *name,
		      const struct shell_word **words)
{
	long number = strtol(name, NULL, 10);

	if (number < 1 || number > GIVEN_ARGS)
		return 0;
	if (shell->frames == 0 && number > shell->arguments->wants)
		shell->arguments->wants = (int)number;
	if (number > shell->args)
		return 0;
	*words = &shell->word[shell->arg + number - 1];
	return 1;
}

int shell_lookup(const struct shell *shell, const char *name, size_t length,
		 const struct shell_word **words)
{
	const struct shell_variable *v;

	*words = NULL;
	if (length > 0 && length < 4 && isdigit((unsigned char)name[0]))
		return lookup_arg(shell, name, words);
	v = find(shell, name, length);
	if (v)
		*words = &shell->word[v->first];
	return v ? v->count : 0;
}

static bool push(struct shell *shell, struct shell_word word)
{
	if (shell->words == SHELL_MAX_WORDS) {
		shell->full = true;
		return false;
	}
	shell->word[shell->words++] = word;
	return true;
}

bool shell_set_args(struct shell *shell, const struct shell_word *words, int count)
{
	int first = shell->words;

	for (int i = 0; i < count; i++)
		if (!push(shell, words[i]))
			return false;
	shell->arg = first;
	shell->args = count;
	return true;
}

static bool same_words(const struct shell *shell, const struct shell_variable *v,
		       const struct shell_word *words, int count)
{
	if (v->count != count)
		return false;
	for (int i = 0; i < count; i++)
		if (strcmp(shell->word[v->first + i].text, words[i].text) != 0 ||
		    shell->word[v->first + i].unknown != words[i].unknown)
			return false;
	return true;
}

bool shell_is_given(const struct shell *shell, const char *name, size_t length)
{
	const struct shell_variable *v = find(shell, name, length);

	return v && v->fixed;
}

bool shell_assign(struct shell *shell, const char *name, size_t length, bool append,
		  const struct shell_word *words, int count)
{
	struct shell_variable *v = find(shell, name, length);
	int first = shell->words;

	doubt_forget(shell, name, length);
	if (v && (v->fixed || (!append && same_words(shell, v, words, count))))
		return true;
	if (append && v)
		for (int i = 0; i < v->count; i++)
			if (!push(shell, shell->word[v->first + i]))
				return false;
	for (int i = 0; i < count; i++)
		if (!push(shell, words[i]))
			return false;
	if (!v) {
		const char *kept = arguments_keep(shell->arguments, name, length);

		if (shell->variables == SHELL_MAX_VARIABLES || !kept) {
			shell->full = true;
			return false;
		}
		v = &shell->variable[shell->variables++];
		v->name = kept;
	}
	v->first = first;
	v->count = shell->words - first;
	return true;
}

void shell_assign_array(struct shell *shell, const char *name, size_t length,
			bool append, const struct shell_word *words, int count)
{
	struct shell_variable *v;

	if (!shell_assign(shell, name, length, append, words, count))
		return;
	v = find(shell, name, length);
	if (v)
		v->array = true;
}

bool shell_is_array(const struct shell *shell, const char *name, size_t length)
{
	const struct shell_variable *v = find(shell, name, length);

	return v && v->array;
}

bool shell_inherit(struct shell *shell, const struct shell *outer)
{
	for (int i = 0; outer && i < outer->variables && !shell->full; i++) {
		const struct shell_variable *v = &outer->variable[i];
		const struct shell_word *words = &outer->word[v->first];
		size_t length = strlen(v->name);

		if (v->array)
			shell_assign_array(shell, v->name, length, false, words,
					   v->count);
		else
			shell_assign(shell, v->name, length, false, words, v->count);
	}
	return !shell->full;
}
