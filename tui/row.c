/* row.c - see row.h. */
#include "tui/row.h"

#include <string.h>

#include "tui/paint.h"
#include "tui/pen.h"
#include "tui/text.h"

static const struct look plain = { .fore = -1, .back = -1 };

/* What each cell of the row at work is to be. */
static struct target {
	struct shape shape;
	bool differs, blank;
} target_of[CANVAS_MAX];

/* --- what differs ------------------------------------------------------------ */

/* The shape that was asked last: most blanks stand beside one like them. */
struct known {
	const struct cell *cell;
	struct shape shape;
};

/* Two characters of which none is a full block, which may stand for a blank: whatever
 * they wear, they are not the same. */
static bool is_other(const struct cell *cell, const struct cell *shown)
{
	enum { FULL_BLOCK = 0x2588 };

	return cell->code != shown->code && cell->code != FULL_BLOCK &&
	       shown->code != FULL_BLOCK;
}

static bool shape_is(const struct shape *shape, struct shape other)
{
	return shape->code == other.code && look_is(shape->look, other.look);
}

/* What is as it was and no blank can be no blank on the terminal's own ground. */
static struct target compare_cell(const struct cell *cell, const struct cell *shown,
				  bool equal, struct known *known)
{
	struct target target = { .shape.code = cell->code };

	if (equal && cell->code != ' ')
		return target;
	if (!known->cell || !cell_is(cell, known->cell))
		*known = (struct known){ cell, paint_shape(cell) };
	target.shape = known->shape;
	target.blank = shape_is_blank(&target.shape);
	if (!equal)
		target.differs = is_other(cell, shown) ||
				 !shape_is(&target.shape, paint_shape(shown));
	return target;
}

/* Cells from the first that differs to behind the last one. */
struct extent {
	int first, end;
};

/* --- erasing ----------------------------------------------------------------- */

/* Bytes of the sequence. */
enum { ERASE = 3, MOST_BLANKS = 6 };

/* What it saves that the blanks from here on are erased, without what it costs that
 * others are written again. Summed from the end of the row. */
struct saving {
	int bytes, blanks;
	bool again; /* the cell before was to be written again */
};

static inline void weigh_again(struct saving *saving, bool again,
			       const struct shape *shape)
{
	if (again)
		saving->bytes -= shape_bytes(shape) + (saving->again ? 0 : ROW_MOVE);
	saving->again = again;
}

static void weigh(struct saving *saving, const struct target *target)
{
	bool blank = target->differs && target->blank;
	bool again = !target->differs && !target->blank;

	/* a run of blanks costs a move, and no more than a repetition */
	if (blank) {
		saving->bytes += saving->blanks == 0            ? 1 + ROW_MOVE
				 : saving->blanks < MOST_BLANKS ? 1
								: 0;
		saving->blanks++;
	} else {
		saving->blanks = 0;
	}
	weigh_again(saving, again, &target->shape);
}

/* Blanks that are erased save no more than this each. */
enum { MOST_SAVED = 1 + ROW_MOVE };

/* Weighs the cells behind all that differ; false: there is so much to be written again
 * that no erasure pays. */
static bool weigh_rest(struct saving *saving, const struct cell *row, int differing,
		       int end, int width)
{
	bool bare = false; /* of the blank that was met last */

	for (int x = width - 1; x >= end; x--) {
		struct target *target = &target_of[x];
		bool blank = row[x].code == ' ';

		if (blank && (x + 1 == width || !cell_is(&row[x], &row[x + 1]))) {
			struct shape shape = paint_shape(&row[x]);

			bare = shape_is_blank(&shape);
		}
		*target = (struct target){ .shape.code = row[x].code,
					   .blank = blank && bare };
		weigh_again(saving, !target->blank, &target->shape);
		if (saving->bytes < -MOST_SAVED * differing)
			return false;
	}
	return true;
}

/* Of a wide character, now or before. */
static bool is_half(const struct cell *row, const struct cell *shown, int x)
{
	return row[x].code == 0 || shown[x].code == 0;
}

/* Where in this row it pays most to erase all that follows; -1: nowhere. */
static int find_erasure(const struct cell *row, const struct cell *shown,
			struct extent all, int width, int y)
{
	struct saving saving = { 0 };
	int best = 0, place = -1;

	if (!weigh_rest(&saving, row, all.end - all.first, all.end, width))
		return -1;
	for (int x = all.end - 1; x >= all.first; x--) {
		int net;

		weigh(&saving, &target_of[x]);
		if (is_half(row, shown, x) || (x > 0 && is_half(row, shown, x - 1)))
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
		struct target *target = &target_of[x];

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
static void join_blanks(int first, int end)
{
	for (int x = first + 1; x < end; x++) {
		struct target *here = &target_of[x];

		if (is_ground(here) && can_join(here, here - 1))
			here->shape.look = here[-1].shape.look;
	}
	for (int x = end - 2; x >= first; x--) {
		struct target *here = &target_of[x];

		if (is_ground(here) && can_join(here, here + 1))
			here->shape.look = here[1].shape.look;
	}
}

/* Notes what each of them is to be; nothing may be seen of a difference. */
static struct extent compare(const struct cell *row, const struct cell *shown,
			     int width)
{
	struct known known = { .cell = NULL };
	struct extent all = { 0, width };
	int x;

	while (all.first < width && cell_is(&row[all.first], &shown[all.first]))
		all.first++;
	while (all.end > all.first && cell_is(&row[all.end - 1], &shown[all.end - 1]))
		all.end--;
	for (x = all.first; x < all.end; x++)
		target_of[x] = compare_cell(&row[x], &shown[x],
					    cell_is(&row[x], &shown[x]), &known);
	while (all.first < all.end && !target_of[all.first].differs)
		all.first++;
	return all;
}

bool row_paint(const struct canvas *canvas, int y, struct cell *shown)
{
	int width = canvas->width, erasure = -1;
	size_t start = (size_t)y * (size_t)width;
	const struct cell *row = canvas->cell + start;
	bool corner = pen_scrolls_at_end() && y == canvas->height - 1;
	struct extent all;

	if (memcmp(row, shown, (size_t)width * sizeof *row) == 0)
		return false;
	all = compare(row, shown, width);
	if (all.first == all.end)
		return false;
	if (pen_can_erase_line())
		erasure = find_erasure(row, shown, all, width, y);
	if (erasure >= 0) {
		erase_from(erasure, row, width, y);
		all.end = width;
	}
	join_blanks(all.first, all.end);
	for (int x = all.first; x < all.end; x++)
		if (target_of[x].differs && row[x].code != 0 &&
		    !(corner && x + text_code_width(row[x].code) >= width))
			paint_add((int)start + x, &target_of[x].shape);
	memcpy(shown, row, (size_t)width * sizeof *row);
	return true;
}
