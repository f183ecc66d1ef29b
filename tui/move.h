/* move.h - the shortest way of the terminal's cursor from one cell to another, by
 * terminfo. Of sequences that are ECMA-48's the parameters are written here, which is
 * a hundred times faster than tparm(3); others are left to it. */
#ifndef TUI_MOVE_H
#define TUI_MOVE_H

enum { MOVE_MAX = 64 };

/* Asks terminfo of the terminal that is open. */
void move_begin(void);
/* The bytes of the way, ended with a zero; returns how many. A start below 0 is not
 * known: then only the place itself helps. */
int move_way(int from_x, int from_y, int x, int y, char way[MOVE_MAX]);
int move_length(int from_x, int from_y, int x, int y);
/* The terminal has shown that there is a tab stop in every eighth column, and has so
 * many columns; 0: it has not. */
void move_use_tabs(int width);

#endif
