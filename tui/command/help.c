/* help.c - what a command takes, from the tables. */
#include <stdio.h>
#include <string.h>

#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"
#include "presets/challenge_file.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/schema.h"
#include "tui/command.h"
#include "tui/command/lesson.h"

#include "tui/view.h"

/* As it is typed in one word: "pipeline-bubble". */
static void each_term(const struct glossary_word *word,
		      void (*each)(void *context, const char *word, const char *help),
		      void *context)
{
	char name[64];

	if (word->kind > WORD_SCHEDULE)
		return;
	snprintf(name, sizeof name, "%s", word->key);
	for (char *c = name; *c != '\0'; c++)
		*c = *c == ' ' ? '-' : *c;
	each(context, name, word_kind_label(word->kind));
}

static void each_challenge(void (*each)(void *context, const char *word,
					const char *help),
			   void *context)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	int count = challenge_names(names);

	each(context, "list", "all challenges, with your best score");
	each(context, "rank", "the leaderboard of a folder of answers");
	for (int i = 0; i < count; i++)
		each(context, names[i], "a challenge");
}

/* With what it shows: its help up to the first stop. */
static void each_view(const struct view *view,
		      void (*each)(void *context, const char *word, const char *help),
		      void *context)
{
	char shows[128];

	snprintf(shows, sizeof shows, "%.*s", (int)strcspn(view->help, ".;:"),
		 view->help);
	each(context, view->name, shows);
}

void operand_words(enum operand operand,
		   void (*each)(void *context, const char *word, const char *help),
		   void *context)
{
	static const char *const shells[] = { "bash", "zsh", "fish" };

	switch (operand) {
	case OPERAND_KIND:
		for (int i = 0; i < PRESET_KIND_COUNT; i++)
			each(context, preset_kind_label((enum preset_kind)i), "");
		each(context, "challenges", "");
		each(context, "rules", "");
		break;
	case OPERAND_VIEW:
		for (int i = 0; i < VIEW_COUNT; i++)
			each_view(&view_table[i], each, context);
		break;
	case OPERAND_IMPORT:
		for (int i = 0; i < format_count(); i++)
			if (format_table[i].in.read)
				each(context, format_table[i].name,
				     format_table[i].in.help);
		break;
	case OPERAND_EXPORT:
		for (int i = 0; i < format_count(); i++)
			if (format_is_written(&format_table[i]))
				each(context, format_table[i].name,
				     format_table[i].out.help);
		break;
	case OPERAND_SHELL:
		for (int i = 0; i < 3; i++)
			each(context, shells[i], "");
		break;
	case OPERAND_VERB:
		for (int i = 0; lesson_verb(i); i++)
			each(context, lesson_verb(i), lesson_verb_help(i));
		break;
	case OPERAND_SCHEMA:
		for (int i = 0; schema_name(i); i++)
			each(context, schema_name(i), "");
		break;
	case OPERAND_NUMBER:
		for (int i = 0; i < metric_count(); i++)
			each(context, metric_table[i].key, metric_table[i].label);
		for (int i = 0; i < knob_count(); i++)
			each(context, knob_table[i].key, knob_table[i].label);
		for (int i = 0; i < glossary_count(); i++)
			each_term(glossary_at(i), each, context);
		break;
	case OPERAND_CHALLENGE: each_challenge(each, context); break;
	default: break;
	}
}

static void print_word(void *context, const char *word, const char *help)
{
	(void)context;
	printf("  %-24s %s\n", word, help);
}

/* "  --name VALUE   help", the help below where the name is long. */
static void print_option(const char *name, const char *value, const char *help)
{
	char left[160];
	int length = snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "",
			      value ? value : "");

	if (length > 24)
		printf("  %s\n  %-24s %s\n", left, "", help);
	else
		printf("  %-24s %s\n", left, help);
}

static void print_knob(const struct knob *knob)
{
	char domain[256];

	print_option(knob->key, NULL, knob->help);
	knob_domain(knob, domain, sizeof domain);
	printf("  %-24s %s\n", "", domain);
}

static void print_knobs(void)
{
	int group = -1;

	puts("\nThe scenario:");
	print_option("model", "NAME", "a model's name, Hugging Face id or file");
	print_option("cluster", "NAME", "a cluster's name or file");
	print_option("stack", "NAME", "a software stack's name or file");
	print_option("dp", "N", "only checked: it follows from the other degrees");
	print_option(
		"set", "NAME=VALUE",
		"sets a variable of the script that is read; 3=VALUE sets its third argument");
	print_option("function", "NAME",
		     "which configuration to take from a file that has several");
	for (int i = 0; i < knob_count(); i++) {
		if ((int)knob_table[i].group != group)
			printf("\nThe knobs, %s:\n",
			       knob_group_label(knob_table[i].group));
		group = (int)knob_table[i].group;
		print_knob(&knob_table[i]);
	}
	puts("\n- and _ are equal in names. Sizes take 8k (8192) and 4M; tokens 15T.");
}

int command_help(const struct command *command)
{
	printf("usage: shardscope %s %s\n\n%s\n", command->name, command->arguments,
	       command->help);
	for (int i = 0; i < 2; i++) {
		if (command->operand[i] != OPERAND_NONE)
			putchar('\n');
		operand_words(command->operand[i], print_word, NULL);
	}
	for (int i = 0; command->own && command->own[i].name; i++)
		print_option(command->own[i].name, command->own[i].value,
			     command->own[i].help);
	if (command->knobs)
		print_knobs();
	return command_finish(STATUS_GOOD);
}
