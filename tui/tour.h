/* tour.h - an order of places that is short to go through, from one that is good.
 *
 * Or's exchange (Or 1976, "Traveling Salesman-Type Combinatorial Problems"): one to
 * three places beside each other are put between two others while that pays. A step
 * back may cost another than the step there. Nothing is allocated.
 */
#ifndef TUI_TOUR_H
#define TUI_TOUR_H

enum { TOUR_MOST = 160 }; /* more places are left as they are */

/* `step` is what it costs from one place to another, from -1: from where one is now;
 * no step costs less than `least`, which may be below 0.
 * The order that is left never costs more than the one that came. */
void tour_improve(int *order, int count, int (*step)(int from, int to), int least);

enum { TOUR_COLUMNS = 512 }; /* more places are left as they are */

/* Of an order of all places 0 to count - 1, which are numbered row by row: column by
 * column instead, where places stand below each other and that is shorter. Asks for two
 * steps a place. */
void tour_try_columns(int *order, int count, int (*column)(int place),
		      int (*step)(int from, int to));

#endif
