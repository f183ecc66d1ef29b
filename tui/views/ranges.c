/* ranges.c - numbers of an overview with their ranges behind them. */
#include <stdio.h>
#include <string.h>

#include "tui/text.h"
#include "tui/views/page.h"

/* The change comes first: what was turned is being looked at. */
static void draw_ranged(struct page *p, struct rect rect, const struct ranged *item)
{
	const struct metric *low = metric_find(item->low),
			    *high = metric_find(item->high);
	char from[32], to[32], text[80], *unit[2];
	int used;

	canvas_text(p->canvas, rect.x, rect.y, rect.width, ROLE_LABEL, item->label);
	used = 7 + draw_number(p->explorer, p->canvas, rect.x + 7, rect.y,
			       rect.width - 7, "", item->key);
	form_text(low->form, metric_get(&p->explorer->estimate, low), from,
		  sizeof from);
	form_text(high->form, metric_get(&p->explorer->estimate, high), to, sizeof to);
	unit[0] = from[0] == '$' ? NULL : strrchr(from, ' ');
	unit[1] = strrchr(to, ' ');
	/* the unit once, where both have the same, and beside a change behind the
	 * number alone; $83.5 to $106 k would be two sums */
	if (unit[0] && unit[1] && strcmp(unit[0], unit[1]) == 0) {
		*unit[0] = '\0';
		if (used + 6 + text_width(from) + text_width(to) > rect.width)
			*unit[1] = '\0';
	}
	snprintf(text, sizeof text, "%s to %s", from, to);
	if (used + 2 + text_width(text) <= rect.width)
		canvas_text(p->canvas, rect.x + used + 2, rect.y, rect.width,
			    ROLE_LABEL, text);
}

void page_ranges(struct page *p, const struct ranged *item, int count)
{
	int width = p->rect.width / 2;

	for (int i = 0; i < count && page_left(p) > i / 2; i++)
		draw_ranged(p,
			    (struct rect){ p->rect.x + i % 2 * width, p->y + i / 2,
					   width - 1, 1 },
			    &item[i]);
	p->y += (count + 1) / 2;
}
