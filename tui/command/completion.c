/* completion.c - what a shell offers behind `shardscope`, from the tables of commands,
 * their options and knobs. Names of presets are asked for while one types, so that the
 * user's own are among them. */
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/command.h"

/* What stands behind an option. */
enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_WORDS, VALUE_FILE, VALUE_NAME };

struct option_line {
	char name[MAX_NAME];
	const char *help;
	enum value_kind kind;
	bool optional; /* a switch that may be given a value */
	char words[512];
	const char *preset; /* VALUE_NAME: "models" ... */
};

/* Names are written with dashes. */
static void set_name(struct option_line *line, const char *name)
{
	snprintf(line->name, sizeof line->name, "%s", name);
	for (char *c = line->name; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
}

static void add_words(struct option_line *line, const char *text, char separator)
{
	snprintf(line->words, sizeof line->words, "%s", text);
	for (char *c = line->words; *c != '\0'; c++)
		if (*c == separator)
			*c = ' ';
	line->kind = VALUE_WORDS;
}

static struct option_line of_own(const struct own_option *own)
{
	struct option_line line = { .help = own->help };

	set_name(&line, own->name);
	if (!own->value)
		return line;
	line.kind = VALUE_TEXT;
	if (strchr(own->value, '|'))
		add_words(&line, own->value, '|');
	else if (strcmp(own->value, "FILE") == 0)
		line.kind = VALUE_FILE;
	else if (strcmp(own->value, "SCENARIO") == 0) {
		line.kind = VALUE_NAME;
		line.preset = "plans";
	}
	return line;
}

static struct option_line of_knob(const struct knob *knob)
{
	struct option_line line = { .help = knob->help, .kind = VALUE_TEXT };

	set_name(&line, knob->key);
	line.optional = knob->type == KNOB_BOOL;
	if (line.optional)
		add_words(&line, "on off", ' ');
	for (int i = 0; knob->words && knob->words[i]; i++) {
		size_t used = strlen(line.words);

		line.kind = VALUE_WORDS;
		snprintf(line.words + used, sizeof line.words - used, "%s%s",
			 i ? " " : "", knob->words[i]);
	}
	return line;
}

static const struct option_line bases[] = {
	{ "model", "a model's name, Hugging Face id or file", VALUE_NAME, false, "",
	  "models" },
	{ "cluster", "a cluster's name or file", VALUE_NAME, false, "", "clusters" },
	{ "stack", "a software stack's name or file", VALUE_NAME, false, "", "stacks" },
	{ "scenario", "a plan's name or a file", VALUE_NAME, false, "", "plans" },
	{ "dp", "data parallel degree; only checked", VALUE_TEXT, false, "", NULL },
	{ "set", "a variable of the script that is read", VALUE_TEXT, false, "", NULL },
	{ "function", "which configuration of a file of several", VALUE_TEXT, false, "",
	  NULL },
};

enum { BASES = sizeof bases / sizeof bases[0] };

static void each_base(void (*put)(const struct option_line *, const char *),
		      const char *with)
{
	for (int i = 0; i < BASES; i++)
		put(&bases[i], with);
	for (int i = 0; i < knob_count(); i++) {
		struct option_line line = of_knob(&knob_table[i]);

		put(&line, with);
	}
}

static void each_own(const struct command *command,
		     void (*put)(const struct option_line *, const char *),
		     const char *with)
{
	for (int i = 0; command->own && command->own[i].name; i++) {
		struct option_line line = of_own(&command->own[i]);

		put(&line, with);
	}
}

static void put_word(void *context, const char *word, const char *help)
{
	(void)help;
	printf("%s%s", *(int *)context ? " " : "", word);
	*(int *)context = 1;
}

static void put_operand_words(enum operand operand)
{
	int any = 0;

	operand_words(operand, put_word, &any);
}

/* --- bash --- */

static void bash_name(const struct option_line *line, const char *with)
{
	(void)with;
	printf(" --%s", line->name);
}

static void bash_value(const struct option_line *line, const char *with)
{
	if (line->kind == VALUE_NONE || line->optional)
		return;
	printf("\t%s--%s) ", with, line->name);
	if (line->kind == VALUE_WORDS)
		printf("_shardscope_words \"%s\"; ", line->words);
	else if (line->kind == VALUE_NAME)
		printf("_shardscope_names %s; ", line->preset);
	if (line->kind == VALUE_FILE || line->kind == VALUE_NAME)
		printf("_shardscope_files; ");
	puts("return ;;");
}

static void bash_operand(enum operand operand)
{
	switch (operand) {
	case OPERAND_NONE: break;
	case OPERAND_SCENARIO:
		printf("_shardscope_names plans; _shardscope_files; ");
		break;
	case OPERAND_LESSON:
		printf("_shardscope_names lessons; _shardscope_files; ");
		break;
	case OPERAND_FILE: printf("_shardscope_files; "); break;
	case OPERAND_PRESET:
		printf("_shardscope_names models clusters stacks plans; ");
		break;
	default:
		printf("_shardscope_words \"");
		put_operand_words(operand);
		printf("\"; ");
	}
}

static void bash_head(void)
{
	puts("# bash completion of shardscope; made by `shardscope completion bash`\n"
	     "_shardscope_words() {\n"
	     "\tlocal IFS=$' \\t\\n'\n"
	     "\tCOMPREPLY+=($(compgen -W \"$1\" -- \"$cur\"))\n"
	     "}\n"
	     "_shardscope_names() {\n"
	     "\tlocal kind\n"
	     "\tfor kind; do\n"
	     "\t\t_shardscope_words \"$(shardscope list \"$kind\" 2> /dev/null | "
	     "cut -d' ' -f1)\"\n"
	     "\tdone\n"
	     "}\n"
	     "_shardscope_files() {\n"
	     "\tlocal IFS=$'\\n'\n"
	     "\tcompopt -o filenames 2> /dev/null\n"
	     "\tCOMPREPLY+=($(compgen -f -- \"$cur\"))\n"
	     "}\n"
	     "_shardscope() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\tlocal command= at=0 knobs\n"
	     "\tCOMPREPLY=()\n"
	     "\t# \"--tp=8\" comes as three words\n"
	     "\tif [ \"$cur\" = = ]; then\n"
	     "\t\tcur=\n"
	     "\telif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
	     "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	     "\tfi");
}

static void bash_commands(const char *between)
{
	for (int i = 0; i < command_count(); i++)
		printf("%s%s", i ? between : "", command_table[i].name);
}

/* What an option before the cursor takes. */
static void bash_values(void)
{
	puts("\tcase ${prev//_/-} in");
	each_base(bash_value, "");
	puts("\tesac\n\tcase $command:${prev//_/-} in");
	for (int i = 0; i < command_count(); i++) {
		char with[MAX_NAME];

		snprintf(with, sizeof with, "%s:", command_table[i].name);
		each_own(&command_table[i], bash_value, with);
	}
	puts("\tesac");
}

static void bash_options(void)
{
	printf("\tknobs='");
	each_base(bash_name, NULL);
	puts("'\n\tif [[ $cur == -* ]]; then\n\t\tcase $command in");
	for (int i = 0; i < command_count(); i++) {
		const struct command *c = &command_table[i];

		printf("\t\t%s%s) _shardscope_words \"--help",
		       strcmp(c->name, "explore") == 0 ? "''|" : "", c->name);
		each_own(c, bash_name, NULL);
		printf("%s\" ;;\n", c->knobs ? " $knobs" : "");
	}
	puts("\t\tesac\n\t\treturn\n\tfi");
}

static void bash_operands(void)
{
	printf("\tcase $command:$((COMP_CWORD - at)) in\n\t:1) _shardscope_words \"");
	bash_commands(" ");
	printf("\"; ");
	bash_operand(OPERAND_SCENARIO);
	puts(";;");
	for (int i = 0; i < command_count(); i++) {
		const struct command *c = &command_table[i];
		bool second = c->operand[1] != OPERAND_NONE;

		if (c->operand[0] == OPERAND_NONE)
			continue;
		printf("\t%s:%s) ", c->name, second ? "1" : "*");
		bash_operand(c->operand[0]);
		puts(";;");
		if (!second)
			continue;
		printf("\t%s:*) ", c->name);
		bash_operand(c->operand[1]);
		puts(";;");
	}
	puts("\tesac");
}

static int print_bash(void)
{
	bash_head();
	printf("\tif [ \"$COMP_CWORD\" -gt 1 ]; then\n\t\tcase ${COMP_WORDS[1]} in\n"
	       "\t\t");
	bash_commands("|");
	puts(") command=${COMP_WORDS[1]} at=1 ;;\n\t\tesac\n\tfi");
	bash_values();
	bash_options();
	bash_operands();
	puts("}\ncomplete -F _shardscope shardscope");
	return command_finish(STATUS_GOOD);
}

/* --- zsh --- */

/* Inside single quotes and brackets; a colon would end the explanation. */
static void zsh_text(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (*text == '[' || *text == ']')
			printf("\\%c", *text);
		else
			putchar(*text == ':' ? ';' : *text);
	}
}

static void zsh_option(const struct option_line *line, const char *with)
{
	(void)with;
	printf("\t\t'--%s%s[", line->name,
	       line->optional             ? "=-"
	       : line->kind == VALUE_NONE ? ""
					  : "=");
	zsh_text(line->help);
	printf("]");
	if (line->kind != VALUE_NONE)
		printf(":%s%s:", line->optional ? ":" : "", line->name);
	switch (line->kind) {
	case VALUE_WORDS: printf("(%s)", line->words); break;
	case VALUE_FILE: printf("_files"); break;
	case VALUE_NAME: printf("_shardscope_name %s", line->preset); break;
	default: break;
	}
	puts("'");
}

static void zsh_operand(int n, enum operand operand)
{
	if (operand == OPERAND_NONE)
		return;
	printf("\t\t'%d:", n);
	switch (operand) {
	case OPERAND_SCENARIO: printf("scenario:_shardscope_name plans"); break;
	case OPERAND_LESSON: printf("lesson:_shardscope_name lessons"); break;
	case OPERAND_FILE: printf("file:_files"); break;
	case OPERAND_PRESET:
		printf("name:_shardscope_name models clusters stacks plans");
		break;
	default:
		printf("word:(");
		put_operand_words(operand);
		printf(")");
	}
	puts("'");
}

static void zsh_commands(void)
{
	for (int i = 0; i < command_count(); i++) {
		printf("\t\t'%s:", command_table[i].name);
		zsh_text(command_table[i].help);
		puts("'");
	}
}

static void zsh_options(void)
{
	puts("\tcase $command in");
	for (int i = 0; i < command_count(); i++) {
		const struct command *c = &command_table[i];

		printf("\t%s) options+=(\n", c->name);
		each_own(c, zsh_option, NULL);
		zsh_operand(1, c->operand[0]);
		zsh_operand(2, c->operand[1]);
		puts("\t) ;;");
	}
	puts("\tesac\n\tcase $command in");
	for (int i = 0, any = 0; i < command_count(); i++)
		if (command_table[i].knobs)
			printf("%s%s", any++ ? "|" : "\t", command_table[i].name);
	puts(") options+=(");
	each_base(zsh_option, NULL);
	puts("\t) ;;\n\tesac");
}

static int print_zsh(void)
{
	puts("#compdef shardscope\n"
	     "# zsh completion of shardscope; made by `shardscope completion zsh`\n"
	     "_shardscope_name() {\n"
	     "\tlocal kind\n"
	     "\tlocal -a names\n"
	     "\tfor kind; do\n"
	     "\t\tnames+=(${(f)\"$(shardscope list $kind 2> /dev/null | cut -d' ' "
	     "-f1)\"})\n"
	     "\tdone\n"
	     "\t_alternative \"names:name:compadd -a names\" 'files:file:_files'\n"
	     "}\n"
	     "_shardscope() {\n"
	     "\tlocal command=explore\n"
	     "\tlocal -a commands options\n"
	     "\tcommands=(");
	zsh_commands();
	puts("\t)\n\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	     "\t\t_describe -t commands command commands\n"
	     "\t\t_shardscope_name plans\n\t\treturn\n\tfi\n"
	     "\tif [[ -n ${commands[(r)${words[2]}:*]} ]]; then\n"
	     "\t\tcommand=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\tfi\n"
	     "\toptions=('--help[what the command takes]')");
	zsh_options();
	puts("\t_arguments -S $options\n}\n"
	     "if [[ $funcstack[1] == _shardscope ]]; then\n"
	     "\t_shardscope \"$@\"\nelse\n\tcompdef _shardscope shardscope\nfi");
	return command_finish(STATUS_GOOD);
}

/* --- fish --- */

static void fish_text(const char *text)
{
	putchar('\'');
	for (; *text != '\0'; text++)
		printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('\'');
}

static void fish_option(const struct option_line *line, const char *with)
{
	printf("complete -c shardscope -n '%s' -l %s", with, line->name);
	if (line->kind == VALUE_FILE || line->kind == VALUE_NAME)
		printf(" -r -F");
	else if (line->kind != VALUE_NONE && !line->optional)
		printf(" -x");
	if (line->kind == VALUE_WORDS)
		printf(" -a '%s'", line->words);
	if (line->kind == VALUE_NAME)
		printf(" -a '(__shardscope_names %s)'", line->preset);
	printf(" -d ");
	fish_text(line->help);
	putchar('\n');
}

static void fish_operand(const struct command *c, enum operand operand)
{
	printf("complete -c shardscope -n '__fish_seen_subcommand_from %s'", c->name);
	switch (operand) {
	case OPERAND_SCENARIO: puts(" -F -a '(__shardscope_names plans)'"); break;
	case OPERAND_LESSON: puts(" -F -a '(__shardscope_names lessons)'"); break;
	case OPERAND_FILE: puts(" -F"); break;
	case OPERAND_PRESET:
		puts(" -a '(__shardscope_names models clusters stacks plans)'");
		break;
	default:
		printf(" -a '");
		put_operand_words(operand);
		puts("'");
	}
}

static int print_fish(void)
{
	char with[512];
	size_t used;

	puts("# fish completion of shardscope; made by `shardscope completion fish`\n"
	     "function __shardscope_names\n"
	     "\tfor kind in $argv\n"
	     "\t\tshardscope list $kind 2> /dev/null | string replace -r ' .*' ''\n"
	     "\tend\n"
	     "end\n"
	     "complete -c shardscope -f");
	for (int i = 0; i < command_count(); i++) {
		const struct command *c = &command_table[i];

		printf("complete -c shardscope -n __fish_use_subcommand -a %s -d ",
		       c->name);
		fish_text(c->help);
		putchar('\n');
		snprintf(with, sizeof with, "__fish_seen_subcommand_from %s", c->name);
		each_own(c, fish_option, with);
		for (int j = 0; j < 2 && c->operand[j] != OPERAND_NONE; j++)
			fish_operand(c, c->operand[j]);
	}
	puts("complete -c shardscope -n __fish_use_subcommand -F -a "
	     "'(__shardscope_names plans)'\n"
	     "complete -c shardscope -l help -d 'what the command takes'");
	used = (size_t)snprintf(with, sizeof with, "not __fish_seen_subcommand_from");
	for (int i = 0; i < command_count() && used < sizeof with; i++)
		if (!command_table[i].knobs)
			used += (size_t)snprintf(with + used, sizeof with - used, " %s",
						 command_table[i].name);
	each_base(fish_option, with);
	return command_finish(STATUS_GOOD);
}

int command_completion(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*print)(void);
	} shells[] = { { "bash", print_bash },
		       { "zsh", print_zsh },
		       { "fish", print_fish } };
	struct error error = { "" };

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return command_help(command_find("completion"));
	for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof shells[0]; i++)
		if (strcmp(shells[i].name, argv[1]) == 0)
			return shells[i].print();
	error_set(&error, NULL, 0, "completion takes one of bash, zsh, fish");
	return command_fail(&error);
}
