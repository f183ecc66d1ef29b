/* timeline.c - the pipeline as a Gantt: stages down, time across. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/page.h"
#include "tui/views/timeline.h"

enum { FOOT = 3, AXIS = 1, MOST_ZOOM = 16 };

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

/* The item under the cursor. */
static int32_t chosen_item(const struct explorer *explorer, const struct timeline *t)
{
	const struct timeline_stage *stage = &t->stage[chosen_stage(explorer, t)];
	int at = clamp(explorer->state[VIEW_TIMELINE].cursor, 0, stage->count - 1);

	return stage->first + at;
}

/* Whether the step is played event by event: what has not started is not there. */
static bool steps(const struct explorer *explorer)
{
	return explorer->state[VIEW_TIMELINE].first > 0;
}

static int columns_of(struct rect rect)
{
	return rect.width - TIMELINE_MARGIN - TIMELINE_EDGE;
}

/* Two steps are drawn at one scale, so that they can be compared. */
static double scale_of(const struct timeline *t, const struct timeline *before,
		       int columns)
{
	double each = window_scale(t, columns);

	if (before)
		each = fmax(each, window_scale(before, columns));
	return each;
}

/* Zoomed out all of the step by share, at first what tells items apart, then twice as
 * large each time. */
static struct window window_of(const struct explorer *explorer,
			       const struct timeline *t, int columns)
{
	const struct timeline *before =
		explorer->pinned ? played(explorer->play_before) : NULL;
	struct timeline_item item = timeline_item(t, chosen_item(explorer, t));
	const struct view_state *state = &explorer->state[VIEW_TIMELINE];
	double whole = t->pipeline_seconds, each, centre;
	int zoom = clamp(state->zoom, -1, MOST_ZOOM);
	struct window window = { .now = steps(explorer) ? item.start : INFINITY,
				 .only_critical = state->sort % 2 == 1 };

	each = scale_of(t, before, columns);
	centre = (item.start + item.end) / 2;
	if (before)
		whole = fmax(whole, before->pipeline_seconds);
	if (each > 0 && zoom == 0)
		window_make(&window, t, columns, each, centre);
	else if (each > 0 && zoom > 0)
		window_zoom(&window, whole, fmin(whole, columns * each) / (1 << zoom),
			    columns, centre);
	else
		window_zoom(&window, whole, whole / (1 << clamp(zoom, 0, MOST_ZOOM)),
			    columns, centre);
	return window;
}

static const char *kind_text(const struct timeline_item *item)
{
	static const char *const kinds[WORK_COUNT] = { "forward", "backward",
						       "input gradient",
						       "weight gradient" };

	return item->kind < WORK_COUNT ? kinds[item->kind] : "";
}

/* "after backward 3 of stage 2, sent" */
static void wait_text(const struct timeline *t, int32_t item, char *out, size_t size)
{
	int32_t at = timeline_after(t, item);
	struct timeline_item after = timeline_item(t, at < 0 ? 0 : at);
	int wait = timeline_item(t, item).wait;

	if (at < 0)
		snprintf(out, size, "waits for nothing");
	else if (wait == WAIT_STAGE)
		snprintf(out, size, "waits for its stage, at %s %d until then",
			 kind_text(&after), after.micro_batch);
	else
		snprintf(out, size, "waits for %s %d of stage %d%s", kind_text(&after),
			 after.micro_batch, after.stage,
			 wait == WAIT_TRANSFER ? " and its transfer" : "");
}

static void draw_item_text(const struct explorer *explorer, struct canvas *canvas,
			   struct rect rect, const struct timeline *t)
{
	int32_t chosen = chosen_item(explorer, t);
	struct timeline_item item = timeline_item(t, chosen);
	const char *critical = item.critical ? "  critical" : "";
	char start[32], length[32], waits[96], idle[32], chunk[24] = "", what[96];

	form_text(FORM_SECONDS, item.start, start, sizeof start);
	form_text(FORM_SECONDS, item.end - item.start, length, sizeof length);
	form_text(FORM_SECONDS, item.idle_before, idle, sizeof idle);
	wait_text(t, chosen, waits, sizeof waits);
	if (t->chunks > 1)
		snprintf(chunk, sizeof chunk, ", chunk %d", item.chunk);
	snprintf(what, sizeof what, "stage %d  %s of micro-batch %d%s%s", item.stage,
		 kind_text(&item), item.micro_batch, chunk, critical);
	if (text_width(what) > rect.width)
		snprintf(what, sizeof what, "stage %d  %s %d%s%s", item.stage,
			 kind_text(&item), item.micro_batch, chunk, critical);
	canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_VALUE, what);
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_LABEL,
		      "starts %s, takes %s, idle %s before", start, length, idle);
	canvas_text(canvas, rect.x, rect.y + 2, rect.width, ROLE_LABEL, waits);
}

