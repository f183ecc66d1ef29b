/* headline.c - what a person who turns a knob wants to see in every view: memory, time,
 * throughput, bubble, traffic and cost, with what the last key changed. */
#include <string.h>

#include "tui/text.h"
#include "tui/view.h"

/* As shown; the rank says what goes last where room is short. */
struct headline {
	const char *label, *brief; /* brief: where the unit has to tell it */
	const char *key;
	int rank;
	int row; /* of two on a narrow screen; below 0: in none */
};

enum { MOST = 7 };

/* So many of the first ranks stand in every view of 120 columns; of a server what a
 * user gets is the time of a token again. */
static const int sure[2] = { 6, 5 };

static const struct headline headlines[2][MOST] = {
	{ { "", "", "total_bytes", 1, 0 },
	  { "step", "", "step_seconds", 2, 0 },
	  { "per GPU", "", "tokens_per_second_per_gpu", 0, 1 },
	  { "bubble", "bubble", "bubble_ratio", 3, 0 },
	  { "exposed", "exposed", "exposed_seconds", 4, 1 },
	  { "", "", "run_dollars", 5, 1 },
	  { "MFU", "MFU", "mfu", 6, -1 } },
	{ { "", "", "total_bytes", 1, 0 },
	  { "TPOT", "TPOT", "tpot_seconds", 2, 0 },
	  { "per GPU", "", "output_tokens_per_second_per_gpu", 0, 1 },
	  { "TTFT", "TTFT", "ttft_seconds", 3, 1 },
	  { "", "", "dollars_per_million_tokens", 4, 0 },
	  { "per user", "/user", "output_tokens_per_second_per_user", 5, -1 } },
};

/* How all of them are written. */
struct style {
	bool brief;
	int gap;
};

static const struct headline *headlines_of(const struct explorer *explorer)
{
	return headlines[explorer->scenario.plan.mode == MODE_INFERENCE];
}

static const char *label_of(const struct headline *headline, struct style style)
{
	return style.brief ? headline->brief : headline->label;
}

static int width_of(const struct explorer *explorer, const struct headline *headline,
		    struct style style)
{
	char change[CHANGE_TEXT];
	enum role role;

	change_text(explorer, headline->key, change, sizeof change, &role);
	change_shorten(change);
	return number_width(explorer, label_of(headline, style), headline->key) +
	       (change[0] != '\0' ? text_width(change) + 2 : 0) + style.gap;
}

static int put(const struct explorer *explorer, struct canvas *canvas, int x, int y,
	       const struct headline *headline, struct style style)
{
	const char *label = label_of(headline, style);
	char value[64], change[CHANGE_TEXT];
	enum role role, kind = ROLE_VALUE;
	int used = 0;

	if (strcmp(headline->key, "total_bytes") == 0 && !explorer->estimate.fits)
		kind = ROLE_BAD;
	number_text(explorer, headline->key, value, sizeof value);
	change_text(explorer, headline->key, change, sizeof change, &role);
	change_shorten(change);
	if (label[0] != '\0')
		used = canvas_text(canvas, x, y, CANVAS_MAX, ROLE_LABEL, label) + 1;
	used += canvas_text(canvas, x + used, y, CANVAS_MAX, kind, value);
	if (change[0] == '\0')
		return used + style.gap;
	used += 1 + canvas_text(canvas, x + used + 1, y, CANVAS_MAX, role, change);
	canvas_put(canvas, x + used, y, change_glyph(canvas, change), role);
	return used + 1 + style.gap;
}

/* Those of a rank up to the returned one have room, from the first one on. */
static int most_that_fit(const struct explorer *explorer, struct style style, int first,
			 int room, int *used)
{
	const struct headline *all = headlines_of(explorer);
	int most = first - 1;

	*used = 0;
	for (int rank = first; rank < MOST && most == rank - 1; rank++)
		for (int i = 0; i < MOST && all[i].key; i++) {
			int width;

			if (all[i].rank != rank)
				continue;
			width = width_of(explorer, &all[i], style);
			if (*used + width > room)
				continue;
			*used += width;
			most = rank;
		}
	return most;
}

/* At the right edge; returns the first rank that has found no room. */
static int draw_ranks(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, struct style style, int first)
{
	const struct headline *all = headlines_of(explorer);
	int used, most = most_that_fit(explorer, style, first, rect.width, &used);
	int x = rect.x + rect.width - used;

	canvas_fill(canvas, (struct rect){ x, rect.y, used, 1 }, ' ', ROLE_DEFAULT);
	for (int i = 0; i < MOST && all[i].key; i++)
		if (all[i].rank >= first && all[i].rank <= most)
			x += put(explorer, canvas, x + 1, rect.y, &all[i], style);
	return most + 1;
}

/* Labels give way before a number does. */
static struct style style_of_lines(const struct explorer *explorer, int width, int more)
{
	struct style style = { false, 2 };
	int used, next;

	next = most_that_fit(explorer, style, 0, width, &used) + 1;
	style.brief = most_that_fit(explorer, style, next, more, &used) + 1 <
		      sure[explorer->scenario.plan.mode == MODE_INFERENCE];
	return style;
}

static void say_why_not(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
		     explorer->estimate.legal ? " no request fits " : " can't run ");
}

void draw_headline(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, struct rect more)
{
	struct style style;

	if (!has_numbers(explorer)) {
		say_why_not(explorer, canvas, rect);
		return;
	}
	style = style_of_lines(explorer, rect.width, more.width);
	draw_ranks(explorer, canvas, more, style,
		   draw_ranks(explorer, canvas, rect, style, 0));
}

/* Columns of the numbers of a row up to a rank. */
static int row_width(const struct explorer *explorer, int row, int most,
		     struct style style)
{
	const struct headline *all = headlines_of(explorer);
	int width = -style.gap;

	for (int i = 0; i < MOST && all[i].key; i++)
		if (all[i].row == row && all[i].rank <= most)
			width += width_of(explorer, &all[i], style);
	return width;
}

static void draw_row(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, int row, struct style style)
{
	const struct headline *all = headlines_of(explorer);
	int x = rect.x, most = MOST;

	if (row_width(explorer, row, most, style) > rect.width)
		style.gap = 1;
	while (most > 0 && row_width(explorer, row, most, style) > rect.width)
		most--;
	for (int i = 0; i < MOST && all[i].key; i++)
		if (all[i].row == row && all[i].rank <= most)
			x += put(explorer, canvas, x, rect.y + row, &all[i], style);
}

void draw_headline_rows(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	struct style style = { false, 2 };

	if (!has_numbers(explorer)) {
		say_why_not(explorer, canvas, rect);
		return;
	}
	for (int row = 0; row < 2; row++)
		style.brief = style.brief ||
			      row_width(explorer, row, MOST, style) > rect.width;
	for (int row = 0; row < 2; row++)
		draw_row(explorer, canvas, rect, row, style);
}
