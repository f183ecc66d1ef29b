/* search.c - the best plan on the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/knob.h"
#include "presets/report.h"
#include "tui/command.h"

enum { MAX_PINS = 32, SLICE = 2000 };

struct asked {
	struct {
		const struct knob *knob;
		const char *text;
	} pin[MAX_PINS];
	int pins, top;
	enum objective objective;
	double reserve;
	bool json, exhaustive;
};

static bool take_knob(void *context, const struct knob *knob, const char *text)
{
	struct asked *asked = context;

	if (asked->pins == MAX_PINS)
		return false;
	asked->pin[asked->pins].knob = knob;
	asked->pin[asked->pins++].text = text;
	return true;
}

static bool take_top(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	char *end;
	long top = strtol(value, &end, 10);

	asked->top = (int)top;
	return (*end == '\0' && top >= 1 && top <= MAX_TOP) ||
	       error_set(error, NULL, 0, "--top %.40s: expected 1 to %d", value,
			 MAX_TOP);
}

static bool take_objective(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;

	asked->objective = objective_find(value);
	return asked->objective != OBJECTIVE_COUNT ||
	       error_set(
		       error, NULL, 0,
		       "--objective %.40s: expected step, throughput, cost, memory or "
		       "gpus",
		       value);
}

static bool take_reserve(void *context, const char *value, struct error *error)
{
	struct asked *asked = context;
	char *end;

	asked->reserve = strtod(value, &end);
	return (*end == '\0' && asked->reserve >= 0 && asked->reserve < 1) ||
	       error_set(error, NULL, 0, "--reserve %.40s: expected a share, as 0.05",
			 value);
}

static bool take_json(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->json = true;
	return true;
}

static bool take_exhaustive(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct asked *)context)->exhaustive = true;
	return true;
}

static const struct own_option own[] = {
	{ "top", true, "how many of the best plans to show (10)", take_top },
	{ "objective", true, "step, throughput, cost, memory or gpus", take_objective },
	{ "reserve", true, "share of the memory to leave free (0.05)", take_reserve },
	{ "exhaustive", false, "estimate everything; must find the same",
	  take_exhaustive },
	{ "json", false, "one JSON object", take_json },
};

static bool parse_one(const struct scenario *base, const struct knob *knob,
		      const char *text, double *value, struct error *error)
{
	struct scenario s = *base;
	char why[256];

	if (knob->type == KNOB_TEXT || !knob_parse(&s, knob, text, why, sizeof why))
		return error_set(error, NULL, 0, "--%s: %s", knob->key,
				 knob->type == KNOB_TEXT ? "is text and can't be varied"
							 : why);
	*value = knob_get(&s, knob);
	return true;
}

static bool add_value(double *values, int *count, double value, const struct knob *knob,
		      struct error *error)
{
	if (*count == MAX_AXIS_VALUES)
		return error_set(error, NULL, 0, "--%s: more than %d values", knob->key,
				 MAX_AXIS_VALUES);
	values[(*count)++] = value;
	return true;
}

/* "4", "1,2,4" or "1..8": a range holds the whole numbers, or the words between. */
static bool parse_values(const struct scenario *base, const struct knob *knob,
			 const char *text, double *values, int *count,
			 struct error *error)
{
	char copy[512], *rest = copy, *part, *dots;

	snprintf(copy, sizeof copy, "%s", text);
	while ((part = strsep(&rest, ","))) {
		double from = 0, to = 0;

		dots = strstr(part, "..");
		if (dots)
			*dots = '\0';
		if (!parse_one(base, knob, part, &from, error) ||
		    !parse_one(base, knob, dots ? dots + 2 : part, &to, error))
			return false;
		for (; from <= to; from++)
			if (!add_value(values, count, from, knob, error))
				return false;
	}
	return true;
}