#define SKIPS "// skips time"

/* "zoom x8, critical path, event 17 of 1024" */
static void state_text(const struct explorer *explorer, const struct timeline *t,
		       const struct window *window, char *out, size_t size)
{
	const struct view_state *state = &explorer->state[VIEW_TIMELINE];
	int used = 0, zoom = clamp(state->zoom, 0, MOST_ZOOM);

	if (steps(explorer))
		used = snprintf(out, size, "event %d of %d, ",
				timeline_number(t, chosen_item(explorer, t)),
				t->item_count);
	if (explorer->playing)
		used += snprintf(out + used, size - (size_t)used, "%d/s, ",
				 play_speed(explorer));
	if (zoom > 0)
		used += snprintf(out + used, size - (size_t)used, "zoom x%d, ",
				 1 << zoom);
	if (state->sort % 2)
		used += snprintf(out + used, size - (size_t)used, "critical path, ");
	if (steps(explorer) && !explorer->playing)
		used += snprintf(out + used, size - (size_t)used, "Esc: all, ");
	if (used > 0)
		out[used - 2] = '\0';
	else
		snprintf(out, size, window->parts > 1 ? SKIPS : "+ zooms in");
}

/* Shapes of the legend that this step has. */
static int draw_legend(struct canvas *canvas, struct rect rect,
		       const struct timeline *t)
{
	bool sends = t->stages > 1 && t->send_seconds > 0, apart = false, again = false;

	for (int32_t i = 0; i < t->stage[0].count && !apart; i++)
		apart = timeline_item(t, i).kind == WORK_WEIGHT_GRAD;
	for (int k = 0; k < t->depth; k++)
		again |= t->recompute[k] > 0;
	const struct part parts[] = {
		{ 1, ROLE_FORWARD, "forward" },
		{ 1, ROLE_BACKWARD, apart ? "input grad." : "backward" },
		{ apart, ROLE_WGRAD, "weight grad." },
		{ again, ROLE_AGAIN, "recompute" },
		{ sends, ROLE_TRANSFER, "transfer" },
		{ t->stages > 1, ROLE_IDLE, "idle" },
	};

	return widget_legend(canvas, rect, parts, 6);
}

/* "4 stages x 2 chunks x 64 micro-batches" */
static void size_text(const struct timeline *t, char *out, size_t size)
{
	char chunks[24] = "";

	if (t->chunks > 1)
		snprintf(chunks, sizeof chunks, " x %d chunks", t->chunks);
	snprintf(out, size, "%d stage%s%s x %d micro-batch%s", t->stages,
		 t->stages == 1 ? "" : "s", chunks, t->micro_batches,
		 t->micro_batches == 1 ? "" : "es");
}

/* Title, legend and, where there is room, the layers; returns the rows used. */
static int draw_head(const struct explorer *explorer, struct canvas *canvas,
		     struct rect rect, const struct timeline *t,
		     const struct window *window)
{
	char phase[32], step[32], parts[64 + MAX_LAYOUT], state[96];
	int x, y = rect.y, right = rect.x + rect.width;

	form_text(FORM_SECONDS, t->pipeline_seconds, phase, sizeof phase);
	form_text(FORM_SECONDS, t->step_seconds, step, sizeof step);
	state_text(explorer, t, window, state, sizeof state);
	size_text(t, parts, sizeof parts);
	/* what is played or left out is more than how large the step is */
	if (strcmp(state, SKIPS) != 0 &&
	    text_width(parts) + text_width(phase) + text_width(state) + 4 > rect.width)
		snprintf(parts, sizeof parts, "time");
	x = rect.x + canvas_format(canvas, rect.x, y, rect.width, ROLE_TITLE, "%s: %s",
				   parts, phase);
	if (rect.width > 76)
		x += canvas_format(canvas, x, y, right - x, ROLE_LABEL,
				   " of a step of %s", step);
	/* the sign is enough, or nothing, where words would be cut */
	if (strcmp(state, SKIPS) == 0 && text_width(state) > right - x - 2)
		state[right - x - 2 < 2 ? 0 : 2] = '\0';
	canvas_format(canvas, x + 2, y, right - x - 2, ROLE_LABEL, "%s", state);
	y++;
	y += draw_legend(canvas, (struct rect){ rect.x, y, rect.width, 2 }, t);
	if (rect.height > 28) {
		timeline_layers_text(explorer, t, rect.width, parts, sizeof parts);
		canvas_phrase(canvas, rect.x, y, rect.width, ROLE_LABEL, parts);
		y++;
	}
	return y - rect.y;
}

