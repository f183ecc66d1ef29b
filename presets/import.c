/* import.c - see import.h. */
#include "presets/import.h"

#include <stdarg.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/model_name.h"
#include "presets/near.h"

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

bool import_model(struct model *out, const struct import_name *named,
		  struct import_report *report, struct error *error)
{
	const struct preset *found = named->found;
	int line = named->line > 0 ? named->line : 1;
	char near[256];

	if (!found && named->name[0] != '\0' &&
	    !(found = preset_find(PRESET_MODEL, named->name)))
		found = model_name_find(named->name);
	if (report->model[0] != '\0') {
		if (named->name[0] != '\0' && !found)
			import_note(report, IMPORT_NOT_MODELLED, "model", "%s",
				    named->name);
		return library_model(out, report->model, error);
	}
	if (found) {
		import_note(report, IMPORT_TAKEN, "model", "%s as %s", named->name,
			    found->name);
		if (!library_model(out, found->name, error))
			return false;
		if (model_name_is_alike(named->name, found)) {
			import_note(report, IMPORT_ASSUMED, "model",
				    "%s for %.60s, by its name alone", found->name,
				    named->name);
			model_name_doubt(named->name, out);
		}
		return true;
	}
	report->nameless = named->name[0] == '\0';
	if (report->nameless)
		return error_set(error, named->file, line,
				 "this file names no model; --model NAME or --model "
				 "config.json says which it is");
	preset_near(PRESET_MODEL, named->name, near, sizeof near);
	return error_set(error, named->file, line,
			 "no model '%.80s' in the library%s%s; --model config.json "
			 "reads its own, --model NAME takes one of the library",
			 named->name, near[0] ? "; near: " : "", near);
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

int import_start(const struct import_report *report, struct start *start, char *others,
		 size_t size)
{
	int count = 0;
	size_t used = 0;

	others[0] = '\0';
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
			used += (size_t)snprintf(others + used, size - used, "%s%s %s",
						 count ? ", " : "", note->key,
						 note->text);
		count++;
	}
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
