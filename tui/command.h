/* command.h - the commands of the command line, one file each in tui/command/.
 *
 * Each gets the arguments behind its name (argv[0] is the name) and returns the exit
 * status: 0 fine, 1 the answer is no, 2 usage or unreadable input.
 */
#ifndef TUI_COMMAND_H
#define TUI_COMMAND_H

#include <stdbool.h>

#include "engine/knob/knob.h"
#include "engine/start/start.h"
#include "presets/error.h"
#include "presets/import.h"

#define SHARDSCOPE_VERSION "0.1"

/* The last is what a shell tells of a program that Ctrl-C ended. */
enum { STATUS_GOOD = 0, STATUS_NO = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

/* What an operand is, for completion. */
enum operand {
	OPERAND_NONE,
	OPERAND_SCENARIO, /* a plan's name or a file */
	OPERAND_FILE,
	OPERAND_KIND, /* "models", "clusters" ... */
	OPERAND_PRESET,
	OPERAND_VIEW,
	OPERAND_IMPORT,
	OPERAND_EXPORT,
	OPERAND_SHELL,
	OPERAND_LESSON, /* its name or a file */
	OPERAND_VERB,   /* of the command lesson */
	OPERAND_SCHEMA,
	OPERAND_CHALLENGE, /* its name, or what else the command takes */
	OPERAND_NUMBER     /* a key of the metric table or a knob's */
};

struct own_option;

struct command {
	const char *name;
	const char *arguments; /* for the usage line */
	const char *help;
	int (*run)(int argc, char **argv);
	const struct own_option *own; /* up to a row without a name; may be NULL */
	bool knobs;                   /* takes those of a scenario too */
	enum operand operand[2];
};

extern const struct command command_table[];
int command_count(void);
const struct command *command_find(const char *name);

/* --- what commands share (command/options.c) --- */

/* An option beside those of the knobs. */
struct own_option {
	const char *name;
	/* What stands behind it: "FILE", or all words, "text|svg"; NULL: a switch. */
	const char *value;
	const char *help;
	/* Takes it; false with error filled. value is NULL without one. */
	bool (*take)(void *context, const char *value, struct error *error);
};

/* take_NAME() of a switch that sets the member NAME of its command's context. */
#define TAKE_SWITCH(type, name)                                                        \
	static bool take_##name(void *context, const char *value, struct error *error) \
	{                                                                              \
		(void)value;                                                           \
		(void)error;                                                           \
		((type *)context)->name = true;                                        \
		return true;                                                           \
	}

/* What a command takes beside the knobs. */
struct arguments {
	void *context; /* of the command's own options too */
	/* Takes the first `operands` arguments that are no options; one more is the
	 * scenario, by name or file. */
	int operands;
	/* What comes behind them is the arguments of the script that is read. */
	bool takes_rest;
	/* Asked for each knob that is given; true takes it away from the scenario. */
	bool (*knob)(void *context, const struct knob *knob, const char *text);
	bool (*operand)(void *context, const char *text, struct error *error);
	/* A model for which a plan is chosen, as if it stood there; or NULL. */
	const char *model;
	/* Where the scenario comes from instead, or NULL; knobs are set on top of it.
	 * model is what --model says, or NULL. */
	bool (*base)(void *context, const char *model, struct scenario *out,
		     struct error *error);
	/* Filled where the scenario is another tool's file; may be NULL. */
	struct import_report *report;
	/* Where a scenario file of ours came from, which may be written again without
	 * asking; left alone where the scenario is a preset or another tool's. May be
	 * NULL. */
	char *file;
	size_t file_size;
	/* Filled where the scenario is a model without a plan: what was chosen to begin
	 * with. NULL: one line on standard error says it. */
	struct start *start;
	/* Asked before such a plan is chosen, for what else is given; may be NULL. */
	void (*gives)(void *context, struct scenario *scenario);
	/* Only the names of cluster and stack are noted: who calls sets knobs of its
	 * own and chooses then. */
	bool starts_later;
};

/* Reads all arguments into scenario, which starts as the built-in one, or where --model
 * is given as a plan chosen for what was said (engine/start/start.h). False after the
 * error was printed or --help was answered: then *status is what to exit with. */
bool options_read(const struct command *command, const struct arguments *arguments,
		  int argc, char **argv, struct scenario *scenario, int *status);
/* Whether it is a model that stands where a scenario does: one without a plan. */
bool command_names_model(const char *text);
/* "assumed: ..." as a line of text, if anything was. */
void command_print_start(const struct start *start, const struct scenario *scenario);
/* A server whose stack nobody named and which only trains gets one that serves. */
bool command_serve(struct scenario *scenario, struct error *error);
/* The same on standard error, where standard output is a file's. */
void command_say_start(const struct start *start, const struct scenario *scenario);
/* "shardscope: ..." on standard error; returns STATUS_USAGE. */
int command_fail(const struct error *error);
/* Ends a write to standard output: 0, or STATUS_USAGE if it could not be written. */
int command_finish(int status);

/* --- how far it is (command/progress.c) --- */

/* On a terminal a bar that is drawn again and again; elsewhere a line on standard error
 * every few seconds, so that a log shows that the program is alive. */
struct progress {
	double begun, next; /* clock_seconds() */
	double share;       /* the furthest so far: a bar never runs backwards */
	bool wanted, terminal, shown;
};
void progress_begin(struct progress *progress);
/* Other work begins, of which nothing is done yet. */
void progress_again(struct progress *progress);
/* Whether it is time to show it anew. */
bool progress_is_due(const struct progress *progress);
/* share is 0 to 1, or below 0 where nobody knows how much there is: then the seconds so
 * far stand there. The text stands behind the bar. */
void progress_show(struct progress *progress, double share, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Wipes it. */
void progress_end(struct progress *progress);

/* --help of a command. */
int command_help(const struct command *command);
/* Calls back with each word that such an operand may be, where they are few. */
void operand_words(enum operand operand,
		   void (*each)(void *context, const char *word, const char *help),
		   void *context);

extern const struct own_option eval_options[], check_options[], explain_options[],
	explore_options[], search_options[], sweep_options[], screen_options[],
	list_options[], export_options[], calibrate_options[], validate_options[],
	lesson_options[], compare_options[], learn_options[], challenge_options[];

int command_eval(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_check(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_list(int argc, char **argv);
int command_show(int argc, char **argv);
int command_screen(int argc, char **argv);
int command_search(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_export(int argc, char **argv);
int command_import(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_learn(int argc, char **argv);
int command_lesson(int argc, char **argv);
int command_explore(int argc, char **argv);
int command_share(int argc, char **argv);
int command_challenge(int argc, char **argv);
int command_completion(int argc, char **argv);
int command_manual(int argc, char **argv);

#endif
