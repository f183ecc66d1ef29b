/* painter.c - see painter.h. terminfo(5) names the capabilities. */
#include "tui/painter.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <wchar.h>

/* term.h leaves macros behind that are ordinary words here. */
#undef lines
#undef columns

#include "tui/text.h"

/* A gap of cells that are right already is written over rather than jumped. */
enum { GAP = 4 };

static const struct look plain = { .fore = -1, .back = -1 };

static struct {
	/* how to do it; NULL: the terminal can't */
	const char *clear, *move, *right, *erase_line, *normal, *colours_off;
	const char *bold, *reverse, *underline, *fore, *back, *show, *hide;
	char sync_on[16], sync_off[16];
	bool scrolls_at_end; /* a character in the last corner scrolls all */
	bool moves_plain;    /* colours must be off while the cursor moves */
	bool no_attributes;  /* they would take cells of their own */
	bool rgb;            /* colours of this frame are 0xRRGGBB */
	bool ecma;           /* attributes can be put together and taken back singly */
	int colours;
	/* what the terminal shows */
	struct canvas shown;
	bool known;
	int x, y; /* of its cursor; -1: unknown */
	struct look look;
	int cursor; /* 1 visible, 0 hidden, -1 unknown */
	/* the frame that is made */
	char *bytes;
	size_t length, room;
	bool failed;
} painter;

static const char *ask(const char *name)
{
	const char *string = tigetstr(name);

	return string == (const char *)-1 ? NULL : string;
}

/* By its terminfo, else where there is a mouse: such terminals read private modes, and
 * pass over those that they don't know (ECMA-48, DEC STD 070). */
static void ask_sync(void)
{
	const char *sync = ask("Sync");

	painter.sync_on[0] = painter.sync_off[0] = '\0';
	if (sync) {
		snprintf(painter.sync_on, sizeof painter.sync_on, "%s",
			 tparm(sync, 1L));
		snprintf(painter.sync_off, sizeof painter.sync_off, "%s",
			 tparm(sync, 2L));
	} else if (ask("kmous")) {
		strcpy(painter.sync_on, "\033[?2026h");
		strcpy(painter.sync_off, "\033[?2026l");
	}
}

void painter_begin(void)
{
	painter.clear = ask("clear");
	painter.move = ask("cup");
	painter.right = ask("cuf");
	painter.erase_line = ask("el");
	painter.normal = ask("sgr0");
	painter.colours_off = ask("op");
	painter.bold = ask("bold");
	painter.reverse = ask("rev");
	painter.underline = ask("smul");
	painter.fore = ask("setaf");
	painter.back = ask("setab");
	painter.show = ask("cnorm");
	painter.hide = ask("civis");
	painter.scrolls_at_end = tigetflag("am") > 0 && tigetflag("xenl") <= 0;
	painter.moves_plain = tigetflag("msgr") <= 0;
	/* by its terminfo, ECMA-48: "op" is SGR 39 and 49, a colour is SGR 30 to 49 */
	painter.ecma = painter.colours_off && strstr(painter.colours_off, "39;49") &&
		       painter.fore && strstr(painter.fore, "\033[") == painter.fore;
	painter.colours = tigetnum("colors");
	painter.no_attributes = tigetnum("xmc") > 0 || !painter.normal;
	ask_sync();
	painter_forget();
}

void painter_end(void)
{
	canvas_free(&painter.shown);
	free(painter.bytes);
	painter.bytes = NULL;
	painter.room = 0;
}

void painter_forget(void)
{
	painter.known = false;
}

/* --- bytes ------------------------------------------------------------------- */

static int put_byte(int byte)
{
	if (painter.length == painter.room) {
		size_t room = painter.room > 0 ? 2 * painter.room : 1 << 14;
		char *grown = realloc(painter.bytes, room);

		if (!grown) {
			painter.failed = true;
			return byte;
		}
		painter.bytes = grown;
		painter.room = room;
	}
	painter.bytes[painter.length++] = (char)byte;
	return byte;
}

/* With the padding that old terminals ask for. */
static void put(const char *string)
{
	if (string)
		tputs(string, 1, put_byte);
}

/* 24 bits as xterm and all who followed it write them: few terminfos say how. */
static void put_colour(const char *capability, int base, int colour)
{
	char sequence[32];

	if (!painter.rgb) {
		if (capability)
			put(tparm(capability, (long)colour));
		return;
	}
	snprintf(sequence, sizeof sequence, "\033[%d;2;%d;%d;%dm", base,
		 colour >> 16 & 255, colour >> 8 & 255, colour & 255);
	for (const char *c = sequence; *c != '\0'; c++)
		put_byte(*c);
}

static int add_colour(char *out, size_t size, int colour, bool back)
{
	int base = back ? 40 : 30;

	if (colour < 0)
		return snprintf(out, size, "%d;", base + 9);
	if (painter.rgb)
		return snprintf(out, size, "%d;2;%d;%d;%d;", base + 8,
				colour >> 16 & 255, colour >> 8 & 255, colour & 255);
	if (colour < 8)
		return snprintf(out, size, "%d;", base + colour);
	return snprintf(out, size, "%d;5;%d;", base + 8, colour);
}

