/* paint.c - see paint.h. */
#include "tui/paint.h"

#include <ctype.h>
#include <stdlib.h>

#include "tui/pen.h"
#include "tui/stroke.h"

enum { MOST_LOOKS = 200 };

static const struct look plain = { .fore = -1, .back = -1 };

/* Cells of one look, row by row. */
struct heap {
	struct look look;
	int32_t first, last;
	bool letters; /* not blanks alone */
};

/* What a cell's roles, attributes and kind of character make of it, as met last. */
struct dye {
	uint32_t key; /* 0: none yet */
	bool blanks;  /* the character is a blank on its colour */
	struct look look;
};
enum { DYES = 256 };

static struct {
	const struct canvas *canvas;
	enum palette palette;
	uint32_t looks; /* bits of a key: the palette, and whether there are looks */
	struct dye dye[DYES];
	struct wall wall;
	struct heap heap[MOST_LOOKS];
	int heaps, last;  /* the number that was found last */
	struct look worn; /* for the heap that is painted */
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
	paint.looks = (uint32_t)palette << 24 | (uint32_t)pen_has_looks() << 30 |
		      UINT32_C(1) << 31;
	paint.heaps = 0;
}

/* --- cells ------------------------------------------------------------------- */

/* A full block is a blank on its colour, which is a third of the bytes; of a blank
 * nobody sees what it would be written with. */
static void mix_dye(const struct cell *cell, struct dye *dye)
{
	struct look *look = &dye->look;
	bool blank = cell->code == ' ';

	*look = theme_look(cell, paint.palette);
	if (!pen_has_looks())
		*look = plain;
	dye->blanks = cell->code == 0x2588 && look->fore >= 0 && !look->reverse;
	if (dye->blanks)
		look->back = look->fore;
	if ((blank || dye->blanks) && !look->reverse && !look->underline) {
		look->fore = -1;
		look->bold = false;
	}
}

/* All that theme_look() and mix_dye() ask of a character. */
static uint32_t kind_of(uint32_t code)
{
	if (code < 0x80)
		return code == ' ' ? 1 : isalnum((int)code) ? 2 : 0;
	if (code < 0x2580 || code > 0x259f)
		return 0;
	return code == 0x2588 ? 3 : 4;
}

struct shape paint_shape(const struct cell *cell)
{
	uint32_t key = paint.looks | cell->fore | (uint32_t)cell->back << 8 |
		       (uint32_t)cell->reverse << 16 | (uint32_t)cell->bold << 17 |
		       (uint32_t)cell->underline << 18 | kind_of(cell->code) << 19;
	struct dye *dye = &paint.dye[(key ^ key >> 5 ^ key >> 13) % DYES];

	if (dye->key != key) {
		mix_dye(cell, dye);
		dye->key = key;
	}
	return (struct shape){ dye->blanks ? ' ' : cell->code, dye->look };
}

bool shape_is_blank(const struct shape *shape)
{
	return shape->code == ' ' && look_is(shape->look, plain);
}

int shape_bytes(const struct shape *shape)
{
	return shape->code < 0x80 ? 1 : shape->code < 0x800 ? 2 : 3;
}

struct look paint_worn(void)
{
	return paint.worn;
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
	if (paint.last > 0 && paint.last <= paint.heaps &&
	    look_is(paint.heap[paint.last - 1].look, look))
		return paint.last;
	for (int i = paint.heaps; i > 0; i--)
		if (look_is(paint.heap[i - 1].look, look))
			return paint.last = i;
	if (paint.heaps == MOST_LOOKS)
		return 0;
	paint.heap[paint.heaps] =
		(struct heap){ .look = look, .first = PAINT_END, .last = PAINT_END };
	return paint.last = ++paint.heaps;
}

void paint_add(int at, const struct shape *shape)
{
	int number = find_heap(shape->look);
	struct heap *heap;

	if (number == 0) {
		paint_all(false);
		number = find_heap(shape->look);
	}
	heap = &paint.heap[number - 1];
	paint.wall.code[at] = shape->code;
	paint.wall.waits[at] = (uint8_t)number;
	paint.wall.next[at] = PAINT_END;
	if (shape->code != ' ')
		heap->letters = true;
	if (heap->first == PAINT_END)
		heap->first = at;
	else
		paint.wall.next[heap->last] = at;
	heap->last = at;
}

/* --- looks ------------------------------------------------------------------- */

/* Painted grounds and the letters on them before letters on the terminal's own ground;
 * the plain look, with which a frame ends, last. */
static int rank(const struct heap *heap)
{
	const struct look *look = &heap->look;

	if (look_is(*look, plain))
		return 2;
	return look->back < 0 || look->reverse;
}

/* Blanks alone: nobody sees what else is worn. */
static bool is_bare(const struct heap *heap)
{
	const struct look *look = &heap->look;

	return look->back >= 0 && !heap->letters && !look->reverse && !look->underline;
}

static bool is_on(const struct heap *heap, const struct heap *ground)
{
	return heap->look.back == ground->look.back && !heap->look.reverse &&
	       !heap->look.underline && heap != ground;
}

/* What is worn for a heap: of bare ground, what its letters wear, if it has some. */
static struct look look_for(const struct heap *heap)
{
	struct look look = heap->look;

	for (int i = 0; is_bare(heap) && i < paint.heaps; i++)
		if (is_on(&paint.heap[i], heap) &&
		    (look.fore < 0 || !paint.heap[i].look.bold))
			look = paint.heap[i].look;
	return look;
}

/* Letters wait for the ground below them, so that what is painted over later need not
 * be left out. */
static bool waits_for_ground(const struct heap *heap)
{
	for (int i = 0; i < paint.heaps && !is_bare(heap); i++)
		if (paint.heap[i].first != PAINT_END && is_bare(&paint.heap[i]) &&
		    is_on(heap, &paint.heap[i]))
			return true;
	return false;
}

/* The heap that is painted next: of the lowest rank, the one whose look is the nearest
 * to what is worn, then the one that is met first. */
static int next_heap(void)
{
	int best = -1, best_price = 0;

	for (int i = 0; i < paint.heaps; i++) {
		const struct heap *heap = &paint.heap[i];
		int price;

		if (heap->first == PAINT_END || waits_for_ground(heap))
			continue;
		price = (rank(heap) << 8) + pen_wear_length(look_for(heap));
		if (best >= 0 &&
		    (price > best_price ||
		     (price == best_price && heap->first > paint.heap[best].first)))
			continue;
		best = i;
		best_price = price;
	}
	return best;
}

void paint_all(bool thorough)
{
	for (int i; (i = next_heap()) >= 0;) {
		int32_t first = paint.heap[i].first;

		paint.worn = look_for(&paint.heap[i]);
		paint.heap[i].first = PAINT_END;
		strokes_paint(&paint.wall, i + 1, first, thorough);
	}
	pen_wear(plain);
	paint.heaps = 0;
}
