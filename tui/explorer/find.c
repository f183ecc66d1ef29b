/* find.c - what a typed word may mean: knobs, numbers, views, the likeliest first. */
#include "tui/explorer/find.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/library.h"
#include "tui/meant.h"
#include "tui/view.h"

/* How well a text fits, the best first. A knob that does nothing here comes after all
 * that can be used. */
enum {
	FITS_WHOLE,
	FITS_WORD,
	FITS_KEY,
	FITS_MEANT,
	FITS_PART,
	FITS_HELP,
	FITS_NOT,
	USELESS
};

static bool equals(const char *a, const char *b)
{
	return meant_text_begins(a, b) && strlen(a) == strlen(b);
}

static bool has_word(const char *text, const char *with)
{
	for (const char *at = text; *at != '\0'; at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    meant_text_begins(at, with))
			return true;
	return false;
}

static bool has_part(const char *text, const char *part)
{
	for (; *text != '\0'; text++)
		if (meant_text_begins(text, part))
			return true;
	return false;
}

static int fit_name(const char *label, const char *key, const char *alias,
		    const char *text)
{
	if (equals(label, text) || equals(key, text) || (alias && equals(alias, text)))
		return FITS_WHOLE;
	if (has_word(label, text))
		return FITS_WORD;
	if (meant_text_begins(key, text) || (alias && meant_text_begins(alias, text)))
		return FITS_KEY;
	if (meant_begins(key, text))
		return FITS_MEANT;
	if (has_part(label, text) || has_part(key, text) ||
	    (alias && has_part(alias, text)))
		return FITS_PART;
	return FITS_NOT;
}

static int fit_knob(const struct knob *knob, const char *text)
{
	int fit = fit_name(knob->label, knob->key, knob->alias, text);

	return fit == FITS_NOT && has_word(knob->help, text) ? FITS_HELP : fit;
}

/* A word to read about stands behind all that can be turned or looked at. */
static int fit_term(const struct glossary_word *word, const char *text)
{
	return fit_name(word->key, word->key, NULL, text) == FITS_NOT ? FITS_NOT
								      : FITS_HELP;
}

static void add(struct found *out, int *count, enum found_kind kind, int index, int fit)
{
	int at = *count;

	if (fit % USELESS == FITS_NOT || *count == MAX_FOUND)
		return;
	while (at > 0 && out[at - 1].fit > fit) {
		out[at] = out[at - 1];
		at--;
	}
	out[at] = (struct found){ kind, index, fit };
	++*count;
}

/* What a key does, found by the words that say it: moving about is none of it. */
static bool is_command(const struct key_binding *key)
{
	return key->help && key->action >= ACTION_ESCAPE &&
	       key->action != ACTION_FILTER && key->action != ACTION_ESCAPE &&
	       key->action != ACTION_NEXT_MATCH;
}

/* Why a command would do nothing now; NULL: it would. */
static const char *why_not(const struct explorer *explorer, enum action_kind kind)
{
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	bool plays = kind == ACTION_PLAY || kind == ACTION_SLOWER ||
		     kind == ACTION_FASTER || kind == ACTION_STEP;

	if (plays && serves)
		return "a server has no step to play";
	if (plays && explorer->view != VIEW_TIMELINE)
		return "only in the Timeline view";
	if (kind == ACTION_BESIDE && explorer->width < BESIDE_WIDTH)
		return "the screen is narrower than 160 columns";
	if (kind == ACTION_UNDO && explorer->history.done == 0)
		return "nothing has changed yet";
	if (kind == ACTION_REDO && explorer->history.done == explorer->history.count)
		return "nothing has been undone yet";
	return NULL;
}

static int fit_command(const struct explorer *explorer, const struct key_binding *key,
		       const char *text)
{
	int fit = FITS_NOT;

	if (!is_command(key))
		return FITS_NOT;
	if (meant_text_begins(key->help, text))
		fit = equals(key->help, text) ? FITS_WHOLE : FITS_WORD;
	else if (has_word(key->help, text))
		fit = FITS_HELP;
	if (fit != FITS_NOT && why_not(explorer, key->action))
		fit += USELESS;
	return fit;
}

int find_all(const struct explorer *explorer, const char *text,
	     struct found out[MAX_FOUND])
{
	int mode = explorer->scenario.plan.mode, count = 0, presets;
	const struct preset *list;

