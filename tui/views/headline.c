/* headline.c - what a person who turns a knob wants to see in every view: memory, time,
 * throughput, bubble, traffic and cost, with what the last key changed. */
#include <string.h>

#include "tui/text.h"
#include "tui/view.h"

/* As shown; the rank says what goes last where room is short. */
struct headline {
	const char *label, *key;
	const char *per; /* behind its unit where its label is left out */
	int bare;        /* from this style on its unit has to tell it */
	int rank;
	int slot; /* columns of most values with their change, and of what it is per */
	int row;  /* of two on a narrow screen; below 0: in none */
};

enum { MOST = 7, NEVER = 9 };

static const struct headline headlines[2][MOST] = {
	{ { "", "total_bytes", NULL, NEVER, 1, 14, 0 },
	  { "step", "step_seconds", NULL, 2, 2, 13, 0 },
	  { "per GPU", "tokens_per_second_per_gpu", "/GPU", 1, 0, 17, 1 },
	  { "bubble", "bubble_ratio", NULL, NEVER, 3, 14, 0 },
	  { "exposed", "exposed_seconds", NULL, NEVER, 4, 13, 1 },
	  { "", "run_dollars", NULL, NEVER, 5, 14, 1 },
	  { "MFU", "mfu", NULL, NEVER, 6, 14, -1 } },
	{ { "", "total_bytes", NULL, NEVER, 1, 14, 0 },
	  { "TPOT", "tpot_seconds", NULL, NEVER, 2, 14, 0 },
	  { "per GPU", "output_tokens_per_second_per_gpu", "/GPU", 1, 0, 18, 1 },
	  { "TTFT", "ttft_seconds", NULL, NEVER, 3, 14, 1 },
	  { "", "dollars_per_million_tokens", "/M", 0, 4, 12, 0 },
	  { "per user", "output_tokens_per_second_per_user", NULL, NEVER, 5, 18, -1 } },
};

/* How all of them are written: by the room alone, so that a key moves nothing. */
struct style {
	int bare; /* 0: all have their labels */
	int gap;
	bool terse; /* there is no room for what a unit is per */
	bool still; /* each in a slot of its own, so that a change moves no other */
};

static const struct headline *headlines_of(const struct explorer *explorer)
{
	return headlines[explorer->scenario.plan.mode == MODE_INFERENCE];
}

static const char *label_of(const struct headline *headline, struct style style)
{
	return style.bare >= headline->bare ? "" : headline->label;
}

static const char *per_of(const struct headline *headline, struct style style)
{
	return headline->per && style.bare >= headline->bare && !style.terse
		       ? headline->per
		       : "";
}

static int slot_of(const struct headline *headline, struct style style)
{
	int label = text_width(label_of(headline, style));

	return style.still ? label + (label > 0) + headline->slot +
				     text_width(per_of(headline, style)) + style.gap
			   : 0;
}

static int width_of(const struct explorer *explorer, const struct headline *headline,
		    struct style style)
{
	char change[CHANGE_TEXT];
	enum role role;
	int slot = slot_of(headline, style), width;

	change_text(explorer, headline->key, change, sizeof change, &role);
	change_shorten(change);
	width = number_width(explorer, label_of(headline, style), headline->key) +
		text_width(per_of(headline, style)) +
		(change[0] != '\0' ? text_width(change) + 2 : 0) + style.gap;
	return width > slot ? width : slot;
}

static int put(const struct explorer *explorer, struct canvas *canvas, int x, int y,
	       const struct headline *headline, struct style style)
{
	const char *label = label_of(headline, style);
	char value[64], change[CHANGE_TEXT];
	enum role role, kind = ROLE_VALUE;
	int used = 0, width = width_of(explorer, headline, style);

	if (strcmp(headline->key, "total_bytes") == 0 && !explorer->estimate.fits)
		kind = ROLE_BAD;
	number_text(explorer, headline->key, value, sizeof value);
	change_text(explorer, headline->key, change, sizeof change, &role);
	change_shorten(change);
	if (label[0] != '\0')
		used = canvas_text(canvas, x, y, CANVAS_MAX, ROLE_LABEL, label) + 1;
	used += canvas_text(canvas, x + used, y, CANVAS_MAX, kind, value);
	used += canvas_text(canvas, x + used, y, CANVAS_MAX, kind,
			    per_of(headline, style));
	if (change[0] == '\0')
		return width;
	used += 1 + canvas_text(canvas, x + used + 1, y, CANVAS_MAX, role, change);
	canvas_put(canvas, x + used, y, change_glyph(canvas, change), role);
	return width;
}

