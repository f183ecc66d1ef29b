/* sweep.c - the product of values of some knobs, one row each. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/knob/knob.h"
#include "engine/predict/predict.h"
#include "engine/train/train.h"
#include "presets/report.h"
#include "tui/clock.h"
#include "tui/command.h"
#include "tui/command/sweep_row.h"

enum { MAX_VARIED_VALUES = 256, MAX_WORD = 48 };

struct varied {
	const struct knob *knob;
	char *values;                           /* a copy, cut at the commas */
	char word[MAX_VARIED_VALUES][MAX_WORD]; /* values of ranges */
	int words;
	const char *value[MAX_VARIED_VALUES];
	int count;
};

struct sweep {
	struct varied varied[MAX_VARIED];
	int count;
	bool json, csv, yes;
	const struct knob *knob[MAX_VARIED]; /* of varied[] */
	struct sweep_free free;
	long long shard, shards; /* 1-based */
	struct start start;
};

static bool add_values(struct varied *v, const char *text, struct error *error)
{
	char *rest, *value;

	v->values = rest = strdup(text);
	while (rest && (value = strsep(&rest, ","))) {
		if (value[0] == '\0' || v->count == MAX_VARIED_VALUES)
			return error_set(error, NULL, 0,
					 "--vary %s: expected 1 to "
					 "%d values, as in %s=1,2,4",
					 v->knob->key, MAX_VARIED_VALUES, v->knob->key);
		v->value[v->count++] = value;
	}
	return v->count > 0;
}

static bool take_vary(void *context, const char *value, struct error *error)
{
	struct sweep *sweep = context;
	const char *equals = strchr(value, '=');
	char key[MAX_NAME];
	struct varied *v = &sweep->varied[sweep->count];

	if (sweep->count == MAX_VARIED)
		return error_set(error, NULL, 0, "more than %d knobs are varied",
				 MAX_VARIED);
	if (!equals || (size_t)(equals - value) >= sizeof key)
		return error_set(error, NULL, 0,
				 "--vary %.60s: expected KNOB=VALUE,VALUE", value);
	memcpy(key, value, (size_t)(equals - value));
	key[equals - value] = '\0';
	v->knob = knob_find(key);
	if (strcmp(key, "model") == 0 || strcmp(key, "cluster") == 0 ||
	    strcmp(key, "stack") == 0)
		return error_set(error, NULL, 0,
				 "--vary %s: a sweep turns the knobs of one model, "
				 "cluster and stack; shardscope compare takes several",
				 key);
	if (!v->knob) {
		const char *near = knob_nearest_key(key);

		return error_set(error, NULL, 0, "--vary: no knob '%.60s'%s%s", key,
				 near ? "; did you mean " : "", near ? near : "");
	}
	for (int i = 0; i < sweep->count; i++)
		if (sweep->varied[i].knob == v->knob)
			return error_set(error, NULL, 0,
					 "--vary %s: is varied already; give all "
					 "values at once",
					 v->knob->key);
	/* SP at TP 1 is for the TP that follows */
	if (v->knob == knob_find("tp"))
		start_give(&sweep->start, knob_find("sp"));
	sweep->knob[sweep->count++] = v->knob;
	return add_values(v, equals + 1, error);
}

static bool take_json(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct sweep *)context)->json = true;
	return true;
}

static bool take_csv(void *context, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	((struct sweep *)context)->json = false;
	((struct sweep *)context)->csv = true;
	return true;
}

static bool take_free(void *context, const char *value, struct error *error)
{
	return sweep_free_read(&((struct sweep *)context)->free, value, error);
}

TAKE_SWITCH(struct sweep, yes)

static bool take_shard(void *context, const char *value, struct error *error)
{
	struct sweep *sweep = context;
	char rest;

	if (sscanf(value, "%lld/%lld%c", &sweep->shard, &sweep->shards, &rest) == 2 &&
	    sweep->shard >= 1 && sweep->shard <= sweep->shards)
		return true;
	return error_set(error, NULL, 0, "--shard %.40s: expected I/N, I from 1 to N",
			 value);
}

