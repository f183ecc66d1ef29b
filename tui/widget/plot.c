/* plot.c - points and lines on two axes; see widget.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/widget.h"

enum { TICKS_MAX = 16, LABEL_MAX = 24 };

static bool is_range(const struct axis *axis)
{
	return isfinite(axis->min) && isfinite(axis->max) && axis->min < axis->max &&
	       (!axis->log || axis->min > 0);
}

/* 0 at min, 1 at max. */
static double place(const struct axis *axis, double value)
{
	if (axis->log)
		return value > 0 ? log(value / axis->min) / log(axis->max / axis->min)
				 : -1;
	return (value - axis->min) / (axis->max - axis->min);
}

static int log_ticks(const struct axis *axis, int most, double *tick)
{
	double first = ceil(log10(axis->min) - 1e-9);
	double last = floor(log10(axis->max) + 1e-9);
	int stride = (int)ceil((last - first + 1) / most), count = 0;

	for (double power = first; power <= last && count < most; power += stride)
		tick[count++] = pow(10, power);
	return count;
}

/* The least step of the 1-2-5 series that gives at most `most` ticks, both ends
 * counted. */
static double round_step(double range, int most)
{
	double step = pow(10, floor(log10(range / most)));
	static const double series[] = { 1, 2, 5 };

	for (int i = 0; i < 3; i++)
		if (floor(range / (series[i] * step) + 1e-9) + 1 <= most)
			return series[i] * step;
	return 10 * step;
}

int axis_ticks(const struct axis *axis, int most, double *tick)
{
	int count = 0;

	if (!is_range(axis) || most < 1)
		return 0;
	/* Less than two decades have no powers of ten to write. */
	if (axis->log && axis->max / axis->min >= 100)
		return log_ticks(axis, most, tick);
	double step = round_step(axis->max - axis->min, most);
	double first = ceil(axis->min / step - 1e-9);
	while (count < most && (first + count) * step <= axis->max + step * 1e-9) {
		tick[count] = (first + count) * step;
		count++;
	}
	return count;
}

static int y_ticks(const struct plot *plot, double *tick)
{
	int most = plot->area.height / 2, count;

	count = axis_ticks(&plot->y, most < TICKS_MAX ? most : TICKS_MAX, tick);
	/* one tick may miss a short range: two never do */
	return count > 0 || most < 1 ? count : axis_ticks(&plot->y, 2, tick);
}

static int label_width(const struct axis *axis, const double *tick, int count)
{
	char text[LABEL_MAX];
	int widest = 0;

	for (int i = 0; i < count; i++) {
		form_text(axis->form, tick[i], text, sizeof text);
		if (text_width(text) > widest)
			widest = text_width(text);
	}
	return widest;
}

static int row_of(const struct plot *plot, double y)
{
	double up = place(&plot->y, y) * (plot->area.height - 1);

	return plot->area.y + plot->area.height - 1 - (int)lround(up);
}

static int column_of(const struct plot *plot, double x)
{
	return plot->area.x + (int)lround(place(&plot->x, x) * (plot->area.width - 1));
}

static void draw_y_axis(struct plot *plot, const double *tick, int count, int width)
{
	struct canvas *canvas = plot->canvas;
	int x = plot->area.x - 1;
	char text[LABEL_MAX];

	for (int y = 0; y < plot->area.height; y++)
		canvas_put(canvas, x, plot->area.y + y,
			   canvas_glyph(canvas, GLYPH_VERTICAL), ROLE_BORDER);
	for (int i = 0; i < count; i++) {
		int y = row_of(plot, tick[i]);
		form_text(plot->y.form, tick[i], text, sizeof text);
		canvas_right(canvas, x - width, y, width, ROLE_LABEL, text);
		canvas_put(canvas, x, y, canvas_glyph(canvas, GLYPH_TEE_LEFT),
			   ROLE_BORDER);
	}
}

static void draw_x_axis(struct plot *plot)
{
	struct canvas *canvas = plot->canvas;
	int y = plot->area.y + plot->area.height, most = plot->area.width / 10;
	int end = plot->area.x - 1; /* of the label before */
	double tick[TICKS_MAX];
	int count = axis_ticks(&plot->x, most < TICKS_MAX ? most : TICKS_MAX, tick);
	char text[LABEL_MAX];

	canvas_fill(canvas, (struct rect){ plot->area.x, y, plot->area.width, 1 },
		    canvas_glyph(canvas, GLYPH_HORIZONTAL), ROLE_BORDER);
	canvas_put(canvas, plot->area.x - 1, y, canvas_glyph(canvas, GLYPH_CORNER_BL),
		   ROLE_BORDER);
	for (int i = 0; i < count; i++) {
		int x = column_of(plot, tick[i]);
		form_text(plot->x.form, tick[i], text, sizeof text);
		int width = text_width(text), left = x - width / 2;
		int right = plot->area.x + plot->area.width;
		canvas_put(canvas, x, y, canvas_glyph(canvas, GLYPH_TEE_DOWN),
			   ROLE_BORDER);
		left = left + width > right ? right - width : left;
		if (left <= end)
			continue;
		canvas_text(canvas, left, y + 1, width, ROLE_LABEL, text);
		end = left + width;
	}
}

