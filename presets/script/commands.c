/* commands.c - see shell.h. */
#include "presets/script/shell.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/script/words.h"

const char *shell_assignment(const char *word)
{
	const char *c = word;

	/* a unit of systemd has its command behind it */
	if (strncmp(word, "ExecStart=", 10) == 0)
		return NULL;
	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	if (c == word || isdigit((unsigned char)*word))
		return NULL;
	return *c == '=' || (c[0] == '+' && c[1] == '=') ? c : NULL;
}

/* NAME=( … ): words up to the closing bracket. */
static void read_array(struct shell *shell, const char *name, size_t length,
		       bool append);

/* Read one word's characters; stops at a blank or an operator. */
static void read_word(struct shell *shell, struct builder *b, struct command *command)
{
	while (shell->at < shell->stop && !shell->full) {
		char c = *shell->at;

		if (isspace((unsigned char)c) || strchr(";|&()<>", c))
			return;
		shell->at++;
		if (c == '\\' && shell->at < shell->stop) {
			if (*shell->at == '\r')
				shell->at++;
			if (shell->at < shell->stop && *shell->at == '\n') {
				shell->line++;
				shell->at++;
				return;
			}
			shell_put(shell, b, shell->at, 1);
			shell->at += shell->at < shell->stop;
		} else if (c == '\'') {
			shell_single_quoted(shell, b);
		} else if (c == '"') {
			shell_double_quoted(shell, b, command);
		} else if (c == '`') {
			shell_backticks(shell, b);
		} else if (c == '$') {
			shell_dollar(shell, b, command, false);
		} else {
			shell_put(shell, b, &c, 1);
		}
	}
}

/* Where the reader is; a column so far to the right is not looked for. */
enum { FAR = 4096 };

static int place(const struct shell *shell)
{
	const char *line = shell->at;

	while (line > shell->start && line[-1] != '\n' && shell->at - line < FAR)
		line--;
	return place_at(shell->line, shell->at - line + 1);
}

/* Whether this line is the end of the here-document. */
static bool ends_document(const struct shell *shell, const char *line, size_t width)
{
	size_t length = strlen(shell->delimiter);

	while (width > 0 && isspace((unsigned char)*line)) {
		line++;
		width--;
	}
	while (width > 0 && isspace((unsigned char)line[width - 1]))
		width--;
	return width == length && memcmp(line, shell->delimiter, length) == 0;
}

/* At the start of the line behind a command that has a here-document. */
static void read_document(struct shell *shell)
{
	const char *start = shell->at, *at = start;
	int first = shell->line;

	if (shell->delimiter[0] == '\0')
		return;
	while (at < shell->stop) {
		const char *end = memchr(at, '\n', (size_t)(shell->stop - at));
		size_t width = (size_t)((end ? end : shell->stop) - at);

		if (ends_document(shell, at, width))
			break;
		at += width + (end ? 1 : 0);
		shell->line += end ? 1 : 0;
	}
	/* the line that ends it is no command */
	shell->at = at;
	while (shell->at < shell->stop && (*shell->at == '\t' || *shell->at == ' '))
		shell->at++;
	shell->at += at < shell->stop ? strlen(shell->delimiter) : 0;
	shell->delimiter[0] = '\0';
	if (!shell->visitor->document || shell->done || !flow_is_live(shell))
		return;
	char *text = shell_expand(shell, start, (size_t)(at - start), shell->plain);
	char *head =
		shell_expand(shell, shell->head, (size_t)(start - shell->head), false);

	if (text && head)
		shell->done = !shell->visitor->document(shell->visitor->context, head,
							text, first);
	free(head);
	free(text);
}

