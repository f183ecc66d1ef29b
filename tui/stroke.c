/* stroke.c - see stroke.h. */
#include "tui/stroke.h"

#include <string.h>

#include "tui/move.h"
#include "tui/pen.h"
#include "tui/text.h"
#include "tui/tour.h"

enum {
	MOST_STROKES = 512,
	LONGEST_COVER = 8 /* cells that are written over rather than jumped */
};

/* Cells beside each other that wait for the look. */
struct stroke {
	int x, end, y;
	uint32_t code; /* that all of them hold; 0: not all the same */
	int erasing;   /* what it costs more to erase it than to write it */
};

static struct {
	const struct wall *wall;
	int number; /* of the look */
	bool thorough;
	struct stroke item[MOST_STROKES];
	int count;
} strokes;

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

static bool waits_here(int32_t at)
{
	return strokes.wall->waits[at] == (uint8_t)strokes.number;
}

/* --- strokes ----------------------------------------------------------------- */

/* Bytes of a character so many times, where all can be repeated. */
static int repeated(int times)
{
	int again = times - 1 > 99 ? 6 : times - 1 > 9 ? 5 : 4;

	return pen_can_repeat() && times > 1 + again ? 1 + again : times;
}

/* One character throughout that can be repeated. */
static bool is_even(const struct stroke *stroke)
{
	return stroke->code >= 0x20 && stroke->code <= 0x7e;
}

/* All between two strokes waits for what is painted later. */
static bool can_cover(const struct stroke *a, const struct stroke *b)
{
	const uint8_t *row = strokes.wall->waits + a->y * strokes.wall->width;

	for (int x = a->end; x < b->x; x++)
		if (row[x] == PAINT_RIGHT)
			return false;
	return true;
}

/* Two strokes become one over what is painted later, where that is shorter. */
static bool join(struct stroke *a, const struct stroke *b)
{
	int apart;

	if (a->y != b->y || a->code != b->code || !is_even(a) || !can_cover(a, b))
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
	if (strokes.count > 0 && join(&strokes.item[strokes.count - 1], stroke))
		return;
	strokes.item[strokes.count++] = *stroke;
}

/* The strokes from this cell on, as many as there is room for; returns the
 * cell behind them. */
static int32_t find_strokes(int32_t at)
{
	struct stroke stroke = { .y = PAINT_END };

	strokes.count = 0;
	for (; at != PAINT_END && strokes.count < MOST_STROKES - 1;
	     at = strokes.wall->next[at]) {
		int x = at % strokes.wall->width, y = at / strokes.wall->width;
		uint32_t code = strokes.wall->code[at];

		if (!waits_here(at))
			continue;
		if (stroke.y == y && stroke.end == x) {
			stroke.end += text_code_width(code);
			if (stroke.code != code)
				stroke.code = 0;
			continue;
		}
		if (stroke.y != PAINT_END)
			add_stroke(&stroke);
		stroke = (struct stroke){
			.x = x, .end = x + text_code_width(code), .y = y, .code = code
		};
	}
	if (stroke.y != PAINT_END)
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

	if (strokes.wall->waits[at] != PAINT_RIGHT)
		return 1;
	shape = paint_shape_at(at);
	if (shape.code < 0x20 || text_code_width(shape.code) != 1 || !can_write(&shape))
		return 0;
	return shape_bytes(&shape);
}

/* Bytes from one column to another of a row over what lies between, at most so many. */
static int cover_length(int from, int x, int y, int most)
{
	int32_t row = y * strokes.wall->width;
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
	int32_t row = y * strokes.wall->width;

	if (pen_y() != y || cover_length(from, x, y, jump) > jump) {
		pen_go(x, y);
		return;
	}
	for (int i = from; i < x; i++) {
		struct shape shape = paint_shape_at(row + i);

		if (can_write(&shape) && text_code_width(shape.code) == 1) {
			strokes.wall->waits[row + i] = PAINT_RIGHT;
			pen_write(shape.code, 1, strokes.wall->width, 1);
		} else {
			pen_write(' ', 1, strokes.wall->width, 1);
		}
	}
}

/* Whether the cell may be written now: it waits, or is right and stays so. */
static bool goes_on(int32_t at, const struct shape *shape)
{
	struct shape here = paint_shape_at(at);

	return here.code == shape->code && can_write(&here);
}

