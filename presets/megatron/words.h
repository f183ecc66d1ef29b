/* words.h - a word under construction: what shell.c and expand.c share. */
#ifndef PRESETS_MEGATRON_WORDS_H
#define PRESETS_MEGATRON_WORDS_H

#include "presets/megatron/shell.h"

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

void shell_put(struct shell *shell, struct builder *b, const char *text, size_t length);
void shell_end_word(struct shell *shell, struct builder *b, struct command *command);
/* At the character behind the opening sign; each leaves shell->at behind its end. */
void shell_dollar(struct shell *shell, struct builder *b, struct command *command,
		  bool quoted);
void shell_double_quoted(struct shell *shell, struct builder *b,
			 struct command *command);
void shell_single_quoted(struct shell *shell, struct builder *b);
/* Never executed: empty. */
void shell_backticks(struct shell *shell);
/* The body of a here-document, with its variables unless `plain`; to be freed. NULL:
 * too large. */
char *shell_expand(struct shell *shell, const char *text, size_t length, bool plain);

#endif
