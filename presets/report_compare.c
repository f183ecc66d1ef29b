/* report_compare.c - see report_compare.h. */
#include "presets/report_compare.h"

#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "presets/report.h"
#include "presets/stream.h"

static cJSON *row_object(const struct compare *c, const struct compare_row *row)
{
	cJSON *object = cJSON_CreateObject(), *value, *more;

	cJSON_AddStringToObject(object, "key", row->key);
	cJSON_AddStringToObject(object, "label", row->label);
	value = cJSON_AddArrayToObject(object, "values");
	more = cJSON_AddArrayToObject(object, "more_than_first");
	for (int i = 0; i < c->plans; i++) {
		cJSON_AddItemToArray(value, c->legal[i]
						    ? cJSON_CreateNumber(row->value[i])
						    : cJSON_CreateNull());
		cJSON_AddItemToArray(more, c->legal[0] && c->legal[i]
						   ? cJSON_CreateNumber(row->more[i])
						   : cJSON_CreateNull());
	}
	return object;
}

static void add_sum(cJSON *root, const char *key, const struct compare *c,
		    const struct compare_sum *sum)
{
	cJSON *object = cJSON_AddObjectToObject(root, key);
	cJSON *rows = cJSON_AddArrayToObject(object, "rows");

	for (int i = 0; i < sum->rows; i++)
		cJSON_AddItemToArray(rows, row_object(c, &sum->row[i]));
	cJSON_AddItemToObject(object, "sum", row_object(c, &sum->sum));
}

static void add_knobs(cJSON *root, const struct compare *c,
		      const struct scenario *const *s)
{
	cJSON *list = cJSON_AddArrayToObject(root, "knobs");
	char text[64];

	for (int k = 0; k < c->knobs; k++) {
		cJSON *object = cJSON_CreateObject(), *values;

		cJSON_AddStringToObject(object, "key", c->knob[k]->key);
		values = cJSON_AddArrayToObject(object, "values");
		for (int i = 0; i < c->plans; i++) {
			knob_print(s[i], c->knob[k], text, sizeof text);
			cJSON_AddItemToArray(values, cJSON_CreateString(text));
		}
		cJSON_AddItemToArray(list, object);
	}
}

char *report_compare_json(const struct compare *c, const struct scenario *const *s,
			  const struct estimate *const *e,
			  const struct compare_title *title)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *plans = cJSON_AddArrayToObject(root, "plans");

	for (int i = 0; i < c->plans; i++) {
		cJSON *plan = cJSON_CreateObject();

		cJSON_AddStringToObject(plan, "name", title[i].name);
		cJSON_AddBoolToObject(plan, "feasible", c->fits[i]);
		cJSON_AddItemToObject(plan, "problems", report_problems(e[i]));
		cJSON_AddNumberToObject(plan, "tokens_per_second_per_gpu", c->rate[i]);
		cJSON_AddNumberToObject(plan, "gain", c->gain[i]);
		report_start(plan, &title[i].start, s[i]);
		cJSON_AddItemToObject(plan, "scenario", report_scenario(s[i]));
		cJSON_AddItemToArray(plans, plan);
	}
	add_knobs(root, c, s);
	add_sum(root, "seconds", c, &c->seconds);
	add_sum(root, "bytes", c, &c->bytes);
	return report_print(root, false);
}

static void put_head(FILE *stream, const struct compare *c, const char *title)
{
	fprintf(stream, "\n| %s |", title);
	for (int i = 0; i < c->plans; i++)
		fprintf(stream, " %c |%s", 'A' + i, i > 0 ? " more |" : "");
	fputs("\n|---|", stream);
	for (int i = 0; i < c->plans; i++)
		fprintf(stream, "---:|%s", i > 0 ? "---:|" : "");
	fputc('\n', stream);
}

static void put_row(FILE *stream, const struct compare *c,
		    const struct compare_row *row, enum form form, bool bold)
{
	const char *mark = bold ? "**" : "";
	char text[32];

	if (!row->matters)
		return;
	fprintf(stream, "| %s%s%s |", mark, row->label, mark);
	for (int i = 0; i < c->plans; i++) {
		double more = row->more[i];

		form_text(form, row->value[i], text, sizeof text);
		fprintf(stream, " %s%s%s |", mark, c->legal[i] ? text : "-", mark);
		if (i == 0)
			continue;
		form_text(form, more < 0 ? -more : more, text, sizeof text);
		if (c->legal[0] && c->legal[i])
			fprintf(stream, " %c%s |", more < 0 ? '-' : '+', text);
		else
			fputs(" - |", stream);
	}
	fputc('\n', stream);
}

static void put_sum(FILE *stream, const struct compare *c,
		    const struct compare_sum *sum, const char *title, enum form form)
{
	put_head(stream, c, title);
	for (int i = 0; i < sum->rows; i++)
		put_row(stream, c, &sum->row[i], form, false);
	put_row(stream, c, &sum->sum, form, true);
}

static void put_plan(FILE *stream, int at, const struct scenario *s,
		     const struct compare_title *title)
{
	char assumed[512];

	fprintf(stream, "- **%c** ", 'A' + at);
	report_put_cell(stream, title->name);
	fputs(": ", stream);
	report_put_cell(stream, s->model.name);
	fprintf(stream, " on %lld x ", (long long)s->cluster.gpus);
	report_put_cell(stream, s->cluster.accelerator.name);
	fputs(", ", stream);
	report_put_cell(stream, s->stack.name);
	if (start_whole_text(&title->start, s, assumed, sizeof assumed) > 0) {
		fputs("; assumed: ", stream);
		report_put_cell(stream, assumed);
	}
	fputc('\n', stream);
}

char *report_compare_markdown(const struct compare *c, const struct scenario *const *s,
			      const struct compare_title *title)
{
	char *text = NULL, value[64];
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (int i = 0; i < c->plans; i++)
		put_plan(stream, i, s[i], &title[i]);
	fputs("\n| knob |", stream);
	for (int i = 0; i < c->plans; i++)
		fprintf(stream, " %c |", 'A' + i);
	fputs("\n|---|", stream);
	for (int i = 0; i < c->plans; i++)
		fputs("---:|", stream);
	fputc('\n', stream);
	for (int k = 0; k < c->knobs; k++) {
		fprintf(stream, "| %s |", c->knob[k]->key);
		for (int i = 0; i < c->plans; i++) {
			knob_print(s[i], c->knob[k], value, sizeof value);
			fprintf(stream, " %s |", value);
		}
		fputc('\n', stream);
	}
	put_sum(stream, c, &c->seconds, c->serves ? "decode pass" : "step",
		FORM_SECONDS);
	put_sum(stream, c, &c->bytes, "fullest stage", FORM_BYTES);
	return stream_end(stream, &text);
}