/* Cells from x on that hold the same, as far as there is one that waits. */
static int same_cells(int x, int y, const struct shape *shape)
{
	int width = strokes.wall->width, count = 1;
	int32_t row = y * width;
	bool corner = pen_scrolls_at_end() && y == strokes.wall->height - 1;

	for (int i = x + 1; i < width - corner && goes_on(row + i, shape); i++)
		if (strokes.wall->waits[row + i] != PAINT_RIGHT)
			count = i - x + 1;
	return count;
}

/* One character over the whole of it; what waits there for another look still does. */
static void write_even(const struct stroke *stroke, bool stay)
{
	uint8_t *row = strokes.wall->waits + stroke->y * strokes.wall->width;
	int count = stroke->end - stroke->x;

	for (int x = stroke->x; x < stroke->end; x++)
		if (row[x] == (uint8_t)strokes.number)
			row[x] = PAINT_RIGHT;
	if (stay)
		pen_erase(count);
	else
		pen_write(stroke->code, 1, strokes.wall->width, count);
}

/* All that follows in this row and can be written with what is worn. */
static void write_on(int x, int y)
{
	int32_t row = y * strokes.wall->width;

	while (x < strokes.wall->width && strokes.wall->waits[row + x] != PAINT_RIGHT) {
		struct shape shape = paint_shape_at(row + x);
		int columns = text_code_width(shape.code), count = 1;

		if (!can_write(&shape))
			return;
		if (columns == 1)
			count = same_cells(x, y, &shape);
		pen_write(shape.code, columns, strokes.wall->width, count);
		memset(strokes.wall->waits + row + x, PAINT_RIGHT, (size_t)count);
		x += count * columns;
	}
}

static void come_to(int x, int y)
{
	approach(x, y);
	pen_wear(paint_worn());
}

/* Without what was written on the way to another. */
static void write_stroke(const struct stroke *stroke, bool stay)
{
	struct stroke rest = *stroke;
	int32_t row = stroke->y * strokes.wall->width;

	while (rest.x < rest.end && !waits_here(row + rest.x))
		rest.x++;
	if (rest.x == rest.end)
		return;
	if (is_even(&rest)) {
		come_to(rest.x, rest.y);
		write_even(&rest, stay);
		return;
	}
	for (; rest.x < rest.end; rest.x++)
		if (waits_here(row + rest.x)) {
			come_to(rest.x, rest.y);
			write_on(rest.x, rest.y);
		}
}

/* --- the way through the strokes --------------------------------------------- */

/* Through a row, and how it ends: behind the last stroke, or before it, where its
 * blanks are erased. */
enum way { FORWARD, FORWARD_STAY, BACKWARD, BACKWARD_STAY, WAYS };
enum { NO_WAY = 1 << 20 };

/* The strokes of one row: the bytes of the moves up to its end, the way of it that the
 * row before is gone through for that. */
struct leg {
	int first, last;
	int cost[WAYS];
	enum way before[WAYS];
};

static bool is_forward(enum way way)
{
	return way == FORWARD || way == FORWARD_STAY;
}

static bool stays(enum way way)
{
	return way == FORWARD_STAY || way == BACKWARD_STAY;
}

static int after(const struct stroke *stroke)
{
	return stroke->end < strokes.wall->width ? stroke->end : PAINT_END;
}

static int erasing_costs(const struct stroke *stroke)
{
	int count = stroke->end - stroke->x, erase;

	if (stroke->code != ' ')
		return NO_WAY;
	erase = pen_erase_length(paint_worn(), count);
	return erase < 0 ? NO_WAY : erase - repeated(count);
}

/* Bytes from one stroke to another, and whether it pays to erase the first. */
static int step_length(const struct stroke *from, const struct stroke *to, bool *stay)
{
	int leave = way_length(after(from), from->y, to->x, to->y);
	int erase = from->erasing;

	if (erase < NO_WAY)
		erase += move_length(from->x, from->y, to->x, to->y);
	*stay = erase < leave;
	return *stay ? erase : leave;
}

/* Moves between the strokes of a row. */
static int inner_length(const struct leg *leg, bool forward)
{
	const struct stroke *stroke = strokes.item;
	int bytes = 0;
	bool stay;

	for (int i = leg->first; i < leg->last; i++)
		bytes +=
			step_length(&stroke[i + !forward], &stroke[i + forward], &stay);
	return bytes;
}

static const struct stroke *end_of(const struct leg *leg, enum way way)
{
	return &strokes.item[is_forward(way) ? leg->last : leg->first];
}

