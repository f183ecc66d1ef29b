/* paint.c - see paint.h. */
#include "tui/paint.h"

#include <stdlib.h>
#include <string.h>

#include "tui/move.h"
#include "tui/pen.h"
#include "tui/text.h"

enum {
	RIGHT = 0, /* the terminal shows the cell as it is to be */
	MOST_LOOKS = 200,
	MOST_STROKES = 512,
	LONGEST_COVER = 8, /* cells that are written over rather than jumped */
	NONE = -1
};

static const struct look plain = { .fore = -1, .back = -1 };

/* Cells beside each other that wait for the same look. */
struct stroke {
	int x, end, y;
	uint32_t code; /* that all of them hold; 0: not all the same */
};

/* Cells of one look, row by row. */
struct heap {
	struct look look;
	int32_t first, last;
	int count;
};

static struct {
	const struct canvas *canvas;
	enum palette palette;
	int width;
	/* of each cell, the look that it waits for, counted from one, what it is to
	 * hold, and the next cell that waits for the same look */
	uint8_t *waits;
	uint32_t *code;
	int32_t *next;
	struct heap heap[MOST_LOOKS];
	int heaps;
	struct stroke stroke[MOST_STROKES];
	int strokes;
} paint;

bool paint_resize(int width, int height)
{
	size_t cells = (size_t)width * (size_t)height;

	paint_free();
	paint.width = width;
	paint.waits = calloc(cells, sizeof *paint.waits);
	paint.code = malloc(cells * sizeof *paint.code);
	paint.next = malloc(cells * sizeof *paint.next);
	if (paint.waits && paint.code && paint.next)
		return true;
	paint_free();
	return false;
}

void paint_free(void)
{
	free(paint.waits);
	free(paint.code);
	free(paint.next);
	paint.waits = NULL;
	paint.code = NULL;
	paint.next = NULL;
}

void paint_start(const struct canvas *canvas, enum palette palette)
{
	paint.canvas = canvas;
	paint.palette = palette;
	paint.heaps = 0;
}

/* --- cells ------------------------------------------------------------------- */

/* A full block is a blank on its colour, which is a third of the bytes; of a blank
 * nobody sees what it would be written with. */
