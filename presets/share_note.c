/* share_note.c - see share_note.h. */
#include "presets/share_note.h"

#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/share_signs.h"
#include "presets/stream.h"

static const char keys[] = "assumed", other[] = "other";

/* What a scenario has under this key. */
static bool is_key(const char *key)
{
	return strcmp(key, "cluster") == 0 || strcmp(key, "stack") == 0 ||
	       knob_find(key) != NULL;
}

char *share_note_write(const struct import_report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool first = true;

	if (!stream)
		return NULL;
	for (int i = 0; report && i < report->count; i++) {
		const struct import_note *note = &report->note[i];
		const struct knob *knob = knob_find(note->key);

		if (note->kind != IMPORT_ASSUMED || !is_key(note->key))
			continue;
		fprintf(stream, first ? ",%s=" : "+", keys);
		fputs(knob ? knob->key : note->key, stream);
		first = false;
	}
	for (int i = 0; report && i < report->count; i++) {
		const struct import_note *note = &report->note[i];

		if (note->kind != IMPORT_ASSUMED || is_key(note->key))
			continue;
		fprintf(stream, ",%s=", other);
		share_put(stream, note->key);
		share_put(stream, " ");
		share_put(stream, note->text);
	}
	return stream_end(stream, &text);
}

bool share_note_is(const char *key, size_t length)
{
	return (length == strlen(keys) && strncmp(key, keys, length) == 0) ||
	       (length == strlen(other) && strncmp(key, other, length) == 0);
}

bool share_note_read(const char *key, char *value, struct import_report *report,
		     struct error *error)
{
	char *rest = value, *word;

	if (strcmp(key, other) == 0) {
		word = strsep(&rest, " ");
		if (report)
			import_note(report, IMPORT_ASSUMED, word, "%s",
				    rest ? rest : "");
		return true;
	}
	while ((word = strsep(&rest, "+"))) {
		if (!is_key(word))
			return error_set(
				error, NULL, 0,
				"the line says that '%.40s' was assumed, which "
				"this shardscope has not; was it made by a "
				"newer one?",
				word);
		if (report)
			import_note(report, IMPORT_ASSUMED, word, "%s", "");
	}
	return true;
}

void share_note_fill(struct import_report *report, const struct scenario *scenario)
{
	for (int i = 0; i < report->count; i++) {
		struct import_note *note = &report->note[i];
		const struct knob *knob = knob_find(note->key);

		if (note->kind != IMPORT_ASSUMED || note->text[0] != '\0')
			continue;
		if (strcmp(note->key, "cluster") == 0)
			snprintf(note->text, sizeof note->text, "%s",
				 scenario->cluster.name);
		else if (strcmp(note->key, "stack") == 0)
			snprintf(note->text, sizeof note->text, "%s",
				 scenario->stack.name);
		else if (knob)
			knob_print(scenario, knob, note->text, sizeof note->text);
	}
}
