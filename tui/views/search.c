/* search.c - the best plans, ranked, and where they lie between speed and memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob.h"
#include "tui/view.h"

enum column {
	COLUMN_RANK,
	COLUMN_PLAN,
	COLUMN_STEP,
	COLUMN_RATE,
	COLUMN_MFU,
	COLUMN_BUBBLE,
	COLUMN_EXPOSED,
	COLUMN_MEMORY,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	{ "#", 3, true, 0 },         { "plan", 20, false, 0 }, { "step", 8, true, 0 },
	{ "tok/s/GPU", 9, true, 1 }, { "MFU", 6, true, 4 },    { "bubble", 6, true, 3 },
	{ "exposed", 7, true, 5 },   { "memory", 6, true, 2 },
};

static const struct planner_result *result_of(const struct explorer *explorer)
{
	return explorer->planner ? planner_result(explorer->planner) : NULL;
}

static void plan_text(const struct planner_problem *problem,
		      const struct planner_found *found, char *out, size_t size)
{
	struct scenario s;

	planner_scenario(problem, found, &s);
	planner_name(problem, &s, out, size);
}

struct rows {
	const struct explorer *explorer;
	const struct planner_result *result;
};

static void cell(const void *context, int row, int column, struct table_cell *out)
{
	const struct rows *rows = context;
	const struct planner_found *f = &rows->result->top[row];

	out->role = ROLE_VALUE;
	switch (column) {
	case COLUMN_RANK:
		out->role = ROLE_LABEL;
		snprintf(out->text, sizeof out->text, "%d", row + 1);
		break;
	case COLUMN_PLAN:
		out->role = ROLE_DEFAULT;
		plan_text(rows->explorer->problem, f, out->text, sizeof out->text);
		break;
	case COLUMN_STEP:
		form_text(FORM_SECONDS, f->step_seconds, out->text, sizeof out->text);
		break;
	case COLUMN_RATE:
		snprintf(out->text, sizeof out->text, "%.0f",
			 f->tokens_per_second_per_gpu);
		break;
	case COLUMN_MFU:
		form_text(FORM_PERCENT, f->mfu, out->text, sizeof out->text);
		break;
	case COLUMN_BUBBLE:
		form_text(FORM_PERCENT, f->bubble_ratio, out->text, sizeof out->text);
		out->role = f->bubble_ratio > 0.1 ? ROLE_WARNING : ROLE_VALUE;
		break;
	case COLUMN_EXPOSED:
		form_text(FORM_PERCENT, f->exposed_share, out->text, sizeof out->text);
		out->role = f->exposed_share > 0.2 ? ROLE_WARNING : ROLE_VALUE;
		break;
	default: form_text(FORM_PERCENT, f->memory_share, out->text, sizeof out->text);
	}
}

static void draw_head(const struct explorer *explorer, struct canvas *canvas,
		      struct rect rect, const struct planner_result *result)
{
	const struct planner_counts *c = &result->counts;
	char candidates[32], explored[32], bounded[32];

	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_TITLE,
		      "best by %s   S: another aim   Enter: take a plan",
		      objective_word(explorer->objective));
	form_text(FORM_COUNT, c->candidates, candidates, sizeof candidates);
	form_text(FORM_COUNT, c->explored, explored, sizeof explored);
	form_text(FORM_COUNT, c->bounded, bounded, sizeof bounded);
	if (!result->done) {
		canvas_format(canvas, rect.x, rect.y + 1, 24, ROLE_WARNING,
			      "searching %3.0f %%", result->progress * 100);
		widget_bar(canvas, rect.x + 18, rect.y + 1, rect.width - 20,
			   result->progress, ROLE_COMPUTE);
		return;
	}
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_GOOD,
		      "proved: of %s plans %s tried, %s can't be better", candidates,
		      explored, bounded);
}

/* How the open plan compares, and the knob changes that gain most by themselves. */
static void draw_present(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct planner_result *result)
{
	const struct estimate *e = &explorer->estimate;
	double gap = result->found > 0 && e->feasible
			     ? e->step_seconds / result->top[0].step_seconds - 1
			     : 0;
	int x = rect.x, best = -1;
	double below = INFINITY;

	if (!e->feasible)
		canvas_text(canvas, x, rect.y, rect.width, ROLE_BAD,
			    e->legal ? "your plan does not fit"
				     : "your plan can't run");
	else if (gap > 0.001)
		canvas_format(canvas, x, rect.y, rect.width, ROLE_WARNING,
			      "your step takes %.1f %% longer than the best",
			      gap * 100);
	else
		canvas_text(canvas, x, rect.y, rect.width, ROLE_GOOD,
			    "your plan is as fast as the best");
	x += canvas_text(canvas, x, rect.y + 1, rect.width, ROLE_LABEL,
			 "single changes: ");
	for (int n = 0; n < 3; n++) {
		best = -1;
		for (int k = 0; k < explorer->arrows_done; k++)
			if (explorer->arrow[k].direction != 0 &&
			    explorer->arrow[k].gain < below &&
			    (best < 0 ||
			     explorer->arrow[k].gain > explorer->arrow[best].gain))
				best = k;
		if (best < 0 || explorer->arrow[best].gain < 0.002)
			break;
		below = explorer->arrow[best].gain;
		x += canvas_format(canvas, x, rect.y + 1, rect.x + rect.width - x,
				   ROLE_DELTA_BETTER, "%s %s +%.1f %%   ",
				   knob_table[best].key,
				   explorer->arrow[best].direction > 0 ? "up" : "down",
				   below * 100);
	}
	if (below == INFINITY)
		canvas_text(canvas, x, rect.y + 1, rect.x + rect.width - x, ROLE_LABEL,
			    "none gains alone");
}

