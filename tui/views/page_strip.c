/* page_strip.c - the strip in an overview: what other values of the knob under the
 * cursor would give. */
#include <math.h>
#include <stdio.h>

#include "engine/glossary/glossary.h"
#include "engine/knob/knob.h"
#include "tui/explorer/course.h"
#include "tui/text.h"
#include "tui/views/page.h"

/* How good a value is, the more the better. */
static double worth(const struct whatif *strip, const struct whatif_value *v)
{
	return strip->metric->better < 0 ? -v->moved : v->moved;
}

/* Of values none of which fits: what each would hold, the least as the best of them. */
static void strip_memory(const struct whatif_value *v, double most,
			 struct strip_item *out)
{
	form_text(FORM_BYTES, v->memory_bytes, out->note, sizeof out->note);
	out->role = ROLE_BAD;
	out->bar = ROLE_BAD;
	out->fraction = most > 0 ? v->memory_bytes / most : 0;
}

/* `most` is the largest of what the bars tell; of values none of which fits, `best` is
 * NAN and that is memory. */
static void strip_item(const struct explorer *explorer, int i, double best, double most,
		       struct strip_item *out)
{
	const struct whatif *strip = &explorer->strip;
	const struct whatif_value *v = &strip->item[i];
	char label[64], value[32];
	bool is_best = worth(strip, v) >= best && !whatif_alike(strip);

	knob_print_value(&knob_table[explorer->strip_knob], v->value, label,
			 sizeof label);
	/* cut after twelve digits a number would be another one */
	if (v->value >= 1e9)
		form_text(FORM_TOKENS, v->value, label, sizeof label);
	/* the present value and the best have a sign each: no colour is needed */
	snprintf(out->label, sizeof out->label, "%s%.12s",
		 i == strip->present ? "\u25b8" : "", label);
	out->fraction = NAN;
	out->bar = ROLE_COMPUTE;
	if (!v->legal) {
		snprintf(out->note, sizeof out->note, "illegal");
		out->role = ROLE_QUIET;
		return;
	}
	if (v->lacks) {
		snprintf(out->note, sizeof out->note, "none");
		out->role = ROLE_QUIET;
		return;
	}
	if (isnan(best)) {
		strip_memory(v, most, out);
		return;
	}
	if (!v->fits) {
		snprintf(out->note, sizeof out->note, "OOM");
		out->role = ROLE_BAD;
		return;
	}
	if (strip->metric->form == FORM_RATE)
		snprintf(value, sizeof value, "%.0f", v->moved);
	else
		form_text(strip->metric->form, v->moved, value, sizeof value);
	snprintf(out->note, sizeof out->note, "%s%.18s", is_best ? "\u25cf" : "",
		 value);
	out->role = is_best ? ROLE_GOOD : ROLE_VALUE;
	out->fraction = most > 0 ? v->moved / most : 0;
	if (i == strip->present)
		out->bar = ROLE_FOCUS;
}

static const char *strip_title(const struct whatif *strip)
{
	return strip->metric->form == FORM_RATE   ? "tok/s/GPU"
	       : strip->metric->form == FORM_DATE ? "time of the run"
						  : strip->metric->label;
}

/* The most that a value that can run and does not fit would hold; 0: there is none. */
static double most_memory(const struct whatif *strip)
{
	double most = 0;

	for (int i = 0; i < strip->count; i++)
		if (strip->item[i].legal && !strip->item[i].lacks)
			most = fmax(most, strip->item[i].memory_bytes);
	return most;
}

static double most_moved(const struct whatif *strip)
{
	double most = 0;

	for (int i = 0; i < strip->count; i++)
		if (strip->item[i].legal && strip->item[i].fits)
			most = fmax(most, strip->item[i].moved);
	return most;
}

