/* page.c - the parts of an overview, from top to bottom. */
#include "tui/views/page.h"
#include "tui/explorer/course.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/knob/knob.h"
#include "presets/import.h"
#include "tui/text.h"

int page_left(const struct page *p)
{
	return p->rect.y + p->rect.height - p->y;
}

void page_gap(struct page *p)
{
	p->y += p->room > ROOM_COMPACT;
}

/* Numbers in columns that line up, each near enough to its label to be read with it. */
void page_grid(struct page *p, const struct item *item, int count, int columns)
{
	/* the first column has the longest words and keys before them */
	enum { WIDEST = 46, MORE = 2 };
	int width = (p->rect.width - MORE) / columns;

	if (width > WIDEST)
		width = WIDEST;
	for (int i = 0; i < count && page_left(p) > i / columns; i++) {
		int at = i % columns, key = item[i].role != ROLE_DEFAULT ? 2 : 0;
		struct rect cell = { p->rect.x + at * width + (at > 0) * MORE,
				     p->y + i / columns,
				     width + (at == 0) * MORE -
					     (width > 36         ? 2
					      : at < columns - 1 ? 1
								 : 0),
				     1 };

		if (key > 0)
			widget_key(p->canvas, cell.x, cell.y, item[i].role);
		cell.x += key;
		cell.width -= key;
		if (p->room == ROOM_COMPACT)
			draw_number(p->explorer, p->canvas, cell.x, cell.y, cell.width,
				    item[i].label, item[i].key);
		else
			draw_number_row(p->explorer, p->canvas, cell, item[i].label,
					item[i].key);
	}
	p->y += (count + columns - 1) / columns;
}

/* Numbers one behind the other, as many as there is room for in a line: none is cut. */
void page_flow(struct page *p, const struct item *item, int count)
{
	int x = p->rect.x, end = p->rect.x + p->rect.width, wish = -2, gap;

	for (int i = 0; i < count; i++)
		wish += number_width(p->explorer, item[i].label, item[i].key) + 2;
	gap = x + wish <= end ? 2 : 1;
	for (int i = 0; i < count; i++) {
		int width = number_width(p->explorer, item[i].label, item[i].key);

		if (i > 0 && x + width > end)
			break;
		x += draw_number(p->explorer, p->canvas, x, p->y, end - x,
				 item[i].label, item[i].key) +
		     gap;
	}
	p->y++;
}

int page_columns(const struct page *p)
{
	return p->rect.width >= 120 ? 4 : p->rect.width >= 78 ? 3 : 2;
}

void page_parts(struct page *p, const struct part *part, int count, double full,
		double limit)
{
	int rows = p->room == ROOM_RICH ? 2 : 1;

	widget_stack(p->canvas, (struct rect){ p->rect.x, p->y, p->rect.width, rows },
		     part, count, full, limit);
	p->y += rows;
}

void page_short_legend(struct page *p, const struct part *part, int count, double full)
{
	struct part unnamed[MOST_PARTS];

	if (legend_width(part, count) <= p->rect.width) {
		page_legend(p, part, count, 1);
		return;
	}
	count = widget_unnamed(p->rect.width, part, count, full, unnamed);
	/* the largest matter most where the line is cut */
	for (int i = 1; i < count && legend_width(unnamed, count) > p->rect.width; i++)
		for (int at = i; at > 0 && unnamed[at].value > unnamed[at - 1].value;
		     at--) {
			struct part other = unnamed[at];

			unnamed[at] = unnamed[at - 1];
			unnamed[at - 1] = other;
		}
	page_legend(p, unnamed, count, 1);
}

void page_legend(struct page *p, const struct part *part, int count, int rows)
{
	p->y += widget_legend(p->canvas,
			      (struct rect){ p->rect.x, p->y, p->rect.width, rows },
			      part, count);
}