static void draw_scatter(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct planner_result *result)
{
	const struct estimate *e = &explorer->estimate;
	double low = INFINITY, high = 0;
	int cursor = explorer->state[VIEW_SEARCH].cursor;
	struct plot plot;

	for (int i = 0; i < result->found; i++) {
		low = fmin(low, result->top[i].tokens_per_second_per_gpu);
		high = fmax(high, result->top[i].tokens_per_second_per_gpu);
	}
	if (e->legal) {
		low = fmin(low, e->tokens_per_second_per_gpu);
		high = fmax(high, e->tokens_per_second_per_gpu);
	}
	struct axis x = { 0, 1.05, false, FORM_PERCENT, "memory" };
	struct axis y = { low * 0.98, high * 1.01, false, FORM_COUNT, "tok/s/GPU" };

	if (result->found == 0 || !plot_begin(&plot, canvas, rect, x, y))
		return;
	for (int i = 0; i < result->found; i++)
		plot_mark(&plot, result->top[i].memory_share,
			  result->top[i].tokens_per_second_per_gpu,
			  i == cursor ? canvas_glyph(canvas, GLYPH_MARK)
				      : canvas_glyph(canvas, GLYPH_BULLET),
			  i == cursor ? ROLE_FOCUS : ROLE_COMPUTE);
	if (explorer->pinned && explorer->before.legal)
		plot_mark(&plot,
			  explorer->before.memory.total_bytes /
				  explorer->before.capacity_bytes,
			  explorer->before.tokens_per_second_per_gpu, 'B',
			  ROLE_WARNING);
	if (e->legal)
		plot_mark(&plot, e->memory.total_bytes / e->capacity_bytes,
			  e->tokens_per_second_per_gpu, '@', ROLE_VALUE);
}