/* The parameters of one SGR from one look to another, each with a semicolon. */
static int add_changes(char *out, size_t size, struct look from, struct look to)
{
	int used = 0;

	out[0] = '\0';
	if (from.bold != to.bold)
		used += snprintf(out + used, size - (size_t)used,
				 to.bold ? "1;" : "22;");
	if (from.underline != to.underline)
		used += snprintf(out + used, size - (size_t)used,
				 to.underline ? "4;" : "24;");
	if (from.reverse != to.reverse)
		used += snprintf(out + used, size - (size_t)used,
				 to.reverse ? "7;" : "27;");
	if (from.fore != to.fore)
		used += add_colour(out + used, size - (size_t)used, to.fore, false);
	if (from.back != to.back)
		used += add_colour(out + used, size - (size_t)used, to.back, true);
	return used;
}

/* One sequence, from what is worn or from nothing, whichever is shorter. */
static void wear_at_once(struct look look)
{
	char change[96], anew[96] = "0;";
	int from_now = add_changes(change, sizeof change, painter.look, look);
	int from_plain = 2 + add_changes(anew + 2, sizeof anew - 2, plain, look);
	const char *best = from_now <= from_plain ? change : anew;
	int length = from_now <= from_plain ? from_now : from_plain;

	if (from_now == 0)
		return;
	if (from_plain == 2 && length == 2)
		length = 1; /* "\033[m" */
	put_byte('\033');
	put_byte('[');
	for (int i = 0; i < length - 1; i++)
		put_byte(best[i]);
	put_byte('m');
	painter.look = look;
}

/* The same by the terminal's own strings, which can only add. */
static void wear_one_by_one(struct look look)
{
	struct look *now = &painter.look;

	if ((now->bold && !look.bold) || (now->reverse && !look.reverse) ||
	    (now->underline && !look.underline) || (now->fore >= 0 && look.fore < 0) ||
	    (now->back >= 0 && look.back < 0)) {
		/* sgr0 ends colours too where it is ECMA-48's */
		if ((now->fore >= 0 || now->back >= 0) &&
		    !strstr(painter.normal, "[m") && !strstr(painter.normal, "[0"))
			put(painter.colours_off);
		put(painter.normal);
		*now = plain;
	}
	if (look.bold && !now->bold)
		put(painter.bold);
	if (look.reverse && !now->reverse)
		put(painter.reverse);
	if (look.underline && !now->underline)
		put(painter.underline);
	if (look.fore != now->fore)
		put_colour(painter.fore, 38, look.fore);
	if (look.back != now->back)
		put_colour(painter.back, 48, look.back);
	*now = look;
}

static void wear(struct look look)
{
	if (painter.no_attributes)
		return;
	if (painter.ecma && (painter.rgb || painter.colours >= 256))
		wear_at_once(look);
	else
		wear_one_by_one(look);
}

static void go(int x, int y)
{
	char there[64];
	const char *along;

	if (painter.x == x && painter.y == y)
		return;
	if (painter.moves_plain)
		wear(plain);
	snprintf(there, sizeof there, "%s", tparm(painter.move, (long)y, (long)x));
	along = painter.right && painter.y == y && painter.x >= 0 && painter.x < x
			? tparm(painter.right, (long)(x - painter.x))
			: there;
	put(strlen(along) < strlen(there) ? along : there);
	painter.x = x;
	painter.y = y;
}

/* --- cells ------------------------------------------------------------------- */

/* What a cell is to be on the terminal. */
struct shape {
	uint32_t code;
	struct look look;
};

static bool looks_same(struct look a, struct look b)
{
	return a.fore == b.fore && a.back == b.back && a.bold == b.bold &&
	       a.reverse == b.reverse && a.underline == b.underline;
}

/* A full block is a blank on its colour, which is a third of the bytes; of a blank
 * nobody sees what it would be written with. */
static struct shape shape_of(const struct cell *cell, enum palette palette)
{
	struct shape shape = { cell->code, theme_look(cell, palette) };
	struct look *look = &shape.look;

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

/* Blanks are written with what is worn. */
static struct look worn_by(const struct shape *shape)
{
	struct look look = shape->look;

