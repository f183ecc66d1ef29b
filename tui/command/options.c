/* options.c - the command line's scenario: one long option per knob. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "presets/formats.h"
#include "presets/library.h"
#include "presets/scenario_file.h"
#include "presets/share.h"
#include "tui/command.h"
#include "tui/command/given.h"
#include "tui/command/unknown.h"

enum {
	OPTION_HELP = 1000,
	OPTION_MODEL,
	OPTION_CLUSTER,
	OPTION_STACK,
	OPTION_SCENARIO,
	OPTION_DP,
	OPTION_SET,
	OPTION_FUNCTION,
	OPTION_OWN = 2000,
	OPTION_KNOB = 3000,
	MAX_OPTIONS = 512,
	MAX_SET = MAX_KNOBS
};

struct setting {
	const struct knob *knob;
	const char *text;
};

/* What was asked for, before it is put together: the order on the command line must
 * not matter between model, cluster, stack and knobs. */
struct request {
	const char *scenario, *model, *cluster, *stack, *dp;
	const char *operand; /* the model, where it stands without --model */
	struct setting set[MAX_SET];
	int sets, operands;
	struct script_given given; /* of a file of another tool */
	struct start *start;       /* what was assumed, to be told */
};

struct table {
	struct option option[MAX_OPTIONS];
	char name[MAX_OPTIONS][MAX_NAME];
	int count;
};

/* Dashes, as options are written; getopt is asked for the name with both. */
static void add(struct table *table, const char *name, int argument, int value)
{
	char *copy = table->name[table->count];
	struct option *option = &table->option[table->count];

	if (table->count >= MAX_OPTIONS - 1)
		return;
	snprintf(copy, MAX_NAME, "%s", name);
	for (char *c = copy; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
	for (int i = 0; i < table->count; i++)
		if (strcmp(table->name[i], copy) == 0)
			return;
	*option = (struct option){ copy, argument, NULL, value };
	table->count++;
}

static void fill(struct table *table, const struct own_option *own)
{
	add(table, "help", no_argument, OPTION_HELP);
	for (int i = 0; own && own[i].name; i++)
		add(table, own[i].name, own[i].value ? required_argument : no_argument,
		    OPTION_OWN + i);
	add(table, "model", required_argument, OPTION_MODEL);
	add(table, "cluster", required_argument, OPTION_CLUSTER);
	add(table, "stack", required_argument, OPTION_STACK);
	add(table, "scenario", required_argument, OPTION_SCENARIO);
	add(table, "dp", required_argument, OPTION_DP);
	add(table, "set", required_argument, OPTION_SET);
	add(table, "function", required_argument, OPTION_FUNCTION);
	add(table, "config", required_argument, OPTION_FUNCTION);
	for (int i = 0; i < knob_count(); i++) {
		/* a switch alone means on */
		int argument = knob_table[i].type == KNOB_BOOL ? optional_argument
							       : required_argument;

		add(table, knob_table[i].key, argument, OPTION_KNOB + i);
		if (knob_table[i].alias)
			add(table, knob_table[i].alias, argument, OPTION_KNOB + i);
	}
}

/* '_' is '-' in an option's name; argv is ours to write in. */
static void clean_name(char *argument)
{
	if (strncmp(argument, "--", 2) != 0)
		return;
	for (char *c = argument + 2; *c != '\0' && *c != '='; c++)
		if (*c == '_')
			*c = '-';
}

static bool is_word(const char *text, size_t length)
{
	static const char *const words[] = { "on", "off",  "true",  "false", "yes",
					     "no", "True", "False", "0",     "1" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strlen(words[i]) == length && strncmp(text, words[i], length) == 0)
			return true;
	return false;
}

/* A switch's value, or a list or range of them. */
static bool is_value(const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ",.");

		if (!is_word(text, length))
			return false;
		text += length;
		if (*text == '\0')
			return true;
		text += strncmp(text, "..", 2) == 0 ? 2 : 1;
	}
}

