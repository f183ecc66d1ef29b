/* main.c - picks the command; see command.h. */
#include <stdio.h>
#include <string.h>

#include "presets/report.h"
#include "tui/command.h"
#include "tui/environment.h"

static int print_usage(void)
{
	puts("usage: shardscope [SCENARIO]              open the explorer\n"
	     "       shardscope COMMAND [ARGUMENTS]\n");
	for (int i = 0; i < command_count(); i++)
		printf("  %-10s %s\n", command_table[i].name, command_table[i].help);
	puts("\nshardscope COMMAND --help lists its options.");
	return command_finish(STATUS_GOOD);
}

int main(int argc, char **argv)
{
	const struct command *command;

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
	return command_explore(argc, argv);
}
