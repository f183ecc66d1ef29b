/* signs.c - what stands between the words of a command: its end, redirections, the
 * signs of a test. */
#include <ctype.h>
#include <string.h>

#include "presets/script/words.h"

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

/* A command ends at this character, which is passed over with those that belong to it.
 */
enum ending sign_ending(struct shell *shell)
{
	char c = *shell->at++;
	bool twice = shell->at < shell->stop && *shell->at == c;

	if (twice && strchr(";&|", c))
		shell->at++;
	if (c == ';' && twice && shell->at < shell->stop && *shell->at == '&')
		shell->at++;
	shell->line += c == '\n';
	switch (c) {
	case ';': return twice ? END_CASE : END_LINE;
	case '&': return twice ? END_AND : END_LINE;
	case '|': return twice ? END_OR : END_PIPE;
	case '(': return END_OPEN;
	case ')': return END_CLOSE;
	default: return END_LINE;
	}
}

/* "[[ a && b ]]": signs that are words there. Returns whether it is one. */
bool sign_of_test(struct shell *shell, struct builder *b, struct command *command)
{
	char c = *shell->at;
	size_t length =
		strchr("&|", c) && shell->at + 1 < shell->stop && shell->at[1] == c ? 2
										    : 1;

	if (!strchr("&|()<>", c))
		return false;
	shell_put(shell, b, shell->at, length);
	shell->at += length;
	shell_end_word(shell, b, command);
	return true;
}

/* "(( a > b ))" where a command may begin: two words, the text between as one. */
bool sign_condition(struct shell *shell, struct builder *b, struct command *command)
{
	const char *start = shell->at + 2, *end;

	if (shell->at + 1 >= shell->stop || shell->at[0] != '(' || shell->at[1] != '(')
		return false;
	end = shell_closing(start, shell->stop, '(', ')');
	if (!end || end + 1 >= shell->stop || end[1] != ')')
		return false;
	shell_put(shell, b, "((", 2);
	shell_end_word(shell, b, command);
	for (const char *c = start; c < end; c++)
		shell->line += *c == '\n';
	shell_put(shell, b, start, (size_t)(end - start));
	shell_end_word(shell, b, command);
	shell->at = end + 2;
	return true;
}

/* "<PATH TO CHECKPOINTS DIRECTORY>": words of a person to whoever fills the script in,
 * which a shell would open files by. One word; 0 where it is none. */
size_t sign_placeholder(const struct shell *shell)
{
	const char *at = shell->at;
	size_t length = 1, left = (size_t)(shell->stop - at);

	if (left < 3 || at[0] != '<' || !isalpha((unsigned char)at[1]))
		return 0;
	while (length < left &&
	       (isalnum((unsigned char)at[length]) || strchr(" _-./", at[length])))
		length++;
	if (length + 1 > left || at[length] != '>' || at[length - 1] == ' ' ||
	    (length + 1 < left && !strchr(" \t\n\"'\\", at[length + 1])))
		return 0;
	return length + 1;
}

/* ">file", "2>&1", "<file" and the like, of which the word behind goes too: what a
 * command writes to is no word of it. Returns whether a word is to be passed over. */
bool sign_redirection(struct shell *shell, struct command *command)
{
	const struct shell_word *last =
		command->count > 0 ? &command->word[command->count - 1] : NULL;
	char c = *shell->at++;

	if (last && last->text[0] != '\0' && last->text[1] == '\0' &&
	    isdigit((unsigned char)last->text[0]) && shell->at - 2 >= shell->start &&
	    isdigit((unsigned char)shell->at[-2]))
		command->count--;
	if (c == '<' && shell->at < shell->stop && *shell->at == '<') {
		bool word = shell->at + 1 < shell->stop && shell->at[1] == '<';

		if (word)
			shell->at += 2;
		else
			begin_document(shell);
		return word;
	}
	if (shell->at < shell->stop && *shell->at == '(')
		return false;
	while (shell->at < shell->stop && strchr(">&|", *shell->at))
		shell->at++;
	return true;
}
