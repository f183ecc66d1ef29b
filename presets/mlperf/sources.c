/* sources.c - the settings that a submission's script takes from scripts beside it:
 * "source $(dirname ${BASH_SOURCE[0]})/config_common.sh".
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/mlperf/sources.h"
#include "presets/script/shell.h"
#include "presets/stream.h"

enum { MAX_BYTES = 1 << 20, MAX_SOURCES = 16, MAX_DEPTH = 3, MAX_PATH = 512 };

struct source {
	char name[128];
	int line;
};

/* The last part of the path that a line sources, in the script's own folder; false
 * where it is none. */
static bool take_name(const char *line, size_t length, char name[128])
{
	const char *at = line + strspn(line, " \t"), *stop = line + length;
	size_t used = 0;

	if (strncmp(at, "source ", 7) != 0 && strncmp(at, ". ", 2) != 0)
		return false;
	while (stop > at && strchr(" \t\r\"';", stop[-1]))
		stop--;
	for (at = stop;
	     at > line && (isalnum((unsigned char)at[-1]) || strchr("_-.", at[-1]));
	     at--)
		used++;
	if (used == 0 || used >= 128 || at == line || at[0] == '.' ||
	    (at[-1] != '/' && at[-1] != ' '))
		return false;
	snprintf(name, 128, "%.*s", (int)used, at);
	return true;
}

static int find_sources(const char *text, struct source list[MAX_SOURCES])
{
	int count = 0, line = 1;

	for (const char *at = text; *at != '\0' && count < MAX_SOURCES; line++) {
		size_t length = strcspn(at, "\n");

		if (take_name(at, length, list[count].name))
			list[count++].line = line;
		at += length + (at[length] == '\n');
	}
	return count;
}

bool mlperf_take_variables(void *context, const struct shell *shell)
{
	struct pairs *pairs = context;

	for (int i = 0; i < shell->variables; i++) {
		const struct shell_variable *v = &shell->variable[i];
		const struct shell_word *word = &shell->word[v->first];

		if (v->count == 1 && word->text[0] != '\0' &&
		    !pairs_add(pairs, v->name, word->text, word->line, NULL))
			return false;
	}
	return true;
}

static void add_sources(struct pairs *pairs, const char *folder, const char *text,
			int line, int depth);

/* What pairs have is set later, and stays. */
static void add_file(struct pairs *pairs, const char *folder,
		     const struct source *source, int depth)
{
	struct pairs own;
	struct arguments arguments = { 0 };
	struct shell_visitor visitor = { .context = &own,
					 .end = mlperf_take_variables };
	char path[MAX_PATH];
	char *text = NULL;
	size_t length;

	if (snprintf(path, sizeof path, "%s%s", folder, source->name) < MAX_PATH)
		text = stream_read_file(path, MAX_BYTES, &length, NULL);
	if (!text)
		return;
	pairs_begin(&own, path);
	if (shell_read(&arguments, text, length, &visitor, NULL))
		for (int i = 0; i < own.count; i++)
			if (!pairs_find(pairs, own.item[i].key))
				pairs_add(pairs, own.item[i].key, own.item[i].value,
					  source->line, NULL);
	arguments_free(&arguments);
	pairs_free(&own);
	if (depth > 1)
		add_sources(pairs, folder, text, source->line, depth - 1);
	free(text);
}

/* The last one first: it has the last word. Line: where the outermost script says so,
 * 0 where that is this text. */
static void add_sources(struct pairs *pairs, const char *folder, const char *text,
			int line, int depth)
{
	struct source list[MAX_SOURCES];

	for (int i = find_sources(text, list) - 1; i >= 0; i--) {
		list[i].line = line > 0 ? line : list[i].line;
		pairs_add(pairs, "source", list[i].name, list[i].line, NULL);
		add_file(pairs, folder, &list[i], depth);
	}
}

void mlperf_add_sources(struct pairs *pairs, const char *file, const char *text)
{
	const char *slash = strrchr(file, '/');
	char folder[MAX_PATH];

	if (strlen(file) >= sizeof folder)
		return;
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file + 1) : 0,
		 file);
	add_sources(pairs, folder, text, 0, MAX_DEPTH);
}
