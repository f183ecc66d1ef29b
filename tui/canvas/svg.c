/* svg.c - a canvas as a picture.
 *
 * Blocks, braille and lines are drawn as shapes, so that the picture does not
 * depend on a font's idea of a full cell; other characters are runs of text.
 * Proportions are those of DejaVu Sans Mono: advance 0.602 em, line 1.164 em.
 */
#include <math.h>
#include <string.h>

#include "tui/canvas.h"
#include "tui/text.h"

#define FONT_SIZE 16.0
#define CELL_W    (FONT_SIZE * 0.602)
#define CELL_H    (FONT_SIZE * 1.164)
#define BASELINE  (FONT_SIZE * 0.928)
#define MARGIN    10.0

struct picture {
	struct text out;
	enum palette palette;
	uint32_t paper, ink; /* where a colour is the terminal's default */
};

/* What is painted in one cell after reverse video. */
struct paint {
	uint32_t fore, back;
	bool bold, underline;
};

static struct paint paint_of(const struct picture *picture, const struct cell *cell)
{
	struct look look = theme_look(cell, picture->palette);
	struct paint paint = {
		.fore = look.fore < 0 ? picture->ink : (uint32_t)look.fore,
		.back = look.back < 0 ? picture->paper : (uint32_t)look.back,
		.bold = look.bold,
		.underline = look.underline
	};

	if (look.reverse) {
		uint32_t fore = paint.fore;
		paint.fore = paint.back;
		paint.back = fore;
	}
	return paint;
}

static void add_rect(struct picture *picture, double x, double y, double width,
		     double height, uint32_t colour)
{
	text_addf(&picture->out,
		  "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' "
		  "fill='#%06x'/>\n",
		  x, y, width, height, (unsigned)colour);
}

static void add_braille(struct picture *picture, uint32_t mask, double x, double y,
			uint32_t colour)
{
	static const unsigned char bit[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};

	for (int row = 0; row < 4; row++)
		for (int column = 0; column < 2; column++)
			if (mask & bit[row][column])
				text_addf(&picture->out,
					  "<circle cx='%.2f' cy='%.2f' r='1.7' "
					  "fill='#%06x'/>\n",
					  x + CELL_W * (column + 0.5) / 2,
					  y + CELL_H * (row + 0.5) / 4,
					  (unsigned)colour);
}

/* Which of the four arms of a line character are there: up, down, left, right. */
static int line_arms(uint32_t code)
{
	static const struct {
		uint16_t code;
		unsigned char arms;
	} table[] = {
		{ 0x2500, 12 }, { 0x2502, 3 },  { 0x2503, 3 },  { 0x250c, 10 },
		{ 0x2510, 6 },  { 0x2514, 9 },  { 0x2518, 5 },  { 0x251c, 11 },
		{ 0x2524, 7 },  { 0x252c, 14 }, { 0x2534, 13 }, { 0x253c, 15 },
		{ 0x256d, 10 }, { 0x256e, 6 },  { 0x2570, 9 },  { 0x256f, 5 },
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].code == code)
			return table[i].arms;
	return 0;
}

static void add_lines(struct picture *picture, uint32_t code, double x, double y,
		      uint32_t colour)
{
	int arms = line_arms(code);
	double thick = code == 0x2503 ? 3.0 : 1.2;
	double left = x + (CELL_W - thick) / 2, top = y + (CELL_H - thick) / 2;

	if (arms & 3) {
		double from = arms & 1 ? y : top;
		double to = arms & 2 ? y + CELL_H : top + thick;
		add_rect(picture, left, from, thick, to - from, colour);
	}
	if (arms & 12) {
		double from = arms & 4 ? x : left;
		double to = arms & 8 ? x + CELL_W : left + thick;
		add_rect(picture, from, top, to - from, thick, colour);
	}
}

/* Draws a block element, braille or line and returns true; false for others. */
static bool add_shape(struct picture *picture, uint32_t code, double x, double y,
		      uint32_t colour)
{
	double eighth_w = CELL_W / 8, eighth_h = CELL_H / 8;

	if (code >= 0x2588 && code <= 0x258f) /* left n eighths */
		add_rect(picture, x, y, eighth_w * (0x2590 - code), CELL_H, colour);
	else if (code >= 0x2581 && code <= 0x2587) /* lower n eighths */
		add_rect(picture, x, y + eighth_h * (0x2588 - code), CELL_W,
			 eighth_h * (code - 0x2580), colour);
	else if (code == 0x2580)
		add_rect(picture, x, y, CELL_W, CELL_H / 2, colour);
	else if (code == 0x2590)
		add_rect(picture, x + CELL_W / 2, y, CELL_W / 2, CELL_H, colour);
	else if (code >= 0x2800 && code <= 0x28ff)
		add_braille(picture, code - 0x2800, x, y, colour);
	else if (line_arms(code) != 0)
		add_lines(picture, code, x, y, colour);
	else
		return false;
	return true;
}

