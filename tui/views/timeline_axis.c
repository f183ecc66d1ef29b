/* timeline_axis.c - which times of a step the columns of a lane show: all of it, a part
 * of it, or, where items would be too narrow to be told apart, its begin, a stretch of
 * its steady state and its end, with the time between them left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/views/page.h"
#include "tui/views/timeline.h"

/* Columns that an item takes in the mean where time is left out. */
static const double wide = 4;

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

static void add_stretch(struct window *out, double from, double to, int columns)
{
	int x = 0;

	if (out->parts > 0) {
		const struct stretch *last = &out->part[out->parts - 1];

		x = last->x + last->columns + TIMELINE_BREAK;
	}
	out->part[out->parts++] = (struct stretch){ from, to, x, columns };
}

/* The stretch between the begin and the end that holds the centre, or the middle one:
 * it moves on only where the centre leaves it. */
static double steady_from(double from, double to, double span, double centre)
{
	double count = ceil((to - from) / span), at = floor(count / 2);

	if (centre >= from && centre < to)
		at = floor((centre - from) / span);
	return fmax(from, fmin(from + at * span, to - span));
}

static void break_axis(struct window *out, const struct timeline *t, int columns,
		       double centre)
{
	int room = columns - 2 * TIMELINE_BREAK, most = room * 2 / 5;
	double each = out->each, whole = t->pipeline_seconds, from;
	int begin = clamp((int)ceil(t->filled_seconds / each) + 2, 1, most);
	int end = clamp((int)ceil((whole - t->drain_seconds) / each) + 2, 1, most);
	int middle = room - begin - end;

	from = steady_from(begin * each, whole - end * each, middle * each, centre);
	add_stretch(out, 0, begin * each, begin);
	add_stretch(out, from, from + middle * each, middle);
	add_stretch(out, whole - end * each, whole, end);
}

double window_scale(const struct timeline *t, int columns)
{
	double each = t->item_seconds / wide;

	if (columns < 2 * TIMELINE_BREAK + 12 ||
	    t->item_seconds * columns >= TIMELINE_NARROW * t->pipeline_seconds ||
	    each * columns >= t->pipeline_seconds)
		return 0;
	return each;
}

void window_make(struct window *out, const struct timeline *t, int columns, double each,
		 double centre)
{
	out->parts = 0;
	out->each = each;
	if (each * columns < t->pipeline_seconds)
		break_axis(out, t, columns, centre);
	else
		add_stretch(out, 0, each * columns, columns);
}

void window_zoom(struct window *out, double whole, double span, int columns,
		 double centre)
{
	columns = columns < 1 ? 1 : columns;
	centre = fmin(fmax(centre, span / 2), whole - span / 2);
	out->parts = 0;
	out->each = span / columns;
	add_stretch(out, centre - span / 2, centre + span / 2, columns);
}

