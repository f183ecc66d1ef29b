/* shell.h - reading a launch script as words, without ever running it.
 *
 * Understood: comments, quotes, line continuation, NAME=value, NAME=( … ),
 * NAME+=( … ), export, $NAME, ${NAME}, ${NAME:-word}, ${NAME[@]}, $((a*b)).
 * Everything else of the shell is passed over.
 */
#ifndef PRESETS_MEGATRON_SHELL_H
#define PRESETS_MEGATRON_SHELL_H

#include "presets/megatron/arguments.h"

enum { SHELL_MAX_WORDS = 16384, SHELL_MAX_VARIABLES = 512 };

struct shell_variable {
	const char *name;
	int first, count; /* words in the pool */
};

struct shell {
	struct arguments *arguments; /* owns the strings */
	const char *start, *at, *stop;
	int line;
	int variables, words;
	struct shell_variable variable[SHELL_MAX_VARIABLES];
	struct shell_word word[SHELL_MAX_WORDS]; /* of variables, then of the command */
	bool full;                               /* a bound was reached */
};

/* Words of a variable; 0 if it is not set. */
int shell_lookup(const struct shell *shell, const char *name, size_t length,
		 const struct shell_word **words);
bool shell_assign(struct shell *shell, const char *name, size_t length, bool append,
		  const struct shell_word *words, int count);
/* Integer expression of $((…)): numbers, names, + - * / % and brackets. */
bool shell_arithmetic(const struct shell *shell, const char *text, size_t length,
		      int64_t *out);

#endif