bool plot_begin(struct plot *plot, struct canvas *canvas, struct rect rect,
		struct axis x, struct axis y)
{
	bool x_titled = x.title != NULL, y_titled = y.title != NULL;
	double tick[TICKS_MAX];

	*plot = (struct plot){ .canvas = canvas, .x = x, .y = y };
	plot->area = (struct rect){ rect.x, rect.y + y_titled, rect.width,
				    rect.height - 2 - x_titled - y_titled };
	if (!is_range(&x) || !is_range(&y) || plot->area.height < 2)
		return false;
	int count = y_ticks(plot, tick);
	int width = label_width(&y, tick, count);
	plot->area.x += width + 1;
	plot->area.width -= width + 1;
	if (plot->area.width < 4)
		return false;
	draw_y_axis(plot, tick, count, width);
	draw_x_axis(plot);
	if (y_titled)
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, y.title);
	if (x_titled)
		canvas_right(canvas, rect.x, rect.y + rect.height - 1, rect.width,
			     ROLE_TITLE, x.title);
	return true;
}

/* Where a value lies in dots, `dots` of them along the axis; false outside. */
static bool dot_of(const struct axis *axis, double value, int dots, int *dot)
{
	double at = place(axis, value);

	if (!(at >= -1e-9 && at <= 1 + 1e-9))
		return false;
	*dot = (int)lround(at * (dots - 1));
	return true;
}

static void put_braille(struct canvas *canvas, int x, int y, int dot, enum role role)
{
	static const unsigned char bit[8] = { 0x01, 0x08, 0x02, 0x10,
					      0x04, 0x20, 0x40, 0x80 };
	struct cell *cell = canvas_at(canvas, x, y);
	uint32_t mask = 0;

	if (cell == NULL)
		return;
	if (cell->code >= 0x2800 && cell->code <= 0x28ff)
		mask = cell->code - 0x2800;
	canvas_put(canvas, x, y, 0x2800 + (mask | bit[dot]), role);
}

/* Two dots to a cell, upper and lower: half blocks, or ' . : in ASCII. */
static void put_half(struct canvas *canvas, int x, int y, int dot, enum role role)
{
	static const uint32_t shape[2][4] = { { ' ', '\'', '.', ':' },
					      { ' ', 0x2580, 0x2584, 0x2588 } };
	const uint32_t *code = shape[canvas->glyphs != GLYPHS_ASCII];
	struct cell *cell = canvas_at(canvas, x, y);
	int mask = 1 << dot;

	if (cell == NULL)
		return;
	for (int i = 1; i < 4; i++)
		if (cell->code == code[i])
			mask |= i;
	canvas_put(canvas, x, y, code[mask], role);
}

static void put_dot(struct plot *plot, int column, int row, enum role role)
{
	const struct rect *area = &plot->area;

	if (plot->canvas->glyphs == GLYPHS_FULL)
		put_braille(plot->canvas, area->x + column / 2, area->y + row / 4,
			    row % 4 * 2 + column % 2, role);
	else
		put_half(plot->canvas, area->x + column, area->y + row / 2, row % 2,
			 role);
}

static bool dots_of(const struct plot *plot, double x, double y, int *column, int *row)
{
	bool full = plot->canvas->glyphs == GLYPHS_FULL;
	int rows = plot->area.height * (full ? 4 : 2);

	if (!dot_of(&plot->x, x, plot->area.width * (full ? 2 : 1), column) ||
	    !dot_of(&plot->y, y, rows, row))
		return false;
	*row = rows - 1 - *row;
	return true;
}

void plot_dot(struct plot *plot, double x, double y, enum role role)
{
	int column, row;

	if (dots_of(plot, x, y, &column, &row))
		put_dot(plot, column, row, role);
}

/* A line whose ends lie inside; steep parts stay connected. */
void plot_line(struct plot *plot, double x0, double y0, double x1, double y1,
	       enum role role)
{
	int column0, row0, column1, row1;

	if (!dots_of(plot, x0, y0, &column0, &row0) ||
	    !dots_of(plot, x1, y1, &column1, &row1))
		return;
	int steps = abs(column1 - column0);
	if (abs(row1 - row0) > steps)
		steps = abs(row1 - row0);
	for (int i = 0; i <= steps; i++) {
		double part = steps > 0 ? (double)i / steps : 0;
		put_dot(plot, column0 + (int)lround(part * (column1 - column0)),
			row0 + (int)lround(part * (row1 - row0)), role);
	}
}

bool plot_mark(struct plot *plot, double x, double y, uint32_t code, enum role role)
{
	bool full = plot->canvas->glyphs == GLYPHS_FULL;
	int column, row;

	/* in the cell of the point's dot, so that it lies on a line through it */
	if (!dots_of(plot, x, y, &column, &row))
		return false;
	canvas_put(plot->canvas, plot->area.x + column / (full ? 2 : 1),
		   plot->area.y + row / (full ? 4 : 2), code, role);
	return true;
}