const struct own_option sweep_options[] = {
	{ "vary", "KNOB=V,V",
	  "KNOB=VALUE,VALUE or KNOB=FROM..TO; give it for each knob", take_vary },
	{ "free", "KNOB,KNOB",
	  "knobs that each point chooses anew, as its best plan has them: tp,pp, or all "
	  "that search chooses",
	  take_free },
	{ "csv", NULL, "rows of comma-separated values (the default into a pipe)",
	  take_csv },
	{ "json", NULL, "one JSON object per line", take_json },
	{ "shard", "I/N",
	  "I/N: the I-th of N parts; joined in order they are the whole", take_shard },
	{ "yes", NULL, "go on where it takes longer than a minute", take_yes },
	{ NULL, NULL, NULL, NULL },
};

/* The n-th point of the product, the last knob fastest. */
static bool set_point(const struct sweep *sweep, long long n, struct scenario *s,
		      struct error *error)
{
	char why[256];

	for (int i = sweep->count - 1; i >= 0; i--) {
		const struct varied *v = &sweep->varied[i];

		if (!knob_parse(s, v->knob, v->value[n % v->count], why, sizeof why))
			return error_set(error, NULL, 0, "--vary %s: %s", v->knob->key,
					 why);
		n /= v->count;
	}
	return true;
}

static bool add_range(struct varied *v, const struct scenario *scenario,
		      const char *text, const char *dots, struct error *error)
{
	char first[MAX_WORD], why[256] = "has no ranges; list values with commas";
	double end[2], value[MAX_VARIED_VALUES];
	const char *part[2] = { first, dots + 2 };
	int count;

	snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
	for (int i = 0; i < 2; i++) {
		struct scenario s = *scenario;

		if (v->knob->type == KNOB_SET || v->knob->type == KNOB_TEXT ||
		    !knob_parse(&s, v->knob, part[i], why, sizeof why))
			return error_set(error, NULL, 0, "--vary %s: %s: %s",
					 v->knob->key, text, why);
		end[i] = knob_get(&s, v->knob);
	}
	if (end[1] < end[0])
		return error_set(error, NULL, 0, "--vary %s: %s ends before it begins",
				 v->knob->key, text);
	count = knob_range(scenario, v->knob, end[0], end[1], value,
			   MAX_VARIED_VALUES - v->count);
	if (count < 0)
		return error_set(error, NULL, 0, "--vary %s: more than %d values",
				 v->knob->key, MAX_VARIED_VALUES);
	for (int i = 0; i < count; i++) {
		char *word = v->word[v->words++];

		knob_print_value(v->knob, value[i], word, MAX_WORD);
		v->value[v->count++] = word;
	}
	return true;
}

/* "1..4" becomes 1, 2, 3 and 4. */
static bool expand(struct varied *v, const struct scenario *scenario,
		   struct error *error)
{
	const char *given[MAX_VARIED_VALUES];
	int count = v->count;

	memcpy(given, v->value, sizeof given);
	v->count = 0;
	for (int i = 0; i < count; i++) {
		const char *dots = strstr(given[i], "..");

		if (dots && !add_range(v, scenario, given[i], dots, error))
			return false;
		if (!dots && v->count == MAX_VARIED_VALUES)
			return error_set(error, NULL, 0,
					 "--vary %s: more than %d values", v->knob->key,
					 MAX_VARIED_VALUES);
		if (!dots)
			v->value[v->count++] = given[i];
	}
	return true;
}

/* A plan that is chosen is chosen for the first point; of what makes a plan, as TP, its
 * own values are chosen and then varied. */
static void give_first(void *context, struct scenario *s)
{
	struct sweep *sweep = context;
	char first[MAX_LAYOUT], why[256];

	for (int i = 0; i < sweep->count; i++) {
		const struct varied *v = &sweep->varied[i];
		const char *dots = v->count > 0 ? strstr(v->value[0], "..") : NULL;
		size_t length = v->count > 0 ? strlen(v->value[0]) : 0;

		if (length == 0 || start_decides(v->knob) ||
		    v->knob == knob_find("mode"))
			continue;
		if (dots)
			length = (size_t)(dots - v->value[0]);
		snprintf(first, sizeof first, "%.*s", (int)length, v->value[0]);
		/* what it can't have is refused before the first row */
		if (knob_parse(s, v->knob, first, why, sizeof why))
			start_give(&sweep->start, v->knob);
	}
}

