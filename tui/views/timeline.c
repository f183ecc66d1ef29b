/* timeline.c - the pipeline as a Gantt: stages down, time across. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/view.h"

enum { MARGIN = 4, EDGE = 7, FOOT = 3, AXIS = 1, MOST_ZOOM = 16, CURVE = 4 };

/* The seconds that the charts show, the same for the plan and its baseline. */
struct window {
	double from, to;
};

static const struct timeline *played(const struct play *play)
{
	return play && play->good ? &play->timeline : NULL;
}

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

static int chosen_stage(const struct explorer *explorer, const struct timeline *t)
{
	return clamp(explorer->state[VIEW_TIMELINE].choice, 0, t->stages - 1);
}

/* Index in timeline->item of the item under the cursor. */
static int32_t chosen_item(const struct explorer *explorer, const struct timeline *t)
{
	const struct timeline_stage *stage = &t->stage[chosen_stage(explorer, t)];
	int at = clamp(explorer->state[VIEW_TIMELINE].cursor, 0, stage->count - 1);

	return stage->first + at;
}

static struct window window_of(const struct explorer *explorer,
			       const struct timeline *t)
{
	const struct timeline *before =
		explorer->pinned ? played(explorer->play_before) : NULL;
	const struct timeline_item *item = &t->item[chosen_item(explorer, t)];
	double whole = t->pipeline_seconds, span, centre;

	if (before)
		whole = fmax(whole, before->pipeline_seconds);
	span = whole /
	       (double)(1 << clamp(explorer->state[VIEW_TIMELINE].zoom, 0, MOST_ZOOM));
	centre = (item->start + item->end) / 2;
	centre = fmin(fmax(centre, span / 2), whole - span / 2);
	return (struct window){ centre - span / 2, centre + span / 2 };
}

static enum role role_of(const struct timeline_item *item)
{
	bool odd = item->micro_batch % 2 == 1;

	switch (item->kind) {
	case WORK_FORWARD: return odd ? ROLE_FORWARD_ALT : ROLE_FORWARD;
	case WORK_WEIGHT_GRAD: return odd ? ROLE_WGRAD_ALT : ROLE_WGRAD;
	default: return odd ? ROLE_BACKWARD_ALT : ROLE_BACKWARD;
	}
}

/* Spans of one stage inside the window; two for an item that recomputes or sends. */
struct row {
	struct span *span;
	char (*label)[8];
	int count, room;
};

static void add_span(struct row *row, double begin, double end, enum role role,
		     const char *label)
{
	if (row->count < row->room && end > begin)
		row->span[row->count++] = (struct span){ begin, end, role, label };
}

static void add_item(struct row *row, const struct timeline *t,
		     const struct timeline_item *item, int index, bool only_critical)
{
	enum role role = role_of(item);
	double again = item->kind == WORK_BACKWARD || item->kind == WORK_INPUT_GRAD
			       ? t->recompute[item->position]
			       : 0;

	if (only_critical && !item->critical)
		role = ROLE_FREE;
	snprintf(row->label[index], sizeof row->label[index], "%d", item->micro_batch);
	if (again > 0 && role != ROLE_FREE)
		add_span(row, item->start, item->start + again, ROLE_RECOMPUTE, NULL);
	add_span(row, item->start + again, item->end, role,
		 role == ROLE_FREE ? NULL : row->label[index]);
	add_span(row, item->end, item->end + item->send, ROLE_PP, NULL);
}

static void draw_stage(const struct explorer *explorer, struct canvas *canvas,
		       struct rect rect, const struct timeline *t, int stage,
		       struct window window)
{
	const struct timeline_stage *s = &t->stage[stage];
	bool only_critical = explorer->state[VIEW_TIMELINE].sort % 2 == 1;
	int32_t first = timeline_at(t, stage, window.from);
	struct row row = { .room = 3 * s->count + 4 };

	row.span = malloc((size_t)row.room * sizeof *row.span);
	row.label = malloc((size_t)(s->count + 1) * sizeof *row.label);
	if (row.span && row.label) {
		struct span idle = { window.from, fmin(window.to, t->pipeline_seconds),
				     ROLE_IDLE, NULL };

		if (idle.end > idle.begin)
			widget_spans(canvas, rect, &idle, 1, window.from, window.to);
		for (int32_t i = first < s->first ? s->first : first;
		     i < s->first + s->count && t->item[i].start < window.to; i++)
			add_item(&row, t, &t->item[i], (int)(i - s->first),
				 only_critical);
		widget_spans(canvas, rect, row.span, row.count, window.from, window.to);
	}
	free(row.span);
	free(row.label);
}

