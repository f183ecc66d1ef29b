/* traffic.c - every collective of a step, one row each, and the totals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/knob/knob.h"
#include "tui/view.h"

enum column {
	COLUMN_DIMENSION,
	COLUMN_WHAT,
	COLUMN_KIND,
	COLUMN_ALGORITHM,
	COLUMN_GROUP,
	COLUMN_LINK,
	COLUMN_COUNT,
	COLUMN_EACH,
	COLUMN_BYTES,
	COLUMN_NETWORK,
	COLUMN_SECONDS,
	COLUMN_EXPOSED,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	{ "split", 5, false, 0 },       { "what", 18, false, 0 },
	{ "collective", 14, false, 3 }, { "runs", 9, false, 2 },
	{ "group", 6, true, 5 },        { "link", 9, false, 4 },
	{ "calls", 7, true, 7 },        { "each", 7, true, 8 },
	{ "bytes", 7, true, -1 },       { "network", 7, true, 6 },
	{ "time", 7, true, 0 },         { "exposed", 7, true, 0 },
};

/* Columns that one can sort by: S goes through them. */
static const enum column sorts[] = { COLUMN_DIMENSION, COLUMN_BYTES, COLUMN_SECONDS,
				     COLUMN_EXPOSED };
enum { SORTS = sizeof sorts / sizeof sorts[0] };

struct rows {
	const struct explorer *explorer;
	int order[MAX_TRAFFIC];
};

static double sort_value(const struct traffic *t, enum column column)
{
	switch (column) {
	case COLUMN_BYTES: return t->total_bytes;
	case COLUMN_SECONDS: return t->total_seconds;
	case COLUMN_EXPOSED: return t->exposed_seconds;
	default: return -(double)t->dimension;
	}
}

/* A stable insertion sort of at most MAX_TRAFFIC rows. */
static void sort_rows(const struct explorer *explorer, struct rows *rows)
{
	const struct estimate *e = &explorer->estimate;
	enum column by = sorts[explorer->state[VIEW_TRAFFIC].sort % SORTS];

	rows->explorer = explorer;
	for (int i = 0; i < e->traffic_count; i++) {
		int at = i;

		for (; at > 0 && sort_value(&e->traffic[rows->order[at - 1]], by) <
					 sort_value(&e->traffic[i], by);
		     at--)
			rows->order[at] = rows->order[at - 1];
		rows->order[at] = i;
	}
}

static void form_cell(struct table_cell *out, enum form form, double value)
{
	out->role = value > 0 ? ROLE_VALUE : ROLE_LABEL;
	form_text(form, value, out->text, sizeof out->text);
}

static void cell(const void *context, int row, int column, struct table_cell *out)
{
	const struct rows *rows = context;
	const struct explorer *explorer = rows->explorer;
	const struct traffic *t = &explorer->estimate.traffic[rows->order[row]];
	const struct link *link = explorer->scenario.cluster.link;
	bool host = t->dimension == DIM_HOST;

	out->role = ROLE_DEFAULT;
	switch (column) {
	case COLUMN_DIMENSION:
		out->role = dimension_role(t->dimension);
		snprintf(out->text, sizeof out->text, "%s",
			 dimension_label(t->dimension));
		break;
	case COLUMN_WHAT: snprintf(out->text, sizeof out->text, "%s", t->what); break;
	case COLUMN_KIND:
		snprintf(out->text, sizeof out->text, "%s", collective_label(t->kind));
		break;
	case COLUMN_ALGORITHM:
		snprintf(out->text, sizeof out->text, "%s",
			 t->kind == COLLECTIVE_COPY ? "copy"
						    : algorithm_name(t->algorithm));
		break;
	case COLUMN_GROUP:
		if (t->ranks_per_domain < t->ranks)
			snprintf(out->text, sizeof out->text, "%lldx%lld",
				 (long long)t->ranks_per_domain,
				 (long long)(t->ranks / (t->ranks_per_domain > 0
								 ? t->ranks_per_domain
								 : 1)));
		else
			snprintf(out->text, sizeof out->text, "%lld",
				 (long long)t->ranks);
		break;
	case COLUMN_LINK:
		snprintf(out->text, sizeof out->text, "%s",
			 host ? "host" : link[t->link].name);
		break;
	case COLUMN_COUNT:
		out->role = ROLE_VALUE;
		snprintf(out->text, sizeof out->text, "%.0f", t->count);
		break;
	case COLUMN_EACH: form_cell(out, FORM_TRAFFIC, t->payload_bytes); break;
	case COLUMN_BYTES: form_cell(out, FORM_TRAFFIC, t->total_bytes); break;
	case COLUMN_NETWORK: form_cell(out, FORM_TRAFFIC, t->network_bytes); break;
	case COLUMN_SECONDS: form_cell(out, FORM_SECONDS, t->total_seconds); break;
	default:
		form_cell(out, FORM_SECONDS, t->exposed_seconds);
		if (t->exposed_seconds > 0.02 * explorer->estimate.step_seconds)
			out->role = ROLE_WARNING;
	}
}