struct shape paint_shape(const struct cell *cell)
{
	struct shape shape = { cell->code, theme_look(cell, paint.palette) };
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

bool shape_is_blank(const struct shape *shape)
{
	return shape->code == ' ' && look_is(shape->look, plain);
}

int shape_bytes(const struct shape *shape)
{
	return shape->code < 0x80 ? 1 : shape->code < 0x800 ? 2 : 3;
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

static struct shape shape_at(int32_t at)
{
	int waits = paint.waits[at];

	if (waits == RIGHT)
		return paint_shape(&paint.canvas->cell[at]);
	return (struct shape){ paint.code[at], paint.heap[waits - 1].look };
}

/* The number of a look, 0 where there is no room for another. */
static int find_heap(struct look look)
{
	for (int i = paint.heaps; i > 0; i--)
		if (look_is(paint.heap[i - 1].look, look))
			return i;
	if (paint.heaps == MOST_LOOKS)
		return 0;
	paint.heap[paint.heaps] =
		(struct heap){ .look = look, .first = NONE, .last = NONE };
	return ++paint.heaps;
}

void paint_add(int at, const struct shape *shape)
{
	int number = find_heap(shape->look);
	struct heap *heap;

	if (number == 0) {
		paint_all();
		number = find_heap(shape->look);
	}
	heap = &paint.heap[number - 1];
	paint.code[at] = shape->code;
	paint.waits[at] = (uint8_t)number;
	paint.next[at] = NONE;
	if (heap->first == NONE)
		heap->first = at;
	else
		paint.next[heap->last] = at;
	heap->last = at;
	heap->count++;
}

/* --- strokes ----------------------------------------------------------------- */

/* Bytes of a character so many times, where all can be repeated. */
static int repeated(int times)
{
	int again = times - 1 > 99 ? 6 : times - 1 > 9 ? 5 : 4;

	return pen_can_repeat() && times > 1 + again ? 1 + again : times;
}

/* All between two strokes waits for what is painted later. */
static bool can_cover(const struct stroke *a, const struct stroke *b)
{
	const uint8_t *row = paint.waits + a->y * paint.width;

	for (int x = a->end; x < b->x; x++)
		if (row[x] == RIGHT)
			return false;
	return true;
}

/* Two strokes become one over what is painted later, where that is shorter. */
static bool join(struct stroke *a, const struct stroke *b)
{
	int apart;

	if (a->y != b->y || a->code != b->code || a->code < 0x20 || a->code > 0x7e ||
	    !can_cover(a, b))
		return false;
	apart = repeated(a->end - a->x) + repeated(b->end - b->x) +
		move_length(a->end, a->y, b->x, b->y);
	if (repeated(b->end - a->x) > apart)
		return false;
	a->end = b->end;
	return true;
}

static void add_stroke(const struct stroke *stroke)
{
	if (paint.strokes > 0 && join(&paint.stroke[paint.strokes - 1], stroke))
		return;
	paint.stroke[paint.strokes++] = *stroke;
}

/* The strokes of a look from this cell on, as many as there is room for; returns the
 * cell behind them. */
static int32_t find_strokes(int number, int32_t at)
{
	struct stroke stroke = { 0, 0, NONE, 0 };

	paint.strokes = 0;
	for (; at != NONE && paint.strokes < MOST_STROKES - 1; at = paint.next[at]) {
		int x = at % paint.width, y = at / paint.width;
		uint32_t code = paint.code[at];

		if (paint.waits[at] != (uint8_t)number)
			continue;
		if (stroke.y == y && stroke.end == x) {
			stroke.end += text_code_width(code);
			stroke.code = stroke.code == code ? code : 0;
			continue;
		}
		if (stroke.y != NONE)
			add_stroke(&stroke);
		stroke = (struct stroke){ x, x + text_code_width(code), y, code };
	}
	if (stroke.y != NONE)
		add_stroke(&stroke);
	return at;
}

/* --- writing ----------------------------------------------------------------- */

/* Bytes to write over a cell on the way to another: what is right and can be written
 * with what is worn stays right; what waits for another look is written anyhow. 0: it
 * must not be touched. */
static int bytes_over(int32_t at)
{
	struct shape shape;

	if (paint.waits[at] != RIGHT)
		return 1;
	shape = shape_at(at);
	if (shape.code < 0x20 || text_code_width(shape.code) != 1 || !can_write(&shape))
		return 0;
	return shape_bytes(&shape);
}

/* Bytes from one column to another of a row over what lies between, at most so many. */
static int cover_length(int from, int x, int y, int most)
{
	int32_t row = y * paint.width;
	int bytes = 0;

	if (from < 0 || from >= x || x - from > LONGEST_COVER)
		return most + 1;
	for (int i = from; i < x && bytes <= most; i++) {
		int one = bytes_over(row + i);

		bytes += one > 0 ? one : most + 1;
	}
	return bytes;
}

/* The least bytes to a cell, by a jump or over what lies between. */
static int way_length(int from_x, int from_y, int x, int y)
{
	int jump = move_length(from_x, from_y, x, y), cover;

	if (from_y != y)
		return jump;
	cover = cover_length(from_x, x, y, jump);
	return cover < jump ? cover : jump;
}

/* Writes over what lies between the cursor and x if that is shorter than a jump. */
static void approach(int x, int y)
{
	int from = pen_x(), jump = pen_distance(x, y);
	int32_t row = y * paint.width;

	if (pen_y() != y || cover_length(from, x, y, jump) > jump) {
		pen_go(x, y);
		return;
	}
	for (int i = from; i < x; i++) {
		struct shape shape = shape_at(row + i);

		if (can_write(&shape) && text_code_width(shape.code) == 1) {
			paint.waits[row + i] = RIGHT;
			pen_write(shape.code, 1, paint.width, 1);
		} else {
			pen_write(' ', 1, paint.width, 1);
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
	int width = paint.width, count = 1;
	int32_t row = y * width;
	bool corner = pen_scrolls_at_end() && y == paint.canvas->height - 1;

	for (int i = x + 1; i < width - corner && goes_on(row + i, shape); i++)
		if (paint.waits[row + i] != RIGHT)
			count = i - x + 1;
	return count;
}

/* One character over the whole of it; what waits there for another look still does. */
static void write_even(const struct stroke *stroke, int number)
{
	uint8_t *row = paint.waits + stroke->y * paint.width;

	for (int x = stroke->x; x < stroke->end; x++)
		if (row[x] == number)
			row[x] = RIGHT;
	pen_write(stroke->code, 1, paint.width, stroke->end - stroke->x);
}

/* All that follows in this row and can be written with what is worn. */
static void write_on(int x, int y)
{
	int32_t row = y * paint.width;

	while (x < paint.width && paint.waits[row + x] != RIGHT) {
		struct shape shape = shape_at(row + x);
		int columns = text_code_width(shape.code), count = 1;

		if (!can_write(&shape))
			return;
		if (columns == 1)
			count = same_cells(x, y, &shape);
		pen_write(shape.code, columns, paint.width, count);
		memset(paint.waits + row + x, RIGHT, (size_t)count);
		x += count * columns;
		/* erased, not written: the cursor stays before them */
		if (pen_x() != x)
			return;
	}
}

static void write_stroke(const struct stroke *stroke, int number)
{
	bool even = stroke->code >= 0x20 && stroke->code <= 0x7e;
	int x = stroke->x;

	/* what was written on the way to another */
	while (x < stroke->end &&
	       paint.waits[stroke->y * paint.width + x] != (uint8_t)number)
		x++;
	if (x == stroke->end)
		return;
	approach(x, stroke->y);
	pen_wear(paint.heap[number - 1].look);
	if (even) {
		struct stroke rest = *stroke;

		rest.x = x;
		write_even(&rest, number);
		return;
	}
	/* erased blanks leave the cursor where it is */
	for (; x < stroke->end; x++) {
		if (paint.waits[stroke->y * paint.width + x] != (uint8_t)number)
			continue;
		approach(x, stroke->y);
		pen_wear(paint.heap[number - 1].look);
		write_on(x, stroke->y);
	}
}

/* --- the way through the strokes --------------------------------------------- */

enum way { FORWARD, BACKWARD };

/* The strokes of one row: the bytes of the moves up to its end, the way of it that the
 * row before is gone through for that. */
struct leg {
	int first, last;
	int cost[2];
	enum way before[2];
};

static int after(const struct stroke *stroke)
{
	return stroke->end < paint.width ? stroke->end : NONE;
}

/* Moves between the strokes of a row. */
static int inner_length(const struct leg *leg, enum way way)
{
	const struct stroke *stroke = paint.stroke;
	int bytes = 0;

	for (int i = leg->first; i < leg->last; i++)
		bytes += way == FORWARD
				 ? way_length(after(&stroke[i]), stroke[i].y,
					      stroke[i + 1].x, stroke[i].y)
				 : move_length(after(&stroke[i + 1]), stroke[i].y,
					       stroke[i].x, stroke[i].y);
	return bytes;
}

static int entry_length(int x, int y, const struct leg *leg, enum way way)
{
	const struct stroke *to =
		&paint.stroke[way == FORWARD ? leg->first : leg->last];

	return move_length(x, x < 0 ? NONE : y, to->x, to->y);
}

/* From the best end of the row before. */
static void reckon_leg(struct leg *leg, const struct leg *before)
{
	for (int way = FORWARD; way <= BACKWARD; way++) {
		int inner = inner_length(leg, (enum way)way);

		if (!before) {
			leg->cost[way] = inner + entry_length(pen_x(), pen_y(), leg,
							      (enum way)way);
			continue;
		}
		leg->cost[way] = -1;
		for (int from = FORWARD; from <= BACKWARD; from++) {
			const struct stroke *end =
				&paint.stroke[from == FORWARD ? before->last
							      : before->first];
			int cost = before->cost[from] + inner +
				   entry_length(after(end), end->y, leg, (enum way)way);

			if (leg->cost[way] >= 0 && leg->cost[way] <= cost)
				continue;
			leg->cost[way] = cost;
			leg->before[way] = (enum way)from;
		}
	}
}

static int find_legs(struct leg leg[MOST_STROKES])
{
	int legs = 0;

	for (int i = 0; i < paint.strokes; i++) {
		if (i > 0 && paint.stroke[i].y == paint.stroke[i - 1].y)
			leg[legs - 1].last = i;
		else
			leg[legs++] = (struct leg){ .first = i, .last = i };
	}
	for (int i = 0; i < legs; i++)
		reckon_leg(&leg[i], i > 0 ? &leg[i - 1] : NULL);
	return legs;
}

static void write_leg(const struct leg *leg, enum way way, int number)
{
	if (way == FORWARD)
		for (int i = leg->first; i <= leg->last; i++)
			write_stroke(&paint.stroke[i], number);
	else
		for (int i = leg->last; i >= leg->first; i--)
			write_stroke(&paint.stroke[i], number);
}

static void write_strokes(int number)
{
	static struct leg leg[MOST_STROKES];
	static enum way chosen[MOST_STROKES];
	int legs = find_legs(leg);
	enum way way;

	if (legs == 0)
		return;
	way = leg[legs - 1].cost[BACKWARD] < leg[legs - 1].cost[FORWARD] ? BACKWARD
									 : FORWARD;
	for (int i = legs - 1; i >= 0; i--) {
		chosen[i] = way;
		way = leg[i].before[way];
	}
	for (int i = 0; i < legs; i++)
		write_leg(&leg[i], chosen[i], number);
}

/* --- looks ------------------------------------------------------------------- */

static void paint_heap(int number)
{
	int32_t at = paint.heap[number - 1].first;

	pen_wear(paint.heap[number - 1].look);
	while (at != NONE) {
		at = find_strokes(number, at);
		write_strokes(number);
	}
}

/* Painted grounds before letters on them, letters on the terminal's own ground after
 * those; the larger heap before the smaller; the plain look, with which a frame ends,
 * last. */
static int rank(const struct heap *heap)
{
	const struct look *look = &heap->look;

	if (look_is(*look, plain))
		return 4;
	if (look->back < 0 || look->reverse)
		return look->bold ? 2 : 3;
	return look->fore >= 0;
}

static bool goes_before(const struct heap *a, const struct heap *b)
{
	int x = rank(a), y = rank(b);

	return x != y ? x < y : a->count > b->count;
}

void paint_all(void)
{
	uint8_t order[MOST_LOOKS];

	for (int i = 0; i < paint.heaps; i++) {
		int at = i;

		for (;
		     at > 0 && goes_before(&paint.heap[i], &paint.heap[order[at - 1]]);
		     at--)
			order[at] = order[at - 1];
		order[at] = (uint8_t)i;
	}
	for (int i = 0; i < paint.heaps; i++)
		paint_heap(order[i] + 1);
	pen_wear(plain);
	paint.heaps = 0;
}
