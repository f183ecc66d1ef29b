/* page.h - what the overviews of training and of serving share: a column of parts, each
 * drawn where the one before ended. */
#ifndef TUI_VIEWS_PAGE_H
#define TUI_VIEWS_PAGE_H

#include "tui/view.h"

/* How much room there is: 80x24, 120x36, 200x60. */
enum room { ROOM_COMPACT, ROOM_COMFORTABLE, ROOM_RICH };

struct page {
	const struct explorer *explorer;
	struct canvas *canvas;
	struct rect rect;
	int y; /* next free row */
	enum room room;
};

struct item {
	const char *label, *key;
	enum role role; /* of the part of the bar above that it tells; 0: of none */
};

/* A number between two that it may be between. */
struct ranged {
	const char *label, *key, *low, *high;
};

/* Free rows, and an empty one where there is room for such. */
int page_left(const struct page *page);
void page_gap(struct page *page);
int page_columns(const struct page *page);
/* Numbers in columns that line up; one behind the other, as many as fit in a line. */
void page_grid(struct page *page, const struct item *item, int count, int columns);
/* Numbers with their ranges, two in a row. */
void page_ranges(struct page *page, const struct ranged *item, int count);
void page_flow(struct page *page, const struct item *item, int count);
void page_parts(struct page *page, const struct part *part, int count, double full,
		double limit);
void page_legend(struct page *page, const struct part *part, int count, int rows);
/* In one row the keys of all parts, at most MOST_PARTS, or of those that the bar above
 * has no room to name. */
enum { MOST_PARTS = 16 };
void page_short_legend(struct page *page, const struct part *part, int count,
		       double full);
/* What a step is spent on, with its key. */
void page_time_bar(struct page *page);
/* "MEMORY 58.1 GiB of 79.1 GiB  fits, 97 % sure" */
void page_capacity(struct page *page);
void page_traffic(struct page *page);
/* Memory and time of each stage side by side, where there is room for much. */
void page_stages(struct page *page);
/* What other values of the knob under the cursor would give. */
void page_strip(struct page *page, int rows);
/* Rows of it on a high screen: what so many rows of advice leave. */
int page_tall_strip(const struct page *page, int advice, int least);
/* Problems and advice in the rows that are left; advice alone. */
void page_advice(struct page *page);
void page_hints(struct page *page);
/* Why there are no numbers. */
void page_illegal(struct page *page);

/* The overview of a server, below the title, and the numbers of it (serving.c). */
void serving_numbers(struct page *page);
/* Its memory, and why no request fits beside the weights. */
void serving_too_large(struct page *page);
enum room overview_room(const struct explorer *explorer, struct rect rect);
void serving_overview(struct page *page);

#endif
