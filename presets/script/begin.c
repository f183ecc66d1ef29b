/* begin.c - a script's arguments and variables before its first command, and what its
 * comments say. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/script/words.h"

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

/* What Slurm tells a job that asks for so much; the caller's word and the script's own
 * stand over it. */
static void set_slurm(struct shell *shell, int64_t nodes, int64_t gpus)
{
	const struct {
		const char *name;
		int64_t value;
	} variables[] = {
		{ "SLURM_NNODES", nodes },
		{ "SLURM_JOB_NUM_NODES", nodes },
		{ "SLURM_GPUS_PER_NODE", gpus },
		{ "SLURM_GPUS_ON_NODE", gpus },
	};

	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *name = variables[i].name;
		const struct shell_word *words;
		struct shell_word word = { NULL, shell->line, false, NULL };
		char text[24];

		snprintf(text, sizeof text, "%lld", (long long)variables[i].value);
		if (variables[i].value < 1 ||
		    shell_lookup(shell, name, strlen(name), &words) > 0 ||
		    given_value(shell->arguments->given, name, strlen(name)))
			continue;
		word.text = arguments_keep(shell->arguments, text, strlen(text));
		if (word.text)
			shell_assign(shell, name, strlen(name), false, &word, 1);
	}
}

/* "#SBATCH --nodes=16" says how many GPUs there are. */
void shell_comment(struct shell *shell)
{
	const char *end = memchr(shell->at, '\n', (size_t)(shell->stop - shell->at));
	size_t length = (size_t)((end ? end : shell->stop) - shell->at);
	struct arguments *a = shell->arguments;

	if (length > 6 && memcmp(shell->at, "SBATCH", 6) == 0) {
		int64_t nodes = number_after(shell->at, length, "--nodes");
		int64_t gpus = number_after(shell->at, length, "--gpus-per-node");

		nodes = nodes ? nodes : number_after(shell->at, length, "-N ");
		gpus = gpus ? gpus : number_after(shell->at, length, "--gres=gpu");
		/* srun's own ranks, one a GPU; torchrun has a single task on a node */
		int64_t tasks = number_after(shell->at, length, "--ntasks-per-node");

		if (!gpus && tasks > 1 && a->per_node == 0)
			gpus = tasks;
		a->nodes = nodes ? nodes : a->nodes;
		a->per_node = gpus ? gpus : a->per_node;
		set_slurm(shell, nodes, gpus);
	}
	shell->at += length;
}

/* A script that nobody gave arguments to, and that says itself how it is called:
 * "# sh run.sh dsw 7B 1 ..." of its own. */
static bool take_usage(struct shell *shell)
{
	static const char *const starts[] = { "bash ", "sh ", "./" };
	struct arguments *a = shell->arguments;
	int line = 1;

	for (const char *at = shell->start; at < shell->stop; line++) {
		const char *end = memchr(at, '\n', (size_t)(shell->stop - at));
		const char *word = at, *name;
		size_t width;

		end = end ? end : shell->stop;
		for (; word < end && (*word == '#' || *word == ' '); word++)
			;
		width = (size_t)(end - word);
		name = *at == '#' ? memmem(word, width, ".sh ", 4) : NULL;
		for (size_t i = 0; name && i < sizeof starts / sizeof starts[0]; i++)
			if (strncmp(word, starts[i], strlen(starts[i])) == 0 &&
			    !memchr(word + strlen(starts[i]), ' ',
				    (size_t)(name - word) - strlen(starts[i]))) {
				a->usage_line = line;
				a->usage = arguments_keep(a, name + 4,
							  (size_t)(end - name - 4));
				return a->usage != NULL;
			}
		at = end + 1;
	}
	return false;
}

static void set_given(struct shell *shell, const char *text)
{
	const char *equals = strchr(text, '=');
	struct shell_word value = { equals ? equals + 1 : "", 1, false, NULL };
	size_t length = equals ? (size_t)(equals - text) : 0;
	long number = strtol(text, NULL, 10);

	if (!equals || length == 0)
		return;
	if (isdigit((unsigned char)text[0])) {
		if (number >= 1 && number <= shell->args)
			shell->word[shell->arg + number - 1] = value;
		return;
	}
	if (shell_assign(shell, text, length, false, &value, value.text[0] != '\0'))
		for (int i = 0; i < shell->variables; i++)
			if (strlen(shell->variable[i].name) == length &&
			    memcmp(shell->variable[i].name, text, length) == 0)
				shell->variable[i].fixed = true;
}

/* The highest number of an argument that is given by it. */
static int highest_set(const struct script_given *given)
{
	int most = 0;

	for (int i = 0; i < given->sets; i++) {
		long number = strtol(given->set[i], NULL, 10);

		if (number > most && number <= GIVEN_ARGS)
			most = (int)number;
	}
	return most;
}

/* What the caller says; arguments that are not given have no word. */
bool shell_begin(struct shell *shell)
{
	static const struct script_given nothing = { 0 };
	const struct script_given *given =
		shell->arguments->given ? shell->arguments->given : &nothing;
	struct command *words = calloc(1, sizeof *words);
	int highest = highest_set(given);
	char *usage = NULL;

	error_note_memory(!words);
	if (!words)
		return false;
	for (int i = 0; i < given->args; i++)
		words->word[words->count++] =
			(struct shell_word){ given->arg[i], 1, false, NULL };
	if (given->args == 0 && highest == 0 && take_usage(shell)) {
		usage = strdup(shell->arguments->usage);
		error_note_memory(!usage);
		for (char *at = usage, *save = NULL;
		     words->count < GIVEN_ARGS && (at = strtok_r(at, " \t\r", &save));
		     at = NULL) {
			const char *kept =
				arguments_keep(shell->arguments, at, strlen(at));

			words->word[words->count++] =
				(struct shell_word){ kept ? kept : "",
						     shell->arguments->usage_line,
						     false, NULL };
		}
	}
	while (words->count < highest)
		words->word[words->count++] =
			(struct shell_word){ "", 1, false, "an argument" };
	shell_set_args(shell, words->word, words->count);
	for (int i = 0; i < given->sets; i++)
		set_given(shell, given->set[i]);
	free(usage);
	free(words);
	return true;
}
