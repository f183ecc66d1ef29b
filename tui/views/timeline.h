/* timeline.h - what the view Timeline draws from, for its two files. */
#ifndef TUI_VIEWS_TIMELINE_H
#define TUI_VIEWS_TIMELINE_H

#include "tui/view.h"

enum { TIMELINE_MARGIN = 4, TIMELINE_EDGE = 7 }; /* columns beside the lanes */

/* What the charts show, the same for the plan and its baseline. */
struct window {
	double from, to;    /* seconds */
	double now;         /* what starts later is not drawn (step by step) */
	bool only_critical; /* the critical path alone in colour */
};

/* Rows of each stage: its lane, the curve of its memory where there is room. */
int timeline_rows(struct rect rect, const struct timeline *timeline);
/* All stages that there is room for, around that of the cursor, whose number is lit in
 * the plan's own chart. */
void timeline_draw_chart(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct timeline *timeline, int cursor,
			 const struct window *window);
/* The item, wherever it is drawn by the above. */
void timeline_mark(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, const struct timeline *timeline, int32_t item,
		   const struct window *window);
/* The item at a place of a chart drawn like that; -1: none. */
int32_t timeline_item_at(struct rect rect, const struct timeline *timeline, int cursor,
			 const struct window *window, int x, int y);
void timeline_draw_axis(struct canvas *canvas, struct rect rect,
			const struct window *window);
/* Activations of a stage, the peak marked. */
void timeline_draw_memory(struct canvas *canvas, struct rect rect,
			  const struct timeline *timeline, int stage,
			  const struct window *window);

#endif
