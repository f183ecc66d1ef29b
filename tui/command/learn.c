/* learn.c - opens the explorer with a lesson. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "presets/scenario_file.h"
#include "tui/command.h"
#include "tui/command/explore.h"
#include "tui/explorer.h"
#include "tui/explorer/course.h"

struct asked {
	struct explore_asked explore;
	const char *lesson, *seed;
};

static bool take_seed(void *context, const char *value, struct error *error)
{
	if (value[0] == '\0' || strlen(value) >= MAX_NAME)
		return error_set(error, NULL, 0,
				 "--seed: expected a name of at most %d bytes",
				 MAX_NAME - 1);
	((struct asked *)context)->seed = value;
	return true;
}

static bool take_lesson(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;

	if (asked->lesson)
		return error_set(error, NULL, 0, "two lessons, '%.60s' and '%.60s'",
				 asked->lesson, text);
	asked->lesson = text;
	return true;
}

const struct own_option learn_options[] = {
	{ "seed", "NAME", "a name that draws the numbers: each student gets others",
	  take_seed },
	EXPLORE_SCREEN_OPTIONS,
	{ "session", "N", "keep this session below it", explore_take_session },
	{ NULL, NULL, NULL, NULL },
};

static int learn(struct explorer *explorer, const struct asked *asked)
{
	struct error error = { "" };

	if (!session_begin(explorer, asked->explore.session, true, &error))
		return command_fail(&error);
	explorer->offers = false;
	explorer->message[0] = '\0';
	if (!course_open(explorer, asked->lesson, asked->seed, &error))
		return command_fail(&error);
	return explore_show(explorer, &asked->explore);
}

/* Below the lesson lies the last session, and comes back when it is left. */
int command_learn(int argc, char **argv)
{
	struct asked asked = { .explore = { .terminal = { .glyphs = GLYPHS_AUTO } } };
	struct arguments arguments = { .context = &asked,
				       .operands = 2,
				       .operand = take_lesson };
	struct explorer *explorer = malloc(sizeof *explorer);
	struct scenario *scenario = malloc(sizeof *scenario);
	struct error error = { "" };
	int status = STATUS_USAGE;

	if (!explorer || !scenario)
		status = command_fail(&error);
	else if (options_read(command_find("learn"), &arguments, argc, argv, NULL,
			      &status)) {
		if (!scenario_start(scenario, &error) ||
		    !explorer_init(explorer, scenario)) {
			status = command_fail(&error);
		} else {
			status = learn(explorer, &asked);
			explorer_free(explorer);
		}
	}
	free(scenario);
	free(explorer);
	return status;
}
