/* launch.c - see launch.h. The command: MaxText's README, "python3 -m MaxText.train
 * base.yml key=value"; with xpk it stands as one word behind --command. */
#include "presets/maxtext/launch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "presets/script/notes.h"
#include "presets/script/shell.h"

struct launch {
	struct arguments arguments; /* owns the words */
	struct pairs *pairs;
	struct error *error;
	bool seen, broken;
	bool trainer; /* the word before was a trainer's module */
};

/* A line that runs Python on MaxText; the comments of its YAML show such lines, too. */
bool maxtext_is_script(const char *text)
{
	for (const char *line = text; *line != '\0';) {
		size_t length = strcspn(line, "\n");
		const char *first = line + strspn(line, " \t");

		bool named = memmem(line, length, "MaxText", 7) ||
			     memmem(line, length, "maxtext", 7);

		/* a command, or what a variable keeps of one */
		if (*first != '#' && named &&
		    (memmem(line, length, "python", 6) ||
		     memmem(line, length, "-m ", 3)))
			return true;
		line += length;
		line += *line == '\n';
	}
	return false;
}

static bool ends_in(const char *word, const char *ending)
{
	size_t length = strlen(word), tail = strlen(ending);

	return length >= tail && strcmp(word + length - tail, ending) == 0;
}

/* The last of a key counts, as the command line has it. */
static bool set(struct launch *l, const char *key, const char *value, int line)
{
	return pairs_set(l->pairs, key, value, line, l->error);
}

/* "per_device_batch_size=2"; False and True as YAML has them. */
static bool add_setting(struct launch *l, const char *word,
			const struct shell_word *from)
{
	size_t length = strcspn(word, "=");
	char key[PAIRS_MAX_KEY];

	if (word[length] == '\0' || length == 0 || length >= sizeof key ||
	    !(isalpha((unsigned char)word[0]) || word[0] == '_') ||
	    strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
			 "0123456789") != length)
		return true;
	snprintf(key, sizeof key, "%.*s", (int)length, word);
	word += length + 1;
	if (from->missing && !maxtext_knows(key))
		return true;
	if (from->missing &&
	    (word[0] == '\0' || strcmp(from->text, word - 1 - strlen(key)) == 0))
		return script_missing(&l->arguments, key, from->line, from->missing,
				      l->error);
	if (word[0] == '\'' || word[0] == '"')
		word++;
	length = strcspn(word, "'\"");
	char value[PAIRS_MAX_VALUE];

	snprintf(value, sizeof value, "%.*s", (int)length, word);
	if (strcmp(value, "True") == 0 || strcmp(value, "False") == 0)
		value[0] = (char)tolower((unsigned char)value[0]);
	return value[0] == '\0' || set(l, key, value, from->line);
}

/* "maxtext.trainers.post_train.sft.train_sft": a trainer, which has base.yml where no
 * YAML is named behind it. */
static bool is_trainer(const char *word)
{
	return (strncmp(word, "maxtext.trainers.", 17) == 0 ||
		strncmp(word, "MaxText.", 8) == 0) &&
	       strstr(word, ".train") && !strchr(word, '=');
}

/* What is asked of the cluster stands before the program, all behind its YAML is
 * settings. */
static bool add_word(struct launch *l, const char *word, const struct shell_word *from,
		     bool *program, bool *config)
{
	/* of xpk, which called the first --tpu-type */
	if (strncmp(word, "--device-type=", 14) == 0)
		return set(l, "device", word + 14, from->line);
	if (strncmp(word, "--tpu-type=", 11) == 0)
		return set(l, "device", word + 11, from->line);
	if (strncmp(word, "--num-slices=", 13) == 0)
		return set(l, "slices", word + 13, from->line);
	if (*program && !*config && l->trainer && strchr(word, '=')) {
		*config = l->seen = true;
		if (!set(l, "config", "base.yml", from->line))
			return false;
	}
	*program = *program || strstr(word, "train");
	l->trainer = is_trainer(word);
	if (*config)
		return add_setting(l, word, from);
	if (!*program || !ends_in(word, ".yml"))
		return true;
	*config = l->seen = true;
	return set(l, "config", word, from->line);
}

static bool take_command(void *context, const struct shell_word *words, int count)
{
	struct launch *l = context;
	bool program = false, config = false;

	if (l->seen)
		return false;
	for (int i = 0; i < count && !l->broken; i++) {
		char text[PAIRS_MAX_VALUE];

		/* a word of words, as behind --command */
		for (const char *at = words[i].text; *at != '\0' && !l->broken;) {
			size_t length = strcspn(at, " \t\n");

			snprintf(text, sizeof text, "%.*s", (int)length, at);
			l->broken = length > 0 &&
				    !add_word(l, text, &words[i], &program, &config);
			at += length;
			at += strspn(at, " \t\n");
		}
	}
	return !l->broken;
}

/* What stands behind the first such word, to the end of the line or a quote. */
static size_t value_behind(const char *text, const char *word, const char **value)
{
	const char *at = strstr(text, word);

	if (!at)
		return 0;
	at += strlen(word);
	at += strspn(at, " \"'");
	*value = at;
	return strcspn(at, " \"'\r\n");
}

/* A manifest for GKE says which chips in which torus by the node that it asks for. */
static bool add_node(struct launch *l, const char *text)
{
	static const char *const kinds[][2] = { { "tpu7x", "tpu7x-" },
						{ "tpu-v6e-slice", "v6e-" } };
	const char *kind, *torus;
	size_t length = value_behind(text, "gke-tpu-accelerator:", &kind);
	size_t sides = value_behind(text, "gke-tpu-topology:", &torus);
	char device[64];

	if (sides == 0)
		sides = value_behind(text, "gke-tpu-slice-topology:", &torus);
	if (length == 0 || sides == 0 || sides > 32 || pairs_find(l->pairs, "device"))
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strlen(kinds[i][0]) == length &&
		    strncmp(kinds[i][0], kind, length) == 0) {
			snprintf(device, sizeof device, "%s%.*s", kinds[i][1],
				 (int)sides, torus);
			return set(l, "device", device, 1);
		}
	return true;
}

bool maxtext_pairs(struct pairs *out, const char *file, const char *text, size_t length,
		   struct import_report *report, struct error *error)
{
	struct launch l = { .arguments = { .given = report->given },
			    .pairs = out,
			    .error = error };
	struct shell_visitor visitor = { .context = &l, .command = take_command };
	bool good;

	pairs_begin(out, file);
	snprintf(l.arguments.file, sizeof l.arguments.file, "%.255s", file);
	good = shell_read(&l.arguments, text, length, &visitor, error) && !l.broken;
	if (good && !l.seen)
		good = error_set(error, file, 1,
				 "no command of MaxText's: expected its train.py or "
				 "module, a YAML file and key=value");
	good = good && add_node(&l, text);
	script_note(&l.arguments, report);
	arguments_free(&l.arguments);
	if (!good)
		pairs_free(out);
	return good;
}
