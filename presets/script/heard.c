/* heard.c - `IFS=, read -r TP PP <<< "4,2"`: words of a text into variables. What comes
 * from a file or a pipe is not known, and neither are the variables then, nor what
 * `printf -v NAME` makes. */
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
