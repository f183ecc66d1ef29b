/* import.c - see import.h. */
#include "presets/import.h"

#include <stdarg.h>
#include <string.h>

#include "presets/library.h"

void import_note(struct import_report *report, enum import_kind kind, const char *key,
		 const char *format, ...)
{
	struct import_note *note = &report->note[report->count];
	va_list args;

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

bool import_unstated_model(struct model *out, int64_t ep, struct import_report *report,
			   struct error *error)
{
	/* a dense one, or the smallest whose experts the degree divides */
	static const char *const models[] = { "llama3.1-8b", "mixtral-8x7b",
					      "qwen3-30b-a3b", "deepseek-v3" };
	size_t i = 0;

	if (!library_model(out, models[0], error))
		return false;
	while (ep > 1 && ++i < sizeof models / sizeof models[0])
		if (library_model(out, models[i], NULL) && out->moe.experts % ep == 0)
			break;
	import_note(report, IMPORT_ASSUMED, "model",
		    "%s: the file names no shape; --model NAME does", out->name);
	return true;
}

int import_count(const struct import_report *report, enum import_kind kind)
{
	int count = 0;

	for (int i = 0; i < report->count; i++)
		count += report->note[i].kind == kind;
	return count;
}

void import_summary(const struct import_report *report, char *out, size_t size)
{
	snprintf(out, size, "%s read as %s: %d keys taken, %d assumed, %d not modelled",
		 report->file, report->format, import_count(report, IMPORT_TAKEN),
		 import_count(report, IMPORT_ASSUMED),
		 import_count(report, IMPORT_NOT_MODELLED) + report->left_out);
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
