/* explain.c - what a word means and where a number comes from, as lines or JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain/explain.h"
#include "engine/explain/nearest.h"
#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "presets/report.h"
#include "tui/command.h"

struct asked {
	const char *key;
	bool json;
	struct start start; /* what was assumed */
};

static bool take_json(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->json = true;
	return true;
}

/* The short names that eval --json has for scripts beside the keys. */
static const char *const short_names[][2] = {
	{ "throughput.concurrency", "running" },
	{ "throughput.goodput", "goodput_tokens_per_second" },
};

/* What stands in eval --json inside the object of its group, as in
 * "communication.tp.bytes" or "memory.stages.0.total_bytes", has its key behind it. */
static const char *without_group(const char *text)
{
	const char *dot = strchr(text, '.');
	size_t group = dot ? (size_t)(dot - text) : 0;

	for (size_t i = 0; i < sizeof short_names / sizeof short_names[0]; i++)
		if (strcmp(text, short_names[i][0]) == 0)
			return short_names[i][1];
	for (int i = 0; dot && i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];

		if (strlen(metric->group) != group ||
		    strncmp(metric->group, text, group) != 0)
			continue;
		if (strcmp(metric->key, dot + 1) == 0 ||
		    strncmp(dot + 1, "stages.", strlen("stages.")) == 0)
			return dot + 1;
	}
	return text;
}

static bool take_key(void *context, const char *text, struct error *error)
{
	(void)error;
	((struct asked *)context)->key = without_group(text);
	return true;
}

const struct own_option explain_options[] = {
	{ "json", NULL, "one JSON object", take_json },
	{ NULL, NULL, NULL, NULL },
};

static void print_terms(const struct explanation_term *terms, int count)
{
	int symbol = 0, value = 0;
	char text[64];

	for (int i = 0; i < count; i++) {
		int width = (int)strlen(terms[i].symbol);

		symbol = width > symbol ? width : symbol;
		width = (int)form_text(terms[i].form, terms[i].value, text,
				       sizeof text);
		value = width > value ? width : value;
	}
	for (int i = 0; i < count; i++) {
		const struct explanation_term *term = &terms[i];

		form_text(term->form, term->value, text, sizeof text);
		printf("  %-*s  %*s  %s%s%s%s\n", symbol, term->symbol, value, text,
		       term->meaning, term->key[0] ? "  (" : "", term->key,
		       term->key[0] ? ")" : "");
	}
}

static void print_prose(const char *title, const char *text)
{
	char plain[GLOSSARY_MAX_TEXT];

	glossary_plain(text, plain, sizeof plain);
	printf("\n%s\n  %s\n", title, plain);
}

/* What it means, why one would turn it or look at it. */
static void print_word(const struct glossary_word *word)
{
	const struct glossary_word *links[GLOSSARY_MAX_LINKS];
	int count = word_links(word, links);

	print_prose("what it means", word->means);
	print_prose(word->kind == WORD_KNOB ? "why change it" : "why it matters",
		    word->why);
	for (int i = 0; i < count; i++)
		printf("%s%s", i == 0 ? "\nwords\n  " : ", ", links[i]->key);
	if (count > 0)
		putchar('\n');
}

static bool links_to(const struct glossary_word *number,
		     const struct glossary_word *term)
{
	const struct glossary_word *links[GLOSSARY_MAX_LINKS];
	int count = glossary_links(number->means, links, 0);

	for (int i = 0; i < count; i++)
		if (links[i] == term)
			return true;
	return false;
}

/* Whose numbers they are; where nobody names a scenario, too. */
static void print_heading(const char *words, const struct scenario *s)
{
	printf("\n%s this scenario, %s on %lld x %s, %s\n", words, s->model.name,
	       (long long)s->cluster.gpus, s->cluster.accelerator.name, s->stack.name);
}

/* The numbers that a word is told by, of this plan; none where the word is one that
 * most numbers use, as GPU. */
static void print_numbers(const struct glossary_word *term,
			  const struct scenario *scenario, const struct estimate *e)
{
	enum { MOST = 6 };
	const struct metric *metric[MOST];
	int count = 0;

	for (int i = 0; e->legal && i < glossary_count(); i++) {
		const struct glossary_word *number = glossary_at(i);
		const struct metric *of =
			number->kind == WORD_NUMBER ? metric_find(number->key) : NULL;

		if (!of || !(of->modes >> scenario->plan.mode & 1) ||
		    !links_to(number, term) || !isfinite(metric_get(e, of)))
			continue;
		if (count == MOST)
			return;
		metric[count++] = of;
	}
	if (count > 0)
		print_heading("numbers of", scenario);
	for (int i = 0; i < count; i++) {
		char value[32];

		form_text(metric[i]->form, metric_get(e, metric[i]), value,
			  sizeof value);
		printf("  %11s  %s (%s)\n", value, metric[i]->label, metric[i]->key);
	}
}

