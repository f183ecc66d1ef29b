/* expand.c - quotes, variables and backticks inside a word; see words.h. */
#include "presets/script/words.h"

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

	if (!b->started) {
		/* the word that was to stand behind this one */
		if (b->missing && command->count > 0)
			command->word[command->count - 1].missing = b->missing;
		b->missing = NULL;
		return;
	}
	for (size_t i = 0; i < b->length && !b->lines; i++) /* of quoted JSON */
		b->text[i] = isspace((unsigned char)b->text[i]) ? ' ' : b->text[i];
	kept = b->lines ? arguments_keep_lines(shell->arguments, b->text, b->length)
			: arguments_keep(shell->arguments, b->text, b->length);
	if (!kept || command->count == COMMAND_WORDS)
		shell->full = true;
	else
		command->word[command->count++] =
			(struct shell_word){ kept, b->line, b->unknown, b->missing };
	b->length = 0;
	b->started = b->unknown = b->lines = false;
	b->missing = NULL;
}

/* A placeholder of what only running could tell: the word is there, and not known. */
static void put_unknown(struct shell *shell, struct builder *b)
{
	shell_put(shell, b, "", 0);
	b->unknown = true;
}

/* NAME="a ${LIST[@]} b" is one text, whose words have blanks between them. */
static bool is_assigned(const struct builder *b, const struct command *command)
{
	size_t i = 0;

	while (i < b->length &&
	       (isalnum((unsigned char)b->text[i]) || b->text[i] == '_'))
		i++;
	if (i < b->length && b->text[i] == '+')
		i++;
	return i > 0 && i < b->length && b->text[i] == '=' && command->count == 0;
}

void shell_put_words(struct shell *shell, struct builder *b, struct command *command,
		     const struct shell_word *words, int count, bool quoted, bool array)
{
	bool joined = quoted && (!array || is_assigned(b, command));

	for (int i = 0; i < count; i++) {
		if (i > 0 && joined)
			shell_put(shell, b, " ", 1);
		else if (i > 0)
			shell_end_word(shell, b, command);
		if (words[i].unknown)
			put_unknown(shell, b);
		if (words[i].missing && words[i].text[0] == '\0')
			b->missing = words[i].missing;
		b->lines = b->lines || (quoted && strchr(words[i].text, '\n'));
		for (const char *c = words[i].text; *c != '\0'; c++) {
			if (!quoted && isspace((unsigned char)*c))
				shell_end_word(shell, b, command);
			else
				shell_put(shell, b, c, 1);
		}
	}
}

const char *shell_closing(const char *at, const char *stop, char open, char close)
{
	int depth = 1;

	while (at < stop && depth > 0) {
		depth += *at == open ? 1 : *at == close ? -1 : 0;
		at++;
	}
	return depth == 0 ? at - 1 : NULL;
}

/* What comes from the environment is told, but for what every shell has. */
static void note_environment(struct shell *shell, const char *name, const char *value)
{
	struct arguments *a = shell->arguments;
	char text[256];

	if (strchr(value, '/') || strlen(value) > 40)
		return;
	snprintf(text, sizeof text, "%.160s%s%.40s=%.40s",
		 a->environment ? a->environment : "", a->environment ? " " : "", name,
		 value);
	a->environment = arguments_keep(a, text, strlen(text));
}

int shell_value(struct shell *shell, struct builder *b, const char *name, size_t length,
		const struct shell_word **words)
{
	int count = shell_lookup(shell, name, length, words);
	const struct script_given *given = shell->arguments->given;
	char own[128];
	const char *value;

	doubt_tell(shell, name, length);
	if (count > 0 || length == 0 || length >= sizeof own)
		return count;
	snprintf(own, sizeof own, "%.*s", (int)length, name);
	value = given && given->environment && !isdigit((unsigned char)own[0])
			? getenv(own)
			: NULL;
	if (value && value[0] != '\0') {
		struct shell_word word = { arguments_keep(shell->arguments, value,
							  strlen(value)),
					   shell->line, false, NULL };

		note_environment(shell, own, value);
		if (word.text && shell_assign(shell, name, length, false, &word, 1))
			return shell_lookup(shell, name, length, words);
	}
	b->missing = arguments_keep(shell->arguments, own, length);
	return 0;
}

/* The first name of an expression that nobody has set, itself or behind another; NULL:
 * it is another thing that is not known. */
static const char *unset_in(struct shell *shell, const char *at, const char *end)
{
	while (at < end) {
		const struct shell_word *words;
		const char *start = at;
		int count;

		while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
			at++;
		if (at == start || isdigit((unsigned char)*start)) {
			at += at == start;
			continue;
		}
		count = shell_lookup(shell, start, (size_t)(at - start), &words);
		if (count == 0)
			return arguments_keep(shell->arguments, start,
					      (size_t)(at - start));
		if (count == 1 && words[0].missing)
			return words[0].missing;
	}
	return NULL;
}

