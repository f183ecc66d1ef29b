/* arguments.h - what a tool takes, from tests/arguments/TOOL.csv: whether a name, a
 * value, a combination of them may be written.
 */
#ifndef TESTS_SUPPORT_ARGUMENTS_H
#define TESTS_SUPPORT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "presets/pairs/pairs.h"
#include "tests/support/condition.h"

/* Columns are text of the file; empty where it says nothing. */
struct argument {
	const char *name, *kind, *type, *choices, *value, *required, *sets;
};

struct condition {
	const char *text, *gist, *where;
};

struct tool_arguments {
	const char *tool;
	int arguments, conditions;
	struct argument *argument;
	struct condition *condition;
	char *texts[2];
};

/* A fact that no argument has, such as "world_size". */
struct fact {
	const char *name;
	double value;
};

/* What is written: names with or without dashes, values as text; a flag has "". */
struct given {
	const struct tool_arguments *tool;
	const struct pairs *pairs;
	const struct fact *facts; /* ends with a row of name NULL */
	int problems;             /* names, values and conditions that are wrong */
	int held, unknown;        /* conditions that hold, and that can't be told */
	const char *title;        /* of the file, for messages */
	bool fragment;            /* which lacks what is required elsewhere */
};

/* Fails the test where a table can't be read. */
void tool_arguments_read(struct tool_arguments *out, const char *tool);
void tool_arguments_free(struct tool_arguments *tool);
const struct argument *tool_argument(const struct tool_arguments *tool,
				     const char *name);
/* Prints what is wrong and counts it. */
void given_check(struct given *given);
/* "--flag value" words of a command behind its program, comments left out; to be freed.
 * Words joined by spaces are one value. */
void given_words(struct pairs *out, const char *text, const char *program);

#endif
