/* print.c - see print.h. */
#include "presets/serving/print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *text)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return false;
	strtod(text, &end);
	return end != text && *end == '\0';
}

bool print_is_bare(const char *text)
{
	return is_number(text) || strcmp(text, "true") == 0 ||
	       strcmp(text, "false") == 0;
}

/* "1 2 4 8" was a list, and so were words where the tool has a list of them. */
static bool is_list(const struct tool *tool, const struct entry *entry)
{
	const char *text = entry->value;

	if (tool->lists && text[0] != '\0' && word_among(entry->key, tool->lists))
		return true;
	return strchr(text, ' ') && text[strspn(text, "0123456789 ")] == '\0';
}

static bool is_speculative(const char *key)
{
	return strncmp(key, "speculative", 11) == 0;
}

void print_keep(struct entries *flags, const char *key, const char *value)
{
	/* parts of a speculation that was switched off stay away */
	bool wanted = !is_speculative(key);

	for (int i = 0; i < flags->count; i++) {
		struct entry *entry = &flags->item[i];

		wanted = wanted || is_speculative(entry->key);
		if (strcmp(entry->key, key) != 0)
			continue;
		if (entry->text)
			snprintf(entry->value, sizeof entry->value, "%s", value);
		return;
	}
	if (wanted)
		entries_add(flags, key, value, false);
}

/* A variable and its default, and nothing that a shell would run. */
static bool is_variable(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_.:?-/${} ";

	return text[0] == '$' && text[strspn(text, plain)] == '\0';
}

/* Inside single quotes. */
static void put_inside(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", stream);
		else
			fputc(*text, stream);
}

static const char plain_word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.,+-/:=@%";

/* Variables stay what they are, and so do several words where they may be; what else a
 * shell would act on is quoted. */
static void put_value(FILE *stream, const char *value, bool words)
{
	size_t plain = strspn(value, plain_word);

	while (words && value[plain] != '\0' && strchr("${} ", value[plain]))
		plain += 1 + strspn(value + plain + 1, plain_word);
	if (is_variable(value)) {
		fprintf(stream, "\"%s\"", value);
	} else if (value[plain] == '\0' && (words || plain > 0)) {
		fputs(value, stream);
	} else {
		fputc('\'', stream);
		put_inside(stream, value);
		fputc('\'', stream);
	}
}

bool print_is_object(const struct entry *entry)
{
	return strcmp(entry->key, CONNECTORS_FLAG ".kv-connector-extra-config") == 0;
}

/* A JSON value inside single quotes. */
static void put_member(FILE *stream, const struct entry *entry)
{
	const char *value = entry->value;

	if (print_is_bare(value) || print_is_object(entry)) {
		put_inside(stream, value);
	} else if (is_variable(value)) {
		fprintf(stream, "\"'\"%s\"'\"", value);
	} else {
		fputc('"', stream);
		for (const char *c = value; *c != '\0'; c++) {
			const char one[] = { *c, '\0' };

			if (*c == '"' || *c == '\\')
				fputc('\\', stream);
			put_inside(stream, one);
		}
		fputc('"', stream);
	}
}

/* A member's name in JSON: underscores. */
static void put_name(FILE *stream, const char *name)
{
	for (; *name != '\0'; name++)
		fputc(*name == '-' ? '_' : *name, stream);
}

/* All flags of one prefix as one JSON value, written at the first of them. */
static void put_object(FILE *stream, const struct entries *flags, int first)
{
	const char *key = flags->item[first].key;
	size_t length = strcspn(key, ".");

	for (int i = 0; i < first; i++)
		if (strncmp(flags->item[i].key, key, length + 1) == 0)
			return;
	fprintf(stream, " \\\n  --%.*s '{", (int)length, key);
	for (int i = first; i < flags->count; i++) {
		const struct entry *entry = &flags->item[i];

		if (strncmp(entry->key, key, length + 1) != 0)
			continue;
		fputs(i > first ? ", \"" : "\"", stream);
		put_name(stream, entry->key + length + 1);
		fputs("\": ", stream);
		put_member(stream, entry);
	}
	fputs("}'", stream);
}

static bool is_of_file(const struct tool *tool, const char *key)
{
	return tool->cli_keys && !word_among(key, tool->cli_keys);
}

/* A list of the tool's, in brackets. */
static void add_list(struct entries *keys, const struct entry *entry)
{
	char list[sizeof entry->value] = "[";
	size_t used = 1;

	for (const char *c = entry->value; *c && used < sizeof list - 3; c++) {
		if (*c == ' ')
			list[used++] = ',';
		list[used++] = *c;
	}
	memcpy(list + used, "]", 2);
	entries_add(keys, entry->key, list, false);
}

bool print_file(const struct tool *tool, const struct tool_writer *w,
		const char *const *cli, FILE *stream)
{
	struct entries *keys = calloc(1, sizeof *keys);
	bool any;

	w->out->failed = w->out->failed || !keys;
	for (int i = 0; keys && i < w->flags->count; i++) {
		const struct entry *entry = &w->flags->item[i];

		if (word_among(entry->key, cli))
			continue;
		if (is_list(tool, entry))
			add_list(keys, entry);
		else
			entries_add(keys, entry->key,
				    entry->value[0] ? entry->value : "true",
				    entry->value[0] && !print_is_bare(entry->value));
	}
	any = keys && keys->count > 0;
	if (any && stream)
		entries_write_yaml(keys, stream);
	free(keys);
	return any;
}

/* The YAML that goes with the command. Returns whether there is any. */
static bool put_file(const struct tool *tool, const struct tool_writer *w,
		     const char *name)
{
	FILE *stream = w->out->body;
	bool any = print_file(tool, w, tool->cli_keys, NULL);

	if (any && !w->again) {
		fprintf(stream, "cat > %s <<'EOF'\n", name);
		print_file(tool, w, tool->cli_keys, stream);
		fputs("EOF\n", stream);
	}
	return any;
}

void print_command(const struct tool *tool, const struct tool_writer *w)
{
	static const char *const names[ROLE_COUNT] = { "options.yaml", "prefill.yaml",
						       "decode.yaml" };
	FILE *stream = w->out->body;
	bool file = tool->cli_keys && put_file(tool, w, names[w->role]);

	fputs(w->place, stream);
	if (tool->put_launcher && w->spread->nodes > 1)
		tool->put_launcher(w);
	fprintf(stream, "%s ", tool->launch);
	if (strcmp(tool->model_flags[0], "model-path") == 0)
		fputs("--model-path ", stream);
	put_value(stream, w->checkpoint, false);
	for (int i = 0; i < w->flags->count; i++) {
		const struct entry *entry = &w->flags->item[i];

		if (is_of_file(tool, entry->key))
			continue;
		if (strchr(entry->key, '.')) {
			put_object(stream, w->flags, i);
			continue;
		}
		/* no long flag is as short as "-O3" */
		fprintf(stream, " \\\n  -%s%s%s", strlen(entry->key) > 3 ? "-" : "",
			entry->key, entry->value[0] ? " " : "");
		put_value(stream, entry->value, true);
	}
	if (file)
		fprintf(stream, " \\\n  --%s %s", tool->file_flag, names[w->role]);
	if (tool->later && w->spread->nodes > 1)
		fputs(" \\\n  ${LATER}", stream);
}

void write_without(const struct tool_writer *w, const char *key)
{
	int kept = 0;

	for (int i = 0; i < w->flags->count; i++)
		if (strcmp(w->flags->item[i].key, key) != 0)
			w->flags->item[kept++] = w->flags->item[i];
	w->flags->count = kept;
}