static int print_term(const struct glossary_word *word, bool json,
		      const struct scenario *scenario, const struct estimate *e)
{
	char *text = json ? report_word(word) : NULL;

	if (json) {
		fputs(text ? text : "", stdout);
		free(text);
		return STATUS_GOOD;
	}
	printf("%s (%s)\n", word->key, word_kind_label(word->kind));
	print_word(word);
	print_numbers(word, scenario, e);
	return STATUS_GOOD;
}

static void print_text(const struct scenario *scenario, const char *key,
		       const struct explanation *x)
{
	const struct knob *knob = explain_knob(key);
	char value[MAX_LAYOUT + 8];

	/* a word of a knob, not its place among the words */
	if (knob)
		knob_show(scenario, knob, value, sizeof value);
	else
		form_text(x->form, x->value, value, sizeof value);
	printf("%s (%s) = %s\n", x->title, key, value);
	if (x->word)
		print_word(x->word);
	printf("\nformula\n  %s\n", x->formula);
	if (x->terms > 0)
		print_heading("in", scenario);
	print_terms(x->term, x->terms);
	if (x->besides > 0)
		puts("\nto compare with");
	print_terms(x->beside, x->besides);
	printf("\nassumption\n  %s\n\nsource\n  %s\n", x->assumption, x->source);
}

static int refuse_key(const struct scenario *scenario, const char *key)
{
	const char *near = explain_nearest(key);
	struct error error = { "" };

	if (metric_find(key))
		error_set(&error, NULL, 0,
			  "'%.60s' is no number of %s; --mode %s has it", key,
			  scenario->plan.mode == MODE_TRAINING ? "training"
							       : "a server",
			  scenario->plan.mode == MODE_TRAINING ? "inference"
							       : "training");
	else
		error_set(
			&error, NULL, 0,
			"no number '%.60s'%s%s%s; expected a key of eval --json, as "
			"step_seconds, tp.bytes or stages.0.total_bytes, a knob, or a term, as bubble",
			key, near ? ", did you mean '" : "", near ? near : "",
			near ? "'?" : "");
	return command_fail(&error);
}

/* goodput is a share of a run, and of a server the short name of tokens a second. */
static const char *key_in_mode(const char *key, int mode)
{
	const struct metric *metric = metric_find(key);

	if (!metric || metric->modes >> mode & 1)
		return key;
	for (size_t i = 0; i < sizeof short_names / sizeof short_names[0]; i++)
		if (strcmp(strchr(short_names[i][0], '.') + 1, key) == 0)
			return short_names[i][1];
	return key;
}

static int print_explanation(const struct asked *asked, const struct scenario *scenario,
			     const struct estimate *e)
{
	const struct metric *metric = metric_find(asked->key);
	const struct glossary_word *term = glossary_term(asked->key);
	struct explanation x;
	char *text;

	if (!metric && term && !explain(scenario, e, asked->key, &x))
		return print_term(term, asked->json, scenario, e);
	if ((metric && !(metric->modes >> scenario->plan.mode & 1)) ||
	    !explain(scenario, e, asked->key, &x))
		return refuse_key(scenario, asked->key);
	if (!e->legal)
		fputs("shardscope: this plan can't run, its numbers are not there; "
		      "shardscope check says why\n",
		      stderr);
	if (asked->json) {
		text = report_explanation(asked->key, &x, &asked->start, scenario);
		fputs(text ? text : "", stdout);
		free(text);
	} else {
		print_text(scenario, asked->key, &x);
	}
	return e->legal ? STATUS_GOOD : STATUS_NO;
}

int command_explain(int argc, char **argv)
{
	struct asked asked = { .key = NULL };
	struct arguments arguments = {
		.context = &asked,
		.start = &asked.start,
		.operands = 1,
		.operand = take_key,
	};
	struct scenario scenario;
	struct estimate *e;
	int status;

	if (!options_read(command_find("explain"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	command_say_start(&asked.start, &scenario);
	if (asked.key)
		asked.key = key_in_mode(asked.key, scenario.plan.mode);
	if (!asked.key) {
		struct error error = { "" };

		error_set(
			&error, NULL, 0,
			"explain what? expected a key, as step_seconds or tp, or a term, as bubble");
		return command_fail(&error);
	}
	e = malloc(sizeof *e);
	if (!e)
		return command_fail(&(struct error){ "out of memory" });
	scenario_estimate(&scenario, e);
	status = command_finish(print_explanation(&asked, &scenario, e));
	free(e);
	return status;
}
