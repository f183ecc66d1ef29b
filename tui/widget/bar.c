/* bar.c - bars of parts, single bars and columns; see widget.h. */
#include <math.h>
#include <string.h>

#include "tui/widget.h"

enum { EIGHTHS = 8, NOTHING = -1 };

/* A row of cells cut into fine units; each unit belongs to a role or to nothing. */
struct ruler {
	int width, fine; /* units in a cell: 8, 2 or 1 */
	bool letters;
	bool whole; /* a cell shows what it has most of */
	int8_t owner[CANVAS_MAX * EIGHTHS];
};

static void ruler_init(struct ruler *ruler, const struct canvas *canvas, int width,
		       bool letters)
{
	ruler->width = width < CANVAS_MAX ? width : CANVAS_MAX;
	ruler->letters = letters;
	ruler->whole = canvas->coarse;
	ruler->fine = ruler->whole                                ? EIGHTHS
		      : letters || canvas->glyphs == GLYPHS_ASCII ? 1
		      : canvas->glyphs == GLYPHS_BASIC            ? 2
								  : EIGHTHS;
	if (ruler->width > 0)
		memset(ruler->owner, NOTHING,
		       (size_t)ruler->width * (size_t)ruler->fine);
}

/* A position 0..1 in units; what is no number is 0. */
static int to_units(double fraction, int units)
{
	if (!(fraction > 0))
		return 0;
	return fraction >= 1 ? units : (int)lround(fraction * units);
}

static void ruler_own(struct ruler *ruler, double begin, double end, enum role role)
{
	int units = ruler->width * ruler->fine;
	int last = to_units(end, units);

	for (int i = to_units(begin, units); i < last; i++)
		ruler->owner[i] = (int8_t)role;
}

static bool is_dotted(int owner)
{
	return owner == ROLE_FREE || owner == ROLE_IDLE;
}

/* Where there are colours and blocks, idle time is an area to be seen, not dots. */
static bool is_painted(const struct canvas *canvas, int owner)
{
	return owner == ROLE_IDLE && canvas->colour && canvas->glyphs != GLYPHS_ASCII;
}

/* One character can show two owners, left and right of one boundary: the one
 * that puts the fewest units on the wrong side. */
static int best_boundary(const int8_t *owner, int fine)
{
	int left = owner[0], right = owner[fine - 1];
	int best = 0, most = -1;

	for (int at = 0; at <= fine; at++) {
		int good = 0;
		for (int i = 0; i < fine; i++)
			good += owner[i] == (i < at ? left : right);
		if (good > most) {
			most = good;
			best = at;
		}
	}
	return best;
}

/* Left n units of a cell: n/8, or the half block of the basic level. */
static uint32_t left_block(int units, int fine)
{
	return 0x2590u - (uint32_t)(units * EIGHTHS / fine);
}

static void put_letter(struct canvas *canvas, int x, int y, enum role role)
{
	struct cell *cell;

	canvas_put(canvas, x, y, (unsigned char)theme_style(role)->fill,
		   canvas->colour ? ROLE_DEFAULT : role);
	cell = canvas_at(canvas, x, y);
	if (cell != NULL && canvas->colour)
		cell->back = (uint8_t)role;
}

static uint32_t dot_of(const struct canvas *canvas, int owner)
{
	return canvas_glyph(canvas, owner == ROLE_FREE ? GLYPH_FREE : GLYPH_MIDDOT);
}

/* Cells in a row that belong to one owner. */
static void put_whole(struct canvas *canvas, struct rect row, int owner, bool letters)
{
	/* of many bars beside each other colour and the limit tell enough */
	if (owner == NOTHING ||
	    (owner == ROLE_FREE && canvas->coarse && canvas->colour))
		return;
	if (is_painted(canvas, owner))
		canvas_fill(canvas, row, canvas_glyph(canvas, GLYPH_FULL_BLOCK),
			    ROLE_PAUSE);
	else if (is_dotted(owner))
		canvas_fill(canvas, row, dot_of(canvas, owner), (enum role)owner);
	else if (letters)
		for (int i = 0; i < row.width; i++)
			put_letter(canvas, row.x + i, row.y, (enum role)owner);
	else
		canvas_fill(canvas, row, canvas_glyph(canvas, GLYPH_FULL_BLOCK),
			    (enum role)owner);
}

static void put_one(struct canvas *canvas, int x, int y, int owner, bool letters)
{
	put_whole(canvas, (struct rect){ x, y, 1, 1 }, owner, letters);
}

/* The left part's block in front, the right part's colour behind. Over the bare
 * terminal there is no colour to put behind: the block is reversed instead. */
