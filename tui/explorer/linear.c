/* linear.c - the explorer as a conversation; see linear.h. */
#include "tui/explorer/linear.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "tui/explorer.h"
#include "tui/explorer/contest.h"
#include "tui/explorer/course.h"
#include "tui/explorer/find.h"
#include "tui/text.h"
#include "tui/view.h"

enum { LINE = 512, MOST_PLANS = 5 };

/* --- out -------------------------------------------------------------------- */

void linear_put(const struct linear *linear, const char *text)
{
	while (*text != '\0') {
		char bytes[4];
		uint32_t code;

		if (*text == '\n') {
			fputc(*text++, linear->out);
			continue;
		}
		code = theme_substitute(linear->glyphs, text_decode(&text));
		fwrite(bytes, 1, text_encode(code, bytes), linear->out);
	}
}

static void say(const struct linear *linear, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct linear *linear, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	linear_put(linear, text);
}

/* A label of the knob pane stands in columns there: "PP  pipeline". */
static void squeeze(const char *label, char *out, size_t size)
{
	size_t used = 0;

	for (; *label != '\0' && used + 1 < size; label++)
		if (*label != ' ' || (used > 0 && out[used - 1] != ' '))
			out[used++] = *label;
	out[used] = '\0';
}

/* "-4.5%" as "down 4.5 %", "+1.2 pt" as "up 1.2 points", "x12" as "12 times". */
static void spoken_change(const char *change, char *out, size_t size)
{
	char *unit;
	double value = strtod(change + (change[0] == 'x'), &unit);

	if (change[0] == '\0' || unit == change)
		snprintf(out, size, "%s%s", change[0] ? ", " : "", change);
	else if (change[0] == 'x')
		snprintf(out, size, ", %g times as much", value);
	else
		snprintf(out, size, ", %s %g %s", value < 0 ? "down" : "up",
			 fabs(value), strstr(unit, "pt") ? "points" : "%");
}

static void say_metric(const struct linear *linear, const struct metric *metric,
		       const char *before, const char *unit, const char *after)
{
	const struct explorer *explorer = linear->explorer;
	char value[64], change[32], spoken[48];
	enum role role;

	form_text(metric->form, metric_get(&explorer->estimate, metric), value,
		  sizeof value);
	change_text(explorer, metric->key, change, sizeof change, &role);
	spoken_change(change, spoken, sizeof spoken);
	say(linear, "%s%s%s%s%s", before, value, unit, spoken, after);
}

static void say_problems(const struct linear *linear)
{
	const struct findings *problems = &linear->explorer->estimate.problems;
	char text[320], remedy[128];

	for (int i = 0; i < problems->count; i++) {
		finding_text(&problems->item[i], text, sizeof text);
		say(linear, "  %s", text);
		if (finding_remedy(&problems->item[i], remedy, sizeof remedy) > 0)
			say(linear, "; try %s", remedy);
		say(linear, "\n");
	}
}

/* "863 tok/s per GPU, down 4.5 %. Fits, 48 GiB." */
static void say_score(const struct linear *linear)
{
	char text[64];

	contest_title(linear->explorer, text, sizeof text);
	if (text[0] != '\0')
		say(linear, "%c%s.\n", text[0] - 'a' + 'A', text + 1);
}

static void say_result(const struct linear *linear)
{
	const struct explorer *explorer = linear->explorer;
	const struct estimate *e = &explorer->estimate;
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	const char *rate = serves ? "output_tokens_per_second_per_gpu"
				  : "tokens_per_second_per_gpu";

	if (!e->legal) {
		say(linear, "This plan can't run.\n");
		say_problems(linear);
		say_score(linear);
		return;
	}
	say_metric(linear, metric_find(rate), "", " per GPU", ". ");
	if (serves)
		say_metric(linear, metric_find("tpot_seconds"), "TPOT ", "", ". ");
	say_metric(linear, metric_find("total_bytes"),
		   e->fits     ? "Fits, "
		   : e->unsure ? "Unsure whether it fits, "
			       : "Does not fit, ",
		   "", ".\n");
	if (!e->fits)
		say_problems(linear);
	say_score(linear);
}

