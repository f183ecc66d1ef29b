/* launch.c - which of a script's commands starts the training, and on how many GPUs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/megatron/forms.h"
#include "presets/megatron/parts.h"
#include "presets/pairs/mapping.h"
#include "presets/script/notes.h"

/* The launch is the command with the most flags and overrides. */
struct launch {
	struct arguments *arguments;
	struct shell_word *word;
	int count, flags;
	bool full, shown;          /* the launch is an echo */
	int depth;                 /* of words within words that are looked into */
	int line;                  /* of the outermost of them; 0 = none */
	int looked;                /* words that were */
	const char *loop;          /* around the launch, NULL */
	const struct shell *shell; /* of the script itself */
};

/* A script that is handed on may itself hand on a command. */
enum { MAX_LOOKED = 64, MAX_DEPTH = 2 };

static int count_flags(const struct shell_word *words, int count)
{
	int flags = 0;

	for (int i = 0; i < count; i++)
		flags += strncmp(words[i].text, "--", 2) == 0 ||
			 bridge_is_override(words[i].text);
	return flags;
}

static bool see_command(void *context, const struct shell_word *words, int count);

/* srun sh -c "python pretrain_gpt.py --num-layers ...": a command inside a word. */
static bool look_inside(struct launch *launch, const struct shell_word *words,
			int count)
{
	struct shell_visitor visitor = { .context = launch,
					 .command = see_command,
					 .outer = launch->shell };
	bool good = true;

	for (int i = 0; i < count && good && launch->looked < MAX_LOOKED; i++) {
		if (!strstr(words[i].text, " --") && !strstr(words[i].text, "\n--") &&
		    !strstr(words[i].text, " model."))
			continue;
		launch->looked++;
		if (launch->depth++ == 0)
			launch->line = words[i].line;
		good = shell_read(launch->arguments, words[i].text,
				  strlen(words[i].text), &visitor, NULL);
		if (--launch->depth == 0)
			launch->line = 0;
	}
	return good;
}

static bool see_command(void *context, const struct shell_word *words, int count)
{
	struct launch *launch = context;
	int flags = count_flags(words, count);
	struct shell_word *copy;

	if (launch->depth < MAX_DEPTH && !look_inside(launch, words, count))
		launch->full = true;
	if (count > 1 && strstr(words[1].text, "/Ascend/ascend-toolkit/"))
		launch->arguments->machine = "ascend";
	/* what is shown first is run behind */
	if (flags < launch->flags || (flags == launch->flags && !launch->shown))
		return true;
	copy = malloc((size_t)count * sizeof *copy);
	launch->full = launch->full || !copy;
	error_note_memory(!copy);
	if (!copy)
		return false;
	memcpy(copy, words, (size_t)count * sizeof *copy);
	for (int i = 0; i < count && launch->line != 0; i++)
		copy[i].line = launch->line;
	free(launch->word);
	launch->word = copy;
	launch->count = count;
	launch->flags = flags;
	launch->shown = flags > 0 && strcmp(words[0].text, "echo") == 0;
	launch->loop = launch->arguments->loop;
	return true;
}

/* cat > run.sh <<END, sbatch <<END: a script that is written or handed on. What is only
 * printed is words to whoever calls. */
static bool see_document(void *context, const char *head, const char *text, int line)
{
	struct launch *launch = context;
	struct shell_word word = { text, line, false, NULL };
	bool printed = strncmp(head + strspn(head, " \t"), "cat", 3) == 0 &&
		       !strchr(head, '>') && !strchr(head, '|');

	if (launch->depth == 0 && !printed && !look_inside(launch, &word, 1))
		launch->full = true;
	return !launch->full;
}

