/* challenge.c - goals with locked knobs, scored against the proven optimum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "presets/folder.h"
#include "presets/formats.h"
#include "presets/report.h"
#include "tui/command.h"
#include "tui/command/challenge.h"
#include "tui/command/explore.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"

struct asked {
	struct explore_asked explore;
	const char *name, *scenario, *by, *answer;
	bool script, csv, turned;
	struct challenge *challenge;
};

static bool take_by(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct asked *)context)->by = value;
	return true;
}

static bool take_answer(void *context, const char *value, struct error *error)
{
	(void)error;
	((struct asked *)context)->answer = value;
	return true;
}

TAKE_SWITCH(struct asked, script)

static bool take_format(void *context, const char *value, struct error *error)
{
	((struct asked *)context)->csv = strcmp(value, "csv") == 0;
	return strcmp(value, "csv") == 0 || strcmp(value, "markdown") == 0 ||
	       error_set(error, NULL, 0, "--format %.40s: expected markdown or csv",
			 value);
}

const struct own_option challenge_options[] = {
	{ "by", "WHO", "whose answer it is", take_by },
	{ "answer", "FILE",
	  "write the answer to hand in: of what is scored, or the best that is kept",
	  take_answer },
	{ "script", NULL, "print the launch script that is to be repaired",
	  take_script },
	{ "format", "markdown|csv", "rank: a table, or one line per answer",
	  take_format },
	EXPLORE_SCREEN_OPTIONS,
	{ NULL, NULL, NULL, NULL },
};

static bool take_operand(void *context, const char *text, struct error *error)
{
	struct asked *asked = context;

	(void)error;
	if (!asked->name)
		asked->name = text;
	else
		asked->scenario = text;
	return true;
}

/* Noted, and set on top of the scenario as usual. */
static bool note_knob(void *context, const struct knob *knob, const char *text)
{
	(void)knob;
	(void)text;
	((struct asked *)context)->turned = true;
	return false;
}

/* What is scored: a file, a script, a line, or where the challenge begins. */
static bool open_scenario(void *context, const char *model, struct scenario *out,
			  struct error *error)
{
	struct asked *asked = context;
	struct import_report *report;
	bool good;

	if (!asked->name)
		return error_set(
			error, NULL, 0,
			"challenge what? shardscope challenge list shows them");
	if (!challenge_read(asked->challenge, asked->name, error))
		return false;
	if (!asked->scenario) {
		*out = asked->challenge->problem.base;
		return true;
	}
	report = calloc(1, sizeof *report);
	if (!report)
		return error_set(error, NULL, 0, "out of memory");
	/* a script that names no model is of the challenge's */
	snprintf(report->model, sizeof report->model, "%s",
		 model ? model : asked->challenge->problem.base.model.name);
	good = format_open(asked->scenario, out, report, error);
	free(report);
	return good;
}

static void print_goal(const struct challenge *c)
{
	char values[320];

	printf("%s: %s\n\n%s\n\n", c->name, c->title, c->goal);
	for (int i = 0; i < c->problem.axes; i++) {
		challenge_values(&c->problem.axis[i], values, sizeof values);
		printf("  %-20s %s\n", c->problem.axis[i].knob->key, values);
	}
	printf("\nEverything else is locked. Hint: %s\nSource: %s\n", c->hint,
	       c->source);
	if (c->script[0] != '\0')
		printf("\nThe %s script (--script prints it alone):\n\n%s", c->format,
		       c->script);
}

static int print_verdict(const struct challenge *c, const struct verdict *v)
{
	char value[64], best[64];

	if (v->score <= 0) {
		printf("%s: score 0. %s\n", c->name, v->why);
		return STATUS_NO;
	}
	verdict_value(c, v->value, value, sizeof value);
	verdict_value(c, v->best, best, sizeof best);
	printf("%s: score %.1f %% of the proven best: %s, the best is %s\n", c->name,
	       100 * v->score, value, best);
	return STATUS_GOOD;
}