static void say_message(const struct linear *linear)
{
	struct explorer *explorer = linear->explorer;

	if (explorer->message[0] != '\0')
		say(linear, "%s\n", explorer->message);
	explorer->message[0] = '\0';
}

/* --- in --------------------------------------------------------------------- */

static unsigned act(const struct linear *linear, enum action_kind kind)
{
	return explorer_handle(linear->explorer, (struct action){ .kind = kind });
}

/* Into the field that is open; what was in it goes. */
static void type(const struct linear *linear, const char *text)
{
	act(linear, ACTION_END);
	act(linear, ACTION_ERASE_LINE);
	while (*text != '\0')
		explorer_handle(linear->explorer,
				(struct action){ .kind = ACTION_TEXT,
						 .argument = (int)text_decode(&text) });
}

/* What a change has led to, and keeps it. */
static void finish(const struct linear *linear, unsigned changed)
{
	struct error error = { "" };

	say_message(linear);
	if (linear->explorer->mode != MODE_NORMAL)
		act(linear, ACTION_ESCAPE);
	linear->explorer->message[0] = '\0';
	if (changed & CHANGED_SCENARIO)
		explorer_update(linear->explorer);
	if (!(changed & CHANGED_SCENARIO))
		return;
	say_result(linear);
	if (linear->explorer->session.lock >= 0)
		session_save(linear->explorer, &error);
}

void linear_changed(const struct linear *linear, unsigned changed)
{
	finish(linear, changed);
}

/* A word's knob: by its key, or the likeliest that "/" would find. */
static const struct knob *knob_of(const struct linear *linear, const char *word)
{
	const struct knob *knob = knob_find(word);
	struct found found[MAX_FOUND];
	int count;

	if (knob)
		return knob;
	count = find_all(linear->explorer, word, found);
	for (int i = 0; i < count; i++)
		if (found[i].kind == FOUND_KNOB)
			return &knob_table[found[i].index];
	return NULL;
}

/* What the knob moves, at one of its values. */
static void say_moved(const struct linear *linear, const struct whatif_value *v)
{
	enum form form = linear->explorer->strip.metric->form;
	char text[32];

	form_text(form, v->moved, text, sizeof text);
	if (form == FORM_RATE)
		say(linear, "%.0f", v->moved);
	else
		say(linear, "%s", text);
}

/* "TP tensor 8: what it is for. 4 OOM, 8 903, 16 731 tok/s per GPU." */
static void say_knob(const struct linear *linear, const struct knob *knob)
{
	struct explorer *explorer = linear->explorer;
	char label[64], value[64];

	squeeze(knob->label, label, sizeof label);
	knob_show(&explorer->scenario, knob, value, sizeof value);
	say(linear, "%s %s. %s\n", label, value, knob->help);
	knobs_focus(explorer, knob);
	explorer_update(explorer);
	if (course_hides(explorer))
		return;
	for (int i = 0; i < explorer->strip.count; i++) {
		const struct whatif_value *v = &explorer->strip.item[i];

		knob_print_value(knob, v->value, value, sizeof value);
		say(linear, "%s%s ", i > 0 ? ", " : "  ", value);
		if (!v->legal || !v->fits)
			say(linear, v->legal ? "does not fit" : "illegal");
		else
			say_moved(linear, v);
	}
	if (explorer->strip.count > 0)
		say(linear, explorer->strip.metric->form == FORM_RATE
				    ? " tok/s per GPU\n"
				    : "\n");
}

/* A value, or up and down as the arrow keys turn it. */
static void turn(const struct linear *linear, const struct knob *knob, const char *to)
{
	struct explorer *explorer = linear->explorer;
	char label[64], before[64], after[64];
	unsigned changed;

	squeeze(knob->label, label, sizeof label);
	knob_show(&explorer->scenario, knob, before, sizeof before);
	knobs_focus(explorer, knob);
	explorer->pane = PANE_KNOBS;
	if (strcmp(to, "+") == 0 || strcasecmp(to, "up") == 0) {
		changed = act(linear, ACTION_RIGHT);
	} else if (strcmp(to, "-") == 0 || strcasecmp(to, "down") == 0) {
		changed = act(linear, ACTION_LEFT);
	} else {
		prompt_open(explorer, PROMPT_VALUE, (int)(knob - knob_table), to);
		changed = act(linear, ACTION_ENTER);
	}
	if (changed & CHANGED_SCENARIO) {
		knob_show(&explorer->scenario, knob, after, sizeof after);
		say(linear, "%s %s, was %s. ", label, after, before);
	} else if (explorer->message[0] == '\0') {
		say(linear, "%s is %s.\n", label, before);
	}
	finish(linear, changed);
}

