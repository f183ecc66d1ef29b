/* container.c - see container.h. */
#include "presets/serving/container.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "presets/serving/print.h"
#include "presets/stream.h"

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* "${NAME:?why}", "${NAME:-usual}", "$NAME" and nothing else: its name. */
static bool is_variable(const char *text, char name[64])
{
	bool braces = strncmp(text, "${", 2) == 0;
	const char *begin = text + (braces ? 2 : 1);
	size_t length = strspn(begin, name_letters);
	const char *end = begin + length;

	if (text[0] != '$' || length == 0 || length > 63)
		return false;
	if (braces && *end == ':')
		end += strcspn(end, "}");
	if (braces ? strcmp(end, "}") != 0 : *end != '\0')
		return false;
	snprintf(name, 64, "%.*s", (int)length, begin);
	return true;
}

/* A value, or what Kubernetes puts in for a variable. */
static void say_value(const char *value, char out[512])
{
	char name[64];

	if (is_variable(value, name))
		snprintf(out, 512, "$(%s)", name);
	else
		snprintf(out, 512, "%s", value);
}

void container_word(FILE *stream, int indent, const char *word)
{
	fprintf(stream, "%*s- ", indent, "");
	stream_put_quoted(stream, word);
	fputc('\n', stream);
}

/* All flags of one prefix as a JSON text, at the first of them. */
static void put_object(struct export_out *out, int indent, const struct entries *flags,
		       int first)
{
	size_t length = strcspn(flags->item[first].key, ".") + 1, size;
	char word[2 * PAIRS_MAX_KEY], *text = NULL;
	FILE *json;

	for (int i = 0; i < first; i++)
		if (strncmp(flags->item[i].key, flags->item[first].key, length) == 0)
			return;
	json = open_memstream(&text, &size);
	out->failed = out->failed || !json;
	if (!json)
		return;
	for (int i = first; i < flags->count; i++) {
		char value[512];

		if (strncmp(flags->item[i].key, flags->item[first].key, length) != 0)
			continue;
		fputs(i > first ? ", \"" : "{\"", json);
		for (const char *c = flags->item[i].key + length; *c != '\0'; c++)
			fputc(*c == '-' ? '_' : *c, json);
		fputs("\": ", json);
		say_value(flags->item[i].value, value);
		if (print_is_bare(value) || print_is_object(&flags->item[i]))
			fputs(value, json);
		else
			stream_put_quoted(json, value);
	}
	fputc('}', json);
	snprintf(word, sizeof word, "--%.*s", (int)length - 1, flags->item[first].key);
	out->failed = !stream_end(json, &text) || out->failed;
	if (text) {
		container_word(out->body, indent, word);
		container_word(out->body, indent, text);
	}
	free(text);
}

/* A flag's word by the tool's own joint: max_batch_size is --max-batch-size. */
static void put_key(FILE *stream, int indent, const char *key, char joint)
{
	char word[PAIRS_MAX_KEY + 3];

	/* no long flag is as short as "-O3" */
	snprintf(word, sizeof word, "-%s%s", strlen(key) > 3 ? "-" : "", key);
	for (char *c = word; *c != '\0'; c++)
		*c = *c == '_' ? joint : *c;
	container_word(stream, indent, word);
}

void container_flags(struct export_out *out, int indent, const struct entries *flags,
		     const char *const *list, char joint)
{
	for (int i = 0; i < flags->count; i++) {
		const struct entry *entry = &flags->item[i];
		char value[512];

		if (list && !word_among(entry->key, list))
			continue;
		if (strchr(entry->key, '.')) {
			put_object(out, indent, flags, i);
			continue;
		}
		put_key(out->body, indent, entry->key, joint);
		say_value(entry->value, value);
		if (value[0] == '\0')
			continue;
		/* several words, as "1 2 4 8" */
		for (char *rest = NULL, *word = strtok_r(value, " ", &rest); word;
		     word = strtok_r(NULL, " ", &rest))
			container_word(out->body, indent, word);
	}
}

/* An item of "env", and why it is empty. */
static void put_variable(FILE *stream, int indent, const char *name, const char *value,
			 const char *why)
{
	fprintf(stream, "%*s- name: %s\n%*s  value: ", indent, "", name, indent, "");
	stream_put_quoted(stream, value);
	if (why)
		fprintf(stream, " # %.*s", (int)strcspn(why, "}\n"), why);
	fputc('\n', stream);
}

/* "NAME=VALUE " of a command's own. */
static bool put_own(FILE *stream, int indent, const char *place)
{
	char text[512];
	bool any = false;

	snprintf(text, sizeof text, "%s", place);
	for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		any = true;
		if (stream)
			put_variable(stream, indent, word, equals + 1, NULL);
	}
	return any;
}

bool container_variables(FILE *stream, int indent, const struct tool_writer *w)
{
	bool any = put_own(stream, indent, w->place);

	for (int i = 0; i < w->flags->count; i++) {
		const char *value = w->flags->item[i].value;
		const char *usual = strstr(value, ":-"), *why = strstr(value, ":?");
		char name[64], text[512];

		if (!is_variable(value, name))
			continue;
		any = true;
		snprintf(text, sizeof text, "%.*s",
			 usual ? (int)strcspn(usual + 2, "}") : 0,
			 usual ? usual + 2 : "");
		if (stream)
			put_variable(stream, indent, name, text, why ? why + 2 : NULL);
	}
	return any;
}

void container_drop_places(const struct tool *tool, const struct tool_writer *w)
{
	for (int i = 0; tool->launcher[i]; i++)
		write_without(w, tool->launcher[i]);
}

void container_name(const struct scenario *scenario, char name[41])
{
	int used = 0;

	for (const char *c = scenario->model.name; *c != '\0' && used < 40; c++)
		if (isalnum((unsigned char)*c))
			name[used++] = (char)tolower((unsigned char)*c);
		else if (used > 0 && name[used - 1] != '-')
			name[used++] = '-';
	while (used > 0 && name[used - 1] == '-')
		used--;
	name[used] = '\0';
	if (used == 0)
		snprintf(name, 41, "model");
}

int64_t container_gpus(const struct server_words *words)
{
	int64_t engine = job_engine(&words->pool.plan), nodes = words->spread.nodes;

	if (nodes <= 1)
		return engine;
	if (engine % nodes == 0)
		return engine / nodes;
	write_unsaid(&words->w, "gpus",
		     "%lld: no pods of one size hold an engine of %lld",
		     (long long)words->pool.cluster.gpus, (long long)engine);
	return words->pool.cluster.gpus_per_node;
}
