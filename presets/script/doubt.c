/* doubt.c - numbers that a script would set where only running could tell whether it
 * does: such a branch is not taken, and where its number matters that is said. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/script/words.h"

static bool is_named(const struct shell_doubt *doubt, const char *name, size_t length)
{
	return strlen(doubt->name) == length && strncmp(doubt->name, name, length) == 0;
}

static void drop(struct shell *shell, int i)
{
	shell->doubt[i] = shell->doubt[--shell->doubts];
}

/* How deep the branch lies that is not taken, 0 where it is known that it is not. */
static int depth_of(const struct shell *shell)
{
	for (int i = 0; i < shell->frames; i++)
		if (shell->frame[i].doubtful)
			return i + 1;
	/* "test && NAME=value" */
	return flow_is_live(shell) && shell->passed && shell->status == TRUTH_UNKNOWN
		       ? shell->frames + 1
		       : 0;
}

/* Numbers that no plan hangs on. */
static bool is_trifle(const char *name)
{
	static const char *const parts[] = { "PORT", "SEED", "RANK",  "PID",  "TIME",
					     "LOG",  "SAVE", "DEBUG", "EVAL", "ITER",
					     "STEP", "WAIT", "LR",    "PROF", NULL };

	for (const char *const *part = parts; *part; part++)
		if (strstr(name, *part))
			return true;
	return false;
}

void doubt_keep(struct shell *shell, const struct command *command, int first)
{
	int depth = depth_of(shell);

	for (int i = first; i < command->count && depth > 0; i++) {
		const char *word = command->word[i].text;
		const char *equals = shell_assignment(word);

		if (!equals && i == first && strcmp(word, "export") == 0)
			continue;
		if (!equals || *equals != '=' || shell->doubts == SHELL_MAX_DOUBTS)
			return;
		if (!isdigit((unsigned char)equals[1]) ||
		    shell_is_given(shell, word, (size_t)(equals - word)))
			continue;
		const char *name =
			arguments_keep(shell->arguments, word, (size_t)(equals - word));

		if (!name)
			return;
		if (is_trifle(name))
			continue;
		shell->doubt[shell->doubts++] =
			(struct shell_doubt){ name, place_line(command->word[i].line),
					      depth };
	}
}

void doubt_forget(struct shell *shell, const char *name, size_t length)
{
	for (int i = shell->doubts - 1; i >= 0; i--)
		if (shell->frames < shell->doubt[i].depth &&
		    is_named(&shell->doubt[i], name, length))
			drop(shell, i);
}

void doubt_tell(struct shell *shell, const char *name, size_t length)
{
	struct arguments *a = shell->arguments;
	char text[256];

	if (!flow_is_live(shell) || shell->passed)
		return;
	for (int i = shell->doubts - 1; i >= 0; i--) {
		/* one that asks for it before the branch ends has not skipped it */
		if (shell->frames >= shell->doubt[i].depth ||
		    !is_named(&shell->doubt[i], name, length))
			continue;
		snprintf(text, sizeof text, "%.160s%s%.40s in line %d",
			 a->doubted ? a->doubted : "", a->doubted ? ", " : "",
			 shell->doubt[i].name, shell->doubt[i].line);
		drop(shell, i);
		a->doubted = arguments_keep(a, text, strlen(text));
	}
}
