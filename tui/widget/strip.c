/* strip.c - the what-if strip: values side by side; see widget.h. */
#include <math.h>

#include "tui/widget.h"

struct layout {
	int width;       /* of one item, with a space behind */
	int first, last; /* visible items; last is excluded */
	int left;        /* column of the first */
};

static int at_least(int a, int b)
{
	return a > b ? a : b;
}

static struct layout layout_of(struct rect rect, const struct strip_item *item,
			       int count, int present)
{
	struct layout layout = { .width = 6, .last = count, .left = rect.x };
	int room = rect.width;

	for (int i = 0; i < count; i++)
		layout.width =
			at_least(layout.width, at_least(text_width(item[i].label),
							text_width(item[i].note)) +
						       2);
	if (layout.width > rect.width)
		layout.width = at_least(rect.width, 1);
	if (count * layout.width <= room)
		return layout;
	/* One column at each end is for the arrows. */
	layout.left++;
	int shown = at_least((room - 2) / layout.width, 1);
	layout.first = present - shown / 2;
	if (layout.first > count - shown)
		layout.first = count - shown;
	if (layout.first < 0)
		layout.first = 0;
	layout.last = layout.first + shown < count ? layout.first + shown : count;
	return layout;
}

/* The longest bar of those in sight: all of them are drawn against it. */
static double longest(const struct strip_item *item, const struct layout *layout)
{
	double most = 0;

	for (int i = layout->first; i < layout->last; i++)
		most = fmax(most, item[i].fraction);
	return most > 0 ? most : 1;
}

static void draw_item(struct canvas *canvas, struct rect rect,
		      const struct strip_item *item, bool present, double most)
{
	int width = rect.width - 1;
	struct rect bar = { rect.x + 1, rect.y + 2, width - 1, rect.height - 2 };

	canvas_right(canvas, rect.x, rect.y, width, present ? ROLE_VALUE : ROLE_LABEL,
		     item->label);
	if (rect.height > 1)
		canvas_right(canvas, rect.x, rect.y + 1, width, item->role, item->note);
	if (bar.height > 0 && item->fraction > 0)
		widget_column(canvas, bar, item->fraction / most, item->bar);
	if (present)
		canvas_highlight(canvas, (struct rect){ rect.x, rect.y, rect.width, 1 },
				 ROLE_FOCUS, false, true);
}

void widget_strip(struct canvas *canvas, struct rect rect,
		  const struct strip_item *item, int count, int present)
{
	struct layout layout = layout_of(rect, item, count, present);
	struct rect before = canvas_clip(canvas, rect_intersect(rect, canvas->clip));
	double most = longest(item, &layout);

	for (int i = layout.first; i < layout.last; i++) {
		struct rect place = { layout.left + (i - layout.first) * layout.width,
				      rect.y, layout.width, rect.height };
		draw_item(canvas, place, &item[i], i == present, most);
	}
	if (layout.first > 0)
		canvas_put(canvas, rect.x, rect.y, canvas_glyph(canvas, GLYPH_LEFT),
			   ROLE_HINT);
	if (layout.last < count)
		canvas_put(canvas, rect.x + rect.width - 1, rect.y,
			   canvas_glyph(canvas, GLYPH_RIGHT), ROLE_HINT);
	canvas_clip(canvas, before);
}

bool strip_shows(struct rect rect, const struct strip_item *item, int count,
		 int present, int index)
{
	struct layout layout = layout_of(rect, item, count, present);

	return index >= layout.first && index < layout.last;
}