/* An array behind "NAME=", which the builder holds. */
static void take_array(struct shell *shell, struct builder *b)
{
	const char *equals;

	b->text[b->length] = '\0';
	equals = b->started ? shell_assignment(b->text) : NULL;
	if (!equals || shell->at >= shell->stop || *shell->at != '(' ||
	    b->text[b->length - 1] != '=')
		return;
	shell->at++;
	read_array(shell, b->text, (size_t)(equals - b->text), *equals == '+');
	shell->took_array = true;
	b->started = false;
	b->length = 0;
}

/* Where a command may begin: behind nothing, or words such as "if". */
static bool is_start(const struct command *command)
{
	static const char *const words[] = { "if",  "elif", "while", "until",
					     "!",   "then", "do",    "else",
					     "for", "{",    "[[",    NULL };
	const char *last =
		command->count > 0 ? command->word[command->count - 1].text : "!";

	for (const char *const *word = words; *word; word++)
		if (strcmp(*word, last) == 0)
			return true;
	return false;
}

/* Whether the words are inside of "[[ … ]]". */
static bool in_test(const struct command *command)
{
	for (int i = command->count - 1; i >= 0; i--)
		if (command->word[i].text[0] == '[' || command->word[i].text[0] == ']')
			return strcmp(command->word[i].text, "[[") == 0;
	return false;
}

/* Flags where a command would begin, behind one with a program: a comment between the
 * lines, or a backslash that is missing, ends that one, and bash would run it without
 * them. They are read as what they are meant as, and that is said. */
static bool joins(struct shell *shell, const struct command *command)
{
	const char *at = shell->at;
	int line = shell->line;
	bool program = false;

	for (int i = 0; i < command->count && !program; i++)
		program = !shell_assignment(command->word[i].text);
	if (!program || command->word[0].text[0] == '-')
		return false;
	while (at < shell->stop && *at == '\n') {
		line++;
		at++;
		while (at < shell->stop && (*at == ' ' || *at == '\t'))
			at++;
		if (at < shell->stop && *at == '\n')
			return false;
		if (at < shell->stop && *at == '#')
			while (at < shell->stop && *at != '\n')
				at++;
	}
	if (shell->stop - at < 3 || at[0] != '-' || at[1] != '-' ||
	    !isalpha((unsigned char)at[2]))
		return false;
	if (shell->arguments->joined == 0)
		shell->arguments->joined = line;
	return true;
}

/* The word behind a redirection is no argument; one behind <<< is what is read. */
static void take_redirected(struct command *command, int before, bool here)
{
	if (command->count <= before)
		return;
	if (here) {
		command->has_here = true;
		command->here = command->word[before];
	}
	command->count = before;
}

/* Words up to the end of a command, or of an array. */
static void read_words(struct shell *shell, struct command *command, bool in_array)
{
	struct builder *b = calloc(1, sizeof *b);
	bool skip = false, here = false;

	error_note_memory(!b);
	shell->full = shell->full || !b;
	if (!b)
		return;
	command->count = 0;
	command->has_here = false;
	command->ending = END_LINE;
	while (shell->at < shell->stop && !shell->full) {
		char c = *shell->at;
		int before = command->count;
		size_t filler;

		b->line = place(shell);
		if (c == '\n' && shell->delimiter[0] != '\0') {
			shell->at++;
			shell->line++;
			read_document(shell);
			if (!in_array)
				break;
		} else if (!in_array && c != '\n' && c != ';' && in_test(command) &&
			   sign_of_test(shell, b, command)) {
			continue;
		} else if (!in_array && is_start(command) &&
			   sign_condition(shell, b, command)) {
			continue;
		} else if ((filler = sign_placeholder(shell)) > 0) {
			shell_put(shell, b, shell->at, filler);
			shell->at += filler;
			shell_end_word(shell, b, command);
		} else if (!in_array && (c == '>' || c == '<' ||
					 (c == '&' && shell->at + 1 < shell->stop &&
					  shell->at[1] == '>'))) {
			here = shell->stop - shell->at > 2 &&
			       memcmp(shell->at, "<<<", 3) == 0;
			skip = sign_redirection(shell, command);
		} else if (c == '\n' && !in_array && joins(shell, command)) {
			shell->at++;
			shell->line++;
		} else if (c == '\n' || strchr(";|&()<>", c)) {
			command->ending = sign_ending(shell);
			if (in_array ? c == ')' : true)
				break;
		} else if (isspace((unsigned char)c)) {
			shell->at++;
		} else if (c == '#') {
			shell->at++;
			shell_comment(shell);
		} else {
			read_word(shell, b, command);
			if (flow_is_live(shell) || in_array)
				take_array(shell, b);
			shell_end_word(shell, b, command);
			if (skip)
				take_redirected(command, before, here);
			skip = false;
		}
	}
	free(b);
}