static int write_answer(const struct asked *asked, const struct scenario *s,
			double score)
{
	struct challenge_answer *answer = calloc(1, sizeof *answer);
	struct error error = { "" };
	char *text = NULL;
	bool good = false;

	if (answer) {
		strcpy(answer->challenge, asked->challenge->name);
		snprintf(answer->by, sizeof answer->by, "%.*s", MAX_NAME - 1,
			 asked->by ? asked->by : "");
		error_clean(answer->by);
		answer->scenario = *s;
		answer->claim = score;
		text = challenge_answer_write(answer, &error);
		good = text && file_save(asked->answer, text, strlen(text), &error);
	}
	free(text);
	free(answer);
	return good ? STATUS_GOOD : command_fail(&error);
}

static int judge(const struct asked *asked, const struct scenario *s)
{
	struct error error = { "" };
	struct planner_found best;
	struct verdict verdict;
	int status;

	if (!challenge_best(&asked->challenge->problem, &best)) {
		error_set(&error, asked->challenge->name, 0,
			  "no plan of this challenge fits");
		return command_fail(&error);
	}
	verdict_give(asked->challenge, &best, s, &verdict);
	status = print_verdict(asked->challenge, &verdict);
	if (!challenge_keep(asked->challenge, &best, s, verdict.score, &error))
		fprintf(stderr, "shardscope: %s\n", error.text);
	if (asked->answer && write_answer(asked, s, verdict.score) != STATUS_GOOD)
		return STATUS_USAGE;
	return command_finish(status);
}

static int list_challenges(void)
{
	char names[CHALLENGE_MOST][MAX_NAME];
	struct challenge *c = malloc(sizeof *c);
	int count = c ? challenge_names(names) : 0;

	if (!c)
		report_falls_short();
	for (int i = 0; i < count; i++) {
		struct error error = { "" };
		struct planner_found best;
		double kept = 0;

		if (!challenge_read(c, names[i], &error)) {
			printf("%-20s %s\n", names[i], error.text);
			continue;
		}
		if (challenge_best(&c->problem, &best))
			kept = challenge_kept(c, &best);
		printf("%-20s %s", names[i], c->title);
		printf(kept > 0 ? " (your best: %.1f %%)\n" : "\n", 100 * kept);
	}
	free(c);
	return command_finish(STATUS_GOOD);
}

/* In the explorer; what lies in the workspace stays as it is. */
static int play(const struct asked *asked, const struct scenario *s)
{
	struct explorer *explorer = malloc(sizeof *explorer);
	struct error error = { "" };
	int status = STATUS_USAGE;

	if (!explorer || !explorer_init(explorer, s)) {
		free(explorer);
		return command_fail(&(struct error){ "out of memory" });
	}
	if (!contest_open(explorer, asked->name, &error))
		status = command_fail(&error);
	else
		status = explore_show(explorer, &asked->explore);
	explorer_free(explorer);
	free(explorer);
	return status;
}

static int act(const struct asked *asked, struct scenario *s)
{
	if (asked->script) {
		fputs(asked->challenge->script, stdout);
		return command_finish(asked->challenge->script[0] ? STATUS_GOOD
								  : STATUS_NO);
	}
	/* an answer without a plan is the best one that was found in the explorer */
	if (asked->answer && !asked->scenario && !asked->turned)
		challenge_kept_scenario(asked->challenge, s);
	if (asked->scenario || asked->turned || asked->answer)
		return judge(asked, s);
	if (asked->explore.plain || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return play(asked, s);
	print_goal(asked->challenge);
	return command_finish(STATUS_GOOD);
}

int command_challenge(int argc, char **argv)
{
	struct asked asked = { .explore = { .terminal = { .glyphs = GLYPHS_AUTO } } };
	struct arguments arguments = { .context = &asked,
				       .operands = 2,
				       .operand = take_operand,
				       .knob = note_knob,
				       .base = open_scenario };
	struct scenario *scenario = malloc(sizeof *scenario);
	int status = STATUS_USAGE;

	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		free(scenario);
		return list_challenges();
	}
	if (argc >= 3 && strcmp(argv[1], "rank") == 0) {
		free(scenario);
		return challenge_rank(argv[2],
				      argc > 3 && strstr(argv[argc - 1], "csv"));
	}
	asked.challenge = malloc(sizeof *asked.challenge);
	if (!scenario || !asked.challenge)
		status = command_fail(&(struct error){ "out of memory" });
	else if (options_read(command_find("challenge"), &arguments, argc, argv,
			      scenario, &status))
		status = act(&asked, scenario);
	free(asked.challenge);
	free(scenario);
	return status;
}
