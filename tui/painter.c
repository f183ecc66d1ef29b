/* painter.c - see painter.h. Compares what is to be shown with what is shown. */
#include "tui/painter.h"

#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tui/move.h"
#include "tui/paint.h"
#include "tui/pen.h"
#include "tui/row.h"

static struct {
	struct canvas shown;  /* by the terminal */
	struct canvas before; /* what it showed before this frame */
	struct canvas part;   /* of the canvas, as far as a frame has room for it */
	bool known, behind;
	bool moved[CANVAS_MAX]; /* rows of `before` that are not those of `shown` */
	bool tabs;              /* in every eighth column */
} painter;

void painter_begin(void)
{
	pen_begin();
	painter.tabs = false;
	painter_forget();
}

void painter_end(void)
{
	canvas_free(&painter.shown);
	canvas_free(&painter.before);
	canvas_free(&painter.part);
	paint_free();
	pen_end();
}

void painter_forget(void)
{
	painter.known = false;
	painter.behind = false;
}

bool painter_can_repeat(void)
{
	return pen_can_repeat();
}

void painter_repeat_all(bool all)
{
	pen_repeat_all(all);
}

void painter_use_tabs(bool tabs)
{
	painter.tabs = tabs;
}

/* --- frames ------------------------------------------------------------------ */

static void park_cursor(const struct canvas *canvas)
{
	bool visible = canvas->cursor_x >= 0 && canvas->cursor_y >= 0;

	if (visible)
		pen_go(canvas->cursor_x, canvas->cursor_y);
	else if (!pen_can_hide_cursor())
		pen_go(canvas->width - 1, canvas->height - 1);
	pen_show_cursor(visible);
}

static bool has_other_size(const struct canvas *canvas)
{
	return painter.shown.cell == NULL || painter.shown.width != canvas->width ||
	       painter.shown.height != canvas->height;
}

/* What a larger screen took is between what is still held: the C library keeps it
 * unless it is told. */
static void give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static bool resize(const struct canvas *canvas)
{
	int width = canvas->width, height = canvas->height;
	bool smaller = painter.shown.width * painter.shown.height > width * height;

	if (paint_resize(width, height) &&
	    canvas_resize(&painter.shown, width, height) &&
	    canvas_resize(&painter.before, width, height) &&
	    canvas_resize(&painter.part, width, height)) {
		if (smaller)
			give_back();
		return true;
	}
	/* what has a size passes for all of them when the next frame comes */
	canvas_free(&painter.shown);
	return false;
}

static bool begin_whole(const struct canvas *canvas)
{
	painter.known = false;
	if (has_other_size(canvas) && !resize(canvas))
		return false;
	canvas_erase(&painter.shown);
	memset(painter.moved, true, sizeof painter.moved);
	pen_clear();
	painter.known = true;
	return true;
}

static void copy_cells(struct canvas *to, const struct canvas *from)
{
	memcpy(to->cell, from->cell,
	       (size_t)from->width * (size_t)from->height * sizeof *from->cell);
}

/* What the terminal shows before this frame: rows that the one before it wrote. */
static void keep_before(const struct canvas *canvas)
{
	size_t width = (size_t)canvas->width;

	for (int y = 0; y < canvas->height; y++) {
		size_t at = (size_t)y * width;

		if (painter.moved[y])
			memcpy(painter.before.cell + at, painter.shown.cell + at,
			       width * sizeof *painter.before.cell);
		painter.moved[y] = false;
	}
}

/* 4 KiB on a screen of 120 columns and 36 rows, and on smaller ones; 10 KiB on one of
 * 200 columns and 60 rows, and as much for each cell of larger ones. */
size_t painter_most(int width, int height)
{
	enum { LEAST = 4096, BYTES = 10240, CELLS = 200 * 60 };
	size_t cells = (size_t)width * (size_t)height;

	return cells * BYTES / CELLS > LEAST ? cells * BYTES / CELLS : LEAST;
}

/* What a key should send: half of that at 120x36. */
static size_t modest_bytes(const struct canvas *canvas)
{
	enum { BYTES = 2048, CELLS = 120 * 36 };
	size_t cells = (size_t)canvas->width * (size_t)canvas->height;

	return cells > CELLS ? BYTES * cells / CELLS : BYTES;
}

/* All that differs, from where the pen is; nothing is collected where nothing does. */
static void paint_frame(const struct canvas *canvas, enum palette palette,
			const struct pen_place *start, bool thorough)
{
	paint_start(canvas, palette);
	for (int y = 0; y < canvas->height; y++)
		if (row_paint(canvas, y,
			      painter.shown.cell + (size_t)y * (size_t)canvas->width))
			painter.moved[y] = true;
	paint_all(thorough);
	park_cursor(canvas);
	if (pen_length() > start->length)
		pen_sync(false);
}

/* --- frames that end before all is shown --------------------------------------- */