static int table_height(const struct explorer *explorer)
{
	return explorer->spots->view.height - 6;
}

/* The key of the bars with what is exposed, each whole or not at all. */
/* The bytes of the split that sends most; without any traffic, what is exposed. */
const char *traffic_about(const struct explorer *explorer)
{
	const struct dimension_cost *cost = explorer->estimate.cost;
	int most = 0;
	char key[32];

	for (int d = 1; d < DIM_COUNT; d++)
		if (cost[d].bytes > cost[most].bytes)
			most = d;
	snprintf(key, sizeof key, "%s.bytes", dimension_key((enum dimension)most));
	return cost[most].bytes > 0 && metric_find(key) ? metric_find(key)->key
							: "exposed_seconds";
}

static void draw_exposed(const struct explorer *explorer, struct canvas *canvas,
			 struct rect line)
{
	const struct estimate *e = &explorer->estimate;
	char key[DIM_COUNT][32];
	int x = line.x, end = line.x + line.width, wish = 0, width[DIM_COUNT], gap;

	for (int d = 0; d < DIM_COUNT; d++) {
		snprintf(key[d], sizeof key[d], "%s.exposed_seconds",
			 dimension_key((enum dimension)d));
		width[d] = 0;
		if (e->cost[d].bytes > 0)
			width[d] = 2 + number_width(explorer,
						    dimension_label((enum dimension)d),
						    key[d]);
		wish += width[d] > 0 ? width[d] + 2 : 0;
	}
	gap = wish - 2 <= line.width ? 2 : 1;
	for (int d = 0; d < DIM_COUNT; d++) {
		if (width[d] == 0 || x + width[d] > end)
			continue;
		widget_key(canvas, x, line.y, dimension_role((enum dimension)d));
		x += 2;
		x += draw_number(explorer, canvas, x, line.y, end - x,
				 dimension_label((enum dimension)d), key[d]) +
		     gap;
	}
}

/* One line: the bytes and exposed time of each dimension, as bars of the step. */
static void draw_totals(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect)
{
	const struct estimate *e = &explorer->estimate;
	struct part part[DIM_COUNT];
	double bytes = 0, exposed = 0;

	for (int d = 0; d < DIM_COUNT; d++) {
		part[d] = (struct part){ e->cost[d].bytes,
					 dimension_role((enum dimension)d),
					 dimension_label((enum dimension)d) };
		bytes += e->cost[d].bytes;
		exposed += e->cost[d].exposed_seconds;
	}
	canvas_text(canvas, rect.x, rect.y, 7, ROLE_LABEL, "bytes");
	widget_stack(canvas, (struct rect){ rect.x + 8, rect.y, rect.width - 9, 1 },
		     part, DIM_COUNT, bytes, 0);
	for (int d = 0; d < DIM_COUNT; d++)
		part[d].value = e->cost[d].exposed_seconds;
	canvas_text(canvas, rect.x, rect.y + 1, 7, ROLE_LABEL, "exposed");
	widget_stack(canvas, (struct rect){ rect.x + 8, rect.y + 1, rect.width - 9, 1 },
		     part, DIM_COUNT, exposed, 0);
	draw_exposed(explorer, canvas,
		     (struct rect){ rect.x, rect.y + 2, rect.width, 1 });
}

