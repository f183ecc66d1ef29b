/* braces.c - ${NAME} in its forms; see words.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/script/words.h"

/* The word behind an operator, which may hold variables again; "" where it can't be
 * read. To be freed. */
static char *operand(struct shell *shell, const char *text, const char *end)
{
	char *word = NULL;

	if (end - text >= 2 && (*text == '"' || *text == '\'') && end[-1] == *text) {
		text++;
		end--;
	}
	if (shell->depth < SHELL_MAX_DEPTH) {
		shell->depth++;
		word = shell_expand(shell, text, (size_t)(end - text), false);
		shell->depth--;
	}
	word = word ? word : calloc(1, 1);
	error_note_memory(!word);
	return word;
}

static void put_text(struct shell *shell, struct builder *b, struct command *command,
		     const char *text, bool quoted)
{
	struct shell_word word = { text, shell->line, false, NULL };

	shell_put_words(shell, b, command, &word, 1, quoted, false);
}

/* How many bytes of the beginning (or, from the end, of the rest) the pattern takes
 * away: the fewest, or the most. */
static size_t cut_of(const char *pattern, const char *text, bool end, bool most)
{
	enum { LONGEST = 1024 }; /* no name or path is longer */
	size_t length = strlen(text), found = 0;
	char *piece = length <= LONGEST ? malloc(length + 1) : NULL;

	error_note_memory(!piece && length <= LONGEST);
	for (size_t i = 0; piece && i <= length; i++) {
		size_t take = most ? length - i : i;

		memcpy(piece, end ? text + length - take : text, take);
		piece[take] = '\0';
		if (!shell_matches(pattern, piece))
			continue;
		found = take;
		break;
	}
	free(piece);
	return found;
}

/* ${NAME#pattern}, ##, % and %%. */
static void put_cut(struct shell *shell, struct builder *b, struct command *command,
		    const char *value, const char *rest, const char *end, bool quoted)
{
	bool most = rest + 1 < end && rest[1] == rest[0], back = rest[0] == '%';
	char *pattern = operand(shell, rest + (most ? 2 : 1), end), *text;
	size_t cut = pattern ? cut_of(pattern, value, back, most) : 0;

	text = strdup(back ? value : value + cut);
	error_note_memory(!text);
	if (text && back)
		text[strlen(value) - cut] = '\0';
	if (text)
		put_text(shell, b, command, text, quoted);
	free(text);
	free(pattern);
}

/* ${NAME/from/to} and // of plain words. */
static void put_replaced(struct shell *shell, struct builder *b,
			 struct command *command, const char *value, const char *rest,
			 const char *end, bool quoted)
{
	bool all = rest + 1 < end && rest[1] == '/';
	const char *start = rest + (all ? 2 : 1);
	const char *slash = memchr(start, '/', (size_t)(end - start));
	char *from = operand(shell, start, slash ? slash : end);
	char *to = operand(shell, slash ? slash + 1 : end, end);
	size_t length = from ? strlen(from) : 0;
	int done = 0;

	while (from && to && *value != '\0') {
		if (length > 0 && (all || done == 0) &&
		    strncmp(value, from, length) == 0) {
			if (*to != '\0')
				put_text(shell, b, command, to, quoted);
			value += length;
			done++;
		} else {
			char one[2] = { *value++, '\0' };

			put_text(shell, b, command, one, quoted);
		}
	}
	free(to);
	free(from);
}

/* ${NAME:offset:length}. */
static void put_slice(struct shell *shell, struct builder *b, struct command *command,
		      const char *value, const char *rest, const char *end, bool quoted)
{
	const char *colon = memchr(rest + 1, ':', (size_t)(end - rest - 1));
	int64_t length = (int64_t)strlen(value), from = 0, count = length;
	char *text;

	if (!shell_arithmetic(shell, rest + 1,
			      (size_t)((colon ? colon : end) - rest - 1), &from) ||
	    (colon &&
	     !shell_arithmetic(shell, colon + 1, (size_t)(end - colon - 1), &count))) {
		b->unknown = true;
		return;
	}
	from = from < 0 ? (from < -length ? 0 : length + from) : from;
	from = from > length ? length : from;
	count = count < 0 ? (length - from < -count ? 0 : length - from + count)
			  : count;
	count = count > length - from ? length - from : count;
	text = strndup(value + from, (size_t)count);
	error_note_memory(!text);
	if (text)
		put_text(shell, b, command, text, quoted);
	free(text);
}

/* ${NAME,,} and ${NAME^^}. */
static void put_cased(struct shell *shell, struct builder *b, struct command *command,
		      const char *value, bool upper, bool quoted)
{
	char *text = strdup(value);

	error_note_memory(!text);
	for (char *c = text; c && *c != '\0'; c++)
		*c = (char)(upper ? toupper((unsigned char)*c)
				  : tolower((unsigned char)*c));
	if (text)
		put_text(shell, b, command, text, quoted);
	free(text);
}