static const struct stroke *start_of(const struct leg *leg, enum way way)
{
	return &strokes.item[is_forward(way) ? leg->first : leg->last];
}

/* The best way through the row before, for one that begins there. */
static void enter_leg(struct leg *leg, enum way way, const struct leg *before)
{
	const struct stroke *to = start_of(leg, way);
	int best = NO_WAY;

	for (enum way from = FORWARD; from < WAYS; from++) {
		const struct stroke *end = end_of(before, from);
		int x = stays(from) ? end->x : after(end), cost = before->cost[from];

		if (cost >= best)
			continue;
		cost += move_length(x, end->y, to->x, to->y);
		if (cost >= best)
			continue;
		best = cost;
		leg->before[way] = from;
	}
	leg->cost[way] += best;
}

static void reckon_leg(struct leg *leg, const struct leg *before)
{
	int inner[2] = { inner_length(leg, false), inner_length(leg, true) };

	for (enum way way = FORWARD; way < WAYS; way++) {
		const struct stroke *to = start_of(leg, way);

		leg->cost[way] = inner[is_forward(way)] +
				 (stays(way) ? end_of(leg, way)->erasing : 0);
		if (leg->cost[way] >= NO_WAY)
			continue;
		if (before)
			enter_leg(leg, way, before);
		else
			leg->cost[way] += move_length(pen_x(), pen_y(), to->x, to->y);
	}
}

static int find_legs(struct leg leg[MOST_STROKES])
{
	int legs = 0;

	for (int i = 0; i < strokes.count; i++) {
		if (i > 0 && strokes.item[i].y == strokes.item[i - 1].y)
			leg[legs - 1].last = i;
		else
			leg[legs++] = (struct leg){ .first = i, .last = i };
	}
	for (int i = 0; i < legs; i++)
		reckon_leg(&leg[i], i > 0 ? &leg[i - 1] : NULL);
	return legs;
}

/* The way that begins with these rows and costs least, row by row. */
static void choose_ways(const struct leg *leg, int legs, enum way *chosen)
{
	enum way way = FORWARD;

	for (enum way other = FORWARD; other < WAYS; other++)
		if (leg[legs - 1].cost[other] < leg[legs - 1].cost[way])
			way = other;
	for (int i = legs - 1; i >= 0; i--) {
		chosen[i] = way;
		way = leg[i].before[way];
	}
}

/* All strokes, row by row. */
static int order_strokes(int order[MOST_STROKES])
{
	static struct leg leg[MOST_STROKES];
	static enum way chosen[MOST_STROKES];
	int legs = find_legs(leg), count = 0;

	if (legs > 0)
		choose_ways(leg, legs, chosen);
	for (int i = 0; i < legs; i++) {
		int strokes_here = leg[i].last - leg[i].first + 1;

		for (int k = 0; k < strokes_here; k++)
			order[count++] = is_forward(chosen[i]) ? leg[i].first + k
							       : leg[i].last - k;
	}
	return count;
}

static int price_step(int from, int to)
{
	const struct stroke *stroke = &strokes.item[to];
	bool stay;

	if (from < 0)
		return move_length(pen_x(), pen_y(), stroke->x, stroke->y);
	return step_length(&strokes.item[from], stroke, &stay);
}

static int column_of(int place)
{
	return strokes.item[place].x;
}

/* Row by row is a good order; where rows are short, columns are often a better one. */
static void write_strokes(void)
{
	static int order[MOST_STROKES];
	int count, least = 0;

	for (int i = 0; i < strokes.count; i++) {
		strokes.item[i].erasing = erasing_costs(&strokes.item[i]);
		if (strokes.item[i].erasing < least)
			least = strokes.item[i].erasing;
	}
	count = order_strokes(order);
	tour_try_columns(order, count, column_of, price_step);
	if (strokes.thorough)
		tour_improve(order, count, price_step, least);
	for (int i = 0; i < count; i++) {
		const struct stroke *stroke = &strokes.item[order[i]];
		bool stay = stroke->erasing < 0;

		if (i + 1 < count)
			step_length(stroke, &strokes.item[order[i + 1]], &stay);
		write_stroke(stroke, stay);
	}
}

void strokes_paint(const struct wall *wall, int number, int32_t first, bool thorough)
{
	strokes.wall = wall;
	strokes.number = number;
	strokes.thorough = thorough;
	while (first != PAINT_END) {
		first = find_strokes(first);
		write_strokes();
	}
}
