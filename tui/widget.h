/* widget.h - the drawn things that views are made of.
 *
 * Each draws on a canvas at a place and keeps nothing; where something has to be
 * remembered (a cursor, the first visible row, a typed text) the caller keeps it.
 * Any size is allowed: what has no room is left out, never drawn outside.
 */
#ifndef TUI_WIDGET_H
#define TUI_WIDGET_H

#include <stdbool.h>

#include "engine/knob/finding.h"
#include "tui/action.h"
#include "tui/canvas.h"

/* --- bars (widget/bar.c) ---
 *
 * Ends are rounded once, at each boundary, so the total never drifts: to an
 * eighth of a column with full glyphs, to a half with basic ones, to a column in
 * ASCII. Without colour or in ASCII each part is filled with its role's letter. */

/* A stretch of an axis. ROLE_FREE is drawn as dots, so is ROLE_IDLE where there are no
 * colours. */
struct span {
	double begin, end;
	enum role role;
	const char *label; /* written inside where it fits; may be NULL */
};

/* The stretches between from (left edge) and to (right edge) of the axis; what no
 * span covers stays as it is. All rows of rect look the same, labels stand in the
 * middle one. */
void widget_spans(struct canvas *canvas, struct rect rect, const struct span *span,
		  int count, double from, double to);

/* The same where spans (in order of their begin) are too short to be told apart: each
 * column shows one role, what it has most of or, with `shares`, so that every role gets
 * its share of the columns where it is; what no span covers is idle. (widget/lane.c) */
void widget_lane(struct canvas *canvas, struct rect rect, const struct span *span,
		 int count, double from, double to, bool shares);
/* One cell that is filled from below. (widget/lane.c) */
void widget_level(struct canvas *canvas, int x, int y, double fraction, enum role role);

struct part {
	double value; /* negative and NaN count as 0 */
	enum role role;
	const char *label; /* may be NULL */
};

/* Parts side by side on an axis from 0 to full; dots up to the end. A mark stands
 * at limit (a capacity), unless it is 0 or not finite. */
void widget_stack(struct canvas *canvas, struct rect rect, const struct part *part,
		  int count, double full, double limit);
/* Those parts of a bar so wide that are too short for their names; returns how many. */
int widget_unnamed(int width, const struct part *part, int count, double full,
		   struct part *out);
/* Columns of a legend in one row. */
int legend_width(const struct part *part, int count);
/* "# weights  = gradients ..." over as many rows of rect as it takes; returns the
 * rows. Parts of value 0 or without a label are left out. */
int widget_legend(struct canvas *canvas, struct rect rect, const struct part *part,
		  int count);
/* One cell of a part's colour or letter, to stand before its name. */
void widget_key(struct canvas *canvas, int x, int y, enum role role);
/* One bar of one colour; fraction 0..1 of the width, dots behind it. */
void widget_bar(struct canvas *canvas, int x, int y, int width, double fraction,
		enum role role);
/* One upright bar, growing from the bottom. */
void widget_column(struct canvas *canvas, struct rect rect, double fraction,
		   enum role role);

/* --- what-if strip (widget/strip.c) --- */

struct strip_item {
	char label[16];  /* the knob's value */
	char note[24];   /* throughput, or why not: "OOM", "16 > 8 a node" */
	double fraction; /* height of the bar 0..1, NaN = none */
	enum role role;  /* of the note */
	enum role bar;   /* of the bar */
};

/* Labels in the first row, notes in the second, bars in the rest. The item
 * `present` is emphasised and always visible; arrows show that there are more. */
void widget_strip(struct canvas *canvas, struct rect rect,
		  const struct strip_item *item, int count, int present);
/* Whether an item of the strip drawn like this is in sight. */
bool strip_shows(struct rect rect, const struct strip_item *item, int count,
		 int present, int index);

/* --- scrolling (widget/list.c) --- */

/* The first row to show so that the cursor is visible, close to first. */
int scroll_first(int first, int cursor, int count, int height);
/* The cursor after a moving action; the same for any other action. */
int scroll_move(int cursor, int count, int height, enum action_kind action);
/* A thumb in one column; nothing if all rows are visible. */
void widget_scrollbar(struct canvas *canvas, int x, int y, int height, int first,
		      int count);