static bool take_knob(struct request *r, const struct arguments *arguments, int index,
		      int argc, char **argv, struct error *error)
{
	const char *text = optarg;

	/* "--sp on": getopt's optional arguments need a '=' */
	if (!text && optind < argc && is_value(argv[optind]))
		text = argv[optind++];
	if (arguments->knob &&
	    arguments->knob(arguments->context, &knob_table[index], text ? text : "on"))
		return true;
	if (r->sets == MAX_SET)
		return error_set(error, NULL, 0, "more than %d knobs are set", MAX_SET);
	r->set[r->sets].knob = &knob_table[index];
	r->set[r->sets++].text = text ? text : "on";
	return true;
}

/* "NAME=VALUE" of a script. */
static bool take_set(struct request *r, const char *text, struct error *error)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return error_set(error, NULL, 0,
				 "--set %.60s: expected NAME=VALUE, a variable of the "
				 "script, or 3=VALUE, its third argument",
				 text);
	if (r->given.sets == GIVEN_SETS)
		return error_set(error, NULL, 0, "more than %d of --set", GIVEN_SETS);
	r->given.set[r->given.sets++] = text;
	return true;
}

bool command_names_model(const char *text)
{
	return access(text, F_OK) != 0 && !share_is(text) &&
	       !preset_find(PRESET_PLAN, text) && preset_find(PRESET_MODEL, text);
}

static bool take_operand(struct request *r, const struct arguments *arguments,
			 const char *text, struct error *error)
{
	if (r->operands < arguments->operands) {
		r->operands++;
		return arguments->operand(arguments->context, text, error);
	}
	if (arguments->takes_rest) {
		if (r->given.args == GIVEN_ARGS)
			return error_set(error, NULL, 0, "more than %d arguments",
					 GIVEN_ARGS);
		r->given.arg[r->given.args++] = text;
		return true;
	}
	if (command_names_model(text) && !r->model && !r->scenario)
		return (r->model = r->operand = text) != NULL;
	if (r->scenario || r->operand)
		return error_set(error, NULL, 0,
				 "two scenarios, '%.60s' and '%.60s'; give one",
				 r->scenario ? r->scenario : r->operand, text);
	r->scenario = text;
	return true;
}

/* The last of two options holds; of an option and an operand one is not meant. */
static bool take_model(struct request *r, const char *text, struct error *error)
{
	if (r->operand)
		return error_set(error, NULL, 0,
				 "two models, '%.60s' and '%.60s'; give one",
				 r->operand, text);
	r->model = text;
	return true;
}

static bool take(struct request *r, const struct command *command,
		 const struct arguments *arguments, int value, int argc, char **argv,
		 struct error *error)
{
	switch (value) {
	case OPTION_MODEL: return take_model(r, optarg, error);
	case OPTION_CLUSTER: r->cluster = optarg; return true;
	case OPTION_STACK: r->stack = optarg; return true;
	case OPTION_SCENARIO: r->scenario = optarg; return true;
	case OPTION_DP: r->dp = optarg; return true;
	case OPTION_SET: return take_set(r, optarg, error);
	case OPTION_FUNCTION: r->given.function = optarg; return true;
	case 1: return take_operand(r, arguments, optarg, error);
	case ':':
		return error_set(error, NULL, 0, "%.60s needs a value",
				 argv[optind - 1]);
	case '?': return option_unknown(command, argv[optind - 1], error);
	default: break;
	}
	if (value >= OPTION_KNOB)
		return take_knob(r, arguments, value - OPTION_KNOB, argc, argv, error);
	return command->own[value - OPTION_OWN].take(arguments->context, optarg, error);
}

/* What a reader assumed of this file, now or when it was imported. */
static void recall(const struct request *r, const char *name,
		   struct import_report *report)
{
	struct error note;

	if (r->cluster)
		import_settle(report, "cluster");
	if (r->stack)
		import_settle(report, "stack");
	for (int i = 0; i < r->sets; i++)
		import_settle(report, r->set[i].knob->key);
	if (import_start(report, r->start) == 0)
		return;
	error_set(&note, name && share_is(name) ? NULL : name, 0, "assumed%s: %s",
		  report->format[0] != '\0' ? "" : " when it was imported",
		  r->start->others);
	fprintf(stderr, "shardscope: %s\n", note.text);
}