static void put_boundary(struct canvas *canvas, int x, int y, const int8_t *owner,
			 int fine, int at)
{
	int left = owner[0], right = owner[fine - 1];
	bool bare_left = left == NOTHING || is_dotted(left);
	bool bare_right = right == NOTHING || is_dotted(right);
	struct cell *cell;

	if (bare_left && bare_right) {
		put_one(canvas, x, y, is_dotted(left) ? left : right, false);
		return;
	}
	bool half = bare_left && at * 2 == fine;
	canvas_put(canvas, x, y, half ? 0x2590 : left_block(at, fine),
		   (enum role)(bare_left ? right : left));
	cell = canvas_at(canvas, x, y);
	if (cell == NULL)
		return;
	cell->reverse = bare_left && !half;
	if (!bare_left && !bare_right)
		cell->back = (uint8_t)right;
}

/* Of several that have as much of a cell the first: what is too short to be seen would
 * else stand here and there, wherever it crosses the middle of a cell. */
static int most_of(const int8_t *owner, int fine)
{
	int best = owner[0], most = 0;

	for (int i = 0; i < fine; i++) {
		int units = 0;

		for (int k = i; k < fine; k++)
			units += owner[k] == owner[i];
		if (units > most) {
			most = units;
			best = owner[i];
		}
	}
	return best;
}

/* Cells from this one on that belong to its owner throughout. */
static int same_cells(const struct ruler *ruler, int first)
{
	const int8_t *owner = ruler->owner + first * ruler->fine;
	int units = (ruler->width - first) * ruler->fine, same = 1;

	while (same < units && owner[same] == owner[0])
		same++;
	return same / ruler->fine;
}

/* A cell of several owners. */
static void draw_shared(const struct ruler *ruler, struct canvas *canvas, int x, int y,
			const int8_t *owner)
{
	int at = best_boundary(owner, ruler->fine), last = ruler->fine - 1;

	if (ruler->whole)
		put_one(canvas, x, y, most_of(owner, ruler->fine), ruler->letters);
	else if (at == 0 || at == ruler->fine || owner[0] == owner[last])
		put_one(canvas, x, y, owner[at == 0 ? last : 0], ruler->letters);
	else
		put_boundary(canvas, x, y, owner, ruler->fine, at);
}

static void ruler_draw(const struct ruler *ruler, struct canvas *canvas, int x, int y)
{
	for (int i = 0; i < ruler->width;) {
		const int8_t *owner = ruler->owner + i * ruler->fine;
		struct rect row = { x + i, y, same_cells(ruler, i), 1 };

		if (row.width > 0)
			put_whole(canvas, row, owner[0], ruler->letters);
		else
			draw_shared(ruler, canvas, x + i, y, owner);
		i += row.width > 0 ? row.width : 1;
	}
}

/* Where " label " begins, in the middle of the cells that belong to the span alone;
 * -1: it has no room there. */
static int label_place(int columns, double begin, double end, const char *label)
{
	int first = (int)ceil(fmin(1, fmax(0, begin)) * columns);
	int last = (int)floor(fmin(1, fmax(0, end)) * columns);
	int width = label != NULL ? text_width(label) : 0;

	if (width == 0 || last - first < width + 2)
		return -1;
	return first + (last - first - width - 2) / 2;
}

static void draw_label(struct canvas *canvas, struct rect rect, double begin,
		       double end, const struct span *span)
{
	int place = label_place(rect.width, begin, end, span->label);

	if (place < 0)
		return;
	int width = text_width(span->label);
	int x = rect.x + place;
	int y = rect.y + rect.height / 2;
	canvas_fill(canvas, (struct rect){ x, y, width + 2, 1 }, ' ', ROLE_DEFAULT);
	canvas_text(canvas, x + 1, y, width, ROLE_DEFAULT, span->label);
	if (canvas->colour && !is_dotted((int)span->role))
		canvas_highlight(canvas, (struct rect){ x, y, width + 2, 1 },
				 span->role, false, false);
}

void widget_spans(struct canvas *canvas, struct rect rect, const struct span *span,
		  int count, double from, double to)
{
	struct ruler ruler;
	double scale = to - from;

	if (!(scale > 0) || rect.width < 1 || rect.height < 1)
		return;
	ruler_init(&ruler, canvas, rect.width,
		   !canvas->colour || canvas->glyphs == GLYPHS_ASCII);
	for (int i = 0; i < count; i++)
		ruler_own(&ruler, (span[i].begin - from) / scale,
			  (span[i].end - from) / scale, span[i].role);
	for (int y = 0; y < rect.height; y++)
		ruler_draw(&ruler, canvas, rect.x, rect.y + y);
	for (int i = 0; i < count; i++)
		draw_label(canvas, rect, (span[i].begin - from) / scale,
			   (span[i].end - from) / scale, &span[i]);
}