struct list {
	int count, first;
	int cursor;   /* -1: none */
	bool focused; /* the cursor has the focus: the row is highlighted */
	const void *context;
	void (*row)(const void *context, int index, struct canvas *canvas,
		    struct rect rect);
};
/* Rows of one line each, scrolled so that the cursor is visible, with a scroll
 * bar where needed. Returns the first visible row. */
int widget_list(struct canvas *canvas, struct rect rect, const struct list *list);

/* --- tables (widget/table.c) --- */

struct table_column {
	const char *title;
	int width;    /* least width; 0: takes what is left */
	bool right;   /* numbers */
	int priority; /* 0 always shown; the highest goes first when it is narrow; a
		       * negative one goes when words can give way no more */
};

struct table_cell {
	char text[96];
	enum role role;
	double bar; /* above 0: so much of a bar (1: all of it) left of the text */
};

struct table {
	const struct table_column *column;
	int columns, rows, first;
	int cursor; /* -1: none */
	bool focused;
	int sorted_by; /* a column, marked in the header; -1: none */
	int grows;     /* a column that may be up to `grown` wide where there is room */
	int grown;
	const void *context;
	void (*cell)(const void *context, int row, int column, struct table_cell *out);
};
/* A header and the rows, scrolled like a list. Returns the first visible row. */
int widget_table(struct canvas *canvas, struct rect rect, const struct table *table);

/* --- text (widget/field.c, widget/prose.c) --- */

/* A line that is being typed; zero it to empty it. Cursor and length in bytes. */
struct field {
	char text[256];
	int length, cursor;
};
void field_set(struct field *field, const char *text);
/* True if the action was about the text; what doesn't fit is not taken. */
bool field_act(struct field *field, struct action action);
/* Scrolled so that the cursor is visible; parks the canvas's cursor on it. */
void widget_field(struct canvas *canvas, int x, int y, int width,
		  const struct field *field, enum role role);

/* Words broken into lines of rect, newlines kept; the first `skip` lines are left
 * out. Returns all lines that the text takes, drawn or not. */
int widget_prose(struct canvas *canvas, struct rect rect, int skip, enum role role,
		 const char *text);
/* The same of a text with links in brackets (engine/glossary/glossary.h), which stand
 * there as keys do. */
int widget_linked(struct canvas *canvas, struct rect rect, int skip, enum role role,
		  const char *text);
/* A horizontal line with a title in it; the title may be NULL. */
void widget_rule(struct canvas *canvas, int x, int y, int width, const char *title);
/* The title of a part of a view, with the beginning of a line on both sides: a whole
 * one would be three bytes a column each time that it comes or goes. */
void widget_heading(struct canvas *canvas, int x, int y, int width, const char *title);
/* A line around a box; what it holds is left as it is. */
void widget_frame(struct canvas *canvas, struct rect rect, enum role role);
/* A frame around an area that is blanked; returns the inside. */
struct rect widget_box(struct canvas *canvas, struct rect rect, const char *title);

/* --- plots (widget/plot.c) --- */

struct axis {
	double min, max; /* min < max; above 0 if log */
	bool log;
	enum form form;    /* how ticks are written */
	const char *title; /* with the unit; may be NULL */
};

struct plot {
	struct canvas *canvas;
	struct rect area; /* of the dots */
	struct axis x, y;
};

/* Draws axes, ticks and titles inside rect and sets plot->area to what is left.
 * False, with nothing drawn, if that is no room or an axis is no range. */
bool plot_begin(struct plot *plot, struct canvas *canvas, struct rect rect,
		struct axis x, struct axis y);
/* Dots of 2 x 4 to a cell (1 x 2 with basic glyphs and in ASCII). The colour of a
 * cell is that of its last dot. Outside the axes nothing is drawn. */
void plot_dot(struct plot *plot, double x, double y, enum role role);
void plot_line(struct plot *plot, double x0, double y0, double x1, double y1,
	       enum role role);
/* A character on a point, over the dots; returns false if it lies outside. */
bool plot_mark(struct plot *plot, double x, double y, uint32_t code, enum role role);
/* At most `most` round values (1-2-5, or powers of ten) of the axis. */
int axis_ticks(const struct axis *axis, int most, double *tick);

#endif