/* Where none fits, and it is the GPUs' memory that is too small. */
static bool tells_memory(const struct explorer *explorer, int best)
{
	double most = most_memory(&explorer->strip);

	return best < 0 && most > 0 && most > explorer->estimate.capacity_bytes;
}

/* Which value is the best; -1: none fits. */
static int best_item(const struct whatif *strip)
{
	int best = -1;

	for (int i = 0; i < strip->count; i++)
		if (strip->item[i].legal && strip->item[i].fits &&
		    (best < 0 ||
		     worth(strip, &strip->item[i]) > worth(strip, &strip->item[best])))
			best = i;
	return best;
}

/* What stands over the strip, as much of it as there is room for: the sign of the best
 * value, and where that is scrolled out which one it is; that few tokens take little
 * time nobody asks. */
static void draw_strip_title(struct page *p, const struct strip_item *item, int best,
			     bool in_sight)
{
	static const char *const of[] = { " at each value of ", " at each ", NULL };
	bool none = tells_memory(p->explorer, best);
	const char *what = none ? "memory" : strip_title(&p->explorer->strip);
	enum knob_group group = knob_table[p->explorer->strip_knob].group;
	char title[160], label[64], key[64] = "";

	text_squeeze(knob_table[p->explorer->strip_knob].label, label, sizeof label);
	if (none)
		snprintf(key, sizeof key, ": none fits");
	else if (whatif_alike(&p->explorer->strip))
		snprintf(key, sizeof key, ": all alike");
	else if (best >= 0 && in_sight)
		snprintf(key, sizeof key, ", \u25cf the best");
	else if (best >= 0 && group != GROUP_RUN)
		snprintf(key, sizeof key, ", best %s", item[best].label);
	for (int i = 0; i < 3; i++) {
		snprintf(title, sizeof title, "%s%s%s%s", what, of[i] ? of[i] : "",
			 of[i] ? label : "", key);
		if (text_width(title) + 2 <= p->rect.width)
			break;
	}
	widget_heading(p->canvas, p->rect.x, p->y, p->rect.width, title);
}

/* Why all values give the same, where that is known and there is room. */
static void draw_still(struct page *p, struct rect *rect)
{
	const char *why = glossary_still(knob_table[p->explorer->strip_knob].key);
	struct rect prose = { rect->x, rect->y, rect->width, 2 };
	int used;

	if (!why || rect->height < 4 || !whatif_alike(&p->explorer->strip))
		return;
	used = widget_prose(p->canvas, prose, 0, ROLE_LABEL, why);
	rect->y += used;
	rect->height -= used;
}

void page_strip(struct page *p, int rows)
{
	const struct explorer *explorer = p->explorer;
	const struct whatif *strip = &explorer->strip;
	struct strip_item item[MAX_VALUES];
	struct rect rect = { p->rect.x, p->y + 1, p->rect.width, rows - 1 };
	double best = -INFINITY, most = most_moved(strip);
	int best_of = best_item(strip);

	if (course_hides(explorer) || explorer->strip_knob < 0 || strip->count == 0 ||
	    rows < 3)
		return;
	if (best_of >= 0)
		best = worth(strip, &strip->item[best_of]);
	if (tells_memory(explorer, best_of)) {
		best = NAN;
		most = most_memory(strip);
	}
	for (int i = 0; i < strip->count; i++)
		strip_item(explorer, i, best, most, &item[i]);
	draw_strip_title(p, item, best_of,
			 best_of >= 0 && strip_shows(rect, item, strip->count,
						     strip->present, best_of));
	draw_still(p, &rect);
	widget_strip(p->canvas, rect, item, strip->count, strip->present);
	if (p->canvas->spots)
		p->canvas->spots->strip =
			(struct rect){ p->rect.x, p->y, p->rect.width, rows };
	p->y += rows;
}

int page_tall_strip(const struct page *p, int advice, int least)
{
	int rows = page_left(p) - advice - 1;

	return rows < least ? least : rows > 24 ? 24 : rows;
}
