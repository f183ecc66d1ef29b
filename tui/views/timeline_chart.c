/* timeline_chart.c - the Gantt of the view Timeline: lanes, memory curves, axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/timeline.h"

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

/* Columns of a forward from which two shades part it from the next: narrower ones would
 * be a chequerboard where lanes lie on each other, and dots anywhere. */
enum { SHADED = 3, SHADED_APART = 2 };

/* --- lanes --- */

/* Spans of one stage inside a stretch; several for an item that waited for a transfer,
 * recomputes or sends. */
struct lane {
	const struct timeline *timeline;
	const struct window *window;
	const struct stretch *stretch;
	bool dense; /* one shade, no labels */
	bool even;  /* one shade: stripes of two would be too narrow */
	struct span *span;
	char (*label)[8];
	int count, room, items;
};

static enum role role_of(const struct lane *lane, const struct timeline_item *item)
{
	bool odd = item->micro_batch % 2 == 1 && !lane->dense && !lane->even;

	if (lane->window->only_critical && !item->critical)
		return ROLE_FREE;
	switch (item->kind) {
	case WORK_FORWARD: return odd ? ROLE_FORWARD_ALT : ROLE_FORWARD;
	case WORK_WEIGHT_GRAD: return odd ? ROLE_WGRAD_ALT : ROLE_WGRAD;
	default: return odd ? ROLE_BACKWARD_ALT : ROLE_BACKWARD;
	}
}

static void add_span(struct lane *lane, double begin, double end, enum role role,
		     const char *label)
{
	if (lane->count < lane->room && end > begin)
		lane->span[lane->count++] = (struct span){ begin, end, role, label };
}

/* The time of an item, or its half of a pair that runs together. */
static void part_of(const struct timeline *t, int32_t index,
		    const struct timeline_item *item, double *begin, double *end)
{
	double middle = (item->start + item->end) / 2;
	bool second = index > t->stage[item->stage].first &&
		      item->kind != WORK_FORWARD && timeline_item(t, index - 1).paired;

	*begin = second ? middle : item->start;
	*end = item->paired ? middle : item->end;
}

static void add_item(struct lane *lane, int32_t index)
{
	const struct timeline *t = lane->timeline;
	const struct timeline_item item = timeline_item(t, index);
	enum role role = role_of(lane, &item);
	char *label = lane->label[lane->items++];
	double begin, end, again = 0;

	part_of(t, index, &item, &begin, &end);
	if (item.kind == WORK_BACKWARD || item.kind == WORK_INPUT_GRAD)
		again = fmin(t->recompute[item.position], end - begin);
	if (role == ROLE_FREE || lane->dense)
		label = NULL;
	else
		snprintf(label, sizeof lane->label[0], "%d", item.micro_batch);
	add_span(lane, begin - item.transfer_before, begin, ROLE_TRANSFER, NULL);
	if (role != ROLE_FREE)
		add_span(lane, begin, begin + again, ROLE_AGAIN, NULL);
	else
		again = 0;
	add_span(lane, begin + again, end, role, label);
	if (!item.paired)
		add_span(lane, item.end, item.end + item.send, ROLE_TRANSFER, NULL);
}

/* Items of a stage that the stretch has a part of. */
static int32_t count_items(const struct timeline *t, int stage,
			   const struct stretch *stretch, double now, int32_t *first)
{
	const struct timeline_stage *s = &t->stage[stage];
	int32_t last = timeline_at(t, stage, fmin(stretch->to, now));

	*first = timeline_at(t, stage, stretch->from);
	*first = *first < s->first ? s->first : *first;
	return last < *first ? 0 : last - *first + 1;
}

/* --- what was drawn is kept --- */

/* A chart takes milliseconds and most keys change nothing in it: the cells of the last
 * one are kept beside the timeline, with all that they depend on. */