	if (text[0] == '\0')
		return 0;
	for (int i = 0; i < knob_count(); i++) {
		int fit = fit_knob(&knob_table[i], text);

		if (knob_does_nothing(explorer, &knob_table[i]))
			fit += USELESS;
		add(out, &count, FOUND_KNOB, i, fit);
	}
	if (mode == MODE_TRAINING)
		add(out, &count, FOUND_MICRO_BATCHES, 0,
		    fit_name("micro-batches", "accumulation", NULL, text));
	for (int i = 0; i < metric_count(); i++)
		if (metric_table[i].modes >> mode & 1)
			add(out, &count, FOUND_NUMBER, i,
			    fit_name(metric_table[i].label, metric_table[i].key, NULL,
				     text));
	for (int i = 0; i < VIEW_COUNT; i++)
		add(out, &count, FOUND_VIEW, i,
		    fit_name(view_table[i].title, view_table[i].name, NULL, text));
	for (int i = 0; i < glossary_count(); i++)
		if (glossary_at(i)->kind <= WORD_SCHEDULE)
			add(out, &count, FOUND_TERM, i, fit_term(glossary_at(i), text));
	for (int i = 0; i < key_count(); i++)
		add(out, &count, FOUND_COMMAND, i,
		    fit_command(explorer, &key_table[i], text));
	for (int kind = PRESET_OPENED_COUNT - 1; kind >= 0; kind--) {
		presets = preset_list((enum preset_kind)kind, &list);
		for (int i = 0; i < presets; i++)
			add(out, &count, FOUND_PRESET, i | kind << 16,
			    has_part(list[i].name, text) ? FITS_HELP : FITS_NOT);
	}
	return count;
}

const char *knob_does_nothing(const struct explorer *explorer, const struct knob *knob)
{
	int mode = explorer->scenario.plan.mode;

	if (knob_in_mode(knob, mode) && knob_applies(&explorer->scenario, knob))
		return NULL;
	if (knob_in_mode(knob, mode))
		return "has no effect in this plan";
	return mode == MODE_TRAINING ? "only for serving; this plan trains"
				     : "only for training; this plan serves";
}

static unsigned do_command(struct explorer *explorer, const struct key_binding *key)
{
	const char *why = why_not(explorer, key->action);

	if (!why)
		return explorer_handle(explorer,
				       (struct action){ .kind = key->action,
							.argument = key->argument });
	explorer_say(explorer, ROLE_HINT, "%s: %s", key->name, why);
	return CHANGED_SCREEN;
}

bool found_is_useless(const struct found *found)
{
	return found->fit >= USELESS;
}

bool found_by_help(const struct found *found)
{
	return found->fit % USELESS == FITS_HELP;
}

bool found_by_name(const struct found *found)
{
	return found->fit % USELESS <= FITS_MEANT;
}

bool found_by_own_name(const struct found *found)
{
	return found->fit % USELESS <= FITS_KEY;
}

unsigned find_go(struct explorer *explorer, const struct found *found)
{
	const struct knob *knob = &knob_table[found->index];

	if (found->kind == FOUND_MICRO_BATCHES)
		return knobs_focus_micro_batches(explorer);
	if (found->kind == FOUND_NUMBER)
		return explorer_explain(explorer, metric_table[found->index].key);
	if (found->kind == FOUND_VIEW)
		return explorer_show(explorer, (enum view_id)found->index);
	if (found->kind == FOUND_TERM)
		return explorer_explain(explorer, glossary_at(found->index)->key);
	if (found->kind == FOUND_PRESET)
		return picker_open_preset(explorer, found->index >> 16,
					  found->index & 0xffff);
	if (found->kind == FOUND_COMMAND)
		return do_command(explorer, &key_table[found->index]);
	explorer->pane = PANE_KNOBS;
	knobs_focus(explorer, knob);
	/* what it is for stands on the rule */
	if (found->fit >= USELESS)
		explorer_say(explorer, ROLE_WARNING, "%s %s: %s", knob->key,
			     knob_does_nothing(explorer, knob), knob->help);
	return CHANGED_SCREEN | CHANGED_SETTINGS;
}

/* What is found, its value, and what it is where it is no knob that turns. */
struct told {
	const char *label, *what;
	char value[64];
	enum role role;
};

static void tell_command(const struct explorer *explorer, const struct found *found,
			 struct told *out)
{
	const struct key_binding *key = &key_table[found->index];
	const char *why = why_not(explorer, key->action);

	out->label = key->help;
	out->what = why ? why : "key: Enter presses it";
	snprintf(out->value, sizeof out->value, "%s", key->name);
	out->role = why ? ROLE_QUIET : ROLE_VALUE;
}

static void tell_number(const struct estimate *estimate, const struct metric *metric,
			struct told *out)
{
	out->label = metric->label;
	out->what = "number: Enter explains it";
	if (estimate->legal || strcmp(metric->group, "model") == 0)
		form_text(metric->form, metric_get(estimate, metric), out->value,
			  sizeof out->value);
}

static void tell_knob(const struct explorer *explorer, const struct found *found,
		      struct told *out)
{
	const struct knob *knob = &knob_table[found->index];