/* Every value once, before the first row: a script gets a whole table or none. */
static bool check_values(const struct sweep *sweep, const struct scenario *scenario,
			 struct error *error)
{
	char why[256];

	for (int i = 0; i < sweep->count; i++) {
		const struct varied *v = &sweep->varied[i];

		for (int j = 0; j < v->count; j++) {
			struct scenario s = *scenario;

			if (!knob_parse(&s, v->knob, v->value[j], why, sizeof why))
				return error_set(error, NULL, 0, "--vary %s: %s",
						 v->knob->key, why);
		}
	}
	return true;
}

/* A person gets a table, unless asked for otherwise. */
static bool is_table(const struct sweep *sweep)
{
	return !sweep->json && !sweep->csv && isatty(STDOUT_FILENO);
}

/* A point's row as a text, to be freed; of a table its plan. False without memory. */
static bool row_of(const struct sweep *sweep, const struct scenario *scenario,
		   long long n, struct estimate *e, struct scenario *out, char **text)
{
	const char *keys[MAX_VARIED];
	struct scenario s = *scenario;
	struct error error;

	*text = NULL;

	for (int i = 0; i < sweep->count; i++)
		keys[i] = sweep->knob[i]->key;
	if (!set_point(sweep, n, &s, &error) || /* check_values() saw each */
	    !sweep_free_choose(&sweep->free, sweep->knob, sweep->count, &s))
		return false;
	scenario_estimate(&s, e);
	*out = s;
	if (is_table(sweep))
		return true;
	*text = sweep->json ? report_json_line(&s, e, &sweep->start)
			    : report_csv_row(scenario->plan.mode, &s, e, keys,
					     sweep->count);
	return *text != NULL;
}

/* Points of the product, as many as can be counted. */
static long long count_points(const struct sweep *sweep)
{
	long long total = 1;

	for (int i = 0; i < sweep->count; i++) {
		if (sweep->varied[i].count > 0 &&
		    total > LLONG_MAX / sweep->varied[i].count)
			return LLONG_MAX;
		total *= sweep->varied[i].count;
	}
	return total;
}

/* Where the n-th of `shards` equal parts begins: parts in order make the whole. */
static long long part_begin(long long total, long long n, long long shards)
{
	long long each = total / shards, more = total % shards;

	return each * n + (n < more ? n : more);
}

/* Seconds of a row, by some rows from all over the sweep. */
static double time_row(const struct sweep *sweep, const struct scenario *scenario,
		       const long long part[2], struct estimate *e)
{
	struct scenario point;
	char *text;
	enum { MOST = 256 };
	const double enough = 0.05; /* seconds: less than a person notices */
	double begun = clock_seconds(), spent = 0;
	long long each = (part[1] - part[0]) / MOST + 1;
	int rows = 0;

	/* not by adding to n, which may be near the largest number there is */
	while (rows < MOST && spent < enough && each * rows < part[1] - part[0]) {
		row_of(sweep, scenario, part[0] + each * rows, e, &point, &text);
		free(text);
		rows++;
		spent = clock_seconds() - begun;
	}
	return rows > 0 ? spent / rows : 0;
}

/* Whoever asks for more than a minute of rows is told so first. */
static bool confirm(const struct sweep *sweep, const long long part[2], double seconds,
		    struct error *error)
{
	const double patience = 60;
	double rows = (double)(part[1] - part[0]);
	char time[32];

	if (sweep->yes || rows * seconds <= patience)
		return true;
	form_text(FORM_DATE, rows * seconds, time, sizeof time);
	return error_set(
		error, NULL, 0,
		"%s%.0f plans take about %s; --yes goes on, --shard 1/N takes a "
		"part, search finds the best of them without trying all",
		part[1] == LLONG_MAX ? "more than " : "", rows, time);
}

