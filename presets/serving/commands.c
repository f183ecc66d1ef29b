/* commands.c - finds what starts a server, and makes pairs of its flags; see tool.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/tool.h"

enum { MAX_DOCUMENTS = 8 };

struct found_document {
	char *head;
	struct pairs keys;
};

struct finder {
	const struct tool *tool;
	struct server_commands *out;
	struct arguments arguments;   /* owns the words */
	const struct shell *shell[2]; /* of the script, and of one inside a word */
	int documents, depth;
	int64_t replicas; /* of what a manifest's container starts */
	enum role role;
	struct found_document document[MAX_DOCUMENTS];
	const char *file;
	struct import_report *report;
	struct error *error;
	bool broken;
};

/* Members of a JSON value become keys of their own where any of them is modelled. */
static bool add_object(struct finder *f, struct server_command *command,
		       const char *key, const char *value, int line)
{
	struct pairs members;
	bool good = strcmp(key, CONNECTORS_FLAG) == 0
			    ? connectors_read(&members, f->file, value)
			    : pairs_from_yaml(&members, f->file, value, strlen(value),
					      NULL);

	if (!good)
		return pairs_add(&command->flags, key, value, line, f->error);
	for (int i = 0; i < members.count && good; i++) {
		const char *member = members.item[i].key;
		char whole[128], name[128];

		snprintf(whole, sizeof whole, "%.50s.%.70s", key, member);
		tool_key(f->tool, whole, name);
		/* what stands for a flag of its own, or a variable */
		if (strncmp(member, "--", 2) == 0)
			snprintf(name, sizeof name, "%.127s", member + 2);
		good = pairs_add(&command->flags, name, members.item[i].value, line,
				 f->error);
	}
	pairs_free(&members);
	return good;
}

static bool add_flag(struct finder *f, struct server_command *command, const char *key,
		     const char *value, int line)
{
	if (word_among(key, f->tool->model_flags)) {
		snprintf(command->checkpoint, sizeof command->checkpoint, "%s", value);
		return true;
	}
	if (command->flags.count >= MAX_COMMAND_FLAGS)
		return error_set(f->error, f->file, line, "more than %d flags",
				 MAX_COMMAND_FLAGS);
	if (value[0] == '{' && word_among(key, f->tool->objects))
		return add_object(f, command, key, value, line);
	return pairs_add(&command->flags, key, value, line, f->error);
}

/* The checkpoint behind the values of a flag that nobody here knows: of two or more
 * words the last is none of its values where it is an id, "Qwen/Qwen3-8B". */
static bool is_positional(const struct finder *f, const char *key,
			  const struct shell_word *last, int taken)
{
	const char *slash = strchr(last->text, '/');

	return taken > 1 && strcmp(f->tool->name, "vllm") == 0 &&
	       strncmp(key, "lora", 4) != 0 && slash && slash > last->text &&
	       slash[1] != '\0' && !strpbrk(last->text, "={:,");
}

static int values_of(struct finder *f, struct server_command *command, const char *key,
		     const struct shell_word *words, int count, char value[4096])
{
	int taken = tool_values(f->tool, key, words, count, value);

	if (taken < 1 || command->checkpoint[0] != '\0' ||
	    !is_positional(f, key, &words[taken - 1], taken))
		return taken;
	tool_values(f->tool, key, words, taken - 1, value);
	return taken - 1;
}

static bool add_words(struct finder *f, struct server_command *command,
		      const struct shell_word *words, int count)
{
	for (int i = 0; i < count; i++) {
		const char *text = words[i].text, *equals = strchr(text, '=');
		char name[128], key[128], value[4096];
		int line = words[i].line;

		if (!word_is_flag(text)) {
			if (command->checkpoint[0] == '\0')
				snprintf(command->checkpoint,
					 sizeof command->checkpoint, "%s", text);
			continue;
		}
		snprintf(name, sizeof name, "%.*s",
			 equals && equals - text < 127 ? (int)(equals - text) : 127,
			 text);
		tool_key(f->tool, name, key);
		if (equals)
			snprintf(value, sizeof value, "%s", equals + 1);
		else
			i += values_of(f, command, key, words + i + 1, count - i - 1,
				       value);
		if (!add_flag(f, command, key, value, line))
			return false;
	}
	return true;
}