static void read_array(struct shell *shell, const char *name, size_t length,
		       bool append)
{
	struct command *items = calloc(1, sizeof *items);

	error_note_memory(!items);
	if (!items) {
		shell->full = true;
		return;
	}
	read_words(shell, items, true);
	/* of a command that && passes over the words are read, and that is all */
	if (!shell->passed)
		shell_assign_array(shell, name, length, append, items->word,
				   items->count);
	free(items);
}

/* NAME+=text adds to the text; arrays of more words are not added to so. */
static void append_text(struct shell *shell, const char *name, size_t length,
			struct shell_word *value)
{
	const struct shell_word *words;
	char *text;
	int count = shell_lookup(shell, name, length, &words);

	if (count != 1)
		return;
	text = malloc(strlen(words[0].text) + strlen(value->text) + 1);
	error_note_memory(!text);
	if (!text)
		return;
	strcpy(text, words[0].text);
	strcat(text, value->text);
	value->text = arguments_keep(shell->arguments, text, strlen(text));
	value->unknown = value->unknown || words[0].unknown;
	shell->full = shell->full || !value->text;
	free(text);
}

static bool is_declaration(const char *word)
{
	static const char *const words[] = { "export",   "local",   "declare",
					     "readonly", "typeset", NULL };

	for (const char *const *name = words; *name; name++)
		if (strcmp(*name, word) == 0)
			return true;
	return false;
}

/* Leading NAME=value words of a command set variables. Returns the first word behind
 * them. */
static int take_assignments(struct shell *shell, const struct command *command, int i)
{
	bool declares = false;

	for (; i < command->count && !shell->full; i++) {
		const char *word = command->word[i].text;
		const char *equals = shell_assignment(word);

		if (is_declaration(word) || (declares && (word[0] == '-' || !equals))) {
			declares = true;
			continue;
		}
		if (!equals)
			break;
		struct shell_word value = command->word[i];

		value.text = strchr(equals, '=') + 1;
		if (*equals == '+')
			append_text(shell, word, (size_t)(equals - word), &value);
		if (!shell->full)
			shell_assign(shell, word, (size_t)(equals - word), false,
				     &value,
				     value.text[0] != '\0' || value.unknown ||
					     value.missing);
	}
	return i;
}

/* Commands of the shell that change its arguments, and those whose outcome is known.
 */
static bool take_builtin(struct shell *shell, const struct shell_word *words, int count)
{
	const char *name = words[0].text;

	if (strcmp(name, "break") == 0) {
		flow_break(shell);
	} else if (strcmp(name, "true") == 0 || strcmp(name, ":") == 0) {
		shell->status = TRUTH_YES;
	} else if (strcmp(name, "false") == 0) {
		shell->status = TRUTH_NO;
	} else if (strcmp(name, "shift") == 0) {
		long by = count > 1 ? strtol(words[1].text, NULL, 10) : 1;

		shell->status = by >= 0 && by <= shell->args ? TRUTH_YES : TRUTH_NO;
		if (shell->status == TRUTH_YES) {
			shell->arg += (int)by;
			shell->args -= (int)by;
		}
	} else if (strcmp(name, "set") == 0 && count > 1 &&
		   strcmp(words[1].text, "--") == 0) {
		shell_set_args(shell, words + 2, count - 2);
	} else {
		return false;
	}
	return true;
}