struct picture {
	unsigned play; /* its number */
	struct rect rect;
	struct window window;
	int first;
	enum glyph_level glyphs;
	bool colour;
	struct cell cell[];
};

static bool shows_same(const struct window *v, const struct window *w)
{
	if (v->parts != w->parts || v->each != w->each || v->now != w->now ||
	    v->only_critical != w->only_critical)
		return false;
	for (int i = 0; i < v->parts; i++)
		if (v->part[i].from != w->part[i].from ||
		    v->part[i].columns != w->part[i].columns)
			return false;
	return true;
}

static bool is_of(const struct picture *picture, const struct picture *wanted)
{
	const struct rect *a = &picture->rect, *b = &wanted->rect;

	return picture->play == wanted->play && a->x == b->x && a->y == b->y &&
	       a->width == b->width && a->height == b->height &&
	       shows_same(&picture->window, &wanted->window) &&
	       picture->first == wanted->first && picture->glyphs == wanted->glyphs &&
	       picture->colour == wanted->colour;
}

static struct rect inside(const struct canvas *canvas, struct rect rect)
{
	int right = rect.x + rect.width, bottom = rect.y + rect.height;

	rect.x = clamp(rect.x, 0, canvas->width);
	rect.y = clamp(rect.y, 0, canvas->height);
	rect.width = clamp(right, rect.x, canvas->width) - rect.x;
	rect.height = clamp(bottom, rect.y, canvas->height) - rect.y;
	return rect;
}

static void copy_cells(struct canvas *canvas, struct rect rect, struct cell *cells,
		       bool keep)
{
	rect = inside(canvas, rect);
	for (int y = 0; y < rect.height; y++) {
		size_t row = (size_t)(rect.y + y) * (size_t)canvas->width;
		struct cell *here = canvas->cell + row + (size_t)rect.x;
		struct cell *kept = cells + (size_t)y * (size_t)rect.width;

		memcpy(keep ? kept : here, keep ? here : kept,
		       (size_t)rect.width * sizeof *here);
	}
}

static void keep_picture(struct picture **kept, struct canvas *canvas,
			 const struct picture *wanted)
{
	struct rect area = inside(canvas, wanted->rect);
	size_t cells = (size_t)area.width * (size_t)area.height;
	struct picture *picture = malloc(sizeof *picture + cells * sizeof(struct cell));

	free(*kept);
	*kept = picture;
	if (!picture)
		return;
	*picture = *wanted;
	copy_cells(canvas, wanted->rect, picture->cell, true);
}

/* Behind the end of the plan, or of what is played, nothing idles. */
static void draw_dense(struct canvas *canvas, struct rect rect, const struct lane *lane,
		       double end)
{
	double from = lane->stretch->from, each = lane->window->each;

	rect.width = clamp((int)ceil((end - from) / each - 1e-9), 0, rect.width);
	/* items are wide enough where time is left out for it */
	widget_lane(canvas, rect, lane->span, lane->count, from,
		    from + rect.width * each, lane->window->parts == 1);
}

static void draw_stretch(struct canvas *canvas, struct rect rect, struct lane *lane,
			 int stage)
{
	const struct stretch *s = lane->stretch;
	const struct timeline *t = lane->timeline;
	double now = lane->window->now;
	int32_t first, count = count_items(t, stage, s, now, &first);
	double end = fmin(fmin(s->to, now), t->pipeline_seconds);
	struct span idle = { s->from, end, ROLE_IDLE, NULL };

	lane->dense = count * TIMELINE_NARROW > rect.width;
	lane->room = 4 * count + 4;
	lane->count = lane->items = 0;
	lane->span = malloc((size_t)lane->room * sizeof *lane->span);
	lane->label = malloc((size_t)(count + 1) * sizeof *lane->label);
	if (lane->span && lane->label) {
		for (int32_t i = first; i < first + count; i++)
			add_item(lane, i);
		if (idle.end > idle.begin && !lane->dense)
			widget_spans(canvas, rect, &idle, 1, s->from, s->to);
		if (lane->dense)
			draw_dense(canvas, rect, lane, end);
		else
			widget_spans(canvas, rect, lane->span, lane->count, s->from,
				     s->to);
	} else {
		canvas->lacks = true;
	}
	free(lane->span);
	free(lane->label);
}

