/* report_markdown.c - an estimate for a pull request: what decides it in ten lines, the
 * rest folded; see report.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "presets/report.h"
#include "presets/scenario_file.h"
#include "presets/stream.h"

/* What is reported, with what it is compared with; before is NULL where there is
 * nothing to compare. */
struct page {
	FILE *stream;
	const struct scenario *scenario, *baseline;
	const struct estimate *now, *before;
	const char *assumed;
};

static bool counts_here(const struct metric *metric, int mode)
{
	return metric->modes >> mode & 1;
}

/* Text as it is: a bar would end the cell of a table, others would begin marks, links
 * or tags; a line ends a table. */
void report_put_cell(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '\n' || *text == '\r')
			fputc(' ', stream);
		else
			fprintf(stream, strchr("\\`*[]<>|&~", *text) ? "\\%c" : "%c",
				*text);
}

static void put_subject(FILE *stream, const struct scenario *s)
{
	report_put_cell(stream, s->model.name);
	fprintf(stream, " on %lld x ", (long long)s->cluster.gpus);
	report_put_cell(stream, s->cluster.accelerator.name);
	fputs(", ", stream);
	report_put_cell(stream, s->stack.name);
	if (s->plan.mode == MODE_INFERENCE)
		fprintf(stream, ", serving %lld + %lld tokens",
			(long long)s->plan.serving.prompt_len,
			(long long)s->plan.serving.output_len);
}

/* --- the verdict --- */

static void verdict_of(const struct estimate *e, char *out, size_t size)
{
	char total[32], capacity[32];

	form_text(FORM_BYTES, e->memory.total_bytes, total, sizeof total);
	form_text(FORM_BYTES, e->capacity_bytes, capacity, sizeof capacity);
	if (!e->legal)
		snprintf(out, size, "illegal");
	else if (e->unsure && !e->fits)
		snprintf(out, size,
			 "unsure: %s of %s, and nobody measured this "
			 "accelerator",
			 total, capacity);
	else if (!e->fits)
		snprintf(out, size, "does not fit: %s of %s%s", total, capacity,
			 estimate_is_too_large(e) ? "" : ", too much on the host");
	else if (e->fit_probability > 0)
		snprintf(out, size, "fits (%.0f %%): %s of %s",
			 100 * e->fit_probability, total, capacity);
	else
		snprintf(out, size, "fits: %s of %s", total, capacity);
}

static void put_problems(FILE *stream, const struct estimate *e)
{
	for (int i = 0; i < e->problems.count; i++) {
		const struct finding *f = &e->problems.item[i];
		char text[320], remedy[128];

		finding_text(f, text, sizeof text);
		fprintf(stream, "- **%s** ", f->rule->code);
		report_put_cell(stream, text);
		if (finding_remedy(f, remedy, sizeof remedy) > 0)
			fprintf(stream, "; try %s", remedy);
		fputc('\n', stream);
	}
	if (estimate_is_too_large(e))
		fprintf(stream, "- **OOM** of stage %d\n", e->fullest_stage);
	if (e->problems.count > 0 || estimate_is_too_large(e))
		fputc('\n', stream);
}

/* What it says and what it said, on top of all. */
static void put_verdict(const struct page *p)
{
	char now[128], before[128] = "";

	verdict_of(p->now, now, sizeof now);
	if (p->before)
		verdict_of(p->before, before, sizeof before);
	fprintf(p->stream, "**%s**", now);
	if (p->before && strcmp(now, before) != 0)
		fprintf(p->stream, " (the baseline %s)", before);
	fputs("\n\n", p->stream);
	put_problems(p->stream, p->now);
}

/* --- the lines that decide --- */

