/* shell.h - reading a launch script as words, without ever running it.
 *
 * Understood: comments, quotes, line continuation, NAME=value, NAME=( … ),
 * NAME+=( … ), export, <<WORD, $NAME, ${NAME}, ${NAME:-word}, ${NAME[@]}, $((a*b)).
 * Everything else of the shell is passed over.
 */
#ifndef PRESETS_MEGATRON_SHELL_H
#define PRESETS_MEGATRON_SHELL_H

#include "presets/megatron/arguments.h"

enum { SHELL_MAX_WORDS = 16384, SHELL_MAX_VARIABLES = 512, SHELL_MAX_DEPTH = 4 };

struct shell_variable {
	const char *name;
	int first, count; /* words in the pool */
};

struct shell;

/* What becomes of a script. The first two return whether to go on; any may be NULL. */
struct shell_visitor {
	void *context;
	/* A command's words behind its assignments; they live as long as arguments. */
	bool (*command)(void *context, const struct shell_word *words, int count);
	/* A here-document: the line of script that it hangs on, its body, and the
	 * number of the body's first line. */
	bool (*document)(void *context, const char *head, const char *text, int line);
	/* All variables are known; false is a bound that is reached. */
	bool (*end)(void *context, const struct shell *shell);
};

struct shell {
	struct arguments *arguments; /* owns the strings */
	const struct shell_visitor *visitor;
	char delimiter[64]; /* of a here-document that begins with the next line */
	bool plain;         /* its delimiter is quoted: no variables in it */
	const char *start, *at, *stop;
	const char *head; /* of the line that has a here-document */
	int line, depth;
	int variables, words;
	struct shell_variable variable[SHELL_MAX_VARIABLES];
	struct shell_word word[SHELL_MAX_WORDS]; /* of variables, then of the command */
	bool full;                               /* a bound was reached */
	bool done;                               /* the visitor has seen enough */
};

/* Shows each command and here-document of a script to the visitor, in order. False
 * with the error where a bound is reached. */
bool shell_read(struct arguments *arguments, const char *text, size_t length,
		const struct shell_visitor *visitor, struct error *error);
/* Words of a variable; 0 if it is not set. */
int shell_lookup(const struct shell *shell, const char *name, size_t length,
		 const struct shell_word **words);
bool shell_assign(struct shell *shell, const char *name, size_t length, bool append,
		  const struct shell_word *words, int count);
/* Integer expression of $((…)): numbers, names, + - * / % and brackets. */
bool shell_arithmetic(const struct shell *shell, const char *text, size_t length,
		      int64_t *out);

#endif