static bool pin(struct planner_problem *problem, const struct asked *asked,
		struct error *error)
{
	for (int i = 0; i < asked->pins; i++) {
		double values[MAX_AXIS_VALUES];
		int count = 0;

		if (!parse_values(&problem->base, asked->pin[i].knob,
				  asked->pin[i].text, values, &count, error))
			return false;
		/* what is no axis is simply set */
		if (count == 1)
			knob_set(&problem->base, asked->pin[i].knob, values[0]);
	}
	planner_axes(problem);
	for (int i = 0; i < asked->pins; i++) {
		double values[MAX_AXIS_VALUES];
		int count = 0;

		parse_values(&problem->base, asked->pin[i].knob, asked->pin[i].text,
			     values, &count, error);
		if (!planner_pin(problem, asked->pin[i].knob, values, count))
			return error_set(error, NULL, 0, "--%s: no such values",
					 asked->pin[i].knob->key);
	}
	return true;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_plan(const struct planner_problem *problem,
		       const struct planner_found *found)
{
	for (int i = 0; i < problem->axes; i++) {
		const struct planner_axis *axis = &problem->axis[i];
		char text[64];

		if (axis->count == 1)
			continue;
		knob_print_value(axis->knob, axis->value[found->choice[i]], text,
				 sizeof text);
		printf(" %s %s", axis->knob->key, text);
	}
}

static void print_row(const struct planner_problem *problem,
		      const struct planner_found *found, int rank)
{
	char step[32], memory[32];

	form_text(FORM_SECONDS, found->step_seconds, step, sizeof step);
	form_text(FORM_BYTES, found->memory_bytes, memory, sizeof memory);
	printf("%3d %9s %9.0f %5.1f%% %5.1f%% %9s ", rank, step,
	       found->tokens_per_second_per_gpu, found->mfu * 100,
	       found->bubble_ratio * 100, memory);
	print_plan(problem, found);
	putchar('\n');
}

static void print_proof(const struct planner_problem *problem,
			const struct planner_counts *c, double seconds)
{
	printf("\n%.0f plans, %.0f estimated (%.0f illegal, %.0f too large); of the "
	       "rest "
	       "%.0f don't divide,\n%.0f break a rule, %.0f are other names of the "
	       "same, "
	       "%.0f have states that don't fit,\n%.0f recompute in vain, %.0f can't "
	       "be better: %s "
	       "(%.0f ms)\n",
	       c->candidates, c->explored, c->illegal, c->out_of_memory, c->undivided,
	       c->unruly, c->repeated, c->too_large, c->dominated, c->bounded,
	       problem->exhaustive ? "all were estimated"
				   : "their bound is above the answer",
	       seconds * 1e3);
}

static void print_text(const struct planner_problem *problem,
		       const struct planner_result *result, double seconds)
{
	char needs[32], has[32];

	if (result->found > 0) {
		puts("  #      step tok/s/GPU    MFU bubble    memory  plan");
		for (int i = 0; i < result->found; i++)
			print_row(problem, &result->top[i], i + 1);
	} else if (result->has_nearest) {
		form_text(FORM_BYTES, result->nearest.memory_bytes, needs,
			  sizeof needs);
		form_text(FORM_BYTES,
			  problem->base.cluster.accelerator.usable_bytes *
				  (1 - problem->reserve),
			  has, sizeof has);
		printf("nothing fits: the least needs %s of %s:", needs, has);
		print_plan(problem, &result->nearest);
		putchar('\n');
	} else {
		puts("no legal plan: check says why for one");
	}
	print_proof(problem, &result->counts, seconds);
}

/* Progress from 0.2 s on, for a person who waits. */
static void run(struct planner *planner, double start)
{
	bool shown = false, terminal = isatty(STDERR_FILENO);

	while (planner_step(planner, SLICE)) {
		if (!terminal || seconds_now() - start < 0.2)
			continue;
		fprintf(stderr, "\rsearching %3.0f %% ",
			planner_result(planner)->progress * 100);
		shown = true;
	}
	if (shown)
		fputs("\r                \r", stderr);
}

static int search(struct planner_problem *problem, const struct asked *asked)
{
	struct error error = { "" };
	const struct planner_result *result;
	struct planner *planner;
	double start = seconds_now();
	char *text = NULL;
	int status;

	if (!pin(problem, asked, &error))
		return command_fail(&error);
	planner = planner_start(problem);
	if (!planner)
		return command_fail(&error);
	run(planner, start);
	result = planner_result(planner);
	if (asked->json)
		text = report_search(problem, result, seconds_now() - start);
	else
		print_text(problem, result, seconds_now() - start);
	fputs(text ? text : "", stdout);
	free(text);
	status = result->found > 0 ? STATUS_GOOD : STATUS_NO;
	planner_free(planner);
	return command_finish(status);
}

int command_search(int argc, char **argv)
{
	struct asked asked = { .top = 10, .reserve = 0.05 };
	struct arguments arguments = {
		.own = own, .owns = 5, .context = &asked, .knob = take_knob
	};
	struct planner_problem *problem = calloc(1, sizeof *problem);
	int status = STATUS_USAGE;

	if (!problem)
		return command_fail(&(struct error){ "" });
	if (options_read(command_find("search"), &arguments, argc, argv, &problem->base,
			 &status)) {
		problem->objective = asked.objective;
		problem->reserve = asked.reserve;
		problem->top = asked.top;
		problem->exhaustive = asked.exhaustive;
		status = search(problem, &asked);
	}
	free(problem);
	return status;
}
