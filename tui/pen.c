/* pen.c - see pen.h. terminfo(5) names the capabilities. */
#include "tui/pen.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <wchar.h>

/* term.h leaves macros behind that are ordinary words here. */
#undef lines
#undef columns

#include "tui/move.h"
#include "tui/sgr.h"

static const struct look plain = { .fore = -1, .back = -1 };

static struct {
	/* how to do it; NULL: the terminal can't */
	const char *clear;
	const char *erase_line, *erase, *normal, *colours_off;
	const char *bold, *reverse, *underline, *fore, *back, *show, *hide;
	char sync_on[16], sync_off[16];
	bool scrolls_at_end; /* a character in the last corner scrolls all */
	bool moves_plain;    /* colours must be off while the cursor moves */
	bool no_attributes;  /* they would take cells of their own */
	bool rgb;            /* colours are 0xRRGGBB */
	bool ecma;           /* attributes can be put together and taken back singly */
	bool repeats;        /* ECMA-48's REP */
	bool repeats_all;    /* of any character, not of ASCII alone */
	bool plain_erase;    /* ECMA-48's ECH */
	bool erases_colour;  /* what is erased has the colour that is worn */
	int colours;
	/* what the terminal has now */
	int x, y; /* of its cursor; -1: unknown */
	struct look look;
	int cursor; /* 1 visible, 0 hidden, -1 unknown */
	/* what is collected */
	char *bytes;
	size_t length, room;
	bool failed;
} pen;

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

	pen.sync_on[0] = pen.sync_off[0] = '\0';
	if (sync) {
		snprintf(pen.sync_on, sizeof pen.sync_on, "%s", tparm(sync, 1L));
		snprintf(pen.sync_off, sizeof pen.sync_off, "%s", tparm(sync, 2L));
	} else if (ask("kmous")) {
		strcpy(pen.sync_on, "\033[?2026h");
		strcpy(pen.sync_off, "\033[?2026l");
	}
}

void pen_begin(void)
{
	const char *repeat = ask("rep");

	move_begin();
	pen.moves_plain = tigetflag("msgr") <= 0;
	pen.scrolls_at_end = tigetflag("am") > 0 && tigetflag("xenl") <= 0;
	pen.clear = ask("clear");
	pen.erase_line = ask("el");
	pen.erase = ask("ech");
	pen.normal = ask("sgr0");
	pen.colours_off = ask("op");
	pen.bold = ask("bold");
	pen.reverse = ask("rev");
	pen.underline = ask("smul");
	pen.fore = ask("setaf");
	pen.back = ask("setab");
	pen.show = ask("cnorm");
	pen.hide = ask("civis");
	pen.repeats = repeat && strcmp(repeat, "%p1%c\033[%p2%{1}%-%db") == 0;
	pen.repeats_all = false;
	pen.plain_erase = pen.erase && strcmp(pen.erase, "\033[%p1%dX") == 0;
	pen.erases_colour = tigetflag("bce") > 0;
	/* by its terminfo, ECMA-48: "op" is SGR 39 and 49, a colour is SGR 30 to 49 */
	pen.ecma = pen.colours_off && strstr(pen.colours_off, "39;49") && pen.fore &&
		   strstr(pen.fore, "\033[") == pen.fore;
	pen.colours = tigetnum("colors");
	pen.no_attributes = tigetnum("xmc") > 0 || !pen.normal;
	ask_sync();
}

void pen_end(void)
{
	free(pen.bytes);
	pen.bytes = NULL;
	pen.room = 0;
}

/* --- bytes ------------------------------------------------------------------- */

static int put_byte(int byte)
{
	if (pen.length == pen.room) {
		size_t room = pen.room > 0 ? 2 * pen.room : 1 << 14;
		char *grown = realloc(pen.bytes, room);

		if (!grown) {
			pen.failed = true;
			return byte;
		}
		pen.bytes = grown;
		pen.room = room;
	}
	pen.bytes[pen.length++] = (char)byte;
	return byte;
}

