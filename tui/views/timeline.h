/* timeline.h - what the view Timeline draws from, for its two files. */
#ifndef TUI_VIEWS_TIMELINE_H
#define TUI_VIEWS_TIMELINE_H

#include "tui/view.h"

/* Columns beside the lanes, and those that stand for time that is left out. */
enum { TIMELINE_MARGIN = 4, TIMELINE_EDGE = 7, TIMELINE_BREAK = 2 };
/* Items on fewer columns than this can't be told apart. */
#define TIMELINE_NARROW 1.6

/* Time that is shown without a gap: its columns of a lane. */
struct stretch {
	double from, to; /* seconds */
	int x, columns;
};

/* What a chart shows. */
struct window {
	int parts;
	struct stretch part[3];
	double each;        /* seconds of a column, of all parts */
	double now;         /* what starts later is not drawn (step by step) */
	bool only_critical; /* the critical path alone in colour */
};

/* --- the axis (views/timeline_axis.c) --- */

/* Seconds of a column where the whole step would be too narrow; 0: it is not. */
double window_scale(const struct timeline *timeline, int columns);
/* All of the step at this scale where there is room, else its begin and its end and a
 * stretch between them around the centre. */
void window_make(struct window *out, const struct timeline *timeline, int columns,
		 double each, double centre);
/* So many seconds of the whole around the centre. */
void window_zoom(struct window *out, double whole, double span, int columns,
		 double centre);
/* When a column begins; -1: it is left out. */
double window_time(const struct window *window, int column);
/* With a sign where time is left out; in the lanes that is a gap. */
void timeline_draw_axis(struct canvas *canvas, struct rect rect,
			const struct window *window);
/* "layers per stage: 20 20 19 21", of many stages the least and the most; and how
 * Megatron is told so where there is room for that. */
void timeline_layers_text(const struct explorer *explorer, const struct timeline *t,
			  int width, char *out, size_t size);

/* Of one stage, in a line: no pipeline, so no bubble, and what it holds is level. */
void timeline_draw_alone(struct canvas *canvas, struct rect rect,
			 const struct timeline *timeline);
/* Rows of the chart that lanes of the same height leave. On a high screen more of other
 * things stands there. */
int timeline_spare_rows(struct rect rect, struct rect chart, const struct timeline *t);
/* What the step of one stage is spent on, from row y on, where `end` leaves room. */
void timeline_draw_spent(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, int y, int end);

/* --- the chart (views/timeline_chart.c) --- */

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
/* Activations of a stage, the peak marked. */
void timeline_draw_memory(struct canvas *canvas, struct rect rect,
			  const struct timeline *timeline, int stage,
			  const struct window *window);

#endif
