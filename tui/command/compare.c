/* compare.c - where the seconds and bytes of some plans differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/compare/compare.h"
#include "engine/predict/predict.h"
#include "presets/formats.h"
#include "presets/report_compare.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "tui/command.h"

struct asked {
	bool json, markdown;
	bool known;    /* the plans' names are */
	int plans, at; /* named; the one that is read */
	struct compare_title title[MAX_COMPARED];
	struct scenario *first; /* once it is read */
	struct import_report *report;
};

TAKE_SWITCH(struct asked, json)
TAKE_SWITCH(struct asked, markdown)

const struct own_option compare_options[] = {
	{ "json", NULL, "one JSON object", take_json },
	{ "markdown", NULL, "tables in Markdown", take_markdown },
	{ NULL, NULL, NULL, NULL },
};

/* The words are read once for each plan: the options are for all of them. */
static bool take_plan(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;

	(void)error;
	if (!asked->known)
		asked->title[asked->plans++].name = text;
	return true;
}

/* Any scenario: only the names are read. */
static bool open_any(void *context, const char *model, struct scenario *out,
		     struct error *error)
{
	(void)context;
	(void)model;
	return scenario_start(out, error);
}

static bool turns_knobs(const char *name)
{
	return strchr(name, '=') && !share_is(name) && access(name, F_OK) != 0;
}

/* Where the first has no name, what the options say is the plan that it turns. */
static bool begin_with_options(struct asked *asked)
{
	asked->known = true;
	asked->title[0].start = (struct start){ 0 };
	if (asked->plans < 1 || asked->plans >= MAX_COMPARED ||
	    !turns_knobs(asked->title[0].name))
		return false;
	memmove(asked->title + 1, asked->title,
		(size_t)asked->plans * sizeof *asked->title);
	asked->title[0] = (struct compare_title){ .name = "as the options say" };
	asked->plans++;
	return true;
}

/* A plan by name or file, or the first with some knobs turned. */
static bool open_plan(void *context, const char *model, struct scenario *out,
		      struct error *error)
{
	struct asked *asked = context;
	const char *name = asked->title[asked->at].name;
	char why[128];

	snprintf(asked->report->model, sizeof asked->report->model, "%s",
		 model ? model : "");
	if (!asked->first || !turns_knobs(name))
		return format_open(name, out, asked->report, error);
	*out = *asked->first;
	return compare_turn(out, name, why, sizeof why) ||
	       error_set(error, NULL, 0, "%s", why);
}

/* What was assumed of the first plan is so of one that is the first with some turned,
 * but for these. */
static void inherit(struct asked *asked, const struct scenario *s)
{
	struct start *start = &asked->title[asked->at].start;

	if (!asked->first || !turns_knobs(asked->title[asked->at].name))
		return;
	*start = asked->title[0].start;
	for (int i = start->chosen - 1; i >= 0; i--)
		if (!knob_same(s, asked->first, start->choice[i]))
			start_forget(start, start->choice[i]);
}

static void form_more(enum form form, double more, char *out, size_t size)
{
	out[0] = more < 0 ? '-' : '+';
	form_text(form, more < 0 ? -more : more, out + 1, size - 1);
}

static void print_row(const struct compare *c, const struct compare_row *row,
		      enum form form)
{
	char text[32];

	if (!row->matters)
		return;
	printf("  %-18s", row->label);
	for (int i = 0; i < c->plans; i++) {
		if (!c->legal[i]) {
			printf(" %11s", "-");
			continue;
		}
		form_text(form, row->value[i], text, sizeof text);
		printf(" %11s", text);
	}
	for (int i = 1; i < c->plans; i++) {
		if (!c->legal[0] || !c->legal[i])
			continue;
		form_more(form, row->more[i], text, sizeof text);
		printf(" %11s", text);
	}
	putchar('\n');
}

static void print_sum(const struct compare *c, const struct compare_sum *sum,
		      const char *title, enum form form)
{
	printf("\n%-20s", title);
	for (int i = 0; i < c->plans; i++)
		printf(" %11c", 'A' + i);
	for (int i = 1; i < c->plans; i++)
		if (c->legal[0] && c->legal[i])
			printf("       %c - A", 'A' + i);
	putchar('\n');
	for (int i = 0; i < sum->rows; i++)
		print_row(c, &sum->row[i], form);
	print_row(c, &sum->sum, form);
}

static void print_problems(const struct estimate *e)
{
	for (int i = 0; i < e->problems.count; i++) {
		char text[320];

		finding_text(&e->problems.item[i], text, sizeof text);
		printf("   %s %s\n", e->problems.item[i].rule->code, text);
	}
}

enum { COLUMN = 11 }; /* of each plan */

static void print_knobs(const struct compare *c, const struct scenario *const *s)
{
	char text[64];

	if (c->knobs == 0)
		puts("\nno knob differs");
	else
		puts("\nthey differ in");
	for (int k = 0; k < c->knobs; k++) {
		printf("  %-18s", c->knob[k]->key);
		for (int i = 0; i < c->plans; i++) {
			if (knob_print(s[i], c->knob[k], text, sizeof text) > COLUMN)
				knob_show(s[i], c->knob[k], text, sizeof text);
			printf(" %*s", COLUMN, text);
		}
		putchar('\n');
	}
}

