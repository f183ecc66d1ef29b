/* timeline_chart.c - the Gantt of the view Timeline: lanes, memory curves, axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/timeline.h"

enum { MOST_ROWS = 4 };
/* Items on fewer columns than this can't be told apart. */
static const double narrow = 1.6;

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

/* --- lanes --- */

/* Spans of one stage inside the window; several for an item that waited for a transfer,
 * recomputes or sends. */
struct lane {
	const struct timeline *timeline;
	const struct window *window;
	bool dense; /* one shade, no labels */
	struct span *span;
	char (*label)[8];
	int count, room, items;
};

static enum role role_of(const struct lane *lane, const struct timeline_item *item)
{
	bool odd = item->micro_batch % 2 == 1 && !lane->dense;

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
static void part_of(const struct lane *lane, int32_t index, double *begin, double *end)
{
	const struct timeline_item *item = &lane->timeline->item[index];
	int32_t first = lane->timeline->stage[item->stage].first;
	double middle = (item->start + item->end) / 2;

	*begin = index > first && item[-1].paired ? middle : item->start;
	*end = item->paired ? middle : item->end;
}

static void add_item(struct lane *lane, int32_t index)
{
	const struct timeline *t = lane->timeline;
	const struct timeline_item *item = &t->item[index];
	enum role role = role_of(lane, item);
	char *label = lane->label[lane->items++];
	double begin, end, again = 0;

	part_of(lane, index, &begin, &end);
	if (item->kind == WORK_BACKWARD || item->kind == WORK_INPUT_GRAD)
		again = fmin(t->recompute[item->position], end - begin);
	if (role == ROLE_FREE || lane->dense)
		label = NULL;
	else
		snprintf(label, sizeof lane->label[0], "%d", item->micro_batch);
	add_span(lane, begin - item->transfer_before, begin, ROLE_TRANSFER, NULL);
	if (role != ROLE_FREE)
		add_span(lane, begin, begin + again, ROLE_AGAIN, NULL);
	else
		again = 0;
	add_span(lane, begin + again, end, role, label);
	if (!item->paired)
		add_span(lane, item->end, item->end + item->send, ROLE_TRANSFER, NULL);
}

/* Items of a stage that the window has a part of. */
static int32_t count_items(const struct timeline *t, int stage,
			   const struct window *window, int32_t *first)
{
	const struct timeline_stage *s = &t->stage[stage];
	int32_t last = timeline_at(t, stage, fmin(window->to, window->now));

	*first = timeline_at(t, stage, window->from);
	*first = *first < s->first ? s->first : *first;
	return last < *first ? 0 : last - *first + 1;
}

/* --- what was drawn is kept --- */

/* A chart takes milliseconds and most keys change nothing in it: the cells of the last
 * one are kept beside the timeline, with all that they depend on. */
struct picture {
	const struct timeline *timeline;
	struct rect rect;
	struct window window;
	int first;
	enum glyph_level glyphs;
	bool colour;
	struct cell cell[];
};

static bool is_of(const struct picture *picture, const struct picture *wanted)
{
	const struct rect *a = &picture->rect, *b = &wanted->rect;
	const struct window *v = &picture->window, *w = &wanted->window;

	return picture->timeline == wanted->timeline && a->x == b->x && a->y == b->y &&
	       a->width == b->width && a->height == b->height && v->from == w->from &&
	       v->to == w->to && v->now == w->now &&
	       v->only_critical == w->only_critical &&
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

static void keep_picture(struct play *play, struct canvas *canvas,
			 const struct picture *wanted)
{
	struct rect area = inside(canvas, wanted->rect);
	size_t cells = (size_t)area.width * (size_t)area.height;
	struct picture *picture = malloc(sizeof *picture + cells * sizeof(struct cell));

	free(play->picture);
	play->picture = picture;
	if (!picture)
		return;
	*picture = *wanted;
	copy_cells(canvas, wanted->rect, picture->cell, true);
}

/* Behind the end of the plan, or of what is played, nothing idles. */
static void draw_dense(struct canvas *canvas, struct rect rect, const struct lane *lane,
		       double end)
{
	const struct window *window = lane->window;
	double each = (window->to - window->from) / rect.width;

	rect.width =
		clamp((int)ceil((end - window->from) / each - 1e-9), 0, rect.width);
	widget_lane(canvas, rect, lane->span, lane->count, window->from,
		    window->from + rect.width * each);
}

static void draw_lane(struct canvas *canvas, struct rect rect, const struct timeline *t,
		      int stage, const struct window *window)
{
	int32_t first, count = count_items(t, stage, window, &first);
	struct lane lane = { .timeline = t, .window = window, .room = 4 * count + 4 };
	double end = fmin(fmin(window->to, window->now), t->pipeline_seconds);
	struct span idle = { window->from, end, ROLE_IDLE, NULL };

	lane.dense = count * narrow > rect.width;
	lane.span = malloc((size_t)lane.room * sizeof *lane.span);
	lane.label = malloc((size_t)(count + 1) * sizeof *lane.label);
	if (lane.span && lane.label) {
		for (int32_t i = first; i < first + count; i++)
			add_item(&lane, i);
		if (idle.end > idle.begin && !lane.dense)
			widget_spans(canvas, rect, &idle, 1, window->from, window->to);
		if (lane.dense)
			draw_dense(canvas, rect, &lane, end);
		else
			widget_spans(canvas, rect, lane.span, lane.count, window->from,
				     window->to);
	}
	free(lane.span);
	free(lane.label);
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

/* One row: how full, with a mark where it is fullest. */
static void draw_levels(struct canvas *canvas, struct rect rect,
			const struct timeline *t, int stage,
			const struct window *window)
{
	double each = (window->to - window->from) / rect.width, most = highest(t);

	for (int i = 0; i < rect.width && most > 0; i++) {
		double from = window->from + i * each;
		double held = timeline_most_bytes(t, stage, from, from + each);

		if (from > window->now)
			break;
		if (is_peak(&t->stage[stage], from, from + each))
			canvas_put(canvas, rect.x + i, rect.y,
				   canvas_glyph(canvas, GLYPH_UP), ROLE_BAD);
		else
			widget_level(canvas, rect.x + i, rect.y, held / most,
				     ROLE_ACTIVATIONS);
	}
}

static void draw_title(struct canvas *canvas, struct rect rect,
		       const struct timeline *t, int stage)
{
	const struct timeline_stage *s = &t->stage[stage];
	char peak[32], when[32], rest[32], text[160];
	int used;

	form_text(FORM_BYTES, s->peak_bytes, peak, sizeof peak);
	form_text(FORM_SECONDS, s->peak_seconds, when, sizeof when);
	form_text(FORM_BYTES, s->resident_bytes, rest, sizeof rest);
	used = snprintf(text, sizeof text, "stage %d: activations %s at %s", stage,
			peak, when);
	if (rect.width > 96)
		snprintf(text + used, sizeof text - (size_t)used,
			 ", %d micro-batches%s in flight; %s beside them",
			 s->peak_chunks, t->chunks > 1 ? " x chunks" : "", rest);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, text);
}

void timeline_draw_memory(struct canvas *canvas, struct rect rect,
			  const struct timeline *t, int stage,
			  const struct window *window)
{
	const struct timeline_stage *s = &t->stage[stage];
	int width = rect.width - TIMELINE_MARGIN - TIMELINE_EDGE;
	double each = (window->to - window->from) / width;

	if (rect.height < 2 || width < 1 || s->peak_bytes <= 0)
		return;
	rect.x += TIMELINE_MARGIN;
	rect.width -= TIMELINE_MARGIN;
	draw_title(canvas, rect, t, stage);
	rect.y++;
	rect.height--;
	for (int i = 0; i < width; i++) {
		double from = window->from + i * each;
		double held = timeline_most_bytes(t, stage, from, from + each);
		struct rect column = { rect.x + i, rect.y, 1, rect.height };

		if (from > window->now)
			break;
		widget_column(canvas, column, held / s->peak_bytes, ROLE_ACTIVATIONS);
		if (is_peak(s, from, from + each))
			canvas_put(canvas, column.x, column.y,
				   canvas_glyph(canvas, GLYPH_UP), ROLE_BAD);
	}
}

/* --- the chart --- */

int timeline_rows(struct rect rect, const struct timeline *t)
{
	return clamp(rect.height / t->stages, 1, MOST_ROWS);
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

	for (int i = 0; i < shown && first + i < t->stages; i++) {
		struct rect line = { rect.x, rect.y + i * rows, rect.width,
				     rows > 2 ? 2 : 1 };
		struct rect levels = { line.x, line.y + line.height, line.width, 1 };

		draw_lane(canvas, line, t, first + i, window);
		if (rows > 1)
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
	struct play *play = own ? explorer->play : explorer->play_before;
	struct rect lanes = { rect.x + TIMELINE_MARGIN, rect.y,
			      rect.width - TIMELINE_MARGIN - TIMELINE_EDGE,
			      rect.height };
	struct picture wanted = { t,     lanes,          *window,
				  first, canvas->glyphs, canvas->colour };

	if (play->picture && is_of(play->picture, &wanted)) {
		copy_cells(canvas, lanes, play->picture->cell, false);
	} else {
		draw_lanes(canvas, lanes, t, first, window);
		keep_picture(play, canvas, &wanted);
	}
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
	const struct timeline_item *item = &t->item[index];
	int rows = timeline_rows(rect, t), shown = rect.height / rows;
	int first = scroll_first(0, item->stage, t->stages, shown);
	int width = rect.width - TIMELINE_MARGIN - TIMELINE_EDGE;
	double scale = width / (window->to - window->from);
	struct lane lane = { .timeline = t };
	double begin, end;
	struct rect cell;
	int x;

	part_of(&lane, index, &begin, &end);
	x = (int)((begin - window->from) * scale);
	cell = (struct rect){ rect.x + TIMELINE_MARGIN + clamp(x, 0, width - 1),
			      rect.y + (item->stage - first) * rows, 1,
			      rows > 2 ? 2 : 1 };
	cell.width = clamp((int)ceil((end - window->from) * scale) - x, 1, width);
	draw_mark(canvas, cell);
	if (explorer->pane == PANE_VIEW)
		canvas_cursor(canvas, cell.x, cell.y);
}

int32_t timeline_item_at(struct rect rect, const struct timeline *t, int cursor,
			 const struct window *window, int x, int y)
{
	int rows = timeline_rows(rect, t), shown = rect.height / rows;
	int first = scroll_first(0, clamp(cursor, 0, t->stages - 1), t->stages, shown);
	int width = rect.width - TIMELINE_MARGIN - TIMELINE_EDGE;
	int column = x - rect.x - TIMELINE_MARGIN, stage;
	double when;
	int32_t at;

	if (!rect_holds(rect, x, y) || (y - rect.y) / rows >= shown || column >= width)
		return -1;
	stage = first + (y - rect.y) / rows;
	if (stage >= t->stages)
		return -1;
	when = window->from +
	       (fmax(column, 0) + 0.5) / width * (window->to - window->from);
	at = timeline_at(t, stage, when);
	return at < 0 ? t->stage[stage].first : at;
}

/* "12.345 s": as many decimals as tell ticks apart. */
static int tick_text(double seconds, double step, double longest, char *out,
		     size_t size)
{
	double unit = longest < 1e-3 ? 1e6 : longest < 1 ? 1e3 : 1;
	int decimals = clamp((int)ceil(-log10(step * unit) - 1e-9), 0, 6);

	return snprintf(out, size, "%.*f %s", decimals, seconds * unit,
			unit > 1e3   ? "us"
			: unit > 1.0 ? "ms"
				     : "s");
}

/* Round times, each at its column, as far as they don't meet; "idle" over the edge. */
void timeline_draw_axis(struct canvas *canvas, struct rect rect,
			const struct window *window)
{
	struct axis axis = { .min = window->from, .max = window->to };
	int width = rect.width - TIMELINE_MARGIN - TIMELINE_EDGE, free = 0;
	double tick[16];
	int ticks = axis_ticks(&axis, clamp(width / 11, 2, 16), tick);

	for (int x = 0; x < width; x++)
		canvas_put(canvas, rect.x + TIMELINE_MARGIN + x, rect.y,
			   canvas_glyph(canvas, GLYPH_HORIZONTAL), ROLE_BORDER);
	for (int i = 0; i < ticks; i++) {
		char text[32];
		int x = (int)((tick[i] - window->from) / (window->to - window->from) *
			      width);
		int used = tick_text(tick[i], ticks > 1 ? tick[1] - tick[0] : 1,
				     window->to, text, sizeof text);

		if (x < free || x + used >= width)
			continue;
		canvas_put(canvas, rect.x + TIMELINE_MARGIN + x, rect.y,
			   canvas_glyph(canvas, GLYPH_TEE_DOWN), ROLE_BORDER);
		canvas_format(canvas, rect.x + TIMELINE_MARGIN + x + 1, rect.y, used,
			      ROLE_LABEL, "%s", text);
		free = x + used + 3;
	}
	canvas_text(canvas, rect.x + rect.width - TIMELINE_EDGE + 1, rect.y,
		    TIMELINE_EDGE, ROLE_LABEL, "idle");
}