/* What it means, and why one would look at it. */
static void say_word(const struct linear *linear, const struct glossary_word *word)
{
	char means[GLOSSARY_MAX_TEXT], why[GLOSSARY_MAX_TEXT];

	glossary_plain(word->means, means, sizeof means);
	glossary_plain(word->why, why, sizeof why);
	say(linear, "%s\n%s\n", means, why);
}

static void explain_number(const struct linear *linear, const char *key)
{
	const struct explorer *explorer = linear->explorer;
	struct explanation x;
	char value[64];

	if (!explorer->estimate.legal) {
		say_result(linear);
		return;
	}
	if (!explain(&explorer->scenario, &explorer->estimate, key, &x)) {
		if (glossary_term(key)) {
			say_word(linear, glossary_term(key));
			return;
		}
		say(linear, "there is nothing to explain of '%s'\n", key);
		return;
	}
	form_text(x.form, x.value, value, sizeof value);
	if (x.word)
		say_word(linear, x.word);
	say(linear, "%s: %s = %s\n", x.title, x.formula, value);
	for (int i = 0; i < x.terms; i++) {
		form_text(x.term[i].form, x.term[i].value, value, sizeof value);
		say(linear, "  %s is %s, %s\n", x.term[i].symbol, value,
		    x.term[i].meaning);
	}
	say(linear, "%s\n", x.assumption);
	say(linear, "Source: %s\n", x.source);
}

/* --- words ------------------------------------------------------------------ */

static void do_undo(const struct linear *linear, const char *rest)
{
	(void)rest;
	finish(linear, act(linear, ACTION_UNDO));
}

static void do_redo(const struct linear *linear, const char *rest)
{
	(void)rest;
	finish(linear, act(linear, ACTION_REDO));
}

static void do_pin(const struct linear *linear, const char *rest)
{
	(void)rest;
	finish(linear, act(linear, ACTION_PIN));
}

static void do_show(const struct linear *linear, const char *rest)
{
	const struct scenario *s = &linear->explorer->scenario;

	(void)rest;
	say(linear, "%s on %lld x %s with %s. ", s->model.name,
	    (long long)s->cluster.gpus, s->cluster.accelerator.name, s->stack.name);
	say_result(linear);
}

/* All numbers, or those of a group: memory, time, throughput, communication, run. */
static void do_numbers(const struct linear *linear, const char *rest)
{
	const struct explorer *explorer = linear->explorer;
	int mode = explorer->scenario.plan.mode;

	if (!explorer->estimate.legal) {
		say_result(linear);
		return;
	}
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];
		char start[96];

		if (!(metric->modes >> mode & 1) ||
		    (rest[0] != '\0' && strcasecmp(metric->group, rest) != 0))
			continue;
		snprintf(start, sizeof start, "  %s ", metric->label);
		say_metric(linear, metric, start, "", "\n");
	}
}

static void do_knobs(const struct linear *linear, const char *rest)
{
	const struct explorer *explorer = linear->explorer;

	(void)rest;
	for (int i = 0; i < knob_count(); i++) {
		char label[64], value[64];

		if (!knob_in_mode(&knob_table[i], explorer->scenario.plan.mode) ||
		    !knob_applies(&explorer->scenario, &knob_table[i]))
			continue;
		squeeze(knob_table[i].label, label, sizeof label);
		knob_show(&explorer->scenario, &knob_table[i], value, sizeof value);
		say(linear, "  %s: %s %s\n", knob_table[i].key, label, value);
	}
}