static void draw_lane(struct canvas *canvas, struct rect rect, const struct timeline *t,
		      int stage, const struct window *window, bool even)
{
	struct lane lane = { .timeline = t, .window = window, .even = even };

	canvas->coarse = true;
	for (int i = 0; i < window->parts; i++) {
		lane.stretch = &window->part[i];
		draw_stretch(canvas,
			     (struct rect){ rect.x + lane.stretch->x, rect.y,
					    lane.stretch->columns, rect.height },
			     &lane, stage);
	}
	canvas->coarse = false;
}

/* --- memory --- */

/* The most that any stage holds: curves of stages compare. */
static double highest(const struct timeline *t)
{
	double most = 0;

	for (int s = 0; s < t->stages; s++)
		most = fmax(most, t->stage[s].peak_bytes);
	return most;
}

static bool is_peak(const struct timeline_stage *s, double from, double to)
{
	return s->peak_seconds >= from && s->peak_seconds < to;
}

static void draw_level(struct canvas *canvas, struct rect column, double part)
{
	if (column.height > 1)
		widget_column(canvas, column, part, ROLE_ACTIVATIONS);
	else
		widget_level(canvas, column.x, column.y, part, ROLE_ACTIVATIONS);
}

/* How full, with a mark where it is fullest. */
static void draw_levels(struct canvas *canvas, struct rect rect,
			const struct timeline *t, int stage,
			const struct window *window)
{
	double each = window->each, most = highest(t);

	for (int i = 0; i < rect.width && most > 0; i++) {
		double from = window_time(window, i), held;

		if (from > window->now)
			break;
		if (from < 0)
			continue;
		held = timeline_most_bytes(t, stage, from, from + each);
		draw_level(canvas, (struct rect){ rect.x + i, rect.y, 1, rect.height },
			   held / most);
		if (is_peak(&t->stage[stage], from, from + each))
			canvas_put(canvas, rect.x + i, rect.y + rect.height - 1,
				   canvas_glyph(canvas, GLYPH_UP), ROLE_BAD);
	}
}

static void draw_title(struct canvas *canvas, struct rect rect,
		       const struct timeline *t, int stage)
{
	const struct timeline_stage *s = &t->stage[stage];
	char peak[32], when[32], rest[32], text[160];
	int used, x = rect.x, end = rect.x + rect.width;

	form_text(FORM_BYTES, s->peak_bytes, peak, sizeof peak);
	form_text(FORM_SECONDS, s->peak_seconds, when, sizeof when);
	form_text(FORM_BYTES, s->resident_bytes, rest, sizeof rest);
	widget_level(canvas, x, rect.y, 1, ROLE_ACTIVATIONS);
	x += 2 + canvas_text(canvas, x + 2, rect.y, end - x - 2, ROLE_LABEL,
			     rect.width > 60 ? "activations held" : "activations");
	canvas_put(canvas, x + 1, rect.y, canvas_glyph(canvas, GLYPH_UP), ROLE_BAD);
	x += 3;
	used = snprintf(text, sizeof text, "peak: %s after %s on stage %d", peak, when,
			stage);
	/* the stage is more than the words before it */
	if (used > end - x)
		used = snprintf(text, sizeof text, "%s at %s, stage %d", peak, when,
				stage);
	if (rect.width > 96)
		snprintf(text + used, sizeof text - (size_t)used,
			 ", %d micro-batches%s in flight; %s beside them",
			 s->peak_chunks, t->chunks > 1 ? " x chunks" : "", rest);
	canvas_text(canvas, x, rect.y, end - x, ROLE_TITLE, text);
}