void page_time_bar(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	struct part part[DIM_COUNT + 5];
	int count = 0;

	part[count++] = (struct part){ e->compute_seconds - e->recompute_seconds,
				       ROLE_COMPUTE, "compute" };
	part[count++] =
		(struct part){ e->recompute_seconds, ROLE_RECOMPUTE, "recompute" };
	for (int d = 0; d < DIM_COUNT; d++)
		part[count++] = (struct part){ e->cost[d].exposed_seconds,
					       dimension_role((enum dimension)d),
					       dimension_label((enum dimension)d) };
	part[count++] = (struct part){ e->bubble_seconds, ROLE_BUBBLE, "bubble" };
	part[count++] = (struct part){ e->optimizer_seconds, ROLE_STEP, "optimizer" };
	page_parts(p, part, count, e->step_seconds, 0);
	if (p->room == ROOM_COMPACT)
		page_short_legend(p, part, count, e->step_seconds);
	else
		page_legend(p, part, count, 2);
}

/* "fits, 77 % sure  stage 0 of 4" or "fits, room for 312 requests", as much of it as
 * there is room for. */
static void draw_verdict(struct page *p, int x)
{
	const struct estimate *e = &p->explorer->estimate;
	int room = p->rect.x + p->rect.width - x;
	char text[64] = "DOES NOT FIT", stage[32];

	snprintf(stage, sizeof stage, "stage %d of %d", e->fullest_stage, e->stages);
	if (e->fits || e->unsure)
		fit_text(p->explorer, room, text, sizeof text);
	else if (!estimate_is_too_large(e))
		snprintf(text, sizeof text, "HOST IS TOO SMALL");
	x += canvas_text(p->canvas, x, p->y, room, fit_role(e), text) + 2;
	room -= text_width(text) + 2;
	if (e->stages > 1 && text_width(stage) <= room)
		canvas_text(p->canvas, x, p->y, room, ROLE_LABEL, stage);
}

void page_capacity(struct page *p)
{
	char capacity[32];
	int x = p->rect.x, number = p->rect.width - 26;

	form_text(FORM_BYTES, p->explorer->estimate.capacity_bytes, capacity,
		  sizeof capacity);
	x += canvas_text(p->canvas, x, p->y, 8, ROLE_TITLE, "MEMORY") + 1;
	x += draw_number(p->explorer, p->canvas, x, p->y, number < 10 ? 10 : number, "",
			 "total_bytes") +
	     1;
	/* whether it fits is more than what it has to fit */
	if (x + 28 <= p->rect.x + p->rect.width)
		x += canvas_format(p->canvas, x, p->y, 18, ROLE_LABEL, "of %s",
				   capacity) +
		     2;
	draw_verdict(p, x);
	p->y++;
}

void page_traffic(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	char key[DIM_COUNT][32];
	int x = p->rect.x + 8, end = p->rect.x + p->rect.width, width[DIM_COUNT];
	int wish = 0, gap;

	canvas_text(p->canvas, p->rect.x, p->y, 8, ROLE_TITLE, "TRAFFIC");
	for (int d = 0; d < DIM_COUNT; d++) {
		snprintf(key[d], sizeof key[d], "%s.bytes",
			 dimension_key((enum dimension)d));
		width[d] = e->cost[d].bytes > 0
				   ? number_width(p->explorer,
						  dimension_label((enum dimension)d),
						  key[d])
				   : 0;
		wish += width[d] > 0 ? width[d] + 2 : 0;
	}
	gap = x + wish - 2 <= end ? 2 : 1;
	for (int d = 0; d < DIM_COUNT; d++)
		if (width[d] > 0 && x + width[d] <= end)
			x += draw_number(p->explorer, p->canvas, x, p->y, end - x,
					 dimension_label((enum dimension)d), key[d]) +
			     gap;
	if (wish == 0)
		canvas_text(p->canvas, x, p->y, end - x, ROLE_LABEL,
			    "none: one GPU does everything");
	p->y++;
}

/* Of "kernels wait for the CPU: CUDA graphs full, +8.1 % tok/s" what to turn and what
 * it gains comes before why, where there is no room for both; "overlap TP traffic: on"
 * says before the colon what to turn. */
static const char *shorter(const char *text, int width)
{
	const char *gain = strstr(text, " % tok/s"), *turn = strstr(text, ": ");

	if (!gain || !turn || turn > gain || gain + 8 - text <= width - 1 ||
	    strncmp(turn + 2, "on,", 3) == 0)
		return text;
	return turn + 2;
}

