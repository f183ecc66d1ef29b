/* move.c - see move.h. terminfo(5) names the capabilities. */
#include "tui/move.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <term.h>

/* term.h leaves macros behind that are ordinary words here. */
#undef lines
#undef columns

#include "tui/canvas.h"

/* More single steps than this are never the shortest. */
enum { MOST_STEPS = 4, TAB = 8 };

/* A capability with one parameter. */
struct step {
	const char *string; /* NULL: the terminal can't */
	char final;         /* of ECMA-48's "ESC [ n final"; 0: some other form */
};

static struct {
	const char *place;
	bool plain_place; /* "ESC [ row ; column H" */
	struct step right, left, up, down, across;
	bool single;      /* backspace, line feed and return move and no more */
	const char *back; /* up by one */
	bool ecma;        /* all of it in the form of ECMA-48: lengths can be counted */
	int tab_width;    /* columns that tabs reach; 0: no tabs */
	uint8_t digits[CANVAS_MAX]; /* of each number */
} known;

static const char *ask(const char *name)
{
	const char *string = tigetstr(name);

	return string == (const char *)-1 ? NULL : string;
}

static bool is(const char *name, const char *expected)
{
	const char *string = ask(name);

	return string && strcmp(string, expected) == 0;
}

/* `form` with the final byte in the place of '@'. */
static struct step ask_step(const char *name, const char *form, char final)
{
	struct step step = { .string = ask(name) };
	char expected[32];

	snprintf(expected, sizeof expected, "%s%c", form, final);
	if (step.string && strcmp(step.string, expected) == 0)
		step.final = final;
	return step;
}

void move_begin(void)
{
	known.place = ask("cup");
	known.plain_place = is("cup", "\033[%i%p1%d;%p2%dH");
	known.right = ask_step("cuf", "\033[%p1%d", 'C');
	known.left = ask_step("cub", "\033[%p1%d", 'D');
	known.up = ask_step("cuu", "\033[%p1%d", 'A');
	known.down = ask_step("cud", "\033[%p1%d", 'B');
	known.across = ask_step("hpa", "\033[%i%p1%d", 'G');
	known.single = is("cub1", "\b") && is("cud1", "\n") && is("cr", "\r");
	known.back = is("ri", "\033M") ? "\033M" : NULL;
	for (int i = 0; i < CANVAS_MAX; i++)
		known.digits[i] = (uint8_t)(i < 10 ? 1 : i < 100 ? 2 : 3);
	known.ecma = known.plain_place && known.single && known.right.final &&
		     known.left.final && known.up.final && known.down.final &&
		     known.across.final && known.back;
}

void move_use_tabs(int width)
{
	known.tab_width = known.single ? width : 0;
}

/* --- one capability ---------------------------------------------------------- */

/* A way that is being made, and the shortest one of its kind so far. */
struct way {
	char bytes[MOVE_MAX];
	int length; /* -1: none is known */
};

static int add_number(char *out, int number)
{
	char digits[12];
	int count = 0, used = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (count > 0)
		out[used++] = digits[--count];
	return used;
}

static void offer(struct way *best, const char *bytes, int length)
{
	if (length >= MOVE_MAX || (best->length >= 0 && best->length <= length))
		return;
	memcpy(best->bytes, bytes, (size_t)length);
	best->length = length;
}

/* By one, the parameter may be left out (ECMA-48). */
static void offer_step(struct way *best, const struct step *step, int count)
{
	char bytes[MOVE_MAX] = "\033[";
	int length = 2;

	if (!step->string)
		return;
	if (step->final == '\0') {
		length = snprintf(bytes, sizeof bytes, "%s",
				  tparm(step->string, (long)count));
	} else {
		int number = step == &known.across ? count + 1 : count;

		if (number != 1)
			length += add_number(bytes + length, number);
		bytes[length++] = step->final;
	}
	offer(best, bytes, length);
}

static void offer_singles(struct way *best, char single, int count)
{
	char bytes[MOST_STEPS];

	if (!known.single || count > MOST_STEPS)
		return;
	memset(bytes, single, (size_t)count);
	offer(best, bytes, count);
}

/* --- a way ------------------------------------------------------------------- */

static void find_vertical(int rows, struct way *way)
{
	way->length = rows == 0 ? 0 : -1;
	if (rows > 0) {
		offer_singles(way, '\n', rows);
		offer_step(way, &known.down, rows);
	} else if (rows < 0) {
		if (rows == -1 && known.back)
			offer(way, known.back, 2);
		offer_step(way, &known.up, -rows);
	}
}

/* Tabs to the first stop that is not before x, and backspaces from there. */
struct tabs {
	bool from_start; /* of the row */
	int forward, back;
};

