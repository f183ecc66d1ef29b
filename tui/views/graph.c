/* graph.c - the operators of one layer on one rank, in order of the forward. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/graph/graph.h"
#include "engine/plan/mesh.h"
#include "engine/train/train.h"
#include "tui/views/graph.h"

enum column {
	COLUMN_NAME,
	COLUMN_KIND,
	COLUMN_SHAPE,
	COLUMN_FLOPS,
	COLUMN_WEIGHTS,
	COLUMN_SAVED,
	COLUMN_TRAFFIC,
	COLUMN_FORWARD,
	COLUMN_BACKWARD,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	{ "operator", 20, false, 0 },
	{ "kind", 14, false, 6 },
	{ "rows x columns x inner", 24, false, 2 },
	{ "FLOPs", 12, true, 5 },
	{ "weights", 9, true, 4 },
	{ "saved", 9, true, 3 },
	{ "sent", 9, true, 7 },
	{ "forward", 9, true, 0 },
	{ "backward", 9, true, 1 },
};

/* A layer kind, those that stay in 16 bits apart, the embedding, the head, or what
 * stands around MTP layers. */
static int choices(const struct explorer *explorer)
{
	struct scenario room;

	const struct model *model = &scenario_marked(&explorer->scenario, &room)->model;

	return model->kinds + 2 + (model->mtp_layers > 0);
}

static int chosen(const struct explorer *explorer)
{
	return explorer->state[VIEW_GRAPH].choice % choices(explorer);
}

/* The graph and mesh are the engine's; this only asks for them. */
struct shown {
	struct mesh mesh;
	struct graph_context context;
	struct graph graph;
};

static void make(const struct explorer *explorer, struct shown *out)
{
	mesh_build(&explorer->scenario, &out->mesh);
	graph_context(&explorer->scenario, &out->mesh, &out->context);
	train_graph(&explorer->scenario, chosen(explorer), &out->graph);
}

/* Rows above the table and below it: what is chosen, a blank, the sum. */
enum { HEAD = 2, FOOT = 3, LEAST_PICTURE = 5 };

/* S shows the picture alone. */
static bool is_picture(const struct explorer *explorer)
{
	return explorer->state[VIEW_GRAPH].sort % 2 == 1;
}

/* Rows of the table with its header; the picture has the rest, if it is enough. */
static int table_rows(const struct explorer *explorer, int height,
		      const struct graph *graph)
{
	int rows = height - HEAD - FOOT;

	if (is_picture(explorer))
		return 0;
	if (rows - graph->count - 2 >= LEAST_PICTURE)
		return graph->count + 1;
	return rows;
}

/* Where not all lines of boxes have room, those that have end at the foot: they stay
 * there when the table above grows by a row. */
static struct rect picture_rect(const struct explorer *explorer, struct rect view,
				const struct graph *graph)
{
	int table = table_rows(explorer, view.height, graph);
	int above = HEAD + table + (table > 0 ? 1 : 0);
	int room = view.height - above - FOOT;

	if (table > 0 && room >= LEAST_PICTURE &&
	    room < graph_picture_rows(graph, view.width))
		above += graph_picture_leaves(room);
	return (struct rect){ view.x, view.y + above, view.width,
			      view.height - above - FOOT };
}

static void choice_text(const struct explorer *explorer, char *out, size_t size)
{
	static const char *const mixers[] = { "no mixer", "attention", "MLA",
					      "Mamba-1",  "Mamba-2",   "linear" };
	static const char *const mlps[] = { "no MLP", "dense MLP", "MoE" };
	struct scenario room;
	const struct model *model = &scenario_marked(&explorer->scenario, &room)->model;
	int choice = chosen(explorer);
	const struct layer_kind *kind = &model->kind[choice];
	char window[32] = "";

	if (choice == model->kinds) {
		snprintf(out, size, "embedding, on the first stage");
		return;
	}
	if (choice > model->kinds + 1) {
		snprintf(out, size, "around %lld x MTP layer",
			 (long long)model->mtp_layers);
		return;
	}
	if (choice > model->kinds) {
		snprintf(out, size, "final norm, LM head and loss, on the last stage");
		return;
	}
	if (kind->attention.window > 0)
		snprintf(window, sizeof window, " (window %lld)",
			 (long long)kind->attention.window);
	snprintf(out, size, "%lld x %s%s%s%s%s%s + %s%s",
		 (long long)model_kind_layers(model, choice),
		 kind->attention.compress > 0 ? "compressed " : "",
		 kind->attention.index_topk > 0 ? "sparse " : "", mixers[kind->mixer],
		 window, kind->beside != MIXER_NONE ? " beside " : "",
		 kind->beside != MIXER_NONE ? mixers[kind->beside] : "",
		 mlps[kind->mlp], kind->wide ? " in 16 bits" : "");
}

