/* flags.c - words of a command that starts a server, as flags of its tool; see tool.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "presets/serving/tool.h"

bool word_is_program(const char *word, const char *program)
{
	static const char unit[] = "ExecStart="; /* of systemd */
	const char *slash = strrchr(word, '/');

	if (!slash && strncmp(word, unit, sizeof unit - 1) == 0)
		word += sizeof unit - 1;
	return strcmp(slash ? slash + 1 : word, program) == 0;
}

bool word_is_flag(const char *word)
{
	size_t dashes = strspn(word, "-");

	return dashes >= 1 && dashes <= 2 && isalpha((unsigned char)word[dashes]);
}

bool words_have_flag(const struct shell_word *words, int count)
{
	for (int i = 0; i < count; i++)
		if (word_is_flag(words[i].text))
			return true;
	return false;
}

const struct mapping *tool_row(const struct tool *tool, const char *key)
{
	for (const struct mapping *row = tool->rows; row->key; row++)
		if (strcmp(row->key, key) == 0)
			return row;
	return NULL;
}

enum { SHORT_FORM = 6 };

/* One more that an abbreviation may mean: *found, or *several. */
static void weigh(const char *key, const char *name, const char **found, bool *several)
{
	/* members of a flag's JSON are none */
	if (strncmp(name, key, strlen(key)) != 0 || strchr(name, '.'))
		return;
	*several = *several || (*found && strcmp(*found, name) != 0);
	*found = name;
}

/* Python's argparse takes the beginning of a flag for it where it is of no other:
 * "--mem-frac". A command that runs has none of the others. */
static void complete(const struct tool *tool, char out[128])
{
	const char *const *lists[] = { tool->others, tool->model_flags, tool->aliases };
	const char *found = NULL;
	bool several = false;

	if (strlen(out) < SHORT_FORM || tool_row(tool, out) ||
	    word_among(out, tool->others) || word_among(out, tool->model_flags) ||
	    word_among(out, tool->switches) || word_among(out, tool->variables) ||
	    (tool->objects && word_among(out, tool->objects)))
		return;
	for (const struct mapping *row = tool->rows; row->key; row++)
		weigh(out, row->key, &found, &several);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (const char *const *name = lists[i]; name && *name; name++)
			weigh(out, *name, &found, &several);
	if (found && !several)
		snprintf(out, 128, "%s", found);
}

void tool_key(const struct tool *tool, const char *name, char out[128])
{
	char other = tool->joint == '-' ? '_' : '-';
	size_t length = 0;

	while (*name == '-')
		name++;
	for (; name[length] != '\0' && length < 127; length++)
		out[length] = name[length] == other ? tool->joint : name[length];
	out[length] = '\0';
	for (const char *const *a = tool->aliases; a && a[0]; a += 2)
		if (strcmp(a[0], out) == 0) {
			snprintf(out, 128, "%s", a[1]);
			return;
		}
	complete(tool, out);
}

static bool is_switch(const struct tool *tool, const char *key)
{
	const struct mapping *row = tool_row(tool, key);

	return (row && row->words && row->words[0] == '=') ||
	       word_among(key, tool->switches);
}

static bool is_truth(const char *word)
{
	return strcasecmp(word, "true") == 0 || strcasecmp(word, "false") == 0;
}

int tool_values(const struct tool *tool, const char *key,
		const struct shell_word *words, int count, char value[4096])
{
	bool switches = is_switch(tool, key), known;
	size_t used = 0;
	int taken = 0;

	value[0] = '\0';
	if (switches && (count == 0 || !is_truth(words[0].text)))
		return 0;
	known = tool_row(tool, key) || word_among(key, tool->others) ||
		word_among(key, tool->model_flags);
	while (taken < count && !word_is_flag(words[taken].text) && used < 4095) {
		used += (size_t)snprintf(value + used, 4096 - used, "%s%s",
					 taken ? " " : "", words[taken].text);
		taken++;
		if (known)
			break;
	}
	return taken;
}
