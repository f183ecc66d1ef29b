/* heard.c - `IFS=, read -r TP PP <<< "4,2"`: words of a text into variables. What comes
 * from a file or a pipe is not known, and neither are the variables then, nor what
 * `printf -v NAME` makes. `NAME=$(cat <<END ...)` is the text that stands there, and
 * `$(echo $NAME | tr '\n' ' ')` its words, `$(expr 16 / $N)` a number. */
#include <ctype.h>
#include <stdio.h>
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

/* Where the command ends that is read, outside of quotes. */
static const char *end_command(const char *at, const char *stop)
{
	char quote = '\0';

	for (; at < stop && (quote || !strchr("|;&<>", *at)); at++) {
		if (*at == '\\')
			at += at + 1 < stop;
		else if (quote ? *at == quote : strchr("'\"", *at) != NULL)
			quote = quote ? '\0' : *at;
	}
	return at;
}

/* Whether a filter behind the echo leaves the words as they are: "tr '\n' ' '", "tr -s
 * ' '", "xargs", "sed 's/  *\/ /g'". */
static bool keeps_words(const char *at, const char *stop)
{
	static const struct {
		const char *name, *signs;
	} filters[] = { { "tr '\\n' ", "' \"" },     { "tr \"\\n\" ", "' \"" },
			{ "tr -s ", "' \"" },        { "sed -e ", "'\" s/\\+*g^$" },
			{ "sed ", "'\" s/\\+*g^$" }, { "xargs", "" } };

	while (stop > at && isspace((unsigned char)stop[-1]))
		stop--;
	at = pass_blanks(at, stop);
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
		size_t length = strlen(filters[i].name);

		if ((size_t)(stop - at) < length ||
		    memcmp(at, filters[i].name, length) != 0)
			continue;
		for (at += length; at < stop && strchr(filters[i].signs, *at); at++)
			;
		return at == stop;
	}
	return false;
}

/* Behind "(echo" up to `stop`: its words, as one text with their blanks. */
static void hear_words(struct shell *shell, const char *at, const char *stop,
		       struct builder *words, struct command *parted)
{
	const char *outer = shell->stop;
	int line = shell->line;

	shell->at = pass_blanks(at, stop);
	shell->stop = stop;
	while (shell->at < stop && !shell->full) {
		char c = *shell->at++;

		if (c == '"')
			shell_double_quoted(shell, words, parted);
		else if (c == '\'')
			shell_single_quoted(shell, words);
		else if (c == '$')
			shell_dollar(shell, words, parted, true);
		else
			shell_put(shell, words, &c, 1);
	}
	shell->stop = outer;
	shell->line = line;
}

/* Where the echo that begins at `from` ends, if nothing but such filters stands behind
 * it; else NULL. Whether one does. */
static const char *end_echo(const char *from, const char *close, bool *filtered)
{
	const char *to = end_command(from, close);

	*filtered = to < close;
	for (const char *at = to; at < close;) {
		const char *next = end_command(at + 1, close);

		if (*at != '|' || !keeps_words(at + 1, next))
			return NULL;
		at = next;
	}
	return to;
}

/* As one text into the word that is built. */
static void put_echo(struct shell *shell, struct builder *b, struct command *command,
		     const struct builder *words, bool lines, bool quoted)
{
	struct shell_word text = { NULL, shell->line, words->unknown, words->missing };

	text.text =
		lines ? arguments_keep_lines(shell->arguments, words->text,
					     words->length)
		      : arguments_keep(shell->arguments, words->text, words->length);
	shell->full = !text.text;
	if (text.text)
		shell_put_words(shell, b, command, &text, 1, quoted, false);
}

bool shell_hear_echo(struct shell *shell, struct builder *b, struct command *command,
		     bool quoted)
{
	const char *from = pass_blanks(shell->at + 1, shell->stop), *to;
	const char *close = shell_closing(shell->at + 1, shell->stop, '(', ')');
	struct builder *words;
	struct command *parted;
	bool filtered;

	if (!close || close - from < 6 || memcmp(from, "echo ", 5) != 0 ||
	    *pass_blanks(from + 5, close) == '-' ||
	    !(to = end_echo(from, close, &filtered)) || shell->depth == SHELL_MAX_DEPTH)
		return false;
	words = calloc(1, sizeof *words);
	parted = calloc(1, sizeof *parted);
	error_note_memory(!words || !parted);
	shell->full = shell->full || !words || !parted;
	shell->depth++;
	if (!shell->full)
		hear_words(shell, from + 5, to, words, parted);
	shell->depth--;
	for (const char *c = from; c < close; c++)
		shell->line += *c == '\n';
	if (!shell->full)
		put_echo(shell, b, command, words, !filtered, quoted);
	shell->at = close + 1;
	free(words);
	free(parted);
	return true;
}

/* "$(expr 16 / $NPROC)": the sum, where its words tell. */
bool shell_hear_sum(struct shell *shell, struct builder *b)
{
	const char *from = pass_blanks(shell->at + 1, shell->stop);
	const char *close = shell_closing(shell->at + 1, shell->stop, '(', ')');
	struct builder *words;
	struct command *parted;
	int64_t sum;
	char text[24];

	if (!close || close - from < 6 || memcmp(from, "expr ", 5) != 0 ||
	    memchr(from, '|', (size_t)(close - from)) ||
	    shell->depth == SHELL_MAX_DEPTH)
		return false;
	words = calloc(1, sizeof *words);
	parted = calloc(1, sizeof *parted);
	error_note_memory(!words || !parted);
	shell->full = shell->full || !words || !parted;
	shell->depth++;
	if (!shell->full)
		hear_words(shell, from + 5, close, words, parted);
	shell->depth--;
	if (!shell->full && !words->unknown && !words->missing &&
	    shell_arithmetic(shell, words->text, words->length, &sum)) {
		snprintf(text, sizeof text, "%lld", (long long)sum);
		shell_put(shell, b, text, strlen(text));
	} else {
		b->started = b->unknown = true;
		b->missing = words && !b->missing ? words->missing : b->missing;
	}
	shell->at = close + 1;
	free(words);
	free(parted);
	return true;
}

void shell_unfold(struct shell *shell, struct shell_word *words, int count)
{
	for (int i = 1; i < count && !shell->full; i++) {
		const char *from = words[i].text;
		char *text, *to;

		if (!strchr(from, '\\') || strchr(from, ' '))
			continue;
		to = text = strdup(from);
		error_note_memory(!text);
		shell->full = !text;
		for (; text && *from != '\0'; from++) {
			from += *from == '\\' && from[1] != '\0';
			*to++ = *from;
		}
		if (!text)
			return;
		*to = '\0';
		words[i].text = arguments_keep(shell->arguments, text, strlen(text));
		shell->full = !words[i].text;
		free(text);
	}
}