/* A run of cells with the same background becomes one rectangle. */
static void add_backgrounds(struct picture *picture, const struct cell *row, int width,
			    double y)
{
	for (int x = 0; x < width;) {
		uint32_t back = paint_of(picture, &row[x]).back;
		int first = x;
		while (x < width && paint_of(picture, &row[x]).back == back)
			x++;
		if (back != picture->paper)
			add_rect(picture, MARGIN + first * CELL_W, y,
				 (x - first) * CELL_W, CELL_H, back);
	}
}

static void add_escaped(struct text *out, uint32_t code)
{
	if (code == '<')
		text_add(out, "&lt;");
	else if (code == '>')
		text_add(out, "&gt;");
	else if (code == '&')
		text_add(out, "&amp;");
	else
		text_add_code(out, code);
}

static bool is_run(const struct picture *picture, const struct cell *cell,
		   struct paint first)
{
	struct paint paint = paint_of(picture, cell);

	return cell->code > ' ' && cell->code < 0x7f && paint.fore == first.fore &&
	       paint.bold == first.bold && paint.underline == first.underline;
}

/* One word of ASCII, or one other character; returns the cells used. */
static int add_run(struct picture *picture, const struct cell *row, int width, double x,
		   double y)
{
	struct paint paint = paint_of(picture, row);
	int length = 1;

	while (row[0].code < 0x7f && length < width &&
	       is_run(picture, &row[length], paint))
		length++;
	text_addf(&picture->out,
		  "<text x='%.2f' y='%.2f' fill='#%06x'%s%s textLength='%.2f'>", x,
		  y + BASELINE, (unsigned)paint.fore,
		  paint.bold ? " font-weight='bold'" : "",
		  paint.underline ? " text-decoration='underline'" : "",
		  CELL_W * length * text_code_width(row[0].code));
	for (int i = 0; i < length; i++)
		add_escaped(&picture->out, row[i].code);
	text_add(&picture->out, "</text>\n");
	return length;
}

static void add_row(struct picture *picture, const struct cell *row, int width,
		    double y)
{
	add_backgrounds(picture, row, width, y);
	for (int x = 0; x < width;) {
		double left = MARGIN + x * CELL_W;
		uint32_t code = row[x].code;
		if (code == ' ' || code == 0 ||
		    add_shape(picture, code, left, y, paint_of(picture, &row[x]).fore))
			x++;
		else
			x += add_run(picture, row + x, width - x, left, y);
	}
}

char *canvas_to_svg(const struct canvas *canvas, bool light)
{
	enum palette palette = light ? PALETTE_RGB_LIGHT : PALETTE_RGB_DARK;
	struct picture picture = {
		.palette = canvas->colour ? palette : PALETTE_MONO,
		.paper = light ? 0xffffff : 0x11151c,
		.ink = light ? theme_style(ROLE_DEFAULT)->rgb_light
			     : theme_style(ROLE_DEFAULT)->rgb_dark,
	};
	double width = canvas->width * CELL_W + 2 * MARGIN;
	double height = canvas->height * CELL_H + 2 * MARGIN;

	text_addf(&picture.out,
		  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' "
		  "width='%.0f' height='%.0f' ",
		  ceil(width), ceil(height), ceil(width), ceil(height));
	text_addf(&picture.out,
		  "font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' "
		  "font-size='%.0f' xml:space='preserve'>\n",
		  FONT_SIZE);
	text_addf(&picture.out, "<rect width='100%%' height='100%%' fill='#%06x'/>\n",
		  (unsigned)picture.paper);
	text_add(&picture.out, "<g shape-rendering='crispEdges'>\n");
	for (int y = 0; y < canvas->height; y++)
		add_row(&picture, canvas->cell + (size_t)y * (size_t)canvas->width,
			canvas->width, MARGIN + y * CELL_H);
	text_add(&picture.out, "</g>\n</svg>\n");
	return text_take(&picture.out);
}