/* Rows of all stages that there is room for; returns the first one shown. */
static int draw_chart(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct timeline *t, int cursor,
		      struct window window)
{
	int tall = rect.height / t->stages, shown, first;

	tall = clamp(tall, 1, 3);
	shown = rect.height / tall;
	first = scroll_first(0, cursor < 0 ? 0 : cursor, t->stages, shown);
	for (int i = 0; i < shown && first + i < t->stages; i++) {
		const struct timeline_stage *s = &t->stage[first + i];
		struct rect line = { rect.x + MARGIN, rect.y + i * tall,
				     rect.width - MARGIN - EDGE,
				     tall > 1 ? tall - 1 : 1 };
		bool here = first + i == cursor;

		canvas_format(canvas, rect.x, line.y, MARGIN - 1,
			      here ? ROLE_VALUE : ROLE_LABEL, "%3d", first + i);
		if (here && explorer->pane == PANE_VIEW)
			canvas_highlight(canvas,
					 (struct rect){ rect.x, line.y, MARGIN - 1, 1 },
					 ROLE_FOCUS, false, true);
		draw_stage(explorer, canvas, line, t, first + i, window);
		canvas_format(canvas, line.x + line.width + 1, line.y, EDGE - 1,
			      ROLE_LABEL, "%4.1f%%",
			      t->pipeline_seconds > 0
				      ? s->idle / t->pipeline_seconds * 100
				      : 0);
	}
	return first;
}

/* The item under the cursor is reversed, wherever it is drawn. */
static void mark_item(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct timeline *t, int first,
		      struct window window)
{
	const struct timeline_item *item = &t->item[chosen_item(explorer, t)];
	int tall = clamp(rect.height / t->stages, 1, 3);
	int width = rect.width - MARGIN - EDGE;
	double scale = width / (window.to - window.from);
	int x = (int)((item->start - window.from) * scale);
	int end = (int)ceil((item->end - window.from) * scale);
	struct rect cell = { rect.x + MARGIN + clamp(x, 0, width - 1),
			     rect.y + (item->stage - first) * tall,
			     clamp(end - x, 1, width), 1 };

	if (cell.y < rect.y || cell.y >= rect.y + rect.height)
		return;
	canvas_highlight(canvas, cell, ROLE_DEFAULT, true, true);
	if (explorer->pane == PANE_VIEW)
		canvas_cursor(canvas, cell.x, cell.y);
}

static void draw_axis(struct canvas *canvas, struct rect rect, struct window window)
{
	char from[32], to[32];

	form_text(FORM_SECONDS, window.from, from, sizeof from);
	form_text(FORM_SECONDS, window.to, to, sizeof to);
	for (int x = MARGIN; x < rect.width - EDGE; x++)
		canvas_put(canvas, rect.x + x, rect.y,
			   canvas_glyph(canvas, GLYPH_HORIZONTAL), ROLE_BORDER);
	canvas_format(canvas, rect.x + MARGIN, rect.y, 12, ROLE_LABEL, "%s ", from);
	canvas_right(canvas, rect.x, rect.y, rect.width - EDGE, ROLE_LABEL, to);
	canvas_text(canvas, rect.x + rect.width - EDGE + 1, rect.y, EDGE, ROLE_LABEL,
		    "idle");
}

/* One column of the curve: full blocks, and a part of one on top. */
static void draw_column(struct canvas *canvas, int x, struct rect rect, double share,
			enum role role)
{
	int eighths = (int)lround(share * rect.height * 8);

	for (int r = 0; r < rect.height; r++) {
		int n = clamp(eighths - r * 8, 0, 8), y = rect.y + rect.height - 1 - r;
		uint32_t code = n == 8 ? canvas_glyph(canvas, GLYPH_FULL_BLOCK)
				: n > 0 && canvas->glyphs == GLYPHS_FULL
					? 0x2580 + (uint32_t)n
				: n >= 4 ? canvas_glyph(canvas, GLYPH_FULL_BLOCK)
					 : 0;

		if (code)
			canvas_put(canvas, x, y, code, role);
	}
}

/* Activations of the chosen stage over the window, the peak marked. */
static void draw_memory(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect, const struct timeline *t,
			struct window window)
{
	int stage = chosen_stage(explorer, t), width = rect.width - MARGIN - EDGE;
	const struct timeline_stage *s = &t->stage[stage];
	double each = (window.to - window.from) / width;
	char peak[32], when[32];

