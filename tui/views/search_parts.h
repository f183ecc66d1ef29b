/* search_parts.h - parts of the view Search. */
#ifndef TUI_VIEWS_SEARCH_PARTS_H
#define TUI_VIEWS_SEARCH_PARTS_H

#include "tui/explorer.h"

/* Throughput against memory, or against GPUs: the front as a line, found plans as dots,
 * the plan under the cursor, the open plan and the pinned one as marks. */
void search_draw_plot(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect);

/* The closest misses, and what would do. */
int search_miss_rows(const struct search *search, int width);
void search_draw_misses(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect);
/* How many lines stand below the table of such a view. */
int search_notes(const struct explorer *explorer, struct rect view);
/* One line each, as many as there is height for. */
void search_draw_notes(const struct explorer *explorer, struct canvas *canvas,
		       struct rect view, struct rect rect);
/* What else fits (views/search_answers.c): one line, and what that had no room for.
 * With what known plans answer beside less known ones it needs the second. */
void search_draw_answers(const struct explorer *explorer, struct canvas *canvas, int x,
			 int y, int width);
void search_draw_more_answers(const struct explorer *explorer, struct canvas *canvas,
			      int x, int y, int width);
bool search_has_more_answers(const struct explorer *explorer, int width);
/* Why a plan is not the best (views/search_why.c): its step, and what it holds, by the
 * rows that differ; the rows of one sum alone, and whether none of them differs. */
void search_draw_why_seconds(const struct explorer *explorer, struct canvas *canvas,
			     int x, int y, int width);
void search_draw_why_bytes(const struct explorer *explorer, struct canvas *canvas,
			   int x, int y, int width);
void search_draw_waterfall(const struct compare_sum *sum, enum form form,
			   struct canvas *canvas, struct rect line);
bool search_is_same(const struct compare_sum *sum);
/* Whether this plan of the result is the best of all in all cases of robust.h. */
bool search_always_best(const struct search *search, int index);

/* The columns of the table of plans (views/search_columns.c). */
enum column {
	COLUMN_RANK,
	COLUMN_PLAN,
	COLUMN_LIKES,
	COLUMN_STEP,
	COLUMN_RATE,
	COLUMN_MFU,
	COLUMN_BUBBLE,
	COLUMN_REQUESTS,
	COLUMN_DOLLARS,
	COLUMN_MEMORY,
	COLUMN_TRUST,
	COLUMN_LIMIT,
	COLUMNS
};
/* Whether times are those of one request in a hundred, as the goals are. */
bool search_tells_slowest(const struct search *search);
void search_fit_columns(const struct explorer *explorer,
			struct table_column column[COLUMNS], int width, int name);
/* The columns that the longest name takes. */
int search_longest_name(const struct search *search);

#endif
