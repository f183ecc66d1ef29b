/* heard.c - `IFS=, read -r TP PP <<< "4,2"`: words of a text into variables. What comes
 * from a file or a pipe is not known, and neither are the variables then, nor what
 * `printf -v NAME` makes. `NAME=$(cat <<END ...)` is the text that stands there. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/script/words.h"

/* The signs that part words: those of IFS= before the command, else blanks. */
static const char *separators(const struct command *command, int at)
{
	const char *signs = " \t\n";

	for (int i = 0; i < at; i++)
		if (strncmp(command->word[i].text, "IFS=", 4) == 0 &&
		    command->word[i].text[4] != '\0')
			signs = command->word[i].text + 4;
	return signs;
}

static void give(struct shell *shell, const char *name, const char *text, size_t length,
		 const struct command *command)
{
	struct shell_word word = command->here;

	word.text = arguments_keep(shell->arguments, text, length);
	word.unknown = word.unknown || !command->has_here;
	if (!word.text)
		shell->full = true;
	else
		shell_assign(shell, name, strlen(name), false, &word,
			     length > 0 || word.unknown);
}

static void read_variables(struct shell *shell, const struct command *command, int at)
{
	const char *signs = separators(command, at);
	const char *text = command->has_here ? command->here.text : "";
	int i = at + 1;

	/* of options only -r changes no meaning */
	for (; i < command->count && command->word[i].text[0] == '-'; i++)
		if (strcmp(command->word[i].text, "-r") != 0)
			return;
	for (; i < command->count && !shell->full; i++) {
		bool last = i + 1 == command->count;
		size_t length = last ? strlen(text) : strcspn(text, signs);

		give(shell, command->word[i].text, text, length, command);
		text += length;
		text += *text != '\0';
	}
}

bool shell_hear(struct shell *shell, const struct command *command, int at)
{
	const char *name = command->word[at].text;

	if (strcmp(name, "read") == 0) {
		read_variables(shell, command, at);
	} else if (strcmp(name, "printf") == 0 && at + 2 < command->count &&
		   strcmp(command->word[at + 1].text, "-v") == 0) {
		give(shell, command->word[at + 2].text, "", 0, command);
	} else {
		return false;
	}
	return true;
}

/* The first character behind blanks. */
static const char *pass_blanks(const char *at, const char *stop)
{
	while (at < stop && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Behind "(cat <<-'END'" and the end of its line; NULL where it is none. The delimiter,
 * and whether it is quoted. */
static const char *begin_text(const char *at, const char *stop, char delimiter[64],
			      bool *plain)
{
	size_t length = 0;

	at = pass_blanks(at + 1, stop);
	if (stop - at < 8 || memcmp(at, "cat", 3) != 0)
		return NULL;
	at = pass_blanks(at + 3, stop);
	if (stop - at < 4 || memcmp(at, "<<", 2) != 0 || at[2] == '<')
		return NULL;
	at = pass_blanks(at + 2 + (at[2] == '-'), stop);
	for (*plain = false; at < stop && !isspace((unsigned char)*at); at++) {
		bool sign = strchr("'\"\\", *at) != NULL;

		*plain = *plain || sign;
		if (!sign && length < 63)
			delimiter[length++] = *at;
	}
	delimiter[length] = '\0';
	at = pass_blanks(at, stop);
	return length > 0 && at < stop && *at == '\n' ? at + 1 : NULL;
}

/* Where the line begins that ends the text; NULL: none does. */
static const char *end_text(const char *at, const char *stop, const char *delimiter)
{
	size_t length = strlen(delimiter);

	for (; at && at < stop;
	     at = memchr(at, '\n', (size_t)(stop - at)), at = at ? at + 1 : NULL) {
		const char *word = pass_blanks(at, stop);

		if ((size_t)(stop - word) > length &&
		    memcmp(word, delimiter, length) == 0 &&
		    strchr(" \t\r\n)", word[length]))
			return at;
	}
	return NULL;
}

bool shell_hear_document(struct shell *shell, struct builder *b)
{
	char delimiter[64];
	bool plain;
	const char *from = begin_text(shell->at, shell->stop, delimiter, &plain);
	const char *to = from ? end_text(from, shell->stop, delimiter) : NULL;
	const char *close = to ? memchr(to, ')', (size_t)(shell->stop - to)) : NULL;
	char *text;

	if (!close || to - from > WORD_BYTES / 2)
		return false;
	text = shell_expand(shell, from, (size_t)(to - from), plain);
	if (!text)
		return false;
	for (const char *c = shell->at; c < close; c++)
		shell->line += *c == '\n';
	shell->at = close + 1;
	/* without the end of its last line, as of every command */
	shell_put(shell, b, text, strlen(text) - (strlen(text) > 0));
	b->lines = true;
	free(text);
	return true;
}
