/* explain.c - where a number comes from. */
#include <stdio.h>
#include <string.h>

#include "tui/view.h"

static int index_of(const char *key)
{
	for (int i = 0; i < metric_count(); i++)
		if (strcmp(metric_table[i].key, key) == 0)
			return i;
	return -1;
}

static int draw_terms(struct canvas *canvas, struct rect rect,
		      const struct explanation *x)
{
	int symbol = 6, value = 12;

	for (int i = 0; i < x->terms; i++)
		if (text_width(x->term[i].symbol) > symbol)
			symbol = text_width(x->term[i].symbol);
	if (symbol > rect.width / 3)
		symbol = rect.width / 3;
	for (int i = 0; i < x->terms && i < rect.height; i++) {
		const struct explanation_term *term = &x->term[i];
		char text[64];

		form_text(term->form, term->value, text, sizeof text);
		canvas_text(canvas, rect.x, rect.y + i, symbol, ROLE_KEY, term->symbol);
		canvas_right(canvas, rect.x + symbol + 1, rect.y + i, value, ROLE_VALUE,
			     text);
		canvas_text(canvas, rect.x + symbol + value + 3, rect.y + i,
			    rect.width - symbol - value - 3, ROLE_LABEL, term->meaning);
	}
	return x->terms;
}

static int draw_section(struct canvas *canvas, struct rect rect, const char *title,
			enum role role, const char *text)
{
	if (rect.height < 2)
		return 0;
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, title);
	rect.y++;
	rect.height--;
	return 2 + widget_prose(canvas, rect, 0, role, text);
}

static struct rect below(struct rect rect, int rows)
{
	if (rows > rect.height)
		rows = rect.height;
	rect.y += rows;
	rect.height -= rows;
	return rect;
}

void explain_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect)
{
	const char *key = explorer->explained;
	struct explanation x;
	char value[64], change[32];
	enum role role;

	if (!explain(&explorer->scenario, &explorer->estimate, key, &x)) {
		canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			      "Nothing to explain of '%s' in this scenario.", key);
		return;
	}
	form_text(x.form, x.value, value, sizeof value);
	if (!explorer->estimate.legal)
		snprintf(value, sizeof value, "- (this plan can't run)");
	change_text(explorer, key, change, sizeof change, &role);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, x.title);
	canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_BORDER, key);
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_VALUE, "= %s",
		      value);
	canvas_text(canvas, rect.x + text_width(value) + 4, rect.y + 1, 12, role,
		    change);
	rect = below(rect, 3);
	rect = below(rect,
		     draw_section(canvas, rect, "formula", ROLE_VALUE, x.formula));
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, "in this scenario");
	rect = below(rect, 1);
	rect = below(rect, draw_terms(canvas, rect, &x) + 1);
	rect = below(rect, draw_section(canvas, rect, "assumption", ROLE_DEFAULT,
					x.assumption));
	draw_section(canvas, rect, "source", ROLE_HINT, x.source);
}

/* Left and right go through all numbers in the order of the table. */
unsigned explain_act(struct explorer *explorer, struct action action)
{
	int at = index_of(explorer->explained), count = metric_count();

	switch (action.kind) {
	case ACTION_LEFT:
	case ACTION_UP: at = at < 0 ? 0 : at - 1; break;
	case ACTION_RIGHT:
	case ACTION_DOWN: at++; break;
	case ACTION_HOME: at = 0; break;
	case ACTION_END: at = count - 1; break;
	default: return CHANGED_NOTHING;
	}
	at = (at + count) % count;
	snprintf(explorer->explained, sizeof explorer->explained, "%s",
		 metric_table[at].key);
	return CHANGED_SCREEN;
}