static void note_world(const struct shell *shell)
{
	static const char *const names[] = { "WORLD_SIZE", "NUM_GPUS", "N_GPUS" };
	struct arguments *a = shell->arguments;
	const struct argument *node = arguments_find(a, "nnodes");
	const struct argument *each = arguments_find(a, "nproc-per-node");
	const struct argument *all = arguments_find(a, "num-gpus");

	/* setup_experiment.py of Megatron-Bridge counts all GPUs, deepspeed those of a
	 * node */
	if (!each && all && arguments_find(a, "gpus-per-node")) {
		a->world = strtoll(all->value, NULL, 10);
		return;
	}
	if (!each) {
		node = arguments_find(a, "num-nodes");
		each = all;
	}
	/* slime's own: GPUs that train, beside those that serve */
	if (!each && arguments_find(a, "actor-num-gpus-per-node")) {
		node = arguments_find(a, "actor-num-nodes");
		each = arguments_find(a, "actor-num-gpus-per-node");
	}
	if (each)
		a->per_node = strtoll(each->value, NULL, 10);
	if (each || node)
		a->nodes = node ? strtoll(node->value, NULL, 10) : 1;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && a->world == 0; i++) {
		const struct shell_word *words;

		if (shell_lookup(shell, names[i], strlen(names[i]), &words) == 1)
			a->world = strtoll(words[0].text, NULL, 10);
	}
	arguments_take_world(a);
}

/* A file of arrays without a command: all their words, in order. */
static bool add_arrays(const struct shell *shell)
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

enum { TEXT_WORDS = 512 };

/* "  --num-layers 36 --hidden-size 2048": a text of flags as its words. */
static bool add_text(struct arguments *arguments, const struct shell_word *text)
{
	struct shell_word word[TEXT_WORDS];
	const char *at = text->text;
	int count = 0;

	while (*(at += strspn(at, " \t\n")) != '\0') {
		size_t length = strcspn(at, " \t\n");

		if (count == TEXT_WORDS)
			return false;
		word[count] =
			(struct shell_word){ arguments_keep(arguments, at, length),
					     text->line, text->unknown, NULL };
		if (!word[count++].text)
			return false;
		at += length;
	}
	return arguments_add_words(arguments, word, count);
}

/* The same of variables that other scripts take their flags from. */
static bool add_texts(const struct shell *shell)
{
	static const char tokenizer[] = "TOKENIZER_MODEL";
	const struct shell_word *named;

	for (int i = 0; i < shell->variables; i++) {
		const struct shell_variable *v = &shell->variable[i];
		const struct shell_word *word = &shell->word[v->first];

		if (v->count == 1 && !v->array &&
		    strncmp(word->text + strspn(word->text, " \t\n"), "--", 2) == 0 &&
		    !add_text(shell->arguments, word))
			return false;
	}
	if (shell->arguments->count == 0 ||
	    shell_lookup(shell, tokenizer, sizeof tokenizer - 1, &named) != 1)
		return true;
	return arguments_add(shell->arguments, "tokenizer-model", named->text,
			     named->line);
}

static int64_t number_of(const struct shell *shell, const char *name)
{
	const struct shell_word *words;

	return shell_lookup(shell, name, strlen(name), &words) == 1
		       ? strtoll(words[0].text, NULL, 10)
		       : 0;
}

/* Its switches take true and false; off is what an absent one of Megatron's is, but for
 * the one that is on by default. */
static void drop_false(struct arguments *a)
{
	int kept = 0;

	for (int i = 0; i < a->count; i++)
		if (strcmp(a->item[i].value, "false") != 0 ||
		    strcmp(a->item[i].name, "use-distributed-optimizer") == 0)
			a->item[kept++] = a->item[i];
	a->count = kept;
}

/* "megatron sft --model ...", the launcher of ms-swift, which takes the machines from
 * the environment. */
static bool note_swift(const struct launch *launch, const struct shell *shell)
{
	static const char *const tasks[] = { "sft", "pt", "rlhf", "export", NULL };
	static const char *const plain[] = { "sft",     "pt",     "rlhf",   "export",
					     "infer",   "deploy", "eval",   "app",
					     "rollout", "sample", "web-ui", NULL };

	/* the same without Megatron trains by transformers, or serves */
	for (int i = 0; i + 1 < launch->count; i++)
		if (strcmp(launch->word[i].text, "swift") == 0 &&
		    word_among(launch->word[i + 1].text, plain))
			return arguments_add(launch->arguments, "swift-plain",
					     launch->word[i + 1].text,
					     launch->word[i + 1].line);
	for (int i = 0; i + 1 < launch->count; i++)
		if (strcmp(launch->word[i].text, "megatron") == 0 &&
		    word_among(launch->word[i + 1].text, tasks)) {
			int64_t nodes = number_of(shell, "NNODES");

			drop_false(launch->arguments);
			launch->arguments->per_node =
				number_of(shell, "NPROC_PER_NODE");
			launch->arguments->nodes = nodes > 0 ? nodes : 1;
			arguments_take_world(launch->arguments);
			return arguments_add(launch->arguments, "swift-task",
					     launch->word[i + 1].text,
					     launch->word[i + 1].line);
		}
	return true;
}