static void draw_finding(struct page *p, const struct finding *finding)
{
	enum role role =
		finding->rule->severity == SEVERITY_HINT ? ROLE_HINT : ROLE_WARNING;
	char text[320], remedy[128], key[MAX_KEY];
	struct rect rect = { p->rect.x + 2, p->y, p->rect.width - 2, 1 };
	int rows = p->room > ROOM_COMPACT && page_left(p) > 1 ? 2 : 1;

	int used = (int)finding_text(finding, text, sizeof text);

	/* some name the value that mends it already: "TP 8, 71.5 GiB" */
	if (finding->rule->severity != SEVERITY_HINT &&
	    finding_remedy(finding, remedy, sizeof remedy) > 0 &&
	    strncasecmp(text, remedy, strlen(remedy)) != 0 &&
	    finding_offer(finding, remedy, sizeof remedy) > 0)
		snprintf(text + used, sizeof text - (size_t)used, "; try %s", remedy);
	canvas_put(p->canvas, p->rect.x, p->y, role == ROLE_HINT ? 'i' : '!', role);
	rect.height = rows;
	if (text_width(text) <= rect.width || rows == 1)
		rows = rect.height = 1;
	if (rows == 1)
		canvas_phrase(p->canvas, rect.x, rect.y, rect.width, ROLE_DEFAULT,
			      text_width(text) > rect.width ? shorter(text, rect.width)
							    : text);
	else
		rows = widget_prose(p->canvas, rect, 0, ROLE_DEFAULT, text) > 1 ? 2 : 1;
	if (finding->knob) {
		snprintf(key, sizeof key, "%s#%s", finding->knob, finding->rule->code);
		add_spot(p->explorer, p->canvas,
			 finding->nearest_count > 0 ? SPOT_REMEDY : SPOT_KNOB,
			 (struct rect){ p->rect.x, p->y, p->rect.width, rows }, key,
			 finding->nearest_count > 0 ? finding->nearest[0] : 0);
	}
	p->y += rows;
}

/* Why no number of this model is exact. */
static void draw_approximate(struct page *p)
{
	const char *why = p->explorer->scenario.model.approximate;
	struct rect rect = { p->rect.x, p->y, p->rect.width, 2 };
	char text[MAX_NOTE + 32];

	if (why[0] == '\0' || page_left(p) < 1)
		return;
	if (p->room == ROOM_COMPACT || page_left(p) < 3)
		rect.height = 1;
	snprintf(text, sizeof text, "~ approximate: %s", why);
	p->y += widget_prose(p->canvas, rect, 0, ROLE_WARNING, text) > 1 ? rect.height
									 : 1;
}

/* What a reader of this file assumed and nobody has turned since, and what a server's
 * numbers stand on that nobody said. */
static void draw_assumed(struct page *p)
{
	const struct explorer *explorer = p->explorer;
	struct rect rect = { p->rect.x, p->y, p->rect.width, 1 };
	struct start start = { 0 };
	char text[256] = "~ assumed: ";
	size_t used = strlen(text);

	if (page_left(p) < 1)
		return;
	if (explorer->kept)
		import_start(explorer->kept, &start);
	for (int i = start.chosen - 1; i >= 0; i--)
		if (!knob_same(&explorer->scenario, &explorer->origin, start.choice[i]))
			start_forget(&start, start.choice[i]);
	if (start_whole_text(&start, &explorer->scenario, text + used,
			     sizeof text - used) == 0)
		return;
	canvas_phrase(p->canvas, rect.x, rect.y, rect.width, ROLE_WARNING, text);
	p->y++;
}

static void draw_findings(struct page *p, const struct findings *findings)
{
	for (int i = 0; i < findings->count && page_left(p) > 0; i++)
		draw_finding(p, &findings->item[i]);
}

void page_advice(struct page *p)
{
	draw_approximate(p);
	draw_assumed(p);
	draw_findings(p, &p->explorer->estimate.problems);
	page_hints(p);
}

void page_hints(struct page *p)
{
	if (!course_hides(p->explorer))
		draw_findings(p, &p->explorer->advice);
}

void page_illegal(struct page *p)
{
	struct rect rect;

	canvas_text(p->canvas, p->rect.x, p->y, p->rect.width, ROLE_BAD,
		    "THIS PLAN CAN'T RUN");
	p->y += 2;
	rect = (struct rect){ p->rect.x, p->y, p->rect.width, page_left(p) - 6 };
	p->y += draw_problems(p->explorer, p->canvas, rect) + 1;
}