static void arithmetic(struct shell *shell, struct builder *b)
{
	const char *start = shell->at + 2; /* after "((" */
	const char *end = shell_closing(start, shell->stop, '(', ')');
	char text[24];
	int64_t value;

	if (!end || end + 1 >= shell->stop) {
		shell->at = shell->stop;
		return;
	}
	shell->at = end + 2;
	if (shell_arithmetic(shell, start, (size_t)(end - start), &value))
		shell_put(
			shell, b, text,
			(size_t)snprintf(text, sizeof text, "%lld", (long long)value));
	else {
		put_unknown(shell, b);
		b->missing = unset_in(shell, start, end);
	}
}

/* $@ and $*: "$@" is a word each. */
static void put_args(struct shell *shell, struct builder *b, struct command *command,
		     bool array, bool quoted)
{
	if (shell->args > 0)
		shell_put_words(shell, b, command, &shell->word[shell->arg],
				shell->args, quoted, array);
}

/* One of $#, $?, $$, $@, $* and $-; false where it is none of them. */
static bool put_special(struct shell *shell, struct builder *b, struct command *command,
			bool quoted)
{
	char c = shell->at < shell->stop ? *shell->at : '\0';
	char text[24];

	if (c == '\0' || !strchr("@*#?$!-", c))
		return false;
	shell->at++;
	if (c == '@' || c == '*')
		put_args(shell, b, command, c == '@', quoted);
	else if (c == '#')
		shell_put(shell, b, text,
			  (size_t)snprintf(text, sizeof text, "%d", shell->args));
	else
		put_unknown(shell, b);
	return true;
}

/* Between [[ and ]] no word is split, and an empty one is there. */
static bool is_in_test(const struct command *command)
{
	for (int i = 0; i < command->count && i < 2; i++)
		if (strcmp(command->word[i].text, "[[") == 0)
			return true;
	return false;
}

/* At the character behind '$'. */
void shell_dollar(struct shell *shell, struct builder *b, struct command *command,
		  bool quoted)
{
	const char *name = shell->at;
	const struct shell_word *words;
	int count;

	if (!quoted && is_in_test(command)) {
		shell_put(shell, b, "", 0);
		quoted = true;
	}
	if (name < shell->stop && *name == '{') {
		shell->at++;
		shell_braces(shell, b, command, quoted);
		return;
	}
	if (name + 1 < shell->stop && name[0] == '(' && name[1] == '(') {
		arithmetic(shell, b);
		return;
	}
	if (name < shell->stop && *name == '(' &&
	    (shell_hear_document(shell, b) ||
	     shell_hear_echo(shell, b, command, quoted) || shell_hear_sum(shell, b)))
		return;
	if (name < shell->stop && *name == '(') {
		const char *end = shell_closing(name + 1, shell->stop, '(', ')');

		shell->at = end ? end + 1 : shell->stop; /* never executed */
		for (const char *c = name; c < shell->at; c++)
			shell->line += *c == '\n';
		put_unknown(shell, b);
		return;
	}
	if (put_special(shell, b, command, quoted))
		return;
	if (shell->at < shell->stop && isdigit((unsigned char)*shell->at))
		shell->at++; /* $12 is $1 and a 2 */
	else
		while (shell->at < shell->stop &&
		       (isalnum((unsigned char)*shell->at) || *shell->at == '_'))
			shell->at++;
	count = shell_value(shell, b, name, (size_t)(shell->at - name), &words);
	shell_put_words(shell, b, command, words, count, quoted, false);
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
		else if (c == '`')
			shell_backticks(shell, b);
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
	for (const char *c = shell->at; c < end; c++) {
		shell->line += *c == '\n';
		/* a script within, whose lines go on behind their ends */
		b->lines = b->lines || (*c == '\\' && c + 1 < end && c[1] == '\n');
	}
	shell_put(shell, b, shell->at, (size_t)(end - shell->at));
	shell->at = end < shell->stop ? end + 1 : end;
}

void shell_backticks(struct shell *shell, struct builder *b)
{
	const char *end = memchr(shell->at, '`', (size_t)(shell->stop - shell->at));

	end = end ? end : shell->stop;
	for (const char *c = shell->at; c < end; c++)
		shell->line += *c == '\n';
	shell->at = end < shell->stop ? end + 1 : end;
	put_unknown(shell, b);
}

char *shell_expand(struct shell *shell, const char *text, size_t length, bool plain)
{
	struct builder *b = calloc(1, sizeof *b);
	struct command *parted = calloc(1, sizeof *parted);
	const char *at = shell->at, *stop = shell->stop;
	int line = shell->line;
	bool full = shell->full;
	char *out = NULL;

	error_note_memory(!b || !parted);
	shell->at = text;
	shell->stop = text + length;
	while (b && parted && shell->at < shell->stop && !shell->full) {
		char c = *shell->at++;

		if (c == '$' && !plain)
			shell_dollar(shell, b, parted, true);
		else if (c == '`' && !plain)
			shell_backticks(shell, b);
		else if (c == '\\' && !plain && shell->at < shell->stop &&
			 strchr("$`\\", *shell->at))
			shell_put(shell, b, shell->at++, 1);
		else
			shell_put(shell, b, &c, 1);
	}
	if (b && parted && !shell->full) {
		out = strndup(b->text, b->length);
		error_note_memory(!out);
	}
	shell->full = full; /* only this text was too large */
	shell->at = at;
	shell->stop = stop;
	shell->line = line;
	free(parted);
	free(b);
	return out;
}
