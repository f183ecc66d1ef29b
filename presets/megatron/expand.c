/* expand.c - quotes, variables and backticks inside a word; see words.h. */
#include "presets/megatron/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void shell_put(struct shell *shell, struct builder *b, const char *text, size_t length)
{
	if (b->length + length >= WORD_BYTES) {
		shell->full = true;
		return;
	}
	memcpy(b->text + b->length, text, length);
	b->length += length;
	b->started = true;
}

void shell_end_word(struct shell *shell, struct builder *b, struct command *command)
{
	const char *kept;

	if (!b->started)
		return;
	for (size_t i = 0; i < b->length; i++) /* lines of quoted JSON */
		b->text[i] = isspace((unsigned char)b->text[i]) ? ' ' : b->text[i];
	kept = arguments_keep(shell->arguments, b->text, b->length);
	if (!kept || command->count == COMMAND_WORDS)
		shell->full = true;
	else
		command->word[command->count++] = (struct shell_word){ kept, b->line };
	b->length = 0;
	b->started = false;
}

/* Put a variable's words; where it is not quoted, blanks part them. */
static void put_words(struct shell *shell, struct builder *b, struct command *command,
		      const struct shell_word *words, int count, bool quoted,
		      bool array)
{
	for (int i = 0; i < count; i++) {
		if (i > 0 && (array || !quoted))
			shell_end_word(shell, b, command);
		for (const char *c = words[i].text; *c != '\0'; c++) {
			if (!quoted && isspace((unsigned char)*c))
				shell_end_word(shell, b, command);
			else
				shell_put(shell, b, c, 1);
		}
	}
}

static const char *closing(const char *at, const char *stop, char open, char close)
{
	int depth = 1;

	while (at < stop && depth > 0) {
		depth += *at == open ? 1 : *at == close ? -1 : 0;
		at++;
	}
	return depth == 0 ? at - 1 : NULL;
}

/* The word behind ":-", which may hold variables again. */
static void put_default(struct shell *shell, struct builder *b, const char *text,
			const char *end)
{
	char *word;

	if (end - text >= 2 && (*text == '"' || *text == '\'') && end[-1] == *text) {
		text++;
		end--;
	}
	if (shell->depth >= SHELL_MAX_DEPTH)
		return;
	shell->depth++;
	word = shell_expand(shell, text, (size_t)(end - text), false);
	shell->depth--;
	if (word)
		shell_put(shell, b, word, strlen(word));
	free(word);
}

/* ${NAME}, ${NAME[@]}, ${NAME:-word}; anything else of this form is empty. */
static void braces(struct shell *shell, struct builder *b, struct command *command,
		   bool quoted)
{
	const char *name = shell->at;
	const char *end = closing(name, shell->stop, '{', '}');
	const struct shell_word *words;
	size_t length = 0;

	if (!end) {
		shell->at = shell->stop;
		return;
	}
	while (name + length < end &&
	       (isalnum((unsigned char)name[length]) || name[length] == '_'))
		length++;
	const char *rest = name + length;
	bool array = end - rest >= 3 && rest[0] == '[' && rest[2] == ']';
	int count = shell_lookup(shell, name, length, &words);

	if (count == 0 && end - rest >= 2 && rest[0] == ':' &&
	    (rest[1] == '-' || rest[1] == '='))
		put_default(shell, b, rest + 2, end);
	else
		put_words(shell, b, command, words, count, quoted, array);
	shell->at = end + 1;
}

static void arithmetic(struct shell *shell, struct builder *b)
{
	const char *start = shell->at + 2; /* after "((" */
	const char *end = closing(start, shell->stop, '(', ')');
	char text[24];
	int64_t value;

	if (!end || end + 1 >= shell->stop) {
		shell->at = shell->stop;
		return;
	}
	shell->at = end + 2;
	if (!shell_arithmetic(shell, start, (size_t)(end - start), &value))
		return;
	shell_put(shell, b, text,
		  (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

/* At the character behind '$'. */
void shell_dollar(struct shell *shell, struct builder *b, struct command *command,
		  bool quoted)
{
	const char *name = shell->at;
	const struct shell_word *words;

	if (name < shell->stop && *name == '{') {
		shell->at++;
		braces(shell, b, command, quoted);
	} else if (name + 1 < shell->stop && name[0] == '(' && name[1] == '(') {
		arithmetic(shell, b);
	} else if (name < shell->stop && *name == '(') {
		const char *end = closing(name + 1, shell->stop, '(', ')');

		shell->at = end ? end + 1 : shell->stop; /* never executed: empty */
	} else {
		while (shell->at < shell->stop &&
		       (isalnum((unsigned char)*shell->at) || *shell->at == '_'))
			shell->at++;
		int count =
			shell_lookup(shell, name, (size_t)(shell->at - name), &words);

		put_words(shell, b, command, words, count, quoted, false);
	}
}

void shell_double_quoted(struct shell *shell, struct builder *b,
			 struct command *command)
{
	shell_put(shell, b, "", 0);
	while (shell->at < shell->stop && *shell->at != '"') {
		char c = *shell->at++;

		shell->line += c == '\n';
		if (c == '$')
			shell_dollar(shell, b, command, true);
		else if (c == '\\' && shell->at < shell->stop) {
			if (*shell->at == '\n')
				shell->line++;
			else
				shell_put(shell, b, shell->at, 1);
			shell->at++;
		} else {
			shell_put(shell, b, &c, 1);
		}
	}
	shell->at += shell->at < shell->stop;
}

void shell_single_quoted(struct shell *shell, struct builder *b)
{
	const char *end = memchr(shell->at, '\'', (size_t)(shell->stop - shell->at));

	end = end ? end : shell->stop;
	for (const char *c = shell->at; c < end; c++)
		shell->line += *c == '\n';
	shell_put(shell, b, shell->at, (size_t)(end - shell->at));
	shell->at = end < shell->stop ? end + 1 : end;
}

void shell_backticks(struct shell *shell)
{
	const char *end = memchr(shell->at, '`', (size_t)(shell->stop - shell->at));

	end = end ? end : shell->stop;
	for (const char *c = shell->at; c < end; c++)
		shell->line += *c == '\n';
	shell->at = end < shell->stop ? end + 1 : end;
}

char *shell_expand(struct shell *shell, const char *text, size_t length, bool plain)
{
	struct builder *b = calloc(1, sizeof *b);
	struct command *parted = calloc(1, sizeof *parted);
	const char *at = shell->at, *stop = shell->stop;
	int line = shell->line;
	bool full = shell->full;
	char *out = NULL;

	shell->at = text;
	shell->stop = text + length;
	while (b && parted && shell->at < shell->stop && !shell->full) {
		char c = *shell->at++;

		if (c == '$' && !plain)
			shell_dollar(shell, b, parted, true);
		else if (c == '`' && !plain)
			shell_backticks(shell);
		else
			shell_put(shell, b, &c, 1);
	}
	if (b && parted && !shell->full)
		out = strndup(b->text, b->length);
	shell->full = full; /* only this text was too large */
	shell->at = at;
	shell->stop = stop;
	shell->line = line;
	free(parted);
	free(b);
	return out;
}
