/* search_why.c - why a plan is not the best: the rows of its seconds and bytes that
 * differ, as a waterfall in one line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text.h"
#include "tui/views/search_parts.h"

/* One step of the waterfall, if it leaves so much room; where the next begins. */
static int draw_more(const char *label, double more, enum form form,
		     struct canvas *canvas, struct rect line)
{
	char size[32], text[64];

	form_text(form, fabs(more), size, sizeof size);
	/* "TP exposed" is TP: nothing else is shown of it */
	snprintf(text, sizeof text, "  %.*s %c%s", (int)strcspn(label, " "), label,
		 more < 0 ? '-' : '+', size);
	if (text_width(text) > line.width)
		return line.x;
	return line.x + canvas_text(canvas, line.x, line.y, line.width,
				    more < 0 ? ROLE_DELTA_BETTER : ROLE_DELTA_WORSE,
				    text);
}

/* The rows of a sum that differ, the most first, and the rest of them: they add up to
 * its difference. */
void search_draw_waterfall(const struct compare_sum *sum, enum form form,
			   struct canvas *canvas, struct rect line)
{
	enum { REST = 14 };
	bool drawn[MAX_COMPARE_ROWS] = { false };
	double least = 1e-4 * sum->sum.value[0], rest = sum->sum.more[1];
	int x = line.x, end = line.x + line.width;

	for (int n = 0; n < sum->rows; n++) {
		int most = -1, next;

		for (int i = 0; i < sum->rows; i++)
			if (!drawn[i] &&
			    (most < 0 ||
			     fabs(sum->row[i].more[1]) > fabs(sum->row[most].more[1])))
				most = i;
		drawn[most] = true;
		if (fabs(sum->row[most].more[1]) <= least)
			break;
		next = draw_more(sum->row[most].label, sum->row[most].more[1], form,
				 canvas, (struct rect){ x, line.y, end - x - REST, 1 });
		if (next == x && n == 0)
			next = draw_more(sum->row[most].label, sum->row[most].more[1],
					 form, canvas,
					 (struct rect){ x, line.y, end - x, 1 });
		if (next == x)
			break;
		x = next;
		rest -= sum->row[most].more[1];
	}
	if (x > line.x && fabs(rest) > least)
		draw_more("rest", rest, form, canvas,
			  (struct rect){ x, line.y, end - x, 1 });
}

/* No row of the sum differs, and the sum does not. */
bool search_is_same(const struct compare_sum *sum)
{
	double least = 1e-4 * fabs(sum->sum.value[0]);

	for (int i = 0; i < sum->rows; i++)
		if (fabs(sum->row[i].more[1]) > least)
			return false;
	return fabs(sum->sum.more[1]) <= least;
}

/* Why not this plan: its step against the best one's, by what it is spent on. */
void search_draw_why_seconds(const struct explorer *explorer, struct canvas *canvas,
			     int x, int y, int width)
{
	const struct why_not *why = &explorer->search->why_not;
	const struct compare_sum *sum = &why->compare.seconds;
	int end = x + width;
	char size[32];

	if (!why->done)
		return;
	if (why->compare.plans == 0) {
		x += canvas_format(canvas, x, y, end - x, ROLE_LABEL,
				   "why not %s: ", why->what);
		canvas_text(canvas, x, y, end - x, ROLE_BAD, why->trouble);
		return;
	}
	if (search_is_same(sum)) {
		canvas_format(canvas, x, y, end - x, ROLE_LABEL,
			      "%s spends no more time than the best", why->what);
		return;
	}
	form_text(FORM_SECONDS, fabs(sum->sum.more[1]), size, sizeof size);
	x += canvas_format(canvas, x, y, end - x, ROLE_LABEL,
			   width > 70 ? "why not %s: %c%s =" : "%s %c%s =", why->what,
			   sum->sum.more[1] < 0 ? '-' : '+', size);
	search_draw_waterfall(sum, FORM_SECONDS, canvas,
			      (struct rect){ x, y, end - x, 1 });
}

void search_draw_why_bytes(const struct explorer *explorer, struct canvas *canvas,
			   int x, int y, int width)
{
	const struct why_not *why = &explorer->search->why_not;
	const struct compare_sum *sum = &why->compare.bytes;
	int end = x + width;
	char size[32];

	if (!why->done || why->compare.plans == 0)
		return;
	if (search_is_same(sum)) {
		canvas_format(canvas, x, y, end - x, ROLE_LABEL,
			      "%s holds as much as the best", why->what);
		return;
	}
	form_text(FORM_BYTES, fabs(sum->sum.more[1]), size, sizeof size);
	x += canvas_format(canvas, x, y, end - x, ROLE_LABEL,
			   width > 70 ? "memory of %s: %c%s =" : "%s %c%s =", why->what,
			   sum->sum.more[1] < 0 ? '-' : '+', size);
	search_draw_waterfall(sum, FORM_BYTES, canvas,
			      (struct rect){ x, y, end - x, 1 });
}