static bool print_header(const struct sweep *sweep, const struct scenario *scenario)
{
	const char *keys[MAX_VARIED];
	char *header;

	if (is_table(sweep))
		sweep_table_head(sweep->knob, sweep->count, &sweep->free,
				 scenario->plan.mode == MODE_INFERENCE);
	if (sweep->json || is_table(sweep) || sweep->shard > 1)
		return true;
	for (int i = 0; i < sweep->count; i++)
		keys[i] = sweep->knob[i]->key;
	header = report_csv_header(scenario->plan.mode, keys, sweep->count);
	fputs(header ? header : "", stdout);
	free(header);
	return header != NULL;
}

/* Rows go out one by one: who reads them gets each as soon as it is known. False where
 * there is no memory for one. */
static bool print_rows(const struct sweep *sweep, const struct scenario *scenario,
		       const long long part[2], struct estimate *e)
{
	struct scenario point = *scenario;
	long long first = part[0], end = part[1];
	struct sweep_idle idle = { 0 };
	struct sweep_notes notes = { 0 };
	struct progress progress;
	bool good = true;

	progress_begin(&progress);
	/* rows on the same terminal are progress enough */
	progress.wanted = !isatty(STDOUT_FILENO);
	for (long long n = first; good && n < end; n++) {
		char *text;

		good = row_of(sweep, scenario, n, e, &point, &text);
		if (good && is_table(sweep))
			sweep_table_row(sweep->knob, sweep->count, &sweep->free, &point,
					e, &notes);
		sweep_idle_count(&idle, sweep->knob, sweep->count, &point);
		fputs(text ? text : "", stdout);
		free(text);
		if (progress_is_due(&progress))
			progress_show(&progress,
				      (double)(n - first) / (double)(end - first),
				      "%lld of %lld plans", n - first, end - first);
	}
	progress_end(&progress);
	sweep_table_notes(&notes);
	sweep_idle_tell(&idle, sweep->knob, sweep->count);
	return good;
}

/* A knob has the values of --vary or those that a search finds. */
static bool check_free(const struct sweep *sweep, struct error *error)
{
	for (int i = 0; i < sweep->free.count; i++)
		for (int k = 0; k < sweep->count; k++)
			if (sweep->free.knob[i] == sweep->varied[k].knob)
				return error_set(error, NULL, 0,
						 "--free %s: is varied already",
						 sweep->free.knob[i]->key);
	return true;
}

static int run(struct sweep *sweep, const struct scenario *scenario)
{
	struct estimate *e = malloc(sizeof *e);
	struct error error = { "out of memory" };
	long long part[2] = { 0, 0 };
	bool good = e != NULL;

	for (int i = 0; good && i < sweep->count; i++)
		good = expand(&sweep->varied[i], scenario, &error);
	good = good && check_free(sweep, &error) &&
	       check_values(sweep, scenario, &error);

	for (int i = 0; i < 2; i++)
		part[i] = part_begin(count_points(sweep), sweep->shard - 1 + i,
				     sweep->shards);
	good = good && confirm(sweep, part, time_row(sweep, scenario, part, e), &error);
	setvbuf(stdout, NULL, _IOLBF, 0);
	good = good && print_header(sweep, scenario) &&
	       print_rows(sweep, scenario, part, e);
	free(e);
	return good ? command_finish(STATUS_GOOD) : command_fail(&error);
}

int command_sweep(int argc, char **argv)
{
	struct sweep *sweep = calloc(1, sizeof *sweep);
	struct arguments arguments = {
		.context = sweep,
		.gives = give_first,
	};
	struct scenario scenario;
	struct error error = { "" };
	int status = STATUS_USAGE;

	if (!sweep)
		return command_fail(&error);
	arguments.start = &sweep->start;
	sweep->shard = sweep->shards = 1;
	if (options_read(command_find("sweep"), &arguments, argc, argv, &scenario,
			 &status)) {
		for (int i = 0; i < sweep->count; i++)
			start_forget(&sweep->start, sweep->knob[i]);
		for (int i = 0; i < sweep->free.count; i++)
			start_forget(&sweep->start, sweep->free.knob[i]);
		command_say_start(&sweep->start, &scenario);
		error_set(&error, NULL, 0, "nothing to vary; expected --vary tp=1,2,4");
		status =
			sweep->count > 0 ? run(sweep, &scenario) : command_fail(&error);
	}
	for (int i = 0; i < MAX_VARIED; i++)
		free(sweep->varied[i].values);
	free(sweep);
	return status;
}
