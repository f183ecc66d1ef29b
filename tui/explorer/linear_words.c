/* linear_words.c - the words that one can type; see linear_parts.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "engine/trust/trust.h"
#include "presets/share.h"
#include "tui/explorer.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear_parts.h"
#include "tui/text.h"
#include "tui/view.h"

enum { MOST_PLANS = 5 };

static void do_undo(struct linear *linear, const char *rest)
{
	(void)rest;
	linear_changed(linear, linear_act(linear, ACTION_UNDO));
}

static void do_redo(struct linear *linear, const char *rest)
{
	(void)rest;
	linear_changed(linear, linear_act(linear, ACTION_REDO));
}

static void do_pin(struct linear *linear, const char *rest)
{
	(void)rest;
	linear_changed(linear, linear_act(linear, ACTION_PIN));
}

static void do_show(struct linear *linear, const char *rest)
{
	const struct scenario *s = &linear->explorer->scenario;

	(void)rest;
	linear_say(linear, "%s on %lld x %s with %s. ", s->model.name,
		   (long long)s->cluster.gpus, s->cluster.accelerator.name,
		   s->stack.name);
	linear_say_result(linear);
}

/* All numbers, or those of a group: memory, time, throughput, communication, run. */
void linear_numbers(struct linear *linear, const char *rest)
{
	const struct explorer *explorer = linear->explorer;
	int mode = explorer->scenario.plan.mode;

	if (!explorer->estimate.legal) {
		linear_say_result(linear);
		return;
	}
	for (int i = 0; i < metric_count(); i++) {
		const struct metric *metric = &metric_table[i];
		char start[96];

		if (!(metric->modes >> mode & 1) ||
		    (rest[0] != '\0' && strcasecmp(metric->group, rest) != 0))
			continue;
		snprintf(start, sizeof start, "  %s ", metric->label);
		linear_say_number(linear, metric, start, "");
		linear_say(linear, "\n");
	}
}

static void do_knobs(struct linear *linear, const char *rest)
{
	const struct explorer *explorer = linear->explorer;

	int group = -1;

	(void)rest;
	for (int i = 0; i < knob_count(); i++) {
		char label[64], value[64];

		if (!knob_in_mode(&knob_table[i], explorer->scenario.plan.mode) ||
		    !knob_applies(&explorer->scenario, &knob_table[i]))
			continue;
		if ((int)knob_table[i].group != group)
			linear_say(linear, "%s:\n",
				   knob_group_label(knob_table[i].group));
		group = (int)knob_table[i].group;
		text_squeeze(knob_table[i].label, label, sizeof label);
		knob_show(&explorer->scenario, &knob_table[i], value, sizeof value);
		linear_say(linear, "  %s: %s %s\n", knob_table[i].key, label, value);
	}
}

static void do_advice(struct linear *linear, const char *rest)
{
	struct explorer *explorer = linear->explorer;
	char text[320];

	(void)rest;
	if (course_hides(explorer) && !course_allows_tricks(explorer))
		return;
	while (!explorer->advice_done)
		explorer_idle(explorer);
	linear_say_problems(linear);
	for (int i = 0; i < explorer->advice.count; i++) {
		finding_text(&explorer->advice.item[i], text, sizeof text);
		linear_say(linear, "  %s\n", text);
	}
	if (explorer->advice.count + explorer->estimate.problems.count == 0)
		linear_say(linear, "no advice\n");
}

static void do_why(struct linear *linear, const char *rest)
{
	linear_tell(linear, rest, true);
}

static void do_what(struct linear *linear, const char *rest)
{
	linear_tell(linear, rest, false);
}

static void do_set(struct linear *linear, const char *rest)
{
	if (rest[0] == '\0')
		linear_say(linear, "set what? set tp 4 is an example\n");
	else if (!linear_turn(linear, rest))
		linear_wonder(linear, rest);
}