	if (rect.height < 2 || s->peak_bytes <= 0)
		return;
	form_text(FORM_BYTES, s->peak_bytes, peak, sizeof peak);
	form_text(FORM_SECONDS, s->peak_seconds, when, sizeof when);
	canvas_format(
		canvas, rect.x + MARGIN, rect.y, rect.width, ROLE_TITLE,
		"activations of stage %d: peak %s at %s, %d micro-batches x chunks",
		stage, peak, when, s->peak_chunks);
	rect.y++;
	rect.height--;
	for (int i = 0; i < width; i++) {
		double at = window.from + (i + 0.5) * each;
		bool top = s->peak_seconds >= at - each / 2 &&
			   s->peak_seconds < at + each / 2;

		draw_column(canvas, rect.x + MARGIN + i, rect,
			    timeline_held_bytes(t, stage, at) / s->peak_bytes,
			    top ? ROLE_BAD : ROLE_ACTIVATIONS);
	}
}

static const char *kind_text(const struct timeline_item *item)
{
	static const char *const kinds[WORK_COUNT] = { "forward", "backward",
						       "input gradient",
						       "weight gradient" };

	return item->kind < WORK_COUNT ? kinds[item->kind] : "";
}

static void draw_item_text(const struct explorer *explorer, struct canvas *canvas,
			   struct rect rect, const struct timeline *t)
{
	const struct timeline_item *item = &t->item[chosen_item(explorer, t)];
	char start[32], length[32], waits[96] = "at once", idle[32];

	form_text(FORM_SECONDS, item->start, start, sizeof start);
	form_text(FORM_SECONDS, item->end - item->start, length, sizeof length);
	form_text(FORM_SECONDS, item->idle_before, idle, sizeof idle);
	if (item->after >= 0) {
		const struct timeline_item *after = &t->item[item->after];

		snprintf(waits, sizeof waits, "after %s %d of stage %d%s",
			 kind_text(after), after->micro_batch, after->stage,
			 item->wait == WAIT_TRANSFER ? " and its transfer" : "");
	}
	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_VALUE,
		      "stage %d  %s of micro-batch %d, chunk %d%s", item->stage,
		      kind_text(item), item->micro_batch, item->chunk,
		      item->critical ? "  on the critical path" : "");
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_LABEL,
		      "starts %s, takes %s, %s; idle %s before", start, length, waits,
		      idle);
}

static void draw_head(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct timeline *t)
{
	static const struct part parts[] = {
		{ 1, ROLE_FORWARD, "forward" },
		{ 1, ROLE_BACKWARD, "backward" },
		{ 1, ROLE_WGRAD, "weight grad." },
		{ 1, ROLE_RECOMPUTE, "recompute" },
		{ 1, ROLE_PP, "send" },
		{ 1, ROLE_IDLE, "idle" },
	};
	int zoom = clamp(explorer->state[VIEW_TIMELINE].zoom, 0, MOST_ZOOM), x = rect.x;
	char phase[32], chunks[24] = "";

	form_text(FORM_SECONDS, t->pipeline_seconds, phase, sizeof phase);
	if (t->chunks > 1)
		snprintf(chunks, sizeof chunks, " x %d chunks", t->chunks);
	x += canvas_format(canvas, x, rect.y, rect.width, ROLE_TITLE,
			   "%d stages%s x %d micro-batches: %s", t->stages, chunks,
			   t->micro_batches, phase) +
	     2;
	canvas_format(canvas, x, rect.y, rect.x + rect.width - x, ROLE_LABEL, "%s%s",
		      zoom ? "zoomed in" : "+ zooms in",
		      explorer->state[VIEW_TIMELINE].sort % 2 ? ", critical path" : "");
	widget_legend(canvas, (struct rect){ rect.x, rect.y + 1, rect.width, 1 }, parts,
		      6);
}

static void draw_refusal(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect)
{
	const struct play *play = explorer->play;

	if (!explorer->estimate.legal) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_WARNING,
		      "This step is not played: %s",
		      play && play->problem.reason ? play->problem.reason
						   : "not enough memory");
	if (play && play->problem.limit > 0)
		canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_LABEL,
			      "%lld, and the limit is %lld%s%s",
			      (long long)play->problem.have,
			      (long long)play->problem.limit,
			      play->problem.knob ? "; turn " : "",
			      play->problem.knob ? play->problem.knob : "");
}

