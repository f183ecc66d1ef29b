/* explore.c - opens the explorer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "presets/scenario_file.h"
#include "tui/command.h"
#include "tui/command/explore.h"
#include "tui/explorer.h"
#include "tui/explorer/linear.h"

bool explore_take_colour(void *context, const char *value, struct error *error)
{
	static const char *const names[] = { "auto", "always", "never" };
	struct explore_asked *asked = context;

	for (int i = 0; i < 3; i++) {
		if (strcmp(names[i], value) == 0) {
			asked->terminal.colour = (enum colour_choice)i;
			return true;
		}
	}
	return error_set(error, NULL, 0,
			 "--colour %.40s: expected auto, always or never", value);
}

bool explore_take_theme(void *context, const char *value, struct error *error)
{
	struct explore_asked *asked = context;
	struct theme_choice choice;

	if (!environment_theme(value, &choice))
		return error_set(error, NULL, 0,
				 "--theme %.40s: expected dark, light or plain", value);
	asked->terminal.background = choice.background;
	if (choice.colour != COLOUR_AUTO)
		asked->terminal.colour = choice.colour;
	return true;
}

bool explore_take_plain(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct explore_asked *)context)->plain = true;
	return true;
}

bool explore_take_ascii(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct explore_asked *)context)->terminal.glyphs = GLYPHS_ASCII;
	return true;
}

bool explore_take_no_mouse(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct explore_asked *)context)->terminal.no_mouse = true;
	return true;
}

TAKE_SWITCH(struct explore_asked, fresh)

bool explore_take_session(void *context, const char *value, struct error *error)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (*end != '\0' || number < 1 || number > MAX_SESSIONS)
		return error_set(error, NULL, 0,
				 "--session %.40s: expected a number from 1 to %d",
				 value, MAX_SESSIONS);
	((struct explore_asked *)context)->session = (int)number;
	return true;
}

const struct own_option explore_options[] = {
	EXPLORE_SCREEN_OPTIONS,
	{ "fresh", NULL, "don't go on where the last session ended", take_fresh },
	{ "session", "N", "keep this session; alone: go on with it",
	  explore_take_session },
	{ NULL, NULL, NULL, NULL },
};

/* The option of this command that a word is, with its value or before it; NULL: it says
 * what is to be opened. */
static const struct own_option *own_option_of(const char *word)
{
	size_t length = strcspn(word, "=");

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	for (const struct own_option *own = explore_options; own->name; own++) {
		size_t i = 0;

		while (own->name[i] != '\0' && i + 2 < length &&
		       (own->name[i] == word[i + 2] ||
			(own->name[i] == '-' && word[i + 2] == '_')))
			i++;
		if (own->name[i] == '\0' && i + 2 == length)
			return own;
	}
	return NULL;
}

/* Nothing that says what is to be opened: how the screen looks decides nothing. */
static bool goes_on(int argc, char **argv, const struct explore_asked *asked)
{
	if (asked->fresh)
		return false;
	for (int i = 1; i < argc; i++) {
		const struct own_option *own = own_option_of(argv[i]);

		if (!own)
			return false;
		if (own->value && !strchr(argv[i], '='))
			i++;
	}
	return true;
}

/* A terminal that can only go on to the next line. */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "dumb") == 0;
}

/* Of the terminal that is written to; 0: it is none. */
static int columns_of_output(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
		       ? size.ws_col
		       : 0;
}

static int converse(struct explorer *explorer, const struct explore_asked *asked)
{
	struct linear linear = { .explorer = explorer,
				 .in = stdin,
				 .out = stdout,
				 .glyphs = asked->terminal.glyphs == GLYPHS_AUTO
						   ? environment_glyphs()
						   : GLYPHS_ASCII,
				 .prompts = isatty(STDIN_FILENO),
				 .line = { .width = columns_of_output() } };

	explorer->threads = 0;
	if (linear_run(&linear) && ferror(stdin))
		return command_fail(&(struct error){ "standard input can't be read" });
	return command_finish(STATUS_GOOD);
}

int explore_show(struct explorer *explorer, const struct explore_asked *asked)
{
	if (asked->plain || is_dumb())
		return converse(explorer, asked);
	return explorer_run(explorer, &asked->terminal);
}

static int explore(struct explorer *explorer, const struct explore_asked *asked,
		   bool go_on)
{
	struct error error = { "" };

	if (!session_begin(explorer, asked->session, go_on, &error))
		return command_fail(&error);
	return explore_show(explorer, asked);
}

/* Where nothing says what is to be opened, the last session goes on. */
int command_explore(int argc, char **argv)
{
	struct explore_asked asked = { .terminal = { .glyphs = GLYPHS_AUTO } };
	struct arguments arguments = {
		.context = &asked,
		.start = &asked.start,
	};
	struct explorer *explorer = malloc(sizeof *explorer);
	struct scenario *scenario = malloc(sizeof *scenario);
	struct import_report *report = calloc(1, sizeof *report);
	char file[512] = "";
	int status = STATUS_USAGE;

	arguments.report = report;
	arguments.file = file;
	arguments.file_size = sizeof file;
	if (!report || !explorer || !scenario)
		status = command_fail(&(struct error){ "" });
	else if (options_read(command_find(strcmp(argv[0], "open") == 0 ? "open"
									: "explore"),
			      &arguments, argc, argv, scenario, &status)) {
		if (!explorer_init(explorer, scenario)) {
			status = command_fail(&(struct error){ "" });
		} else {
			snprintf(explorer->file, sizeof explorer->file, "%s", file);
			if (report->format[0] != '\0')
				explorer_say_read(explorer, report);
			else
				explorer_say_start(explorer, &asked.start);
			if (import_is_kept(report)) {
				explorer->kept = report;
				report = NULL;
			}
			status = explore(explorer, &asked, goes_on(argc, argv, &asked));
			explorer_free(explorer);
		}
	}
	free(report);
	free(scenario);
	free(explorer);
	return status;
}
