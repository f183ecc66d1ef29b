/* report_text.c - estimates as CSV; see report.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/report.h"
#include "presets/stream.h"

/* A spreadsheet would run what begins like a formula and is no number; a quote in front
 * makes it text, and one that is there gets another, so that each name comes back. */
static bool is_formula(const char *text)
{
	char *end;

	if (*text == '\0' || !strchr("=+-@\t\r'", *text))
		return false;
	strtod(text, &end);
	return *end != '\0';
}

static void put_csv(FILE *stream, const char *text)
{
	bool formula = is_formula(text);

	if (!strpbrk(text, ",\"\n\r")) {
		fprintf(stream, formula ? "'%s" : "%s", text);
		return;
	}
	fputs(formula ? "\"'" : "\"", stream);
	for (; *text != '\0'; text++)
		fprintf(stream, *text == '"' ? "\"%c" : "%c", *text);
	fputc('"', stream);
}

static bool is_among(const char *key, const char *const *knobs, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(knobs[i], key) == 0)
			return true;
	return false;
}

static void put_knob(FILE *stream, const struct scenario *scenario,
		     const struct knob *knob)
{
	char value[MAX_LAYOUT + 8] = "";

	if (knob)
		knob_print(scenario, knob, value, sizeof value);
	put_csv(stream, value);
}

static bool counts_here(const struct metric *metric, int mode)
{
	return metric->modes >> mode & 1;
}

char *report_csv_header(int mode, const char *const *knobs, int count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (int i = 0; i < count; i++)
		fprintf(stream, "%s,", knobs[i]);
	fputs("feasible,problem", stream);
	for (int i = 0; i < metric_count(); i++)
		if (counts_here(&metric_table[i], mode))
			fprintf(stream, ",%s", metric_table[i].key);
	fputs(",model,cluster,stack", stream);
	for (int i = 0; i < knob_count(); i++)
		if (knob_in_mode(&knob_table[i], mode) &&
		    !is_among(knob_table[i].key, knobs, count))
			fprintf(stream, ",%s", knob_table[i].key);
	fputc('\n', stream);
	return stream_end(stream, &text);
}

/* What a row is of, so that a file says it without the command that made it. */
static void put_rest(FILE *stream, int mode, const struct scenario *s,
		     const char *const *knobs, int count)
{
	const char *const names[] = { s->model.name, s->cluster.name, s->stack.name };

	for (int i = 0; i < 3; i++) {
		fputc(',', stream);
		put_csv(stream, names[i]);
	}
	for (int i = 0; i < knob_count(); i++) {
		if (!knob_in_mode(&knob_table[i], mode) ||
		    is_among(knob_table[i].key, knobs, count))
			continue;
		fputc(',', stream);
		put_knob(stream, s, &knob_table[i]);
	}
}

static void put_problem(FILE *stream, const struct estimate *estimate)
{
	char text[256] = "";

	if (!estimate->legal && estimate->problems.count > 0)
		finding_text(&estimate->problems.item[0], text, sizeof text);
	else if (estimate->legal && !estimate->fits)
		snprintf(text, sizeof text, "%sout of %smemory",
			 estimate->unsure ? "perhaps " : "",
			 estimate_is_too_large(estimate) ? "" : "host ");
	put_csv(stream, text);
}

char *report_csv_row(int mode, const struct scenario *scenario,
		     const struct estimate *estimate, const char *const *knobs,
		     int count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (int i = 0; i < count; i++) {
		put_knob(stream, scenario, knob_find(knobs[i]));
		fputc(',', stream);
	}
	fprintf(stream, "%d,", estimate->feasible);
	put_problem(stream, estimate);
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];
		double value = metric_get(estimate, metric);

		if (!counts_here(metric, mode))
			continue;
		fputc(',', stream);
		if (counts_here(metric, scenario->plan.mode) &&
		    (estimate->legal || strcmp(metric->group, "model") == 0) &&
		    isfinite(value))
			fprintf(stream, "%.9g", value);
	}
	put_rest(stream, mode, scenario, knobs, count);
	fputc('\n', stream);
	return stream_end(stream, &text);
}