static double worth(double value)
{
	return value > 0 ? value : 0;
}

static void draw_limit(struct canvas *canvas, struct rect rect, double fraction,
		       bool exceeded)
{
	int x = (int)lround(fraction * rect.width);

	if (x >= rect.width)
		x = rect.width - 1;
	for (int y = rect.y; y < rect.y + rect.height; y++) {
		struct cell *cell = canvas_at(canvas, rect.x + x, y);
		if (cell == NULL)
			continue;
		cell->code = canvas_glyph(canvas, GLYPH_LIMIT);
		cell->back = ROLE_DEFAULT;
		cell->fore = exceeded ? ROLE_BAD : ROLE_VALUE;
		cell->reverse = false;
	}
}

void widget_stack(struct canvas *canvas, struct rect rect, const struct part *part,
		  int count, double full, double limit)
{
	enum { MOST = 32 };
	struct span span[MOST + 1];
	double sum = 0;
	int spans = 0;

	if (!(full > 0) || rect.width < 1 || rect.height < 1)
		return;
	for (int i = 0; i < count && spans < MOST; i++) {
		double next = sum + worth(part[i].value);
		span[spans++] = (struct span){ sum, next, part[i].role, part[i].label };
		sum = next;
	}
	span[spans++] = (struct span){ sum, full, ROLE_FREE, NULL };
	widget_spans(canvas, rect, span, spans, 0, full);
	if (limit > 0 && limit <= full)
		draw_limit(canvas, rect, limit / full, sum > limit);
}

void widget_key(struct canvas *canvas, int x, int y, enum role role)
{
	if (is_painted(canvas, (int)role))
		canvas_put(canvas, x, y, canvas_glyph(canvas, GLYPH_FULL_BLOCK),
			   ROLE_PAUSE);
	else if (is_dotted((int)role))
		canvas_put(canvas, x, y, dot_of(canvas, (int)role), role);
	else if (!canvas->colour || canvas->glyphs == GLYPHS_ASCII)
		put_letter(canvas, x, y, role);
	else
		canvas_put(canvas, x, y, canvas_glyph(canvas, GLYPH_FULL_BLOCK), role);
}

int widget_unnamed(int width, const struct part *part, int count, double full,
		   struct part *out)
{
	double sum = 0;
	int found = 0;

	for (int i = 0; i < count; i++) {
		double next = sum + worth(part[i].value);

		if (next > sum &&
		    label_place(width, sum / full, next / full, part[i].label) < 0)
			out[found++] = part[i];
		sum = next;
	}
	return found;
}

int legend_width(const struct part *part, int count)
{
	int width = 0;

	for (int i = 0; i < count; i++)
		if (part[i].label != NULL && part[i].value > 0)
			width += text_width(part[i].label) + 2 + (width > 0 ? 2 : 0);
	return width;
}

int widget_legend(struct canvas *canvas, struct rect rect, const struct part *part,
		  int count)
{
	int x = 0, y = 0;

	if (rect.width < 1)
		return 0;
	for (int i = 0; i < count; i++) {
		int width = part[i].label != NULL ? text_width(part[i].label) + 2 : 0;
		if (width == 0 || !(part[i].value > 0))
			continue;
		if (x > 0 && x + width > rect.width) {
			x = 0;
			y++;
		}
		if (y >= rect.height)
			return rect.height;
		widget_key(canvas, rect.x + x, rect.y + y, part[i].role);
		canvas_text(canvas, rect.x + x + 2, rect.y + y, rect.width - x - 2,
			    ROLE_LABEL, part[i].label);
		x += width + 2;
	}
	return x > 0 ? y + 1 : y;
}

void widget_bar(struct canvas *canvas, int x, int y, int width, double fraction,
		enum role role)
{
	struct ruler ruler;

	if (width < 1)
		return;
	ruler_init(&ruler, canvas, width, false);
	ruler_own(&ruler, 0, 1, ROLE_FREE);
	ruler_own(&ruler, 0, fraction, role);
	ruler_draw(&ruler, canvas, x, y);
}

void widget_column(struct canvas *canvas, struct rect rect, double fraction,
		   enum role role)
{
	int fine = canvas->glyphs == GLYPHS_FULL ? EIGHTHS : 2;
	int units = to_units(fraction, rect.height * fine);

	/* A value above nothing is never invisible. */
	if (units == 0 && fraction > 0 && rect.height > 0)
		units = 1;
	for (int row = rect.y + rect.height - 1; units > 0; row--, units -= fine) {
		int part = units < fine ? units * EIGHTHS / fine : EIGHTHS;
		for (int x = 0; x < rect.width; x++)
			canvas_put(canvas, rect.x + x, row, 0x2580u + (uint32_t)part,
				   role);
	}
}