static void shape_text(const struct graph_operator *op, char *out, size_t size)
{
	if (op->kind == OPERATOR_COLLECTIVE)
		snprintf(out, size, "%s, %lld ranks", collective_label(op->collective),
			 (long long)op->ranks);
	else if (op->groups > 1)
		snprintf(out, size, "%.0f x %.0fx%.0fx%.0f", op->groups, op->rows,
			 op->columns, op->inner);
	else if (op->inner > 0)
		snprintf(out, size, "%.0fx%.0fx%.0f", op->rows, op->columns, op->inner);
	else if (op->rows > 0)
		snprintf(out, size, "%.0fx%.0f", op->rows, op->columns);
	else /* to wait has no shape */
		out[0] = '\0';
}

static void form_cell(struct table_cell *out, enum form form, double value)
{
	if (value <= 0)
		return;
	out->role = ROLE_VALUE;
	form_text(form, value, out->text, sizeof out->text);
}

static void cell(const void *context, int row, int column, struct table_cell *out)
{
	const struct shown *shown = context;
	const struct graph_operator *op = &shown->graph.item[row];
	bool sends = op->kind == OPERATOR_COLLECTIVE;
	int calls = op->forward_calls + op->backward_calls;

	out->text[0] = '\0';
	out->role = sends ? dimension_role(op->dimension) : ROLE_DEFAULT;
	switch (column) {
	case COLUMN_NAME:
		snprintf(out->text, sizeof out->text, "%s%s",
			 sends ? dimension_label(op->dimension) : "", sends ? " " : "");
		snprintf(out->text + strlen(out->text),
			 sizeof out->text - strlen(out->text), "%s", op->name);
		break;
	case COLUMN_KIND:
		out->role = ROLE_LABEL;
		snprintf(out->text, sizeof out->text, "%s", operator_label(op->kind));
		break;
	case COLUMN_SHAPE: shape_text(op, out->text, sizeof out->text); break;
	case COLUMN_FLOPS: form_cell(out, FORM_FLOPS, op->forward_flops); break;
	case COLUMN_WEIGHTS: form_cell(out, FORM_COUNT, op->weights); break;
	case COLUMN_SAVED:
		form_cell(out, FORM_BYTES, op->saved_bytes + op->kept_bytes);
		break;
	case COLUMN_TRAFFIC:
		if (sends)
			form_cell(out, FORM_TRAFFIC, op->sent_bytes * calls);
		break;
	case COLUMN_FORWARD: form_cell(out, FORM_SECONDS, op->forward_seconds); break;
	default:
		form_cell(out, FORM_SECONDS,
			  op->input_grad_seconds + op->weight_grad_seconds);
	}
}

static void draw_total(const struct shown *shown, struct canvas *canvas,
		       struct rect rect)
{
	struct part part[DIM_COUNT + 1] = { { 0, ROLE_COMPUTE, "compute" } };
	double full = 0;

	for (int d = 0; d < DIM_COUNT; d++)
		part[d + 1] = (struct part){ 0, dimension_role((enum dimension)d),
					     dimension_label((enum dimension)d) };
	for (int i = 0; i < shown->graph.count; i++) {
		const struct graph_operator *op = &shown->graph.item[i];
		int to = op->kind == OPERATOR_COLLECTIVE ? 1 + (int)op->dimension : 0;

		part[to].value += op->forward_seconds;
		full += op->forward_seconds;
	}
	canvas_text(canvas, rect.x, rect.y, 8, ROLE_LABEL, "forward");
	widget_stack(canvas, (struct rect){ rect.x + 9, rect.y, rect.width - 10, 1 },
		     part, DIM_COUNT + 1, full, 0);
	widget_legend(canvas,
		      (struct rect){ rect.x + 9, rect.y + 1, rect.width - 9, 1 }, part,
		      DIM_COUNT + 1);
}

/* "< 80 x attention + dense MLP >", and which of how many it is. */
static void draw_choice(const struct explorer *explorer, struct canvas *canvas,
			struct rect rect, const char *text)
{
	int at = chosen(explorer), count = choices(explorer), used;
	char place[48];

	if (at > 0)
		canvas_put(canvas, rect.x, rect.y, canvas_glyph(canvas, GLYPH_LEFT),
			   ROLE_KEY);
	used = canvas_text(canvas, rect.x + 2, rect.y, rect.width - 10, ROLE_TITLE,
			   text);
	if (at + 1 < count)
		canvas_put(canvas, rect.x + used + 3, rect.y,
			   canvas_glyph(canvas, GLYPH_RIGHT), ROLE_KEY);
	snprintf(place, sizeof place, "%d/%d", at + 1, count);
	canvas_right(canvas, rect.x, rect.y, rect.width, ROLE_LABEL, place);
}

static void draw_picture(const struct explorer *explorer, struct canvas *canvas,
			 struct rect rect, const struct graph *graph)
{
	struct rect picture = picture_rect(explorer, rect, graph), clip;

	if (picture.height < 5)
		return;
	clip = canvas_clip(canvas, rect_intersect(picture, canvas->clip));
	graph_picture(explorer, canvas, picture, graph,
		      explorer->state[VIEW_GRAPH].cursor);
	canvas_clip(canvas, clip);
}

