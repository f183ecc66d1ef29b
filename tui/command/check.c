/* check.c - everything that is wrong with a plan, before it is sent to a queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "presets/lint.h"
#include "tui/command.h"
#include "tui/command/idle.h"

struct asked {
	bool json, named;
	struct lint_rules rules;
	struct start start;
	struct idle_of said; /* options, and a scenario's own file */
};

static bool take_json(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->json = true;
	return true;
}

static bool take_rules(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->named = true;
	return lint_rules_read(&asked->rules, value, error);
}

static bool note_knob(void *context, const struct knob *knob, const char *text)
{
	(void)text;
	idle_note(&((struct asked *)context)->said, knob);
	return false;
}

const struct own_option check_options[] = {
	{ "json", NULL, "one JSON object", take_json },
	{ "rules", "FILE",
	  "a file of severities, instead of rules.yaml in the user's folder",
	  take_rules },
	{ NULL, NULL, NULL, NULL },
};

/* What this item's values give is told above it. */
static bool is_told(const struct lint *lint, const struct lint_item *item)
{
	for (const struct lint_item *other = lint->item; other < item; other++) {
		int same = 0;

		while (same < item->costs && same < other->costs &&
		       item->cost[same].knob == other->cost[same].knob &&
		       item->cost[same].value == other->cost[same].value)
			same++;
		if (same == item->costs && same == other->costs && same > 0)
			return true;
	}
	return false;
}

static void print_item(const struct lint *lint, const struct lint_item *item)
{
	bool told = is_told(lint, item);

	printf("%-5s %s: %s\n", item->code, lint_level_label(item->level), item->text);
	if (item->remedy[0] != '\0')
		printf("      nearest that works: %s%s\n", item->remedy,
		       told ? ", as above" : "");
	for (int i = 0; i < item->costs && !told; i++) {
		const struct whatif_cost *cost = &item->cost[i];
		char value[48], text[80];

		knob_print_value(cost->knob, cost->value, value, sizeof value);
		whatif_cost_text(cost, text, sizeof text);
		printf("        %s %s: %s\n", cost->knob->key, value, text);
	}
	printf("      source: %s\n", item->source);
}

/* How many GPUs it would take, where it is not plain that these do. */
static void print_gpus(const struct scenario *s, const struct lint *lint)
{
	const struct whatif_gpus *gpus = &lint->gpus;

	printf("GPUs: %lld asked for; these degrees need %lld or a multiple",
	       (long long)s->cluster.gpus, (long long)gpus->degrees);
	if (gpus->legal > 0)
		printf("; legal from %lld", (long long)gpus->legal);
	else
		printf("; no count alone makes this legal");
	if (gpus->fits > 0)
		printf("; fits from %lld", (long long)gpus->fits);
	else if (gpus->legal > 0)
		printf("; no count alone makes it fit");
	putchar('\n');
}

static void print_text(const struct scenario *s, const struct estimate *e,
		       const struct asked *asked, const struct lint *lint)
{
	command_print_start(&asked->start, s);
	idle_print(&asked->said, s, &e->problems);
	for (int i = 0; i < lint->count; i++)
		print_item(lint, &lint->item[i]);
	if (lint->errors > 0)
		print_gpus(s, lint);
	else if (e->unsure)
		printf("ok: legal on %s; whether it fits is unsure (%.0f %%), nobody "
		       "measured this accelerator\n",
		       s->stack.name, e->fit_probability * 100);
	else if (e->feasible)
		printf("ok: legal on %s, and fits\n", s->stack.name);
	else
		printf("ok: by the user's rules, but %s\n",
		       e->legal ? "it does not fit" : "it can't run");
}

static int check(const struct scenario *s, const struct asked *asked)
{
	struct estimate *e = calloc(2, sizeof *e);
	struct lint *lint = calloc(1, sizeof *lint);
	int status = STATUS_USAGE;
	char *text = NULL;

	if (e && lint) {
		scenario_estimate(s, e);
		lint_run(s, &asked->start, e, &asked->rules, e + 1, lint);
		text = asked->json ? lint_json(s, e, &asked->start, lint) : NULL;
		status = lint->errors > 0 ? STATUS_NO : STATUS_GOOD;
	}
	if (text)
		fputs(text, stdout);
	else if (!e || !lint || asked->json)
		status = command_fail(&(struct error){ "" });
	else
		print_text(s, e, asked, lint);
	free(text);
	free(lint);
	free(e);
	return command_finish(status);
}

int command_check(int argc, char **argv)
{
	struct asked asked = { .json = false };
	struct arguments arguments = {
		.context = &asked,
		.start = &asked.start,
		.knob = note_knob,
		.file = asked.said.file,
		.file_size = sizeof asked.said.file,
	};
	struct error error = { "" };
	struct scenario scenario;
	int status;

	if (!options_read(command_find("check"), &arguments, argc, argv, &scenario,
			  &status))
		return status;
	if (!asked.named && !lint_rules_own(&asked.rules, &error))
		return command_fail(&error);
	return check(&scenario, &asked);
}