/* A metric with its range, and a second one behind it. */
static const struct line {
	const char *label, *key, *low, *high, *more;
} training_lines[] = {
	{ "memory", "total_bytes", "total_bytes_low", "total_bytes_high", NULL },
	{ "step", "step_seconds", "step_seconds_low", "step_seconds_high", NULL },
	{ "tokens/s", "tokens_per_second", NULL, NULL, "tokens_per_second_per_gpu" },
	{ "MFU", "mfu", NULL, NULL, NULL },
	{ "bubble", "bubble_ratio", NULL, NULL, NULL },
	{ "exposed communication", "exposed_seconds", NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
}, serving_lines[] = {
	{ "memory", "total_bytes", NULL, NULL, NULL },
	{ "TTFT", "ttft_seconds", "ttft_seconds_low", "ttft_seconds_high", NULL },
	{ "TPOT", "tpot_seconds", "tpot_seconds_low", "tpot_seconds_high", NULL },
	{ "output tokens/s", "output_tokens_per_second", "output_tokens_per_second_low",
	  "output_tokens_per_second_high", "output_tokens_per_second_per_gpu" },
	{ "room for requests", "max_concurrency", NULL, NULL, NULL },
	{ "KV cache", "kv_bytes", NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static void value_text(const struct estimate *e, const char *key, char *out,
		       size_t size)
{
	const struct metric *metric = metric_find(key);

	form_text(metric->form, metric_get(e, metric), out, size);
}

static void put_value(FILE *stream, const struct estimate *e, const struct line *line)
{
	char text[64], low[64], high[64];

	value_text(e, line->key, text, sizeof text);
	fputs(text, stream);
	if (line->low) {
		value_text(e, line->low, low, sizeof low);
		value_text(e, line->high, high, sizeof high);
		fprintf(stream, " (%s to %s)", low, high);
	}
	if (line->more) {
		value_text(e, line->more, text, sizeof text);
		fprintf(stream, ", %s per GPU", text);
	}
}

/* Whether two estimates print a metric alike: no line of a comparison is worth that. */
static bool same_text(const struct page *p, const struct metric *metric)
{
	char now[64], before[64];

	form_text(metric->form, metric_get(p->now, metric), now, sizeof now);
	form_text(metric->form, metric_get(p->before, metric), before, sizeof before);
	return strcmp(now, before) == 0;
}

static void put_line(const struct page *p, const struct line *line)
{
	const struct metric *metric = metric_find(line->key);
	double now = metric_get(p->now, metric), before;

	if (p->before && same_text(p, metric))
		return;
	fprintf(p->stream, "| %s | ", line->label);
	put_value(p->stream, p->now, line);
	if (p->before) {
		char was[64];

		before = metric_get(p->before, metric);
		form_text(metric->form, before, was, sizeof was);
		fprintf(p->stream, " | %s | ", was);
		if (before != 0 && isfinite(now / before))
			fprintf(p->stream, "%+.1f %%", (now / before - 1) * 100);
	}
	fputs(" |\n", p->stream);
}

/* The knobs that make a plan what it is, in the order that people name them. */
static void put_plan(FILE *stream, const struct scenario *s)
{
	static const char *const training[] = { "tp",  "pp",  "vpp",       "cp",
						"ep",  "etp", "zero",      "mbs",
						"gbs", "seq", "recompute", "precision",
						NULL };
	static const char *const serving[] = { "tp",
					       "pp",
					       "ep",
					       "dp_attention",
					       "concurrency",
					       "precision",
					       "disaggregated",
					       NULL };
	const char *const *keys = s->plan.mode == MODE_INFERENCE ? serving : training;
	bool first = true;

	for (; *keys; keys++) {
		const struct knob *knob = knob_find(*keys);
		char value[MAX_LAYOUT + 8];

		if (!knob_applies(s, knob))
			continue;
		knob_print(s, knob, value, sizeof value);
		if (knob->group == GROUP_PARALLELISM && strcmp(value, "1") == 0 &&
		    strcmp(knob->key, "zero") != 0)
			continue;
		fprintf(stream, "%s%s ", first ? "" : ", ", knob->key);
		report_put_cell(stream, value);
		first = false;
	}
}

static bool same_names(const struct page *p)
{
	return p->baseline &&
	       strcmp(p->scenario->model.name, p->baseline->model.name) == 0;
}

static bool same_machine(const struct page *p)
{
	const struct scenario *a = p->scenario, *b = p->baseline;

	return b && a->cluster.gpus == b->cluster.gpus &&
	       strcmp(a->cluster.accelerator.name, b->cluster.accelerator.name) == 0 &&
	       strcmp(a->stack.name, b->stack.name) == 0;
}

static void put_machine(FILE *stream, const struct scenario *s)
{
	fprintf(stream, "%lld x ", (long long)s->cluster.gpus);
	report_put_cell(stream, s->cluster.accelerator.name);
	fputs(", ", stream);
	report_put_cell(stream, s->stack.name);
}

/* One of the three lines that say what is compared; a line that is the same in both is
 * left out. */
static void put_said(const struct page *p, const char *label, bool same,
		     void (*put)(FILE *, const struct scenario *))
{
	if (p->baseline && same)
		return;
	fprintf(p->stream, "| %s | ", label);
	put(p->stream, p->scenario);
	if (p->baseline) {
		fputs(" | ", p->stream);
		put(p->stream, p->baseline);
	}
	fputs(p->before ? " | |\n" : " |\n", p->stream);
}

static void put_model(FILE *stream, const struct scenario *s)
{
	struct model_counts counts;
	char total[32], active[32];

	model_count(&s->model, &counts);
	form_text(FORM_TOKENS, counts.total, total, sizeof total);
	form_text(FORM_TOKENS, counts.active, active, sizeof active);
	report_put_cell(stream, s->model.name);
	fprintf(stream, ", %s parameters", total);
	if (strcmp(total, active) != 0)
		fprintf(stream, ", %s active", active);
}

static bool differs(const struct page *p, const struct knob *knob)
{
	return knob_applies(p->scenario, knob) &&
	       !knob_same(p->scenario, p->baseline, knob);
}

static int changes(const struct page *p)
{
	int count = 0;

	for (int i = 0; i < knob_count(); i++)
		count += differs(p, &knob_table[i]);
	return count;
}

/* "tp 4, pp 8": the knobs in which it differs from its baseline, as one of them has
 * them. */
static void put_changes(const struct page *p, const struct scenario *s)
{
	enum { MOST = 8 };
	int count = 0;

	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char value[MAX_LAYOUT + 8];

		if (!differs(p, knob) || count++ >= MOST)
			continue;
		knob_print(s, knob, value, sizeof value);
		fprintf(p->stream, "%s%s ", count > 1 ? ", " : "", knob->key);
		report_put_cell(p->stream, value);
	}
	if (count > MOST)
		fprintf(p->stream, ", and %d more", count - MOST);
}

/* What the plan is; against a baseline only what is not the same. */
static void put_plan_line(const struct page *p)
{
	if (!p->baseline) {
		put_said(p, "plan", false, put_plan);
		return;
	}
	if (changes(p) == 0)
		return;
	fputs("| plan | ", p->stream);
	put_changes(p, p->scenario);
	fputs(" | ", p->stream);
	put_changes(p, p->baseline);
	fputs(p->before ? " | |\n" : " |\n", p->stream);
}

/* No knob and no number differs; two shapes may have one name. */
static bool is_same(const struct page *p)
{
	bool same = p->before && same_names(p) && same_machine(p) && changes(p) == 0;

	for (int i = 0; same && i < metric_count(); i++)
		same = same_text(p, &metric_table[i]);
	return same;
}

static void put_summary(const struct page *p)
{
	const struct line *line = p->scenario->plan.mode == MODE_INFERENCE
					  ? serving_lines
					  : training_lines;

	fputs(p->before     ? "| | value | baseline | change |\n|---|---|---|---|\n"
	      : p->baseline ? "| | value | baseline |\n|---|---|---|\n"
			    : "| | |\n|---|---|\n",
	      p->stream);
	put_said(p, "model", same_names(p), put_model);
	put_said(p, "machine", same_machine(p), put_machine);
	put_plan_line(p);
	for (; p->now->legal && line->key; line++)
		put_line(p, line);
	if (p->scenario->model.approximate[0] != '\0' || p->assumed[0] != '\0') {
		fputs("| assumed | ", p->stream);
		report_put_cell(p->stream, p->assumed);
		if (p->scenario->model.approximate[0] != '\0') {
			fputs(p->assumed[0] != '\0' ? "; approximate: "
						    : "approximate: ",
			      p->stream);
			report_put_cell(p->stream, p->scenario->model.approximate);
		}
		fputs(p->before     ? " | | |\n"
		      : p->baseline ? " | |\n"
				    : " |\n",
		      p->stream);
	}
	fputc('\n', p->stream);
}

/* --- the rest --- */

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
		report_put_cell(stream, now);
		if (baseline) {
			knob_print(baseline, knob, before, sizeof before);
			fputs(" | ", stream);
			report_put_cell(stream, before);
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

static void put_metrics(const struct page *p)
{
	const struct estimate *e = p->now, *before = p->before;
	FILE *stream = p->stream;

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

		if ((value == 0 && was == 0) ||
		    !counts_here(metric, p->scenario->plan.mode) ||
		    (before && same_text(p, metric)))
			continue;
		form_text(metric->form, value, text, sizeof text);
		fprintf(stream, "| %s | %s |", metric->label, text);
		if (before)
			put_change(stream, metric, value, was);
		fputc('\n', stream);
	}
}

/* The file that gives these numbers again, within a fence longer than any in it. */
static bool put_scenario(FILE *stream, const struct scenario *s)
{
	char *text = scenario_write(s);
	bool good = text != NULL;

	if (good)
		fprintf(stream, "\n````yaml\n%s````\n", text);
	free(text);
	return good;
}

char *report_markdown(const struct scenario *scenario, const struct estimate *estimate,
		      const struct scenario *baseline, const struct estimate *before,
		      const char *assumed)
{
	struct page page = { .scenario = scenario,
			     .baseline = baseline,
			     .now = estimate,
			     .before = before && before->legal && estimate->legal
					       ? before
					       : NULL,
			     .assumed = assumed };
	char *text = NULL;
	size_t size = 0;
	FILE *stream = page.stream = open_memstream(&text, &size);
	bool good;

	if (!stream)
		return NULL;
	fputs("## ", stream);
	put_subject(stream, scenario);
	fputs("\n\n", stream);
	put_verdict(&page);
	if (is_same(&page))
		fputs("Nothing changed against the baseline.\n\n", stream);
	else
		put_summary(&page);
	fprintf(stream, "<details><summary>%s</summary>\n\n",
		is_same(&page) ? "the plan"
		: baseline     ? "every knob and number that changed"
			       : "all knobs and numbers");
	if (!is_same(&page)) {
		put_knobs(stream, scenario, baseline);
		put_metrics(&page);
	}
	good = put_scenario(stream, scenario);
	fputs("\n</details>\n", stream);
	if (stream_end(stream, &text) && good)
		return text;
	free(text);
	return NULL;
}