static void put_number(int number)
{
	if (number >= 10)
		put_number(number / 10);
	put_byte('0' + number % 10);
}

static void put_text(const char *text)
{
	for (; *text != '\0'; text++)
		put_byte(*text);
}

/* With the padding that old terminals ask for. */
static void put(const char *string)
{
	if (string)
		tputs(string, 1, put_byte);
}

void pen_start(bool rgb)
{
	pen.length = 0;
	pen.failed = false;
	pen.rgb = rgb;
}

const char *pen_bytes(size_t *length)
{
	*length = pen.length;
	return pen.failed ? NULL : pen.bytes ? pen.bytes : "";
}

size_t pen_length(void)
{
	return pen.length;
}

struct pen_place pen_place(void)
{
	return (struct pen_place){ .x = pen.x,
				   .y = pen.y,
				   .cursor = pen.cursor,
				   .look = pen.look,
				   .length = pen.length };
}

void pen_return(const struct pen_place *place)
{
	pen.x = place->x;
	pen.y = place->y;
	pen.cursor = place->cursor;
	pen.look = place->look;
	pen.length = place->length;
}

void pen_sync(bool on)
{
	put_text(on ? pen.sync_on : pen.sync_off);
}

/* --- looks ------------------------------------------------------------------- */

/* 24 bits as xterm and all who followed it write them: few terminfos say how. */
static void put_colour(const char *capability, int base, int colour)
{
	char sequence[32];

	if (!pen.rgb) {
		if (capability)
			put(tparm(capability, (long)colour));
		return;
	}
	snprintf(sequence, sizeof sequence, "\033[%d;2;%d;%d;%dm", base,
		 colour >> 16 & 255, colour >> 8 & 255, colour & 255);
	put_text(sequence);
}

static int digits(int number)
{
	return number < 10 ? 1 : number < 100 ? 2 : 3;
}

int pen_wear_length(struct look look)
{
	int from_now = sgr_length(pen.look, look, pen.rgb);
	int from_plain = 2 + sgr_length(plain, look, pen.rgb);

	if (from_now == 0)
		return 0;
	return 2 + (from_now < from_plain ? from_now : from_plain);
}

/* One sequence, from what is worn or from nothing, whichever is shorter. */
static void wear_at_once(struct look look)
{
	char change[96], anew[96] = "0;";
	int from_now = sgr_changes(change, sizeof change, pen.look, look, pen.rgb);
	int from_plain =
		2 + sgr_changes(anew + 2, sizeof anew - 2, plain, look, pen.rgb);
	const char *best = from_now <= from_plain ? change : anew;
	int length = from_now <= from_plain ? from_now : from_plain;

	if (from_now == 0)
		return;
	if (from_plain == 2 && length == 2)
		length = 1; /* "\033[m" */
	put_text("\033[");
	for (int i = 0; i < length - 1; i++)
		put_byte(best[i]);
	put_byte('m');
	pen.look = look;
}

/* The same by the terminal's own strings, which can only add. */
static void wear_one_by_one(struct look look)
{
	struct look *now = &pen.look;

	if ((now->bold && !look.bold) || (now->reverse && !look.reverse) ||
	    (now->underline && !look.underline) || (now->fore >= 0 && look.fore < 0) ||
	    (now->back >= 0 && look.back < 0)) {
		/* sgr0 ends colours too where it is ECMA-48's */
		if ((now->fore >= 0 || now->back >= 0) && !strstr(pen.normal, "[m") &&
		    !strstr(pen.normal, "[0"))
			put(pen.colours_off);
		put(pen.normal);
		*now = plain;
	}
	if (look.bold && !now->bold)
		put(pen.bold);
	if (look.reverse && !now->reverse)
		put(pen.reverse);
	if (look.underline && !now->underline)
		put(pen.underline);
	if (look.fore != now->fore)
		put_colour(pen.fore, 38, look.fore);
	if (look.back != now->back)
		put_colour(pen.back, 48, look.back);
	*now = look;
}