static void draw_nothing(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct planner_result *result)
{
	char needs[32], plan[96];

	if (!result->done)
		return;
	if (!result->has_nearest) {
		canvas_text(
			canvas, rect.x, rect.y, rect.width, ROLE_BAD,
			"No legal plan: nothing divides. Turn GPUs or global batch.");
		return;
	}
	form_text(FORM_BYTES, result->nearest.memory_bytes, needs, sizeof needs);
	plan_text(explorer->problem, &result->nearest, plan, sizeof plan);
	canvas_format(canvas, rect.x, rect.y, rect.width, ROLE_BAD,
		      "Nothing fits: the least needs %s a GPU, %.0f %% of the memory",
		      needs, result->nearest.memory_share * 100);
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_LABEL, "with %s",
		      plan);
}

void search_draw(const struct explorer *explorer, struct canvas *canvas,
		 struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_SEARCH];
	struct rows rows = { explorer, result_of(explorer) };
	struct table_column fitting[COLUMNS];
	bool plot = rect.height >= 26;
	int height = plot ? rect.height - 17 : rect.height - 5;
	struct table table = { .column = fitting,
			       .columns = COLUMNS,
			       .cursor = state->cursor,
			       .first = state->first,
			       .focused = explorer->pane == PANE_VIEW,
			       .sorted_by = -1,
			       .context = &rows,
			       .cell = cell };

	memcpy(fitting, columns, sizeof fitting);
	if (rect.width > 70)
		fitting[COLUMN_PLAN].width = 32;
	if (!rows.result || explorer->search_stale) {
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    "searching ...");
		if (!rows.result)
			return;
	}
	draw_head(explorer, canvas, rect, rows.result);
	table.rows = rows.result->found;
	if (table.cursor >= table.rows)
		table.cursor = table.rows - 1;
	if (table.rows > 0)
		widget_table(canvas,
			     (struct rect){ rect.x, rect.y + 2, rect.width, height },
			     &table);
	else
		draw_nothing(explorer, canvas,
			     (struct rect){ rect.x, rect.y + 3, rect.width, 3 },
			     rows.result);
	draw_present(explorer, canvas,
		     (struct rect){ rect.x, rect.y + height + 3, rect.width, 2 },
		     rows.result);
	if (plot)
		draw_scatter(explorer, canvas,
			     (struct rect){ rect.x, rect.y + height + 6, rect.width,
					    rect.height - height - 6 },
			     rows.result);
}

static unsigned take(struct explorer *explorer)
{
	const struct planner_result *result = result_of(explorer);
	int at = explorer->state[VIEW_SEARCH].cursor;
	struct scenario to;
	char what[64];

	if (!result || explorer->search_stale || at >= result->found)
		return CHANGED_SCREEN;
	planner_scenario(explorer->problem, &result->top[at], &to);
	snprintf(what, sizeof what, "plan %d of the search", at + 1);
	explorer_say(explorer, ROLE_GOOD, "took plan %d; u goes back", at + 1);
	return explorer_change(explorer, &to, what);
}

unsigned search_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_SEARCH];
	const struct planner_result *result = result_of(explorer);
	int count = result ? result->found : 0;
	struct rect view = explorer->spots->view;
	int height = view.height >= 26 ? view.height - 18 : view.height - 6, moved;

	switch (action.kind) {
	case ACTION_ENTER: return take(explorer);
	case ACTION_SORT:
		explorer->objective =
			(enum objective)((explorer->objective + 1) % OBJECTIVE_GPUS);
		explorer->search_stale = true;
		return CHANGED_SCREEN;
	case ACTION_CLICK:
		moved = state->first + action.y - view.y - 3;
		if (moved < 0 || moved >= count || action.y >= view.y + 3 + height)
			return CHANGED_NOTHING;
		state->cursor = moved;
		return CHANGED_SCREEN;
	case ACTION_LEFT:
	case ACTION_RIGHT: return CHANGED_SCREEN;
	default: break;
	}
	if (count == 0)
		return CHANGED_NOTHING;
	moved = scroll_move(state->cursor, count, height, action.kind);
	if (moved == state->cursor && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, count, height);
	return CHANGED_SCREEN;
}
