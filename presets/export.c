/* export.c - see export.h. */
#include "presets/export.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/stream.h"

struct export_out *export_begin(void)
{
	struct export_out *out = calloc(1, sizeof *out);

	if (out)
		out->body = open_memstream(&out->text, &out->size);
	if (out && !out->body) {
		free(out);
		return NULL;
	}
	return out;
}

void export_unsaid(struct export_out *out, const char *key, const char *format, ...)
{
	char text[MAX_NOTE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	/* of a model's layers each may say it */
	for (int i = 0; i < out->unsaid.count; i++)
		if (strcmp(out->unsaid.note[i].key, key) == 0 &&
		    strcmp(out->unsaid.note[i].text, text) == 0)
			return;
	import_note(&out->unsaid, IMPORT_NOT_MODELLED, key, "%s", text);
}

void export_unsaid_knobs(struct export_out *out, const struct scenario *scenario,
			 const char *stack, bool (*has)(const char *knob))
{
	struct scenario base;

	scenario_defaults(&base);
	base.model = scenario->model;
	base.cluster = scenario->cluster;
	if (!library_stack(&base, stack, NULL)) {
		out->failed = true;
		return;
	}
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char value[MAX_LAYOUT];

		if (knob->group == GROUP_CLUSTER || knob->group == GROUP_RUN ||
		    has(knob->key) || !knob_applies(scenario, knob) ||
		    knob_same(scenario, &base, knob))
			continue;
		knob_print(scenario, knob, value, sizeof value);
		export_unsaid(out, knob->key, "%.120s", value);
	}
}

/* What was written, to be freed; NULL where something failed. */
static char *finish(struct export_out *out)
{
	bool good = !out->failed;
	char *text = stream_end(out->body, &out->text);

	free(out);
	if (good)
		return text;
	free(text);
	return NULL;
}

char *export_end_bare(struct export_out *out)
{
	return finish(out);
}

char *export_end(struct export_out *out, const char *first_line, const char *prefix,
		 const char *title)
{
	FILE *stream;
	char *text = NULL, *body;
	size_t size = 0;

	stream = open_memstream(&text, &size);
	if (!stream) {
		free(finish(out));
		return NULL;
	}
	fprintf(stream, "%s%s %s\n", first_line, prefix, title);
	for (int i = 0; i < out->unsaid.count; i++)
		fprintf(stream, "%s not representable in this target: %s%s%s\n", prefix,
			out->unsaid.note[i].key,
			out->unsaid.note[i].text[0] ? ": " : "",
			out->unsaid.note[i].text);
	body = finish(out);
	fputs(body ? body : "", stream);
	stream_end(stream, &text);
	if (!body) {
		free(text);
		return NULL;
	}
	free(body);
	return text;
}

void export_subject(const struct scenario *scenario, char *text, size_t size)
{
	struct model_counts counts;

	model_count(&scenario->model, &counts);
	snprintf(text, size, "%s (%.4g B) on %lld x %s, by shardscope",
		 scenario->model.name, counts.total / 1e9,
		 (long long)scenario->cluster.gpus, scenario->cluster.accelerator.name);
}