/* A scenario, or another tool's file; then one line says what was made of it. The model
 * of such a file is the caller's already, with what the file makes approximate. */
static bool read_scenario(const struct request *r, const struct arguments *arguments,
			  struct scenario *s, bool *foreign, struct error *error)
{
	struct import_report *report = arguments->report, *own = NULL;
	const char *name = r->scenario, *model = r->model;
	char summary[320];
	bool good;

	if (!report)
		report = own = calloc(1, sizeof *own);
	if (!report)
		return error_set(error, name, 0, "out of memory");
	snprintf(report->model, sizeof report->model, "%s", model ? model : "");
	report->given = &r->given;
	good = format_open(name, s, report, error);
	report->given = NULL;
	if (!good) {
		free(own);
		return false;
	}
	*foreign = report->format[0] != '\0';
	if (*foreign)
		import_summary(report, summary, sizeof summary);
	if (*foreign)
		fprintf(stderr, "shardscope: %s; shardscope import %s shows them\n",
			summary, report->format);
	else if (arguments->file && !preset_find(PRESET_PLAN, name) && !share_is(name))
		snprintf(arguments->file, arguments->file_size, "%s", name);
	recall(r, name, report);
	free(own);
	return true;
}

static bool read_bases(const struct request *r, const struct arguments *arguments,
		       struct scenario *s, struct error *error)
{
	bool good, given = r->scenario || arguments->base, foreign = false;

	if (arguments->report)
		arguments->report->given = &r->given;
	if (arguments->base)
		good = arguments->base(arguments->context, r->model, s, error);
	else if (r->scenario)
		good = read_scenario(r, arguments, s, &foreign, error);
	else if (r->model)
		good = scenario_blank(s, r->model, r->cluster ? r->cluster : "dgx-h100",
				      r->stack, error);
	else
		good = scenario_start(s, error);
	if (arguments->report)
		arguments->report->given = NULL;
	if (!good)
		return false;
	foreign = foreign || (arguments->base && arguments->report &&
			      arguments->report->format[0] != '\0');
	if (!foreign &&
	    (!given_to_none(&r->given, error) ||
	     (r->model && given && !library_model(&s->model, r->model, error))))
		return false;
	if (r->cluster && (given || !r->model)) {
		int64_t gpus = s->cluster.gpus;

		if (!library_cluster(&s->cluster, r->cluster, error))
			return false;
		s->cluster.gpus = gpus;
	}
	return !r->stack || (given ? library_change_stack(s, r->stack, error)
				   : library_stack(s, r->stack, error));
}

/* A stated DP says how many GPUs there are, if nobody else does. */
static void follow_dp(const struct request *r, struct start *start, struct scenario *s)
{
	double each = (double)(s->plan.tp * s->plan.pp * s->plan.cp);
	double dp = r->dp && s->cluster.gpus == 1 ? strtod(r->dp, NULL) : 0;

	for (int i = 0; i < r->sets; i++)
		dp = r->set[i].knob == knob_find("gpus") ? 0 : dp;
	if (dp >= 1 && knob_set(s, knob_find("gpus"), dp * each))
		start_give(start, knob_find("gpus"));
}

/* A model without a plan gets one. A stated DP says what degrees there are: the others
 * are as they stand. */
static void begin(const struct request *r, const struct arguments *arguments,
		  struct scenario *s)
{
	static const char *const degrees[] = { "tp", "pp", "cp" };
	struct start *start = r->start;

	if (arguments->base && arguments->report)
		recall(r, NULL, arguments->report);
	if (r->scenario && !arguments->start)
		command_say_start(start, s);
	if (!r->model || r->scenario || arguments->base)
		return;
	start->wanted = true;
	start->cluster = !r->cluster;
	start->stack = !r->stack;
	for (int i = 0; i < r->sets; i++)
		start_give(start, r->set[i].knob);
	for (size_t i = 0; r->dp && i < sizeof degrees / sizeof degrees[0]; i++)
		start_give(start, knob_find(degrees[i]));
	follow_dp(r, start, s);
	if (arguments->starts_later)
		return;
	if (arguments->gives)
		arguments->gives(arguments->context, s);
	start_choose(start, s);
	if (!arguments->start)
		command_say_start(start, s);
}