/* One row of the table, by the whole names of its knobs. */
static void say_plan(struct linear *linear, int row)
{
	const struct search *search = linear->explorer->search;
	int at = search->order[row];
	const struct planner_found *f = &search->result.top[at];
	char name[512], memory[32];
	struct scenario s;

	planner_scenario(&search->problem, f, &s);
	planner_plain_name(&search->problem, &s, name, sizeof name);
	form_text(FORM_BYTES, f->memory_bytes, memory, sizeof memory);
	linear_say(linear, "  %d: %s. %.0f tok/s per GPU, %s, %s.\n", row + 1, name,
		   f->tokens_per_second_per_gpu, memory, search->row[at].known);
}

/* Of how many they are the best, and how far the open plan is from them. */
static void say_found(struct linear *linear)
{
	const struct explorer *explorer = linear->explorer;
	const struct planner_result *result = &explorer->search->result;
	double best = result->top[0].tokens_per_second_per_gpu;
	double now = explorer->estimate.tokens_per_second_per_gpu;
	double goodput = explorer->estimate.serving.goodput;
	char count[32];

	/* as the search counts it: what keeps the goals */
	if (goodput > 0)
		now = goodput / (double)explorer->scenario.cluster.gpus;

	form_text(FORM_COUNT, result->counts.candidates, count, sizeof count);
	linear_say(linear, "The best of %s plans. ", count);
	if (!explorer->estimate.feasible)
		linear_say(linear, "Yours %s.\n",
			   explorer->estimate.legal ? "does not fit" : "can't run");
	else if (best > now)
		linear_say(linear, "The first gives %.1f %% more than yours.\n",
			   (best / now - 1) * 100);
	else
		linear_say(linear, "Yours is as fast.\n");
}

/* The best plans; "take 2" goes on with the second. */
static void do_search(struct linear *linear, const char *rest)
{
	struct explorer *explorer = linear->explorer;

	(void)rest;
	if (!course_allows_tricks(explorer))
		return;
	explorer_show(explorer, VIEW_SEARCH);
	while (explorer_idle(explorer) && !search_has_come_to(explorer, SEARCH_ROBUST))
		;
	if (explorer->search && explorer->search->rows > 0)
		say_found(linear);
	for (int i = 0; explorer->search && i < explorer->search->rows; i++)
		if (i < MOST_PLANS)
			say_plan(linear, i);
	if (!explorer->search || explorer->search->rows == 0)
		linear_say(linear, "no plan fits\n");
}

static void do_take(struct linear *linear, const char *rest)
{
	struct explorer *explorer = linear->explorer;
	long row = strtol(rest, NULL, 10);
	unsigned changed;

	if (!explorer->search || explorer->search_stale) {
		linear_say(linear, "search first\n");
		return;
	}
	if (row < 1 || row > explorer->search->rows) {
		linear_say(linear, "take a number from 1 to %d\n",
			   explorer->search->rows);
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
	linear_changed(linear, changed);
}

/* The kind that has the name nearest to this one; a plan where none is near. */
static enum preset_kind nearest_kind(const char *name)
{
	enum preset_kind kind = PRESET_PLAN;
	int least = (int)strlen(name) / 2 + 1;

	for (int i = 0; i < PRESET_OPENED_COUNT; i++) {
		const struct preset *list;
		int count = preset_list((enum preset_kind)i, &list);

		for (int k = 0; k < count; k++)
			if (knob_distance(name, list[k].name) < least) {
				least = knob_distance(name, list[k].name);
				kind = (enum preset_kind)i;
			}
	}
	return kind;
}

static void do_open(struct linear *linear, const char *rest)
{
	enum preset_kind kind = PRESET_PLAN;

	if (!course_allows_tricks(linear->explorer))
		return;

	for (int i = 0; i < PRESET_OPENED_COUNT && !preset_find(kind, rest); i++)
		if (preset_find((enum preset_kind)i, rest))
			kind = (enum preset_kind)i;
	/* a name that stands for nothing is looked for as a file, or told what is near
	 */
	if (!preset_find(kind, rest) && !picker_is_path(rest) && !share_is(rest))
		kind = nearest_kind(rest);
	linear_changed(linear, picker_take(linear->explorer, kind, rest));
}

bool linear_open(struct linear *linear, const char *row, const char *name)
{
	static const struct {
		const char *row;
		enum preset_kind kind;
	} rows[] = {
		{ "model", PRESET_MODEL },
		{ "cluster", PRESET_CLUSTER },
		{ "stack", PRESET_STACK },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strcasecmp(row, rows[i].row) != 0 || name[0] == '\0')
			continue;
		if (course_allows_tricks(linear->explorer))
			linear_changed(linear, picker_take(linear->explorer,
							   rows[i].kind, name));
		return true;
	}
	return false;
}

