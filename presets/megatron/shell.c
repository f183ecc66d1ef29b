/* shell.c - see shell.h. */
#include "presets/megatron/shell.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/words.h"

static int64_t number_after(const char *line, size_t length, const char *key)
{
	const char *found = memmem(line, length, key, strlen(key));

	if (!found)
		return 0;
	found += strlen(key);
	while (found < line + length &&
	       (*found == '=' || isspace((unsigned char)*found) ||
		isalpha((unsigned char)*found) || *found == ':'))
		found++;
	return found < line + length && isdigit((unsigned char)*found)
		       ? strtoll(found, NULL, 10)
		       : 0;
}

/* "#SBATCH --nodes=16" says how many GPUs there are. */
static void comment(struct shell *shell)
{
	const char *end = memchr(shell->at, '\n', (size_t)(shell->stop - shell->at));
	size_t length = (size_t)((end ? end : shell->stop) - shell->at);
	struct arguments *a = shell->arguments;

	if (length > 6 && memcmp(shell->at, "SBATCH", 6) == 0) {
		int64_t nodes = number_after(shell->at, length, "--nodes");
		int64_t gpus = number_after(shell->at, length, "--gpus-per-node");

		nodes = nodes ? nodes : number_after(shell->at, length, "-N ");
		gpus = gpus ? gpus : number_after(shell->at, length, "--gres=gpu");
		a->nodes = nodes ? nodes : a->nodes;
		a->per_node = gpus ? gpus : a->per_node;
	}
	shell->at += length;
}

static const char *assignment(const char *word)
{
	const char *c = word;

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
			shell_backticks(shell);
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

/* Behind the '<' of "<<WORD", "<<-WORD" or "<<'WORD'"; of other forms nothing. */
static void begin_document(struct shell *shell)
{
	const char *at = shell->at, *stop = shell->stop;
	size_t length = 0;

	if (at == stop || *at != '<' || (at + 1 < stop && at[1] == '<'))
		return;
	shell->head = at++;
	while (shell->head > shell->start && shell->head[-1] != '\n')
		shell->head--;
	while (at < stop && (*at == '-' || *at == ' '))
		at++;
	shell->plain = at < stop && strchr("'\"\\", *at) != NULL;
	at += shell->plain;
	while (at + length < stop && length < sizeof shell->delimiter - 1 &&
	       (isalnum((unsigned char)at[length]) || at[length] == '_'))
		length++;
	memcpy(shell->delimiter, at, length);
	shell->delimiter[length] = '\0';
	shell->at = at + length;
	if (shell->plain && shell->at < stop && strchr("'\"", *shell->at))
		shell->at++;
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
	shell->delimiter[0] = '\0';
	shell->at = at;
	if (!shell->visitor->document || shell->done)
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

/* Words up to the end of a command (or of an array where in_array). */
static void read_words(struct shell *shell, struct command *command, bool in_array)
{
	struct builder *b = calloc(1, sizeof *b);

	if (!b) {
		shell->full = true;
		return;
	}
	command->count = 0;
	while (shell->at < shell->stop && !shell->full) {
		char c = *shell->at;

		if (c == '\n' || strchr(";|&()<>", c)) {
			shell->at++;
			shell->line += c == '\n';
			if (c == '<')
				begin_document(shell);
			else if (c == '\n')
				read_document(shell);
			if (in_array ? c == ')' : true)
				break;
		} else if (isspace((unsigned char)c)) {
			shell->at++;
		} else if (c == '#') {
			shell->at++;
			comment(shell);
		} else {
			b->line = place(shell);
			read_word(shell, b, command);
			const char *equals = NULL;

			b->text[b->length] = '\0';
			equals = b->started ? assignment(b->text) : NULL;
			if (!in_array && equals && shell->at < shell->stop &&
			    *shell->at == '(' && b->text[b->length - 1] == '=') {
				shell->at++;
				read_array(shell, b->text, (size_t)(equals - b->text),
					   *equals == '+');
				b->started = false;
				b->length = 0;
			}
			shell_end_word(shell, b, command);
		}
	}
	free(b);
}

static void read_array(struct shell *shell, const char *name, size_t length,
		       bool append)
{
	struct command *items = calloc(1, sizeof *items);

	if (!items) {
		shell->full = true;
		return;
	}
	read_words(shell, items, true);
	shell_assign(shell, name, length, append, items->word, items->count);
	free(items);
}

/* Leading NAME=value words of a command set variables. Returns how many. */
static int take_assignments(struct shell *shell, const struct command *command)
{
	int i = 0;

	for (; i < command->count; i++) {
		const char *word = command->word[i].text;
		const char *equals = assignment(word);

		if (strcmp(word, "export") == 0 || strcmp(word, "local") == 0)
			continue;
		if (!equals)
			break;
		struct shell_word value = { strchr(equals, '=') + 1,
					    command->word[i].line };

		shell_assign(shell, word, (size_t)(equals - word), false, &value,
			     value.text[0] != '\0');
	}
	return i;
}

static bool read_script(struct shell *shell, struct command *command)
{
	const struct shell_visitor *v = shell->visitor;

	while (shell->at < shell->stop && !shell->full && !shell->done) {
		read_words(shell, command, false);
		int first = take_assignments(shell, command);

		if (first < command->count && v->command && !shell->full)
			shell->done = !v->command(v->context, command->word + first,
						  command->count - first);
	}
	return !shell->full && (!v->end || v->end(v->context, shell));
}

bool shell_read(struct arguments *arguments, const char *text, size_t length,
		const struct shell_visitor *visitor, struct error *error)
{
	struct shell *shell = calloc(1, sizeof *shell);
	struct command *command = calloc(1, sizeof *command);
	bool good = shell && command;

	if (!good)
		error_set(error, arguments->file, 0, "out of memory");
	if (good) {
		shell->arguments = arguments;
		shell->visitor = visitor;
		shell->start = shell->at = text;
		shell->stop = text + length;
		shell->line = 1;
		good = read_script(shell, command);
		if (!good)
			error_set(error, arguments->file, shell->line,
				  "this script is larger than can be read: at most %d "
				  "words and %d flags",
				  SHELL_MAX_WORDS, ARGUMENTS_MAX);
	}
	free(command);
	free(shell);
	return good;
}
