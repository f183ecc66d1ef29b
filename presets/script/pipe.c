/* pipe.c - "echo $TEXT | grep -q WORD": a test whose outcome the words alone tell. */
#include <stdlib.h>
#include <string.h>

#include "presets/script/words.h"

enum { PIPED_BYTES = 8192 };

static bool is_option(const char *word, const char *letters)
{
	return word[0] == '-' && word[1] != '\0' &&
	       strspn(word + 1, letters) == strlen(word + 1);
}

void pipe_keep(struct shell *shell, const struct command *command, int first)
{
	const struct shell_word *words = command->word + first;
	int count = command->count - first, i = 1;
	char *text;
	size_t used = 0;

	shell->piped = NULL;
	shell->piped_not = count > 0 && strcmp(words[0].text, "!") == 0;
	words += shell->piped_not;
	count -= shell->piped_not;
	if (command->ending != END_PIPE || count < 1 ||
	    strcmp(words[0].text, "echo") != 0 || !(text = malloc(PIPED_BYTES)))
		return;
	text[0] = '\0';
	while (i < count && is_option(words[i].text, "neE"))
		i++;
	for (; i < count; i++) {
		size_t length = strlen(words[i].text);

		if (words[i].unknown || used + length + 2 > PIPED_BYTES)
			break;
		memcpy(text + used, words[i].text, length);
		used += length;
		text[used++] = ' ';
		text[used] = '\0';
	}
	if (i == count)
		shell->piped = arguments_keep(shell->arguments, text, used);
	free(text);
}

bool pipe_grep(const struct shell *shell, const struct shell_word *words, int count,
	       enum truth *out)
{
	bool quiet = false, literal = false;
	int i = 1;

	if (!shell->piped || strcmp(words[0].text, "grep") != 0)
		return false;
	for (; i < count && is_option(words[i].text, "qsEF"); i++) {
		quiet = quiet || strchr(words[i].text, 'q');
		literal = literal || strchr(words[i].text, 'F');
	}
	if (i + 1 < count &&
	    (strcmp(words[i].text, "--") == 0 || strcmp(words[i].text, "-e") == 0))
		i++;
	else if (i < count && words[i].text[0] == '-')
		return false;
	if (!quiet || i + 1 != count || words[i].unknown)
		return false;
	if (literal)
		*out = strstr(shell->piped, words[i].text) ? TRUTH_YES : TRUTH_NO;
	else
		*out = shell_regular(shell->piped, words[i].text);
	if (shell->piped_not && *out != TRUTH_UNKNOWN)
		*out = *out == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
	return true;
}
