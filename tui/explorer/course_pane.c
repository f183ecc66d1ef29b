/* course_pane.c - the pane of a lesson, below the views; see course.h. */
#include <stdlib.h>
#include <string.h>

#include "tui/explorer/course.h"

enum { LEAST_ABOVE = 13, LEAST_PANE = 4, MARGIN = 1, SIDE_FROM = 160, SIDE = 56 };

/* Rows that a text takes when it is broken at this width. */
static int rows_of(const struct course_block *block, int width)
{
	struct canvas none = { 0 };

	return widget_linked(&none, (struct rect){ 0, 0, width, 0 }, 0, block->role,
			     block->text);
}

static bool has_field(const struct course *c)
{
	return c->phase == COURSE_ASK || c->phase == COURSE_WHY;
}

static int rows_of_all(const struct course_block *block, int count, int width)
{
	int rows = 0;

	for (int i = 0; i < count; i++)
		rows += rows_of(&block[i], width);
	return rows;
}

int course_side(const struct explorer *explorer, int width)
{
	const struct course *c = explorer->course;

	return c && !c->silent && width >= SIDE_FROM ? SIDE : 0;
}

int course_rows(const struct explorer *explorer, int width, int height)
{
	struct course_block *block = calloc(MOST_BLOCKS, sizeof *block);
	int rows, most = height - LEAST_ABOVE - 1;

	if (!block)
		return LEAST_PANE;
	rows = rows_of_all(block, course_blocks(explorer, block), width - 2 * MARGIN) +
	       has_field(explorer->course);
	free(block);
	most = most < LEAST_PANE ? LEAST_PANE : most;
	return rows > most ? most : rows < LEAST_PANE ? LEAST_PANE : rows;
}

static void draw_field(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	const struct course *c = explorer->course;
	const struct lesson_question *q = &c->lesson.step[c->step].question;
	int used = canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_KEY,
			       "Your answer: ");
	const char *unit =
		c->phase == COURSE_ASK && q->ask == LESSON_VALUE ? q->unit->suffix : "";

	widget_field(canvas, rect.x + used, rect.y, 12, &c->field, ROLE_VALUE);
	used += 13;
	canvas_format(canvas, rect.x + used, rect.y, rect.width - used, ROLE_HINT,
		      "%s   %s", unit + (unit[0] == ' '),
		      rect.width - used < 38 ? "Enter: don't know"
					     : "Enter alone: I don't know");
}

/* The blocks one below the other, the first lines scrolled out. */
static void draw_blocks(struct explorer *explorer, struct canvas *canvas,
			struct rect rect, const struct course_block *block, int count)
{
	struct course *c = explorer->course;
	int all = rows_of_all(block, count, rect.width), y = rect.y, skip;

	if (c->first > all - rect.height)
		c->first = all > rect.height ? all - rect.height : 0;
	skip = c->first;
	for (int i = 0; i < count && y < rect.y + rect.height; i++) {
		int rows = rows_of(&block[i], rect.width);

		if (skip >= rows) {
			skip -= rows;
			continue;
		}
		widget_linked(canvas,
			      (struct rect){ rect.x, y, rect.width,
					     rect.y + rect.height - y },
			      skip, block[i].role, block[i].text);
		y += rows - skip;
		skip = 0;
	}
	widget_scrollbar(canvas, rect.x + rect.width, rect.y, rect.height, c->first,
			 all);
}

void course_draw(struct explorer *explorer, struct canvas *canvas, struct rect rect)
{
	struct course_block *block = calloc(MOST_BLOCKS, sizeof *block);
	struct course *c = explorer->course;
	struct rect text = { rect.x + MARGIN, rect.y, rect.width - 2 * MARGIN,
			     rect.height - has_field(c) };
	int below;
	char title[256];
	int count;

	canvas->lacks = canvas->lacks || !block;
	if (!block)
		return;
	course_title(explorer, title, sizeof title);
	if (explorer->mode == MODE_PROMPT && explorer->message[0] != '\0')
		canvas_format(canvas, rect.x + 2, rect.y - 1, rect.width - 4,
			      explorer->message_role, " %s ", explorer->message);
	else
		canvas_format(canvas, rect.x + 2, rect.y - 1, rect.width - 4,
			      ROLE_TITLE, " %s ", title);
	count = course_blocks(explorer, block);
	if (c->phase == COURSE_LIST)
		c->first = scroll_first(c->first, c->cursor, count, text.height);
	/* the answer right below the text, where there is more room than text */
	below = rows_of_all(block, count, text.width) + 1;
	below = below < text.height ? below : text.height;
	draw_blocks(explorer, canvas, text, block, count);
	if (has_field(c))
		draw_field(explorer, canvas,
			   (struct rect){ text.x, rect.y + below, text.width, 1 });
	free(block);
}
