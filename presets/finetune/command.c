/* command.c - see command.h. */
#include "presets/finetune/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/manifest.h"
#include "presets/pairs/mapping.h"
#include "presets/script/notes.h"
#include "presets/script/shell.h"

struct launch {
	struct arguments arguments; /* owns the words */
	const struct shell *shell;
	struct pairs *pairs;
	struct error *error;
	int seen, depth;
	int program; /* where the words of the command that is read name it */
	bool broken;
	char idle[80]; /* a tool's command that trains nothing */
	int idle_line;
};

enum { MAX_DEPTH = 2 };

/* Whether a line begins with a key. */
static bool has_line(const char *text, const char *key)
{
	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key))
		if (at == text || at[-1] == '\n')
			return true;
	return false;
}

bool command_is_yaml(const char *text)
{
	/* ms-swift's files call it so */
	return has_line(text, "model_name_or_path:") || has_line(text, "model:");
}

static const char *base_of(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

static bool ends_in(const char *word, const char *ending)
{
	size_t length = strlen(word), tail = strlen(ending);

	return length >= tail && strcmp(word + length - tail, ending) == 0;
}

/* "--per_device_train_batch_size=4" has this key, '-' and '_' alike. */
static bool has_flag(const struct shell_word *words, int count, const char *key)
{
	size_t length = strlen(key), k;

	for (int i = 0; i < count; i++) {
		const char *text = words[i].text;

		if (text[0] != '-' || text[1] != '-')
			continue;
		for (k = 0; k < length; k++)
			if (text[2 + k] != key[k] &&
			    !(text[2 + k] == '-' && key[k] == '_'))
				break;
		if (k == length && (text[2 + k] == '\0' || text[2 + k] == '='))
			return true;
	}
	return false;
}

/* The command line tools of three trainers, and the words behind their names. */
static bool is_tool(const struct shell_word *words, int count, int at, char *name,
		    size_t size)
{
	static const char *const swift[] = { "sft",   "pt",     "rlhf",    "export",
					     "infer", "deploy", "eval",    "app",
					     "ui",    "sample", "rollout", "web-ui",
					     NULL };
	static const char *const factory[] = { "train", "export", "chat", "api",
					       "eval",  "webui",  NULL };
	static const char *const trl[] = { "sft",    "dpo",  "grpo", "kto",
					   "reward", "rloo", "orpo", "cpo",
					   "bco",    "ppo",  "gkd",  NULL };
	const char *word = base_of(words[at].text);
	const char *const *tasks =
		strcmp(word, "swift") == 0 ? swift
		: strcmp(word, "llamafactory-cli") == 0 || strcmp(word, "lmf") == 0
			? factory
		: strcmp(word, "trl") == 0 ? trl
					   : NULL;

	if (!tasks || at + 1 >= count || !word_among(words[at + 1].text, tasks))
		return false;
	snprintf(name, size, "%s %s", tasks == factory ? "llamafactory-cli" : word,
		 words[at + 1].text);
	return true;
}

/* "swift export", "llamafactory-cli chat": it may stand beside one that trains. */
static bool is_idle(const char *name)
{
	static const char *const trains[] = { "swift sft", "swift pt", "swift rlhf",
					      "llamafactory-cli train", NULL };

	return (strncmp(name, "swift ", 6) == 0 ||
		strncmp(name, "llamafactory-cli ", 17) == 0) &&
	       !word_among(name, trains);
}

/* Their first word may be a file of settings. */
static bool takes_file(const char *name)
{
	return strncmp(name, "llamafactory-cli ", 17) == 0 ||
	       strncmp(name, "swift ", 6) == 0;
}

/* What only starts the program behind it: optimum-habana's, torch's as a module. */
static bool is_launcher(const char *word)
{
	static const char *const names[] = { "gaudi_spawn.py",
					     "xla_spawn.py",
					     "torch.distributed.run",
					     "torch.distributed.launch",
					     "accelerate.commands.launch",
					     NULL };

	return word_among(base_of(word), names);
}

/* What is started, and the first word behind it; 0: another command. */
static int find_program(const struct shell_word *words, int count, char *name,
			size_t size)
{
	bool trains = has_flag(words, count, "per_device_train_batch_size") &&
		      (has_flag(words, count, "model_name_or_path") ||
		       has_flag(words, count, "model_name") ||
		       has_flag(words, count, "actor_model_name_or_path"));

	for (int i = 0; i < count; i++) {
		const char *word = words[i].text;

		if (is_tool(words, count, i, name, size))
			return i + 2;
		if (ends_in(word, "swift/cli/sft.py") ||
		    ends_in(word, "swift/cli/pt.py")) {
			snprintf(name, size, "swift %s",
				 ends_in(word, "sft.py") ? "sft" : "pt");
			return i + 1;
		}
		if (trains && !is_launcher(word) &&
		    (ends_in(word, ".py") ||
		     (i > 0 && strcmp(words[i - 1].text, "-m") == 0))) {
			snprintf(name, size, "%.60s", base_of(word));
			return i + 1;
		}
	}
	return 0;
}

/* "True", "$UNSET", "16": the words up to the next flag. Returns how many. */
static int value_of(const struct shell_word *words, int count, int at, char *out,
		    size_t size, const struct shell_word **odd)
{
	int taken = 0;

	out[0] = '\0';
	for (; at + taken < count; taken++) {
		const struct shell_word *word = &words[at + taken];
		size_t used = strlen(out);

		if (word->text[0] == '-' && word->text[1] == '-' &&
		    word->text[2] != '\0')
			break;
		if (!*odd && (word->missing || word->unknown))
			*odd = word;
		snprintf(out + used, size - used, "%s%s", used ? " " : "", word->text);
	}
	return taken;
}

/* A setting of the plan must be known; paths and names of runs need not be. `odd`: a
 * word that is not, `none`: there is no word at all. */
static bool is_told(struct launch *l, const char *key, int line,
		    const struct shell_word *odd, bool none)
{
	static const char *const plan[] = { "model",
					    "model_name_or_path",
					    "model_name",
					    "model_id_or_path",
					    "max_length",
					    "max_seq_length",
					    "model_max_length",
					    "block_size",
					    "per_device_train_batch_size",
					    "gradient_accumulation_steps",
					    "zero_stage",
					    "lora_rank",
					    "lora_r",
					    NULL };

	const char *missing = odd    ? odd->missing
			      : none ? script_variable(l->shell, key)
				     : NULL;

	if ((!odd && !none) || !word_among(key, plan))
		return true;
	if (missing)
		return script_missing(&l->arguments, key, line, missing, l->error);
	return error_set(l->error, l->pairs->file, line,
			 "--%s hangs on what only running could tell; write its value "
			 "there",
			 key);
}

/* Flags of accelerate's launcher (accelerate/commands/launch.py) and of DeepSpeed's
 * that say what files of the Trainer say otherwise. */
static void spell_key(char key[PAIRS_MAX_KEY])
{
	static const char *const words[][2] = {
		{ "deepspeed_config", "deepspeed" },
		{ "deepspeed_config_file", "deepspeed" },
		{ "use_fsdp", "fsdp" },
		{ "fsdp_sharding_strategy", "fsdp_config.fsdp_sharding_strategy" },
		{ "fsdp_offload_params", "fsdp_config.fsdp_offload_params" },
		{ "fsdp_activation_checkpointing",
		  "fsdp_config.fsdp_activation_checkpointing" },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(key, words[i][0]) == 0) {
			strcpy(key, words[i][1]);
			return;
		}
}

/* "--bf16", "--bf16 True", "--bf16=true". Returns the word behind, 0 with the error. */
static int add_flag(struct launch *l, const struct shell_word *words, int count, int at)
{
	const char *text = words[at].text + 2, *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const struct shell_word *odd = NULL;
	char key[PAIRS_MAX_KEY], value[PAIRS_MAX_VALUE];
	int taken = 0;

	if (length == 0 || length >= sizeof key)
		return at + 1;
	snprintf(key, sizeof key, "%.*s", (int)length, text);
	for (char *c = key; *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (equals) {
		odd = words[at].missing || words[at].unknown ? &words[at] : NULL;
		snprintf(value, sizeof value, "%s", equals + 1);
	} else {
		/* a launcher's switch may stand in front of the program */
		int stop = at < l->program ? l->program : count;

		taken = value_of(words, stop, at + 1, value, sizeof value, &odd);
		if (taken == 0)
			strcpy(value, "true");
	}
	if (strcmp(value, "True") == 0 || strcmp(value, "False") == 0)
		value[0] = (char)tolower((unsigned char)value[0]);
	if (!is_told(l, key, words[at].line, odd, taken == 0 && !equals))
		return 0;
	/* a switch of DeepSpeed's own, whose file has another flag */
	if (strcmp(key, "deepspeed") == 0 && taken == 0 && !equals)
		return at + 1;
	spell_key(key);
	/* optimum-habana's gaudi_spawn.py */
	if (at < l->program && strcmp(key, "world_size") == 0)
		strcpy(key, "num_processes");
	if (strcmp(value, "None") != 0 && !odd &&
	    !pairs_set(l->pairs, key, value, words[at].line, l->error))
		return 0;
	return at + 1 + taken;
}

/* ms-swift takes the machines from the environment. */
static bool add_machines(struct launch *l, int line)
{
	static const char *const names[] = { "CUDA_VISIBLE_DEVICES", "NPROC_PER_NODE",
					     "NNODES" };

	for (size_t i = 0; i < sizeof names / sizeof names[0] && l->shell; i++) {
		const struct shell_word *words;

		if (shell_lookup(l->shell, names[i], strlen(names[i]), &words) != 1)
			continue;
		if (i > 0 && (words[0].unknown || words[0].missing))
			return error_set(l->error, l->pairs->file, line,
					 "%s is not known; --set %s=VALUE gives it",
					 names[i], names[i]);
		if (!words[0].unknown && !words[0].missing &&
		    !pairs_set(l->pairs, names[i], words[0].text, line, l->error))
			return false;
	}
	return true;
}

/* "accelerate launch swift/cli/sft.py" starts a process on each GPU that is seen, as
 * many as a configuration says that is not opened; `swift sft` alone is one. */
static bool add_processes(struct launch *l, const struct shell_word *words, int count,
			  int program)
{
	const struct pair *seen = pairs_find(l->pairs, "CUDA_VISIBLE_DEVICES");
	bool accelerate = false;
	char gpus[16];
	int commas = 0;

	for (int i = 0; i < program; i++)
		accelerate =
			accelerate || strcmp(base_of(words[i].text), "accelerate") == 0;
	if (!accelerate || !seen || pairs_find(l->pairs, "NPROC_PER_NODE") ||
	    has_flag(words, count, "num_processes"))
		return true;
	for (const char *c = seen->value; *c != '\0'; c++)
		commas += *c == ',';
	snprintf(gpus, sizeof gpus, "%d", commas + 1);
	return pairs_set(l->pairs, "NPROC_PER_NODE", gpus, seen->line, l->error);
}

/* "python finetune.py" is one process, on one GPU where it sees one. */
static bool add_single(struct launch *l, const struct shell_word *words, int line)
{
	static const char name[] = "CUDA_VISIBLE_DEVICES";
	const struct shell_word *seen;
	const char *program = base_of(words[0].text);

	if (strncmp(program, "python", 6) != 0 || !l->shell ||
	    shell_lookup(l->shell, name, strlen(name), &seen) != 1 || seen[0].unknown ||
	    seen[0].missing || !isdigit((unsigned char)*seen[0].text) ||
	    strchr(seen[0].text, ','))
		return true;
	return pairs_set(l->pairs, "num_processes", "1", line, l->error);
}

static bool take_command(void *context, const struct shell_word *words, int count);

/* bash -c "torchrun train.py --flag ...": a command inside a word. */
static bool look_inside(struct launch *l, const struct shell_word *words, int count)
{
	struct shell_visitor visitor = { .context = l,
					 .command = take_command,
					 .outer = l->shell };

	for (int i = 0; i < count && !l->broken && l->depth < MAX_DEPTH; i++) {
		if (!strstr(words[i].text, " --") && !strstr(words[i].text, "\n--"))
			continue;
		l->depth++;
		l->broken = !shell_read(&l->arguments, words[i].text,
					strlen(words[i].text), &visitor, l->error) ||
			    l->broken;
		l->depth--;
	}
	return !l->broken;
}

static bool take_command(void *context, const struct shell_word *words, int count)
{
	struct launch *l = context;
	char name[80];
	int behind = find_program(words, count, name, sizeof name);

	if (behind == 0)
		return look_inside(l, words, count);
	if (is_idle(name)) {
		if (l->idle_line == 0)
			snprintf(l->idle, sizeof l->idle, "%s", name);
		l->idle_line = words[behind - 1].line;
		return true;
	}
	if (l->seen++ > 0)
		return true;
	l->program = behind - 1;
	l->broken = !pairs_set(l->pairs, "command", name, words[behind - 1].line,
			       l->error) ||
		    (strncmp(name, "swift ", 6) == 0 &&
		     (!add_machines(l, words[behind - 1].line) ||
		      !add_processes(l, words, count, behind - 1))) ||
		    (behind == 2 && strcmp(base_of(words[1].text), name) == 0 &&
		     !add_single(l, words, words[0].line));
	if (!l->broken && takes_file(name) && behind < count &&
	    words[behind].text[0] != '-')
		l->broken = !pairs_set(l->pairs, "config", words[behind].text,
				       words[behind].line, l->error);
	for (int i = 0; i < count && !l->broken;) {
		bool flag = words[i].text[0] == '-' && words[i].text[1] == '-';

		i = flag ? add_flag(l, words, count, i) : i + 1;
		l->broken = i == 0;
	}
	return !l->broken;
}

static void begin(void *context, const struct shell *shell)
{
	((struct launch *)context)->shell = shell;
}

bool command_pairs(struct pairs *out, const char *file, const char *text, size_t length,
		   struct import_report *report, struct error *error)
{
	struct launch l = { .arguments = { .given = report->given },
			    .pairs = out,
			    .error = error };
	struct shell_visitor visitor = { .context = &l,
					 .begin = begin,
					 .command = take_command };
	char *script = manifest_commands(text, length);
	bool good;

	pairs_begin(out, file);
	snprintf(l.arguments.file, sizeof l.arguments.file, "%.255s", file);
	good = shell_read(&l.arguments, script ? script : text,
			  script ? strlen(script) : length, &visitor, error) &&
	       !l.broken;
	free(script);
	if (good && l.seen == 0 && l.idle_line > 0)
		good = error_set(error, file, l.idle_line,
				 "%s trains nothing; swift sft and pt, trl sft and "
				 "llamafactory-cli train are read, and of servers the "
				 "commands of vllm, sglang and trtllm",
				 l.idle);
	else if (good && l.seen == 0)
		good = error_set(error, file, 1,
				 "no command of transformers' Trainer: expected swift "
				 "sft, trl sft, or a program with --model_name_or_path "
				 "and --per_device_train_batch_size");
	if (good && l.seen > 1)
		import_note(report, IMPORT_ASSUMED, "commands",
			    "the first of %d is read", l.seen);
	script_note(&l.arguments, report);
	arguments_free(&l.arguments);
	if (!good)
		pairs_free(out);
	return good;
}
