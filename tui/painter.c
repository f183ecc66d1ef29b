/* painter.c - see painter.h. What differs is painted look by look: to change a colour
 * takes more bytes than to move by a few cells. */
#include "tui/painter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tui/pen.h"
#include "tui/text.h"

/* RIGHT: the terminal shows the cell as it is to be; else it waits for this look. */
enum { RIGHT = 0, MOST_LOOKS = 200, END = -1 };

static const struct look plain = { .fore = -1, .back = -1 };

static struct {
	/* what the terminal shows */
	struct canvas shown;
	bool known;
	/* what is to be shown */
	const struct canvas *canvas;
	enum palette palette;
	/* of each cell, the look that it waits for, counted from one, and the next cell
	 * that waits for the same */
	uint8_t *waits;
	int32_t *next;
	uint32_t *code; /* that it waits for */
	struct look look[MOST_LOOKS];
	int32_t first[MOST_LOOKS], last[MOST_LOOKS];
	int looks;
} painter;

void painter_begin(void)
{
	pen_begin();
	painter_forget();
}

static void free_cells(void)
{
	free(painter.waits);
	free(painter.next);
	free(painter.code);
	painter.waits = NULL;
	painter.next = NULL;
	painter.code = NULL;
}

void painter_end(void)
{
	canvas_free(&painter.shown);
	free_cells();
	pen_end();
}

void painter_forget(void)
{
	painter.known = false;
}

/* --- cells ------------------------------------------------------------------- */

/* What a cell is to be on the terminal. */
struct shape {
	uint32_t code;
	struct look look;
};

/* A full block is a blank on its colour, which is a third of the bytes; of a blank
 * nobody sees what it would be written with. */
static struct shape shape_of(const struct cell *cell)
{
	struct shape shape = { cell->code, theme_look(cell, painter.palette) };
	struct look *look = &shape.look;

	if (!pen_has_looks())
		*look = plain;
	if (shape.code == 0x2588 && look->fore >= 0 && !look->reverse) {
		shape.code = ' ';
		look->back = look->fore;
	}
	if (shape.code == ' ' && !look->reverse && !look->underline) {
		look->fore = -1;
		look->bold = false;
	}
	return shape;
}

static bool shows_ground(struct look look)
{
	return !look.reverse && !look.underline;
}

/* Whether a cell can be written with what is worn: of blanks only the ground counts. */
static bool can_write(const struct shape *shape)
{
	struct look worn = pen_look();

	if (shape->code == ' ' && shows_ground(shape->look))
		return shows_ground(worn) && worn.back == shape->look.back;
	return look_is(shape->look, worn);
}

/* And if not, what a is to be. */
static bool is_same(const struct cell *a, const struct cell *b, struct shape *shape)
{
	struct shape before;

	if (a->code == b->code && a->fore == b->fore && a->back == b->back &&
	    a->reverse == b->reverse && a->bold == b->bold &&
	    a->underline == b->underline)
		return true;
	*shape = shape_of(a);
	before = shape_of(b);
	return shape->code == before.code && look_is(shape->look, before.look);
}

static bool is_blank(const struct cell *cell)
{
	struct shape shape = shape_of(cell);

	return shape.code == ' ' && look_is(shape.look, plain);
}

/* --- what differs ------------------------------------------------------------ */

/* The number of a look, 0 where there is no room for another. */
static int find_look(struct look look)
{
	for (int i = painter.looks; i > 0; i--)
		if (look_is(painter.look[i - 1], look))
			return i;
	if (painter.looks == MOST_LOOKS)
		return 0;
	painter.look[painter.looks] = look;
	painter.first[painter.looks] = END;
	return ++painter.looks;
}

static void paint_all(void);

static void add_cell(int32_t at, const struct shape *shape)
{
	int number = find_look(shape->look);

	if (number == 0) {
		paint_all();
		number = find_look(shape->look);
	}
	painter.code[at] = shape->code;
	painter.waits[at] = (uint8_t)number;
	painter.next[at] = END;
	if (painter.first[number - 1] == END)
		painter.first[number - 1] = at;
	else
		painter.next[painter.last[number - 1]] = at;
	painter.last[number - 1] = at;
}

/* Where the blank end of a row begins. */
static int blank_tail(const struct cell *row, int width)
{
	while (width > 0 && is_blank(&row[width - 1]))
		width--;
	return width;
}

/* More of the blank end differs than the sequence is long. */
static bool erase_pays(const struct cell *row, const struct cell *shown, int left)
{
	struct shape shape;
	int differ = 0;

	for (int i = 0; i < left && pen_can_erase_line(); i++)
		differ += !is_same(&row[i], &shown[i], &shape);
	return differ > 4;
}

/* Erases the end of a row where that pays, and notes which other cells differ. */
static void compare_row(int y)
{
	int width = painter.canvas->width, tail = -1;
	size_t start = (size_t)y * (size_t)width;
	const struct cell *row = painter.canvas->cell + start;
	struct cell *shown = painter.shown.cell + start;

	if (memcmp(row, shown, (size_t)width * sizeof *row) == 0)
		return;
	for (int x = 0; x < width; x++) {
		bool corner = pen_scrolls_at_end() && y == painter.canvas->height - 1 &&
			      x + text_code_width(row[x].code) >= width;
		struct shape shape;

		if (is_same(&row[x], &shown[x], &shape))
			continue;
		if (tail < 0)
			tail = blank_tail(row, width);
		if (x >= tail && erase_pays(row + x, shown + x, width - x)) {
			pen_go(x, y);
			pen_wear(plain);
			pen_erase_line();
			memcpy(shown + x, row + x, (size_t)(width - x) * sizeof *row);
			return;
		}
		shown[x] = row[x];
		if (row[x].code != 0 && !corner)
			add_cell((int32_t)start + x, &shape);
	}
}