void graph_draw(const struct explorer *explorer, struct canvas *canvas,
		struct rect rect)
{
	const struct view_state *state = &explorer->state[VIEW_GRAPH];
	struct rect picture;
	struct shown shown;
	struct table table = { .column = columns,
			       .columns = COLUMNS,
			       .cursor = state->cursor,
			       .first = state->first,
			       .focused = explorer->pane == PANE_VIEW,
			       .sorted_by = -1,
			       .context = &shown,
			       .cell = cell };
	char text[96];

	if (!has_numbers(explorer)) {
		draw_problems(explorer, canvas, rect);
		return;
	}
	if (explorer->scenario.plan.mode == MODE_INFERENCE) {
		roofline_draw(explorer, canvas, rect);
		return;
	}
	make(explorer, &shown);
	table.rows = shown.graph.count;
	if (table.cursor >= table.rows)
		table.cursor = table.rows - 1;
	choice_text(explorer, text, sizeof text);
	draw_choice(explorer, canvas, rect, text);
	canvas_format(canvas, rect.x, rect.y + 1, rect.width, ROLE_LABEL,
		      rect.width < 76 ? "%.0f tokens/rank%s"
				      : "one rank, one micro-batch: %.0f tokens%s",
		      shown.context.tokens,
		      shown.context.norm_tokens < shown.context.tokens
			      ? ", split over TP where SP holds"
			      : "");
	if (table_rows(explorer, rect.height, &shown.graph) > 0)
		widget_table(canvas,
			     (struct rect){
				     rect.x, rect.y + HEAD, rect.width,
				     table_rows(explorer, rect.height, &shown.graph) },
			     &table);
	draw_picture(explorer, canvas, rect, &shown.graph);
	/* the sum stands at the picture */
	picture = picture_rect(explorer, rect, &shown.graph);
	if (picture.height > graph_picture_rows(&shown.graph, rect.width) + 1)
		rect.height -= picture.height -
			       graph_picture_rows(&shown.graph, rect.width) - 1;
	draw_total(&shown, canvas,
		   (struct rect){ rect.x, rect.y + rect.height - 2, rect.width, 2 });
}

/* The row of the table, or the box of the picture. */
static int clicked(const struct explorer *explorer, const struct graph *graph,
		   struct action action)
{
	const struct view_state *state = &explorer->state[VIEW_GRAPH];
	struct rect view = explorer->spots->view;
	int rows = table_rows(explorer, view.height, graph) - 1;
	int at = action.y - view.y - HEAD - 1, first;
	struct rect picture = picture_rect(explorer, view, graph);

	if (at < 0 || at >= rows)
		return graph_picture_at(picture, graph, state->cursor, action.x,
					action.y);
	first = scroll_first(state->first, state->cursor, graph->count, rows);
	return first + at < graph->count ? first + at : -1;
}

static unsigned act_on_layer(struct explorer *explorer, const struct graph *graph,
			     struct action action)
{
	struct view_state *state = &explorer->state[VIEW_GRAPH];
	struct rect view = explorer->spots->view;
	int rows = table_rows(explorer, view.height, graph) - 1, moved;
	bool up_down = action.kind == ACTION_UP || action.kind == ACTION_DOWN;

	rows = rows < 1 ? 1 : rows;
	if (action.kind == ACTION_CLICK)
		moved = clicked(explorer, graph, action);
	else if (is_picture(explorer) && up_down)
		moved = graph_picture_step(graph, view.width, state->cursor,
					   action.kind);
	else
		moved = scroll_move(state->cursor, graph->count, rows, action.kind);
	if (moved < 0 ||
	    (moved == state->cursor && !up_down && action.kind != ACTION_CLICK))
		return CHANGED_NOTHING;
	state->cursor = moved;
	state->first = scroll_first(state->first, moved, graph->count, rows);
	return CHANGED_SCREEN;
}

unsigned graph_act(struct explorer *explorer, struct action action)
{
	struct view_state *state = &explorer->state[VIEW_GRAPH];
	struct shown *shown;
	unsigned changed;

	if (!explorer->estimate.legal)
		return CHANGED_NOTHING;
	if (explorer->scenario.plan.mode == MODE_INFERENCE)
		return roofline_act(explorer, action);
	if (action.kind == ACTION_SORT) {
		state->sort++;
		return CHANGED_SCREEN;
	}
	if (action.kind == ACTION_LEFT || action.kind == ACTION_RIGHT) {
		int to = chosen(explorer) + (action.kind == ACTION_LEFT ? -1 : 1);

		if (to >= 0 && to < choices(explorer)) {
			state->choice = to;
			state->cursor = state->first = 0;
		}
		return CHANGED_SCREEN;
	}
	shown = malloc(sizeof *shown);
	if (!shown)
		return CHANGED_NOTHING;
	make(explorer, shown);
	changed = act_on_layer(explorer, &shown->graph, action);
	free(shown);
	return changed;
}