static struct server_command *begin(struct finder *f, int line)
{
	struct server_command *command;

	if (f->out->count == MAX_COMMANDS)
		return NULL;
	command = &f->out->item[f->out->count];
	memset(command, 0, sizeof *command);
	snprintf(command->flags.file, sizeof command->flags.file, "%s", f->file);
	command->line = line;
	command->replicas = f->replicas;
	return command;
}

static void see_begin(void *context, const struct shell *shell)
{
	struct finder *f = context;

	f->shell[f->depth] = shell;
}

/* What the command finds in its environment; what a file of its own asks for there is
 * known later. */
static bool add_variables(struct finder *f, struct server_command *command)
{
	const char *const *name = f->tool->variables;
	bool good = true, file = f->tool->file_flag &&
				 pairs_find(&command->flags, f->tool->file_flag);

	if (!name || !(file || f->tool->reads_variables(&command->flags)))
		return true;
	for (; *name && good; name++) {
		const struct shell_word *word;
		int words = 0;

		for (int depth = f->depth; depth >= 0 && words == 0; depth--)
			words = shell_lookup(f->shell[depth], *name, strlen(*name),
					     &word);
		if (words == 1 && !word->unknown && !word->missing &&
		    !pairs_find(&command->flags, *name))
			good = pairs_add(&command->flags, *name, word->text,
					 command->line, f->error);
	}
	return good;
}

static bool see_command(void *context, const struct shell_word *words, int count);

/* bash -c "vllm serve ...": a script inside a word. */
static bool look_inside(struct finder *f, const struct shell_word *words, int count)
{
	struct shell_visitor visitor = { .context = f,
					 .begin = see_begin,
					 .command = see_command,
					 .outer = f->shell[f->depth] };

	if (f->depth > 0)
		return true;
	f->depth++;
	for (int i = 0; i < count && !f->broken; i++)
		if (strchr(words[i].text, ' ') && strstr(words[i].text, f->tool->sign))
			f->broken =
				!shell_read(&f->arguments, words[i].text,
					    strlen(words[i].text), &visitor, f->error);
	f->depth--;
	return !f->broken;
}

/* The role that a manifest gives comes last: its servers say "kv_both". */
static bool add_role(struct finder *f, struct server_command *command)
{
	return f->role == ROLE_BOTH ||
	       pairs_add(&command->flags, f->tool->role_flag, f->tool->roles[f->role],
			 command->line, f->error);
}

/* A manifest's mark; anybody's script may have such words. */
static bool see_mark(struct finder *f, const struct shell_word *words, int count)
{
	long long replicas = count == 3 ? strtoll(words[1].text, NULL, 10) : 0;
	long role = count == 3 ? strtol(words[2].text, NULL, 10) : 0;

	if (count != 3 || strcmp(words[0].text, MANIFEST_MARK) != 0 || replicas < 1 ||
	    replicas > MANIFEST_REPLICAS || role < 0 || role >= ROLE_COUNT)
		return false;
	f->replicas = replicas;
	f->role = (enum role)role;
	return true;
}

/* python3 -c "from vllm.entrypoints import …": Python inside a word. */
static bool is_python(const struct finder *f, const char *word)
{
	return f->depth > 0 &&
	       (strcmp(word, "import") == 0 || strcmp(word, "from") == 0);
}

static bool see_command(void *context, const struct shell_word *words, int count)
{
	struct finder *f = context;
	int first = f->tool->starts(words, count);
	struct server_command *command;

	if (see_mark(f, words, count) || is_python(f, words[0].text))
		return true;
	if (first == 0)
		return look_inside(f, words, count);
	command = begin(f, words[first - 1].line);
	if (!command)
		return false;
	f->broken = !add_words(f, command, words + first, count - first) ||
		    !add_variables(f, command) || !add_role(f, command);
	pairs_keep_last(&command->flags);
	if (!f->broken && command->flags.count == 0 && command->checkpoint[0] == '\0' &&
	    !words_have_flag(words + first, count - first))
		pairs_free(&command->flags);
	else
		f->out->count++;
	return !f->broken;
}

