/* report_text.c - estimates as CSV and Markdown; see report.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/report.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"

/* A spreadsheet would run what begins like a formula and is no number. */
static bool is_formula(const char *text)
{
	char *end;

	if (*text == '\0' || !strchr("=+-@\t\r", *text))
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

/* Text as it is: a bar would end the cell of a table, others would begin marks, links
 * or tags; a line ends a table. */
static void put_cell(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '\n' || *text == '\r')
			fputc(' ', stream);
		else
			fprintf(stream, strchr("\\`*[]<>|", *text) ? "\\%c" : "%c",
				*text);
}

static void put_subject(FILE *stream, const struct scenario *s)
{
	put_cell(stream, s->model.name);
	fprintf(stream, " on %lld x ", (long long)s->cluster.gpus);
	put_cell(stream, s->cluster.accelerator.name);
	fputs(", ", stream);
	put_cell(stream, s->stack.name);
	if (s->plan.mode == MODE_INFERENCE)
		fprintf(stream, ", serving %lld + %lld tokens",
			(long long)s->plan.serving.prompt_len,
			(long long)s->plan.serving.output_len);
}

static void put_heading(FILE *stream, const struct scenario *s,
			const struct scenario *baseline)
{
	fputs("## ", stream);
	put_subject(stream, s);
	fputs("\n\n", stream);
	if (baseline) {
		fputs("The baseline is ", stream);
		put_subject(stream, baseline);
		fputs(".\n\n", stream);
	}
	if (s->model.approximate[0] != '\0')
		fprintf(stream, "Approximate: %s.\n\n", s->model.approximate);
}

static void put_problems(FILE *stream, const struct estimate *e)
{
	for (int i = 0; i < e->problems.count; i++) {
		const struct finding *f = &e->problems.item[i];
		char text[320], remedy[128];

		finding_text(f, text, sizeof text);
		fprintf(stream, "- **%s** %s", f->rule->code, text);
		if (finding_remedy(f, remedy, sizeof remedy) > 0)
			fprintf(stream, "; try %s", remedy);
		fputc('\n', stream);
	}
	if (estimate_is_too_large(e)) {
		char total[32], capacity[32];

		form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
		form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
		fprintf(stream, "- **OOM** stage %d %s %s of %s%s\n", e->fullest_stage,
			e->unsure ? "may need" : "needs", total, capacity,
			e->unsure ? ": nobody measured this accelerator" : "");
	}
	if (e->problems.count > 0 || (e->legal && !e->fits))
		fputc('\n', stream);
}

static void put_knobs(FILE *stream, const struct scenario *s,
		      const struct scenario *baseline)
{
	fputs(baseline ? "| knob | value | baseline |\n|---|---|---|\n"
		       : "| knob | value |\n|---|---|\n",
	      stream);
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char now[MAX_LAYOUT + 8], before[MAX_LAYOUT + 8];

		if (!knob_applies(s, knob) ||
		    (baseline && knob_same(s, baseline, knob)))
			continue;
		knob_print(s, knob, now, sizeof now);
		fprintf(stream, "| %s | ", knob->key);
		put_cell(stream, now);
		if (baseline) {
			knob_print(baseline, knob, before, sizeof before);
			fputs(" | ", stream);
			put_cell(stream, before);
		}
		fputs(" |\n", stream);
	}
	fputc('\n', stream);
}

static void put_change(FILE *stream, const struct metric *metric, double now,
		       double before)
{
	char text[64];

	form_text(metric->form, before, text, sizeof text);
	if (before != 0 && isfinite(now / before))
		fprintf(stream, " %s | %+.1f %% |", text, (now / before - 1) * 100);
	else
		fprintf(stream, " %s | |", text);
}

static void put_metrics(FILE *stream, int mode, const struct estimate *e,
			const struct estimate *before)
{
	if (!e->legal)
		return;
	fputs(before ? "| metric | value | baseline | change |\n|---|---|---|---|\n"
		     : "| metric | value |\n|---|---|\n",
	      stream);
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];
		double value = metric_get(e, metric);
		double was = before ? metric_get(before, metric) : 0;
		char text[64];

		if ((value == 0 && was == 0) || !counts_here(metric, mode))
			continue;
		form_text(metric->form, value, text, sizeof text);
		fprintf(stream, "| %s | %s |", metric->label, text);
		if (before)
			put_change(stream, metric, value, was);
		fputc('\n', stream);
	}
}

/* The file that gives these numbers again. */
static void put_scenario(FILE *stream, const struct scenario *s)
{
	char *text = scenario_write(s);

	if (text)
		fprintf(stream,
			"\n<details><summary>the scenario</summary>\n\n"
			"```yaml\n%s```\n\n</details>\n",
			text);
	free(text);
}

char *report_markdown(const struct scenario *scenario, const struct estimate *estimate,
		      const struct scenario *baseline, const struct estimate *before)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	if (before && !before->legal)
		before = NULL;
	put_heading(stream, scenario, baseline);
	put_problems(stream, estimate);
	put_knobs(stream, scenario, baseline);
	put_metrics(stream, scenario->plan.mode, estimate, before);
	put_scenario(stream, scenario);
	return stream_end(stream, &text);
}