	if (shape->code == ' ' && !look.reverse && !look.underline) {
		look.fore = painter.look.fore;
		look.bold = painter.look.bold;
	}
	return look;
}

static bool is_same(const struct cell *a, const struct cell *b, enum palette palette)
{
	struct shape x, y;

	if (a->code == b->code && a->fore == b->fore && a->back == b->back &&
	    a->reverse == b->reverse && a->bold == b->bold &&
	    a->underline == b->underline)
		return true;
	x = shape_of(a, palette);
	y = shape_of(b, palette);
	return x.code == y.code && looks_same(x.look, y.look);
}

static void put_cell(const struct cell *cell, enum palette palette, int width)
{
	struct shape shape = shape_of(cell, palette);
	wchar_t code = (wchar_t)shape.code;
	int columns = text_code_width(shape.code);
	char text[16];
	mbstate_t state = { 0 };
	size_t length;

	wear(worn_by(&shape));
	/* A character that this C library cannot place would shift the row. */
	if (shape.code > 0x7e && wcwidth(code) != columns) {
		code = L'?';
		columns = 1;
	}
	length = wcrtomb(text, code, &state);
	if (length == (size_t)-1)
		text[0] = '?', length = 1;
	for (size_t i = 0; i < length; i++)
		put_byte(text[i]);
	/* behind the last column terminals differ in where the cursor is */
	painter.x += columns;
	if (painter.x >= width)
		painter.x = painter.y = -1;
}

static bool is_blank(const struct cell *cell, enum palette palette)
{
	struct shape shape = shape_of(cell, palette);

	return shape.code == ' ' && looks_same(shape.look, plain);
}

/* Where the blank end of a row begins. */
static int blank_tail(const struct cell *row, int width, enum palette palette)
{
	while (width > 0 && is_blank(&row[width - 1], palette))
		width--;
	return width;
}

/* More of the blank end differs than the sequence is long. */
static bool erase_pays(const struct cell *row, const struct cell *shown, int left,
		       enum palette palette)
{
	int differ = 0;

	for (int i = 0; i < left && painter.erase_line; i++)
		differ += !is_same(&row[i], &shown[i], palette);
	return differ > 4;
}

/* What lies between the cursor and x is short, plain to write and of the look that is
 * worn: cheaper than a jump. */
static bool bridge(const struct cell *row, int x, int y, const struct canvas *canvas,
		   enum palette palette)
{
	int from = painter.x;

	if (painter.y != y || from < 0 || from >= x || x - from > GAP)
		return false;
	for (int i = from; i < x; i++) {
		struct shape shape = shape_of(&row[i], palette);

		if (shape.code < 0x20 || shape.code > 0x7e ||
		    !looks_same(worn_by(&shape), painter.look))
			return false;
	}
	for (int i = from; i < x; i++)
		put_cell(&row[i], palette, canvas->width);
	return true;
}

static void paint_row(const struct canvas *canvas, int y, enum palette palette)
{
	size_t first = (size_t)y * (size_t)canvas->width;
	const struct cell *row = canvas->cell + first;
	struct cell *shown = painter.shown.cell + first;
	int width = canvas->width, tail = -1;

	for (int x = 0; x < width; x++) {
		bool corner = painter.scrolls_at_end && y == canvas->height - 1 &&
			      x + text_code_width(row[x].code) >= width;

		if (is_same(&row[x], &shown[x], palette))
			continue;
		if (tail < 0)
			tail = blank_tail(row, width, palette);
		if (x >= tail && erase_pays(row + x, shown + x, width - x, palette)) {
			go(x, y);
			wear(plain);
			put(painter.erase_line);
			memcpy(shown + x, row + x, (size_t)(width - x) * sizeof *row);
			return;
		}
		shown[x] = row[x];
		if (row[x].code == 0 || corner)
			continue;
		bridge(row, x, y, canvas, palette);
		go(x, y);
		put_cell(&row[x], palette, width);
	}
}

static void park_cursor(const struct canvas *canvas)
{
	int visible = canvas->cursor_x >= 0 && canvas->cursor_y >= 0;

	if (visible)
		go(canvas->cursor_x, canvas->cursor_y);
	else if (!painter.hide)
		go(canvas->width - 1, canvas->height - 1);
	if (visible != painter.cursor)
		put(visible ? painter.show : painter.hide);
	painter.cursor = visible;
}

static bool begin_whole(const struct canvas *canvas)
{
	struct canvas *shown = &painter.shown;

	if (shown->cell == NULL || shown->width != canvas->width ||
	    shown->height != canvas->height) {
		if (!canvas_resize(shown, canvas->width, canvas->height))
			return false;
	}
	canvas_erase(shown);
	painter.look = plain;
	put(painter.normal);
	put(painter.clear);
	painter.x = painter.y = painter.cursor = -1;
	painter.known = true;
	return true;
}

const char *painter_frame(const struct canvas *canvas, enum palette palette,
			  size_t *length)
{
	size_t start;

	painter.length = 0;
	painter.failed = false;
	painter.rgb = theme_is_rgb(palette);
	for (const char *c = painter.sync_on; *c != '\0'; c++)
		put_byte(*c);
	start = painter.length;
	if ((!painter.known || painter.shown.width != canvas->width ||
	     painter.shown.height != canvas->height) &&
	    !begin_whole(canvas))
		return NULL;
	for (int y = 0; y < canvas->height; y++)
		paint_row(canvas, y, palette);
	wear(plain);
	park_cursor(canvas);
	*length = 0;
	if (painter.length > start) {
		for (const char *c = painter.sync_off; *c != '\0'; c++)
			put_byte(*c);
		*length = painter.length;
	}
	if (painter.failed)
		painter_forget();
	return painter.failed ? NULL : painter.bytes ? painter.bytes : "";
}