void timeline_draw_memory(struct canvas *canvas, struct rect rect,
			  const struct timeline *t, int stage,
			  const struct window *window)
{
	const struct timeline_stage *s = &t->stage[stage];
	int width = rect.width - TIMELINE_MARGIN - TIMELINE_EDGE;
	double each = window->each;

	if (rect.height < 1 || width < 1 || s->peak_bytes <= 0)
		return;
	rect.x += TIMELINE_MARGIN;
	rect.width -= TIMELINE_MARGIN;
	if (t->stages == 1)
		return;
	draw_title(canvas, rect, t, stage);
	rect.y++;
	rect.height--;
	for (int i = 0; i < width; i++) {
		double from = window_time(window, i), held;
		struct rect column = { rect.x + i, rect.y, 1, rect.height };

		if (from > window->now)
			break;
		if (from < 0)
			continue;
		held = timeline_most_bytes(t, stage, from, from + each);
		widget_column(canvas, column, held / s->peak_bytes, ROLE_ACTIVATIONS);
		if (is_peak(s, from, from + each))
			canvas_put(canvas, column.x, column.y,
				   canvas_glyph(canvas, GLYPH_UP), ROLE_BAD);
	}
}

/* --- the chart --- */

/* The fewer stages, the taller they may be; what one alone holds is level. */
int timeline_rows(struct rect rect, const struct timeline *t)
{
	return clamp(rect.height / t->stages, 1, t->stages > 1 ? 16 : 2);
}

/* Of those the lane itself; below it is the curve of its memory and a blank row. */
static int lane_rows(const struct timeline *t, int rows)
{
	return rows > 5 || (t->stages == 1 && rows > 1) ? 2 : 1;
}

static void draw_edge(const struct explorer *explorer, struct canvas *canvas,
		      struct rect line, const struct timeline *t, int stage, bool here)
{
	int x = line.x - TIMELINE_MARGIN;
	double whole = t->pipeline_seconds;

	canvas_format(canvas, x, line.y, TIMELINE_MARGIN - 1,
		      here ? ROLE_VALUE : ROLE_LABEL, "%3d", stage);
	if (here && explorer->pane == PANE_VIEW)
		canvas_highlight(canvas,
				 (struct rect){ x, line.y, TIMELINE_MARGIN - 1, 1 },
				 ROLE_FOCUS, false, true);
	canvas_format(canvas, line.x + line.width + 1, line.y, TIMELINE_EDGE - 1,
		      ROLE_LABEL, "%4.1f%%",
		      whole > 0 ? t->stage[stage].idle / whole * 100 : 0);
}

static void draw_lanes(struct canvas *canvas, struct rect rect,
		       const struct timeline *t, int first, const struct window *window)
{
	int rows = timeline_rows(rect, t), shown = rect.height / rows;
	struct timeline_item one = timeline_item(t, 0);
	double least = (rows == 1 ? SHADED : SHADED_APART) * window->each;
	bool even = one.end - one.start < least;

	for (int i = 0; i < shown && first + i < t->stages; i++) {
		struct rect line = { rect.x, rect.y + i * rows, rect.width,
				     lane_rows(t, rows) };
		struct rect levels = { line.x, line.y + line.height, line.width,
				       rows > 3 ? rows - line.height - 1 : 1 };

		draw_lane(canvas, line, t, first + i, window, even);
		if (rows > line.height)
			draw_levels(canvas, levels, t, first + i, window);
	}
}

