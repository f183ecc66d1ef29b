/* presets.c - list and show what is built in and the user's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/advice/advice.h"
#include "engine/knob/finding.h"
#include "presets/challenge_file.h"
#include "presets/library.h"
#include "presets/report_list.h"
#include "tui/command.h"

static int kind_of(const char *name)
{
	for (int i = 0; i < PRESET_KIND_COUNT; i++)
		if (strcmp(preset_kind_label((enum preset_kind)i), name) == 0)
			return i;
	return -1;
}

static int usage(const char *name)
{
	const struct command *command = command_find(name);

	fprintf(stderr, "shardscope: usage: shardscope %s %s\n", command->name,
		command->arguments);
	return STATUS_USAGE;
}

static bool is_help(int argc, char **argv)
{
	return argc > 1 &&
	       (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

/* Rules of legality and advice: several rows of one code are several ways to break it.
 */
static int list_rules(void)
{
	const struct rule *rule;

	for (int i = 0; (rule = rule_at(i)); i++) {
		char source[MAX_NOTE + 16];

		rule_source(rule, source, sizeof source);
		printf("%-4s %-8s %s [%s]\n", rule->code,
		       severity_label(rule->severity), rule->text, source);
	}
	puts("OOM  error    the fullest stage is above the memory");
	return command_finish(STATUS_GOOD);
}

const struct own_option list_options[] = {
	{ "json", NULL, "one JSON object", NULL },
	{ NULL, NULL, NULL, NULL },
};

/* Takes the text. */
static int print_json(char *text)
{
	struct error error = { "" };

	if (!text)
		return command_fail(&error);
	fputs(text, stdout);
	free(text);
	return command_finish(STATUS_GOOD);
}

static int list_challenges(void)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	struct challenge *c = malloc(sizeof *c);
	int count = challenge_names(names), width = 0;

	if (!c)
		return command_fail(&(struct error){ "out of memory" });
	for (int i = 0; i < count; i++)
		if ((int)strlen(names[i]) > width)
			width = (int)strlen(names[i]);
	for (int i = 0; i < count; i++) {
		struct error error = { "" };

		printf("%-*s  %s\n", width, names[i],
		       challenge_read(c, names[i], &error) ? c->title : error.text);
	}
	free(c);
	return command_finish(STATUS_GOOD);
}

int command_list(int argc, char **argv)
{
	const struct preset *list;
	bool json = argc == 3 &&
		    (strcmp(argv[2], "--json") == 0 || strcmp(argv[1], "--json") == 0);
	const char *name =
		argc == 2 || json ? argv[json && argv[1][0] == '-' ? 2 : 1] : "";
	int kind = kind_of(name), count, width = 0;

	if (is_help(argc, argv))
		return command_help(command_find("list"));
	if (strcmp(name, "rules") == 0)
		return json ? print_json(report_rules()) : list_rules();
	if (strcmp(name, "challenges") == 0)
		return json ? print_json(report_challenges()) : list_challenges();
	if (kind >= 0 && json)
		return print_json(report_presets((enum preset_kind)kind));
	if (kind < 0)
		return usage("list");
	count = preset_list((enum preset_kind)kind, &list);
	if (!preset_list_is_whole((enum preset_kind)kind))
		return command_fail(&(struct error){ "out of memory" });
	for (int i = 0; i < count; i++)
		if ((int)strlen(list[i].name) > width)
			width = (int)strlen(list[i].name);
	for (int i = 0; i < count; i++)
		printf("%-*s  %s\n", width, list[i].name, list[i].title);
	return command_finish(STATUS_GOOD);
}

static int print_yaml(char *text, const struct error *error)
{
	if (!text)
		return command_fail(error);
	fputs(text, stdout);
	free(text);
	return command_finish(STATUS_GOOD);
}

/* The YAML of a preset, whatever its kind, or of a challenge. */
int command_show(int argc, char **argv)
{
	struct error error = { "" };
	char *text;

	if (is_help(argc, argv))
		return command_help(command_find("show"));
	if (argc != 2)
		return usage("show");
	for (int kind = 0; kind < PRESET_KIND_COUNT; kind++)
		if (preset_find((enum preset_kind)kind, argv[1]))
			return print_yaml(
				preset_text((enum preset_kind)kind, argv[1], &error),
				&error);
	text = challenge_text(argv[1], &error);
	if (!text && error.text[0] == '\0')
		error_set(
			&error, NULL, 0,
			"no model, cluster, stack, plan, lesson or challenge '%.80s'; "
			"shardscope list models shows names",
			argv[1]);
	return print_yaml(text, &error);
}