static void draw_refusal(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect)
{
	const struct play *play = explorer->play;

	if (!has_numbers(explorer)) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	canvas->lacks = canvas->lacks || !play ||
			(!play->room && play->scenario.plan.mode == MODE_TRAINING);
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

/* "pinned: 4 stages x 4 micro-batches: 3.73 s", in a row that the chart has no more. */
static void name_chart(struct canvas *canvas, struct rect *rect,
		       const struct timeline *t, const char *name, enum role role)
{
	char phase[32], parts[96], text[160];

	form_text(FORM_SECONDS, t->pipeline_seconds, phase, sizeof phase);
	size_text(t, parts, sizeof parts);
	snprintf(text, sizeof text, "%s: %s: %s", name, parts, phase);
	/* its seconds are more than its chunks, which a knob tells too */
	if (text_width(text) > rect->width)
		snprintf(text, sizeof text, "%s: %d stages x %d micro-batches: %s",
			 name, t->stages, t->micro_batches, phase);
	canvas_text(canvas, rect->x, rect->y, rect->width, role, text);
	rect->y++;
	rect->height--;
}

/* The pinned plan in the upper part of rect; returns what is left. */
static struct rect draw_before(const struct explorer *explorer, struct canvas *canvas,
			       struct rect rect, const struct timeline *before,
			       int stage, const struct window *window)
{
	struct window whole = *window;
	struct rect half = rect;
	bool broken = explorer->state[VIEW_TIMELINE].zoom == 0 && window->parts > 1;

	/* a lane more where the other plan has no need of it */
	half.height = rect.height / 2;
	if (half.height < before->stages + 2 &&
	    rect.height - before->stages - 2 > played(explorer->play)->stages)
		half.height = before->stages + 2;
	rect.y += half.height;
	rect.height -= half.height;
	name_chart(canvas, &half, before, "pinned", ROLE_WARNING);
	whole.now = INFINITY;
	/* what is left out is left out of each: it has an axis of its own */
	if (broken || before->pipeline_seconds > window->part[0].to) {
		half.height--;
		if (window->parts > 1 || explorer->state[VIEW_TIMELINE].zoom == 0)
			window_make(&whole, before, columns_of(rect), window->each, -1);
		timeline_draw_axis(
			canvas,
			(struct rect){ rect.x, half.y + half.height, rect.width, 1 },
			&whole);
	}
	timeline_draw_chart(explorer, canvas, half, before, stage, &whole);
	return rect;
}

/* What two charts leave: with the memory below each lane where there is room for that
 * in both, each with its name and its axis. */
static int rows_below_two(struct rect rect, const struct timeline *t, int foot)
{
	int two = rect.height - 4 * t->stages - 4,
	    one = rect.height - 2 * t->stages - 4;

	if (two >= 1)
		return two < foot ? two : foot;
	return clamp(one, 2, foot);
}

/* Rows under the chart, of high screens those that the strip and advice take too: lanes
 * end in the same row whatever their number. */
static int rows_below(const struct explorer *explorer, struct rect rect,
		      const struct timeline *t, bool pinned)
{
	enum { HIGH = 20, LEAST = 3 };
	int foot = overview_foot(explorer, rect.height);

	if (foot < LEAST)
		foot = LEAST;

	/* two charts first */
	if (rect.height - t->stages < 2 || (pinned && rect.height < 2 * t->stages + 6))
		return 0;
	if (rect.height < HIGH)
		return rect.height - t->stages >= 6 ? 3 : 2;
	if (pinned)
		return rows_below_two(rect, t, foot);
	return rect.height - foot < t->stages ? 2 : foot;
}

void timeline_draw(const struct explorer *explorer, struct canvas *canvas,
		   struct rect rect)
{
	const struct timeline *t = played(explorer->play), *before;
	struct rect chart = rect, below;
	struct window window;
	int spare = 0;

	if (explorer->scenario.plan.mode == MODE_INFERENCE) {
		passes_draw(explorer, canvas, rect);
		return;
	}
	if (!t || t->item_count == 0) {
		draw_refusal(explorer, canvas, rect);
		return;
	}
	before = explorer->pinned ? played(explorer->play_before) : NULL;
	window = window_of(explorer, t, columns_of(rect));
	chart.y += draw_head(explorer, canvas, rect, t, &window);
	chart.height = rect.y + rect.height - chart.y - FOOT - AXIS;
	below = chart;
	below.height = rows_below(explorer, chart, t, before != NULL);
	chart.height -= below.height;
	if (!before) {
		spare = timeline_spare_rows(rect, chart, t);
		if (chart.height > timeline_rows(chart, t) * t->stages)
			chart.height = timeline_rows(chart, t) * t->stages;
	}
	below.y = chart.y + chart.height;
	timeline_draw_axis(canvas, (struct rect){ rect.x, below.y, rect.width, 1 },
			   &window);
	below.y += AXIS;
	if (before && chart.height >= 6)
		chart = draw_before(explorer, canvas, chart, before,
				    chosen_stage(explorer, t), &window);
	if (before && chart.height >= 5)
		name_chart(canvas, &chart, t, "this plan", ROLE_TITLE);
	if (canvas->spots)
		canvas->spots->chart = chart;
	timeline_draw_chart(explorer, canvas, chart, t, chosen_stage(explorer, t),
			    &window);
	timeline_mark(explorer, canvas, chart, t, chosen_item(explorer, t), &window);
	/* lanes of more than a row have their memory below them, one alone a line */
	if (timeline_rows(chart, t) > 1 && below.height > 1)
		below.height = 1 + spare;
	timeline_draw_alone(canvas, below, t);
	timeline_draw_memory(canvas, below, t, chosen_stage(explorer, t), &window);
	draw_item_text(
		explorer, canvas,
		(struct rect){ rect.x, below.y + below.height, rect.width, FOOT }, t);
	if (t->stages == 1 && !before && spare > 0)
		timeline_draw_spent(explorer, canvas, rect, below.y + 1,
				    below.y + below.height);
	else if (t->stages == 1 && !before)
		timeline_draw_spent(
			explorer, canvas, rect, below.y + below.height + FOOT,
			rect.y + rect.height - overview_foot(explorer, rect.height));
}

/* Another stage at the same moment. */
static void go_to_stage(struct explorer *explorer, const struct timeline *t, int stage)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	struct timeline_item item = timeline_item(t, chosen_item(explorer, t));
	double when = (item.start + item.end) / 2;
	int32_t at;

	state->choice = clamp(stage, 0, t->stages - 1);
	at = timeline_at(t, state->choice, when);
	state->cursor = at < 0 ? 0 : (int)(at - t->stage[state->choice].first);
}

