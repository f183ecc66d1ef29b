/* paint.c - see paint.h. */
#include "tui/paint.h"

#include <stdlib.h>

#include "tui/pen.h"
#include "tui/stroke.h"

enum { MOST_LOOKS = 200 };

static const struct look plain = { .fore = -1, .back = -1 };

/* Cells of one look, row by row. */
struct heap {
	struct look look;
	int32_t first, last;
};

static struct {
	const struct canvas *canvas;
	enum palette palette;
	struct wall wall;
	struct heap heap[MOST_LOOKS];
	int heaps;
} paint;

bool paint_resize(int width, int height)
{
	size_t cells = (size_t)width * (size_t)height;

	paint_free();
	paint.wall.width = width;
	paint.wall.height = height;
	paint.wall.waits = calloc(cells, sizeof *paint.wall.waits);
	paint.wall.code = malloc(cells * sizeof *paint.wall.code);
	paint.wall.next = malloc(cells * sizeof *paint.wall.next);
	if (paint.wall.waits && paint.wall.code && paint.wall.next)
		return true;
	paint_free();
	return false;
}

void paint_free(void)
{
	free(paint.wall.waits);
	free(paint.wall.code);
	free(paint.wall.next);
	paint.wall.waits = NULL;
	paint.wall.code = NULL;
	paint.wall.next = NULL;
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

struct look paint_look(int number)
{
	return paint.heap[number - 1].look;
}

struct shape paint_shape_at(int32_t at)
{
	int waits = paint.wall.waits[at];

	if (waits == PAINT_RIGHT)
		return paint_shape(&paint.canvas->cell[at]);
	return (struct shape){ paint.wall.code[at], paint.heap[waits - 1].look };
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
		(struct heap){ .look = look, .first = PAINT_END, .last = PAINT_END };
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
	paint.wall.code[at] = shape->code;
	paint.wall.waits[at] = (uint8_t)number;
	paint.wall.next[at] = PAINT_END;
	if (heap->first == PAINT_END)
		heap->first = at;
	else
		paint.wall.next[heap->last] = at;
	heap->last = at;
}

/* --- looks ------------------------------------------------------------------- */

/* Painted grounds before letters on them, letters on the terminal's own ground after
 * those; what is met first before the rest, which leaves short ways between them; the
 * plain look, with which a frame ends, last. */
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

	return x != y ? x < y : a->first < b->first;
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
		strokes_paint(&paint.wall, order[i] + 1, paint.heap[order[i]].first);
	pen_wear(plain);
	paint.heaps = 0;
}
