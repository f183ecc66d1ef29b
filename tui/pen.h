/* pen.h - the cursor of the terminal that is open: where it is, what it writes with,
 * and the bytes that change either, by terminfo. They are collected until somebody
 * sends them. One process has one terminal, hence one pen. */
#ifndef TUI_PEN_H
#define TUI_PEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/theme.h"

/* Asks terminfo of the terminal that is open. */
void pen_begin(void);
void pen_end(void);
/* What was collected is forgotten; colours are 0xRRGGBB from now on, or indices. */
void pen_start(bool rgb);
/* What was collected, and how many bytes; NULL: memory ran out. */
const char *pen_bytes(size_t *length);
size_t pen_length(void);
/* Where the pen is, and how much was collected then; back there, all that was collected
 * since is forgotten. */
struct pen_place {
	int x, y, cursor;
	struct look look;
	size_t length;
};
struct pen_place pen_place(void);
void pen_return(const struct pen_place *place);
/* Synchronized output (mode 2026) where the terminal knows it. */
void pen_sync(bool on);

/* Nothing is worn, the screen is blank, the cursor is anywhere. */
void pen_clear(void);
void pen_wear(struct look look);
/* Bytes that pen_wear() would take on a terminal of ECMA-48. */
int pen_wear_length(struct look look);
/* False: the terminal can show no look but the plain one. */
bool pen_has_looks(void);
struct look pen_look(void);
void pen_go(int x, int y);
/* Bytes that pen_go() would take. */
int pen_distance(int x, int y);
int pen_x(void); /* -1: not known */
int pen_y(void);
void pen_show_cursor(bool visible);
bool pen_can_hide_cursor(void);
/* A character of so many columns, on a screen of so many, so many times. */
void pen_write(uint32_t code, int columns, int width, int times);
/* A repetition is shorter than to write one by one. */
bool pen_can_repeat(void);
/* Whether that goes for characters that are not ASCII too; not as long as nobody says
 * so. */
void pen_repeat_all(bool all);
/* Bytes to blank so many cells from the cursor on, which stays, while this is worn; -1:
 * the terminal can't. */
int pen_erase_length(struct look look, int count);
void pen_erase(int count);
/* The rest of the row becomes blank; false where the terminal can't. */
bool pen_erase_line(void);
bool pen_can_erase_line(void);
/* A character in the last corner scrolls all. */
bool pen_scrolls_at_end(void);

/* Asked of every cell, several times. */
static inline bool look_is(struct look a, struct look b)
{
	return a.fore == b.fore && a.back == b.back && a.bold == b.bold &&
	       a.reverse == b.reverse && a.underline == b.underline;
}

#endif
