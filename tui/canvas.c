/* canvas.c - see canvas.h. */
#include "tui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text.h"

static const struct cell blank = { .code = ' ',
				   .fore = ROLE_DEFAULT,
				   .back = ROLE_DEFAULT };

bool canvas_init(struct canvas *canvas, int width, int height, enum glyph_level glyphs,
		 bool colour)
{
	*canvas = (struct canvas){ .glyphs = glyphs, .colour = colour };
	return canvas_resize(canvas, width, height);
}

bool canvas_resize(struct canvas *canvas, int width, int height)
{
	/* A terminal of no size (a pty nobody has set) is treated as 1x1. */
	width = width < 1 ? 1 : width > CANVAS_MAX ? CANVAS_MAX : width;
	height = height < 1 ? 1 : height > CANVAS_MAX ? CANVAS_MAX : height;
	struct cell *cell = malloc((size_t)width * (size_t)height * sizeof *cell);
	if (cell == NULL)
		return false;
	free(canvas->cell);
	canvas->cell = cell;
	canvas->width = width;
	canvas->height = height;
	canvas_erase(canvas);
	return true;
}

void canvas_free(struct canvas *canvas)
{
	free(canvas->cell);
	canvas->cell = NULL;
	canvas->width = canvas->height = 0;
	canvas->clip = (struct rect){ 0 };
}

void canvas_erase(struct canvas *canvas)
{
	size_t width = (size_t)canvas->width, count = width * (size_t)canvas->height;

	for (size_t i = 0; i < width; i++)
		canvas->cell[i] = blank;
	for (size_t i = width; i < count; i += width)
		memcpy(canvas->cell + i, canvas->cell, width * sizeof blank);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	canvas->late = (struct rect){ 0 };
	canvas->cursor_x = canvas->cursor_y = -1;
	canvas->lacks = false;
}

/* Beginning and end of the overlap of two spans, without overflow. */
static void overlap(int *first, int *length, int other, int other_length)
{
	long long begin = *first > other ? *first : other;
	long long end = (long long)*first + *length;

	if (end > (long long)other + other_length)
		end = (long long)other + other_length;
	*first = (int)begin;
	*length = end > begin ? (int)(end - begin) : 0;
}

struct rect rect_intersect(struct rect a, struct rect b)
{
	overlap(&a.x, &a.width, b.x, b.width);
	overlap(&a.y, &a.height, b.y, b.height);
	return a;
}

struct rect canvas_clip(struct canvas *canvas, struct rect clip)
{
	struct rect before = canvas->clip;
	struct rect whole = { 0, 0, canvas->width, canvas->height };

	canvas->clip = rect_intersect(clip, whole);
	return before;
}

static bool is_inside(const struct canvas *canvas, int x, int y)
{
	const struct rect *clip = &canvas->clip;

	return x >= clip->x && y >= clip->y && x - clip->x < clip->width &&
	       y - clip->y < clip->height;
}