static bool see_document(void *context, const char *head, const char *text, int line)
{
	struct finder *f = context;
	struct found_document *d = &f->document[f->documents];

	if (f->documents == MAX_DOCUMENTS)
		return true;
	/* cat > serve.sh <<END: a script that is written, where it is no YAML */
	if (!pairs_from_yaml(&d->keys, f->file, text, strlen(text), NULL))
		return look_inside(f, &(struct shell_word){ text, line, false, NULL },
				   1);
	d->head = strdup(head);
	error_note_memory(!d->head);
	f->documents += d->head != NULL;
	if (!d->head)
		pairs_free(&d->keys);
	return true;
}

/* "llm_api_args.enable_attention_dp", "serverArgs.max-model-len": arguments, whatever
 * the mapping around them is called. */
static const char *argument_of(const char *key)
{
	const char *dot = strchr(key, '.');

	return dot && dot - key > 4 && strncasecmp(dot - 4, "args", 4) == 0 ? dot + 1
									    : key;
}

/* Keys of a YAML as flags of a command; they overrule those before them. */
static bool add_keys(struct finder *f, struct server_command *command,
		     const struct pairs *keys)
{
	bool good = true;

	for (int i = 0; i < keys->count && good; i++) {
		char key[128];

		tool_key(f->tool, argument_of(keys->item[i].key), key);
		good = add_flag(f, command, key, keys->item[i].value,
				keys->item[i].line);
	}
	pairs_keep_last(&command->flags);
	return good;
}

static void remove_flag(struct server_command *command, const struct pair *flag)
{
	struct pairs *flags = &command->flags;
	int at = (int)(flag - flags->item);

	flags->count--;
	memmove(flags->item + at, flags->item + at + 1,
		(size_t)(flags->count - at) * sizeof *flags->item);
}

/* Settings that a command reads from a file: its own flags go before. */
static bool add_settings(struct finder *f, struct server_command *command,
			 const struct pairs *keys)
{
	bool named = command->checkpoint[0] != '\0', good = true;

	for (int i = 0; i < keys->count && good; i++) {
		const struct pair *pair = &keys->item[i];
		char key[128];

		tool_key(f->tool, pair->key, key);
		if (pairs_find(&command->flags, key) ||
		    (named && word_among(key, f->tool->model_flags)))
			continue;
		good = add_flag(f, command, key, pair->value, command->line);
	}
	return good;
}