static bool find_tabs(int from, int x, struct tabs *tabs)
{
	int stop = (int)((unsigned)(x + TAB - 1) / TAB);

	tabs->from_start = from > x;
	tabs->forward = stop - (tabs->from_start ? 0 : (int)((unsigned)from / TAB));
	tabs->back = stop * TAB - x;
	return stop * TAB < known.tab_width;
}

static int count_tabs(const struct tabs *tabs)
{
	return tabs->from_start + tabs->forward + tabs->back;
}

static void offer_tabs(struct way *best, int from, int x)
{
	char bytes[MOVE_MAX];
	struct tabs tabs;

	if (!find_tabs(from, x, &tabs) || count_tabs(&tabs) >= best->length)
		return;
	bytes[0] = '\r';
	memset(bytes + tabs.from_start, '\t', (size_t)tabs.forward);
	memset(bytes + tabs.from_start + tabs.forward, '\b', (size_t)tabs.back);
	offer(best, bytes, count_tabs(&tabs));
}

static void find_along(int from, int x, struct way *way)
{
	way->length = x == from ? 0 : -1;
	if (x > from) {
		offer_step(way, &known.right, x - from);
	} else if (x < from) {
		if (x == 0)
			offer_singles(way, '\r', 1);
		offer_singles(way, '\b', from - x);
		offer_step(way, &known.left, from - x);
	}
	if (x != from)
		offer_step(way, &known.across, x);
	if (way->length > 1)
		offer_tabs(way, from, x);
}

/* In the first column or row its parameter may be left out. */
static void find_place(int x, int y, struct way *way)
{
	char bytes[MOVE_MAX] = "\033[";
	int length = 2;

	way->length = -1;
	if (known.plain_place) {
		if (y > 0)
			length += add_number(bytes + length, y + 1);
		if (x > 0) {
			bytes[length++] = ';';
			length += add_number(bytes + length, x + 1);
		}
		bytes[length++] = 'H';
	} else {
		length = snprintf(bytes, sizeof bytes, "%s",
				  tparm(known.place, (long)y, (long)x));
	}
	offer(way, bytes, length);
}

int move_way(int from_x, int from_y, int x, int y, char out[MOVE_MAX])
{
	struct way best, vertical, along;

	best.length = 0;
	if (from_x != x || from_y != y)
		find_place(x, y, &best);
	if (from_x >= 0 && from_y >= 0 && best.length > 0) {
		find_vertical(y - from_y, &vertical);
		find_along(from_x, x, &along);
		if (vertical.length >= 0 && along.length >= 0 &&
		    vertical.length + along.length < best.length) {
			best.length = vertical.length + along.length;
			memcpy(best.bytes, vertical.bytes, (size_t)vertical.length);
			memcpy(best.bytes + vertical.length, along.bytes,
			       (size_t)along.length);
		}
	}
	memcpy(out, best.bytes, (size_t)best.length);
	out[best.length] = '\0';
	return best.length;
}

/* --- lengths ----------------------------------------------------------------- */

/* Asked some ten thousand times a frame: what numbers take is counted once. */
static int least(int a, int b)
{
	return a < b ? a : b;
}

static int number_bytes(int number)
{
	return number < CANVAS_MAX ? known.digits[number] : 4;
}

static int step_bytes(int count)
{
	return count == 1 ? 3 : 3 + number_bytes(count);
}

static int count_vertical(int rows)
{
	if (rows == 0)
		return 0;
	if (rows == -1)
		return 2;
	if (rows > 0 && rows <= MOST_STEPS)
		return least(rows, step_bytes(rows));
	return step_bytes(rows < 0 ? -rows : rows);
}

static int count_along(int from, int x)
{
	int steps = from < x ? x - from : from - x, best;
	struct tabs tabs;

	if (steps == 0)
		return 0;
	if (x == 0)
		return 1;
	best = least(step_bytes(steps), 3 + number_bytes(x + 1));
	if (x < from && steps <= MOST_STEPS)
		best = least(best, steps);
	/* no way has fewer tabs and backspaces than one */
	return best > 1 && find_tabs(from, x, &tabs) ? least(best, count_tabs(&tabs))
						     : best;
}

static int count_place(int x, int y)
{
	return 3 + (y > 0 ? number_bytes(y + 1) : 0) +
	       (x > 0 ? 1 + number_bytes(x + 1) : 0);
}

int move_length(int from_x, int from_y, int x, int y)
{
	char way[MOVE_MAX];
	int place, vertical;

	if (!known.ecma)
		return move_way(from_x, from_y, x, y, way);
	if (from_x == x && from_y == y)
		return 0;
	place = count_place(x, y);
	if (from_x < 0 || from_y < 0)
		return place;
	vertical = count_vertical(y - from_y);
	if (vertical >= place)
		return place;
	return least(place, vertical + count_along(from_x, x));
}