void pen_wear(struct look look)
{
	if (pen.no_attributes || look_is(look, pen.look))
		return;
	if (pen.ecma && (pen.rgb || pen.colours >= 256))
		wear_at_once(look);
	else
		wear_one_by_one(look);
}

struct look pen_look(void)
{
	return pen.look;
}

/* --- moves ------------------------------------------------------------------- */

int pen_distance(int x, int y)
{
	return move_length(pen.x, pen.y, x, y);
}

void pen_go(int x, int y)
{
	char way[MOVE_MAX];

	if (pen.x == x && pen.y == y)
		return;
	if (pen.moves_plain)
		pen_wear(plain);
	move_way(pen.x, pen.y, x, y, way);
	put(way);
	pen.x = x;
	pen.y = y;
}

int pen_x(void)
{
	return pen.x;
}

int pen_y(void)
{
	return pen.y;
}

bool pen_can_hide_cursor(void)
{
	return pen.hide != NULL;
}

void pen_show_cursor(bool visible)
{
	if (visible != pen.cursor)
		put(visible ? pen.show : pen.hide);
	pen.cursor = visible;
}

bool pen_has_looks(void)
{
	return !pen.no_attributes;
}

bool pen_scrolls_at_end(void)
{
	return pen.scrolls_at_end;
}

/* --- characters -------------------------------------------------------------- */

void pen_clear(void)
{
	pen.look = plain;
	put(pen.normal);
	put(pen.clear);
	pen.x = pen.y = pen.cursor = -1;
}

bool pen_can_erase_line(void)
{
	return pen.erase_line != NULL;
}

bool pen_erase_line(void)
{
	put(pen.erase_line);
	return pen.erase_line != NULL;
}

int pen_erase_length(struct look look, int count)
{
	if (!pen.erase || look.reverse || look.underline ||
	    (look.back >= 0 && !pen.erases_colour))
		return -1;
	if (pen.plain_erase)
		return count < 10 ? 4 : count < 100 ? 5 : count < 1000 ? 6 : 7;
	return (int)strlen(tparm(pen.erase, (long)count));
}

void pen_erase(int count)
{
	put(tparm(pen.erase, (long)count));
}

/* One character, then REP for the rest. Only of ASCII, as terminfo promises, where the
 * terminal has not shown that it repeats all: tmux 3.3 does not. The last two columns
 * are written out: terminals differ in whether a repetition that ends there wraps. */
static void put_often(const char *text, int width, int times)
{
	int rest = times - 1, most = width - 2 - (pen.x + 1);

	put_text(text);
	if (most > rest)
		most = rest;
	if (pen.repeats && (text[1] == '\0' || pen.repeats_all) && most > 0 &&
	    most * (int)strlen(text) > 3 + digits(most)) {
		put_text("\033[");
		put_number(most);
		put_byte('b');
		rest -= most;
	}
	while (rest-- > 0)
		put_text(text);
}

bool pen_can_repeat(void)
{
	return pen.repeats;
}

void pen_repeat_all(bool all)
{
	pen.repeats_all = all;
}

void pen_write(uint32_t code, int columns, int width, int times)
{
	wchar_t wide = (wchar_t)code;
	char text[MB_LEN_MAX + 1] = { (char)code };
	mbstate_t state = { 0 };
	size_t length = 1;

	/* A character that this C library cannot place would shift the row. */
	if (code > 0x7e && wcwidth(wide) != columns) {
		wide = L'?';
		columns = 1;
	}
	if (code > 0x7e)
		length = wcrtomb(text, wide, &state);
	if (length == (size_t)-1)
		text[0] = '?', length = 1;
	text[length] = '\0';
	put_often(text, width, times);
	/* behind the last column terminals differ in where the cursor is */
	pen.x += times * columns;
	if (pen.x >= width)
		pen.x = pen.y = -1;
}