void traffic_draw(const struct explorer *explorer, struct canvas *canvas,
		  struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_TRAFFIC];
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	struct table_column shown[COLUMNS];
	struct rows rows;
	struct table table = { .column = shown,
			       .columns = COLUMNS,
			       .rows = explorer->estimate.traffic_count,
			       .cursor = state->cursor,
			       .first = state->first,
			       .focused = explorer->pane == PANE_VIEW,
			       .sorted_by = (int)sorts[state->sort % SORTS],
			       .context = &rows,
			       .cell = cell };

	if (!has_numbers(explorer)) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	if (table.rows == 0) {
		canvas_text(canvas, rect.x, rect.y, rect.width, ROLE_LABEL,
			    "No collectives: one GPU does everything.");
		return;
	}
	memcpy(shown, columns, sizeof shown);
	if (serves)
		shown[COLUMN_BYTES].title = "per pass";
	sort_rows(explorer, &rows);
	if (table.cursor >= table.rows)
		table.cursor = table.rows - 1;
	widget_table(canvas,
		     (struct rect){ rect.x, rect.y, rect.width, rect.height - 5 },
		     &table);
	/* the sums stand at the table */
	if (table.rows + 2 < rect.height - 5)
		rect.height = table.rows + 2 + 5;
	widget_heading(canvas, rect.x, rect.y + rect.height - 5, rect.width,
		       !serves ? "per GPU and step, mean over the stages"
		       : rect.width < 62
			       ? "per GPU and pass, a token for each request"
			       : "per GPU and decode pass, which gives each request "
				 "a token");
	draw_totals(explorer, canvas,
		    (struct rect){ rect.x, rect.y + rect.height - 4, rect.width, 4 });
}

static unsigned explain_row(struct explorer *explorer)
{
	const struct estimate *e = &explorer->estimate;
	struct rows rows;
	int at = explorer->state[VIEW_TRAFFIC].cursor;
	char key[MAX_KEY];

	sort_rows(explorer, &rows);
	if (at >= e->traffic_count)
		return CHANGED_NOTHING;
	snprintf(key, sizeof key, "%s.%s",
		 dimension_key(e->traffic[rows.order[at]].dimension), "seconds");
	return explorer_explain(explorer, key);
}

unsigned traffic_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_TRAFFIC];
	int count = explorer->estimate.legal ? explorer->estimate.traffic_count : 0;
	struct rect view = explorer->spots->view;
	int moved;

	if (count == 0)
		return CHANGED_NOTHING;
	switch (action.kind) {
	case ACTION_SORT:
		state->sort = (state->sort + 1) % SORTS;
		return CHANGED_SCREEN;
	case ACTION_ENTER: return explain_row(explorer);
	case ACTION_CLICK:
		state->first = scroll_first(state->first, state->cursor, count,
					    table_height(explorer));
		moved = state->first + action.y - view.y - 1;
		if (action.y <= view.y || action.y > view.y + table_height(explorer) ||
		    moved >= count)
			return CHANGED_NOTHING;
		state->cursor = moved;
		return CHANGED_SCREEN;
	case ACTION_LEFT:
	case ACTION_RIGHT: return CHANGED_SCREEN;
	default: break;
	}
	moved = scroll_move(state->cursor, count, table_height(explorer), action.kind);
	if (moved == state->cursor && action.kind != ACTION_UP &&
	    action.kind != ACTION_DOWN)
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, count, table_height(explorer));
	return CHANGED_SCREEN;
}