void timeline_draw_chart(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct timeline *t, int cursor,
			 const struct window *window)
{
	int rows = timeline_rows(rect, t), shown = rect.height / rows;
	int first = scroll_first(0, clamp(cursor, 0, t->stages - 1), t->stages, shown);
	bool own = t == &explorer->play->timeline;
	const struct play *play = own ? explorer->play : explorer->play_before;
	struct picture *none = NULL,
		       **kept = canvas->spots ? &canvas->spots->picture[!own] : &none;
	struct rect lanes = { rect.x + TIMELINE_MARGIN, rect.y,
			      rect.width - TIMELINE_MARGIN - TIMELINE_EDGE,
			      rect.height };
	struct picture wanted = { play->number, lanes,          *window,
				  first,        canvas->glyphs, canvas->colour };

	if (*kept && is_of(*kept, &wanted)) {
		copy_cells(canvas, lanes, (*kept)->cell, false);
	} else {
		draw_lanes(canvas, lanes, t, first, window);
		keep_picture(kept, canvas, &wanted);
	}
	free(none);
	/* between the numbers and the lanes: there are more stages */
	widget_scrollbar(canvas, rect.x + TIMELINE_MARGIN - 1, rect.y, shown * rows,
			 first * rows, t->stages * rows);
	for (int i = 0; i < shown && first + i < t->stages; i++) {
		struct rect line = { lanes.x, rect.y + i * rows, lanes.width, 1 };

		draw_edge(explorer, canvas, line, t, first + i,
			  first + i == cursor && own);
	}
}

/* The item in the colour of the focus with a sign in it: blocks are taken away, for in
 * front of a background they would hide it. */
static void draw_mark(struct canvas *canvas, struct rect rect)
{
	for (int y = rect.y; y < rect.y + rect.height; y++)
		for (int x = rect.x; x < rect.x + rect.width; x++) {
			struct cell *cell = canvas_at(canvas, x, y);

			if (cell && cell->code >= 0x2580 && cell->code <= 0x259f)
				cell->code = ' ';
			if (cell)
				cell->reverse = false;
		}
	canvas_put(canvas, rect.x, rect.y, canvas_glyph(canvas, GLYPH_MARK),
		   ROLE_DEFAULT);
	canvas_highlight(canvas, rect, ROLE_FOCUS, false, true);
}

void timeline_mark(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect, const struct timeline *t, int32_t index,
		   const struct window *window)
{
	struct timeline_item item = timeline_item(t, index);
	int rows = timeline_rows(rect, t), shown = rect.height / rows;
	int first = scroll_first(0, item.stage, t->stages, shown);
	double begin, end;
	struct rect cell = { 0, 0, 0, 0 };

	part_of(t, index, &item, &begin, &end);
	for (int i = 0; i < window->parts; i++) {
		const struct stretch *s = &window->part[i];
		int x = (int)((begin - s->from) / window->each), last;

		if (begin >= s->to || end <= s->from)
			continue;
		last = (int)ceil((end - s->from) / window->each);
		x = clamp(x, 0, s->columns - 1);
		cell = (struct rect){ rect.x + TIMELINE_MARGIN + s->x + x,
				      rect.y + (item.stage - first) * rows,
				      clamp(last - x, 1, s->columns - x),
				      lane_rows(t, rows) };
		break;
	}
	if (cell.width < 1)
		return;
	draw_mark(canvas, cell);
	if (explorer->pane == PANE_VIEW)
		canvas_cursor(canvas, cell.x, cell.y);
}

int32_t timeline_item_at(struct rect rect, const struct timeline *t, int cursor,
			 const struct window *window, int x, int y)
{
	int rows = timeline_rows(rect, t), shown = rect.height / rows;
	int first = scroll_first(0, clamp(cursor, 0, t->stages - 1), t->stages, shown);
	int column = clamp(x - rect.x - TIMELINE_MARGIN, 0, rect.width), stage;
	double when = window_time(window, column);
	int32_t at;

	if (!rect_holds(rect, x, y) || (y - rect.y) / rows >= shown || when < 0)
		return -1;
	stage = first + (y - rect.y) / rows;
	if (stage >= t->stages)
		return -1;
	when += window->each / 2;
	at = timeline_at(t, stage, when);
	return at < 0 ? t->stage[stage].first : at;
}
