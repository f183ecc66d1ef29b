/* related.c - in the rows that an explanation leaves: what stands beside it in the
 * tables, the other numbers of its kind or the other knobs of its group. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/view.h"

/* Fewer rows are left blank. Numbers move with every key, and knobs do not: more rows
 * have to be blank for them, and fewer are filled. */
enum { FEW = 8, MANY = 9, NUMBERS = 5 };

/* Of another plan than the open one there is nothing to point at. */
static void draw_related(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct metric *metric,
			 const struct estimate *estimate)
{
	char value[64];

	if (has_number(explorer, metric->key)) {
		draw_number_row(explorer, canvas, rect, metric->label, metric->key);
		return;
	}
	form_text(metric->form, metric_get(estimate, metric), value, sizeof value);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL, metric->label);
	canvas_right(canvas, rect.x, rect.y, rect.width - 10, ROLE_VALUE, value);
}

int related_numbers(const struct explorer *explorer, struct canvas *canvas,
		    struct rect rect, const char *key, const struct estimate *estimate,
		    int left)
{
	const struct metric *of = metric_find(key);
	int mode = explorer->scenario.plan.mode, top = rect.y,
	    end = rect.y + NUMBERS - (left > 12);
	char heading[64];

	if (!of || left < MANY)
		return 0;
	snprintf(heading, sizeof heading, "other numbers%s%s",
		 of->group[0] != '\0' ? ": " : "", of->group);
	widget_heading(canvas, rect.x, rect.y++, rect.width, heading);
	for (int i = 0; i < metric_count() && rect.y < end; i++) {
		const struct metric *m = &metric_table[i];

		if (m == of || !(m->modes >> mode & 1) ||
		    (of->group[0] != '\0' && strcmp(m->group, of->group) != 0) ||
		    !(fabs(metric_get(estimate, m)) > 0))
			continue;
		draw_related(explorer, canvas,
			     (struct rect){ rect.x, rect.y++, rect.width, 1 }, m,
			     estimate);
	}
	return rect.y - top;
}

static int prose_rows(struct canvas *canvas, struct rect rect, const char *text)
{
	struct rect clip = canvas_clip(canvas, (struct rect){ 0, 0, 0, 0 });
	int rows = widget_prose(canvas, rect, 0, ROLE_QUIET, text);

	canvas_clip(canvas, clip);
	return rows;
}

int related_knobs(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect, const struct knob *of, int left)
{
	enum { LONG = 1000 };
	int top = rect.y, end = rect.y + left;
	char value[MAX_LAYOUT + 8];

	if (left < FEW)
		return 0;
	widget_heading(canvas, rect.x, rect.y++, rect.width, "other knobs");
	for (int i = 1; i < knob_count() && rect.y < end; i++) {
		const struct knob *knob =
			&knob_table[(of - knob_table + i) % knob_count()];
		struct rect help = { rect.x + 2, rect.y + 1, rect.width - 2, LONG };

		if (!knob_applies(&explorer->scenario, knob))
			continue;
		knob_show(&explorer->scenario, knob, value, sizeof value);
		if (rect.y + 1 + prose_rows(canvas, help, knob->help) > end)
			break;
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    knob->label);
		canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_VALUE, value);
		rect.y += 1 + widget_prose(canvas, help, 0, ROLE_QUIET, knob->help);
	}
	return rect.y - top;
}