static void print_text(const struct asked *asked, const struct scenario *const *s,
		       const struct estimate *const *e, const struct compare *c)
{
	char assumed[512];

	for (int i = 0; i < c->plans; i++) {
		printf("%c  %s: %s on %lld x %s, %s%s\n", 'A' + i, asked->title[i].name,
		       s[i]->model.name, (long long)s[i]->cluster.gpus,
		       s[i]->cluster.accelerator.name, s[i]->stack.name,
		       !c->legal[i]  ? ", can't run"
		       : !c->fits[i] ? ", does not fit"
				     : "");
		if (start_whole_text(&asked->title[i].start, s[i], assumed,
				     sizeof assumed) > 0)
			printf("   assumed: %s\n", assumed);
		print_problems(e[i]);
	}
	print_knobs(c, s);
	print_sum(c, &c->seconds, c->serves ? "decode pass" : "seconds of a step",
		  FORM_SECONDS);
	print_sum(c, &c->bytes, "fullest stage", FORM_BYTES);
	printf("\n  %-18s", "tok/s per GPU");
	for (int i = 0; i < c->plans; i++)
		c->legal[i] ? printf(" %11.0f", c->rate[i]) : printf(" %11s", "-");
	for (int i = 1; i < c->plans; i++)
		if (c->legal[0] && c->legal[i])
			printf(" %+10.1f%%", c->gain[i] * 100);
	putchar('\n');
}

static int print(const struct asked *asked, const struct scenario *const *s,
		 const struct estimate *const *e)
{
	struct compare compare;
	char *text = NULL;
	bool good = true;

	compare_plans(s, e, asked->plans, &compare);
	for (int i = 0; i < compare.plans; i++)
		good &= compare.fits[i];
	if (asked->json)
		text = report_compare_json(&compare, s, e, asked->title);
	else if (asked->markdown)
		text = report_compare_markdown(&compare, s, asked->title);
	else
		print_text(asked, s, e, &compare);
	if ((asked->json || asked->markdown) && !text)
		return command_fail(&(struct error){ "out of memory" });
	fputs(text ? text : "", stdout);
	free(text);
	return command_finish(good ? STATUS_GOOD : STATUS_NO);
}

static int compare_all(struct asked *asked, struct scenario *s, struct estimate *e)
{
	const struct scenario *scenario[MAX_COMPARED];
	const struct estimate *estimate[MAX_COMPARED];

	for (int i = 0; i < asked->plans; i++) {
		if (s[i].plan.mode != s[0].plan.mode)
			return command_fail(&(struct error){
				"training and serving have no common "
				"seconds; expected plans of one mode" });
		scenario_estimate(&s[i], &e[i]);
		scenario[i] = &s[i];
		estimate[i] = &e[i];
	}
	return print(asked, scenario, estimate);
}

static bool too_few(void)
{
	struct error error = { "" };

	error_set(
		&error, NULL, 0,
		"compare: expected two plans or more, by name or file; one as "
		"'tp=8 pp=4' is the first with these turned, and a model gets a plan");
	command_fail(&error);
	return false;
}

int command_compare(int argc, char **argv)
{
	struct asked asked = { .plans = 0 };
	struct arguments arguments = { .context = &asked,
				       .operands = MAX_COMPARED,
				       .operand = take_plan,
				       .base = open_any };
	struct scenario *s = calloc(MAX_COMPARED, sizeof *s);
	struct estimate *e = calloc(MAX_COMPARED, sizeof *e);
	int status = STATUS_USAGE;
	bool good, bare = false;

	arguments.report = asked.report = calloc(1, sizeof *asked.report);
	arguments.start = &asked.title[0].start;
	good = s && e && asked.report &&
	       options_read(command_find("compare"), &arguments, argc, argv, s,
			    &status);
	if (good) {
		bare = begin_with_options(&asked);
		good = asked.plans > 1 || too_few();
	}
	for (int i = 0; good && i < asked.plans; i++) {
		const char *name = bare && i == 0 ? NULL : asked.title[i].name;

		arguments.model = name && command_names_model(name) ? name : NULL;
		arguments.base = arguments.model || (bare && i == 0) ? NULL : open_plan;
		asked.at = i;
		asked.first = i > 0 ? s : NULL;
		memset(asked.report, 0, sizeof *asked.report);
		arguments.start = &asked.title[i].start;
		good = options_read(command_find("compare"), &arguments, argc, argv,
				    &s[i], &status);
		if (good)
			inherit(&asked, &s[i]);
	}
	if (good)
		status = compare_all(&asked, s, e);
	else if (!s || !e || !asked.report)
		command_fail(&(struct error){ "out of memory" });
	free(s);
	free(e);
	free(asked.report);
	return status;
}
