/* linear.c - the explorer as a conversation; see linear.h. */
#include "tui/explorer/linear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "tui/explorer.h"
#include "tui/explorer/course.h"
#include "tui/explorer/linear_parts.h"
#include "tui/text.h"
#include "tui/view.h"

enum { LINE = 512 };

unsigned linear_act(struct linear *linear, enum action_kind kind)
{
	return explorer_handle(linear->explorer, (struct action){ .kind = kind });
}

/* Into the field that is open; what was in it goes. */
void linear_type(struct linear *linear, const char *text)
{
	linear_act(linear, ACTION_END);
	linear_act(linear, ACTION_ERASE_LINE);
	while (*text != '\0')
		explorer_handle(linear->explorer,
				(struct action){ .kind = ACTION_TEXT,
						 .argument = (int)text_decode(&text) });
}

/* What a change has led to, and keeps it. */
void linear_changed(struct linear *linear, unsigned changed)
{
	struct error error = { "" };

	linear_say_message(linear);
	if (linear->explorer->mode != MODE_NORMAL)
		linear_act(linear, ACTION_ESCAPE);
	linear->explorer->message[0] = '\0';
	if (changed & CHANGED_SCENARIO)
		explorer_update(linear->explorer);
	if (!(changed & CHANGED_SCENARIO))
		return;
	linear_say_result(linear);
	if (linear->explorer->session.lock >= 0)
		session_save(linear->explorer, &error);
}

/* A value, or up and down as the arrow keys turn it. */
static void turn(struct linear *linear, const struct knob *knob, const char *to)
{
	struct explorer *explorer = linear->explorer;
	char label[64], before[64], after[64];
	unsigned changed;

	text_squeeze(knob->label, label, sizeof label);
	knob_show(&explorer->scenario, knob, before, sizeof before);
	knobs_focus(explorer, knob);
	explorer->pane = PANE_KNOBS;
	if (strcmp(to, "+") == 0 || strcasecmp(to, "up") == 0) {
		changed = linear_act(linear, ACTION_RIGHT);
	} else if (strcmp(to, "-") == 0 || strcasecmp(to, "down") == 0) {
		changed = linear_act(linear, ACTION_LEFT);
	} else {
		prompt_open(explorer, PROMPT_VALUE, (int)(knob - knob_table), to);
		changed = linear_act(linear, ACTION_ENTER);
	}
	if (changed & CHANGED_SCENARIO) {
		knob_show(&explorer->scenario, knob, after, sizeof after);
		linear_say(linear, "%s %s, was %s. ", label, after, before);
	} else if (explorer->message[0] == '\0') {
		linear_say(linear, "%s is %s.\n", label, before);
	}
	linear_changed(linear, changed);
}

/* The global batch follows, as on the screen. */
static void turn_micro_batches(struct linear *linear, const char *to)
{
	const struct scenario *s = &linear->explorer->scenario;
	long long count = strtoll(to, NULL, 10);
	int64_t batch = count > 0 ? scenario_batch_of(s, count) : 0;
	char text[32];

	if (batch == 0 || batch == s->plan.global_batch) {
		linear_say_micro_batches(linear);
		return;
	}
	snprintf(text, sizeof text, "%lld", (long long)batch);
	turn(linear, knob_find("gbs"), text);
}

/* "nodes 4" is "gpus 32" where nodes have 8: what people call otherwise is told, not
 * turned. */
static bool offer(struct linear *linear, const char *name, const char *value)
{
	const struct knob *knob;
	char label[64], now[64], to[64];
	struct found found;

	if (!linear_means(linear, name, &found) || found.kind > FOUND_MICRO_BATCHES)
		return false;
	if (found.kind == FOUND_MICRO_BATCHES) {
		turn_micro_batches(linear, value);
		return true;
	}
	knob = &knob_table[found.index];
	snprintf(to, sizeof to, "%s", value);
	text_squeeze(knob->label, label, sizeof label);
	knob_show(&linear->explorer->scenario, knob, now, sizeof now);
	if (strcasecmp(name, "nodes") == 0 && atoi(value) > 0)
		snprintf(to, sizeof to, "%lld",
			 strtoll(value, NULL, 10) *
				 linear->explorer->scenario.cluster.gpus_per_node);
	linear_say(linear, "%s is about %s, which is %s; %s %s would set that\n", name,
		   label, now, knob->key, to);
	return true;
}

/* "global batch 128", "gbs=128", "gbs 128": the value is the last word. */
bool linear_turn(struct linear *linear, const char *line)
{
	const struct knob *knob;
	char name[LINE], *value;

	snprintf(name, sizeof name, "%s", line);
	value = strpbrk(name, "=");
	if (!value)
		value = strrchr(name, ' ');
	if (!value)
		return false;
	*value++ = '\0';
	value += strspn(value, " ");
	for (size_t end = strlen(name); end > 0 && name[end - 1] == ' ';)
		name[--end] = '\0';
	if (linear_open(linear, name, value))
		return true;
	if (linear_asks(linear, name, value))
		return true;
	knob = linear_knob(linear, name);
	if (knob)
		turn(linear, knob, value);
	return knob || offer(linear, name, value);
}

/* A knob and a value turn it; a name alone is told of. */
static void take_name(struct linear *linear, const char *line)
{
	const struct knob *knob = knob_find(line);
	struct found found;

	if (knob) {
		linear_say_knob(linear, knob);
	} else if (linear_means(linear, line, &found)) {
		if (found.kind == FOUND_KNOB)
			linear_say_knob(linear, &knob_table[found.index]);
		else
			linear_tell(linear, line, true);
	} else if (!linear_turn(linear, line)) {
		linear_wonder(linear, line);
	}
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
static bool take_line(struct linear *linear, char *line)
{
	const struct course *course = linear->explorer->course;
	int phase = course ? (int)course->phase : -1;
	size_t length = strlen(line);
	const struct linear_word *word;
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
		linear_say_message(linear);
		return true;
	}
	word = linear_word(first);
	if (!word && is_group(line))
		linear_numbers(linear, line);
	else if (!word)
		take_name(linear, line);
	else if (!word->run)
		return false;
	else
		word->run(linear, rest);
	/* that was the turn; a lesson that was opened has said itself */
	if (course && !(word && word->run == linear_lesson_open) &&
	    course == linear->explorer->course && (int)course->phase != phase)
		linear_lesson_say(linear, false);
	linear_say_message(linear);
	return true;
}

int linear_run(struct linear *linear)
{
	char line[LINE];

	linear_say_message(linear);
	if (linear->explorer->course)
		linear_lesson_say(linear, false);
	else
		linear_word("show")->run(linear, "");
	if (linear->explorer->offers)
		linear_say(linear,
			   "First time here? Type learn to open the lessons.\n");
	for (;;) {
		linear->line.column = linear->line.blanks = 0;
		if (linear->prompts)
			fputs("> ", linear->out);
		fflush(linear->out);
		if (!fgets(line, sizeof line, linear->in) || !take_line(linear, line))
			break;
	}
	return ferror(linear->in) || fflush(linear->out) != 0 || ferror(linear->out);
}
