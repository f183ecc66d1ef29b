/* shell.c - see shell.h. */
#include "presets/megatron/shell.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 16384, COMMAND_WORDS = 4096 };

/* A word under construction; an unquoted ${ARRAY[@]} may make several. */
struct builder {
	char text[WORD_BYTES];
	size_t length;
	bool started; /* "" is a word too */
	int line;
};

struct command {
	int count;
	struct shell_word word[COMMAND_WORDS];
};

static void put(struct shell *shell, struct builder *b, const char *text, size_t length)
{
	if (b->length + length >= WORD_BYTES) {
		shell->full = true;
		return;
	}
	memcpy(b->text + b->length, text, length);
	b->length += length;
	b->started = true;
}

static void end_word(struct shell *shell, struct builder *b, struct command *command)
{
	const char *kept;

	if (!b->started)
		return;
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
			end_word(shell, b, command);
		for (const char *c = words[i].text; *c != '\0'; c++) {
			if (!quoted && isspace((unsigned char)*c))
				end_word(shell, b, command);
			else
				put(shell, b, c, 1);
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
		put(shell, b, rest + 2, (size_t)(end - rest - 2));
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
	put(shell, b, text,
	    (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

/* At the character behind '$'. */
static void dollar(struct shell *shell, struct builder *b, struct command *command,
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

static void double_quoted(struct shell *shell, struct builder *b,
			  struct command *command)
{
	put(shell, b, "", 0);
	while (shell->at < shell->stop && *shell->at != '"') {
		char c = *shell->at++;

		shell->line += c == '\n';
		if (c == '$')
			dollar(shell, b, command, true);
		else if (c == '\\' && shell->at < shell->stop) {
			if (*shell->at == '\n')
				shell->line++;
			else
				put(shell, b, shell->at, 1);
			shell->at++;
		} else {
			put(shell, b, &c, 1);
		}
	}
	shell->at += shell->at < shell->stop;
}

static void single_quoted(struct shell *shell, struct builder *b)
{
	const char *end = memchr(shell->at, '\'', (size_t)(shell->stop - shell->at));

	end = end ? end : shell->stop;
	for (const char *c = shell->at; c < end; c++)
		shell->line += *c == '\n';
	put(shell, b, shell->at, (size_t)(end - shell->at));
	shell->at = end < shell->stop ? end + 1 : end;
}

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
			put(shell, b, shell->at, 1);
			shell->at += shell->at < shell->stop;
		} else if (c == '\'') {
			single_quoted(shell, b);
		} else if (c == '"') {
			double_quoted(shell, b, command);
		} else if (c == '$') {
			dollar(shell, b, command, false);
		} else {
			put(shell, b, &c, 1);
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
			end_word(shell, b, command);
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

static int count_flags(const struct command *command)
{
	int flags = 0;

	for (int i = 0; i < command->count; i++)
		flags += strncmp(command->word[i].text, "--", 2) == 0;
	return flags;
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

static void note_world(struct shell *shell)
{
	static const char *const names[] = { "WORLD_SIZE", "NUM_GPUS", "N_GPUS" };
	struct arguments *a = shell->arguments;
	const struct argument *node = arguments_find(a, "nnodes");
	const struct argument *each = arguments_find(a, "nproc-per-node");

	if (each)
		a->per_node = strtoll(each->value, NULL, 10);
	if (each)
		a->nodes = node ? strtoll(node->value, NULL, 10) : 1;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && a->world == 0; i++) {
		const struct shell_word *words;

		if (shell_lookup(shell, names[i], strlen(names[i]), &words) == 1)
			a->world = strtoll(words[0].text, NULL, 10);
	}
	if (a->per_node > 0 && a->nodes > 0)
		a->world = a->nodes * a->per_node;
}

/* A file of arrays without a command: all their words, in order. */
static bool add_arrays(struct shell *shell)
{
	for (int i = 0; i < shell->variables; i++) {
		const struct shell_variable *v = &shell->variable[i];

		if (v->count > 0 &&
		    !arguments_add_words(shell->arguments, &shell->word[v->first],
					 v->count))
			return false;
	}
	return true;
}

static bool read_script(struct shell *shell, struct command *command,
			struct command *best)
{
	int most = 0;

	while (shell->at < shell->stop && !shell->full) {
		int kept = shell->words;

		read_words(shell, command, false);
		int first = take_assignments(shell, command);
		int flags = first < command->count ? count_flags(command) : 0;

		/* the launch is the command with the most flags */
		if (flags > most) {
			most = flags;
			*best = *command;
		}
		if (first == 0 && shell->words == kept && command->count == 0)
			continue;
	}
	if (shell->full)
		return false;
	return most > 0 ? arguments_add_words(shell->arguments, best->word, best->count)
			: add_arrays(shell);
}

bool arguments_from_shell(struct arguments *arguments, const char *text, size_t length,
			  struct error *error)
{
	struct shell *shell = calloc(1, sizeof *shell);
	struct command *commands = calloc(2, sizeof *commands);
	bool good = shell && commands;

	if (good) {
		shell->arguments = arguments;
		shell->start = shell->at = text;
		shell->stop = text + length;
		shell->line = 1;
		good = read_script(shell, &commands[0], &commands[1]);
		if (!good)
			error_set(error, arguments->file, shell->line,
				  "this script is larger than can be read: at most %d "
				  "words and %d flags",
				  SHELL_MAX_WORDS, ARGUMENTS_MAX);
		else
			note_world(shell);
	} else {
		error_set(error, arguments->file, 0, "out of memory");
	}
	free(commands);
	free(shell);
	return good;
}