static void do_advice(const struct linear *linear, const char *rest)
{
	struct explorer *explorer = linear->explorer;
	char text[320];

	(void)rest;
	if (course_hides(explorer) && !course_allows_tricks(explorer))
		return;
	while (!explorer->advice_done)
		explorer_idle(explorer);
	say_problems(linear);
	for (int i = 0; i < explorer->advice.count; i++) {
		finding_text(&explorer->advice.item[i], text, sizeof text);
		say(linear, "  %s\n", text);
	}
	if (explorer->advice.count + explorer->estimate.problems.count == 0)
		say(linear, "nothing to advise\n");
}

static void do_why(const struct linear *linear, const char *rest)
{
	struct found found[MAX_FOUND];
	int count = find_all(linear->explorer, rest, found);

	if (metric_find(rest) || count == 0) {
		explain_number(linear, rest);
		return;
	}
	for (int i = 0; i < count; i++)
		if (found[i].kind == FOUND_NUMBER) {
			explain_number(linear, metric_table[found[i].index].key);
			return;
		}
	explain_number(linear, rest);
}

/* The best plans; "take 2" goes on with the second. */
static void do_search(const struct linear *linear, const char *rest)
{
	struct explorer *explorer = linear->explorer;

	(void)rest;
	if (!course_allows_tricks(explorer))
		return;
	explorer_show(explorer, VIEW_SEARCH);
	while (explorer_idle(explorer) && !search_has_come_to(explorer, SEARCH_ROBUST))
		;
	for (int i = 0; explorer->search && i < explorer->search->rows; i++) {
		int at = explorer->search->order[i];
		const struct planner_found *f = &explorer->search->result.top[at];

		if (i == MOST_PLANS)
			break;
		say(linear, "  %d: %s, %.0f tok/s per GPU\n", i + 1,
		    explorer->search->row[at].name, f->tokens_per_second_per_gpu);
	}
	if (!explorer->search || explorer->search->rows == 0)
		say(linear, "no plan fits\n");
}

static void do_take(const struct linear *linear, const char *rest)
{
	struct explorer *explorer = linear->explorer;
	long row = strtol(rest, NULL, 10);
	unsigned changed;

	if (!explorer->search || explorer->search_stale) {
		say(linear, "search first\n");
		return;
	}
	if (row < 1 || row > explorer->search->rows) {
		say(linear, "take a number from 1 to %d\n", explorer->search->rows);
		return;
	}
	explorer_show(explorer, VIEW_SEARCH);
	explorer->state[VIEW_SEARCH].cursor = (int)row - 1;
	explorer->pane = PANE_VIEW;
	/* those like it are no question here */
	explorer->search->opened =
		1 + explorer->search->alike.row[explorer->search->order[row - 1]];
	changed = view_table[VIEW_SEARCH].act(explorer,
					      (struct action){ .kind = ACTION_ENTER });
	explorer_show(explorer, VIEW_OVERVIEW);
	finish(linear, changed);
}

static void do_open(const struct linear *linear, const char *rest)
{
	enum preset_kind kind = PRESET_PLAN;

	if (!course_allows_tricks(linear->explorer))
		return;

	/* a name that stands for nothing is looked for as a file */
	for (int i = 0; i < PRESET_OPENED_COUNT && !preset_find(kind, rest); i++)
		if (preset_find((enum preset_kind)i, rest))
			kind = (enum preset_kind)i;
	finish(linear, picker_take(linear->explorer, kind, rest));
}

static void do_write(const struct linear *linear, const char *rest)
{
	act(linear, ACTION_WRITE);
	if (rest[0] != '\0')
		type(linear, rest);
	finish(linear, act(linear, ACTION_ENTER));
}

static void do_help(const struct linear *linear, const char *rest);

