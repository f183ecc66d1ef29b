/* import.c - see import.h. */
#include "presets/import.h"

#include <stdarg.h>
#include <string.h>

#include "engine/knob/knob.h"

void import_note(struct import_report *report, enum import_kind kind, const char *key,
		 const char *format, ...)
{
	struct import_note *note = &report->note[report->count];
	va_list args;

	report->counted[kind]++;
	if (report->count == MAX_IMPORT_NOTES) {
		report->left_out++;
		return;
	}
	note->kind = kind;
	snprintf(note->key, sizeof note->key, "%s", key);
	va_start(args, format);
	vsnprintf(note->text, sizeof note->text, format, args);
	va_end(args);
	error_clean(note->key);
	error_clean(note->text);
	report->count++;
}

bool import_is_kept(const struct import_report *report)
{
	return report->kept[0] != '\0' || import_count(report, IMPORT_ASSUMED) > 0;
}

void import_settle(struct import_report *report, const char *key)
{
	const struct knob *knob = knob_find(key);
	int kept = 0;

	for (int i = 0; i < report->count; i++) {
		const struct import_note *note = &report->note[i];
		bool same = knob ? knob_find(note->key) == knob
				 : strcmp(note->key, key) == 0;

		if (note->kind == IMPORT_ASSUMED && same)
			report->counted[IMPORT_ASSUMED]--;
		else
			report->note[kept++] = *note;
	}
	report->count = kept;
}

int import_start(const struct import_report *report, struct start *start)
{
	int count = 0;
	size_t used = 0, size = sizeof start->others;

	start->others[0] = '\0';
	for (int i = 0; i < report->count; i++) {
		const struct import_note *note = &report->note[i];
		const struct knob *knob = knob_find(note->key);

		if (note->kind != IMPORT_ASSUMED)
			continue;
		start->cluster = start->cluster || strcmp(note->key, "cluster") == 0;
		start->stack = start->stack || strcmp(note->key, "stack") == 0;
		if (strcmp(note->key, "cluster") == 0 ||
		    strcmp(note->key, "stack") == 0)
			continue;
		if (knob) {
			start_forget(start, knob);
			start->choice[start->chosen++] = knob;
			continue;
		}
		if (used < size)
			used += (size_t)snprintf(start->others + used, size - used,
						 "%s%s %s", count ? ", " : "",
						 note->key, note->text);
		count++;
	}
	error_clean(start->others);
	return count;
}

int import_count(const struct import_report *report, enum import_kind kind)
{
	return report->counted[kind];
}

void import_summary(const struct import_report *report, char *out, size_t size)
{
	snprintf(out, size, "%s read as %s: %d keys taken, %d assumed, %d not modelled",
		 report->file, report->format, import_count(report, IMPORT_TAKEN),
		 import_count(report, IMPORT_ASSUMED),
		 import_count(report, IMPORT_NOT_MODELLED) +
			 import_count(report, IMPORT_SKIPPED));
	error_clean(out);
}

static void print_kind(const struct import_report *report, enum import_kind kind,
		       FILE *stream, const char *prefix)
{
	static const char *const label[IMPORT_KIND_COUNT] = {
		[IMPORT_TAKEN] = "taken",
		[IMPORT_ASSUMED] = "assumed",
		[IMPORT_APPROXIMATE] = "approximate",
		[IMPORT_NOT_MODELLED] = "not modelled",
		[IMPORT_SKIPPED] = "not read",
	};
	enum { WIDTH = 78 };
	int column = WIDTH;

	for (int i = 0; i < report->count; i++) {
		const struct import_note *note = &report->note[i];
		char item[MAX_NAME + MAX_NOTE + 4];

		if (note->kind != kind)
			continue;
		int length = snprintf(item, sizeof item, "%s%s%s", note->key,
				      note->text[0] ? " " : "", note->text);
		if (column + length + 2 > WIDTH) {
			fprintf(stream, "%s%s%-13s ", column == WIDTH ? "" : "\n",
				prefix, column == WIDTH ? label[kind] : "");
			column = (int)strlen(prefix) + 14;
		} else {
			fputs("; ", stream);
		}
		fputs(item, stream);
		column += length + 2;
		if (column >= WIDTH)
			column = WIDTH + 1;
	}
	if (import_count(report, kind) > 0)
		fputc('\n', stream);
}

void import_print(const struct import_report *report, FILE *stream, const char *prefix)
{
	for (int kind = 0; kind < IMPORT_KIND_COUNT; kind++)
		print_kind(report, (enum import_kind)kind, stream, prefix);
	if (report->left_out > 0)
		fprintf(stream, "%s(and %d more)\n", prefix, report->left_out);
}
