/* graph.h - one layer drawn as boxes and arrows (views/graph_picture.c). */
#ifndef TUI_VIEWS_GRAPH_H
#define TUI_VIEWS_GRAPH_H

#include "engine/graph/graph.h"
#include "tui/view.h"

/* Rows and lines of boxes that all of it takes at this width. */
int graph_picture_rows(const struct graph *graph, int width);
/* Rows that whole lines of boxes leave of so many. */
int graph_picture_leaves(int height);
/* Scrolled so that the operator under the cursor is seen. */
void graph_picture(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, const struct graph *graph, int cursor);
/* The operator at a place of a picture drawn like that, -1: none. */
int graph_picture_at(struct rect rect, const struct graph *graph, int cursor, int x,
		     int y);
/* The operator of the next box, or the one before. */
int graph_picture_step(const struct graph *graph, int width, int cursor,
		       enum action_kind kind);

#endif
