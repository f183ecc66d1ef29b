/* manual.c - the man page, from the tables of commands, options, knobs, keys and views,
 * so that it can't go stale. No date: builds are reproducible. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/command.h"
#include "tui/text.h"
#include "tui/view.h"

/* Text as roff takes it: dashes stay dashes, a line never begins with a request, other
 * characters than ASCII by their number. */
static void put(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	while (*text != '\0') {
		uint32_t code = text_decode(&text);

		if (code == '\\')
			fputs("\\e", stdout);
		else if (code == '-')
			fputs("\\-", stdout);
		else if (code > 0x7e)
			printf("\\[u%04X]", (unsigned)code);
		else
			putchar((int)code);
	}
}

static void line(const char *text)
{
	put(text);
	putchar('\n');
}

static void heading(const char *text)
{
	printf(".SH \"%s\"\n", text);
}

/* A bold tag over indented text. */
static void tag(const char *bold, const char *plain)
{
	fputs(".TP\n\\fB", stdout);
	put(bold);
	fputs("\\fR", stdout);
	if (plain[0] != '\0') {
		putchar(' ');
		put(plain);
	}
	putchar('\n');
}

static void option(const char *name, const char *value, const char *help)
{
	char text[160];

	snprintf(text, sizeof text, "--%s", name);
	tag(text, value ? value : "");
	line(help);
}

static void put_item(void *context, const char *word, const char *help)
{
	(void)context;
	if (help[0] == '\0')
		return;
	fputs(".br\n\\fB", stdout);
	put(word);
	fputs("\\fR: ", stdout);
	line(help);
}

static void put_commands(void)
{
	heading("COMMANDS");
	for (int i = 0; i < command_count(); i++) {
		const struct command *c = &command_table[i];

		tag(c->name, c->arguments);
		line(c->help);
		for (int j = 0; j < 2; j++)
			operand_words(c->operand[j], put_item, NULL);
		if (!c->own)
			continue;
		puts(".RS");
		for (int j = 0; c->own[j].name; j++)
			option(c->own[j].name, c->own[j].value, c->own[j].help);
		puts(".RE");
	}
}

static void put_knobs(void)
{
	int group = -1;

	heading("OPTIONS OF A SCENARIO");
	line("A scenario is a plan's name, a file of shardscope or of another tool, or "
	     "what these options make of the built-in one. In names - and _ are equal. "
	     "Sizes take 8k (8192) and 4M, tokens 15T.");
	option("model", "NAME",
	       "A model's name, Hugging Face id, or file (also a config.json).");
	option("cluster", "NAME", "A cluster's name or file.");
	option("stack", "NAME",
	       "A software stack's name or file. Of a scenario that is given, what it "
	       "says beyond the defaults of its own stack stays.");
	option("dp", "N",
	       "Only checked: data parallelism follows from the other degrees.");
	for (int i = 0; i < knob_count(); i++) {
		const struct knob *knob = &knob_table[i];
		char domain[256];

		if ((int)knob->group != group)
			printf(".SS \"%s\"\n", knob_group_label(knob->group));
		group = (int)knob->group;
		knob_domain(knob, domain, sizeof domain);
		option(knob->key, NULL, knob->help);
		fputs(".br\n", stdout);
		line(domain);
	}
}

static void put_screen(void)
{
	heading("VIEWS");
	for (int i = 0; i < VIEW_COUNT; i++) {
		tag(view_table[i].title, "");
		line(view_table[i].help[0] ? view_table[i].help
					   : "The keys of this place.");
	}
	heading("KEYS");
	for (int i = 0; i < key_count(); i++) {
		if (!key_table[i].help)
			continue;
		tag(key_table[i].name, "");
		line(key_table[i].help);
	}
}

/* What is in no table. */
static void put_rest(void)
{
	heading("EXIT STATUS");
	tag("0", "");
	line("Fine.");
	tag("1", "");
	line("The answer is no: illegal, does not fit, nothing found, a check failed.");
	tag("2", "");
	line("Usage, unreadable or empty input, a value outside its knob's domain.");
	tag("128+n", "");
	line("Ended by signal n.");
	heading("ENVIRONMENT");
	tag("NO_COLOR, TERM, COLORTERM, COLORFGBG, LC_ALL", "");
	line("What the screen may use of colours and characters.");
	tag("XDG_CONFIG_HOME, XDG_STATE_HOME", "");
	line("Where the folders below are, if not in ~/.config and ~/.local/state.");
	heading("FILES");
	tag("~/.config/shardscope/{models,clusters,stacks,plans}/NAME.yaml", "");
	line("The user's own presets; they come before the shipped ones.");
	tag("~/.config/shardscope/rules.yaml", "");
	line("Severities for check: a mapping rules of codes (shardscope list rules) "
	     "and one of error, warning, hint, off.");
	tag("~/.local/state/shardscope/workspace.yaml", "");
	line("What was open when the explorer was left. A second "
	     "explorer keeps session 2 in workspace-2.yaml, and "
	     "so on; a .lock beside each is held while it is open.");
}

static void put_examples(void)
{
	static const char *const examples[][2] = {
		{ "shardscope --model ./config.json --gpus 64",
		  "Explore a model of Hugging Face on 64 GPUs." },
		{ "shardscope check train.sh --gpus 512 && sbatch train.sh",
		  "Send a job only if its plan can run and fits." },
		{ "shardscope search --model mixtral-8x7b --gpus 64 --top 5",
		  "The five best plans." },
		{ "shardscope export markdown plan.yaml --baseline old.yaml",
		  "What a change gives, for a pull request." },
	};

	heading("EXAMPLES");
	for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
		tag(examples[i][0], "");
		line(examples[i][1]);
	}
}

int command_manual(int argc, char **argv)
{
	struct error error = { "" };

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return command_help(command_find("manual"));
	if (argc > 1) {
		error_set(&error, NULL, 0, "manual takes nothing, not '%.60s'",
			  argv[1]);
		return command_fail(&error);
	}
	puts(".TH SHARDSCOPE 1 \"\" \"shardscope " SHARDSCOPE_VERSION "\"\n"
	     ".ad l");
	heading("NAME");
	puts("shardscope \\- explore the parallelism "
	     "trade\\-offs of large language models");
	heading("SYNOPSIS");
	puts(".B shardscope\n.RI [ SCENARIO ] \" [\" \\-\\-KNOB \" \" VALUE \" ...]\"\n"
	     ".br\n.B shardscope\n.I COMMAND\n.RI [ ARGUMENTS ]");
	heading("DESCRIPTION");
	line("Memory, communication volume, pipeline bubble and throughput of training "
	     "a large language model on a cluster, latency and throughput of serving "
	     "it, as they follow from tensor, "
	     "pipeline, data, context and expert parallelism, micro-batch, "
	     "recomputation, schedule and precision. Without a command the explorer "
	     "opens. Everything is calculated, from operators with their shapes and "
	     "few constants, and a source can be shown for every number.");
	put_commands();
	put_knobs();
	put_screen();
	put_rest();
	put_examples();
	return command_finish(STATUS_GOOD);
}