/* --- what is painted --------------------------------------------------------- */

static struct shape shape_at(int32_t at)
{
	int waits = painter.waits[at];

	if (waits == RIGHT)
		return shape_of(&painter.canvas->cell[at]);
	return (struct shape){ painter.code[at], painter.look[waits - 1] };
}

/* Bytes to write over a cell on the way to another: what is right and can be written
 * with what is worn stays right; what waits for another look is written anyhow. 0: it
 * must not be touched. */
static int bytes_over(int32_t at)
{
	struct shape shape;

	if (painter.waits[at] != RIGHT)
		return 1;
	shape = shape_at(at);
	if (shape.code < 0x20 || text_code_width(shape.code) != 1 || !can_write(&shape))
		return 0;
	return shape.code < 0x7f ? 1 : shape.code < 0x800 ? 2 : 3;
}

/* Writes over what lies between the cursor and x if that is shorter than a jump. */
static void approach(int x, int y)
{
	int from = pen_x(), width = painter.canvas->width, bytes = 0;
	int32_t row = y * width;
	int most;

	if (pen_y() != y || from < 0 || from >= x || x - from > 8) {
		pen_go(x, y);
		return;
	}
	most = pen_distance(x, y);
	for (int i = from; i < x && bytes <= most; i++) {
		int one = bytes_over(row + i);

		bytes += one > 0 ? one : most + 1;
	}
	if (bytes > most) {
		pen_go(x, y);
		return;
	}
	for (int i = from; i < x; i++) {
		struct shape shape = shape_at(row + i);

		if (can_write(&shape) && text_code_width(shape.code) == 1) {
			painter.waits[row + i] = RIGHT;
			pen_write(shape.code, 1, width, 1);
		} else {
			pen_write(' ', 1, width, 1);
		}
	}
}

/* Whether the cell may be written now: it waits, or is right and stays so. */
static bool goes_on(int32_t at, const struct shape *shape)
{
	struct shape here = shape_at(at);

	return here.code == shape->code && can_write(&here);
}

/* Cells from x on that hold the same, as far as there is one that waits. */
static int same_cells(int x, int y, const struct shape *shape)
{
	int width = painter.canvas->width, count = 1;
	int32_t row = y * width;
	bool corner = pen_scrolls_at_end() && y == painter.canvas->height - 1;

	for (int i = x + 1; i < width - corner && goes_on(row + i, shape); i++)
		if (painter.waits[row + i] != RIGHT)
			count = i - x + 1;
	return count;
}

/* All that follows in this row and can be written with what is worn. */
static void paint_run(int x, int y)
{
	int width = painter.canvas->width;
	int32_t row = y * width;

	while (x < width && painter.waits[row + x] != RIGHT) {
		struct shape shape = shape_at(row + x);
		int columns = text_code_width(shape.code), count = 1;

		if (!can_write(&shape))
			return;
		if (columns == 1)
			count = same_cells(x, y, &shape);
		pen_write(shape.code, columns, width, count);
		memset(painter.waits + row + x, RIGHT, (size_t)count);
		x += count * columns;
		/* erased, not written: the cursor stays before them */
		if (pen_x() != x)
			return;
	}
}

static void paint_look(int number)
{
	int width = painter.canvas->width;

	for (int32_t at = painter.first[number - 1]; at != END; at = painter.next[at]) {
		if (painter.waits[at] != (uint8_t)number)
			continue;
		approach(at % width, at / width);
		pen_wear(painter.look[number - 1]);
		paint_run(at % width, at / width);
	}
}

/* The plain look last: it is what a frame ends with. */
static void paint_all(void)
{
	int last = 0;

	for (int i = 1; i <= painter.looks; i++) {
		if (look_is(painter.look[i - 1], plain)) {
			last = i;
			continue;
		}
		pen_wear(painter.look[i - 1]);
		paint_look(i);
	}
	pen_wear(plain);
	if (last > 0)
		paint_look(last);
	painter.looks = 0;
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

static bool make_room(const struct canvas *canvas)
{
	size_t cells = (size_t)canvas->width * (size_t)canvas->height;

	free_cells();
	painter.known = false;
	painter.waits = calloc(cells, sizeof *painter.waits);
	painter.next = malloc(cells * sizeof *painter.next);
	painter.code = malloc(cells * sizeof *painter.code);
	return painter.waits && painter.next && painter.code &&
	       canvas_resize(&painter.shown, canvas->width, canvas->height);
}

static bool begin_whole(const struct canvas *canvas)
{
	struct canvas *shown = &painter.shown;

	if ((shown->cell == NULL || !painter.code || shown->width != canvas->width ||
	     shown->height != canvas->height) &&
	    !make_room(canvas))
		return false;
	canvas_erase(shown);
	pen_clear();
	painter.known = true;
	return true;
}

const char *painter_frame(const struct canvas *canvas, enum palette palette,
			  size_t *length)
{
	const char *bytes;
	size_t start;

	painter.canvas = canvas;
	painter.palette = palette;
	painter.looks = 0;
	pen_start(theme_is_rgb(palette));
	pen_sync(true);
	start = pen_length();
	if ((!painter.known || painter.shown.width != canvas->width ||
	     painter.shown.height != canvas->height) &&
	    !begin_whole(canvas))
		return NULL;
	for (int y = 0; y < canvas->height; y++)
		compare_row(y);
	paint_all();
	park_cursor(canvas);
	if (pen_length() > start)
		pen_sync(false);
	else
		pen_start(false);
	bytes = pen_bytes(length);
	if (!bytes)
		painter_forget();
	return bytes;
}