/* What a file holds, whose flag is removed. */
static bool add_file(struct finder *f, struct server_command *command,
		     const struct pair *flag, const struct pairs *keys)
{
	bool own = f->tool->file_flag && strcmp(flag->key, f->tool->file_flag) == 0;

	remove_flag(command, flag);
	return own ? add_keys(f, command, keys) : add_settings(f, command, keys);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool refuse_elsewhere(struct finder *f, const struct pair *file, bool model)
{
	return error_set(f->error, f->file, file->line,
			 "%s stands in %.60s, which is not here; give it in the "
			 "command",
			 model ? "the model" : f->tool->degree_flag,
			 last_name(file->value));
}

/* The file that a command names: a here-document that it was written from, or one that
 * stands beside the script. */
static bool add_document(struct finder *f, struct server_command *command)
{
	const char *key =
		f->tool->file_flag ? f->tool->file_flag : f->tool->settings_flag;
	const struct pair *file = key ? pairs_find(&command->flags, key) : NULL;
	const char *name = file ? last_name(file->value) : "";
	struct pairs beside;
	bool good;

	if (!file)
		return true;
	for (int i = 0; i < f->documents; i++) {
		const struct found_document *d = &f->document[i];

		if (f->documents == 1 || (name[0] != '\0' && strstr(d->head, name)))
			return add_file(f, command, file, &d->keys);
	}
	if (beside_read(&beside, f->file, file->value)) {
		good = add_file(f, command, file, &beside);
		pairs_free(&beside);
		return good;
	}
	if (!f->tool->file_flag && command->checkpoint[0] == '\0' &&
	    f->report->model[0] == '\0')
		return refuse_elsewhere(f, file, true);
	/* degrees that are nowhere are in it */
	return pairs_find(&command->flags, f->tool->degree_flag) ||
	       refuse_elsewhere(f, file, false);
}

/* The tool's own YAML, where a file starts no server. */
static bool read_yaml(struct finder *f, const char *text, size_t length)
{
	struct server_command *command = begin(f, 1);
	struct pairs keys;
	bool known = false, good;

	if (!pairs_from_yaml(&keys, f->file, text, length, NULL))
		return true;
	for (int i = 0; i < keys.count && !known; i++) {
		char key[128];

		tool_key(f->tool, keys.item[i].key, key);
		known = tool_row(f->tool, key) || word_among(key, f->tool->others) ||
			word_among(key, f->tool->model_flags);
	}
	good = !known || add_keys(f, command, &keys);
	if (known)
		f->out->count++;
	pairs_free(&keys);
	return good;
}

/* A recipe's workers, one command a role. */
static bool read_recipe(struct finder *f, const char *text, size_t length)
{
	struct pairs recipe;
	bool good;

	const char *wanted = f->report->given ? f->report->given->function : NULL;

	if (!slurm_recipe(&recipe, f->file, text, length, wanted, f->error))
		return false;
	good = slurm_load(&recipe, &f->out->load, f->report, f->error);
	for (int role = ROLE_BOTH; role < ROLE_COUNT && good; role++) {
		struct server_command *command = begin(f, 1);
		struct pairs flags;

		pairs_begin(&flags, f->file);
		if (slurm_server(f->tool, &recipe, (enum role)role, &flags, command)) {
			good = add_keys(f, command, &flags);
			f->out->count++;
		}
		pairs_free(&flags);
	}
	pairs_free(&recipe);
	return good;
}

void commands_free(struct server_commands *commands)
{
	for (int i = 0; i < commands->count; i++)
		pairs_free(&commands->item[i].flags);
	commands->count = 0;
}

static bool find_all(struct finder *f, const char *text, size_t length)
{
	if (slurm_looks_like(text, length))
		return read_recipe(f, text, length) &&
		       (f->out->count > 0 ||
			error_set(f->error, f->file, 1,
				  "no backend.%s_config: a recipe for another server",
				  f->tool->name));

	struct shell_visitor visitor = { .context = f,
					 .begin = see_begin,
					 .command = see_command,
					 .document = see_document };
	char *script = manifest_script(f->tool, f->file, text, length);
	bool good = shell_read(&f->arguments, script ? script : text,
			       script ? strlen(script) : length, &visitor, f->error) &&
		    !f->broken;

	free(script);
	for (int i = 0; i < f->out->count && good; i++)
		good = add_document(f, &f->out->item[i]);
	if (good && f->out->count == 0)
		good = read_yaml(f, text, length);
	for (int i = 0; i < f->out->count && good; i++)
		checkpoint_served(&f->out->item[i], i == 0, f->report);
	if (good && f->out->count == 0)
		good = manifest_is_whole(f->file, text, length, f->error) &&
		       error_set(f->error, f->file, 1,
				 "no command starts a server; expected '%s' with its "
				 "flags, or the YAML that it takes",
				 f->tool->launch);
	return good;
}

bool commands_read(const struct tool *tool, const char *file, const char *text,
		   size_t length, struct server_commands *out,
		   struct import_report *report, struct error *error)
{
	struct finder *f = calloc(1, sizeof *f);
	bool good;

	out->count = 0;
	if (!f)
		return error_set(error, file, 0, "out of memory");
	f->tool = tool;
	f->replicas = 1;
	f->out = out;
	f->report = report;
	f->error = error;
	snprintf(f->arguments.file, sizeof f->arguments.file, "%s", file);
	error_clean(f->arguments.file);
	f->file = f->arguments.file;
	f->arguments.given = report->given;
	good = find_all(f, text, length);
	if (!good)
		commands_free(out);
	for (int i = 0; i < f->documents; i++) {
		free(f->document[i].head);
		pairs_free(&f->document[i].keys);
	}
	script_note(&f->arguments, report);
	arguments_free(&f->arguments);
	free(f);
	return good;
}
