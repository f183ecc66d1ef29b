/* explain.c - where a number comes from. */
#include <stdio.h>
#include <string.h>

#include "engine/explain/nearest.h"
#include "engine/knob/knob.h"
#include "tui/explorer/follow.h"
#include "tui/explorer/last.h"
#include "tui/view.h"

static int index_of(const char *key)
{
	for (int i = 0; i < metric_count(); i++)
		if (strcmp(metric_table[i].key, key) == 0)
			return i;
	return -1;
}

/* What was asked for, or what stands for it in the other mode. */
static const char *shown(const struct explorer *explorer)
{
	const struct metric *metric = metric_find(explorer->explained);
	int mode = explorer->scenario.plan.mode;

	if (!metric || metric->modes >> mode & 1)
		return explorer->explained;
	return mode == MODE_INFERENCE ? "tpot_seconds" : "step_seconds";
}

/* What is meant is said once of terms that follow each other and mean the same. */
static int draw_terms(struct canvas *canvas, struct rect rect,
		      const struct explanation_term *terms, int count)
{
	int symbol = 6, value = 12, y = 0;

	for (int i = 0; i < count; i++)
		if (text_width(terms[i].symbol) > symbol)
			symbol = text_width(terms[i].symbol);
	if (symbol > rect.width / 3)
		symbol = rect.width / 3;
	for (int i = 0; i < count; i++) {
		const struct explanation_term *term = &terms[i];
		int indent = symbol + value + 3, used;
		char text[64];

		form_text(term->form, term->value, text, sizeof text);
		canvas_text(canvas, rect.x, rect.y + y, symbol, ROLE_KEY, term->symbol);
		canvas_right(canvas, rect.x + symbol + 1, rect.y + y, value, ROLE_VALUE,
			     text);
		used = widget_prose(canvas,
				    (struct rect){ rect.x + indent, rect.y + y,
						   rect.width - indent, rect.height },
				    0, ROLE_LABEL,
				    i > 0 && strcmp(term->meaning, term[-1].meaning) ==
							    0
					    ? ""
					    : term->meaning);
		y += used > 0 ? used : 1;
	}
	return y;
}

static int draw_section(struct canvas *canvas, struct rect rect, const char *title,
			enum role role, const char *text)
{
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, title);
	rect.y++;
	return 2 + widget_prose(canvas, rect, 0, role, text);
}

/* A long sum of terms that stand below is told by its ends: "stage_0 + \u2026 +
 * stage_15". */
static void fold_sum(const struct explanation *x, char *text, size_t size)
{
	enum { FEW = 3, SHORT = 40 };
	char sum[FORMULA_MAX_TEXT] = "", rest[FORMULA_MAX_TEXT];
	size_t used = 0, length = 0;
	int count = 0;
	char *at;

	for (int i = 0; i < x->terms; i++) {
		used += (size_t)snprintf(sum + used, sizeof sum - used, "%s%s",
					 i > 0 ? " + " : "", x->term[i].symbol);
		if (used >= sizeof sum || !strstr(text, sum))
			break;
		length = used;
		count++;
	}
	if (count <= FEW || length < SHORT)
		return;
	sum[length] = '\0';
	at = strstr(text, sum);
	snprintf(rest, sizeof rest, "%s", at + length);
	snprintf(at, size - (size_t)(at - text), "%s + \u2026 + %s%s",
		 x->term[0].symbol, x->term[count - 1].symbol, rest);
}

/* Of what is not computed why it has no formula, which is no value to be read. */
static enum role say_formula(const struct explanation *x, char *out, size_t size)
{
	static const char none[] = "none: ";
	bool has = strncmp(x->formula, none, strlen(none)) != 0;

	if (!has) {
		snprintf(out, size, "no formula: %.*s", FORMULA_MAX_TEXT,
			 x->formula + strlen(none));
		return ROLE_LABEL;
	}
	snprintf(out, size, "%.*s", FORMULA_MAX_TEXT, x->formula);
	fold_sum(x, out, size);
	return ROLE_VALUE;
}

/* Of a knob its word, not its place among the words. */
static void value_text(const struct explorer *explorer, const char *key,
		       const struct explanation *x, char *out, size_t size)
{
	const struct knob *knob = explain_knob(key);

	if (knob)
		knob_show(&explorer->scenario, knob, out, size);
	else
		form_text(x->form, x->value, out, size);
}