/* Bytes that these cells of a row take, roughly: characters, and a move to each run. */
static int weigh_cells(const struct canvas *canvas, int y, int from, int to)
{
	size_t row = (size_t)y * (size_t)canvas->width;
	bool runs = false;
	int bytes = 0;

	for (int x = from; x < to; x++) {
		const struct cell *cell = &canvas->cell[row + (size_t)x];
		bool differs = !cell_is(cell, &painter.before.cell[row + (size_t)x]);

		if (differs)
			bytes += (cell->code < 0x80 ? 1 : 2) + (runs ? 0 : ROW_MOVE);
		runs = differs;
	}
	return bytes;
}

/* How many rows of what may follow have room, where all together take `all` bytes. */
static int guess_rows(const struct canvas *canvas, size_t most, size_t all)
{
	const struct rect *late = &canvas->late;
	int behind = late->x + late->width, rows = 0;
	double sum = 0, room;

	for (int y = 0; y < canvas->height; y++)
		sum += weigh_cells(canvas, y, 0, canvas->width);
	/* what is left once all the others are painted */
	room = sum * 0.95 * (double)most / (double)all - sum;
	for (int y = late->y; y < late->y + late->height; y++)
		room += weigh_cells(canvas, y, late->x, behind);
	for (; rows < late->height && room > 0; rows++)
		room -= weigh_cells(canvas, late->y + rows, late->x, behind);
	return room < 0 ? rows - 1 : rows;
}

/* A wide character would be cut in two. */
static bool is_cut(const struct canvas *canvas, int x, int y)
{
	return x < canvas->width &&
	       canvas->cell[(size_t)y * (size_t)canvas->width + (size_t)x].code == 0;
}

/* The canvas with so many rows of what may follow, the others as the terminal shows
 * them. */
static void make_part(const struct canvas *canvas, int rows)
{
	const struct rect *late = &canvas->late;
	int behind = late->x + late->width;
	struct cell *cell = painter.part.cell;

	painter.part = *canvas;
	painter.part.cell = cell;
	copy_cells(&painter.part, canvas);
	for (int y = late->y + rows; y < late->y + late->height; y++) {
		size_t at = (size_t)y * (size_t)canvas->width + (size_t)late->x;

		if (is_cut(canvas, late->x, y) || is_cut(canvas, behind, y) ||
		    is_cut(&painter.before, late->x, y) ||
		    is_cut(&painter.before, behind, y))
			continue;
		memcpy(cell + at, painter.before.cell + at,
		       (size_t)late->width * sizeof *cell);
	}
}

/* Once more, with fewer rows, until there is room for them: what is not among the rows
 * that may follow is painted whatever it takes. */
static void paint_less(const struct canvas *canvas, enum palette palette,
		       const struct pen_place *start)
{
	size_t most = painter_most(canvas->width, canvas->height);
	int rows = guess_rows(canvas, most, pen_length());

	for (;;) {
		rows = rows < 0 ? 0 : rows;
		pen_return(start);
		copy_cells(&painter.shown, &painter.before);
		make_part(canvas, rows);
		paint_frame(&painter.part, palette, start, true);
		if (pen_length() <= most || rows == 0)
			break;
		rows = rows * 9 / 10 - 1;
	}
	painter.behind = true;
	if (pen_length() > start->length)
		return;
	/* a row that has no room at all */
	paint_frame(canvas, palette, start, true);
	painter.behind = false;
}

static bool can_follow(const struct canvas *canvas)
{
	struct rect all = { 0, 0, canvas->width, canvas->height };
	struct rect inside = rect_intersect(canvas->late, all);

	return inside.width > 0 && inside.height > 0 &&
	       inside.width == canvas->late.width &&
	       inside.height == canvas->late.height;
}

/* What takes a little more than it may is painted thoroughly, which takes as long again
 * and saves a hundredth of what a key should send, up to a twentieth of large frames;
 * what a frame has no room for then has its rows shared out. */
static void paint_shorter(const struct canvas *canvas, enum palette palette,
			  const struct pen_place *start, bool thorough)
{
	size_t most = painter_most(canvas->width, canvas->height);
	size_t modest = modest_bytes(canvas), length = pen_length();
	bool follows = can_follow(canvas);

	if (!thorough &&
	    (length > most ? length < most + most / 10 || !follows
			   : length > modest && length < modest + modest / 2)) {
		pen_return(start);
		copy_cells(&painter.shown, &painter.before);
		paint_frame(canvas, palette, start, true);
	}
	if (pen_length() > most && follows)
		paint_less(canvas, palette, start);
}

bool painter_is_behind(void)
{
	return painter.behind;
}

const char *painter_frame(const struct canvas *canvas, enum palette palette,
			  size_t *length)
{
	bool whole = !painter.known || has_other_size(canvas);
	bool thorough = whole || painter.behind; /* no key waits for either */
	struct pen_place start;
	const char *bytes;

	painter.behind = false;
	pen_start(theme_is_rgb(palette));
	move_use_tabs(painter.tabs ? canvas->width : 0);
	pen_sync(true);
	start = pen_place();
	if (whole && !begin_whole(canvas))
		return NULL;
	keep_before(canvas);
	paint_frame(canvas, palette, &start, thorough);
	if (!whole)
		paint_shorter(canvas, palette, &start, thorough);
	if (pen_length() == start.length)
		pen_start(false);
	bytes = pen_bytes(length);
	if (!bytes)
		painter_forget();
	return bytes;
}