/* The next item to start on any stage, or back; the first step starts at the first. */
static void go_on(struct explorer *explorer, const struct timeline *t, bool back)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	int32_t to = timeline_next(t, chosen_item(explorer, t), back);

	if (to < 0)
		return;
	state->choice = timeline_item(t, to).stage;
	state->cursor = (int)(to - t->stage[state->choice].first);
}

/* The item at this place; behind the last one of a lane the last one. */
static unsigned click(struct explorer *explorer, const struct timeline *t,
		      struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	struct window window =
		window_of(explorer, t, columns_of(explorer->spots->chart));
	int32_t at =
		timeline_item_at(explorer->spots->chart, t, chosen_stage(explorer, t),
				 &window, action.x, action.y);

	if (at < 0)
		return CHANGED_NOTHING;
	state->choice = timeline_item(t, at).stage;
	state->cursor = (int)(at - t->stage[state->choice].first);
	return CHANGED_SCREEN;
}

unsigned timeline_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TIMELINE];
	const struct timeline *t;
	int stage, count;

	if (explorer->scenario.plan.mode == MODE_INFERENCE)
		return passes_act(explorer, action);
	play_refresh(explorer);
	t = played(explorer->play);
	if (!t || t->item_count == 0)
		return CHANGED_NOTHING;
	stage = chosen_stage(explorer, t);
	count = t->stage[stage].count;
	state->cursor = clamp(state->cursor, 0, count - 1);
	if (action.kind == ACTION_STEP || action.kind == ACTION_STEP_BACK) {
		go_on(explorer, t, action.kind == ACTION_STEP_BACK);
		state->first = 1;
		return CHANGED_SCREEN;
	}
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
	case ACTION_ZOOM_OUT:
		state->zoom = clamp(state->zoom - 1, -1, MOST_ZOOM);
		break;
	case ACTION_SORT: state->sort++; break;
	case ACTION_ENTER: return explorer_explain(explorer, "bubble_ratio");
	case ACTION_CLICK: return click(explorer, t, action);
	default: return CHANGED_NOTHING;
	}
	/* whoever moves about sees all of it again */
	if (action.kind != ACTION_ZOOM_IN && action.kind != ACTION_ZOOM_OUT &&
	    action.kind != ACTION_SORT)
		state->first = 0;
	return CHANGED_SCREEN;
}
