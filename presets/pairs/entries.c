/* entries.c - writing dotted keys as YAML, JSON or TOML; see mapping.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/pairs/mapping.h"
#include "presets/stream.h"

void entries_add(struct entries *entries, const char *key, const char *value, bool text)
{
	struct entry *entry = &entries->item[entries->count];

	if (entries->count == MAX_ENTRIES)
		return;
	snprintf(entry->key, sizeof entry->key, "%s", key);
	snprintf(entry->value, sizeof entry->value, "%s", value);
	entry->text = text;
	entries->count++;
}

void entries_add_count(struct entries *entries, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	entries_add(entries, key, text, false);
}

void entries_add_rows(struct entries *entries, const struct scenario *scenario,
		      const struct mapping *rows, bool all, struct export_out *out)
{
	for (const struct mapping *row = rows; row->key; row++) {
		const struct knob *knob = knob_find(row->knob);
		char value[MAX_LAYOUT], word[32];
		bool again = false;

		/* the first row of a knob is the one written */
		for (const struct mapping *before = rows; before < row; before++)
			again = again || strcmp(before->knob, row->knob) == 0;
		if (again || !knob_applies(scenario, knob))
			continue;
		knob_print(scenario, knob, value, sizeof value);
		if (!all && row->absent && strcmp(row->absent, value) == 0)
			continue;
		if (row->words && mapping_theirs(row->words, value, word))
			entries_add(entries, row->key, word, row->text);
		else if (!row->words || knob->type == KNOB_INT)
			entries_add(entries, row->key, value, row->text);
		else
			export_unsaid(out, row->knob, "%.120s", value);
	}
}

/* Entries of one table: those whose key begins with prefix (length bytes). */
struct emitter {
	const struct entries *entries;
	FILE *stream;
	bool json;
};

static bool inside(const struct entry *entry, const char *prefix, size_t length)
{
	return strncmp(entry->key, prefix, length) == 0;
}

/* Whether an earlier entry of the same table opened this group already. */
static bool opened(const struct emitter *e, int index, size_t length)
{
	for (int i = 0; i < index; i++)
		if (strncmp(e->entries->item[i].key, e->entries->item[index].key,
			    length) == 0)
			return true;
	return false;
}

/* Escapes that JSON, YAML and TOML share. */
static void put_value(const struct entry *entry, FILE *stream)
{
	if (!entry->text) {
		fputs(entry->value, stream);
		return;
	}
	stream_put_quoted(stream, entry->value);
}

static void put_start(const struct emitter *e, int depth, bool first)
{
	if (e->json)
		fprintf(e->stream, "%s\n%*s", first ? "" : ",", 2 * depth + 2, "");
	else
		fprintf(e->stream, "%*s", 2 * depth, "");
}

/* Depth is bounded by the dots of a key, which are those of our own tables. */
static void emit(const struct emitter *e, const char *prefix, size_t length, int depth)
{
	bool first = true;

	for (int i = 0; i < e->entries->count; i++) {
		const struct entry *entry = &e->entries->item[i];
		const char *name = entry->key + length, *dot;

		if (!inside(entry, prefix, length))
			continue;
		dot = strchr(name, '.');
		if (dot && opened(e, i, (size_t)(dot - entry->key) + 1))
			continue;
		put_start(e, depth, first);
		first = false;
		fprintf(e->stream, e->json ? "\"%.*s\": " : "%.*s:",
			dot ? (int)(dot - name) : (int)strlen(name), name);
		if (!dot) {
			fputs(e->json ? "" : " ", e->stream);
			put_value(entry, e->stream);
			fputs(e->json ? "" : "\n", e->stream);
			continue;
		}
		fputs(e->json ? "{" : "\n", e->stream);
		emit(e, entry->key, (size_t)(dot - entry->key) + 1, depth + 1);
		if (e->json)
			fprintf(e->stream, "\n%*s}", 2 * depth + 2, "");
	}
}

void entries_write_yaml(const struct entries *entries, FILE *stream)
{
	struct emitter e = { entries, stream, false };

	emit(&e, "", 0, 0);
}

void entries_write_json(const struct entries *entries, FILE *stream)
{
	struct emitter e = { entries, stream, true };

	fputc('{', stream);
	emit(&e, "", 0, 0);
	fputs("\n}\n", stream);
}

void entries_write_toml(const struct entries *entries, FILE *stream)
{
	struct emitter e = { entries, stream, false };

	for (int i = 0; i < entries->count; i++) {
		const char *key = entries->item[i].key, *dot = strrchr(key, '.');
		size_t length = dot ? (size_t)(dot - key) + 1 : 0;

		if (!dot || opened(&e, i, length))
			continue;
		fprintf(stream, "\n[%.*s]\n", (int)length - 1, key);
		for (int k = i; k < entries->count; k++) {
			const struct entry *entry = &entries->item[k];

			if (!inside(entry, key, length) ||
			    strchr(entry->key + length, '.'))
				continue;
			fprintf(stream, "%s = ", entry->key + length);
			put_value(entry, stream);
			fputc('\n', stream);
		}
	}
}

char *entries_export(const struct scenario *scenario,
		     void (*add)(struct entries *entries,
				 const struct scenario *scenario,
				 struct export_out *out),
		     void (*write)(const struct entries *entries, FILE *stream))
{
	struct export_out *out = export_begin();
	struct entries *entries = calloc(1, sizeof *entries);
	char title[2 * MAX_NOTE];

	if (!out || !entries) {
		free(entries);
		if (out)
			free(export_end_bare(out));
		return NULL;
	}
	export_subject(scenario, title, sizeof title);
	add(entries, scenario, out);
	write(entries, out->body);
	free(entries);
	return export_end(out, "", "#", title);
}