static bool check_dp(const struct request *r, const struct scenario *s,
		     struct error *error)
{
	char *end;
	long long stated;

	if (!r->dp)
		return true;
	stated = strtoll(r->dp, &end, 10);
	if (*end != '\0' || end == r->dp)
		return error_set(error, NULL, 0, "--dp %.40s: expected a whole number",
				 r->dp);
	return stated == scenario_dp(s) ||
	       error_set(error, NULL, 0,
			 "--dp %lld: gpus / (tp * cp * pp) makes it %lld", stated,
			 (long long)scenario_dp(s));
}

/* Of values where one is wanted. */
static bool is_several(const struct setting *set)
{
	return (set->knob->type == KNOB_INT || set->knob->type == KNOB_REAL ||
		set->knob->type == KNOB_WORD || set->knob->type == KNOB_BOOL) &&
	       (strchr(set->text, ',') || strstr(set->text, ".."));
}

static bool set_all(const struct request *r, struct scenario *s, struct error *error)
{
	char why[256];

	for (int i = 0; i < r->sets; i++) {
		const struct setting *set = &r->set[i];

		if (knob_parse(s, set->knob, set->text, why, sizeof why))
			continue;
		if (is_several(set))
			return error_set(error, NULL, 0,
					 "--%s %.60s: one value is wanted; shardscope "
					 "sweep --vary %s=%.60s tries them all",
					 set->knob->key, set->text, set->knob->key,
					 set->text);
		return error_set(error, NULL, 0, "--%s: %s", set->knob->key, why);
	}
	return true;
}

bool command_serve(struct scenario *s, struct error *error)
{
	return s->plan.mode != MODE_INFERENCE || s->stack.serves ||
	       library_change_stack(s, SCENARIO_SERVER, error);
}

static bool build(const struct request *r, const struct arguments *arguments,
		  struct scenario *s, struct error *error)
{
	if (!read_bases(r, arguments, s, error) || !set_all(r, s, error))
		return false;
	if (r->model && !r->scenario && !r->stack && !arguments->base &&
	    (!command_serve(s, error) || !set_all(r, s, error)))
		return false;
	begin(r, arguments, s);
	return check_dp(r, s, error);
}

static bool parse(const struct command *command, const struct arguments *arguments,
		  int argc, char **argv, struct request *request, int *status)
{
	struct table *table = calloc(1, sizeof *table);
	struct error error = { "" };
	bool good = table != NULL;

	*status = STATUS_USAGE;
	if (good)
		fill(table, command->own);
	optind = 0;
	opterr = 0;
	while (good) {
		int at = -1;
		int value = getopt_long(argc, argv, "-:h", table->option, &at);

		if (value == -1)
			break;
		/* a value of its own stands behind the word */
		good = at < 0 ||
		       option_is_meant(command,
				       argv[optind - 1 - (optarg == argv[optind - 1])],
				       table->name[at], &error);
		if (!good)
			break;
		if (value == OPTION_HELP || value == 'h') {
			*status = command_help(command);
			free(table);
			return false;
		}
		good = take(request, command, arguments, value, argc, argv, &error);
	}
	for (; good && optind < argc; optind++)
		good = take_operand(request, arguments, argv[optind], &error);
	if (!good)
		command_fail(&error);
	free(table);
	return good;
}

bool options_read(const struct command *command, const struct arguments *arguments,
		  int argc, char **argv, struct scenario *scenario, int *status)
{
	struct start own = { 0 };
	struct request request = { .model = arguments->model,
				   .operand = arguments->model,
				   .start =
					   arguments->start ? arguments->start : &own };
	struct error error = { "" };

	request.given.environment = true;
	*status = STATUS_USAGE;
	for (int i = 0; i < argc; i++)
		clean_name(argv[i]);
	if (!parse(command, arguments, argc, argv, &request, status))
		return false;
	if (!scenario || build(&request, arguments, scenario, &error))
		return true;
	*status = command_fail(&error);
	return false;
}