/* "TP: Bytes sent per GPU and step": six splits have a number of that name. */
static void title_text(const char *key, const struct explanation *x, char *out,
		       size_t size)
{
	const struct metric *metric = metric_find(key);
	bool splits = metric && strcmp(metric->group, "communication") == 0 &&
		      strchr(key, '.');

	snprintf(out, size, "%.*s%s%s", splits ? (int)strcspn(metric->label, " ") : 0,
		 splits ? metric->label : "", splits ? ": " : "", x->title);
}

/* Of which plan the terms are: of one that can't run they would all be nothing. */
struct subject {
	const struct scenario *scenario;
	const struct estimate *estimate;
	const char *heading; /* NULL: of none */
	bool open;           /* it is the open plan */
};

static struct subject subject_of(const struct explorer *explorer, const char *key)
{
	struct subject subject = { &explorer->scenario, &explorer->estimate,
				   "in this scenario", true };
	const struct scenario *other;
	const char *whose;

	if (has_number(explorer, key))
		return subject;
	other = last_plan(explorer, &whose);
	if (other) {
		subject.scenario = other;
		subject.estimate = follow_estimate(explorer->follow, other);
		subject.heading = whose;
		subject.open = false;
	} else if (!explorer->estimate.legal) {
		subject.heading = NULL;
	}
	return subject;
}

static int draw_head(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, const struct explanation *x, bool open)
{
	const char *key = shown(explorer);
	char value[MAX_LAYOUT + 8], change[32], title[128];
	int width = rect.width - text_width(key) - 2;
	enum role role;

	title_text(key, x, title, sizeof title);
	value_text(explorer, key, x, value, sizeof value);
	if (!explorer->estimate.legal)
		snprintf(value, sizeof value, "- (this plan can't run)");
	else if (!open)
		snprintf(value, sizeof value, "- (no request fits)");
	change_text(explorer, key, change, sizeof change, &role);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, title);
	if (text_width(title) <= width)
		canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_QUIET, key);
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_VALUE, "= %s",
		      value);
	canvas_text(canvas, rect.x + text_width(value) + 4, rect.y + 1, 12, role,
		    change);
	return 3;
}

/* The number behind a term, in short; returns the rows. */
static int draw_behind(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect, const char *key, const struct explanation *x)
{
	int top = rect.y, width = rect.width - text_width(key) - 2;
	char value[MAX_LAYOUT + 8], formula[sizeof x->formula + 16], title[128];
	enum role role = say_formula(x, formula, sizeof formula);

	title_text(key, x, title, sizeof title);
	value_text(explorer, key, x, value, sizeof value);
	widget_heading(canvas, rect.x, rect.y, rect.width, title);
	if (text_width(title) + 6 <= width)
		canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_QUIET, key);
	rect.y++;
	rect.y += canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_VALUE, "= %s",
				value) > 0;
	rect.y += widget_prose(canvas, rect, 0, role, formula);
	rect.y += draw_terms(canvas, rect, x->term, x->terms);
	return rect.y + 1 - top;
}

/* Where rows are left: the numbers behind the terms, as many as stand there whole; what
 * of the next one does not is taken away again. */
static int draw_deeper(const struct explorer *explorer, const struct subject *of,
		       struct canvas *canvas, struct rect rect,
		       const struct explanation *x, int left)
{
	int top = rect.y;

	for (int i = 0; i < x->terms && of->heading; i++) {
		const char *key = x->term[i].key;
		struct explanation behind;
		int rows;

		if (!key || strcmp(key, shown(explorer)) == 0 ||
		    !follow_explain(explorer->follow, of->scenario, of->estimate, key,
				    &behind))
			continue;
		rows = draw_behind(explorer, canvas, rect, key, &behind);
		if (rows > left) {
			rect.height = rows;
			canvas_fill(canvas, rect, ' ', ROLE_DEFAULT);
			break;
		}
		rect.y += rows;
		left -= rows;
	}
	return rect.y - top;
}

/* A word of the field: no number, and no formula. */
static void draw_term(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct glossary_word *word)
{
	enum { LONG = 1000 };
	int top = rect.y - explorer->state[VIEW_EXPLAIN].first;

	rect = (struct rect){ rect.x, top, rect.width - 2, LONG };
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, word->key);
	canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_QUIET,
		     word_kind_label(word->kind));
	rect.y += 2;
	rect.y += words_draw(canvas, rect, word);
	rect.y += words_linked_draw(canvas, rect, word, LONG);
	end_text(explorer, canvas, VIEW_EXPLAIN, rect.y - top - 1);
}