/* ${#NAME}. */
static void put_length(struct shell *shell, struct builder *b, const char *name,
		       const char *end)
{
	const struct shell_word *words;
	size_t length = 0;
	char text[24];
	int count;

	while (name + length < end &&
	       (isalnum((unsigned char)name[length]) || name[length] == '_'))
		length++;
	count = shell_value(shell, b, name, length, &words);
	if (name[length] != '[')
		count = count > 0 ? (int)strlen(words[0].text) : 0;
	shell_put(shell, b, text, (size_t)snprintf(text, sizeof text, "%d", count));
}

/* What stands behind ":-", "-", ":=", "=", ":+" or "+" for a variable that is set or is
 * not; false where it is none of these. */
static bool put_default(struct shell *shell, struct builder *b, struct command *command,
			const char *name, size_t length, const char *end, bool quoted,
			bool set)
{
	const char *rest = name + length;
	char *word;

	rest += rest < end && *rest == ':';
	if (rest == end || !strchr("-=+?", *rest))
		return false;
	if (set != (*rest == '+')) {
		const struct shell_word *words;
		int count = set ? shell_lookup(shell, name, length, &words) : 0;

		if (count > 0)
			shell_put_words(shell, b, command, words, count, quoted, false);
		return true;
	}
	if (*rest == '?')
		return true;
	b->missing = NULL;
	word = operand(shell, rest + 1, end);
	if (word && *rest == '=' && flow_is_live(shell)) {
		const char *kept = arguments_keep(shell->arguments, word, strlen(word));
		struct shell_word value = { kept, shell->line, false, NULL };

		if (kept)
			shell_assign(shell, name, length, false, &value, 1);
	}
	if (word && (*word != '\0' || quoted))
		put_text(shell, b, command, word, quoted);
	free(word);
	return true;
}

/* A value that another form changes. */
static void put_changed(struct shell *shell, struct builder *b, struct command *command,
			const struct shell_word *word, const char *rest,
			const char *end, bool quoted)
{
	if (word->unknown)
		shell_put_words(shell, b, command, word, 1, quoted, false);
	else if (*rest == '#' || *rest == '%')
		put_cut(shell, b, command, word->text, rest, end, quoted);
	else if (*rest == '/')
		put_replaced(shell, b, command, word->text, rest, end, quoted);
	else if (*rest == ':')
		put_slice(shell, b, command, word->text, rest, end, quoted);
	else if (*rest == ',' || *rest == '^')
		put_cased(shell, b, command, word->text, *rest == '^', quoted);
	else
		shell_put_words(shell, b, command, word, 1, quoted, false);
}

/* ${NAME[3]}: one word of an array; false where the index is none. */
static bool put_item(struct shell *shell, struct builder *b, struct command *command,
		     const struct shell_word *words, int count, const char *rest,
		     const char *end, bool quoted)
{
	const char *close = memchr(rest, ']', (size_t)(end - rest));
	int64_t index;

	if (!close ||
	    !shell_arithmetic(shell, rest + 1, (size_t)(close - rest - 1), &index))
		return false;
	if (index >= 0 && index < count)
		shell_put_words(shell, b, command, &words[index], 1, quoted, false);
	return true;
}

void shell_braces(struct shell *shell, struct builder *b, struct command *command,
		  bool quoted)
{
	const char *name = shell->at;
	const char *end = shell_closing(name, shell->stop, '{', '}');
	const struct shell_word *words;
	size_t length = 0;
	int count;
	bool set;

	if (!end) {
		shell->at = shell->stop;
		return;
	}
	shell->at = end + 1;
	if (*name == '#' && name + 1 < end) {
		put_length(shell, b, name + 1, end);
		return;
	}
	if (*name == '@' || *name == '*') {
		if (shell->args > 0)
			shell_put_words(shell, b, command, &shell->word[shell->arg],
					shell->args, quoted, *name == '@');
		return;
	}
	if (*name == '!') { /* another variable's name */
		shell_put(shell, b, "", 0);
		b->unknown = true;
		return;
	}
	while (name + length < end &&
	       (isalnum((unsigned char)name[length]) || name[length] == '_'))
		length++;
	const char *rest = name + length;
	bool array = end - rest >= 3 && rest[0] == '[' && rest[2] == ']' &&
		     (rest[1] == '@' || rest[1] == '*');

	count = shell_value(shell, b, name, length, &words);
	if (array && shell_is_array(shell, name, length))
		b->missing = NULL; /* an empty one */
	set = count > 1 ||
	      (count == 1 && (words[0].text[0] != '\0' || words[0].unknown));
	if (put_default(shell, b, command, name, length, end, quoted, set))
		return;
	if (rest < end && *rest == '[' && !array &&
	    put_item(shell, b, command, words, count, rest, end, quoted))
		return;
	if (count == 1 && rest < end && *rest != '[')
		put_changed(shell, b, command, words, rest, end, quoted);
	else
		shell_put_words(shell, b, command, words, count, quoted, array);
}