/* Set, but from what only running could tell. */
static bool is_untold(const struct shell *shell, const char *name)
{
	const struct shell_word *words;

	return shell_lookup(shell, name, strlen(name), &words) > 0 && words[0].unknown;
}

static void note_missing(const struct shell *shell)
{
	for (int i = 0; i < shell->arguments->count; i++) {
		struct argument *a = &shell->arguments->item[i];

		if (a->value[0] != '\0' || a->missing || megatron_is_switch(a->name))
			continue;
		a->missing = script_variable(shell, a->name);
		if (a->missing && shell_is_array(shell, a->missing, strlen(a->missing)))
			a->missing = NULL; /* of further flags, here of none */
		a->untold = a->missing && is_untold(shell, a->missing);
	}
}

/* "pretrain_bert.py": what the command starts. */
static bool add_program(const struct launch *launch)
{
	for (int i = 0; i < launch->count; i++) {
		const char *word = launch->word[i].text, *slash = strrchr(word, '/');
		size_t length = strlen(word);

		if (length > 3 && strcmp(word + length - 3, ".py") == 0)
			return arguments_add(launch->arguments, "program",
					     slash ? slash + 1 : word,
					     launch->word[i].line);
	}
	return true;
}

/* Transformer Engine takes some of its recipe from the environment
 * (transformer_engine/common/recipe/__init__.py, NVFP4BlockScaling). */
static bool add_recipe(const struct shell *shell)
{
	for (int i = 0; i < 3; i++) {
		const char *name = megatron_fp4_variables[i].name;
		const struct shell_word *words;

		if (shell_lookup(shell, name, strlen(name), &words) == 1 &&
		    !arguments_add(shell->arguments, name, words[0].text,
				   words[0].line))
			return false;
	}
	return true;
}

static void see_begin(void *context, const struct shell *shell)
{
	((struct launch *)context)->shell = shell;
}

/* HCCL_CONNECT_TIMEOUT and the like are of Ascend's library alone, and none else says
 * NPUs where it means GPUs. */
static void note_machine(const struct shell *shell)
{
	for (int i = 0; i < shell->variables; i++)
		if (strncmp(shell->variable[i].name, "HCCL_", 5) == 0 ||
		    strncmp(shell->variable[i].name, "ASCEND_", 7) == 0 ||
		    strncmp(shell->variable[i].name, "NPUS_PER_NODE", 13) == 0)
			shell->arguments->machine = "ascend";
}

static bool see_end(void *context, const struct shell *shell)
{
	struct launch *launch = context;
	bool good = launch->flags > 0 ? arguments_add_words(shell->arguments,
							    launch->word, launch->count)
				      : add_arrays(shell);

	if (good && shell->arguments->count == 0)
		good = add_texts(shell);
	shell->arguments->apart = launch->flags == 0;
	good = good && add_program(launch) && add_recipe(shell);
	launch->arguments->loop = launch->loop;
	if (good)
		note_world(shell);
	note_machine(shell);
	if (good)
		note_missing(shell);
	good = good && note_swift(launch, shell);
	return good && !launch->full;
}

bool arguments_from_shell(struct arguments *arguments, const char *text, size_t length,
			  struct error *error)
{
	struct launch launch = { .arguments = arguments };
	struct shell_visitor visitor = { .context = &launch,
					 .begin = see_begin,
					 .command = see_command,
					 .document = see_document,
					 .end = see_end };
	bool good = shell_read(arguments, text, length, &visitor, error);

	free(launch.word);
	return good;
}
