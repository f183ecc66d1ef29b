/* list.c - scrolling and lists; see widget.h. */
#include "tui/widget.h"

static int clamp(int value, int least, int most)
{
	return value > most ? (most < least ? least : most)
			    : (value < least ? least : value);
}

int scroll_first(int first, int cursor, int count, int height)
{
	if (height < 1)
		return clamp(cursor, 0, count - 1);
	if (cursor >= 0 && cursor < first)
		first = cursor;
	if (cursor >= 0 && cursor >= first + height)
		first = cursor - height + 1;
	return clamp(first, 0, count - height);
}

int scroll_move(int cursor, int count, int height, enum action_kind action)
{
	int page = height > 2 ? height - 1 : 1;

	switch (action) {
	case ACTION_UP: cursor -= 1; break;
	case ACTION_DOWN: cursor += 1; break;
	case ACTION_PAGE_UP: cursor -= page; break;
	case ACTION_PAGE_DOWN: cursor += page; break;
	case ACTION_HOME: cursor = 0; break;
	case ACTION_END: cursor = count - 1; break;
	default: return cursor;
	}
	return clamp(cursor, 0, count - 1);
}

void widget_scrollbar(struct canvas *canvas, int x, int y, int height, int first,
		      int count)
{
	if (height < 1 || count <= height)
		return;
	int length = clamp((int)((long long)height * height / count), 1, height);
	int hidden = count - height;
	int top = (int)(((long long)(height - length) * first + hidden / 2) / hidden);

	/* The ends are reached only at the ends. */
	if (first > 0 && top == 0 && height > length)
		top = 1;
	if (first < hidden && top == height - length && top > 0)
		top--;
	for (int i = 0; i < height; i++) {
		bool thumb = i >= top && i < top + length;
		canvas_put(canvas, x, y + i,
			   thumb ? canvas_glyph(canvas, GLYPH_FULL_BLOCK)
				 : canvas_glyph(canvas, GLYPH_VERTICAL),
			   ROLE_BORDER);
	}
}

int widget_list(struct canvas *canvas, struct rect rect, const struct list *list)
{
	int first = scroll_first(list->first, list->cursor, list->count, rect.height);
	bool barred = list->count > rect.height && rect.width > 1;
	struct rect row = { rect.x, rect.y, rect.width - barred, 1 };

	for (int i = first; i < list->count && i < first + rect.height; i++, row.y++) {
		struct rect before =
			canvas_clip(canvas, rect_intersect(row, canvas->clip));
		list->row(list->context, i, canvas, row);
		if (i == list->cursor && list->focused) {
			canvas_highlight(canvas, row, ROLE_FOCUS, false, false);
			canvas_cursor(canvas, row.x, row.y);
		}
		canvas_clip(canvas, before);
	}
	if (barred)
		widget_scrollbar(canvas, rect.x + rect.width - 1, rect.y, rect.height,
				 first, list->count);
	return first;
}