static int draw_list(struct canvas *canvas, struct rect rect, const char *heading,
		     const struct explanation_term *terms, int count)
{
	if (count == 0)
		return 0;
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, heading);
	rect.y++;
	return draw_terms(canvas, rect, terms, count) + 2;
}

/* What the formula computes with, and what a person may compare the number with. */
static int draw_values(struct canvas *canvas, struct rect rect,
		       const struct subject *of, const struct explanation *x)
{
	int top = rect.y;

	if (!of->heading)
		return 0;
	rect.y += draw_list(canvas, rect, of->heading, x->term, x->terms);
	rect.y += draw_list(canvas, rect, "to compare with", x->beside, x->besides);
	return rect.y - top;
}

void explain_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect)
{
	enum { LONG = 1000 };
	const char *key = shown(explorer);
	int top = rect.y - explorer->state[VIEW_EXPLAIN].first, height = rect.height;
	char formula[sizeof((struct explanation *)0)->formula + 16];
	struct subject of = subject_of(explorer, key);
	struct explanation x;
	enum role role;

	if (!follow_explain(explorer->follow, of.scenario, of.estimate, key, &x)) {
		canvas->lacks = canvas->lacks || x.lacks_memory;
		if (glossary_term(key)) {
			draw_term(explorer, canvas, rect, glossary_term(key));
			return;
		}
		canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			      "There is nothing to explain about '%s' in this "
			      "scenario.",
			      key);
		return;
	}
	/* the scrollbar's column is left free, and the text goes on below the view */
	rect = (struct rect){ rect.x, top, rect.width - 2, LONG };
	rect.y += draw_head(explorer, canvas, rect, &x, of.open);
	if (x.word)
		rect.y += words_draw(canvas, rect, x.word);
	if (explain_knob(key)) {
		rect.y += knob_page_draw(explorer, canvas, rect, explain_knob(key));
		rect.y += words_linked_draw(canvas, rect, x.word,
					    height - (rect.y - top));
		rect.y += related_knobs(explorer, canvas, rect, explain_knob(key),
					height - (rect.y - top));
		end_text(explorer, canvas, VIEW_EXPLAIN, rect.y - top - 1);
		return;
	}
	role = say_formula(&x, formula, sizeof formula);
	rect.y += draw_section(canvas, rect, "formula", role, formula);
	rect.y += draw_values(canvas, rect, &of, &x);
	rect.y += draw_section(canvas, rect, "assumption", ROLE_DEFAULT, x.assumption);
	rect.y += draw_section(canvas, rect, "source", ROLE_HINT, x.source);
	rect.y += draw_deeper(explorer, &of, canvas, rect, &x, height - (rect.y - top));
	if (x.word)
		rect.y += words_linked_draw(canvas, rect, x.word,
					    height - (rect.y - top));
	rect.y += related_numbers(explorer, canvas, rect, key, of.estimate,
				  height - (rect.y - top));
	end_text(explorer, canvas, VIEW_EXPLAIN, rect.y - top - 1);
}

/* Left and right go through all numbers in the order of the table; up and down move
 * the text. */
unsigned explain_act(struct explorer *explorer, struct action action)
{
	int at = index_of(shown(explorer)), count = metric_count();

	switch (action.kind) {
	case ACTION_LEFT: at = at < 0 ? 0 : at - 1; break;
	case ACTION_RIGHT: at++; break;
	case ACTION_HOME: at = 0; break;
	case ACTION_END: at = count - 1; break;
	default: return scroll_text(explorer, action);
	}
	at = (at + count) % count;
	/* on to the next number of this mode */
	while (!(metric_table[at].modes >> explorer->scenario.plan.mode & 1))
		at = (at + (action.kind == ACTION_LEFT || action.kind == ACTION_END
				    ? count - 1
				    : 1)) %
		     count;
	snprintf(explorer->explained, sizeof explorer->explained, "%s",
		 metric_table[at].key);
	explorer->asked = true;
	explorer->state[VIEW_EXPLAIN].first = 0;
	return CHANGED_SCREEN;
}