/* Of the loop around the command that the visitor is shown. */
static void note_loop(struct shell *shell)
{
	char text[128];

	shell->arguments->loop = NULL;
	if (flow_loop(shell, text, sizeof text))
		shell->arguments->loop =
			arguments_keep(shell->arguments, text, strlen(text));
}

/* A plain command, from its first word on. */
static void run(struct shell *shell, struct command *command, int first)
{
	const struct shell_visitor *v = shell->visitor;
	const struct shell_word *words;
	bool opposite = strcmp(command->word[first].text, "!") == 0;
	int at = take_assignments(shell, command, first + opposite), count;

	words = command->word + at;
	count = command->count - at;
	if (count > 0 && strcmp(words[0].text, "eval") == 0)
		shell_unfold(shell, command->word + at, count);
	if (shell->full)
		return;
	if (count == 0) {
		shell->status = TRUTH_YES;
	} else if (pipe_grep(shell, words, count, &shell->status) ||
		   shell_test(shell, words, count, &shell->status)) {
		if (opposite && shell->status != TRUTH_UNKNOWN)
			shell->status =
				shell->status == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
	} else if (shell_hear(shell, command, at)) {
		shell->status = command->has_here ? TRUTH_YES : TRUTH_UNKNOWN;
	} else if (!take_builtin(shell, words, count)) {
		shell->status = TRUTH_UNKNOWN;
		if (v->command && !flow_is_repeated(shell)) {
			note_loop(shell);
			shell->done = !v->command(v->context, words, count);
		}
		if (!shell->done)
			flow_call(shell, words, count);
	}
}

static bool read_script(struct shell *shell, struct command *command)
{
	const struct shell_visitor *v = shell->visitor;

	do {
		while (shell->at < shell->stop && !shell->full && !shell->done) {
			bool passed = shell->passed;
			int first, count;

			shell->from = shell->at;
			shell->from_line = shell->line;
			shell->took_array = false;
			read_words(shell, command, false);
			count = command->count;
			first = shell->full ? count : flow_take(shell, command);
			if (first < count && flow_is_live(shell) && !passed)
				run(shell, command, first);
			else if (first < count)
				doubt_keep(shell, command, first);
			pipe_keep(shell, command, first);
			if (count == 0 && !shell->took_array)
				continue;
			shell->passed =
				command->ending == END_AND  ? shell->status == TRUTH_NO
				: command->ending == END_OR ? shell->status != TRUTH_NO
							    : false;
		}
	} while (!shell->full && !shell->done && flow_call_rest(shell));
	return !shell->full && (!v->end || v->end(v->context, shell));
}

bool shell_read(struct arguments *arguments, const char *text, size_t length,
		const struct shell_visitor *visitor, struct error *error)
{
	struct shell *shell = calloc(1, sizeof *shell);
	struct command *command = calloc(1, sizeof *command);
	bool good = shell && command, lacked = error_ran_out_of_memory();

	if (!good)
		error_set(error, arguments->file, 0, "out of memory");
	if (good) {
		shell->arguments = arguments;
		shell->visitor = visitor;
		shell->start = shell->at = text;
		shell->stop = text + length;
		shell->line = 1;
		shell->status = TRUTH_YES;
		if (visitor->begin)
			visitor->begin(visitor->context, shell);
		good = shell_inherit(shell, visitor->outer) && shell_begin(shell) &&
		       read_script(shell, command);
		if (!good && !lacked && error_ran_out_of_memory())
			error_set(error, arguments->file, shell->line, "out of memory");
		else if (!good)
			error_set(error, arguments->file, shell->line,
				  "this script is larger than can be read: at most %d "
				  "words and %d flags",
				  SHELL_MAX_WORDS, ARGUMENTS_MAX);
	}
	free(command);
	free(shell);
	return good;
}