struct cell *canvas_at(struct canvas *canvas, int x, int y)
{
	if (canvas->cell == NULL || !is_inside(canvas, x, y))
		return NULL;
	return &canvas->cell[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* A wide character of which one half is overwritten leaves a space behind. */
static void mend_wide(struct canvas *canvas, int x, int y)
{
	struct cell *row = &canvas->cell[(size_t)y * (size_t)canvas->width];

	if (row[x].code == 0 && x > 0)
		row[x - 1].code = ' ';
	if (x + 1 < canvas->width && row[x + 1].code == 0)
		row[x + 1].code = ' ';
}

/* Letters, blanks and blocks over something else than a wide character, as nearly all
 * are; false: it takes more than that. */
static bool put_narrow(const struct canvas *canvas, struct cell *cell, int x,
		       uint32_t code, enum role role)
{
	bool plain = (code >= 0x20 && code < 0x7f) ||
		     (canvas->glyphs == GLYPHS_FULL && code >= 0x2500 && code < 0x2600);

	if (!plain || cell->code == 0 || (x + 1 < canvas->width && cell[1].code == 0))
		return false;
	*cell = (struct cell){ .code = code, .fore = (uint8_t)role };
	return true;
}

void canvas_put(struct canvas *canvas, int x, int y, uint32_t code, enum role role)
{
	struct cell *cell = canvas_at(canvas, x, y);

	if (cell == NULL || put_narrow(canvas, cell, x, code, role))
		return;
	code = theme_substitute(canvas->glyphs, code < 0x20 ? '?' : code);
	int width = text_code_width(code);
	if (width == 2 && !is_inside(canvas, x + 1, y)) {
		code = '?';
		width = 1;
	}
	mend_wide(canvas, x, y);
	*cell = (struct cell){ .code = code, .fore = (uint8_t)role };
	if (width == 2) {
		mend_wide(canvas, x + 1, y);
		cell[1] = (struct cell){ .code = 0, .fore = (uint8_t)role };
	}
}

/* Letters, digits and signs that begin a text and take a byte and a column each, at
 * most so many. */
static int count_plain(const char *text, int most)
{
	int count = 0;

	while (count < most && text[count] >= 0x20 && text[count] < 0x7f)
		count++;
	return count;
}

int text_width(const char *text)
{
	int width = count_plain(text, CANVAS_MAX);
	uint32_t code;

	text += width;
	while (width < CANVAS_MAX && (code = text_decode(&text)) != 0)
		width += text_code_width(code);
	return width;
}

/* Whether the rest of a text takes at most room columns; stops early, since a
 * text may be far longer than the screen. */
static bool fits_in(const char *text, int room)
{
	uint32_t code;

	while ((code = text_decode(&text)) != 0) {
		room -= text_code_width(code);
		if (room < 0)
			return false;
	}
	return true;
}

/* Letters, digits and signs in cells that stand beside each other. */
static void put_plain(struct canvas *canvas, int x, int y, int count, enum role role,
		      const char *text)
{
	struct rect row = { x, y, count, 1 };

	row = rect_intersect(row, canvas->clip);
	if (row.height == 0 || !canvas->cell)
		return;
	struct cell *line = &canvas->cell[(size_t)y * (size_t)canvas->width];
	for (int at = row.x; at < row.x + row.width; at++) {
		uint32_t code = (unsigned char)text[at - x];

		if (!put_narrow(canvas, &line[at], at, code, role))
			canvas_put(canvas, at, y, code, role);
	}
}

int canvas_text(struct canvas *canvas, int x, int y, int width, enum role role,
		const char *text)
{
	int used = count_plain(text, width);

	if (text[used] == '\0') {
		put_plain(canvas, x, y, used, role, text);
		return used;
	}
	used = 0;
	bool whole = fits_in(text, width);
	int room = whole ? width : width - 1;
	uint32_t code;

	while (used < room && (code = text_decode(&text)) != 0) {
		if (used + text_code_width(code) > room)
			break;
		canvas_put(canvas, x + used, y, code, role);
		used += text_code_width(code);
	}
	if (whole || width < 1)
		return used;
	canvas_put(canvas, x + used, y, theme_glyph(canvas->glyphs, GLYPH_ELLIPSIS),
		   role);
	return used + 1;
}

/* Whether a phrase of a text ends before this place. */
static bool phrase_ends(const char *at)
{
	return at[0] != '\0' && at[1] == ' ' && strchr(",;:.", at[0]) != NULL;
}

int canvas_phrase(struct canvas *canvas, int x, int y, int width, enum role role,
		  const char *text)
{
	const char *at = text;
	int used = 0, whole = 0;
	uint32_t code;

	if (fits_in(text, width))
		return canvas_text(canvas, x, y, width, role, text);
	while (used < width) {
		if (phrase_ends(at) || (at[0] == ' ' && at[1] == '('))
			whole = used;
		code = text_decode(&at);
		if (code == 0)
			break;
		used += text_code_width(code);
	}
	return canvas_text(canvas, x, y, whole > width / 2 ? whole + 1 : width, role,
			   text);
}

void canvas_right(struct canvas *canvas, int x, int y, int width, enum role role,
		  const char *text)
{
	int used = text_width(text);

	if (used < width)
		x += width - used;
	canvas_text(canvas, x, y, used < width ? used : width, role, text);
}

int canvas_format(struct canvas *canvas, int x, int y, int width, enum role role,
		  const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return canvas_text(canvas, x, y, width, role, text);
}

void canvas_fill(struct canvas *canvas, struct rect rect, uint32_t code, enum role role)
{
	rect = rect_intersect(rect, canvas->clip);
	for (int y = rect.y; y < rect.y + rect.height && canvas->cell; y++) {
		struct cell *line = &canvas->cell[(size_t)y * (size_t)canvas->width];

		for (int x = rect.x; x < rect.x + rect.width; x++)
			if (!put_narrow(canvas, &line[x], x, code, role))
				canvas_put(canvas, x, y, code, role);
	}
}

void canvas_highlight(struct canvas *canvas, struct rect rect, enum role back,
		      bool reverse, bool bold)
{
	rect = rect_intersect(rect, canvas->clip);
	for (int y = rect.y; y < rect.y + rect.height; y++) {
		for (int x = rect.x; x < rect.x + rect.width; x++) {
			struct cell *cell = canvas_at(canvas, x, y);
			if (cell == NULL)
				continue;
			if (back != ROLE_DEFAULT)
				cell->back = (uint8_t)back;
			cell->reverse = cell->reverse || reverse;
			cell->bold = cell->bold || bold;
		}
	}
}

void canvas_cursor(struct canvas *canvas, int x, int y)
{
	bool inside = is_inside(canvas, x, y);

	canvas->cursor_x = inside ? x : -1;
	canvas->cursor_y = inside ? y : -1;
}

uint32_t canvas_glyph(const struct canvas *canvas, enum glyph glyph)
{
	return theme_glyph(canvas->glyphs, glyph);
}