static const struct word {
	const char *word, *key, *help;
	void (*run)(const struct linear *linear, const char *rest);
} words[] = {
	{ "show", "1", "what is open, and what comes of it", do_show },
	{ "knobs", NULL, "all that can be turned, with values", do_knobs },
	{ "numbers", NULL,
	  "all numbers; memory, time, throughput, communication and run alone",
	  do_numbers },
	{ "why", NULL, "why NUMBER: formula, terms and source", do_why },
	{ "advice", NULL, "what would be faster, or what is wrong", do_advice },
	{ "search", "s", "the best plans", do_search },
	{ "take", NULL, "take N: the plan of that row", do_take },
	{ "undo", "u", "the change before", do_undo },
	{ "redo", "U", "once more", do_redo },
	{ "pin", "p", "changes are told against this plan; again: no longer", do_pin },
	{ "open", "o", "open NAME: a model, cluster, stack, plan or file", do_open },
	{ "write", "w", "write FILE: the scenario", do_write },
	{ "learn", "L", "lessons; learn 9 or learn NAME opens one",
	  linear_lesson_open },
	{ "help", "?", "this list", do_help },
	{ "quit", "q", "the workspace is kept", NULL },
};
enum { WORDS = sizeof words / sizeof words[0] };

static void do_help(const struct linear *linear, const char *rest)
{
	(void)rest;
	if (linear->explorer->course)
		linear_lesson_help(linear);
	say(linear,
	    "A knob and a value set it: tp 4. A knob alone tells what it is for "
	    "and what each value gives; tp up and tp down turn it.\n");
	for (size_t i = 0; i < WORDS; i++)
		say(linear, "  %s%s%s: %s\n", words[i].word, words[i].key ? " or " : "",
		    words[i].key ? words[i].key : "", words[i].help);
}

static const struct word *word_of(const char *text)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(words[i].word, text) == 0 ||
		    (words[i].key && strcmp(words[i].key, text) == 0))
			return &words[i];
	return NULL;
}

/* "global batch 128", "gbs=128", "gbs 128", "gbs": the value is the last word. */
static void take_knob(const struct linear *linear, char *line)
{
	char *value = strpbrk(line, "=");
	const struct knob *knob = value ? NULL : knob_of(linear, line);

	if (knob) {
		say_knob(linear, knob);
		return;
	}
	if (!value)
		value = strrchr(line, ' ');
	if (value) {
		*value++ = '\0';
		value += strspn(value, " ");
		for (size_t end = strlen(line); end > 0 && line[end - 1] == ' ';)
			line[--end] = '\0';
		knob = knob_of(linear, line);
	}
	if (knob)
		turn(linear, knob, value);
	else
		say(linear, "'%s' is no knob and no word; help lists them\n", line);
}

static bool is_group(const char *text)
{
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].group[0] != '\0' &&
		    strcasecmp(metric_table[i].group, text) == 0)
			return true;
	return false;
}

/* False when it is over. */
static bool take_line(const struct linear *linear, char *line)
{
	const struct course *course = linear->explorer->course;
	int phase = course ? (int)course->phase : -1;
	size_t length = strlen(line);
	const struct word *word;
	char first[32], *rest;

	while (length > 0 && strchr(" \t\r\n", line[length - 1]))
		line[--length] = '\0';
	line += strspn(line, " \t");
	if (line[0] == '\0' && !linear->explorer->course)
		return true;
	snprintf(first, sizeof first, "%.*s", (int)strcspn(line, " "), line);
	rest = line + strcspn(line, " ");
	rest += strspn(rest, " ");
	if (linear_lesson_take(linear, line)) {
		say_message(linear);
		return true;
	}
	word = word_of(first);
	if (!word && is_group(line))
		do_numbers(linear, line);
	else if (!word)
		take_knob(linear, line);
	else if (!word->run)
		return false;
	else
		word->run(linear, rest);
	/* that was the turn */
	if (course && course == linear->explorer->course && (int)course->phase != phase)
		linear_lesson_say(linear, false);
	say_message(linear);
	return true;
}

int linear_run(struct linear *linear)
{
	char line[LINE];

	say_message(linear);
	if (linear->explorer->course)
		linear_lesson_say(linear, false);
	else
		do_show(linear, "");
	if (linear->explorer->offers)
		say(linear, "First time here? The word learn opens the lessons.\n");
	for (;;) {
		if (linear->prompts)
			fputs("> ", linear->out);
		fflush(linear->out);
		if (!fgets(line, sizeof line, linear->in) || !take_line(linear, line))
			break;
	}
	return ferror(linear->in) || fflush(linear->out) != 0 || ferror(linear->out);
}
