/* painter.c - see painter.h. Compares what is to be shown with what is shown. */
#include "tui/painter.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tui/move.h"
#include "tui/paint.h"
#include "tui/pen.h"
#include "tui/text.h"

static const struct look plain = { .fore = -1, .back = -1 };

static struct {
	struct canvas shown;  /* by the terminal */
	struct canvas before; /* what it showed before this frame */
	struct canvas part;   /* of the canvas, as far as a frame has room for it */
	bool known, behind;
	bool tabs;                   /* in every eighth column */
	const struct canvas *canvas; /* to be shown */
	struct target {
		struct shape shape;
		bool differs, blank, half;
	} target[CANVAS_MAX];
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

/* --- what differs ------------------------------------------------------------ */

/* Without the bytes behind the last member, which mean nothing. */
static bool is_equal(const struct cell *a, const struct cell *b)
{
	return memcmp(a, b, offsetof(struct cell, underline) + 1) == 0;
}

/* The shape that was asked last: most blanks stand beside one like them. */
struct known {
	const struct cell *cell;
	struct shape shape;
};

/* What is as it was and no blank can be no blank on the terminal's own ground. */
static struct target compare_cell(const struct cell *cell, const struct cell *shown,
				  bool equal, struct known *known)
{
	struct target target = { .half = cell->code == 0 || shown->code == 0 };

	target.shape.code = cell->code;
	if (equal && cell->code != ' ')
		return target;
	if (!known->cell || !is_equal(cell, known->cell))
		*known = (struct known){ cell, paint_shape(cell) };
	target.shape = known->shape;
	target.blank = shape_is_blank(&target.shape);
	if (!equal) {
		struct shape before = paint_shape(shown);

		target.differs = target.shape.code != before.code ||
				 !look_is(target.shape.look, before.look);
	}
	return target;
}

/* --- erasing ----------------------------------------------------------------- */

/* Bytes of the sequence; of a move to what stands alone, roughly. */
enum { ERASE = 3, MOVE = 4, MOST_BLANKS = 6 };

/* What it saves that the blanks from here on are erased, without what it costs that
 * others are written again. Summed from the end of the row. */
struct saving {
	int bytes, blanks;
	bool again; /* the cell before was to be written again */
};

static void weigh(struct saving *saving, const struct target *target)
{
	bool blank = target->differs && target->blank;
	bool again = !target->differs && !target->blank;

	/* a run of blanks costs a move, and no more than a repetition */
	if (blank) {
		saving->bytes += saving->blanks == 0            ? 1 + MOVE
				 : saving->blanks < MOST_BLANKS ? 1
								: 0;
		saving->blanks++;
	} else {
		saving->blanks = 0;
	}
	if (again)
		saving->bytes -=
			shape_bytes(&target->shape) + (saving->again ? 0 : MOVE);
	saving->again = again;
}

/* Where in this row it pays most to erase all that follows; -1: nowhere. */
static int find_erasure(int first, int width, int y)
{
	struct saving saving = { 0 };
	int best = 0, place = -1;

	for (int x = width - 1; x >= first; x--) {
		const struct target *target = &painter.target[x];
		int net;

		weigh(&saving, target);
		if (target->half || (x > 0 && painter.target[x - 1].half))
			continue;
		net = saving.bytes - ERASE;
		if (net <= best)
			continue;
		net -= pen_distance(x, y);
		if (net <= best)
			continue;
		best = net;
		place = x;
	}
	return place;
}

static void erase_from(int x, const struct cell *row, int width, int y)
{
	pen_go(x, y);
	pen_wear(plain);
	pen_erase_line();
	for (; x < width; x++) {
		struct target *target = &painter.target[x];

		if (!target->differs && !target->blank)
			target->shape = paint_shape(&row[x]);
		target->differs = !target->blank;
	}
}

/* --- a row ------------------------------------------------------------------- */

/* Whether a blank that waits may be written with what its neighbour waits for: of a
 * blank only the ground is seen. */
static bool can_join(const struct target *blank, const struct target *beside)
{
	const struct look *look = &beside->shape.look;

	return beside->differs && look->back == blank->shape.look.back &&
	       !look->reverse && !look->underline;
}

static bool is_ground(const struct target *target)
{
	return target->differs && target->shape.code == ' ' &&
	       target->shape.look.fore < 0 && !target->shape.look.reverse &&
	       !target->shape.look.underline;
}

/* Blanks beside letters are written with them, which saves the way to them. */
static void join_blanks(int first, int width)
{
	for (int x = first + 1; x < width; x++) {
		struct target *here = &painter.target[x];

		if (is_ground(here) && can_join(here, here - 1))
			here->shape.look = here[-1].shape.look;
	}
	for (int x = width - 2; x >= first; x--) {
		struct target *here = &painter.target[x];

		if (is_ground(here) && can_join(here, here + 1))
			here->shape.look = here[1].shape.look;
	}
}

/* Erases the end of a row where that pays, and notes which other cells differ. */
static void compare_row(int y)
{
	int width = painter.canvas->width, first = -1, erasure = -1;
	size_t start = (size_t)y * (size_t)width;
	const struct cell *row = painter.canvas->cell + start;
	struct cell *shown = painter.shown.cell + start;
	struct known known = { .cell = NULL };
	bool corner = pen_scrolls_at_end() && y == painter.canvas->height - 1;

	if (memcmp(row, shown, (size_t)width * sizeof *row) == 0)
		return;
	for (int x = 0; x < width; x++) {
		bool equal = is_equal(&row[x], &shown[x]);

		if (first < 0 && equal)
			continue;
		painter.target[x] = compare_cell(&row[x], &shown[x], equal, &known);
		if (first < 0 && painter.target[x].differs)
			first = x;
	}
	if (first < 0)
		return;
	if (pen_can_erase_line())
		erasure = find_erasure(first, width, y);
	if (erasure >= 0)
		erase_from(erasure, row, width, y);
	join_blanks(first, width);
	for (int x = first; x < width; x++) {
		if (painter.target[x].differs && row[x].code != 0 &&
		    !(corner && x + text_code_width(row[x].code) >= width))
			paint_add((int)start + x, &painter.target[x].shape);
	}
	memcpy(shown, row, (size_t)width * sizeof *row);
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
	pen_clear();
	painter.known = true;
	return true;
}

static void copy_cells(struct canvas *to, const struct canvas *from)
{
	memcpy(to->cell, from->cell,
	       (size_t)from->width * (size_t)from->height * sizeof *from->cell);
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
	painter.canvas = canvas;
	paint_start(canvas, palette);
	for (int y = 0; y < canvas->height; y++)
		compare_row(y);
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
		bool differs = !is_equal(cell, &painter.before.cell[row + (size_t)x]);

		if (differs)
			bytes += (cell->code < 0x80 ? 1 : 2) + (runs ? 0 : MOVE);
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
			   : length > modest && length < modest + modest / 8)) {
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
	copy_cells(&painter.before, &painter.shown);
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