void timeline_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	const struct timeline *t = played(explorer->play), *before;
	struct rect chart, memory;
	struct window window;
	int curve = rect.height >= 24 ? CURVE + 2 : rect.height >= 18 ? 3 : 0, first;

	if (!t || t->item_count == 0) {
		draw_refusal(explorer, canvas, rect);
		return;
	}
	before = explorer->pinned ? played(explorer->play_before) : NULL;
	window = window_of(explorer, t);
	draw_head(explorer, canvas, rect, t);
	chart = (struct rect){ rect.x, rect.y + 2, rect.width,
			       rect.height - 2 - FOOT - AXIS - curve };
	if (before && chart.height >= 6) {
		struct rect half = chart;

		half.height = chart.height / 2 - 1;
		canvas_text(canvas, half.x, half.y, half.width, ROLE_WARNING, "pinned");
		half.y++;
		draw_chart(explorer, canvas, half, before, -1, window);
		chart.y += chart.height / 2;
		chart.height -= chart.height / 2;
	}
	first = draw_chart(explorer, canvas, chart, t, chosen_stage(explorer, t),
			   window);
	mark_item(explorer, canvas, chart, t, first, window);
	draw_axis(canvas,
		  (struct rect){ rect.x, chart.y + chart.height, rect.width, 1 },
		  window);
	memory = (struct rect){ rect.x, chart.y + chart.height + 1, rect.width, curve };
	draw_memory(explorer, canvas, memory, t, window);
	draw_item_text(explorer, canvas,
		       (struct rect){ rect.x, rect.y + rect.height - 2, rect.width, 2 },
		       t);
}

/* Another stage at the same moment. */
static void go_to_stage(struct explorer *explorer, const struct timeline *t, int stage)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	const struct timeline_item *item = &t->item[chosen_item(explorer, t)];
	double when = (item->start + item->end) / 2;
	int32_t at;

	state->choice = clamp(stage, 0, t->stages - 1);
	at = timeline_at(t, state->choice, when);
	state->cursor = at < 0 ? 0 : (int)(at - t->stage[state->choice].first);
}

/* The next item to start, on any stage. */
static void go_on(struct explorer *explorer, const struct timeline *t)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	int32_t now = chosen_item(explorer, t), best = -1;

	for (int32_t i = 0; i < t->item_count; i++) {
		bool later = t->item[i].start > t->item[now].start ||
			     (t->item[i].start == t->item[now].start && i > now);

		if (later && (best < 0 || t->item[i].start < t->item[best].start))
			best = i;
	}
	if (best < 0)
		return;
	state->choice = t->item[best].stage;
	state->cursor = (int)(best - t->stage[state->choice].first);
}

unsigned timeline_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	const struct timeline *t = played(explorer->play);
	int stage, count;

	play_refresh(explorer);
	t = played(explorer->play);
	if (!t || t->item_count == 0)
		return CHANGED_NOTHING;
	stage = chosen_stage(explorer, t);
	count = t->stage[stage].count;
	state->cursor = clamp(state->cursor, 0, count - 1);
	switch (action.kind) {
	case ACTION_LEFT: state->cursor -= state->cursor > 0; break;
	case ACTION_RIGHT: state->cursor += state->cursor + 1 < count; break;
	case ACTION_UP: go_to_stage(explorer, t, stage - 1); break;
	case ACTION_DOWN: go_to_stage(explorer, t, stage + 1); break;
	case ACTION_PAGE_UP:
		state->cursor = clamp(state->cursor - 16, 0, count - 1);
		break;
	case ACTION_PAGE_DOWN:
		state->cursor = clamp(state->cursor + 16, 0, count - 1);
		break;
	case ACTION_HOME: state->cursor = 0; break;
	case ACTION_END: state->cursor = count - 1; break;
	case ACTION_ZOOM_IN: state->zoom = clamp(state->zoom + 1, 0, MOST_ZOOM); break;
	case ACTION_ZOOM_OUT: state->zoom = clamp(state->zoom - 1, 0, MOST_ZOOM); break;
	case ACTION_SORT: state->sort++; break;
	case ACTION_STEP: go_on(explorer, t); break;
	case ACTION_ENTER: return explorer_explain(explorer, "bubble_ratio");
	default: return CHANGED_NOTHING;
	}
	return CHANGED_SCREEN;
}