	out->label = knob->label;
	out->what = knob->help;
	if (found->fit < USELESS) {
		knob_show(&explorer->scenario, knob, out->value, sizeof out->value);
		return;
	}
	out->what = knob_does_nothing(explorer, knob);
	out->role = ROLE_QUIET;
}

static const char *const preset_told[PRESET_OPENED_COUNT] = {
	"model: Enter opens it, u goes back", "cluster: Enter opens it, u goes back",
	"stack: Enter opens it, u goes back", "plan: Enter opens it, u goes back"
};

static void tell(const struct explorer *explorer, const struct found *found,
		 struct told *out)
{
	switch (found->kind) {
	case FOUND_COMMAND: tell_command(explorer, found, out); break;
	case FOUND_MICRO_BATCHES:
		out->label = "micro-batches";
		out->what = "Per pipeline and step; the global batch follows.";
		snprintf(out->value, sizeof out->value,
			 explorer->estimate.micro_batches > 0 ? "%lld" : "-",
			 (long long)explorer->estimate.micro_batches);
		break;
	case FOUND_PRESET:
		out->label = picker_preset_name(found->index);
		out->what = preset_told[found->index >> 16];
		break;
	case FOUND_VIEW:
		out->label = view_table[found->index].title;
		out->what = "view";
		break;
	case FOUND_TERM:
		out->label = glossary_at(found->index)->key;
		out->what = "term: Enter shows its meaning";
		break;
	case FOUND_NUMBER:
		tell_number(&explorer->estimate, &metric_table[found->index], out);
		break;
	default: tell_knob(explorer, found, out);
	}
}

static void draw_found(const struct explorer *explorer, struct canvas *canvas,
		       struct rect line, const struct found *found)
{
	enum { LABEL = 30, VALUE = 14 };
	struct told told = { .label = "", .what = "", .role = ROLE_VALUE };

	tell(explorer, found, &told);
	canvas_text(canvas, line.x, line.y, LABEL, told.role, told.label);
	canvas_right(canvas, line.x + LABEL, line.y, VALUE, told.role, told.value);
	canvas_phrase(canvas, line.x + LABEL + VALUE + 2, line.y,
		      line.width - LABEL - VALUE - 2,
		      told.role == ROLE_QUIET ? ROLE_QUIET : ROLE_LABEL, told.what);
}

bool find_is_filter(const struct explorer *explorer)
{
	struct found found[MAX_FOUND];
	const char *text = explorer->field.text;

	return explorer->view == VIEW_SEARCH && (text[0] == '?' || strchr(text, '=')) &&
	       find_all(explorer, text, found) == 0;
}

void find_draw(const struct explorer *explorer, struct canvas *canvas, int bottom)
{
	struct found found[MAX_FOUND];
	int count = find_all(explorer, explorer->field.text, found), first;
	int rows = count < 10 ? count : 10;
	struct rect box, list;

	if (explorer->field.text[0] != '\0' && count == 0)
		rows = 1;
	if (rows > bottom - 2)
		rows = bottom - 2;
	if (rows < 1)
		return;
	box = (struct rect){ 0, bottom - rows - 2, canvas->width, rows + 2 };
	if (box.width > 100)
		box.width = 100;
	list = widget_box(canvas, box, "find");
	canvas->spots->picker = list;
	if (count == 0)
		canvas_text(canvas, list.x, list.y, list.width, ROLE_HINT,
			    find_is_filter(explorer)
				    ? "plans with these values: Enter shows them"
				    : "nothing has that name");
	first = scroll_first(0, explorer->prompt_argument, count, list.height);
	for (int i = 0; i < list.height && first + i < count; i++) {
		struct rect line = { list.x, list.y + i, list.width - 2, 1 };

		draw_found(explorer, canvas, line, &found[first + i]);
		if (first + i == explorer->prompt_argument)
			canvas_highlight(canvas, line, ROLE_FOCUS, false, true);
	}
	widget_scrollbar(canvas, list.x + list.width - 1, list.y, list.height, first,
			 count);
}

unsigned find_move(struct explorer *explorer, struct action action)
{
	struct found found[MAX_FOUND];
	int count = find_all(explorer, explorer->field.text, found);
	struct rect list = explorer->spots->picker;
	int *cursor = &explorer->prompt_argument, at;

	if (action.kind == ACTION_WHEEL)
		action.kind = action.argument < 0 ? ACTION_UP : ACTION_DOWN;
	if (action.kind != ACTION_CLICK) {
		*cursor = scroll_move(*cursor, count, list.height, action.kind);
		return CHANGED_SCREEN;
	}
	at = action.y - list.y + scroll_first(0, *cursor, count, list.height);
	if (!rect_holds(list, action.x, action.y) || at >= count)
		return CHANGED_NOTHING;
	if (at == *cursor) {
		explorer->mode = MODE_NORMAL;
		return find_go(explorer, &found[at]);
	}
	*cursor = at;
	return CHANGED_SCREEN;
}