/* In which of two lines each stands, the first ranks first: where there is room; what
 * has none in either is left out, with all of a higher rank. Returns how many stand. */
static int place(const struct explorer *explorer, struct style style, const int room[2],
		 int line[MOST], int used[2])
{
	const struct headline *all = headlines_of(explorer);
	int count = 0;

	used[0] = used[1] = 0;
	for (int i = 0; i < MOST; i++)
		line[i] = -1;
	for (int rank = 0; rank < MOST; rank++)
		for (int i = 0; i < MOST && all[i].key; i++) {
			int width, at = 0;

			if (all[i].rank != rank)
				continue;
			width = width_of(explorer, &all[i], style);
			while (at < 2 && used[at] + width - style.gap >= room[at])
				at++;
			if (at == 2)
				return count;
			line[i] = at;
			used[at] += width;
			count++;
		}
	return count;
}

/* At the right edge. */
static void draw_line(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, struct style style, const int *line, int at,
		      int used)
{
	const struct headline *all = headlines_of(explorer);
	int x = rect.x + rect.width - used;

	if (used == 0)
		return;
	canvas_fill(canvas, (struct rect){ x, rect.y, used, 1 }, ' ', ROLE_DEFAULT);
	for (int i = 0; i < MOST && all[i].key; i++)
		if (line[i] == at)
			x += put(explorer, canvas, x + 1, rect.y, &all[i], style);
}

static void say_why_not(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
		     explorer->estimate.legal ? " no request fits " : " can't run ");
}

/* As many as there is room for, then each in a slot of its own, then wide gaps and what
 * units are per. */
static struct style find_style(const struct explorer *explorer, const int room[2])
{
	enum { ALL = 140 };
	const int bare = room[0] + room[1] < ALL;
	const int least = headlines_of(explorer)[MOST - 1].key ? 6 : 5;
	const struct style styles[] = {
		{ bare, 2, false, true }, { bare, 1, false, true },
		{ bare, 1, true, true },  { bare, 2, false, false },
		{ bare, 2, true, false },
	};
	int line[MOST], used[2], best = 0, most = 0;

	for (int i = 0; i < 5 && most < least; i++) {
		int count = place(explorer, styles[i], room, line, used);

		if (count > most) {
			most = count;
			best = i;
		}
	}
	return styles[best];
}

void draw_headline(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, struct rect more)
{
	const int room[2] = { rect.width, more.width };
	struct style style;
	int line[MOST], used[2];

	if (!has_numbers(explorer)) {
		say_why_not(explorer, canvas, rect);
		return;
	}
	style = find_style(explorer, room);
	place(explorer, style, room, line, used);
	draw_line(explorer, canvas, rect, style, line, 0, used[0]);
	draw_line(explorer, canvas, more, style, line, 1, used[1]);
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

static int draw_row(const struct explorer *explorer, struct canvas *canvas,
		    struct rect rect, int row, struct style style)
{
	const struct headline *all = headlines_of(explorer);
	int x = rect.x, most = MOST;

	if (row_width(explorer, row, most, style) > rect.width)
		style.gap = 1;
	style.terse = row_width(explorer, row, most, style) > rect.width;
	while (most > 0 && row_width(explorer, row, most, style) > rect.width)
		most--;
	for (int i = 0; i < MOST && all[i].key; i++)
		if (all[i].row == row && all[i].rank <= most)
			x += put(explorer, canvas, x, rect.y + row, &all[i], style);
	return x - rect.x;
}

int draw_headline_rows(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect)
{
	enum { ALL = 60 };
	struct style style = { rect.width < ALL ? 2 : 0, 2, false, false };

	if (!has_numbers(explorer)) {
		say_why_not(explorer, canvas, rect);
		return rect.width;
	}
	draw_row(explorer, canvas, rect, 1, style);
	return draw_row(explorer, canvas, rect, 0, style);
}