double window_time(const struct window *window, int column)
{
	for (int i = 0; i < window->parts; i++) {
		const struct stretch *s = &window->part[i];

		if (column >= s->x && column < s->x + s->columns)
			return s->from + (column - s->x) * window->each;
	}
	return -1;
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

/* Round times, each at its column, as far as they don't meet. */
static void draw_stretch(struct canvas *canvas, int x0, int y,
			 const struct stretch *stretch, double longest)
{
	struct axis axis = { .min = stretch->from, .max = stretch->to };
	double tick[16];
	int width = stretch->columns, free = 0;
	int ticks = axis_ticks(&axis, clamp(width / 11, 2, 16), tick);

	x0 += stretch->x;
	for (int i = 0; i < ticks; i++) {
		char text[32];
		int x = (int)((tick[i] - stretch->from) /
			      (stretch->to - stretch->from) * width);
		int used = tick_text(tick[i], ticks > 1 ? tick[1] - tick[0] : 1,
				     longest, text, sizeof text);

		if (x < free || x + used >= width)
			continue;
		canvas_put(canvas, x0 + x, y, canvas_glyph(canvas, GLYPH_TEE_DOWN),
			   ROLE_BORDER);
		canvas_format(canvas, x0 + x + 1, y, used, ROLE_LABEL, "%s", text);
		free = x + used + 3;
	}
}

static void draw_breaks(struct canvas *canvas, int x, int y,
			const struct window *window)
{
	for (int i = 0; i + 1 < window->parts; i++)
		for (int k = 0; k < TIMELINE_BREAK; k++)
			canvas_put(canvas,
				   x + window->part[i].x + window->part[i].columns + k,
				   y, '/', ROLE_BORDER);
}

void timeline_draw_axis(struct canvas *canvas, struct rect rect,
			const struct window *window)
{
	int x = rect.x + TIMELINE_MARGIN;

	for (int i = 0; i < window->parts; i++)
		draw_stretch(canvas, x, rect.y, &window->part[i],
			     window->part[window->parts - 1].to);
	draw_breaks(canvas, x, rect.y, window);
	canvas_text(canvas, rect.x + rect.width - TIMELINE_EDGE + 1, rect.y,
		    TIMELINE_EDGE, ROLE_LABEL, "idle");
}

/* Whether this split is written so in a launch script: Megatron's own has the string,
 * for its two orders of work, and one stage needs none. */
static bool has_layout(const struct scenario *s, const struct timeline *t)
{
	return t->stages > 1 && t->layout[0] != '\0' &&
	       strcmp(s->stack.name, "megatron-core") == 0 &&
	       (s->plan.schedule == SCHEDULE_1F1B ||
		s->plan.schedule == SCHEDULE_INTERLEAVED);
}

void timeline_layers_text(const struct explorer *explorer, const struct timeline *t,
			  int width, char *out, size_t size)
{
	enum { FEW = 8 };
	const struct estimate *e = &explorer->estimate;
	double least = INFINITY, most = 0;
	int used = snprintf(out, size, "layers per stage:");

	for (int i = 0; i < t->stages; i++) {
		least = fmin(least, e->stage[i].layers);
		most = fmax(most, e->stage[i].layers);
		if (t->stages <= FEW)
			used += snprintf(out + used, size - (size_t)used, " %g",
					 e->stage[i].layers);
	}
	if (t->stages > FEW && least == most)
		used += snprintf(out + used, size - (size_t)used, " %g", most);
	else if (t->stages > FEW)
		used += snprintf(out + used, size - (size_t)used, " %g to %g", least,
				 most);
	if (has_layout(&explorer->scenario, t) &&
	    used + 24 + (int)strlen(t->layout) <= width)
		snprintf(out + used, size - (size_t)used, ", as Megatron's layout %s",
			 t->layout);
}

void timeline_draw_alone(struct canvas *canvas, struct rect rect,
			 const struct timeline *t)
{
	char peak[32], text[128];

	if (t->stages > 1 || rect.height < 1)
		return;
	rect.x += TIMELINE_MARGIN;
	rect.width -= TIMELINE_MARGIN;
	form_text(FORM_BYTES, t->stage[0].peak_bytes, peak, sizeof peak);
	snprintf(text, sizeof text,
		 "one stage: no bubble; activations of one micro-batch: %s", peak);
	if (text_width(text) > rect.width)
		snprintf(text, sizeof text, "no bubble; activations %s", peak);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_TITLE, text);
}

/* What the bar is made of, in seconds, with what the last key changed. */
static void draw_spent_numbers(struct page *p)
{
	const struct estimate *e = &p->explorer->estimate;
	struct item item[DIM_COUNT + 3];
	char key[DIM_COUNT][40];
	int count = 0;

	item[count++] = (struct item){ "compute", "compute_seconds", ROLE_DEFAULT };
	if (e->recompute_seconds > 0)
		item[count++] =
			(struct item){ "recompute", "recompute_seconds", ROLE_DEFAULT };
	for (int d = 0; d < DIM_COUNT; d++) {
		snprintf(key[d], sizeof key[d], "%s.exposed_seconds",
			 dimension_key((enum dimension)d));
		if (e->cost[d].exposed_seconds > 0)
			item[count++] =
				(struct item){ dimension_label((enum dimension)d),
					       key[d], ROLE_DEFAULT };
	}
	item[count++] = (struct item){ "optimizer", "optimizer_seconds", ROLE_DEFAULT };
	page_grid(p, item, count, page_columns(p));
}

/* The lane of one stage is all work: what that is spent on, where there is room. */
void timeline_draw_spent(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, int y, int end)
{
	struct page p = { explorer, canvas, rect, y + 1, ROOM_COMPACT };

	if (y + 5 > end)
		return;
	if (y + 10 > end) {
		page_time_bar(&p);
		return;
	}
	p.room = ROOM_RICH;
	page_time_bar(&p);
	p.y++;
	draw_spent_numbers(&p);
}

int timeline_spare_rows(struct rect rect, struct rect chart, const struct timeline *t)
{
	enum { HIGH = 44 };

	if (rect.height >= HIGH || timeline_rows(chart, t) < 2)
		return 0;
	return chart.height - timeline_rows(chart, t) * t->stages;
}
