/* table.c - columns that give way when it is narrow; see widget.h. */
#include "tui/widget.h"

enum { COLUMNS_MAX = 24, GAP = 2, LEAST_TEXT = 8 };

/* Widths of the shown columns, 0 for those that had to go. */
struct layout {
	int width[COLUMNS_MAX];
	int columns;
	int gap;
};

static int least_width(const struct table_column *column)
{
	int title = text_width(column->title);

	return column->width > title ? column->width : title;
}

static int total_width(const struct layout *layout)
{
	int total = 0;

	for (int i = 0; i < layout->columns; i++)
		if (layout->width[i] > 0)
			total += layout->width[i] + (total > 0 ? layout->gap : 0);
	return total;
}

/* The shown column that goes first: highest priority number, the last of them; with
 * `pressed` also those of a negative one. */
static int first_to_go(const struct table *table, const struct layout *layout,
		       bool pressed)
{
	int found = -1, priority = 0;

	for (int i = 0; i < layout->columns; i++)
		if (layout->width[i] > 0 && table->column[i].priority > 0 &&
		    table->column[i].priority >= priority) {
			priority = table->column[i].priority;
			found = i;
		}
	for (int i = 0; pressed && found < 0 && i < layout->columns; i++)
		if (layout->width[i] > 0 && table->column[i].priority < 0)
			return i;
	return found;
}

/* Numbers that are cut mislead; words give way, the widest first. */
static void squeeze(const struct table *table, struct layout *layout, int room)
{
	while (total_width(layout) > room) {
		int widest = -1, width = LEAST_TEXT;

		for (int i = 0; i < layout->columns; i++)
			if (!table->column[i].right && layout->width[i] > width) {
				width = layout->width[i];
				widest = i;
			}
		if (layout->gap > 1)
			layout->gap = 1;
		else if (widest < 0)
			return;
		else
			layout->width[widest]--;
	}
}

/* What is left goes to the column that may grow, then to the first that takes all. */
static void spread(const struct table *table, struct layout *layout, int left)
{
	int wish = table->grown - layout->width[table->grows];

	if (layout->width[table->grows] > 0 && wish > 0 && left > 0) {
		layout->width[table->grows] += wish < left ? wish : left;
		left -= wish < left ? wish : left;
	}
	for (int i = 0; i < layout->columns && left > 0; i++)
		if (table->column[i].width == 0 && layout->width[i] > 0) {
			layout->width[i] += left;
			left = 0;
		}
}

static struct layout layout_of(const struct table *table, int room)
{
	struct layout layout = { .columns = table->columns < COLUMNS_MAX
						    ? table->columns
						    : COLUMNS_MAX,
				 .gap = GAP };
	int go;

	for (int i = 0; i < layout.columns; i++)
		layout.width[i] = least_width(&table->column[i]);
	while (total_width(&layout) > room &&
	       (go = first_to_go(table, &layout, false)) >= 0)
		layout.width[go] = 0;
	squeeze(table, &layout, room);
	while (total_width(&layout) > room &&
	       (go = first_to_go(table, &layout, true)) >= 0) {
		layout.width[go] = 0;
		layout.gap = GAP;
		for (int i = 0; i < layout.columns; i++)
			if (layout.width[i] > 0)
				layout.width[i] = least_width(&table->column[i]);
		squeeze(table, &layout, room);
	}
	spread(table, &layout, room - total_width(&layout));
	return layout;
}

static void draw_text(struct canvas *canvas, int x, int y, int width,
		      const struct table_column *column, enum role role,
		      const char *text)
{
	if (column->right)
		canvas_right(canvas, x, y, width, role, text);
	else
		canvas_text(canvas, x, y, width, role, text);
}

/* A bar in what the text leaves free, quieter than the number. */
static void draw_bar(struct canvas *canvas, int x, int y, int width,
		     const struct table_cell *cell)
{
	int room = width - text_width(cell->text) - 1;

	if (cell->bar > 0 && room >= 3)
		widget_bar(canvas, x, y, room, cell->bar, ROLE_COMPUTE);
}

/* That the rows are sorted by it: only its words, a reversed blank is another colour.
 */
static void mark_title(struct canvas *canvas, int x, int y, int width,
		       const struct table_column *column)
{
	int title = text_width(column->title), pad = width - title;

	if (!column->right || pad < 0)
		pad = 0;
	canvas_highlight(canvas,
			 (struct rect){ x + pad, y, title < width ? title : width, 1 },
			 ROLE_DEFAULT, true, false);
}

/* Row -1 is the header. */
static void draw_row(struct canvas *canvas, struct rect place,
		     const struct table *table, const struct layout *layout, int row)
{
	int x = place.x;

	for (int i = 0; i < layout->columns; i++) {
		struct table_cell cell = { .role = ROLE_DEFAULT };
		if (layout->width[i] == 0)
			continue;
		if (row >= 0)
			table->cell(table->context, row, i, &cell);
		draw_text(canvas, x, place.y, layout->width[i], &table->column[i],
			  row >= 0 ? cell.role : ROLE_TITLE,
			  row >= 0 ? cell.text : table->column[i].title);
		draw_bar(canvas, x, place.y, layout->width[i], &cell);
		if (row < 0 && table->sorted_by == i)
			mark_title(canvas, x, place.y, layout->width[i],
				   &table->column[i]);
		x += layout->width[i] + layout->gap;
	}
}

/* A table whose columns have their widths. */
struct laid {
	const struct table *table;
	struct layout layout;
};

static void draw_body_row(const void *context, int row, struct canvas *canvas,
			  struct rect place)
{
	const struct laid *laid = context;

	draw_row(canvas, place, laid->table, &laid->layout, row);
}

static struct list list_of(const struct table *table, const struct laid *laid)
{
	return (struct list){ .count = table->rows,
			      .first = table->first,
			      .cursor = table->cursor,
			      .focused = table->focused,
			      .context = laid,
			      .row = draw_body_row };
}

static struct rect body_of(struct rect rect)
{
	return (struct rect){ rect.x, rect.y + 1, rect.width, rect.height - 1 };
}

int widget_table(struct canvas *canvas, struct rect rect, const struct table *table)
{
	struct rect body = body_of(rect);
	bool barred = table->rows > body.height;
	struct laid laid = { table, layout_of(table, rect.width - barred) };
	struct list list = list_of(table, &laid);
	struct rect before = canvas_clip(canvas, rect_intersect(rect, canvas->clip));
	int first;

	draw_row(canvas, (struct rect){ rect.x, rect.y, rect.width - barred, 1 }, table,
		 &laid.layout, -1);
	first = widget_list(canvas, body, &list);
	canvas_clip(canvas, before);
	return first;
}
