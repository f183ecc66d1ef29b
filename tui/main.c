/* main.c - picks the command; see command.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "presets/report.h"
#include "presets/share.h"
#include "tui/command.h"
#include "tui/environment.h"
#include "tui/stack.h"

static int print_usage(void)
{
	puts("usage: shardscope [SCENARIO]              open the explorer\n"
	     "       shardscope COMMAND [ARGUMENTS]\n");
	for (int i = 0; i < command_count(); i++)
		printf("  %-10s %s\n", command_table[i].name, command_table[i].help);
	puts("\nshardscope COMMAND --help lists its options.");
	return command_finish(STATUS_GOOD);
}

/* A word that is neither plan nor file, but a letter or two from a command. */
static const char *meant_command(const char *word)
{
	int least = strlen(word) < 5 ? 2 : 3;
	const char *near = NULL;

	if (word[0] == '-' || preset_find(PRESET_PLAN, word) || share_is(word) ||
	    access(word, F_OK) == 0)
		return NULL;
	if (strcmp(word, "version") == 0)
		return "--version";
	for (int i = 0; i < command_count(); i++)
		if (knob_distance(word, command_table[i].name) < least) {
			near = command_table[i].name;
			least = knob_distance(word, near);
		}
	return near;
}

static int run(int argc, char **argv)
{
	const struct command *command;

	environment_take_streams();
	environment_set_locale();
	report_watch_memory();
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
			 strcmp(argv[1], "help") == 0))
		return print_usage();
	if (argc > 1 &&
	    (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		puts("shardscope " SHARDSCOPE_VERSION);
		return command_finish(STATUS_GOOD);
	}
	command = argc > 1 ? command_find(argv[1]) : NULL;
	if (command)
		return command->run(argc - 1, argv + 1);
	if (argc > 1 && meant_command(argv[1])) {
		fprintf(stderr,
			"shardscope: no command or plan '%.60s'; did you mean "
			"shardscope %s?\n",
			argv[1], meant_command(argv[1]));
		return STATUS_USAGE;
	}
	return command_explore(argc, argv);
}

int main(int argc, char **argv)
{
	return stack_main(run, argc, argv);
}