static void do_write(struct linear *linear, const char *rest)
{
	linear_act(linear, ACTION_WRITE);
	if (rest[0] != '\0')
		linear_type(linear, rest);
	linear_changed(linear, linear_act(linear, ACTION_ENTER));
}

static void do_help(struct linear *linear, const char *rest);

static const struct linear_word words[] = {
	{ "show", "1", "what is open, and the main results", do_show },
	{ "knobs", NULL, "all knobs that can be changed, with their values", do_knobs },
	{ "numbers", NULL,
	  "all numbers; numbers memory, time, throughput, communication or run "
	  "for a part",
	  linear_numbers },
	{ "what", "i", "what WORD: what a knob, number or term means", do_what },
	{ "why", NULL, "why NUMBER: its formula, terms and source (also explain)",
	  do_why },
	{ "set", NULL, "set KNOB VALUE: the same as KNOB VALUE", do_set },
	{ "advice", NULL, "what would be faster, or what is wrong", do_advice },
	{ "search", "s", "the best plans", do_search },
	{ "take", NULL, "take N: use plan N of the search", do_take },
	{ "undo", "u", "undo the last change", do_undo },
	{ "redo", "U", "redo what was undone", do_redo },
	{ "pin", "p", "compare every change with this plan; again: stop that", do_pin },
	{ "open", "o", "open NAME: a model, cluster, stack, plan or file", do_open },
	{ "write", "w", "write FILE: save the scenario", do_write },
	{ "learn", "L", "list the lessons; learn 9 or learn NAME opens one",
	  linear_lesson_open },
	{ "help", "?", "this list", do_help },
	{ "quit", "q", "leave; the workspace is kept", NULL },
};
enum { WORDS = sizeof words / sizeof words[0] };

static void do_help(struct linear *linear, const char *rest)
{
	(void)rest;
	if (linear->explorer->course)
		linear_lesson_help(linear);
	linear_say(linear,
		   "Type a knob and a value to set it: tp 4. A knob alone says "
		   "what it is for and what each value would give; tp up and tp "
		   "down step through its values.\n");
	for (size_t i = 0; i < WORDS; i++)
		linear_say(linear, "  %s%s%s: %s\n", words[i].word,
			   words[i].key ? " or " : "", words[i].key ? words[i].key : "",
			   words[i].help);
}

/* Other words for some of them. */
static const struct {
	const char *said, *word;
} others[] = {
	{ "explain", "why" },
	{ "overview", "show" },
	{ "exit", "quit" },
	{ "turn", "set" },
};

const struct linear_word *linear_word(const char *text)
{
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcasecmp(others[i].said, text) == 0)
			text = others[i].word;
	for (size_t i = 0; i < WORDS; i++)
		if (strcasecmp(words[i].word, text) == 0 ||
		    (words[i].key && strcmp(words[i].key, text) == 0))
			return &words[i];
	return NULL;
}

const struct linear_word *linear_word_at(int index)
{
	return &words[index];
}

int linear_word_count(void)
{
	return WORDS;
}
